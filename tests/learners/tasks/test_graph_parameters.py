"""Parameters of a classifier of graphs, checked and converted."""

from __future__ import annotations

import pytest

from surelearn import SureGraphClassifier
from surelearn.constraints import Sequential
from surelearn.learners.tasks.graphs import GraphSettings


def settings(**params):
    return GraphSettings.of({**SureGraphClassifier().get_params(deep=False), **params})


def test_defaults_are_sound():
    found = settings()
    assert found.messages == (0.3, 1e-3, 50)
    assert found.rule.name == "arow"
    assert found.average
    assert found.second_order
    assert settings(constraints=Sequential(3)).constraints == Sequential(3)


def test_messages_are_checked():
    good = {"damping": 0.5, "tol": 1e-2, "max_sweeps": 7}
    assert settings(**good).messages == (0.5, 0.01, 7)
    with pytest.raises(TypeError, match="tol must be a number, got 'x'"):
        settings(**{**good, "tol": "x"})


def test_an_untrained_model_knows_nothing():
    model = settings(projection="auto").untrained(is_sparse=False)
    assert model.projection == "covariance"
    assert model.features.n_features is None
    assert model.weights is None
    assert settings(projection="precision").untrained(is_sparse=False).projection == "precision"


def test_what_models_must_share():
    assert settings().merge_key() == settings(passes=9, n_jobs=1, damping=0.1).merge_key()
    for changed in ({"directed": False}, {"fit_intercept": False}, {"average": False}):
        assert settings().merge_key() != settings(**changed).merge_key()
        with pytest.raises(ValueError, match=f"{next(iter(changed))} must stay True"):
            settings(**changed).check_fits(settings().untrained())
