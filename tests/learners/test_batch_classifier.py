"""What batch classifiers share: weights, going on, a Gaussian like that of all others, files."""

from __future__ import annotations

import io
import pickle
import signal
import threading

import numpy as np
import pandas
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from classifiers import fingerprint, spread
from containers import content, settings_of, with_settings
from surelearn import (
    FormatError,
    MulticlassSVM,
    SoftmaxClassifier,
    SureClassifier,
    active,
    load,
    merge,
)

BOTH = [SoftmaxClassifier, MulticlassSVM]
two_kinds = pytest.mark.parametrize("kind", BOTH)
two_sizes = pytest.mark.parametrize("n_classes", [2, 4])


def overlapping(n_classes=3, n=200, d=4, seed=0):
    X, y = spread(n, d, n_classes, seed)
    return X / 3, np.array([f"c{k}" for k in range(n_classes)])[y]


def trained(kind, X, y, **params):
    return kind(**{"tol": 1e-6, "random_state": 0, "max_iter": 100_000} | params).fit(X, y)


@two_kinds
@two_sizes
def test_dense_sparse_and_frames_are_the_same(kind, n_classes):
    X, y = overlapping(n_classes)
    dense = trained(kind, X, y)
    assert fingerprint(trained(kind, sparse.csr_matrix(X), y))[-1] == fingerprint(dense)[-1]
    named = trained(kind, pandas.DataFrame(X, columns=list("abcd")), y)
    assert fingerprint(named) == fingerprint(dense)
    assert named.feature_names_in_.tolist() == list("abcd")


@two_kinds
def test_rows_can_be_dicts_of_names(kind):
    rows = [{"city": "Rome"}, {"city": "Oslo"}, {"city": "Rome", "age": 3.0}, {"city": "Oslo"}]
    clf = kind().fit(rows, ["hot", "cold", "hot", "cold"])
    assert clf.predict([{"city": "Oslo"}]) == ["cold"]
    assert clf.predict_one({"city": "Rome"}) == "hot"
    assert "city=Rome" in set(clf.explain().feature)
    clf.partial_fit([{"sky": "blue"}], ["hot"])
    assert "sky=blue" in set(clf.explain().feature)


@two_kinds
@two_sizes
def test_a_weight_is_a_row_repeated(kind, n_classes):
    X, y = overlapping(n_classes)
    weight = np.arange(len(y)) % 3
    weighted = kind(tol=1e-8, max_iter=100_000).fit(X, y, sample_weight=weight)
    repeated = trained(kind, np.repeat(X, weight, 0), np.repeat(y, weight), tol=1e-8)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-6)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=2e-3)
    np.testing.assert_allclose(weighted.sigma_, repeated.sigma_, rtol=1e-2)
    assert weighted.model_.counts.sum() == np.count_nonzero(weight)


@two_kinds
def test_class_weights_are_row_weights(kind):
    X, y = overlapping()
    X, y = X[:150], y[:150]
    labels, counts = np.unique(y, return_counts=True)
    balanced = dict(zip(labels.tolist(), (len(y) / (3 * counts)).tolist(), strict=True))
    by_rows = kind(random_state=0).fit(X, y, sample_weight=[balanced[label] for label in y])
    for class_weight in ("balanced", balanced):
        by_class = kind(random_state=0, class_weight=class_weight).fit(X, y)
        assert fingerprint(by_class) == fingerprint(by_rows)
    with pytest.raises(ValueError, match="class_weight must have keys among the classes"):
        kind(class_weight={"c9": 2.0}).fit(X, y)


@two_kinds
@two_sizes
def test_threads_change_no_bit(kind, n_classes):
    X, y = overlapping(n_classes, n=3000)
    one, two = (trained(kind, X, y, n_jobs=n, tol=1e-3) for n in (1, 2))
    assert fingerprint(one) == fingerprint(two)
    assert (one.objective_, one.n_iter_) == (two.objective_, two.n_iter_)


