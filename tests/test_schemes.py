"""Every rule, scheme and covariance against the plain reference, and the laws they obey."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import strategies
from driver import expected, learn, make
from reference.costs import CONFIDENCE, MARGIN
from reference.diagonal import Diagonal as RefDiagonal
from reference.full import Full as RefFull
from reference.rules import FIRST_ORDER, REGISTRY
from reference.schemes import EXACT
from surelearn import SureClassifier
from surelearn.constraints import Exact, Parallel, Sequential, Single
from surelearn.rows import rows_of
from surelearn.weights import Diagonal, Full, Layout

SECOND_ORDER = [name for name in REGISTRY if name not in FIRST_ORDER]


def schemes(name):
    k = st.none() | st.integers(1, 4)
    mixing = st.lists(st.floats(0.125, 8.0, width=32), min_size=1, max_size=3)
    every = [
        st.just(Single()),
        k.map(Sequential),
        k.map(Parallel),
        mixing.map(lambda weights: Parallel(mixing=weights)),
    ]
    return st.one_of([*every, k.map(Exact)] if name in EXACT else every)


def costs(name, n_classes):
    if name not in {*MARGIN, *CONFIDENCE}:
        return st.none()
    entry = st.sampled_from([0.0, 0.5, 1.0, 1.0, 2.0, 3.0])
    square = st.lists(entry, min_size=n_classes**2, max_size=n_classes**2)
    return st.none() | square.map(
        lambda x: np.reshape(x, (n_classes, n_classes)) * (1 - np.eye(n_classes))
    )


@st.composite
def settings(draw, covariance, names=tuple(REGISTRY)):
    """A problem, a rule and a way to learn it."""
    name = draw(st.sampled_from(names))
    problem = draw(strategies.problems(max_rows=8, max_classes=5))
    return (
        problem,
        (name, draw(strategies.rule_params(name))),
        {"scheme": draw(schemes(name)), "cost": draw(costs(name, problem.n_classes))},
        {
            "projection": draw(st.sampled_from(["precision", "covariance"])),
            "fit_intercept": draw(st.booleans()),
            "average": draw(st.booleans()),
            "initial_variance": draw(st.sampled_from([1.0, 0.125, 9.0])),
            "dtype": draw(st.sampled_from([np.float64, np.float32])),
            "covariance": covariance,
        },
    )


def trained(problem, rule, how, options):
    """The core and the reference after the same rows."""
    scheme = how["scheme"]
    want, refused = expected(
        problem,
        rule,
        constraints=scheme.name,
        k=getattr(scheme, "k", None),
        mixing=getattr(scheme, "mixing", None),
        cost=how["cost"],
        **options,
    )
    weights = make(problem.X.shape[1], problem.n_classes, rule[0], **options)
    learnt = learn(
        weights,
        rule,
        problem.X,
        problem.y,
        weight=problem.sample_weight,
        n_classes=problem.n_classes,
        projection=options["projection"],
        **how,
    )
    return weights, learnt, want, refused


def agree(weights, learnt, want, refused, *, tolerance):
    assert learnt.refused == refused
    assert abs(learnt.mistakes - want.mistakes) <= want.close_calls
    assert abs(learnt.updates - want.updates) <= want.close_calls
    # Steps there and back leave a rounding error of the way, not of where it ends.
    scale = np.abs(want.mean()).max(initial=1e-3 * np.sqrt(want.initial_variance))
    np.testing.assert_allclose(weights.means, want.mean(), rtol=tolerance, atol=tolerance * scale)
    if want.rule not in FIRST_ORDER:
        size = np.sqrt(np.diagonal(want.sigma)) if want.covariance == "full" else None
        atol = 0.0 if size is None else tolerance * np.outer(size, size)
        gap = np.abs(weights.variances - want.sigma)
        assert (gap <= tolerance * np.abs(want.sigma) + atol).all(), gap.max()


@given(settings("diagonal"))
def test_diagonal_learning_agrees_with_the_reference(setting):
    weights, learnt, want, refused = trained(*setting)
    assume(want.ties == 0)
    single = setting[-1]["dtype"] == np.float32
    agree(weights, learnt, want, refused, tolerance=2e-4 if single else 1e-8)


@given(settings("full", SECOND_ORDER))
def test_full_learning_agrees_with_the_reference(setting):
    problem, rule, how, options = setting
    options = options | {"dtype": np.float64}
    weights, learnt, want, refused = trained(problem, rule, how, options)
    assume(want.ties == 0 and want.close_calls == 0)
    agree(weights, learnt, want, refused, tolerance=1e-7)
    sigma = np.array(weights.variances)
    assert (sigma == sigma.T).all()
    covariance = want.score_moments(problem.X[0])[1]
    variance = weights.margin(rows_of(problem.X))[1]
    np.testing.assert_allclose(variance[0], np.diag(covariance), rtol=1e-6, atol=1e-9)
    size = np.outer(*[np.sqrt(np.abs(np.diag(covariance)))] * 2)
    found = weights.joint_moments(rows_of(problem.X))[1][0]
    assert (np.abs(found - covariance) <= 1e-6 * size + 1e-9).all()


@given(settings("full", SECOND_ORDER))
def test_full_float32_is_the_double_step_rounded_once(setting):
    """One row from the start: both know the same state, so only the rounding may differ."""
    problem, rule, how, options = setting
    kept = np.flatnonzero(problem.sample_weight)[:1]
    problem = strategies.Problem(
        problem.X[kept], problem.y[kept], problem.n_classes, problem.sample_weight[kept]
    )
    options = options | {"dtype": np.float32, "average": False}
    weights, learnt, want, refused = trained(problem, rule, how, options)
    assume(not refused and not learnt.refused)
    assert (np.abs(weights.means - want.mu) <= 2e-7 * np.abs(want.mu) + 1e-12).all()
    assert (np.abs(weights.variances - want.sigma) <= 2e-7 * want.initial_variance).all()


def random_round(rng, k, n, full):
    """Weights worn by some rows, and a row whose label is behind all its rivals."""
    K = k + 1 if k > 1 else 2
    options = {"fit_intercept": False, "covariance": "full" if full else "diagonal"}
    weights = make(n, K, "variance", **options)
    X = rng.normal(size=(6, n))
    learn(weights, ("arow", {"r": 1.0}), X, rng.integers(0, K, 6), n_classes=K)
    return weights, rng.normal(size=(1, n)) * 3, K


def stacked(weights, x, y, K):
    """Every g over the stacked weights, with mu and sigma as one vector and matrix."""
    mu = np.array(weights.means, np.float64).ravel()
    sigma = np.array(weights.variances, np.float64)
    sigma = sigma if weights.layout.covariance == "full" else np.diag(sigma.ravel())
    n = x.shape[1]
    if K == 2:
        return (2 * y - 1) * x, mu, sigma
    g = np.zeros((K - 1, K * n))
    for i, rival in enumerate(z for z in range(K) if z != y):
        g[i, y * n : (y + 1) * n] = x[0]
        g[i, rival * n : (rival + 1) * n] = -x[0]
    return g, mu, sigma


@pytest.mark.parametrize("full", [False, True], ids=["diagonal", "full"])
@pytest.mark.parametrize("name", ["variance", "stdev"])
@given(k=st.integers(1, 5), n=st.integers(1, 6), phi=st.floats(0.05, 3.0), seed=st.integers(0, 99))
def test_exact_updates_are_tight_and_feasible(name, full, k, n, phi, seed):
    """The constraints hold to 1e-9; those that were learnt from hold with equality."""
    rng = np.random.default_rng(seed)
    weights, x, K = random_round(rng, k, n, full)
    y = int(rng.integers(0, K))
    g, _, sigma = stacked(weights, x, y, K)
    scheme = {"scheme": Exact()}
    assert not learn(weights, (name, {"phi": phi}), x, np.array([y]), n_classes=K, **scheme).refused
    _, mu_after, sigma_after = stacked(weights, x, y, K)
    root = np.sqrt if name == "stdev" else np.asarray
    u = np.einsum("ri,ij,rj->r", g, sigma_after, g)
    slack = g @ mu_after - phi * root(u)
    size = np.abs(g) @ np.abs(mu_after) + phi * root(u)
    assert (slack >= -1e-9 * size).all()
    gains = precision_gains(g, sigma, sigma_after)
    assert (np.abs(slack[gains > 1e-7 * gains.max(initial=0)]) <= 1e-9 * size.max()).all()


def precision_gains(g, sigma, sigma_after):
    """The gain of each constraint, from the growth of the precision."""
    growth = np.linalg.inv(sigma_after) - np.linalg.inv(sigma)
    products = np.stack([np.outer(a, a) for a in g])
    diagonal = np.count_nonzero(sigma - np.diag(np.diagonal(sigma))) == 0
    if diagonal and np.count_nonzero(sigma_after - np.diag(np.diagonal(sigma_after))) == 0:
        growth, products = np.diagonal(growth), np.stack([a * a for a in g])
    gains, *_ = np.linalg.lstsq(products.reshape(len(g), -1).T, growth.ravel(), rcond=None)
    return gains


def made_of(mu, sigma, n_features):
    """Weights of the core with these means and variances, or this covariance."""
    full = np.shape(sigma) != np.shape(mu)
    layout = Layout(n_features, False, True, False, "float64", "full" if full else "diagonal")
    state = {"layout": asdict(layout), "n_columns": len(mu), "prior": 1.0, "rounds": 0}
    if full:
        return Full.from_state(state | {"means": mu.reshape(1, -1), "sigma": sigma})
    cells = np.ascontiguousarray(np.column_stack([mu.T, sigma.T]))
    return Diagonal.from_state(state | {"features": np.arange(n_features), "cells": cells})


@pytest.mark.slow  # for the solver; that the core equals the reference, which it judges, is not
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kind", ["diagonal", "full"])
@pytest.mark.parametrize("name", ["variance", "stdev"])
def test_exact_updates_are_the_solution_of_a_convex_solver(name, kind, n_classes, seed):
    """The KL projection itself; with two classes and full covariance by the rule's own formula."""
    from reference.convex import by_solver_diagonal, by_solver_full

    rng = np.random.default_rng(seed)
    columns, n = (1 if n_classes == 2 else n_classes), 2
    mu, x, phi = rng.normal(size=(columns, n)), rng.normal(size=n), 10 ** rng.uniform(-0.5, 0.5)
    root = rng.normal(size=(mu.size, 2 * mu.size))
    sigma = root @ root.T / mu.size if kind == "full" else np.exp(rng.normal(size=mu.shape))
    cost = rng.uniform(0.5, 2.0, size=(n_classes, n_classes)) * (1 - np.eye(n_classes))
    G = np.zeros((n_classes - 1, *mu.shape))
    for r, g in enumerate(G):
        g[0] = x
        if columns > 1:
            g[r + 1] = -x
    y = 1 if columns == 1 else 0
    if mu.ravel() @ G[0].ravel() > 0:  # let the label be behind
        mu = -mu
    solver, judge = (
        (by_solver_full, RefFull) if kind == "full" else (by_solver_diagonal, RefDiagonal)
    )
    start = judge(mu, sigma) if kind == "full" else judge(mu, sigma, "precision")
    demands = phi * np.delete(cost[y], y)
    want_mu, want_sigma = solver(name, start, G, demands)
    weights = made_of(mu, sigma, n)
    how = {"n_classes": n_classes, "scheme": Exact(), "cost": cost}
    assert not learn(weights, (name, {"phi": phi}), x[None], np.array([y]), **how).refused
    assert not np.allclose(weights.means, mu, atol=1e-3)
    np.testing.assert_allclose(np.ravel(weights.means), want_mu, rtol=2e-5, atol=2e-5)
    np.testing.assert_allclose(
        np.ravel(weights.variances), want_sigma.ravel(), rtol=2e-5, atol=2e-5
    )


