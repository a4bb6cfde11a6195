"""Threads that learn some columns each have the bits of one thread."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from classifiers import fingerprint
from surelearn import SureClassifier, SureTextClassifier, constraints, rules
from surelearn.learners.tasks import row_columns

N, D, K = 700, 60, 13
RANDOM = np.random.default_rng(0)
X = sparse.random(N, D, density=0.2, format="csr", random_state=0, dtype=np.float32)
SCORES = X @ RANDOM.standard_normal((D, K)) + 0.1 * RANDOM.standard_normal((N, K))
Y = SCORES.argmax(axis=1)
LABELS = (SCORES > 0.7).astype(int)


@pytest.fixture(autouse=True)
def threads_even_for_few_rows(monkeypatch):
    monkeypatch.setattr(row_columns, "_LEAST", 0)
    monkeypatch.setattr(row_columns, "_SPAN", 256)  # more than one in each pass


@pytest.fixture
def seen(monkeypatch):
    """The numbers of columns of the threads that have learnt something."""
    columns = []
    real = row_columns.ColumnLearner.trained

    def trained(self):
        columns.append([weights.n_columns for weights in self._weights])
        return real(self)

    monkeypatch.setattr(row_columns.ColumnLearner, "trained", trained)
    return columns


def known_of(clf):
    """All that a fit leaves behind."""
    counted = clf.mistakes_.tolist(), clf.n_updates_, clf.model_.counts.tolist()
    return fingerprint(clf), counted, clf.model_.records_learnt, clf.__dict__.get("temperature_")


@pytest.mark.parametrize(
    "params",
    [
        {"multiclass": "ovr"},
        {"multiclass": "ecoc"},
        {"multiclass": "ovr", "rule": "pa"},
        {"multiclass": "ovr", "dtype": "float64", "average": True, "passes": 3},
        {"multiclass": "ovr", "class_weight": "balanced", "projection": "covariance"},
        {"multiclass": "ovr", "shuffle": False, "fit_intercept": False},
        {"multiclass": "ovr", "constraints": constraints.Single(), "rule": "stdev"},
    ],
)
def test_classes_have_the_bits_of_one_thread(params, seen):
    weight = RANDOM.integers(0, 3, N)
    one, two = (
        SureClassifier(n_jobs=n_jobs, random_state=3, **params, scale=False).fit(
            X, Y, sample_weight=weight
        )
        for n_jobs in (1, 2)
    )
    assert known_of(one) == known_of(two)
    assert len(seen) == 1
    assert len(seen[0]) == 2
    assert all(n >= 4 for n in seen[0])


@pytest.mark.parametrize("params", [{}, {"multiclass": "ovr", "rule": "arow"}, {"average": True}])
def test_labels_have_the_bits_of_one_thread(params, seen):
    one, two = (
        SureClassifier(n_jobs=n_jobs, random_state=3, **params, scale=False).fit(X, LABELS)
        for n_jobs in (1, 2)
    )
    assert known_of(one) == known_of(two)
    assert seen == [[4, 9]]


def test_texts_take_part(seen):
    texts = [" ".join(f"w{j}" for j in row.indices) for row in X]
    one, two = (
        SureTextClassifier(multiclass="ovr", n_jobs=n_jobs, random_state=0).fit(texts, Y)
        for n_jobs in (1, 2)
    )
    assert known_of(one) == known_of(two)
    assert seen


@pytest.mark.parametrize(
    "params", [{"multiclass": "joint"}, {"multiclass": "ovo"}, {"multiclass": "ovr", "n_jobs": 1}]
)
def test_one_thread_learns_what_belongs_together(params, seen):
    SureClassifier(**{"n_jobs": 2, **params}, scale=False).fit(X, Y)
    assert not seen


def test_functions_of_users_are_called_in_one_thread(seen):
    def step(m, v):
        return max(0.0, 1.0 - m), 0.1

    SureClassifier(step, multiclass="ovr", n_jobs=2, scale=False).fit(X, Y)
    assert not seen


def test_a_refused_row_is_named_as_by_one_thread(seen):
    values = X.toarray().astype(np.float64)
    values[500] = 1e200
    errors = []
    for n_jobs in (1, 2):
        random = np.random.RandomState(7)
        clf = SureClassifier(
            "arow", multiclass="ovr", n_jobs=n_jobs, random_state=random, scale=False
        )
        with pytest.raises(ValueError, match="row 500 must leave finite weights") as caught:
            clf.fit(values, Y)
        errors.append((str(caught.value), random.randint(10**6)))
    assert errors[0] == errors[1]
    assert not seen


def test_weights_that_are_rescaled_have_the_bits_of_one_thread(seen):
    """Labels without a pattern make the variances of `Stdev` smaller and smaller."""
    values, y = RANDOM.standard_normal((400, 2)), RANDOM.integers(0, 8, 400)
    one, two = (
        SureClassifier(
            rules.Stdev(phi=2.0),
            multiclass="ovr",
            n_jobs=n_jobs,
            passes=1,
            projection="covariance",
            random_state=0,
            scale=False,
        ).fit(values, y, calibrate=False)
        for n_jobs in (1, 2)
    )
    assert one.model_.weights.prior > 1e6
    assert known_of(one) == known_of(two)
    assert not seen
