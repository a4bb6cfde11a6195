"""Evaluations against scikit-learn's metrics and sums by hand; McNemar's test by enumeration."""

from __future__ import annotations

import json
from itertools import product
from math import comb, erfc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import binomtest
from sklearn import metrics
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.naive_bayes import GaussianNB

from surelearn import SureClassifier, SureTextClassifier, evaluate
from surelearn.estimators import StreamProgress
from surelearn.evaluation import Comparison, Evaluation, _evaluate
from surelearn.probability import reliability


class Oracle:
    """A classifier whose answers are given: a row is the number of its answer."""

    def __init__(self, classes, p=None, answers=None):
        self.classes_ = np.asarray(classes)
        self.p = p
        self.answers = p.argmax(axis=1) if answers is None else np.asarray(answers)
        if p is not None:
            self.predict_proba = lambda X: self.p[np.asarray(X)[:, 0]]

    def predict(self, X):
        return self.classes_[self.answers[np.asarray(X)[:, 0]]]


def rows(n):
    return np.arange(n)[:, None]


@st.composite
def answered(draw, unknown=True):
    """Classes, labels, answers and probabilities of some rows."""
    n_classes = draw(st.integers(2, 6))
    n = draw(st.integers(1, 40))
    names = [f"c{k}" for k in range(n_classes)] if draw(st.booleans()) else list(range(n_classes))
    strange = ["x", "a"] if isinstance(names[0], str) else [17, -3]
    pool = [*names, *strange] if unknown else names
    y = draw(st.lists(st.sampled_from(pool), min_size=n, max_size=n))
    answers = draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n))
    seed = draw(st.integers(0, 2**32 - 1))
    p = np.random.default_rng(seed).dirichlet(np.full(n_classes, 0.3), n)
    return names, np.array(y), np.array(answers), p


# --------------------------------------------------- agreement with scikit-learn


@given(answered(), st.integers(1, 50))
def test_scores_are_those_of_scikit_learn(case, block):
    names, y, answers, p = case
    before, _evaluate._BLOCK = _evaluate._BLOCK, block
    try:
        found = evaluate(Oracle(names, p, answers), rows(len(y)), y)
    finally:
        _evaluate._BLOCK = before
    predicted = np.array(names)[answers]
    labels = [*names, *sorted(set(y.tolist()) - set(names))]
    assert found.labels.tolist() == labels
    assert found.n == len(y)
    assert found.accuracy == pytest.approx(metrics.accuracy_score(y, predicted), abs=1e-12)
    whole = metrics.confusion_matrix(y, predicted, labels=labels)
    np.testing.assert_array_equal(found.confusion, whole[:, : len(names)])
    theirs = metrics.precision_recall_fscore_support(y, predicted, labels=labels, zero_division=0)
    for own, other in zip((found.precision, found.recall, found.f1, found.support), theirs,
                          strict=True):  # fmt: skip
        np.testing.assert_allclose(own, other, atol=1e-12)
    for average in ("macro", "weighted"):
        score = metrics.f1_score(y, predicted, average=average, zero_division=0)
        assert getattr(found, f"{average}_f1") == pytest.approx(score, abs=1e-12)


@given(answered(unknown=False))
def test_losses_are_those_of_scikit_learn(case):
    names, y, answers, p = case
    found = evaluate(Oracle(names, p, answers), rows(len(y)), y)
    assert found.log_loss == pytest.approx(metrics.log_loss(y, p, labels=names), abs=1e-9)
    column = p if len(names) > 2 else p[:, 1]
    extra = {"pos_label": names[1]} if len(names) == 2 else {}
    brier = metrics.brier_score_loss(y, column, labels=names, **extra)
    assert found.brier == pytest.approx(brier, abs=1e-9)


@given(answered(unknown=False), st.integers(1, 50))
def test_calibration_is_that_of_the_same_bins(case, block):
    names, y, answers, p = case
    before, _evaluate._BLOCK = _evaluate._BLOCK, block
    try:
        found = evaluate(Oracle(names, p, answers), rows(len(y)), y)
    finally:
        _evaluate._BLOCK = before
    whole = reliability(y, p, names, y_pred=np.array(names)[answers])
    for part in ("count", "mean_probability", "error_share", "conditional_error"):
        np.testing.assert_allclose(getattr(found.reliability, part), getattr(whole, part))
    for part in ("right_probability", "wrong_probability", "entropy", "error"):
        np.testing.assert_allclose(getattr(found.reliability, part), getattr(whole, part))
    confidence = p[np.arange(len(p)), answers]
    right = np.array(names)[answers] == y
    bins = np.minimum((confidence * 10).astype(int), 9)
    by_hand = sum(
        abs(right[bins == b].sum() - confidence[bins == b].sum()) / len(y) for b in range(10)
    )
    assert found.calibration_error == pytest.approx(by_hand, abs=1e-9)


