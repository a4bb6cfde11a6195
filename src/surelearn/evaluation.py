"""Scores of models on labelled data; must not know which kinds of models there are.

>>> from surelearn import SureClassifier, evaluate
>>> clf = SureClassifier(random_state=0).fit([[0.0, 1.0], [1.0, 0.0]], ["no", "yes"])
>>> scores = evaluate(clf, [[0.0, 2.0], [3.0, 1.0], [2.0, 0.0]], ["no", "yes", "no"])
>>> f"{scores.accuracy:.2f}"
'0.67'
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from surelearn import _check
from surelearn.learners.task import EvaluationOptions, task_of
from surelearn.learners.tasks.rank_task import GROUPS
from surelearn.learners.tasks.sequence_task import SEQUENCES
from surelearn.scores import (
    ChunkCounts,
    ChunkScores,
    Comparison,
    DecisionScores,
    Evaluation,
    Kept,
    LabelScores,
    RankingScores,
    SetScores,
    chunk_scores,
    ranking_scores,
    share_interval,
)
from surelearn.training.stream import StreamProgress

__all__ = [
    "ChunkCounts", "ChunkScores", "Comparison", "DecisionScores", "Evaluation", "Kept",
    "LabelScores", "RankingScores", "SetScores", "chunk_scores", "evaluate", "evaluate_ranker",
    "evaluate_tagger", "ranking_scores", "share_interval",
]  # fmt: skip


def evaluate(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    rival: Any = None,
    risk: float | None = None,
    coverage: float = 0.95,
    progress: Callable[[StreamProgress], object] | None = None,
    **reading: Any,
) -> Any:
    """Evaluate a model on labelled rows, or compare two models.

    Parameters
    ----------
    model : fitted classifier, tagger or ranker
        A ranker also takes the keywords of `evaluation.evaluate_ranker`: `group`, `qid`, `cost`.
    X : rows or texts, or a source of them
        With `y`, what the model takes: an array, CSR matrix, frame, list of texts or of dicts.
        Without `y`, a source with labels as in `read.batches`, such as a path, or a `read.Source`;
        it is read batch by batch.
    y : array of shape (n_samples,), optional
        The true labels, or those of each row in a form that `fit` takes if rows have many. Labels
        that the model does not know count as mistakes.
    rival : fitted classifier, optional
        A second model to compare with on the same rows: by McNemar's test, and by the area under
        the curve of risk against coverage, with a paired bootstrap.
    risk : float, optional
        Also tell which share of the rows, surest first, is answered with this risk. It is an
        observation on these rows, no promise. By default the risk that `choose_abstention` has
        certified, if it has. Taggers and rankers without such a promise have no curve otherwise,
        since their sureness takes long.
    coverage : float, default 0.95
        The coverage of the sets that are judged, if the model can give sets; see `predict_set`.
    progress : callable, optional
        Called with a `learners.StreamProgress` after each batch.
    **reading
        Keywords of `read.batches`, such as `text`, `label` and `format`. By default the columns are
        those of training, if the model knows their names.

    Returns
    -------
    Evaluation
        Every row counts once; weights of the source are ignored. `LabelScores` if rows have many
        labels; for a tagger `ChunkScores`, for a ranker `RankingScores`. Its `decisions` are
        `DecisionScores`: what the model knows of its mistakes, and whether it keeps its promises.

    Examples
    --------
    >>> from surelearn import SureClassifier, evaluate
    >>> clf = SureClassifier(random_state=0).fit([[0.0, 1.0], [1.0, 0.0]], ["no", "yes"])
    >>> found = evaluate(clf, [[0.0, 2.0], [3.0, 1.0], [2.0, 0.0]], ["no", "yes", "no"])
    >>> found.confusion
    array([[1, 1],
           [0, 1]])
    """
    _check.callback("progress", progress)
    if risk is not None:
        risk = _check.number("risk", risk, "(0, 1)", low=0.0, high=1.0)
    coverage = _check.number("coverage", coverage, "(0, 1)", low=0.0, high=1.0)
    options = EvaluationOptions(rival, progress, risk, coverage)
    return task_of(model).evaluated(model, X, y, options, **reading)


def evaluate_tagger(
    tagger: Any,
    X: Any,
    y: Any = None,
    *,
    progress: Callable[[StreamProgress], object] | None = None,
    **reading: Any,
) -> ChunkScores:
    """Evaluate a tagger on tagged sentences.

    Parameters
    ----------
    tagger : fitted tagger
    X : list of sequences, or a source of them
        With `y`, what the tagger takes. Without `y`, a source with tags as in `read.sentences`,
        such as a path; it is read batch by batch.
    y : list of sequences of labels, optional
    progress, **reading
        As in `evaluate`, with its `risk` and `coverage` and the keywords of `read.sentences`.

    Returns
    -------
    ChunkScores
        Scores of chunks if the tags mark chunks (``O``, ``B-NP``, ...), else of each tag.

    Examples
    --------
    >>> from surelearn import SureTagger
    >>> X, y = [["the", "dog", "barks"]], [["B-NP", "I-NP", "B-VP"]]
    >>> evaluate_tagger(SureTagger(random_state=0).fit(X, y), X, y).f1
    1.0
    """
    SEQUENCES.check_fitted("tagger", tagger)
    scores: ChunkScores = evaluate(tagger, X, y, progress=progress, **reading)
    return scores


def evaluate_ranker(
    ranker: Any,
    X: Any,
    y: Any = None,
    *,
    cost: Any = None,
    group: Any = None,
    qid: Any = None,
    k: int = 10,
    progress: Callable[[StreamProgress], object] | None = None,
    **reading: Any,
) -> RankingScores:
    """Evaluate a ranker on groups of candidates.

    Parameters
    ----------
    ranker : fitted SureRanker
    X : array or CSR matrix of shape (n_samples, n_features), or a source of groups
        Without `y` and `cost`, a source as in `read.groups`, such as a path; it is read batch by
        batch.
    y, cost, group, qid
        Relevance or cost of each candidate, and the groups, as in `SureRanker.fit`.
    k : int, default 10
        The rank at which NDCG ends.
    progress, **reading
        As in `evaluate`, with its `risk` and `coverage` and the keywords of `read.groups`.

    Returns
    -------
    RankingScores

    Examples
    --------
    >>> from surelearn import SureRanker
    >>> X, y, group = [[0.0, 1.0], [1.0, 0.0], [0.5, 2.0], [2.0, 0.1]], [0, 1, 0, 1], [2, 2]
    >>> ranker = SureRanker(random_state=0).fit(X, y, group=group)
    >>> evaluate_ranker(ranker, X, y, group=group).accuracy
    1.0
    """
    GROUPS.check_fitted("ranker", ranker)
    groups = {"cost": cost, "group": group, "qid": qid, "k": k}
    scores: RankingScores = evaluate(ranker, X, y, progress=progress, **groups, **reading)
    return scores
