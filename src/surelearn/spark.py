"""Models learnt from Spark dataframes, partition by partition; must not know how rows are learnt.

Every partition is a shard: it is learnt by the Python worker that has its rows, and what it has
moved comes to the driver, which merges all in their order. It uses no RDDs, so it works with Spark
Connect. `docs/howto/spark.md` shows it.
"""

from __future__ import annotations

import math
import os
import pickle
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surelearn import _check
from surelearn.learners import SureClassifier, SureTableClassifier, SureTextClassifier, partitions
from surelearn.learners.base import is_fitted
from surelearn.learners.partitions import E, Job, LabelCounts, ShardStates
from surelearn.learners.tasks.row_task import ROWS
from surelearn.training.shards import named

try:
    import pyarrow as pa
    from pyspark import TaskContext
    from pyspark.errors import PySparkException
    from pyspark.sql import functions
    from pyspark.sql.pandas.functions import arrow_udf
except ImportError as error:
    raise _check.missing("surelearn.spark", error, "spark") from error

__all__ = ["fit", "predict", "predict_proba"]

#: What workers send: something of one partition or of many, and who adds it up.
_SCHEMA = "place int, packed binary"

#: An error of ours, somewhere in what Spark says of a task that has failed.
_OURS = re.compile(r"^(TypeError|ValueError): (partition \d+: .+)$", re.MULTILINE)

#: A column of texts or vectors, columns of numbers, or those of a table.
Given = str | list[str] | tuple[str, ...]


def fit(
    estimator: E,
    df: Any,
    *,
    text: str | None = None,
    features: str | Sequence[str] | None = None,
    label: str = "label",
    weight: str | None = None,
    classes: Any = None,
) -> E:
    """Learn from the partitions of a Spark dataframe, each where it is.

    Partition i is learnt as shard i of ``fit`` with `n_shards`: passes over its own rows, in an
    order that `random_state` and i decide. The same rows in the same partitions and order give the
    same bytes, however many executors there are and however often a partition is learnt again. An
    error in a partition says which: ``"partition 3: ..."``.

    Parameters
    ----------
    estimator : SureClassifier, SureTextClassifier or SureTableClassifier
        Its parameters; it is not changed. `n_shards` is not asked for: partitions are shards.
        Tables: the first partition that has rows decides what the columns are.
    df : DataFrame
        Each partition must fit in the memory of a Python worker.
    text : str, optional
        Column of texts, for a `SureTextClassifier`. Default ``"text"``.
    features : str or list of str, optional
        For a `SureClassifier`: columns of numbers, or one column of arrays or of Spark's vectors.
        Vectors are learnt as sparse rows, all others as dense ones. For a `SureTableClassifier`:
        its columns. Default: all but the label and the weight.
    label : str, default "label"
        Column of labels: texts, whole numbers or booleans.
    weight : str, optional
        Column of weights.
    classes : array, optional
        All labels. Without it they are found first, in a pass over the labels alone.

    Returns
    -------
    estimator : a new one, fitted

    Examples
    --------
    >>> import surelearn.spark
    >>> from surelearn import SureTextClassifier
    >>> df = spark.read.parquet("reviews")                             # doctest: +SKIP
    >>> clf = SureTextClassifier(passes=3, random_state=0)
    >>> model = surelearn.spark.fit(clf, df, text="review", label="stars")   # doctest: +SKIP
    >>> surelearn.spark.predict(model, df, text="review").show()       # doctest: +SKIP
    """
    given = _input_columns(estimator, text, features, df, without=(label, weight))
    engine = _Spark(df, given, label, weight)
    names = given if isinstance(given, list) else None
    return partitions.fit(estimator, engine, classes=classes, feature_names=names)


def predict(
    model: SureClassifier,
    df: Any,
    *,
    text: str | None = None,
    features: str | Sequence[str] | None = None,
    output: str = "prediction",
) -> Any:
    """The dataframe with one more column: the label of each row.

    Parameters
    ----------
    model : fitted classifier
        It is sent to the workers with the function.
    df : DataFrame
    text, features
        As in `fit`. Of the columns only these go to Python.
    output : str, default "prediction"
        Name of the new column.

    Returns
    -------
    DataFrame

    Examples
    --------
    >>> surelearn.spark.predict(model, df, text="review").show()    # doctest: +SKIP
    """
    ROWS.check_fitted("model", model)
    kind, own = _TYPES[_check.kind_of(model.classes_[0])]
    said = _prediction(model, _input_columns(model, text, features, df), "predict", own)
    return _with_column(df, output, kind, said)


