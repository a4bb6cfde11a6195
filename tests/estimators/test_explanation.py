"""`explain`: shares that add up, the order of a table, its names and its looks."""

from __future__ import annotations

import threading
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse
from scipy.special import ndtr
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

import strategies
from surelearn import SureClassifier, SureTextClassifier, load, rules

MODEL = ("feature", "label", "mean", "deviation", "probability")
ROW = ("feature", "label", "value", "mean", "deviation", "probability", "margin", "variance")
FORMS = {
    "array": lambda x: x,
    "float32": lambda x: x.astype(np.float32),
    "list": lambda x: x.tolist(),
    "table": lambda x: x[np.newaxis],
    "series": lambda x: pd.Series(x),
    "csr_array": lambda x: sparse.csr_array(x[np.newaxis]),
    "csr_matrix": lambda x: sparse.csr_matrix(x),
    "by column": lambda x: sparse.csc_array(x[np.newaxis]),
    "dict": lambda x: dict(enumerate(x.tolist())),
    "sparse dict": lambda x: {np.int64(j): np.float32(x[j]) for j in np.flatnonzero(x)[::-1]},
}


def spread(n=120, d=6, n_classes=3, seed=0):
    """Rows of eighths, which float32 holds exactly, about a third of them zero."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = (rng.normal(size=(n_classes, d)) * 2)[y] + rng.normal(size=(n, d))
    return np.round(X * 8) / 8 * (rng.random((n, d)) < 0.7), np.array(list("abcdefgh"))[y]


def fitted(rule="arow", n_classes=3, **options):
    X, y = spread(n_classes=n_classes)
    return SureClassifier(rule, random_state=0, **options).fit(X, y), X


def assert_adds_up(table, column, labels, want):
    """To 1e-12 of the sum of the absolute shares."""
    for label, total in zip(labels, np.atleast_1d(want), strict=True):
        parts = getattr(table, column)[table.label == label]
        assert abs(parts.sum() - total) <= 1e-12 * np.abs(parts).sum()


# ------------------------------------------------------------------ the shares of a row


@given(
    problem=strategies.problems(),
    rule=strategies.rules(),
    options=st.fixed_dictionaries(
        {
            "average": st.booleans(),
            "fit_intercept": st.booleans(),
            "dtype": st.sampled_from(["float32", "float64"]),
        }
    ),
    form=st.sampled_from(sorted(FORMS)),
    top=st.none() | st.integers(1, 6),
)
def test_shares_add_up_to_the_margin(problem, rule, options, form, top):
    name, params = rule
    clf = SureClassifier(
        rules.RULES[name](**params), passes=1, projection="precision", random_state=0, **options
    )
    clf.fit(problem.X, problem.y, problem.sample_weight)
    labels = clf.classes_[1:] if len(clf.classes_) == 2 else clf.classes_
    for x in problem.X[:3]:
        table = clf.explain(FORMS[form](x), top=top)
        if clf.rule.first_order:
            assert table.columns == ("feature", "label", "value", "mean", "margin")
            mean = clf.decision_function([x])[0]
        else:
            assert table.columns == ROW
            mean, variance = (part[0] for part in clf.margin([x]))
            assert_adds_up(table, "variance", labels, variance)
        assert_adds_up(table, "margin", labels, mean)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_line_of_a_row(n_classes):
    clf, X = fitted(n_classes=n_classes)
    table = clf.explain(X[1])
    labels = clf.classes_[1:] if n_classes == 2 else clf.classes_
    non_zero = np.flatnonzero(X[1])
    assert 0 < len(non_zero) < 6
    assert len(table) == len(labels) * (len(non_zero) + 1)
    for line in table:
        k = labels.tolist().index(line.label)
        if line.feature == "intercept":
            x, mean, variance = 1.0, clf.intercept_[k], clf.intercept_sigma_[k]
        else:
            j = int(line.feature[1:])
            assert j in non_zero
            x, mean, variance = X[1, j], clf.coef_[k, j], clf.sigma_[k, j]
        mean, variance = float(mean), float(variance)
        assert line.value == x
        assert line.mean == mean
        assert line.deviation == np.sqrt(variance)
        assert line.probability == ndtr(abs(mean) / np.sqrt(variance))
        assert line.margin == mean * x
        assert line.variance == variance * x**2


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_row_gives_the_same(form):
    clf, X = fitted()
    assert clf.explain(FORMS[form](X[4])).to_dict() == clf.explain(X[4]).to_dict()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_repeated_and_stored_zero_entries(dtype):
    clf, _ = fitted()
    values = np.array([0.1, 3.0, 0.2, 0.0, -3.0], dtype)
    row = sparse.csr_array((values, [4, 0, 4, 2, 0], [0, 5]), shape=(1, 6))
    table = clf.explain(row)
    assert set(table.feature) == {"x4", "intercept"}
    assert_adds_up(table, "margin", clf.classes_, clf.margin(row)[0][0])
    assert_adds_up(table, "variance", clf.classes_, clf.margin(row)[1][0])


def test_a_row_of_nothing():
    clf, X = fitted()
    assert set(clf.explain({}).feature) == {"intercept"}
    bare = SureClassifier(fit_intercept=False).fit(X, spread()[1])
    table = bare.explain(np.zeros(6))
    assert len(table) == 0
    assert table.columns == ROW
    assert list(table) == []
    assert str(table).split() == list(ROW)


def test_rows_are_ordered_by_their_share():
    clf, X = fitted()
    size = np.abs(clf.explain(X[0]).margin)
    assert (np.diff(size) <= 0).all()
    assert (np.diff(size) < 0).any()


def test_the_rest_of_a_row_is_folded_by_class():
    clf, X = fitted()
    whole, short = clf.explain(X[0]), clf.explain(X[0], top=4)
    assert [line[:2] for line in list(short)[:4]] == [line[:2] for line in list(whole)[:4]]
    rest = list(short)[4:]
    assert {line.feature for line in rest} == {"(others)"}
    assert [line.label for line in rest] == sorted({line.label for line in list(whole)[4:]})
    for line in rest:
        left = [other for other in list(whole)[4:] if other.label == line.label]
        assert line.margin == pytest.approx(sum(other.margin for other in left), rel=1e-12)
        assert line.variance == pytest.approx(sum(other.variance for other in left), rel=1e-12)
        assert np.isnan([line.value, line.mean, line.deviation, line.probability]).all()


@pytest.mark.parametrize("top", [None, 1000])
def test_nothing_is_folded_where_all_is_listed(top):
    clf, X = fitted()
    assert clf.explain(X[0], top=top).to_dict() == clf.explain(X[0]).to_dict()
    assert "(others)" not in clf.explain(X[0], top=top).feature


def test_two_classes_speak_for_the_second():
    X, y = np.array([[1.0, 0.0], [0.0, 1.0]] * 5), ["no", "yes"] * 5
    table = SureClassifier(random_state=0).fit(X, y).explain()
    assert set(table.label) == {"yes"}
    signs = dict(zip(table.feature, np.sign(table.mean), strict=True))
    assert signs["x0"] == -1
    assert signs["x1"] == 1


# ------------------------------------------------------------------ the whole model


def test_the_model_is_ordered_by_sureness_and_saturation_keeps_the_order():
    clf, _ = fitted(initial_variance=100.0, passes=20)
    table = clf.explain(top=None)
    assert len(table) == 3 * 7
    assert table.columns == MODEL
    assert (table.probability == 1.0).sum() > 1
    ratio = np.abs(table.mean) / table.deviation
    assert (np.diff(ratio) <= 0).all()
    assert_array_equal(table.probability, ndtr(ratio))


def test_untouched_features_come_last():
    X = np.zeros((4, 6))
    X[:, [1, 4]] = [[1, 0], [0, 1]] * 2
    table = SureClassifier(random_state=0).fit(X, [0, 1] * 2).explain()
    assert set(table.feature[:3]) == {"x1", "x4", "intercept"}
    assert table.feature[3:].tolist() == ["x0", "x2", "x3", "x5"]
    assert_array_equal(table.probability[3:], 0.5)
    assert_array_equal(table.deviation[3:], 1.0)


def test_how_many_are_listed():
    X, y = spread(d=30)
    clf = SureClassifier(random_state=0).fit(X, y)
    assert len(clf.explain()) == 20
    assert len(clf.explain(top=7)) == 7
    assert len(clf.explain(top=np.int64(7))) == 7
    assert len(clf.explain(top=None)) == 3 * 31
    assert list(clf.explain(top=7)) == list(clf.explain(top=None))[:7]
    assert len(clf.explain(X[0], top="auto")) == 3 * (np.count_nonzero(X[0]) + 1)


@pytest.mark.parametrize("rule", ["perceptron", "pa1"])
def test_first_order_rules_have_no_variances(rule):
    clf, X = fitted(rule)
    table = clf.explain()
    assert table.columns == ("feature", "label", "mean")
    assert (np.diff(np.abs(table.mean)) <= 0).all()
    assert clf.explain(X[0], top=3).columns == ("feature", "label", "value", "mean", "margin")
    with pytest.raises(AttributeError, match="one of feature, label, mean, got 'deviation'"):
        _ = table.deviation


def test_averaged_models_use_the_averages():
    clf, _ = fitted(average=True)
    plain, _ = fitted()
    table = clf.explain(top=None)
    means = np.column_stack([clf.coef_, clf.intercept_])
    assert sorted(table.mean) == sorted(means.ravel())
    assert sorted(table.mean) != sorted(plain.explain(top=None).mean)


def test_without_intercept():
    X, y = spread()
    clf = SureClassifier(fit_intercept=False).fit(X, y)
    assert "intercept" not in clf.explain(top=None).feature
    assert "intercept" not in clf.explain(X[0]).feature


def test_millions_of_features_are_quick():
    """Far below a loop over the features, which takes seconds of the processor."""
    rng = np.random.default_rng(0)
    d, n = 1 << 21, 40
    features = rng.choice(d, (n, 50))
    X = sparse.csr_array((np.ones(n * 50), features.ravel(), np.arange(n + 1) * 50), shape=(n, d))
    clf = SureClassifier(passes=1).fit(X, np.arange(n) % 4)
    start = time.thread_time()
    table = clf.explain()
    assert time.thread_time() - start < 1.0
    assert len(table) == 20
    assert (table.mean != 0).all()
    start = time.thread_time()
    row = clf.explain(X[[0]])
    assert time.thread_time() - start < 0.1
    assert_adds_up(row, "margin", clf.classes_, clf.margin(X[[0]])[0][0])


def test_while_another_thread_learns():
    X, y = spread(n=2000, d=50)
    clf = SureClassifier().fit(X[:100], y[:100])
    done = threading.Event()

    def learn():
        while not done.is_set():
            clf.partial_fit(X, y)

    thread = threading.Thread(target=learn)
    thread.start()
    try:
        for _ in range(100):
            table = clf.explain(top=10)
            ratio = np.abs(table.mean) / table.deviation
            assert (np.diff(ratio) <= 0).all()
            assert np.isfinite(clf.explain(X[0]).variance).all()
    finally:
        done.set()
        thread.join()


# ------------------------------------------------------------------ names


def test_names_of_a_frame(tmp_path):
    X, y = spread(n_classes=2)
    frame = pd.DataFrame(X, columns=[f"word {j}" for j in range(6)])
    clf = SureClassifier(random_state=0).fit(frame, y)
    names = {*frame.columns, "intercept"}
    assert set(clf.explain(top=None).feature) == names
    assert all(type(name) is str for name in clf.explain().feature)
    want = clf.explain(X[0]).to_dict()
    assert set(want["feature"]) < names
    assert clf.explain(frame[:1]).to_dict() == want
    assert clf.explain(frame.iloc[0]).to_dict() == want
    clf.save(tmp_path / "named.sure")
    assert load(tmp_path / "named.sure").explain(frame[:1]).to_dict() == want
    with pytest.raises(ValueError, match="feature names should match"):
        clf.explain(frame[:1].rename(columns={"word 0": "other"}))


def test_names_as_scikit_learn_makes_them():
    clf, _ = fitted()
    assert set(clf.explain(top=None).feature) == {"x0", "x1", "x2", "x3", "x4", "x5", "intercept"}


@pytest.mark.parametrize("kind", [list, np.array, pd.Index])
def test_names_of_ones_own(kind):
    X, y = spread()
    frame = pd.DataFrame(X, columns=list("uvwxyz"))
    for clf in (SureClassifier(random_state=0).fit(X, y), SureClassifier().fit(frame, y)):
        table = clf.explain(names=kind(["a", "b", "c", "d", "e", "f"]), top=None)
        assert set(table.feature) == {*"abcdef", "intercept"}
        row = clf.explain({3: 1.0}, names=kind(["a", "b", "c", "d", "e", "f"]))
        assert set(row.feature) == {"d", "intercept"}


@pytest.mark.parametrize("names", [["a"] * 5, "abcdef", [["a"] * 6]])
def test_bad_names(names):
    with pytest.raises(ValueError, match=r"names must be a list of 6, one for each feature, got"):
        fitted()[0].explain(names=names)


@pytest.mark.parametrize("labels", [[3, 5, 7], [False, True], ["b", "a"]])
def test_labels_keep_their_kind(labels):
    X, _ = spread(n_classes=len(labels))
    clf = SureClassifier(random_state=0).fit(X, np.array(labels)[np.arange(120) % len(labels)])
    table = clf.explain()
    assert table.label.dtype == clf.classes_.dtype
    assert {line.label for line in table} <= set(labels)


# ------------------------------------------------------------------ errors


def test_before_fit():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        SureClassifier().explain()


def test_fewer_than_two_classes():
    clf = SureClassifier().partial_fit([[1.0, 2.0]], ["only"])
    with pytest.raises(ValueError, match="explain needs at least two known classes, got fewer"):
        clf.explain()


@pytest.mark.parametrize(
    ("top", "error", "pattern"),
    [
        (0, ValueError, r"top must be at least 1, got 0\."),
        (-3, ValueError, r"top must be at least 1, got -3\."),
        (2.5, TypeError, r"top must be a whole number, 'auto' or None, got 2\.5\."),
        (True, TypeError, r"top must be a whole number, 'auto' or None, got True\."),
        ("all", TypeError, r"top must be a whole number, 'auto' or None, got 'all'\."),
    ],
)
def test_bad_top(top, error, pattern):
    clf, X = fitted()
    for row in (None, X[0]):
        with pytest.raises(error, match=pattern):
            clf.explain(row, top=top)


@pytest.mark.parametrize(
    ("row", "error", "pattern"),
    [
        (np.zeros(5), ValueError, r"row must have 6 features as in fit, got 5\."),
        (np.zeros((2, 6)), ValueError, r"row must be one row of at least one feature, got shape"),
        (np.full(6, np.nan), ValueError, r"row must be finite, got NaN"),
        ({9: 1.0}, ValueError, r"row must have indices below its width"),
        ({"a": 1.0}, TypeError, r"row must be a dict of feature numbers and values"),
        (["a"] * 6, TypeError, r"row must be a row of numbers"),
    ],
)
def test_bad_rows(row, error, pattern):
    clf, _ = fitted()
    with pytest.raises(error, match=pattern):
        clf.explain(row)


# ---------------------------------------------------------------------- one label


@pytest.mark.parametrize("settings", [{}, {"covariance": "full"}, {"multiclass": "ovr"}], ids=str)
def test_one_of_many_labels(settings):
    X, y = load_iris(return_X_y=True)
    clf = SureClassifier(random_state=0, **settings).fit(X, y)
    table = clf.explain(label=1)
    every = [row for row in clf.explain(top=None) if row.label == 1]
    assert list(table) == sorted(every, key=lambda row: -row.mean)
    assert list(clf.explain(label=1, top=2)) == list(table)[:2]
    shares = clf.explain(X[70], label=1)
    assert list(shares) == [row for row in clf.explain(X[70]) if row.label == 1]


@pytest.mark.parametrize("rule", ["stdev", "pa1"])
def test_each_of_two_labels(rule):
    X, y = load_iris(return_X_y=True)
    X, y = X[:100], np.array(["no", "yes"])[y[:100]]
    clf = SureClassifier(rule, random_state=0).fit(X, y)
    yes, no = clf.explain(label="yes", top=None), clf.explain(label="no", top=None)
    assert set(yes.label) == {"yes"}
    assert set(no.label) == {"no"}
    assert (np.diff(yes.mean) <= 0).all()
    assert dict(zip(yes.feature, yes.mean, strict=True)) == dict(
        zip(no.feature, -no.mean, strict=True)
    )
    assert clf.explain(X[0], label="no").margin.sum() == pytest.approx(
        -clf.decision_function(X[:1])[0]
    )


def test_labels_that_have_no_weights():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"label must be one of 0, 1, 2, got 'setosa'\."):
        SureClassifier(random_state=0).fit(X, y).explain(label="setosa")
    pairs = SureClassifier(multiclass="ovo", random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="label needs weights for each class, got problems, and 1"):
        pairs.explain(label=1)


def test_words_of_one_label():
    texts = ["fine film", "dull film", "odd film", "fine fine", "dull", "odd"]
    clf = SureTextClassifier(random_state=0).fit(texts, ["good", "bad", "odd"] * 2)
    assert clf.explain(label="bad", top=1).feature.tolist() == ["dull"]
    assert set(clf.explain("dull and odd", label="odd").label) == {"odd"}
