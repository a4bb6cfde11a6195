"""Models learnt from Dask collections, partition by partition; must not know how rows are learnt.

Every partition is a shard: it is learnt where it is, and what it has moved comes to the client,
which merges all in their order. `docs/howto/dask.md` shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn.learners import SureClassifier, SureTableClassifier, partitions
from surelearn.learners.partitions import E, Job, LabelCounts, ShardStates
from surelearn.learners.tasks.row_task import ROWS
from surelearn.training.shards import named

try:
    import dask.array
    import distributed  # noqa: F401
    from dask.delayed import Delayed, delayed
except ImportError as error:
    raise _check.missing("surelearn.dask", error, "dask") from error

__all__ = ["fit", "predict", "predict_proba"]

#: How many states are summed by one task.
_FAN_IN = 8


def fit(
    estimator: E,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    text: str = "text",
    label: str = "label",
    classes: Any = None,
) -> E:
    """Learn from the partitions of a Dask collection, each where it is.

    Partition i is learnt as shard i of ``fit`` with `n_shards`: passes over its own rows, in an
    order that `random_state` and i decide. The same partitions give the same bytes on any
    scheduler, however many workers there are and however often a partition is learnt again. An
    error in a partition says which: ``"partition 3: ..."``.

    Parameters
    ----------
    estimator : SureClassifier, SureTextClassifier or SureTableClassifier
        Its parameters; it is not changed. `n_shards` is not asked for: partitions are shards.
    X : dask array, dataframe, series or bag
        Rows of numbers: an array of one block of columns (dense or of CSR matrices, with known or
        unknown numbers of rows), or a dataframe. Texts: a series, a bag or a one-dimensional array.
        Tables: a dataframe or a bag of dicts; the first partition that has rows decides what the
        columns are.
    y : dask array, series or bag, optional
        Labels, in the partitions of X. Without it X is a bag of (text, label) pairs or of dicts, or
        a dataframe, which have the columns `text` and `label`.
    sample_weight : dask array, series or bag, optional
        Needs `y`, or a dataframe as X.
    text, label : str
        Names of the text and the label where there is no `y`.
    classes : array, optional
        All labels. Without it they are found first, in a pass over `y` alone.

    Returns
    -------
    estimator : a new one, fitted

    Examples
    --------
    >>> import dask.bag
    >>> from surelearn import SureTextClassifier
    >>> import surelearn.dask
    >>> pairs = [("a fine film", "good"), ("dull", "bad"), ("how fine", "good"), ("so dull", "bad")]
    >>> bag = dask.bag.from_sequence(pairs, npartitions=2)
    >>> model = surelearn.dask.fit(SureTextClassifier(random_state=0), bag)
    >>> surelearn.dask.predict(model, bag.pluck(0)).compute(scheduler="threads")
    ['good', 'bad', 'good', 'bad']
    """
    is_table = isinstance(estimator, SureTableClassifier)
    if y is None and hasattr(X, "columns"):
        X, y = (X.drop(columns=label) if is_table else X[text]), X[label]
    if y is None and sample_weight is not None:
        raise ValueError("sample_weight needs y, got y=None.")
    named_columns = (None if is_table else text, label)
    engine = _Dask.of_records(X, named_columns) if y is None else _Dask.of(X, y, sample_weight)
    names = None if is_table else _names_of(X)
    return partitions.fit(estimator, engine, classes=classes, feature_names=names)


def _names_of(X: Any) -> list[str] | None:
    """The names of the columns of a dataframe."""
    return list(X.columns) if getattr(X, "ndim", 1) == 2 and hasattr(X, "columns") else None


def predict(model: SureClassifier, X: Any) -> Any:
    """Labels of a Dask collection, block by block, when they are asked for.

    Parameters
    ----------
    model : fitted classifier
        It is in the graph once, not once a block.
    X : dask array, dataframe, series or bag
        As in `fit`.

    Returns
    -------
    dask array, series or bag
        Of the kind of X: an array for an array, a series with the same index for a dataframe or a
        series, a bag for a bag.

    Examples
    --------
    >>> import dask.array
    >>> from surelearn import SureClassifier
    >>> model = SureClassifier(random_state=0).fit([[0.0, 1.0], [1.0, 0.0]], ["no", "yes"])
    >>> X = dask.array.from_array([[3.0, 1.0], [1.0, 3.0]], chunks=(1, 2))
    >>> predict(model, X).compute(scheduler="threads")
    array(['yes', 'no'], dtype='<U3')
    """
    ROWS.check_fitted("model", model)
    return _by_block(model, X, _Say("predict", None))


def predict_proba(model: SureClassifier, X: Any) -> Any:
    """Probabilities of every label, block by block; columns are in the order of ``classes_``.

    Parameters
    ----------
    model : fitted classifier
    X : dask array, dataframe, series or bag

    Returns
    -------
    dask array, dataframe or bag
        Of shape (n_samples, n_classes); the columns of a dataframe are the labels, and a bag holds
        one array a row.

    Examples
    --------
    >>> import dask.array
    >>> from surelearn import SureClassifier
    >>> model = SureClassifier(random_state=0).fit([[0.0, 1.0], [1.0, 0.0]], ["no", "yes"])
    >>> X = dask.array.from_array([[3.0, 1.0], [1.0, 3.0]], chunks=(1, 2))
    >>> predict_proba(model, X).compute(scheduler="threads").shape
    (2, 2)
    """
    ROWS.check_fitted("model", model)
    return _by_block(model, X, _Say("predict_proba", len(model.classes_)))


# ------------------------------------------------------------------------ learning


class _Dask(NamedTuple):
    """The partitions of a collection, each to be computed where it is."""

    X: list[Delayed]
    y: list[Delayed]
    weight: list[Any]

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any) -> _Dask:
        rows = _partitions_of("X", X)
        labels = _partitions_of("y", y)
        _check_partitions("y", len(labels), len(rows))
        if sample_weight is None:
            return cls(rows, labels, [None] * len(rows))
        weight = _partitions_of("sample_weight", sample_weight)
        _check_partitions("sample_weight", len(weight), len(rows))
        return cls(rows, labels, weight)

    @classmethod
    def of_records(cls, X: Any, names: tuple[str | None, str]) -> _Dask:
        """Texts and labels that are in one bag."""
        if not hasattr(X, "pluck"):
            raise TypeError(f"y must be given unless X is a bag, got {type(X).__name__}.")
        lazy = delayed(_split, nout=2)
        pairs = [lazy(part, names, number=i) for i, part in enumerate(_partitions_of("X", X))]
        texts, labels = ([pair[i] for pair in pairs] for i in (0, 1))
        return cls(texts, labels, [None] * len(pairs))

    def tally(self, job: Job) -> LabelCounts | None:
        """Labels of all partitions; no row of X is read."""
        tasks = _tasks("labels", Job.tally, job, list(zip(self.y, self.weight, strict=True)))
        found: LabelCounts | None = _tree("labels", partitions.together, tasks).compute()
        return found

    def columns(self, job: Job) -> Any:
        """The columns of the first partition that has rows; later ones are not read."""
        parts = [(part,) for part in self.X]
        for task in _tasks("columns", Job.columns, job, parts):
            known = task.compute()
            if known is not None:
                return known
        return None

    def documents(self, job: Job) -> Any:
        """Document counts of all partitions; only the sum comes here."""
        tasks = _tasks("count", Job.count, job, list(zip(*self, strict=True)))
        return _tree("documents", partitions.counted, tasks).compute()

    def total(self, job: Job) -> ShardStates | None:
        """What all partitions have learnt: each sends the features that it has moved, once."""
        tasks = _tasks("learn", Job.state, job, list(zip(*self, strict=True)))
        gather = delayed(partitions.gathered)
        found = gather(tasks, dask_key_name=f"surelearn-states-{uuid4().hex}").compute()
        state: ShardStates | None = found
        return state


def _tasks(
    name: str, work: Callable[..., Any], job: Job, rows: Sequence[tuple[Any, ...]]
) -> list[Delayed]:
    """One task for each partition."""
    token = uuid4().hex
    shared = _once(job)
    lazy = delayed(work, pure=False)
    return [
        lazy(shared, *part, number=i, dask_key_name=f"surelearn-{name}-{token}-{i}")
        for i, part in enumerate(rows)
    ]


def _tree(name: str, add: Callable[[list[Any]], Any], tasks: list[Delayed]) -> Delayed:
    """All of them as one, `_FAN_IN` at a time."""
    token, level = uuid4().hex, 0
    while level == 0 or len(tasks) > 1:
        groups = [tasks[i : i + _FAN_IN] for i in range(0, len(tasks), _FAN_IN)]
        key = f"surelearn-{name}-{token}-{level}"
        tasks = [delayed(add)(g, dask_key_name=f"{key}-{i}") for i, g in enumerate(groups)]
        level += 1
    return tasks[0]


def _once(value: Any) -> Any:
    """A value that is in the graph once, for all tasks; it is not lost when a worker is."""
    return delayed(value, name=f"surelearn-model-{uuid4().hex}", traverse=False)


# --------------------------------------------------------------------- collections


def _partitions_of(name: str, value: Any) -> list[Delayed]:
    """The partitions of a collection."""
    if isinstance(value, dask.array.Array):
        if any(n != 1 for n in value.numblocks[1:]):
            raise ValueError(
                f"{name} must have one block of columns, got {value.numblocks[1]}. "
                f"Use {name}.rechunk({{1: -1}})."
            )
        return list(value.to_delayed().ravel())
    _check_collection(name, value)
    return list(value.to_delayed())


def _check_collection(name: str, value: Any) -> None:
    if not hasattr(value, "to_delayed"):
        raise TypeError(
            f"{name} must be a Dask array, dataframe, series or bag, got {type(value).__name__}."
        )


def _check_partitions(name: str, got: int, expected: int) -> None:
    if got != expected:
        raise ValueError(f"{name} must have {expected} partitions as X has, got {got}.")


def _split(
    records: Any, names: tuple[str | None, str], *, number: int
) -> tuple[list[Any], list[Any]]:
    """Texts and labels of a partition of records."""
    listed = list(records)
    with named(number, partitions.PART):
        texts, labels = ([_field(record, names, i) for record in listed] for i in (0, 1))
    return texts, labels


def _field(record: Any, names: tuple[str | None, str], place: int) -> Any:
    """One value of a dict or a pair; without a name a dict of all others."""
    if isinstance(record, Mapping):
        if names[place] is None:
            return {name: value for name, value in record.items() if name not in names}
        if names[place] not in record:
            raise ValueError(f"records must have {names[place]!r}, got {sorted(record)}.")
        return record[names[place]]
    if not isinstance(record, Sequence) or isinstance(record, str) or len(record) != 2:
        raise TypeError(f"records must be (text, label) pairs or dicts, got {record!r}.")
    return record[place]


# ---------------------------------------------------------------------- prediction


class _Say(NamedTuple):
    """A method that is asked of every block."""

    method: str
    n_columns: int | None  # None: one value a row

    def of(self, X: Any, model: SureClassifier) -> NDArray[Any]:
        """What the model says of a block, which may be empty."""
        if len(X) if not hasattr(X, "shape") else X.shape[0]:
            said: NDArray[Any] = getattr(model, self.method)(X)
            return said
        columns = () if self.n_columns is None else (self.n_columns,)
        return np.zeros((0, *columns), dtype=self.dtype(model))

    def dtype(self, model: SureClassifier) -> np.dtype[Any]:
        return model.classes_.dtype if self.n_columns is None else np.dtype(np.float64)


def _by_block(model: SureClassifier, X: Any, say: _Say) -> Any:
    getattr(model, say.method)  # a model without probabilities says so now
    shared = _once(model)
    if isinstance(X, dask.array.Array):
        return _array(model, X, say, shared)
    if hasattr(X, "divisions"):
        meta = _label_frame(X._meta_nonempty.iloc[:0], model, say)
        return X.map_partitions(_label_frame, shared, say, meta=meta)
    _check_collection("X", X)
    return X.map_partitions(_label_list, shared, say)


def _array(model: SureClassifier, X: Any, say: _Say, shared: Delayed) -> Any:
    _partitions_of("X", X)
    columns = () if say.n_columns is None else ((say.n_columns,),)
    return X.map_blocks(
        _block,
        say=say,
        model=shared,
        dtype=say.dtype(model),
        chunks=(X.chunks[0], *columns),
        drop_axis=1 if X.ndim == 2 and not columns else None,
        new_axis=1 if X.ndim == 1 and columns else None,
        meta=np.zeros((0,) * (1 + len(columns)), dtype=say.dtype(model)),
    )


def _block(X: Any, *, say: _Say, model: SureClassifier) -> NDArray[Any]:
    return say.of(X, model)


def _label_frame(X: Any, model: SureClassifier, say: _Say) -> Any:
    """What is said of a frame or a column of it, under the same index."""
    import pandas

    said = say.of(X, model)
    if say.n_columns is None:
        return pandas.Series(said, index=X.index, name="prediction")
    return pandas.DataFrame(said, index=X.index, columns=model.classes_.tolist())


def _label_list(X: Any, model: SureClassifier, say: _Say) -> list[Any]:
    said = say.of(list(X), model)
    return said.tolist() if say.n_columns is None else list(said)
