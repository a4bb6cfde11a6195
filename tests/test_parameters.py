"""Parameters by name, beside those that scikit-learn finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, clone

import surelearn
from surelearn.learners.classifier import SureClassifier
from surelearn.parameters import Parametrized, untrained

ESTIMATORS = [
    name for name in surelearn.__all__ if isinstance(getattr(surelearn, name), type(BaseEstimator))
    and issubclass(getattr(surelearn, name), BaseEstimator)
]  # fmt: skip


class Twice(Parametrized):
    def __init__(self, rate: float = 1.0, *, names: Any = ()) -> None:
        self.rate = rate
        self.names = names


def test_parameters_are_those_of_the_constructor() -> None:
    assert Twice(2.0, names=["a"]).get_params() == {"names": ["a"], "rate": 2.0}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_scikit_learn_finds_the_same(name: str) -> None:
    estimator = getattr(surelearn, name)()
    params = estimator.get_params(deep=False)
    assert list(params) == list(BaseEstimator.get_params(estimator, deep=False))
    assert list(params) == estimator._get_param_names()


def test_parameters_are_set_by_name() -> None:
    some = Twice()
    assert some.set_params(rate=3.0) is some
    assert some.rate == 3.0


def test_an_unknown_parameter_is_refused_as_by_scikit_learn() -> None:
    def said(set_params: Any) -> str:
        with pytest.raises(ValueError, match="Invalid parameter 'rat' for") as caught:
            set_params(surelearn.SureRanker(), rat=1)
        return str(caught.value)

    assert said(surelearn.SureRanker.set_params) == said(BaseEstimator.set_params)


def test_a_twin_shares_nothing_that_can_change() -> None:
    given = Twice(names=["a"])
    twin = untrained(given)
    given.names.append("b")
    assert twin.names == ["a"]


def test_a_twin_has_learnt_nothing() -> None:
    clf = SureClassifier(passes=2).fit(np.eye(2), ["no", "yes"])
    twin = untrained(clf)
    assert twin.passes == 2
    assert not hasattr(twin, "classes_")


def test_a_twin_keeps_what_scikit_learn_routes() -> None:
    with config_context(enable_metadata_routing=True):
        clf = surelearn.SureClassifier().set_fit_request(sample_weight=True)
        asked = [twin.get_metadata_routing().fit.requests for twin in (untrained(clf), clone(clf))]
    assert asked[0] == asked[1]
    assert asked[0]["sample_weight"] is True
