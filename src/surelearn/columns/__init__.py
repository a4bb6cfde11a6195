"""Columns of tables: what they are, and how tables become rows; must not know models."""

from surelearn.columns.known import Columns
from surelearn.columns.specs import Boolean, Categories, Category, Date, Ignore, Number, Text

__all__ = ["Boolean", "Categories", "Category", "Columns", "Date", "Ignore", "Number", "Text"]
