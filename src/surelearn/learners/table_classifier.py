"""Tables in, label out: columns of text, categories, numbers and dates in one model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surelearn import _check, _core
from surelearn.columns import Columns
from surelearn.columns.cells import Table
from surelearn.columns.encoder import Encoder
from surelearn.columns.known import Known, known_columns
from surelearn.columns.leaks import LeakWatch, warn_of_leaks
from surelearn.columns.specs import given_columns, given_interactions
from surelearn.learners.answers.linear import OneRow
from surelearn.learners.checks import taken
from surelearn.learners.classifier import SureClassifier
from surelearn.learners.explain.explanation import Explanation, touched
from surelearn.learners.table_reader import TableReader
from surelearn.learners.tasks.row_block import RowBlock
from surelearn.learners.tasks.row_settings import given_weight
from surelearn.learners.tasks.row_training import RowTrainable
from surelearn.learners.tasks.table_task import TABLES
from surelearn.parameters import untrained
from surelearn.read import Source
from surelearn.rows import rows_of
from surelearn.weights import Method

#: Parameters that say how tables become rows.
ENCODER_PARAMS = ("columns", "interactions", "n_features", "keep_names")


class SureTableClassifier(SureClassifier):
    """A `SureClassifier` of tables: texts, categories, numbers and dates in one model.

    Methods take tables in place of rows: `fit`, `partial_fit`, `predict` and the like take a frame
    of pandas or polars, a table of Arrow, a list of dicts, or a dict of columns; `learn_one`,
    `predict_one` and `explain` take one row as a dict. What each column is follows from its values
    in the first call of `fit` or `partial_fit`: `columns_` shows it, and `columns` overrides it.

    Parameters
    ----------
    rule, covariance, projection, constraints, multiclass, passes, shuffle, fit_intercept, \
initial_variance, average, class_weight, cost, dtype, n_shards, n_jobs, combine, merge_every, \
decoding, probability, random_state, verbose
        As in `SureClassifier`.
    columns : dict of {str: kind}, optional
        What columns are: ``"text"``, ``"category"``, ``"number"``, ``"date"``, ``"boolean"``,
        ``"categories"`` (lists), ``"ignore"``, or one of the classes of `surelearn.columns` with
        settings, such as ``Text(weight=2)`` or ``Number(bins=16)``. Others are told from their
        values, by the rules of the user guide.
    interactions : list of pairs of str, optional
        Columns whose features are multiplied: ``[("brand", "title")]`` learns a weight for each
        word of a title by each brand.
    n_features : int or "auto", default "auto"
        Number of hash buckets: for all categories together, for all interactions together, and for
        each column of texts. ``"auto"``: ``2**18``; ``2**20`` for interactions and longer n-grams.
    keep_names : bool, default True
        Whether to keep the first name hashed to each feature, for `explain`.

    Attributes
    ----------
    columns_ : Columns
        A table of the columns: kind, an example, the share of missing values, and how the kind was
        decided.
    classes_, coef_, sigma_, intercept_, intercept_sigma_, mistakes_, n_updates_, n_iter_, \
