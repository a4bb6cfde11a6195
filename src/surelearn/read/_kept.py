"""Columns of `keep`, which are copied to the output: values of any type, not checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Kept columns by name.
Kept = Mapping[str, NDArray[Any]]

_INT64 = range(-(2**63), 2**63)


def values_of(values: Sequence[Any]) -> NDArray[Any]:
    """Values as an array: numeric if all have one numeric type, else of objects.

    Texts are objects, because a numpy string array gives each text the room of the longest.
    """
    types = set(map(type, values))
    plain = types in ({bool}, {float}) or (types == {int} and all(v in _INT64 for v in values))
    return np.array(values) if plain else np.fromiter(values, object, len(values))


def kept_column(column: Any) -> NDArray[Any]:
    """A kept column of an Arrow table; dates and times become texts, which lose no digits."""
    import pyarrow
    from pyarrow import types

    if types.is_temporal(column.type):
        column = column.cast(pyarrow.string())
    return values_of(column.to_pylist())


def joined_kept(parts: Sequence[Kept]) -> Kept:
    """The kept columns of several batches, joined."""
    return {
        name: values_of([value for part in parts for value in part[name].tolist()])
        for name in parts[0]
    }
