"""The table of parameters: every constructor is read by it, and what it says holds for all."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import surelearn
from surelearn import learners
from surelearn.learners.base import settings_of
from surelearn.learners.settings import PARAMETERS

#: Parameters that no model and no training needs, only answers and random numbers.
UNCHECKED = {"random_state"}


def estimators():
    return [getattr(surelearn, name)() for name in learners.ESTIMATORS]


@pytest.mark.parametrize("estimator", estimators(), ids=lambda one: type(one).__name__)
def test_every_parameter_of_learning_is_in_the_table(estimator):
    from surelearn.learners.text_classifier import VECTORIZER_PARAMS

    settings = settings_of(estimator)
    known = {**PARAMETERS, **settings.own}
    names = set(inspect.signature(type(estimator)).parameters) - UNCHECKED
    if isinstance(estimator, surelearn.SureTextClassifier):
        names -= set(VECTORIZER_PARAMS)
    assert names <= known.keys()
    assert names <= vars(settings).keys()


@pytest.mark.parametrize("estimator", estimators(), ids=lambda one: type(one).__name__)
def test_a_wrong_value_is_refused_by_its_name(estimator):
    for name in sorted(PARAMETERS.keys() & estimator.get_params(deep=False).keys()):
        if name in ("merge_every", "columns", "templates", "class_weight", "cost"):  # may be lists
            continue
        wrong = type(estimator)(**{name: object()})
        with pytest.raises((TypeError, ValueError), match=name):
            settings_of(wrong)


def test_a_replaced_setting_leaves_the_others():
    settings = settings_of(surelearn.SureClassifier())
    other = settings.but(passes=7)
    assert (other.passes, other.rule) == (7, settings.rule)
    assert settings.passes != 7
    with pytest.raises(AttributeError, match="RowSettings has no setting 'colour'"):
        _ = settings.colour


def test_by_a_solver_the_penalty_is_the_precision_of_the_prior():
    assert settings_of(surelearn.SoftmaxClassifier(l2=4.0)).initial_variance == 0.25
    assert settings_of(surelearn.MulticlassSVM(C=4.0)).initial_variance == 4.0
    fitted = surelearn.SoftmaxClassifier().fit(np.eye(2), [0, 1])
    with pytest.raises(ValueError, match=r"l2 must stay 1\.0 in a fitted model, got 2\.0"):
        settings_of(fitted.set_params(l2=2.0)).check_fits(fitted.model_)


def test_what_must_be_shared_names_the_parameter():
    key = settings_of(surelearn.MulticlassSVM(cost=1 - np.eye(2))).merge_key()
    assert key["cost"] == [[0.0, 1.0], [1.0, 0.0]]
    assert "initial_variance" not in key
    assert "class_weight" not in key
    assert settings_of(surelearn.SoftmaxClassifier()).merge_key()["l1"] == 0.0
    assert "l1" not in settings_of(surelearn.CRFTagger()).merge_key()