temperature_
        As in `SureClassifier`. The first features are the columns of numbers and dates, in order.

    Examples
    --------
    >>> from surelearn import SureTableClassifier
    >>> rows = [
    ...     {"brand": "Acme", "title": "a great film"},
    ...     {"brand": "Acme", "title": "great fun again"},
    ...     {"brand": "Bell", "title": "a dull film"},
    ...     {"brand": "Bell", "title": "how very dull"},
    ... ]
    >>> clf = SureTableClassifier(random_state=0).fit(rows, ["good", "good", "bad", "bad"])
    >>> clf.columns_
    column  kind      example       missing  decided
    brand   category  Acme                   2 distinct values
    title   text      a great film           3.0 words on average
    >>> clf.predict([{"brand": "Acme", "title": "not dull at all, great!"}])
    array(['good'], dtype='<U4')
    """

    task = TABLES

    _encoder: Encoder
    _decided: list[Known]  # while the columns are decided elsewhere

    def __init__(
        self,
        rule: Any = "probit",
        *,
        columns: Any = None,
        interactions: Any = None,
        n_features: int | Literal["auto"] = "auto",
        keep_names: bool = True,
        covariance: str = "diagonal",
        projection: str = "auto",
        constraints: Any = "auto",
        multiclass: Any = "joint",
        passes: int | Literal["auto"] = "auto",
        shuffle: bool = True,
        fit_intercept: bool = True,
        initial_variance: float = 1.0,
        average: bool = False,
        class_weight: Any = None,
        cost: Any = None,
        dtype: Any = "float32",
        n_shards: int = 1,
        n_jobs: int | None = None,
        combine: str = "evidence",
        merge_every: int | None = 1,
        decoding: str = "auto",
        probability: str = "softmax",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            rule,
            covariance=covariance,
            projection=projection,
            constraints=constraints,
            multiclass=multiclass,
            passes=passes,
            shuffle=shuffle,
            fit_intercept=fit_intercept,
            initial_variance=initial_variance,
            average=average,
            scale="auto",
            class_weight=class_weight,
            cost=cost,
            dtype=dtype,
            n_shards=n_shards,
            n_jobs=n_jobs,
            combine=combine,
            merge_every=merge_every,
            decoding=decoding,
            probability=probability,
            random_state=random_state,
            verbose=verbose,
        )
        self.columns = columns
        self.interactions = interactions
        self.n_features = n_features
        self.keep_names = keep_names

    @property
    def columns_(self) -> Columns:
        self._attribute("columns_")
        return Columns.of(self._encoder.known)

    def explain(
        self,
        row: Any = None,
        *,
        label: Any = None,
        names: Any = None,
        top: Any = "auto",
        intercept: bool = False,
    ) -> Explanation:
        """Explain the model by its surest features, or the margin of one row by its values.

        Parameters
        ----------
        row : dict of {str: value}, optional
            The row to explain: the contribution of each of its values. Of three or more classes, to
            the largest score and to the next best.
        label, top, intercept : optional
            As in `SureClassifier.explain`.
        names : array of str of shape (n_features,), optional
            Names of the features. Default: ``brand=Acme``, ``title: great``, ``price``, ``price
            missing``, ``price in [10, 20)``, ``brand=Acme × title: great``; ``"#"`` and its number
            where none is known, as for most products with words unless a row is explained.

        Returns
        -------
        Explanation
            As in `SureClassifier.explain`.
        """
        how: dict[str, Any] = {"label": label, "top": top, "intercept": intercept}
        self._fitted()
        if row is None:
            return touched(super().explain(names=names, **how))
        table = Table.one(row, "row")
        if names is None:
            names = _Names(self._encoder, self._encoder.names_in(table))
        explained = super().explain(self._validated(table, reset=False), names=names, **how)
        return self._with_values(explained, table)

    # ---------------------------------------------------------------- internals

    def _with_values(self, explained: Explanation, table: Table) -> Explanation:
        """The same, with numbers as they are and not as they are scaled."""
        numbers = self._encoder.numbers_in(table)
        shown = {name: getattr(explained, name).copy() for name in explained.columns}
        for i, name in enumerate(explained.feature.tolist()):
            shown["value"][i] = numbers.get(name, shown["value"][i])
        return Explanation(shown)

    def _encoder_of(self, table: Table) -> Encoder:
        """An encoder of the columns of a table that has not met any name."""
        return Encoder(
            self._columns_of(table),
            given_interactions(self.interactions),
            n_features=self.n_features,
            keep_names=self.keep_names,
        )

    def _columns_of(self, table: Table) -> list[Known]:
        """The columns of a table, unless they are decided."""
        decided = self.__dict__.get("_decided")
        return known_columns(table, given_columns(self.columns)) if decided is None else decided

    def _make_encoder(self, table: Table) -> None:
        self._encoder = self._encoder_of(table)
        self._made_by = self._encoder_params()
        self.n_features_in_ = self._encoder.n_features

    def _encoder_params(self) -> dict[str, Any]:
        return {
            "columns": given_columns(self.columns),
            "interactions": given_interactions(self.interactions),
            "n_features": self.n_features,
            "keep_names": self.keep_names,
        }

    def _check_settings(self) -> None:
        for name, value in self._encoder_params().items():
            _check.same(name, self._made_by[name], value)

    def _validated(self, X: Any, *, reset: bool, learning: bool = False) -> Any:
        """Tables as rows; those that are learnt are weighed later."""
        table = Table.of(X)
        _check.some_rows(len(table))
        if reset:
            self._make_encoder(table)
        arrays, _ = self._encoder.encode(table, learning=False)
        rows = _matrix(arrays, self._encoder.n_features)
        if not learning:
            self._encoder.weigh_in_place(rows)
        return rows

    def _unweighed(self, X: Any) -> _core.Rows:
        """The rows of a table before their words are weighed."""
        arrays, _ = self._encoder.encode(Table.of(X), learning=False)
        rows = _core.Rows.csr(*arrays, self._encoder.n_features)
        _check.sound_rows(rows.fault)
        return rows

    def _rows_to_learn(self, X: Any, *, reset: bool) -> tuple[Any, Any]:
        """Rows, and the table with the names in it."""
        table = Table.of(X)
        _check.some_rows(len(table))
        if reset:
            self._make_encoder(table)
        else:
            self._check_settings()
        arrays, found = self._encoder.encode(table, learning=True)
        return _matrix(arrays, self._encoder.n_features), (table, found)

    def _remember(self, block: RowBlock, n: int | None = None) -> None:
        table, found = block.named
        if n is not None and n < len(table):
            found = self._encoder.encode(table.take(np.arange(n)), learning=True)[1]
        self._encoder.memory.register(found)

    def _block(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> RowBlock:
        """Rows of weight 0 are left out before anything of them is met."""
        table, labels = Table.of(X), self._labels(y, reset=reset)
        _check.one_label_a_row(labels.n_rows, len(table), many=labels.is_many)
        given = _check.sample_weight(sample_weight, labels.n_rows)
        weight = given_weight(_check.class_weight(self.class_weight), labels, given)
        if weight is None or weight.all() or not weight.any():
            return super()._block(table, labels, given, reset=reset)
        kept = np.flatnonzero(weight)
        given = None if given is None else given[kept]
        block = super()._block(table.take(kept), labels.take(kept), given, reset=reset)
        return block._replace(numbers=kept)

    def _whole(self, X: Any, y: Any, sample_weight: Any, who: str) -> RowBlock:
        """All rows, weighed by the counts of all."""
        block = super()._whole(Table.of(X), y, sample_weight, who)
        if not block.labels.is_many:
            warn_of_leaks(block.named[0], self._encoder.known, block.labels)
        rows = block.X
        if self._encoder.spans:
            self._encoder.memory.documents.count(rows.indptr, rows.indices, rows.data)
            self._encoder.weigh_in_place(rows)
        return block._replace(rows=rows_of(rows), X=rows)

    def _opened(self, source: Any, reading: Mapping[str, Any], *, goes_on: bool) -> Source:
        return self.task.opened(source, reading, model=self if goes_on else None)

    def _picked(
        self, X: Any, y: Any, numbers: NDArray[np.int64], **records: Any
    ) -> tuple[Any, Any, dict[str, Any]]:
        return Table.of(X).take(numbers), taken(y, numbers), records

    def _n_features_of(self, X: Any) -> int:
        return self._encoder.n_features

    def _decide(self, known: list[Known]) -> None:
        """Take these columns for good."""
        self._decided = known
        self._make_encoder(Table({}, 0))

    def _blank(self) -> Self:
        twin = super()._blank()
        if "_encoder" in self.__dict__:
            twin._encoder = self._encoder.like()
            twin.n_features_in_ = twin._encoder.n_features
        return twin

    def _trainable(
        self, settings: Any, declared: NDArray[Any] | None, *, goes_on: bool
    ) -> RowTrainable:
        trainable = super()._trainable(settings, declared, goes_on=goes_on)
        if not goes_on:
            reader: TableReader = trainable.reader
            trainable.leaks = LeakWatch(lambda: reader.known.known)
        return trainable

    def _warn_of_stream(self, trainable: RowTrainable) -> None:
        super()._warn_of_stream(trainable)
        if trainable.leaks is not None:
            trainable.leaks.warn()

    def _new_reader(self) -> TableReader:
        return TableReader(None, make=self._encoder_of)

    def _own_reader(self) -> TableReader:
        return TableReader(self._encoder)

    def _use(self, reader: TableReader) -> None:
        self._encoder = reader.known
        self._made_by = self._encoder_params()
        self.n_features_in_ = self._encoder.n_features

    def _feature_names(self, names: Any, n_features: int) -> Any:
        if isinstance(names, _Names):
            return names
        if names is None:
            return _Names(self._encoder, {})
        return super()._feature_names(names, n_features)

    def _entries(self, row: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        return row.indices.astype(np.int64), row.data.astype(np.float64)

    def _one(self, x: Any, name: str = "x", *, learning: bool = False) -> OneRow:
        table, found = Table.one(x, name), None
        if learning:
            if self._fresh:
                self._make_encoder(table)
            arrays, found = self._encoder.encode(table, learning=True)
        else:
            arrays, _ = self._encoder.encode(table, learning=False)
        rows = _core.Rows.csr(*arrays, self._encoder.n_features)
        _check.sound_rows(rows.fault, name)
        if not learning:
            rows = self._encoder.weighed(rows, counting=False)
        return rows, self._encoder.n_features, True, found

    def _remember_one(self, x: Any, row: OneRow) -> None:
        if row[3] is not None:
            self._encoder.memory.register(row[3])

    def _learn_row(self, method: Method, row: _core.Rows, place: Any, weight: float) -> None:
        with self._own_reader().counted(row) as weighed:
            super()._learn_row(method, weighed, place, weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        tags.input_tags.two_d_array = False
        tags.input_tags.sparse = False
        return tags


def columns_of(estimator: SureTableClassifier, table: Table) -> list[Known]:
    """The columns of a table as an estimator would decide them that has learnt nothing."""
    return estimator._columns_of(table)


@contextmanager
def with_columns(estimator: Any, known: list[Known] | None) -> Iterator[None]:
    """Let the first rows that an estimator learns here have these columns; None: it decides."""
    if known is None:
        yield
        return
    estimator._decided = known
    try:
        yield
    finally:
        estimator.__dict__.pop("_decided", None)


def decided(
    estimator: SureTableClassifier, known: list[Known] | None = None
) -> SureTableClassifier:
    """A new estimator with these parameters and columns; by default the columns decided before."""
    twin = untrained(estimator)
    twin._decide(estimator._decided if known is None else known)
    return twin


def undecided(estimator: SureTableClassifier) -> None:
    """Let an estimator decide the columns of the next rows that it learns from the start."""
    estimator.__dict__.pop("_decided", None)


def unweighed_rows(estimator: SureTableClassifier, X: Any) -> _core.Rows:
    """The rows of a table, for `weighed_rows`."""
    return estimator._unweighed(X)


def weighed_rows(estimator: SureTableClassifier, rows: _core.Rows) -> _core.Rows:
    """Rows with their words weighed by the rows learnt so far."""
    return estimator._encoder.weighed(rows, counting=False)


def _matrix(arrays: Sequence[NDArray[Any]], n_features: int) -> sparse.csr_matrix:
    starts, features, values = arrays
    return sparse.csr_matrix((values, features, starts), shape=(len(starts) - 1, n_features))


class _Names:
    """Names of features, looked up when they are asked for."""

    def __init__(self, encoder: Encoder, own: dict[int, str]) -> None:
        self._encoder = encoder
        self._own = own

    def __getitem__(self, features: NDArray[np.int64]) -> NDArray[Any]:
        named = self._encoder.memory[features]
        for i, feature in enumerate(features.tolist()):
            named[i] = self._own.get(feature, named[i])
        return named
