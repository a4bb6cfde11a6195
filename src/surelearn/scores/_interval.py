"""The interval of a share that was counted; must not know what was counted."""

from __future__ import annotations

from surelearn import _check


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
