"""Models in units of their columns, merged."""

from __future__ import annotations

import numpy as np
import pytest

import surelearn
from scaled import UNITS, table
from surelearn import SureClassifier, merge
from surelearn.merging import MergeState
from surelearn.units import same_units
from surelearn.weights import Diagonal


@pytest.mark.parametrize("constant", [0.1, 123.456, 1e9 + 0.1])
def test_columns_that_do_not_vary_in_any_part_are_left_out(constant):
    """Sums of their values are rounded, and told of a spread of 1e-16."""
    X, y = table()
    wide = np.hstack([X, np.full((len(X), 1), constant)])
    for n_shards in (2, 3, 5, 7):
        clf = SureClassifier(random_state=0, n_shards=n_shards)
        scores = clf.fit(X, y).decision_function(X)
        assert (clf.fit(wide, y).decision_function(wide) == scores).all()
    starts = [SureClassifier(random_state=i).fit(wide[i::3], y[i::3]) for i in range(3)]
    merged = merge(starts)
    assert not merged.model_.scale.square[5]
    ends = [surelearn.merge([merged]).partial_fit(wide[i::2], y[i::2]) for i in range(2)]
    states = [MergeState.of(end, start=merged) for end in ends]
    assert not (states[0] + states[1]).result(MergeState.of(merged)).model_.scale.square[5]


@pytest.mark.parametrize("params", [{}, {"covariance": "full"}, {"rule": "pa1"}])
def test_merged_models_are_in_the_units_of_all_rows(params):
    X, y = table(300)
    X[:100] += 40  # other centres and spreads
    parts = [slice(0, 100), slice(100, 200), slice(200, 300)]
    models = [SureClassifier(**params, random_state=0).fit(X[part], y[part]) for part in parts]
    merged = merge(models)
    others = merge(models[::-1])
    assert (merged.coef_ == others.coef_).all()
    assert (merged.intercept_ == others.intercept_).all()
    scale = merged.model_.scale
    np.testing.assert_allclose(scale.mean, X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(scale.square / 300, X.var(axis=0), rtol=1e-9)
    assert merged.score(X, y) > np.mean([model.score(X, y) for model in models])
    scaled = [
        SureClassifier(**params, random_state=0).fit(X[part] * UNITS, y[part]) for part in parts
    ]
    expected = merged.decision_function(X)
    found = merge(scaled).decision_function(X * UNITS)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    assert merge([models[0], SureClassifier(**params)]).score(X, y) == models[0].score(X, y)


def test_states_of_other_units_are_not_added():
    X, y = table(200)
    one, two = (SureClassifier(random_state=0).fit(X[i::2], y[i::2]) for i in (0, 1))
    with pytest.raises(ValueError, match=r"Use surelearn\.merge"):
        MergeState.of(one) + MergeState.of(two)
    assert (MergeState.of(one) + MergeState.of(one)).result().score(X, y) > 0.8


def test_what_is_learnt_since_a_start_is_counted_once():
    X, y = table(300)
    start = SureClassifier(random_state=0).partial_fit(X[:100], y[:100], classes=[0, 1, 2])
    ends = []
    for some in (slice(100, 200), slice(200, 300)):
        end = surelearn.merge([start])
        ends.append(end.partial_fit(X[some], y[some]))
    states = [MergeState.of(end, start=start) for end in ends]
    result = (states[0] + states[1]).result(MergeState.of(start))
    scale = result.model_.scale
    assert scale.n_rows == 300
    np.testing.assert_allclose(scale.mean, X.mean(axis=0), rtol=1e-9)
    np.testing.assert_allclose(scale.square / 300, X.var(axis=0), rtol=1e-9)
    assert result.score(X, y) > 0.8


def test_a_model_that_another_thread_trains_is_merged_in_the_units_of_its_weights(monkeypatch):
    X, y = table(60)
    clf = SureClassifier(random_state=0).partial_fit(X[:24], y[:24])
    taken, in_units = [], Diagonal.in_units

    def meanwhile(weights, units):
        if not taken:
            taken.append(clf.model_.merge_state("evidence"))
        return in_units(weights, units)

    monkeypatch.setattr(Diagonal, "in_units", meanwhile)
    clf.partial_fit(X[24:27], y[24:27])
    assert same_units(taken[0].scales[0].units, taken[0].trained.state["units"])
