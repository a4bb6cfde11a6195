"""Dask: the same bytes as on one machine, by any collection, scheduler and after any fault."""

from __future__ import annotations

import os
import sys
from collections import Counter

import dask
import dask.array
import dask.bag
import dask.dataframe
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster, get_task_stream
from scipy import sparse

import surelearn.dask
from engines import SIZES, by_hand, bytes_of, parts, rows, text_classifier
from surelearn import SureClassifier, SureTableClassifier
from surelearn.columns.cells import Table
from surelearn.learners.table_classifier import columns_of, with_columns

TEXTS, LABELS = rows()


@pytest.fixture(autouse=True)
def threads():
    with dask.config.set(scheduler="threads"):
        yield


def bag_of(values):
    return dask.bag.from_delayed([dask.delayed(list)(part) for part in parts(values)])


def pairs():
    return bag_of(list(zip(TEXTS, LABELS, strict=True)))


def frame(**columns):
    cut = [
        dict(zip(columns, part, strict=True))
        for part in zip(*map(parts, columns.values()), strict=True)
    ]
    empty = pd.DataFrame({name: [values[0]] for name, values in columns.items()}).iloc[:0]
    made = [dask.delayed(pd.DataFrame)(part).astype(empty.dtypes.to_dict()) for part in cut]
    return dask.dataframe.from_delayed(made, meta=empty)


def array_of(values):
    return dask.array.from_array(np.asarray(values), chunks=(SIZES, *np.shape(values)[1:]))


def numbers(n_features=12):
    X = np.random.default_rng(5).normal(size=(len(TEXTS), n_features))
    X[np.abs(X) < 0.5] = 0
    return X


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    model = by_hand(text_classifier(), TEXTS, LABELS)
    return bytes_of(model, tmp_path_factory.mktemp("expected"))


COLLECTIONS = {
    "pairs": lambda: (pairs(),),
    "dicts": lambda: (pairs().map(lambda pair: {"text": pair[0], "label": pair[1], "id": 3}),),
    "bags": lambda: (bag_of(TEXTS), bag_of(LABELS)),
    "frame": lambda: (frame(text=TEXTS, label=LABELS),),
    "series": lambda: (frame(text=TEXTS)["text"], frame(label=LABELS)["label"]),
    "arrays": lambda: (array_of(np.array(TEXTS, dtype=object)), array_of(LABELS)),
    "bag and array": lambda: (bag_of(TEXTS), array_of(LABELS)),
}


@pytest.mark.parametrize("kind", COLLECTIONS)
def test_texts_in_any_collection_give_the_bytes_of_one_machine(kind, expected, tmp_path):
    model = surelearn.dask.fit(text_classifier(), *COLLECTIONS[kind]())
    assert bytes_of(model, tmp_path) == expected


@pytest.mark.parametrize("idf", [False, True])
def test_threads_of_fit_give_the_same_bytes(idf, tmp_path):
    clf = text_classifier(n_shards=4, idf=idf)
    alone = bytes_of(text_classifier(n_shards=4, idf=idf).fit(TEXTS, LABELS), tmp_path)
    X = dask.bag.from_delayed([dask.delayed(list)(part) for part in np.array_split(TEXTS, 4)])
    y = dask.bag.from_delayed([dask.delayed(list)(part) for part in np.array_split(LABELS, 4)])
    assert bytes_of(surelearn.dask.fit(clf, X.map(str), y.map(str)), tmp_path) == alone


@pytest.mark.parametrize("n_parts", [1, 8, 9, 70])
def test_trees_of_any_size_add_up(n_parts, tmp_path):
    clf = text_classifier(n_shards=n_parts, passes=1)
    X = dask.bag.from_delayed(
        [dask.delayed(list)(p.tolist()) for p in np.array_split(TEXTS, n_parts)]
    )
    y = dask.bag.from_delayed(
        [dask.delayed(list)(p.tolist()) for p in np.array_split(LABELS, n_parts)]
    )
    got = surelearn.dask.fit(clf, X, y)
    if n_parts == 1:
        assert got.mistakes_.shape == (1,)
        return
    assert bytes_of(got, tmp_path) == bytes_of(clf.fit(TEXTS, LABELS), tmp_path)


