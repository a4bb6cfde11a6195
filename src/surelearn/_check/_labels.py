"""Checks of labels, and of the weights of rows and classes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn._check._values import doubles, is_missing, listed, listing, number, shown

#: The types of each kind of label; bool before int, because Python counts a bool as an int.
_KINDS: dict[str, Any] = {
    "str": str,
    "bool": bool | np.bool_,
    "int": int | np.integer,
    "float": float | np.floating,
}

#: A message lists at most this many classes.
_SHOWN = 10


def labels(y: NDArray[Any], name: str = "y") -> NDArray[Any]:
    """Check that labels have one type and that none is missing."""
    if y.dtype.kind == "O":
        return _object_labels(y, name)
    if y.dtype.kind == "f":
        _whole_labels(y, name)
    if y.dtype.kind == "M" and np.isnat(y).any():
        row = int(np.flatnonzero(np.isnat(y))[0])
        raise ValueError(f"{name} must have no missing labels, got NaT at row {row}.")
    return y


def _object_labels(y: NDArray[Any], name: str) -> NDArray[Any]:
    missing = [i for i, value in enumerate(y) if is_missing(value)]
    if missing:
        raise ValueError(
            f"{name} must have no missing labels, got {y[missing[0]]!r} at row {missing[0]}."
        )
    kinds = sorted({kind_of(value) for value in y})
    if len(kinds) > 1:
        raise TypeError(f"{name} must hold labels of one type, got {' and '.join(kinds)}.")
    if kinds and kinds[0] not in ("str", "int", "float", "bool"):
        raise TypeError(f"{name} must hold texts, numbers or booleans, got {y[0]!r}.")
    # Numbers and booleans become a numeric array; texts stay objects.
    if not kinds or kinds[0] == "str":
        return y
    if kinds[0] == "int":
        return _integers([int(value) for value in y], name)
    return labels(np.array(y.tolist()), name)


def _integers(values: Sequence[int], name: str) -> NDArray[Any]:
    """Whole numbers as int64 or uint64; numpy would round some of them to doubles."""
    for dtype in (np.int64, np.uint64):
        limits = np.iinfo(dtype)
        if limits.min <= min(values) and max(values) <= limits.max:
            return np.array(values, dtype)
    row = next(i for i, value in enumerate(values) if not -(2**63) <= value < 2**63)
    raise ValueError(
        f"{name} must hold whole numbers that fit int64, or uint64 if none is negative, got "
        f"{_digits(values[row])} at row {row}. Use texts as labels instead."
    )


def _digits(value: int) -> str:
    """A whole number, or its size if it is long: Python refuses to print very long ones."""
    bits = value.bit_length()
    return str(value) if bits <= 128 else f"a number of {bits} bits"


def kind_of(label: Any) -> str:
    """The kind of a label, the same for Python's types and numpy's."""
    for kind, types in _KINDS.items():
        if isinstance(label, types):
            return kind
    return type(label).__name__


def _numbers_alike(label: Any) -> str:
    """The kind of a label, with all numbers as one kind."""
    is_number = isinstance(label, bool | np.bool_ | int | float | np.integer | np.floating)
    return "number" if is_number else "str" if isinstance(label, str) else type(label).__name__


def _whole_labels(y: NDArray[Any], name: str) -> None:
    """Refuse labels that are no whole numbers: they are most likely a regression target."""
    missing = np.flatnonzero(~np.isfinite(y))
    if len(missing):
        raise ValueError(
            f"{name} must have no missing labels, got {y[missing[0]]} at row {missing[0]}."
        )
    broken = np.flatnonzero(y != np.floor(y))
    if len(broken):
        raise ValueError(
            f"{name} must hold classes, got {y[broken[0]]} at row {broken[0]}. "
            "Unknown label type: continuous. Turn the numbers into classes first."
        )


def one_label_a_row(n_labels: int, n_rows: int, *, many: bool = False) -> None:
    if n_labels != n_rows:
        what = "a row of labels" if many else "one label"
        raise ValueError(f"y must have {what} for each of {n_rows} rows of X, got {n_labels}.")


def one_kind(classes: NDArray[Any], y: NDArray[Any]) -> None:
    """Refuse to mix texts, numbers and other kinds among the labels of one model."""

    if not len(classes) or not len(y):
        return
    if _numbers_alike(classes[0]) != _numbers_alike(y[0]):
        raise TypeError(
            f"y must hold labels of the same type as before, such as {classes.tolist()[0]!r}, "
            f"got {y.tolist()[0]!r}."
        )
    if np.result_type(classes, y).kind == "f" and not (_exact(classes) and _exact(y)):
        raise ValueError(
            f"y must hold labels that fit one type with {classes.dtype}, got {y.dtype}."
        )


def _exact(labels: NDArray[Any]) -> bool:
    """Whether doubles represent these labels exactly."""
    whole = labels.dtype.kind in "iu"
    return not whole or (int(labels.min()) >= -(2**53) and int(labels.max()) <= 2**53)


def for_many_labels(name: str, got: object, allowed: Sequence[object]) -> None:
    """Refuse a setting that rows of many labels cannot have."""
    if not any(got is one or (type(got) is type(one) and got == one) for one in allowed):
        choices = " or ".join(repr(one) for one in allowed)
        raise ValueError(
            f"{name} must be {choices} where rows have many labels, each of which is a problem of "
            f"two classes, got {got!r}."
        )


def same_number_of_labels(before: bool, now: bool) -> None:
    """Refuse to mix rows of one label with rows of many labels in one model."""
    if before != now:
        kinds = {False: "one label for each row", True: "lists of labels or an indicator matrix"}
        raise ValueError(f"y must have {kinds[before]} as before, got {kinds[now]}.")


def columns_only(labels: Sequence[Any], n_columns: int) -> None:
    """Refuse labels that are no columns of the indicator matrix that a model has learnt."""
    strange = [label for label in labels if label not in range(n_columns)]
    if strange:
        raise ValueError(
            f"y must have labels 0 to {n_columns - 1}, which number the columns of the indicator "
            f"matrix, got {strange[0]!r}. Pass rows of a wider matrix for new labels."
        )


def indicator_fits(n_columns: int, n_labels: int) -> None:
    """Refuse an indicator matrix whose columns are not the labels of a model."""
    if n_columns < n_labels:
        raise ValueError(
            f"y must have a column for each of {n_labels} labels, got {n_columns} columns."
        )


def some_label(n_labels: int, doing: str) -> None:
    if n_labels == 0:
        raise ValueError(f"{doing} needs at least one label, got none in any row.")


def only_class(classes: NDArray[Any]) -> int:
    """The index of the only class known so far."""
    if len(classes) == 0:
        raise ValueError("predict needs at least one known class, got none yet.")
    return 0


def two_classes(classes: NDArray[Any], doing: str) -> None:
    if len(classes) < 2:
        got = f"1 class: {listing(classes.tolist())}" if len(classes) else "0 classes: none"
        raise ValueError(f"{doing} needs at least two classes, got {got}.")


def known_labels(y: object, classes: NDArray[Any], n_rows: int, name: str) -> NDArray[np.int64]:
    """The index of each label of `y` among the sorted `classes`."""
    array = np.asarray(y)
    if array.shape != (n_rows,):
        raise ValueError(f"{name} must have shape ({n_rows},), got shape {array.shape}.")
    place = np.minimum(np.searchsorted(classes, array), len(classes) - 1)
    strange = np.flatnonzero(classes[place] != array)
    if len(strange):
        raise ValueError(
            f"{name} must hold labels among {listing(classes.tolist())}, "
            f"got {array.tolist()[strange[0]]!r} at row {strange[0]}."
        )
    return place.astype(np.int64)


def place_of(label: Any, classes: list[Any]) -> int:
    """The index of one label among the classes."""
    if label not in classes:
        raise ValueError(f"label must be one of {listing(classes)}, got {label!r}.")
    return classes.index(label)


def sample_weight(
    value: object, n_rows: int, *, like: str = "y", unit: str = "row"
) -> NDArray[np.float64] | None:
    if value is None:
        return None
    weight = doubles("sample_weight", value, "numbers")
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have shape ({n_rows},) like {like}, got shape {weight.shape}."
        )
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(bad):
        raise ValueError(
            f"sample_weight must be finite and not negative, got {weight[bad[0]]} at {unit} "
            f"{bad[0]}."
        )
    return np.require(weight, requirements=["C", "A"])


def some_weight(n_rows: int, unit: str = "row") -> None:
    if n_rows == 0:
        raise ValueError(
            f"sample_weight must have a positive entry, got zero weight in every {unit}."
        )


def class_weight(value: object) -> dict[Any, float] | str | None:
    if value is None or (isinstance(value, str) and value == "balanced"):
        return value
    if not isinstance(value, Mapping):
        raise ValueError(f"class_weight must be None, 'balanced' or a dict, got {value!r}.")
    for label in value:
        if isinstance(label, int | np.integer) and not -(2**63) <= label < 2**64:
            raise ValueError(
                "class_weight must have labels as keys, whole numbers of at most 64 bits, got "
                f"{_digits(int(label))}."
            )
    return {
        label: number(f"class_weight[{label!r}]", weight, "[0, inf)", low=0.0)
        for label, weight in value.items()
    }


def weighted_kind(weights: Mapping[Any, float], labels: Sequence[Any]) -> None:
    """Refuse keys of another type than the labels: they can never be classes."""
    if not len(labels):
        return
    kind = _numbers_alike(labels[0])
    for key in weights:
        if _numbers_alike(key) != kind:
            raise TypeError(
                "class_weight must have keys of the same type as the labels, such as "
                f"{labels[0]!r}, got {key!r}."
            )


def weighted_classes(weights: Mapping[Any, float], classes: Sequence[Any], remedy: str) -> None:
    """Refuse keys that are no classes, unless every class has a weight.

    This is scikit-learn's rule. A misspelt key leaves a class without a weight and raises; a fold
    that lacks one of the classes still passes.
    """
    known = set(classes)
    strange = [key for key in weights if key not in known]
    if strange and known - weights.keys():
        more = ", ..." if len(classes) > _SHOWN else ""
        raise ValueError(
            f"class_weight must have keys among the classes {listing(classes[:_SHOWN])}{more}, "
            f"got {listing(strange)}. {remedy}"
        )


def label_lists(y: Any, sizes: Sequence[int], *, of: str, unit: str) -> list[list[Any]]:
    """Labels of structures, one for each of their parts.

    Parameters
    ----------
    y : list of lists of labels
    sizes : list of int
        The number of parts of each structure.
    of, unit : str
        The words for structures and for a part.
    """
    listed("y", y, f"{of} of labels")
    lists = [own.tolist() if isinstance(own, np.ndarray) else list(own) for own in _lists(y)]
    if len(lists) != len(sizes):
        raise ValueError(f"y must have {len(sizes)} {of} of labels like X, got {len(lists)}.")
    for i, (size, own) in enumerate(zip(sizes, lists, strict=True)):
        if size != len(own):
            raise ValueError(
                f"y[{i}] must have {size} labels, one for each {unit} of X[{i}], got {len(own)}."
            )
    return lists


def _lists(y: Any) -> Iterable[Any]:
    for i, tags in enumerate(y):
        listed(f"y[{i}]", tags, "labels")
        yield tags


def tags_in(y: Sequence[Sequence[Any]]) -> NDArray[Any]:
    """The distinct labels, sorted; checks that they have one type and that none is missing."""
    try:
        distinct = set(itertools.chain.from_iterable(y))
    except TypeError:
        _refuse_label(y, lambda label: label.__hash__ is None)
        raise
    if any(is_missing(label) for label in distinct):
        _refuse_label(y, is_missing)
    if any(_ends_in_nul(label) for label in distinct):  # numpy would drop the NUL
        _refuse_label(y, _ends_in_nul)
    try:
        found = labels(_objects(distinct), "y")
    except (TypeError, ValueError):
        for i, tags in enumerate(y):  # find the sequence, for the message
            labels(_objects(tags), f"y[{i}]")
        raise
    return np.unique(found.astype(str) if found.dtype.kind == "O" and len(found) else found)


def _objects(tags: Collection[Any]) -> NDArray[Any]:
    return np.fromiter(tags, dtype=object, count=len(tags))


def _ends_in_nul(label: Any) -> bool:
    return isinstance(label, str) and label.endswith("\0")


def known_tags(found: NDArray[Any], classes: NDArray[Any]) -> None:
    """Refuse labels that a model does not know."""
    strange = found[~np.isin(found, classes)]
    if len(strange):
        raise ValueError(
            f"y must hold labels that the model knows ({listing(classes.tolist())}), got "
            f"{strange.tolist()[0]!r}."
        )


def _refuse_label(y: Sequence[Sequence[Any]], wrong: Callable[[Any], bool]) -> None:
    for i, tags in enumerate(y):
        for t, label in enumerate(tags):
            if wrong(label):
                raise TypeError(f"y[{i}][{t}] must be a label, got {shown(label)}.")


def labels_agree(one: NDArray[Any], other: NDArray[Any]) -> None:
    """Refuse to merge models whose labels have different types."""
    try:
        one_kind(one, other)
    except (TypeError, ValueError):
        raise TypeError(
            "models must have labels of one type to be merged, got "
            f"{one.tolist()[0]!r} ({one.dtype}) and {other.tolist()[0]!r} ({other.dtype})."
        ) from None
