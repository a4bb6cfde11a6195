"""Learn single rows fast, and batches with new classes; must not know files."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from scipy import sparse

from surelearn import _check, _core
from surelearn.learners.answers.linear import OneRow
from surelearn.learners.answers.many_labels import ManyLabels
from surelearn.learners.feature_names import FeatureNames
from surelearn.learners.labels import RowLabels, row_labels
from surelearn.learners.row_input import RowInput
from surelearn.learners.sharded import settings_of
from surelearn.learners.streamed import Streamed
from surelearn.learners.tasks.row_settings import RowSettings, given_weight
from surelearn.learners.tasks.row_training import RowTrainable
from surelearn.learners.tasks.rows import RowBatch, RowModel, union_of_labels
from surelearn.weights import Method


class OneRowLearning(ManyLabels, RowInput, Streamed[RowModel]):
    """An online classifier that learns single rows."""

    def learn_one(self, x: Any, y: Any, sample_weight: float | None = None) -> Self:
        """Learn one row.

        Parameters
        ----------
        x : array of shape (n_features,), sparse row, or dict of {feature: value}
            The keys of a dict are names if the first row was a dict with names. They are hashed
            into 2**18 buckets; a string value is part of the name, so ``{"city": "Rome"}`` has the
            feature ``"city=Rome"``. Otherwise keys are feature numbers, or the column names of a
            frame that was learnt before.
        y : label
            For a model of many labels per row: a list, tuple or set of labels, which may be empty,
            or an array or sparse row, which is a row of an indicator matrix. A list always holds
            labels; in a model of an indicator matrix they are the numbers of its columns.
        sample_weight : float, optional
        """
        if not self._fresh:
            self._learn_one(x, y, sample_weight)
            return self
        shell = self._shell()
        if shell._learn_one(x, y, sample_weight):
            self._adopt(shell)
        return self

    def _learn_one(self, x: Any, y: Any, sample_weight: float | None) -> bool:
        """Learn one row; returns whether it has been learnt, rather than left out."""
        is_first = "n_features_in_" not in self.__dict__
        row = rows, n_features, is_sparse, _ = self._one(x, learning=True)
        weight = 1.0
        if sample_weight is not None:
            weight = _check.number("sample_weight", sample_weight, "[0, inf)", low=0.0)
        if weight == 0.0:
            return False
        method = self._kept_method()
        place = None if method is None else _place_of(self._model, y)
        if method is not None and place is not None:
            self._learn_row(method, rows, place, weight)
        elif not self._learn_unprepared(rows, n_features, is_sparse, y=y, weight=weight):
            return False
        if is_first and isinstance(x, Mapping):
            self._names = FeatureNames()
        self._remember_one(x, row)
        return True

    def _remember_one(self, x: Any, row: OneRow) -> None:
        """Remember the names in a row, now that it is learnt."""
        if self._reads_by_names:
            self._names.register([x])

    def _learn_row(self, method: Method, row: _core.Rows, place: Any, weight: float) -> None:
        self._model.learn_row(method, row, place, weight)

    def _labels(self, y: Any, *, reset: bool) -> RowLabels:
        """Labels, one for each row or many; the form of the first ones is kept for answers."""
        if not reset:
            return y if isinstance(y, RowLabels) else self._known_labels(y)
        labels = row_labels(y)
        if labels.is_many:
            settings_of(self).check_many_labels()
        self._keep_form(labels)
        return labels

    def _keep_form(self, labels: RowLabels) -> None:
        if labels.form is not None:
            self._label_form = labels.form

    def _present(
        self, settings: RowSettings, n_features: int, *, is_sparse: bool, many: bool
    ) -> RowModel:
        """The model to continue with."""
        if self._fresh:
            return settings.untrained(n_features, is_sparse=is_sparse, many=many)
        return settings.going_on(self._model)

    def _learn_unprepared(
        self, row: _core.Rows, n_features: int, is_sparse: bool, *, y: Any, weight: float
    ) -> bool:
        """Learn one row with all checks; the next rows may take the fast path.

        Returns False, and learns nothing, if the class of the row has weight 0.
        """
        params = self.get_params(deep=False)
        settings = RowSettings.of(params)
        labels = self._one_label(y)
        if not self._fresh:
            self._check_settings()
        model = self._present(settings, n_features, is_sparse=is_sparse, many=labels.is_many)
        _check.one_kind(model.classes, labels.y)
        known = model.classes
        if labels.columns is not None:
            known = union_of_labels(known, labels.columns)
        settings.check_classes(union_of_labels(known, labels.y), model)
        weights = given_weight(settings.class_weight, labels.y, np.array([weight]))
        if weights is not None and not weights[0]:
            return False
        self.n_features_in_ = n_features
        if self._fresh:
            self._keep_form(labels)
        batch = RowBatch(row, None, labels.y, weights, starts=labels.starts)
        with self._keeping():
            self._absorb(model.with_classes(known), settings, batch)
        if settings.can_be_kept and self._model.weights is not None:
            method = self._model.core_method(settings.method)
            self._kept = (list(params), list(params.values()), method, self._model.layout)
        return True

    def _one_label(self, y: Any) -> RowLabels:
        """The label of one row, or its labels: a collection, or a row of an indicator matrix."""
        if isinstance(y, sparse.sparray | sparse.spmatrix | np.ndarray) and np.ndim(y):
            y = sparse.csr_array(y.reshape(1, -1)) if sparse.issparse(y) else np.atleast_2d(y)
            return row_labels(y) if self._fresh else self._known_labels(y)
        labels = row_labels([y], form="lists")
        if not self._fresh:
            _check.same_number_of_labels(self._model.many_labels, labels.is_many)
            if self.label_format_ in ("dense", "sparse"):
                _check.columns_only(labels.y.tolist(), len(self._model.classes))
        return labels

    def _kept_method(self) -> Method | None:
        """The method of the last row, if all parameters are still the same objects."""
        kept = self.__dict__.get("_kept")
        if kept is None or self._model.layout is not kept[3]:
            return None
        values = map(self.__dict__.get, kept[0])
        return kept[2] if all(map(operator.is_, values, kept[1])) else None

    def _go_on(self, shell: Self, model: RowModel, settings: RowSettings, batch: RowBatch) -> None:
        """Learn a batch that a shell has read, and remember the names in the rows learnt."""
        learnt = self._n_learnt
        with self._keeping():
            self._adopt(shell)
            try:
                self._absorb(model, settings, batch)
            except BaseException:
                self._remember(batch, self._n_learnt - learnt)
                raise
        self._remember(batch)

    def _absorb(self, model: RowModel, settings: RowSettings, batch: RowBatch) -> None:
        """Learn a batch that may have new classes."""
        trainable = RowTrainable(settings, self._own_reader(), watch=self._publish)
        trainable.absorb(model, batch)

    def _publish(self, model: RowModel) -> None:
        self._model = model


def _place_of(model: RowModel, y: Any) -> Any:
    """The position of a known label, or an array of those of many; None for any other."""
    try:
        if not model.many_labels:
            return model.places.get(y)
        if not isinstance(y, list | tuple | set | frozenset):
            return None
        places = sorted({model.places[label] for label in y})
        return np.array(places, np.int32) if len(places) == len(y) else None
    except (KeyError, TypeError):  # new, or no label: the slow path learns it or raises the error
        return None
