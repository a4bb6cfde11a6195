from __future__ import annotations

import random
from contextlib import suppress

import pytest

from labelling import answer, label, pool, sentences, session
from surelearn import FormatError, SureTagger, SureTextClassifier
from surelearn.label import Event, Items, NotSaved, Session, Store
from surelearn.label.spans import span_tags


def same(one: Session, other: Session) -> bool:
    return one.model_bytes() == other.model_bytes() and one.ledger == other.ledger


def reopened(found: Session, folder, **more) -> Session:
    found.store.close()
    return session(folder, found.items, **more)


def test_a_question_stays_until_it_is_answered(tmp_path):
    found = session(tmp_path)
    first = found.question("ann")
    assert found.question("ann") == first
    found.answer("ann", first.item, "good")
    assert found.question("ann").item != first.item


def test_started_again_it_goes_on_where_it_was(tmp_path):
    found = session(tmp_path)
    answer(found, n=15)
    found.skip("ann", found.question("ann").item)
    shown, model = found.question("ann"), found.model_bytes()
    again = reopened(found, tmp_path)
    assert again.question("ann") == shown
    assert again.model_bytes() == model
    assert again.ledger == found.ledger


@pytest.mark.slow
def test_any_way_through_the_page_is_rebuilt_from_its_log(tmp_path):
    found = session(tmp_path, overlap=0.5)
    draw = random.Random(0)
    for _ in range(150):
        person = draw.choice(["ann", "bob"])
        rest = ["skip", "undo", "change", "choose", "label", "strategy"]
        act = draw.choice(["answer"] * 6 + rest)
        with suppress(ValueError):  # nothing to undo, a text that another person has
            one_act(found, person, act, draw)
    assert len(found.ledger.steps()) > 20
    assert same(found, reopened(found, tmp_path))


def one_act(found: Session, person: str, act: str, draw: random.Random) -> None:
    item = draw.randrange(len(found.items))
    if act == "label":
        found.add_label(person, draw.choice(["odd", "new"]))
    elif act == "strategy":
        found.ask_about(person, draw.choice(["acl", "novel"]))
    elif act == "undo":
        found.undo(person)
    elif act == "choose":
        found.choose(person, item)
    elif act == "change":
        found.change(person, item, draw.choice(["good", "bad"]))
    else:
        question = found.question(person)
        if question is not None and act == "skip":
            found.skip(person, question.item)
        elif question is not None:
            found.answer(person, question.item, draw.choice(["good", "bad"]))


def test_undo_restores_model_and_question_exactly(tmp_path):
    found = session(tmp_path)
    answer(found, n=9)
    question, before, steps = found.question("ann"), found.model_bytes(), found.ledger.steps()
    found.answer("ann", question.item, "good")
    found.question("ann")
    assert found.model_bytes() != before
    found.undo("ann")
    assert (found.model_bytes(), found.ledger.steps()) == (before, steps)
    assert found.question("ann") == question


def test_undo_takes_back_what_this_person_did(tmp_path):
    found = session(tmp_path)
    mine, theirs = answer(found, "ann", 2), answer(found, "bob", 2)
    found.undo("ann")
    assert found.question("ann").item == mine[1]
    assert found.ledger.given.keys() == {mine[0], *theirs}
    found.undo("ann")
    with pytest.raises(ValueError, match="undo needs an answer to take back, got none"):
        found.undo("ann")


def test_a_changed_answer_gives_the_model_that_it_would_have_given_at_once(tmp_path):
    (tmp_path / "b").mkdir()
    one, other = session(tmp_path), session(tmp_path / "b")
    first = one.question("ann").item
    one.answer("ann", first, "good" if label(first) == "bad" else "bad")
    one.change("ann", first, label(first))
    rest = answer(one, n=8)
    for item in (first, *rest):
        other.choose("ann", item)
        other.answer("ann", item, label(item))
    assert one.model_bytes() == other.model_bytes()


def test_a_label_of_another_person_can_be_changed_and_that_undone(tmp_path):
    found = session(tmp_path)
    (item,) = answer(found, "ann")
    found.change("bob", item, "good" if label(item) == "bad" else "bad")
    assert found.ledger.final(item) != label(item)
    found.undo("bob")
    assert found.ledger.final(item) == label(item)


