"""The scikit-learn front: estimators that join the pieces and check that they fit."""

from surelearn.estimators._classifier import SureClassifier
from surelearn.estimators._explain import Explanation
from surelearn.estimators._file import load

__all__ = ["Explanation", "SureClassifier", "load"]
