"""Design of error-correcting codes with distant rows and columns; must not know margins."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn.decode._code import Code, Matrix, bits_matrix

__all__ = ["default_length", "error_correcting"]

#: Up to this many classes a code has all possible problems: 31 for six classes.
_EXHAUSTIVE = 6

#: The number of random codes, of which the search starts from the best; the number of flips; and
#: for how many further flips a flip may not be undone.
_RANDOM = 1000
_FLIPS = 3000
_REST = 20

#: Weight of a pair of rows by its distance minus the smallest distance, from -1 on. The weights
#: are powers of two in a range of 36 bits, so their sums are exact and equal on every machine.
_WEIGHT: NDArray[np.float64] = 8.0 ** -np.arange(13.0)

#: The distance of a row to itself, so large that it is never the smallest.
_FAR = 1 << 20


def error_correcting(
    n_classes: int, n_problems: int | None = None, *, random_state: int = 0
) -> Code:
    r"""A code without zeros whose rows, and whose columns, are far from each other.

    Distant rows correct wrong answers. Distant columns (also from complements, and from the
    constant column) are problems that make different mistakes and have balanced classes. Up to six
    classes, the code has all :math:`2^{K-1} - 1` problems. For more, it is the best of 1,000 random
    codes, improved by single flips. The first flips increase `dmin` and reduce the number of pairs
    at that distance, by tabu search: each is the best flip of a closest pair, even if it makes the
    code worse, but never undoes a recent flip. Further flips move columns apart and keep `dmin`.

    Parameters
    ----------
    n_classes : int >= 2
    n_problems : int, optional
        From :math:`\lceil \log_2 K \rceil` to :math:`2^{K-1} - 1`. The default is the latter up to
        six classes, then :math:`\lceil 10 \log_2 K \rceil`, the length of Allwein et al.: the share
        of wrong answers that random codes of length c log K correct depends on c, hardly on K.
    random_state : int, default 0
        Random seed; the same seed gives the same code.

    Returns
    -------
    code : Code
        Its `dmin` is at least that of the best of 1,000 random codes.

    References
    ----------
    Dietterich & Bakiri 1995, Solving Multiclass Learning Problems via Error-Correcting Output Codes
    (exhaustive codes, hill climbing); Allwein, Schapire & Singer 2000 (length).

    Examples
    --------
    >>> error_correcting(4)
    Code(kind='ecoc', n_classes=4, n_problems=7, dmin=4)
    """
    K = _check.count("n_classes", n_classes, least=2)
    every = 2 ** (K - 1) - 1
    if n_problems is None:
        B = default_length(K)
    else:
        B = _check.count("n_problems", n_problems, least=(K - 1).bit_length(), most=every)
    random = np.random.default_rng(_check.count("random_state", random_state, least=0))
    if every == B:
        return Code(_told_by(np.arange(1, every + 1), K), kind="ecoc")
    draft = _Draft(_best_of_random(K, B, random))
    return Code(_columns_apart(_rows_apart(draft)), kind="ecoc")


def default_length(n_classes: int) -> int:
    """The default number of problems of an error-correcting code.

    >>> default_length(4), default_length(1000)
    (7, 100)
    """
    exhaustive = n_classes <= _EXHAUSTIVE
    return 2 ** (n_classes - 1) - 1 if exhaustive else math.ceil(10 * math.log2(n_classes))


def _told_by(numbers: NDArray[np.int64], K: int) -> Matrix:
    """One column for each number: classes 1, 2, ... have its bits, class 0 is always negative.

    So different numbers give columns that are neither equal nor complementary.
    """
    bits = numbers >> np.arange(K - 1)[:, None] & 1
    return np.vstack([np.full(len(numbers), -1), 2 * bits - 1]).astype(np.int8)


def _random_code(K: int, B: int, random: np.random.Generator) -> Matrix:
    told = min(K, 62)  # an int64 has no more bits, and these make the columns differ
    numbers = 1 + random.choice(2 ** (told - 1) - 1, B, replace=False, shuffle=False)
    rest = 2 * random.integers(0, 2, (K - told, B), dtype=np.int8) - 1
    return np.vstack([_told_by(numbers, told), rest])


def _best_of_random(K: int, B: int, random: np.random.Generator) -> Matrix:
    best = max((_random_code(K, B, random) for _ in range(_RANDOM)), key=_least_distance)
    if _least_distance(best) > 0:
        return best
    # A short code of many classes: put the bits of the class numbers first, which all differ.
    columns = np.hstack([bits_matrix(K), best])
    _, first = np.unique(columns, axis=1, return_index=True)
    return columns[:, np.sort(first)[:B]]


def _products(matrix: Matrix) -> NDArray[np.float32]:
    rows = matrix.astype(np.float32)  # exact for small whole numbers, and fast
    products: NDArray[np.float32] = rows @ rows.T
    return products


def _least_distance(matrix: Matrix) -> int:
    products = _products(matrix)
    np.fill_diagonal(products, -np.inf)
    return int(matrix.shape[1] - products.max()) // 2


def _distances(matrix: Matrix) -> NDArray[np.int64]:
    """Distances between rows; a row is far from itself, so that the minimum is that of a pair."""
    products = _products(matrix).astype(np.int64)
    distance: NDArray[np.int64] = (matrix.shape[1] - products) // 2
    np.fill_diagonal(distance, _FAR)
    return distance


class _Draft:
    """A code under construction: entries, distances of rows, products of columns.

    `all` has one more column than the code: the constant one, which the others must differ from.
    """

    def __init__(self, matrix: Matrix) -> None:
        self.all = np.pad(matrix.astype(np.int64), ((0, 0), (0, 1)), constant_values=1)
        self.code = self.all[:, :-1]
        self.distance = _distances(matrix)
        self.product = self.all.T @ self.all
        np.fill_diagonal(self.product, 0)

    def flip(self, k: int, b: int) -> None:
        self.distance[k] = self.distance[:, k] = self.rows_after(k, b)
        self.product[b] = self.product[:, b] = self.columns_after(k, b)
        self.code[k, b] *= -1

    def rows_after(self, k: int, b: int | slice) -> NDArray[np.int64]:
        """Distances of row k after a flip in column b, or in each column: (K,) or (K, columns)."""
        distance = self.distance[k] if isinstance(b, int) else self.distance[k][:, None]
        after: NDArray[np.int64] = distance + self.code[k, b] * self.code[:, b]
        after[k] = _FAR
        return after

    def columns_after(self, k: int | slice, b: int) -> NDArray[np.int64]:
        """Products of column b after a flip in row k, or in each row: (B + 1,) or (rows, B + 1)."""
        entry = self.code[k, b]
        after: NDArray[np.int64] = self.product[b] - 2 * entry[..., None] * self.all[k]
        after[..., b] = 0
        return after

    def keeps_columns(self, k: int, b: int) -> bool:
        """Whether column b would still differ from all others, their complements and a constant."""
        return bool(np.abs(self.columns_after(k, b)).max() < len(self.code))


def _weights(distance: NDArray[np.int64], least: int) -> NDArray[np.float64]:
    """Weights of pairs: large below `least`, then smaller with the distance."""
    return _WEIGHT[np.clip(distance - least + 1, 0, len(_WEIGHT) - 1)]


def _rows_apart(draft: _Draft) -> _Draft:
    """The draft of the search with the largest `dmin`, and the fewest pairs at that distance."""
    best, best_code = _merit(draft), draft.code.copy()
    free_from = np.zeros(draft.code.shape, np.int64)
    for time in range(_FLIPS):
        move = _flip_of_closest(draft, free_from > time)
        if move is None:
            break
        draft.flip(*move)
        free_from[move] = time + _REST
        merit = _merit(draft)
        if merit > best:
            best, best_code = merit, draft.code.copy()
    return _Draft(best_code.astype(np.int8))


def _merit(draft: _Draft) -> tuple[int, int]:
    least = draft.distance.min()
    return int(least), -int((draft.distance == least).sum())


def _flip_of_closest(draft: _Draft, resting: NDArray[np.bool_]) -> tuple[int, int] | None:
    """The best flip of an entry in which the two closest rows agree."""
    K, B = draft.code.shape
    pair = divmod(int(draft.distance.argmin()), K)
    least = int(draft.distance.min())
    agree = draft.code[pair[0]] == draft.code[pair[1]]
    cost = np.full((2, B), np.inf)
    for i, k in enumerate(pair):
        before = _weights(draft.distance[k], least).sum()
        after = _weights(draft.rows_after(k, slice(None)), least).sum(axis=0)
        cost[i] = np.where(agree & ~resting[k], after - before, np.inf)
    for place in np.argsort(cost, axis=None, kind="stable"):
        k, b = pair[place // B], int(place % B)
        if np.isinf(cost.flat[place]):
            return None
        if draft.keeps_columns(k, b):
            return k, b
    return None


def _columns_apart(draft: _Draft) -> Matrix:
    """The draft after flips that move columns apart without a smaller `dmin`."""
    for _ in range(_FLIPS):
        move = _flip_of_column(draft)
        if move is None:
            break
        draft.flip(*move)
    return draft.code.astype(np.int8)


def _flip_of_column(draft: _Draft) -> tuple[int, int] | None:
    """An improving flip, in the column closest to the others for which there is one."""
    K, dmin = len(draft.code), draft.distance.min()
    apart = (K - np.abs(draft.product)) // 2
    least = int(apart.min())
    crowded = _weights(apart, least).sum(axis=1)
    for b in np.argsort(-crowded[:-1], kind="stable"):
        cost = _weights((K - np.abs(draft.columns_after(slice(None), int(b)))) // 2, least)
        rows = draft.distance + draft.code[:, b, None] * draft.code[:, b]
        np.fill_diagonal(rows, _FAR)
        after = np.where(rows.min(axis=1) >= dmin, cost.sum(axis=1), np.inf)
        if after.min() < crowded[b]:
            return int(after.argmin()), int(b)
    return None
