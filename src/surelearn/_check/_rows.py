"""Checks of records: rows, texts, tokens, graphs, groups of candidates, probabilities."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence, Set
from numbers import Integral
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from surelearn._check._memory import enough_memory, size
from surelearn._check._messages import must
from surelearn._check._values import count, doubles, is_missing, listed, number, numbers, shown


def sound_rows(fault: tuple[str, int] | None, name: str = "X") -> None:
    """Raise if the core has found a fault in a row."""
    if fault is None:
        return
    kind, row = fault
    if kind == "not finite":
        raise ValueError(f"{name} must be finite, got NaN or infinity in row {row}.")
    if kind == "bad index":
        raise ValueError(f"{name} must have indices below its width, got another in row {row}.")
    raise ValueError(f"{name} must be a valid CSR matrix, got a bad indptr at row {row}.")


def n_features(expected: int, got: int, name: str = "x", *, like: str = "fit") -> None:
    if expected != got:
        raise ValueError(f"{name} must have {expected} features as in {like}, got {got}.")


def row_of_numbers(shape: tuple[int, ...], dtype: np.dtype[Any], name: str = "x") -> int:
    """The number of features of one row."""
    if len(shape) != 2 or shape[0] != 1 or shape[1] == 0:
        raise ValueError(f"{name} must be one row of at least one feature, got shape {shape}.")
    if dtype.kind not in "biuf":
        raise TypeError(f"{name} must be a row of numbers, got dtype {dtype}.")
    return shape[1]


def probabilities(p: object, name: str = "p") -> NDArray[np.float64]:
    """Rows of two or more probabilities that sum to one."""
    array = numbers(name, p)
    if array.ndim != 2 or array.shape[1] < 2:
        raise ValueError(f"{name} must have shape (n, K) with K >= 2, got shape {array.shape}.")
    if ((array < 0) | (array > 1)).any():
        bad = array[(array < 0) | (array > 1)][0]
        raise ValueError(f"{name} must be within 0 and 1, got {bad}.")
    off = np.flatnonzero(np.abs(array.sum(axis=1) - 1) > 1e-6)
    if len(off):
        total = array[off[0]].sum()
        raise ValueError(f"{name} must sum to one in each row, got {total} in row {off[0]}.")
    return array


def texts(X: object) -> None:
    """Refuse anything but a collection of texts."""
    if isinstance(X, str | bytes):
        raise ValueError("Iterable over raw text documents expected, string object received.")
    if hasattr(X, "columns"):  # a frame: iterating over it gives the names of its columns
        columns = list(getattr(X, "column_names", X.columns))
        raise ValueError(f"texts must be one column, got a frame with columns {columns}.")
    shape = getattr(X, "shape", (0,))
    if len(shape) != 1:
        raise ValueError(f"texts must have one dimension, got shape {shape}.")


def one_text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(must(name, "be a str", value))
    return value


def some_judged(n: int, what: str, who: str = "evaluate") -> None:
    if n == 0:
        raise ValueError(f"{who} needs at least one {what}, got none.")


def some_rows(n_rows: int, name: str = "X", unit: str = "text") -> None:
    if n_rows == 0:
        raise ValueError(f"{name} must have at least one {unit}, got none.")


def rows_or_source(X: Any, y: Any, reading: Sequence[str]) -> None:
    """Refuse rows in memory without labels, and labels for a source, which holds labels."""
    is_path = isinstance(X, str | os.PathLike)
    if y is None:
        first = X[0] if isinstance(X, list | tuple) and X else X
        is_row = isinstance(first, list | tuple | Mapping) and len(first)
        if not is_path and (is_row or (hasattr(first, "shape") and not hasattr(first, "columns"))):
            raise TypeError(
                "y must be given for rows in memory, got None. Without y, X must be a source with "
                "labels, such as a path."
            )
    elif is_path:
        raise TypeError(f"X must be rows if y is given, got {X!r}. Omit y for a source.")
    elif isinstance(y, str):
        raise TypeError(
            f"y must be an array of labels, got {y!r}. Use label= to name a column of a source."
        )
    elif reading:
        raise TypeError(f"rows in memory must have no reading options, got {list(reading)}.")


def no_surrogates(who: str, text: str) -> None:
    """Refuse a text that cannot be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        at = error.start
        said = f"{who} must have no lone surrogate, got one at character {at}."
        raise ValueError(said) from None


