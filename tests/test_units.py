"""Numbers in their own units: against a slow model in the unit of each column, and its laws."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import surelearn
from scaled import KINDS, UNITS, table
from surelearn import SureClassifier, rules
from surelearn.learners.tasks.rows import RowModel
from surelearn.units import ColumnScale, Units, same_units
from surelearn.weights import Diagonal, Layout, Weights


class Slow:
    """AROW for two classes in the units of the columns, by the equations of docs/theory/scale.md.

    Means, precisions and an intercept as plain loops. New moments come into use at rows 1 to 16,
    and then whenever the rows have grown by a sixteenth.
    """

    def __init__(self, n_features: int, a: float = 1.0, r: float = 1.0) -> None:
        self.a, self.r, self.rows, self.due = a, r, [], 1
        self.mu, self.b = np.zeros(n_features), 0.0
        self.evidence, self.lambda_b = np.zeros(n_features), 1 / a
        self.centre, self.prior = np.zeros(n_features), np.zeros(n_features)

    def learn(self, x: np.ndarray, y: int) -> None:
        self.rows.append(x)
        if len(self.rows) == self.due:
            self.rescale(np.array(self.rows))
            self.due += max(1, len(self.rows) // 16)
        precision = self.prior + self.evidence
        varied = self.prior > 0
        z = np.where(varied, x - self.centre, 0.0)
        sigma = np.where(varied, 1 / np.where(varied, precision, 1), 0.0)
        margin = y * (self.mu @ z + self.b)
        variance = z @ (sigma * z) + 1 / self.lambda_b
        if margin >= 1:
            return
        beta = 1 / (variance + self.r)
        self.mu += (1 - margin) * beta * y * sigma * z
        self.b += (1 - margin) * beta * y / self.lambda_b
        self.evidence += z**2 / self.r
        self.lambda_b += 1 / self.r

    def rescale(self, X: np.ndarray) -> None:
        spread = ((X - X.mean(axis=0)) ** 2).mean(axis=0)
        prior = spread * np.count_nonzero(spread) / self.a
        centre = np.where(spread > 0, X.mean(axis=0), 0.0)
        before, after = self.prior + self.evidence, prior + self.evidence
        known = self.prior > 0
        self.mu[known] *= before[known] / after[known]
        self.b += self.mu[known] @ (centre - self.centre)[known]
        self.prior, self.centre = prior, centre

    def decide(self, X: np.ndarray) -> np.ndarray:
        return (X - self.centre) @ self.mu + self.b


def test_the_running_form_is_that_of_the_slow_model():
    X, y = table(120, 2)
    X[:20, 4] = 0.0  # has not varied for a while
    slow = Slow(5, a=2.0)
    clf = SureClassifier(
        rules.AROW(r=1.0), initial_variance=2.0, dtype="float64", projection="precision"
    )
    for x, label in zip(X, y, strict=True):
        slow.learn(x, 2 * int(label) - 1)
        clf.partial_fit(x[np.newaxis], [label], classes=[0, 1])
    np.testing.assert_allclose(clf.decision_function(X), slow.decide(X), rtol=1e-9)
    np.testing.assert_allclose(clf.coef_[0], slow.mu, rtol=1e-9)
    np.testing.assert_allclose(clf.sigma_[0], 1 / (slow.prior + slow.evidence), rtol=1e-9)


@pytest.mark.parametrize("params", KINDS)
def test_a_fit_is_that_of_standardised_columns(params):
    """Over the root of their number, by the moments of all rows."""
    X, y = table()
    deviation = X.std(axis=0) if params.get("fit_intercept", True) else np.sqrt((X**2).mean(axis=0))
    centre = X.mean(axis=0) if params.get("fit_intercept", True) else 0.0
    Z = (X - centre) / (deviation * np.sqrt(5))
    clf = SureClassifier(**params, random_state=0).fit(X, y)
    want = SureClassifier(**params, random_state=0, scale=False).fit(Z, y)
    scores = clf.decision_function(X)
    np.testing.assert_allclose(scores, want.decision_function(Z), rtol=1e-5, atol=1e-6)
    assert clf.temperature_ == pytest.approx(want.temperature_) if "rule" not in params else True
    np.testing.assert_allclose(scores, X @ clf.coef_.T + clf.intercept_, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("n_shards", [1, 3])
@pytest.mark.parametrize("params", KINDS)
def test_no_unit_changes_an_answer(params, n_shards):
    X, y = table()

    def answers(X):
        clf = SureClassifier(**params, random_state=0, n_shards=n_shards).fit(X, y)
        return clf.decision_function(X)

    np.testing.assert_allclose(answers(X * UNITS), answers(X), rtol=1e-6, atol=1e-7)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=8), st.sampled_from(KINDS))
def test_any_cutting_of_a_stream_gives_the_same_bits(sizes, params):
    X, y = table(80)
    whole = SureClassifier(**params, random_state=0).partial_fit(X, y, classes=[0, 1, 2])
    cut = SureClassifier(**params, random_state=0)
    begin = 0
    while begin < len(y):
        for size in sizes:
            some = slice(begin, begin + size)
            begin += size
            if len(y[some]) == 1 and hasattr(cut, "classes_"):
                cut.learn_one(X[some][0], y[some][0])
            elif len(y[some]):
                cut.partial_fit(X[some], y[some], classes=[0, 1, 2])
    assert cut.coef_.tobytes() == whole.coef_.tobytes()
    assert (cut.decision_function(X) == whole.decision_function(X)).all()


@pytest.mark.parametrize("params", KINDS)
@pytest.mark.parametrize("many", [False, True])
def test_new_classes_come_in_any_cutting(params, many):
    """The whole block has columns for all of them, cut ones only for those so far."""
    if many and ("multiclass" in params or "covariance" in params):
        return
    X, y = table(150, 6)
    X = np.hstack([X, X**2, X**3])
    y[:60] %= 2
    y[0] = 1
    labels = [[1, int(k)] if k > 1 else [1][:k] for k in y] if many else y
    whole = SureClassifier(**{"dtype": "float64", **params}, random_state=0).partial_fit(X, labels)
    for size in (1, 7):
        cut = SureClassifier(**{"dtype": "float64", **params}, random_state=0)
        for begin in range(0, len(y), size):
            cut.partial_fit(X[begin : begin + size], labels[begin : begin + size])
        assert (cut.coef_ == whole.coef_).all()
        assert (cut.intercept_ == whole.intercept_).all()


@pytest.mark.parametrize("is_sparse", [False, True])
def test_each_row_is_converted_once(is_sparse, monkeypatch):
    """A block was converted anew at each change of units: 300 times the work."""
    X, y = table(500)
    sizes, read = [], Units.of
    monkeypatch.setattr(Units, "of", lambda own, rows: sizes.append(len(rows)) or read(own, rows))
    for labels in (y, [[int(label)] if label else [] for label in y]):
        sizes.clear()
        given = sparse.csr_matrix(X) if is_sparse else X
        SureClassifier(random_state=0, scale=True).partial_fit(given, labels)
        assert sum(sizes) <= len(y)


@pytest.mark.parametrize("params", KINDS)
def test_no_unit_changes_an_answer_of_a_stream(params):
    X, y = table(80)

    def answers(X):
        clf = SureClassifier(**params, random_state=0).partial_fit(X, y, classes=[0, 1, 2])
        return clf.decision_function(X)

    np.testing.assert_allclose(answers(X * UNITS), answers(X), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("params", [{}, {"n_shards": 2}, {"passes": 1}, {"passes": 4}])
def test_a_source_is_learnt_in_units_too(params):
    pandas = pytest.importorskip("pandas")
    X, y = table(400)
    frames = [pandas.DataFrame(rows).assign(label=y) for rows in (X, X * UNITS)]
    models = [SureClassifier(**params, random_state=0).fit_stream(frame) for frame in frames]
    one, other = models[0].decision_function(X), models[1].decision_function(X * UNITS)
    np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-6)
    assert models[0].score(X, y) > 0.9
    assert models[0].model_.scale.n_rows >= 0.9 * len(y)  # rows that are kept back do not count


def test_csr_rows_and_dicts_stay_as_they_are():
    X, y = table()
    rows = sparse.csr_matrix(X)
    plain = SureClassifier(random_state=0, scale=False, projection="precision")
    assert (SureClassifier(random_state=0).fit(rows, y).coef_ == plain.fit(rows, y).coef_).all()
    assert SureClassifier(random_state=0).learn_one({"a": 1e6}, 1).model_.scale is None


@pytest.mark.parametrize("n_shards", [1, 2])
def test_csr_rows_can_be_scaled_and_zeros_stay_zeros(n_shards):
    X, y = table()
    X[:, 2] += 200
    X[X < 0] = 0.0
    rows = sparse.csr_matrix(X)
    n = (X != 0).sum(axis=0)
    Z = X / np.sqrt((X**2).sum(axis=0) / n * (n.sum() / len(X)))
    how = {"random_state": 0, "n_shards": n_shards, "projection": "precision"}
    clf = SureClassifier(**how, scale=True).fit(rows, y)
    want = SureClassifier(**how, scale=False).fit(sparse.csr_matrix(Z), y)
    expected = want.decision_function(Z)
    np.testing.assert_allclose(clf.decision_function(rows), expected, rtol=1e-4, atol=1e-6)
    assert (clf.decision_function(X) == clf.decision_function(rows)).all()


@pytest.mark.parametrize("params", KINDS)
def test_sparse_rows_of_a_dense_model_are_dense_rows(params):
    X, y = table()
    X[X[:, 0] < 3, 0] = 0.0
    clf = SureClassifier(**params, random_state=0).fit(X, y)
    rows = sparse.csr_matrix(X)
    assert (clf.decision_function(rows) == clf.decision_function(X)).all()
    assert clf.predict_one(dict(enumerate(X[0].tolist()))) == clf.predict_one(X[0])
    if "rule" not in params:
        assert (clf.margin(rows)[1] == clf.margin(X)[1]).all()


@pytest.mark.parametrize("n_columns", [5, 40])
def test_a_dense_model_counts_the_zeros_of_sparse_rows(n_columns):
    random = np.random.default_rng(0)
    X = random.standard_normal((90, n_columns)) * (random.random((90, n_columns)) < 0.4)
    y = (X[:, 0] > 0.1).astype(int)
    how = {"random_state": 0, "projection": "precision"}
    dense = SureClassifier(**how).partial_fit(X, y)
    mixed = SureClassifier(**how).partial_fit(X[:30], y[:30])
    mixed.partial_fit(sparse.csr_matrix(X[30:60]), y[30:60])
    for x, label in zip(X[60:], y[60:], strict=True):
        mixed.learn_one(dict(enumerate(x.tolist())), label)
    assert (mixed.model_.scale.n == 90).all()
    assert (mixed.model_.scale.square == dense.model_.scale.square).all()
    assert (mixed.coef_ == dense.coef_).all()


def test_columns_that_do_not_vary_are_left_out():
    X, y = table()
    wide = np.hstack([X, np.full((len(X), 2), [1e9, 0.0])])
    with_them, without = (SureClassifier(random_state=0).fit(rows, y) for rows in (wide, X))
    assert (with_them.decision_function(wide) == without.decision_function(X)).all()
    assert not with_them.coef_[:, 5:].any()
    one = SureClassifier(random_state=0).partial_fit(X[:1], y[:1], classes=[0, 1, 2])
    assert not one.coef_.any()
    assert one.intercept_.any()


@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
def test_columns_that_vary_by_rounding_alone_are_left_out(learn):
    """They were learnt in units of 1e-16: any other value then decided everything."""
    X, y = table()
    noise = (X[:, :1] * 0.1 + 0.3) - X[:, :1] * 0.1
    assert noise.std() > 0
    wide = np.hstack([X, noise])
    with_it, without = (getattr(SureClassifier(random_state=0), learn)(r, y) for r in (wide, X))
    assert (with_it.decision_function(wide) == without.decision_function(X)).all()


def test_rows_of_weight_0_are_not_counted():
    X, y = table()
    extra = np.vstack([X, X[:7] * 1e9]), np.append(y, y[:7])
    weight = np.append(np.ones(len(y)), np.zeros(7))
    clf = SureClassifier(random_state=0)
    assert (clf.fit(*extra, weight).coef_ == clf.fit(X, y).coef_).all()
    streamed = [
        SureClassifier(random_state=0).partial_fit(*given, classes=[0, 1, 2]).coef_
        for given in ((X, y), (extra[0], extra[1], None, weight))
        if len(given) == 2
    ]
    other = SureClassifier(random_state=0).partial_fit(*extra, [0, 1, 2], weight)
    assert (other.coef_ == streamed[0]).all()


def test_a_refused_row_leaves_no_trace(tmp_path):
    """Those before it are learnt and counted."""

    def rule(margin, variance):
        return (np.nan, 0.0) if variance > 5 else (0.1, 0.1)

    def model():
        return SureClassifier(rule, scale=True, dtype="float64")

    X, y = table(30, 2)
    bad = X.copy()
    bad[20] += 1e6
    clf = model().partial_fit(X[:10], y[:10], classes=[0, 1])
    with pytest.raises(ValueError, match="must return two finite numbers"):
        clf.partial_fit(bad[10:], y[10:])
    want = model().partial_fit(X[:20], y[:20], classes=[0, 1])
    assert (clf.coef_ == want.coef_).all()
    assert (clf.model_.scale.mean == want.model_.scale.mean).all()
    assert same_units(clf.model_.scale.units, want.model_.scale.units)
    with pytest.raises(ValueError, match="must"):
        clf.learn_one(bad[20], y[20])
    assert (clf.model_.scale.square == want.model_.scale.square).all()


def test_an_interrupted_change_of_units_leaves_no_trace(monkeypatch):
    X, y = table(40)
    clf, want = (SureClassifier(random_state=0).partial_fit(X[:16], y[:16]) for _ in range(2))

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Diagonal, "in_units", interrupted)
        with pytest.raises(KeyboardInterrupt):
            clf.partial_fit(X[16:], y[16:])
    assert clf.model_.scale.n_rows == 16
    assert same_units(clf.model_.scale.units, want.model_.scale.units)
    assert (clf.partial_fit(X[16:], y[16:]).coef_ == want.partial_fit(X[16:], y[16:]).coef_).all()


def test_weights_are_saved_with_their_own_units(tmp_path, monkeypatch):
    """Another thread may go on to other units in the meantime."""
    X, y = table(60)
    clf = SureClassifier(random_state=0).partial_fit(X[:20], y[:20])
    scores, state, waiting = clf.decision_function(X), Diagonal.state, [None]

    def meanwhile(weights):
        found = state(weights)
        if waiting:
            waiting.clear()
            clf.partial_fit(X[20:], y[20:])
        return found

    with monkeypatch.context() as patch:
        patch.setattr(Diagonal, "state", meanwhile)
        clf.save(tmp_path / "model.sure")
    assert (surelearn.load(tmp_path / "model.sure").decision_function(X) == scores).all()


@pytest.mark.parametrize("params", KINDS)
def test_a_saved_model_goes_on_with_the_same_bits(tmp_path, params):
    X, y = table(90)
    clf = SureClassifier(**params, random_state=0).partial_fit(X[:41], y[:41], classes=[0, 1, 2])
    clf.save(tmp_path / "model.sure")
    other = surelearn.load(tmp_path / "model.sure")
    assert (other.decision_function(X) == clf.decision_function(X)).all()
    for one in (clf, other):
        one.partial_fit(X[41:], y[41:])
    assert (other.coef_ == clf.coef_).all()


@pytest.mark.parametrize(
    ("name", "value"),
    [("scale_squares", -1.0), ("scale_means", np.nan), ("scale_factors", np.inf)],
)
def test_forged_moments_are_refused(tmp_path, name, value):
    from surelearn.learners.file_parts import scale_in, scale_out

    scale = ColumnScale.new(3, centred=True, whole=True)
    settings, tensors = scale_out(scale, scale.units)

    class Fields:
        flag = integer = staticmethod(settings.get)

    assert same_units(scale_in(Fields, tensors, 3).units, scale.units)
    tensors[name] = tensors[name] + value
    with pytest.raises(ValueError, match=name):
        scale_in(Fields, tensors, 3)
    with pytest.raises(ValueError, match="at most 2 columns"):
        scale_in(Fields, {**tensors, name: np.zeros(3)}, 2)


def test_contributions_are_of_values_above_the_centre():
    X, y = table()
    clf = SureClassifier(random_state=0).fit(X, y == 1)
    found = clf.explain(X[0], intercept=True)
    assert found.margin.sum() == pytest.approx(clf.margin(X[:1])[0][0])
    assert found.variance.sum() == pytest.approx(clf.margin(X[:1])[1][0])
    shown = dict(zip(found.feature.tolist(), found.value.tolist(), strict=True))
    assert shown["x2"] == X[0, 2]
    at = found.feature.tolist().index("x2")
    assert found.margin[at] == pytest.approx(clf.coef_[0, 2] * (X[0, 2] - X[:, 2].mean()))


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_columns_that_do_not_vary_are_explained_last(covariance):
    X, y = table()
    X[:, 1] = 5.0
    clf = SureClassifier(random_state=0, covariance=covariance).fit(X, y == 1)
    found = clf.explain(top=None)
    assert found.feature[-1] == "x1"
    assert (found.mean[-1], found.deviation[-1], found.probability[-1]) == (0.0, 0.0, 0.5)
    row = clf.explain(X[0])
    assert np.isfinite(row.probability[:-1]).all()  # the others have none


def test_enormous_values_have_units_too():
    X, y = table()
    X[3, 1] = 1e200
    clf = SureClassifier(random_state=0, dtype="float64").fit(X, y)
    assert np.isfinite(clf.decision_function(X)).all()
    assert clf.score(X, y) > 0.8
    with pytest.raises(ValueError, match="scale must be True, False or 'auto'"):
        SureClassifier(scale="yes").fit(X, y)


def test_a_fitted_model_keeps_its_scale():
    X, y = table()
    clf = SureClassifier(random_state=0).fit(X, y).set_params(scale=False)
    with pytest.raises(ValueError, match="scale"):
        clf.partial_fit(X, y)


def test_odd_values_to_predict_are_refused():
    X, y = table()
    clf = SureClassifier(random_state=0).fit(X, y)
    row = X[:1].copy()
    row[0, 1] = 1e308  # beyond the range once it is scaled
    with pytest.raises(ValueError, match="finite"):
        clf.decision_function(row)


def test_one_label_a_row_or_many_are_scaled_alike():
    X, y = table()
    lists = [[int(label)] if label else [] for label in y]
    one, other = (SureClassifier(random_state=0).fit(rows, lists) for rows in (X, X * UNITS))
    np.testing.assert_allclose(
        other.decision_function(X * UNITS), one.decision_function(X), rtol=1e-6, atol=1e-7
    )


def test_units_must_fit_the_rows():
    from surelearn.rows import rows_of

    rows = rows_of(np.ones((2, 3)))
    short = Units(np.zeros(2), np.ones(2), False)
    with pytest.raises(ValueError, match="units must fit the rows"):
        short.of(rows)
    with pytest.raises(ValueError, match="moments must fit the rows"):
        ColumnScale.new(4, centred=True, whole=True).count(rows, 0, 2)
    with pytest.raises(IndexError, match="no such rows"):
        ColumnScale.new(3, centred=True, whole=True).count(rows, 0, 3)
    assert isinstance(SureClassifier().fit([[0.0], [1.0]], [0, 1]).model_, RowModel)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("averaged", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_one_column_moves_to_other_units_as_several_do(dtype, averaged, intercept):
    """And features beyond the scaled ones stay as they are, to the bit."""
    random = np.random.default_rng(0)
    layout = Layout(40, intercept=intercept, second_order=True, averaged=averaged, dtype=dtype)
    weights = Diagonal(layout, 1, 0.3)
    features = np.sort(random.choice(40 + intercept, 20, replace=False))
    cells = random.uniform(0.1, 1, (20, 2 + averaged)).astype(dtype)
    weights.put_features({"features": features, "cells": cells, "rounds": 7})
    weights.units = Units(random.normal(size=6), np.append(random.uniform(1, 2, 5), 0), False)
    units = Units(random.normal(size=6), random.uniform(1, 2, 6), False)
    state = weights.in_units(units).state()
    several = Weights.in_units(weights, units).state()
    assert state["cells"].tobytes() == several["cells"].tobytes()
    assert state["rounds"] == 7
    beyond = (features >= 6) & (features < 40)
    assert state["cells"][beyond].tobytes() == cells[beyond].tobytes()


@pytest.mark.parametrize(
    ("covariance", "changes"), [("full", [1, 2, 4, 8, 16, 32]), ("diagonal", [*range(1, 33), 34])]
)
def test_a_full_covariance_changes_its_units_when_the_rows_have_doubled(covariance, changes):
    X, y = table(33, 2)
    clf, found = SureClassifier(covariance=covariance), []
    for i in range(33):
        before = None if i == 0 else clf.model_.scale.units
        clf.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1])
        if before is None or clf.model_.scale.units is not before:
            found.append(i + 1)
    assert found == [n for n in changes if n <= 33]


def test_a_row_whose_units_make_a_covariance_singular_is_refused():
    first = [[1e15, 1.0, 0.0], [-1.0, 0.5, 1e15]]
    batches = [
        ([[1e10, 0, -1], [1e-10, 1e15, -1e30], [3, 0, 1e-15], [0, -1e10, 1]], [10, 11, 10, 11]),
        ([[1, 0, -1e30], [1e10, 1e30, 1e30], [3, 0.5, 1], [1e-10, 3, 3]], [12, 12, 11, 11]),
        ([[0, 0, -1], [-1, 1e-10, -1e10], [1e30, 1e-15, 1e-15], [-1e30, 3, -1]], [12, 12, 10, 11]),
    ]
    last = [[-1e10, 1e30, 1e30], [0, 1e10, 0], [3, 0, 1e10], [1e-15, -1e10, 1e30]], [11, 12, 11, 11]
    clf = SureClassifier("arow", covariance="full", random_state=0).partial_fit(first, [10, 11])
    for X, y in batches:
        clf.partial_fit(X, y)
    before = copy.deepcopy(clf)
    with pytest.raises(
        ValueError, match=r"^row 1 must leave finite weights and positive variances"
    ):
        clf.partial_fit(*last)
    before.partial_fit(last[0][:1], last[1][:1])
    np.testing.assert_array_equal(clf.coef_, before.coef_)
    np.testing.assert_array_equal(clf.sigma_, before.sigma_)
    assert clf.model_.records_learnt == before.model_.records_learnt
