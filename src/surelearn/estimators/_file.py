"""An estimator as one file and back; the container is `save`'s, the meaning is here.

A file is somebody else's bytes: everything in it is checked before anything is made of it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from surelearn import _check, constraints, rules, save
from surelearn._check import FormatError
from surelearn.decode import Code
from surelearn.estimators import _reduce
from surelearn.estimators._base import Linear
from surelearn.estimators._classifier import SureClassifier
from surelearn.estimators._model import Model, n_columns_of
from surelearn.estimators._plan import Plan
from surelearn.estimators._position import StreamPosition
from surelearn.estimators._text import SureTextClassifier
from surelearn.weights import Diagonal, Full, Layout

_KINDS: dict[str, type[Linear]] = {
    "SureClassifier": SureClassifier,
    "SureTextClassifier": SureTextClassifier,
}
#: Types of labels that a file can hold.
_LABELS = ("str", "object", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
           "uint64", "float32", "float64")  # fmt: skip


def write(estimator: Linear, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator; see docs/format.md."""
    check_is_fitted(estimator)
    model = estimator._model
    settings: dict[str, Any] = {
        "kind": type(estimator).__name__,
        "version": version("surelearn"),
        "params": {k: _plain(k, v) for k, v in _checked(estimator).items()},
        "layout": asdict(model.layout),
        "initial_variance": model.initial_variance,
        "projection": model.projection,
        "classes": _labels_out(model.classes),
        "counts": model.counts.tolist(),
        "mistakes": model.mistakes,
        "updates": model.updates,
    }
    if model.code is not None:
        settings["code"] = _code_out(model.code)
    if hasattr(estimator, "temperature_"):
        settings["temperature"] = estimator.temperature_
    if hasattr(estimator, "stream_"):
        settings["stream"] = estimator.stream_.plain()
    tensors: dict[str, NDArray[Any]] = {}
    if model.weights is not None:
        state = model.weights.state()
        settings["weights"] = {k: state[k] for k in ("n_columns", "prior", "rounds")}
        tensors = {name: state[name] for name in model.weights.arrays}
    if hasattr(estimator, "feature_names_in_"):
        tensors |= _names_out(estimator.feature_names_in_)
    if isinstance(estimator, SureTextClassifier):
        tensors |= _words_out(estimator)
    save.write(path, tensors, settings)


def _checked(estimator: Linear) -> dict[str, Any]:
    """Constructor parameters that a reader will accept, those of the model as it was learnt."""
    params = estimator.get_params(deep=False)
    plan = Plan.of(params)
    plan.check_fits(estimator._model)
    estimator._check_settings()
    if not isinstance(params["multiclass"], str | Code):  # a matrix can be changed in place
        params["multiclass"] = getattr(estimator._model.multiclass, "matrix", None)
    return params


def load(path: str | os.PathLike[str], *, max_bytes: int = 2**32) -> Any:
    """Read a model that `save` has written. Runs no code from the file.

    Parameters
    ----------
    path : str or path
    max_bytes : int, default 2**32
        A file that would need more memory, its own numbers included, is refused.

    Returns
    -------
    estimator
        The same estimator, bit for bit.

    Raises
    ------
    FormatError
        If the file is damaged, foreign or newer, or its rule is a function that is not registered
        here.
    """
    fields, tensors = save.read(path, max_bytes)
    budget = max_bytes - sum(tensor.nbytes for tensor in tensors.values())
    cls = _KINDS[fields.text("kind", list(_KINDS))]
    _rule_must_be_known(path, fields.object("params").get("rule"))
    try:
        estimator = cls(**_params(fields.object("params")))
        plan = Plan.of(estimator.get_params(deep=False))
        model = _model(fields, tensors, budget, multiclass=plan.multiclass)
        names = _names_in(tensors, model.layout.n_features)
        temperature = _temperature(fields)
        stream = StreamPosition.of(fields.inner("stream")) if fields.has("stream") else None
    except (TypeError, ValueError, LookupError, ArithmeticError, NotImplementedError) as error:
        raise FormatError(f"{path} must be a sound model, got a damaged one: {error}") from None
    if temperature is not None:
        estimator.temperature_ = temperature
    if stream is not None:
        estimator.stream_ = stream
    estimator._model = model
    estimator.n_features_in_ = model.layout.n_features
    if names is not None:
        estimator.feature_names_in_ = names
    if isinstance(estimator, SureTextClassifier):
        _take_words(estimator, tensors)
    return estimator


