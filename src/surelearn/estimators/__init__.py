"""The scikit-learn estimators: they combine the parts and check that these fit together."""

from surelearn.estimators.classifier import SureClassifier
from surelearn.estimators.crf_tagger import CRFTagger
from surelearn.estimators.explanation import Explanation
from surelearn.estimators.file import load
from surelearn.estimators.graph_classifier import SureGraphClassifier
from surelearn.estimators.graph_crf import GraphCRF
from surelearn.estimators.graph_svm import GraphSVM
from surelearn.estimators.highlight import TextExplanation
from surelearn.estimators.kernel_classifier import SureKernelClassifier
from surelearn.estimators.merge_models import merge
from surelearn.estimators.multiclass_svm import MulticlassSVM
from surelearn.estimators.ranker import SureRanker
from surelearn.estimators.softmax import SoftmaxClassifier
from surelearn.estimators.svm_tagger import SVMTagger
from surelearn.estimators.tagger import SureTagger
from surelearn.estimators.tagger_answers import Tagger
from surelearn.estimators.text_classifier import SureTextClassifier
from surelearn.models.position import StreamPosition
from surelearn.training.stream import StreamProgress

__all__ = [
    "CRFTagger", "Explanation", "GraphCRF", "GraphSVM", "MulticlassSVM", "SVMTagger",
    "SoftmaxClassifier", "StreamPosition", "StreamProgress", "SureClassifier",
    "SureGraphClassifier", "SureKernelClassifier", "SureRanker", "SureTagger", "SureTextClassifier",
    "Tagger", "TextExplanation", "load", "merge",
]  # fmt: skip
