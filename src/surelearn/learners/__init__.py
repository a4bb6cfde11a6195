"""The estimators: they combine the parts and check that these fit together."""

from typing import TYPE_CHECKING

from surelearn._lazy import lazily

if TYPE_CHECKING:
    from surelearn.learners.answers.tagger import Tagger
    from surelearn.learners.classifier import SureClassifier
    from surelearn.learners.crf_tagger import CRFTagger
    from surelearn.learners.explain.explanation import Explanation
    from surelearn.learners.explain.highlight import TextExplanation
    from surelearn.learners.file import load
    from surelearn.learners.graph_classifier import SureGraphClassifier
    from surelearn.learners.graph_crf import GraphCRF
    from surelearn.learners.graph_svm import GraphSVM
    from surelearn.learners.kernel_classifier import SureKernelClassifier
    from surelearn.learners.merge_models import merge
    from surelearn.learners.multiclass_svm import MulticlassSVM
    from surelearn.learners.ranker import SureRanker
    from surelearn.learners.softmax import SoftmaxClassifier
    from surelearn.learners.svm_tagger import SVMTagger
    from surelearn.learners.table_classifier import SureTableClassifier
    from surelearn.learners.tagger import SureTagger
    from surelearn.learners.text_classifier import SureTextClassifier
    from surelearn.training.position import StreamPosition
    from surelearn.training.stream import StreamProgress

#: The module of each name: a command must not wait for the code of all.
HOMES = {
    "CRFTagger": "surelearn.learners.crf_tagger",
    "Explanation": "surelearn.learners.explain.explanation",
    "GraphCRF": "surelearn.learners.graph_crf",
    "GraphSVM": "surelearn.learners.graph_svm",
    "MulticlassSVM": "surelearn.learners.multiclass_svm",
    "SVMTagger": "surelearn.learners.svm_tagger",
    "SoftmaxClassifier": "surelearn.learners.softmax",
    "StreamPosition": "surelearn.training.position",
    "StreamProgress": "surelearn.training.stream",
    "SureClassifier": "surelearn.learners.classifier",
    "SureGraphClassifier": "surelearn.learners.graph_classifier",
    "SureKernelClassifier": "surelearn.learners.kernel_classifier",
    "SureRanker": "surelearn.learners.ranker",
    "SureTableClassifier": "surelearn.learners.table_classifier",
    "SureTagger": "surelearn.learners.tagger",
    "SureTextClassifier": "surelearn.learners.text_classifier",
    "Tagger": "surelearn.learners.answers.tagger",
    "TextExplanation": "surelearn.learners.explain.highlight",
    "load": "surelearn.learners.file",
    "merge": "surelearn.learners.merge_models",
}

#: The estimators, each of which a file can hold.
ESTIMATORS = (
    "CRFTagger", "GraphCRF", "GraphSVM", "MulticlassSVM", "SVMTagger", "SoftmaxClassifier",
    "SureClassifier", "SureGraphClassifier", "SureKernelClassifier", "SureRanker",
    "SureTableClassifier", "SureTagger", "SureTextClassifier",
)  # fmt: skip

__all__ = [
    "CRFTagger", "Explanation", "GraphCRF", "GraphSVM", "MulticlassSVM", "SVMTagger",
    "SoftmaxClassifier", "StreamPosition", "StreamProgress", "SureClassifier",
    "SureGraphClassifier", "SureKernelClassifier", "SureRanker", "SureTableClassifier",
    "SureTagger", "SureTextClassifier", "Tagger", "TextExplanation", "load", "merge",
]  # fmt: skip

__getattr__ = lazily(__name__, HOMES)
