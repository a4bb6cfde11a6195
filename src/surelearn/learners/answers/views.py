"""Records as decisions see them: rows, label sets, sentences, graphs, groups; knows no promises."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, _core
from surelearn.decide import Right, cost_matrix, label_sets, least_cost, novelty_of
from surelearn.learners.answers.many_labels import label_lists
from surelearn.learners.deciding import Places, View
from surelearn.learners.label_scoring import LabelScorer
from surelearn.learners.scoring import Scorer, in_deviations
from surelearn.read import Labels

Array = NDArray[np.float64]


def tuples(held: tuple[Places, Places], classes: NDArray[Any]) -> list[tuple[Any, ...]]:
    """The labels of each item, given those of `label_sets`."""
    return _core.label_tuples(tuple(classes.tolist()), *held)


def log_odds(p: Array, best: Places) -> Array:
    r"""The log odds of one label of each row if probabilities were twice as sharp.

    .. math:: \log \frac{p_b^2}{\sum_{z \ne b} p_z^2}

    Between the log odds and the lead over the next label, it ranks answers better than either
    (docs/theory/decisions.md). It is precise also where a probability rounds to 1, and NaN where
    all are 0.
    """
    return _core.sharp_log_odds_of(np.ascontiguousarray(p), np.ascontiguousarray(best, np.int64))


class RowView(View):
    """Rows with one label each."""

    def __init__(self, asked: Scorer, rows: Any, places: Any) -> None:
        self.n = len(rows)
        self._asked, self._rows, self._places = asked, rows, places
        self._classes = asked.model.classes

    @cached_property
    def _judged(self) -> tuple[Places, Array]:
        known = vars(self).get("_margin")  # if novelty has asked for a variance
        return self._asked.judged(self._rows, None if known is None else known[0])

    @cached_property
    def _p(self) -> Array:
        if vars(self).keys() & {"_judged", "_margin"}:
            return self._judged[1]
        return self._asked.probabilities(self._rows)  # quicker: it does not look for the best

    @cached_property
    def _margin(self) -> tuple[Array, Array]:
        """Mean scores, and the variance of the largest one, or of margins of the one surest."""
        weights = _check.trained(self._asked.model.weights, "margin")
        return weights.surest_margin(self._rows, two_sided=self._two_sided)

    @property
    def _two_sided(self) -> bool:
        """Whether columns are margins of two sides, not scores of classes."""
        code, weights = self._asked.model.code, self._asked.model.weights
        alone = weights is not None and weights.n_columns == 1
        return alone or (code is not None and code.kind != "ovr")

    def costs(self, cost: Any) -> Array:
        return cost_matrix(cost, self._classes)

    def answers(self, cost: Array | None = None) -> Places:
        return self._judged[0] if cost is None else least_cost(self._p, cost)

    def priced_out(self, answers: Places) -> NDArray[np.bool_]:
        return np.asarray(answers == len(self._classes))

    def score(self, name: str, answers: Places) -> Array:
        p = self._p
        return log_odds(p, np.minimum(answers, p.shape[1] - 1))

    def losses(self, answers: Places, y: Any) -> Array:
        return np.asarray(self._places(y) != answers, dtype=np.float64)

    def shown(self, answers: Places) -> NDArray[Any]:
        return self._classes[np.minimum(answers, len(self._classes) - 1)]

    def objects(self, answers: Places) -> NDArray[Any]:
        known = self._classes.astype(object)  # each label is one object, not one a row
        return known[np.minimum(answers, len(known) - 1)]

    def labels(self, answers: Places) -> NDArray[Any]:
        return self.shown(answers)

    def novelty(self, score: str) -> Array:
        means, variance = self._margin
        means = np.abs(means) if self._two_sided else means
        largest = means[np.arange(self.n), _core.first_largest_of(means)]
        scale = getattr(self._asked.model, "scale", None)
        if hasattr(self._rows, "are_empty") and (scale is None or not scale.centred):
            # The model has met nothing of these rows but the intercept.
            variance = np.where(self._rows.are_empty(), 0.0, variance)
        return novelty_of(largest, variance, score)

    def probabilities(self) -> Array:
        return self._p

    def items(self) -> Places:
        return np.arange(self.n)

    def right(self, y: Any) -> Right:
        rows = np.arange(self.n)
        return Right(rows, self._places(y), rows, np.ones(self.n), self.n)

    def deviations(self) -> Array:
        """The margin between the two best labels of each row, in standard deviations."""
        return self._asked.top_two(self._rows).sureness

    def check_by_class(self) -> None:
        """Rows have classes."""

    def sets(self, score: str, limit: float | Array) -> list[tuple[Any, ...]]:
        return tuples(label_sets(self.probabilities(), score, limit), self._classes)


class LabelView(View):
    """Rows with any number of labels; an answer is right if all of them are."""

    records = "rows of many labels"
    names = ("probability", "margin")
    binary_sets = False

    def __init__(self, asked: LabelScorer, rows: Any, labels: Any) -> None:
        self.n = len(rows)
        self._asked, self._rows, self._labels = asked, rows, labels
        self._classes = asked.model.classes

    @cached_property
    def _scored(self) -> Any:
        return self._asked.score(self._rows)

    def answers(self, cost: Array | None = None) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = self._scored.best
        return found

    def score(self, name: str, answers: NDArray[np.bool_]) -> Array:
        if name == "margin":
            sure: Array = self._scored.sureness
            return sure
        p = self._scored.probabilities
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.where(answers, p, 1.0 - p)).sum(axis=1))

    def deviations(self) -> Array:
        """The margin of the least sure label of each row, in standard deviations."""
        found: Array = self._scored.sureness
        return found

    def _known(self, y: Any) -> tuple[Places, Places]:
        """The row and the place of each label; a place below 0 is an unknown label."""
        labels: Labels = self._labels(y)
        assert labels.starts is not None
        _check.one_label_a_row(labels.n_rows, self.n, many=True)
        _check.one_kind(self._classes, labels.values)
        known = {label: k for k, label in enumerate(self._classes.tolist())}
        places = np.array([known.get(label, -1) for label in labels.values.tolist()], np.int64)
        rows = np.repeat(np.arange(self.n), np.diff(labels.starts))
        return rows, places[labels.codes] if len(places) else rows

    def losses(self, answers: NDArray[np.bool_], y: Any) -> Array:
        rows, places = self._known(y)
        truth = np.zeros_like(answers)
        truth[rows[places >= 0], places[places >= 0]] = True
        wrong = (truth != answers).any(axis=1)
        wrong[rows[places < 0]] = True
        return np.asarray(wrong, dtype=np.float64)

    def shown(self, answers: NDArray[np.bool_]) -> list[Any]:
        return label_lists(answers, self._classes)

    def probabilities(self) -> Array:
        p: Array = self._scored.probabilities
        return p

    def items(self) -> Places:
        return np.arange(self.n)

    def right(self, y: Any) -> Right:
        rows, places = self._known(y)
        share = 1.0 / np.bincount(rows, minlength=self.n)[rows]
        return Right(rows, places, np.arange(len(rows)), share, self.n)

    def held(self, within: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return within  # a row may have no label

    def sets(self, score: str, limit: float | Array) -> list[tuple[Any, ...]]:
        found = label_sets(self.probabilities(), score, limit, always_the_best=False)
        return tuples(found, self._classes)


class PartView(View):
    """Sequences and graphs, whose answers have a label for each token or node.

    An answer loses the share of its labels that is wrong; an empty one loses nothing.

    Parameters
    ----------
    best : ndarray of int of shape (n_parts,)
    p : ndarray of shape (n_parts, n_labels)
    leads : function
        The leads of all parts in standard deviations.
    bounds : ndarray of int
        Record i has the parts ``bounds[i]`` to ``bounds[i + 1]``.
    places : function
        The place of the label of each part of y.
    """

    names = ("probability", "least margin")
    binary = binary_sets = False

    def __init__(
        self, best: Any, p: Any, *, bounds: Places, classes: NDArray[Any], places: Any, leads: Any
    ) -> None:
        self.n = len(bounds) - 1
        self._make_best, self._make_p, self._leads = best, p, leads
        self._bounds, self._classes, self._places = bounds, classes, places
        self._sizes = np.diff(bounds)

    @cached_property
    def _best(self) -> Places:
        return np.asarray(self._make_best(), dtype=np.int64)

    @cached_property
    def _p(self) -> Array:
        return np.asarray(self._make_p(), dtype=np.float64)

    def _means(self, values: Array) -> Array:
        """The mean of the values of each record's parts, whatever the others are; 0 of none."""
        sums = np.bincount(self.items(), weights=values, minlength=self.n)
        return np.asarray(sums / np.maximum(1, self._sizes))

    def costs(self, cost: Any) -> Array:
        table = cost_matrix(cost, self._classes)
        if table.shape[1] > len(self._classes):
            raise ValueError(
                f"cost must have no price of no answer for {self.unit}s, whose labels are all "
                "given or none. Use choose_abstention."
            )
        return table

    def answers(self, cost: Array | None = None) -> Places:
        return self._best if cost is None else least_cost(self._p, cost)

    def score(self, name: str, answers: Places) -> Array:
        if name == "probability":
            wrong = 1.0 - self._p[np.arange(len(answers)), answers]
            return -self._means(wrong)
        found = np.full(self.n, np.inf)
        np.minimum.at(found, self.items(), self._leads())
        return found

    def losses(self, answers: Places, y: Any) -> Array:
        return self._means(np.asarray(self._places(y) != answers, dtype=np.float64))

    def shown(self, answers: Places) -> list[Any]:
        labels, bounds = self._classes[answers], self._bounds.tolist()
        return [self._one(labels[a:b]) for a, b in pairwise(bounds)]

    def _one(self, labels: NDArray[Any]) -> Any:
        """The labels of one record in the form of `predict`."""
        return labels

    def probabilities(self) -> Array:
        return self._p

    def items(self) -> Places:
        return np.repeat(np.arange(self.n), self._sizes)

    def right(self, y: Any) -> Right:
        parts = np.arange(int(self._bounds[-1]))
        share = 1.0 / self._sizes[self.items()]
        return Right(parts, self._places(y), parts, share, self.n)

    def sets(self, score: str, limit: float | Array) -> list[list[tuple[Any, ...]]]:
        found = tuples(label_sets(self._p, score, limit), self._classes)
        bounds = self._bounds.tolist()
        return [found[a:b] for a, b in pairwise(bounds)]


