"""Hypothesis generators of rules, rows, chains, problems; they know nothing of the library."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from reference.rules import PARAMETERS

# The range in which a parameter is useful.
_RANGES = {
    "phi": (0.003, 10.0),
    "C": (1e-3, 1e2),
    "r": (0.1, 100.0),
    "noise": (0.1, 1000.0),
}


@dataclass(frozen=True, eq=False)
class Problem:
    """A small labelled data set."""

    X: np.ndarray
    y: np.ndarray
    n_classes: int
    sample_weight: np.ndarray


@dataclass(frozen=True, eq=False)
class Tagged:
    """A sequence with the label of each token and the features of the step to it."""

    tokens: list[dict[str, float]]
    pairs: list[dict[str, float]]
    y: tuple[int, ...]
    weight: float


def rule_names() -> st.SearchStrategy[str]:
    """Public names of the rules."""
    return st.sampled_from(list(PARAMETERS))


def rule_params(name: str) -> st.SearchStrategy[dict[str, float]]:
    """Parameters of the rule ``name``, spread evenly over the decades."""
    return st.fixed_dictionaries({key: _decades(*_RANGES[key]) for key in PARAMETERS[name]})


def rules() -> st.SearchStrategy[tuple[str, dict[str, float]]]:
    """A rule's name and its parameters."""
    return rule_names().flatmap(lambda name: st.tuples(st.just(name), rule_params(name)))


def rows(n_features: int) -> st.SearchStrategy[np.ndarray]:
    """Dense rows with many zeros, whose values float32 holds exactly."""
    values = st.lists(_values(), min_size=n_features, max_size=n_features)
    return values.map(lambda row: np.array(row, np.float64))


@st.composite
def problems(
    draw: st.DrawFn, max_rows: int = 12, max_features: int = 6, max_classes: int = 4
) -> Problem:
    """Small problems in which at least two classes have a row of positive weight."""
    n_classes = draw(st.integers(2, max_classes))
    n_features = draw(st.integers(1, max_features))
    n_rows = draw(st.integers(2, max_rows))
    first_two = draw(st.permutations(range(n_classes)))[:2]
    label = st.integers(0, n_classes - 1)
    rest = st.lists(st.tuples(label, _weights()), min_size=n_rows - 2, max_size=n_rows - 2)
    labelled = [(y, draw(_weights().filter(bool))) for y in first_two] + draw(rest)
    labelled = draw(st.permutations(labelled))
    return Problem(
        X=np.stack([draw(rows(n_features)) for _ in range(n_rows)]),
        y=np.array([y for y, _ in labelled]),
        n_classes=n_classes,
        sample_weight=np.array([weight for _, weight in labelled], np.float64),
    )


@st.composite
def coding_matrices(draw: st.DrawFn, zeros: bool = True) -> np.ndarray:
    """Codes of few classes and problems: digits tell the classes apart, other columns follow."""
    n_classes = draw(st.integers(2, 6))
    entry = st.sampled_from([-1, 0, 1] if zeros else [-1, 1])
    column = st.lists(entry, min_size=n_classes, max_size=n_classes)
    digits = [[2 * (k >> d & 1) - 1 for k in range(n_classes)] for d in range(3)]
    columns = [c for c in digits + draw(st.lists(column, max_size=7)) if {-1, 1} <= set(c)]
    # A column and its complement are the same problem: the first of both stays.
    known = {max(tuple(c), tuple(-x for x in c)): c for c in reversed(columns)}
    return np.array(list(known.values()), np.int8).T


@st.composite
def chains(
    draw: st.DrawFn, whole: bool = False, max_length: int = 5, max_labels: int = 4
) -> tuple[np.ndarray, np.ndarray]:
    """Scores (U, A) of short chains, A for all steps or each; whole ones sum exactly and tie."""
    length, n_labels = draw(st.integers(1, max_length)), draw(st.integers(1, max_labels))
    entry = st.integers(-2, 2).map(float) if whole else st.floats(-8.0, 8.0, width=32)
    shapes = st.sampled_from([(n_labels, n_labels), (length - 1, n_labels, n_labels)])
    shape = draw(shapes)
    return (
        draw(hnp.arrays(np.float64, (length, n_labels), elements=entry)),
        draw(hnp.arrays(np.float64, shape, elements=entry)),
    )


@st.composite
def tagged(draw: st.DrawFn, n_labels: int, pairs: bool = True) -> Tagged:
    """A short sequence of few features, so that they repeat in it and cancel or add up."""
    length = draw(st.sampled_from([2, 3, 4, 1, 0]))
    value = st.just(1.0) | _values()
    token = st.dictionaries(st.sampled_from("abcd"), value, max_size=3)
    step = st.dictionaries(st.sampled_from("pq"), value, max_size=2) if pairs else st.just({})
    label = st.integers(0, n_labels - 1)
    return Tagged(
        tokens=draw(st.lists(token, min_size=length, max_size=length)),
        pairs=draw(st.lists(step, min_size=length, max_size=length)),
        y=tuple(draw(st.lists(label, min_size=length, max_size=length))),
        weight=draw(_weights()),
    )


@st.composite
def corpora(
    draw: st.DrawFn, max_sequences: int = 6, max_labels: int = 3, pairs: bool = True
) -> tuple[list[Tagged], int]:
    """A few tagged sequences, and the number of labels there are."""
    n_labels = draw(st.integers(2, max_labels))
    sequence = tagged(n_labels, pairs=pairs)
    return draw(st.lists(sequence, min_size=2, max_size=max_sequences)), n_labels


