"""Files of groups of candidates that can be learnt."""

from __future__ import annotations

import numpy as np

#: How much each of twelve features adds to the relevance of a candidate.
WEIGHTS = np.random.default_rng(5).normal(size=12)


def queries(n, seed=0):
    """svmlight: the lines of some queries of one to six candidates."""
    random = np.random.default_rng(seed)
    lines = ["# made up\n"]
    for query in random.permutation(n) + 1:
        for _ in range(random.integers(1, 7)):
            x = np.where(random.random(12) < 0.4, random.normal(size=12), 0.0)
            relevance = int(np.clip(np.round(x @ WEIGHTS + 0.3 * random.normal()), 0, 3))
            entries = " ".join(f"{j + 1}:{x[j]:.4f}" for j in np.flatnonzero(x))
            lines.append(f"{relevance} qid:{query} {entries}\n")
    return "".join(lines)


def candidates(n, seed=0):
    """Label-dependent text: groups in which the candidate that shares a letter costs nothing."""
    random = np.random.default_rng(seed)
    lines = []
    for _ in range(n):
        right = random.choice(list("abcdefgh"))
        lines.append(f"shared |s {right} z\n")
        for label, letter in enumerate(random.permutation(list("abcdefgh"))):
            lines.append(f"{label + 1}:{int(letter != right)} |l {letter} y\n")
        lines.append("\n")
    return "".join(lines)
