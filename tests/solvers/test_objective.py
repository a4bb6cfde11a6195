"""The prior's value and gradient, and variances by Laplace's approximation."""

from __future__ import annotations

import numpy as np
import pytest

from losses import TwoClassLoss
from surelearn.solvers import Prior, Progress, laplace, printed


def test_the_gradient_of_the_prior_is_that_of_its_value():
    prior = Prior(np.array([1.0, -2.0, 0.5]), np.array([3.0, 0.0, 2.0]))
    w, gradient = np.array([0.3, 4.0, -1.0]), np.ones(3)
    assert prior.add_to(gradient, w) == prior.value(w)
    step = 1e-6 * np.eye(3)
    slopes = [(prior.value(w + h) - prior.value(w - h)) / 2e-6 for h in step]
    np.testing.assert_allclose(gradient - 1, slopes, atol=1e-8)


def test_a_prior_without_mean_is_centred_at_zero():
    w = np.array([1.0, 2.0])
    assert Prior(None, 3.0).value(w) == Prior(np.zeros(2), np.full(2, 3.0)).value(w) == 7.5
    np.testing.assert_array_equal(Prior(None, 1.0).start(2), [0.0, 0.0])


def test_a_start_at_the_mean_is_a_copy():
    prior = Prior(np.ones(2), 1.0)
    prior.start(2)[:] = 5
    np.testing.assert_array_equal(prior.mean, [1.0, 1.0])


@pytest.mark.parametrize("precision", [0.5, np.array([0.5, 2.0, 7.0])])
def test_laplace_is_the_inverse_hessian_of_orthogonal_features(precision):
    X = np.kron(np.eye(3), np.array([[1.0], [2.0], [-3.0]]))
    loss, w = TwoClassLoss(X, np.resize([1.0, -1.0], 9)), np.array([0.2, -1.0, 0.4])
    step, hessian = 1e-5, np.empty((3, 3))
    for j, h in enumerate(step * np.eye(3)):
        above, below = np.empty(3), np.empty(3)
        loss.log_loss(w + h, above, 1)
        loss.log_loss(w - h, below, 1)
        hessian[j] = (above - below) / (2 * step)
    want = np.diagonal(np.linalg.inv(hessian + np.diag(np.broadcast_to(precision, 3))))
    np.testing.assert_allclose(laplace(loss, Prior(None, precision), w), want, rtol=1e-7)


@pytest.mark.parametrize(
    ("gap", "line"),
    [
        (0.0123456, "iteration 12: objective 12,345.7, gap 0.0123, 3.2 s\n"),
        (None, "iteration 12: objective 12,345.7, 3.2 s\n"),
    ],
)
def test_a_line_names_objective_gap_and_seconds(capsys, gap, line):
    report = printed(1)
    report(Progress(12, 12345.6789, gap, 3.21))
    assert capsys.readouterr().out == line


def test_nothing_is_printed_unless_asked():
    assert printed(0) is None
