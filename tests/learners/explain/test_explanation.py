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
    return SureClassifier(rule, random_state=0, **options, scale=False).fit(X, y), X


def assert_adds_up(table, column, labels, want):
    """To 1e-12 of the sum of the absolute shares."""
    for label, total in zip(labels, np.atleast_1d(want), strict=True):
        parts = getattr(table, column)[table.label == label]
        assert abs(parts.sum() - total) <= 1e-12 * np.abs(parts).sum()


def best_labels(clf, x):
    """The labels that a row is explained by: of three or more those of the two largest scores."""
    scores = clf.decision_function([x])[0]
    return clf.classes_[1:] if np.ndim(scores) == 0 else clf.classes_[np.argsort(-scores)[:2]]


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
    intercept=st.booleans(),
)
def test_shares_add_up_to_the_margin(problem, rule, options, form, top, intercept):
    name, params = rule
    clf = SureClassifier(
        rules.RULES[name](**params),
        passes=1,
        projection="precision",
        random_state=0,
        **options,
        scale=False,
    )
    clf.fit(problem.X, problem.y, problem.sample_weight)
    for x in problem.X[:3]:
        table = clf.explain(FORMS[form](x), top=top, intercept=intercept)
        labels = best_labels(clf, x)
        places = [clf.classes_.tolist().index(label) for label in labels]
        if clf.rule.first_order:
            assert table.columns == ("feature", "label", "value", "mean", "margin")
            mean = clf.decision_function([x])[0]
        else:
            assert table.columns == ROW
            mean, variance = (part[0] for part in clf.margin([x]))
            variance = variance[places] if np.ndim(variance) else variance
            assert_adds_up(table, "variance", labels, variance)
        assert_adds_up(table, "margin", labels, mean[places] if np.ndim(mean) else mean)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_line_of_a_row(n_classes):
    clf, X = fitted(n_classes=n_classes)
    table = clf.explain(X[1], intercept=True)
    labels = best_labels(clf, X[1])
    non_zero = np.flatnonzero(X[1])
    assert 0 < len(non_zero) < 6
    assert len(table) == len(labels) * (len(non_zero) + 1)
    for line in table:
        k = 0 if n_classes == 2 else clf.classes_.tolist().index(line.label)
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
    table = clf.explain(FORMS[form](X[4]), intercept=True)
    assert table.to_dict() == clf.explain(X[4], intercept=True).to_dict()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_repeated_and_stored_zero_entries(dtype):
    clf, _ = fitted()
    values = np.array([0.1, 3.0, 0.2, 0.0, -3.0], dtype)
    row = sparse.csr_array((values, [4, 0, 4, 2, 0], [0, 5]), shape=(1, 6))
    for k, label in enumerate(clf.classes_):
        table = clf.explain(row, label=label, intercept=True)
        assert table.feature.tolist() == ["x4", "intercept"]
        mean, variance = (part[0][k] for part in clf.margin(row))
        assert_adds_up(table, "margin", [label], mean)
        assert_adds_up(table, "variance", [label], variance)


def test_a_row_of_nothing():
    clf, X = fitted()
    assert set(clf.explain({}).feature) == {"(others)"}
    assert set(clf.explain({}, intercept=True).feature) == {"intercept"}
    bare = SureClassifier(fit_intercept=False, scale=False).fit(X, spread()[1])
    table = bare.explain(np.zeros(6))
    assert len(table) == 0
    assert table.columns == ROW
    assert list(table) == []
    assert str(table).split() == list(ROW)


def test_a_row_of_many_classes_speaks_for_the_best_two():
    """Twenty classes are not sixty lines, most of them of classes that nobody asks about."""
    clf, X = fitted(n_classes=8)
    for x in X[:10]:
        table = clf.explain(x)
        best = best_labels(clf, x).tolist()
        assert list(dict.fromkeys(table.label.tolist())) == best
        assert best[0] == clf.predict([x])[0]
        for label in best:
            own = table.margin[(table.label == label) & (table.feature != "(others)")]
            assert len(own) == np.count_nonzero(x)
            assert (np.diff(np.abs(own)) <= 0).all()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("top", [None, 3])
def test_intercepts_come_last_and_on_request(n_classes, top):
    clf, X = fitted(n_classes=n_classes)
    for row in (None, X[0]):
        short, long = clf.explain(row, top=top), clf.explain(row, top=top, intercept=True)
        assert "intercept" not in short.feature
        n = len(set(long.label))
        if row is None:
            assert long.feature[-n:].tolist() == ["intercept"] * n
            assert list(long)[:-n] == list(short)
        for label in set(long.label):
            own = long.feature[long.label == label].tolist()
            assert own.index("intercept") == len(own) - 1
    with pytest.raises(TypeError, match="intercept must be True or False, got 'yes'"):
        clf.explain(intercept="yes")


