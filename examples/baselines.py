"""A classifier of graphs beside two that see each node by itself: shares right, paired errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from surelearn import SureClassifier, SureGraphClassifier, rules
from surelearn.graph import Graph

RULE = rules.Probit(1.0)
PASSES = 5
Labels = Sequence[Any]  # an array of labels for each graph


class Learners(NamedTuple):
    """The same rule and as many passes on nodes as rows, graphs without edges, and graphs."""

    rows: SureClassifier
    alone: SureGraphClassifier
    together: SureGraphClassifier


class Gain(NamedTuple):
    """Difference of two shares of right nodes, and its standard error."""

    value: float
    error: float

    def __str__(self) -> str:
        return f"{self.value:+.4f} +- {self.error:.4f}"


def fit(X: Sequence[Graph], y: Labels, *, directed: bool) -> Learners:
    """All three learners on the same nodes."""
    graphs = SureGraphClassifier(RULE, passes=PASSES, directed=directed, random_state=0)
    alone = SureGraphClassifier(RULE, passes=PASSES, directed=directed, random_state=0)
    rows = SureClassifier(RULE, passes=PASSES, random_state=0)
    return Learners(
        rows.fit(stacked(X), np.concatenate(y)), alone.fit(without_edges(X), y), graphs.fit(X, y)
    )


def predictions(learners: Learners, X: Sequence[Graph]) -> dict[str, Labels]:
    """What each learner says of the nodes of each graph."""
    return {
        "each node a row": per_graph(learners.rows.predict(stacked(X)), X),
        "without edges": learners.alone.predict(without_edges(X)),
        "with edges": learners.together.predict(X),
    }


def without_edges(X: Sequence[Graph]) -> list[Graph]:
    """The same nodes with the same features, none of them joined."""
    return [Graph(nodes(x), np.empty((0, 2), int)) for x in X]


def nodes(x: Graph) -> Any:
    """Features as they were given: the default projection differs for dense and sparse ones."""
    return x.nodes if x.is_sparse else x.nodes.toarray()


def stacked(X: Sequence[Graph]) -> Any:
    """The nodes of all graphs in one matrix."""
    stack = sparse.vstack if X[0].is_sparse else np.vstack
    return stack([nodes(x) for x in X])


def per_graph(values: np.ndarray, X: Sequence[Graph]) -> list[np.ndarray]:
    """Values of all nodes, cut into those of each graph."""
    return np.split(values, np.cumsum([x.n_nodes for x in X])[:-1])


# --------------------------------------------------------------------- judgment


def n_right(y: Labels, found: Labels) -> np.ndarray:
    """Number of right nodes of each graph."""
    return np.array([np.sum(np.asarray(own) == got) for own, got in zip(y, found, strict=True)])


def share(y: Labels, found: Labels) -> float:
    """Share of right nodes."""
    return float(n_right(y, found).sum() / sum(map(len, y)))


def gain(y: Labels, before: Labels, after: Labels) -> Gain:
    """How many more nodes are right; the error is that of a ratio of sums over graphs."""
    sizes = np.array([len(own) for own in y])
    more = n_right(y, after) - n_right(y, before)
    value = more.sum() / sizes.sum()
    error = np.sqrt(len(sizes) * np.var(more - value * sizes, ddof=1)) / sizes.sum()
    return Gain(float(value), float(error))


def table(y: Labels, found: dict[str, Labels]) -> str:
    """A line for each learner: its share, and its difference to each one above."""
    names = list(found)
    lines = []
    for place, name in enumerate(names):
        above = [str(gain(y, found[other], found[name])) for other in names[:place]]
        lines.append(f"{name:32} {share(y, found[name]):.4f}  " + "  ".join(above))
    return "\n".join(line.rstrip() for line in lines)
