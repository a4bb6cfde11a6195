"""Rules of users in machine code: what numba takes, what it leaves to Python."""

from __future__ import annotations

import functools
import gc
import math
import weakref

import numba
import pytest
from sklearn.base import clone

from classifiers import fingerprint, spread
from custom_rules import Callable, arow, run, thing
from surelearn import SureClassifier, rules


def test_what_cannot_be_compiled_is_called_in_python_or_refused():
    assert rules.Custom(arow).is_compiled
    assert not rules.Custom(arow, compiled=False).is_compiled
    for function in (Callable(), functools.partial(arow), thing):
        assert not rules.Custom(function).is_compiled
        with pytest.raises(TypeError, match=r"must be a function that numba can compile, got"):
            rules.Custom(function, compiled=True)
    X, y = spread(n_classes=2)
    want = SureClassifier(rules.AROW(r=2.0), random_state=0).fit(X, y)
    assert fingerprint(SureClassifier(thing, random_state=0).fit(X, y)) == fingerprint(want)


def test_an_already_compiled_function_is_taken_as_it_is():
    X, y = spread(n_classes=2)
    rule = rules.Custom(numba.njit(arow))
    assert rule.is_compiled
    want = SureClassifier(rules.AROW(r=2.0), random_state=0).fit(X, y)
    assert fingerprint(SureClassifier(rule, random_state=0).fit(X, y)) == fingerprint(want)


def test_a_function_is_compiled_once_and_forgotten_with_its_last_user(monkeypatch):
    from surelearn.rules import _compile

    compilations = []
    compile_ = _compile._compile
    monkeypatch.setattr(
        _compile, "_compile", lambda *args: compilations.append(args) or compile_(*args)
    )

    def step(m, v):
        return 0.1 if m < 0.5 else 0.0, 0.25

    X, y = spread()
    for _ in range(3):
        clone(SureClassifier(step)).fit(X, y).partial_fit(X, y).learn_one(X[0], y[0])
    assert len(compilations) == 1
    compilations.clear()
    gone = weakref.ref(step)
    del step
    gc.collect()
    assert gone() is None


def test_without_numba_functions_are_called_in_python():
    code = """
        import sys
        sys.modules["numba"] = None
        from surelearn import SureClassifier, rules

        def arow(m, v):
            return (max(0.0, 1.0 - m) / (v + 1.0), 1.0 if m < 1.0 else 0.0)

        clf = SureClassifier(arow, passes=2).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
        assert clf.n_updates_ == 4, clf.n_updates_
        assert not rules.Custom(arow).is_compiled
        try:
            rules.Custom(arow, compiled=True)
        except ImportError as error:
            remedy = "In a clone of surelearn, run: pip install '.[numba]'"
            assert str(error).endswith(f"needs numba, got none. {remedy}")
            print("refused")
    """
    assert run(code) == "refused"


def test_numba_is_imported_by_custom_rules_only():
    code = """
        import sys
        from surelearn import SureClassifier, rules
        SureClassifier("arow").fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
        rules.Custom(lambda m, v: (0.0, 0.0), compiled=False).core()
        print("numba" in sys.modules)
    """
    assert run(code) == "False"


def roots(m, v):
    return math.sqrt(m) if m < 0.0 else 0.5, 1.0


def minus(m, v):
    return -1.0 if m != 0.0 else 0.5, 0.5


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (roots, ValueError, "math domain error|expected a nonnegative input"),
        (minus, ValueError, r"Custom\(minus.*\) must return two finite .*got \(-1.0, 0.5\) for m="),
    ],
)
def test_a_compiled_function_fails_as_in_python(function, error, message):
    X, y = spread(n_classes=2)
    kept = []
    for compiled in (True, False):
        clf = SureClassifier(rules.Custom(function, compiled=compiled))
        with pytest.raises(error, match=message):
            clf.partial_fit(X, y)
        kept.append(fingerprint(clf))
    assert kept[0] == kept[1]


def test_an_exception_in_compiled_code_comes_out_as_it_is(capfd):
    def step(m, v):
        if m > 0.0:
            raise ZeroDivisionError("not here")
        return 0.5, 0.5

    X, y = spread(n_classes=2)
    with pytest.raises(ZeroDivisionError, match="not here"):
        SureClassifier(rules.Custom(step, compiled=True)).partial_fit(X, y)
    assert capfd.readouterr() == ("", "")  # numba prints what nobody catches
