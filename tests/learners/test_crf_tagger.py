"""The conditional random field: its optimum, its variances, what it starts from and refuses."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from batch_tagged import TEMPLATES, crf, examples, flat
from reference import losses
from surelearn import CRFTagger
from tagged import content, corpus

X, Y = corpus(6)


def slope(model, X, y, *, l2=1.0, weight=None):
    """The gradient of the loss, and the objective without L1."""
    w = flat(model)
    value, gradient = losses.log_loss(examples(model, X, y, weight=weight), w)
    return gradient, value + l2 / 2 * w @ w


def seen(model, X, y):
    """Whether a cell occurs in the right paths."""
    found = [(e.parts[:, e.y] != 0).any(axis=0) for e in examples(model, X, y)]
    return np.any(found, axis=0)


@pytest.mark.parametrize("kind", TEMPLATES)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_weights_are_those_of_the_least_objective(kind, weighted):
    weight = np.linspace(0.5, 2.0, len(X)) if weighted else None
    model = crf(cells="all", l2=0.7, templates=TEMPLATES[kind]).fit(X, Y, sample_weight=weight)
    gradient, value = slope(model, X, Y, l2=0.7, weight=weight)
    np.testing.assert_allclose(model.objective_, value, rtol=1e-9)
    np.testing.assert_allclose(gradient, -0.7 * flat(model), atol=1e-4)
    assert model.gap_ <= 1e-9 * model.objective_


@pytest.mark.parametrize("kind", TEMPLATES)
def test_only_what_occurs_in_the_data_has_a_weight(kind):
    model = crf(l2=0.7, templates=TEMPLATES[kind]).fit(X, Y)
    occurs = seen(model, X, Y)
    assert 0 < occurs.sum() < len(occurs)
    assert not flat(model)[~occurs].any()
    assert set(flat(model, "variances")[~occurs]) == {1 / 0.7}
    gradient, value = slope(model, X, Y, l2=0.7)
    np.testing.assert_allclose(gradient[occurs], -0.7 * flat(model)[occurs], atol=1e-4)
    np.testing.assert_allclose(model.objective_, value, rtol=1e-9)


@pytest.mark.parametrize("cells", ["observed", "all"])
def test_variances_are_those_of_independent_tokens(cells):
    model = crf(l2=0.5, cells=cells).fit(X, Y)
    bend = losses.curvature(examples(model, X, Y), flat(model))
    kept = seen(model, X, Y) | (cells == "all")
    np.testing.assert_allclose(flat(model, "variances")[kept], 1 / (0.5 + bend[kept]), rtol=1e-9)


def test_l1_makes_weights_zero_and_the_others_pay():
    model = crf(l1=0.3, cells="all").fit(X, Y)
    w, (gradient, value) = flat(model), slope(model, X, Y)
    np.testing.assert_allclose(model.objective_, value + 0.3 * np.abs(w).sum(), rtol=1e-9)
    zero = np.abs(w) < 1e-6
    assert 0.3 < zero.mean() < 1
    assert np.abs(gradient[zero]).max() <= 0.3 + 1e-3
    pushed = gradient + w + 0.3 * np.sign(w)
    np.testing.assert_allclose(pushed[~zero], 0.0, atol=1e-3)


def test_stochastic_descent_comes_near_the_optimum():
    X, y = corpus(30)
    best = crf(l2=2.0).fit(X, y)
    found = crf(l2=2.0, solver="sgd", tol=1e-5, random_state=0).fit(X, y)
    assert best.objective_ <= found.objective_ <= best.objective_ * (1 + 1e-3)
    assert found.gap_ is None
    np.testing.assert_allclose(found.coef_, best.coef_, atol=0.05)


# ------------------------------------------------------------------- warm starts


def test_a_warm_start_needs_few_iterations_to_the_same_optimum():
    cold = crf(l2=2.0, tol=1e-8).fit(X, Y)
    warm = crf(tol=1e-8).fit(X, Y).set_params(warm_start=True, l2=2.0).fit(X, Y)
    again = crf(tol=1e-8, l2=2.0).fit(X, Y).set_params(warm_start=True).fit(X, Y)
    np.testing.assert_allclose(flat(warm), flat(cold), atol=1e-3)
    np.testing.assert_allclose(flat(warm, "variances"), flat(cold, "variances"), rtol=1e-3)
    assert again.n_iter_ < cold.n_iter_ / 4


def test_a_warm_start_learns_new_words_and_forgets_old_ones():
    model = crf(warm_start=True).fit(X, Y)
    model.fit([["the", "old", "zebra", "barks"]] * 3, [["D", "A", "N", "V"]] * 3)
    gone = model.features_.names.index(f"w[0]={X[0][-1]}")
    assert not model.coef_[:, gone].any()
    assert (model.sigma_[:, gone] == 1.0).all()
    assert model.predict([["the", "old", "zebra"]]) == [["D", "A", "N"]]


def test_labels_unknown_to_a_warm_start_are_named():
    model = crf(warm_start=True).fit(X, Y)
    before = content(model)
    with pytest.raises(ValueError, match=r"y must hold the labels 'A', 'D'.*the new label 'INTJ'"):
        model.fit([*X, ["oh"]], [*Y, ["INTJ"]])
    with pytest.raises(ValueError, match=r"y must hold the labels 'A', 'D'.*none that is 'A'"):
        model.fit([["the", "dog", "runs"]], [["D", "N", "V"]])
    with pytest.raises(ValueError, match="templates must stay"):
        model.set_params(templates=["w[0]"]).fit(X, Y)
    assert content(model.set_params(templates=["w[0]", "w[-1]"])) == before


# --------------------------------------------------------------------- going on


def test_what_was_learnt_is_the_prior_of_what_follows():
    model = crf(cells="all").partial_fit(X, Y)
    np.testing.assert_allclose(flat(model), flat(crf(cells="all").fit(X, Y)), atol=1e-5)
    mean, precision = flat(model), 1 / flat(model, "variances")
    more, tags = X[1:4], Y[1:4]  # of the same words, so that weights stay in their places
    w = flat(model.partial_fit(more, tags))
    _, gradient = losses.log_loss(examples(model, more, tags), w)
    np.testing.assert_allclose(gradient, -precision * (w - mean), atol=1e-3)
    bend = losses.curvature(examples(model, more, tags), w)
    np.testing.assert_allclose(1 / flat(model, "variances"), precision + bend, rtol=1e-9)


def test_weights_pay_l1_once():
    model = crf(l1=0.2).fit(X, Y)
    before = flat(model)
    model.partial_fit(X, Y, sample_weight=np.full(len(X), 1e-9))
    np.testing.assert_allclose(flat(model), before, atol=1e-6)


def test_cells_that_were_learnt_count_in_later_blocks():
    first, second = ([["dog", "runs"]] * 3, [["N", "V"]] * 3), ([["dog", "dog"]], [["N", "N"]])
    model = crf(l2=0.1).fit(*first)
    learnt = model.transitions_[0, 1]
    model.partial_fit(*second)
    assert 0 < model.transitions_[0, 1] < learnt  # it has lost to the step from N to N


# ------------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"l2": 0.0}, ValueError, r"l2 must be in \[1e-30, 1e30\], got 0.0"),
        ({"l2": -1.0}, ValueError, "l2 must be in"),
        ({"l2": "much"}, TypeError, "l2 must be a number, got 'much'"),
        ({"l2": float("nan")}, ValueError, "l2 must be in"),
        ({"l1": -0.1}, ValueError, r"l1 must be in \[0, inf\), got -0.1"),
        ({"l1": float("inf")}, ValueError, "l1 must be in"),
        ({"cells": "some"}, ValueError, "cells must be one of 'observed', 'all', got 'some'"),
        ({"solver": "newton"}, ValueError, "solver must be one of 'lbfgs', 'sgd', got 'newton'"),
        ({"solver": "sgd", "l1": 1.0}, ValueError, "l1 must be 0.0 with solver='sgd', got 1.0"),
        ({"solver": "sgd", "warm_start": True}, ValueError, "warm_start must be False with solver"),
        ({"warm_start": 1}, TypeError, "warm_start must be True or False, got 1"),
        ({"tol": -0.1}, ValueError, r"tol must be in \[0, 1\), got -0.1"),
        ({"max_iter": 0}, ValueError, "max_iter must be at least 1, got 0"),
        ({"dtype": "float16"}, (TypeError, ValueError), "dtype must be"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be"),
    ],
)
def test_bad_parameters_are_refused_and_change_nothing(options, error, message):
    model = crf().fit(X, Y)
    good, before = model.get_params(), content(model)
    model.set_params(**options)
    for learn in (model.fit, model.partial_fit):
        with pytest.raises(error, match=message):
            learn(X, Y)
    assert content(model.set_params(**good)) == before


def test_l2_stays_while_it_goes_on():
    model = crf(l2=2.0).fit(X, Y).set_params(l2=3.0)
    with pytest.raises(ValueError, match=r"l2 must stay 2.0 in a fitted model, got 3.0"):
        model.partial_fit(X, Y)


def test_too_few_iterations_are_told_and_the_model_kept():
    model = CRFTagger(max_iter=2)
    with pytest.warns(
        ConvergenceWarning, match=r"CRFTagger must converge within max_iter=2 .*gap"
    ) as told:
        model.fit(X, Y)
    assert told[0].filename == __file__
    assert model.n_iter_ == 2
    assert model.score(X, Y) > 0.5


def test_stochastic_descent_cannot_resume(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("the D\ndog N\n\n")
    model = crf(solver="sgd", tol=0.1).fit_stream(path, columns=["w", "tag"])
    with pytest.raises(
        ValueError, match=r"^resume must be False with solver='sgd', got True\. Use"
    ):
        model.fit_stream(path, resume=True)


@pytest.mark.filterwarnings("ignore:overflow")
def test_weights_whose_loss_overflows_are_refused():
    X, y = corpus()
    with pytest.raises(ValueError, match=r"whose loss is finite, got an overflow .* sample_weight"):
        CRFTagger().fit(X, y, sample_weight=np.full(len(y), 1e308))
