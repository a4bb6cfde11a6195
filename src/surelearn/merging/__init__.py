"""Merging: models trained apart become one; on plain states, must not know estimators.

`surelearn.merge` is the public function. It has the room's name, so the room has another.
"""

from surelearn.merging._learnt import (
    HOWS,
    Evidence,
    Merged,
    Way,
    WeightsLearnt,
    counts_start_once,
    merged_classes,
    repeated,
    way_of,
)
from surelearn.merging._state import MergeState
from surelearn.merging._words import Documents, Words, added

__all__ = [
    "HOWS",
    "Documents",
    "Evidence",
    "MergeState",
    "Merged",
    "Way",
    "WeightsLearnt",
    "Words",
    "added",
    "counts_start_once",
    "merged_classes",
    "repeated",
    "way_of",
]
