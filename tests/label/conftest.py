"""Stores of answers are closed when a test ends."""

from __future__ import annotations

from weakref import WeakSet

import pytest

from surelearn.label.store import Store


@pytest.fixture(autouse=True)
def _close_stores(monkeypatch):
    """Close the stores that a test has opened: Python 3.13 warns of those that are left open."""
    opened, begin = WeakSet(), Store.__init__

    def begin_noted(store, *given, **named):
        begin(store, *given, **named)
        opened.add(store)

    monkeypatch.setattr(Store, "__init__", begin_noted)
    yield
    for store in list(opened):
        store.close()
