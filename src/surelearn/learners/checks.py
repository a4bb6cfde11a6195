"""scikit-learn's checks of what users pass, left out where it is plain that they would pass.

Importing scikit-learn takes a second, which a short command does not have.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

#: Arguments of scikit-learn's input checks; the core checks for finite values.
ROWS: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": [np.float64, np.float32],
    "order": "C",
    "ensure_all_finite": False,
}


def validated(estimator: Any, X: Any, *, reset: bool, **how: Any) -> Any:
    """X after scikit-learn's `validate_data`."""
    named = hasattr(estimator, "feature_names_in_")
    if not reset and not named and _is_plain(X, **how) and X.shape[1] == estimator.n_features_in_:
        return X
    from sklearn.utils.validation import validate_data

    return validate_data(estimator, X, reset=reset, **how)


def checked(X: Any, **how: Any) -> Any:
    """X after scikit-learn's `check_array`."""
    if _is_plain(X, **how):
        return X
    from sklearn.utils.validation import check_array

    return check_array(X, **how)


def _is_plain(X: Any, *, accept_sparse: Any, dtype: Any, **how: Any) -> bool:
    """Whether scikit-learn would return X as it is; it would for all rows that readers make."""
    if type(X) is np.ndarray:
        fits = X.ndim == 2 and X.flags.c_contiguous
    else:
        fits = accept_sparse == "csr" and type(X) in (sparse.csr_array, sparse.csr_matrix)
        fits = fits and X.ndim == 2
    return fits and min(X.shape) > 0 and X.dtype in (dtype if isinstance(dtype, list) else [dtype])


def one_dimensional(y: Any) -> NDArray[Any]:
    """Labels after scikit-learn's `column_or_1d`."""
    if type(y) is np.ndarray and y.ndim == 1:
        return np.ascontiguousarray(y)
    from sklearn.utils.validation import column_or_1d

    return np.asarray(column_or_1d(y, warn=True))


def random_numbers(value: Any) -> np.random.RandomState:
    """The random numbers of a `random_state`, after scikit-learn's `check_random_state`."""
    if type(value) is int:
        return np.random.RandomState(value)
    from sklearn.utils import check_random_state

    random: np.random.RandomState = check_random_state(value)
    return random


def n_rows(X: Any) -> int:
    """The number of rows of a matrix, a frame, a list, a column or a dict of columns."""
    if isinstance(X, Mapping):
        return 0 if not X else n_rows(next(iter(X.values())))
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def subscriptable(X: Any) -> Any:
    """Rows in a container whose rows can be taken by number."""
    if sparse.issparse(X) and X.format not in ("csr", "csc", "lil"):
        return X.tocsr()
    return X if X is None or hasattr(X, "__getitem__") or hasattr(X, "take") else list(X)


def taken(X: Any, rows: Any) -> Any:
    """Some rows of a matrix, a frame, a list or a column, by numbers or a slice."""
    if not hasattr(X, "to_pylist"):
        from sklearn.utils import _safe_indexing

        return _safe_indexing(X, rows)
    if isinstance(rows, slice):
        return X.slice(rows.start, rows.stop - rows.start)
    return X.take(rows)
