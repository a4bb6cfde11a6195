"""Messages on chains, trees and grids against all labellings, listed."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from experiments.papers.entry import Case, Claim, Entry, Row, Rows
from experiments.papers.lecture.enumeration import Array, Enumerated, path_edges
from experiments.papers.lecture.identity import ROUNDING, identity
from surelearn.decode import Chain
from surelearn.graph import FactorGraph, grid, tree

N_NODES, SIDE = 8, 3
#: Scores of pairs on grids are drawn with these deviations: messages on loops mislead more.
STRENGTHS = (0.5, 1.0, 2.0)
DRAWS = 20_000

Edges = NDArray[Any]


def cases(quick: bool) -> dict[str, Case]:
    """Chains, trees, and grids by the strength of their pairs."""
    n = 20 if quick else 200
    exact = {"chain": _chain, "tree": _tree}
    grids = {f"grid {s:g}": partial(_compared, _grid, "grid", n, s) for s in STRENGTHS}
    found = {name: partial(_compared, make, name, n) for name, make in exact.items()}
    return {**found, **grids, "forward": partial(_forward, n), "samples": _samples}


def _chain(random: np.random.Generator) -> Edges:
    return path_edges(N_NODES)


def _tree(random: np.random.Generator) -> Edges:
    return tree([-1, *(int(random.integers(node)) for node in range(1, N_NODES))])


def _grid(random: np.random.Generator) -> Edges:
    return grid(SIDE, SIDE)


def _drawn(edges: Edges, random: np.random.Generator, strength: float) -> tuple[Array, Array]:
    n, K = int(edges.max()) + 1, 2 if len(edges) > N_NODES else 3
    return random.normal(size=(n, K)), strength * random.normal(size=(len(edges), K, K))


def _compared(
    make: Callable[[np.random.Generator], Edges], name: str, n: int, strength: float = 1.0
) -> Rows:
    random = np.random.default_rng(n)
    found = [_one(make(random), random, strength) for _ in range(n)]
    largest = {key: max(one[key] for one in found) for key in found[0]}
    mean = float(np.mean([one["marginals"] for one in found]))
    return [{"graph": name, "graphs": n, "strength": strength, "mean": mean, **largest}]


def _one(edges: Edges, random: np.random.Generator, strength: float) -> Row:
    """Differences of log Z, probabilities and the best score to those of the list."""
    U, A = _drawn(edges, random, strength)
    every, factors = Enumerated.of(U, A, edges), FactorGraph(U, edges, A)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        sums, best = factors.sum_product(), factors.max_product()
    return {
        "log Z": abs(sums.log_partition - every.log_partition),
        "marginals": _apart(sums.marginals, every.marginals()),
        "pairs": _apart(sums.pair_marginals, every.pair_marginals()),
        "best": float(every.scores.max() - best.score),
    }


def _forward(n: int) -> Rows:
    """On chains: the lecture's recursion, and forward-backward against messages."""
    random = np.random.default_rng(0)
    edges = path_edges(N_NODES)
    apart, recursion = [], []
    for _ in range(n):
        U, A = _drawn(edges, random, 1.0)
        chain, sums = Chain(U, A), FactorGraph(U, edges, A).sum_product()
        apart += [_apart(sums.marginals, chain.marginals()),
                  _apart(sums.pair_marginals, chain.pair_marginals())]  # fmt: skip
        recursion.append(abs(_alphas(U, A) - Enumerated.of(U, A, edges).log_partition))
    return [
        {"graph": "forward", "graphs": n, "apart": max(apart), "recursion": float(max(recursion))}
    ]


def _alphas(U: Array, A: Array) -> float:
    """log Z by the lecture's recursion, as printed: without logarithms."""
    alpha = np.exp(U[0])
    for scores, steps in zip(U[1:], A, strict=True):
        alpha = alpha @ np.exp(steps + scores)
    return float(np.log(alpha.sum()))


def _samples() -> Rows:
    """Paths drawn from a chain: how often each label, in standard errors of its probability."""
    random = np.random.default_rng(1)
    U, A = _drawn(path_edges(N_NODES), random, 1.0)
    p = Enumerated.of(U, A, path_edges(N_NODES)).marginals()
    drawn = Chain(U, A).sample(DRAWS, random_state=0)
    often = np.mean(drawn[:, :, None] == np.arange(p.shape[1]), axis=0)
    z = (often - p) / np.sqrt(p * (1 - p) / DRAWS)
    return [{"graph": "samples", "graphs": DRAWS, "z": float(np.sqrt(np.mean(z**2)))}]


def _apart(found: Any, truth: Array) -> float:
    return float(np.abs(np.asarray(found) - truth).max())


# --------------------------------------------------------------------------- pages


def _named(rows: Rows, name: str) -> Rows:
    return [row for row in rows if row["graph"] == name]


def tables(rows: Rows) -> dict[str, Rows]:
    """Largest differences, by kind of graph."""
    graphs = [row for row in rows if "log Z" in row]
    return {
        "Largest difference to the list of all labellings": [
            {
                "graph": row["graph"],
                "graphs": row["graphs"],
                "deviation of pair scores": f"{row['strength']:g}",
                "log Z": f"{row['log Z']:.1e}",
                "probability of a label": f"{row['marginals']:.1e}",
                "the same, mean over graphs": f"{row['mean']:.1e}",
                "of a pair": f"{row['pairs']:.1e}",
                "best score": f"{row['best']:.1e}",
            }
            for row in graphs
        ]
    }


def claims(rows: Rows) -> tuple[Claim, ...]:
    """Exact on trees, the same as forward-backward on chains, approximate on grids."""
    ((chain,), (trees,), (forward,), (samples,)) = (
        _named(rows, name) for name in ("chain", "tree", "forward", "samples")
    )
    loops = _named(rows, "grid")
    exact = max(row[key] for row in (chain, trees) for key in ("log Z", "marginals", "best"))
    least = min(row["mean"] for row in loops)
    return (
        identity("The forward recursion gives Z(x), the sum of alpha_j(T).",
                 forward["recursion"], f"{forward['graphs']} chains"),
        identity("Belief propagation generalises forward-backward: on a chain they agree.",
                 forward["apart"], f"{forward['graphs']} chains"),
        identity("Belief propagation is exact on trees.", exact, f"{trees['graphs']} trees"),
        Claim(
            text="On general graphs it is approximate (loopy belief propagation).",
            theirs="approximate",
            ours=f"a probability is off by {least:.2g} to {max(row['mean'] for row in loops):.2g} "
            f"on a grid of {SIDE} x {SIDE}",
            lead=1.0 if least > ROUNDING else -1.0,
            note="The largest error of a grid, mean over grids; it grows with the pair scores.",
        ),
        Claim(
            text="Outputs can be drawn from a CRF.",
            theirs="possible",
            ours=f"frequencies are {samples['z']:.2f} standard errors off (1 expected)",
            lead=1.0 if samples["z"] < 2 else -1.0,
            note=f"Root mean square over the labels of one chain, {DRAWS:,} draws.",
        ),
    )  # fmt: skip


ENTRY = Entry(
    name="lecture-messages",
    title="Messages on chains, trees and grids against all labellings",
    cases=cases,
    tables=tables,
    claims=claims,
    notes=f"Random scores. Chains and trees have {N_NODES} nodes of three labels, grids "
    f"{SIDE} x {SIDE} nodes of two. The best score of a grid may be missed, never exceeded.",
)
