"""Save an estimator to one file and load it; `files` defines the container, this the contents.

A file is untrusted input: all of it is checked before it is used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from surelearn import _check, files
from surelearn._check import FormatError
from surelearn.decode import LABELS, Code
from surelearn.estimators.batch import BatchEstimator, put_solution, solution_out
from surelearn.estimators.classifier import SureClassifier
from surelearn.estimators.crf_tagger import CRFTagger
from surelearn.estimators.feature_names import SIZE
from surelearn.estimators.file_parts import (
    class_code_in,
    code_out,
    label_settings_in,
    labels_in,
    labels_out,
    layout_in,
    names_in,
    names_out,
    params_in,
    plain,
    rule_must_be_known,
    temperature_in,
    touched,
    weights_out,
    whole,
    within,
)
from surelearn.estimators.graph_answers import GraphAnswers
from surelearn.estimators.graph_classifier import SureGraphClassifier
from surelearn.estimators.graph_crf import GraphCRF
from surelearn.estimators.graph_file import graph_out, graph_params, take_graphs
from surelearn.estimators.graph_svm import GraphSVM
from surelearn.estimators.kernel_classifier import SureKernelClassifier
from surelearn.estimators.kernel_file import kernel_packed, kernel_unpacked
from surelearn.estimators.linear import check_settings
from surelearn.estimators.many_labels import ManyLabels, label_settings, put_label_settings
from surelearn.estimators.multiclass_svm import MulticlassSVM
from surelearn.estimators.rank_file import ranker_out, ranker_params, take_ranker
from surelearn.estimators.ranker import SureRanker
from surelearn.estimators.row_input import (
    RowInput,
    classifier_settings,
    put_rows_model,
    words_of,
)
from surelearn.estimators.softmax import SoftmaxClassifier
from surelearn.estimators.svm_tagger import SVMTagger
from surelearn.estimators.tagger import SureTagger
from surelearn.estimators.tagger_answers import Tagger
from surelearn.estimators.tagger_file import tagger_out, tagger_params, take_tagger
from surelearn.estimators.text_classifier import SureTextClassifier
from surelearn.merging import Words
from surelearn.models import reductions
from surelearn.models.position import StreamPosition
from surelearn.models.rows import RowModel
from surelearn.weights import Diagonal, Full


def write(estimator: Any, path: files.File) -> None:
    """Write a fitted estimator; see docs/format.md."""
    check_is_fitted(estimator)
    files.save(type(estimator).__name__, estimator, path)


def _packed(estimator: Any) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Settings and tensors of an estimator."""
    kind = _kind(type(estimator))
    more, tensors = kind.out(estimator)
    params, model = kind.params(estimator), estimator.model_
    settings: dict[str, Any] = {
        "params": {k: plain(k, v) for k, v in params.items()},
        "layout": asdict(model.layout),
        "initial_variance": model.initial_variance,
        "projection": model.projection,
        "mistakes": model.mistakes,
        "updates": model.updates,
    }
    if hasattr(estimator, "temperature_"):
        settings["temperature"] = estimator.temperature_
    if isinstance(estimator, BatchEstimator):
        settings["solution"] = solution_out(estimator)
    if hasattr(estimator, "stream_"):
        settings["stream"] = estimator.stream_.plain()
    return settings | more, tensors


def _classifier_out(estimator: RowInput) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
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
    return settings, tensors | names_out(estimator) | _words_out(estimator)


def _classifier_params(estimator: RowInput) -> dict[str, Any]:
    """Constructor parameters that a reader will accept, as they were when the model was trained."""
    params: dict[str, Any] = estimator.get_params(deep=False)
    classifier_settings(estimator).check_fits(estimator.model_)
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


def _unpacked(cls: type[Any], fields: files.Fields, tensors: files.Tensors, budget: int) -> Any:
    """The estimator of a file."""
    rule_must_be_known(fields.where, fields.object("params").get("rule"))
    estimator = cls(**params_in(fields.object("params")))
    _kind(cls).take(estimator, fields, tensors, budget)
    temperature = temperature_in(fields)
    if temperature is not None:
        estimator.temperature_ = temperature
    if isinstance(estimator, BatchEstimator):
        put_solution(estimator, fields.inner("solution"))
    if fields.has("stream"):
        estimator.stream_ = StreamPosition.of(fields.inner("stream"))
    return estimator


_CLASSIFIERS = (MulticlassSVM, SoftmaxClassifier, SureClassifier, SureTextClassifier)
_GRAPHS = (GraphCRF, GraphSVM, SureGraphClassifier)
for _cls in (*_CLASSIFIERS, *_GRAPHS, CRFTagger, SureRanker, SureTagger, SVMTagger):
    files.register(_cls.__name__, files.Codec(_packed, partial(_unpacked, _cls)))
files.register(SureKernelClassifier.__name__, files.Codec(kernel_packed, kernel_unpacked))


def _take_classifier(
    estimator: RowInput, fields: files.Fields, tensors: files.Tensors, budget: int
) -> None:
    """Put the model of a file in a new classifier."""
    settings = classifier_settings(estimator)
    many = isinstance(estimator, ManyLabels) and fields.has("labels")
    how = LABELS if many else settings.multiclass
    model = _model(fields, tensors, budget, multiclass=how)
    settings.check_fits(model)
    if many:
        form, thresholds = label_settings_in(fields.inner("labels"), len(model.classes))
        put_label_settings(estimator, form, thresholds, model.classes)
    names = names_in(tensors, model.layout.n_features)
    put_rows_model(estimator, model, _words_in(estimator, model, tensors))
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


_KINDS: dict[type[Any], _Kind] = {
    RowInput: _Kind(_classifier_out, _classifier_params, _take_classifier),
    GraphAnswers: _Kind(graph_out, graph_params, take_graphs),
    SureRanker: _Kind(ranker_out, ranker_params, take_ranker),
    Tagger: _Kind(tagger_out, tagger_params, take_tagger),
}


def _kind(cls: type[Any]) -> _Kind:
    return next(kind for base, kind in _KINDS.items() if issubclass(cls, base))


#: Tensors of the words of a text classifier, or of the names in dicts.
_WORDS = ("word_places", "word_ends", "words", "word_clashes")


def _words_out(estimator: RowInput) -> dict[str, NDArray[Any]]:
    """The words of the features: their numbers, the words, and which of them share a feature."""
    words = words_of(estimator)
    if words is None:
        return {}
    places, ends, text, shared = words
    letters = np.frombuffer(text, dtype=np.uint8)
    return dict(zip(_WORDS, (places, ends, letters, shared), strict=True))


def _words_in(estimator: RowInput, model: RowModel, tensors: files.Tensors) -> Words | None:
    """The words of a text classifier, or the names in dicts if rows were dicts."""
    if isinstance(estimator, SureTextClassifier):
        _check.same("n_features", model.layout.n_features, estimator.n_features)
        has_words = estimator.keep_names
    else:
        has_words = _WORDS[0] in tensors
        if has_words:
            _check.n_features(SIZE, model.layout.n_features, "names")
    return Words.of(*(tensors[name] for name in _WORDS)) if has_words else None
