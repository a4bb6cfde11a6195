"""`explain`: shares that add up, the order of a table, its names and its looks."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
import threading
import time
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import ndtr
from sklearn.exceptions import NotFittedError

import strategies
from surelearn import SureClassifier, load, rules
from surelearn.estimators import Explanation, _shares

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


def block(n, seed=0):
    """A covariance that is not diagonal."""
    factor = np.random.default_rng(seed).normal(size=(n, n))
    return factor @ factor.T + 0.1 * np.eye(n)


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


# ------------------------------------------------------------------ plain arrays, full covariance


@given(
    columns=st.integers(1, 3),
    x=strategies.rows(5),
    seed=st.integers(0, 99),
    top=st.none() | st.integers(1, 8),
)
def test_shares_of_a_full_covariance(columns, x, seed, top):
    means = np.random.default_rng(seed).normal(size=(columns, 5))
    sigma = block(5 * columns, seed)
    features = np.flatnonzero(x)
    parts = _shares.heaviest(_shares.shares(means, sigma, features, x[features]), top)
    for k in range(columns):
        own = sigma[5 * k : 5 * k + 5, 5 * k : 5 * k + 5]
        at = parts.weights.column == k
        size = np.abs(x * (own @ x)).sum()
        assert abs(parts.variance[at].sum() - x @ own @ x) <= 1e-12 * size
        assert parts.margin[at].sum() == pytest.approx(means[k] @ x, rel=1e-12, abs=1e-12)


def test_each_share_of_a_full_covariance():
    """x_j (Sigma_zz x)_j; here one of them is negative."""
    sigma = np.zeros((4, 4))
    sigma[:2, :2] = [[4.0, -3.0], [-3.0, 4.0]]
    sigma[2:, 2:] = [[1.0, 0.5], [0.5, 2.0]]
    sigma[:2, 2:] = sigma[2:, :2] = 100.0  # another class's block says nothing of this one
    means = np.array([[1.0, 2.0], [3.0, 4.0]])
    parts = _shares.shares(means, sigma, np.array([0, 1]), np.array([1.0, 2.0]))
    assert_array_equal(parts.variance, [4 - 6, 2 * (-3 + 8), 1 + 1, 2 * (0.5 + 4)])
    assert_array_equal(parts.margin, [1, 4, 3, 8])
    assert_array_equal(parts.weights.variance, [4, 4, 1, 2])


def test_full_equals_diagonal_where_it_is_diagonal():
    rng = np.random.default_rng(3)
    means, variances = rng.normal(size=(3, 7)), rng.random((3, 7)) + 0.1
    full = np.diag(variances.ravel())
    for got, want in zip(
        _shares.surest(means, full), _shares.surest(means, variances), strict=True
    ):
        assert_array_equal(got, want)
    features, values = np.array([0, 2, 6]), np.array([1.5, -2.0, 1.0])
    got = _shares.shares(means, full, features, values)
    want = _shares.shares(means, variances, features, values)
    assert_allclose(got.variance, want.variance, rtol=1e-15)
    assert_array_equal(got.margin, want.margin)


@given(
    means=st.lists(st.integers(-3, 3), min_size=12, max_size=12),
    columns=st.sampled_from([1, 2, 3]),
    top=st.none() | st.integers(1, 13),
)
def test_surest_agrees_with_a_plain_sort(means, columns, top):
    """Few different numbers, so that there are many ties."""
    means = np.array(means, np.float32).reshape(columns, -1)
    variances = np.array([0.25, 1.0, 4.0] * 4, np.float32).reshape(columns, -1)
    cells = [(k, j) for j in range(means.shape[1]) for k in range(columns)]
    want = sorted(cells, key=lambda at: -abs(means[at]) / variances[at] ** 0.5)[:top]
    got = _shares.surest(means, variances, top)
    assert list(zip(got.column.tolist(), got.feature.tolist(), strict=True)) == want
    assert_array_equal(got.mean, [means[at] for at in want])
    assert_array_equal(got.variance, [variances[at] for at in want])


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


# ------------------------------------------------------------------ the table


def table_of(**columns):
    return Explanation({name: np.asarray(column) for name, column in columns.items()})


def test_lines_are_named_tuples_of_plain_values():
    clf, X = fitted()
    for table in (clf.explain(), clf.explain(X[0])):
        assert len(list(table)) == len(table)
        for place, line in enumerate(table):
            assert line._fields == table.columns
            assert [type(value) for value in line] == [str, str] + [float] * (len(line) - 2)
            assert line.mean == table.mean[place]


def test_columns_in_other_forms():
    clf, X = fitted()
    table = clf.explain(X[0])
    assert list(table.to_dict()) == list(ROW)
    assert json.loads(json.dumps(table.to_dict()))["margin"] == table.margin.tolist()
    frame = table.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert tuple(frame.columns) == ROW
    assert_array_equal(frame["variance"], table.variance)


def test_pandas_is_not_needed_but_for_its_frame():
    code = """
