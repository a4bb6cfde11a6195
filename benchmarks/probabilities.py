"""Label probabilities: the exact integral against 1,000 draws a row with numpy, one thread.

Means are standard normal, standard deviations within a factor of four. The sampler draws normals
of shape (rows, 1000, K), in blocks that stay in the cache, takes the largest of each draw and
counts. Errors are the largest difference from a Gauss-Legendre rule with 24 points between any
two of the points mean + k deviations, k = -9 .. 9, on the first rows.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from _measure import interleaved, ratio_claim, show, write
from scipy.special import log_ndtr

from surelearn.probability import label_probabilities

DRAWS = 1000
REPEATS = 9
ROWS = {3: 2000, 20: 300, 200: 30}
JUDGED = 10


def problem(n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Means and variances."""
    random = np.random.default_rng(n_classes)
    shape = (ROWS[n_classes], n_classes)
    return random.normal(size=shape), 4.0 ** (-2 * random.random(shape))


def sampled(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Shares of draws, in blocks of a megabyte or so."""
    random = np.random.default_rng(0)
    n, n_classes = mean.shape
    sd = np.sqrt(variance)
    step = max(1, 150_000 // (DRAWS * n_classes))
    p = np.empty_like(mean)
    for first in range(0, n, step):
        rows = slice(first, min(n, first + step))
        size = rows.stop - first
        scores = random.standard_normal((size, DRAWS, n_classes))
        scores *= sd[rows, None]
        scores += mean[rows, None]
        cells = scores.argmax(axis=2) + n_classes * np.arange(size)[:, None]
        counts = np.bincount(cells.ravel(), minlength=size * n_classes)
        p[rows] = counts.reshape(size, n_classes) / DRAWS
    return p


def by_quadrature(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """One row, slowly and to 1e-13."""
    sd = np.sqrt(variance)
    low, high = (mean - 9 * sd).max(), (mean + 9 * sd).max()
    cuts = np.unique(np.clip(mean + sd * np.arange(-9, 10)[:, None], low, high))
    node, weight = np.polynomial.legendre.leggauss(24)
    half = np.diff(cuts)[:, None] / 2
    t = (cuts[:-1, None] + half + half * node).ravel()
    x = (t[:, None] - mean) / sd
    log_cdf = log_ndtr(x)
    density = np.exp(-0.5 * x**2 + log_cdf.sum(axis=1, keepdims=True) - log_cdf)
    return (half * weight).ravel() @ density / (sd * np.sqrt(2 * np.pi))


def main() -> None:
    figures, lines = {}, []
    for n_classes, n in ROWS.items():
        mean, variance = problem(n_classes)
        runs = {
            "exact": partial(label_probabilities, mean, variance),
            "1,000 draws": partial(sampled, mean, variance),
        }
        times = interleaved(runs, REPEATS)
        truth = np.array([by_quadrature(mean[i], variance[i]) for i in range(JUDGED)])
        for name, run in runs.items():
            micros = 1e6 * times[name].best / n
            error = float(np.abs(run()[:JUDGED] - truth).max())
            figures[f"{n_classes} classes, {name}"] = {
                "microseconds a row": round(micros, 2),
                "largest error": float(f"{error:.1e}"),
            }
            lines.append([f"{n_classes} classes, {name}", f"{micros:.2f}", f"{error:.1e}"])
    show("Label probabilities", ["contestant", "us a row", "largest error"], lines)
    ours, theirs = (
        figures[f"20 classes, {name}"]["microseconds a row"] for name in ("exact", "1,000 draws")
    )
    claim = ratio_claim(
        "label probabilities, 20 classes", "1,000 draws with numpy", theirs / ours, 50
    )
    write("probabilities", figures, [claim], repeats=REPEATS)


if __name__ == "__main__":
    main()
