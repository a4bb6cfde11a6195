"""Dual weights against the slow reference, and the laws of a budget."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from scipy import sparse

import kernelled
import strategies
from reference import rules as reference_rules
from reference.dual import Dual as Slow
from reference.test_reference import PARAMS
from surelearn import dual, kernels, rules, weights
from surelearn.dual import KernelRows

KERNELS = {
    "linear": kernels.Linear(),
    "poly": kernels.Polynomial(0.5, 1.0, 2),
    "rbf": kernels.RBF(0.3),
    "cosine": kernels.Cosine(),
}


def slow(form, X, y, *, rule, params, passes=1, weight=None):
    """The reference after the same rows, and its kernel with other rows."""
    gram = form.values(X, X)
    problem = Slow(form.prior, second_order=form.second_order, budget=form.budget)
    for _ in range(passes):
        for i in range(len(X)):
            w = 1.0 if weight is None else weight[i]
            problem.learn(steps(rule, params, w), gram[i], gram[i, i], number=i, y=int(y[i]))
    return problem


def steps(rule, params, w):
    return lambda m, v: reference_rules.weighted(rule, m, v, w, np.array([v]), **params)


def moments(problem, form, X, new):
    values, own = form.values(new, X), form.kernel.diagonal(new) + form.intercept
    return np.array([problem.moments(k, kk) for k, kk in zip(values, own, strict=True)]).T


@pytest.mark.parametrize("budget", [0, 12])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("rule", rules.RULES)
def test_training_agrees_with_the_reference(rule, kernel, budget):
    X, y = kernelled.rows(n=40)
    new, y = X[:10] + 0.3, 2 * y - 1
    second_order = not rules.get(rule).first_order
    form = kernelled.form(KERNELS[kernel], second_order=second_order, budget=budget)
    weight = np.linspace(0.3, 2.0, 40)
    how = rules.RULES[rule](**PARAMS[rule])
    fast = kernelled.trained(kernelled.untrained(form), X, y, rule=how, passes=2, weight=weight)
    expected = slow(form, X, y, rule=rule, params=PARAMS[rule], passes=2, weight=weight)
    means, variances = moments(expected, form, X, new)
    assert fast.n_points == len(expected.points) <= (budget or 40)
    np.testing.assert_allclose(fast.scores(KernelRows(new))[:, 0], means, rtol=1e-7, atol=1e-9)
    if second_order:
        _, variance = fast.margin(KernelRows(new))
        np.testing.assert_allclose(variance[:, 0], variances, rtol=1e-7, atol=1e-9)


def removals(X, y, rule, params, budget):
    """Each variance before and after each removal of a run."""
    form = kernelled.form(kernels.RBF(0.5), budget=0)
    gram = form.values(X, X)
    problem = Slow(form.prior)
    for i in range(len(X)):
        problem.learn(steps(rule, params, 1.0), gram[i], gram[i, i], number=i, y=int(y[i]))
        if len(problem.points) > budget:
            before = [problem.moments(gram[j], gram[j, j])[1] for j in range(len(X))]
            problem.remove(problem.dispensable())
            yield before, [problem.moments(gram[j], gram[j, j])[1] for j in range(len(X))]


@given(st.data())
@settings(deadline=None, max_examples=25)
def test_a_removal_never_lowers_a_variance(data):
    rule, params = data.draw(strategies.rules().filter(lambda r: r[0] in kernelled.SECOND_ORDER))
    X, y = kernelled.rows(n=20, seed=data.draw(st.integers(0, 99)))
    for before, after in removals(X, 2 * y - 1, rule, params, budget=5):
        assert (np.array(after) >= np.array(before) - 1e-9).all()
        assert min(after) > 0


@given(st.data())
@settings(deadline=None, max_examples=40)
def test_variances_stay_positive_and_below_the_prior_under_any_budget(data):
    rule, params = data.draw(strategies.rules().filter(lambda r: r[0] in kernelled.SECOND_ORDER))
    X, y = kernelled.rows(n=80, seed=data.draw(st.integers(0, 99)))
    budget = data.draw(st.integers(2, 20))
    form = kernelled.form(KERNELS[data.draw(st.sampled_from(list(KERNELS)))], budget=budget)
    how = rules.RULES[rule](**params)
    try:
        learnt = kernelled.trained(kernelled.untrained(form), X, 2 * y - 1, rule=how)
    except ValueError as error:  # a row that would leave no variance is refused, never learnt
        if "must leave finite weights and positive variances" not in str(error):
            raise
        reject()
    new = np.random.default_rng(1).normal(size=(50, 5))
    mean, variance = learnt.margin(KernelRows(new))
    prior = form.prior * (form.kernel.diagonal(new) + 1.0)
    assert np.isfinite(mean).all()
    # `margin` floors variances; what it floors must be their rounding error only.
    (problem,) = learnt.problems
    values = form.values(new, learnt.points)[:, problem.points]
    raw = prior + np.einsum("ij,ij->i", values @ problem.pi, values)
    assert (raw > -1e-9 * prior).all()
    assert (variance > 0).all()
    assert (variance[:, 0] <= prior * (1 + 1e-12)).all()
    assert learnt.problems[0].size <= budget


def test_a_budget_above_the_data_changes_no_bit():
    X, y = kernelled.rows(n=300)
    forms = [kernelled.form(kernels.RBF(0.1), budget=budget) for budget in (0, 300, 5000)]
    found = [kernelled.trained(kernelled.untrained(form), X, 2 * y - 1) for form in forms]
    for other in found[1:]:
        assert other.problems[0].nu.tobytes() == found[0].problems[0].nu.tobytes()
        assert np.array_equal(other.problems[0].pi, found[0].problems[0].pi)


def test_threads_change_no_bit():
    X, y = kernelled.rows(n=700, n_classes=3)
    sides = np.where(np.arange(3) == y[:, None], 1, -1)
    for columns in ([0], [0, 1, 2]):  # threads within a problem, and one a problem
        form = kernelled.form(kernels.RBF(0.1))
        one, many = (
            kernelled.trained(
                kernelled.untrained(form, len(columns)), X, sides[:, columns], threads=n
            )
            for n in (1, 4)
        )
        assert one.n_points > 400
        for a, b in zip(one.problems, many.problems, strict=True):
            assert a.nu.tobytes() == b.nu.tobytes()
            assert np.array_equal(a.pi, b.pi)


def test_rows_of_neither_side_are_scored_but_not_learnt():
    X, y = kernelled.rows(n=30)
    sides = np.where(np.arange(30) < 20, 2 * y - 1, 0)
    start = kernelled.untrained(kernelled.form())
    part = kernelled.trained(start, X[:20], sides[:20])
    whole = kernelled.trained(start, X, sides)
    np.testing.assert_array_equal(whole.margin(KernelRows(X)), part.margin(KernelRows(X)))


def test_a_row_met_again_is_the_same_point():
    X, y = kernelled.rows(n=30)
    twice = kernelled.trained(kernelled.untrained(kernelled.form()), X, 2 * y - 1, passes=2)
    assert twice.n_points <= 30


@pytest.mark.parametrize("kinds", [(sparse.csr_array,) * 2, (sparse.csr_array, np.asarray)])
def test_sparse_and_dense_points_can_follow_each_other(kinds):
    X, y = kernelled.rows(n=40)
    start = kernelled.untrained(kernelled.form(kernels.RBF(0.2)))
    parts = [slice(0, 20), slice(20, 40)]
    expected, mixed = start, start
    for part, kind in zip(parts, kinds, strict=True):
        expected = kernelled.trained(expected, X[part], 2 * y[part] - 1)
        mixed = kernelled.trained(mixed, kind(X[part]), 2 * y[part] - 1)
    np.testing.assert_allclose(
        mixed.margin(KernelRows(X)), expected.margin(KernelRows(X)), rtol=1e-9
    )


def test_training_leaves_the_weights_it_began_with():
    X, y = kernelled.rows(n=40)
    start = kernelled.trained(kernelled.untrained(kernelled.form()), X[:20], 2 * y[:20] - 1)
    before = start.margin(KernelRows(X))
    after = kernelled.trained(start, X[20:], 2 * y[20:] - 1)
    np.testing.assert_array_equal(start.margin(KernelRows(X)), before)
    assert not np.array_equal(after.margin(KernelRows(X)), before)


def test_untrained_weights_know_nothing():
    new = KernelRows(np.eye(3))
    start = kernelled.untrained(kernelled.form(prior=2.0), 2)
    mean, variance = start.margin(new)
    assert mean.tolist() == [[0.0, 0.0]] * 3
    assert variance.tolist() == [[4.0, 4.0]] * 3
    assert start.scores(new).tolist() == mean.tolist()
    assert start.winners(new).tolist() == [0, 0, 0]
    assert start.scores(KernelRows(np.zeros((0, 3)))).shape == (0, 2)


def test_columns_can_be_mirrored_and_rearranged():
    X, y = kernelled.rows(n=40)
    one = kernelled.trained(kernelled.untrained(kernelled.form()), X, 2 * y - 1)
    three = one.mirrored().with_columns([0, -1, 1])
    mean, variance = three.margin(KernelRows(X))
    own, spread = one.margin(KernelRows(X))
    np.testing.assert_allclose(mean, np.hstack([-own, 0 * own, own]), atol=1e-12)
    np.testing.assert_array_equal(variance[:, [0, 2]], np.hstack([spread, spread]))


def test_leads_of_two_classes():
    X, y = kernelled.rows(n=40)
    one = kernelled.trained(kernelled.untrained(kernelled.form()), X, 2 * y - 1)
    mean, variance = one.margin(KernelRows(X))
    found = one.leads(KernelRows(X), np.array([3, 5]))
    assert found.best.tolist() == one.winners(KernelRows(X))[[3, 5]].tolist()
    np.testing.assert_array_equal(found.gap, np.abs(mean[[3, 5], 0]))
    np.testing.assert_array_equal(found.variance, variance[[3, 5], 0])


def test_the_surest_margin_is_one_of_all_margins():
    X, y = kernelled.rows(n=60, n_classes=3)
    sides = np.where(np.arange(3) == y[:, None], 1, -1)
    three = kernelled.trained(kernelled.untrained(kernelled.form(), 3), X, sides)
    mean, variance = three.margin(KernelRows(X))
    for two_sided, size in ((False, mean), (True, np.abs(mean))):
        found, own = three.surest_margin(KernelRows(X), two_sided=two_sided)
        np.testing.assert_array_equal(found, mean)
        np.testing.assert_array_equal(own, variance[np.arange(60), size.argmax(axis=1)])
        assert len(set(size.argmax(axis=1))) == 3


def test_rows_are_scored_in_blocks(monkeypatch):
    X, y = kernelled.rows(n=60)
    one = kernelled.trained(kernelled.untrained(kernelled.form(kernels.RBF(0.3))), X, 2 * y - 1)
    whole = one.margin(KernelRows(X))
    monkeypatch.setattr(dual, "_VALUES", 7 * one.n_points)
    np.testing.assert_allclose(one.margin(KernelRows(X)), whole, rtol=1e-12)
    np.testing.assert_allclose(one.scores(KernelRows(X)), whole[0], rtol=1e-12)


def test_a_row_that_leaves_no_model_is_named():
    X, y = kernelled.rows(n=40)
    X[17], y[17] = X[3], 1 - y[3]  # of which nothing is left to learn
    start = kernelled.untrained(kernelled.form(kernels.RBF(0.3)))
    with pytest.raises(ValueError, match=r"row \d+ must leave finite weights"):
        kernelled.trained(start, X, 2 * y - 1, rule=rules.AROW(r=1e-25))


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_that_overflow_are_refused(kernel):
    X, y = kernelled.rows(n=40)
    start = kernelled.untrained(kernelled.form(KERNELS[kernel]))
    with pytest.raises(ValueError, match="X must have values whose kernel is finite"):
        kernelled.trained(start, X * 1e200, 2 * y - 1)


def test_rows_whose_own_kernel_overflows_have_no_variance():
    """Those with the support points do not."""
    X, y = kernelled.rows(n=40)
    start = kernelled.untrained(kernelled.form(KERNELS["linear"]))
    learnt, large = kernelled.trained(start, X, 2 * y - 1), KernelRows(X * 1e155)
    assert np.isfinite(learnt.scores(large)).all()
    with pytest.raises(ValueError, match="X must have values whose kernel is finite"):
        learnt.margin(large)


def test_an_exception_of_a_custom_rule_is_raised():
    def rule(m, v):
        raise KeyError("mine")

    X, y = kernelled.rows(n=40, n_classes=3)
    sides = np.where(np.arange(3) == y[:, None], 1, -1)
    start = kernelled.untrained(kernelled.form(), 3)
    with pytest.raises(KeyError, match="mine"):
        kernelled.trained(start, X, sides, rule=rules.Custom(rule, compiled=False), threads=2)


def test_support_points_that_do_not_fit_are_refused(monkeypatch):
    X, y = kernelled.rows(n=400)
    monkeypatch.setattr(weights, "MEMORY_LIMIT", 8 * 100**2)
    with pytest.raises(MemoryError, match=r"got up to \d+ points, which need .* MB"):
        kernelled.trained(kernelled.untrained(kernelled.form()), X, 2 * y - 1, rule="probit")
    with pytest.raises(MemoryError, match="got up to 200 points"):
        kernelled.trained(kernelled.untrained(kernelled.form(budget=200)), X, 2 * y - 1)
    sides = np.stack([2 * y - 1] * 3, axis=1)
    with pytest.raises(MemoryError, match="got up to 400 points in each of 3 problems"):
        kernelled.trained(kernelled.untrained(kernelled.form(), 3), X, sides)
    learnt = kernelled.trained(kernelled.untrained(kernelled.form(budget=100)), X, 2 * y - 1)
    assert learnt.problems[0].size == 100


def test_the_numbers_of_a_problem_outlive_it():
    X, y = kernelled.rows(n=40)
    one = kernelled.trained(kernelled.untrained(kernelled.form()), X, 2 * y - 1)
    views = [getattr(one.problems[0], name) for name in ("nu", "pi", "points")]
    copies = [view.copy() for view in views]
    del one
    gc.collect()
    for view, copy in zip(views, copies, strict=True):
        np.testing.assert_array_equal(view, copy)


def test_a_point_that_is_not_among_others_has_no_place():
    X, _ = kernelled.rows(n=9)
    form = kernelled.form(KERNELS["linear"], second_order=True, budget=0)
    training = dual.DualTraining(kernelled.untrained(form), KernelRows(X))
    places = training._places(np.array([2, 5]))
    assert places.tolist() == [-1, -1, 0, -1, -1, 1, -1, -1, -1]


def test_the_mirror_of_a_column_has_its_mean_with_the_other_sign():
    X, y = kernelled.rows(n=20)
    form = kernelled.form(KERNELS["linear"], second_order=True, budget=0)
    found = kernelled.trained(kernelled.untrained(form), X, 2 * y - 1)
    (own,) = found.state()
    other, same = found.mirrored().state()
    assert own.nu.any()
    assert own.sites.any()
    np.testing.assert_array_equal(other.nu, -own.nu)
    np.testing.assert_array_equal(other.sites, own.sites * [-1.0, 1.0])
    np.testing.assert_array_equal(same.nu, own.nu)
    np.testing.assert_array_equal(same.sites, own.sites)