@pytest.mark.parametrize("kind", ["dense", "sparse", "unknown sizes"])
def test_rows_of_numbers(kind, tmp_path):
    clf, X = SureClassifier(random_state=1, passes=2, scale=False), numbers()
    made, y = array_of(X), array_of(LABELS)
    if kind == "sparse":
        X, made = sparse.csr_matrix(X), made.map_blocks(sparse.csr_matrix)
    if kind == "unknown sizes":
        every = array_of(np.ones(len(LABELS), dtype=bool))
        made, y = made[every], y[every]
        assert np.isnan(made.shape[0])
    model = surelearn.dask.fit(clf, made, y)
    assert bytes_of(model, tmp_path) == bytes_of(by_hand(clf, X, LABELS), tmp_path)
    np.testing.assert_array_equal(surelearn.dask.predict(model, made), model.predict(X))
    said = surelearn.dask.predict_proba(model, made)
    assert said.shape[1] == 4
    np.testing.assert_array_equal(said.compute(), model.predict_proba(X))


def test_frames_of_numbers_keep_their_names_and_index():
    X = pd.DataFrame(numbers(3), columns=["a", "b", "c"], index=np.arange(len(LABELS)) * 2)
    table = dask.dataframe.from_pandas(X, npartitions=3)
    y = dask.dataframe.from_pandas(pd.Series(LABELS, index=X.index), npartitions=3)
    model = surelearn.dask.fit(SureClassifier(random_state=0, scale=False), table, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    labels = surelearn.dask.predict(model, table).compute()
    assert labels.index.equals(X.index)
    assert labels.tolist() == model.predict(X).tolist()
    said = surelearn.dask.predict_proba(model, table).compute()
    assert said.columns.tolist() == model.classes_.tolist()
    np.testing.assert_array_equal(said, model.predict_proba(X))


def test_predictions_of_texts_are_of_the_kind_of_the_collection():
    model = text_classifier().fit(TEXTS, LABELS)
    expected = model.predict(TEXTS).tolist()
    bag = surelearn.dask.predict(model, bag_of(TEXTS))
    assert bag.npartitions == len(SIZES)
    assert bag.compute() == expected
    column = surelearn.dask.predict(model, frame(text=TEXTS)["text"])
    assert column.compute().tolist() == expected
    array = surelearn.dask.predict(model, array_of(np.array(TEXTS, dtype=object)))
    assert array.chunks == (SIZES,)
    assert array.compute().tolist() == expected
    both = [surelearn.dask.predict_proba(model, x).compute()
            for x in (array_of(np.array(TEXTS, dtype=object)), bag_of(TEXTS))]  # fmt: skip
    for said in both:
        np.testing.assert_array_equal(np.vstack(list(said)), model.predict_proba(TEXTS))


def test_the_model_is_in_the_graph_once():
    model = text_classifier().fit(TEXTS, LABELS)
    graph = dict(surelearn.dask.predict(model, bag_of(TEXTS)).dask)
    held = [key for key in graph if str(key).startswith("surelearn-model-")]
    assert len(held) == 1


def test_rounds_of_merging(tmp_path):
    clf = text_classifier(merge_every=2)
    expected = by_hand(clf, TEXTS, LABELS)
    assert bytes_of(surelearn.dask.fit(clf, pairs()), tmp_path) == bytes_of(expected, tmp_path)


def test_weights_and_balanced_classes(tmp_path):
    """Rows of weight 0 are not there, and classes are balanced over all partitions."""
    clf = SureClassifier(random_state=1, passes=2, class_weight="balanced", n_shards=4, scale=False)
    number = np.arange(len(LABELS))
    kept = number % 2 == 0
    X, y, weight = numbers(), np.where(kept, LABELS, "never"), kept * (1.0 + number % 3)
    alone = clf.fit(X[kept], y[kept], weight[kept])
    made = [dask.array.from_array(a, chunks=(100, *a.shape[1:])) for a in (X, y, weight)]
    got = surelearn.dask.fit(clf, *made[:2], sample_weight=made[2])
    assert "never" not in got.classes_
    assert bytes_of(got, tmp_path) == bytes_of(alone, tmp_path)


def test_declared_classes_save_the_pass_over_labels(tmp_path, expected):
    read = []

    def noted(part):
        read.append(len(part))
        return part

    X, y = bag_of(TEXTS), bag_of(LABELS).map_partitions(noted)
    model = surelearn.dask.fit(text_classifier(), X, y, classes=sorted(set(LABELS), reverse=True))
    assert bytes_of(model, tmp_path) == expected
    assert Counter(read) == Counter(SIZES * 4)  # once to count documents, and once a round


def test_a_partition_that_is_learnt_again_is_learnt_as_before(monkeypatch):
    """Without a seed too: one is drawn at the start."""
    seeds = []

    def noted(self, *rows, number):
        seeds.append(self.estimator.random_state)
        return learnt(self, *rows, number=number)

    learnt = surelearn.dask.Job.state
    monkeypatch.setattr(surelearn.dask.Job, "state", noted)
    surelearn.dask.fit(text_classifier(random_state=None), pairs())
    assert len(seeds) == 3 * len(SIZES)
    assert len(set(seeds)) == 1
    assert isinstance(seeds[0], int)


def test_an_unseeded_model_is_learnt_and_the_given_one_is_not_changed():
    clf = text_classifier(random_state=None)
    model = surelearn.dask.fit(clf, pairs())
    assert model.random_state is None
    assert not hasattr(clf, "classes_")


# ------------------------------------------------------------------------- errors


def spoilt(values, place, value):
    return [value if i == place else old for i, old in enumerate(values)]


@pytest.mark.parametrize(
    ("X", "y", "kind", "message"),
    [
        (spoilt(TEXTS, 185, None), LABELS, TypeError, "partition 3: text 5 must be str or bytes"),
        (TEXTS, spoilt(LABELS, 125, None), ValueError, "partition 1: y must have no missing lab"),
        (TEXTS, spoilt(LABELS, 125, 3), TypeError, "partition 1: y must hold labels of one type"),
        (TEXTS, [*LABELS[:-130], *range(130)], TypeError, "partition 4: y must hold labels of"),
        (TEXTS, ["a"] * len(TEXTS), ValueError, "fit needs at least two classes, got 1 class"),
    ],
)  # fmt: skip
def test_a_bad_row_is_named_with_its_partition(X, y, kind, message):
    with pytest.raises(kind, match=f"^{message}"):
        surelearn.dask.fit(text_classifier(), bag_of(X), bag_of(y))


def test_records_that_are_none_are_named():
    records = spoilt(list(zip(TEXTS, LABELS, strict=True)), 185, "a text")
    with pytest.raises(
        TypeError, match=r"^partition 3: records must be \(text, label\) pairs or d"
    ):
        surelearn.dask.fit(text_classifier(), bag_of(records))
    bag = dask.bag.from_sequence([{"text": "a"}], npartitions=1)
    with pytest.raises(
        ValueError, match=r"^partition 0: records must have 'label', got \['text'\]"
    ):
        surelearn.dask.fit(text_classifier(), bag)


def test_what_is_no_collection_is_refused():
    with pytest.raises(
        TypeError, match=r"^X must be a Dask array, dataframe, series or bag, got li"
    ):
        surelearn.dask.fit(text_classifier(), TEXTS, LABELS)
    with pytest.raises(
        TypeError, match=r"^X must be a Dask array, dataframe, series or bag, got li"
    ):
        surelearn.dask.predict(text_classifier().fit(TEXTS, LABELS), TEXTS)
    records = dask.bag.from_sequence(list(zip(TEXTS, LABELS, strict=True)), npartitions=2)
    with pytest.raises(ValueError, match=r"^sample_weight needs y, got y=None\."):
        surelearn.dask.fit(text_classifier(), records, sample_weight="nonsense")
    with pytest.raises(TypeError, match=r"^y must be given unless X is a bag, got Array"):
        surelearn.dask.fit(SureClassifier(scale=False), array_of(numbers()))
    with pytest.raises(
        TypeError, match=r"^estimator must be a SureClassifier or SureTextClassifie"
    ):
        surelearn.dask.fit("arow", pairs())


def test_partitions_must_fit():
    with pytest.raises(ValueError, match=r"^y must have 5 partitions as X has, got 2\."):
        surelearn.dask.fit(text_classifier(), bag_of(TEXTS), bag_of(LABELS).repartition(2))
    X = array_of(numbers()).rechunk({1: 6})
    with pytest.raises(
        ValueError, match=r"^X must have one block of columns, got 2\. Use X\.rechu"
    ):
        surelearn.dask.fit(SureClassifier(scale=False), X, array_of(LABELS))
    y = dask.array.from_array(np.array(LABELS), chunks=((119, 61, 0, 90, 130),))
    with pytest.raises(
        ValueError, match=r"^partition [01]: y must have one label for each of (120|60)"
    ):
        surelearn.dask.fit(text_classifier(), bag_of(TEXTS), y)


def test_rules_without_variances_need_a_mean(tmp_path):
    clf = text_classifier(rule="perceptron", combine="bayes")
    with pytest.raises(ValueError, match=r"^combine must be 'evidence' or 'uniform' for rule Perc"):
        surelearn.dask.fit(clf, pairs())
    for combine in ("evidence", "uniform"):
        clf.set_params(combine=combine)
        expected = by_hand(clf, TEXTS, LABELS)
        assert bytes_of(surelearn.dask.fit(clf, pairs()), tmp_path) == bytes_of(expected, tmp_path)


def test_no_rows_at_all():
    with pytest.raises(
        ValueError, match=r"^fit needs at least one row, got none in any partition\."
    ):
        surelearn.dask.fit(text_classifier(), bag_of([]), bag_of([]), classes=["a", "b"])


def test_without_the_library_the_line_that_installs_it_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "surelearn.dask")
    with pytest.raises(ImportError, match=r"run: pip install '\.\[dask\]'"):
        import surelearn.dask  # noqa: F401


