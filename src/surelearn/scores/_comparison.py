"""More than chance? McNemar's test of two models, and the interval of a share; knows no models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from surelearn import _check


@dataclass(frozen=True)
class Comparison:
    r"""McNemar's test between two models on the same rows.

    Only rows on which one model is right and the other wrong matter. If both models were equally
    good, each such row would be a fair coin flip. If the model is right on :math:`b` of these rows
    and its rival on :math:`c`,

    .. math:: p = \min\Big(1,\; 2 \sum_{i=0}^{\min(b, c)} \binom{b + c}{i} 2^{-(b + c)}\Big)

    is the probability of a difference at least as large, in either direction. It is exact; the
    paper uses the chi-squared approximation.

    Parameters
    ----------
    both, model_only, rival_only, neither : int
        Number of rows on which both are right, only the model, only its rival, or neither.
    names : tuple of two str
        Names of the two models, for printing.

    Attributes
    ----------
    accuracy, rival_accuracy : float
    difference : float
        `accuracy` minus `rival_accuracy`.
    difference_error : float
        Its standard error, :math:`\sqrt{b + c - (b - c)^2 / n} / n`.
    p_value : float
        The p-value of McNemar's test.

    References
    ----------
    McNemar 1947, Note on the sampling error of the difference between correlated proportions or
    percentages, Psychometrika 12.

    Examples
    --------
    >>> print(Comparison(700, 120, 80, 100, names=("A", "B")))
    Accuracy: A 82.0 %, B 78.0 %.
    Only A is right on 120 rows, only B on 80: p = 0.0057.
    """

    both: int
    model_only: int
    rival_only: int
    neither: int
    names: tuple[str, str] = ("the model", "its rival")

    @property
    def n(self) -> int:
        return self.both + self.model_only + self.rival_only + self.neither

    @property
    def accuracy(self) -> float:
        return (self.both + self.model_only) / self.n

    @property
    def rival_accuracy(self) -> float:
        return (self.both + self.rival_only) / self.n

    @property
    def difference(self) -> float:
        return (self.model_only - self.rival_only) / self.n

    @property
    def difference_error(self) -> float:
        apart, net = self.model_only + self.rival_only, self.model_only - self.rival_only
        return float((apart - net**2 / self.n) ** 0.5 / self.n)

    @property
    def p_value(self) -> float:
        from scipy.special import bdtr  # slow to import

        apart = self.model_only + self.rival_only
        return min(1.0, 2.0 * float(bdtr(min(self.model_only, self.rival_only), apart, 0.5)))

    def to_dict(self) -> dict[str, Any]:
        """All numbers as plain Python values."""
        names = ("both", "model_only", "rival_only", "neither", "accuracy", "rival_accuracy",
                 "difference", "difference_error", "p_value")  # fmt: skip
        return {"names": list(self.names), **{name: getattr(self, name) for name in names}}

    def __str__(self) -> str:
        first, second = self.names
        p = "p < 0.0001" if self.p_value < 0.0001 else f"p = {self.p_value:.2g}"
        return (
            f"Accuracy: {first} {_percent(self.accuracy)}, {second} "
            f"{_percent(self.rival_accuracy)}.\n"
            f"Only {first} is right on {_rows(self.model_only)}, only {second} on "
            f"{self.rival_only:,}: {p}."
        )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def share_interval(count: int, n: int, level: float = 0.95) -> tuple[float, float]:
    r"""The interval of Clopper and Pearson for a probability, from `count` successes in `n` trials.

    Its bounds are the probabilities that a binomial test would only just not reject:

    .. math:: \Pr[\mathrm{Bin}(n, p_\mathrm{low}) \ge k] = \Pr[\mathrm{Bin}(n, p_\mathrm{high})
        \le k] = (1 - \mathrm{level}) / 2

    It covers the true probability at least as often as `level` says, for every `n`. An error such
    as :math:`\sqrt{p (1 - p) / n}` is 0 where all trials succeed, which says too much.

    Parameters
    ----------
    count, n : int
        0 <= count <= n and n >= 1.
    level : float, default 0.95
        How often the interval covers the true probability, between 0 and 1.

    Returns
    -------
    low, high : float
        low <= count / n <= high.

    References
    ----------
    Clopper & Pearson 1934, The use of confidence or fiducial limits illustrated in the case of the
    binomial, Biometrika 26.

    Examples
    --------
    >>> low, high = share_interval(60, 60)
    >>> f"{low:.4f} to {high:.4f}"
    '0.9404 to 1.0000'
    """
    from scipy.special import betaincinv  # slow to import

    n = _check.count("n", n)
    count = _check.count("count", count, least=0, most=n)
    tail = (1.0 - _check.number("level", level, "in (0, 1)", low=0.0, high=1.0)) / 2.0
    low = float(betaincinv(count, n - count + 1, tail)) if count > 0 else 0.0
    high = float(betaincinv(count + 1, n - count, 1.0 - tail)) if count < n else 1.0
    return low, high


def in_words(share: float, interval: tuple[float, float]) -> str:
    """A share with the interval around it, as scores are printed."""
    low, high = interval
    return f"{share:.4f} (95 % interval: {low:.4f} to {high:.4f})"
