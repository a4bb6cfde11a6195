"""The estimators: they combine the parts and check that these fit together."""

# ruff: noqa: F405  (a list of the names once more would be a copy of that in `surelearn`)

from typing import TYPE_CHECKING

from surelearn._lazy import lazily

if TYPE_CHECKING:
    from surelearn.learners.answers.tagger import Tagger
    from surelearn.learners.explain.explanation import Explanation
    from surelearn.learners.explain.highlight import TextExplanation
    from surelearn.learners.merge_models import merge
    from surelearn.learners.scikit_learn import *  # noqa: F403
    from surelearn.training.position import StreamPosition
    from surelearn.training.stream import StreamProgress

#: The module of each name. Those of `scikit_learn` are classes of scikit-learn, which takes a
#: second to import.
_HOMES = {
    "CRFTagger": "surelearn.learners.scikit_learn",
    "Explanation": "surelearn.learners.explain.explanation",
    "GraphCRF": "surelearn.learners.scikit_learn",
    "GraphSVM": "surelearn.learners.scikit_learn",
    "MulticlassSVM": "surelearn.learners.scikit_learn",
    "SVMTagger": "surelearn.learners.scikit_learn",
    "SoftmaxClassifier": "surelearn.learners.scikit_learn",
    "StreamPosition": "surelearn.training.position",
    "StreamProgress": "surelearn.training.stream",
    "SureClassifier": "surelearn.learners.scikit_learn",
    "SureGraphClassifier": "surelearn.learners.scikit_learn",
    "SureKernelClassifier": "surelearn.learners.scikit_learn",
    "SureRanker": "surelearn.learners.scikit_learn",
    "SureTagger": "surelearn.learners.scikit_learn",
    "SureTextClassifier": "surelearn.learners.scikit_learn",
    "Tagger": "surelearn.learners.answers.tagger",
    "TextExplanation": "surelearn.learners.explain.highlight",
    "load": "surelearn.learners.scikit_learn",
    "merge": "surelearn.learners.merge_models",
}

__all__ = [
    "CRFTagger", "Explanation", "GraphCRF", "GraphSVM", "MulticlassSVM", "SVMTagger",
    "SoftmaxClassifier", "StreamPosition", "StreamProgress", "SureClassifier",
    "SureGraphClassifier", "SureKernelClassifier", "SureRanker", "SureTagger", "SureTextClassifier",
    "Tagger", "TextExplanation", "load", "merge",
]  # fmt: skip

__getattr__ = lazily(__name__, _HOMES)
