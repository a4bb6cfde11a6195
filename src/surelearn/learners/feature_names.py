"""Rows from dicts of named features; names are hashed and remembered. Must not know weights."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surelearn import _check, _core
from surelearn.merging import Words

#: Number of hash buckets for names, the default of `SureTextClassifier`.
SIZE = 2**18

_NUMBERS = {float, int, bool, np.float64, np.float32, np.int64}


class FeatureNames:
    """The feature names seen in training, each hashed to one of `SIZE` buckets.

    A bucket keeps the name that came first; other names that hash to it share its weights. A
    prediction ignores unseen names, unless they hash to a bucket that is already shared.
    """

    def __init__(self) -> None:
        self._places: dict[str, int] = {}  # the bucket of each name
        self._first: dict[int, str] = {}
        self._shared: set[int] = set()

    def row(self, x: Mapping[Any, Any], who: str, *, learning: bool) -> dict[int, float]:
        """Values by bucket; unseen names are included only for learning."""
        if self._knows(x):
            places = self._places
            short = {places[name]: value for name, value in x.items()}
            if len(short) == len(x):  # no two names in one bucket
                return short
        found: dict[int, float] = {}
        for name, value in _named(x, who):
            place = self._places.get(name)
            if place is None:
                place = _hashed(name)
                if not learning and place not in self._shared:
                    continue
            found[place] = found.get(place, 0.0) + value
        return found

    def register(self, rows: Iterable[Mapping[Any, Any]]) -> None:
        """Remember the names in learnt rows, except those of value 0."""
        for x in rows:
            for name, value in () if self._knows(x) else _named(x, "X"):
                if value and name not in self._places:
                    self._meet(name)

    def _knows(self, x: Mapping[Any, Any]) -> bool:
        """Whether all names are known and all values are numbers: the common, fast case."""
        return x.keys() <= self._places.keys() and set(map(type, x.values())) <= _NUMBERS

    def _meet(self, name: str) -> None:
        place = self._places[name] = _hashed(name)
        if self._first.setdefault(place, name) != name:
            self._shared.add(place)

    def __getitem__(self, places: NDArray[np.int64]) -> NDArray[Any]:
        """The names of features."""
        named = np.empty(len(places), dtype=object)
        named[:] = [self._first.get(place, f"#{place}") for place in places.tolist()]
        return named

    def words(self) -> Words:
        """The names in the form in which a model stores them."""
        met = list(self._first.items())  # one snapshot: another thread may be learning
        encoded = [name.encode() for _, name in met]
        places = np.array([place for place, _ in met], dtype=np.int64)
        shared = np.array([place in self._shared for place in places.tolist()], np.uint8)
        ends = np.cumsum([len(name) for name in encoded], dtype=np.int64)
        return Words(places, ends, b"".join(encoded), shared)

    @classmethod
    def of(cls, words: Words) -> FeatureNames:
        """The names from what `words` gave."""
        names = cls()
        begins = [0, *words.ends.tolist()]
        for i, place in enumerate(words.features.tolist()):
            name = words.text[begins[i] : begins[i + 1]].decode()
            names._first[place], names._places[name] = name, place
            if words.shared[i]:
                names._shared.add(place)
        for name, place in names._places.items():
            if _hashed(name) != place:
                raise ValueError(f"feature {name!r} must be in place {_hashed(name)}, got {place}.")
        return names


def _named(x: Mapping[Any, Any], who: str) -> Iterator[tuple[str, float]]:
    """Names and values; a string value becomes ``name=value``, as in scikit-learn's
    DictVectorizer."""
    for name, value in x.items():
        if not isinstance(name, str):
            raise TypeError(f"{who} must have names of features as keys, got {name!r}.")
        if isinstance(value, str):
            yield f"{name}={value}", 1.0
        else:
            yield name, _named_value(who, name, value)


def _hashed(name: str) -> int:
    """The bucket of a name, the same as in scikit-learn's FeatureHasher."""
    try:
        return _core.feature_of(name.encode(), SIZE)
    except UnicodeEncodeError:
        _check.no_surrogates(f"feature {name!r}", name)
        raise


def dicts_in(X: Any) -> Sequence[Mapping[Any, Any]] | None:
    """The rows as a list of dicts; None if they are not dicts."""
    if getattr(X, "ndim", 0) == 1 and getattr(X, "dtype", np.dtype(float)).kind == "O":
        X = X.tolist()
    if not isinstance(X, list | tuple) or not X or not isinstance(X[0], Mapping):
        return None
    for i, x in enumerate(X):
        if not isinstance(x, Mapping):
            raise TypeError(f"X must have only dicts as rows, got {x!r} at row {i}.")
    return X


def matrix_of(rows: Sequence[Mapping[int, float]], n_features: int) -> sparse.csr_matrix:
    """Rows of {feature: value} as a sparse matrix."""
    starts = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    try:
        features = np.array([operator.index(j) for x in rows for j in x], dtype=np.int64)
        values = np.array([float(value) for x in rows for value in x.values()], dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(
            f"X must be dicts of feature numbers and values, got one that is not: {error}."
        ) from None
    outside = np.flatnonzero((features < 0) | (features >= n_features))
    if len(outside):
        row = int(np.searchsorted(starts, outside[0], side="right")) - 1
        _check.sound_rows(("bad index", row))
    return sparse.csr_matrix((values, features, starts), shape=(len(rows), n_features))


def by_column(x: Mapping[Any, Any], who: str, columns: list[str]) -> dict[int, float]:
    """Values by column number; missing columns are 0."""
    places = {name: place for place, name in enumerate(columns)}
    for name in x:
        if name not in places:
            raise ValueError(
                f"{who} must have features among {_check.listing(columns)}, got {name!r}."
            )
    return {places[name]: _named_value(who, name, value) for name, value in x.items()}


def _named_value(who: str, name: object, value: Any) -> float:
    """The value of a named feature."""
    try:
        return float(value)
    except OverflowError:
        return math.inf
    except (TypeError, ValueError):
        raise TypeError(f"{who} must have a number or a str for {name!r}, got {value!r}.") from None
