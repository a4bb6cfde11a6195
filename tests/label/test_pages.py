from __future__ import annotations

import re

import pyarrow as pa
import pytest

from labelling import TAGS, answer, client, label, pool, sentences, session
from surelearn.label import Items, Session, Store
from surelearn.label.pages import (
    Filter,
    agreement_page,
    export_page,
    review_page,
    search_page,
    snippet,
)

EVIL = "<script>alert(1)</script> <img src=x onerror=alert(2)> \u202e film"


def test_markup_is_text_on_every_page(tmp_path):
    found = session(tmp_path, Items(pa.array([EVIL, "other"])))
    for person, name in (("<i>ann", "good"), ("bob", "bad")):
        found.choose(person, 0)
        found.answer(person, 0, name)
    pages = [
        review_page(found, "<i>ann", Filter()),
        search_page(found, "ann", "<script>", 0),
        agreement_page(found, "ann"),
        export_page(found, "ann", []),
    ]
    for page in pages:
        assert "<script>a" not in page
        assert "<img" not in page
        assert "<i>ann" not in page
        assert "\u202e" not in page
    assert "&lt;script&gt;" in pages[0]


def test_review_lists_the_newest_first_and_filters(tmp_path):
    found = session(tmp_path, pool(200))
    items = answer(found, "ann", 60)
    first, second = review_page(found, "ann", Filter()), review_page(found, "ann", Filter(page=1))
    assert first.count("<tr") == 51
    assert second.count("<tr") == 11
    assert f"number {items[-1]}" in first
    assert f"number {items[0]}" in second
    good = review_page(found, "ann", Filter(label="good"))
    assert f"{sum(label(item) == 'good' for item in items)} found" in good
    assert "No answers here" in review_page(found, "ann", Filter(person="bob"))


def test_review_finds_answers_that_the_model_doubts(tmp_path):
    found = session(tmp_path, pool(200), explore=0.0)
    items = answer(found, n=40)
    assert "says" not in review_page(found, "ann", Filter(doubted=True))
    wrong = "good" if label(items[0]) == "bad" else "bad"
    found.change("ann", items[0], wrong)
    page = review_page(found, "ann", Filter())
    chosen = re.findall(r'value="(\d+)"><select.*?<option value="(\w+)" selected', page)
    assert dict(chosen) == {str(i): wrong if i == items[0] else label(i) for i in items}
    doubted = [item for item in items if found.learner.predict(item) != found.ledger.final(item)]
    assert f"{len(doubted)} found" in review_page(found, "ann", Filter(doubted=True))


def test_skipped_texts_can_be_labelled_in_the_review(tmp_path):
    found = session(tmp_path)
    item = found.question("ann").item
    found.skip("ann", item)
    page = review_page(found, "ann", Filter(skipped=True))
    assert "1 found" in page
    found.change("ann", item, "good")
    assert found.ledger.final(item) == "good"


def test_search_finds_letters_in_any_case_and_says_what_is_labelled(tmp_path):
    found = session(tmp_path, Items(pa.array(["A Fine film", "dull", "STRASSE", "straße"])))
    assert "1 of 4 texts" in search_page(found, "ann", " fine  FILM", 0)
    assert "2 of 4 texts" in search_page(found, "ann", "strasse", 0)
    assert "not labelled" in search_page(found, "ann", "dull", 0)
    assert "<li>" not in search_page(found, "ann", " ", 0)


def test_pages_of_a_search_follow_one_another(tmp_path):
    found = session(tmp_path, pool(120))
    pages = [search_page(found, "ann", "film", page) for page in range(4)]
    asked = [re.findall(r"number (\d+)", page) for page in pages]
    assert [len(numbers) for numbers in asked] == [50, 50, 20, 0]
    assert [number for page in asked for number in page] == [str(i) for i in range(120)]
    assert ["Previous" in page for page in pages] == [False, True, True, True]
    assert ["Next" in page for page in pages] == [True, True, False, False]
    assert 'href="/search?q=film&amp;page=2"' in pages[1]
    assert "Next" not in search_page(session_alone(tmp_path, pool(50)), "ann", "film", 0)


@pytest.mark.parametrize("longest", [0, 1, 5, 200])
def test_a_snippet_is_as_long_as_it_may_be(longest):
    for n in (0, 1, 2, 5, 6, 200, 201, 5000):
        found = snippet("x" * n, longest)
        assert found == ("x" * n if n <= longest else "x" * max(0, longest - 1) + "…")


def test_disagreements_are_listed_until_settled(tmp_path):
    found = session(tmp_path)
    for person, name in (("ann", "good"), ("bob", "bad")):
        found.choose(person, 3)
        found.answer(person, 3, name)
    page = agreement_page(found, "ann")
    assert "Disagreements: 1" in page
    assert 'action="/settle"' in page
    assert page.count('<button name="label"') == 2  # one of them decides
    found.settle("ann", 3, "bad")
    assert "Disagreements: 0" in agreement_page(found, "ann")
    assert "--overlap" in agreement_page(session_alone(tmp_path), "ann")


def session_alone(tmp_path, *items):
    (tmp_path / "b").mkdir()
    return session(tmp_path / "b", *items)


def test_search_marks_what_it_found_in_whole_words(tmp_path):
    long = "word " * 60 + "a  wonderful\nend of it all " + "rest " * 90
    found = session(tmp_path, Items(pa.array([long, "Wonderful", "nothing"])))
    page = search_page(found, "ann", " WONDERFUL ", 0)
    assert "2 of 3 texts" in page
    assert "… word word" in page
    assert "word a <mark>wonderful</mark> end of it all rest" in page
    assert '<p class="snippet" dir="auto"><mark>Wonderful</mark></p>' in page


def test_a_text_in_the_review_can_be_opened_to_give_it_a_new_label(tmp_path):
    found = session(tmp_path)
    (item,) = answer(found)
    page = review_page(found, "ann", Filter())
    assert f'aria-label="Open text {item + 1}"' in page
    browser = client(found)
    browser.post("/choose", data={"item": item})
    browser.post("/labels", data={"label": "odd"})
    browser.post("/answer", data={"item": item, "label": "odd"})
    assert found.ledger.final(item) == "odd"
    assert found.learner.n_labels == 1


def test_a_disagreement_on_a_sentence_shows_the_tokens_with_other_tags(tmp_path):
    found = Session(sentences(), Store(tmp_path / "a.db"), ["O", "PER", "LOC"], kind="tags",
                    overlap=1.0, explore=0.0)  # fmt: skip
    item = found.question("ann").item
    found.answer("ann", item, TAGS)
    found.answer("bob", found.question("bob").item, ["O", "PER", "O", "O", "O", "O"])
    place = found.items.words(item)[4]
    page = agreement_page(found, "ann")
    assert f"<b>ann</b>: {place} LOC</li><li><b>bob</b>: {place} O</li>" in page
