"""The page for tables: all columns shown, learnt and exported."""

from __future__ import annotations

import csv
import json

import pytest

from labelling import client
from surelearn import load
from surelearn.label import Session, Store, read_table
from surelearn.label.export import exported
from surelearn.label.parts import LONG, record_part
from surelearn.label.rebuild import leave_mark, rebuilt

LONGER = "It is near the park. " * 60


def rows(n=60):
    """Records with labels that follow from a text and a category."""
    return [
        {
            "id": f"r{i}",
            "title": f"{['fine', 'dull'][i % 2]} <b>flat</b> & {['quiet', 'loud'][i // 2 % 2]} {i}",
            "floor": ["top", "ground", ""][i % 3],
            "rooms": i % 4 + 1,
            "note": LONGER if i % 5 == 0 else "as seen",
            "label": ["good", "bad"][i % 2] if i < 8 else "",
        }
        for i in range(n)
    ]


@pytest.fixture
def path(tmp_path):
    return write(tmp_path / "pool.csv", rows())


def write(path, records):
    with path.open("w", newline="") as file:
        out = csv.DictWriter(file, [*records[0]])
        out.writeheader()
        out.writerows(records)
    return path


def begun(path, name="answers.db", **more):
    items = read_table(path, label="label", id="id")
    return Session(items, Store(path.parent / name), ["good", "bad"], **more)


def answer(session, n):
    for _ in range(n):
        item = session.question("ann").item
        dull = session.items.values(item)["title"].startswith("dull")
        session.answer("ann", item, "bad" if dull else "good")


def test_all_columns_but_label_and_id_are_the_record(path):
    items = read_table(path, label="label", id="id")
    assert items.plural == "records"
    assert items.values(1) == {
        "title": "dull <b>flat</b> & quiet 1", "floor": "ground", "rooms": "2", "note": "as seen",
    }  # fmt: skip
    assert items.values(2)["floor"] is None
    assert items.start == {i: ["good", "bad"][i % 2] for i in range(8)}


def test_equal_and_empty_records_are_left_out(tmp_path):
    given = [{"id": i, "a": "", "b": "", "label": ""} for i in range(3)]
    given[0]["a"] = given[1]["a"] = "x"
    items = read_table(write(tmp_path / "pool.csv", given), label="label", id="id")
    assert (len(items), items.n_duplicates, items.n_empty) == (1, 1, 1)
    with pytest.raises(ValueError, match="must have a column 'topic', got id, a, b, label"):
        read_table(tmp_path / "pool.csv", label="topic")


def test_the_page_shows_all_columns_escaped_and_cuts_long_ones(path):
    session = begun(path)
    browser = client(session)
    page = browser.get("/").text
    item = session.question("ann").item
    values = session.items.values(item)
    for name, value in values.items():
        assert f"<dt>{name}</dt>" in page
        if value is not None and len(value) <= LONG and name != "title":
            assert f"<dd>{value}</dd>" in page
    assert "&lt;b&gt;flat&lt;/b&gt; &amp;" in page
    assert "<b>flat" not in page
    assert "Record" in page
    assert "least sure" in page or "drawn at random" in page
    assert "records" in browser.get("/panel").text


def test_long_values_open_at_a_click():
    part = record_part({"note": LONGER, "short": "s" * LONG, "gone": None})
    assert part.count("<details>") == 1
    assert f"… all {len(LONGER):,} letters" in part
    assert part.count("It is near the park.") == 60 or part.count("near") == 60
    assert '<dd class="hint">missing</dd>' in part


def test_a_model_of_all_columns_follows_the_answers(path, tmp_path):
    session = begun(path)
    answer(session, 25)
    model = session.learner.model
    assert dict(zip(model.columns_.column, model.columns_.kind, strict=True)) == {
        "title": "text", "floor": "category", "rooms": "number", "note": "category",
    }  # fmt: skip
    assert model.score([session.items.values(i) for i in range(60)], ["good", "bad"] * 30) > 0.9
    why = session.learner.why(session.question("ann").item)
    names = [why.text[word.begin : word.end] for word in why.words]
    assert any(name.startswith("title: ") for name in names)
    assert any(name.startswith("floor") for name in names)
    assert "(others)" not in names
    assert sum(word.score for word in why.words) == pytest.approx(why.margin, abs=1.0)
    file = tmp_path / "model.sure"
    file.write_bytes(session.model_bytes())
    assert load(file).predict([{"title": "dull flat"}]).tolist() == ["bad"]


@pytest.mark.filterwarnings("ignore:column 'rooms' must be a number")
def test_started_again_it_goes_on_with_the_same_columns_and_bytes(path):
    session = begun(path)
    answer(session, 12)
    before, asked = session.model_bytes(), session.question("ann")
    leave_mark(session)
    session.store.close()
    more = [{**row, "id": f"{row['id']}b", "rooms": "many", "label": ""} for row in rows()]
    write(path, [*rows(), *more])  # all of these rooms are no numbers
    again = begun(path)
    assert again.model_bytes() == before
    assert again.question("ann") == asked
    assert rebuilt(again).n_bytes == len(before)


def test_named_columns_are_those_of_the_store(path):
    session = begun(path, columns={"note": "text", "rooms": "ignore"})
    kinds = {one["name"]: one["column"]["kind"] for one in session.items.columns}
    assert (kinds["note"], kinds["rooms"]) == ("text", "ignored")
    session.store.close()
    with pytest.raises(ValueError, match="began with 'note' as text, got category"):
        begun(path, columns={"note": "category"})


def test_a_model_to_start_from_keeps_its_columns(path, tmp_path):
    first = begun(path)
    answer(first, 10)
    file = tmp_path / "model.sure"
    file.write_bytes(first.model_bytes())
    session = begun(path, name="other.db", model=file)
    assert session.items.columns is None
    answer(session, 3)
    assert session.learner.decides


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_exports_have_all_columns_of_the_file(path, kind):
    session = begun(path)
    answer(session, 5)
    data = exported(session, kind)
    if kind == "jsonl":
        lines = [json.loads(line) for line in data.decode().splitlines()]
        assert [*lines[0]][:6] == ["id", "title", "floor", "rooms", "note", "label"]
        assert len(lines) == 13
        named = {row["id"]: row for row in rows()}
        assert all(line["title"] == named[line["id"]]["title"] for line in lines)
    elif kind == "csv":
        assert data.decode().startswith("id,title,floor,rooms,note,label,by,time")
    else:
        assert data[:4] == b"PAR1"


def test_a_changed_file_is_refused(path):
    session = begun(path)
    changed = rows()
    changed[0]["rooms"] = 9
    write(path, changed)
    with pytest.raises(ValueError, match="must be as it was when the page started"):
        exported(session, "csv")


def test_search_finds_values_of_all_columns(path):
    page = client(begun(path)).get("/search?q=floor: top").text
    assert "20 of 60 records" in page


def test_the_newest_record_is_asked_about_on_demand(path):
    session = begun(path, explore=0.0)
    answer(session, 6)
    session.ask_about("ann", "novel")
    left = [item for item in range(60) if item not in session.ledger.closed]
    newest = max(left, key=lambda item: (session.learner.novelty(item), -item))
    assert session.question("ann") == (newest, "new")
    assert session.ledger.novelty