# ------------------------------------------------------------- processes that may die


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",  # any port: another run may hold the usual one
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def on_the_cluster():
    """Work is done by the client's cluster. By name: settings are sent to new workers."""
    return dask.config.set(scheduler="distributed")


def deadly(part, marker):
    """Ends its own process, once, with half of the partition read."""
    half = part[: len(part) // 2]
    if half and not os.path.exists(marker):
        open(marker, "w").close()
        os._exit(1)
    return part


def lost(client):
    """Tasks that were at work in a worker that was lost, by the scheduler's own events."""
    events = [event for _, event in client.get_events("all")]
    return [
        key
        for event in events
        if event.get("action") == "remove-worker" and not event["expected"]
        for key in event["processing-tasks"]
    ]


@pytest.mark.slow
def test_two_processes_give_the_same_bytes(client, expected, tmp_path):
    with on_the_cluster(), get_task_stream(client) as ran:
        model = surelearn.dask.fit(text_classifier(), pairs())
        said = surelearn.dask.predict(model, bag_of(TEXTS)).compute()
    assert bytes_of(model, tmp_path) == expected
    assert said == model.predict(TEXTS).tolist()
    learnt = [task for task in ran.data if str(task["key"]).startswith("surelearn-learn-")]
    assert len(learnt) == 3 * len(SIZES)  # three rounds
    assert len({task["worker"] for task in learnt}) == 2


@pytest.mark.slow
@pytest.mark.usefixtures("client")
def test_an_error_in_a_process_names_the_partition():
    bad, wrong = bag_of(spoilt(TEXTS, 185, None)), r"^partition 3: text 5 must be str or bytes, got"
    with on_the_cluster(), pytest.raises(TypeError, match=wrong):
        surelearn.dask.fit(text_classifier(), bad, bag_of(LABELS))


@pytest.mark.slow
def test_a_worker_that_dies_is_replaced_and_the_bytes_are_the_same(client, expected, tmp_path):
    marker = tmp_path / "died"
    load = dask.delayed(deadly)
    made = [load(part, marker if i == 3 else os.devnull) for i, part in enumerate(parts(TEXTS))]
    assert not lost(client)
    with on_the_cluster(), get_task_stream(client) as ran:
        model = surelearn.dask.fit(text_classifier(), dask.bag.from_delayed(made), bag_of(LABELS))
    assert marker.exists()
    (died,) = [key for key in lost(client) if "deadly" in key[0] and key[1] == 3]
    assert [task["status"] for task in ran.data if task["key"] == died] == [
        "OK"
    ] * 4  # counting, rounds
    assert bytes_of(model, tmp_path) == expected


@pytest.mark.parametrize("kind", ["frame", "frame and labels", "dicts"])
def test_tables_have_the_bytes_of_fit(kind, tmp_path):
    X = pd.DataFrame(
        {
            "price": [float(i % 9) for i in range(len(TEXTS))],
            "size": [["S", "M", "L"][len(text) % 3] for text in TEXTS],
            "title": TEXTS,
        }
    )
    y, cut = np.array(LABELS), np.array_split(np.arange(len(TEXTS)), 4)
    clf = SureTableClassifier(random_state=0, n_shards=4, passes=2)
    known = columns_of(clf, Table.of(X.iloc[cut[0]]))
    with with_columns(clf, known):
        alone = bytes_of(clf.fit(X, y), tmp_path)
    whole = X.assign(label=y)
    made = [dask.delayed(whole.iloc[rows]) for rows in cut]
    given = (dask.dataframe.from_delayed(made, meta=whole.iloc[:0]),)
    if kind == "frame and labels":
        given = given[0][["price", "size", "title"]], given[0]["label"]
    if kind == "dicts":
        made = [dask.delayed(whole.iloc[rows].to_dict("records")) for rows in cut]
        given = (dask.bag.from_delayed(made),)
    model = surelearn.dask.fit(clf, *given)
    assert bytes_of(model, tmp_path) == alone
    assert not hasattr(model, "feature_names_in_")
    if kind != "dicts":
        said = surelearn.dask.predict(model, given[0][[*X]]).compute()
        np.testing.assert_array_equal(said, model.predict(X))
