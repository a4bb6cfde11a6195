"""Columns that are carried along beside what is read: values of any kind, not looked into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: What is carried along, by the names of the columns.
Kept = Mapping[str, NDArray[Any]]

_INT64 = range(-(2**63), 2**63)


def values_of(values: Sequence[Any]) -> NDArray[Any]:
    """Values as an array: of numbers where all are of one kind, else of objects.

    Texts are objects: numpy would give each the room of the longest.
    """
    types = set(map(type, values))
    plain = types in ({bool}, {float}) or (types == {int} and all(v in _INT64 for v in values))
    return np.array(values) if plain else np.fromiter(values, object, len(values))


def kept_column(column: Any) -> NDArray[Any]:
    """A column of Arrow's; dates and times as texts, which say all of them."""
    import pyarrow
    from pyarrow import types

    if types.is_temporal(column.type):
        column = column.cast(pyarrow.string())
    return values_of(column.to_pylist())


def joined_kept(parts: Sequence[Kept]) -> Kept:
    """The same columns of several batches."""
    return {
        name: values_of([value for part in parts for value in part[name].tolist()])
        for name in parts[0]
    }
