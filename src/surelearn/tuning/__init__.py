"""`tune`: compare many settings in one pass over the data, and fit the best."""

from surelearn.tuning.search import Standings, Tuning, tune

__all__ = ["Standings", "Tuning", "tune"]
