"""The estimators: they combine the parts and check that these fit together."""

# ruff: noqa: F405  (a list of the names once more would be a copy of that in `surelearn`)

from typing import TYPE_CHECKING

from surelearn._lazy import lazily

if TYPE_CHECKING:
    from surelearn.estimators.explanation import Explanation
    from surelearn.estimators.highlight import TextExplanation
    from surelearn.estimators.merge_models import merge
    from surelearn.estimators.scikit_learn import *  # noqa: F403
    from surelearn.estimators.tagger_answers import Tagger
    from surelearn.models.position import StreamPosition
    from surelearn.training.stream import StreamProgress

#: The module of each name. Those of `scikit_learn` are classes of scikit-learn, which takes a
#: second to import.
_HOMES = {
    "CRFTagger": "surelearn.estimators.scikit_learn",
    "Explanation": "surelearn.estimators.explanation",
    "GraphCRF": "surelearn.estimators.scikit_learn",
    "GraphSVM": "surelearn.estimators.scikit_learn",
    "MulticlassSVM": "surelearn.estimators.scikit_learn",
    "SVMTagger": "surelearn.estimators.scikit_learn",
    "SoftmaxClassifier": "surelearn.estimators.scikit_learn",
    "StreamPosition": "surelearn.models.position",
    "StreamProgress": "surelearn.training.stream",
    "SureClassifier": "surelearn.estimators.scikit_learn",
    "SureGraphClassifier": "surelearn.estimators.scikit_learn",
    "SureKernelClassifier": "surelearn.estimators.scikit_learn",
    "SureRanker": "surelearn.estimators.scikit_learn",
    "SureTagger": "surelearn.estimators.scikit_learn",
    "SureTextClassifier": "surelearn.estimators.scikit_learn",
    "Tagger": "surelearn.estimators.tagger_answers",
    "TextExplanation": "surelearn.estimators.highlight",
    "load": "surelearn.estimators.scikit_learn",
    "merge": "surelearn.estimators.merge_models",
}

__all__ = [
    "CRFTagger", "Explanation", "GraphCRF", "GraphSVM", "MulticlassSVM", "SVMTagger",
    "SoftmaxClassifier", "StreamPosition", "StreamProgress", "SureClassifier",
    "SureGraphClassifier", "SureKernelClassifier", "SureRanker", "SureTagger", "SureTextClassifier",
    "Tagger", "TextExplanation", "load", "merge",
]  # fmt: skip

__getattr__ = lazily(__name__, _HOMES)