def test_an_answer_that_cannot_be_saved_changes_nothing(tmp_path):
    found = session(tmp_path)
    answer(found, n=5)
    question, before = found.question("ann"), found.model_bytes()
    (pages,) = found.store._db.execute("PRAGMA page_count").fetchone()
    found.store._db.execute(f"PRAGMA max_page_count = {pages}")
    with suppress(NotSaved):
        for i in range(500):  # the last page has some room
            found.add_label("ann", f"label {i}")
    with pytest.raises(NotSaved, match="Nothing was saved"):
        found.answer("ann", question.item, "good")
    assert found.model_bytes() == before
    assert found.question("ann") == question
    assert reopened(found, tmp_path).model_bytes() == before


def test_an_old_page_and_an_unknown_label_are_refused(tmp_path):
    found = session(tmp_path)
    item = found.question("ann").item
    with pytest.raises(ValueError, match=r"label must be one of \['good', 'bad'\], got 'odd'"):
        found.answer("ann", item, "odd")
    found.answer("ann", item, "good")
    with pytest.raises(ValueError, match="must be the open question, got an old page"):
        found.answer("ann", item, "good")
    with pytest.raises(ValueError, match=r"text must be in \[1, 60\], got 61"):
        found.choose("ann", 60)


def test_labels_can_be_added(tmp_path):
    found = session(tmp_path)
    assert found.add_label("ann", "  very   odd ") == "very odd"
    found.answer("ann", found.question("ann").item, "very odd")
    assert found.ledger.labels == ["good", "bad", "very odd"]
    with pytest.raises(ValueError, match="a label must have letters"):
        found.add_label("ann", "\u202e")


def test_a_new_type_of_spans_has_both_tags(tmp_path):
    tags = span_tags(["PER"])
    found = Session(sentences(), Store(tmp_path / "a.db"), tags, kind="tags")
    assert found.add_label("ann", "LOC") == "LOC"
    assert found.ledger.labels == span_tags(["PER", "LOC"])


def test_names_are_kept_tidy(tmp_path):
    found = session(tmp_path)
    assert found.enter(" Ann  Lee ") == "Ann Lee"
    assert found.ledger.people == ["Ann Lee"]
    with pytest.raises(ValueError, match="a name must have letters"):
        found.enter(" ")


def test_a_text_is_given_to_one_person_at_a_time(tmp_path):
    found = session(tmp_path)
    answer(found, n=6)
    held = {person: found.question(person).item for person in ("ann", "bob", "cyd")}
    assert len(set(held.values())) == 3
    with pytest.raises(ValueError, match="must be free"):
        found.choose("ann", held["bob"])


def test_a_share_of_the_texts_is_given_to_two_people(tmp_path):
    found = session(tmp_path, pool(200), overlap=0.3, explore=0.0)
    answer(found, "ann", 60)
    answer(found, "bob", 60)
    twice = [item for item, by in found.ledger.given.items() if len(by) == 2]
    assert 8 <= len(twice) <= 30
    assert found.ledger.disagreements() == []


def test_the_last_texts_are_asked_of_everyone_and_then_nothing_is(tmp_path):
    found = session(tmp_path, pool(3), explore=0.0)
    assert found.question("ann").item == found.question("ann").item
    answer(found, "bob", 2)
    assert found.question("bob").item == found.question("ann").item
    answer(found, "ann", 1)
    assert found.question("cyd") is None


def test_labels_of_the_files_are_learnt_first_and_earlier_answers_stay(tmp_path):
    items = pool(20)
    start = Items(items.X, {0: "bad", 1: "good"})
    found = session(tmp_path, start)
    assert [step.item for step in found.label_steps()] == [0, 1]
    assert found.learner.decides
    found.store.close()
    clash = session(tmp_path, Items(items.X, {0: "good", 2: "other"}))
    assert clash.n_clashes == 1
    assert clash.ledger.final(0) == "bad"
    assert clash.ledger.labels == ["good", "bad", "other"]


def test_a_model_can_be_the_start(tmp_path):
    path = tmp_path / "m.sure"
    SureTextClassifier(random_state=0).fit(["fine", "dull"], ["good", "bad"]).save(path)
    found = session(tmp_path, model=path)
    assert found.learner.predict(1) == "good"
    answer(found, n=4)
    before = found.model_bytes()
    path.unlink()
    assert reopened(found, tmp_path).model_bytes() == before


def test_a_store_of_another_pool_is_refused_and_says_which(tmp_path):
    found = session(tmp_path, Items(pool(9).X, files=["mine.jsonl"]))
    found.store.close()
    with pytest.raises(ValueError, match=r"got that of mine\.jsonl with 9 items"):
        session(tmp_path, Items(pool(12).X.slice(3)))
    grown = session(tmp_path, pool(12))
    assert grown.store.about("n_items") == 12


