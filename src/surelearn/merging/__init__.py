"""Room 8, merging: models trained apart become one; on plain states, must not know estimators.

`surelearn.merge` is the public function. It has the room's name, so the room has another.
"""

from surelearn.merging._scale import joined
from surelearn.merging._state import HOWS, Learnt, Merged, MergeState
from surelearn.merging._words import Words

__all__ = ["HOWS", "Learnt", "MergeState", "Merged", "Words", "joined"]