@two_kinds
def test_fewer_than_two_classes_are_refused_by_fit(kind):
    with pytest.raises(ValueError, match="fit needs at least two classes, got 1 class: 'a'"):
        kind().fit([[1.0], [2.0]], ["a", "a"])


@two_kinds
def test_a_refused_call_changes_nothing(kind):
    X, y = overlapping()
    clf = trained(kind, X, y)
    before = fingerprint(clf), clf.objective_, clf.n_features_in_
    with pytest.raises(ValueError, match=r"n_features|features"):
        clf.partial_fit(X[:, :2], y)
    with pytest.raises(ValueError, match=r"NaN|finite"):
        clf.fit(np.full((2, 7), np.nan), ["a", "b"])
    with pytest.raises(TypeError, match="y must hold labels of the same type as before"):
        clf.partial_fit(X, np.arange(len(y)))
    with pytest.raises(ValueError, match="max_iter must be at least 1"):
        clone(clf).set_params(max_iter=0).fit(X, y)
    assert (fingerprint(clf), clf.objective_, clf.n_features_in_) == before


@two_kinds
def test_an_overflow_is_refused(kind):
    X = np.array([[1e200, 1.0], [-1e200, 2.0], [1e200, 3.0]])
    with pytest.raises(ValueError, match=r"X must have values whose loss is finite.*Scale"):
        kind(max_iter=3).fit(X, ["a", "b", "c"])


# ------------------------------------------------------------------- convergence


@two_kinds
def test_a_problem_that_does_not_converge_warns_and_keeps_the_model(kind):
    X, y = overlapping()
    name = kind.__name__
    with pytest.warns(
        ConvergenceWarning,
        match=rf"{name} must converge within max_iter=1 iterations, got an objective of .* a gap",
    ) as caught:
        clf = kind(tol=1e-9, max_iter=1).fit(X, y)
    assert caught[0].filename == __file__
    assert clf.n_iter_ == 1
    assert clf.gap_ > 1e-9 * clf.objective_
    assert clf.score(X, y) > 0.4


@two_kinds
def test_verbose_prints_objective_gap_and_seconds(kind, capsys):
    X, y = overlapping()
    clf = kind(verbose=1, random_state=0).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("iteration 1: objective ")
    last = f"iteration {clf.n_iter_}: objective {clf.objective_:,.6g}, gap {clf.gap_:.3g}, "
    assert lines[-1].startswith(last)
    assert lines[-1].endswith(" s")


@two_kinds
def test_ctrl_c_keeps_the_best_so_far(kind):
    X, y = overlapping(n=20_000, d=40)
    clf = kind(tol=1e-15, max_iter=10**7)
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        clf.fit(X, y)
    timer.join()
    assert clf.n_iter_ >= 1
    assert np.isfinite(clf.objective_)
    assert clf.score(X, y) > 0.4
    assert (clf.sigma_ > 0).all()


# ---------------------------------------------------------------------- going on


@two_kinds
@two_sizes
def test_chunks_come_near_all_rows_at_once(kind, n_classes):
    X, y = overlapping(n_classes, n=600)
    whole = trained(kind, X, y)
    parts = kind(random_state=0)
    for rows in np.array_split(np.arange(600), 4):
        parts.partial_fit(X[rows], y[rows], classes=np.unique(y))
    assert np.mean(parts.predict(X) == whole.predict(X)) > 0.9
    assert (parts.sigma_ < kind().fit(X[:150], y[:150]).sigma_).mean() > 0.9
    np.testing.assert_array_equal(parts.model_.counts, whole.model_.counts)


