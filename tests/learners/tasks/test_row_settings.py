"""Parameters of a classifier: what is refused, and what they make of rows and weights."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from classifiers import X4, Y4, fingerprint, spread
from surelearn import SureClassifier, constraints, rules


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"rule": "cw"}, ValueError, "rule must be one of 'variance', 'variance-exact'.*got 'cw'"),
        ({"projection": "both"}, ValueError, "projection must be one of 'auto', 'precision', 'cov"),
        (
            {"constraints": "double"},
            ValueError,
            "constraints must be one of 'auto', 'single', 'sequ",
        ),
        ({"multiclass": "all"}, ValueError, "multiclass must be one of 'joint', 'ovr'"),
        ({"combine": "sum"}, ValueError, "combine must be one of 'evidence', 'bayes'"),
        ({"passes": 0}, ValueError, "passes must be at least 1, got 0"),
        ({"passes": 1.5}, TypeError, "passes must be a whole number, got 1.5"),
        ({"shuffle": "yes"}, TypeError, "shuffle must be True or False, got 'yes'"),
        ({"initial_variance": 0}, ValueError, r"initial_variance must be in \(0, inf\), got 0"),
        ({"initial_variance": 1e60}, ValueError, "initial_variance must be within .* 'float32'"),
        ({"dtype": "float16"}, ValueError, "dtype must be 'float32' or 'float64', got 'float16'"),
        ({"class_weight": "even"}, ValueError, "class_weight must be None, 'balanced' or a dict"),
        ({"class_weight": {"no": -1}}, ValueError, r"class_weight\['no'\] must be in \[0, inf\)"),
        ({"n_jobs": "all"}, TypeError, "n_jobs must be a whole number"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be None, negative or at least 1, got 0"),
        ({"verbose": "a lot"}, TypeError, "verbose must be a whole number, got 'a lot'"),
        ({"rule": rules.Rule()}, TypeError, "rule must be one of 'variance'"),
        ({"covariance": "half"}, ValueError, "covariance must be one of 'diagonal', 'full', got"),
        ({"covariance": "full", "rule": "pa"}, ValueError, "keeps variances, got PA\\(\\)"),
        ({"constraints": "exact"}, ValueError, "Exact.* needs rule Variance, .*got Probit"),
        ({"constraints": "exact", "rule": "scw1"}, ValueError, "needs rule Variance.*got SCW1"),
        ({"constraints": constraints.Exact}, TypeError, r"value such as Exact\(\), got the class"),
        ({"multiclass": None}, TypeError, "multiclass must be one of 'joint'.* matrix, got None"),
        ({"multiclass": np.eye(2)}, ValueError, "must have a .1 and a -1 in every column"),
        ({"cost": np.eye(2)}, ValueError, "cost must be 0 where the label is right"),
        ({"cost": "high"}, TypeError, "cost must be a square matrix of numbers, got 'high'"),
        ({"cost": [[0, 1]]}, ValueError, r"cost must be a square matrix, got shape \(1, 2\)"),
        ({"cost": [[0, -1], [1, 0]]}, ValueError, r"cost must hold numbers in \[0, 1e6\]"),
        (
            {"cost": 1 - np.eye(3), "rule": "arow"},
            ValueError,
            r"cost must be a \(2, 2\) matrix for classes .*3, 3",
        ),
        ({"cost": 1 - np.eye(2), "rule": "probit"}, ValueError, "asks for a margin, got Probit"),
        ({"n_shards": 0}, ValueError, "n_shards must be at least 1, got 0"),
        ({"merge_every": 0}, ValueError, "merge_every must be at least 1, got 0"),
        (
            {"n_shards": 2, "rule": "pa", "combine": "bayes"},
            ValueError,
            r"combine must be 'evidence' or 'uniform' for rule PA\(\), which keeps no",
        ),
    ],
)
def test_wrong_parameters_are_named(params, error, message):
    clf = SureClassifier(scale=False).fit(X4, Y4)
    before = fingerprint(clf)
    clf.set_params(**params)
    for call in (clf.fit, clf.partial_fit):
        with pytest.raises(error, match=message):
            call(X4, Y4)
    with pytest.raises(error, match=message):
        clf.learn_one(X4[0], "no")
    assert fingerprint(clf) == before


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"dtype": "float64"}, "dtype must stay 'float32' in a fitted model, got 'float64'"),
        ({"fit_intercept": False}, "fit_intercept must stay True"),
        ({"average": True}, "average must stay False"),
        ({"initial_variance": 2.0}, "initial_variance must stay 1.0"),
        ({"rule": "perceptron"}, "rule must stay a second-order one"),
    ],
)
def test_a_fitted_model_keeps_its_form(params, message):
    clf = SureClassifier(scale=False).fit(X4, Y4).set_params(**params)
    with pytest.raises(ValueError, match=message):
        clf.partial_fit(X4, Y4)
    clf.fit(X4, Y4)


def test_class_weights_and_sample_weights_multiply():
    X, y = spread()
    options = {"shuffle": False, "passes": 1}
    by_class = SureClassifier(class_weight={1: 3.0, 2: 0.0}, **options, scale=False).fit(X, y)
    by_row = SureClassifier(**options, scale=False).fit(
        X, y, sample_weight=np.select([y == 1, y == 2], [3.0, 0.0], 1.0)
    )
    assert fingerprint(by_class) == fingerprint(by_row)
    assert by_class.classes_.tolist() == [0, 1]


def test_balanced_weights_use_all_counts_in_fit_and_running_ones_in_a_stream():
    X, y = spread(60)
    y = np.where(np.arange(60) % 5 == 0, y, 0)
    options = {"shuffle": False, "passes": 1, "projection": "covariance"}
    counts = np.bincount(y)
    by_row = SureClassifier(**options, scale=False).fit(X, y, sample_weight=60 / (3 * counts[y]))
    fitted = SureClassifier(class_weight="balanced", **options, scale=False).fit(X, y)
    assert fingerprint(by_row) == fingerprint(fitted)

    running, seen = [], {}
    for n, label in enumerate(y, 1):
        seen[label] = seen.get(label, 0) + 1
        running.append(n / (len(seen) * seen[label]))
    by_row = SureClassifier(**options, scale=False).partial_fit(X, y, sample_weight=running)
    whole = SureClassifier(class_weight="balanced", **options, scale=False).partial_fit(X, y)
    pieces = SureClassifier(class_weight="balanced", **options, scale=False)
    for a in range(0, 60, 7):
        pieces.partial_fit(X[a : a + 7], y[a : a + 7])
    pieces_one = SureClassifier(class_weight="balanced", **options, scale=False)
    for x, label in zip(X, y, strict=True):
        pieces_one.learn_one(x, label)
    assert fingerprint(by_row) == fingerprint(whole) == fingerprint(pieces)
    assert fingerprint(pieces_one) == fingerprint(whole)


def test_projection_is_decided_once():
    X, y = spread()
    assert SureClassifier(scale=False).fit(X, y).projection_ == "covariance"
    clf = SureClassifier(scale=False).fit(sparse.csr_matrix(X), y)
    assert clf.projection_ == "precision"
    assert clf.partial_fit(X, y).projection_ == "precision"
    assert clf.fit(X, y).projection_ == "covariance"
    assert SureClassifier(projection="precision", scale=False).fit(X, y).projection_ == "precision"
    one = SureClassifier(scale=False).learn_one(sparse.csr_matrix(X[:1]), 0)
    assert one.projection_ == "precision"
