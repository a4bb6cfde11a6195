"""The log of events in one SQLite file; must not know what the events mean."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, NamedTuple, Self

from surelearn import _check
from surelearn.training.claim import claimed

#: Marks a SQLite file as ours ("sure" in ASCII), and the version of its tables.
_APPLICATION, _VERSION = 0x73757265, 1
_TABLES = """
CREATE TABLE about (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE events (
    number INTEGER PRIMARY KEY,
    time REAL NOT NULL,
    person TEXT NOT NULL,
    kind TEXT NOT NULL,
    item INTEGER,
    value TEXT NOT NULL
);
"""


class NotSaved(OSError):
    """The disk took nothing of what was to be saved.

    Examples
    --------
    >>> from surelearn.label import NotSaved
    >>> issubclass(NotSaved, OSError)
    True
    """


class Event(NamedTuple):
    """One line of the log.

    Parameters
    ----------
    person, kind : str
    item : int or None
        The number of the text or sentence.
    value : dict
        More about it, as JSON can hold it.
    number : int
        Counts from 1, in the order of the log; 0 before it is in the log.
    time : float
        Seconds since 1970.

    Examples
    --------
    >>> from surelearn.label import Event
    >>> Event("ann", "answer", 3, {"label": "spam"}).number
    0
    """

    person: str
    kind: str
    item: int | None = None
    value: dict[str, Any] = {}  # noqa: RUF012  (a tuple's default, never changed)
    number: int = 0
    time: float = 0.0


class Store:
    """An append-only log of events, and facts about its pool, in one SQLite file.

    What `append` returns is on disk: the log is written ahead (WAL) and synced on every commit.
    One process at a time may open a store; the operating system releases it if that one is killed.

    Parameters
    ----------
    path : str or path
        Made if there is no such file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, Store(f"{folder}/answers.db") as store:
    ...     _ = store.append(Event("ann", "answer", 3, {"label": "spam"}))
    ...     [event.item for event in store.events()]
    [3]
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        with ExitStack() as held:
            held.enter_context(claimed(self.path, doing="labelling with it"))
            self._db = held.enter_context(_connected(self.path))
            self._held = held.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, and let other processes open it."""
        self._held.close()

    def append(self, *events: Event, sync: bool = True) -> list[Event]:
        """Add events to the log, all or none; they are on disk when this returns.

        Parameters
        ----------
        *events : Event
        sync : bool, default True
            False leaves it to the next call to wait for the disk. Then a crash of the machine, not
            of the process, may lose these events, but never one of a later call that waited.

        Returns
        -------
        list of Event
            The events with their numbers and times.

        Raises
        ------
        NotSaved
            If the disk is full or fails. Nothing was added.
        """
        now = time.time()
        with self._saving(sync=sync) as db:
            first = 1 + db.execute("SELECT coalesce(max(number), 0) FROM events").fetchone()[0]
            added = [event._replace(number=first + i, time=now) for i, event in enumerate(events)]
            db.executemany(
                "INSERT INTO events (person, kind, item, value, number, time)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                [(*event[:3], json.dumps(event.value), *event[4:]) for event in added],
            )
        return added

    def events(self) -> list[Event]:
        """The whole log, in order."""
        rows = self._db.execute(
            "SELECT person, kind, item, value, number, time FROM events ORDER BY number"
        )
        return [
            Event(person, kind, item, json.loads(value), number, at)
            for person, kind, item, value, number, at in rows
        ]

    def about(self, name: str) -> Any:
        """A fact about the store, or None."""
        row = self._db.execute("SELECT value FROM about WHERE name = ?", [name]).fetchone()
        return None if row is None else row[0]

    def tell(self, **facts: Any) -> None:
        """Keep facts about the store: numbers, texts or bytes by name."""
        with self._saving() as db:
            db.executemany("INSERT OR REPLACE INTO about VALUES (?, ?)", facts.items())

    @contextmanager
    def _saving(self, *, sync: bool = True) -> Iterator[sqlite3.Connection]:
        try:
            self._db.execute(f"PRAGMA synchronous = {'FULL' if sync else 'NORMAL'}")
            self._db.execute("BEGIN IMMEDIATE")
            yield self._db
            self._db.execute("COMMIT")
        except BaseException as error:
            with suppress(sqlite3.Error):  # a full disk has rolled it back already
                self._db.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error):
                raise NotSaved(
                    f"{self.path} must have room on its disk, got: {error}. Nothing was saved. "
                    "Free some space, then answer again."
                ) from error
            raise


@contextmanager
def _connected(path: str) -> Iterator[sqlite3.Connection]:
    # Requests are served by several threads, one at a time.
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        try:
            _prepare(db, path)
        except sqlite3.OperationalError as error:
            raise NotSaved(f"{path} must be a file that can be written, got: {error}.") from error
        except sqlite3.DatabaseError as error:
            raise _check.FormatError(
                f"{path} must be a store of answers, got a file that SQLite cannot use: {error}."
            ) from error
        yield db
    finally:
        db.close()


def _prepare(db: sqlite3.Connection, path: str) -> None:
    """Make the tables of a new file; refuse a file that is not ours."""
    (application,), (version,) = (
        db.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version")
    )
    if not db.execute("SELECT 1 FROM sqlite_master").fetchone() and not application:
        db.executescript(
            f"PRAGMA journal_mode = WAL; BEGIN; PRAGMA application_id = {_APPLICATION};"
            f"PRAGMA user_version = {_VERSION}; {_TABLES} COMMIT;"
        )
    elif application != _APPLICATION:
        raise _check.FormatError(f"{path} must be a store of answers, got another database.")
    elif version > _VERSION:
        raise _check.FormatError(
            f"{path} must be of version {_VERSION} at most, got {version}. Upgrade surelearn."
        )
