"""Several questions at once: each as if those before had been answered."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy import sparse

from queried import SECOND_ORDER, code_of, fitted, plain, with_ones
from reference import active as reference
from reference.rules import REGISTRY
from surelearn import SureClassifier, rules
from surelearn.active import query, scores


def gain_of(clf: SureClassifier):
    rule = rules.get(clf.rule)
    step = partial(REGISTRY[rule.name], **rule.params())
    return lambda v, a: step(0.0, v, *([a] if rule.name == "variance-exact" else []))[1]


@pytest.mark.parametrize("rule", SECOND_ORDER)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_batch_is_the_one_of_variances_that_really_shrink(rule, n_classes):
    clf, X = fitted(n_classes, rule=rule)
    noise = getattr(rules.get(rule), "noise", 0.0)
    want = reference.batch(plain(clf), with_ones(X), 12, gain_of(clf), noise=noise)
    assert query(clf, X, 12, batch=True).tolist() == want
    assert query(clf, sparse.csr_matrix(X), 12, batch=True).tolist() == want


@pytest.mark.parametrize("projection", ["precision", "covariance"])
def test_a_batch_goes_by_the_projection(projection):
    clf, X = fitted(3, rule="arow", projection=projection)
    want = reference.batch(plain(clf), with_ones(X), 20, gain_of(clf))
    assert query(clf, X, 20, batch=True).tolist() == want


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_batch_with_full_covariance(n_classes):
    clf, X = fitted(n_classes, rule="arow", covariance="full")
    want = reference.batch(plain(clf), with_ones(X), 12, gain_of(clf))
    assert query(clf, X, 12, batch=True).tolist() == want


@pytest.mark.parametrize("how", ["ovr", "ovo", "ecoc"])
def test_a_batch_with_reductions(how):
    clf, X = fitted(4, rule="stdev", multiclass=how, decoding="scores")
    want = reference.batch(plain(clf), with_ones(X), 12, gain_of(clf), code_of(clf))
    assert query(clf, X, 12, batch=True).tolist() == want


def test_a_batch_asks_about_no_copy_where_there_is_something_else():
    X = np.eye(6)
    y = [0, 1, 0, 1, 0, 1]
    clf = SureClassifier("stdev", fit_intercept=False).fit(X, y)
    rows = np.array([X[0] + X[1], X[0] + X[1], X[0] + X[1], X[2] + 1.02 * X[3]])
    assert query(clf, rows, 2).tolist() == [0, 1]
    assert scores(clf, rows)[:3].tolist() == [0.0, 0.0, 0.0]
    assert query(clf, rows, 3, batch=True).tolist() == [0, 3, 1]


def test_a_batch_leaves_the_model_as_it_was(tmp_path):
    clf, X = fitted(3)
    clf.save(tmp_path / "before")
    query(clf, X, 30, batch=True)
    clf.save(tmp_path / "after")
    assert (tmp_path / "before").read_bytes() == (tmp_path / "after").read_bytes()
