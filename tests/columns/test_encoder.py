"""Tables as rows: features, names, products, weights by rarity, warnings."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse

from surelearn import _core
from surelearn.columns import Boolean, Categories, Category, Date, Number, Text
from surelearn.columns.cells import Table
from surelearn.columns.encoder import Encoder
from surelearn.columns.known import known_columns
from surelearn.columns.specs import given_columns
from surelearn.text import HashingVectorizer

TABLE = {
    "title": ["a great film", None, "a dull film", "great great fun"],
    "brand": ["Acme", "Bell", None, "Acme"],
    "price": [1.5, None, 0.0, 3.0],
    "when": ["2024-01-02", "2024-02-03", None, "2024-01-02"],
    "ok": [True, False, True, None],
    "tags": [["x", "y"], [], None, ["x"]],
}
KINDS = {
    "title": Text(weight=2.0),
    "brand": Category(weight=3.0),
    "price": Number(bins=(2.0,)),
    "when": Date(trend=True),
    "ok": Boolean(),
    "tags": Categories(),
}


def encoder(kinds=KINDS, interactions=(), table=TABLE, **how):
    some = {name: table[name] for name in kinds}
    return Encoder(known_columns(Table.of(some), given_columns(kinds)), interactions, **how)


def named(one, table, row, *, weigh=False):
    """The features of a row by name."""
    arrays, found = one.encode(Table.of(table), learning=True)
    one.memory.register(found)
    starts, features, values = arrays
    rows = sparse.csr_matrix((values, features, starts), (len(starts) - 1, one.n_features))
    if weigh:
        one.memory.documents.count(rows.indptr, rows.indices, rows.data)
        one.weigh_in_place(rows)
    own = rows[row]
    return dict(zip(one.memory[own.indices].tolist(), own.data.tolist(), strict=True))


def test_a_row_has_a_feature_for_each_value():
    one = encoder()
    share = 1 / np.sqrt(7)  # brand, bin, year, month, weekday, ok, tags
    found = named(one, TABLE, 0)
    assert found.pop("when") == pytest.approx(2024 + 1 / 366)
    assert found == pytest.approx(
        {
            "price": 1.5,
            "price in [-inf, 2)": share,
            "brand=Acme": 3 * share,
            "when year=2024": share,
            "when month=Jan": share,
            "when weekday=Tue": share,
            "ok=true": share,
            "tags=x": share / np.sqrt(2),
            "tags=y": share / np.sqrt(2),
            "title: great": 1.0,
            "title: film": 1.0,
        }
    )


def test_missing_values_are_features():
    one = encoder()
    gone = {name for row in (1, 2, 3) for name in named(one, TABLE, row) if "missing" in name}
    assert gone == {
        "title missing",
        "price missing",
        "brand missing",
        "when missing",
        "tags missing",
        "ok missing",
    }
    assert "price" not in named(one, TABLE, 1)
    assert 0 < named(one, TABLE, 2)["price"] < 1e-30  # a zero is there


def test_texts_are_weighed_as_by_the_vectorizer():
    one = encoder({"title": Text(weight=2.0), "brand": "category"})
    texts = [text or "" for text in TABLE["title"]]
    how = {"alternate_sign": False, "dtype": np.float32, "log_counts": True, "n_features": 2**18}
    wanted = HashingVectorizer(idf=True, **how).fit_transform(texts)
    arrays, _ = one.encode(Table.of({k: TABLE[k] for k in ("title", "brand")}), learning=True)
    begin, end = one.space.texts["title"]
    raw = _core.Rows.csr(*arrays, one.n_features)
    one.weighed(raw, counting=True)
    starts, features, values = arrays
    rows = sparse.csr_matrix((values, features, starts), (4, one.n_features))
    one.weigh_in_place(rows)
    assert np.allclose(rows[:, begin:end].toarray(), 2 * wanted.toarray())
    assert set(np.round(rows[:, :begin].data, 6)) == {1.0}
    assert one.memory.documents.n == 4


def test_without_idf_nothing_is_counted():
    one = encoder({"title": Text(idf=False, weight=3.0)})
    assert one.spans == []
    found = named(one, {"title": TABLE["title"]}, 0)
    assert found == pytest.approx({"title: great": 3 / 2**0.5, "title: film": 3 / 2**0.5})


def test_rows_do_not_depend_on_how_they_are_cut():
    whole, cut = encoder(), encoder()

    def weighed(one, table):
        arrays, _ = one.encode(table, learning=True)
        rows = one.weighed(_core.Rows.csr(*arrays, one.n_features), counting=True)
        model = _core  # rows show their values through products with themselves
        n = np.arange(len(rows))
        return model.cross_rows(rows, rows, n, n, 2**20, True)

    every = weighed(whole, Table.of(TABLE))
    parts = [weighed(cut, Table.of(TABLE)[i : i + 1]) for i in range(4)]
    assert np.array_equal(every[1], np.concatenate([part[1] for part in parts]))
    assert np.array_equal(every[2], np.concatenate([part[2] for part in parts]))


def test_the_time_is_a_number_only_if_it_is_asked_for():
    """Rows to predict later than all that were learnt would be far off."""
    table = {"when": TABLE["when"]}
    plain, trend = (named(encoder({"when": Date(trend=t)}), table, 0) for t in (False, True))
    assert set(plain) == {"when year=2024", "when month=Jan", "when weekday=Tue"}
    assert set(trend) - set(plain) == {"when"}


def test_products_have_names():
    one = encoder(interactions=[("brand", "ok"), ("brand", "title")])
    assert named(one, TABLE, 0)["brand=Acme × ok=true"] == pytest.approx(1 / np.sqrt(9))
    names = one.names_in(Table.one({name: TABLE[name][0] for name in TABLE}))
    assert {"brand=Acme × title: film", "brand=Acme × title: great", "title: great"} <= {
        *names.values()
    }


def test_columns_are_namespaces():
    two = {"a": ["x", "y"], "b": ["x", "y"]}
    one = encoder({"a": "category", "b": "category"}, table=two)
    assert named(one, two, 0) == pytest.approx({"a=x": 2**-0.5, "b=x": 2**-0.5})


def test_names_are_met_when_they_are_learnt():
    one = encoder()
    one.encode(Table.of(TABLE), learning=True)
    assert one.memory.name(one.encode(Table.of(TABLE), learning=False)[0][1][5]) is None
    silent = encoder(keep_names=False)
    assert silent.encode(Table.of(TABLE), learning=True)[1] == []


def test_values_of_a_number_as_categories():
    table = {"rooms": [1, 2, 2, None]}
    one = encoder({"rooms": Number(bins="values")}, table=table)
    assert named(one, table, 1) == {"rooms": 2.0, "rooms=2": 1.0}
    assert named(one, table, 3) == {"rooms missing": 1.0}
    assert named(one, {"rooms": [7]}, 0) == {"rooms": 7.0, "rooms=7": 1.0}


def test_columns_that_come_and_go_are_told_once():
    one = encoder()
    other = {**{name: TABLE[name] for name in TABLE if name != "brand"}, "new": [1, 2, 3, 4]}
    with pytest.warns(UserWarning, match="column") as told:
        one.encode(Table.of(other), learning=False)
    assert [str(warning.message) for warning in told] == [
        "column 'new' is not among those that were learnt and is left out.",
        "column 'brand' is missing from these rows; all its values count as missing.",
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one.encode(Table.of(other), learning=False)
        encoder().encode(Table.one({"brand": "Acme"}), learning=False)  # dicts may lack keys


def test_a_value_of_another_kind_is_missing():
    one = encoder()
    with pytest.warns(UserWarning, match="column 'price' must be a number; .* such as 'dear'"):
        found = named(one, {**TABLE, "price": ["dear", "1.5", "2", "3"]}, 0)
    assert "price missing" in found


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        (("brand", "colour"), "must be of columns that are learnt, .*got 'colour'"),
        (("brand", "price"), "must not be of numbers, got 'price'"),
    ],
)
def test_pairs_that_cannot_be_crossed(pair, said):
    with pytest.raises(ValueError, match=said):
        encoder({**KINDS, "price": Number(bins=None)}, [pair])


def test_a_million_distinct_values():
    table = {"key": [f"k{i}" for i in range(10**6)]}
    one = encoder({"key": "category"}, table=table, keep_names=False)
    (starts, features, values), _ = one.encode(Table.of(table), learning=True)
    assert len(starts) == 10**6 + 1
    assert features.max() < one.n_features == 2**18
    assert (values == 1).all()