def margins() -> st.SearchStrategy[tuple[float, float]]:
    """Pairs (m, v) over many magnitudes, v >= 0, often near 1, v or sqrt(v) in size."""
    size = _decades(1e-12, 1e12)
    signed = st.just(0.0) | size | size.map(lambda x: -x)
    ratio = st.floats(-10.0, 10.0)
    return st.one_of(
        st.tuples(signed, st.just(0.0)),
        st.tuples(signed, size),
        st.tuples(ratio, size),
        st.builds(lambda k, v: (k * v, v), ratio, size),
        st.builds(lambda k, v: (k * math.sqrt(v), v), ratio, size),
    )


def _decades(low: float, high: float) -> st.SearchStrategy[float]:
    """Numbers between low and high, every decade as likely as the next."""
    exponents = st.floats(math.log10(low), math.log10(high))
    return exponents.map(lambda e: min(max(10.0**e, low), high))


def _values() -> st.SearchStrategy[float]:
    """Zeros, short binary fractions (sums of which are exact) and full float32 numbers."""
    short = st.integers(-64, 64).map(lambda k: k / 8)
    size = st.floats(2.0**-6, 2.0**6, width=32)
    return st.one_of(st.just(0.0), st.just(0.0), short, size, size.map(lambda x: -x))


def _weights() -> st.SearchStrategy[float]:
    """Sample weights: none, one, and others."""
    return st.one_of(st.just(1.0), st.just(0.0), st.floats(0.0625, 16.0, width=32))


@st.composite
def rankings(
    draw: st.DrawFn, max_groups: int = 6, max_size: int = 5, max_features: int = 5
) -> list[tuple[np.ndarray, np.ndarray, float]]:
    """A few groups of candidates: their rows, their costs, the weight of the group.

    Sizes, costs and weights may be such that there is nothing to learn.
    """
    n_features = draw(st.integers(1, max_features))
    costs = st.sampled_from([0.0, 1.0, 1.0, 2.0, 0.5])

    def group() -> tuple[np.ndarray, np.ndarray, float]:
        size = draw(st.sampled_from([3, 2, max_size, 1, 0]))
        X = np.array([draw(rows(n_features)) for _ in range(size)]).reshape(size, n_features)
        cost = draw(st.lists(costs, min_size=size, max_size=size))
        return X, np.array(cost, np.float64), draw(_weights())

    return [group() for _ in range(draw(st.integers(1, max_groups)))]


@dataclass(frozen=True, eq=False)
class Factors:
    """Scores of a small graph: arguments of a factor graph."""

    unary: list[np.ndarray]
    edges: list[tuple[int, int]]
    tables: list[np.ndarray]

    def __iter__(self):
        return iter((self.unary, self.edges, self.tables))


@st.composite
def factor_graphs(
    draw: st.DrawFn,
    loops: bool = False,
    whole: bool = False,
    forbidden: bool = False,
    scale: float = 8.0,
) -> Factors:
    """Forests of up to six nodes with one to three labels each; with `loops`, some more edges.

    Whole scores sum exactly and tie; `forbidden` ones are -inf, but label 0 of all nodes is
    allowed. `scale` bounds the scores of pairs.
    """
    n = draw(st.integers(1, 6))
    sizes = draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))
    parents = [draw(st.none() | st.integers(0, i - 1)) if i else None for i in range(n)]
    pairs = {(parent, i) for i, parent in enumerate(parents) if parent is not None}
    if loops:
        every = [(a, b) for a in range(n) for b in range(a + 1, n)]
        pairs |= set(draw(st.lists(st.sampled_from(every), max_size=4)) if every else [])
    edges = [pair if draw(st.booleans()) else pair[::-1] for pair in draw(_shuffled(pairs))]

    def scores(shape, most):
        entry = st.integers(-2, 2).map(float) if whole else st.floats(-most, most, width=32)
        found = draw(hnp.arrays(np.float64, shape, elements=entry))
        if forbidden and draw(st.booleans()):
            ban = draw(hnp.arrays(np.bool_, shape))
            ban[(0,) * len(shape)] = False
            found[ban] = -np.inf
        return found

    unary = [scores((size,), 8.0) for size in sizes]
    tables = [scores((sizes[a], sizes[b]), scale) for a, b in edges]
    return Factors(unary, edges, tables)


def _shuffled(values) -> st.SearchStrategy[list]:
    return st.permutations(sorted(values))


@dataclass(frozen=True, eq=False)
class Network:
    """A small tree with features of nodes and edges, the label of each node, and a weight."""

    nodes: np.ndarray
    edges: list[tuple[int, int]]
    pairs: np.ndarray
    y: tuple[int, ...]
    weight: float


@st.composite
def networks(draw: st.DrawFn, n_labels: int, n_features: int, n_pairs: int) -> Network:
    """A forest of up to four nodes."""
    n = draw(st.sampled_from([2, 3, 4, 1, 0]))
    parents = [draw(st.integers(-1, i - 1)) for i in range(n)]
    edges = [(parent, i) for i, parent in enumerate(parents) if parent >= 0]
    edges = [edge if draw(st.booleans()) else edge[::-1] for edge in edges]
    label = st.integers(0, n_labels - 1)
    return Network(
        nodes=np.array([draw(rows(n_features)) for _ in range(n)]).reshape(n, n_features),
        edges=edges,
        pairs=np.array([draw(rows(n_pairs)) for _ in edges]).reshape(len(edges), n_pairs),
        y=tuple(draw(st.lists(label, min_size=n, max_size=n))),
        weight=draw(_weights()),
    )


@st.composite
def corpora_of_networks(draw: st.DrawFn) -> tuple[list[Network], int]:
    """A few forests with the same features, and the number of labels there are."""
    n_labels = draw(st.integers(2, 3))
    sizes = draw(st.integers(1, 3)), draw(st.integers(0, 2))
    return draw(st.lists(networks(n_labels, *sizes), min_size=2, max_size=5)), n_labels