@two_kinds
def test_the_first_partial_fit_minimises_the_objective_with_a_penalised_intercept(kind):
    X, y = overlapping(4)
    chunk = kind(tol=1e-8, max_iter=100_000, random_state=0).partial_fit(X, y)
    ones = np.hstack([X, np.ones((len(y), 1))])
    whole = trained(kind, ones, y, tol=1e-8, fit_intercept=False)
    assert chunk.objective_ == pytest.approx(whole.objective_, rel=1e-6)
    np.testing.assert_allclose(chunk.coef_, whole.coef_[:, :4], atol=2e-3)
    np.testing.assert_allclose(chunk.intercept_, whole.coef_[:, 4], atol=2e-3)


@two_kinds
def test_a_sure_model_moves_little(kind):
    X, y = overlapping(2, n=2000)
    clf = trained(kind, X, y, tol=1e-4)
    before, sigma = clf.coef_.copy(), clf.sigma_.copy()
    clf.partial_fit(X[:1], y[:1])
    assert (np.abs(clf.coef_ - before) < 3 * np.sqrt(sigma)).all()
    assert (clf.sigma_ <= sigma).all()
    fresh = kind().partial_fit(X[:1], y[:1], classes=np.unique(y))
    assert np.abs(fresh.coef_).max() > np.abs(clf.coef_ - before).max()


@two_kinds
def test_classes_that_appear_later_are_learnt(kind):
    X, y = overlapping(3, n=300)
    clf = kind(random_state=0)
    clf.partial_fit(X[y == "c0"], y[y == "c0"])  # counted only
    assert clf.predict(X[:2]).tolist() == ["c0", "c0"]
    assert not hasattr(clf, "objective_")
    early = y != "c2"
    clf.partial_fit(X[early], y[early])
    assert clf.coef_.shape == (1, 4)
    clf.partial_fit(X, y)
    assert clf.coef_.shape == (3, 4)
    assert clf.score(X, y) > 0.6
    counts = [np.sum(y == "c0") * 3, np.sum(y == "c1") * 2, np.sum(y == "c2")]
    assert clf.model_.counts.tolist() == counts


@two_kinds
def test_classes_can_be_declared_without_rows(kind):
    X, y = overlapping(2)
    clf = kind().partial_fit(X, y, classes=["c0", "c1", "c2"])
    assert clf.classes_.tolist() == ["c0", "c1", "c2"]
    assert clf.coef_.shape == (3, 4)
    assert set(clf.predict(X)) <= {"c0", "c1"}
    before = fingerprint(clf)
    clf.partial_fit(X, y, sample_weight=np.zeros(len(y)))
    assert fingerprint(clf) == before
    assert kind().partial_fit(X, y, classes=["c0", "c1"]).coef_.shape == (1, 4)


@two_kinds
def test_balanced_weights_of_chunks_count_all_rows_so_far(kind):
    X, y = overlapping(2, n=300)
    clf = kind(class_weight="balanced", random_state=0).partial_fit(X[:100], y[:100])
    clf.partial_fit(X[100:], y[100:])
    counts = np.unique(y, return_counts=True)[1]
    of_class = dict(zip(["c0", "c1"], 300 / (2 * counts), strict=True))
    first = np.unique(y[:100], return_counts=True)[1]
    of_first = dict(zip(["c0", "c1"], 100 / (2 * first), strict=True))
    by_rows = kind(random_state=0)
    by_rows.partial_fit(X[:100], y[:100], sample_weight=[of_first[label] for label in y[:100]])
    by_rows.partial_fit(X[100:], y[100:], sample_weight=[of_class[label] for label in y[100:]])
    assert fingerprint(by_rows) == fingerprint(clf)


@two_kinds
def test_settings_of_the_weights_must_stay(kind):
    X, y = overlapping()
    clf = kind().fit(X, y)
    with pytest.raises(ValueError, match="fit_intercept must stay True in a fitted model"):
        clf.set_params(fit_intercept=False).partial_fit(X, y)


# -------------------------------------------------------------------------- online


