"""A promise holds for the model that made it: what drops it, what keeps it, where it goes."""

from __future__ import annotations

import copy
import io
import json
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import surelearn
from custom_rules import Callable as CustomRule
from custom_rules import arow
from kept_back import (
    RISK,
    ROWS,
    certified,
    decided,
    fitted,
    loaded,
    make,
    plain,
    records,
    rows,
    saved,
)
from labelled import data as label_data
from surelearn import (
    SoftmaxClassifier,
    SureClassifier,
    SureGraphClassifier,
    SureKernelClassifier,
    SureTextClassifier,
    learners,
    merge,
)
from surelearn.decide import Certified
from surelearn.learners.deciding import Abstention, decisions_of, put_decisions


def having(method):
    """The estimators with a method."""
    return [name for name in learners.ESTIMATORS if hasattr(getattr(surelearn, name), method)]


DROPPED = "none since the model learnt, was calibrated or had its settings changed"


def has_promise(model):
    found = decisions_of(model)
    return found.abstention is not None, found.sets is not None


def assert_dropped(model, own):
    """All that decides says that nothing is promised any more."""
    assert has_promise(model) == (False, False)
    assert decisions_of(model).novelty is None
    with pytest.raises(ValueError, match=rf"predict\(abstain=True\) needs .*{DROPPED}"):
        model.predict(own.X, abstain=True, **own.about)
    with pytest.raises(ValueError, match=rf"predict_set needs .*{DROPPED}"):
        model.predict_set(own.X, **own.about)
    if type(model).__name__ in ROWS:
        with pytest.raises(ValueError, match=rf"p_value=True needs .*{DROPPED}"):
            model.novelty(own.X, p_value=True)
        with pytest.raises(ValueError, match=rf"novel=0.1 needs .*{DROPPED}"):
            model.predict(own.X, novel=0.1)
    for name in ("coverage_", "risk_bound_", "n_certified_"):
        assert not hasattr(model, name)


# ------------------------------------------------------------------------------ what is told


@pytest.mark.parametrize("name", learners.ESTIMATORS)
def test_before_a_promise_there_is_none(name):
    model, own = fitted(name), records(name, 5)
    with pytest.raises(ValueError, match=r"needs rows that were kept back, got none"):
        model.predict(own.X, abstain=True, **own.about)
    for attribute in ("coverage_", "risk_bound_", "n_certified_"):
        assert not hasattr(model, attribute)
        with pytest.raises(NotFittedError, match=f"{attribute} needs a certified risk, got none"):
            getattr(model, attribute)
        with pytest.raises(NotFittedError, match=f"{attribute} must be learnt first"):
            getattr(make(name), attribute)


def test_several_labels_have_a_promise_each():
    model = fitted("SureClassifier")
    rules = {"c0": Certified(0.5, 0.1, 0.3, 50), "c1": Certified(0.25, 0.2, 0.4, 50)}
    put_decisions(model, abstention=Abstention({"c0": 0.1, "c1": 0.2}, 0.1, "margin", rules))
    assert model.coverage_ == {"c0": 0.3, "c1": 0.4}
    assert model.risk_bound_ == {"c0": 0.1, "c1": 0.2}
    assert model.n_certified_ == {"c0": 50, "c1": 50}


def test_a_rule_is_reached_at_its_threshold_and_labels_without_one_always():
    labels, sure = np.array(["a", "a", "b", "z"]), np.array([0.5, 0.49, 0.2, -9.0])
    both = {"a": Certified(0.5, 0.1, 0.3, 50), "b": Certified(0.25, 0.2, 0.4, 50)}
    rule = Abstention({}, 0.1, "margin", both)
    assert rule.reached(labels, sure).tolist() == [True, False, False, True]
    rule = rule._replace(rules={None: both["b"]})
    assert rule.reached(None, sure).tolist() == [True, True, False, False]


def test_parts_are_put_beside_each_other():
    model = fitted("SureClassifier")
    own = records("SureClassifier")
    model.choose_sets(own.X, own.y)
    sets = decisions_of(model).sets
    model.choose_abstention(own.X, own.y, risk=RISK)
    assert decisions_of(model).sets is sets
    assert decisions_of(model).abstention is not None


# ----------------------------------------------------------------------------- what drops it


@pytest.mark.parametrize("name", having("partial_fit"))
def test_learning_more_drops_the_promise(name):
    model = certified(name)
    own = records(name, 3, seed=7)
    before = decided(model, own)
    model.partial_fit(own.X, own.y, **own.about)
    assert_dropped(model, own)
    again = certified(name)
    assert decided(again, own) == before


@pytest.mark.parametrize("name", having("learn_one"))
def test_one_record_more_drops_the_promise(name):
    model = certified(name)
    own = records(name, 4, seed=7)
    first = own.take([0])
    if name == "SureRanker":
        model.learn_one(first.X, first.y)
    else:
        model.learn_one(first.X[0], first.y[0])
    assert_dropped(model, own)