def _temperature(fields: save.Fields) -> float | None:
    if not fields.has("temperature"):
        return None
    return _check.number(
        "temperature", fields.number("temperature"), "[1e-5, 1e5)", low=1e-5, high=1e5
    )


def _rule_must_be_known(path: str | os.PathLike[str], rule: Any) -> None:
    """Refuse the name of a function that is not registered in this process."""
    name = rule.get("name") if isinstance(rule, dict) else rule
    if not isinstance(name, str):
        return  # damaged: said where the other parameters are
    try:
        rules.get(name)
    except ValueError:
        short = name[:60]
        raise FormatError(
            f"{path} must have a rule that is known here, got {short!r}. If it is a function of "
            f"yours, call surelearn.rules.register({short!r}, function) first."
        ) from None


def _plain(name: str, value: Any) -> Any:
    """A constructor parameter as JSON has it."""
    if name == "rule":
        return {**_rule_out(rules.get(value)), "by_name": isinstance(value, str)}
    if isinstance(value, constraints.Constraints):
        return {"name": value.name, "params": value.params()}
    if isinstance(value, Code):
        return _code_out(value)
    if name == "multiclass" and not isinstance(value, str):
        return np.asarray(value).tolist()
    if name in ("ngram_range", "stop_words") and not isinstance(value, str | None):
        return [_scalar(item) for item in value]
    if name == "cost" and value is not None:
        return np.asarray(value, dtype=np.float64).tolist()
    if name == "dtype":
        return np.dtype(value).name
    if name == "class_weight" and isinstance(value, Mapping):
        return {"pairs": [[_label(k), float(v)] for k, v in value.items()]}
    if name == "random_state" and not isinstance(value, int | np.integer):
        return None  # a generator's place in its sequence is no part of a model
    return _scalar(value)


def _code_out(code: Code) -> dict[str, Any]:
    return {"kind": code.kind, "matrix": code.matrix.tolist()}


def _code_in(plain: dict[str, Any]) -> Code:
    if plain.keys() != {"kind", "matrix"}:
        raise FormatError("a code must have a kind and a matrix.")
    return Code(plain["matrix"], plain["kind"])


def _rule_out(rule: rules.Rule) -> dict[str, Any]:
    if not isinstance(rule, rules.Custom):
        return {"name": rule.name, "params": rule.params()}
    if rule.registered_name is None:
        raise ValueError(
            f"rule must have a name to be saved, got {rule!r}. Call "
            "surelearn.rules.register(name, function) first."
        )
    return {"name": rule.registered_name, "params": {}}


def _rule_in(plain: dict[str, Any]) -> rules.Rule | str:
    """A name stays one while it still means what it meant; defaults may change."""
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


def _params(plain: Mapping[str, Any]) -> dict[str, Any]:
    params = dict(plain)
    rule, scheme, weight = params["rule"], params["constraints"], params["class_weight"]
    if isinstance(rule, dict):
        params["rule"] = _rule_in(rule)
    if isinstance(scheme, dict):
        params["constraints"] = constraints.SCHEMES[scheme["name"]](**scheme["params"])
    if "ngram_range" in params:
        params["ngram_range"] = tuple(params["ngram_range"])
    if isinstance(params.get("multiclass"), dict):
        params["multiclass"] = _code_in(params["multiclass"])
    if isinstance(weight, dict):
        params["class_weight"] = {label: float(x) for label, x in weight["pairs"]}
    return params


def _labels_out(classes: NDArray[Any]) -> dict[str, Any]:
    kind = "str" if classes.dtype.kind == "U" else classes.dtype.name
    values = classes.tolist()
    if kind not in _LABELS:
        raise TypeError(
            f"labels must be texts, numbers or booleans to be saved, got {values[0]!r}."
        )
    return {"kind": kind, "values": values}


