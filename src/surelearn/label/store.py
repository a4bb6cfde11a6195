"""The log of events in one SQLite file; must not know what the events mean."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, NamedTuple, Self

from surelearn import _check
from surelearn.training.checkpoint import claimed

#: Marks a SQLite file as ours ("sure" in ASCII), and the version of its tables: version 1 had no
#: checksums.
_APPLICATION, _VERSION = 0x73757265, 2
_TABLES = """
CREATE TABLE about (name TEXT PRIMARY KEY, value, checksum TEXT) WITHOUT ROWID;
CREATE TABLE events (
    number INTEGER PRIMARY KEY,
    time REAL NOT NULL,
    person TEXT NOT NULL,
    kind TEXT NOT NULL,
    item INTEGER,
    value TEXT NOT NULL,
    checksum TEXT
);
"""
_ADD = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)"
_TELL = "INSERT OR REPLACE INTO about VALUES (?, ?, ?)"


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
            self._db = held.enter_context(_connect(self.path))
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
            rows = [(n, at, *who, json.dumps(value)) for *who, value, n, at in added]
            db.executemany(_ADD, [(*row, _checksum(*row)) for row in rows])
        return added

    def events(self) -> list[Event]:
        """The whole log, in order.

        Raises
        ------
        FormatError
            If a byte of it has changed, or an event but the last ones is missing.
        """
        found = []
        for n, (*row, checksum) in enumerate(self._rows("SELECT * FROM events ORDER BY number"), 1):
            is_whole = row[0] == n and checksum == _checksum(*row)
            check_whole(self.path, f"event {n}", is_whole=is_whole)
            number, at, person, kind, item, value = row
            found.append(Event(person, kind, item, json.loads(value), number, at))
        return found

    def about(self, name: str) -> Any:
        """A fact about the store, or None."""
        for value, checksum in self._rows("SELECT value, checksum FROM about WHERE name = ?", name):
            is_whole = checksum == _checksum(name, value)
            check_whole(self.path, f"the fact {name!r}", is_whole=is_whole)
            return value
        return None

    def _rows(self, query: str, *values: str) -> list[Any]:
        try:
            return self._db.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise damaged(self.path, str(error)) from error

    def tell(self, **facts: Any) -> None:
        """Keep facts about the store: numbers, texts or bytes by name."""
        with self._saving() as db:
            db.executemany(_TELL, [(*fact, _checksum(*fact)) for fact in facts.items()])

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


def _checksum(*values: Any) -> str:
    """A checksum of numbers, texts and bytes, as SQLite returns them."""
    text = json.dumps(values, default=lambda data: hashlib.sha256(data).hexdigest())
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@contextmanager
def _connect(path: str) -> Iterator[sqlite3.Connection]:
    # SQLite begins anew in a file of no bytes, and of one.
    if os.path.isfile(path) and os.path.getsize(path) < 2:
        raise damaged(path, "nothing in it")
    # Requests are served by several threads, one at a time.
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        try:
            _prepare(db, path)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError) and not _is_corrupt(error):
                raise NotSaved(
                    f"{path} must be a file that can be written, got: {error}."
                ) from error
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
    elif version < _VERSION:
        _add_checksums(db)


def _add_checksums(db: sqlite3.Connection) -> None:
    """Bring a store of version 1 to version 2, or leave it."""
    db.execute("BEGIN IMMEDIATE")
    for table, add in (("events", _ADD), ("about", _TELL)):
        rows = db.execute(f"SELECT * FROM {table}").fetchall()
        db.execute(f"ALTER TABLE {table} ADD COLUMN checksum TEXT")
        db.execute(f"DELETE FROM {table}")
        db.executemany(add, [(*row, _checksum(*row)) for row in rows])
    db.execute(f"PRAGMA user_version = {_VERSION}")
    db.execute("COMMIT")


def _is_corrupt(error: sqlite3.Error) -> bool:
    """Whether it is the content that SQLite cannot use, and not the disk."""
    return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR


def damaged(path: str, what: str) -> _check.FormatError:
    """The error for a store that lost answers or has changed ones."""
    return _check.FormatError(
        f"{path} must be a whole store of answers, got a damaged one: {what}. "
        "Put a copy of it back, or delete it to begin anew without its answers."
    )


def check_whole(path: str, where: str, *, is_whole: bool) -> None:
    """Refuse a part of a store that is missing, or that the page cannot have written."""
    if not is_whole:
        raise damaged(path, f"{where} is not as it was written")
