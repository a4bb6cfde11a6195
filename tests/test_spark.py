"""Spark: the same bytes as on one machine, and after a worker has died."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from engines import SIZES, by_hand, bytes_of, parts, rows, text_classifier
from surelearn import SureClassifier, SureTableClassifier, load, spark
from surelearn.columns.cells import Table
from surelearn.learners.table_classifier import columns_of, with_columns

TEXTS, LABELS = rows()

# PySpark warns of every pandas that is newer than itself.
NEW_PANDAS = "ignore:PySpark does not yet fully support pandas:FutureWarning"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings(NEW_PANDAS),
]

LOG = """
rootLogger.level = warn
rootLogger.appenderRef.file.ref = file
appender.file.type = File
appender.file.name = file
appender.file.fileName = {path}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %p %c{{1}}: %m%n%ex
"""


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """Where Spark writes its log."""
    return tmp_path_factory.mktemp("log") / "spark.log"


@pytest.fixture(scope="module")
def session(log):
    from pyspark.sql import SparkSession

    settings = log.with_name("log4j2.properties")
    settings.write_text(LOG.format(path=log))
    before = {name: os.environ.get(name) for name in ("PYSPARK_PYTHON", "SPARK_LOCAL_IP")}
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    made = (
        SparkSession.builder.master("local[2,4]")  # two cores, and a task may fail three times
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.extraJavaOptions", f"-Dlog4j2.configurationFile={settings}")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.log.structuredLogging.enabled", "false")
        .getOrCreate()
    )
    yield made
    made.stop()
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.update({name: value})


def frame(session, schema, *columns, marker=None):
    """Our parts as partitions; the worker of the third dies half-way, once, where it is marked."""
    import pyarrow as pa

    made = list(zip(*map(parts, columns), strict=True))
    names = re.findall(r"(\w+) [\w<>]+", schema)

    def give(batches):
        for batch in batches:
            for number in batch.column(0).to_pylist():
                whole = pa.RecordBatch.from_arrays([pa.array(list(c)) for c in made[number]], names)
                half = whole.num_rows // 2
                yield whole[:half]
                if number == 3 and marker is not None and not marker.exists():
                    marker.touch()
                    os._exit(1)
                yield whole[half:]

    return session.range(0, len(SIZES), 1, len(SIZES)).mapInArrow(give, schema)


def texts(session, X=TEXTS, y=LABELS, **options):
    return frame(session, "text string, label string", X, y, **options)


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    model = by_hand(text_classifier(), TEXTS, LABELS)
    return bytes_of(model, tmp_path_factory.mktemp("expected"))


def test_texts_give_the_bytes_of_one_machine(session, expected, tmp_path):
    model = spark.fit(text_classifier(), texts(session))
    assert bytes_of(model, tmp_path) == expected


def test_threads_dask_and_spark_give_the_same_bytes(session, tmp_path):
    """The same rows in the same four parts, three ways."""
    import dask.bag

    import surelearn.dask

    clf = text_classifier(n_shards=4)
    threads = bytes_of(text_classifier(n_shards=4).fit(TEXTS, LABELS), tmp_path)
    records = list(zip(TEXTS, LABELS, strict=True))
    bag = dask.bag.from_sequence(records, npartitions=4)
    assert bag.map_partitions(lambda part: [len(part)]).compute(scheduler="sync") == [100] * 4
    with dask.config.set(scheduler="threads"):
        assert bytes_of(surelearn.dask.fit(clf, bag), tmp_path) == threads
    numbered = [(i, *record) for i, record in enumerate(records)]
    df = session.createDataFrame(numbered, "id int, text string, label string").coalesce(1)
    df = df.repartitionByRange(4, "id").sortWithinPartitions("id")
    assert [row["count"] for row in sizes(df)] == [100] * 4
    assert bytes_of(spark.fit(clf, df), tmp_path) == threads


def sizes(df):
    from pyspark.sql.functions import spark_partition_id

    return df.groupBy(spark_partition_id().alias("part")).count().orderBy("part").collect()


def test_a_worker_that_dies_is_replaced_and_the_bytes_are_the_same(
    session, log, expected, tmp_path
):
    marker = tmp_path / "died"
    classes = sorted(set(LABELS))
    model = spark.fit(text_classifier(), texts(session, marker=marker), classes=classes)
    assert marker.exists()
    assert bytes_of(model, tmp_path) == expected
    said = log.read_text()
    # 3.0 is the first attempt of the task of partition 3.
    (lost,) = re.findall(r"Lost task 3\.0 in stage (\S+) .*Python worker exited unexpectedly", said)
    retried = session.sparkContext.statusTracker().getStageInfo(int(lost.split(".")[0]))
    assert retried.numFailedTasks == 1
    assert retried.numCompletedTasks == len(SIZES)


def test_rounds_of_merging_and_weights(session, tmp_path):
    clf = SureClassifier(random_state=1, passes=2, merge_every=1, class_weight="balanced")
    X = np.random.default_rng(0).normal(size=(len(LABELS), 2))
    weight = np.arange(len(LABELS)) % 3.0
    schema = "a double, b double, label string, weight double"
    df = frame(session, schema, *X.T, LABELS, weight)
    model = spark.fit(clf, df, features=["a", "b"], weight="weight")
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert bytes_of(model, tmp_path) == bytes_of(weighted(clf, X, weight), tmp_path)


def weighted(clf, X, weight):
    from surelearn.learners.partitions import count_documents, counted, fitted, shard_state

    classes, counts = np.unique(np.array(LABELS)[weight > 0], return_counts=True)
    made = zip(*map(parts, (X, LABELS, weight)), strict=True)
    shards = [(i, part) for i, part in enumerate(made) if len(part[1])]
    scales = counted(count_documents(clf, *part) for _, part in shards)
    same = {"classes": classes, "counts": counts, "documents": scales}
    model = None
    for _ in range(2):
        states = [shard_state(clf, *part, number=i, prior=model, **same) for i, part in shards]
        model = fitted(clf, states, prior=model, documents=scales, feature_names=["a", "b"])
    return model


@pytest.mark.parametrize("kind", ["vectors", "arrays"])
def test_rows_in_one_column(session, kind, tmp_path):
    """Vectors, sparse and dense ones in turn, are sparse rows; arrays are dense ones."""
    from pyspark.ml.linalg import Vectors

    clf = SureClassifier(random_state=1, passes=2, merge_every=None)
    X = np.random.default_rng(0).normal(size=(40, 4)) * (np.arange(160).reshape(40, 4) % 3 > 0)
    y = [i % 3 for i in range(40)]
    values = X.tolist()
    if kind == "vectors":
        values = [
            Vectors.dense(row) if i % 2 else Vectors.sparse(4, dict(enumerate(row)))
            for i, row in enumerate(values)
        ]
        X = sparse.csr_matrix(X)
    rows = list(zip(values, y, strict=True))
    df = session.createDataFrame(rows, ["x", "label"]).coalesce(1)
    model = spark.fit(clf, df, features="x")
    from surelearn.learners.partitions import count_documents, fitted, shard_state

    same = {"documents": count_documents(clf, X, y)}
    alone = fitted(clf, shard_state(clf, X, y, classes=[0, 1, 2], number=0, **same), **same)
    assert bytes_of(model, tmp_path) == bytes_of(alone, tmp_path)
    said = spark.predict(model, df, features="x").collect()
    assert [row.prediction for row in said] == model.predict(X).tolist()


def test_predictions_are_columns(session):
    model = text_classifier().fit(TEXTS, LABELS)
    df = texts(session)
    both = spark.predict_proba(model, spark.predict(model, df, output="said"))
    assert both.columns == ["text", "label", "said", "probability"]
    rows = both.collect()
    assert [row.text for row in rows] == TEXTS
    assert [row.said for row in rows] == model.predict(TEXTS).tolist()
    np.testing.assert_array_equal([row.probability for row in rows], model.predict_proba(TEXTS))


@pytest.mark.parametrize("labels", [np.array([3, -1], np.int8), np.array([True, False])])
def test_labels_of_any_kind_are_predicted(session, labels):
    model = SureClassifier(random_state=0).fit([[0.0], [1.0]], labels)
    df = session.createDataFrame([(0.0,), (1.0,)], ["a"]).coalesce(1)
    said = spark.predict(model, df, features=["a"])
    assert [row.prediction for row in said.collect()] == labels.tolist()


def spoilt(values, place, value):
    return [value if i == place else old for i, old in enumerate(values)]


@pytest.mark.parametrize(
    ("X", "y", "kind", "message"),
    [
        (spoilt(TEXTS, 185, None), LABELS, TypeError, "partition 3: text 5 must be str or bytes"),
        (TEXTS, spoilt(LABELS, 125, None), ValueError, "partition 1: y must have no missing lab"),
        (TEXTS, ["a"] * len(TEXTS), ValueError, "fit needs at least two classes, got 1 class"),
    ],
)
def test_a_bad_row_is_named_with_its_partition(session, X, y, kind, message):
    with pytest.raises(kind, match=f"^{message}"):
        spark.fit(text_classifier(), texts(session, X, y))


def test_no_rows_at_all(session):
    df = texts(session).where("false")
    with pytest.raises(ValueError, match=r"^fit needs at least one row, got none in any partition"):
        spark.fit(text_classifier(), df, classes=["a", "b"])


def test_columns_must_fit_the_estimator():
    with pytest.raises(ValueError, match=r"^features must be None for a SureTextCl.*, got 'x'\."):
        spark.fit(text_classifier(), None, features="x")
    with pytest.raises(
        ValueError, match=r"^features must be given for rows of numbers, got text='"
    ):
        spark.fit(SureClassifier(), None, text="x")


def test_spark_connect(tmp_path):
    """The same through a server, in a process of its own: there is one kind of session in each."""
    script = Path(__file__).with_name("connect.py")
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    run = subprocess.run(
        [sys.executable, script, tmp_path], env=environment, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr[-3000:]
    clf = text_classifier(n_shards=2, passes=1)
    assert (tmp_path / "model.sure").read_bytes() == bytes_of(clf.fit(TEXTS, LABELS), tmp_path)


@pytest.fixture
def as_typed(tmp_path):
    """What a user has who sets nothing: the python3 that is found first is not the driver's."""
    other = tmp_path / "bin" / "python3"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\nexit 9\n")
    other.chmod(0o755)
    environment = {**os.environ, "PATH": f"{other.parent}:{os.environ['PATH']}"}
    environment.pop("PYSPARK_PYTHON", None)
    return environment


