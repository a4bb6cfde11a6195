"""Rules of the user's own: learnt as built-in ones, compiled or not; errors, names, files."""

from __future__ import annotations

import copy
import functools
import gc
import math
import pickle
import weakref

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import strategies
from classifiers import fingerprint, spread
from custom_rules import Callable, arow, run, thing
from surelearn import FormatError, SureClassifier, _core, load, rules
from surelearn.rules import _custom


def pa(m, v):
    return (1.0 - m) / v if m < 1.0 else 0.0, 0.0


pytestmark = pytest.mark.usefixtures("no_registered_rules")
MODES = pytest.mark.parametrize("compiled", [True, False])


# ------------------------------------------------------------------ agreement


@given(
    problem=strategies.problems(),
    own=st.sampled_from(["arow", "pa"]),
    compiled=st.booleans(),
    projection=st.sampled_from(["precision", "covariance"]),
    form=st.sampled_from([np.asarray, sparse.csr_matrix]),
    dtype=st.sampled_from(["float32", "float64"]),
)
def test_a_function_learns_the_same_bits_as_the_rule_it_is(
    problem, own, compiled, projection, form, dtype
):
    options = {"projection": projection, "dtype": dtype, "average": own == "pa"}
    built_in, function = {"arow": (rules.AROW(r=2.0), arow), "pa": (rules.PA(), pa)}[own]
    custom = rules.Custom(function, compiled=compiled, first_order=own == "pa")
    assert custom.is_compiled is compiled
    X = form(problem.X)
    want = SureClassifier(built_in, **options, scale=False).partial_fit(X, problem.y)
    assert fingerprint(
        SureClassifier(custom, **options, scale=False).partial_fit(X, problem.y)
    ) == fingerprint(want)
    by_row = SureClassifier(custom, **options, scale=False)
    for x, y in zip(problem.X, problem.y, strict=True):
        by_row.learn_one(form(x[np.newaxis]), y)
    assert fingerprint(by_row) == fingerprint(want)


@MODES
@pytest.mark.parametrize("n_classes", [2, 5])
def test_fit_with_a_function_is_fit_with_the_rule_it_is(compiled, n_classes):
    X, y = spread(n=3000, n_classes=n_classes)
    want = SureClassifier(rules.AROW(r=2.0), random_state=0, scale=False).fit(X, y)
    got = SureClassifier(rules.Custom(arow, compiled=compiled), random_state=0, scale=False).fit(
        X, y
    )
    assert fingerprint(got) == fingerprint(want)
    assert got.n_updates_ > 500


def test_a_plain_function_will_do():
    X, y = spread(n_classes=2)
    want = SureClassifier(rules.AROW(r=2.0), random_state=0, scale=False).fit(X, y)
    got = SureClassifier(arow, random_state=0, scale=False).fit(X, y)
    assert fingerprint(got) == fingerprint(want)
    np.testing.assert_array_equal(got.predict_proba(X), want.predict_proba(X))


def test_a_first_order_function_keeps_no_variances():
    X, y = spread(n_classes=2)
    clf = SureClassifier(rules.Custom(pa, first_order=True), random_state=0, scale=False).fit(X, y)
    assert not hasattr(clf, "predict_proba")
    assert not hasattr(clf, "sigma_")
    assert hasattr(SureClassifier(arow, scale=False), "margin")


@MODES
def test_weights_scale_the_step_as_those_of_hard_rules(compiled):
    X, y = np.array([[1.0, 2.0]]), [1]
    options = {"fit_intercept": False, "dtype": "float64", "projection": "precision"}
    rule = rules.Custom(arow, compiled=compiled)
    clf = {
        w: SureClassifier(rule, **options, scale=False).partial_fit(
            X, y, classes=[0, 1], sample_weight=[w]
        )
        for w in (1.0, 0.25, 7.0)
    }
    alpha, gain = rule.step(0.0, 5.0)
    np.testing.assert_allclose(clf[1.0].coef_, alpha * X, rtol=1e-15)
    np.testing.assert_allclose(clf[0.25].coef_, 0.25 * alpha * X, rtol=1e-15)
    np.testing.assert_allclose(clf[0.25].sigma_, 1 / (1 + 0.25 * gain * X**2), rtol=1e-15)
    assert fingerprint(clf[7.0]) == fingerprint(clf[1.0])


