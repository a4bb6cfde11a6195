"""Open a source for a model; by default it is read as the training data was."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from surelearn import _check
from surelearn.read import GROUP_FORMATS, Source, batches, formats_by_extension, groups, sentences
from surelearn.training.position import StreamPosition

#: Keywords that describe the file format, not the contents.
_WRITTEN = ("format", "delimiter", "quote", "encoding", "label_separator", "zero_based", "cross")


def opened(
    source: Any, reading: Mapping[str, Any], *, model: Any = None, columns: Sequence[str] = ()
) -> Source:
    """A source for `read.batches`; `columns` are keywords whose defaults come from the model."""
    known = {} if model is None else _as_learnt(model, reading, columns)
    if model is not None and not isinstance(source, Source):
        known |= _written_as_learnt(model, source, reading)
    return _opened_by(batches, source, reading, known, made_by="batches")


def opened_sentences(
    source: Any, reading: Mapping[str, Any], *, model: Any = None, labelled: bool = True
) -> Source:
    """A source for `read.sentences`; the default columns come from the model."""
    known = {} if model is None else _sentences_as_learnt(model, labelled)
    return _opened_by(sentences, source, reading, known, made_by="sentences")


def opened_groups(
    source: Any, reading: Mapping[str, Any], *, model: Any = None, labelled: bool = True
) -> Source:
    """A source for `read.groups`; it is read as the data that the model has learnt from was."""
    known: dict[str, Any] = {} if labelled else {"label": False}
    if model is not None:
        known["n_features"] = int(model.n_features_in_)
        if not isinstance(source, Source):
            known |= _written_as_learnt(model, source, reading, formats=GROUP_FORMATS)
    return _opened_by(groups, source, reading, known, made_by="groups")


def _opened_by(
    reader: Callable[..., Source],
    source: Any,
    reading: Mapping[str, Any],
    known: dict[str, Any],
    *,
    made_by: str,
) -> Source:
    if not isinstance(source, Source):
        return reader(source, **{**known, **reading})
    if reading:
        raise TypeError(f"a Source is opened already, got also {sorted(reading)}.")
    if source.made_by != made_by:
        raise TypeError(
            f"source must be made by read.{made_by}, got one made by read.{source.made_by}."
        )
    return source


def _sentences_as_learnt(model: Any, labelled: bool) -> dict[str, Any]:
    """Keywords for the columns of the training data."""
    known = _remembered(model)
    if labelled:
        return known
    columns = list(known.get("columns") or model.features_.columns or ())
    label = known.get("label")
    read = ["_" if name == label else name for name in columns]
    while read and read[-1] == "_":  # trailing columns that are not read may be absent
        read.pop()
    written = {"encoding": known["encoding"]} if "encoding" in known else {}
    return {"label": False, **written, **({"columns": read} if read else {})}


def _as_learnt(model: Any, reading: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    """Keywords for the columns, number of features and type of labels of the training data."""
    known: dict[str, Any] = {}
    learnt = _columns(model)
    _same_order(learnt.get("features", ()), reading.get("features") or ())
    for name, column in learnt.items():
        instead = {"text", "features"} if name in ("text", "features") else {name}
        if name in columns and not instead & reading.keys():
            known[name] = column
    if "label" in columns:
        known["label_type"] = _label_type(model.classes_.tolist())
    else:
        known["label"] = False
    if hasattr(model, "n_features_in_") and not hasattr(model, "vectorizer_"):
        # Sparse files do not tell the number of columns: use that of the training data.
        known["n_features"] = int(model.n_features_in_)
    return known


def _written_as_learnt(
    model: Any, source: Any, reading: Mapping[str, Any], **formats: Any
) -> dict[str, Any]:
    """Keywords for the file format: those of the training data, if the format is the same.

    A file name's extension takes precedence over the format of the training data.
    """
    known = {name: value for name, value in _remembered(model).items() if name in _WRITTEN}
    learnt = known.get("format")
    told = formats_by_extension(source, reading.get("filesystem"), **formats)
    named = {reading["format"]} if reading.get("format") else told - {None} or {learnt}
    if learnt is None or not told or named != {learnt}:
        return {}
    return known


def _columns(model: Any) -> dict[str, Any]:
    """The columns of the training data, as far as the model knows them."""
    if hasattr(model, "stream_"):
        return {name: x for name, x in _remembered(model).items() if name not in _WRITTEN}
    names = getattr(model, "feature_names_in_", None)
    return {} if names is None else {"features": names.tolist()}


def _remembered(model: Any) -> dict[str, Any]:
    return dict(model.stream_.columns) if hasattr(model, "stream_") else {}


def _label_type(classes: list[Any]) -> type | None:
    """The type of labels, for file formats that do not distinguish strings from numbers."""
    if not classes:
        return None
    return str if isinstance(classes[0], str) else int


def put_columns(merged: Any, fitted: Sequence[Any]) -> None:
    """Give a merged estimator the columns and delimiters that all its parts agree on."""
    read = [model.stream_.columns for model in fitted if hasattr(model, "stream_")]
    first, *others = read or [{}]
    agreed = {k: v for k, v in first.items() if all(other.get(k) == v for other in others)}
    if agreed:
        merged.stream_ = StreamPosition((), agreed, ended=True)


def _same_order(known: Sequence[str], given: Sequence[str]) -> None:
    """Refuse known columns in another order: weights belong to positions, not to names."""
    if list(given) != list(known) and sorted(given) == sorted(known):
        raise ValueError(
            f"features must be in the order of training, {_check.listing(known)}, got "
            f"{_check.listing(given)}."
        )
