from __future__ import annotations

import json
import os
import re

import pyarrow as pa
import pytest

import surelearn
from labelling import HERE, TOKEN, answer, client, label, pool, session, stranger
from surelearn.label import Items, NotSaved, Session, Store
from surelearn.label.progress import Goal
from surelearn.label.rebuild import EVERY, rebuilt


def shown_item(page) -> int:
    return int(re.search(r'data-item="(\d+)"', page.text)[1])


def test_a_name_comes_first(tmp_path):
    browser = stranger(session(tmp_path))
    browser.get(f"/?token={TOKEN}")
    assert "Who is labelling?" in browser.get("/").text
    assert "Who is labelling?" in browser.get("/review").text
    assert browser.post("/undo", headers={"origin": HERE}).status_code == 403
    bad = browser.post("/enter", data={"name": " "}, headers={"origin": HERE})
    assert bad.status_code == 409
    assert "a name must have letters" in bad.text


def test_names_of_any_script(tmp_path):
    browser = client(session(tmp_path), "Łucja 李")
    assert "Łucja 李" in browser.get("/").text


def test_label_skip_undo_and_go_on(tmp_path):
    found = session(tmp_path)
    browser = client(found)
    item = shown_item(browser.get("/"))
    part = browser.post("/answer", data={"item": item, "label": "good"}, headers={"x-part": "1"})
    assert part.text.startswith('<div id="work"')
    assert found.ledger.final(item) == "good"
    other = shown_item(part)
    assert browser.post("/skip", data={"item": other}).headers["location"] == "/"
    assert found.ledger.skipped.keys() == {other}
    browser.post("/undo")
    assert shown_item(browser.get("/")) == other
    browser.post("/undo")
    assert shown_item(browser.get("/")) == item
    assert found.ledger.given == {}


def test_what_to_ask_first_is_chosen_with_and_without_the_script(tmp_path):
    found = session(tmp_path, explore=0.0)
    answer(found, n=6)
    browser = client(found)
    assert "least sure of it" in browser.get("/").text
    moved = browser.post("/strategy", data={"strategy": "novel"})
    assert (moved.status_code, moved.headers["location"]) == (303, "/")
    assert "has seen the least like it" in browser.get("/").text
    part = browser.post("/strategy", data={"strategy": "acl"}, headers={"x-part": "1"})
    assert "least sure of it" in part.text
    for data in ({}, {"strategy": "<b>"}):
        refused = browser.post("/strategy", data=data, headers={"x-part": "1"})
        assert refused.status_code == 409
        assert refused.text.startswith("strategy must be one of 'acl', 'novel', got ")
    assert found.strategy("ann") == "acl"


def test_what_cannot_be_done_is_said_and_changes_nothing(tmp_path):
    found = session(tmp_path)
    browser = client(found)
    item = shown_item(browser.get("/"))
    part = {"x-part": "1"}
    for data in (
        {"item": item, "label": "odd"},
        {"item": "x"},
        {},
        {"item": 10**9, "label": "bad"},
        {"item": "9" * 12, "label": "bad"},
        {"item": "9" * 13, "label": "bad"},
        {"item": "9" * 4301, "label": "bad"},
    ):
        answered = browser.post("/answer", data=data, headers=part)
        assert answered.status_code == 409
        is_number = len(str(data.get("item", "x" * 13))) <= 12 and data["item"] != "x"
        assert ("item must be a number" in answered.text) != is_number
        assert "<" not in answered.text
        assert len(answered.text) < 100
    assert "That did not work" in browser.post("/undo").text
    assert found.ledger.given == {}


def test_a_full_disk_is_said_on_screen(tmp_path):
    found = session(tmp_path)
    browser = client(found)
    item = shown_item(browser.get("/"))
    (pages,) = found.store._db.execute("PRAGMA page_count").fetchone()
    found.store._db.execute(f"PRAGMA max_page_count = {pages}")
    answered = None
    for i in range(500):
        answered = browser.post("/labels", data={"label": f"label {i}"}, headers={"x-part": "1"})
        if answered.status_code != 200:
            break
    assert answered.status_code == 507
    refused = browser.post("/answer", data={"item": item, "label": "good"}, headers={"x-part": "1"})
    assert refused.status_code == 507
    assert "Nothing was saved" in refused.text
    assert found.ledger.given == {}


def test_labels_are_added_and_used(tmp_path):
    found = session(tmp_path)
    browser = client(found)
    page = browser.post("/labels", data={"label": "odd"}, headers={"x-part": "1"})
    assert 'value="odd"' in page.text
    browser.post("/answer", data={"item": shown_item(page), "label": "odd"})
    assert [step.label for step in found.label_steps()] == ["odd"]


def test_search_choose_and_review(tmp_path):
    found = session(tmp_path)
    browser = client(found)
    assert "number 17" in browser.get("/search?q=number 17").text
    browser.post("/choose", data={"item": 17})
    assert shown_item(browser.get("/")) == 17
    browser.post("/answer", data={"item": 17, "label": "bad"})
    assert "number 17" in browser.get("/review?label=bad&page=0").text
    back = browser.post("/change", data={"item": 17, "label": "good"},
                        headers={"referer": f"{HERE}/review?label=bad"})  # fmt: skip
    assert back.headers["location"] == "/review?label=bad"
    assert found.ledger.final(17) == "good"


