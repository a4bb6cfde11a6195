from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from random import Random

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
    with pytest.raises(FormatError, match="must be of version 2 at most, got 99"):
        Store(tmp_path / "a.db")


def changed(path, statement: str) -> None:
    """Change a store behind the back of the page."""
    with sqlite3.connect(path) as db:
        db.execute(statement)
    db.close()


@pytest.mark.parametrize("kept", [0, 1])
def test_a_store_that_is_empty_is_told(tmp_path, kept):
    with Store(tmp_path / "a.db") as store:
        store.append(ANSWER)
    os.truncate(tmp_path / "a.db", kept)
    with pytest.raises(FormatError, match=r"a whole store of answers, got .* nothing in it"):
        Store(tmp_path / "a.db")


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("UPDATE events SET value = replace(value, 'spam', 'spom') WHERE number = 2", "event 2 is"),
        ("UPDATE events SET person = 'bob' WHERE number = 2", "event 2 is"),
        ("UPDATE events SET item = NULL WHERE number = 1", "event 1 is"),
        ("UPDATE events SET time = time + 1 WHERE number = 1", "event 1 is"),
        ("UPDATE events SET checksum = NULL WHERE number = 1", "event 1 is"),
        ("UPDATE events SET value = x'ff' WHERE number = 1", "event 1 is"),
        ("UPDATE events SET number = 9 WHERE number = 2", "event 2 is"),
        ("DELETE FROM events WHERE number = 1", "event 1 is"),
        ("DROP TABLE events", "no such table: events"),
    ],
)
def test_a_log_that_was_changed_is_told(tmp_path, statement, says):
    with Store(tmp_path / "a.db") as store:
        store.append(ANSWER, ANSWER, ANSWER)
    changed(tmp_path / "a.db", statement)
    with Store(tmp_path / "a.db") as store, pytest.raises(FormatError, match=says):
        store.events()


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("UPDATE about SET value = 4", "the fact 'seed' is"),
        ("UPDATE about SET value = NULL", "the fact 'seed' is"),
        ("DROP TABLE about", "no such table: about"),
    ],
)
def test_facts_that_were_changed_are_told(tmp_path, statement, says):
    with Store(tmp_path / "a.db") as store:
        store.tell(seed=3)
    changed(tmp_path / "a.db", statement)
    with Store(tmp_path / "a.db") as store, pytest.raises(FormatError, match=says):
        store.about("seed")


@pytest.mark.parametrize("kept", [100, 4096, 6000])
def test_a_store_that_was_cut_is_told(tmp_path, kept):
    with Store(tmp_path / "a.db") as store:
        store.append(*[ANSWER] * 200)
    os.truncate(tmp_path / "a.db", kept)
    with pytest.raises(FormatError, match="must be a "), Store(tmp_path / "a.db") as store:
        store.events()


def test_any_changed_bit_is_told_or_changes_nothing(tmp_path):
    """Bits of bytes that are not in use, and of marks that SQLite ignores, change nothing."""
    path = tmp_path / "a.db"
    with Store(path) as store:
        wanted = store.append(*(ANSWER._replace(item=item) for item in range(30)))
        store.tell(seed=3, model=b"\0" * 90)
    whole, random = path.read_bytes(), Random(0)
    n_told = 0
    for _ in range(300):
        at = random.randrange(len(whole))
        path.write_bytes(
            whole[:at] + bytes([whole[at] ^ 1 << random.randrange(8)]) + whole[at + 1 :]
        )
        try:
            with Store(path) as store:
                found = store.events(), store.about("seed"), store.about("model")
        except (FormatError, NotSaved):
            n_told += 1
        else:
            assert found == (wanted, 3, b"\0" * 90), at
    assert n_told > 30


def test_a_store_of_version_1_gets_checksums(tmp_path):
    with sqlite3.connect(tmp_path / "a.db") as db:
        db.executescript("""
            PRAGMA journal_mode = WAL; PRAGMA application_id = 1937076837; PRAGMA user_version = 1;
            CREATE TABLE about (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
            CREATE TABLE events (number INTEGER PRIMARY KEY, time REAL NOT NULL,
                person TEXT NOT NULL, kind TEXT NOT NULL, item INTEGER, value TEXT NOT NULL);
            INSERT INTO about VALUES ('seed', 3), ('model', x'00ff');
            INSERT INTO events VALUES (1, 1.5, 'ann', 'answer', 3, '{"label": "spam"}');
            INSERT INTO events VALUES (2, 2.0, 'bob', 'undo', NULL, '{"of": 1}');
        """)
    db.close()
    for _ in range(2):
        with Store(tmp_path / "a.db") as store:
            assert store.events()[:2] == [
                ANSWER._replace(number=1, time=1.5),
                Event("bob", "undo", None, {"of": 1}, 2, 2.0),
            ]
            assert (store.about("seed"), store.about("model")) == (3, b"\0\xff")
            store.append(ANSWER)
    changed(tmp_path / "a.db", "UPDATE events SET item = 4 WHERE number = 1")
    with Store(tmp_path / "a.db") as store, pytest.raises(FormatError, match="event 1 is"):
        store.events()
