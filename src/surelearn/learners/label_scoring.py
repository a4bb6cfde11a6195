"""Label sets, margins and probabilities of rows that may have any number of labels.

Every label is a problem of two classes: a row has it if its mean score is above a threshold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, probability, rules
from surelearn.learners.scoring import (
    LARGEST,
    Scored,
    ScoredModel,
    Scorer,
    TopTwoMargin,
    in_deviations,
)
from surelearn.read import Labels

Array = NDArray[np.float64]

#: The smallest and the largest probability of a label.
_CERTAIN = (float(np.finfo(np.float64).tiny), float(np.nextafter(1.0, 0.0)))


@dataclass(slots=True)
class LabelScorer(Scorer):
    """A scorer of a model of many labels per row; all results have a column for each label.

    Parameters
    ----------
    thresholds : array of shape (n_labels,), optional
        The margin above which a row has each label. Default: 0.
    """

    thresholds: Array | None = None

    def has(self, rows: Any) -> NDArray[np.bool_]:
        """Whether each row has each label."""
        return self._above(self.class_scores(rows))

    def right(self, rows: Any, labels: Labels) -> NDArray[np.bool_]:
        """Whether the prediction for each row has its labels and no others."""
        expected = indicator(labels, self.model.classes)
        n_known = expected.sum(axis=1)
        assert labels.starts is not None
        complete = n_known == np.diff(labels.starts)  # an unknown label is never predicted
        return np.asarray((self.has(rows) == expected).all(axis=1) & complete)

    def class_scores(self, rows: Any) -> Array:
        """The mean score of each label."""
        weights = self.model.weights
        return np.zeros((len(rows), 0)) if weights is None else weights.scores(rows)

    def margin(self, rows: Any) -> tuple[Array, Array]:
        return self.moments(rows)

    def moments(self, rows: Any) -> tuple[Array, Array]:
        """The mean and the variance of the score of each label."""
        weights = self.model.weights
        if weights is None:
            return np.zeros((len(rows), 0)), np.zeros((len(rows), 0))
        return weights.margin(rows)

    def entropy(self, rows: Any) -> Array:
        """The mean of the entropies of the labels of each row, in bits."""
        p = self.probabilities(rows)
        _check.some_label(p.shape[1], "entropy")
        return np.asarray(probability.entropy(_both(p)).reshape(p.shape).mean(axis=1))

    def reliability(self, rows: Any, places: NDArray[Any], *, bins: int) -> probability.Reliability:
        """Predicted probabilities against errors, over all rows and labels.

        `places` is a table of shape (n_rows, n_labels): whether each row has each label.
        """
        p, predicted = self.probabilities(rows), self.has(rows)
        truth, said = (table.astype(np.int64).ravel() for table in (places, predicted))
        return probability.reliability(truth, _both(p), np.arange(2), bins=bins, y_pred=said)

    def fitted_temperature(self, rows: Any, places: NDArray[Any]) -> float:
        """The temperature that makes a table of labels, as in `reliability`, most probable."""
        mean, spread = self.noisy_moments(rows, tau=1.0)
        _check.some_label(mean.shape[1], "calibrate")
        truth = places.astype(np.int64).ravel()
        return probability.fit_temperature(mean.ravel(), spread.ravel(), truth, shrink=True)

    def score(self, rows: Any) -> Scored:
        """Label sets, probabilities and sureness from one pass over the rows."""
        if not self.model.layout.second_order:
            return Scored(self.has(rows), None, None)
        mean, own = self.moments(rows)
        _, spread = self._with_noise(mean, own)
        sure = in_deviations(np.abs(mean), spread).min(axis=1, initial=np.inf)
        return Scored(self._above(mean), self._probabilities(mean, spread), sure)

    # ---------------------------------------------------------------- internals

    def _above(self, scores: Array) -> NDArray[np.bool_]:
        return np.asarray(scores > (0.0 if self.thresholds is None else self.thresholds))

    def _coded_top_two(
        self, mean: Array, own: Array, *, places: NDArray[np.int64] | None = None
    ) -> TopTwoMargin:
        """The margin of the least sure label of each row, or of the label in `places`."""
        _, spread = self._with_noise(mean, own)
        if places is None:
            places = in_deviations(np.abs(mean), spread).argmin(axis=1)
        at = np.arange(len(mean)), places
        return TopTwoMargin(places, places, np.abs(mean[at]), own[at], spread[at])

    def _with_noise(
        self, mean: Array, spread: Array, *, tau: float | None = None
    ) -> tuple[Array, Array]:
        tau = self.temperature if tau is None else tau
        return mean, np.minimum((spread + self.rule.label_noise) * tau**2, LARGEST)

    def _probabilities(self, mean: Array, spread: Array, *, log: bool = False) -> Array:
        if not mean.size:
            return np.zeros(mean.shape)
        p = probability.label_probabilities(mean.ravel(), spread.ravel(), log=log)[:, 1]
        # No margin of a Gaussian is certain: scikit-learn wants values below 1, not rounded to it.
        p = p if log else np.clip(p, *_CERTAIN)
        return np.ascontiguousarray(p.reshape(mean.shape))


def scorer_of(model: ScoredModel, rule: rules.Rule, **settings: Any) -> Scorer:
    """The scorer for what a model knows: one label per row, or many."""
    return (LabelScorer if model.many_labels else Scorer)(model, rule, **settings)


def indicator(labels: Labels, classes: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether each row has each of these labels (sorted); other labels are left out."""
    assert labels.starts is not None
    table = np.zeros((labels.n_rows, len(classes)), dtype=bool)
    rows = np.repeat(np.arange(labels.n_rows), np.diff(labels.starts))
    places = {label: k for k, label in enumerate(classes.tolist())}
    columns = np.array([places.get(label, -1) for label in labels.values.tolist()], np.int64)
    columns = columns[labels.codes]
    table[rows[columns >= 0], columns[columns >= 0]] = True
    return table