def test_the_rest_of_a_row_is_folded_by_class():
    clf, X = fitted()
    whole = list(clf.explain(X[0], intercept=True))
    for line in clf.explain(X[0], top=4):
        if line.feature != "(others)":
            assert line in whole
            whole.remove(line)
            continue
        left = [other for other in whole if other.label == line.label]
        assert line.margin == pytest.approx(sum(other.margin for other in left), rel=1e-12)
        assert line.variance == pytest.approx(sum(other.variance for other in left), rel=1e-12)
        assert np.isnan([line.value, line.mean, line.deviation, line.probability]).all()
        whole = [other for other in whole if other not in left]
    assert whole == []


@pytest.mark.parametrize("top", [None, 1000])
def test_nothing_is_folded_where_all_is_listed(top):
    clf, X = fitted()
    table = clf.explain(X[0], top=top, intercept=True)
    assert str(table) == str(clf.explain(X[0], intercept=True))
    assert "(others)" not in table.feature


def test_two_classes_speak_for_the_second():
    X, y = np.array([[1.0, 0.0], [0.0, 1.0]] * 5), ["no", "yes"] * 5
    table = SureClassifier(random_state=0, scale=False).fit(X, y).explain()
    assert set(table.label) == {"yes"}
    signs = dict(zip(table.feature, np.sign(table.mean), strict=True))
    assert signs["x0"] == -1
    assert signs["x1"] == 1


# ------------------------------------------------------------------ the whole model


def test_the_model_is_ordered_by_sureness_and_saturation_keeps_the_order():
    clf, _ = fitted(initial_variance=100.0, passes=20)
    assert len(clf.explain(top=None, intercept=True)) == 3 * 7
    table = clf.explain(top=None)
    assert len(table) == 3 * 6
    assert table.columns == MODEL
    assert (table.probability == 1.0).sum() > 1
    ratio = np.abs(table.mean) / table.deviation
    assert (np.diff(ratio) <= 0).all()
    assert_array_equal(table.probability, ndtr(ratio))


def test_untouched_features_come_last():
    X = np.zeros((4, 6))
    X[:, [1, 4]] = [[1, 0], [0, 1]] * 2
    table = SureClassifier(random_state=0, scale=False).fit(X, [0, 1] * 2).explain()
    assert set(table.feature[:2]) == {"x1", "x4"}
    assert table.feature[2:].tolist() == ["x0", "x2", "x3", "x5"]
    assert_array_equal(table.probability[2:], 0.5)
    assert_array_equal(table.deviation[2:], 1.0)


def test_how_many_are_listed():
    X, y = spread(d=30)
    clf = SureClassifier(random_state=0, scale=False).fit(X, y)
    assert len(clf.explain()) == 20
    assert len(clf.explain(top=7)) == 7
    assert len(clf.explain(top=np.int64(7))) == 7
    assert len(clf.explain(top=None)) == 3 * 30
    assert list(clf.explain(top=7)) == list(clf.explain(top=None))[:7]
    assert len(clf.explain(X[0], top="auto")) == 2 * (np.count_nonzero(X[0]) + 1)


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
    table = clf.explain(top=None, intercept=True)
    means = np.column_stack([clf.coef_, clf.intercept_])
    assert sorted(table.mean) == sorted(means.ravel())
    assert sorted(table.mean) != sorted(plain.explain(top=None, intercept=True).mean)


def test_without_intercept():
    X, y = spread()
    clf = SureClassifier(fit_intercept=False, scale=False).fit(X, y)
    assert "intercept" not in clf.explain(top=None, intercept=True).feature
    assert set(clf.explain(X[0], intercept=True).feature) == set(clf.explain(X[0]).feature)


def test_millions_of_features_are_quick():
    """Far below a loop over the features, which takes seconds of the processor."""
    rng = np.random.default_rng(0)
    d, n = 1 << 21, 40
    features = rng.choice(d, (n, 50))
    X = sparse.csr_array((np.ones(n * 50), features.ravel(), np.arange(n + 1) * 50), shape=(n, d))
    clf = SureClassifier(passes=1, scale=False).fit(X, np.arange(n) % 4)
    start = time.thread_time()
    table = clf.explain()
    assert time.thread_time() - start < 1.0
    assert len(table) == 20
    assert (table.mean != 0).all()
    start = time.thread_time()
    row = clf.explain(X[[0]])
    assert time.thread_time() - start < 0.1
    scores = dict(zip(clf.classes_.tolist(), clf.margin(X[[0]])[0][0], strict=True))
    labels = list(dict.fromkeys(row.label.tolist()))
    assert_adds_up(row, "margin", labels, [scores[label] for label in labels])


