"""Scores of taggers on tagged sentences; must not know how taggers learn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from surelearn import _check
from surelearn.evaluation._chunks import ChunkScores, are_chunk_tags, chunk_scores
from surelearn.learners.answers.judgement import check_fitted_tagger
from surelearn.learners.sources import opened_sentences
from surelearn.read import BadInput, Source
from surelearn.training.stream import StreamProgress


def evaluate_tagger(
    tagger: Any,
    X: Any,
    y: Any = None,
    *,
    progress: Callable[[StreamProgress], object] | None = None,
    **reading: Any,
) -> ChunkScores:
    """Evaluate a tagger on tagged sentences.

    Parameters
    ----------
    tagger : fitted tagger
    X : list of sequences, or a source of them
        With `y`, what the tagger takes. Without `y`, a source with tags as in `read.sentences`,
        such as a path; it is read batch by batch.
    y : list of sequences of labels, optional
    progress, **reading
        As in `evaluate`, with the keywords of `read.sentences`.

    Returns
    -------
    ChunkScores
        Scores of chunks if the tags mark chunks (``O``, ``B-NP``, ...), else of each tag.

    Examples
    --------
    >>> from surelearn import SureTagger
    >>> X, y = [["the", "dog", "barks"]], [["B-NP", "I-NP", "B-VP"]]
    >>> evaluate_tagger(SureTagger(random_state=0).fit(X, y), X, y).f1
    1.0
    """
    check_fitted_tagger("tagger", tagger)
    _check.callback("progress", progress)
    _check.rows_or_source(X, y, ())
    raw = not are_chunk_tags(map(str, tagger.classes_.tolist()))
    if y is not None:
        if reading:
            raise TypeError(
                f"sequences in memory must have no reading options, got {sorted(reading)}."
            )
        scores = chunk_scores(_texts(y, tagger), _texts(tagger.predict(X), tagger), raw=raw)
        _check.some_judged(scores.n_sequences, "sentence")
        return scores
    source = opened_sentences(X, reading, model=tagger)
    found, n_bytes = ChunkScores(), 0
    for batch, size in _batches(source):
        scores = chunk_scores(batch.y, _texts(tagger.predict(batch.X), tagger), raw=raw)
        found += replace(scores, n_bad=batch.n_bad)
        n_bytes += size
        if progress is not None:
            wrong = found.n_tokens - found.n_right
            counts = (found.n_tokens, wrong, n_bytes, source.n_bytes, found.n_bad)
            progress(StreamProgress(1, 1, *counts))
    _check.some_judged(found.n_sequences, "sentence")
    return found


def _texts(tags: Any, tagger: Any) -> Any:
    """Tags as texts, as in files; labels of a tagger may be numbers."""
    is_text = tagger.classes_.dtype.kind == "U"
    return tags if is_text else [[str(tag) for tag in own] for own in tags]


def _batches(source: Source) -> Iterator[tuple[Any, int]]:
    for block in source.some_blocks():
        batch = block.parse()
        if batch.y is None:
            raise BadInput(f"{source.name} must have a column of labels, got none.")
        yield batch, block.n_bytes
