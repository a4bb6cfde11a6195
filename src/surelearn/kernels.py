"""Kernels: inner products of rows, a block at a time; must not know weights or labels.

A kernel is a value. Its matrix products go to BLAS, which uses all cores.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surelearn import _check

__all__ = [
    "KERNELS",
    "RBF",
    "Cosine",
    "Custom",
    "Kernel",
    "Linear",
    "Polynomial",
    "Precomputed",
    "check",
    "check_positive",
    "get",
    "register",
    "restored",
]

Array = NDArray[np.float64]

#: Rows of the sample on which a kernel must be symmetric and positive.
_SAMPLE = 100

#: Rows whose diagonal a user's function computes at a time: it can only compute whole matrices.
_DIAGONAL = 32

#: What rounding may add to a kernel value or an eigenvalue, relative to the largest one; a user's
#: function may compute in float32.
_ROUNDING = 1e-5


@dataclass(frozen=True)
class Kernel:
    """Base class of kernels. Rows are those of a float64 array or CSR matrix.

    >>> X = np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> Linear().diagonal(X), RBF(gamma=0.5).params()
    (array([1., 2.]), {'gamma': 0.5})
    """

    name: ClassVar[str]

    def gram(self, X: Any, Z: Any) -> Array:
        """The kernel of each row of X with each row of Z, a new array in C order."""
        raise NotImplementedError

    def diagonal(self, X: Any) -> Array:
        """The kernel of each row with itself."""
        raise NotImplementedError

    def of_training(self, X: Any, numbers: NDArray[np.int64] | None = None) -> tuple[Any, Array]:
        """What support points are taken from, and the diagonal, of rows to learn.

        `numbers` are their row numbers in the user's matrix, if some of its rows were dropped.
        """
        return X, self.diagonal(X)

    def params(self) -> dict[str, Any]:
        """Parameters by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True)
class Linear(Kernel):
    """The inner product x.z.

    >>> X = np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> Linear().gram(X, X)
    array([[1., 1.],
           [1., 2.]])
    """

    name = "linear"

    def gram(self, X: Any, Z: Any) -> Array:
        """The kernel of each row of X with each row of Z."""
        return _products(X, Z)

    def diagonal(self, X: Any) -> Array:
        """The kernel of each row with itself."""
        return _squares(X)


@dataclass(frozen=True)
class Polynomial(Kernel):
    """A polynomial of the inner product, (gamma x.z + coef0) ** degree.

    >>> X = np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> Polynomial(gamma=1.0, coef0=1.0, degree=2).gram(X, X)
    array([[4., 4.],
           [4., 9.]])
    """

    name = "poly"
    gamma: float
    coef0: float
    degree: int

    def gram(self, X: Any, Z: Any) -> Array:
        """The kernel of each row of X with each row of Z."""
        return self._of(_products(X, Z))

    def diagonal(self, X: Any) -> Array:
        """The kernel of each row with itself."""
        return self._of(_squares(X))

    def _of(self, values: Array) -> Array:
        values *= self.gamma
        values += self.coef0
        return np.power(values, self.degree, out=values)


@dataclass(frozen=True)
class RBF(Kernel):
    """A Gaussian of the distance, ``exp(-gamma |x - z|^2)``.

    >>> X = np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> RBF(gamma=0.5).gram(X, X).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """

    name = "rbf"
    gamma: float

    def gram(self, X: Any, Z: Any) -> Array:
        """The kernel of each row of X with each row of Z."""
        values = _products(X, Z)
        values *= -2.0
        values += _squares(X)[:, None]
        values += _squares(Z)
        np.maximum(values, 0.0, out=values)  # rounding can leave a negative distance
        values *= -self.gamma
        return np.exp(values, out=values)

    def diagonal(self, X: Any) -> Array:
        """The kernel of each row with itself."""
        return np.ones(X.shape[0])


@dataclass(frozen=True)
class Cosine(Kernel):
    """The cosine of the angle between two rows; 0 for a row of zeros.

    >>> X = np.array([[1.0, 0.0], [1.0, 1.0]])
    >>> Cosine().gram(X, X).round(3)
    array([[1.   , 0.707],
           [0.707, 1.   ]])
    """

    name = "cosine"

    def gram(self, X: Any, Z: Any) -> Array:
        """The kernel of each row of X with each row of Z."""
        values = _products(X, Z)
        values *= _inverse_lengths(X)[:, None]
        values *= _inverse_lengths(Z)
        return values

    def diagonal(self, X: Any) -> Array:
        """The kernel of each row with itself."""
        return (_squares(X) > 0).astype(np.float64)