def predict_proba(
    model: SureClassifier,
    df: Any,
    *,
    text: str | None = None,
    features: str | Sequence[str] | None = None,
    output: str = "probability",
) -> Any:
    """The dataframe with one more column: an array of the probabilities of every label.

    Parameters
    ----------
    model, df, text, features : as in `predict`
    output : str, default "probability"
        Name of the new column. Its arrays are in the order of ``model.classes_``.

    Returns
    -------
    DataFrame

    Examples
    --------
    >>> surelearn.spark.predict_proba(model, df, text="review").show()    # doctest: +SKIP
    """
    ROWS.check_fitted("model", model)
    own = pa.list_(pa.float64())
    said = _prediction(model, _input_columns(model, text, features, df), "predict_proba", own)
    return _with_column(df, output, "array<double>", said)


# ------------------------------------------------------------------------ learning


@dataclass(frozen=True)
class _Spark:
    """The partitions of a dataframe."""

    df: Any
    given: Given
    label: str
    weight: str | None

    def tally(self, job: Job) -> LabelCounts | None:
        """Labels of all partitions; no other column is read."""
        label, weight = self.label, self.weight

        def work(table: pa.Table, number: int) -> LabelCounts:
            return job.tally(_numpy(table, label), _numpy(table, weight), number=number)

        return partitions.together(_collect(self._map_partitions([], work)))

    def columns(self, job: Job) -> Any:
        """The columns of the first partition that has rows; all are asked at once."""

        def own(X: Any, y: Any, weight: Any, *, number: int) -> tuple[int, Any]:
            return number, job.columns(X, number=number)

        found = min(_collect(self._of_partitions(own)), key=lambda one: one[0], default=None)
        return None if found is None else found[1]

    def documents(self, job: Job) -> Any:
        """Document counts of all partitions."""
        return self._sum_partitions(job.count, partitions.counted)

    def total(self, job: Job) -> ShardStates | None:
        """What all partitions have learnt."""
        return partitions.gathered(_collect(self._of_partitions(job.state)))

    def _of_partitions(self, of: Callable[..., Any]) -> Any:
        """Something of each partition's rows."""
        given, label, weight = self.given, self.label, self.weight

        def work(table: pa.Table, number: int) -> Any:
            with named(number, partitions.PART):
                X = _rows(table, given)
            return of(X, _numpy(table, label), _numpy(table, weight), number=number)

        return self._map_partitions(given, work)

    def _sum_partitions(self, of: Callable[..., Any], add: Callable[[Iterator[Any]], Any]) -> Any:
        """The same, added up on two levels."""

        def add_some(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            total = add(_unpack(batches))
            if total is not None:
                yield _pack(total, 0)

        # Sums are the same in any grouping, so whatever Spark puts together is added up.
        some = self._of_partitions(of).repartition("place").mapInArrow(add_some, _SCHEMA)
        return add(_collect(some))

    def _map_partitions(self, given: Given, work: Callable[[pa.Table, int], Any]) -> Any:
        """Something of each partition that has rows."""
        inputs = [given] if isinstance(given, str) else given
        extra = [] if self.weight is None else [self.weight]
        columns = list(dict.fromkeys([*inputs, self.label, *extra]))

        def visit(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            listed = list(batches)
            if sum(batch.num_rows for batch in listed):
                number = _number()
                # About sqrt(n) places for n partitions, without a need to know n.
                yield _pack(work(pa.Table.from_batches(listed), number), math.isqrt(number))

        _use_python_of_driver(self.df)
        return self.df.select(*columns).mapInArrow(visit, _SCHEMA)


def _use_python_of_driver(df: Any) -> None:
    """Let workers of a local master run this Python rather than the first python3 that is found.

    Executors of a cluster have other paths, and a choice of the user stays.
    """
    context = getattr(df.sparkSession, "sparkContext", None)  # Spark Connect has none
    if context is None or "PYSPARK_PYTHON" in os.environ:
        return
    if context.master.startswith("local"):
        # PySpark itself looks into this setting only where spark-submit has started it.
        context.pythonExec = context.getConf().get("spark.pyspark.python", sys.executable)


def _number() -> int:
    """Of the partition that this worker has."""
    context = TaskContext.get()
    assert context is not None  # there is one in every worker
    return int(context.partitionId())


def _pack(value: Any, place: int) -> pa.RecordBatch:
    """One row; compressed, a half to a seventh of the bytes of a state is left."""
    packed = zlib.compress(pickle.dumps(value, protocol=5), 1)
    return pa.RecordBatch.from_pydict(
        {"place": pa.array([place], pa.int32()), "packed": pa.array([packed], pa.binary())}
    )


def _unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[Any]:
    for batch in batches:
        for packed in batch.column("packed"):
            yield pickle.loads(zlib.decompress(packed.as_buffer()))


def _collect(frame: Any) -> Iterator[Any]:
    """What workers have sent; an error of ours as it was raised there."""
    try:
        rows = frame.collect()
    except PySparkException as error:
        ours = _OURS.search(str(error))
        if ours is None:
            raise
        kind = TypeError if ours[1] == "TypeError" else ValueError
        raise kind(ours[2]) from error
    return (pickle.loads(zlib.decompress(row.packed)) for row in rows)


# ---------------------------------------------------------------------- prediction

#: Types of labels, Spark's and Arrow's.
_TYPES = {
    "str": ("string", pa.string()),
    "int": ("bigint", pa.int64()),
    "bool": ("boolean", pa.bool_()),
    "float": ("double", pa.float64()),
}


def _prediction(model: SureClassifier, given: Given, method: str, kind: Any) -> tuple[Any, Any]:
    """The columns that are needed, and what the model says of a batch of them."""
    getattr(model, method)  # a model without probabilities says so now
    names = [given] if isinstance(given, str) else list(given)

    def say(batch: pa.Array) -> pa.Array:
        with named(_number(), partitions.PART):
            X = _rows(pa.Table.from_arrays(batch.flatten(), names=names), given)
            found = getattr(model, method)(X).tolist() if len(batch) else []
        return pa.array(found, kind)

    return functions.struct(*names), say


def _with_column(df: Any, output: str, kind: str, said: tuple[Any, Any]) -> Any:
    _use_python_of_driver(df)
    column, say = said
    # PySpark warns of the argument that its types ask for.
    asked = arrow_udf(say, kind)  # type: ignore[call-overload]
    return df.withColumn(output, asked(column))


# ------------------------------------------------------------------------- columns


def _input_columns(
    estimator: Any,
    text: str | None,
    features: str | Sequence[str] | None,
    df: Any,
    *,
    without: tuple[str | None, ...] = (),
) -> Given:
    """The column or columns that rows are made of."""
    if isinstance(estimator, SureTableClassifier):
        if text is not None:
            raise ValueError(f"text must be None for a SureTableClassifier, got {text!r}.")
        if features is not None:
            return (features,) if isinstance(features, str) else tuple(features)
        known = estimator.columns_.column.tolist() if is_fitted(estimator) else df.columns
        return tuple(name for name in df.columns if name in known and name not in without)
    if isinstance(estimator, SureTextClassifier):
        if features is not None:
            raise ValueError(f"features must be None for a SureTextClassifier, got {features!r}.")
        return "text" if text is None else text
    if text is not None or features is None:
        raise ValueError(f"features must be given for rows of numbers, got text={text!r}.")
    return features if isinstance(features, str) else list(features)


def _numpy(table: pa.Table, name: str | None) -> NDArray[Any] | None:
    return None if name is None else table.column(name).to_numpy()


def _rows(table: pa.Table, given: Given) -> Any:
    """Texts and tables as they are, numbers as a matrix."""
    if isinstance(given, tuple):
        return table.select(given)
    if isinstance(given, list):
        return np.column_stack([_floats(table.column(name), name) for name in given])
    column = table.column(given)
    if pa.types.is_struct(column.type):
        return _vectors(column.combine_chunks(), given)
    if pa.types.is_list(column.type):
        return _arrays(column.combine_chunks(), given)
    # 32-bit places end at 2 GB of letters.
    return column.cast(pa.large_string()) if pa.types.is_string(column.type) else column


def _floats(column: Any, name: str) -> NDArray[Any]:
    values: NDArray[Any] = column.to_numpy()
    if values.dtype.kind not in "biuf":
        raise TypeError(f"{name} must be a column of numbers, got {column.type}.")
    return values if values.dtype.char in "fd" else values.astype(np.float64)


def _arrays(column: Any, name: str) -> NDArray[Any]:
    """Arrays of one length as dense rows."""
    ends = np.asarray(column.value_lengths().fill_null(0))
    if len(set(ends.tolist())) > 1:
        raise ValueError(
            f"{name} must have arrays of one length, got {sorted(set(ends.tolist()))}."
        )
    return _floats(column.flatten(), name).reshape(len(column), -1)


def _vectors(column: Any, name: str) -> sparse.csr_matrix:
    """Spark's vectors, some of which may be dense, as sparse rows."""
    if column.null_count:
        row = column.is_null().index(True).as_py()
        raise TypeError(f"{name} must be vectors, got a null at row {row}.")
    is_dense = np.asarray(column.field("type")) == 1
    values = column.field("values")
    lengths = np.asarray(values.value_lengths())
    starts = np.concatenate([[0], np.cumsum(lengths)])
    places = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
    places[~np.repeat(is_dense, lengths)] = column.field("indices").flatten()
    sizes = np.where(is_dense, lengths, np.asarray(column.field("size").fill_null(0)))
    if len(set(sizes.tolist())) > 1:
        raise ValueError(
            f"{name} must have vectors of one size, got {sorted(set(sizes.tolist()))}."
        )
    return sparse.csr_matrix(
        (np.asarray(values.flatten()), places, starts), shape=(len(column), int(sizes[0]))
    )
