"""Going on the next day: a pool from its history is the pool that never stopped."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import RidgeClassifier, SGDClassifier

from asked import bytes_of, digits, teach, texts
from surelearn import SureClassifier, SureTextClassifier, load
from surelearn.active import Budget, EstimatedError, Pool, Stable
from surelearn.active._history import History, _step
from surelearn.active._pool import _seed


def through_json(pool: Pool):
    return json.loads(json.dumps(pool.history))


def told(pool: Pool):
    return pool.answers, pool.skipped


# ------------------------------------------------------------------------ the same


@pytest.mark.parametrize("kind", [np.int32, "U9", bool])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_ten_and_ten_are_twenty(kind, n_classes, tmp_path):
    X, y = digits(n_classes)
    y = (y > 0) if kind is bool else y.astype(kind)
    options = {"explore": 0.2, "stop": [Budget(40), Stable(), EstimatedError(0.05)]}
    whole = Pool(SureClassifier(), X, random_state=3, **options)
    asked = teach(whole, y, 20)

    first = Pool(SureClassifier(), X, random_state=3, **options)
    before = teach(first, y, 10)
    second = Pool(SureClassifier(), X, history=through_json(first), **options)
    assert told(second) == told(first)
    assert before + teach(second, y, 10) == asked
    assert bytes_of(second.model, tmp_path) == bytes_of(whole.model, tmp_path)
    assert told(second) == told(whole)
    assert second.should_stop() == whole.should_stop()
    assert through_json(second) == through_json(whole)


@pytest.mark.slow
def test_in_a_new_process(tmp_path):
    X, y = texts()
    (tmp_path / "rows.json").write_text(json.dumps([X, y]))
    whole = Pool(SureTextClassifier(), X, random_state=0)
    asked = teach(whole, y, 20)
    (tmp_path / "day.py").write_text(
        "import json, sys, pathlib\n"
        "from surelearn import SureTextClassifier\n"
        "from surelearn.active import Pool\n"
        "here = pathlib.Path(sys.argv[1])\n"
        "X, y = json.loads((here / 'rows.json').read_text())\n"
        "log = here / 'log.json'\n"
        "history = json.loads(log.read_text()) if log.exists() else None\n"
        "seed = None if history else 0\n"
        "pool = Pool(SureTextClassifier(), X, history=history, random_state=seed)\n"
        "for _ in range(10):\n"
        "    (row,) = pool.ask()\n"
        "    pool.tell(row, y[row])\n"
        "    print(row)\n"
        "log.write_text(json.dumps(pool.history))\n"
        "pool.model.save(here / 'model.sure')\n"
    )
    said = ""
    for _ in range(2):
        command = [sys.executable, str(tmp_path / "day.py"), str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        said += done.stdout
    assert [int(line) for line in said.split()] == asked
    assert (tmp_path / "model.sure").read_bytes() == bytes_of(whole.model, tmp_path)


STEPS = st.lists(
    st.sampled_from(["tell", "tell two", "skip", "undo", "ask", "stop"]), min_size=1, max_size=25
)


@given(steps=STEPS, cuts=st.sets(st.integers(0, 24), max_size=3), watched=st.booleans())
@settings(max_examples=15)
def test_a_pool_may_end_anywhere(steps, cuts, watched):
    X, y = digits(3, 60)
    options = {"explore": 0.3, "stop": Stable(watch=20) if watched else None}

    def run(cuts):
        pool = Pool(SureClassifier(), X, labels={0: y[0]}, random_state=1, **options)
        seen = []
        for place, step in enumerate(steps):
            if place in cuts:
                pool = Pool(SureClassifier(), X, history=through_json(pool), **options)
            seen.append(took(pool, step))
        return seen, told(pool), pool.model._model.counts.tolist(), pool.history

    def took(pool, step):
        if step == "undo":
            return pool.undo().tolist() if pool._steps[1:] else None
        rows = pool.ask(2 if step == "tell two" else 1).tolist()
        if step.startswith("tell"):
            pool.tell(rows, y[rows])
        elif step == "skip":
            pool.skip(rows)
        return rows, pool.should_stop()

    assert run(cuts) == run(set())


def test_undo_goes_back_over_the_night(tmp_path):
    X, y = texts()
    pool = Pool(SureTextClassifier(), X, labels={0: y[0], 1: y[1]}, random_state=0)
    kept = [bytes_of(pool.model, tmp_path)]
    for _ in range(40):
        teach(pool, y, 1)
        kept.append(bytes_of(pool.model, tmp_path))
    pool.skip(pool.ask())
    again = Pool(SureTextClassifier(), X, history=through_json(pool))
    again.undo()
    assert again.skipped == []
    for expected in reversed(kept[:-1]):
        again.undo()
        assert bytes_of(again.model, tmp_path) == expected
    with pytest.raises(ValueError, match="undo needs an answer or a skip to take back, got none"):
        again.undo()


@pytest.mark.parametrize(
    "model", [SGDClassifier(loss="log_loss", random_state=0), RidgeClassifier()], ids=str
)
def test_other_classifiers_go_on(model):
    from sklearn.base import clone

    X, y = digits(3)
    whole = Pool(clone(model), X, strategy="margin", random_state=0)
    asked = teach(whole, y, 16)
    first = Pool(clone(model), X, strategy="margin", random_state=0)
    before = teach(first, y, 9)
    for start in (clone(model), first.model):
        second = Pool(start, X, strategy="margin", history=through_json(first))
        assert before + teach(second, y, 7) == asked
        np.testing.assert_array_equal(second.model.coef_, whole.model.coef_)


def test_random_questions_that_wait_for_their_answer_are_known(tmp_path):
    X, y = digits(2)
    pool = Pool(SureClassifier(), X, labels={0: y[0], 1: 1 - y[0]}, explore=0.9, random_state=0)
    rows = pool.ask(6)
    again = Pool(SureClassifier(), X, explore=0.9, history=through_json(pool))
    for one in (pool, again):
        one.tell(rows, y[rows])
    assert again.answers == pool.answers
    assert any(answer.at_random for answer in again.answers)


# -------------------------------------------------------------------- not taught twice


def test_a_saved_model_is_not_taught_twice(tmp_path):
    X, y = texts()
    pool = Pool(SureTextClassifier(), X, random_state=0)
    teach(pool, y, 12)
    pool.model.save(tmp_path / "m.sure")
    loaded = load(tmp_path / "m.sure")
    again = Pool(loaded, X, history=through_json(pool))
    assert again.model is loaded
    assert bytes_of(loaded, tmp_path) == (tmp_path / "m.sure").read_bytes()
    again.undo()
    pool.undo()
    assert bytes_of(again.model, tmp_path) == bytes_of(pool.model, tmp_path)


@pytest.mark.parametrize("n", [12, 101])
def test_nor_is_one_that_knew_its_classes(n, tmp_path):
    X, y = digits(3)
    settings = {"multiclass": "ecoc", "random_state": 0}
    pool = Pool(SureClassifier(**settings), X, classes=[0, 1, 2], random_state=0)
    rows = pool.ask(n)
    pool.tell(rows, y[rows])
    before = bytes_of(pool.model, tmp_path)
    again = Pool(pool.model, X, classes=[0, 1, 2], history=through_json(pool))
    assert bytes_of(again.model, tmp_path) == before


def test_labels_of_a_model_that_has_learnt_are_refused(tmp_path):
    X, y = texts()
    pool = Pool(SureTextClassifier(), X, random_state=0)
    teach(pool, y, 12)
    answers = {answer.row: answer.label for answer in pool.answers}
    before = bytes_of(pool.model, tmp_path)
    wrong = r"labels must be None for a model that has learnt .*\. Use history= .*, or tell"
    with pytest.raises(ValueError, match=wrong):
        Pool(pool.model, X, labels=answers)
    assert bytes_of(pool.model, tmp_path) == before
    X, y = digits(2)
    with pytest.raises(ValueError, match="labels must be None for a model that has learnt"):
        Pool(RidgeClassifier().fit(X, y), X, labels={0: y[0]})


def test_a_model_that_was_fitted_before_goes_on_from_there(tmp_path):
    X, y = digits(2)
    start = SureClassifier(random_state=0).fit(X[:50], y[:50])
    start.save(tmp_path / "start.sure")
    pool = Pool(start, X[50:], random_state=0)
    teach(pool, y[50:], 10)
    again = Pool(load(tmp_path / "start.sure"), X[50:], history=through_json(pool))
    assert bytes_of(again.model, tmp_path) == bytes_of(pool.model, tmp_path)
    for other in (SureClassifier(), pool.model):
        with pytest.raises(ValueError, match=r"model must have learnt 50 rows, as .*, got one .*"):
            Pool(other, X[50:], history=through_json(pool))


def test_a_model_that_has_learnt_more_is_refused(tmp_path):
    X, y = digits(2)
    pool = Pool(SureClassifier(), X, random_state=0)
    teach(pool, y, 10)
    other = SureClassifier().partial_fit(X[:30], y[:30])
    before = bytes_of(other, tmp_path)
    with pytest.raises(ValueError, match=r"learnt 0 rows, .* or 10 .*, got one that has learnt 30"):
        Pool(other, X, history=through_json(pool))
    assert bytes_of(other, tmp_path) == before


# ------------------------------------------------------------------------- what it is of


def test_rows_must_be_those_that_were_answered():
    X, y = texts()
    pool = Pool(SureTextClassifier(), X, random_state=0)
    teach(pool, y, 5)
    wrong = r"row \d+ of X must be the row that was answered before, got another"
    with pytest.raises(ValueError, match=wrong):
        Pool(SureTextClassifier(), X[::-1], history=pool.history)
    for same in (pd.Series(X), np.array(X), [*X, "more texts", "have come"]):
        assert told(Pool(SureTextClassifier(), same, history=pool.history)) == told(pool)
    with pytest.raises(ValueError, match=r"history must be in \[0, 3\), got"):
        Pool(SureTextClassifier(), X[:3], history=pool.history)


@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_matrix, pd.DataFrame])
def test_rows_of_numbers_are_known_again(as_rows):
    X, y = digits(2)
    pool = Pool(SureClassifier(), as_rows(X), random_state=0)
    teach(pool, y, 5)
    Pool(SureClassifier(), as_rows(X), history=pool.history)
    with pytest.raises(ValueError, match=r"row \d+ of X must be the row that was answered before"):
        Pool(SureClassifier(), as_rows(X + 1), history=pool.history)


def test_a_history_is_plain_and_small():
    X, y = texts()
    pool = Pool(SureTextClassifier(), X, labels={0: y[0]}, random_state=np.random.RandomState(4))
    teach(pool, y, 3)
    pool.skip(pool.ask())
    plain = pool.history
    assert plain == through_json(pool)
    kinds = [step["kind"] for step in plain["steps"]]
    assert kinds == ["start", "tell", "tell", "tell", "skip"]
    assert set(plain["steps"][1]["answers"][0]) == {
        "row",
        "label",
        "predicted",
        "at_random",
        "mark",
    }
    least = {
        "random_state": plain["random_state"],
        "steps": [
            {"kind": "tell", "answers": [{"row": a.row, "label": a.label}]} for a in pool.answers
        ],
    }
    again = Pool(SureTextClassifier(), X, history=least)
    assert [a[:2] for a in again.answers] == [a[:2] for a in pool.answers]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda h: "day 1", TypeError, "history must be a dict like Pool.history, got 'day 1'"),
        (lambda h: {}, ValueError, r"history\['random_state'\] must be an int, got None"),
        (lambda h: {**h, "steps": {}}, ValueError, r"history\['steps'\] must be a list, got {}"),
        (lambda h: {**h, "steps": [3]}, TypeError, r"history\['steps'\]\[0\] must be a dict"),
        (
            lambda h: {**h, "steps": [{"kind": "nap"}]},
            ValueError,
            r"kind must be one of 'start', 'tell', 'skip', got 'nap'",
        ),
        (
            lambda h: {**h, "steps": [{"kind": "tell", "answers": [{"row": 0}]}]},
            ValueError,
            r"must have a label, got {'row': 0}",
        ),
        (
            lambda h: {**h, "steps": [{"kind": "skip", "rows": [0, 0]}]},
            ValueError,
            "history must differ, got",
        ),
        (
            lambda h: {**h, "steps": h["steps"] * 2},
            ValueError,
            "history must not be answered or skipped before, got",
        ),
    ],
)
def test_what_is_no_history_is_refused(change, error, message):
    X, y = digits(2)
    pool = Pool(SureClassifier(), X, random_state=0)
    teach(pool, y, 2)
    with pytest.raises(error, match=message):
        Pool(SureClassifier(), X, history=change(pool.history))


def test_what_a_history_says_is_not_said_again():
    X, y = digits(2)
    pool = Pool(SureClassifier(), X, random_state=7)
    teach(pool, y, 2)
    with pytest.raises(ValueError, match=r"labels must be None with history, which holds"):
        Pool(SureClassifier(), X, history=pool.history, labels={5: 1})
    with pytest.raises(ValueError, match=r"random_state must be None or 7 with history, got 8"):
        Pool(SureClassifier(), X, history=pool.history, random_state=8)
    again = Pool(SureClassifier(), X, history=pool.history, random_state=7)
    assert again.ask().tolist() == pool.ask().tolist()


GOOD = {"random_state": 3, "steps": []}


@pytest.mark.parametrize(
    "more",
    [{}, {"drawn": [1]}, {"learnt_before": None}, {"learnt_before": 5}]
    + [{"label_type": kind} for kind in (None, "bool", "int64", "float32")],
)
def test_a_history_may_leave_out_what_pools_did_not_write_at_first(more):
    History.of({**GOOD, **more})


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ([GOOD], TypeError, "history must be a dict like Pool.history, got [{'random_state': 3"),
        ({"steps": []}, ValueError, "history['random_state'] must be an int, got None."),
        ({**GOOD, "steps": {}}, ValueError, "history['steps'] must be a list, got {}."),
        ({**GOOD, "drawn": None}, ValueError, "history['drawn'] must be a list, got None."),
        ({**GOOD, "learnt_before": "x"}, ValueError, "must be an int or None, got 'x'."),
        ({**GOOD, "label_type": 3}, ValueError, "must be a str or None, got 3."),
        ({**GOOD, "label_type": "object"}, ValueError, "history['label_type'] must be one of"),
    ],
)
def test_what_no_pool_has_written(value, error, message):
    with pytest.raises(error, match=re.escape(message)):
        History.of(value)


@pytest.mark.parametrize("kind", ["tell", "skip"])
def test_a_step_has_the_list_that_its_kind_needs(kind):
    part = {"tell": "answers", "skip": "rows"}
    (step,) = History.of({**GOOD, "steps": [{"kind": kind, part[kind]: []}]}).steps
    assert step.kind == kind
    other = {"kind": kind, part["tell" if kind == "skip" else "skip"]: []}
    with pytest.raises(ValueError, match=rf"\[0\] must have {part[kind]}, a list, got {{'kind'"):
        History.of({**GOOD, "steps": [other]})


def test_the_seed_of_a_history_may_be_given_again():
    history = History.of({**GOOD, "random_state": 7})
    for again in (None, 7, np.int64(7)):
        assert _seed(again, history) == 7
    for other in (8, 7.0, np.random.default_rng(7)):
        with pytest.raises(ValueError, match=r"random_state must be None or 7 with history, got"):
            _seed(other, history)


def test_an_answer_has_a_row_and_a_label():
    good = {"row": 0, "label": "a"}
    step, answers = _step(4, {"kind": "tell", "answers": [good]})
    assert step.rows == [0]
    assert [(one.row, one.label) for one in answers] == [(0, "a")]
    with pytest.raises(TypeError, match=r"history\['steps'\]\[4\]\['answers'\] must be dicts, got"):
        _step(4, {"kind": "tell", "answers": [[0, "a"]]})
    for missing in ("row", "label"):
        with pytest.raises(ValueError, match=f"must have a {missing}, got"):
            _step(4, {"kind": "tell", "answers": [good | {missing: None}]})
