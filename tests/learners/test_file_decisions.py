"""Files of decisions: bit for bit there and back, and nothing that is forged does harm."""

from __future__ import annotations

import io
import math
from contextlib import suppress

import numpy as np
import pytest

from containers import (
    MODELS,
    damaged_settings,
    refused,
    settings_of,
    tensors_of,
    with_settings,
    with_tensors,
)
from kept_back import ROWS, certified, decided, fitted, loaded, plain, records, rows, saved
from surelearn import FormatError, SureClassifier, learners, load
from surelearn.decide import Certified
from surelearn.learners.deciding import Abstention, decisions_of, put_decisions

TENSORS = ("set_values", "set_shares", "set_labels", "novelty_values", "known_values")


@pytest.fixture(scope="module")
def whole():
    """A file with every part: a rule with costs and novelty, sets, novelty."""
    own = rows(900, 4)
    model = SureClassifier(random_state=0).fit(own.X[:300], own.y[:300])
    cost = {("c0", "c1"): 3, None: 0.6}
    X, y = own.X[300:], own.y[300:]
    model.choose_abstention(X, y, risk={"c0": 0.4, "c1": 0.45}, novel=0.05, cost=cost)
    model.choose_sets(X, y).choose_novelty(X)
    return saved(model)


def changed(whole, change):
    """The file after a change of its decisions."""
    settings = settings_of(whole)
    change(settings["decisions"])
    return with_settings(whole, settings)


def changed_tensor(whole, name, change):
    tensors = tensors_of(whole)
    found = change(tensors[name])
    if found is None:
        del tensors[name]
    else:
        tensors[name] = found
    return with_tensors(whole, tensors)


@pytest.mark.parametrize("name", learners.ESTIMATORS)
def test_decisions_come_back_bit_for_bit(name):
    model, own = certified(name), records(name, 50, seed=7)
    back = loaded(saved(model))
    mine, theirs = decisions_of(model), decisions_of(back)
    assert theirs.abstention == mine.abstention
    for one, other in zip(mine.sets, theirs.sets, strict=True):
        assert plain(one) == plain(other)
    if name in ROWS:
        assert plain(mine.novelty.values) == plain(theirs.novelty.values)
        assert mine.novelty.score == theirs.novelty.score
    assert decided(back, own) == decided(model, own)
    assert saved(back) == saved(model)


def test_every_part_comes_back(whole):
    model, new = loaded(whole), rows(200, 5).X
    rule = decisions_of(model).abstention
    assert rule.risk == {"c0": 0.4, "c1": 0.45}
    assert rule.novel == 0.05
    assert rule.cost.tolist() == [[0, 3, 1, 0.6], [1, 0, 1, 0.6], [1, 1, 0, 0.6]]
    assert set(model.coverage_) == {"c0", "c1"}
    assert saved(model) == whole
    found = model.predict(new, abstain=True)
    assert plain(loaded(saved(model)).predict(new, abstain=True)) == plain(found)
    assert None in found.tolist()


@pytest.mark.parametrize(
    ("labels", "kind"), [([0, 1, 2], int), ([1.0, 2.0, 3.0], float), (["ä", "b", "c"], str)]
)
def test_labels_of_every_type_come_back(labels, kind):
    own = rows(600, 4)
    y = np.array(labels)[np.unique(own.y, return_inverse=True)[1]]
    model = SureClassifier(random_state=0).fit(own.X[:200], y[:200])
    for risk in ({y[0]: 0.4}, {labels[0]: 0.4}):
        model.choose_abstention(own.X[200:], y[200:], risk=risk)
        back = loaded(saved(model))
        assert [type(label) for label in back.coverage_] == [kind]
        assert back.coverage_ == model.coverage_
        assert plain(back.predict(own.X, abstain=True)) == plain(model.predict(own.X, abstain=True))


def test_truth_values_as_labels_come_back():
    own = rows(600, 4, n_classes=2)
    y = own.y == "c1"
    model = SureClassifier(random_state=0).fit(own.X[:200], y[:200])
    model.choose_abstention(own.X[200:], y[200:], risk={np.True_: 0.4})
    assert loaded(saved(model)).coverage_ == model.coverage_


@pytest.mark.parametrize("threshold", [-math.inf, -1e300, 1e300, 0.0, 0.1 + 0.2])
def test_every_threshold_comes_back(threshold):
    model = fitted("SureClassifier")
    rule = {None: Certified(threshold, 0.1, 0.5, 50)}
    put_decisions(model, abstention=Abstention(0.2, 0.1, "margin", rule))
    assert decisions_of(loaded(saved(model))).abstention.rules == rule


def test_a_model_without_decisions_has_nothing_of_them():
    settings = settings_of(saved(fitted("SureClassifier")))
    assert "decisions" not in settings
    assert not set(TENSORS) & set(tensors_of(saved(fitted("SureClassifier"))))


def test_what_no_longer_holds_is_not_saved():
    model, own = certified("SureClassifier"), records("SureClassifier", 20)
    model.partial_fit(own.X, own.y)
    assert "decisions" not in settings_of(saved(model))
    assert not set(TENSORS) & set(tensors_of(saved(model)))