def test_sums_by_hand():
    p = np.array([[0.9, 0.1], [0.4, 0.6], [0.7, 0.3], [1.0, 0.0]])
    found = evaluate(Oracle(["a", "b"], p), rows(4), ["a", "b", "b", "c"])
    assert found.accuracy == 0.5
    assert found.standard_error == 0.25
    assert found.unknown.tolist() == ["c"]
    np.testing.assert_array_equal(found.confusion, [[1, 0], [1, 1], [1, 0]])
    expected = -(np.log(0.9) + np.log(0.6) + np.log(0.3) + np.log(2.0**-52)) / 4
    assert found.log_loss == pytest.approx(expected)
    # Half of (0.1, 0.1), (0.4, 0.4), (0.7, 0.7) squared; the last row has nothing right in it.
    assert found.brier == pytest.approx((0.01 + 0.16 + 0.49 + (1 + 1) / 2) / 4)


# ------------------------------------------------------------------ whole models


@pytest.fixture(scope="module")
def digits():
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return X / 16, y


@pytest.fixture(scope="module")
def clf(digits):
    X, y = digits
    return SureClassifier("stdev", passes=2, random_state=0).fit(X[:900], y[:900])


@pytest.mark.parametrize(
    "settings",
    [{}, {"multiclass": "ovr"}, {"multiclass": "ovo"}, {"covariance": "full"}, {"rule": "pa1"}],
    ids=str,
)
def test_a_model_is_judged_by_its_own_methods(settings, digits):
    X, y = digits
    X, y = X[:, 20:35], y
    model = SureClassifier(**{"passes": 1, "random_state": 0, **settings}).fit(X[:300], y[:300])
    found = evaluate(model, X[300:380], y[300:380])
    assert found.accuracy == pytest.approx(model.score(X[300:380], y[300:380]))
    if settings.get("rule") == "pa1":
        assert found.log_loss is found.brier is found.calibration_error is None
        assert found.no_probabilities == ("the rule 'pa1' is of first order and keeps no variances")
        assert "No log loss, Brier and calibration error: the rule 'pa1'" in str(found)
        return
    p = model.predict_proba(X[300:380])
    assert found.log_loss == pytest.approx(metrics.log_loss(y[300:380], p), abs=1e-9)
    own = model.reliability(X[300:380], y[300:380])
    assert found.calibration_error == pytest.approx(own.calibration_error)
    assert found.no_probabilities == ""


def test_every_kind_of_rows(clf, digits, monkeypatch):
    pandas = pytest.importorskip("pandas")
    monkeypatch.setattr(_evaluate, "_BLOCK", 100)
    X, y = digits[0][900:1200], digits[1][900:1200]
    expected = evaluate(clf, X, y).to_dict()
    assert evaluate(clf, X.tolist(), y.tolist()).to_dict() == expected
    for kind in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        assert evaluate(clf, kind(X), y).accuracy == expected["accuracy"]
    frame = pandas.DataFrame(X, index=np.arange(len(X))[::-1])
    assert evaluate(clf, frame, pandas.Series(y)).to_dict() == expected


def test_rows_in_memory_are_judged_as_those_of_a_source(clf, digits):
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    X, y = digits[0][900:1200], digits[1][900:1200]
    names = [f"pixel {j}" for j in range(X.shape[1])]
    frame = pandas.DataFrame(X, columns=names)
    model = SureClassifier(random_state=0).fit(frame[:200], y[:200])
    expected = evaluate(model, frame.assign(label=y)).to_dict()
    assert type(evaluate(model, frame, y)) is Evaluation
    assert evaluate(model, frame, y).to_dict() == expected
    assert evaluate(model, polars.from_pandas(frame), y).to_dict() == expected
    assert evaluate(clf, X, y).n == evaluate(clf, X, y[:, None].ravel()).n == 300


def test_texts(monkeypatch):
    pandas = pytest.importorskip("pandas")
    pyarrow = pytest.importorskip("pyarrow")
    monkeypatch.setattr(_evaluate, "_BLOCK", 3)
    texts, y = ["fine film", "dull film", "fine", "so dull"] * 2, ["good", "bad"] * 4
    model = SureTextClassifier(random_state=0).fit(texts, y)
    test, truth = ["fine plot", "dull plot", "plot", "fine"], ["good", "bad", "bad", "good"]
    expected = evaluate(model, test, truth).to_dict()
    for column in (iter(test), pandas.Series(test), pyarrow.array(test), np.array(test)):
        assert evaluate(model, column, truth).to_dict() == expected