def test_a_store_of_another_model_is_refused(tmp_path):
    session(tmp_path).store.close()
    path = tmp_path / "m.sure"
    SureTextClassifier(random_state=0).fit(["fine", "dull"], ["good", "bad"]).save(path)
    with pytest.raises(ValueError, match="must have begun with this model, got another"):
        session(tmp_path, model=path)


def test_what_is_drawn_at_random_is_marked(tmp_path):
    found = session(tmp_path, pool(200), explore=0.3)
    answer(found, n=60)
    drawn = [step.at_random for step in found.label_steps()]
    assert 8 <= sum(drawn) <= 30


def test_a_pool_must_have_texts(tmp_path):
    import pyarrow as pa

    with Store(tmp_path / "a.db") as store, pytest.raises(ValueError, match="the pool must have"):
        Session(Items(pa.array([], pa.string())), store)


def test_the_first_item_can_be_a_second_opinion_and_none_follows_it(tmp_path):
    """Item 0 is as true as any other."""
    found = session(tmp_path, pool(30), overlap=1.0, explore=0.0)
    for item in (0, 1):
        found.choose("ann", item)
        found.answer("ann", item, label(item))
    assert found.question("bob") == (0, "second")
    found.answer("bob", 0, "bad")
    assert found.question("bob").reason != "second"
    found.undo("bob")
    assert found.question("bob") == (0, "second")


def test_random_questions_end_with_the_open_texts(tmp_path):
    found = session(tmp_path, pool(2), explore=0.99)
    assert found.question("ann").item != found.question("bob").item
    assert found.question("cyd") is not None  # the last ones are asked of everyone


def start_from(folder, model, kind="texts"):
    path = folder / "model.sure"
    model.save(path)
    with Store(folder / "answers.db") as store:
        return Session(pool(), store, ["good"], kind=kind, model=path)


def test_a_model_that_cannot_go_on_is_refused_and_not_kept(tmp_path):
    texts = ["a fine film", "a dull film"]
    numbers = SureTextClassifier().fit(texts, [0, 1])
    with pytest.raises(ValueError, match="labels of the model to start from must be texts, got"):
        start_from(tmp_path, numbers)
    with pytest.raises(ValueError, match="must be a SureTextClassifier, got SureTagger"):
        start_from(tmp_path, SureTagger().fit([["a", "b"]], [["X", "Y"]]))
    with pytest.raises(ValueError, match=r"one label for each text, got many\. Use --many"):
        start_from(tmp_path, SureTextClassifier().fit(texts, [["good"], ["bad"]]))
    with pytest.raises(ValueError, match=r"many labels for each text, got one\. Leave out"):
        start_from(tmp_path, SureTextClassifier().fit(texts, ["good", "bad"]), kind="many")
    (tmp_path / "junk.sure").write_text("junk")
    with (
        pytest.raises(ValueError, match=r"junk.sure must be a safetensors file"),
        Store(tmp_path / "answers.db") as store,
    ):
        Session(pool(), store, model=tmp_path / "junk.sure")
    assert session(tmp_path).question("ann") is not None


def test_labels_of_the_files_are_no_clash_with_themselves(tmp_path):
    items = Items(pool(4).X, {0: "good", 1: ["bad", "good"]})
    with Store(tmp_path / "a.db") as store:
        Session(items, store, kind="many")
    with Store(tmp_path / "a.db") as store:
        assert Session(items, store, kind="many").n_clashes == 0


def test_labels_to_choose_from_are_kept_tidy(tmp_path):
    with Store(tmp_path / "a.db") as store:
        found = Session(pool(4), store, ["a  b", "a b", "日本", "../x", '"q"', "x" * 99])
        assert found.ledger.labels == ["a b", "日本", "../x", '"q"', "x" * 60]
    with (
        pytest.raises(ValueError, match="a label must have letters, got"),
        Store(tmp_path / "b.db") as store,
    ):
        Session(pool(4), store, ["\u202eevil"])


@pytest.mark.parametrize(
    ("event", "says"),
    [
        (Event("ann", "dance", 1), "event 3 is not"),
        (Event("ann", "answer", None, {"label": "good"}), "event 3 is not"),
        (Event("ann", "answer", 60, {"label": "good"}), "event 3 is not"),
        (Event("ann", "answer", 1, {}), "event 3 is not"),
        (Event("ann", "answer", 1, {"label": ["good"]}), "event 3 is not"),
        (Event("ann", "answer", 1, {"label": "good", "predicted": 1}), "event 3 is not"),
        (Event("ann", "answer", 1, {"label": "odd"}), "event 3: label must be one of"),
        (Event("ann", "ask", 1, {}), "event 3 is not"),
        (Event("ann", "undo", None, {"of": "x"}), "event 3 is not"),
        (Event("", "label", None, {"label": ["x"]}), "event 3 is not"),
        (Event("ann", "skip", 1, ["x"]), "event 3 is not"),
        (Event("ann", "strategy", None, {"strategy": "newest"}), "event 3 is not"),
        (Event("ann", "strategy", None, {}), "event 3 is not"),
        (Event("ann", "answer", 1, {"label": "good", "novelty": "x"}), "event 3 is not"),
    ],
)
def test_a_log_that_the_page_cannot_have_written_is_refused(tmp_path, event, says):
    found = session(tmp_path)
    found.store.append(event)
    found.store.close()
    with pytest.raises(FormatError, match=f"got a damaged one: {says}"):
        session(tmp_path)