@pytest.mark.parametrize("path", sorted(MODELS.glob("*.sure")), ids=lambda path: path.stem)
def test_files_of_older_versions_have_no_promise(path):
    model = load(path)
    assert decisions_of(model) == decisions_of(model)._replace(
        abstention=None, sets=None, novelty=None
    )
    assert not hasattr(model, "coverage_")


# ----------------------------------------------------------------------------------- forgeries


@pytest.mark.parametrize("name", ["SureClassifier", "SureTagger", "SureRanker", "GraphCRF"])
def test_any_wrong_setting_is_refused_or_harmless(name):
    """Every setting missing, or wrong in one of ten ways."""
    file, n = saved(certified(name)), 0
    own = records(name, 5)
    for data in damaged_settings(file):
        if settings_of(data).get("decisions") == settings_of(file).get("decisions"):
            continue
        n += 1
        if not refused(data):
            model = load(io.BytesIO(data))
            for ask in (
                lambda model=model: model.predict(own.X, abstain=True, **own.about),
                lambda model=model: model.predict_set(own.X, **own.about),
            ):
                with suppress(ValueError):  # a part that is left out; no other error may come
                    ask()
    assert n > 90


RULE = {"risk": 0.3, "bound": 0.2, "coverage": 0.5, "n": 100}

WRONG = {
    "no object": lambda found: found.update(abstention=[]),
    "rules are a number": lambda found: found["abstention"].update(rules=1),
    "no rules": lambda found: found["abstention"].update(rules=[]),
    "a rule is a number": lambda found: found["abstention"].update(rules=[1]),
    "a rule is a list": lambda found: found["abstention"].update(rules=[[]]),
    "one for all and one of a label": lambda found: found["abstention"].update(
        rules=[RULE, {**RULE, "label": "c0"}]
    ),
    "two for all": lambda found: found["abstention"].update(rules=[RULE, RULE]),
    "two of a label": lambda found: found["abstention"].update(rules=[{**RULE, "label": "c0"}] * 2),
    "an unknown label": lambda found: found["abstention"].update(
        rules=[{**RULE, "label": "zebra"}]
    ),
    "a label of another type": lambda found: found["abstention"].update(
        rules=[{**RULE, "label": 0}]
    ),
    "a list as label": lambda found: found["abstention"].update(rules=[{**RULE, "label": ["c0"]}]),
    "an object as label": lambda found: found["abstention"].update(rules=[{**RULE, "label": {}}]),
    "no delta": lambda found: found["abstention"].pop("delta"),
    "delta 0": lambda found: found["abstention"].update(delta=0),
    "delta 1": lambda found: found["abstention"].update(delta=1.0),
    "delta above 1": lambda found: found["abstention"].update(delta=1.5),
    "a text as delta": lambda found: found["abstention"].update(delta="0.1"),
    "novel 0": lambda found: found["abstention"].update(novel=0.0),
    "novel -1": lambda found: found["abstention"].update(novel=-1),
    "an unknown score of the rule": lambda found: found["abstention"].update(score="smell"),
    "an unknown sureness": lambda found: found["abstention"].update(sureness="gut"),
    "no sureness": lambda found: found["abstention"].pop("sureness"),
    "a cost of a number": lambda found: found["abstention"].update(cost=1),
    "a cost of texts": lambda found: found["abstention"].update(cost=[["a"] * 3] * 3),
    "a cost of another shape": lambda found: found["abstention"].update(cost=[[0, 1], [1, 0]]),
    "a ragged cost": lambda found: found["abstention"].update(cost=[[0, 1, 1], [1], [1, 1, 0]]),
    "a huge cost": lambda found: found["abstention"].update(cost=[[0, 1, 10**400]] * 3),
    "an empty cost": lambda found: found["abstention"].update(cost=[]),
    "no score of sets": lambda found: found["sets"].pop("score"),
    "an unknown score of sets": lambda found: found["sets"].update(score="best"),
    "no n of sets": lambda found: found["sets"].pop("n"),
    "sets of 0 records": lambda found: found["sets"].update(n=0),
    "sets of too many records": lambda found: found["sets"].update(n=2**53),
    "sets of far too many records": lambda found: found["sets"].update(n=2**70),
    "sets of half a record": lambda found: found["sets"].update(n=0.5),
    "sets of more parts than records": lambda found: found["sets"].update(n=3, binary=False),
    "binary is a number": lambda found: found["sets"].update(binary=1),
    "an unknown score of novelty": lambda found: found["novelty"].update(score="smell"),
    "novelty is a list": lambda found: found.update(novelty=[]),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_forged_settings_are_refused(wrong, whole):
    data = changed(whole, WRONG[wrong])
    with pytest.raises(FormatError, match="must"):
        load(io.BytesIO(data))


@pytest.mark.parametrize("name", ["risk", "bound", "coverage", "n", "threshold"])
@pytest.mark.parametrize("value", [-0.5, 1.5, "x", None, [], True, 1e999, 2**80, -(2**80)])
def test_forged_numbers_of_a_rule_are_refused(name, value, whole):
    if name == "threshold" and value in (-0.5, 1.5, 2**80, -(2**80)) and value is not True:
        return  # any finite number is a threshold
    with pytest.raises(FormatError, match="must"):
        load(
            io.BytesIO(
                changed(whole, lambda found: found["abstention"]["rules"][0].update({name: value}))
            )
        )


@pytest.mark.parametrize("name", ["risk", "bound", "coverage", "n"])
def test_missing_numbers_of_a_rule_are_refused(name, whole):
    with pytest.raises(FormatError, match=f"rules must have {name}|{name}"):
        load(io.BytesIO(changed(whole, lambda found: found["abstention"]["rules"][0].pop(name))))


def put(place, value):
    def change(array):
        array[place] = value
        return array

    return change


TENSOR = {
    "missing": lambda a: None,
    "single": lambda a: a.astype(np.float32),
    "bytes": lambda a: a.astype(np.uint8),
    "a table": lambda a: a.reshape(1, -1),
    "a number": lambda a: a.reshape(-1)[:1].reshape(()),
}


@pytest.mark.parametrize("name", TENSORS)
@pytest.mark.parametrize("wrong", TENSOR)
def test_tensors_of_another_form_are_refused(name, wrong, whole):
    with pytest.raises(FormatError, match="must"):
        load(io.BytesIO(changed_tensor(whole, name, TENSOR[wrong])))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("set_values", put(3, np.nan)),
        ("set_values", put(0, 5.0)),  # no longer ascending
        ("set_values", lambda a: a[:-1]),
        ("set_shares", put(3, np.nan)),
        ("set_shares", put(3, 0.0)),
        ("set_shares", put(3, -1.0)),
        ("set_shares", put(3, 1.5)),
        ("set_shares", put(3, np.inf)),
        ("set_shares", put(3, 0.5)),  # of records with one part
        ("set_shares", lambda a: a[:-1]),
        ("set_labels", put(3, -2)),
        ("set_labels", put(3, 3)),
        ("set_labels", put(3, 2**62)),
        ("set_labels", lambda a: a[:-1]),
        ("novelty_values", put(3, np.nan)),
        ("novelty_values", put(0, 1e300)),
        ("known_values", put(3, np.nan)),
        ("known_values", put(0, 1e300)),
        ("known_values", lambda a: a[:0]),
        ("known_values", lambda a: a[:5]),  # too few for the level
    ],
)
def test_forged_numbers_of_tensors_are_refused(name, change, whole):
    with pytest.raises(FormatError, match="must"):
        load(io.BytesIO(changed_tensor(whole, name, change)))


