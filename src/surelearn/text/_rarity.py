"""Rarity: rows of texts weighed by the documents that have each feature; must not know n-grams."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, _core
from surelearn.merging import Documents

#: Where a row starts and ends, its features and values.
SparseRow = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]

#: Numbers of norms in the core.
_NORMS = {None: 0, "l1": 1, "l2": 2}


class DocumentCounter:
    """A vectorizer that counts documents; rows come from `unweighed`."""

    idf: bool
    norm: str | None
    dtype: Any
    n_features: int
    n_jobs: int | None
    _documents: _core.DocumentCounts  # from the first use on

    def unweighed(self, X: Any) -> Any:
        """The rows of texts as a CSR matrix, before they are weighed."""
        raise NotImplementedError

    def check_uncounted(self, X: Any) -> None:
        """Check the parameters, for texts that are not counted."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters; with `idf`, reset the counts, then count these texts.

        Parameters
        ----------
        X : texts, as in `transform`
        y : ignored
        """
        if not self.idf:
            self.check_uncounted(X)
            return self
        self._count_anew(self.unweighed(X))
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters; with `idf` count these texts, besides those counted before.

        Parameters
        ----------
        X : texts, as in `transform`
        y : ignored
        """
        if not self.idf:
            self.check_uncounted(X)
            return self
        if "_documents" in self.__dict__:
            self.check_counted()  # the counts have room for the features they began with
        self.count(self.unweighed(X))
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """``fit(X).transform(X)``, but texts are hashed once.

        Parameters
        ----------
        X : texts, as in `transform`
        y : ignored
        """
        rows = self.unweighed(X)
        if not self.idf:
            return rows
        self._count_anew(rows)
        return self.weigh_in_place(rows)

    @property
    def idf_(self) -> NDArray[np.float64]:
        """The factor of each feature."""
        return self.check_counted().idf()

    @property
    def n_documents_(self) -> int:
        """The texts counted so far."""
        return int(self.check_counted().n)

    # --------------------------------------------------- for estimators and files

    @property
    def documents(self) -> _core.DocumentCounts:
        """The counts, in the core; empty ones at first."""
        if "_documents" not in self.__dict__:
            self._documents = _core.DocumentCounts(int(self.n_features))
        return self._documents

    def count(self, rows: Any) -> None:
        """Count rows of `unweighed`."""
        self.documents.count(rows.indptr, rows.indices, rows.data)

    def weigh_in_place(self, rows: Any) -> Any:
        """Rows of `unweighed`, weighed by the counts so far; their values are replaced."""
        threads = _check.threads("n_jobs", self.n_jobs)
        arrays = rows.indptr, rows.indices, rows.data
        self.documents.weigh(*arrays, _NORMS[self.norm], threads)
        return rows

    def weighed_one(self, row: SparseRow) -> SparseRow:
        """The same of one row as arrays."""
        self.documents.weigh(*row, _NORMS[self.norm], 1)
        return row

    def count_and_weigh_rows(self, rows: _core.Rows) -> _core.Rows:
        """Each row, counted and then weighed by the counts up to and including it."""
        return self.documents.count_and_weigh_rows(rows, _NORMS[self.norm])

    def weigh_rows(self, rows: _core.Rows) -> _core.Rows:
        """All rows, weighed by the counts so far."""
        return self.documents.weigh_rows(rows, _NORMS[self.norm])

    def documents_met(self) -> Documents:
        """The counts as plain arrays."""
        return Documents(*self.documents.state())

    def restore_documents(self, documents: Documents) -> None:
        """Continue with what `documents_met` returned for another object."""
        self._documents = _core.DocumentCounts(int(self.n_features))
        self._documents.add(*documents)

    def share_documents(self, other: DocumentCounter) -> None:
        """Use the counts of another object, also those that it adds later."""
        self._documents = other.documents

    def norm_of_counts(self) -> int:
        """The length that rows of `unweighed` are brought to: none if they will be weighed."""
        return _NORMS[None if self.idf else self.norm]

    def check_counted(self) -> _core.DocumentCounts:
        """The counts; raises where there are none, or where `n_features` has changed."""
        if not self.idf:  # so that hasattr is False
            raise AttributeError(f"idf must be True for this, got {self.idf!r}.")
        if "_documents" not in self.__dict__:
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(
                "idf=True needs texts counted by fit or partial_fit first, got no call of them."
            )
        _check.same("n_features", self._documents.n_features, int(self.n_features))
        return self._documents

    def check_weighable(self) -> None:
        """Refuse a dtype that cannot hold weighed counts."""
        if self.idf and np.dtype(self.dtype) not in (np.float32, np.float64):
            raise ValueError(
                f"dtype must be float32 or float64 with idf=True, got {np.dtype(self.dtype)}."
            )

    # ---------------------------------------------------------------- internals

    def _count_anew(self, rows: Any) -> None:
        self.__dict__.pop("_documents", None)
        self.count(rows)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.requires_fit = bool(self.idf)
        return tags

    def __getstate__(self) -> dict[str, Any]:
        """The state with counts as plain arrays."""
        state: dict[str, Any] = dict(super().__getstate__())  # type: ignore[call-overload]
        if state.pop("_documents", None) is not None:
            state["_documents_met"] = self.documents_met()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        documents = state.pop("_documents_met", None)
        self.__dict__.update(state)
        if documents is not None:
            self.restore_documents(documents)
