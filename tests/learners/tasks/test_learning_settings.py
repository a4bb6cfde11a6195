"""Parameters that several learners share, checked."""

from __future__ import annotations

import pytest

from surelearn import _core
from surelearn.learners.tasks.learning_settings import learning

PARAMS = {
    "rule": "pa",
    "dtype": "float32",
    "n_jobs": 1,
    "passes": 2,
    "shuffle": True,
    "average": False,
    "initial_variance": 1.0,
    "verbose": 0,
    "n_shards": 1,
    "combine": "evidence",
    "merge_every": 1,
}


def test_settings_have_the_names_of_the_parameters_or_say_more():
    found = learning(PARAMS, _core.Scheme("single", 0))
    assert found["averaged"] is False
    assert found["second_order"] is False
    assert found["method"].threads == 1
    with pytest.raises(TypeError, match="shuffle must be True or False, got 1"):
        learning({**PARAMS, "shuffle": 1}, _core.Scheme("single", 0))
