"""Shards of tables: columns of the first part with rows, and the bytes of fit."""

from __future__ import annotations

import io

import numpy as np
import pandas
import pytest

from surelearn import SureTableClassifier
from surelearn.columns.cells import Table
from surelearn.learners import partitions
from surelearn.learners.table_classifier import columns_of, decided, with_columns


def table(n=240):
    """A frame of all kinds of columns, and labels that follow from its texts and brands."""
    random = np.random.default_rng(0)
    words = ["good", "fine", "bad", "dull", "film", "plot"]
    frame = pandas.DataFrame(
        {
            "brand": random.choice(["Acme", "Bell", "Cord", None], n),
            "price": np.round(random.normal(50, 20, n), 2),
            "sold": random.random(n) < 0.5,
            "title": [" ".join(random.choice(words, random.integers(2, 9))) for _ in range(n)],
        }
    )
    score = frame["title"].str.contains("good") * 2.0 + (frame["brand"] == "Acme")
    return frame, np.where(score + random.normal(0, 0.2, n) > 1, "yes", "no")


X, Y = table()


class Parts:
    """An engine that holds its partitions in a list."""

    def __init__(self, *rows):
        self._parts = [(i, X.iloc[own], Y[own]) for i, own in enumerate(rows)]

    def columns(self, job):
        found = (job.columns(x, number=i) for i, x, _ in self._parts)
        return next((known for known in found if known is not None), None)

    def tally(self, job):
        return partitions.together([job.tally(y, number=i) for i, _, y in self._parts])

    def documents(self, job):
        return partitions.counted([job.count(x, y, number=i) for i, x, y in self._parts])

    def total(self, job):
        return partitions.gathered([job.state(x, y, number=i) for i, x, y in self._parts])


def saved(model):
    file = io.BytesIO()
    model.save(file)
    return file.getvalue()


def alone(clf, first):
    """The model of `fit` with the columns that the first part decides."""
    known = columns_of(clf, Table.of(X.iloc[first]))
    with with_columns(clf, known):
        return clf.fit(X, Y)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"passes": 4, "merge_every": 2},
        {"columns": {"price": "ignore"}},
        {"columns": {"title": "category"}},
        {"interactions": [("brand", "sold")], "keep_names": False},
        {"class_weight": "balanced"},
    ],
    ids=str,
)
def test_partitions_have_the_bytes_of_fit(params):
    cut = np.array_split(np.arange(len(X)), 3)
    clf = SureTableClassifier(random_state=0, n_shards=3, **params)
    model = partitions.fit(clf, Parts(*cut))
    assert saved(model) == saved(alone(clf, cut[0]))
    assert model.score(X, Y) > 0.8


def test_the_first_part_with_rows_decides_the_columns():
    parts = np.arange(0), np.arange(100), np.arange(100, 240)
    frame = X.assign(price=["none" if i > 150 else str(i % 7 + 0.5) for i in range(len(X))])
    engine = Parts(*parts)
    engine._parts = [
        (i, frame.iloc[own], y) for (i, _, y), own in zip(engine._parts, parts, strict=True)
    ]
    with pytest.warns(UserWarning, match="column 'price' must be a number"):
        model = partitions.fit(SureTableClassifier(random_state=0, passes=1), engine)
    assert dict(zip(model.columns_.column, model.columns_.kind, strict=True))["price"] == "number"
    model.fit(frame[160:], Y[160:])  # elsewhere it decides again
    assert "price" not in model.columns_.column[model.columns_.kind == "number"]


def test_rows_of_weight_0_are_not_counted():
    weight = np.ones(len(X))
    weight[::3] = 0
    cut = np.array_split(np.arange(len(X)), 2)
    clf = SureTableClassifier(random_state=0, passes=1)
    known = columns_of(clf, Table.of(X))
    job = partitions.Job(decided(clf, known))
    counts = [job.count(X.iloc[rows], Y[rows], weight[rows], number=0) for rows in cut]
    total = partitions.counted(counts)
    assert total.documents.n == (weight > 0).sum()
    assert partitions.counted(counts[::-1]).documents.n == total.documents.n


def test_no_rows_anywhere_are_refused():
    with pytest.raises(ValueError, match="at least one row, got none in any partition"):
        partitions.fit(SureTableClassifier(), Parts(np.arange(0), np.arange(0)))
