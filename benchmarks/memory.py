"""Bytes for each feature and class of a fitted model: how far the peak of resident memory grows.

Each model is made in a fresh process: a first tiny fit brings everything into memory that is not
the model, then the kernel's peak is set back and a handful of rows with a large number of features
is learnt and predicted. Two classes are one vector, so its bytes are for each feature alone.

Each model is made with d and with 2 d features: the difference is what a feature costs, the rest
what any model costs, such as the large page begun by the intercept.
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
_SCRIPT = """
import sys
import numpy as np
from scipy import sparse
from surelearn import SureClassifier, rules

def peak():
    lines = open("/proc/self/status").read().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

def learn(n_features):
    y = np.arange(40) % int(sys.argv[1])
    X = sparse.csr_matrix((np.ones(40), (np.arange(40), y)), shape=(40, n_features))
    rule = getattr(rules, sys.argv[3])()
    model = SureClassifier(rule, average=sys.argv[4] == "True", dtype=sys.argv[5])
    model.fit(X, y).predict(X)
    return model

learn(100)
open("/proc/self/clear_refs", "w").write("5")  # sets the peak back to what is resident now
before = peak()
kept = learn(int(sys.argv[2]))
print(peak() - before)
"""


def growth(n_classes: int, n_features: int, *kind: object) -> int:
    """Bytes by which the peak grew, the least of some runs."""
    command = [sys.executable, "-c", _SCRIPT, *map(str, (n_classes, n_features, *kind))]
    grown = []
    for _ in range(REPEATS):
        run = subprocess.run(command, capture_output=True, text=True, check=True, cwd="/")
        grown.append(int(run.stdout))
    return min(grown)


def cost(n_classes: int, n_features: int, *kind: object) -> tuple[float, float, float]:
    """Bytes of the whole model a feature and class, those of one more, and those any model has."""
    cells = n_features * (1 if n_classes == 2 else n_classes)
    once, twice = (growth(n_classes, n, *kind) for n in (n_features, 2 * n_features))
    return once / cells, (twice - once) / cells, 2 * once - twice


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
    write("memory", figures, claims, repeats=REPEATS, unit="bytes a feature and class")


if __name__ == "__main__":
    main()
