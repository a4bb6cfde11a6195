"""Active learning: choose the next row to label; must not know how a model learns rows.

>>> from surelearn import SureClassifier, active
>>> clf = SureClassifier().fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"])
>>> active.query(clf, [[3.0, 0.0], [1.0, 0.9], [0.0, 2.0]])
array([1])
"""

from surelearn.active._curves import Simulation
from surelearn.active._history import Answer
from surelearn.active._pool import Pool
from surelearn.active._query import STRATEGIES, query, scores
from surelearn.active._simulate import simulate
from surelearn.active._stopping import Budget, EstimatedError, Progress, Stable, Stopping
from surelearn.active._stream import Asked, Sampler, stream
from surelearn.active._worth import Worth

__all__ = [
    "STRATEGIES",
    "Answer",
    "Asked",
    "Budget",
    "EstimatedError",
    "Pool",
    "Progress",
    "Sampler",
    "Simulation",
    "Stable",
    "Stopping",
    "Worth",
    "query",
    "scores",
    "simulate",
    "stream",
]