@two_kinds
@two_sizes
def test_a_stream_goes_on_from_the_batch_optimum(kind, n_classes):
    X, y = overlapping(n_classes)
    batch = trained(kind, X, y)
    clf = batch.online(passes=1)
    assert isinstance(clf, SureClassifier)
    np.testing.assert_array_equal(clf.coef_, batch.coef_)
    np.testing.assert_array_equal(clf.sigma_, batch.sigma_)
    np.testing.assert_array_equal(clf.predict(X), batch.predict(X))
    before = fingerprint(batch)
    clf.partial_fit(X, y).learn_one(X[0], y[0])
    clf.partial_fit(X[:3], ["new", "new", "c0"])
    assert "new" in clf.classes_
    assert fingerprint(batch) == before
    assert (clf.sigma_[0] < batch.sigma_.max()).all()


@two_kinds
def test_online_keeps_names_and_takes_parameters(kind):
    X, y = overlapping(2)
    named = trained(kind, pandas.DataFrame(X, columns=list("abcd")), y)
    clf = named.online("arow", passes=3)
    assert (clf.rule, clf.passes) == ("arow", 3)
    assert clf.feature_names_in_.tolist() == list("abcd")
    clf.partial_fit(pandas.DataFrame(X, columns=list("abcd")), y)
    rows = [{"city": "Rome"}, {"city": "Oslo"}]
    hashed = kind().fit(rows, ["hot", "cold"]).online()
    assert hashed.learn_one({"city": "Bern"}, "cold").predict_one({"city": "Bern"}) == "cold"
    with pytest.raises(ValueError, match="rule must stay a second-order one"):
        named.online("perceptron")
    with pytest.raises(ValueError, match="average must stay False"):
        named.online(average=True)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        kind().online()


@two_kinds
def test_an_online_model_can_be_saved_and_goes_on(kind):
    X, y = overlapping()
    clf = trained(kind, X, y).online()
    file = io.BytesIO()
    clf.save(file)
    file.seek(0)
    assert fingerprint(load(file).partial_fit(X, y)) == fingerprint(clf.partial_fit(X, y))


# ------------------------------------------------------------------- like the others


@two_kinds
@two_sizes
def test_margins_and_explanations_have_variances(kind, n_classes):
    X, y = overlapping(n_classes)
    clf = trained(kind, X, y)
    mean, variance = clf.margin(X)
    sigma = np.vstack([clf.sigma_.T, clf.intercept_sigma_])
    want = np.hstack([X, np.ones((len(X), 1))]) ** 2 @ sigma
    np.testing.assert_allclose(variance, want[:, 0] if n_classes == 2 else want)
    np.testing.assert_allclose(mean, clf.decision_function(X))
    tables = [clf.explain(X[0], label=label) for label in clf.classes_[-variance[0].size :]]
    shares = [np.sum(table.variance) for table in tables]
    np.testing.assert_allclose(shares, np.atleast_1d(variance[0]))
    assert (np.asarray(clf.explain().deviation) > 0).all()
    entropy = clf.entropy(X)
    assert ((entropy >= 0) & (entropy <= 1)).all()


@two_kinds
@two_sizes
def test_probabilities_are_consistent(kind, n_classes):
    X, y = overlapping(n_classes)
    clf = trained(kind, X, y)
    p = clf.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_allclose(np.exp(clf.predict_log_proba(X)), p, atol=1e-12)
    one = clf.predict_proba_one(X[0])
    np.testing.assert_allclose(list(one.values()), p[0])
    clf.calibrate(X, y)
    assert clf.temperature_ != 1.0
    losses = [-np.log(q[np.arange(len(y)), np.searchsorted(clf.classes_, y)]).mean()
              for q in (p, clf.predict_proba(X))]  # fmt: skip
    assert losses[1] <= losses[0]
    assert not hasattr(clf.fit(X, y), "temperature_")
    assert clf.reliability(X, y).error == pytest.approx(1 - clf.score(X, y))


