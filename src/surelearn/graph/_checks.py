"""Checks of nodes and edges, their scores, and labels that are known beforehand."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn._check import doubles, kind_of, known_nodes, listed, shown

#: Number of labels of each node, and the scores of all labels, node after node.
Unary = tuple[NDArray[np.int64], NDArray[np.float64]]

#: Tables one after the other, in C order, and where the table of each edge begins.
Tables = tuple[NDArray[np.float64], NDArray[np.int64]]

#: The largest score that is taken: sums of many of them stay finite.
_LARGEST = 1e300


def edges(value: Any, n_nodes: int) -> NDArray[np.int32]:
    """Pairs of nodes, each at most once, in either direction."""
    found = _array("edges", value, "pairs of whole numbers")
    if found.size == 0:
        return np.zeros((0, 2), np.int32)
    if found.dtype.kind not in "iu":
        raise TypeError(f"edges must be pairs of whole numbers, got {shown(value)}.")
    if found.ndim != 2 or found.shape[1] != 2:
        raise ValueError(f"edges must be of shape (n_edges, 2), got shape {found.shape}.")
    _existing(found, n_nodes)
    loops = np.flatnonzero(found[:, 0] == found[:, 1])
    if len(loops):
        e = int(loops[0])
        raise ValueError(
            f"edges must join two different nodes, got the self loop {_pair(found[e])} as edge "
            f"{e}. Add its scores to those of the node."
        )
    _distinct(found.astype(np.int64), n_nodes)
    return np.ascontiguousarray(found, dtype=np.int32)


def _existing(found: NDArray[Any], n_nodes: int) -> None:
    outside = np.flatnonzero(((found < 0) | (found >= n_nodes)).any(axis=1))
    if len(outside):
        e = int(outside[0])
        have = f"nodes from 0 to {n_nodes - 1}" if n_nodes else "no node"
        raise ValueError(
            f"edges must join nodes that are there, got {_pair(found[e])} as edge {e} of a graph "
            f"that has {have}."
        )


def _distinct(found: NDArray[np.int64], n_nodes: int) -> None:
    keys = found.min(axis=1) * n_nodes + found.max(axis=1)
    order = np.argsort(keys, kind="stable")
    again = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    if len(again):
        first, second = order[again[0]], order[again[0] + 1]
        raise ValueError(
            f"edges must be distinct, got {_pair(found[first])} as edge {first} and "
            f"{_pair(found[second])} as edge {second}. Join them: add up their scores or features."
        )


def parents(value: Any) -> NDArray[np.int64]:
    """The parent of each node of a tree; -1 for a root."""
    found = _array("parents", value, "a list of whole numbers")
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iu"):
        raise TypeError(f"parents must be a list of whole numbers, got {shown(value)}.")
    bad = np.flatnonzero((found < -1) | (found >= len(found)))
    if len(bad):
        i = int(bad[0])
        raise ValueError(
            f"parents must be nodes from 0 to {len(found) - 1}, or -1 for a root, got {found[i]} "
            f"for node {i}."
        )
    _no_cycle(found)
    return found.astype(np.int64)


def _no_cycle(found: NDArray[Any]) -> None:
    """Refuse parents of which one is its own ancestor: each round doubles the steps upwards."""
    above = np.append(found, -1).astype(np.int64)  # the parent of -1 is -1
    for _ in range(len(found).bit_length()):
        above = above[above]
    caught = np.flatnonzero(above >= 0)
    if len(caught):
        raise ValueError(
            f"parents must lead to a root, got a cycle above node {caught[0]}. A root has parent "
            "-1."
        )


def unary_scores(value: Any) -> Unary:
    """Scores of the labels of each node: a table, or a list of one array for each node."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return _unary_table(doubles("unary", value, "an array of numbers"))
    listed("unary", value, "arrays, one for each node")
    rows = [doubles(f"unary[{i}]", own, "an array of numbers") for i, own in enumerate(value)]
    for i, own in enumerate(rows):
        if own.ndim != 1 or not len(own):
            raise ValueError(
                f"unary[{i}] must have one score for each label of the node, got shape {own.shape}."
            )
        _scores(f"unary[{i}]", own)
        _some_label(own[None], first=i)
    sizes = np.fromiter(map(len, rows), np.int64, len(rows))
    return sizes, np.concatenate([np.zeros(0), *rows])