@pytest.mark.parametrize("name", learners.ESTIMATORS)
def test_fitting_anew_drops_the_promise(name):
    """On as many records: no counter tells the models apart, unless the promise is forgotten."""
    model, own = certified(name), records(name, 200, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(own.X, own.y, **own.about)
    assert decisions_of(model) == decisions_of(model)._replace(abstention=None, sets=None)
    assert decisions_of(model).novelty is None
    with pytest.raises(ValueError, match=r"predict\(abstain=True\) needs rows that were kept back"):
        model.predict(own.X, abstain=True, **own.about)


@pytest.mark.parametrize("name", having("calibrate"))
def test_calibrating_drops_the_promise(name):
    model, own = certified(name), records(name, 60, seed=8)
    model.calibrate(own.X, own.y, **own.about)
    assert_dropped(model, own)


@pytest.mark.parametrize("name", having("__merge_state__"))
def test_a_merged_model_promises_nothing(name):
    model = certified(name)
    own = records(name, 20, seed=7)
    both = merge([model, certified(name)])
    assert has_promise(both) == (False, False)
    with pytest.raises(ValueError, match=r"predict\(abstain=True\) needs rows that were kept back"):
        both.predict(own.X, abstain=True, **own.about)
    assert has_promise(model) == (True, True)


@pytest.mark.parametrize(
    ("estimator", "params"),
    [
        (SureClassifier, {"probability": "exact"}),
        (SureClassifier, {"rule": "arow"}),
        (SoftmaxClassifier, {"moderated": True}),
    ],
)
def test_parameters_that_change_answers_drop_it_until_they_are_set_back(estimator, params):
    name = estimator.__name__
    model, own = certified(name), records(name, 30, seed=7)
    before = decided(model, own)
    old = {key: model.get_params()[key] for key in params}
    model.set_params(**params)
    assert_dropped(model, own)
    model.set_params(**old)
    assert decided(model, own) == before


def test_decoding_drops_the_promise():
    own = rows(500, n_classes=4)
    model = SureClassifier(multiclass="ovo", random_state=0).fit(own.X[:200], own.y[:200])
    model.choose_abstention(own.X[200:], own.y[200:], risk=0.5)
    model.set_params(decoding="loss")
    with pytest.raises(ValueError, match=DROPPED):
        model.predict(own.X, abstain=True)


@pytest.mark.parametrize("params", [{"damping": 0.5}, {"max_sweeps": 3}, {"tol": 0.1}])
def test_how_messages_are_sent_drops_the_promise_of_graphs(params):
    model = certified("SureGraphClassifier")
    own = records("SureGraphClassifier", 5)
    model.set_params(**params)
    assert_dropped(model, own)


@pytest.mark.parametrize("name", ["GraphCRF", "GraphSVM"])
def test_tol_of_a_solver_is_not_that_of_messages(name):
    model = certified(name)
    model.set_params(tol=0.5)
    assert has_promise(model) == (True, True)
    model.set_params(message_tol=0.5)
    assert has_promise(model) == (False, False)


def test_new_thresholds_of_many_labels_drop_the_promise():
    X, Y = label_data(400)
    model = SureClassifier(random_state=0).fit(X[:150], Y[:150])
    model.choose_abstention(X[150:], Y[150:], risk=0.9).choose_sets(X[150:], Y[150:])
    assert has_promise(model) == (True, True)
    model.choose_thresholds(X[150:], Y[150:])
    assert_dropped_of_labels(model, X)


def assert_dropped_of_labels(model, X):
    assert has_promise(model) == (False, False)
    with pytest.raises(ValueError, match=DROPPED):
        model.predict(X, abstain=True)


@pytest.mark.parametrize(
    "params", [{"passes": 7}, {"shuffle": False}, {"n_jobs": 2}, {"verbose": 0}]
)
def test_parameters_of_learning_keep_it(params):
    model, own = certified("SureClassifier"), records("SureClassifier", 30, seed=7)
    before = decided(model, own)
    assert decided(model.set_params(**params), own) == before


def test_a_stream_drops_the_promise(tmp_path):
    texts = records("SureTextClassifier", 240, seed=1)
    lines = [
        json.dumps({"text": x, "label": y}) for x, y in zip(texts.X, texts.y.tolist(), strict=True)
    ]
    path = tmp_path / "more.jsonl"
    path.write_text("\n".join(lines[:200]) + "\n")
    model = SureTextClassifier(random_state=0).fit_stream(path)
    own = records("SureTextClassifier")
    model.choose_abstention(own.X, own.y, risk=RISK)
    model.fit_stream(path, resume=True)  # there is nothing new
    assert decisions_of(model).abstention is not None
    path.write_text("\n".join(lines) + "\n")
    model.fit_stream(path, resume=True)
    with pytest.raises(ValueError, match=DROPPED):
        model.predict(own.X, abstain=True)


# ----------------------------------------------------------------------------- what keeps it


@pytest.mark.parametrize("name", having("partial_fit"))
def test_records_of_weight_zero_keep_the_promise(name):
    model, own = certified(name), records(name, 20, seed=7)
    before = decided(model, own)
    model.partial_fit(own.X, own.y, sample_weight=[0.0] * 20, **own.about)
    assert decided(model, own) == before


@pytest.mark.parametrize("name", learners.ESTIMATORS)
def test_a_refused_call_keeps_the_promise(name):
    model, own = certified(name), records(name, 20, seed=7)
    before, whole = decided(model, own), saved(model)
    for method in ("partial_fit", "fit", "calibrate"):
        if hasattr(model, method):
            with pytest.raises((ValueError, TypeError), match=r"."):
                getattr(model, method)(own.X, own.y[:-1], **own.about)
    with pytest.raises(ValueError, match=r"risk must be in \(0, 1\), got 2"):
        model.choose_abstention(own.X, own.y, risk=2, **own.about)
    with pytest.raises(ValueError, match=r"needs at least \d+ kept-back \w+, got 20"):
        model.choose_abstention(own.X, own.y, risk=0.01, **own.about)
    with pytest.raises((ValueError, TypeError), match=r"y must"):
        model.choose_sets(own.X, own.y[:-1], **own.about)
    assert saved(model) == whole
    assert decided(model, own) == before


COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "file": lambda model: loaded(saved(model)),
    "twice": lambda model: loaded(saved(loaded(saved(model)))),
}


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("name", learners.ESTIMATORS)
def test_a_copy_decides_the_same_bit_for_bit(name, way):
    model, own = certified(name), records(name, 50, seed=7)
    made = COPIES[way](model)
    assert decided(made, own) == decided(model, own)
    assert saved(made) == saved(model)
    assert made.predict_set(own.X, 0.9, delta=0.2, **own.about) == model.predict_set(
        own.X, 0.9, delta=0.2, **own.about
    )
    if hasattr(made, "partial_fit"):
        made.partial_fit(own.X, own.y, **own.about)
        assert_dropped(made, own)