def test_two_people_and_their_disagreement(tmp_path):
    found = session(tmp_path, overlap=1.0, explore=0.0)
    ann, bob = client(found, "ann"), client(found, "bob")
    item = shown_item(ann.get("/"))
    assert shown_item(bob.get("/")) != item
    ann.post("/answer", data={"item": item, "label": "good"})
    page = bob.post("/answer", data={"item": shown_item(bob.get("/")), "label": "bad"},
                    headers={"x-part": "1"})  # fmt: skip
    assert shown_item(page) == item
    assert "a second opinion" in page.text
    bob.post("/answer", data={"item": item, "label": "bad"})
    assert "Disagreements: 1" in ann.get("/agreement").text
    assert ann.post("/settle", data={"item": item, "label": "bad"}).headers["location"] == (
        "/agreement"
    )
    assert found.ledger.final(item) == "bad"
    bad = ann.post("/settle", data={"item": item, "as": "nobody"})
    assert bad.status_code == 409


def test_labels_and_model_can_be_exported_at_any_time(tmp_path):
    found = session(tmp_path)
    browser = client(found)
    assert browser.get("/export/model.sure").status_code == 409
    items = answer(found, "ann", 10)
    model = browser.get("/export/model.sure")
    (tmp_path / "m.sure").write_bytes(model.content)
    assert surelearn.load(tmp_path / "m.sure").predict(["a fine film"]) == ["good"]
    assert 'filename="model.sure"' in model.headers["content-disposition"]
    for kind in ("jsonl", "csv", "parquet"):
        assert len(browser.get(f"/export/labels.{kind}").content) > 100
    assert browser.get("/export/labels.exe").status_code == 404
    assert browser.get("/export/labels.conll").status_code == 404
    assert f"{len(items)} labels" in browser.get("/export").text


def test_a_text_is_served_as_text(tmp_path):
    found = session(tmp_path, Items(pa.array(["<script>" + "x" * 1_500_000, "\u202ea"])))
    browser = client(found)
    whole = browser.get("/text/0")
    assert whole.headers["content-type"] == "text/plain; charset=utf-8"
    assert len(whole.text) == 1_500_008
    for item in ("2", "-1", "x", "9" * 4301):
        assert browser.get(f"/text/{item}").status_code == 404
    assert len(browser.get("/").content) < 60_000


def test_the_panel_comes_alone(tmp_path):
    found = session(tmp_path)
    answer(found, "ann", 5)
    browser = client(found, goal=Goal(budget=5))
    assert browser.get("/panel").text.startswith('<aside id="panel"')
    assert "5 labels reach the budget of 5" in browser.get("/").text


@pytest.mark.parametrize("name", ["page.js", "tags.js", "style.css", "icon.svg"])
def test_files_of_the_page_load_nothing_from_elsewhere(tmp_path, name):
    found = client(session(tmp_path)).get(f"/static/{name}")
    assert found.status_code == 200
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|@import|url\(", found.text)


def test_the_page_has_neither_styles_nor_scripts_inside(tmp_path):
    found = session(tmp_path)
    answer(found, n=20)
    browser = client(found)
    for path in ("/", "/review", "/search?q=a", "/agreement", "/export"):
        page = browser.get(path).text
        assert not re.search(r"\sstyle=|\son\w+=|<style|<script(?! type=.module. src=)", page), path
        assert label(1) in page or path in ("/agreement", "/export", "/search?q=a")


def test_marks_to_compare_with_are_left_now_and_then(tmp_path):
    found = session(tmp_path)
    browser = client(found)
    last, marks = found.n_events, []
    for _ in range(55):
        answer(found, "ann")
        browser.get("/panel")
        marks.append((found.n_events, json.loads(found.store.about("mark") or "{}").get("number")))
    expected = None
    for n, number in marks:
        if n >= last + EVERY:
            last = expected = n
        assert number == expected
    assert last > 2 * EVERY
    assert rebuilt(found).n_labels == sum(n <= last for n, _ in marks)


def test_what_was_saved_is_said_to_be_saved_though_the_disk_is_full_now(tmp_path, monkeypatch):
    """The answer is in the log and the next question is not: the page must not deny the answer."""
    found = session(tmp_path)
    browser = client(found)
    item = shown_item(browser.get("/"))
    append = found.store.append

    def full(*events, sync=True):
        if events[0].kind == "ask":
            raise NotSaved("no room") from OSError("disk is full")
        return append(*events, sync=sync)

    monkeypatch.setattr(found.store, "append", full)
    answered = browser.post("/answer", data={"item": item, "label": "bad"}, headers={"x-part": "1"})
    assert answered.status_code == 507
    assert answered.text.startswith("This one is saved, but the next cannot be asked: disk is full")
    assert found.ledger.final(item) == "bad"
    assert browser.get("/").status_code == 507
    monkeypatch.undo()
    assert shown_item(browser.get("/")) != item


def test_numbers_of_pages_may_have_any_length(tmp_path):
    browser = client(session(tmp_path))
    for page in ("9" * 4301, "-1", "x", ""):
        assert browser.get(f"/review?page={page}").status_code == 200


def test_a_name_of_a_file_need_not_be_utf8(tmp_path, monkeypatch):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/pool\xff.answers")
    with Store(path) as store:
        found = Session(pool(4), store, ["good", "bad"])
        browser = client(found)
        answer(found, "ann", 2)
        assert 'pool<span class="unseen">U+DCFF</span>.answers' in browser.get("/export").text
        assert len(browser.get("/export/labels.jsonl").text.splitlines()) == 2

        def full(*_, **__):
            raise NotSaved(f"{path} must have room on its disk")

        monkeypatch.setattr(store, "append", full)
        for headers in ({}, {"x-part": "1"}):
            assert browser.post("/undo", headers=headers).status_code == 507
