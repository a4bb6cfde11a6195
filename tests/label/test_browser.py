"""The page in a real browser: keys, mouse, two people, spans, markup, focus, contrast."""

from __future__ import annotations

import json
from contextlib import contextmanager

import pyarrow as pa
import pytest

from browsing import CONTRAST, Browser, served
from labelling import TAGS, answer, label, pool, sentences, session, text
from surelearn.label import Items, Session, Store
from surelearn.label.spans import span_tags

pytestmark = pytest.mark.slow

LABELS = ["good", "bad"]
PATHS = ("", "review", "search?q=film", "agreement", "export")
EVIL = (
    "<script>document.title = 'evil'</script><img src=x onerror=\"document.title='evil'\">"
    "</article><h1>evil</h1> \u202ethgir \u0007 &lt;b&gt; javascript:alert(1)"
)


@contextmanager
def page(found, **more):
    """A browser on the page of a session."""
    with served(found) as address:
        browser = Browser(**more)
        try:
            browser.enter(address)
            yield browser
        finally:
            browser.close()


def key(item: int) -> str:
    return str(1 + LABELS.index(label(item)))


def test_label_by_key_and_mouse_undo_and_reload(tmp_path):
    found = session(tmp_path, explore=0.0)
    with page(found) as browser:
        first = browser.item
        second = browser.and_next(lambda: browser.keys(key(first)))
        button = browser.one(f'.choices [value="{label(second)}"]')
        third = browser.and_next(button.click)
        assert {item: found.ledger.final(item) for item in (first, second)} == {
            first: label(first),
            second: label(second),
        }
        browser.driver.refresh()
        assert browser.item == third
        skipped = browser.and_next(lambda: browser.keys("s"))
        assert found.ledger.skipped.keys() == {third}
        assert browser.and_next(lambda: browser.keys("u")) == third
        assert browser.and_next(lambda: browser.keys("u")) == second
        assert second not in found.ledger.given
        assert skipped is not None
        browser.until(lambda: browser.texts(".big") == ["1"])  # the panel has followed


def test_why_labels_and_help_by_key(tmp_path):
    found = session(tmp_path, pool(200), explore=0.0)
    answer(found, "ann", 20)
    with page(found) as browser:
        assert not browser.one(".pulls").is_displayed()
        browser.keys("w")
        browser.until(lambda: browser.one(".pulls").is_displayed())
        assert browser.texts(".why dt") == ["Model says", "Probability", "Next best", "Margin"]
        browser.driver.refresh()
        assert browser.one(".pulls").is_displayed()
        browser.keys("n")
        browser.keys("very odd", "\ue007")
        browser.until(lambda: "very odd" in " ".join(browser.texts(".choices button")))
        item = browser.item
        browser.and_next(lambda: browser.keys("3"))
        assert found.ledger.final(item) == "very odd"
        browser.keys("?")
        assert browser.one("#keys").is_displayed()
        before = browser.item
        browser.keys("1")  # not an answer while the help is open
        browser.keys("\ue00c")
        assert browser.item == before


def test_what_was_never_seen_is_asked_first_and_marked(tmp_path):
    found = session(tmp_path, pool(200), explore=0.0)
    answer(found, "ann", 20)
    with page(found) as browser:
        browser.one('.ask [value="novel"]').click()
        browser.until(lambda: "has seen the least like it" in browser.texts(".meta")[0])
        assert browser.texts('.ask [aria-pressed="true"]') == ["Never seen"]
        assert browser.script("return document.activeElement.id") == "text"
        found.ledger.novelty = dict.fromkeys(range(39), -99.0)
        browser.driver.refresh()
        assert browser.texts(".never-seen") == ["never seen"]
        browser.keys("w")
        browser.until(lambda: "newer than 39 of 39 questions" in browser.texts(".why dd"))
        assert browser.script(CONTRAST) == []
        assert browser.names() == []


def test_more_than_ten_labels_are_searched(tmp_path):
    found = session(tmp_path)
    for i in range(12):
        found.add_label("ann", f"label {i}")
    with page(found) as browser:
        item = browser.item
        browser.keys("/")
        browser.and_next(lambda: browser.keys("bel 11", "\ue007"))
        assert found.ledger.final(item) == "label 11"


def test_ticks_and_tags_stay_when_a_label_is_added(tmp_path):
    found = Session(pool(), Store(tmp_path / "a.db"), LABELS, kind="many")
    with page(found) as browser:
        item = browser.item
        browser.keys("2", "n")
        browser.keys("odd", "\ue007")
        browser.until(lambda: "3\nodd" in browser.texts(".choices label"))
        browser.keys("3")
        browser.and_next(lambda: browser.keys("\ue007"))
        assert found.ledger.final(item) == ["bad", "odd"]
    found = Session(sentences(), Store(tmp_path / "b.db"), span_tags(["PER"]), kind="tags")
    with page(found) as browser:
        item = browser.item
        browser.keys("\ue014", "1", "n")
        browser.keys("LOC", "\ue007")
        browser.until(lambda: "2\nLOC" in browser.texts(".choices button"))
        browser.until(lambda: browser.one("#tags").get_attribute("value") == "O B-PER O O O O")


def test_many_boxes_and_tags_are_found_by_their_letters(tmp_path):
    names = [f"label{i}" for i in range(12)]
    found = Session(pool(), Store(tmp_path / "a.db"), names, kind="many")
    with page(found) as browser:
        item = browser.item
        for wanted in ("l10", "l11"):
            browser.keys("/")
            browser.keys(wanted, "\ue007")
        browser.and_next(lambda: browser.keys("\ue007"))
        assert found.ledger.final(item) == ["label10", "label11"]
    found = Session(sentences(), Store(tmp_path / "b.db"), names, kind="tags")
    with page(found) as browser:
        browser.keys("\ue014", "/")
        browser.keys("l11", "\ue007")
        tags = browser.one("#tags").get_attribute("value").split()
        assert tags == ["label0", "label11", *["label0"] * 4]