def _labels_in(fields: save.Fields, budget: int) -> NDArray[Any]:
    kind = fields.text("kind", _LABELS)
    values = fields.list("values")
    text = kind in ("str", "object")
    if not all(isinstance(value, str if text else int | float) for value in values):
        raise FormatError(f"{fields.where}: values must all be of kind {kind!r}.")
    # An array of texts takes four bytes for each letter of the longest, for every text.
    longest = max((len(value) for value in values), default=0) if text else 2
    _within(4 * longest * len(values), budget, fields.where)
    classes = np.asarray(values, dtype=kind if len(values) else np.int64)
    if not np.array_equal(np.unique(_check.labels(classes)), classes):
        raise FormatError(f"{fields.where}: values must be sorted and distinct.")
    return classes


def _within(needed: int, budget: int, where: str) -> None:
    if needed > budget:
        raise FormatError(
            f"{where} must need at most {max(budget, 0)} bytes within max_bytes, got {needed}. "
            "Pass a larger max_bytes to load it."
        )


def _model(
    fields: save.Fields, tensors: save.Tensors, budget: int, *, multiclass: _reduce.Multiclass
) -> Model:
    layout = _layout(fields.inner("layout"))
    classes = _labels_in(fields.inner("classes"), budget)
    model = Model(
        layout,
        _check.prior(fields.number("initial_variance"), np.dtype(layout.dtype)),
        fields.text("projection", ["precision", "covariance"]),
        classes,
        weights=None,
        counts=np.asarray(_naturals(fields, "counts"), dtype=np.int64),
        mistakes=_naturals(fields, "mistakes"),
        updates=fields.integer("updates"),
        multiclass=multiclass,
        code=_code(fields, multiclass, len(classes)),
    )
    if len(model.counts) != len(classes):
        raise FormatError(f"{fields.where}: counts must have one entry for each class.")
    if len(classes) >= 2:
        model.weights = _weights(fields.inner("weights"), model, tensors, budget)
    return model


def _code(fields: save.Fields, multiclass: _reduce.Multiclass, n_classes: int) -> Code | None:
    """The code that the classes were learnt with: designs may differ from version to version."""
    code = _code_in(fields.object("code")) if fields.has("code") else None
    expected = "joint" if n_classes < 3 else getattr(multiclass, "kind", multiclass)
    if (expected == "joint") != (code is None):
        raise FormatError(f"{fields.where}: code must be there for three classes of a reduction.")
    fits = code is None or (code.kind == expected and code.n_classes == n_classes)
    if not fits or (code is not None and isinstance(multiclass, Code) and code != multiclass):
        raise FormatError(f"{fields.where}: code must fit multiclass and the classes.")
    return code


def _layout(fields: save.Fields) -> Layout:
    return Layout(
        n_features=fields.integer("n_features"),
        intercept=fields.flag("intercept"),
        second_order=fields.flag("second_order"),
        averaged=fields.flag("averaged"),
        dtype=fields.text("dtype", ["float32", "float64"]),
        covariance=fields.text("covariance", ["diagonal", "full"], default="diagonal"),
    )


def _naturals(fields: save.Fields, name: str) -> list[int]:
    values = fields.list(name)
    if not all(type(x) is int and 0 <= x < 2**62 for x in values):
        raise FormatError(f"{fields.where}: {name} must be whole numbers, not negative.")
    return values


def _weights(
    fields: save.Fields, model: Model, tensors: save.Tensors, budget: int
) -> Diagonal | Full:
    layout, K = model.layout, len(model.classes)
    n_columns = fields.integer("n_columns")
    if n_columns != n_columns_of(K, model.code):
        raise FormatError(f"{fields.where}: n_columns must fit {K} classes, got {n_columns}.")
    _within(layout.nbytes(n_columns), budget, fields.where)
    full = layout.covariance == "full"
    arrays = (_whole if full else _touched)(tensors, layout, n_columns)
    kind: type[Diagonal | Full] = Full if full else Diagonal
    prior = _check.prior(fields.number("prior"), np.dtype(layout.dtype))
    state = {"n_columns": n_columns, "prior": prior, "rounds": fields.integer("rounds")}
    return kind.from_state(
        {"layout": asdict(layout), **dict(zip(kind.arrays, arrays, strict=True)), **state}
    )


