"""The parts of a model file: settings and tensors, checked before they are used."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, constraints, files, rules
from surelearn._check import FormatError
from surelearn.decode import LABELS, Code
from surelearn.learners import reductions
from surelearn.merging import Documents
from surelearn.units import ColumnScale, Units
from surelearn.weights import Diagonal, Full, Layout

#: Parameters that files of earlier versions lack, and what they were then.
_BEFORE: dict[str, dict[str, Any]] = {
    "SureClassifier": {"probability": "exact", "scale": False},
    "SureTextClassifier": {"idf": False, "probability": "exact"},
}

#: Types of labels that a file can hold.
_LABELS = ("str", "object", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
           "uint64", "float32", "float64")  # fmt: skip


def weights_out(weights: Diagonal | Full) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Settings and tensors of weights, taken as one consistent snapshot."""
    state = weights.state()
    settings = {k: state[k] for k in ("n_columns", "prior", "rounds")}
    return settings, {name: state[name] for name in weights.arrays}


def prior_out(model: Any) -> dict[str, Any]:
    """The settings of a model that all of its weights started from."""
    return {"initial_variance": model.initial_variance, "projection": model.projection}


def prior_in(fields: files.Fields, layout: Layout) -> tuple[float, str]:
    """The checked settings that all weights started from."""
    variance = _check.prior(fields.number("initial_variance"), np.dtype(layout.dtype))
    return variance, fields.text("projection", ["precision", "covariance"])


def temperature_in(fields: files.Fields) -> float | None:
    if not fields.has("temperature"):
        return None
    return _check.number(
        "temperature", fields.number("temperature"), "[1e-5, 1e5)", low=1e-5, high=1e5
    )


def rule_must_be_known(where: str, rule: Any) -> None:
    """Raise for the name of a function that is not registered in this process."""
    name = rule.get("name") if isinstance(rule, dict) else rule
    if not isinstance(name, str):
        return  # damaged: the check of all parameters reports it
    try:
        rules.get(name)
    except ValueError:
        short = name[:60]
        raise FormatError(
            f"{where} must have a rule that is known here, got {short!r}. If it is a function of "
            f"yours, call surelearn.rules.register({short!r}, function) first."
        ) from None


#: Tensors of the scale of columns.
_SCALE = ("scale_counts", "scale_means", "scale_squares", "scale_centres", "scale_factors")

#: Parameters that belong to a machine and not to a model; files of 0.1.0 have them.
_OF_THE_MACHINE = ("n_jobs",)


def plain(name: str, value: Any) -> Any:
    """A constructor parameter as a plain JSON value."""
    return _WRITERS.get(name, _scalar)(value)


def _constraints_out(value: Any) -> Any:
    if isinstance(value, constraints.Constraints):
        return {"name": value.name, "params": value.params()}
    return _scalar(value)


def _multiclass_out(value: Any) -> Any:
    if isinstance(value, str):
        return _scalar(value)
    return code_out(value) if isinstance(value, Code) else np.asarray(value).tolist()


def _list_out(value: Any) -> Any:
    listed = not isinstance(value, str | None)
    return [_scalar(item) for item in value] if listed else _scalar(value)


def _cost_out(value: Any) -> Any:
    return None if value is None else np.asarray(value, dtype=np.float64).tolist()


