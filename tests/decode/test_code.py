"""Codes are what they say: how far apart, how many errors they mend, and what is no code."""

from __future__ import annotations

import copy
import pickle
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from strategies import coding_matrices
from surelearn.decode import (
    Code,
    all_pairs,
    error_correcting,
    hamming,
    minimal_bits,
    one_vs_rest,
)
from surelearn.decode._code import opposite_signs

LECTURE = ["000100", "100000", "011010", "110000", "110010", "001101", "001000", "010100"]


def from_bits(words):
    return np.array([[2 * int(bit) - 1 for bit in word] for word in words])


def valid(matrix):
    try:
        return Code(matrix)
    except ValueError:
        assume(False)


# The lecture's table.


def test_the_table_of_the_lecture():
    code = Code(from_bits(LECTURE))
    assert (code.n_classes, code.n_problems) == (8, 6)
    assert (code.dmin, code.errors_corrected) == (1, 0)
    close = [(k, l) for k, l in combinations(range(1, 9), 2) if differ(code, k - 1, l - 1) == 1]
    assert {(2, 4), (4, 5)} <= set(close)
    word = from_bits(["011011"])
    assert hamming(code, word).argmax(axis=1) == 2  # the third class
    assert hamming(code, word)[0, 2] == 5


def differ(code, k, l):
    return int((code.matrix[k] != code.matrix[l]).sum())


# Distances and the errors that they mend.


def words_with_flips(code, k, n_flips):
    """Every answer with so many errors on rows of class k; problems without it answer anything."""
    row = code.matrix[k]
    for wrong in combinations(np.flatnonzero(row), n_flips):
        word = row.copy()
        word[list(wrong)] *= -1
        free = np.flatnonzero(row == 0)
        for answers in product([-1, 1], repeat=len(free)):
            word[free] = answers
            yield word.copy()


def labels_after(code, n_flips):
    """Pairs (class, labels of all its words with so many flips)."""
    for k in range(code.n_classes):
        words = list(words_with_flips(code, k, n_flips))
        if words:
            yield k, hamming(code, np.array(words)).argmax(axis=1)


@given(coding_matrices(zeros=False).map(Code))
def test_a_code_mends_exactly_half_its_distance(code):
    pairs = combinations(range(code.n_classes), 2)
    assert code.dmin == min(differ(code, k, l) for k, l in pairs)
    assert isinstance(code.dmin, int)
    assert code.errors_corrected == (code.dmin - 1) // 2
    for n_flips in range(code.errors_corrected + 1):
        assert all((labels == k).all() for k, labels in labels_after(code, n_flips))
    assert any((labels != k).any() for k, labels in labels_after(code, code.errors_corrected + 1))


@st.composite
def thinned(draw, evenly):
    """Codes of four or five classes that lack some entries; or one in each row."""
    matrix = error_correcting(draw(st.integers(4, 5))).matrix.copy()
    K, B = matrix.shape
    place = st.tuples(st.integers(0, K - 1), st.integers(0, B - 1))
    rows = st.permutations(range(B)).map(lambda order: list(zip(range(K), order, strict=False)))
    for k, b in draw(rows if evenly else st.lists(place, max_size=4)):
        matrix[k, b] = 0
    return valid(matrix)


@given(coding_matrices().map(Code) | thinned(evenly=False))
def test_the_distance_counts_zeros_half(code):
    matrix = code.matrix.astype(float)
    pairs = combinations(range(code.n_classes), 2)
    assert code.dmin == min(((1 - matrix[k] * matrix[l]) / 2).sum() for k, l in pairs)


@given(thinned(evenly=False))
def test_a_code_with_zeros_mends_what_it_says(code):
    for n_flips in range(1, code.errors_corrected + 1):
        assert all((labels == k).all() for k, labels in labels_after(code, n_flips))