import sys
sys.modules["pandas"] = None
from surelearn import SureClassifier
table = SureClassifier().fit([[0, 1], [1, 0]], [0, 1]).explain()
str(table), table._repr_html_(), list(table)
try:
    table.to_pandas()
except ImportError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    remedy = "Explanation.to_pandas needs pandas, got none. Run: pip install pandas"
    assert run.stdout.strip() == remedy


def test_nothing_of_it_can_be_changed():
    clf, _ = fitted()
    table = clf.explain()
    with pytest.raises(AttributeError, match="mean of an Explanation must stay as it is, got 3"):
        table.mean = 3
    with pytest.raises(AttributeError, match="mean of an Explanation must stay"):
        del table.mean
    with pytest.raises(ValueError, match="read-only"):
        table.mean[0] = 3
    before = table.to_dict()
    clf.partial_fit(*spread(seed=1))
    assert table.to_dict() == before


@pytest.mark.parametrize(
    "twin", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))]
)
def test_copies(twin):
    clf, X = fitted()
    table = clf.explain(X[0])
    assert twin(table).to_dict() == table.to_dict()
    assert str(twin(table)) == str(table)
    with pytest.raises(ValueError, match="read-only"):
        twin(table).mean[0] = 3


def test_text_is_aligned():
    table = table_of(
        feature=np.array(["a", "long name"], object),
        label=["no", "yes"],
        mean=[1.5, -20.25],
        probability=[0.75, 1 - 1e-9],
    )
    assert str(table).splitlines() == [
        "feature    label    mean  probability",
        "a          no        1.5       0.7500",
        "long name  yes    -20.25      >0.9999",
    ]
    assert repr(table) == str(table)


def test_long_tables_are_cut_in_the_middle():
    table = table_of(feature=[f"f{i}" for i in range(2041)], mean=np.arange(2041.0))
    lines = str(table).splitlines()
    assert len(lines) == 1 + 20 + 1 + 10
    assert lines[20].split() == ["f19", "19"]
    assert lines[21] == "... 2,011 more ..."
    assert lines[22].split() == ["f2031", "2031"]
    assert "2,011 more" in table._repr_html_()
    assert table._repr_html_().count("<tr>") == len(lines)
    whole = table_of(feature=[f"f{i}" for i in range(40)], mean=np.arange(40.0))
    assert len(str(whole).splitlines()) == 41


def test_missing_numbers_are_blank():
    clf, X = fitted()
    last = str(clf.explain(X[0], top=1)).splitlines()[-1]
    assert last.split()[0] == "(others)"
    assert len(last.split()) == 4
    assert "nan" not in last


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.words = set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.words.append(data)


@given(name=st.text(max_size=30), label=st.text(min_size=1, max_size=10))
def test_markup_in_names_is_shown_as_text(name, label):
    for word in (name, f"<script>alert('{name}')</script>", f'"><b onload="x">{name}'):
        table = table_of(feature=np.array([word], object), label=np.array([label]), mean=[1.0])
        parser = _Tags()
        parser.feed(table._repr_html_())
        assert parser.tags == {"table", "thead", "tbody", "tr", "th", "td"}
        assert len(str(table).splitlines()) == 2
        str(table).encode()


def test_names_are_seen_in_both_looks():
    table = table_of(feature=np.array(["<i>&", "two\nlines", "w" * 60], object), mean=[1.0, 2.0, 3])
    assert "&lt;i&gt;&amp;" in table._repr_html_()
    assert "<i>&" in str(table)
    assert "two\\nlines" in str(table)
    assert "w" * 39 + "…" in str(table)
    assert "w" * 40 not in str(table)


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
        ({9: 1.0}, ValueError, r"row must have indices of its own columns"),
        ({"a": 1.0}, TypeError, r"row must be a dict of feature numbers and values"),
        (["a"] * 6, TypeError, r"row must be a row of numbers"),
    ],
)
def test_bad_rows(row, error, pattern):
    clf, _ = fitted()
    with pytest.raises(error, match=pattern):
        clf.explain(row)