def test_labels_that_are_missed_are_infinitely_far():
    own, model = records("SureClassifier", 60), fitted("SureClassifier")
    y = own.y.copy()
    y[:10] = "unheard of"
    model.choose_sets(own.X, y, score="adaptive")
    back = loaded(saved(model))
    assert np.isinf(decisions_of(back).sets.values[-10:]).all()
    assert back.predict_set(own.X, 0.8) == model.predict_set(own.X, 0.8)


def test_decisions_of_a_first_order_model_are_refused(whole):
    own = rows(200, 4)
    first = settings_of(saved(SureClassifier("pa", random_state=0).fit(own.X, own.y)))
    first["decisions"] = {
        "abstention": {"delta": 0.1, "sureness": "margin", "rules": [RULE]},
    }
    data = with_settings(saved(SureClassifier("pa", random_state=0).fit(own.X, own.y)), first)
    with pytest.raises(FormatError, match="decisions must belong to a model with variances"):
        load(io.BytesIO(data))


@pytest.mark.parametrize(
    "part", [{"rules": [{**RULE, "label": 1}]}, {"rules": [RULE], "cost": [[0.0, 1.0], [1.0, 0.0]]}]
)
def test_a_ranker_has_no_labels(part):
    file = saved(fitted("SureRanker"))
    settings = settings_of(file)
    settings["decisions"] = {"abstention": {"delta": 0.1, "sureness": "margin", **part}}
    with pytest.raises(FormatError, match="must"):
        load(io.BytesIO(with_settings(file, settings)))


def test_shares_of_parts_add_up_to_the_records_at_most():
    file = saved(certified("SureTagger"))
    n = settings_of(file)["decisions"]["sets"]["n"]
    for wrong in (n // 2, 1):
        data = changed(file, lambda found, wrong=wrong: found["sets"].update(n=wrong))
        with pytest.raises(FormatError, match="n must fit the tensors"):
            load(io.BytesIO(data))
    data = changed(file, lambda found: found["sets"].update(n=2**53))
    assert load(io.BytesIO(data)).predict_set([["w0"]], delta=0.1)  # records may be empty


def test_the_limit_of_memory_holds(whole):
    with pytest.raises(FormatError, match="max_bytes"):
        load(io.BytesIO(whole), max_bytes=1000)
