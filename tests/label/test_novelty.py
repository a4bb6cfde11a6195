"""Texts unlike those answered so far are marked, and only with evidence."""

from __future__ import annotations

import pyarrow as pa
import pytest

from labelling import TAGS, answer, label, pool, sentences, session, text
from surelearn.label import Items, Session, Store
from surelearn.label.novelty import NeverSeen, never_seen

STRANGE = "qwop zxcv"


def strange_pool(n: int = 200) -> Items:
    """Films, and at the end a text without a word of theirs."""
    return Items(pa.array([*(text(i) for i in range(n)), STRANGE]))


def answered(folder, n: int, **more) -> Session:
    """A session in which n films were answered, and the strange text was never asked."""
    found = session(folder, strange_pool(), **more)
    for item in range(n):
        found.choose("ann", item)
        # As a question of the model: what people choose themselves is no fair measure.
        found.ledger.reasons["ann", item] = {"reason": "unsure"}
        found.answer("ann", item, label(item))
    return found


def test_a_text_of_unknown_words_is_marked_and_others_are_not(tmp_path):
    found = answered(tmp_path, 80)
    new = never_seen(found, 200)
    assert new is not None
    assert new.newer >= 38
    assert new.n == 39
    marked = [item for item in range(80, 200) if never_seen(found, item)]
    assert len(marked) <= 0.05 * 120


def test_the_mark_is_the_conformal_p_value(tmp_path):
    found = answered(tmp_path, 60)
    value = found.learner.novelty(200)
    for n_above, is_marked in ((0, True), (1, True), (2, False)):
        found.ledger.novelty = {i: value + (1 if i < n_above else -1) for i in range(39)}
        marked = never_seen(found, 200)
        assert marked == (NeverSeen(39 - n_above, 39) if is_marked else None)
    found.ledger.novelty = dict.fromkeys(range(39), value)  # as new as all others
    assert never_seen(found, 200) is None


@pytest.mark.parametrize(("n", "says"), [(18, False), (19, True)])
def test_nothing_is_marked_without_evidence(n, says, tmp_path):
    found = answered(tmp_path, 30)
    found.ledger.novelty = dict.fromkeys(range(n), -99.0)
    assert (never_seen(found, 200) is not None) == says


def test_what_the_model_has_learnt_is_not_new(tmp_path):
    found = answered(tmp_path, 60)
    assert never_seen(found, 200)
    found.choose("ann", 200)
    found.answer("ann", 200, "good")
    assert never_seen(found, 200) is None


def test_only_questions_of_known_labels_that_the_model_asked_are_evidence(tmp_path):
    found = session(tmp_path, pool(60), explore=0.0)
    answer(found, n=10)
    asked = list(found.ledger.novelty)
    assert asked == [s.item for s in found.label_steps()][-len(asked) :]
    assert len(asked) < 10  # not before two labels were known
    found.add_label("ann", "odd")
    item = found.question("ann").item
    found.answer("ann", item, "odd")
    assert item not in found.ledger.novelty
    item = found.question("ann").item
    found.answer("ann", item, "odd")
    assert item in found.ledger.novelty
    found.ask_about("ann", "novel")
    item = found.question("ann").item
    found.answer("ann", item, label(item))
    assert item not in found.ledger.novelty
    chosen = next(i for i in range(60) if i not in found.ledger.closed)
    found.choose("ann", chosen)
    found.answer("ann", chosen, label(chosen))
    assert chosen not in found.ledger.novelty


def test_evidence_is_measured_before_the_answer_is_learnt_and_gone_when_it_is_undone(tmp_path):
    found = session(tmp_path, pool(60), explore=0.0)
    answer(found, n=10)
    item = found.question("ann").item
    before = found.learner.novelty(item)
    found.answer("ann", item, label(item))
    assert found.ledger.novelty[item] == before != found.learner.novelty(item)
    found.change("ann", item, "good")
    assert found.ledger.novelty[item] == before
    found.undo("ann")
    found.undo("ann")
    assert item not in found.ledger.novelty


@pytest.mark.parametrize("kind", ["many", "tags"])
def test_many_labels_and_sentences_have_no_mark(kind, tmp_path):
    items = pool(30) if kind == "many" else sentences(30)
    given = (lambda i: [label(i)]) if kind == "many" else (lambda i: TAGS)
    found = Session(items, Store(tmp_path / "a.db"), ["good", "bad", *set(TAGS)], kind=kind)
    for _ in range(4):
        item = found.question("ann").item
        found.answer("ann", item, given(item))
    assert found.ledger.novelty == {}
    found.ledger.novelty = dict.fromkeys(range(39), -99.0)
    assert never_seen(found, found.question("ann").item) is None
