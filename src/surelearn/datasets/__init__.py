"""Datasets: corpora for examples and tests; must not know rules or weights."""

from __future__ import annotations

from surelearn.datasets.docstrings import load_docstrings
from surelearn.datasets.files import find

__all__ = ["find", "load_docstrings"]