@pytest.mark.parametrize("name", learners.ESTIMATORS)
def test_a_clone_promises_nothing(name):
    made = clone(certified(name))
    assert not hasattr(made, "coverage_")
    assert "_decisions" not in vars(made)


@pytest.mark.parametrize("rule", [arow, CustomRule()])
def test_a_function_as_rule_is_the_same_in_a_copy(rule):
    own = rows(400)
    model = SureClassifier(rule, random_state=0).fit(own.X[:200], own.y[:200])
    model.choose_abstention(own.X[200:], own.y[200:], risk=0.5)
    want = plain(model.predict(own.X, abstain=True))
    assert plain(copy.deepcopy(model).predict(own.X, abstain=True)) == want
    assert plain(pickle.loads(pickle.dumps(model)).predict(own.X, abstain=True)) == want


def test_a_dict_of_the_caller_stays_the_callers():
    own, risk = rows(800, noise=0.3), {"c0": 0.4}
    model = SureClassifier(random_state=0).fit(own.X[:200], own.y[:200])
    model.choose_abstention(own.X[200:], own.y[200:], risk=risk)
    want = plain(model.predict(own.X, abstain=True))
    risk["c1"] = 0.001
    del risk["c0"]
    assert plain(loaded(saved(model)).predict(own.X, abstain=True)) == want


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.float16])
def test_numbers_of_numpy_can_be_saved(kind):
    own, model = records("SureClassifier"), fitted("SureClassifier")
    model.choose_novelty(own.X)
    model.choose_abstention(own.X, own.y, risk=kind(0.5), delta=kind(0.25), novel=kind(0.25))
    want = plain(model.predict(own.X, abstain=True))
    assert plain(loaded(saved(model)).predict(own.X, abstain=True)) == want


def test_a_kernel_of_one_row_more_drops_the_promise():
    """Its budget may leave as many points as before."""
    own = rows(300)
    model = SureKernelClassifier(budget=20, random_state=0).fit(own.X[:100], own.y[:100])
    model.choose_abstention(own.X[100:], own.y[100:], risk=0.9)
    model.partial_fit(own.X[:1], own.y[:1])
    with pytest.raises(ValueError, match=DROPPED):
        model.predict(own.X, abstain=True)


def test_an_estimator_keeps_what_it_had_for_the_message_only():
    model = certified("SureGraphClassifier")
    assert isinstance(model, SureGraphClassifier)
    before = len(saved(model))
    own = records("SureGraphClassifier", 3)
    model.partial_fit(own.X, own.y)
    file = io.BytesIO()
    model.save(file)
    assert len(file.getvalue()) < before
    assert b'"decisions' not in file.getvalue()