def _whole(
    tensors: save.Tensors, layout: Layout, n_columns: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Means and covariance of full weights, every number of them sound."""
    means, sigma = tensors["means"], tensors["sigma"]
    size = layout.n_rows * n_columns
    if means.dtype != layout.dtype or means.shape != (1 + layout.averaged, size):
        raise FormatError("means must have one number for each weight.")
    if sigma.dtype != layout.dtype or sigma.shape != (size, size) or not layout.second_order:
        raise FormatError("sigma must have one number for each pair of weights.")
    if not (np.isfinite(means).all() and np.isfinite(sigma).all()):
        raise FormatError("means and sigma must be finite.")
    if not ((np.diagonal(sigma) > 0).all() and np.array_equal(sigma, sigma.T)):
        raise FormatError("sigma must be symmetric with positive variances.")
    return np.ascontiguousarray(means), np.ascontiguousarray(sigma)


def _touched(
    tensors: save.Tensors, layout: Layout, n_columns: int
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The stored features of diagonal weights and their numbers, every one of them sound."""
    features, cells = tensors["features"], tensors["cells"]
    if features.dtype != np.int64 or features.ndim != 1:
        raise FormatError("features must be one row of 64-bit integers.")
    if cells.dtype != layout.dtype or cells.shape != (len(features), layout.parts * n_columns):
        raise FormatError("cells must have one run of numbers for each stored feature.")
    ascending = bool(np.all(features[1:] > features[:-1]))  # a difference could overflow
    if len(features) and not (ascending and features[0] >= 0 and features[-1] < layout.n_rows):
        raise FormatError("features must ascend and lie within the model.")
    variances = cells[:, n_columns : 2 * n_columns] if layout.second_order else cells[:, :0]
    if not (np.isfinite(cells).all() and (variances > 0).all()):
        raise FormatError("cells must hold finite means and positive variances.")
    return np.ascontiguousarray(features), np.ascontiguousarray(cells)


def _words_out(estimator: SureTextClassifier) -> dict[str, NDArray[Any]]:
    """The words of a text classifier: their places, they themselves, which of them clash."""
    if not estimator.vectorizer_.keep_names:
        return {}
    places, ends, words, shared = estimator.vectorizer_._words()
    text = np.frombuffer(words, dtype=np.uint8)
    return {"word_places": places, "word_ends": ends, "words": text, "word_clashes": shared}


def _take_words(estimator: SureTextClassifier, tensors: save.Tensors) -> None:
    """Make the vectorizer of a loaded text classifier, with the words of its file."""
    try:
        estimator._make_vectorizer()
        estimator.vectorizer_.fit([])
        _check.same("n_features", estimator._model.layout.n_features, estimator.n_features)
        if estimator.keep_names:
            names = ("word_places", "word_ends", "words", "word_clashes")
            estimator.vectorizer_._restore_words(*(tensors[name] for name in names))
    except (KeyError, TypeError, IndexError, ValueError) as error:
        raise FormatError(f"words must be texts, each with its place and end: {error}") from None


def _names_out(names: NDArray[Any]) -> dict[str, NDArray[Any]]:
    encoded = [str(name).encode("utf-8", "surrogatepass") for name in names]
    ends = np.cumsum([len(name) for name in encoded], dtype=np.int64)
    return {"names": np.frombuffer(b"".join(encoded), dtype=np.uint8), "name_ends": ends}


def _names_in(tensors: save.Tensors, n_features: int) -> NDArray[Any] | None:
    if "names" not in tensors:
        return None
    text, ends = tensors["names"], tensors["name_ends"]
    if ends.shape != (n_features,) or text.ndim != 1 or text.dtype != np.uint8:
        raise FormatError("names must be bytes, with an end for each feature.")
    starts = np.concatenate([np.zeros(1, np.int64), ends.astype(np.int64)])
    if not np.all(starts[1:] >= starts[:-1]) or starts[-1] != len(text):
        raise FormatError("name_ends must ascend to the end of names.")
    whole = text.tobytes()
    names = [
        whole[a:b].decode("utf-8", "surrogatepass") for a, b in zip(starts, ends, strict=False)
    ]
    return np.asarray(names, dtype=object)
