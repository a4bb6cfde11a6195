"""The support vector machine over sequences: its optimum, costs, margins, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from batch_tagged import TEMPLATES, examples, flat, svm
from reference import losses
from reference import svm as reference
from surelearn import SVMTagger
from tagged import LABELS, content, corpus

X, Y = corpus(6)
COST = np.array([[0, 1, 2, 0.5], [3, 0, 1, 1], [1, 1, 0, 4], [0, 1, 1, 0]])


@pytest.mark.parametrize("kind", TEMPLATES)
@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("cost", [None, COST], ids=["hamming", "costs"])
def test_the_weights_are_those_of_the_least_objective(kind, C, cost):
    weight = np.linspace(0.5, 2.0, len(X))
    model = svm(C=C, cost=cost, templates=TEMPLATES[kind]).fit(X, Y, sample_weight=weight)
    paths = examples(model, X, Y, weight=weight, cost=cost)
    assert model.objective_ == pytest.approx(reference.objective(paths, C, flat(model)), rel=1e-9)
    assert 0 <= model.gap_ <= 1e-6 * model.objective_


@pytest.mark.parametrize("C", [0.03, 0.3])
def test_a_convex_solver_finds_the_same(C):
    X, y = [["a", "dog"], ["dog", "runs"], ["a", "run"]], [["D", "N"], ["N", "V"], ["D", "N"]]
    model = svm(C=C).fit(X, y)
    best = reference.by_solver(examples(model, X, y), C)
    assert model.objective_ == pytest.approx(best.primal, rel=2e-6)
    np.testing.assert_allclose(flat(model), best.w, atol=1e-3)


def test_the_loss_is_at_least_the_cost_of_the_mistakes():
    model = svm(C=0.02, cost=COST).fit(X, Y)
    predicted = model.predict(X)
    assert predicted != Y
    for example, tags, right in zip(examples(model, X, Y, cost=COST), predicted, Y, strict=True):
        hinge, _ = losses.hinge_loss([example], flat(model))
        paid = sum(COST[LABELS.index(a), LABELS.index(b)] for a, b in zip(right, tags, strict=True))
        assert hinge >= paid - 1e-9


def test_margins_become_hard_as_c_grows():
    model = svm(C=1e4).fit(X, Y)
    for example in examples(model, X, Y):
        assert (example.differences @ flat(model) >= example.delta - 1e-3).all()


def test_variances_are_those_of_the_log_loss_at_its_scores():
    weight = np.linspace(0.5, 2.0, len(X))
    model = svm(C=0.3).fit(X, Y, sample_weight=weight)
    bend = losses.curvature(examples(model, X, Y, weight=weight), flat(model))
    np.testing.assert_allclose(flat(model, "variances"), 1 / (1 / 0.3 + bend), rtol=1e-9)


def test_subgradients_reach_the_same_objective():
    X, y = corpus(20)
    weight = np.linspace(0.5, 2.0, len(X))
    best = svm(C=0.05).fit(X, y, sample_weight=weight)
    found = svm(C=0.05, solver="sgd", tol=1e-4).fit(X, y, sample_weight=weight)
    assert best.objective_ <= found.objective_ <= best.objective_ * (1 + 1e-3)
    assert found.gap_ is None


def test_what_was_learnt_is_the_prior_of_what_follows():
    model = svm(C=0.5).partial_fit(X, Y)
    np.testing.assert_allclose(flat(model), flat(svm(C=0.5).fit(X, Y)), atol=1e-3)
    variance = flat(model, "variances")
    prior = reference.Prior(flat(model), variance / 0.5)  # the objective is C times the Gaussian's
    more, tags = X[1:4], [Y[1], ["N"] * len(Y[2]), Y[3]]
    model.partial_fit(more, tags)
    paths = examples(model, more, tags)
    value = reference.objective(paths, 0.5, flat(model), prior)
    assert model.objective_ == pytest.approx(value, rel=1e-9)
    assert model.gap_ <= 1e-6 * model.objective_
    bend = losses.curvature(paths, flat(model))
    np.testing.assert_allclose(1 / flat(model, "variances"), 1 / variance + bend, rtol=1e-9)


def test_the_order_of_a_pass_is_that_of_the_random_state():
    one, same, other = (content(SVMTagger(random_state=seed).fit(X, Y)) for seed in (1, 1, 2))
    assert one == same != other


# ------------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"C": 0.0}, ValueError, r"C must be in \[1e-30, 1e30\], got 0.0"),
        ({"C": -1.0}, ValueError, "C must be in"),
        ({"C": None}, TypeError, "C must be a number, got None"),
        ({"cost": np.ones((4, 4))}, ValueError, "cost must be 0 where the label is right"),
        ({"cost": -COST}, ValueError, "cost must hold numbers in"),
        ({"cost": COST[:3]}, ValueError, r"cost must be a square matrix, got shape \(3, 4\)"),
        (
            {"cost": COST[:3, :3]},
            ValueError,
            r"cost must be a \(4, 4\) matrix for classes 'A', 'D'",
        ),
        ({"cost": "hamming"}, TypeError, "cost must be a square matrix of numbers, got 'hamming'"),
        ({"solver": "lbfgs"}, ValueError, "solver must be one of 'frank-wolfe', 'sgd', got"),
        ({"tol": 1.0}, ValueError, r"tol must be in \[0, 1\), got 1.0"),
        ({"max_iter": 1.5}, TypeError, "max_iter must be a whole number, got 1.5"),
    ],
)
def test_bad_parameters_are_refused_and_change_nothing(options, error, message):
    model = svm().fit(X, Y)
    good, before = model.get_params(), content(model)
    model.set_params(**options)
    for learn in (model.fit, model.partial_fit):
        with pytest.raises(error, match=message):
            learn(X, Y)
    assert content(model.set_params(**good)) == before


def test_a_label_without_a_cost_is_refused_when_it_comes():
    model = svm(cost=COST).fit(X, Y)
    before = content(model)
    with pytest.raises(ValueError, match=r"cost must be a \(5, 5\) matrix for classes .*'INTJ'"):
        model.partial_fit([["oh"]], [["INTJ"]])
    assert content(model) == before


def test_too_few_passes_are_told_and_the_model_kept():
    model = SVMTagger(max_iter=1, random_state=0)
    with pytest.warns(
        ConvergenceWarning, match=r"SVMTagger must converge within max_iter=1 .*gap"
    ) as told:
        model.fit(X, Y)
    assert told[0].filename == __file__
    assert model.n_iter_ == 1
    assert model.gap_ > 1e-3 * model.objective_
