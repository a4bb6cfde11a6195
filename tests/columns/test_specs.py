"""What columns are told to be: checked, written as names or classes, stored as JSON."""

from __future__ import annotations

import json

import pytest

from surelearn.columns import Boolean, Categories, Category, Date, Ignore, Number, Text
from surelearn.columns.specs import column_in, given_columns, given_interactions

COLUMNS = [
    Text(weight=2.0, ngram_range=(1, 2), idf=False),
    Category(0.5),
    Number(bins=8),
    Number(bins=(1.0, 2.5), decimal=","),
    Number(bins="values"),
    Date(order="dmy"),
    Boolean(),
    Categories(separator=";"),
    Ignore(),
]


@pytest.mark.parametrize("column", COLUMNS, ids=repr)
def test_columns_are_stored_as_json(column):
    assert column_in(json.loads(json.dumps(column.plain()))) == column


def test_names_and_classes_stand_for_kinds():
    given = {"a": "text", "b": Number, "c": Category(2.0), "d": "ignore"}
    assert given_columns(given) == {
        "a": Text(),
        "b": Number(),
        "c": Category(2.0),
        "d": Ignore(),
    }
    assert given_columns(None) == {}


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Text(weight=0.0), "weight must be in"),
        (lambda: Text(analyzer="words"), "analyzer must be one of"),
        (lambda: Text(ngram_range=(2, 1)), "ngram_range must be from 1 and ascending"),
        (lambda: Text(ngram_range=[1, 2]), "ngram_range must be a tuple"),
        (lambda: Number(bins=1), "bins must be at least 2"),
        (lambda: Number(bins=(2.0, 1.0)), "bins must ascend"),
        (lambda: Number(bins="many"), "bins must be one of"),
        (lambda: Date(order="ymd"), "order must be one of"),
        (lambda: Categories(separator=""), "separator must be a text or None"),
        (lambda: given_columns({"a": "words"}), r"columns\['a'\] must be one of 'text'"),
        (lambda: given_columns({"a": 3}), r"columns\['a'\] must be one of"),
        (lambda: given_columns(["a"]), "columns must be a dict"),
        (lambda: given_interactions("ab"), "interactions must be a list of pairs"),
        (lambda: given_interactions([("a",)]), "interactions must have pairs of names"),
        (lambda: column_in({"kind": "words"}), "of a known kind"),
        (lambda: column_in({"kind": "category"}), "must have"),
    ],
)
def test_what_is_refused(make, said):
    with pytest.raises((TypeError, ValueError), match=said):
        make()