@given(thinned(evenly=True))
def test_a_code_with_a_zero_in_each_row_mends_no_more_than_it_says(code):
    signs = [code.matrix[k] * code.matrix[l] for k, l in combinations(range(code.n_classes), 2)]
    assert code.errors_corrected == (min((s < 0).sum() for s in signs) - 1) // 2
    assert all((labels == k).all() for k, labels in labels_after(code, code.errors_corrected))
    assert any((labels != k).any() for k, labels in labels_after(code, code.errors_corrected + 1))


@pytest.mark.parametrize("K", [5, 12, 30])
def test_long_codes_mend_random_errors(K):
    code = error_correcting(K)
    random = np.random.default_rng(K)
    k = random.integers(K, size=2000)
    words = code.matrix[k].astype(float)
    for word in words:
        word[random.choice(code.n_problems, code.errors_corrected, replace=False)] *= -1
    np.testing.assert_array_equal(hamming(code, words).argmax(axis=1), k)
    # The later of the two closest rows, moved half its way to the earlier one, is taken for it.
    distance = [(differ(code, a, b), a, b) for a, b in combinations(range(K), 2)]
    _, a, b = min(distance)
    word = code.matrix[b].astype(float)
    apart = np.flatnonzero(code.matrix[a] != code.matrix[b])
    word[apart[: code.errors_corrected + 1]] *= -1
    assert hamming(code, [word]).argmax() != b


@pytest.mark.parametrize("K", [3, 4, 7])
def test_all_pairs_mend_nothing(K):
    """Allwein's distance is large; yet one wrong pair and the free answers can elect a rival."""
    code = all_pairs(K)
    assert code.dmin == (code.n_problems + 1) / 2
    assert code.errors_corrected == 0
    clean = next(words_with_flips(code, 1, 0))
    assert hamming(code, [clean]).argmax() == 1
    wrong = clean.copy()
    wrong[0] = 1  # class 0 beats class 1, and all others
    wrong[: K - 1] = 1
    assert hamming(code, [wrong]).argmax() == 0


# The codes that are made here.


def test_one_vs_rest():
    code = one_vs_rest(4)
    assert code.kind == "ovr"
    np.testing.assert_array_equal(code.matrix, 2 * np.eye(4) - 1)
    assert (code.dmin, code.errors_corrected) == (2, 0)
    assert one_vs_rest(2).matrix.tolist() == [[-1], [1]]


def test_all_pairs_in_order():
    code = all_pairs(4)
    assert code.kind == "ovo"
    for b, (i, j) in enumerate(combinations(range(4), 2)):
        want = [0, 0, 0, 0]
        want[i], want[j] = 1, -1
        assert code.matrix[:, b].tolist() == want


@pytest.mark.parametrize("K", [2, 3, 4, 5, 8, 9, 100])
def test_minimal_bits(K):
    code = minimal_bits(K)
    assert code.n_problems == int(np.ceil(np.log2(K)))
    assert code.dmin == 1
    digits = (code.matrix > 0) @ (2 ** np.arange(code.n_problems)[::-1])
    np.testing.assert_array_equal(digits, np.arange(K))


# A code is a value.


def test_a_code_is_a_value():
    code = all_pairs(3)
    same = Code(code.matrix.tolist(), kind="ovo")
    assert code == same
    assert hash(code) == hash(same)
    for different in (Code(code.matrix), one_vs_rest(3), "ovo"):
        assert code != different
    for other in (pickle.loads(pickle.dumps(code)), copy.deepcopy(code), copy.copy(code)):
        assert other == code
        with pytest.raises(ValueError, match="read-only"):
            other.matrix[0, 0] = 0
    with pytest.raises(AttributeError, match="kind"):
        code.kind = "ovr"
    assert repr(code) == "Code(kind='ovo', n_classes=3, n_problems=3, dmin=2.0)"


