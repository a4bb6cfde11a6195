"""Sets of labels with a stated coverage, and how new records are; knows no kind of record."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn.decide import (
    NOVELTY_SCORES,
    SET_SCORES,
    Novelty,
    Right,
    SetEvidence,
    nonconformity,
    split,
)
from surelearn.learners.deciding.state import decisions_of, part_of, put_decisions
from surelearn.learners.deciding.view import Array, View, view_of

if TYPE_CHECKING:
    from surelearn.learners.base import Estimator

E = TypeVar("E", bound="Estimator[Any]")

#: The share of false alarms at which scores of novelty are compared.
_FALSE_ALARMS = 0.05


def choose_sets(
    self: E,
    X: Any,
    y: Any,
    *,
    coverage: float = 0.95,
    score: str = "auto",
    **records: Any,
) -> E:
    """Learn from kept-back records how large sets of labels must be; `predict_set` gives them.

    Parameters
    ----------
    X, y
        As in `choose_abstention`.
    coverage : float, default 0.95
        The coverage at which scores are compared.
    score : {"auto", "least-ambiguous", "adaptive", "regularised"}, default "auto"
        What makes a label conform; see `decide.nonconformity`. ``"auto"`` uses the one with the
        smallest sets on a fifth of the records, which then count for nothing else.
    **records
        `group` or `qid` for rankers.

    Returns
    -------
    self
        Whatever changes probabilities later drops them; files keep them.
    """
    coverage = _check.number("coverage", coverage, "(0, 1)", low=0.0, high=1.0)
    score = _check.choice("score", score, ["auto", *SET_SCORES])
    view = view_of(self, X, records)
    right, p, items = view.right(y), view.probabilities(), view.items()
    kept = np.arange(view.n)
    if score == "auto":
        choosing, kept = split(view.n, round(1 / (1 - coverage)), np.random.default_rng(0))
        own = np.isin(items, choosing)
        score = _smallest(p, right.take(items, choosing), own, coverage)
    scores, right = nonconformity(p, score), right.take(items, kept)
    put_decisions(self, sets=SetEvidence.of(score, right, scores, binary=view.binary_sets))
    return self


def _smallest(p: Array, right: Right, own: NDArray[np.bool_], coverage: float) -> str:
    """The score with the fewest labels in the sets of some items, which hold their right labels."""
    if not own.any():
        return SET_SCORES[0]
    sizes = []
    for score in SET_SCORES:
        scores = nonconformity(p, score)
        limit = SetEvidence.of(score, right, scores, binary=True).threshold(coverage, None)
        sizes.append(np.mean(scores[own] <= limit))
    return SET_SCORES[int(np.argmin(sizes))]


def predict_set(
    self: Estimator[Any],
    X: Any,
    coverage: float = 0.95,
    *,
    delta: float | None = None,
    by_class: bool = False,
    **records: Any,
) -> Any:
    r"""Sets of labels that hold the right one with probability `coverage`, most probable first.

    .. math:: \Pr[\, y \in S(x) \,] \ge coverage

    on average over kept-back records and new ones that are drawn alike; `choose_sets` must have
    seen such records. The most probable label is always in the set. Of many labels a row, sets hold
    at least a share `coverage` of the right ones; of sequences and graphs, each token or node has a
    set, and sets hold a share `coverage` of the right tags of a sentence or graph. For rankers the
    set is the shortest list of candidates that holds a right one.

    Parameters
    ----------
    X
        Records as `predict` takes them.
    coverage : float, default 0.95
    delta : float, optional
        The coverage then holds with probability ``1 - delta`` over kept-back records, and not only
        on average.
    by_class : bool, default False
        Whether the coverage holds for the records of each class, one class at a time. A class with
        too few kept-back records is in all sets: 95 % needs 19 of them.
    **records
        `group` or `qid` for rankers.

    Returns
    -------
    list of tuples of labels
        One for each row or group; a list of tuples for each sentence or graph.

    Raises
    ------
    ValueError
        If there are too few kept-back records for this coverage.

    References
    ----------
    Vovk, Gammerman & Shafer 2005, Algorithmic learning in a random world. Angelopoulos & Bates
    2023, Conformal prediction: a gentle introduction.
    """
    coverage = _check.number("coverage", coverage, "(0, 1)", low=0.0, high=1.0)
    if delta is not None:
        delta = _check.number("delta", delta, "(0, 1)", low=0.0, high=1.0)
    self._fitted()
    evidence: SetEvidence = part_of(self, "sets", "predict_set", "choose_sets")
    view = view_of(self, X, records)
    return sets_of(evidence, view, coverage, delta=delta, by_class=by_class)


def sets_of(
    evidence: SetEvidence,
    view: View,
    coverage: float,
    *,
    delta: float | None = None,
    by_class: bool = False,
) -> Any:
    """The sets of the records of a view; see `predict_set`."""
    p = view.probabilities()
    limit: Any
    if _check.flag("by_class", by_class):
        view.check_by_class()
        by_label = [evidence.of_label(k) for k in range(p.shape[1])]
        limit = np.array([own.threshold(coverage, delta) for own in by_label])
    else:
        least = evidence.fewest(coverage, delta)
        if evidence.n < least:
            raise ValueError(
                f"coverage={coverage:g} needs at least {least:,} kept-back {view.unit}s, got "
                f"{evidence.n:,}. Use more of them in choose_sets, or a smaller coverage."
            )
        limit = evidence.threshold(coverage, delta)
        if math.isinf(limit) and limit > 0:
            unknown = float(np.mean(np.isinf(evidence.values)))
            raise ValueError(
                f"coverage={coverage:g} must be within reach, got {unknown:.3g} of the right "
                f"{view.options} of kept-back {view.records} that no set can hold. Use a smaller "
                "coverage."
            )
    return view.sets(evidence.score, limit)


def choose_novelty(self: E, X: Any, foreign: Any = None, **records: Any) -> E:
    """Learn from kept-back records of known classes how new a known one may look.

    From then on ``novelty(X, p_value=True)`` and ``predict(X, novel=0.01)`` compare records with
    these.

    Parameters
    ----------
    X
        Records that the model has not learnt, drawn like those that are to count as known. A level
        of .01 needs 99.
    foreign : optional
        Records that should be found to be new. With them, half of X chooses the score that finds
        more of them at 5 % false alarms; records are compared with the other half.

    Returns
    -------
    self
    """
    view, score = view_of(self, X, records), next(iter(NOVELTY_SCORES))
    kept = np.arange(view.n)
    if foreign is not None:
        choosing, kept = np.array_split(np.random.default_rng(0).permutation(view.n), 2)
        strange = view_of(self, foreign, records)
        shares = {
            name: np.mean(
                Novelty.of(view.novelty(name)[choosing]).p_value(strange.novelty(name))
                <= _FALSE_ALARMS
            )
            for name in NOVELTY_SCORES
        }
        score = max(shares, key=lambda name: float(shares[name]))
    put_decisions(self, novelty=Novelty.of(view.novelty(score)[kept], score))
    return self


def novelty(self: Estimator[Any], X: Any, *, p_value: bool = False, **records: Any) -> Array:
    r"""How little of each record the model has met; larger is newer.

    .. math:: -m / \sqrt v

    with m and v the mean and the variance of the best label's score, for two classes those of the
    margin. `choose_novelty` may choose another power of v. A sparse row or a text without any
    feature has novelty 0.

    Parameters
    ----------
    X
    p_value : bool, default False
        Whether to return the p-value instead: the share of known records that look as new, by those
        of `choose_novelty`. It is at most p for at most a share p of known ones, on average.

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
    >>> from surelearn import SureTextClassifier
    >>> texts = ["a great film", "great fun", "a dull film", "how dull"]
    >>> clf = SureTextClassifier(random_state=0).fit(texts, ["good", "good", "bad", "bad"])
    >>> known, unseen = clf.novelty(["great fun", "unseen words"])
    >>> bool(unseen > known)
    True
    """
    view = view_of(self, X, records)
    if _check.flag("p_value", p_value):
        known: Novelty = part_of(self, "novelty", "p_value=True", "choose_novelty")
        return known.p_value(view.novelty(known.score))
    found = decisions_of(self).novelty
    return view.novelty(next(iter(NOVELTY_SCORES)) if found is None else found.score)