def test_the_function_is_not_asked_about_an_empty_row():
    asked = Callable()
    clf = SureClassifier(asked, fit_intercept=False, scale=False)
    clf.partial_fit([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]], [0, 1, 1])
    assert asked.seen == [(0.0, 1.0)]
    assert rules.Custom(asked).step(1.0, 0.0) == (0.0, 0.0)
    assert len(asked.seen) == 1


def test_the_fixed_multiplier_minimises_its_lagrangian():
    """What docs/howto/custom_rule.md derives: convex, so no point nearby may be lower."""
    rng = np.random.default_rng(0)
    alpha, phi, g, mu = 0.3, 0.7, rng.normal(size=3), rng.normal(size=3)
    root = rng.normal(size=(3, 3))
    sigma = root @ root.T + np.eye(3)
    precision = np.linalg.inv(sigma)

    def lagrangian(mean, covariance):
        kl = np.trace(precision @ covariance) - np.linalg.slogdet(covariance)[1]
        kl += (mean - mu) @ precision @ (mean - mu)
        return kl / 2 + alpha * (phi * g @ covariance @ g - mean @ g)

    best = mu + alpha * sigma @ g, np.linalg.inv(precision + 2 * alpha * phi * np.outer(g, g))
    least = lagrangian(*best)
    for _ in range(100):
        move = rng.normal(size=(3, 3)) * 1e-3
        assert lagrangian(best[0] + move[0], best[1]) > least
        assert lagrangian(best[0], best[1] + move + move.T) > least


# -------------------------------------------------------------------- a value


def test_a_custom_rule_is_a_value():
    rule = rules.Custom(arow, first_order=False)
    assert rule == rules.Custom(arow) == rules.Custom(arow, compiled=False)
    assert rule not in (rules.Custom(pa), rules.Custom(arow, first_order=True), rules.AROW())
    assert hash(rule) == hash(rules.Custom(arow))
    assert pickle.loads(pickle.dumps(rule)) == rule
    assert copy.deepcopy(rule) == rule
    assert repr(rule) == "Custom(arow)"
    assert repr(rules.Custom(pa, compiled=False, first_order=True)) == (
        "Custom(pa, compiled=False, first_order=True)"
    )
    assert rules.get(arow) == rule
    assert rules.get(rule) is rule
    assert rule.name == "custom"
    assert rule.step(0.0, 2.0) == rules.AROW(r=2.0).step(0.0, 2.0)
    assert isinstance(rule.step(0.0, 2.0), rules.Step)
    assert rule.replace(compiled=False).compiled is False
    assert "custom" not in rules.RULES
    with pytest.raises(AttributeError, match="cannot assign to field"):
        rule.function = pa


@pytest.mark.parametrize("rule", [arow, rules.Custom(arow), functools.partial(arow)])
def test_estimators_with_a_function_can_be_cloned_pickled_and_searched(rule):
    X, y = spread(n=90)
    clf = SureClassifier(rule, random_state=0, scale=False).fit(X, y)
    assert clone(clf).get_params()["random_state"] == 0
    assert fingerprint(clone(clf).fit(X, y)) == fingerprint(clf)
    back = pickle.loads(pickle.dumps(clf.learn_one(X[0], y[0])))
    assert fingerprint(back.partial_fit(X, y)) == fingerprint(clf.partial_fit(X, y))
    assert "rule" in repr(clf)
    grid = {"rule": [rule, "perceptron", lambda m, v: (0.0, 0.0)]}
    search = GridSearchCV(SureClassifier(random_state=0, scale=False), grid, cv=2).fit(X, y)
    assert search.best_score_ > 0.6
    assert search.cv_results_["mean_test_score"][2] < 0.5  # it never moves