def _unary_table(table: NDArray[np.float64]) -> Unary:
    if table.ndim != 2 or (len(table) and not table.shape[1]):
        raise ValueError(f"unary must be of shape (n_nodes, n_labels), got shape {table.shape}.")
    _scores("unary", table)
    _some_label(table)
    return np.full(len(table), table.shape[1], np.int64), table.ravel()


def _some_label(table: NDArray[np.float64], first: int = 0) -> None:
    none = np.flatnonzero((table == -np.inf).all(axis=1))
    if len(none):
        raise ValueError(f"unary[{first + none[0]}] must allow a label, got -inf for all of them.")


def _scores(name: str, own: NDArray[np.float64]) -> None:
    bad = own[np.isnan(own) | (own == np.inf)]
    if bad.size:
        raise ValueError(f"{name} must be finite or -inf, got {bad[0]}.")
    large = own[(np.abs(own) > _LARGEST) & (own != -np.inf)]
    if large.size:
        raise ValueError(
            f"{name} must be at most {_LARGEST:g} in size or -inf, got {large[0]}. Use -inf to "
            "forbid a label."
        )


def pairwise_scores(value: Any, sizes: NDArray[np.int64], edges: NDArray[np.int32]) -> Tables:
    """Tables of the edges: one for all, one for each in an array, or a list of any shapes."""
    shapes = sizes[edges]
    if isinstance(value, np.ndarray) and value.dtype != object:
        found = doubles("pairwise", value, "an array of numbers")
        if found.ndim == 2:
            return _one_table(found, shapes)
        if found.ndim != 3:
            raise ValueError(
                "pairwise must be one table for all edges or one for each, of two or three "
                f"dimensions, got shape {found.shape}."
            )
        _one_for_each(len(found), len(edges))
        _table_shapes(np.tile(found.shape[1:], (len(edges), 1)), shapes)
        _scores("pairwise", found)
        return found.ravel(), np.arange(len(edges), dtype=np.int64) * int(np.prod(found.shape[1:]))
    listed("pairwise", value, "tables")
    return _table_list(list(value), shapes)


def _one_table(table: NDArray[np.float64], shapes: NDArray[np.int64]) -> Tables:
    _table_shapes(np.tile(table.shape, (len(shapes), 1)), shapes)
    _scores("pairwise", table)
    return table.ravel(), np.zeros(len(shapes), np.int64)


def _table_list(value: list[Any], shapes: NDArray[np.int64]) -> Tables:
    if value and np.ndim(value[0]) == 1:  # one table, as a list of rows
        return _one_table(doubles("pairwise", value, "tables of numbers"), shapes)
    _one_for_each(len(value), len(shapes))
    tables = [doubles(f"pairwise[{e}]", own, "a table of numbers") for e, own in enumerate(value)]
    for e, own in enumerate(tables):
        if own.shape != tuple(shapes[e]):
            raise ValueError(_wrong_table(e, own.shape, shapes[e]))
        _scores(f"pairwise[{e}]", own)
    ends = np.cumsum([0, *(own.size for own in tables)])
    return np.concatenate([np.zeros(0), *(own.ravel() for own in tables)]), ends[:-1]


def _one_for_each(n_tables: int, n_edges: int) -> None:
    if n_tables != n_edges:
        raise ValueError(
            f"pairwise must have as many tables as there are edges, {n_edges}, got {n_tables}."
        )


def _table_shapes(found: NDArray[np.int64], shapes: NDArray[np.int64]) -> None:
    wrong = np.flatnonzero((found != shapes).any(axis=1))
    if len(wrong):
        e = int(wrong[0])
        raise ValueError(_wrong_table(e, tuple(found[e].tolist()), shapes[e]))


