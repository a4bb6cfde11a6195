"""Shards of tables: columns that all agree on, counted first; must not know engines."""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple, TypeVar, cast

from surelearn.columns.cells import Table
from surelearn.columns.known import Known
from surelearn.learners.answers.linear import block_of, reader_of
from surelearn.learners.base import settings_of
from surelearn.learners.classifier import SureClassifier
from surelearn.learners.table_classifier import SureTableClassifier, columns_of, decided
from surelearn.merging import Documents
from surelearn.parameters import untrained
from surelearn.rows import rows_of
from surelearn.training.shards import Shard
from surelearn.units import ColumnScale, Units

E = TypeVar("E", bound=SureClassifier)


class Scales(NamedTuple):
    """The moments of the columns of some shards."""

    parts: tuple[ColumnScale, ...]

    def plus(self, other: Scales) -> Scales:
        return Scales(self.parts + other.parts)

    @property
    def units(self) -> Units:
        """Those of all rows."""
        return ColumnScale.united(self.parts).units


class TableCounts(NamedTuple):
    """What rows are weighed by: the documents of texts, and the moments of numbers."""

    documents: Documents
    scales: Scales | None

    def plus(self, other: TableCounts) -> TableCounts:
        parts = [one for one in (self.scales, other.scales) if one is not None]
        scales = reduce(Scales.plus, parts) if parts else None
        return TableCounts(self.documents.plus(other.documents), scales)


def parted(counts: Any) -> tuple[Documents | None, Scales | None]:
    """The documents and the moments of what shards have counted."""
    if isinstance(counts, TableCounts):
        return counts.documents, counts.scales
    return (None, counts) if isinstance(counts, Scales) else (counts, None)


def new_like(estimator: E) -> E:
    """A new estimator with the same parameters, and the columns that all shards agree on."""
    if not isinstance(estimator, SureTableClassifier):
        return untrained(estimator)
    twin: Any = decided(estimator)
    return cast(E, twin)


def columns_in(estimator: SureTableClassifier, X: Any) -> list[Known]:
    """The columns of the first shard that has rows, which decides them for all."""
    return columns_of(estimator, Table.of(X))


def counted_tables(
    estimator: SureTableClassifier, X: Any, y: Any, sample_weight: Any
) -> TableCounts:
    """What a shard of tables adds to the counts of all, without rows of weight 0."""
    twin = decided(estimator)
    block = block_of(twin, X, y, sample_weight)
    memory, rows = reader_of(twin).known.memory, block.X
    if reader_of(twin).known.spans:
        memory.documents.count(rows.indptr, rows.indices, rows.data)
    scale = settings_of(twin).but(n_shards=1).scale_of(block, twin.n_features_in_)
    return TableCounts(memory.documents_met(), None if scale is None else Scales((scale,)))


def weighed_tables(shard: Shard, documents: Documents) -> Shard:
    """A shard whose texts are weighed by the counts of all shards."""
    reader: Any = shard.trainable.reader  # type: ignore[attr-defined]
    reader.known.memory.restore_documents(documents)
    reader.is_shard = True
    block = shard.block
    if not block.size:
        return shard
    reader.known.weigh_in_place(block.X)
    return shard._replace(block=block._replace(rows=rows_of(block.X)))
