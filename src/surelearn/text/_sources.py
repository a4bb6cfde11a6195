"""Texts in whatever they come: lists, columns, Arrow arrays; must not know n-grams."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn import _core


class ArrowTexts:
    """An Arrow array of strings, chunked or not."""

    def __init__(self, array: Any) -> None:
        import pyarrow

        chunks = array.chunks if isinstance(array, pyarrow.ChunkedArray) else [array]
        self._array = pyarrow.concat_arrays(chunks) if len(chunks) != 1 else chunks[0]
        if self._array.null_count:
            first = self._array.is_null().index(True).as_py()
            raise missing_text(first, "a null")

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return ArrowTexts(self._array[i])
        text: str = self._array[i].as_py()
        return text

    def texts(self, *, lower: bool) -> _core.Texts:
        """The texts for the core, without a copy."""
        _, offsets, data = self._array.buffers()
        wide = str(self._array.type) == "large_string"
        starts: Any = np.frombuffer(offsets, dtype=np.int64 if wide else np.int32)
        first = self._array.offset
        letters = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, dtype=np.uint8)
        return _core.texts_in(starts[first : first + len(self) + 1], letters, lower)


def sources_of(X: Any) -> Any:
    """The texts as a list or an Arrow array."""
    if isinstance(X, list):
        return list(X)  # another thread may change it
    if isinstance(X, np.ndarray):
        return X.tolist()
    if hasattr(X, "__len__") and len(X) == 0:
        return []
    module = type(X).__module__.partition(".")[0]
    if module == "polars":
        X = X.to_arrow()
    elif module == "pandas":
        own = X.array
        if not hasattr(own, "__arrow_array__") or X.dtype.kind != "O" or X.hasnans:
            return X.tolist()
        try:
            X = own.__arrow_array__()
        except UnicodeEncodeError:  # a lone surrogate; a list can say where
            return X.tolist()
    if type(X).__module__.startswith("pyarrow"):
        kind = str(X.type)
        if kind.startswith("dictionary<values=string") or kind == "string_view":
            X = X.cast("large_string")
        return ArrowTexts(X) if str(X.type) in ("string", "large_string") else X.to_pylist()
    return list(X)


def narrow(starts: NDArray[np.int64]) -> NDArray[Any]:
    """The starts as int32 if they fit, the type of the features."""
    return starts.astype(np.int32) if starts[-1] <= np.iinfo(np.int32).max else starts


def all_str(sources: Any) -> bool:
    return isinstance(sources, list) and set(map(type, sources)) <= {str}


def missing_text(i: int, found: str) -> TypeError:
    """The error for a place without a text."""
    return TypeError(
        f"text {i} must be str or bytes, got {found}. Drop rows without a text, or replace it by "
        "''."
    )
