"""Linear classifiers that know how sure they are of every weight.

>>> from surelearn import SureClassifier
>>> SureClassifier(rule="stdev").fit([[0.0, 1.0], [1.0, 0.0]], ["no", "yes"]).predict([[2.0, 1.0]])
array(['yes'], dtype='<U3')
"""

from typing import TYPE_CHECKING

from surelearn._lazy import lazily

if TYPE_CHECKING:
    from surelearn import (
        active,
        candidates,
        columns,
        constraints,
        datasets,
        graph,
        kernels,
        plot,
        probability,
        read,
        rules,
        templates,
        text,
    )
    from surelearn._check import FormatError
    from surelearn.evaluation import evaluate
    from surelearn.learners import (
        CRFTagger,
        GraphCRF,
        GraphSVM,
        MulticlassSVM,
        SoftmaxClassifier,
        SureClassifier,
        SureGraphClassifier,
        SureKernelClassifier,
        SureRanker,
        SureTableClassifier,
        SureTagger,
        SureTextClassifier,
        SVMTagger,
        load,
        merge,
    )
    from surelearn.prediction import predict
    from surelearn.tuning import tune

__version__ = "0.1.0"

#: The module of each public name. A name is imported on first use: importing scikit-learn takes a
#: second, and the command line must print its help without that wait.
_HOMES = {
    "CRFTagger": "surelearn.learners",
    "FormatError": "surelearn._check",
    "GraphCRF": "surelearn.learners",
    "GraphSVM": "surelearn.learners",
    "SVMTagger": "surelearn.learners",
    "MulticlassSVM": "surelearn.learners",
    "SoftmaxClassifier": "surelearn.learners",
    "SureClassifier": "surelearn.learners",
    "SureGraphClassifier": "surelearn.learners",
    "SureKernelClassifier": "surelearn.learners",
    "SureRanker": "surelearn.learners",
    "SureTableClassifier": "surelearn.learners",
    "SureTagger": "surelearn.learners",
    "SureTextClassifier": "surelearn.learners",
    "evaluate": "surelearn.evaluation",
    "load": "surelearn.learners",
    "merge": "surelearn.learners",
    "predict": "surelearn.prediction",
    "tune": "surelearn.tuning",
    "active": "",
    "candidates": "",
    "columns": "",
    "constraints": "",
    "datasets": "",
    "graph": "",
    "kernels": "",
    "plot": "",
    "probability": "",
    "read": "",
    "rules": "",
    "templates": "",
    "text": "",
}

__all__ = [
    "CRFTagger",
    "FormatError",
    "GraphCRF",
    "GraphSVM",
    "MulticlassSVM",
    "SVMTagger",
    "SoftmaxClassifier",
    "SureClassifier",
    "SureGraphClassifier",
    "SureKernelClassifier",
    "SureRanker",
    "SureTableClassifier",
    "SureTagger",
    "SureTextClassifier",
    "active",
    "candidates",
    "columns",
    "constraints",
    "datasets",
    "evaluate",
    "graph",
    "kernels",
    "load",
    "merge",
    "plot",
    "predict",
    "probability",
    "read",
    "rules",
    "templates",
    "text",
    "tune",
]


__getattr__ = lazily(__name__, _HOMES)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
