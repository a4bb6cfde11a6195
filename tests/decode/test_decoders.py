"""Decoders agree with their formulas, with each other where they must, and with scikit-learn."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import ndtr
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier

from strategies import coding_matrices
from surelearn import decode
from surelearn.decode import (
    Code,
    all_pairs,
    error_correcting,
    hamming,
    label_probabilities,
    loss_based,
    one_vs_rest,
    probability,
    scores,
    tournament,
    votes,
)

LOSSES = {
    "hinge": lambda z: max(0.0, 1.0 - z),
    "logistic": lambda z: np.log1p(np.exp(-z)),
    "exponential": lambda z: np.exp(-z),
    "linear": lambda z: -z,
}


codes = coding_matrices().map(Code)


def margins_for(code, n, seed):
    return np.random.default_rng(seed).normal(size=(n, code.n_problems)) * 3


# Decoders, each against its formula written out.


def by_formula(code, mean, term):
    n, (K, B) = len(mean), code.matrix.shape
    terms = [
        [[term(code.matrix[k, b], b, i) for b in range(B)] for k in range(K)] for i in range(n)
    ]
    return np.array(terms, float).sum(axis=2)


@given(codes, st.integers(0, 2**32 - 1))
def test_decoders_are_their_formulas(code, seed):
    mean = margins_for(code, 4, seed)
    mean[0, 0] = 0.0
    variance = np.random.default_rng(seed).gamma(1.0, size=mean.shape) + 0.01

    def phi(c, b, i):
        return np.log(ndtr(c * mean[i, b] / np.sqrt(variance[i, b])))

    def close(got, term):
        np.testing.assert_allclose(got, by_formula(code, mean, term), rtol=1e-7, atol=1e-9)

    close(hamming(code, mean), lambda c, b, i: (1 + c * np.sign(mean[i, b])) / 2)
    close(scores(code, mean), lambda c, b, i: c * mean[i, b])
    for name, L in LOSSES.items():
        close(loss_based(code, mean, loss=name), lambda c, b, i, L=L: -L(c * mean[i, b]))
    small = np.abs(mean) / np.sqrt(variance) < 30  # beyond, the formula as written is log 0
    assume(small.all())
    close(probability(code, mean, variance), phi)
    p = np.exp(by_formula(code, mean, phi))
    want = p / p.sum(axis=1, keepdims=True)
    got = label_probabilities(code, mean, variance)
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-12)
    logs = label_probabilities(code, mean, variance, log=True)
    np.testing.assert_allclose(np.exp(logs), got, rtol=1e-12)


def every_decoder(code, mean, variance):
    given = {name: loss_based(code, mean, loss=name) for name in LOSSES}
    given |= {"hamming": hamming(code, mean), "scores": scores(code, mean)}
    given |= {"probability": probability(code, mean, variance)}
    given |= {"label_probabilities": label_probabilities(code, mean, variance)}
    if code.kind == "ovo":
        given |= {"votes": votes(code, mean), "tournament": tournament(code, mean)}
    return given


@given(codes, st.integers(0, 2**32 - 1), st.randoms())
def test_order_of_classes_and_of_problems_does_not_matter(code, seed, random):
    mean = margins_for(code, 5, seed)
    variance = margins_for(code, 5, seed + 1) ** 2
    rows, columns = list(range(code.n_classes)), list(range(code.n_problems))
    random.shuffle(rows)
    random.shuffle(columns)
    sign = np.array([random.choice([-1, 1]) for _ in columns])
    other = Code(code.matrix[rows][:, columns] * sign)
    assert (other.dmin, other.errors_corrected) == (code.dmin, code.errors_corrected)
    turned = every_decoder(other, mean[:, columns] * sign, variance[:, columns])
    for name, want in every_decoder(code, mean, variance).items():
        np.testing.assert_allclose(turned[name], want[:, rows], rtol=1e-9, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("code", [one_vs_rest(4), all_pairs(5), error_correcting(8)], ids=str)
def test_rows_do_not_see_each_other(code):
    mean, variance = margins_for(code, 33, 0), margins_for(code, 33, 1) ** 2
    together = every_decoder(code, mean, variance)
    for i in (0, 17, 32):
        alone = every_decoder(code, mean[[i]], variance[[i]])
        for name, want in together.items():
            assert alone[name].tobytes() == want[[i]].tobytes(), name
    for name, none in every_decoder(code, mean[:0], variance[:0]).items():
        assert none.shape == (0, code.n_classes), name


def test_probability_listens_to_the_sure_problem():
    """Three classes; the problems contradict each other, and the surer one has its way."""
    code = Code([[1, 1], [1, -1], [-1, -1]])
    mean = [[-1.0, 1.0], [-1.0, 1.0]]
    variance = [[1e-2, 1e2], [1e2, 1e-2]]
    assert hamming(code, mean).tolist() == [[1.0, 0.0, 1.0]] * 2
    assert probability(code, mean, variance).argmax(axis=1).tolist() == [2, 0]


def test_a_problem_without_a_class_is_a_coin_to_it():
    """Class 2 is in one problem only: to have few entries is no merit."""
    code = Code([[1, 1, 1], [-1, 1, -1], [-1, -1, 0]])
    s = probability(code, [[0.0, 0.0, 0.0]], [[1.0, 1.0, 1.0]])
    np.testing.assert_allclose(s, np.full((1, 3), 3 * np.log(0.5)), rtol=1e-15)
    assert label_probabilities(code, [[0.0] * 3], [[1.0] * 3]) == pytest.approx(1 / 3)


@given(st.floats(-8, 8), st.floats(0.01, 100))
def test_two_classes_have_a_closed_form(m, v):
    p = ndtr(m / np.sqrt(v))
    assert label_probabilities(one_vs_rest(2), [[m]], [[v]])[0] == pytest.approx([1 - p, p])
    assert label_probabilities(all_pairs(2), [[m]], [[v]])[0] == pytest.approx([p, 1 - p])
    from surelearn.probability import label_probabilities as of_margin

    assert label_probabilities(one_vs_rest(2), [[m]], [[v]]) == pytest.approx(of_margin([m], [v]))


def test_margins_that_do_not_vary_and_huge_ones():
    code = one_vs_rest(3)
    assert label_probabilities(code, [[1.0, -1.0, -1.0]], [[0.0] * 3]).tolist() == [[1, 0, 0]]
    # Two certain problems say yes: either class contradicts one of them, the third class both.
    p = label_probabilities(code, [[1.0, 1.0, -1.0]], [[0.0] * 3])
    assert p.tolist() == [[0.5, 0.5, 0.0]]
    assert label_probabilities(code, [[0.0] * 3], [[0.0] * 3]) == pytest.approx(1 / 3)
    for mean in ([[1e300, -1e300, -1e300]], [[1e300, 2.0, -1e300]]):
        for name, s in every_decoder(code, mean, [[1e-300] * 3]).items():
            assert np.isfinite(s).all(), name
            assert s.argmax() == 0, name


# All pairs.


@given(st.integers(2, 7), st.integers(0, 2**32 - 1))
def test_tournament_plays_the_rounds(K, seed):
    code = all_pairs(K)
    mean = np.round(margins_for(code, 6, seed) / 3)  # some pairs are even
    number = {pair: b for b, pair in enumerate(combinations(range(K), 2))}
    for row, rounds in zip(mean, tournament(code, mean), strict=True):
        left, played, games = list(range(K)), dict.fromkeys(range(K), 0), 0
        while len(left) > 1:
            pairs = [left[i : i + 2] for i in range(0, len(left), 2)]
            games += sum(len(pair) == 2 for pair in pairs)
            left = [
                pair[0] if len(pair) == 1 or row[number[tuple(pair)]] >= 0 else pair[1]
                for pair in pairs
            ]
            for k in left:
                played[k] += 1
        assert games == K - 1
        assert rounds.tolist() == list(played.values())
        assert rounds.argmax() == left[0]


@given(st.integers(3, 7), st.integers(0, 2**32 - 1), st.data())
def test_who_beats_everybody_wins(K, seed, data):
    code = all_pairs(K)
    winner = data.draw(st.integers(0, K - 1))
    mean = margins_for(code, 5, seed)
    own = code.matrix[winner] != 0
    mean[:, own] = np.abs(mean[:, own]) * code.matrix[winner, own]
    for decoder in (tournament, votes, hamming):
        assert (decoder(code, mean).argmax(axis=1) == winner).all()
    order = np.random.default_rng(seed).permutation(code.n_problems)
    assert (tournament(Code(-code.matrix[:, order]), -mean[:, order]).argmax(1) == winner).all()


def test_scores_break_the_ties_of_votes_and_nothing_else():
    code = all_pairs(3)
    circle = [[1.0, -1.0, 1.0], [1.0, -1.5, 3.0], [1.0, -9.0, 2.0]]  # 0 > 1 > 2 > 0
    np.testing.assert_array_equal(hamming(code, circle) - 0.5, np.ones((3, 3)))
    assert votes(code, circle).argmax(axis=1).tolist() == [0, 1, 2]
    # Class 1 has two narrow wins, class 0 one by far.
    assert votes(code, [[-1e-9, 1e9, 1e-9]]).argmax() == 1
    assert scores(code, [[-1e-9, 1e9, 1e-9]]).argmax() == 0
    # Half a vote outweighs any score.
    assert votes(code, [[0.0, 1e-9, -1e9]]).argmax() == 0


@given(st.integers(3, 6), st.integers(0, 2**32 - 1))
def test_scores_of_all_pairs_are_those_of_the_lecture(K, seed):
    code = all_pairs(K)
    mean = margins_for(code, 4, seed)
    h = np.zeros((4, K, K))
    for b, (i, j) in enumerate(combinations(range(K), 2)):
        h[:, i, j], h[:, j, i] = mean[:, b], -mean[:, b]
    np.testing.assert_allclose(scores(code, mean), h.sum(axis=2), rtol=1e-12, atol=1e-12)


def test_scores_of_one_vs_rest_are_the_margins():
    mean = margins_for(one_vs_rest(5), 9, 0)
    got = scores(one_vs_rest(5), mean)
    np.testing.assert_array_equal(got, mean)
    got[:] = 0
    assert mean.any(), "the margins of the caller stay as they are"
    linear = loss_based(one_vs_rest(5), mean, loss="linear")
    np.testing.assert_array_equal(linear.argmax(axis=1), mean.argmax(axis=1))
    assert scores(one_vs_rest(2), [[3.0]]).tolist() == [[-3.0, 3.0]]


# scikit-learn's wrappers around a learner that answers with given margins.


class Told(ClassifierMixin, BaseEstimator):
    """Column 0 of X is the class of a training row; the others are margins, one a problem."""

    def __init__(self, code=None):
        self.code = code

    def fit(self, X, y):
        """Find out which problem of the code this is, and whether its sign is turned."""
        self.classes_ = np.unique(y)
        side = np.zeros(self.code.n_classes)
        side[X[:, 0].astype(int)] = np.where(y == self.classes_[-1], 1, -1)
        agree = side @ self.code.matrix / np.abs(side).sum()
        fits = np.abs(agree) == 1
        fits &= (self.code.matrix != 0).sum(axis=0) == np.abs(side).sum()
        (self.problem_,) = np.flatnonzero(fits)
        self.sign_ = agree[self.problem_]
        return self

    def decision_function(self, X):
        return self.sign_ * X[:, 1 + self.problem_]

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


def wrapped(wrapper, code, mean):
    """Labels that a fitted wrapper gives for margins; and the wrapper."""
    K = code.n_classes
    train = np.column_stack([np.arange(K), np.zeros((K, code.n_problems))])
    wrapper.fit(train, np.arange(K))
    return wrapper.predict(np.column_stack([np.zeros(len(mean)), mean])), wrapper


@pytest.mark.parametrize("K", [2, 3, 4, 9])
def test_one_vs_rest_agrees_with_scikit_learn(K):
    code = one_vs_rest(K)
    mean = margins_for(code, 500, K)
    labels, _ = wrapped(OneVsRestClassifier(Told(code)), code, mean)
    np.testing.assert_array_equal(scores(code, mean).argmax(axis=1), labels)
    assert len(set(labels)) == K


@pytest.mark.parametrize("K", [2, 3, 4, 9])
def test_votes_agree_with_scikit_learn(K):
    code = all_pairs(K)
    mean = margins_for(code, 500, K)
    labels, wrapper = wrapped(OneVsOneClassifier(Told(code)), code, mean)
    np.testing.assert_array_equal(votes(code, mean).argmax(axis=1), labels)
    assert len(set(labels)) == K
    if K > 2:
        theirs = wrapper.decision_function(np.column_stack([np.zeros(500), mean]))
        np.testing.assert_array_equal(np.rint(votes(code, mean)), np.rint(theirs))
        # Votes alone do not decide as they do.
        assert (hamming(code, mean).argmax(axis=1) != labels).any()


@pytest.mark.parametrize("K", [4, 6, 9])
def test_linear_loss_agrees_with_scikit_learn(K):
    seed, code = next(
        (seed, code) for seed in range(1000) if (code := book_of(seed, K, int(1.5 * K))) is not None
    )
    mean = margins_for(code, 500, K)
    wrapper = OutputCodeClassifier(Told(code), code_size=1.5, random_state=seed)
    labels, wrapper = wrapped(wrapper, code, mean)
    np.testing.assert_array_equal(wrapper.code_book_, code.matrix)
    np.testing.assert_array_equal(loss_based(code, mean, loss="linear").argmax(axis=1), labels)
    assert len(set(labels)) == K


def book_of(seed, K, B):
    """The code that OutputCodeClassifier draws, if it is one."""
    book = np.where(np.random.RandomState(seed).uniform(size=(K, B)) > 0.5, 1, -1)
    try:
        return Code(book)
    except ValueError:
        return None


# Bad input.


def test_margins_that_do_not_fit():
    code = one_vs_rest(3)
    with pytest.raises(TypeError, match="code must be a Code, got 'ovr'"):
        hamming("ovr", [[1.0]])
    with pytest.raises(ValueError, match=r"mean must have shape \(n, 3\), .* got shape \(1, 2\)"):
        hamming(code, [[1.0, 2.0]])
    with pytest.raises(ValueError, match=r"mean must have shape \(n, 3\), .* got shape \(3,\)"):
        scores(code, [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="mean must be finite, got nan"):
        loss_based(code, [[np.nan, 2.0, 3.0]])
    with pytest.raises(TypeError, match="mean must be an array of numbers, got 'many'"):
        hamming(code, "many")
    with pytest.raises(ValueError, match=r"loss must be one of 'hinge', .* got 'square'"):
        loss_based(code, [[1.0, 2.0, 3.0]], loss="square")
    with pytest.raises(ValueError, match=r"variance must have shape \(1, 3\) .* got shape \(1,"):
        probability(code, [[1.0, 2.0, 3.0]], [[1.0]])
    with pytest.raises(ValueError, match=r"variance must not be negative, got -1.0"):
        label_probabilities(code, [[1.0, 2.0, 3.0]], [[1.0, -1.0, 1.0]])
    with pytest.raises(TypeError, match="log must be True or False, got 1"):
        label_probabilities(code, [[1.0, 2.0, 3.0]], [[1.0, 1.0, 1.0]], log=1)


@pytest.mark.parametrize("decoder", [votes, tournament])
@pytest.mark.parametrize("code", [one_vs_rest(3), error_correcting(4), one_vs_rest(4)], ids=str)
def test_pairs_are_needed(decoder, code):
    message = f"^{decoder.__name__} needs a code with a problem for every two classes, got Code"
    with pytest.raises(ValueError, match=message):
        decoder(code, np.zeros((1, code.n_problems)))


def test_every_public_name_has_a_docstring_with_an_example():
    for name in decode.__all__:
        assert ">>>" in getattr(decode, name).__doc__, name