@dataclass(frozen=True)
class Custom(Kernel):
    """A user's function of two matrices.

    >>> def squared(X, Z):
    ...     return (X @ Z.T) ** 2
    >>> Custom(squared).gram(np.eye(2), 3.0 * np.eye(2))
    array([[9., 0.],
           [0., 9.]])
    """

    function: Callable[[Any, Any], Any]

    @property
    def name(self) -> str:  # type: ignore[override]
        """The registered name, or that of the function."""
        return self.registered_name or str(getattr(self.function, "__qualname__", self.function))

    @property
    def registered_name(self) -> str | None:
        """The name that a file stores; None if it is not registered and cannot be saved."""
        known = (name for name, function in _registered.items() if function is self.function)
        return next(known, None)

    def gram(self, X: Any, Z: Any) -> Array:
        """The kernel of each row of X with each row of Z."""
        shape = X.shape[0], Z.shape[0]
        found = _check.numbers(f"values of kernel {self.name}", self.function(X, Z))
        if found.shape != shape:
            raise ValueError(
                f"kernel {self.name} must return an array of shape {shape}, one value for each row "
                f"of X and each row of Z, got shape {found.shape}."
            )
        # A copy: the caller may change the values, and the function may keep them.
        return np.array(found)

    def diagonal(self, X: Any) -> Array:
        """The kernel of each row with itself."""
        blocks = [X[i : i + _DIAGONAL] for i in range(0, X.shape[0], _DIAGONAL)]
        return np.concatenate([np.zeros(0), *(np.diagonal(self.gram(b, b)) for b in blocks)])

    def __deepcopy__(self, memo: dict[int, Any]) -> Custom:
        return self  # immutable; and a copied function would not equal the original


@dataclass(frozen=True)
class Precomputed(Kernel):
    """Kernel values that the user has computed; rows have one for each training row.

    Parameters
    ----------
    n_rows : int
        Number of training rows.
    own : float or None
        The kernel of every row with itself; None if it differs between rows.

    Examples
    --------
    >>> Precomputed.of(np.array([[1.0, 0.5], [0.5, 1.0]]))
    Precomputed(n_rows=2, own=1.0)
    """

    name = "precomputed"
    n_rows: int
    own: float | None

    @classmethod
    def of(cls, X: Array, numbers: NDArray[np.int64] | None = None) -> Precomputed:
        """The kernel of the matrix of training rows."""
        if numbers is None:
            check_square(X.shape)
        kernel = cls(X.shape[1], None)
        _, own = kernel.of_training(X, numbers)
        is_same = len(own) > 0 and np.ptp(own) == 0
        return cls(kernel.n_rows, float(own[0])) if is_same else kernel

    def gram(self, X: Any, Z: Any) -> Array:
        """The columns of X of the training rows with numbers Z."""
        return np.ascontiguousarray(X[:, Z])

    def diagonal(self, X: Any) -> Array:
        """The column after those of the training rows, if there is one."""
        if X.shape[1] > self.n_rows:
            return np.ascontiguousarray(X[:, self.n_rows])
        if self.own is None:
            raise ValueError(
                "X must tell the kernel of each row with itself where variances are asked for, as "
                "kernel='precomputed' had different ones in training, got none. Append a column "
                "with them."
            )
        return np.full(len(X), self.own)

    def of_training(self, X: Any, numbers: NDArray[np.int64] | None = None) -> tuple[Any, Array]:
        """The numbers of the training rows, and their kernel with themselves."""
        own = np.arange(self.n_rows) if numbers is None else numbers
        return own, np.asarray(X[np.arange(len(X)), own])


_KINDS: dict[str, type[Kernel]] = {
    kind.name: kind for kind in (Linear, Polynomial, RBF, Cosine, Precomputed)
}

#: Names of the built-in kernels.
KERNELS = list(_KINDS)

_registered: dict[str, Callable[[Any, Any], Any]] = {}


def check(kernel: Any) -> str | Callable[[Any, Any], Any]:
    """Check `kernel`: the name of a kernel, or a function.

    >>> check("rbf")
    'rbf'
    """
    known = [*KERNELS, *_registered]
    if isinstance(kernel, str):
        return _check.choice("kernel", kernel, known)
    return _function(kernel, known)


def get(
    kernel: str | Callable[[Any, Any], Any],
    X: Any,
    *,
    gamma: float | str = "scale",
    degree: int = 3,
    coef0: float = 1.0,
    numbers: NDArray[np.int64] | None = None,
) -> Kernel:
    """The kernel of a name or a function, for the rows X that it learns first.

    `numbers` are their row numbers in the user's matrix, if some of its rows were dropped.

    >>> get("rbf", np.eye(2), gamma="auto")
    RBF(gamma=0.5)
    """
    given = check(kernel)
    if not isinstance(given, str) or given in _registered:
        return Custom(_registered[given] if isinstance(given, str) else given)
    made: dict[str, Callable[[], Kernel]] = {
        "linear": Linear,
        "poly": lambda: Polynomial(_factor(checked_gamma(gamma), X), coef0, degree),
        "rbf": lambda: RBF(_factor(checked_gamma(gamma), X)),
        "cosine": Cosine,
        "precomputed": lambda: Precomputed.of(X, numbers),
    }
    return made[given]()


def restored(name: str, params: dict[str, Any]) -> Kernel:
    """The kernel of this name with these parameters.

    >>> restored("rbf", {"gamma": 0.5})
    RBF(gamma=0.5)
    """
    return Custom(_registered[name]) if name in _registered else _KINDS[name](**params)