def test_while_another_thread_learns():
    X, y = spread(n=2000, d=50)
    clf = SureClassifier(scale=False).fit(X[:100], y[:100])
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
    clf = SureClassifier(random_state=0, scale=False).fit(frame, y)
    names = {*frame.columns, "(others)"}
    assert {*clf.explain(top=None).feature, "(others)"} == names
    assert all(type(name) is str for name in clf.explain().feature)
    want = str(clf.explain(X[0]))
    assert set(clf.explain(X[0]).feature) < names
    assert str(clf.explain(frame[:1])) == want
    assert str(clf.explain(frame.iloc[0])) == want
    clf.save(tmp_path / "named.sure")
    assert str(load(tmp_path / "named.sure").explain(frame[:1])) == want
    with pytest.raises(ValueError, match="feature names should match"):
        clf.explain(frame[:1].rename(columns={"word 0": "other"}))


def test_names_as_scikit_learn_makes_them():
    clf, _ = fitted()
    assert set(clf.explain(top=None).feature) == {"x0", "x1", "x2", "x3", "x4", "x5"}


@pytest.mark.parametrize("kind", [list, np.array, pd.Index])
def test_names_of_ones_own(kind):
    X, y = spread()
    frame = pd.DataFrame(X, columns=list("uvwxyz"))
    for clf in (
        SureClassifier(random_state=0, scale=False).fit(X, y),
        SureClassifier(scale=False).fit(frame, y),
    ):
        table = clf.explain(names=kind(["a", "b", "c", "d", "e", "f"]), top=None)
        assert set(table.feature) == {*"abcdef"}
        row = clf.explain({3: 1.0}, names=kind(["a", "b", "c", "d", "e", "f"]))
        assert set(row.feature) == {"d", "(others)"}


@pytest.mark.parametrize("names", [["a"] * 5, "abcdef", [["a"] * 6]])
def test_bad_names(names):
    with pytest.raises(ValueError, match=r"names must be a list of 6, one for each feature, got"):
        fitted()[0].explain(names=names)


@pytest.mark.parametrize("labels", [[3, 5, 7], [False, True], ["b", "a"]])
def test_labels_keep_their_kind(labels):
    X, _ = spread(n_classes=len(labels))
    clf = SureClassifier(random_state=0, scale=False).fit(
        X, np.array(labels)[np.arange(120) % len(labels)]
    )
    table = clf.explain()
    assert table.label.dtype == clf.classes_.dtype
    assert {line.label for line in table} <= set(labels)


# ------------------------------------------------------------------ errors


def test_before_fit():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        SureClassifier(scale=False).explain()


def test_fewer_than_two_classes():
    clf = SureClassifier(scale=False).partial_fit([[1.0, 2.0]], ["only"])
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
    clf = SureClassifier(random_state=0, **settings, scale=False).fit(X, y)
    table = clf.explain(label=1)
    every = [row for row in clf.explain(top=None) if row.label == 1]
    assert list(table) == sorted(every, key=lambda row: -row.mean)
    assert list(clf.explain(label=1, top=2)) == list(table)[:2]
    shares = clf.explain(X[70], label=1)
    both = clf.explain(X[70])
    assert set(both.label) == {1, clf.predict(X[70:71])[0]}
    assert str(list(shares)) == str([row for row in both if row.label == 1])


@pytest.mark.parametrize("rule", ["stdev", "pa1"])
def test_each_of_two_labels(rule):
    X, y = load_iris(return_X_y=True)
    X, y = X[:100], np.array(["no", "yes"])[y[:100]]
    clf = SureClassifier(rule, random_state=0, scale=False).fit(X, y)
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
        SureClassifier(random_state=0, scale=False).fit(X, y).explain(label="setosa")
    pairs = SureClassifier(multiclass="ovo", random_state=0, scale=False).fit(X, y)
    with pytest.raises(ValueError, match="label needs weights for each class, got problems, and 1"):
        pairs.explain(label=1)


def test_words_of_one_label():
    texts = ["fine film", "dull film", "odd film", "fine fine", "dull", "odd"]
    clf = SureTextClassifier(random_state=0).fit(texts, ["good", "bad", "odd"] * 2)
    assert clf.explain(label="bad", top=1).feature.tolist() == ["dull"]
    assert set(clf.explain("dull and odd", label="odd").label) == {"odd"}
