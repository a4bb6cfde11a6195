r"""Probability: means and variances of scores in, label probabilities out.

Must not know weights, rules or estimators.

>>> from surelearn.probability import label_probabilities
>>> label_probabilities([[1.0, 0.0, 0.0]], [[1.0, 1.0, 1.0]]).round(3)
array([[0.634, 0.183, 0.183]])
"""

from surelearn.probability._labels import (
    best_temperature,
    entropy,
    fit_temperature,
    label_probabilities,
    sample_probabilities,
)
from surelearn.probability._reliability import Bins, Reliability, reliability

__all__ = [
    "Bins",
    "Reliability",
    "best_temperature",
    "entropy",
    "fit_temperature",
    "label_probabilities",
    "reliability",
    "sample_probabilities",
]
