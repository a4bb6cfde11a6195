"""Equation 18: the Gaussian that is nearest to those of several models, by a solver."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from experiments.papers.entry import Case, Claim, Entry, Rows

#: Weights of each model.
WEIGHTS = 5


def cases(quick: bool) -> dict[str, Case]:
    """A few numbers of models."""
    return {f"{n}": partial(minimum, n) for n in (2, 10, 50)}


def minimum(n_models: int) -> Rows:
    """The minimum for weights of random models, beside the printed one."""
    random = np.random.default_rng(n_models)
    mu = random.normal(size=(n_models, WEIGHTS))
    precision = random.uniform(1.0, 10.0, size=mu.shape)
    total = precision.sum(axis=0)
    least = minimize(divergence, np.zeros(2 * WEIGHTS), (mu, precision), tol=1e-12).x
    apart = least[:WEIGHTS] - (precision * mu).sum(axis=0) / total
    return [
        {
            "models": n_models,
            "mean": float(np.abs(apart).max()),
            "ratio": float(np.mean(np.exp(least[WEIGHTS:]) * total)),
        }
    ]


def divergence(x: NDArray[Any], mu: NDArray[Any], precision: NDArray[Any]) -> float:
    """Mean KL divergence to the models from a Gaussian: its means and logs of variances."""
    mean, log_variance = x[:WEIGHTS], x[WEIGHTS:]
    apart = (np.exp(log_variance) + (mean - mu) ** 2) * precision
    return float(np.sum(apart - log_variance - np.log(precision) - 1) / (2 * len(mu)))


def tables(rows: Rows) -> dict[str, Rows]:
    """Differences by number of models."""
    return {
        "The minimum beside the printed one": [
            {
                "models": row["models"],
                "largest difference of the means": f"{row['mean']:.0e}",
                "variance / printed variance": f"{row['ratio']:.4f}",
            }
            for row in rows
        ]
    }


def claims(rows: Rows) -> tuple[Claim, ...]:
    """Both halves of the solution that follows eq. 18."""
    apart = max(row["mean"] for row in rows)
    last = rows[-1]
    return (
        Claim(
            text="The mean that minimises eq. 18 weighs the models' means by their precisions.",
            theirs="identity",
            ours=f"a solver's minimum differs by {apart:.0e}",
            lead=1.0 if apart < 1e-5 else -1.0,
        ),
        Claim(
            text="The precision that minimises eq. 18 is the sum of the models' precisions.",
            theirs="identity",
            ours=f"{last['ratio']:.2f} times the printed variance, of {last['models']} models",
            lead=1.0 if all(abs(row["ratio"] - 1) < 1e-5 for row in rows) else -1.0,
            note="It is their mean: the printed covariance is too small by the number of models. "
            '`merge(how="kl")` has the right one. Predictions are the same.',
        ),
    )


ENTRY = Entry(
    name="variance-equation18",
    title="Equation 18: the mean and the covariance of merged models",
    cases=cases,
    tables=tables,
    claims=claims,
    notes="""
The sum of KL divergences of eq. 18 is minimised by a solver for random diagonal models and
compared with the combination printed below it (`merge(how="weighted")`).
""",
)
