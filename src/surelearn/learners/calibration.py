r"""Rows kept back to calibrate probabilities, and a temperature that follows a stream.

In memory, `kept_back` chooses the rows: the temperature is fitted to all of them at the end. In a
stream there is no end: every block keeps back some of its rows, and `Follower` moves the
temperature a little after each block.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn.learners.label_scoring import LabelScorer, indicator
from surelearn.learners.scoring import MeanScorer, Scorer
from surelearn.read import Labels

#: One row in so many is kept back, and so many at most.
_SHARE, _MOST = 20, 2000
#: Rows of smaller classes are not kept back. With few rows many classes are small, and a
#: temperature from the large ones alone would not fit them.
_SMALLEST_CLASS = 5
#: What earlier blocks of a stream count for after each block.
_MEMORY = 0.5


def kept_back(labels: Labels) -> NDArray[np.int64]:
    """Random row numbers, in random order; none of rare classes, none if there are few rows.

    They are the same for every `random_state`, which decides the order of the others alone.
    """
    n = labels.n_rows
    rows = np.random.default_rng(0).permutation(n)[: min(n // _SHARE, _MOST)]
    if labels.starts is not None:
        return rows
    counts = np.bincount(labels.codes, minlength=len(labels.values))
    return rows[counts[labels.codes[rows]] >= _SMALLEST_CLASS]


def kept_in_block(labels: Labels) -> NDArray[np.int64]:
    """The rows that a block keeps back: every tenth of its second half.

    A class keeps at least one row that is learnt in each pass. In a single pass the rows are
    predicted when the first half has been learnt, so that a source of one block has some as well.
    """
    n = labels.n_rows
    rows = np.arange(n // 2 + _SHARE // 4, n, _SHARE // 2, dtype=np.int64)
    counts, kept = (np.bincount(codes, minlength=1) for codes in (labels.codes, labels.codes[rows]))
    counts[: len(kept)] -= kept
    return rows[counts[labels.codes[rows]] > 0]


def class_positions(asked: Scorer, labels: Labels) -> NDArray[np.int64]:
    """The position of each row's class in a model, as `Scorer.fitted_temperature` takes it.

    -1 is an unknown class. Of many labels per row, whether each row has each label.
    """
    if isinstance(asked, LabelScorer):
        return indicator(labels, asked.model.classes).astype(np.int64)
    return labels.codes_in(asked.model.classes).astype(np.int64)


class Follower(NamedTuple):
    r"""The temperature of a stream: a Gaussian over :math:`\theta = \log \tau` that forgets slowly.

    .. math:: \theta \leftarrow \arg\min_t L(t) + \tfrac\lambda2 (t - \theta)^2,
        \qquad \lambda \leftarrow \tfrac12 \lambda + L''(\theta)

    with L the log loss of the rows that a block has kept back.

    Parameters
    ----------
    log_temperature : float
    precision : float
        The precision :math:`\lambda`; it starts at 1.
    """

    log_temperature: float = 0.0
    precision: float = 1.0

    @property
    def temperature(self) -> float:
        return float(np.exp(self.log_temperature))

    def after(self, asked: MeanScorer, rows: Any, places: NDArray[np.int64]) -> Follower:
        """Moved by rows that the model has not learnt, given the position of each row's class."""
        theta, curvature = asked.followed_temperature(rows, places, *self)
        return Follower(theta, _MEMORY * self.precision + max(curvature, 0.0))
