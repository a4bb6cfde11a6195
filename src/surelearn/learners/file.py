"""Save an estimator to one file and load it; `files` defines the container, this the contents.

A file is untrusted input: all of it is checked before it is used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, files
from surelearn._check import FormatError
from surelearn.decode import LABELS, Code
from surelearn.learners import reductions
from surelearn.learners.answers.classifier import put_temperature, temperature_out
from surelearn.learners.answers.linear import (
    Linear,
    check_settings,
    documents_of,
    put_rows_model,
    words_of,
)
from surelearn.learners.answers.many_labels import label_settings, put_label_settings
from surelearn.learners.base import settings_of
from surelearn.learners.batch import BatchEstimator, put_solution, solution_out
from surelearn.learners.feature_names import SIZE
from surelearn.learners.file_parts import (
    class_code_in,
    code_out,
    documents_in,
    documents_out,
    label_settings_in,
    labels_in,
    labels_out,
    layout_in,
    names_in,
    names_out,
    params_in,
    params_out,
    rule_must_be_known,
    temperature_in,
    touched,
    weights_out,
    whole,
    within,
)
from surelearn.learners.tasks.rows import RowModel
from surelearn.learners.text_classifier import SureTextClassifier, vectorizer_params
from surelearn.merging import Documents, Words
from surelearn.training.position import StreamPosition
from surelearn.weights import Diagonal, Full


def write(estimator: Any, path: files.File) -> None:
    """Write a fitted estimator; see docs/format.md."""
    check_saveable(estimator)
    files.save(type(estimator).__name__, estimator, path)


def check_saveable(estimator: Any) -> None:
    """Refuse a subclass of a user: a file stores the name of a class of this package."""
    kind = type(estimator)
    is_own = kind.__name__ in _NAMES and kind.__module__.split(".")[0] == "surelearn"
    _check.own_class(kind.__name__, is_own=is_own)


def _packed(estimator: Any) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Settings and tensors of an estimator."""
    kind = _ESTIMATORS[type(estimator).__name__][1]()
    more, tensors = kind.out(estimator)
    params, model = kind.params(estimator), estimator.model_
    settings: dict[str, Any] = {
        "params": params_out(params),
        "layout": asdict(model.layout),
        "initial_variance": model.initial_variance,
        "projection": model.projection,
        "mistakes": model.mistakes,
        "updates": model.updates,
    }
    settings |= temperature_out(estimator)
    if isinstance(estimator, BatchEstimator):
        settings["solution"] = solution_out(estimator)
    if hasattr(estimator, "stream_"):
        settings["stream"] = estimator.stream_.plain()
    return settings | more, tensors


