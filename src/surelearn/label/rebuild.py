"""Proof that the log alone leads to the same model and questions; must not know the web."""

from __future__ import annotations

import hashlib
import json
from typing import NamedTuple

from surelearn.label.ledger import Ledger
from surelearn.label.session import Session

#: Events between two marks.
EVERY = 50


class Rebuilt(NamedTuple):
    """What was compared: how many events, how many labels, and the size of the model's file."""

    n_events: int
    n_labels: int
    n_bytes: int


def leave_mark(session: Session) -> None:
    """Keep checksums of the model and of the state that the running program has now."""
    with session.lock:
        number = session.n_events
        mark = {
            "number": number,
            "ledger": _digest(repr(session.ledger).encode()),
            "model": _digest(session.model_bytes()),
        }
        session.store.tell(mark=json.dumps(mark))


def rebuilt(session: Session) -> Rebuilt:
    """Build model and state from the log, and compare them with the mark of the running program.

    Parameters
    ----------
    session : Session
        Just opened: it has been built from the log.

    Raises
    ------
    ValueError
        If a byte differs, or if there is no mark.
    """
    text = session.store.about("mark")
    if text is None:
        told = ", but it was killed before its first checksum. Start and stop the page once."
        raise ValueError(
            f"{session.store.path} must have answers to compare, got "
            + (f"{len(session.ledger.given)}{told}" if session.ledger.given else "none.")
        )
    mark = json.loads(text)
    ledger = Ledger.of(e for e in session.store.events() if e.number <= mark["number"])
    session.learner.follow(ledger.steps())
    model = session.model_bytes()
    for name, data in (("ledger", repr(ledger).encode()), ("model", model)):
        if _digest(data) != mark[name]:
            raise ValueError(
                f"the {name} must be rebuilt to the same bytes, got others. Was it made by another "
                "version of surelearn?"
            )
    n_labels = sum(step.kind == "tell" for step in ledger.steps())
    return Rebuilt(mark["number"], n_labels, len(model))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