def _class_weight_out(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {"pairs": [[_label(k), float(v)] for k, v in value.items()]}
    return _scalar(value)


def _random_state_out(value: Any) -> Any:
    """A seed; the state of a random generator is not part of a model."""
    return _scalar(value) if isinstance(value, int | np.integer) else None


def code_out(code: Code) -> dict[str, Any]:
    return {"kind": code.kind, "matrix": code.matrix.tolist()}


def code_in(plain: dict[str, Any]) -> Code:
    if plain.keys() != {"kind", "matrix"}:
        raise ValueError("a code must have a kind and a matrix.")
    return Code(plain["matrix"], plain["kind"])


def class_code_in(
    fields: files.Fields, multiclass: reductions.Multiclass, n_classes: int
) -> Code | None:
    """The code of the classes; it is stored, since another version may build another code."""
    code = code_in(fields.object("code")) if fields.has("code") else None
    expected = "joint" if n_classes < 3 else getattr(multiclass, "kind", multiclass)
    expected = "joint" if multiclass == LABELS else expected
    if (expected == "joint") != (code is None):
        raise FormatError(f"{fields.where}: code must be there for three classes of a reduction.")
    fits = code is None or (code.kind == expected and code.n_classes == n_classes)
    if not fits or (code is not None and isinstance(multiclass, Code) and code != multiclass):
        raise FormatError(f"{fields.where}: code must fit multiclass and the classes.")
    return code


def label_settings_in(fields: files.Fields, n_labels: int) -> tuple[str, list[float] | None]:
    """The form of many labels per row, and their thresholds if these were chosen."""
    form = fields.text("form", ["dense", "sparse", "lists"])
    if not fields.has("thresholds"):
        return form, None
    values = fields.list("thresholds")
    sound = [type(x) in (int, float) and math.isfinite(x) for x in values]
    if len(values) != n_labels or not all(sound):
        raise FormatError(f"{fields.where}: thresholds must be a finite number for each label.")
    return form, [float(x) for x in values]


def _rule_out(given: Any) -> dict[str, Any]:
    return {**_rule_settings(rules.get(given)), "by_name": isinstance(given, str)}


def _rule_settings(rule: rules.Rule) -> dict[str, Any]:
    if not isinstance(rule, rules.Custom):
        return {"name": rule.name, "params": rule.params()}
    if rule.registered_name is None:
        raise ValueError(
            f"rule must have a name to be saved, got {rule!r}. Call "
            "surelearn.rules.register(name, function) first."
        )
    return {"name": rule.registered_name, "params": {}}


def _rule_in(plain: dict[str, Any]) -> rules.Rule | str:
    """The rule; its name if it was given by name and the defaults have not changed since."""
    rule = rules.get(plain["name"])
    saved = rule.replace(**plain["params"])
    by_name = plain.get("by_name", False)
    return str(plain["name"]) if by_name is True and saved == rule else saved


def _label(value: Any) -> Any:
    if _check.kind_of(value) not in ("str", "int", "float", "bool"):
        raise TypeError(f"class_weight must have labels as keys to be saved, got {value!r}.")
    return _scalar(value)


def _scalar(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


#: How to write parameters that are not always plain values.
_WRITERS: dict[str, Callable[[Any], Any]] = {
    "class_weight": _class_weight_out,
    "columns": _list_out,
    "constraints": _constraints_out,
    "cost": _cost_out,
    "dtype": lambda value: np.dtype(value).name,
    "multiclass": _multiclass_out,
    "ngram_range": _list_out,
    "random_state": _random_state_out,
    "rule": _rule_out,
    "stop_words": _list_out,
    "templates": _list_out,
}


def params_out(params: Mapping[str, Any]) -> dict[str, Any]:
    """Constructor parameters as plain JSON values, without those that are no part of a model."""
    return {k: plain(k, v) for k, v in params.items() if k not in _OF_THE_MACHINE}


def params_in(plain: Mapping[str, Any], kind: str = "") -> dict[str, Any]:
    """Constructor parameters of an estimator of this kind."""
    params = _BEFORE.get(kind, {}) | dict(plain)
    for name in _OF_THE_MACHINE:
        params.pop(name, None)
    rule, scheme, weight = (params.get(k) for k in ("rule", "constraints", "class_weight"))
    if isinstance(rule, dict):
        params["rule"] = _rule_in(rule)
    if isinstance(scheme, dict):
        params["constraints"] = constraints.SCHEMES[scheme["name"]](**scheme["params"])
    if "ngram_range" in params:
        params["ngram_range"] = tuple(params["ngram_range"])
    if isinstance(params.get("multiclass"), dict):
        params["multiclass"] = code_in(params["multiclass"])
    if isinstance(weight, dict):
        params["class_weight"] = {_label(label): float(x) for label, x in weight["pairs"]}
    return params


def labels_out(classes: NDArray[Any]) -> dict[str, Any]:
    kind = "str" if classes.dtype.kind == "U" else classes.dtype.name
    values = classes.tolist()
    if kind not in _LABELS:
        raise TypeError(
            f"labels must be texts, numbers or booleans to be saved, got {values[0]!r}."
        )
    return {"kind": kind, "values": values}


def labels_in(fields: files.Fields, budget: int) -> NDArray[Any]:
    kind = fields.text("kind", _LABELS)
    values = fields.list("values")
    text = kind in ("str", "object")
    if not all(isinstance(value, str if text else int | float) for value in values):
        raise FormatError(f"{fields.where}: values must all be of kind {kind!r}.")
    # NumPy stores each string with four bytes per letter of the longest one.
    longest = max((len(value) for value in values), default=0) if text else 2
    within(4 * longest * len(values), budget, fields.where)
    classes = np.asarray(values, dtype=kind if len(values) else np.int64)
    if not np.array_equal(np.unique(_check.labels(classes)), classes):
        raise FormatError(f"{fields.where}: values must be sorted and distinct.")
    return classes


def within(needed: int, budget: int, where: str) -> None:
    if needed > budget:
        raise FormatError(
            f"{where} must need at most {max(budget, 0)} bytes within max_bytes, got {needed}. "
            "Pass a larger max_bytes to load it."
        )


def layout_in(fields: files.Fields) -> Layout:
    return Layout(
        n_features=fields.integer("n_features"),
        intercept=fields.flag("intercept"),
        second_order=fields.flag("second_order"),
        averaged=fields.flag("averaged"),
        dtype=fields.text("dtype", ["float32", "float64"]),
        covariance=fields.text("covariance", ["diagonal", "full"], default="diagonal"),
    )


def whole(
    tensors: files.Tensors, layout: Layout, n_columns: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The checked means and covariance of full weights."""
    means, sigma = tensors["means"], tensors["sigma"]
    size = layout.n_rows * n_columns
    if means.dtype != layout.dtype or means.shape != (1 + layout.averaged, size):
        raise ValueError("means must have one number for each weight.")
    if sigma.dtype != layout.dtype or sigma.shape != (size, size) or not layout.second_order:
        raise ValueError("sigma must have one number for each pair of weights.")
    if not (np.isfinite(means).all() and np.isfinite(sigma).all()):
        raise ValueError("means and sigma must be finite.")
    if not ((np.diagonal(sigma) > 0).all() and np.array_equal(sigma, sigma.T)):
        raise ValueError("sigma must be symmetric with positive variances.")
    return np.ascontiguousarray(means), np.ascontiguousarray(sigma)


def diagonal_in(
    fields: files.Fields, tensors: files.Tensors, layout: Layout, *, n_columns: int, budget: int
) -> Diagonal:
    """The checked weights of a model of structures."""
    if fields.integer("n_columns") != n_columns:
        raise FormatError(f"{fields.where}: n_columns must be {n_columns} for this model.")
    within(layout.nbytes(n_columns), budget, fields.where)
    features, cells = touched(tensors, layout, n_columns)
    return Diagonal.from_state(
        {
            "layout": asdict(layout),
            "n_columns": n_columns,
            "prior": _check.prior(fields.number("prior"), np.dtype(layout.dtype)),
            "rounds": fields.integer("rounds"),
            "features": features,
            "cells": cells,
        }
    )


def touched(
    tensors: files.Tensors, layout: Layout, n_columns: int
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The checked features and cells of diagonal weights."""
    features, cells = tensors["features"], tensors["cells"]
    if features.dtype != np.int64 or features.ndim != 1:
        raise ValueError("features must be one row of 64-bit integers.")
    if cells.dtype != layout.dtype or cells.shape != (len(features), layout.parts * n_columns):
        raise ValueError("cells must have one run of numbers for each stored feature.")
    ascending = bool(np.all(features[1:] > features[:-1]))  # np.diff could overflow
    if len(features) and not (ascending and features[0] >= 0 and features[-1] < layout.n_rows):
        raise ValueError("features must ascend and lie within the model.")
    variances = cells[:, n_columns : 2 * n_columns] if layout.second_order else cells[:, :0]
    if not (np.isfinite(cells).all() and (variances > 0).all()):
        raise ValueError("cells must hold finite means and positive variances.")
    return np.ascontiguousarray(features), np.ascontiguousarray(cells)


def scale_out(scale: ColumnScale, units: Units) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Settings and tensors of the scale of columns; `units` are those of the weights."""
    names = ("centred", "whole", "n_rows", "due", "growth")
    settings = {name: getattr(scale, name) for name in names}
    arrays = (scale.n, scale.mean, scale.square, units.centre, units.factor)
    return settings, dict(zip(_SCALE, arrays, strict=True))


def scale_in(fields: files.Fields, tensors: files.Tensors, n_features: int) -> ColumnScale:
    """The checked scale of columns."""
    arrays = [np.ascontiguousarray(tensors[name]) for name in _SCALE]
    length, whole = arrays[0].shape, fields.flag("whole")
    for name, array in zip(_SCALE, arrays, strict=True):
        if array.dtype != np.float64 or array.shape != length or array.ndim != 1:
            raise ValueError(f"{name} must have one number for each scaled column.")
        signed = name in ("scale_means", "scale_centres")
        if not (np.isfinite(array).all() and (signed or (array >= 0).all())):
            raise ValueError(f"{name} must be finite and not negative.")
    if length[0] > n_features or (whole and length[0] != n_features):
        raise ValueError(f"scale must have at most {n_features} columns, got {length[0]}.")
    n_rows, due, growth = map(fields.integer, ("n_rows", "due", "growth"))
    if not growth:
        raise FormatError(f"{fields.where}: growth must be at least 1, got 0.")
    n, mean, square, centre, factor = arrays
    units, centred = Units(centre, factor, whole), fields.flag("centred")
    return ColumnScale(n, mean, square, centred, whole, units, n_rows, due, growth)


def documents_out(documents: Documents) -> dict[str, NDArray[Any]]:
    """The tensors of document counts."""
    return {"document_places": documents.features, "document_counts": documents.counts}


def documents_in(fields: files.Fields, tensors: files.Tensors, n_features: int) -> Documents:
    """The checked document counts."""
    n = fields.integer("documents", high=2**32 - 1)
    places, counts = tensors["document_places"], tensors["document_counts"]
    return Documents.of(n, places, counts, n_features=n_features)


def names_out(estimator: Any) -> dict[str, NDArray[Any]]:
    """The tensors of the names of the columns, where there are any."""
    if not hasattr(estimator, "feature_names_in_"):
        return {}
    names = estimator.feature_names_in_
    encoded = [str(name).encode("utf-8", "surrogatepass") for name in names]
    ends = np.cumsum([len(name) for name in encoded], dtype=np.int64)
    return {"names": np.frombuffer(b"".join(encoded), dtype=np.uint8), "name_ends": ends}


def names_in(tensors: files.Tensors, n_features: int) -> NDArray[Any] | None:
    """The checked names of the columns, if there are any."""
    if "names" not in tensors:
        return None
    text, ends = tensors["names"], tensors["name_ends"]
    if ends.shape != (n_features,) or text.ndim != 1 or text.dtype != np.uint8:
        raise ValueError("names must be bytes, with an end for each feature.")
    starts = np.concatenate([np.zeros(1, np.int64), ends.astype(np.int64)])
    if not np.all(starts[1:] >= starts[:-1]) or starts[-1] != len(text):
        raise ValueError("name_ends must ascend to the end of names.")
    whole = text.tobytes()
    names = [
        whole[a:b].decode("utf-8", "surrogatepass") for a, b in zip(starts, ends, strict=False)
    ]
    return np.asarray(names, dtype=object)


def put_names(estimator: Any, names: NDArray[Any] | None) -> None:
    """Give an estimator the names of its columns, if there are any."""
    if names is not None:
        estimator.feature_names_in_ = names