def _wrong_table(e: int, got: tuple[int, ...], wanted: NDArray[np.int64]) -> str:
    return (
        f"pairwise must have a table of shape {_pair(wanted)} for edge {e}, a row for each label "
        f"of its first node and a column for each of its second, got shape {got}."
    )


def possible(score: float, *, is_exact: bool, given: bool) -> float:
    """The score of the best labelling, or log Z; raises if no labelling was found.

    Parameters
    ----------
    score : float
    is_exact : bool
        Whether a score of -inf proves that there is none.
    given : bool
        Whether some labels are known.
    """
    if score != -np.inf:
        return score
    who = "evidence, unary and pairwise must together" if given else "unary and pairwise must"
    if is_exact:
        raise ValueError(f"{who} allow a labelling of all nodes, got -inf for each of them.")
    raise ValueError(
        f"{who} allow a labelling that messages find, got none by messages on a graph with loops. "
        "One may still exist: add evidence, or use finite scores in place of -inf."
    )


def labelling(value: Any, sizes: NDArray[np.int64]) -> NDArray[np.int32]:
    """The index of a label for each node."""
    found = _array("labels", value, f"one whole number for each of {len(sizes)} nodes")
    if found.shape != sizes.shape or (found.size and found.dtype.kind not in "iu"):
        raise ValueError(
            f"labels must be one whole number for each of {len(sizes)} nodes, got {shown(value)}."
        )
    outside = np.flatnonzero((found < 0) | (found >= sizes))
    if len(outside):
        node = int(outside[0])
        raise ValueError(_outside("labels", node, int(found[node]), int(sizes[node])))
    return np.ascontiguousarray(found, dtype=np.int32)


def evidence(value: Any, sizes: NDArray[np.int64]) -> dict[int, int]:
    """Known labels of some nodes, as {node: label}."""
    found = known_nodes("evidence", value, len(sizes))
    for node, label in found.items():
        if isinstance(label, bool) or not isinstance(label, Integral):
            raise TypeError(
                f"evidence must have the number of a label for node {node}, got {label!r}."
            )
        if not 0 <= int(label) < sizes[node]:
            raise ValueError(_outside("evidence", node, int(label), int(sizes[node])))
    return {node: int(label) for node, label in found.items()}


def _outside(name: str, node: int, label: int, n_labels: int) -> str:
    return (
        f"{name} must be within the labels of each node, from 0 to {n_labels - 1} for node {node}, "
        f"got {label}."
    )


def one_for_each_edge(name: str, n_rows: int, n_edges: int) -> None:
    if n_rows != n_edges:
        raise ValueError(
            f"{name} must have as many rows as there are edges, {n_edges}, got {n_rows}."
        )


def edge_types(value: Any, n_edges: int) -> NDArray[Any]:
    """A type for each edge, all of them texts or all whole numbers."""
    listed("edge_types", value, "types, one for each edge")
    found = list(value)
    one_for_each_edge("edge_types", len(found), n_edges)
    kinds = {kind_of(own) for own in found}
    strange = [own for own in found if kind_of(own) not in ("str", "int")]
    if strange:
        raise TypeError(f"edge_types must be texts or whole numbers, got {strange[0]!r}.")
    if len(kinds) > 1:
        raise TypeError("edge_types must be of one kind, got texts and whole numbers.")
    if "int" not in kinds:
        return np.array(found, dtype=object)
    large = [own for own in found if not -(2**63) <= int(own) < 2**63]
    if large:
        raise ValueError(f"edge_types must fit in 64 bits, got {large[0]}. Write it as a text.")
    return np.array(found, dtype=np.int64)


def _pair(pair: Any) -> tuple[int, int]:
    return int(pair[0]), int(pair[1])


def _array(name: str, value: Any, what: str) -> NDArray[Any]:
    """`value` as an array; raises if its lists have different lengths."""
    try:
        return np.asarray(value)
    except ValueError:
        raise TypeError(f"{name} must be {what}, got {shown(value)}.") from None
