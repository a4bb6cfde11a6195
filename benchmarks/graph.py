"""Messages on graphs: `surelearn.graph` beside a loop in NumPy and beside pgmpy.

A grid of 300 x 300 nodes with two labels, random scores and one table for all edges: seconds for
each message, of a loop over the edges in NumPy and of ours until messages settle; both to the same
residual on 100 x 100 nodes. pgmpy has no loopy propagation: its junction tree is timed on a random
tree and on a small grid, where it tells how far our marginals are from the exact ones.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from _measure import Claim, interleaved, ratio_claim, show, stop, write

from surelearn.graph import FactorGraph, grid, tree

REPEATS = 3
TOL = 1e-4
#: Score of equal neighbours; scores of labels have a standard deviation of 1.
COUPLING = 0.7


class Scores:
    """Random scores of a graph."""

    def __init__(self, n_nodes: int, edges: np.ndarray, n_labels: int) -> None:
        random = np.random.default_rng(0)
        self.unary = random.normal(size=(n_nodes, n_labels))
        self.edges = edges
        self.table = COUPLING * np.eye(n_labels)

    def ours(self) -> Any:
        factors = FactorGraph(self.unary, self.edges, self.table)
        return factors.sum_product(damping=0.0, tol=TOL)


def in_numpy(scores: Scores, max_sweeps: int) -> tuple[int, float]:
    """Sweeps over all messages in NumPy: how many, and the largest change in the last one."""
    halves = np.concatenate([scores.edges, scores.edges[:, ::-1]])
    n = len(scores.edges)
    into: list[list[int]] = [[] for _ in scores.unary]
    for h, b in enumerate(halves[:, 1].tolist()):
        into[b].append(h)
    messages = np.zeros((2 * n, scores.unary.shape[1]))
    sweeps, residual = 0, np.inf
    while sweeps < max_sweeps and residual > TOL:
        sweeps, residual = sweeps + 1, 0.0
        for h, a in enumerate(halves[:, 0].tolist()):
            back = h + n if h < n else h - n
            s = scores.unary[a] + sum(messages[o] for o in into[a] if o != back)
            s = s[:, None] + scores.table
            most = s.max(axis=0)
            new = most + np.log(np.exp(s - most).sum(axis=0))
            new -= new.max()
            residual = max(residual, float(np.abs(new - messages[h]).max()))
            messages[h] = new
    return sweeps, residual


def pgmpy_marginals(scores: Scores) -> np.ndarray:
    """The probability of each label of each node by pgmpy's junction tree."""
    from pgmpy.factors.discrete import DiscreteFactor
    from pgmpy.inference import BeliefPropagation
    from pgmpy.models import DiscreteMarkovNetwork

    n, K = scores.unary.shape
    model = DiscreteMarkovNetwork()
    model.add_nodes_from(range(n))
    model.add_edges_from(scores.edges.tolist())
    model.add_factors(
        *(DiscreteFactor([v], [K], np.exp(u)) for v, u in enumerate(scores.unary)),
        *(DiscreteFactor(e, [K, K], np.exp(scores.table).ravel()) for e in scores.edges.tolist()),
    )
    inference = BeliefPropagation(model)
    inference.calibrate()
    beliefs = inference.get_clique_beliefs()
    found = np.zeros((n, K))
    for v in range(n):
        clique = min((c for c in beliefs if v in c), key=len)
        other = [w for w in clique if w != v]
        belief = beliefs[clique].marginalize(other, inplace=False) if other else beliefs[clique]
        found[v] = belief.values / belief.values.sum()
    return found


def per_message() -> tuple[dict[str, Any], Claim]:
    """Seconds of one message on the large grid."""
    scores = Scores(300 * 300, grid(300, 300), 2)
    n = 2 * len(scores.edges)
    begin = time.perf_counter()
    in_numpy(scores, 1)
    theirs = (time.perf_counter() - begin) / n
    best = interleaved({"ours": scores.ours}, REPEATS)["ours"].best
    found = scores.ours()
    ours = best / (n * found.n_sweeps)
    figures = {
        "graph": "grid 300 x 300",
        "numpy_us_a_message": round(1e6 * theirs, 2),
        "ours_us_a_message": round(1e6 * ours, 3),
        "ours_seconds": round(best, 3),
        "ours_sweeps": round(found.n_sweeps, 1),
        "ours_residual": found.residual,
    }
    work = "a message on a grid of 300 x 300 nodes, two labels"
    return figures, ratio_claim(work, "a loop over edges in NumPy", theirs / ours, 20)


def to_the_end() -> tuple[dict[str, Any], Claim]:
    """Seconds until messages settle on a smaller grid."""
    scores = Scores(100 * 100, grid(100, 100), 2)
    begin = time.perf_counter()
    sweeps, residual = in_numpy(scores, 100)
    theirs = time.perf_counter() - begin
    ours = interleaved({"ours": scores.ours}, REPEATS)["ours"].best
    found = scores.ours()
    figures = {
        "graph": "grid 100 x 100",
        "numpy_seconds": round(theirs, 2),
        "numpy_sweeps": sweeps,
        "numpy_residual": residual,
        "ours_seconds": round(ours, 4),
        "ours_sweeps": round(found.n_sweeps, 1),
        "ours_residual": found.residual,
    }
    work = f"sum-product to a residual of {TOL:g}, grid of 100 x 100 nodes"
    return figures, ratio_claim(work, "a loop over edges in NumPy", theirs / ours, 20)


def beside_pgmpy(name: str, scores: Scores) -> tuple[dict[str, Any], Claim]:
    """Both times for all marginals, and how far they are apart."""
    times = interleaved({"pgmpy": lambda: pgmpy_marginals(scores), "ours": scores.ours}, REPEATS)
    apart = float(np.abs(pgmpy_marginals(scores) - np.array(scores.ours().marginals)).max())
    figures = {
        "graph": name,
        "pgmpy_seconds": round(times["pgmpy"].best, 3),
        "ours_seconds": round(times["ours"].best, 5),
        "largest_difference": apart,
    }
    ratio = times["pgmpy"].best / times["ours"].best
    return figures, ratio_claim(f"all marginals of a {name}", "pgmpy, junction tree", ratio, 1)


def main() -> None:
    try:
        import pgmpy  # noqa: F401
    except ImportError:
        stop("pgmpy must be installed to compare with, got none.")
    random = np.random.default_rng(1)
    parents = [-1] + [int(random.integers(0, v)) for v in range(1, 300)]
    found = [
        per_message(),
        to_the_end(),
        beside_pgmpy("tree of 300 nodes, three labels", Scores(300, tree(parents), 3)),
        beside_pgmpy("grid of 8 x 8 nodes, two labels", Scores(64, grid(8, 8), 2)),
    ]
    figures = [one for one, _ in found]
    rows = [
        [f["graph"], ", ".join(f"{k} {v}" for k, v in f.items() if k != "graph")] for f in figures
    ]
    show("Messages", ["graph", "figures"], rows)
    write("graph", figures, [claim for _, claim in found], repeats=REPEATS, coupling=COUPLING)


if __name__ == "__main__":
    main()
