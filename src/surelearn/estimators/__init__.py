"""The scikit-learn front: estimators that join the pieces and check that they fit."""

from surelearn.estimators._classifier import SureClassifier
from surelearn.estimators._explain import Explanation
from surelearn.estimators._file import load
from surelearn.estimators._marks import TextExplanation
from surelearn.estimators._merge import merge
from surelearn.estimators._tagger import SureTagger
from surelearn.estimators._text import SureTextClassifier
from surelearn.models.position import StreamPosition
from surelearn.training.stream import StreamProgress

__all__ = [
    "Explanation",
    "StreamPosition",
    "StreamProgress",
    "SureClassifier",
    "SureTagger",
    "SureTextClassifier",
    "TextExplanation",
    "load",
    "merge",
]
