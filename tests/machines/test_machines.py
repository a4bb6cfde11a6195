"""Random calls in random order on every estimator, and what must hold throughout."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

import surelearn
from machines.machine import Machine
from machines.subjects import SUBJECTS


@pytest.mark.slow
@pytest.mark.parametrize("name", SUBJECTS)
def test_any_calls_in_any_order(name):
    machine = partial(Machine, SUBJECTS[name])
    run_state_machine_as_test(machine, settings=settings(stateful_step_count=20))


def test_every_public_estimator_has_a_machine():
    public = {getattr(surelearn, name) for name in surelearn.__all__}
    estimators = {one for one in public if isinstance(one, type) and hasattr(one, "fit")}
    assert {type(subject.make()) for subject in SUBJECTS.values()} == estimators
