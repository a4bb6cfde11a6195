"""A rule is a value: equal, hashed, copied, shown and changed as one."""

from __future__ import annotations

import copy
import pickle

import pytest

from surelearn import rules


@pytest.mark.parametrize("cls", rules.RULES.values())
def test_a_rule_is_a_value(cls):
    rule = cls()
    assert rule == cls()
    assert hash(rule) == hash(cls())
    assert pickle.loads(pickle.dumps(rule)) == rule
    assert copy.deepcopy(rule) == rule
    assert eval(repr(rule), vars(rules)) == rule
    assert rules.get(cls.name) == rule
    assert rules.get(rule) is rule
    assert isinstance(rule.step(-1.0, 2.0), rules.Step)
    assert "References" in cls.__doc__


def test_replace_keeps_the_other_parameters():
    assert rules.SCW1(phi=2.0, C=3.0).replace(eta=0.5) == rules.SCW1(phi=0.0, C=3.0)
    assert rules.SCW1(phi=2.0, C=3.0).replace(C=1.0) == rules.SCW1(phi=2.0, C=1.0)


def test_replace_refuses_what_the_rule_does_not_have():
    with pytest.raises(TypeError, match=r"AROW\(r=1\.0\) must be given 'r', got 'C'\."):
        rules.AROW().replace(C=1.0)
    with pytest.raises(TypeError, match=r"must be given 'phi', 'C', 'eta', got 'r'\."):
        rules.SCW1().replace(r=1.0)
