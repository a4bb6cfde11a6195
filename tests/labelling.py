"""Pools to label, and who answers: shared by the tests of the page."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from surelearn.label import Items, Session, Store

GOOD = ("fine", "great", "lovely", "clever")
BAD = ("dull", "poor", "awful", "silly")


def text(i: int) -> str:
    words = GOOD if i % 2 else BAD
    return f"a {words[i // 2 % 4]} film, number {i}"


def label(i: int) -> str:
    return "good" if i % 2 else "bad"


def pool(n: int = 60, **more: Any) -> Items:
    return Items(pa.array([text(i) for i in range(n)]), **more)


def session(folder: Any, items: Items | None = None, **more: Any) -> Session:
    """A session of a new store, or of the one in this folder."""
    items = pool() if items is None else items
    return Session(items, Store(folder / "answers.db"), ["good", "bad"], **more)


def answer(session: Session, person: str = "ann", n: int = 1) -> list[int]:
    """Answer n questions rightly; which they were."""
    asked = []
    for _ in range(n):
        question = session.question(person)
        assert question is not None
        session.answer(person, question.item, label(question.item))
        asked.append(question.item)
    return asked


PORT, TOKEN = 8765, "the-token"
HERE = f"http://127.0.0.1:{PORT}"


def stranger(session: Session, **more: Any) -> Any:
    """A browser that has not been let in."""
    from starlette.testclient import TestClient

    from surelearn.label.app import application

    app = application(session, token=TOKEN, port=PORT, **more)
    return TestClient(app, base_url=HERE, follow_redirects=False)


def client(session: Session, name: str = "ann", **more: Any) -> Any:
    """A browser of a person who has entered; it sends what browsers send."""
    found = stranger(session, **more)
    found.headers["origin"] = HERE
    found.get(f"/?token={TOKEN}")
    assert found.post("/enter", data={"name": name}).status_code == 303
    return found


def sentences(n: int = 40) -> Items:
    """Sentences in which names follow 'Mr' and places follow 'in'."""
    names, places = ("Adams", "Baker", "Clark", "Davis"), ("Paris", "Oslo", "Rome")
    X = [["Mr", names[i % 4], "lives", "in", places[i % 3], f"since{i}"] for i in range(n)]
    return Items(X)


TAGS = ["O", "PER", "O", "O", "LOC", "O"]