def test_search_review_and_export(tmp_path):
    found = session(tmp_path)
    with page(found) as browser:
        browser.open("search?q=NUMBER+17")
        browser.one(".found button").click()
        browser.until(lambda: browser.item == 17)
        browser.and_next(lambda: browser.keys("1"))
        assert found.ledger.final(17) == "good"
        browser.open("review")
        browser.script("document.querySelector('td select').value = 'bad'")
        browser.one("td .row button").click()
        browser.until(lambda: found.ledger.final(17) == "bad")
        browser.open("export")
        got = browser.script("return fetch('/export/labels.jsonl').then(r => r.text())")
        assert json.loads(got)["label"] == "bad"


def test_two_people_with_overlap_settle_with_one_key(tmp_path):
    found = session(tmp_path, overlap=1.0, explore=0.0)
    with served(found) as address:
        ann, bob = Browser(), Browser()
        try:
            ann.enter(address, "ann")
            bob.enter(address, "bob")
            item = ann.item
            assert bob.item != item
            ann.and_next(lambda: ann.keys("1"))
            assert bob.and_next(lambda: bob.keys("2")) == item
            assert "a second opinion" in bob.one(".meta").text
            bob.and_next(lambda: bob.keys("2"))
            ann.open("agreement")
            assert "Disagreements: 1" in ann.texts("h2")
            ann.keys("2")
            ann.until(lambda: "Disagreements: 0" in ann.texts("h2"))
            assert found.ledger.final(item) == "bad"
        finally:
            ann.close()
            bob.close()


def test_spans_by_keys_and_clicks(tmp_path):
    tags = span_tags(["PER", "LOC"])
    found = Session(sentences(), Store(tmp_path / "a.db"), tags, kind="tags", explore=0.0)
    with page(found) as browser:
        item = browser.item
        browser.keys("\ue014")  # right: to the second token
        browser.shift("\ue014")
        browser.keys("1")
        assert browser.one("#tags").get_attribute("value") == "O B-PER I-PER O O O"
        browser.keys("o")  # the same tokens once more
        browser.keys("\ue012", "1")  # left, and one token only
        browser.driver.find_elements("css selector", ".token")[4].click()
        browser.one('[data-choice="LOC"]').click()
        assert browser.one("#tags").get_attribute("value") == "O B-PER O O B-LOC O"
        browser.and_next(lambda: browser.keys("\ue007"))
        assert found.ledger.final(item) == ["O", "B-PER", "O", "O", "B-LOC", "O"]
        assert browser.texts(".token small")[1] == "PER"  # as the model says
        assert len(TAGS) == len(browser.texts(".token"))


def test_a_text_of_markup_is_text(tmp_path):
    found = session(tmp_path, Items(pa.array([EVIL, "x" * 1_000_000 + EVIL])), explore=0.0)
    with page(found) as browser:
        for _ in range(2):
            for path in PATHS[:3]:
                browser.open(path.replace("film", "script"))
                assert "evil" not in browser.driver.title
                assert browser.texts("h1") in ([], ["Review"], ["Search"])
            browser.open("")
            if browser.item == 0:
                assert "<script>" in browser.one("#text").text
                assert "U+202E" in browser.one("#text").text
            browser.and_next(lambda: browser.keys("1"))
        assert browser.texts("h1") == ["All texts are labelled"]


@pytest.mark.parametrize("dark", [False, True])
def test_names_and_contrast_of_every_page(tmp_path, dark):
    found = session(tmp_path, pool(200), overlap=1.0, explore=0.2)
    answer(found, "bob", 30)
    with page(found, dark=dark) as browser:
        browser.keys("2")
        for path in PATHS:
            browser.open(path)
            if not path:
                browser.script("document.querySelector('.why').open = true")
            assert browser.names() == [], path
            assert browser.script(CONTRAST) == [], path


def test_focus_goes_from_the_text_to_labels_tools_and_panel(tmp_path):
    found = session(tmp_path)
    answer(found, "ann", 4)
    with page(found) as browser:
        browser.and_next(lambda: browser.keys("1"))
        focus = "return document.activeElement.id || document.activeElement.textContent.trim()"
        order = [browser.script(focus)]
        for _ in range(6):
            browser.keys("\ue004")
            order.append(browser.script(focus))
        assert order == ["text", "1good", "2bad", "Skip S", "Undo U", "new-label", "Add"]
        browser.keys("\ue004", "\ue004")
        assert browser.script(focus) == "Never seen"
        browser.keys("\ue00c")
        browser.keys("1")  # a field that is left takes no keys


def test_narrow_screens_do_not_scroll_sideways(tmp_path):
    found = session(tmp_path, Items(pa.array([f"{text(i)} {'w' * 200}" for i in range(40)])))
    answer(found, "ann", 20)
    with page(found, width=360, height=740) as browser:
        for path in PATHS:
            browser.open(path)
            wide = "return document.documentElement.scrollWidth - window.innerWidth"
            assert browser.script(wide) <= 0, path


def test_a_server_that_is_gone_is_said(tmp_path):
    found = session(tmp_path)
    with served(found) as address:
        browser = Browser()
        browser.enter(address)
        item = browser.item
    browser.keys("1")
    browser.until(lambda: browser.one("#message").is_displayed())
    assert "Not saved" in browser.one("#message").text
    assert browser.item == item
    browser.driver.quit()