def test_parameters_of_a_custom_rule_can_be_set():
    clf = SureClassifier(rules.Custom(arow), scale=False)
    assert clf.get_params()["rule__compiled"] is None
    clf.set_params(rule__compiled=False)
    assert clf.rule.compiled is False
    assert (
        SureClassifier(pa, scale=False).set_params(rule__first_order=True).rule.first_order is True
    )


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: rules.Custom(3), TypeError, r"function must be a function of \(m, v\), got 3"),
        (lambda: rules.Custom(int), TypeError, "function must be a function"),
        (lambda: rules.Custom(arow, compiled="no"), TypeError, "compiled must be True or False"),
        (lambda: rules.Custom(arow, first_order=1), TypeError, "first_order must be True or"),
        (lambda: rules.get(int), TypeError, "rule must be one of 'variance', .*got <class 'int'>"),
        (lambda: rules.get(rules.Custom), TypeError, r"rule must be a value such as Custom\(\)"),
        (lambda: rules.Custom(arow).replace(r=1), TypeError, "must be given 'function', .*got 'r'"),
    ],
)
def test_wrong_parameters_are_named(make, error, message):
    with pytest.raises(error, match=message):
        make()


# ------------------------------------------------------------------- compiled


def test_a_model_and_its_function_that_know_each_other_are_freed():
    def make():
        def step(m, v):
            return arow(m, v) if clf is not None else None

        clf = SureClassifier(step, scale=False)
        X, y = spread(n_classes=2)
        clf.fit(X, y).learn_one(X[0], y[0])
        clf.learn_one(X[0], y[0])
        return weakref.ref(clf)

    gone = make()
    gc.collect()
    assert gone() is None


# ---------------------------------------------------------------------- names


def test_a_registered_function_is_a_rule_by_name():
    rule = rules.register("mine", arow)
    assert rule == rules.Custom(arow)
    assert rule.name == rules.get("mine").name == rules.Custom(arow).name == "mine"
    assert "mine" not in rules.RULES
    assert "mine" not in _core.rule_parameters()
    X, y = spread()
    want = SureClassifier(rules.AROW(r=2.0), random_state=0, scale=False).fit(X, y)
    assert fingerprint(
        SureClassifier("mine", random_state=0, scale=False).fit(X, y)
    ) == fingerprint(want)
    with pytest.raises(ValueError, match=r"rule must be one of .*, 'mine', got 'yours'"):
        rules.get("yours")


def test_a_name_means_one_function():
    rules.register("mine", pa, first_order=True, compiled=False)
    assert rules.get("mine").first_order
    assert rules.register("mine", pa, first_order=True).compiled is None
    with pytest.raises(ValueError, match=r"name must be a new one, got 'mine' of Custom\(pa"):
        rules.register("mine", arow)
    with pytest.raises(ValueError, match="name must be a new one"):
        rules.register("mine", pa)
    assert rules.get("mine").function is pa
    rules.register("mine", arow, replace=True)
    assert rules.get("mine").function is arow
    with pytest.raises(ValueError, match="name must not be that of a built-in rule, got 'arow'"):
        rules.register("arow", arow, replace=True)
    for name in ("", 3, None):
        with pytest.raises(TypeError, match="name must be a text"):
            rules.register(name, arow)
    with pytest.raises(TypeError, match="function must be a function"):
        rules.register("other", "arow")
    with pytest.raises(ValueError, match="got 'other'"):
        rules.get("other")


# ---------------------------------------------------------------------- files


@pytest.mark.parametrize("rule", [arow, rules.Custom(arow), rules.Custom(arow, compiled=False)])
def test_a_function_without_a_name_is_not_saved(rule, tmp_path):
    X, y = spread()
    clf = SureClassifier(rule, scale=False).fit(X, y)
    with pytest.raises(ValueError, match=r"rule must have a name to be saved, got Custom\(arow"):
        clf.save(tmp_path / "m.sure")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "rule", ["mine", arow, rules.Custom(arow)], ids=["name", "function", "rule"]
)
def test_a_registered_function_is_saved_by_its_name(rule, tmp_path):
    X, y = spread()
    rules.register("mine", arow)
    clf = SureClassifier(rule, random_state=0, scale=False).fit(X, y)
    clf.save(tmp_path / "m.sure")
    back = load(tmp_path / "m.sure")
    assert back.rule == (rules.Custom(arow) if rule is arow else rule)
    assert fingerprint(back) == fingerprint(clf)
    assert fingerprint(back.partial_fit(X, y)) == fingerprint(clf.partial_fit(X, y))
    _custom.registered.clear()
    message = r"m.sure must have a rule that is known here, got 'mine'.*register\('mine', function"
    with pytest.raises(FormatError, match=message):
        load(tmp_path / "m.sure")


