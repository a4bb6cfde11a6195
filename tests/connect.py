"""Run by test_spark.py: a model learnt through Spark Connect, saved in the folder that is given."""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import SparkSession

import surelearn.spark
from engines import bytes_of, rows, text_classifier


def main(folder):
    session = (
        SparkSession.builder.remote("local[2]")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    assert "connect" in type(session).__module__
    records = [(i, *record) for i, record in enumerate(zip(*rows(), strict=True))]
    df = session.createDataFrame(records, "id int, text string, label string").coalesce(1)
    df = df.repartitionByRange(2, "id").sortWithinPartitions("id")
    model = surelearn.spark.fit(text_classifier(n_shards=2, passes=1), df)
    bytes_of(model, folder)
    said = surelearn.spark.predict(model, df).collect()
    assert [row.prediction for row in said] == model.predict([row.text for row in said]).tolist()
    session.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
