"""The task of classifiers of rows: numbers or texts, with one label each or any number."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surelearn import _check, files
from surelearn.decode import LABELS, Code
from surelearn.learners.answers.judgement import (
    Judgement,
    judge,
    judge_decided,
    judge_nothing,
    many_labels,
    of_label,
    why_unsure,
)
from surelearn.learners.answers.linear import (
    check_settings,
    merged_into,
    put_rows_model,
    reader_of,
)
from surelearn.learners.answers.lines import Lines, Prediction
from surelearn.learners.answers.many_labels import (
    copy_label_form,
    copy_thresholds,
    label_settings,
    put_label_settings,
)
from surelearn.learners.base import Estimator, is_fitted, not_fitted, settings_of, with_model
from surelearn.learners.deciding import PLAIN, DecisionOptions
from surelearn.learners.feature_names import SIZE
from surelearn.learners.file_parts import (
    code_out,
    documents_in,
    documents_out,
    label_settings_in,
    labels_out,
    names_in,
    names_out,
    prior_out,
    put_names,
    scale_out,
    weights_out,
)
from surelearn.learners.labels import MATRIX, as_labels, row_labels
from surelearn.learners.settings import Settings
from surelearn.learners.sources import opened
from surelearn.learners.task import (
    EvaluationOptions,
    Shown,
    Task,
    ahead,
    merged_names,
    refuse_class,
)
from surelearn.learners.tasks.row_file import model_in
from surelearn.learners.tasks.row_settings import RowSettings
from surelearn.learners.tasks.rows import RowModel, in_common_units
from surelearn.merging import Documents, MergeState, Way, Words
from surelearn.read import Batch, Source
from surelearn.training.stream import StreamProgress

#: Rows in memory are evaluated in blocks of this size.
_BLOCK = 8192

#: Tensors of the words of a text classifier, or of the names in dicts.
WORDS = ("word_places", "word_ends", "words", "word_clashes")


#: What the rows of a model have, by whether they have many labels.
_LABELS = {False: "one label for each row", True: "a list of labels for each row"}


class Judged(NamedTuple):
    """A batch of rows with the predictions of each model."""

    labels: Any  # Labels; None if the source has none
    judgements: list[Judgement]
    n_bytes: int = 0
    n_bad: int = 0
    kept: Mapping[str, NDArray[Any]] = {}
    said: Any = None  # what the first model decides, if that is asked for


class RowTask(Task):
    """Classifiers of rows, also those of other libraries where rows are predicted or judged."""

    settings: ClassVar[type[Settings]] = RowSettings
    unit, noun = "row", "classifier"
    without = frozenset(["all", "cross"])

    # ------------------------------------------------------------------ models

    def check_model(self, name: str, model: Any) -> None:
        refuse_class(name, model, self.noun)
        if isinstance(model, Estimator):
            if not isinstance(model.task, RowTask):
                raise TypeError(model.task.not_rows.format(name=name, model=model))
        elif not hasattr(model, "predict"):
            raise TypeError(f"{name} must be a classifier, got {model!r}.")

    def check_fitted(self, name: str, model: Any) -> None:
        self.check_model(name, model)
        if not hasattr(model, "classes_"):
            not_fitted(f"{name} must be a fitted classifier, got {model!r}.")

    def check_rows(self, model: Any, X: Any) -> None:
        """Refuse texts for a model of numbers, and numbers for one of texts."""
        if not _are_numbers(X):
            name = type(model).__name__
            raise ValueError(f"source must hold rows of numbers for a {name}, got texts.")

    # ----------------------------------------------------------------- sources

    def opened(
        self, source: Any, reading: Mapping[str, Any], *, model: Any = None, labelled: bool = True
    ) -> Source:
        columns = ("text", "features", "label") if labelled else ("text", "features")
        return opened(source, reading, model=model, columns=columns)

    # ------------------------------------------------------------------- files

    def params(self, estimator: Any) -> dict[str, Any]:
        params = super().params(estimator)
        check_settings(estimator)
        if not isinstance(params.get("multiclass", ""), str | Code):  # it can be changed in place
            params["multiclass"] = getattr(estimator.model_.multiclass, "matrix", None)
        return params

    def packed(self, estimator: Any) -> tuple[dict[str, Any], files.Tensors]:
        model = estimator.model_
        weights = model.weights  # one moment of those that another thread replaces
        settings: dict[str, Any] = {
            **prior_out(model),
            "classes": labels_out(model.classes),
            "counts": model.counts.tolist(),
        }
        tensors: dict[str, NDArray[Any]] = {}
        if model.many_labels:
            settings["labels"] = label_settings(estimator)
        if model.code is not None:
            settings["code"] = code_out(model.code)
        if weights is not None:
            settings["weights"], tensors = weights_out(weights)
        if model.scale is not None:
            units = model.scale.units if weights is None else weights.units
            settings["scale"], more = scale_out(model.scale, units)
            tensors |= more
        reader = reader_of(estimator)
        documents, words = reader.documents(), reader.words()
        if documents is not None:
            settings["documents"] = documents.n
            tensors |= documents_out(documents)
        tensors |= names_out(estimator)
        if words is not None:
            places, ends, text, shared = words
            letters = np.frombuffer(text, dtype=np.uint8)
            tensors |= dict(zip(WORDS, (places, ends, letters, shared), strict=True))
        return settings, tensors

    def put(
        self, estimator: Any, fields: files.Fields, tensors: files.Tensors, budget: int
    ) -> None:
        settings = settings_of(estimator)
        many = settings.takes_many_labels and fields.has("labels")
        how = LABELS if many else settings.multiclass
        model = model_in(fields, tensors, budget, multiclass=how)
        settings.check_fits(model)
        if many:
            form, thresholds = label_settings_in(fields.inner("labels"), len(model.classes))
            put_label_settings(estimator, form, thresholds, model.classes)
        names = names_in(tensors, model.layout.n_features)
        words = self.words_in(estimator, model, tensors)
        documents = self.documents_in(estimator, fields, tensors)
        put_rows_model(estimator, model, words, documents)
        put_names(estimator, names)

    def words_in(self, estimator: Any, model: RowModel, tensors: files.Tensors) -> Words | None:
        """The names in dicts, if rows were dicts."""
        if WORDS[0] not in tensors:
            return None
        _check.n_features(SIZE, model.layout.n_features, "names")
        return Words.of(*(tensors[name] for name in WORDS))

    def documents_in(
        self, estimator: Any, fields: files.Fields, tensors: files.Tensors
    ) -> Documents | None:
        """The documents that a text classifier has counted."""
        return None

    # ----------------------------------------------------------------- merging

    def check_alike(self, models: Sequence[Any]) -> None:
        fitted = [model for model in models if is_fitted(model)]
        for other in fitted[1:]:
            _check.agree("n_features_in_", fitted[0].n_features_in_, other.n_features_in_)
            _check.agree("kind of labels", *map(_labels_of, (fitted[0], other)))
        super().check_alike(models)
        for model in fitted:
            check_settings(model)
        merged_names(fitted)

    def merged(self, models: Sequence[Any], how: Way) -> Any:
        self.check_alike(models)
        fitted = [model for model in models if is_fitted(model)]
        own = iter(in_common_units([model.model_ for model in fitted]))
        alike = [with_model(model, next(own)) if is_fitted(model) else model for model in models]
        return super().merged(alike, how)

    def state(self, estimator: Any, how: Way, *, like: Any) -> MergeState:
        if is_fitted(estimator):
            state: MergeState = MergeState.of(estimator, how)
            return state
        blank: RowModel = settings_of(estimator).untrained(like.n_features_in_, is_sparse=False)
        return blank.merge_state(how)

    def put_merged(self, estimator: Any, total: MergeState, fitted: Sequence[Any]) -> Any:
        result = merged_into(estimator, total)
        put_names(result, merged_names(fitted))
        copy_label_form(fitted[0], result)
        return result

    def copy_calibration(self, source: Any, result: Any) -> None:
        super().copy_calibration(source, result)
        copy_thresholds(source, result)

    # ----------------------------------------------------------------- answers

    def predictions(  # type: ignore[override]  # each kind has keywords of its own
        self,
        model: Any,
        source: Source,
        *,
        keep: str | Sequence[str] | None = None,
        options: DecisionOptions = PLAIN,
    ) -> Iterator[Prediction]:
        say = partial(judge_decided, options=options) if options.is_any else judge
        for judged in _of_source([model], source, say=say):
            (own,) = judged.judgements
            kept: Any = None if keep is None else judged.kept
            if isinstance(keep, str):
                kept = judged.kept[keep]
            yield Prediction(
                own.labels,
                of_label(model, own),
                own.sureness,
                own.probabilities,
                kept,
                judged.n_bytes,
                judged.n_bad,
                *(options.of_nothing() if own.given is None else own.given[3:]),
            )

    def lines(self, model: Any, shown: Shown) -> Callable[[Prediction], str]:
        lines = Lines(model.classes_, shown.probabilities)
        return lambda batch: "".join(lines.of(batch))

    def evaluated(self, model: Any, X: Any, y: Any, options: EvaluationOptions, **how: Any) -> Any:
        from surelearn.learners.tasks.row_decisions import RowDecisions
        from surelearn.scores import Comparison, LabelTally, RowTally

        _check.rows_or_source(X, y, sorted(how))
        rival, progress = options.rival, options.progress
        models = [model] if rival is None else [model, rival]
        for name, classifier in zip(("model", "rival"), models, strict=False):
            self.check_fitted(name, classifier)
        many = many_labels(model)
        rival_many = many_labels(models[-1])
        if many != rival_many:
            raise ValueError(
                f"rival must predict {_LABELS[many]}, as the model does, got {_LABELS[rival_many]}."
            )
        source = None if y is not None else self.opened(X, how, model=model)
        n_bytes, n_bad, total = 0, 0, None if source is None else source.n_bytes
        decisions = RowDecisions(models, options)
        if source is None:
            pieces = _of_memory(models, X, y, decisions.said)
        else:
            pieces = _labelled(models, source, decisions.said)
        tally = LabelTally if many else RowTally
        tallies = [tally(np.asarray(one.classes_), why_unsure(one)) for one in models]
        duel = np.zeros((2, 2), dtype=np.int64)
        for piece in pieces:
            pairs = zip(tallies, piece.judgements, strict=True)
            right = [tally.add(piece.labels, judged) for tally, judged in pairs]
            np.add.at(duel, (right[0].astype(int), right[-1].astype(int)), 1)
            decisions.add(piece.labels, piece.judgements, right, piece.said)
            n_bytes, n_bad = n_bytes + piece.n_bytes, n_bad + piece.n_bad
            if progress is not None:
                done = tallies[0].n, tallies[0].mistakes
                progress(StreamProgress(1, 1, *done, n_bytes, total, n_bad))
        (neither, rival_only), (model_only, both) = duel.tolist()
        compared = None if rival is None else Comparison(both, model_only, rival_only, neither)
        return tallies[0].result(compared, n_bad, decisions.result())

    # ---------------------------------------------------------------- commands

    def facts(self, model: Any) -> dict[str, Any]:
        facts = class_facts(model)
        if "covariance" in model.get_params(deep=False):
            facts["covariance"] = model.covariance
        if model.model_.many_labels:
            chosen = label_settings(model).get("thresholds")
            facts |= {"labels": "any number", **({"thresholds": chosen} if chosen else {})}
        elif "multiclass" in model.get_params(deep=False):
            facts["multiclass"] = multiclass_name(model)
        if model.model_.scale is not None:
            scale = model.model_.scale
            facts["scaled"] = f"{len(scale.n):,}, by {scale.n_rows:,} rows"
        return facts

    def class_rows(self, model: Any) -> tuple[str, NDArray[np.int64]]:
        what = "Rows with each label" if model.model_.many_labels else "Rows of each class"
        return what, model.model_.counts

    def learnt(self, model: Any, before: Mapping[str, Any]) -> dict[str, Any]:
        return {"class_rows": model.model_.counts.tolist()}


class TextTask(RowTask):
    """Classifiers of texts, whose features are hashed words."""

    def check_rows(self, model: Any, X: Any) -> None:
        if _are_numbers(X):
            name = type(model).__name__
            raise ValueError(f"source must hold texts for a {name}, got rows of numbers.")

    def words_in(self, estimator: Any, model: RowModel, tensors: files.Tensors) -> Words | None:
        vectorizer = reader_of(estimator).vectorizer
        _check.same("n_features", model.layout.n_features, vectorizer.n_features)
        if not estimator.keep_names:
            return None
        return Words.of(*(tensors[name] for name in WORDS))

    def documents_in(
        self, estimator: Any, fields: files.Fields, tensors: files.Tensors
    ) -> Documents | None:
        if not estimator.idf:
            return None
        return documents_in(fields, tensors, reader_of(estimator).vectorizer.n_features)

    def check_alike(self, models: Sequence[Any]) -> None:
        first, *others = [reader_of(model).vectorizer.get_params(deep=False) for model in models]
        for params in others:
            # The number of features follows from the others where it is "auto".
            for name in sorted(first.keys() - {"n_jobs"}, key=lambda name: name == "n_features"):
                _check.agree(name, first[name], params[name])
        super().check_alike(models)

    def facts(self, model: Any) -> dict[str, Any]:
        facts, vectorizer = super().facts(model), model.vectorizer_
        if vectorizer.keep_names:
            facts |= {"words": int(vectorizer.n_names_), "clashes": int(vectorizer.n_clashes_)}
        if vectorizer.idf:
            facts["documents"] = vectorizer.n_documents_
        return facts


#: The tasks of classifiers of numbers and of texts.
ROWS = RowTask()
TEXTS = TextTask()


def class_facts(model: Any) -> dict[str, Any]:
    """What `surelearn info` says of the classes and features of a classifier of rows."""
    state = model.model_
    counts = zip(model.classes_.tolist(), state.counts.tolist(), strict=True)
    return {
        "labels_learnt" if state.many_labels else "rows": int(state.counts.sum()),
        "features": int(model.n_features_in_),
        "classes": [{"label": label, "rows": count} for label, count in counts],
    }


def multiclass_name(model: Any) -> str:
    """How classes are learnt."""
    return model.multiclass if isinstance(model.multiclass, str) else "a matrix"


# ------------------------------------------------------------------------- batches


def _are_numbers(X: Any) -> bool:
    return sparse.issparse(X) or isinstance(X, np.ndarray)


def _of_source(
    models: Sequence[Any],
    source: Source,
    also: Callable[[Any, Any], Any] | None = None,
    say: Callable[[Any, Any], Judgement] = judge,
) -> Iterator[Judged]:
    """The batches of a source with the predictions of the models, and what else is to be said.

    As many threads as `n_jobs` of the first model read and predict ahead.
    """

    def work(block: Any) -> Judged:
        batch: Batch = block.parse()
        for model in models:
            if isinstance(model, Estimator):  # others say themselves what they cannot read
                own: Any = model.task
                own.check_rows(model, batch.X)
        judged = [(say if len(batch) else judge_nothing)(model, batch.X) for model in models]
        said = also(models[0], batch.X) if also is not None and len(batch) else None
        return Judged(batch.labels, judged, block.n_bytes, batch.n_bad, batch.kept, said)

    models = [
        _nameless(model) if hasattr(model, "feature_names_in_") else model for model in models
    ]
    yield from ahead(models[0], work, source)


def _labelled(
    models: list[Any], source: Source, also: Callable[[Any, Any], Any]
) -> Iterator[Judged]:
    """The same, of a source that must have labels."""
    many = many_labels(models[0])
    if not source.may_list:  # before an empty cell is read as a missing label
        _same_labels(source.name, many=many, got=False)
    for judged in _of_source(models, source, also):
        labels = judged.labels
        if labels is None:
            raise _check.no_labels(source.name)
        _same_labels(source.name, many=many, got=labels.starts is not None)
        yield judged._replace(labels=labels._replace(values=as_labels(labels.values)))


def _of_memory(
    models: list[Any], X: Any, y: Any, also: Callable[[Any, Any], Any]
) -> Iterator[Judged]:
    """Rows in memory with the predictions of the models, block by block."""
    many = many_labels(models[0])
    form = getattr(models[0], "label_format_", None)
    labels, came = row_labels(y, form=form)
    _same_labels("y", many=many, got=labels.is_many)
    if form is not None and came in MATRIX:
        _check.indicator_fits(len(labels.values), len(models[0].classes_))
    if sparse.issparse(X):
        X = X.tocsr()
    elif not hasattr(X, "__len__"):
        X = list(X)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    _check.one_label_a_row(labels.n_rows, n)
    rows = getattr(X, "iloc", X)  # slices of rows by position, also for pandas
    for first in range(0, n, _BLOCK):
        some = slice(first, first + _BLOCK)
        judged = [judge(model, rows[some]) for model in models]
        yield Judged(labels.take(some), judged, said=also(models[0], rows[some]))


def _same_labels(where: str, *, many: bool, got: bool) -> None:
    """Refuse rows of one label for a model of many labels, and the reverse."""
    if many == got:
        return
    said = "{where} must have {wanted}, as the model has learnt, got {found}."
    if many and where != "y":
        said += " In csv, {separator} names what separates labels."
    separator = _check.Keyword("label_separator")
    names = {"wanted": _LABELS[many], "found": _LABELS[got]}
    raise _check.BadInput(_check.Message(said, where=where, separator=separator, **names))


def _nameless(model: Any) -> Any:
    """A copy that does not warn about missing feature names: the source reads columns by name."""
    twin = copy.copy(model)
    vars(twin).pop("feature_names_in_", None)
    return twin


def _labels_of(model: Any) -> str:
    return "many for each row" if model.model_.many_labels else "one for each row"
