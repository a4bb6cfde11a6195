from __future__ import annotations

from surelearn.label.ledger import Ledger, Step
from surelearn.label.store import Event


def log(*events: Event) -> Ledger:
    return Ledger.of([event._replace(number=i + 1) for i, event in enumerate(events)])


def answer(person: str, item: int, label: str, **more: object) -> Event:
    return Event(person, "answer", item, {"label": label, **more})


def test_the_first_label_counts_until_one_is_settled():
    events = [answer("ann", 5, "x"), answer("bob", 5, "y")]
    assert log(*events).final(5) == "x"
    assert log(*events).disagreements() == [5]
    settled = log(*events, Event("bob", "settle", 5, {"label": "y"}))
    assert settled.final(5) == "y"
    assert settled.disagreements() == []
    assert settled.pairs() == {("ann", "bob"): [("x", "y")]}


def test_a_changed_answer_keeps_its_place_and_what_was_predicted():
    first = answer("ann", 5, "x", predicted="y", at_random=True)
    found = log(first, answer("ann", 6, "y"), answer("ann", 5, "z")).steps()
    assert found == [Step("tell", 5, "z", "y", True), Step("tell", 6, "y")]


def test_what_was_undone_never_happened_but_for_its_question():
    found = log(
        Event("ann", "ask", 5, {"reason": "random"}),
        answer("ann", 5, "x"),
        Event("ann", "ask", 6, {"reason": "unsure"}),
        Event("ann", "undo", 5, {"of": 2}),
    )
    assert found.steps() == []
    assert found.current == {"ann": 5}
    assert found.reasons["ann", 5] == {"reason": "random"}
    assert found.done == {}


def test_a_skipped_item_is_closed_until_it_is_labelled():
    found = log(Event("ann", "skip", 5))
    assert found.closed == {5}
    assert found.steps() == [Step("skip", 5)]
    assert log(Event("ann", "skip", 5), Event("bob", "settle", 5, {"label": "x"})).steps() == [
        Step("tell", 5, "x")
    ]


def test_who_declines_a_second_opinion_closes_nothing():
    found = log(answer("ann", 5, "x"), Event("bob", "skip", 5))
    assert found.declined == {("bob", 5): 2}
    assert found.skipped == {}


def test_labels_and_people_are_listed_once_in_order():
    label = [Event("", "label", None, {"label": name}) for name in "bab"]
    found = log(*label, Event("zoe", "enter"), Event("ann", "enter"), Event("zoe", "enter"))
    assert (found.labels, found.people) == (["b", "a"], ["zoe", "ann"])


def test_another_strategy_takes_back_what_the_last_one_chose():
    want = Event("ann", "strategy", None, {"strategy": "novel"})
    for reason, is_kept in (("unsure", False), ("new", False), ("random", True), ("first", True)):
        found = log(Event("ann", "ask", 5, {"reason": reason}), want)
        assert found.strategies == {"ann": "novel"}
        assert found.current == ({"ann": 5} if is_kept else {})


def test_the_proof_of_older_stores_is_not_touched_by_what_they_have_not():
    """Their checksum is that of this text."""
    text = repr(log(answer("ann", 5, "x")))
    assert "strateg" not in text
    assert "novelty" not in text


def test_novelty_is_that_of_the_first_answer():
    events = [answer("ann", 5, "x", novelty=1.5), answer("ann", 5, "y", novelty=9.0)]
    assert log(*events).novelty == {5: 1.5}
