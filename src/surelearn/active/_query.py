"""Query strategies: a score for each row, the best few rows, or a batch that differs; no labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from surelearn import _check, probability
from surelearn.active._view import Missing, NativeView, SklearnView, unsure_first, view
from surelearn.learners.answers.linear import Linear

Array = NDArray[np.float64]
Rows = NDArray[np.int64]


def _random_places(rows: NativeView | SklearnView, random: Any) -> Array:
    """The position of each row in a random order."""
    places: Array = np.empty(len(rows), dtype=np.float64)
    places[check_random_state(random).permutation(len(rows))] = np.arange(len(rows))
    return places


#: Strategies: each gives a score per row; the smallest score is asked first.
STRATEGIES: dict[str, Callable[[NativeView | SklearnView, Any], Array]] = {
    "random": _random_places,
    "margin": lambda rows, _: rows.margin(),
    "acl": lambda rows, _: rows.sureness(),
    "entropy": lambda rows, _: -probability.entropy(rows.probabilities()),
    "least-confident": lambda rows, _: rows.probabilities().max(axis=1),
    "novel": lambda rows, _: rows.familiarity(),
}


def scores(model: Any, X: Any, strategy: str = "acl", *, random_state: Any = None) -> Array:
    r"""The query score of each row; the row with the smallest score is asked first.

    With M the mean of the margin and V its variance:

    .. math::
        acl &= |M| / \sqrt V, \qquad margin = |M|, \qquad
        entropy = \frac{1}{\log K} \sum_z p_z \log p_z \\
        least\text{-}confident &= \max_z p_z, \qquad novel = s_a / \sqrt{v_a}, \qquad
        random = \text{place in a random order}

    With three or more classes, the margin is that between the two labels with the largest mean
    scores: ``M = s_a - s_b`` and ``V = v_a + v_b``. With codes and with full covariance,
    ``V = g' sigma g`` for the difference g of the two labels. `acl` orders rows as
    ``|Pr[label] - 1/2|`` does, and still tells them apart where the probability rounds to 1;
    `Probit` adds its noise to V in both. A row without features and intercept has V = 0 before that
    noise is added. It cannot teach the model anything, so its score is inf. With many labels per
    row, `acl` and `margin` are the least of all labels; the others but `random` are not defined.

    `novel` is `novelty` with the other sign: the row of which the model has met least comes first.
    It looks at the score of the best label alone, so a row between two labels that the model knows
    well does not count as new. For two classes it is ``|M| / sqrt(V)`` without noise.

    Parameters
    ----------
    model : classifier
        One of ours or of scikit-learn. `acl` and `novel` need variances, so a second-order rule of
        ours; `margin` needs `decision_function`; `entropy` and `least-confident` need
        `predict_proba`. An unfitted model works with `random` only.
    X : array or CSR matrix of shape (n_samples, n_features), texts, or table
        Whatever the model takes.
    strategy : {"acl", "margin", "entropy", "least-confident", "novel", "random"}, default "acl"
    random_state : int, RandomState or None
        Decides the order of `random`.

    Returns
    -------
    ndarray of shape (n_samples,)

    References
    ----------
    Dredze & Crammer 2008, Active Learning with Confidence, sec. 3. The multi-class forms are ours.

    Examples
    --------
    >>> from surelearn import SureClassifier, active
    >>> clf = SureClassifier(fit_intercept=False).fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"])
    >>> active.scores(clf, [[1.0, 1.0], [0.0, 0.0]])
    array([ 0., inf])
    """
    return rate(view(model, X), strategy, random_state)


def rate(rows: NativeView | SklearnView, strategy: str, random_state: Any) -> Array:
    """The scores of rows that have been read."""
    name = _check.choice("strategy", strategy, STRATEGIES)
    with _refusing(name):
        return np.asarray(STRATEGIES[name](rows, random_state), dtype=np.float64)


def together(rows: NativeView | SklearnView, n: int, among: Rows | None = None) -> Rows:
    """A batch of n rows, chosen from `among` or from all rows."""
    with _refusing("acl"):
        if isinstance(rows, SklearnView):
            raise rows.without_variances()
        return spread_out(rows, n, among)


@contextmanager
def _refusing(strategy: str) -> Iterator[None]:
    """Turn `Missing` into an error that names the strategy."""
    try:
        yield
    except Missing as lack:
        raise ValueError(
            f"strategy must be one that needs no {lack.needs}, got {strategy!r}: {lack.why}."
        ) from None


def query(
    model: Any,
    X: Any,
    n: int = 1,
    strategy: str = "acl",
    *,
    batch: bool = False,
    random_state: Any = None,
) -> Rows:
    r"""The rows to ask about, best first; ties keep the order of the row numbers.

    The n rows with the smallest `scores` are often near copies of one another. With `batch`, each
    row is chosen as if the rows before it had been learnt. Their labels are unknown, but any label
    raises the precision of the weights by the gain of the rule. The gain is taken at a margin of
    mean 0, where both labels are equally likely:

    .. math:: \Sigma^{-1} \leftarrow \Sigma^{-1} + b\, g g^T, \qquad (\alpha, b) = rule(m = 0, v =
        g^T \Sigma g)

    where g is the difference between the best two labels of the chosen row, without the part that
    the projection drops. With a code, each binary problem that involves one of the two labels
    shrinks separately. The direction in which the mean of a margin will move is unknown, but the
    size is not: the variance that the margin loses, from V to V', is the variance of the move. So
    the score of a row is the root mean square of its future value,

    .. math:: \sqrt{(M^2 + V - V') / V'}

    which rises for rows that share features with a chosen one, most of all for copies of it. A rule
    whose gain is 0 at the border, such as `Variance` with ``phi=0``, changes nothing. The effect on
    copies is weaker with ``projection="covariance"``, which drops more.

    Parameters
    ----------
    model : classifier
        As in `scores`; it does not change.
    X : array or CSR matrix of shape (n_samples, n_features), texts, or table
        Whatever the model takes.
    n : int, default 1
        How many rows, at most all of them.
    strategy : {"acl", "margin", "entropy", "least-confident", "novel", "random"}, default "acl"
        See `scores`.
    batch : bool, default False
        Whether to choose rows that differ; with ``strategy="acl"`` only.
    random_state : int, RandomState or None
        Decides the order of `random`.

    Returns
    -------
    ndarray of int64 of shape (n,)
        Row numbers.

    Examples
    --------
    >>> from surelearn import SureClassifier, active
    >>> clf = SureClassifier().fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"])
    >>> active.query(clf, [[3.0, 0.0], [1.0, 0.9], [0.0, 2.0]], n=2)
    array([1, 2])
    """
    rows = view(model, X)
    n = _check.count("n", n, most=len(rows))
    if batch_of(strategy, batch):
        return together(rows, n)
    return first(rate(rows, strategy, random_state), n)


def batch_of(strategy: str, batch: bool) -> bool:
    """Check and return `batch`; only `acl` has the variances that a batch needs."""
    if _check.flag("batch", batch) and strategy != "acl":
        raise ValueError(f"batch needs strategy='acl', got {strategy!r}.")
    return bool(batch)


def first(score: Array, n: int) -> Rows:
    """The positions of the n smallest scores in order; ties keep their order."""
    if n == 1:
        return np.array([np.nanargmin(score)] if not np.isnan(score).all() else [0])
    if n < len(score) // 4:  # sort only those that can be chosen, ties at the bound included
        bound = np.partition(score, n - 1)[n - 1]
        candidates = np.flatnonzero(score <= bound)
        return candidates[np.argsort(score[candidates], kind="stable")][:n]
    return np.argsort(score, kind="stable")[:n]


#: How many rows the first call of the core scores again; later calls score twice as many.
_TOGETHER = 64


class Shrinking:
    """A copy of a model whose variances fall as rows are chosen; the model does not change."""

    def __init__(self, rows: NativeView) -> None:
        rows.check_certain("variances")
        if not isinstance(rows.model, Linear):
            raise ValueError(
                f"batch must be False for {type(rows.model).__name__}, got True. Only linear "
                "models can tell what learning a row would change."
            )
        self._rows = rows.rows
        self._model = rows.scorer.model.copy()
        self._scorer = replace(rows.scorer, model=self._model)
        self._rule = rows.scorer.rule.core()
        self._found = rows.scorer.top_two(self._rows)

    @property
    def scores(self) -> NDArray[np.float64]:
        """The scores of all rows before the first choice."""
        return unsure_first(self._found)

    def again(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """The current scores of some rows. No score can fall, since variances only fall."""
        places = self._found.best[rows]
        now = self._scorer.top_two(self._rows, rows, places=places)
        lost = np.maximum(self._found.own[rows] - now.own, 0.0)
        # hypot(gap, 0) == gap, so rows that lost no variance keep their score to the bit.
        return unsure_first(now._replace(gap=np.hypot(now.gap, np.sqrt(lost))))

    def choose(self, row: int) -> None:
        """Shrink the variances as if this row had been learnt."""
        best, other = int(self._found.best[row]), int(self._found.next[row])
        code = self._model.code
        if self._model.many_labels:
            self._learn_hypothetically(row, [best])
        elif code is not None:
            for problem in np.flatnonzero(code.matrix[best] | code.matrix[other]).tolist():
                self._learn_hypothetically(row, [problem])
        else:
            self._learn_hypothetically(row, [0] if len(self._model.classes) == 2 else [best, other])

    def _learn_hypothetically(self, row: int, columns: list[int]) -> None:
        weights = _check.trained(self._model.weights, "batch")
        covariance = self._model.projection == "covariance"
        weights.hypothetical_update(self._rule, self._rows, row, columns, covariance=covariance)


def spread_out(
    rows: NativeView, n: int, among: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """The n rows to label together, best first; the candidates are `among`, or all rows.

    The search is lazy. A choice can only raise the other scores, so an old score is a lower bound.
    While the smallest score is an old one, that row and its nearest rivals are scored again. A
    smallest score that is new beats every bound: its row is the next choice.
    """
    twin = Shrinking(rows)
    among = np.arange(len(rows)) if among is None else among
    score = twin.scores[among]
    is_new = np.ones(len(among), dtype=bool)
    chosen: list[int] = []
    together = _TOGETHER
    while len(chosen) < n:
        place = int(score.argmin())
        if is_new[place]:
            chosen.append(int(among[place]))
            twin.choose(chosen[-1])
            among, score = np.delete(among, place), np.delete(score, place)
            is_new = np.zeros(len(among), dtype=bool)
            together = _TOGETHER
            continue
        near = np.argpartition(score, min(together, len(score)) - 1)[:together]
        score[near], is_new[near] = twin.again(among[near]), True
        together *= 2  # many near copies of the chosen row: do not creep through them
    return np.array(chosen, dtype=np.int64)
