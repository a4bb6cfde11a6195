"""`tune`: many settings judged in one pass over the data, and the best of them fitted."""

from surelearn.tuning.search import Standings, Tuning, tune

__all__ = ["Standings", "Tuning", "tune"]
