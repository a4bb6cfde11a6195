"""Gaussians trained apart as one, in fractions: no rounding anywhere; knows no model or class."""

from __future__ import annotations

from fractions import Fraction

Vector = list[Fraction]
Matrix = list[list[Fraction]]


def exact(numbers: object) -> list:
    """Floats as fractions, in lists of the same form."""
    if isinstance(numbers, int | float | Fraction):
        return Fraction(numbers)
    return [exact(x) for x in numbers]


def inverse(matrix: Matrix) -> Matrix:
    """Gauss and Jordan, without pivots: the matrices here are positive definite."""
    n = len(matrix)
    rows = [[*row, *(Fraction(i == j) for j in range(n))] for i, row in enumerate(matrix)]
    for k in range(n):
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(n):
            if i != k and rows[i][k]:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [row[n:] for row in rows]


def times(matrix: Matrix, vector: Vector) -> Vector:
    return [sum((a * x for a, x in zip(row, vector, strict=True)), Fraction(0)) for row in matrix]


def summed(matrices: list[Matrix]) -> Matrix:
    return [
        [sum(column, Fraction(0)) for column in zip(*rows, strict=True)]
        for rows in zip(*matrices, strict=True)
    ]


def scaled(matrix: Matrix, factor: Fraction) -> Matrix:
    return [[factor * x for x in row] for row in matrix]


def diagonal(variances: Vector) -> Matrix:
    return [[x if i == j else Fraction(0) for j in range(len(variances))]
            for i, x in enumerate(variances)]  # fmt: skip


def merged(
    means: list[Vector], sigmas: list[Matrix], how: str, prior: tuple[Vector, Matrix] | None = None
) -> tuple[Vector, Matrix]:
    """Mean and covariance of the Gaussian that n others are merged into.

    Dredze, Crammer & Pereira 2008, section 5.3. "weighted" is printed there; "kl" is what their
    eq. 18 comes to with KL(N || N_c); "uniform" with the Euclidean distance. "bayes" counts the
    prior that all share, given as mean and covariance, once.
    """
    n = Fraction(len(means))
    if how == "uniform":
        mean = [sum(column, Fraction(0)) / n for column in zip(*means, strict=True)]
        return mean, scaled(summed(sigmas), 1 / n)
    precisions = [inverse(sigma) for sigma in sigmas]
    leading = [times(P, mu) for P, mu in zip(precisions, means, strict=True)]
    h = [sum(column, Fraction(0)) for column in zip(*leading, strict=True)]
    P = summed(precisions)
    if how == "bayes":
        assert prior is not None
        P_0 = inverse(prior[1])
        P = summed([P, scaled(P_0, 1 - n)])
        h = [x + (1 - n) * y for x, y in zip(h, times(P_0, prior[0]), strict=True)]
    sigma = inverse(P)
    return times(sigma, h), scaled(sigma, n) if how == "kl" else sigma


def by_evidence(
    means: list[Vector], sigmas: list[Matrix], prior: tuple[Vector, Matrix], tau: Fraction | None
) -> tuple[Vector, Matrix]:
    """The same by the evidence that each model has gathered since the prior; tau None: infinite.

    Covariances are diagonal: a weight is merged for itself, by the models that have moved it.
    """
    spreads = [[row[i] for i, row in enumerate(sigma)] for sigma in [*sigmas, prior[1]]]
    found = []
    for i, start in enumerate(prior[0]):
        precision = 1 / spreads[-1][i]
        pairs = [(mean[i] - start, 1 / spread[i] - precision)
                 for mean, spread in zip(means, spreads, strict=False)]  # fmt: skip
        move, growth = _weight([pair for pair in pairs if any(pair)], precision, tau)
        found.append((start + move, 1 / (precision + growth)))
    return [mean for mean, _ in found], diagonal([sigma for _, sigma in found])


def _weight(
    moved: list[tuple[Fraction, Fraction]], precision: Fraction, tau: Fraction | None
) -> tuple[Fraction, Fraction]:
    """Move of the mean and growth of the precision, from those of each model."""
    m = max(len(moved), 1)
    D, G = (sum((pair[part] for pair in moved), Fraction(0)) for part in (0, 1))
    X = sum((move * growth for move, growth in moved), Fraction(0))
    if tau is None:
        return X / G if G else D / m, G / m
    inner = precision + tau * G
    return (precision * D + tau * X) / inner, G * (precision + tau * G / m) / inner


def in_order(
    start: tuple[float, float], shards: list[tuple[float, float]], tau: float
) -> tuple[float, float]:
    """One weight, as (mean, variance): the same by evidence in doubles, summed as they come."""
    mu, sigma = start
    prior, moves, pulls, growth, n = 1.0 / sigma, 0.0, 0.0, 0.0, 0
    for own, spread in shards:
        gained = 1.0 / spread - prior
        moves += own - mu
        pulls += (own - mu) * gained
        growth += gained
        n += (own, spread) != start
    if n == 0:
        return start
    if tau == float("inf"):
        return mu + (pulls / growth if growth > 0 else moves / n), 1.0 / (prior + growth / n)
    total = prior + tau * growth
    precision = prior + growth * (prior + tau * growth / n) / total
    return mu + (prior * moves + tau * pulls) / total, 1.0 / precision
