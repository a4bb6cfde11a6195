"""Checks of groups of candidates, and of what each candidate is worth."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn._check._labels import is_missing
from surelearn._check._memory import enough_memory, size
from surelearn._check._tokens import listed
from surelearn._check._values import count, doubles


def group_bounds(group: object, qid: object, n_rows: int) -> NDArray[np.int64] | None:
    """Where groups begin, and where the last one ends; None if neither argument is given."""
    if group is not None and qid is not None:
        raise TypeError("group and qid must not be given together, got both. Pass one of them.")
    if group is not None:
        return _by_sizes(group, n_rows)
    return None if qid is None else _by_ids(qid, n_rows)


def no_groups(group: object, qid: object) -> None:
    """Refuse groups of rows in memory for a source."""
    for name, value in (("group", group), ("qid", qid)):
        if value is not None:
            raise TypeError(
                f"{name} must be None for a source, got {value!r}. A source has its groups."
            )


def grouped(bounds: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """The bounds of groups, which must be known."""
    if bounds is None:
        raise TypeError(
            "group or qid must be given, got neither. Pass group=, the number of candidates of "
            "each group, or qid=, an id for each row."
        )
    return bounds


def _by_sizes(group: Any, n_rows: int) -> NDArray[np.int64]:
    sizes = np.asarray(group)
    if sizes.ndim != 1 or (sizes.size and sizes.dtype.kind not in "iu"):
        raise TypeError(f"group must be a list of whole numbers, got {group!r}.")
    if (sizes < 0).any():
        place = int(np.flatnonzero(sizes < 0)[0])
        raise ValueError(f"group must not have negative sizes, got {sizes[place]} at {place}.")
    bounds = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    if bounds[-1] != n_rows:
        raise ValueError(
            f"group must add up to the {n_rows} rows of X, got sizes that add up to {bounds[-1]}."
        )
    return bounds


def _by_ids(qid: Any, n_rows: int) -> NDArray[np.int64]:
    ids = np.asarray(qid)
    if ids.shape != (n_rows,):
        raise ValueError(
            f"qid must have one id for each of {n_rows} rows of X, got shape {ids.shape}."
        )
    keys = ids.tolist()
    missing = next((i for i, key in enumerate(keys) if is_missing(key)), None)
    if missing is not None:
        raise ValueError(f"qid must have no missing ids, got {keys[missing]!r} at row {missing}.")
    starts = [i for i, key in enumerate(keys) if i == 0 or key != keys[i - 1]]
    seen: set[Any] = set()
    for start in starts:
        if keys[start] in seen:
            raise ValueError(
                "qid must have the rows of one id next to each other, got "
                f"{keys[start]!r} again at row {start}. Sort the rows by qid."
            )
        seen.add(keys[start])
    return np.array([*starts, n_rows], dtype=np.int64)


def candidate_costs(y: object, cost: object, n_rows: int) -> NDArray[np.float64]:
    """The cost of each candidate: what is given, or the negative relevance."""
    if (y is None) == (cost is None):
        got = "neither" if y is None else "both"
        raise TypeError(
            f"y or cost must be given, got {got}. Pass y, the relevance of each row (larger is "
            "better), or cost= (smaller is better)."
        )
    name, value = ("y", y) if cost is None else ("cost", cost)
    found = doubles(name, value, "an array of numbers")
    if found.shape != (n_rows,):
        raise ValueError(
            f"{name} must have one number for each of {n_rows} rows of X, got shape {found.shape}."
        )
    least = 0.0 if cost is None else -np.inf
    bad = np.flatnonzero(~(np.isfinite(found) & (found >= least)))
    if len(bad):
        what = "finite and not negative" if cost is None else "finite"
        raise ValueError(f"{name} must be {what}, got {found[bad[0]]} at row {bad[0]}.")
    return found if cost is not None else 0.0 - found


def some_right(n_groups: int, n_left: int) -> None:
    """Refuse data without any group to learn from."""
    if n_left == 0:
        raise ValueError(
            "y or cost must set a candidate of some group apart from another one, got "
            f"{n_groups} groups without a right and a wrong candidate."
        )


def covariance_fits(n_candidates: int, limit: int | None, *, who: str = "predict_proba") -> None:
    """Refuse a group whose covariance does not fit in memory, with what is computed from it."""
    needed = 4 * 8 * n_candidates**2
    enough_memory(
        needed,
        limit,
        lambda room: (
            f"group must have a covariance that fits in memory ({size(room)} available) for "
            f"{who}, got {n_candidates:,} candidates, which need {size(needed)}. Without "
            "group and qid, all rows are one group."
        ),
    )


def no_classes(classes: object) -> None:
    """Refuse labels for a ranker."""
    if classes is not None:
        raise TypeError(f"classes must be None for a ranker, got {classes!r}.")


def candidate_lists(value: Any, n_rows: int, n_labels: int) -> list[NDArray[np.int64]]:
    """A list of label numbers for each row."""
    listed("candidates", value, "lists of row numbers of Z")
    lists = list(value)
    if len(lists) != n_rows:
        raise ValueError(
            f"candidates must have one list for each of {n_rows} rows of X, got {len(lists)}."
        )
    return [_candidates(own, i, n_labels) for i, own in enumerate(lists)]


def _candidates(value: Any, row: int, n_labels: int) -> NDArray[np.int64]:
    found = np.asarray(value)
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
        raise TypeError(
            f"candidates must be lists of row numbers of Z, got {value!r} for row {row}."
        )
    bad = found[(found < 0) | (found >= n_labels)]
    if len(bad):
        raise ValueError(
            f"candidates must be at least 0 and below {n_labels}, the rows of Z, got {bad[0]} for "
            f"row {row}."
        )
    return found.astype(np.int64)


def crossed_width(n_features: object, product: int) -> int:
    """The number of crossed features: as asked, or all there are."""
    most = 2**31 - 1
    if n_features is not None:
        return count("n_features", n_features, most=most)
    if product > most:
        raise ValueError(
            f"n_features must be a number to hash {product:,} products of features, got None. "
            "Without hashing there may be 2**31 - 1."
        )
    return product


def table_of_rows(name: str, shape: tuple[int, ...]) -> None:
    if len(shape) != 2:
        raise ValueError(f"{name} must have two dimensions, got shape {shape}.")


def one_score_a_row(shape: tuple[int, ...]) -> None:
    if len(shape) != 1:
        raise ValueError(f"scores must have one dimension, got shape {shape}.")


def no_rival(rival: object, model: str) -> None:
    """Refuse a second model where only one can be evaluated."""
    if rival is not None:
        raise TypeError(f"rival must be None for {model}, got {rival!r}.")