@two_kinds
@pytest.mark.parametrize("strategy", ["acl", "margin", "entropy", "least-confident"])
def test_rows_can_be_queried(kind, strategy):
    X, y = overlapping(3)
    clf = trained(kind, X[:100], y[:100])
    asked = active.query(clf, X[100:], n=5, strategy=strategy)
    assert len(set(asked)) == 5
    found = active.scores(clf, X[100:], strategy=strategy)
    assert set(np.argsort(found, kind="stable")[:5]) == set(asked)


@two_kinds
def test_models_of_parts_are_merged(kind):
    X, y = overlapping(3, n=900)
    parts = [trained(kind, X[i::3], y[i::3], tol=1e-4) for i in range(3)]
    one = merge(parts)
    assert isinstance(one, kind)
    assert one.score(X, y) >= min(part.score(X, y) for part in parts)
    assert one.model_.counts.sum() == 900
    assert not hasattr(one, "objective_")
    assert merge([parts[0]]).coef_.tobytes() == parts[0].coef_.tobytes()
    bayes = merge(parts, "bayes")
    precision = sum(1 / part.sigma_ for part in parts) - 2 / parts[0].model_.initial_variance
    np.testing.assert_allclose(1 / bayes.sigma_, precision)
    assert (bayes.sigma_ < parts[0].sigma_).all()
    np.testing.assert_array_equal(merge([parts[0], clone(parts[1])]).coef_, parts[0].coef_)
    with pytest.raises(ValueError, match="fit_intercept"):
        merge([parts[0], trained(kind, X, y, fit_intercept=False)])
    with pytest.raises(ValueError, match="kind"):
        merge([parts[0], SureClassifier().fit(X, y)])


@two_kinds
@two_sizes
def test_a_file_holds_every_bit(kind, n_classes):
    X, y = overlapping(n_classes)
    clf = trained(kind, X, y).calibrate(X, y)
    file = io.BytesIO()
    clf.save(file)
    other = load(io.BytesIO(file.getvalue()))
    assert type(other) is kind
    assert fingerprint(other) == fingerprint(clf)
    assert other.get_params() == clf.get_params()
    for name in ("objective_", "gap_", "n_iter_", "temperature_", "n_features_in_"):
        assert getattr(other, name) == getattr(clf, name)
    np.testing.assert_array_equal(other.predict_proba(X), clf.predict_proba(X))
    again = io.BytesIO()
    other.save(again)
    assert again.getvalue() == file.getvalue()


@two_kinds
@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("params", "l2"), 2.0),
        (("params", "C"), -1.0),
        (("params", "fit_intercept"), False),
        (("params", "solver"), "newton"),
        (("params", "rule"), "arow"),
        (("layout", "dtype"), "float32"),
        (("layout", "second_order"), False),
        (("layout", "averaged"), True),
        (("layout", "covariance"), "full"),
        (("initial_variance",), 2.0),
        (("solution", "n_iter"), -1),
        (("solution", "objective"), "low"),
        (("solution",), None),
        (("kind",), "SureClassifier"),
        (("kind",), "CRFTagger"),
    ],
)
def test_files_that_contradict_themselves_are_refused(kind, place, value):
    whole = content(kind().fit(*overlapping()))
    settings = settings_of(whole)
    inner = settings
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = value
    with pytest.raises(FormatError, match=r"must|needs|damaged"):
        load(io.BytesIO(with_settings(whole, settings)))


@two_kinds
def test_a_pickle_is_the_same_model(kind):
    X, y = overlapping()
    clf = trained(kind, X, y)
    assert fingerprint(pickle.loads(pickle.dumps(clf))) == fingerprint(clf)


@two_kinds
def test_parameters_of_online_learners_are_absent(kind):
    clf = kind().fit(*overlapping())
    for name in ("rule", "projection_", "mistakes_", "n_updates_", "fit_stream", "learn_one"):
        assert not hasattr(clf, name)