class SentenceView(PartView):
    """Sentences with a tag for each token."""

    unit, records = "sentence", "sentences"

    def _one(self, labels: NDArray[Any]) -> list[Any]:
        found: list[Any] = labels.tolist()
        return found


class GraphView(PartView):
    """Graphs with a label for each node."""

    unit, records = "graph", "graphs"


class GroupView(View):
    """Groups of candidates; an answer is the best one, a set the shortest list with a right one.

    In a group without candidates nothing is right: its answer is wrong, and its set misses.

    Parameters
    ----------
    leads : Leads
        The best candidate of each group, as a row, and its margin over the next best.
    p : ndarray of shape (n_candidates,)
    bounds : ndarray of int
    """

    unit, records, options = "group", "groups", "candidates"
    names = ("probability", "margin")

    def __init__(self, leads: Any, p: Any, bounds: Places) -> None:
        self.n = len(bounds) - 1
        self._leads, self._make_p, self._bounds = leads, p, bounds

    @cached_property
    def _table(self) -> Array:
        """The probability of each candidate, one line a group; 0 where there is none."""
        p, sizes = self._make_p(), np.diff(self._bounds)
        table = np.zeros((self.n, max(1, int(sizes.max(initial=0)))))
        table[self._cells] = p
        return table

    @cached_property
    def _cells(self) -> tuple[Places, Places]:
        """The line and the column of each candidate in the table."""
        sizes = np.diff(self._bounds)
        lines = np.repeat(np.arange(self.n), sizes)
        return lines, np.arange(int(self._bounds[-1])) - self._bounds[:-1][lines]

    def answers(self, cost: Array | None = None) -> Places:
        best = self._leads.best
        return np.where(best < 0, -1, best - self._bounds[:-1]).astype(np.int64)

    def score(self, name: str, answers: Places) -> Array:
        if name == "margin":
            return in_deviations(self._leads.gap, self._leads.variance)
        return log_odds(self._table, np.maximum(answers, 0))

    def losses(self, answers: Places, y: Any) -> Array:
        good = self._good(y)
        chosen = np.where(answers < 0, 0, good[np.arange(self.n), np.maximum(answers, 0)])
        return 1.0 - chosen.astype(np.float64)

    def _good(self, y: Any) -> NDArray[np.bool_]:
        """Whether a candidate is among the best of its group, one line a group."""
        relevance = np.full(self._table.shape, -np.inf)
        relevance[self._cells] = -_check.candidate_costs(y, None, int(self._bounds[-1]))
        best = relevance.max(axis=1, keepdims=True)
        return np.asarray((relevance == best) & (best > -np.inf))

    def shown(self, answers: Places) -> Places:
        return answers

    def probabilities(self) -> Array:
        return self._table

    def items(self) -> Places:
        return np.arange(self.n)

    def right(self, y: Any) -> Right:
        items, places = np.nonzero(self._good(y))
        empty = np.flatnonzero(np.diff(self._bounds) == 0)
        items = np.concatenate([items, empty])
        places = np.concatenate([places, np.full(len(empty), -1)])
        return Right(items, places, items, np.ones(self.n), self.n)

    def held(self, within: NDArray[np.bool_]) -> NDArray[np.bool_]:
        sizes = np.diff(self._bounds)
        return super().held(within) & (np.arange(within.shape[1]) < sizes[:, None])

    def sets(self, score: str, limit: float | Array) -> list[tuple[int, ...]]:
        found = label_sets(self._table, score, limit, sizes=np.diff(self._bounds))
        return tuples(found, np.arange(self._table.shape[1]))