def run_block(page, environment, folder, before=""):
    """What the only Spark block of a page prints, in a process of its own."""
    text = (Path(__file__).parents[1] / "docs" / page).read_text()
    (block,) = re.findall(r"```py\n(.*?)```", text, re.DOTALL)
    command = [sys.executable, "-c", before + block]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_the_page_on_spark_works_as_typed(as_typed, tmp_path):
    printed = run_block("howto/spark.md", as_typed, tmp_path)
    assert int(printed.splitlines()[-1].removesuffix(" %")) >= 80


def test_the_tutorial_on_clusters_works_as_typed(as_typed, tmp_path):
    rows = {"text": ["a great film", "how dull"] * 200, "label": ["good", "bad"] * 200}
    pd.DataFrame(rows).to_parquet(tmp_path / "texts.parquet")
    known = "from surelearn import SureTextClassifier\n"  # from the blocks before it
    run_block("tutorial/cluster.md", as_typed, tmp_path, known)
    assert load(tmp_path / "merged.sure").predict(["great"]) == ["good"]


@pytest.mark.parametrize(
    ("master", "conf", "variable", "wanted"),
    [
        ("local[2]", {}, None, sys.executable),
        ("local[2]", {"spark.pyspark.python": "conf"}, None, "conf"),
        ("local[2]", {}, "variable", "python3"),
        ("spark://host:7077", {}, None, "python3"),
    ],
)
def test_workers_of_this_machine_run_the_python_of_the_driver(
    master, conf, variable, wanted, monkeypatch
):
    """Executors of a cluster have others, and who has said which is left alone."""
    if variable is None:
        monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    else:
        monkeypatch.setenv("PYSPARK_PYTHON", variable)
    context = SimpleNamespace(master=master, pythonExec="python3", getConf=lambda: conf)
    frame = SimpleNamespace(sparkSession=SimpleNamespace(sparkContext=context))
    spark._use_python_of_driver(frame)
    assert context.pythonExec == wanted
    spark._use_python_of_driver(SimpleNamespace(sparkSession=SimpleNamespace()))  # Spark Connect


