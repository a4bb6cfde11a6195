"""The task of classifiers of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from surelearn import _check, files
from surelearn.columns.encoder import Encoder, n_numbers_of
from surelearn.columns.known import Known
from surelearn.columns.specs import column_in, given_columns, given_interactions
from surelearn.learners.answers.linear import reader_of, use_reader
from surelearn.learners.file_parts import documents_in
from surelearn.learners.settings import Parameter, Params, Settings, checked
from surelearn.learners.sources import opened
from surelearn.learners.table_reader import TableReader
from surelearn.learners.tasks.row_settings import RowSettings
from surelearn.learners.tasks.row_task import WORDS, RowTask
from surelearn.learners.tasks.rows import RowModel
from surelearn.merging import Documents, MergeState, Words
from surelearn.read import Source
from surelearn.units import ColumnScale, growth_of


def _columns(name: str, params: Params) -> Any:
    return given_columns(params[name])


def _interactions(name: str, params: Params) -> Any:
    return given_interactions(params[name])


def _n_features(name: str, params: Params) -> Any:
    value = params[name]
    return value if _check.is_auto(value) else _check.count(name, value, least=2, most=2**28)


def _by_name(encoder: Encoder) -> list[Known]:
    return sorted(encoder.known, key=lambda one: one.name)


class TableSettings(RowSettings):
    """The checked parameters of a classifier of tables."""

    own: ClassVar = {
        **RowSettings.own,
        "columns": Parameter(_columns),
        "interactions": Parameter(_interactions),
        "n_features": Parameter(_n_features),
        "keep_names": Parameter(checked(_check.flag)),
    }

    def complete(self) -> None:
        vars(self).setdefault("scale", "auto")
        super().complete()

    def new_scale(self, n_features: int, *, is_sparse: bool) -> ColumnScale | None:
        """Numbers and dates are learnt in units of their spread, as dense rows are."""
        n_numbers = n_numbers_of(n_features, self.n_features)
        if self.scale is False or not n_numbers:
            return None
        growth = growth_of(self.covariance)
        return ColumnScale.new(n_numbers, centred=self.fit_intercept, whole=False, growth=growth)


class TableTask(RowTask):
    """Classifiers of tables."""

    settings: ClassVar[type[Settings]] = TableSettings

    def check_rows(self, model: Any, X: Any) -> None:
        """Any table can be read."""

    def opened(
        self, source: Any, reading: Mapping[str, Any], *, model: Any = None, labelled: bool = True
    ) -> Source:
        columns = ("label",) if labelled else ()
        if not isinstance(source, Source):
            reading = {"table": True, **reading}
        if model is not None and hasattr(model, "stream_"):
            known = model.stream_.columns
            reader_of(model).known.pass_over([known.get("label", "label"), known.get("weight")])
        return opened(source, reading, model=model, columns=columns)

    def params(self, estimator: Any) -> dict[str, Any]:
        params = super().params(estimator)
        given, pairs = given_columns(estimator.columns), given_interactions(estimator.interactions)
        columns = [[name, column.plain()] for name, column in given.items()]
        params["columns"] = None if estimator.columns is None else columns
        params["interactions"] = None if estimator.interactions is None else pairs
        return params

    def packed(self, estimator: Any) -> tuple[dict[str, Any], files.Tensors]:
        settings, tensors = super().packed(estimator)
        encoder = reader_of(estimator).known
        settings["columns"] = [one.plain() for one in encoder.known]
        return settings, tensors

    def put(
        self, estimator: Any, fields: files.Fields, tensors: files.Tensors, budget: int
    ) -> None:
        if estimator.columns is not None:
            estimator.columns = {name: column_in(kind) for name, kind in estimator.columns}
        if estimator.interactions is not None:
            estimator.interactions = [tuple(pair) for pair in estimator.interactions]
        known = [Known.of(one) for one in fields.list("columns")]
        encoder = Encoder(
            known,
            given_interactions(estimator.interactions),
            n_features=estimator.n_features,
            keep_names=estimator.keep_names,
        )
        use_reader(estimator, TableReader(encoder))
        super().put(estimator, fields, tensors, budget)

    def words_in(self, estimator: Any, model: RowModel, tensors: files.Tensors) -> Words | None:
        _check.same("n_features", model.layout.n_features, reader_of(estimator).n_features)
        arrays = [tensors[name] for name in WORDS] if estimator.keep_names else None
        return None if arrays is None else Words.of(*arrays)

    def documents_in(
        self, estimator: Any, fields: files.Fields, tensors: files.Tensors
    ) -> Documents | None:
        reader = reader_of(estimator)
        return documents_in(fields, tensors, reader.n_features) if reader.known.spans else None

    def check_alike(self, models: Sequence[Any]) -> None:
        first, *others = [reader_of(model).known for model in models if hasattr(model, "classes_")]
        for other in others:
            for a, b in zip(*map(_by_name, (first, other)), strict=False):
                _check.agree(f"column {a.name!r}", (a.name, a.column), (b.name, b.column))
            _check.agree("number of columns", len(first.known), len(other.known))
            _check.agree("interactions", first.interactions, other.interactions)
            _check.agree("n_features", first.n_features, other.n_features)
            _check.agree("keep_names", first.keep_names, other.keep_names)
        super().check_alike(models)

    def put_merged(self, estimator: Any, total: MergeState, fitted: Sequence[Any]) -> Any:
        use_reader(estimator, TableReader(reader_of(fitted[0]).known.like()))
        return super().put_merged(estimator, total, fitted)

    def learnt(self, model: Any, before: Mapping[str, Any]) -> dict[str, Any]:
        return super().learnt(model, before) | {"columns": self.facts(model)["columns"]}

    def facts(self, model: Any) -> dict[str, Any]:
        facts = super().facts(model)
        return facts | {"columns": [dict(row._asdict()) for row in model.columns_]}


#: The task of classifiers of tables.
TABLES = TableTask()
