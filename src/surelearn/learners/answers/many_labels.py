"""Answers of a classifier of one label per row or of many: label sets, thresholds, subset accuracy.

Must not know how labels are learnt.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surelearn import _check, rules
from surelearn.learners.answers.classifier import ProbabilisticLinear, RuleScored
from surelearn.learners.label_scoring import LabelScorer, indicator, scorer_of
from surelearn.learners.labels import RowLabels, row_labels
from surelearn.learners.scoring import ScoredModel, Scorer
from surelearn.learners.tasks.rows import RowModel
from surelearn.learners.thresholds import best_thresholds
from surelearn.read import Labels

Array = NDArray[np.float64]


class ManyLabels(RuleScored[RowModel], ProbabilisticLinear):
    """A classifier learnt by a rule whose rows may have any number of labels."""

    _label_form: str  # in what the labels came; absent for one label per row and for streams
    _thresholds: dict[Any, float]  # by label, so that new labels do not move them

    @property
    def label_format_(self) -> str | None:
        """In what `predict` gives many labels per row; an indicator matrix numbers its labels."""
        model = self._attribute("label_format_")
        if not model.many_labels:
            return None
        form: str = self.__dict__.get("_label_form", "lists")
        numbered = np.array_equal(model.classes, np.arange(len(model.classes)))
        return form if numbered else "lists"

    @property
    def thresholds_(self) -> Array:
        """The margin above which a row has each label."""
        model = self._attribute("thresholds_")
        if not model.many_labels:
            raise AttributeError("thresholds_ needs many labels per row, got one label for each.")
        return self._thresholds_of(model)

    def _thresholds_of(self, model: ScoredModel) -> Array:
        known = self.__dict__.get("_thresholds", {})
        return np.array([known.get(label, 0.0) for label in model.classes.tolist()])

    def predict(self, X: Any) -> Any:
        """The label with the largest score, the first one in a tie; or the labels of each row.

        With many labels per row, a row has the labels whose score is above their threshold, which
        is 0 unless `choose_thresholds` has chosen others. They are in the form in which y came.

        Returns
        -------
        ndarray of shape (n_samples,)
            With many labels: an indicator matrix of shape (n_samples, n_labels), dense or CSR, or a
            list of tuples, in the order of `classes_`.
        """
        asked = self._scorer() if self._fitted().many_labels else None
        if not isinstance(asked, LabelScorer):
            return super().predict(X)
        has = asked.has(self._rows(X))
        form = self.label_format_
        if form == "lists":
            return label_lists(has, asked.model.classes)
        return sparse.csr_matrix(has, dtype=np.int64) if form == "sparse" else has.astype(np.int64)

    def predict_one(self, x: Any) -> Any:
        """The label of one row, an array, a sparse row or a dict; of many labels, a tuple."""
        asked = self._scorer() if self._fitted().many_labels else None
        if not isinstance(asked, LabelScorer):
            return super().predict_one(x)
        row, *_ = self._one(x)
        return label_lists(asked.has(row), asked.model.classes)[0]

    def choose_thresholds(self, X: Any, y: Any, *, average: str = "micro") -> Self:
        r"""Choose the thresholds of labels by rows that were kept back from training.

        .. math:: t = \arg\max_t F_1(y, [s > t]), \qquad F_1 = \frac{2\, TP}{P + N}

        with TP the right predictions, P all predictions and N all labels. `predict` uses the
        thresholds from then on, `partial_fit` keeps them, `fit` resets them to 0. Labels that come
        later have 0.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
        y : indicator matrix or list of lists of labels
            Labels that the model does not know are left out.
        average : {"micro", "macro"}, default "micro"
            ``"micro"``: one threshold for all labels, with the largest F1 of all labels together.
            ``"macro"``: a threshold for each label with the largest F1 of this label; labels of
            fewer than three of these rows take the common one.

        Returns
        -------
        self
        """
        average = _check.choice("average", average, ["micro", "macro"])
        asked = self._scorer()
        if not asked.model.many_labels:
            raise ValueError("choose_thresholds needs many labels per row, got one label for each.")
        rows = self._rows(X)
        has = self._places(asked.model, y, len(rows))
        chosen = best_thresholds(asked.class_scores(rows), has, average=average).tolist()
        self._thresholds = dict(zip(asked.model.classes.tolist(), chosen, strict=True))
        return self

    def _places(self, model: ScoredModel, y: Any, n_rows: int) -> NDArray[Any]:
        """The position of each label; of many labels, whether each row has each that is known."""
        labels = self._known_labels(y)
        if not model.many_labels:
            return super()._places(model, labels.y, n_rows)
        _check.one_label_a_row(len(labels), n_rows, many=True)
        _check.one_kind(model.classes, labels.y)
        return indicator(labels.coded(), model.classes)

    def _known_labels(self, y: Any) -> RowLabels:
        """Labels, as many for each row as the model has learnt."""
        model = self._fitted()
        labels = row_labels(y, form=self.label_format_)
        _check.same_number_of_labels(model.many_labels, labels.is_many)
        if labels.columns is not None:
            _check.indicator_fits(len(labels.columns), len(model.classes))
        return labels

    def _scorer(self) -> Scorer:
        model = self._fitted()
        if not model.many_labels:
            return super()._scorer()
        _check.for_many_labels("decoding", self.decoding, ["auto"])
        return scorer_of(
            model,
            rules.get(self.rule),
            temperature=self._temperature("exact"),
            threads=_check.threads("n_jobs", self.n_jobs),
            thresholds=self._thresholds_of(model),
        )

    def _right(self, X: Any, y: Any) -> NDArray[np.bool_]:
        """Whether all labels of each row are right, and no others predicted."""
        asked, rows = self._scorer(), self._rows(X)
        labels = self._known_labels(y)
        _check.one_label_a_row(len(labels), len(rows), many=True)
        _check.one_kind(asked.model.classes, labels.y)
        return asked.right(rows, labels.coded())


def label_lists(has: NDArray[np.bool_], classes: NDArray[Any]) -> list[tuple[Any, ...]]:
    """The labels of each row as a tuple."""
    rows, codes = np.nonzero(has)
    starts = np.searchsorted(rows, np.arange(len(has) + 1))
    return Labels(codes.astype(np.int32), classes, starts).lists()


def label_settings(estimator: ManyLabels) -> dict[str, Any]:
    """What a file has of many labels besides the model: their form, and thresholds if chosen."""
    settings: dict[str, Any] = {"form": estimator.label_format_}
    if "_thresholds" in vars(estimator):
        settings["thresholds"] = estimator.thresholds_.tolist()
    return settings


def put_label_settings(
    estimator: ManyLabels, form: str, thresholds: list[float] | None, classes: NDArray[Any]
) -> None:
    """The settings of a file into a new estimator."""
    if form != "lists":
        estimator._label_form = form
    if thresholds is not None:
        estimator._thresholds = dict(zip(classes.tolist(), thresholds, strict=True))


def copy_label_form(source: Any, result: Any) -> None:
    """The form of the labels of a merged model is that of the first."""
    if "_label_form" in vars(source):
        result._label_form = source._label_form


def copy_thresholds(source: Any, result: Any) -> None:
    """Thresholds belong to the weights they were chosen for: kept where these are kept."""
    if "_thresholds" in vars(source):
        result._thresholds = dict(source._thresholds)
