from __future__ import annotations

import sqlite3
import subprocess
import sys

import pytest

from surelearn import FormatError
from surelearn.label import Event, NotSaved, Store

ANSWER = Event("ann", "answer", 3, {"label": "spam"})


def test_events_come_back_in_order_with_numbers_and_times(tmp_path):
    with Store(tmp_path / "a.db") as store:
        (first,) = store.append(ANSWER)
        store.append(Event("bob", "skip", 4), Event("bob", "undo", None, {"of": 2}))
    with Store(tmp_path / "a.db") as store:
        found = store.events()
    assert found[0] == first
    assert [event.number for event in found] == [1, 2, 3]
    assert found[2].value == {"of": 2}
    assert first.time > 1e9


def test_every_commit_is_synced_ahead_of_the_database(tmp_path):
    """Unless the caller can do without: that is seen in the setting of the last commit."""
    with Store(tmp_path / "a.db") as store:
        for sync, mode in ((True, 2), (False, 1), (True, 2)):
            store.append(ANSWER, sync=sync)
            modes = [store._db.execute(f"PRAGMA {name}").fetchone()[0] for name in MODES]
            assert modes == ["wal", mode]
        assert len(store.events()) == 3


MODES = ("journal_mode", "synchronous")


def test_facts_are_kept(tmp_path):
    with Store(tmp_path / "a.db") as store:
        store.tell(seed=3, model=b"\0\1")
        store.tell(seed=4)
        assert (store.about("seed"), store.about("model")) == (4, b"\0\1")
        assert store.about("nothing") is None


def test_a_second_process_is_refused_and_told_who_has_it(tmp_path):
    path = tmp_path / "a.db"
    code = f"from surelearn.label import Store; Store({str(path)!r})"
    with Store(path):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert "must have one writer at a time" in done.stderr
        assert "is labelling with it" in done.stderr
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_full_disk_saves_nothing_of_a_call(tmp_path):
    with Store(tmp_path / "a.db") as store:
        store.append(ANSWER)
        (pages,) = store._db.execute("PRAGMA page_count").fetchone()
        store._db.execute(f"PRAGMA max_page_count = {pages}")
        big = Event("ann", "answer", 5, {"label": "x" * 100_000})
        with pytest.raises(NotSaved, match="Nothing was saved"):
            store.append(ANSWER, big)
        assert len(store.events()) == 1
        store._db.execute("PRAGMA max_page_count = 100000")
        store.append(big)
        assert [event.number for event in store.events()] == [1, 2]


def test_a_store_that_cannot_be_made_is_no_wrong_file(tmp_path, monkeypatch):
    def full(*_):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("surelearn.label.store._prepare", full)
    with pytest.raises(NotSaved, match=r"a\.db must be a file that can be written, got: .* full"):
        Store(tmp_path / "a.db")


def test_a_file_that_is_no_store_is_refused(tmp_path):
    (tmp_path / "text.db").write_text("no database, but long enough to be read as one" * 50)
    with pytest.raises(FormatError, match="must be a store of answers"):
        Store(tmp_path / "text.db")
    with sqlite3.connect(tmp_path / "other.db") as db:
        db.execute("CREATE TABLE mine (x)")
    db.close()
    with pytest.raises(FormatError, match="got another database"):
        Store(tmp_path / "other.db")


def test_a_store_of_a_later_version_is_refused(tmp_path):
    with Store(tmp_path / "a.db") as store:
        store._db.execute("PRAGMA user_version = 99")
    with pytest.raises(FormatError, match="must be of version 1 at most, got 99"):
        Store(tmp_path / "a.db")