def test_progress_counts_rows(clf, digits, monkeypatch):
    monkeypatch.setattr(_evaluate, "_BLOCK", 100)
    calls = []
    found = evaluate(clf, digits[0][:250], digits[1][:250], progress=calls.append)
    assert [told.rows for told in calls] == [100, 200, 250]
    wrong = round(250 * (1 - found.accuracy))
    assert calls[-1] == StreamProgress(1, 1, 250, wrong, 0, None, 0)


def test_a_model_of_one_class():
    model = SureClassifier().partial_fit([[1.0]], ["a"])
    found = evaluate(model, [[1.0], [2.0]], ["a", "b"])
    assert found.accuracy == 0.5
    assert found.no_probabilities == "the model knows one class only"


def test_labels_that_texts_and_objects_hold():
    model = Oracle(np.array(["a", "b"], dtype=object), answers=[0, 1, 1])
    found = evaluate(model, rows(3), np.array(["a", "longer", "b"]))
    assert found.labels.tolist() == ["a", "b", "longer"]
    plain = evaluate(Oracle(["a", "b"], answers=[0, 1, 1]), rows(3), ["a", "longer", "b"])
    assert plain.labels.tolist() == ["a", "b", "longer"]


def test_many_unknown_labels(monkeypatch):
    monkeypatch.setattr(_evaluate, "_BLOCK", 7)
    y = np.random.default_rng(0).permutation(300)
    found = evaluate(Oracle([5, 7], answers=np.zeros(300, dtype=int)), rows(300), y)
    assert found.labels.tolist() == [5, 7, *(k for k in range(300) if k not in (5, 7))]
    np.testing.assert_array_equal(found.confusion[:, 0], np.ones(300))
    assert found.accuracy == pytest.approx(1 / 300)


# ------------------------------------------------------------------- comparisons


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_the_binomial_test(b, c):
    p = Comparison(3, b, c, 2).p_value
    expected = binomtest(b, b + c).pvalue if b + c else 1.0
    assert p == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("b", "c"), list(product(range(6), repeat=2)))
def test_mcnemar_by_enumeration(b, c):
    """Every outcome of b + c fair coins that is at least as far from even."""
    n = b + c
    extreme = sum(comb(n, k) for k in range(n + 1) if abs(2 * k - n) >= abs(b - c))
    assert Comparison(0, b, c, 1).p_value == pytest.approx(extreme / 2**n)


def test_mcnemar_of_millions():
    p = Comparison(10**7, 10**6, 10**6 + 5000, 10**6).p_value
    assert p == pytest.approx(erfc(4999 / (2 * 2_005_000) ** 0.5), rel=1e-4)  # nearly normal
    assert str(Comparison(0, 10**6, 0, 0)).endswith(": p < 0.0001.")


@given(answered(), st.randoms(use_true_random=False))
def test_a_comparison_counts_rows(case, random):
    names, y, answers, p = case
    others = answers.copy()
    random.shuffle(others)
    model, rival = Oracle(names, p, answers), Oracle(names, answers=others)
    found = evaluate(model, rows(len(y)), y, rival=rival).comparison
    first, second = np.array(names)[answers] == y, np.array(names)[others] == y
    assert (found.both, found.neither) == ((first & second).sum(), (~first & ~second).sum())
    assert (found.model_only, found.rival_only) == (
        (first & ~second).sum(),
        (~first & second).sum(),
    )
    assert found.n == len(y)
    assert found.accuracy == pytest.approx(first.mean())
    assert found.rival_accuracy == pytest.approx(second.mean())
    apart = first.astype(float) - second
    assert found.difference == pytest.approx(apart.mean())
    assert found.difference_error == pytest.approx(apart.std() / len(y) ** 0.5, abs=1e-12)


def test_a_comparison_in_words():
    found = Comparison(700, 120, 1, 79)
    assert str(found) == (
        "The model is right on 91.1 % of rows, its rival on 77.9 %.\n"
        "It alone is right 120 times, its rival alone once: p < 0.0001."
    )


