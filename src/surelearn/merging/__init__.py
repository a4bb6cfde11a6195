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
from surelearn.merging._shards import (
    Entries,
    ShardRuns,
    ShardState,
    go_on_from,
    merged_in_order,
    merged_round,
    merges_in_order,
)
from surelearn.merging._state import MergeState
from surelearn.merging._words import Documents, Words, added, met_in_order

__all__ = [
    "HOWS",
    "Documents",
    "Entries",
    "Evidence",
    "MergeState",
    "Merged",
    "ShardRuns",
    "ShardState",
    "Way",
    "WeightsLearnt",
    "Words",
    "added",
    "counts_start_once",
    "go_on_from",
    "merged_classes",
    "merged_in_order",
    "merged_round",
    "merges_in_order",
    "met_in_order",
    "repeated",
    "way_of",
]