def test_without_the_library_the_line_that_installs_it_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.delitem(sys.modules, "surelearn.spark")
    with pytest.raises(ImportError, match=r"run: pip install '\.\[spark\]'"):
        import surelearn.spark  # noqa: F401


def test_tables_have_the_bytes_of_one_machine(session, tmp_path):
    """With the columns that the first partition decides."""
    size = [["S", "M", "L"][len(text) % 3] for text in TEXTS]
    columns = [float(i % 9) for i in range(len(TEXTS))], size, TEXTS, LABELS
    names = ["price", "size", "title", "label"]
    df = frame(session, "price double, size string, title string, label string", *columns)
    clf = SureTableClassifier(random_state=0, passes=2)
    whole = [dict(zip(names[:3], row, strict=True)) for row in zip(*columns[:3], strict=True)]
    first = next(part for part in parts(whole) if part)
    with with_columns(clf, columns_of(clf, Table.of(first))):
        want = bytes_of(by_hand(clf, whole, LABELS), tmp_path)
    model = spark.fit(clf, df)
    assert bytes_of(model, tmp_path) == want
    said = spark.predict(model, df).select("prediction").collect()
    assert [row.prediction for row in said] == model.predict(whole).tolist()
    with pytest.raises(ValueError, match="text must be None for a SureTableClassifier"):
        spark.fit(clf, df, text="title")
