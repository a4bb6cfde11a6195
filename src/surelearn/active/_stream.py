"""Selective sampling of a stream within a label budget; never reads ahead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from surelearn import _check
from surelearn.active._query import rate
from surelearn.active._teach import decides
from surelearn.active._view import view
from surelearn.learners.tasks.row_task import ROWS
from surelearn.read import Batch

#: At this many labels behind the budget the target rate doubles; at as many ahead it is 0.
_SPRING = 8.0
#: Step size of log b.
_FOLLOW = 0.2
#: Tolerance of the budget: a number of labels, plus a share of all labels so far.
_SLACK, _SHARE = 3.0, 0.01
#: Bounds of log b, far outside the range of useful values.
_LOWEST, _HIGHEST = -30.0, 30.0


class Sampler:
    r"""Decide for each row of a stream whether to ask for its label, within a budget.

    The sampler asks about a row of sureness :math:`r = |M| / \sqrt V` with probability

    .. math:: p = \frac{b}{b + r}

    which is 1 on the border between two labels and falls with the sureness. The level b adapts to
    the stream. With :math:`\beta` the budget and e the surplus of labels asked so far over
    :math:`\beta n`,

    .. math:: \log b \leftarrow \log b + 0.2 \Big(\beta \big(1 - e / 8\big)_0^2 - p\Big)

    where the bracket is clipped to [0, 2]. So p is :math:`\beta` on average, however sure the model
    is, and the next rows make up for a surplus. Hard limits keep e between plus and minus
    :math:`3 + 0.01 \beta n`. So the budget is kept within 2 % from 300 labels on.

    Until the model knows two classes, p is the target rate :math:`\beta (1 - e / 8)_0^2`. The
    sampler never asks about rows that cannot teach the model anything (V = 0).

    Parameters
    ----------
    model : classifier
        The sampler uses its current state for each decision. Labels may come late, or never: train
        the model with `tell` or in any other way.
    budget : float, default 0.1
        Share of labels in (0, 1).
    strategy : {"acl", "margin", "novel"}, default "acl"
        The meaning of r. `margin` uses ``|M|``, which also works for rules and classifiers without
        variances. `novel` uses the best label's score in standard deviations, at least 0: rows of
        which the model has met little are asked about.
    random_state : int, RandomState or None

    Attributes
    ----------
    n_seen, n_asked : int

    References
    ----------
    Cesa-Bianchi, Gentile & Zaniboni 2006, Worst-Case Analysis of Selective Sampling for Linear
    Classification, for b / (b + margin) with a fixed b. Two changes are ours: b adapts to a budget,
    and the margin is measured in standard deviations.

    Examples
    --------
    >>> import numpy as np
    >>> from surelearn import SureClassifier
    >>> from surelearn.active import Sampler
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> sampler = Sampler(SureClassifier(), budget=0.2, random_state=0)
    >>> for rows in np.split(X, 50):
    ...     wanted = rows[sampler.ask(rows)]
    ...     sampler.tell(wanted, wanted[:, 0] > 0)
    >>> sampler.n_seen, abs(sampler.n_asked - 200) < 6
    (1000, True)
    """

    def __init__(
        self,
        model: Any,
        budget: float = 0.1,
        *,
        strategy: str = "acl",
        random_state: Any = None,
    ) -> None:
        ROWS.check_model("model", model)
        self.model = model
        self._budget = _check.number("budget", budget, "(0, 1)", low=0.0, high=1.0)
        self._strategy = _check.choice("strategy", strategy, ["acl", "margin", "novel"])
        self._random = check_random_state(random_state)
        self._level = 0.0  # log b
        self.n_seen = 0
        self.n_asked = 0

    def ask(self, X: Any) -> NDArray[np.bool_]:
        """Which of these rows to ask about, decided row by row.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features), texts, or table
            The next rows of the stream, any number of them.

        Returns
        -------
        ndarray of bool of shape (n_samples,)
        """
        rows = view(self.model, X)
        if not len(rows):
            return np.zeros(0, dtype=bool)
        draws = self._random.random_sample(len(rows)).tolist()
        if not decides(self.model):
            return np.array([self._decide(None, draw) for draw in draws])
        sure = np.maximum(rate(rows, self._strategy, None), 0.0).tolist()
        return np.array([self._decide(r, draw) for r, draw in zip(sure, draws, strict=True)])

    def tell(self, X: Any, y: Any) -> None:
        """Train the model on labels, with its `partial_fit`.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features), texts, or table
            May have no rows.
        y : array of shape (n_samples,)
        """
        if len(y):
            self.model.partial_fit(X, y)

    def _decide(self, sureness: float | None, draw: float) -> bool:
        """Decide on one row of the stream; None: the model cannot score rows yet."""
        surplus = self.n_asked - self._budget * self.n_seen
        wanted = self._budget * min(max(1.0 - surplus / _SPRING, 0.0), 2.0)
        self.n_seen += 1
        if sureness == np.inf:
            return False
        p = wanted
        if sureness is not None:
            p = 1.0 / (1.0 + sureness * np.exp(-self._level))
            self._level = min(max(self._level + _FOLLOW * (wanted - p), _LOWEST), _HIGHEST)
        slack = _SLACK + _SHARE * self._budget * self.n_seen
        behind = surplus - self._budget < -slack
        asked = (draw < p or behind) and surplus + 1.0 - self._budget <= slack
        self.n_asked += asked
        return bool(asked)


class Asked(NamedTuple):
    """A batch of a stream and the rows of it to ask about.

    Parameters
    ----------
    batch : object
        As it came.
    rows : ndarray of int64
        Numbers of the rows of this batch to ask about.

    Examples
    --------
    >>> from surelearn import SureClassifier
    >>> from surelearn.active import stream
    >>> batch, rows = next(stream(SureClassifier(), [[[0.0], [1.0]]], random_state=0))
    >>> len(batch), rows.dtype.name
    (2, 'int64')
    """

    batch: Any
    rows: NDArray[np.int64]


def stream(
    model: Any,
    batches: Iterable[Any],
    budget: float = 0.1,
    *,
    strategy: str = "acl",
    random_state: Any = None,
) -> Iterator[Asked]:
    """Go through a stream of any length and say which rows to ask about, within a budget.

    Each batch is read when it is needed, never ahead, and scored by the model as it is then. When
    labels come, at once or later, call the model's `partial_fit`. `Sampler` describes the choice of
    rows. A `SureTableClassifier` decides its columns by the first labelled rows that it learns:
    name them with `columns` if these are few.

    Parameters
    ----------
    model : classifier
        It does not change here.
    batches : iterable
        Of arrays, CSR matrices, lists of texts, tables, or the batches of `read.batches`.
    budget : float, default 0.1
        Share of labels in (0, 1), kept within 2 % from 300 labels on.
    strategy : {"acl", "margin", "novel"}, default "acl"
    random_state : int, RandomState or None

    Yields
    ------
    Asked
        The batch as it came and the rows of it to ask about, which may be none.

    Examples
    --------
    >>> import numpy as np
    >>> from surelearn import SureClassifier
    >>> from surelearn.active import stream
    >>> clf, asked = SureClassifier(), 0
    >>> for X, rows in stream(clf, np.random.default_rng(0).normal(size=(50, 20, 3)), 0.2):
    ...     if len(rows):
    ...         clf = clf.partial_fit(X[rows], X[rows, 0] > 0)
    ...     asked += len(rows)
    >>> abs(asked - 200) < 6
    True
    """
    sampler = Sampler(model, budget, strategy=strategy, random_state=random_state)
    return (_asked(sampler, batch) for batch in batches)


def _asked(sampler: Sampler, batch: Any) -> Asked:
    X = batch.X if isinstance(batch, Batch) else batch
    return Asked(batch, np.flatnonzero(sampler.ask(X)))