def is_utf8(value: str | bytes) -> bool:
    """Whether bytes are UTF-8, or a text can be encoded: one with a lone surrogate cannot."""
    try:
        _ = value.encode() if isinstance(value, str) else value.decode()
    except UnicodeError:
        return False
    return True


def sequences(X: object) -> list[list[Any]]:
    """`X` as a list of lists of tokens; it may be an array, a series or a generator of them."""
    if not _in_a_row(X):
        raise TypeError(f"X must be a list of sequences, got {shown(X)}.")
    return [tokens if type(tokens) is list else _tokens(tokens, i) for i, tokens in enumerate(X)]


def _tokens(sequence: object, i: int) -> list[Any]:
    if _in_a_row(sequence) and not isinstance(sequence, tuple):  # a tuple is one token
        return list(sequence)
    raise TypeError(f"sequence {i} must be a list of tokens, got {shown(sequence)}.")


def _in_a_row(value: object) -> TypeGuard[Iterable[Any]]:
    """Whether a value is a one-dimensional iterable with an order: no text, table, dict or set."""
    unlike = isinstance(value, str | bytes | Mapping | Set)
    return isinstance(value, Iterable) and not unlike and getattr(value, "ndim", 1) == 1


def known_nodes(name: str, value: Any, n_nodes: int) -> dict[int, Any]:
    """A dict whose keys are nodes; None: empty."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} must be a dict of {{node: label}} or None, got {shown(value)}.")
    for node in value:
        if isinstance(node, bool) or not isinstance(node, Integral):
            raise TypeError(f"{name} must have numbers of nodes as keys, got {node!r}.")
        if not 0 <= int(node) < n_nodes:
            have = f"from 0 to {n_nodes - 1}" if n_nodes else "of a graph without any"
            raise ValueError(f"{name} must have nodes {have} as keys, got {node}.")
    return {int(node): label for node, label in value.items()}


def graphs(X: Any, kind: type[Any]) -> list[Any]:
    """A list of graphs."""
    if isinstance(X, kind):
        raise TypeError("X must be a list of graphs, got one graph. Pass [graph].")
    listed("X", X, "graphs")
    found = list(X)
    for i, graph in enumerate(found):
        if not isinstance(graph, kind):
            raise TypeError(f"X[{i}] must be a surelearn.graph.Graph, got {shown(graph)}.")
    return found


def graph_fits(n_edges: int, needed: int, limit: int | None, *, what: str = "graph") -> None:
    """Refuse a graph whose messages do not fit in memory."""
    enough_memory(
        needed,
        limit,
        lambda room: (
            f"{what} must have messages and tables that fit in memory ({size(room)} available), "
            f"got {n_edges:,} edges, which need {size(needed)}. Use fewer edges or fewer labels."
        ),
    )


def message_limits(
    damping: Any, tol: Any, max_sweeps: Any, *, tol_name: str = "tol"
) -> tuple[float, float, int]:
    """The checked settings of messages on graphs with loops."""
    return (
        number("damping", damping, "[0, 1)", low=0.0, high=1.0),
        number(tol_name, tol, "(0, inf)", low=0.0),
        count("max_sweeps", max_sweeps),
    )


def not_converged(what: str, residual: float, *, tol: float, max_sweeps: int) -> str:
    """The warning that messages have not converged."""
    return (
        f"{what} must converge to a residual of {tol:g} within max_sweeps={max_sweeps}, got "
        f"{residual:.3g}. The answer is an approximation of unknown quality; raise damping or "
        "max_sweeps."
    )


def group_bounds(group: object, qid: object, n_rows: int) -> NDArray[np.int64] | None:
    """Where groups begin, and where the last one ends; None if neither argument is given."""
    if group is not None and qid is not None:
        raise TypeError("group and qid must not be given together, got both. Pass one of them.")
    if group is not None:
        return _by_sizes(group, n_rows)
    return None if qid is None else _by_ids(qid, n_rows)


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