@pytest.mark.slow
def test_a_file_loads_in_another_process_once_the_function_is_registered(tmp_path):
    X, y = spread()
    rules.register("mine", arow)
    clf = SureClassifier("mine", random_state=0, scale=False).fit(X, y)
    clf.save(tmp_path / "m.sure")
    code = """
        import sys
        from surelearn import FormatError, load, rules
        try:
            load(sys.argv[1])
        except FormatError as error:
            print(error)
        rules.register("mine", lambda m, v: (0.0, 0.0))
        print(load(sys.argv[1]).n_updates_)
    """
    first, second = run(code, tmp_path / "m.sure").splitlines()
    assert "surelearn.rules.register('mine', function) first" in first
    assert int(second) == clf.n_updates_


def noise(n_classes=3, n=60, d=4):
    random = np.random.default_rng(2)
    return random.normal(size=(n, d)), random.integers(0, n_classes, n)


def test_learn_one_hears_of_a_rule_registered_anew():
    X, y = noise(2)
    rules.register("findings", lambda m, v: (0.1, 0.1), replace=True)
    clf = SureClassifier("findings", scale=False).partial_fit(X, y)
    clf.learn_one(X[0], y[0]).learn_one(X[1], y[1])
    rules.register("findings", lambda m, v: (0.1, 0.0), replace=True)
    before = clf.sigma_.copy()
    clf.learn_one(X[2], y[2])
    np.testing.assert_array_equal(clf.sigma_, before)


def test_a_registered_object_can_be_saved_after_clone(tmp_path):
    class Timid:
        def __call__(self, m, v):
            return (0.1, 0.1) if m < 1 else (0.0, 0.0)

    X, y = noise()
    registered = rules.register("findings-object", Timid())
    clone(SureClassifier(registered, scale=False)).fit(X, y).save(tmp_path / "a.sure")


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
@pytest.mark.parametrize("scheme", ["single", "sequential", "parallel"])
def test_a_rule_that_raises_does_so_in_every_scheme(scheme, covariance):
    def wrong(m, v):
        raise RuntimeError("not today")

    X, y = noise()
    clf = SureClassifier(wrong, constraints=scheme, covariance=covariance, scale=False)
    with pytest.raises(RuntimeError, match="not today"):
        clf.partial_fit(X, y, classes=[0, 1, 2])
    assert not hasattr(clf, "coef_")


def test_what_cannot_be_compiled_is_called_in_python_or_refused():
    assert rules.Custom(arow).is_compiled
    assert not rules.Custom(arow, compiled=False).is_compiled
    for function in (Callable(), functools.partial(arow), thing):
        assert not rules.Custom(function).is_compiled
        with pytest.raises(TypeError, match=r"must be a function that numba can compile, got"):
            rules.Custom(function, compiled=True)
    X, y = spread(n_classes=2)
    want = SureClassifier(rules.AROW(r=2.0), random_state=0, scale=False).fit(X, y)
    assert fingerprint(SureClassifier(thing, random_state=0, scale=False).fit(X, y)) == fingerprint(
        want
    )


def test_an_already_compiled_function_is_taken_as_it_is():
    X, y = spread(n_classes=2)
    rule = rules.Custom(numba.njit(arow))
    assert rule.is_compiled
    want = SureClassifier(rules.AROW(r=2.0), random_state=0, scale=False).fit(X, y)
    assert fingerprint(SureClassifier(rule, random_state=0, scale=False).fit(X, y)) == fingerprint(
        want
    )


def test_a_function_is_compiled_once_and_forgotten_with_its_last_user(monkeypatch):
    from surelearn.rules import _custom

    compilations = []
    compile_ = _custom._compile
    monkeypatch.setattr(
        _custom, "_compile", lambda *args: compilations.append(args) or compile_(*args)
    )

    def step(m, v):
        return 0.1 if m < 0.5 else 0.0, 0.25

    X, y = spread()
    for _ in range(3):
        clone(SureClassifier(step, scale=False)).fit(X, y).partial_fit(X, y).learn_one(X[0], y[0])
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
        clf = SureClassifier(rules.Custom(function, compiled=compiled), scale=False)
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
        SureClassifier(rules.Custom(step, compiled=True), scale=False).partial_fit(X, y)
    assert capfd.readouterr() == ("", "")  # numba prints what nobody catches
