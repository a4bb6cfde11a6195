"""Arrays and labels that skip scikit-learn's checks are those that it would return as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import column_or_1d

from surelearn import SureClassifier
from surelearn.learners.checks import ROWS, checked, one_dimensional, random_numbers, validated

MATRIX = np.arange(6.0).reshape(2, 3)
PLAIN = [
    MATRIX,
    MATRIX.astype(np.float32),
    sparse.csr_array(MATRIX),
    sparse.csr_matrix(MATRIX.astype(np.float32)),
]
OTHERS = [
    MATRIX.T,
    MATRIX[:, ::2],
    MATRIX.tolist(),
    MATRIX.astype(int),
    MATRIX.astype(">f8"),
    MATRIX.view(np.ma.MaskedArray),
    sparse.csc_array(MATRIX),
    sparse.csr_array(MATRIX.astype(int)),
]


@pytest.mark.parametrize("X", PLAIN)
def test_plain_arrays_are_returned_as_scikit_learn_returns_them(X: Any) -> None:
    assert checked(X, **ROWS) is X
    assert check_array(X, **ROWS) is X


@pytest.mark.parametrize("X", OTHERS)
def test_others_are_converted_by_scikit_learn(X: Any) -> None:
    found, wanted = checked(X, **ROWS), check_array(X, **ROWS)
    assert type(found) is type(wanted)
    assert found.dtype == wanted.dtype
    assert (abs(found - wanted)).sum() == 0


@pytest.mark.parametrize("X", [MATRIX[:0], MATRIX[:, :0], MATRIX[0], sparse.csr_array((0, 3))])
def test_scikit_learn_refuses_what_has_no_rows_or_columns(X: Any) -> None:
    with pytest.raises(ValueError, match=r"Found array with 0|Expected 2D array"):
        checked(X, **ROWS)


def test_scikit_learn_counts_and_names_the_features() -> None:
    clf = SureClassifier(scale=False).fit(MATRIX, ["no", "yes"])
    assert validated(clf, MATRIX, reset=False, **ROWS) is MATRIX
    with pytest.raises(ValueError, match="X has 2 features, but SureClassifier is expecting 3"):
        validated(clf, MATRIX[:, :2].copy(), reset=False, **ROWS)
    clf.feature_names_in_ = np.array(["a", "b", "c"], dtype=object)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        validated(clf, MATRIX, reset=False, **ROWS)


@pytest.mark.parametrize("y", [np.arange(6)[::2], np.array(["a", "b"]), [1, 2], [[1], [2]]])
@pytest.mark.filterwarnings("ignore:A column-vector")
def test_labels_are_those_of_scikit_learn(y: Any) -> None:
    found, wanted = one_dimensional(y), column_or_1d(y)
    assert found.flags.c_contiguous
    assert found.dtype == wanted.dtype
    assert found.tolist() == wanted.tolist()


@pytest.mark.parametrize("seed", [0, 7, np.int64(7), np.random.RandomState(3)])
def test_random_numbers_are_those_of_scikit_learn(seed: Any) -> None:
    if isinstance(seed, np.random.RandomState):
        assert random_numbers(seed) is seed
    else:
        assert random_numbers(seed).randint(10**9) == check_random_state(seed).randint(10**9)


def test_no_seed_means_the_global_random_numbers() -> None:
    assert random_numbers(None) is check_random_state(None)
    with pytest.raises(ValueError, match="'x' cannot be used to seed"):
        random_numbers("x")
