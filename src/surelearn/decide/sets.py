"""Sets of labels that hold the right one with a stated probability; must not know models.

Split conformal prediction: a label is in the set of a record if it conforms at least as well as the
right labels of most kept-back records did. Records whose right answer has parts (the tags of a
sentence, the topics of a text) lose the share of parts that their sets miss.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn import _core
from surelearn.decide.bounds import fewest_rows

Array = NDArray[np.float64]
Places = NDArray[np.int64]

#: Scores of non-conformity, in the order in which equally small sets prefer them.
SET_SCORES = ("least-ambiguous", "adaptive", "regularised")
#: Of the regularised score: what each label beyond the first few adds.
_PENALTY, _FREE = 0.05, 2


def nonconformity(p: Array, score: str) -> Array:
    r"""How badly each label fits each item, from the labels' probabilities.

    ``"least-ambiguous"`` is :math:`1 - p_y` (Sadinle, Lei & Wasserman 2019). ``"adaptive"`` is the
    probability of all labels up to this one, most probable first (APS; Romano, Sesia & Candes
    2020).
    ``"regularised"`` adds 0.05 for each label beyond the second (RAPS; Angelopoulos, Bates, Malik &
    Jordan 2021).

    Parameters
    ----------
    p : ndarray of shape (n_items, n_labels)
    score : {"least-ambiguous", "adaptive", "regularised"}

    Examples
    --------
    >>> nonconformity(np.array([[0.7, 0.2, 0.1]]), "adaptive").round(2)
    array([[0.7, 0.9, 1. ]])
    """
    if score == "least-ambiguous":
        return 1.0 - p
    order = np.argsort(-p, axis=1, kind="stable")
    total = np.cumsum(np.take_along_axis(p, order, axis=1), axis=1)
    if score == "regularised":
        total += _PENALTY * np.maximum(0, np.arange(1, p.shape[1] + 1) - _FREE)
    found = np.empty_like(total)
    np.put_along_axis(found, order, total, axis=1)
    return found


def label_sets(
    p: Array,
    score: str,
    limit: float | Array,
    *,
    always_the_best: bool = True,
    sizes: Places | None = None,
) -> tuple[Places, Places]:
    """The labels of each item that fit, most probable first; of equal ones the first.

    Parameters
    ----------
    p : ndarray of shape (n_items, n_labels)
    score : {"least-ambiguous", "adaptive", "regularised"}
    limit : float or ndarray of shape (n_labels,)
        The largest non-conformity of a label in a set, or that of each label.
    always_the_best : bool, default True
        Whether every set has the most probable label.
    sizes : ndarray of int of shape (n_items,), optional
        Each item has only so many of the labels, the first ones.

    Returns
    -------
    ends : ndarray of int of shape (n_items,)
        The set of item i is ``places[ends[i - 1] : ends[i]]``, that of the first begins at 0.
    places : ndarray of int

    Examples
    --------
    >>> ends, places = label_sets(np.array([[0.2, 0.7, 0.1], [0.1, 0.1, 0.8]]), "adaptive", 0.9)
    >>> ends.tolist(), places.tolist()
    ([2, 4], [1, 0, 2, 0])
    """
    limits = np.atleast_1d(np.asarray(limit, dtype=np.float64))
    penalty = _PENALTY if score == "regularised" else 0.0
    how = score != "least-ambiguous", limits, penalty, _FREE, always_the_best
    return _core.label_sets(np.ascontiguousarray(p), *how, sizes)


class Right(NamedTuple):
    """The right labels of items, of which some belong to one part of a record.

    Parameters
    ----------
    item, place : ndarray of int
        The row and the column of each right label in a table of labels; a place below 0 is a label
        that the model does not know.
    part : ndarray of int
        The part that each of them belongs to: of several in one part, the set needs one.
    share : ndarray of float of shape (n_parts,)
        What a record loses if its set misses the part; those of a record add up to at most 1.
    n : int
        Number of records.
    """

    item: Places
    place: Places
    part: Places
    share: Array
    n: int

    def values(self, scores: Array) -> Array:
        """The smallest non-conformity of the right labels of each part; infinite if unknown."""
        known = self.place >= 0
        own = np.full(len(self.place), np.inf)
        own[known] = scores[self.item[known], self.place[known]]
        found = np.full(len(self.share), np.inf)
        np.minimum.at(found, self.part, own)
        return found

    @property
    def label(self) -> Places:
        """The place of the last right label of each part, below 0 if it is unknown."""
        found = np.full(len(self.share), -1, dtype=np.int64)
        found[self.part] = self.place
        return found

    def take(self, item_record: Places, records: Places) -> Right:
        """Those of some records, given the record of each item; the tables stay as they are."""
        chosen = np.zeros(self.n, dtype=bool)
        chosen[records] = True
        own = chosen[item_record[self.item]]
        parts, part = np.unique(self.part[own], return_inverse=True)
        return Right(self.item[own], self.place[own], part, self.share[parts], len(records))


class SetEvidence(NamedTuple):
    """What kept-back records say of the non-conformity of right labels.

    Parameters
    ----------
    score : str
        One of `SET_SCORES`.
    values : ndarray of shape (n_parts,)
        Ascending.
    share : ndarray of shape (n_parts,)
        What a record loses if its set misses the part.
    label : ndarray of int of shape (n_parts,)
        The place of the right label.
    n : int
        Number of records.
    binary : bool
        Whether a record has one part, so that it loses all or nothing.
    """

    score: str
    values: Array
    share: Array
    label: Places
    n: int
    binary: bool

    @classmethod
    def of(cls, score: str, right: Right, scores: Array, *, binary: bool) -> SetEvidence:
        """The evidence of some right labels, given the scores of all labels of all items."""
        values = right.values(scores)
        order = np.argsort(values, kind="stable")
        ordered = values[order], right.share[order], right.label[order]
        return cls(score, *ordered, right.n, binary)

    def threshold(self, coverage: float, delta: float | None) -> float:
        r"""The largest non-conformity of labels in a set.

        .. math:: \frac{\sum_i l_i(\lambda) + 1}{n + 1} \le 1 - coverage

        with :math:`l_i` the share of a record's parts that is missed. With one part for each record
        it is the :math:`\lceil (n + 1)\, coverage \rceil`-th smallest value. The promise holds on
        average over kept-back records; with `delta` it holds for all but a share `delta` of them,
        by the binomial tail, or by the bound of Hoeffding and Bentkus where losses are shares.

        Returns
        -------
        float
            Infinite if there are too few records, or too many whose label is unknown.

        References
        ----------
        Angelopoulos, Bates, Fisch, Lei & Schuster 2024, Conformal risk control, eq. 4. Vovk 2012,
        Conditional validity of inductive conformal predictors, proposition 2a. Bates et al. 2021,
        Distribution-free, risk-controlling prediction sets.
        """
        if not self.n:
            return math.inf
        # What is lost in all by sets that end before the first value, after it, and so on.
        lost_beyond = np.append(np.cumsum(self.share[::-1])[::-1], 0.0)
        missed = 1.0 - coverage
        if delta is None:
            holds = (lost_beyond + 1.0) / (self.n + 1.0) <= missed + 1e-12
        else:
            holds = np.array([self._shown(lost, missed, delta) for lost in lost_beyond])
        if not holds.any():
            return math.inf
        n_within = int(np.argmax(holds))
        return float(self.values[n_within - 1]) if n_within else -math.inf

    def _shown(self, lost: float, missed: float, delta: float) -> bool:
        """Whether a loss of so many records shows that the mean is at most `missed`."""
        if self.binary:
            from scipy.special import bdtr  # slow to import

            return bool(bdtr(round(lost), self.n, missed) <= delta * (1 + 1e-9))
        return _hoeffding_bentkus(lost / self.n, self.n, missed) <= delta

    def of_label(self, place: int) -> SetEvidence:
        """The evidence of the parts whose right label is this one, each a record of its own."""
        own = self.label == place
        n = int(np.count_nonzero(own))
        return SetEvidence(self.score, self.values[own], np.ones(n), self.label[own], n, True)

    @staticmethod
    def fewest(coverage: float, delta: float | None) -> int:
        """The fewest records that can show a coverage: none of them is missed then."""
        if delta is None:
            return math.ceil(1.0 / (1.0 - coverage) - 1.0 - 1e-9)
        return fewest_rows(1.0 - coverage, delta)


def _hoeffding_bentkus(mean: float, n: int, risk: float) -> float:
    r"""The p-value of a mean loss in [0, 1] being above a risk (Bates et al. 2021, eq. 13).

    .. math:: \min\big(e^{-n\, kl(\hat r, r)}, e \Pr[Bin(n, r) \le \lceil n \hat r \rceil]\big)
    """
    from scipy.special import bdtr  # slow to import

    if mean >= risk:
        return 1.0
    kl = (1 - mean) * math.log((1 - mean) / (1 - risk))
    kl += mean * math.log(mean / risk) if mean > 0 else 0.0
    return min(math.exp(-n * kl), math.e * float(bdtr(math.ceil(n * mean - 1e-9), n, risk)))