def _both(p: Array) -> Array:
    """The probabilities of both sides of every label, one label of one row after the other."""
    return np.stack([1.0 - p.ravel(), p.ravel()], axis=1)


#: A label with fewer rows takes the common threshold: one of that label alone would follow chance.
_FEWEST = 3


def best_thresholds(scores: Array, has: NDArray[np.bool_], *, average: str) -> Array:
    r"""The thresholds, above which a row has a label, with the largest F1.

    .. math:: F_1 = \frac{2\, TP}{P + N}

    with TP the number of right predictions, P that of predictions and N that of true labels. The
    micro average takes all three over all labels, and one threshold for all of them: many small
    labels with a threshold each would fit it to chance. The macro average is the mean of the F1 of
    all labels, so a threshold is chosen for each; labels with fewer than three rows take the common
    one.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_labels)
    has : ndarray of bool of the same shape
        Whether each row has each label.
    average : {"micro", "macro"}

    Returns
    -------
    ndarray of shape (n_labels,)
        Of equally good thresholds the one nearest to 0.

    Examples
    --------
    >>> scores = np.array([[-0.5], [-0.3], [-0.8], [0.1]])
    >>> best_thresholds(scores, np.array([[True], [True], [False], [True]]), average="micro")
    array([-0.65])
    """
    common = _best(scores.ravel(), has.ravel())
    chosen = np.full(scores.shape[1], common)
    for k in np.flatnonzero(has.sum(axis=0) >= _FEWEST) if average == "macro" else ():
        chosen[k] = _best(scores[:, k], has[:, k])
    return chosen


def _best(scores: Array, has: NDArray[np.bool_]) -> float:
    """The threshold with the largest F1: 0, between two scores, or beyond all."""
    found, owners = np.unique(scores), np.sort(scores[has])
    middle = found[:-1] + np.diff(found) / 2
    values = np.concatenate([[0.0], middle, found[:1] - 1.0, found[-1:] + 1.0])
    values = values[np.argsort(np.abs(values), kind="stable")]
    above = len(scores) - np.searchsorted(np.sort(scores), values, side="right")
    right = len(owners) - np.searchsorted(owners, values, side="right")
    return float(values[np.argmax(2 * right / np.maximum(1, above + len(owners)))])
