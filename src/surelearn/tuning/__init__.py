"""`tune`: compare many settings, and fit the best."""

from surelearn.tuning.search import Tuning, tune
from surelearn.tuning.standings import Standings

__all__ = ["Standings", "Tuning", "tune"]