@pytest.mark.parametrize("name", ["n_items", "seed", "kind", "files", "digest", "model"])
def test_a_store_without_a_fact_is_refused(tmp_path, name):
    found = session(tmp_path)
    found.store._db.execute("DELETE FROM about WHERE name = ?", [name])
    found.store.close()
    with pytest.raises(FormatError, match=f"the fact '{name}' is not as it was written"):
        session(tmp_path)


def test_labels_must_fit_the_kind_of_the_page(tmp_path):
    with Store(tmp_path / "a.db") as store:
        with pytest.raises(ValueError, match=r"must be one for each text, got lists\. Use many"):
            Session(Items(pool(4).X, {0: ["good"]}), store)
        with pytest.raises(ValueError, match="of the kind 'many', got 'texts'"):
            Session(pool(4), store, kind="many")


def test_tags_are_one_for_each_token_and_have_no_blanks(tmp_path):
    with Store(tmp_path / "a.db") as store:
        found = Session(sentences(), store, ["O", "B-PER"], kind="tags")
        with pytest.raises(ValueError, match="tags must have no blanks, got 'a b'"):
            found.add_label("ann", "a b")
        item = found.question("ann").item
        message = rf"tags must be one for each of {len(found.items.X[item])} tokens, got 1"
        with pytest.raises(ValueError, match=message):
            found.answer("ann", item, ["O"])


def test_ones_own_answer_is_changed_until_the_label_is_settled(tmp_path):
    found = session(tmp_path)
    (item,) = answer(found, "ann")
    found.change("ann", item, "bad")
    assert found.ledger.given[item]["ann"].label == "bad"
    assert item not in found.ledger.settled
    found.change("bob", item, "good")
    assert item in found.ledger.settled
    found.change("ann", item, "bad")
    assert found.ledger.final(item) == "bad"


def test_the_newest_text_is_asked_about_on_demand_and_started_again_it_still_is(tmp_path):
    found = session(tmp_path, pool(100), explore=0.0)
    answer(found, n=12)
    usual = found.question("ann")
    found.ask_about("ann", "novel")
    left = [item for item in range(100) if item not in found.ledger.closed]
    newest = max(left, key=lambda item: (found.learner.novelty(item), -item))
    assert found.question("ann") == (newest, "new")
    assert found.question("bob").reason == "unsure"
    answer(found, n=3)
    shown, model = found.question("ann"), found.model_bytes()
    again = reopened(found, tmp_path, explore=0.0)
    assert again.question("ann") == shown
    assert again.model_bytes() == model
    assert again.strategy("ann") == "novel"
    assert again.ledger == found.ledger
    again.undo("ann")
    assert again.strategy("ann") == "novel"
    assert again.question("ann").reason == "new"
    again.ask_about("ann", "acl")
    assert again.question("ann").reason == usual.reason == "unsure"


def test_another_strategy_takes_no_random_or_chosen_question_back(tmp_path):
    found = session(tmp_path, pool(60), explore=0.99)
    answer(found, n=6)
    drawn = found.question("ann")
    assert drawn.reason == "random"
    found.ask_about("ann", "novel")
    assert found.question("ann") == drawn
    found.choose("ann", 3)
    found.ask_about("ann", "acl")
    assert found.question("ann") == (3, "chosen")


def test_the_same_strategy_is_no_event_and_an_unknown_one_is_refused(tmp_path):
    found = session(tmp_path)
    n = found.n_events
    found.ask_about("ann", "acl")
    assert found.n_events == n
    with pytest.raises(ValueError, match="strategy must be one of 'acl', 'novel', got 'newest'"):
        found.ask_about("ann", "newest")
    many = Session(pool(), Store(tmp_path / "b.db"), ["good"], kind="many")
    with pytest.raises(ValueError, match="strategy must be one of 'acl', got 'novel'"):
        many.ask_about("ann", "novel")
