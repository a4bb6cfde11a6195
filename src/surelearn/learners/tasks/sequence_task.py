"""The task of taggers: sequences of tokens with a label each, in files, merged, judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, files
from surelearn.learners.base import put_model, settings_of
from surelearn.learners.deciding import PLAIN, DecisionOptions, given
from surelearn.learners.file_parts import (
    labels_in,
    labels_out,
    layout_in,
    prior_in,
    prior_out,
    weights_out,
)
from surelearn.learners.settings import FEATURES
from surelearn.learners.sources import opened_sentences
from surelearn.learners.task import EvaluationOptions, refuse_rival
from surelearn.learners.tasks.sequence_training import SequenceSettings
from surelearn.learners.tasks.sequences import SequenceModel
from surelearn.learners.tasks.structures import StructureTask
from surelearn.read import BadInput, Source
from surelearn.templates import TokenFeatures
from surelearn.training.prefetch import raising, salvaging
from surelearn.training.stream import StreamProgress

#: The feature state: plain values, and tensors.
_PLAIN = ("kind", "templates", "columns", "n_features")
_TENSORS = ("names", "name_offsets", "pair_names", "pair_name_offsets")


class Tagged(NamedTuple):
    """The predictions for one batch of sentences.

    Attributes
    ----------
    X : list of sequences
        The sentences.
    tags : list of lists of labels
    confidence : list of lists of float or None
        Confidence of each tag, from 0.5 to 1; None without ``confidence=True``.
    text : str
        The lines of the source with tags and confidence: in the last columns of CoNLL, in the
        columns of the label and misc of CoNLL-U.
    n_bytes, n_bad : int
        Number of bytes of the source in this batch, and of sentences skipped because they could not
        be parsed.
    answered, why, sets
        As in `Prediction`, one for each sentence: the tags of one that is not answered are None,
        and ``_`` in the text. A sentence has a list of sets, one for each token.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from surelearn import SureTagger
    >>> from surelearn.prediction import predict_tags
    >>> tagger = SureTagger(random_state=0).fit([["a", "dog"], ["a", "cat"]], [["D", "N"]] * 2)
    >>> with TemporaryDirectory() as folder, open(f"{folder}/a.conll", "w+") as file:
    ...     print("a\\ndog\\n", file=file, flush=True)
    ...     print(next(predict_tags(tagger, file.name)).text.split())
    ['a', 'D', 'dog', 'N']
    """

    X: list[Any]
    tags: list[Any]
    confidence: list[list[float]] | None
    text: str
    n_bytes: int
    n_bad: int
    answered: NDArray[np.bool_] | None = None
    why: NDArray[Any] | None = None
    sets: list[list[tuple[Any, ...]]] | None = None

    @property
    def n(self) -> int:
        """Number of sentences."""
        return len(self.tags)


class SequenceTask(StructureTask):
    """Taggers: `SureTagger`, `CRFTagger` and `SVMTagger`."""

    settings = SequenceSettings
    unit, noun, labels = "sentence", "tagger", "tags"
    wrong = " of sentences, which are wrong if one tag is"
    not_rows = (
        "{name} must be a classifier of rows, got the tagger {model!r}. Use evaluate_tagger or "
        "predict_tags for taggers."
    )

    def opened(
        self, source: Any, reading: Mapping[str, Any], *, model: Any = None, labelled: bool = True
    ) -> Source:
        return opened_sentences(source, reading, model=model, labelled=labelled)

    # ------------------------------------------------------------------- files

    def packed(self, estimator: Any) -> tuple[dict[str, Any], files.Tensors]:
        with estimator.model_.lock:  # one snapshot
            model = estimator.model_
            state = model.features.state()
            settings: dict[str, Any] = {"features": {name: state[name] for name in _PLAIN}}
            tensors = {name: state[name] for name in _TENSORS}
            if model.weights is not None:
                settings["weights"], cells = weights_out(model.weights)
                tensors |= cells
            # Spare rows for new features are not part of the trained model.
            n_features = model.first + model.features.n_features
        settings["layout"] = {**asdict(model.layout), "n_features": n_features}
        settings["classes"] = labels_out(model.classes)
        return settings | prior_out(model), tensors

    def put(
        self, estimator: Any, fields: files.Fields, tensors: files.Tensors, budget: int
    ) -> None:
        settings = settings_of(estimator)
        features = _features(estimator, fields.object("features"), tensors)
        layout = layout_in(fields.inner("layout"))
        model = SequenceModel(
            layout,
            *prior_in(fields, layout),
            features,
            settings.feature_params,
            classes=labels_in(fields.inner("classes"), budget),
            n_pairs=features.n_pair_features,
            mistakes=fields.naturals("mistakes"),
            updates=fields.integer("updates"),
        )
        n_rows = model.first + features.n_features
        settings.check_fits(model)
        self.put_weights(model, fields, tensors, budget, n_rows=n_rows)
        put_model(estimator, model)

    # ----------------------------------------------------------------- answers

    def predictions(  # type: ignore[override]  # each kind has keywords of its own
        self,
        model: Any,
        source: Source,
        *,
        confidence: bool = False,
        options: DecisionOptions = PLAIN,
    ) -> Iterator[Tagged]:
        if _check.flag("confidence", confidence) and not hasattr(model, "confidence"):
            raise ValueError(f"confidence needs a rule that keeps variances, got {model.rule!r}.")
        return _tagged(model, source, confidence, options)

    def evaluated(self, model: Any, X: Any, y: Any, options: EvaluationOptions, **how: Any) -> Any:
        from surelearn.learners.deciding.judging import Judge
        from surelearn.scores import ChunkScores, are_chunk_tags, chunk_scores

        self.check_fitted("tagger", model)
        refuse_rival(options.rival, self.noun)
        _check.rows_or_source(X, y, ())
        raw = not are_chunk_tags(map(str, model.classes_.tolist()))
        judge = Judge(model, options)
        if y is not None:
            if how:
                raise TypeError(
                    f"sequences in memory must have no reading options, got {sorted(how)}."
                )
            scores = chunk_scores(_texts(y, model), _texts(model.predict(X), model), raw=raw)
            _check.some_judged(scores.n_sequences, "sentence")
            if judge.is_asked(model):
                judge.judge(model, X, y)
            return replace(scores, decisions=judge.result())
        source = self.opened(X, how, model=model)
        scores, n_bytes = ChunkScores(), 0
        for batch, size in _batches(source):
            some = chunk_scores(batch.y, _texts(model.predict(batch.X), model), raw=raw)
            scores += replace(some, n_bad=batch.n_bad)
            if judge.is_asked(model) and len(batch.y):
                judge.judge(model, batch.X, _own_tags(batch.y, model))
            n_bytes += size
            if options.progress is not None:
                wrong = scores.n_tokens - scores.n_right
                counts = (scores.n_tokens, wrong, n_bytes, source.n_bytes, scores.n_bad)
                options.progress(StreamProgress(1, 1, *counts))
        _check.some_judged(scores.n_sequences, "sentence")
        return replace(scores, decisions=judge.result())

    # ---------------------------------------------------------------- commands

    def check_command(self, path: Any, model: Any, wanted: str) -> None:
        if wanted != self.noun:
            raise ValueError(
                f"{path} must be a {wanted}, got a {type(model).__name__}. Use the commands of "
                "surelearn tag."
            )

    def facts(self, model: Any) -> dict[str, Any]:
        features = model.features_
        facts = {
            "features": features.n_features,
            "pair_features": features.n_pair_features,
            "columns": features.columns and list(features.columns),
            "templates": features.templates,
            "classes": [{"label": label} for label in model.classes_.tolist()],
        }
        return {name: fact for name, fact in facts.items() if fact is not None}


#: The task of every tagger.
SEQUENCES = SequenceTask()


def _tagged(
    tagger: Any, source: Source, confidence: bool, options: DecisionOptions
) -> Iterator[Tagged]:
    label = tagger.stream_.columns.get("label") if hasattr(tagger, "stream_") else None

    def work(block: Any) -> Tagged:
        batch = block.parse()
        decided = options.of_nothing()
        if options.is_any and len(batch):
            found = given(tagger, batch.X, options)
            tags, decided = found.shown, found[3:]
        else:
            tags = tagger.predict(batch.X)
        sure = tagger.confidence(batch.X) if confidence else None
        pairs = zip(batch.X, tags, strict=True)
        said = [[["_"] * len(x) if own is None else list(map(str, own)) for x, own in pairs]]
        if sure is not None:
            said.append([[f"{p:.4f}" for p in own] for own in sure])
        text = batch.tagged(*said, label=label)
        return Tagged(batch.X, tags, sure, text, block.n_bytes, batch.n_bad, *decided)

    tried = salvaging(work, source)
    yield from raising(tried(block) for block in source.some_blocks())


def _texts(tags: Any, tagger: Any) -> Any:
    """Tags as texts, as in files; labels of a tagger may be numbers."""
    is_text = tagger.classes_.dtype.kind == "U"
    return tags if is_text else [[str(tag) for tag in own] for own in tags]


def _own_tags(tags: list[list[str]], tagger: Any) -> Any:
    """The tags of a file as the labels of a tagger; one that it does not know gets a new number
    if they are numbers."""
    classes = tagger.classes_
    if classes.dtype.kind == "U":
        return tags
    known = {str(label): label for label in classes.tolist()}
    other = (classes.max() + 1).item() if classes.dtype.kind in "iuf" else None
    return [[known.get(tag, tag if other is None else other) for tag in own] for own in tags]


def _batches(source: Source) -> Iterator[tuple[Any, int]]:
    """The labelled batches of a source, and their bytes."""
    for block in source.some_blocks():
        batch = block.parse()
        if batch.y is None:
            raise BadInput(f"{source.name} must have a column of labels, got none.")
        yield batch, block.n_bytes


def _features(tagger: Any, plain: dict[str, Any], tensors: files.Tensors) -> TokenFeatures:
    """The features of the file, which must match the parameters.

    Templates and columns that the user left at their defaults come from the file, since defaults
    may change.
    """
    asked = {name: getattr(tagger, name) for name in FEATURES}
    for name in ("templates", "columns"):
        asked[name] = plain[name] if asked[name] is None else asked[name]
    names = {name: tensors[name] for name in _TENSORS}
    features = TokenFeatures.from_state({**asked, **names, "kind": plain["kind"]})
    columns = None if features.columns is None else list(features.columns)
    made = {"templates": features.templates, "columns": columns, "n_features": asked["n_features"]}
    for name, value in made.items():
        _check.same(name, plain[name], value)
    return features
