"""Room 1, read: corpora to learn from; knows nothing of rules or weights."""

from __future__ import annotations

from surelearn.datasets.docstrings import load_docstrings

__all__ = ["load_docstrings"]
