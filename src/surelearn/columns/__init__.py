"""Columns of tables: what they are, and how tables become rows; must not know models."""

from surelearn.columns.cells import Table, text_of
from surelearn.columns.encoder import Encoder, n_numbers_of
from surelearn.columns.known import Columns, Known, known_columns
from surelearn.columns.leaks import LeakWatch, warn_of_leaks
from surelearn.columns.specs import (
    Boolean,
    Categories,
    Category,
    Column,
    Date,
    Ignore,
    Number,
    Text,
    column_in,
    given_columns,
    given_interactions,
)

__all__ = [
    "Boolean",
    "Categories",
    "Category",
    "Column",
    "Columns",
    "Date",
    "Encoder",
    "Ignore",
    "Known",
    "LeakWatch",
    "Number",
    "Table",
    "Text",
    "column_in",
    "given_columns",
    "given_interactions",
    "known_columns",
    "n_numbers_of",
    "text_of",
    "warn_of_leaks",
]
