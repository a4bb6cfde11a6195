"""The reference's chains and tagger: enumeration against recursions, closed forms, laws."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from reference.chain import Paths, augmented, hamming
from reference.costs import MARGIN
from reference.crf import forward_backward
from reference.learner import Learner
from reference.rules import FIRST_ORDER, REGISTRY
from reference.tagger import ReferenceTagger, Sentence, difference, joint_features

from .test_reference import PARAMS, SECOND_ORDER

pytestmark = pytest.mark.slow  # the judge is judged where there is time

PROJECTIONS = ["precision", "covariance"]


def tables(U, A):
    """A table for each step."""
    return np.broadcast_to(A, (len(U) - 1, U.shape[1], U.shape[1]))


def viterbi(U, A):
    """The best path by the recursion, run forward; argmax takes the lowest label of those tied."""
    D, back = U[0], []
    for u, a in zip(U[1:], tables(U, A), strict=True):
        through = D[:, np.newaxis] + a
        back.append(through.argmax(axis=0))
        D = u + through.max(axis=0)
    path = [int(D.argmax())]
    for pointers in reversed(back):
        path.append(int(pointers[path[-1]]))
    return tuple(reversed(path)), D.max()


def viterbi_k(U, A, k):
    """The k best paths by a list of k in every cell, by score, previous label and rank there."""
    cells = [[(u, (j,))] for j, u in enumerate(U[0])]
    for u, a in zip(U[1:], tables(U, A), strict=True):
        reached = [
            [(s + a[i, j] + u[j], (*path, j)) for i, cell in enumerate(cells) for s, path in cell]
            for j in range(len(u))
        ]
        cells = [sorted(cell, key=lambda entry: -entry[0])[:k] for cell in reached]
    merged = sorted(itertools.chain(*cells), key=lambda entry: -entry[0])
    return [path for _, path in merged[:k]]


# --------------------------------------------------------------------- paths


def test_score_by_hand():
    U = [[1.0, 2.0], [10.0, 20.0], [100.0, 200.0]]
    same, own = [[0.5, 0.25], [4.0, 8.0]], [[[0.5, 0.25], [4.0, 8.0]], [[0.0, -1.0], [-3.0, 7.0]]]
    assert Paths(U, same).score((1, 0, 1)) == 2 + 10 + 200 + 4 + 0.25
    assert Paths(U, own).score((1, 0, 1)) == 2 + 10 + 200 + 4 - 1
    assert Paths(U, own).k_best(2) == [(1, 1, 1), (0, 1, 1)]
    assert len(Paths(U, own).ranked) == 8


@given(strategies.chains(whole=True), st.integers(1, 6))
def test_ties_are_those_of_the_forward_recursion(chain, k):
    U, A = chain
    paths = Paths(U, A)
    assert (paths.best(), paths.scores[0]) == viterbi(U, A)
    assert paths.k_best(k) == viterbi_k(U, A, k)


@given(strategies.chains())
def test_marginals_are_those_of_forward_and_backward(chain):
    U, A = chain
    paths = Paths(U, A)
    marginals, pairs, log_partition = forward_backward(U, A)
    np.testing.assert_allclose(paths.marginals(), marginals, atol=1e-12)
    np.testing.assert_allclose(paths.pair_marginals(), pairs, atol=1e-12)
    assert paths.log_partition() == pytest.approx(log_partition, abs=1e-11)
    assert math.fsum(paths.distribution().values()) == pytest.approx(1.0, abs=1e-13)


@given(strategies.chains(whole=True), st.data())
def test_augmented_scores_add_the_cost(chain, data):
    U, A = chain
    plain = Paths(U, A)
    y = data.draw(st.sampled_from(plain.ranked))
    dear = Paths(augmented(U, y), A)
    for path in plain.ranked:
        assert dear.score(path) == plain.score(path) + hamming(y, path)
    wrong = plain.k_best_wrong(y, len(plain.ranked))
    assert sorted([y, *wrong]) == sorted(plain.ranked)
    rival = plain.best_wrong(y)
    if not wrong:
        assert rival is None
        return
    assert plain.best() in (y, wrong[0])
    assert plain.score(rival) == plain.score(wrong[0])
    assert rival == wrong[0] or plain.best() == y


def test_best_wrong_path_leaves_the_best_first():
    """All but y tie, or all that leave y once."""
    assert Paths(np.zeros((2, 3)), np.zeros((3, 3))).best_wrong((0, 0)) == (1, 0)
    assert Paths(np.zeros((2, 3)), np.zeros((3, 3))).best_wrong((1, 0)) == (0, 0)
    U = np.zeros((3, 3))
    U[:, 2] = 1.0
    assert Paths(U, np.zeros((3, 3))).best_wrong((2, 2, 2)) == (0, 2, 2)
    assert Paths(U, np.zeros((3, 3))).k_best_wrong((2, 2, 2), 1) == [(2, 2, 0)]


# -------------------------------------------------------------------- features

THE_DOG = Sentence(
    [{"w=the": 1.0, "bias": 1.0}, {"w=dog": 1.0, "bias": 1.0}, {"w=the": 2.0, "bias": 1.0}],
    [{"p": 9.0}, {"p": 3.0}, {"p": 3.0, "q": 1.0}],
)


def test_joint_features_by_hand():
    assert joint_features(THE_DOG, (0, 0, 0)) == {
        ("emission", "w=the", 0): 3.0,
        ("emission", "w=dog", 0): 1.0,
        ("emission", "bias", 0): 3.0,
        ("start", 0): 1.0,
        ("end", 0): 1.0,
        ("transition", None, 0, 0): 2.0,
        ("transition", "p", 0, 0): 6.0,
        ("transition", "q", 0, 0): 1.0,
    }


def test_difference_leaves_out_what_cancels():
    assert difference(THE_DOG, (0, 1, 0), (1, 0, 0)) == {
        ("emission", "w=the", 0): 1.0,
        ("emission", "w=the", 1): -1.0,
        ("emission", "w=dog", 0): -1.0,
        ("emission", "w=dog", 1): 1.0,
        ("start", 0): 1.0,
        ("start", 1): -1.0,
        ("transition", None, 0, 1): 1.0,
        ("transition", "p", 0, 1): 3.0,
        ("transition", None, 0, 0): -1.0,
        ("transition", "p", 0, 0): -3.0,
        ("transition", "q", 0, 0): -1.0,
        ("transition", "q", 1, 0): 1.0,
    }
    assert difference(THE_DOG, (0, 1, 0), (0, 1, 0)) == {}


# -------------------------------------------------------------------- tagger


def random_sentence(rng, n_labels, length=3):
    tokens = [{f: rng.normal() for f in "abcd" if rng.random() < 0.5} for _ in range(length)]
    pairs = [{p: rng.normal() for p in "pq" if rng.random() < 0.5} for _ in range(length)]
    return Sentence(tokens, pairs), tuple(rng.integers(0, n_labels, length).tolist())


def trained(rule, *, n_labels=3, rounds=8, seed=0, params=None, weight=1.0, **options):
    rng = np.random.default_rng(seed)
    tagger = ReferenceTagger(rule, PARAMS[rule] if params is None else params, n_labels, **options)
    for _ in range(rounds):
        tagger.learn(*random_sentence(rng, n_labels), weight)
    return tagger


def margin(tagger, g):
    return math.fsum(tagger.mu.get(cell, 0.0) * value for cell, value in g.items())


def test_score_is_the_mean_times_the_joint_features():
    tagger = trained("arow")
    x, _ = random_sentence(np.random.default_rng(3), 3)
    paths = Paths(*tagger.scores(x, tagger.mu))
    for path in paths.ranked:
        expected = margin(tagger, joint_features(x, path))
        assert paths.score(path) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("projection", PROJECTIONS)
@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_one_token_without_start_and_end_is_a_row(name, projection, k):
    """Start and end are two features of value 1 then, which the row is given as well.

    The first label must not be 0: all paths tie at the start, and then label 0 is right.
    """
    rng = np.random.default_rng(4)
    options = {"projection": projection, "initial_variance": 2.0, "average": True}
    learner = Learner(
        5, 4, name, PARAMS[name], fit_intercept=False, constraints="sequential", k=k, **options
    )
    tagger = ReferenceTagger(name, PARAMS[name], 4, k=k, **options)
    for _ in range(15):
        x, y = rng.normal(size=3), int(rng.integers(4))
        learner.learn(np.append(x, [1.0, 1.0]), y)
        tagger.learn(Sentence([dict(zip("abc", x, strict=True))]), (y,))
    cells = [[("emission", f, z) for f in "abc"] + [("start", z), ("end", z)] for z in range(4)]
    mean = [[tagger.mean().get(cell, 0.0) for cell in row] for row in cells]
    sigma = [[tagger.sigma.get(cell, tagger.initial_variance) for cell in row] for row in cells]
    np.testing.assert_allclose(mean, learner.mean(), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(sigma, learner.sigma, rtol=1e-9)
    assert (tagger.updates, tagger.mistakes) == (learner.updates, learner.mistakes)


def test_passive_aggressive_ends_at_the_hamming_margin():
    rng = np.random.default_rng(5)
    tagger = trained("pa")
    for _ in range(10):
        x, y = random_sentence(rng, 3)
        (rival,), _, _ = tagger._rivals(x, y)
        g = difference(x, y, rival)
        if margin(tagger, g) < hamming(y, rival):
            tagger.learn(x, y)
            assert margin(tagger, g) == pytest.approx(hamming(y, rival), abs=1e-12)


@pytest.mark.parametrize("projection", PROJECTIONS)
@pytest.mark.parametrize("name", SECOND_ORDER)
def test_variances_shrink_where_g_is_not_zero_and_nowhere_else(name, projection):
    tagger = trained(name, projection=projection)
    x, y = random_sentence(np.random.default_rng(6), 3)
    (rival,), _, _ = tagger._rivals(x, y)
    mu, sigma = dict(tagger.mu), dict(tagger.sigma)
    tagger.learn(x, y)
    changed = {cell for cell in tagger.sigma if tagger.sigma[cell] != sigma.get(cell, 1.0)}
    assert changed == {cell for cell in tagger.mu if tagger.mu[cell] != mu.get(cell, 0.0)}
    assert changed == (set(difference(x, y, rival)) if changed else set())
    assert all(0 < tagger.sigma[cell] < sigma.get(cell, 1.0) for cell in changed)


@pytest.mark.parametrize("name", ["variance", "variance-exact", "stdev", "arow", "probit"])
def test_step_is_the_closed_form(name):
    """On whole vectors of all cells, in the precision form."""
    tagger = trained(name, rounds=4)
    x, y = random_sentence(np.random.default_rng(7), 3)
    paths = Paths(*tagger.scores(x, tagger.mu))
    cost = [hamming(y, path) if name == "arow" else 0 for path in paths.ranked]
    ranks = np.argsort(-(paths.scores + cost), kind="stable")
    rival = next(paths.ranked[r] for r in ranks if paths.ranked[r] != y)
    right, wrong = joint_features(x, y), joint_features(x, rival)
    cells = sorted({*right, *wrong, *tagger.mu}, key=repr)
    g = np.array([right.get(cell, 0.0) - wrong.get(cell, 0.0) for cell in cells])
    mu = np.array([tagger.mu.get(cell, 0.0) for cell in cells])
    sigma = np.array([tagger.sigma.get(cell, 1.0) for cell in cells])
    asked = {"margin": hamming(y, rival)} if name == "arow" else {}
    shares = ((sigma * g**2)[g != 0],) if name == "variance-exact" else ()
    alpha, gain = REGISTRY[name](mu @ g, sigma @ g**2, *shares, **PARAMS[name], **asked)
    assert alpha > 0
    tagger.learn(x, y)
    after = np.array([tagger.mu.get(cell, 0.0) for cell in cells])
    variances = np.array([tagger.sigma.get(cell, 1.0) for cell in cells])
    np.testing.assert_allclose(after, mu + alpha * sigma * g, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(1 / variances, 1 / sigma + gain * g**2, rtol=1e-9)


@pytest.mark.parametrize("name", sorted(set(REGISTRY) - MARGIN - {"perceptron"}))
def test_right_sequences_go_on_tightening_until_the_rule_is_content(name):
    tagger = ReferenceTagger(name, PARAMS[name], 2)
    for _ in range(3):
        tagger.learn(Sentence([{"a": 1.0}, {"b": 1.0}]), (0, 1))
    assert tagger.mistakes == 1
    assert (tagger.updates > 1) == (name != "sop")


def test_perceptron_by_hand():
    tagger = ReferenceTagger("perceptron", {}, 2)
    x = Sentence([{"a": 1.0}, {"b": 2.0}])
    tagger.learn(x, (0, 0))
    assert (tagger.mistakes, tagger.updates, tagger.mu) == (0, 0, {})
    tagger.learn(x, (0, 1))
    assert (tagger.mistakes, tagger.updates) == (1, 1)
    assert tagger.mu == {
        ("emission", "b", 1): 2.0,
        ("emission", "b", 0): -2.0,
        ("end", 1): 1.0,
        ("end", 0): -1.0,
        ("transition", None, 0, 1): 1.0,
        ("transition", None, 0, 0): -1.0,
    }
    assert tagger.predict(x) == (0, 1)


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_average_is_the_mean_of_all_rounds(name):
    states = [trained(name, rounds=n).mu for n in range(6)]
    mean = trained(name, rounds=5, average=True).mean()
    assert set(mean) == set(states[-1])
    for cell, value in mean.items():
        parts = [state.get(cell, 0.0) for state in states]
        assert value == pytest.approx(math.fsum(parts) / 6, abs=1e-12)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_sequential_rivals_are_ranked_at_the_start(name, k):
    tagger = trained(name, k=k)
    x, y = random_sentence(np.random.default_rng(9), 3)
    U, A = tagger.scores(x, tagger.mu)
    paths = Paths(augmented(U, y) if name in MARGIN else U, A)
    one = trained(name, k=k)
    for rival in paths.k_best_wrong(y, k):
        g = difference(x, y, rival)
        one._step(g, one._params_for(hamming(y, rival)), 0.5)
    tagger.learn(x, y, 0.5)
    assert one.mu == tagger.mu
    assert one.sigma == tagger.sigma
    assert one.mu != trained(name).mu


@pytest.mark.parametrize("name", sorted(set(REGISTRY) - MARGIN))
def test_half_the_weight_of_a_hard_rule_is_half_the_step(name):
    if name in ("probit", "scw1", "scw2"):
        whole, half = trained(name, rounds=1), trained(name, rounds=1, weight=0.5)
        assert half.mu != whole.mu
        return
    whole, half = (trained(name, rounds=1, weight=weight) for weight in (3.0, 0.5))
    assert set(half.mu) == set(whole.mu) != set()
    for cell, value in whole.mu.items():
        assert half.mu[cell] == pytest.approx(value / 2)
        assert 1 / half.sigma[cell] - 1 == pytest.approx((1 / whole.sigma[cell] - 1) / 2)


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_what_teaches_nothing_leaves_no_trace(name):
    tagger, same = trained(name, average=True), trained(name, average=True)
    tagger.learn(Sentence([]), ())
    tagger.learn(*random_sentence(np.random.default_rng(1), 3), 0.0)
    assert tagger.mean() == same.mean()
    assert (tagger.mistakes, tagger.updates) == (same.mistakes, same.updates)
    alone = trained(name, n_labels=1)
    assert (alone.mu, alone.updates, alone.mistakes) == ({}, 0, 0)


@pytest.mark.parametrize("name", ["variance", "stdev", "arow"])
def test_initial_variance_is_a_change_of_parameter(name):
    phi = PARAMS[name].get("phi", 0.0)
    params = {"variance": {"phi": 2 * phi}, "stdev": {"phi": phi}, "arow": {"r": 0.5}}[name]
    power = 0.0 if name == "arow" else 0.5
    four, one = trained(name, initial_variance=4.0), trained(name, params=params)
    assert set(four.mu) == set(one.mu)
    for cell in one.mu:
        assert four.mu[cell] == pytest.approx(4**power * one.mu[cell], abs=1e-11)
        assert four.sigma[cell] == pytest.approx(4 * one.sigma[cell])


def test_first_order_rules_keep_their_variances():
    for name in FIRST_ORDER:
        assert set(trained(name, initial_variance=9.0).sigma.values()) == {1.0}


def test_a_collapse_is_refused_and_leaves_the_weights():
    tagger = trained("arow", params={"r": 1e-50}, rounds=2)
    mu, sigma = dict(tagger.mu), dict(tagger.sigma)
    x = Sentence([{"e": 1e150}, {"b": 1.0}])
    with pytest.raises(FloatingPointError, match="left a weight without a variance"):
        tagger.learn(x, (2, 1))
    assert (tagger.mu, tagger.sigma) == (mu, sigma)


def test_ties_by_chance_are_told_and_ties_by_nature_are_not():
    x = Sentence([{"a": 1.0}, {"b": 1.0}, {"c": 1.0}])
    tagger = ReferenceTagger("sop", {}, 2)
    tagger.learn(x, (0, 1, 0))
    assert tagger.ties == 0
    for parts, ties in (((0.1, 0.2, 0.3), 1), ((0.125, 0.25, 0.375), 0), ((0.1, 0.2, 0.4), 0)):
        tagger = ReferenceTagger("sop", {}, 2)
        a, b, c = parts
        tagger.mu = {
            ("emission", "a", 0): a,
            ("emission", "b", 0): b,
            ("emission", "c", 1): c,
            ("transition", None, 0, 1): -9.0,
            ("transition", None, 1, 0): -9.0,
        }
        tagger.learn(x, (0, 0, 0))
        assert tagger.ties == ties


def test_labels_of_the_same_weights_tie_by_nature():
    x = Sentence([{"a": 3.0, "b": 1.0}, {"a": 7.0}])
    for third, k, ties in ((0.3, 2, 0), (0.1 + 0.2, 2, 1), (0.3, 1, 0)):
        tagger = ReferenceTagger("sop", {}, 3, k=k)
        tagger.mu = {("emission", "a", z): w for z, w in enumerate((-0.7, 0.3, third))}
        tagger.learn(x, (0, 0))
        assert tagger.ties == ties
    tagger = ReferenceTagger("sop", {}, 3)
    tagger.mu = {("emission", "a", z): w for z, w in enumerate((0.7, 0.3, 0.3))}
    tagger.learn(x, (0, 0))
    assert tagger.ties == 1