def _classifier_out(estimator: Linear) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The settings and tensors of a classifier that a tagger does not have."""
    model = estimator.model_
    settings: dict[str, Any] = {
        "classes": labels_out(model.classes),
        "counts": model.counts.tolist(),
    }
    tensors: dict[str, NDArray[Any]] = {}
    if model.many_labels:
        settings["labels"] = label_settings(estimator)
    if model.code is not None:
        settings["code"] = code_out(model.code)
    if model.weights is not None:
        settings["weights"], tensors = weights_out(model.weights)
    documents = documents_of(estimator)
    if documents is not None:
        settings["documents"] = documents.n
        tensors |= documents_out(documents)
    return settings, tensors | names_out(estimator) | _words_out(estimator)


def _classifier_params(estimator: Linear) -> dict[str, Any]:
    """Constructor parameters that a reader will accept, as they were when the model was trained."""
    params: dict[str, Any] = estimator.get_params(deep=False)
    settings_of(estimator).check_fits(estimator.model_)
    check_settings(estimator)
    if not isinstance(params.get("multiclass", ""), str | Code):  # it can be changed in place
        params["multiclass"] = getattr(estimator.model_.multiclass, "matrix", None)
    return params


def load(path: files.File, *, max_bytes: int = 2**32) -> Any:
    """Load a model written by `save`. Loading runs no code from the file.

    Parameters
    ----------
    path : str, path or binary file
        An open file, such as ``open(name, "rb")`` or `io.BytesIO`, is read from its current
        position to the end of the model, and stays open.
    max_bytes : int, default 2**32
        Limit of the memory for the model and the contents of the file; more raises FormatError.

    Returns
    -------
    estimator
        The same estimator, bit for bit.

    Raises
    ------
    FormatError
        If the file is damaged, of another format or of a newer version, or if its rule is a
        function that is not registered here.

    Examples
    --------
    >>> import io
    >>> from surelearn import SureClassifier, load
    >>> file = io.BytesIO()
    >>> SureClassifier().fit([[0.0, 1.0], [1.0, 0.0]], ["no", "yes"]).save(file)
    >>> load(io.BytesIO(file.getvalue())).predict([[3.0, 1.0]])
    array(['yes'], dtype='<U3')
    """
    return files.load(path, max_bytes=max_bytes)


def class_named(name: str) -> Any:
    """The class of an estimator in a file."""
    return getattr(import_module(f"surelearn.learners.{_ESTIMATORS[name][0]}"), name)


def _unpacked(name: str, fields: files.Fields, tensors: files.Tensors, budget: int) -> Any:
    """The estimator of a file."""
    rule_must_be_known(fields.where, fields.object("params").get("rule"))
    estimator = class_named(name)(**params_in(fields.object("params"), name))
    _ESTIMATORS[name][1]().take(estimator, fields, tensors, budget)
    temperature = temperature_in(fields)
    if temperature is not None:
        followed = fields.has("temperature_precision")
        precision = fields.number("temperature_precision") if followed else None
        put_temperature(estimator, temperature, precision)
    if isinstance(estimator, BatchEstimator):
        put_solution(estimator, fields.inner("solution"))
    if fields.has("stream"):
        estimator.stream_ = StreamPosition.of(fields.inner("stream"))
    return estimator


def _take_classifier(
    estimator: Linear, fields: files.Fields, tensors: files.Tensors, budget: int
) -> None:
    """Put the model of a file in a new classifier."""
    settings = settings_of(estimator)
    many = settings.takes_many_labels and fields.has("labels")
    how = LABELS if many else settings.multiclass
    model = _model(fields, tensors, budget, multiclass=how)
    settings.check_fits(model)
    if many:
        form, thresholds = label_settings_in(fields.inner("labels"), len(model.classes))
        put_label_settings(estimator, form, thresholds, model.classes)
    names = names_in(tensors, model.layout.n_features)
    words = _words_in(estimator, model, tensors)
    put_rows_model(estimator, model, words, _documents_in(estimator, fields, tensors))
    if names is not None:
        estimator.feature_names_in_ = names


def _model(
    fields: files.Fields, tensors: files.Tensors, budget: int, *, multiclass: reductions.Multiclass
) -> RowModel:
    layout = layout_in(fields.inner("layout"))
    classes = labels_in(fields.inner("classes"), budget)
    model = RowModel(
        layout,
        _check.prior(fields.number("initial_variance"), np.dtype(layout.dtype)),
        fields.text("projection", ["precision", "covariance"]),
        classes,
        weights=None,
        counts=np.asarray(fields.naturals("counts", len(classes)), dtype=np.int64),
        mistakes=fields.naturals("mistakes"),
        updates=fields.integer("updates"),
        multiclass=multiclass,
        code=class_code_in(fields, multiclass, len(classes)),
    )
    if reductions.n_columns_of(multiclass, len(classes), model.code):
        model.weights = _weights(fields.inner("weights"), model, tensors, budget)
    return model


def _weights(
    fields: files.Fields, model: RowModel, tensors: files.Tensors, budget: int
) -> Diagonal | Full:
    layout, K = model.layout, len(model.classes)
    n_columns = fields.integer("n_columns")
    if n_columns != reductions.n_columns_of(model.multiclass, K, model.code):
        raise FormatError(f"{fields.where}: n_columns must fit {K} classes, got {n_columns}.")
    within(layout.nbytes(n_columns), budget, fields.where)
    full = layout.covariance == "full"
    arrays = (whole if full else touched)(tensors, layout, n_columns)
    kind: type[Diagonal | Full] = Full if full else Diagonal
    prior = _check.prior(fields.number("prior"), np.dtype(layout.dtype))
    state = {"n_columns": n_columns, "prior": prior, "rounds": fields.integer("rounds")}
    return kind.from_state(
        {"layout": asdict(layout), **dict(zip(kind.arrays, arrays, strict=True)), **state}
    )


class _Kind(NamedTuple):
    """What the files of one kind of estimators hold that others do not."""

    out: Callable[[Any], tuple[dict[str, Any], dict[str, NDArray[Any]]]]  # settings, tensors
    params: Callable[[Any], dict[str, Any]]  # constructor parameters that a reader will accept
    take: Callable[[Any, files.Fields, files.Tensors, int], None]  # put a file's model in one


def _classifier_kind() -> _Kind:
    return _Kind(_classifier_out, _classifier_params, _take_classifier)


def _graph_kind() -> _Kind:
    from surelearn.learners.graph_file import graph_out, graph_params, take_graphs

    return _Kind(graph_out, graph_params, take_graphs)


def _ranker_kind() -> _Kind:
    from surelearn.learners.rank_file import ranker_out, ranker_params, take_ranker

    return _Kind(ranker_out, ranker_params, take_ranker)


def _tagger_kind() -> _Kind:
    from surelearn.learners.tagger_file import tagger_out, tagger_params, take_tagger

    return _Kind(tagger_out, tagger_params, take_tagger)


#: The module of each estimator and its kind, imported when a file needs them: a command that reads
#: one model must not wait for the code of all.
_ESTIMATORS: dict[str, tuple[str, Callable[[], _Kind]]] = {
    "CRFTagger": ("crf_tagger", _tagger_kind),
    "GraphCRF": ("graph_crf", _graph_kind),
    "GraphSVM": ("graph_svm", _graph_kind),
    "MulticlassSVM": ("multiclass_svm", _classifier_kind),
    "SVMTagger": ("svm_tagger", _tagger_kind),
    "SoftmaxClassifier": ("softmax", _classifier_kind),
    "SureClassifier": ("classifier", _classifier_kind),
    "SureGraphClassifier": ("graph_classifier", _graph_kind),
    "SureRanker": ("ranker", _ranker_kind),
    "SureTagger": ("tagger", _tagger_kind),
    "SureTextClassifier": ("text_classifier", _classifier_kind),
}
for _name in _ESTIMATORS:
    files.register(_name, files.Codec(_packed, partial(_unpacked, _name)))


def _kernel_packed(estimator: Any) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    from surelearn.learners.kernel_file import kernel_packed

    return kernel_packed(estimator)


def _kernel_unpacked(fields: files.Fields, tensors: files.Tensors, budget: int) -> Any:
    from surelearn.learners.kernel_file import kernel_unpacked

    return kernel_unpacked(fields, tensors, budget)


files.register("SureKernelClassifier", files.Codec(_kernel_packed, _kernel_unpacked))

#: The estimators that can be saved.
_NAMES = frozenset([*_ESTIMATORS, "SureKernelClassifier"])


#: Tensors of the words of a text classifier, or of the names in dicts.
_WORDS = ("word_places", "word_ends", "words", "word_clashes")


def _words_out(estimator: Linear) -> dict[str, NDArray[Any]]:
    """The words of the features: their numbers, the words, and which of them share a feature."""
    words = words_of(estimator)
    if words is None:
        return {}
    places, ends, text, shared = words
    letters = np.frombuffer(text, dtype=np.uint8)
    return dict(zip(_WORDS, (places, ends, letters, shared), strict=True))


def _words_in(estimator: Linear, model: RowModel, tensors: files.Tensors) -> Words | None:
    """The words of a text classifier, or the names in dicts if rows were dicts."""
    if isinstance(estimator, SureTextClassifier):
        size = vectorizer_params(estimator)["n_features"]
        _check.same("n_features", model.layout.n_features, size)
        has_words = estimator.keep_names
    else:
        has_words = _WORDS[0] in tensors
        if has_words:
            _check.n_features(SIZE, model.layout.n_features, "names")
    return Words.of(*(tensors[name] for name in _WORDS)) if has_words else None


def _documents_in(
    estimator: Linear, fields: files.Fields, tensors: files.Tensors
) -> Documents | None:
    """The documents that a text classifier has counted, if it weighs words by them."""
    if not isinstance(estimator, SureTextClassifier) or not estimator.idf:
        return None
    return documents_in(fields, tensors, vectorizer_params(estimator)["n_features"])
