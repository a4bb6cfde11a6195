"""Checks of graphs and of groups of candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn._check._labels import is_missing, kind_of
from surelearn._check._memory import enough_memory, size
from surelearn._check._values import count, doubles, listed, listing, number, shown


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


def fixed_labels(value: Any, sizes: Sequence[int], classes: Sequence[Any]) -> NDArray[np.int32]:
    """The place of the known label of each node of many graphs; -1 where there is none.

    Parameters
    ----------
    value : list of dicts of {node: label}, or None
    sizes : list of int
        Nodes of each graph.
    classes : list of labels
    """
    found = np.full(sum(sizes), -1, dtype=np.int32)
    if value is None:
        return found
    if isinstance(value, Mapping):
        raise TypeError("fixed must be a list of dicts, one for each graph, got one dict.")
    listed("fixed", value, "dicts of {node: label}, one for each graph")
    dicts, places = list(value), {label: k for k, label in enumerate(classes)}
    if len(dicts) != len(sizes):
        raise ValueError(f"fixed must have {len(sizes)} dicts like X, got {len(dicts)}.")
    first = 0
    for i, (own, n_nodes) in enumerate(zip(dicts, sizes, strict=True)):
        for node, label in known_nodes(f"fixed[{i}]", own, n_nodes).items():
            found[first + node] = _known_label(f"fixed[{i}][{node}]", label, places)
        first += n_nodes
    return found


def _known_label(name: str, label: Any, places: Mapping[Any, int]) -> int:
    """The index of a label that a model knows."""
    if is_missing(label) or label.__hash__ is None or label not in places:
        raise ValueError(f"{name} must be one of {listing(places)}, got {label!r}.")
    return places[label]


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


def same_width(name: str, known: int, got: int, graph: int, *, like: str) -> None:
    """Refuse a graph with other features than those before."""
    if known != got:
        raise ValueError(f"X[{graph}].{name} must have {known} columns {like}, got {got}.")


def same_edges(known: str, got: str, graph: int, *, like: str) -> None:
    """Refuse a graph whose edges have features where those before have types, or neither."""
    if known != got:
        raise ValueError(f"X[{graph}] must have edges with {known} {like}, got {got}.")


def seen_features(known: int | None, got: int, graph: int) -> None:
    """Refuse a graph where training has seen none."""
    if known is None:
        columns = "1 column" if got == 1 else f"{got} columns"
        raise ValueError(
            f"X[{graph}].nodes must have features that training has seen, got {columns} before any "
            "graph. Call fit, or partial_fit with graphs."
        )


def bare_edges(got: str, graph: int) -> None:
    """Refuse features or types of edges where training has seen no edge."""
    if got != "no features":
        raise ValueError(
            f"X[{graph}] must have edges with no features, as fit has seen no edge, got {got}."
        )


def same_types(known: NDArray[Any], found: NDArray[Any], graph: int) -> None:
    """Refuse types that are whole numbers where those before are texts, or the reverse."""
    if len(known) and len(found) and kind_of(known[0]) != kind_of(found[0]):
        raise TypeError(
            f"X[{graph}].edge_types must be of the same kind as before, such as "
            f"{known.tolist()[0]!r}, got {found.tolist()[0]!r}."
        )


def known_types(known: NDArray[Any], found: NDArray[Any], graph: int) -> None:
    """Refuse the type of an edge that no graph in training had."""
    strange = found[~np.isin(found, known)]
    if len(strange):
        raise ValueError(
            f"X[{graph}].edge_types must be among {listing(known.tolist())} as in fit, got "
            f"{strange.tolist()[0]!r}."
        )


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
