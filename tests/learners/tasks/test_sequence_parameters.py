"""Parameters of a tagger: what is refused, and what a fitted one cannot change."""

from __future__ import annotations

import pytest

from surelearn.constraints import Exact, Parallel, Sequential
from tagged import (
    content,
    corpus,
    tagger,
)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"constraints": Parallel(2)}, "constraints must be 'single' or constraints.Sequential"),
        ({"constraints": Exact(2)}, "constraints must be 'single' or constraints.Sequential"),
        ({"constraints": Sequential()}, "with a number k for paths"),
        ({"constraints": "sequential"}, "with a number k for paths"),
        ({"constraints": "both"}, "constraints must be"),
        ({"projection": "auto"}, "projection must be"),
        ({"rule": "svm"}, "rule must be"),
        ({"passes": 0}, "passes must be"),
        ({"shuffle": "no"}, "shuffle must be"),
        ({"average": 2}, "average must be"),
        ({"dtype": "float16"}, "dtype must be"),
        ({"initial_variance": 0.0}, "initial_variance must be"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"n_features": 0}, "n_features must be"),
        ({"n_features": 2**31}, "n_features must be"),
        ({"templates": "w[0]"}, "templates must be a list of templates"),
        ({"templates": 3}, "templates must be a list of templates such as .*, got 3"),
        ({"columns": 3}, "columns must be a list of names, got 3"),
        ({"templates": ["v[0]"]}, "v"),
        ({"templates": ["w[0"]}, "w"),
        ({"columns": ["w", "w"]}, "columns must be different names"),
        ({"verbose": -1}, "verbose must be"),
    ],
)
def test_bad_parameters_are_refused_before_anything_is_learnt(options, message):
    X, y = corpus()
    model = tagger().fit(X, y)
    good = model.get_params(deep=False)
    before = content(model)
    model.set_params(**options)
    with pytest.raises((TypeError, ValueError), match=message):
        model.fit(X, y)
    with pytest.raises((TypeError, ValueError), match=f"{message}|must stay"):
        model.partial_fit(X, y)
    assert content(model.set_params(**good)) == before


@pytest.mark.parametrize(
    "change",
    [
        {"dtype": "float64"}, {"average": False}, {"initial_variance": 2.0}, {"rule": "pa1"},
        {"projection": "covariance"}, {"templates": ["w[0]"]}, {"columns": ["v"]},
        {"n_features": 8},
    ],
    ids=lambda change: next(iter(change)),
)  # fmt: skip
def test_what_a_fitted_model_cannot_change_is_refused(change, tmp_path):
    X, y = corpus()
    model = tagger().fit(X, y)
    before = content(model)
    (name,) = change
    old = model.get_params()[name]
    model.set_params(**change)
    with pytest.raises(ValueError, match=f"{name} must stay"):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match=f"{name} must stay"):
        model.save(tmp_path / "m.sure")
    assert not (tmp_path / "m.sure").exists()
    assert content(model.set_params(**{name: old})) == before
    model.set_params(**change).fit(X, y)  # anew is fine


def test_a_rule_of_the_same_order_may_follow():
    X, y = corpus()
    model = tagger("variance").fit(X, y).set_params(rule="arow")
    assert model.partial_fit(X, y).score(X, y) > 0.9