def test_a_code_does_not_share_the_matrix_it_was_made_of():
    matrix = one_vs_rest(3).matrix.copy()
    code = Code(matrix)
    matrix[:] = 0
    assert code.matrix.tolist() == [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
    assert code.matrix.dtype == np.int8


@pytest.mark.parametrize("make", [one_vs_rest, all_pairs, minimal_bits, error_correcting])
def test_sizes_that_make_no_code(make):
    with pytest.raises(ValueError, match="n_classes must be at least 2, got 1"):
        make(1)
    with pytest.raises(TypeError, match="n_classes must be a whole number, got '3'"):
        make("3")


def test_complementary_rows_are_fine():
    code = Code([[1, 1], [-1, -1], [1, -1]])
    assert code.dmin == 1


@pytest.mark.parametrize(
    ("matrix", "error", "message"),
    [
        ("ovr?", TypeError, "^coding matrix must hold -1, 0 and \\+1, got 'ovr\\?'.$"),
        ([[1, -1], [1]], TypeError, "must hold -1, 0 and \\+1, got \\[\\[1, -1\\], \\[1\\]\\]"),
        (None, TypeError, "got None"),
        ([1, -1], ValueError, "must have two dimensions.* got shape \\(2,\\)"),
        (np.ones((2, 2, 2)), ValueError, "got shape \\(2, 2, 2\\)"),
        ([[1, -1]], ValueError, "at least two rows and one column, got shape \\(1, 2\\)"),
        (np.ones((3, 0)), ValueError, "at least two rows and one column, got shape \\(3, 0\\)"),
        ([[1, 1], [-1, 2]], ValueError, "got 2 in row 1, column 1"),
        ([[1, 0.5], [-1, 1]], ValueError, "got 0.5 in row 0, column 1"),
        ([[1, -1], [np.nan, 1]], ValueError, "got nan in row 1, column 0"),
        ([[1, 1], [-1, 1]], ValueError, "a -1 in every column, got no -1 in column 1.$"),
        ([[-1, 0], [1, -1]], ValueError, "got no \\+1 in column 1.$"),
        ([[1, 0], [0, 1]], ValueError, "no -1 in column 0. Write -1 for the negative side"),
        ([[1, 1], [-1, -1], [1, 1]], ValueError, "classes, got equal rows 0 and 2.$"),
        ([[1, 1], [-1, -1], [1, 0]], ValueError, "no column with opposite signs in rows 0 and 2"),
        ([[1, -1], [-1, 1], [0, 0]], ValueError, "no column with opposite signs in rows 0 and 2"),
        ([[1, -1, 1], [-1, 1, -1]], ValueError, "got complementary columns 0 and 1.$"),
        ([[1, 1, 1], [1, -1, 1], [-1, 1, -1]], ValueError, "got equal columns 0 and 2.$"),
        ([[0, 1, 0], [1, -1, -1], [-1, -1, 1]], ValueError, "complementary columns 0 and 2"),
    ],
)
def test_matrices_that_are_no_code(matrix, error, message):
    with pytest.raises(error, match=message):
        Code(matrix)


def test_kinds_that_do_not_fit():
    with pytest.raises(ValueError, match=r"kind must be one of 'ovr', 'ovo', .* got 'one'"):
        Code([[1], [-1]], kind="one")
    with pytest.raises(TypeError, match=r"kind must be one of .* got 3"):
        Code([[1], [-1]], kind=3)
    with pytest.raises(ValueError, match="must be that of the coding matrix, got 'ovr' for an"):
        Code(all_pairs(3).matrix, kind="ovr")
    with pytest.raises(ValueError, match="must be that of the coding matrix, got 'ovo' for an"):
        Code(one_vs_rest(3).matrix, kind="ovo")


@given(st.integers(2, 6), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_signs_are_opposite_in_so_many_problems(K, B, seed):
    matrix = np.random.default_rng(seed).integers(-1, 2, (K, B)).astype(np.int8)
    want = [[int((one * other == -1).sum()) for other in matrix] for one in matrix]
    np.testing.assert_array_equal(opposite_signs(matrix), want)
