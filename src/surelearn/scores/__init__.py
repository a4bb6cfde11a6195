"""Scores: answers and truth in, numbers and their text out; must not know models or sources."""

from surelearn.scores._chunks import ChunkCounts, ChunkScores, are_chunk_tags, chunk_scores
from surelearn.scores._comparison import Comparison, share_interval
from surelearn.scores._decision_tally import CurveTally, KeptTally, SetTally
from surelearn.scores._decisions import DecisionScores, Kept, SetScores
from surelearn.scores._label_scores import LabelScores
from surelearn.scores._rankings import RankingScores, ranking_scores, scored_groups
from surelearn.scores._result import Evaluation
from surelearn.scores._tally import LabelTally, RowTally

__all__ = [
    "ChunkCounts", "ChunkScores", "Comparison", "CurveTally", "DecisionScores", "Evaluation",
    "Kept", "KeptTally", "LabelScores", "LabelTally", "RankingScores", "RowTally", "SetScores",
    "SetTally", "are_chunk_tags", "chunk_scores", "ranking_scores", "scored_groups",
    "share_interval",
]  # fmt: skip