def test_rivals_from_elsewhere(digits):
    X, y = digits
    nb, perceptron = GaussianNB().fit(X[:900], y[:900]), Perceptron().fit(X[:900], y[:900])
    found = evaluate(nb, X[900:], y[900:], rival=perceptron)
    assert found.accuracy == pytest.approx(nb.score(X[900:], y[900:]))
    assert found.comparison.rival_accuracy == pytest.approx(perceptron.score(X[900:], y[900:]))
    assert found.log_loss is not None
    alone = evaluate(perceptron, X[900:], y[900:])
    assert alone.no_probabilities == "Perceptron has no predict_proba"


# ------------------------------------------------------------------------- looks


def example(n_classes=3, unknown=0):
    names = [f"class {k}" for k in range(n_classes)]
    table = np.arange(n_classes * (n_classes + unknown)).reshape(-1, n_classes)
    labels = [*names, *(f"new {k}" for k in range(unknown))]
    return Evaluation(np.array(names), np.array(labels), table, comparison=Comparison(1, 2, 3, 4))


def test_the_text_of_few_classes():
    lines = str(example(3, 1)).splitlines()
    assert lines[0] == "66 rows, 3 classes"
    assert "accuracy           0.1818 +- 0.0475" in lines
    assert "1 label that the model does not know, on 30 rows: new 0." in lines
    assert "         class 0  class 1  class 2" in lines
    assert "new 0          9       10       11" in lines
    assert lines[-1:] == ["It alone is right 2 times, its rival alone 3 times: p = 1."]


def test_the_text_of_many_classes_lists_mistakes():
    found = example(60, 5)
    text = str(found)
    assert "The most frequent mistakes:" in text
    assert "5 labels that the model does not know" in text
    assert max(map(len, text.splitlines())) <= 79
    table = found.mistakes(top=3)
    assert table.label.tolist() == ["new 4"] * 3
    assert table.predicted.tolist() == ["class 59", "class 58", "class 57"]
    assert table.times.tolist() == [3899, 3898, 3897]
    assert table.share[0] == 3899 / sum(range(3840, 3900))
    assert len(found.mistakes(top=None)) == 60 * 65 - 60 - 0


def test_long_and_hostile_labels_stay_within_their_line():
    names = np.array(["<b>\n" + "x" * 200, "y" * 200])
    found = Evaluation(names, names, np.array([[1, 0], [0, 1]]))
    assert max(map(len, str(found).splitlines())) <= 79
    names = np.array([f"{k:02d}" + "x" * 200 for k in range(60)])
    many = str(Evaluation(names, names, np.ones((60, 60), dtype=int)))
    assert "most frequent mistakes" in many
    assert max(map(len, many.splitlines())) <= 79
    assert "<b>" not in found._repr_html_()
    assert "&lt;b&gt;" in found._repr_html_()


def test_html_of_many_classes_lists_mistakes():
    assert "most frequent mistakes" in example(40)._repr_html_()
    assert "<caption>predicted" in example(4)._repr_html_()


def test_everything_fits_in_json():
    p = np.array([[0.9, 0.1], [0.4, 0.6], [0.7, 0.3]])
    model = Oracle(["a", "b"], p)
    found = evaluate(model, rows(3), ["a", "b", "c"], rival=model).to_dict()
    again = json.loads(json.dumps(found, allow_nan=False))
    assert again == found
    assert found["scores"][0] == {
        "label": "a", "precision": 0.5, "recall": 1.0, "f1": pytest.approx(2 / 3), "support": 1,
    }  # fmt: skip
    assert found["confusion"]["labels"] == ["a", "b", "c"]
    assert found["comparison"]["p_value"] == 1.0


# --------------------------------------------------------------------- refusals


def test_refusals(clf, digits):
    X, y = digits
    with pytest.raises(ValueError, match="one label for each of 3 rows of X, got 2"):
        evaluate(clf, X[:3], y[:2])
    with pytest.raises(ValueError, match="evaluate needs at least one row, got none"):
        evaluate(clf, X[:0], y[:0])
    with pytest.raises(TypeError, match="of the kind known so far, such as 0, got 'one'"):
        evaluate(clf, X[:1], ["one"])
    with pytest.raises(TypeError, match="of the kind known so far, such as 'a', got 0"):
        evaluate(clf, X[:1], y[:1], rival=SureClassifier().fit(X[:2], ["a", "b"]))
    with pytest.raises(TypeError, match=r"rows in memory need no reading, got \['label'\]"):
        evaluate(clf, X[:1], y[:1], label="y")
    with pytest.raises(NotFittedError, match=r"model must be a fitted classifier, got SureCl"):
        evaluate(SureClassifier(), X[:1], y[:1])
    with pytest.raises(NotFittedError, match=r"rival must be a fitted classifier, got LogisticR"):
        evaluate(clf, X[:1], y[:1], rival=LogisticRegression())