def register(
    name: str, function: Callable[[Any, Any], Any], *, replace: bool = False
) -> Callable[[Any, Any], Any]:
    """Register a function under a name, for ``kernel=name`` and for saving models.

    A file stores only the name, so the function must be registered before the file is loaded.

    Parameters
    ----------
    name : str
        Must not be the name of a built-in kernel.
    function : callable (X, Z) -> array of shape (len(X), len(Z))
        Symmetric and positive semi-definite.
    replace : bool, default False
        Whether to replace a function registered under this name.

    Returns
    -------
    callable
        The function.

    Examples
    --------
    >>> def smallest(X, Z):
    ...     return np.minimum(X[:, None], Z).sum(axis=2)
    >>> register("smallest", smallest) is smallest
    True
    >>> get("smallest", np.eye(2)).gram(np.eye(2), np.eye(2))
    array([[1., 0.],
           [0., 1.]])
    """
    _function(function, [*KERNELS, *_registered])
    _check.new_name(
        "kernel", name, function, builtin=KERNELS, registered=_registered, replace=replace
    )
    _registered[name] = function
    return function


def check_positive(kernel: Kernel, X: Any, numbers: NDArray[np.int64] | None = None) -> None:
    """Raise if a user's kernel is not symmetric and positive on up to 100 rows of X.

    >>> def distance(X, Z):
    ...     return np.abs(X - Z.T)
    >>> check_positive(Custom(distance), np.array([[0.0], [1.0]]))
    Traceback (most recent call last):
    ValueError: kernel distance must be positive semi-definite, got a matrix of 2 sampled rows ...
    """
    if not isinstance(kernel, Custom | Precomputed):
        return
    n = X.shape[0]
    sample = np.unique(np.linspace(0, n - 1, min(n, _SAMPLE)).astype(np.int64))
    if isinstance(kernel, Custom):
        points = X[sample]
    else:
        points = sample if numbers is None else numbers[sample]
    _refuse_negative(kernel.name, kernel.gram(X[sample], points))


def _factor(gamma: float | str, X: Any) -> float:
    """The value of `gamma`; ``"scale"`` is 1 over the total variance of the features."""
    if not isinstance(gamma, str):
        return gamma
    variance = 1.0
    if gamma == "scale":
        mean = X.mean()
        # As scikit-learn computes it, also for sparse rows; rounding must not make it negative.
        variance = X.multiply(X).mean() - mean**2 if sparse.issparse(X) else X.var()
    return float(1.0 / (X.shape[1] * variance)) if variance > 0 else 1.0


def _products(X: Any, Z: Any) -> Array:
    """The inner products of rows, as a new array."""
    products = X @ Z.T
    return np.ascontiguousarray(products.toarray() if sparse.issparse(products) else products)


def _squares(X: Any) -> Array:
    """The squared length of each row."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X))


def _inverse_lengths(X: Any) -> Array:
    """1 over the length of each row; 0 for a row of zeros."""
    lengths = np.sqrt(_squares(X))
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)


def _function(value: object, known: list[str]) -> Callable[..., Any]:
    """A kernel that is not given by name must be a function of two matrices."""
    if isinstance(value, type) or not callable(value):
        raise TypeError(
            f"kernel must be one of {_check.listing(known)} or a function of (X, Z), got {value!r}."
        )
    return value


def _refuse_negative(name: str, gram: Array) -> None:
    """Refuse a kernel whose matrix on a sample of rows is not symmetric or not positive."""
    largest = float(np.abs(gram).max(initial=0.0))
    i, j = np.unravel_index(np.abs(gram - gram.T).argmax(), gram.shape) if gram.size else (0, 0)
    if gram.size and abs(gram[i, j] - gram[j, i]) > _ROUNDING * largest:
        raise ValueError(
            f"kernel {name} must be symmetric, got k(x, z) = {gram[i, j]:.6g} and k(z, x) = "
            f"{gram[j, i]:.6g} for two of {len(gram)} sampled rows."
        )
    eigenvalues = np.linalg.eigvalsh(gram) if gram.size else np.zeros(1)
    if eigenvalues[0] < -_ROUNDING * max(largest, float(eigenvalues[-1])):
        raise ValueError(
            f"kernel {name} must be positive semi-definite, got a matrix of {len(gram)} sampled "
            f"rows with the eigenvalue {eigenvalues[0]:.3g}. A distance is no kernel; exp(-gamma "
            "distance ** 2) often is."
        )


def checked_gamma(value: object) -> float | str:
    """The factor of a kernel: a number, or how to compute it from the rows."""
    if isinstance(value, str):
        return _check.choice("gamma", value, ["scale", "auto"])
    return _check.number("gamma", value, "(0, inf)", low=0.0)


def check_square(shape: tuple[int, ...]) -> None:
    """Refuse a precomputed matrix of training rows that is not square."""
    if shape[0] != shape[1]:
        raise ValueError(
            "X must be a square matrix for kernel='precomputed', with the kernel of each training "
            f"row with each other, got shape {shape}."
        )