@given(problem=strategies.problems(max_classes=5), phi=st.floats(0.05, 3.0))
def test_exact_with_one_rival_is_variance_exact(problem, phi):
    """The diagonal's own projection on one constraint has a rule of its own."""
    one = make(problem.X.shape[1], problem.n_classes, "variance")
    other = make(problem.X.shape[1], problem.n_classes, "variance")
    y, K = problem.y, problem.n_classes
    learn(one, ("variance", {"phi": phi}), problem.X[:1], y[:1], n_classes=K, scheme=Exact(1))
    learn(other, ("variance-exact", {"phi": phi}), problem.X[:1], y[:1], n_classes=K)
    np.testing.assert_allclose(one.means, other.means, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(one.variances, other.variances, rtol=1e-9)


@given(
    problem=strategies.problems(max_classes=5),
    rule=strategies.rules(),
    projection=st.sampled_from(["precision", "covariance"]),
)
def test_one_rival_is_the_single_scheme(problem, rule, projection):
    """One after the other: to the bit. Mixed: the same numbers in another order."""
    made = []
    for scheme in (Single(), Sequential(1), Parallel(1)):
        weights = make(problem.X.shape[1], problem.n_classes, rule[0])
        how = {"n_classes": problem.n_classes, "scheme": scheme, "projection": projection}
        learn(weights, rule, problem.X[:3], problem.y[:3], **how)
        made.append(np.array(weights.means))
    single, sequential, parallel = made
    assert single.tobytes() == sequential.tobytes()
    np.testing.assert_allclose(parallel, single, rtol=1e-9, atol=1e-9 * np.abs(single).max())


@given(
    problem=strategies.problems(max_classes=2),
    rule=st.sampled_from(SECOND_ORDER).flatmap(
        lambda name: st.tuples(st.just(name), strategies.rule_params(name))
    ),
)
def test_full_equals_diagonal_on_rows_with_one_feature(problem, rule):
    """Of two classes: with more, the full covariance ties the blocks of two classes together."""
    n = problem.X.shape[1]
    X = np.where(np.arange(n) == np.arange(len(problem.y))[:, np.newaxis] % n, problem.X, 0.0)
    made = []
    for covariance in ("diagonal", "full"):
        weights = make(n, problem.n_classes, rule[0], fit_intercept=False, covariance=covariance)
        made.append((weights, learn(weights, rule, X, problem.y, n_classes=problem.n_classes)))
    (diagonal, a), (full, b) = made
    assume(not a.refused and not b.refused)
    np.testing.assert_allclose(full.means, diagonal.means, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(
        np.diagonal(full.variances), np.ravel(diagonal.variances), rtol=1e-6, atol=1e-12
    )


@pytest.mark.parametrize("name", SECOND_ORDER)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_full_variances_stay_positive_and_never_grow(name, dtype):
    rng = np.random.default_rng(0)
    weights = make(5, 4, name, covariance="full", dtype=dtype)
    before = np.array(np.diagonal(weights.variances))
    rule = (name, dict.fromkeys(strategies.PARAMETERS[name], 0.5))
    for _ in range(60):
        learn(weights, rule, rng.normal(size=(1, 5)), rng.integers(0, 4, 1), n_classes=4)
        after = np.array(np.diagonal(weights.variances))
        assert (after > 0).all()
        assert (after <= before).all()
        before = after


def test_threads_change_nothing():
    """An update large enough for several threads gives the bits of one."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(4, 900)), np.array([0, 1, 1, 0])
    made = []
    for threads in (1, 3):
        weights = make(900, 2, "stdev", covariance="full")
        weights.use_threads(threads)
        learn(weights, ("stdev", {"phi": 1.0}), X, y)
        made.append(weights)
    one, many = made
    assert np.array(one.variances).tobytes() == np.array(many.variances).tobytes()
    assert np.array(one.means).tobytes() == np.array(many.means).tobytes()


@pytest.mark.parametrize(
    ("name", "params", "x", "options"),
    [
        ("pa", {}, 1e-37, {}),
        ("nherd", {"C": 1e30}, 5e-35, {"covariance": "full", "initial_variance": 3e38}),
    ],
)
def test_a_refused_round_of_many_steps_is_taken_back_whole(name, params, x, options):
    """The second rival's step would overflow the means of float32; the first one's is not kept."""
    weights = make(1, 3, name, fit_intercept=False, dtype=np.float32, **options)
    row, first = np.array([[x]]), np.array([0])
    cost = np.array([[0, 1, 1e6], [1, 0, 1], [1, 1, 0]])
    before = weights.state()
    how = {"n_classes": 3, "cost": cost}
    assert learn(weights, (name, params), row, first, scheme=Sequential(2), **how).refused
    after = weights.state()
    for array in weights.arrays:
        np.testing.assert_array_equal(before[array], after[array])
    assert not learn(weights, (name, params), row, first, scheme=Sequential(1), **how).refused


def test_stdev_with_full_covariance_is_rescaled_when_it_is_tiny():
    """Flipping labels shrink everything; only the scale is lost, not the directions."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))
    y = rng.integers(0, 2, size=3000)
    rule = ("stdev", {"phi": 0.5})
    options = {"fit_intercept": False, "covariance": "full"}
    narrow = make(4, 2, "stdev", dtype=np.float32, **options)
    wide = make(4, 2, "stdev", dtype=np.float64, **options)
    assert not learn(narrow, rule, X, y).refused
    assert not learn(wide, rule, X, y).refused
    assert np.max(np.diagonal(wide.variances)) < 1e-15  # it had to be rescaled
    assert np.max(np.diagonal(narrow.variances)) > 1e-15
    assert narrow.prior > 1.0


@pytest.mark.parametrize("name", sorted(EXACT))
@pytest.mark.parametrize("weight", [0.25, 4.0])
def test_exact_steps_are_scaled_by_the_weight_of_the_row(name, weight):
    """Hard rules by min(1, w), PA1 and PA2 through their C."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4, 3)), np.array([0, 1, 2, 1])
    problem = strategies.Problem(X, y, 3, np.full(4, weight))
    params = dict.fromkeys(strategies.PARAMETERS[name], 0.3)
    how = {"scheme": Exact(), "cost": None}
    options = {"projection": "precision", "dtype": np.float64, "covariance": "diagonal"}
    weights, learnt, want, refused = trained(problem, (name, params), how, options)
    agree(weights, learnt, want, refused, tolerance=1e-9)


@pytest.mark.parametrize("scheme", [Single(), Sequential(), Parallel(), Exact()], ids=repr)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_variance_lost_in_rounding_is_not_learnt_from(scheme, n_classes):
    """Two features that always went together: of their difference float32 knows nothing more."""
    columns = 1 if n_classes == 2 else n_classes
    sigma = np.kron(np.eye(columns), np.ones((2, 2))).astype(np.float32)
    layout = Layout(2, False, True, False, "float32", "full")
    state = {"layout": asdict(layout), "n_columns": columns, "prior": 1.0, "rounds": 0}
    means = np.zeros((1, 2 * columns), np.float32)
    weights = Full.from_state(state | {"means": means, "sigma": sigma})
    rule, y = ("variance", {"phi": 1.0}), np.array([1])
    how = {"n_classes": n_classes, "scheme": scheme}
    assert learn(weights, rule, np.array([[1.0, -1.0]]), y, **how).refused
    assert not np.any(weights.means)
    assert not learn(weights, rule, np.array([[1.0, 1.0]]), y, **how).refused


def test_full_variances_that_rounding_takes_below_zero_are_refused():
    """A gain of 1e20 leaves nothing of the variance; what is left is rounding, of either sign."""
    refused = 0
    for x in np.linspace(1.0, 2.0, 50):
        weights = make(1, 2, "arow", fit_intercept=False, covariance="full")
        refused += learn(weights, ("arow", {"r": 1e-20}), np.array([[x]]), np.array([0])).refused
        assert weights.variances[0, 0] > 0
    assert 0 < refused < 50


@pytest.mark.parametrize("scheme", [Single(), Sequential(), Parallel()], ids=repr)
def test_a_round_that_would_leave_no_variance_is_refused(scheme):
    weights = make(1, 3, "nherd", fit_intercept=False, dtype=np.float32)
    before = weights.state()
    how = {"n_classes": 3, "scheme": scheme}
    rule = ("nherd", {"C": 1e30})
    assert learn(weights, rule, np.array([[1e18]]), np.array([0]), **how).refused
    for array in weights.arrays:
        np.testing.assert_array_equal(before[array], weights.state()[array])


@pytest.mark.parametrize("scheme", [Single(), Sequential()], ids=repr)
def test_a_round_whose_average_would_overflow_is_refused(scheme):
    """The means fit into float32, a thousand times their change does not."""
    weights = make(1, 3, "pa", fit_intercept=False, dtype=np.float32, average=True)
    late = type(weights).from_state(weights.state() | {"rounds": 1000})
    how = {"n_classes": 3, "scheme": scheme}
    row, y = np.array([[1e-37]]), np.array([0])
    assert not learn(weights, ("pa", {}), row, y, **how).refused
    assert learn(late, ("pa", {}), row, y, **how).refused
    assert not np.any(late.means)


def test_a_margin_of_nothing_is_not_moved_where_nothing_is_asked():
    """Costs of 0 ask for m >= 0 alone, which a margin of 0 meets."""
    clf = SureClassifier(
        "variance", constraints="exact", cost=np.zeros((3, 3)), dtype="float64", passes=1
    )
    clf.partial_fit([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 2], classes=[0, 1, 2])
    assert not clf.coef_.any()
    assert clf.n_updates_ == 0
