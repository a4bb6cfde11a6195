"""Bytes for each feature and class of a fitted model: how far the peak of resident memory grows.

Each model is made in a fresh process: a first tiny fit brings everything into memory that is not
the model, then the kernel's peak is set back and a handful of rows with a large number of features
is learnt and predicted. Two classes are one vector, so its bytes are for each feature alone.

Each model is made with d and with 2 d features: the difference is what a feature costs, the rest
what any model costs, such as the large page begun by the intercept.

Shards: the peak of a whole `fit` of the rows of `scaling.py`, beyond these rows, in tables: the
bytes of the weights of the fitted model.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from _measure import Claim, show, stop, write

REPEATS = 3
SHAPES = {"2 classes, d = 2^22": (2, 1 << 22), "20 classes, d = 2^18": (20, 1 << 18)}
KINDS = {
    "diagonal, float32": ("AROW", False, "float32", 8),
    "diagonal, float32, averaged": ("AROW", True, "float32", 12),
    "first order, float32": ("PA1", False, "float32", 4),
    "diagonal, float64": ("AROW", False, "float64", 16),
}
#: Works of `scaling.py` whose tables are large, and numbers of shards.
WORKS = ("20 classes, 16,000 texts", "20 classes, 160,000 sparse rows")
SHARDS = (1, 2, 16)
_PEAK = """
import ctypes, gc, sys

def peak():
    lines = open("/proc/self/status").read().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

def back():
    "The peak, set back to what is resident now."
    gc.collect()
    getattr(ctypes.CDLL(None), "malloc_trim", int)(0)
    open("/proc/self/clear_refs", "w").write("5")
    return peak()
"""
_SCRIPT = """
import numpy as np
from scipy import sparse
from surelearn import SureClassifier, rules

def learn(n_features):
    y = np.arange(40) % int(sys.argv[1])
    X = sparse.csr_matrix((np.ones(40), (np.arange(40), y)), shape=(40, n_features))
    rule = getattr(rules, sys.argv[3])()
    model = SureClassifier(rule, average=sys.argv[4] == "True", dtype=sys.argv[5])
    model.fit(X, y).predict(X)
    return model

learn(100)
before = back()
kept = learn(int(sys.argv[2]))
print(peak() - before)
"""
_SHARDS = """
sys.path.insert(0, sys.argv[1])
from scaling import Setting, works

work = works()[sys.argv[2]]
work._replace(X=work.X[:200], y=work.y[:200]).fit(Setting(2, 2))
before = back()
model = work.fit(Setting(int(sys.argv[3]), 2))
print((peak() - before) / (model.coef_.nbytes + model.sigma_.nbytes))
"""


def growth(n_classes: int, n_features: int, *kind: object) -> int:
    """Bytes by which the peak grew, the least of some runs."""
    return int(_least(_SCRIPT, n_classes, n_features, *kind))


def tables(work: str, shards: int) -> float:
    """The peak of a fit with shards in two threads, in tables."""
    return _least(_SHARDS, Path(__file__).parent, work, shards)


def _least(script: str, *given: object) -> float:
    """What a script prints in a fresh process, the least of some runs."""
    command = [sys.executable, "-c", _PEAK + script, *map(str, given)]
    runs = [
        subprocess.run(command, capture_output=True, text=True, check=True, cwd="/").stdout
        for _ in range(REPEATS)
    ]
    return min(map(float, runs))


def cost(n_classes: int, n_features: int, *kind: object) -> tuple[float, float, float]:
    """Bytes of the whole model a feature and class, those of one more, and those any model has."""
    cells = n_features * (1 if n_classes == 2 else n_classes)
    once, twice = (growth(n_classes, n, *kind) for n in (n_features, 2 * n_features))
    return once / cells, (twice - once) / cells, 2 * once - twice


def _of_shards(work: str, shards: int, most: float) -> Claim:
    """A table for the merged model, and one for each shard, at the most."""
    what, limit = f"peak memory of fit with {shards} shards, {work}", shards + 1
    return Claim(what, "-", f"{most:.1f} tables", f"<= {limit} tables", most <= limit)


def main() -> None:
    if not Path("/proc/self/clear_refs").exists():
        stop("The peak of memory must be readable under /proc/self, got a system without it.")
    figures: dict[str, dict[str, float]] = {}
    claims, lines = [], []
    for kind, (*options, goal) in KINDS.items():
        worst = (0.0, 0.0)
        for shape, (n_classes, n_features) in SHAPES.items():
            whole, each, fixed = cost(n_classes, n_features, *options)
            worst = max(worst, (each, fixed))
            figures[f"{kind}, {shape}"] = {"whole": whole, "each": each, "fixed": fixed}
            numbers = [f"{whole:.2f}", f"{each:.2f}", f"{fixed / 2**20:.1f}", f"{goal}"]
            lines.append([kind, shape, *numbers])
        figure = f"{worst[0]:.2f} bytes, and {worst[1] / 2**20:.1f} MB once"
        work = f"memory for each feature and class, {kind}"
        met = worst[0] <= 1.01 * goal  # memory comes in pages
        claims.append(Claim(work, "-", figure, f"{goal} bytes", met))
    header = ["model", "shape", "whole, bytes", "each more", "fixed, MB", "goal"]
    show("Growth of peak memory for each feature and class", header, lines)
    for work in WORKS:
        found = {shards: tables(work, shards) for shards in SHARDS}
        figures[f"shards, {work}"] = {str(n): round(most, 1) for n, most in found.items()}
        claims += [_of_shards(work, n, most) for n, most in found.items() if n > 1]
    write("memory", figures, claims, repeats=REPEATS, unit="bytes a feature and class; tables")


if __name__ == "__main__":
    main()
