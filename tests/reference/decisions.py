"""Decisions from their definitions, by loops and exact sums; knows nothing of the library.

The algorithm sheet, section 14, says which papers define them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

#: The parts of a record: the non-conformity of each, and what the record loses without it.
Parts = Sequence[tuple[float, Fraction]]


def binomial_tail(k: int, n: int, p: float) -> float:
    """The probability of at most k successes in n trials."""
    return math.fsum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1))


def binomial_bound(errors: int, n: int, delta: float) -> float:
    """The largest probability that makes so few errors with a probability above delta."""
    if errors >= n:
        return 1.0
    return _smallest(lambda p: binomial_tail(errors, n, p) <= delta)


def fewest_rows(risk: float, delta: float) -> int:
    """The first n whose rows are all right with probability delta at most if the risk is true."""
    n = 1
    while (1 - risk) ** n > delta * (1 + 1e-9):
        n += 1
    return n


def largest_capital(losses: Sequence[float], mean: float, delta: float) -> float:
    """Waudby-Smith and Ramdas 2024: the capital of bets that the mean is smaller, at its best."""
    n, capital, best = len(losses), 1.0, 0.0
    total, squares = 0.5, 0.25
    for i, loss in enumerate(losses):
        variance = squares / (i + 1)
        bet = min(math.sqrt(2 * math.log(1 / delta) / (n * variance)), 0.75 / (1 - mean))
        capital *= 1 + bet * (mean - loss)
        best = max(best, capital)
        total += loss
        squares += (loss - total / (i + 2)) ** 2
    return best


def betting_bound(losses: Sequence[float], delta: float) -> float:
    """The smallest mean that the bets refute, 1 if they refute none."""
    return _smallest(lambda mean: largest_capital(losses, mean, delta) >= 1 / delta)


def _smallest(holds: Callable[[float], bool]) -> float:
    """Where a property of numbers in [0, 1) begins to hold."""
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def passes(losses: Sequence[float], risk: float, delta: float, binary: bool) -> bool:
    """Whether the losses of answered rows show a risk."""
    if not losses:
        return False
    if binary:
        return binomial_tail(int(sum(losses)), len(losses), risk) <= delta
    return largest_capital(losses, risk, delta) >= 1 / delta


def conformal_quantile(values: Sequence[float], coverage: str) -> float:
    """The ceil((n + 1) coverage)-th smallest value; `coverage` is a decimal, for it is exact."""
    rank = math.ceil((len(values) + 1) * Fraction(coverage))
    return sorted(values)[rank - 1] if rank <= len(values) else math.inf


def record_loss(record: Parts, threshold: float) -> Fraction:
    """The share of a record's parts whose right label is not in the set."""
    return sum((share for value, share in record if value > threshold), Fraction(0))


def risk_control(records: Sequence[Parts], coverage: str) -> float:
    """Conformal risk control (Angelopoulos et al. 2024, eq. 4) by scanning thresholds."""
    allowed = 1 - Fraction(coverage)

    def good(threshold: float) -> bool:
        lost = sum((record_loss(r, threshold) for r in records), Fraction(0))
        return (lost + 1) / (len(records) + 1) <= allowed

    return _first_threshold(records, good)


def certified_threshold(
    records: Sequence[Parts], coverage: str, delta: float, binary: bool
) -> float:
    """The smallest threshold whose losses show that sets miss little, by a p-value for each."""
    n, risk = len(records), 1 - Fraction(coverage)

    def good(threshold: float) -> bool:
        lost = sum((record_loss(r, threshold) for r in records), Fraction(0))
        p_value = binomial_tail(int(lost), n, float(risk)) if binary else bentkus(lost, n, risk)
        return p_value <= delta

    return _first_threshold(records, good)


def bentkus(lost: Fraction, n: int, risk: Fraction) -> float:
    """The p-value of Hoeffding and Bentkus that the mean of n losses in [0, 1] is above risk."""
    mean = lost / n
    if mean >= risk:
        return 1.0
    hoeffding = (float(risk / mean) ** float(mean) if mean else 1.0) * (
        float((1 - risk) / (1 - mean)) ** float(1 - mean)
    )
    return min(hoeffding**n, math.e * binomial_tail(math.ceil(lost), n, float(risk)))


def _first_threshold(records: Sequence[Parts], good: Callable[[float], bool]) -> float:
    candidates = sorted({value for record in records for value, _ in record})
    return next((t for t in [-math.inf, *candidates] if good(t)), math.inf)


def nonconformity(p: Sequence[float], score: str) -> list[float]:
    """How badly each label fits one item; of equally probable labels the first one is ahead."""
    found = []
    for y in range(len(p)):
        ahead = [z for z in range(len(p)) if (-p[z], z) < (-p[y], y)]
        adaptive = math.fsum(p[z] for z in ahead) + p[y]
        rank = len(ahead) + 1
        regularised = adaptive + 0.05 * max(0, rank - 2)
        scores = {"least-ambiguous": 1 - p[y], "adaptive": adaptive, "regularised": regularised}
        found.append(scores[score])
    return found


def p_value(known: Sequence[float], new: float) -> Fraction:
    """The rank of a new record among known ones, itself included; equal ones count against it."""
    return Fraction(1 + sum(1 for value in known if value >= new), len(known) + 1)


def least_cost(p: Sequence[float], cost: Sequence[Sequence[float]]) -> int:
    """The first answer of the least expected cost; for numbers whose sums are exact."""
    best = 0
    expected = [
        sum(q * row[z] for q, row in zip(p, cost, strict=True)) for z in range(len(cost[0]))
    ]
    for z, price in enumerate(expected):
        if price < expected[best]:
            best = z
    return best


def risks(sureness: Sequence[float], loss: Sequence[float]) -> list[float]:
    """The mean loss of all records at least as sure as each one, the surest first."""
    found = []
    for own in sorted(sureness, reverse=True):
        answered = [x for k, x in zip(sureness, loss, strict=True) if k >= own]
        found.append(math.fsum(answered) / len(answered))
    return found


def area(sureness: Sequence[float], loss: Sequence[float]) -> float:
    """The area under risk against coverage."""
    return math.fsum(risks(sureness, loss)) / len(loss)
