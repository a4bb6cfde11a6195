"""Tables in active learning: any container, columns decided once, the same bytes."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas
import polars
import pyarrow
import pytest

from asked import bytes_of, teach
from surelearn import SureClassifier, SureTableClassifier, read
from surelearn.active import Pool, Sampler, _table_rows, query, scores, simulate, stream
from surelearn.active._table_rows import is_table

WORDS = ["good", "fine", "bad", "dull", "film", "plot"]


def table(n=150, seed=0):
    """A frame of all kinds of columns, and labels that follow from its texts and brands."""
    random = np.random.default_rng(seed)
    frame = pandas.DataFrame(
        {
            "title": [" ".join(random.choice(WORDS, random.integers(2, 9))) for _ in range(n)],
            "brand": random.choice(["Acme", "Bell", "Cord"], n),
            "price": np.round(random.normal(50, 20, n), 2),
            "sold": random.random(n) < 0.5,
        }
    )
    frame = frame[sorted(frame)]  # as columns of dicts are
    frame.loc[random.random(n) < 0.1, "brand"] = None
    score = frame["title"].str.contains("good") * 2.0 + (frame["brand"] == "Acme")
    return frame, np.where(score + random.normal(0, 0.2, n) > 1, "yes", "no")


X, Y = table()
FORMS = {
    "pandas": X,
    "polars": polars.from_pandas(X),
    "Arrow": pyarrow.Table.from_pandas(X, preserve_index=False),
    "dicts": X.to_dict("records"),
    "columns": X.to_dict("list"),
}


def kinds(model):
    return dict(zip(model.columns_.column, model.columns_.kind, strict=True))


def new(**params):
    return SureTableClassifier(random_state=0, **params)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("batch", [False, True])
def test_query_takes_any_table(form, batch):
    clf = new().fit(X[:60], Y[:60])
    given = FORMS[form]
    np.testing.assert_array_equal(query(clf, given, 5, batch=batch), query(clf, X, 5, batch=batch))
    mean, variance = clf.margin(X)
    sure = np.abs(mean) / np.sqrt(variance + 1)  # `probit` adds its noise
    np.testing.assert_allclose(scores(clf, given), sure)


@pytest.mark.parametrize("form", FORMS)
def test_a_pool_of_any_table_asks_and_learns_the_same(form, tmp_path):
    pools = [Pool(new(), given, random_state=0) for given in (X, FORMS[form])]
    asked = [teach(pool, Y, 20) for pool in pools]
    assert asked[0] == asked[1]
    one, other = (bytes_of(pool.model, tmp_path) for pool in pools)
    assert one == other
    assert pools[0].history["steps"] == pools[1].history["steps"]  # with the marks of all rows


def test_questions_of_a_pool_are_those_of_query():
    start = {row: Y[row] for row in (int(np.argmax(Y == "yes")), int(np.argmax(Y == "no")))}
    pool = Pool(new(), X, labels=start)
    told = [answer.row for answer in pool.answers]
    for _ in range(12):
        left = np.setdiff1d(np.arange(len(Y)), told)
        (row,) = pool.ask()
        assert row == left[query(pool.model, X.iloc[left])[0]]
        pool.tell(row, Y[row])
        told.append(int(row))


def test_all_rows_of_a_pool_decide_its_columns():
    frame = X.assign(code=[str(i % 3) for i in range(len(X) - 1)] + ["none"])
    pool = Pool(new(), frame, random_state=0)
    pool.skip(len(frame) - 1)
    teach(pool, Y, 12)
    assert kinds(pool.model)["code"] == "category"  # the answers alone are numbers
    assert pool.model.columns is None
    pool.model.fit(frame[:60], Y[:60])  # elsewhere it decides again
    assert kinds(pool.model)["code"] == "number"


def test_named_columns_stay():
    pool = Pool(new(columns={"price": "ignore"}), X, random_state=0)
    teach(pool, Y, 10)
    assert "ignored" in pool.model.columns_.kind


def test_a_resumed_pool_may_have_grown(tmp_path):
    pool = Pool(new(), X, random_state=0)
    teach(pool, Y, 30)
    history = json.loads(json.dumps(pool.history))
    again = Pool(new(), FORMS["dicts"], history=history)
    assert again.ask().tolist() == pool.ask().tolist()
    assert again.history == pool.history
    more = pandas.concat([X, X.assign(price=-X["price"])])
    grown = Pool(new(), more, history=history)
    assert bytes_of(grown.model, tmp_path) == bytes_of(pool.model, tmp_path)
    del history["columns"]
    assert Pool(new(), X, history=history).history == pool.history
    with pytest.raises(ValueError, match=r"row \d+ of X must be the row that was answered"):
        Pool(new(), X[::-1], history=history)


def test_damaged_columns_of_a_history_are_refused():
    pool = Pool(new(), X, random_state=0)
    history = {**pool.history, "columns": [{"name": 3}]}
    with pytest.raises(ValueError, match=r"history\['columns'\] must be columns"):
        Pool(new(), X, history=history)


def test_undo_restores_the_bytes(tmp_path):
    pool = Pool(new(), X, random_state=0)
    teach(pool, Y, 10)
    before = bytes_of(pool.model, tmp_path)
    teach(pool, Y, 1)
    assert bytes_of(pool.model, tmp_path) != before
    pool.undo()
    assert bytes_of(pool.model, tmp_path) == before


def test_a_trained_model_keeps_its_columns():
    clf = new().fit(X[:40][["title", "brand"]], Y[:40])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the columns that are left out
        pool = Pool(clf, X, random_state=0)
        teach(pool, Y, 3)
    assert pool.model.columns_.column.tolist() == ["title", "brand"]
    assert "columns" not in pool.history


def test_a_pool_learns_more_from_its_questions_than_from_random_ones():
    frame, y = table(400)
    right = []
    for strategy in ("random", "acl"):
        pool = Pool(new(), frame, strategy=strategy, random_state=0)
        teach(pool, y, 60)
        right.append(pool.model.score(*table(800, seed=9)))
    assert right[1] > right[0]
    assert right[1] > 0.85


@pytest.mark.parametrize("form", ["pandas", "dicts", "Arrow"])
def test_simulate_takes_tables(form):
    how = {"n_labels": 12, "n_folds": 3, "strategies": ["random", "acl"], "random_state": 0}
    found = simulate(FORMS[form], Y, **how, every=5)
    assert {name for name, _ in found.curves} == {"PA", "CW", "Sure"}
    same = simulate(X, Y, **how, every=5, learners={"own": new()})
    assert same.curves["own", "acl"].shape == (3, 3)


def test_simulate_decides_columns_once_by_all_rows(monkeypatch):
    decided = []
    known_columns = _table_rows.columns_of

    def counting(model, rows):
        decided.append(len(rows))
        return known_columns(model, rows)

    monkeypatch.setattr(_table_rows, "columns_of", counting)
    simulate(X, Y, n_labels=6, n_folds=2, random_state=0, learners={"a": new()}, strategies=["acl"])
    assert decided == [len(X)]


def test_simulate_refuses_tables_for_other_learners():
    learners = {"tables": new(), "rows": SureClassifier()}
    with pytest.raises(ValueError, match=r"learners\['rows'\] must be a SureTableClassifier"):
        simulate(X, Y, n_labels=6, n_folds=2, learners=learners)


def test_frames_of_numbers_are_rows_of_numbers_as_before():
    assert not is_table(X[["price"]])
    assert not is_table(polars.from_pandas(X[["price"]]))
    assert not is_table(np.zeros((2, 2)))
    assert not is_table(["a text"])
    assert all(is_table(given) for given in FORMS.values())


def test_a_stream_of_tables(tmp_path):
    path = tmp_path / "rows.csv"
    X.assign(label=Y).to_csv(path, index=False)
    clf, asked = new(), 0
    for batch, rows in stream(clf, read.batches(path, table=True), 0.5, random_state=0):
        clf.partial_fit(batch.X.take(rows), batch.y[rows])
        asked += len(rows)
    assert abs(asked - 75) < 5
    assert set(clf.columns_.kind) == {"text", "category", "number", "boolean"}
    sampler = Sampler(new(), 0.5, random_state=0)
    for begin in range(0, 150, 30):
        part = X[begin : begin + 30].to_dict("list")
        wanted = sampler.ask(part)
        assert wanted.shape == (30,)
        sampler.tell(X[begin : begin + 30][wanted], Y[begin : begin + 30][wanted])
    assert sampler.model.score(X, Y) > 0.7
