"""Scores of models on labelled data; must not know how models learn or how files are read.

>>> from surelearn import SureClassifier, evaluate
>>> clf = SureClassifier(random_state=0).fit([[0.0, 1.0], [1.0, 0.0]], ["no", "yes"])
>>> found = evaluate(clf, [[0.0, 2.0], [3.0, 1.0], [2.0, 0.0]], ["no", "yes", "no"])
>>> f"{found.accuracy:.2f}"
'0.67'
"""

from surelearn.evaluation._chunks import ChunkCounts, ChunkScores, chunk_scores
from surelearn.evaluation._comparison import Comparison
from surelearn.evaluation._evaluate import evaluate
from surelearn.evaluation._interval import share_interval
from surelearn.evaluation._label_scores import LabelScores
from surelearn.evaluation._rankings import RankingScores, evaluate_ranker, ranking_scores
from surelearn.evaluation._result import Evaluation
from surelearn.evaluation._taggers import evaluate_tagger

__all__ = [
    "ChunkCounts",
    "ChunkScores",
    "Comparison",
    "Evaluation",
    "LabelScores",
    "RankingScores",
    "chunk_scores",
    "evaluate",
    "evaluate_ranker",
    "evaluate_tagger",
    "ranking_scores",
    "share_interval",
]
