"""Tables of a stream, or in memory, as rows; must not know how rows are learnt."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from surelearn import _core
from surelearn.columns.cells import Table
from surelearn.columns.encoder import Encoder
from surelearn.learners.tasks.row_block import Features
from surelearn.merging import Documents, Words


class TableReader:
    """Reads tables as rows.

    Parameters
    ----------
    encoder : Encoder or None
        None: its columns are decided by the first block.
    make : function, optional
        Of the first table: its encoder.
    is_shard : bool, default False
        As in `TextReader`.
    """

    def __init__(
        self,
        encoder: Encoder | None,
        *,
        make: Callable[[Table], Encoder] | None = None,
        is_shard: bool = False,
    ) -> None:
        self.encoder = encoder
        self.make = make
        self.is_shard = is_shard

    @property
    def n_features(self) -> int | None:
        return None if self.encoder is None else self.encoder.n_features

    @property
    def known(self) -> Encoder:
        """The encoder, which must be there."""
        assert self.encoder is not None
        return self.encoder

    def read(self, X: Any, names: list[str] | None) -> Features:
        table = Table.of(X)
        if self.encoder is None and self.make is not None:
            self.encoder = self.make(table)
        arrays, found = self.known.encode(table, learning=True)
        return Features(arrays, self.known.n_features, found)

    def register(self, features: Features) -> None:
        if features.names is not None:
            self.known.memory.register(features.names)

    def weighed(self, rows: _core.Rows, *, counting: bool) -> _core.Rows:
        return self.known.weighed(rows, counting=counting)

    def forget(self, rows: _core.Rows, first: int) -> None:
        if self.known.spans:
            self.known.memory.documents.forget_rows(rows, first)

    @contextmanager
    def counted(self, row: _core.Rows) -> Iterator[_core.Rows]:
        """A row to learn in this context, weighed; if that raises it is not counted."""
        try:
            yield self.weighed(row, counting=True)
        except BaseException:
            self.forget(row, 0)
            raise

    def words(self) -> Words | None:
        return self.known.memory.words() if self.known.keep_names else None

    def documents(self) -> Documents | None:
        counted = bool(self.known.spans) and not self.is_shard
        return self.known.memory.documents_met() if counted else None

    def know(self, words: Words | None, documents: Documents | None = None) -> None:
        counted = self.documents() if documents is None else documents
        self.encoder = self.known.like()
        if counted is not None:
            self.encoder.memory.restore_documents(counted)
        if words is not None and self.encoder.keep_names:
            self.encoder.memory.restore_words(words)

    def fork(self) -> TableReader:
        other, counted = TableReader(self.known.like()), self.documents()
        if counted is not None:
            other.known.memory.restore_documents(counted)
        return other
