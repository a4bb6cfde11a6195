"""Parameters of a kernel classifier as training takes them."""

from __future__ import annotations

import numpy as np
import pytest

from surelearn import SureKernelClassifier, kernels
from surelearn.dual import KernelRows
from surelearn.learners.tasks.kernel import KernelSettings


def settings(rule="arow", **params):
    return KernelSettings.of(SureKernelClassifier(rule, **params).get_params(deep=False))


def test_parameters_become_a_form():
    rows = KernelRows(np.eye(3))
    form = settings(kernel="poly", gamma="auto", budget=7).untrained(rows).form
    assert form.kernel == kernels.Polynomial(gamma=1 / 3, coef0=1.0, degree=3)
    assert form.budget == 7
    assert settings(budget=None).untrained(rows).form.budget == 0
    assert settings(initial_variance=3.0).untrained(rows).form.prior == 3.0


def test_first_order_rules_have_a_variance_of_one():
    form = settings("pa1", initial_variance=3.0).untrained(KernelRows(np.eye(3))).form
    assert form.prior == 1.0
    assert not form.second_order


def test_a_layout_is_that_of_full_weights():
    layout = settings(fit_intercept=False).untrained(KernelRows(np.eye(3))).layout
    assert (layout.n_features, layout.intercept, layout.dtype) == (3, False, "float64")


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.25])
def test_a_model_fits_the_settings_it_was_made_with(gamma):
    for kernel in ("rbf", "linear", "precomputed", np.dot):
        same = settings(kernel=kernel, gamma=gamma)
        same.check_fits(same.untrained(KernelRows(np.eye(3))))


def test_a_code_must_know_all_classes():
    code = settings(multiclass="ecoc")
    model = code.untrained(KernelRows(np.eye(3))).with_classes(np.arange(4))
    with pytest.raises(ValueError, match="multiclass='ecoc' must know all classes"):
        code.check_classes(np.arange(5), model)
