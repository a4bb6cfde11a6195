"""A batch fit on the first part of a stream, then one pass over the rest, against either alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from experiments.batch.data import Part, Split, chunks, splits
from experiments.batch.judge import Score, accuracy, f1, mean_log_loss
from surelearn import CRFTagger, SoftmaxClassifier, SureClassifier, SureTagger

#: Shares of the stream that the batch learner gets.
SHARES = (0.05, 0.2, 0.5)
#: So many rows or sentences arrive together.
CHUNK = 500


class Task(NamedTuple):
    """A stream, its batch learner, its online learner, and how both are judged."""

    split: Split
    batch: Callable[[], Any]
    online: Callable[[], Any]
    score: Score


def tasks() -> Iterator[tuple[str, Task]]:
    for name in ("20 Newsgroups", "Stack Overflow titles"):
        yield name, Task(next(splits(name)), _softmax, SureClassifier, accuracy)
    yield "CoNLL-2000", Task(chunks(), _crf, SureTagger, f1)


def _softmax() -> SoftmaxClassifier:
    return SoftmaxClassifier(l2=0.1)


def _crf() -> CRFTagger:
    return CRFTagger(l2=0.5)


def lines() -> Iterator[dict[str, Any]]:
    """A line for each task, share and way."""
    for name, task in tasks():
        for share, way, run in ways(task):
            yield {"set": name, "share": f"{share:g}", "way": way, **_figures(task, run)}


def ways(task: Task) -> Iterator[tuple[float, str, Callable[[], Any]]]:
    """The share that a batch learner gets, and how the rest is learnt."""
    learn = task.split.learn
    size = len(learn.groups)
    yield 1.0, "batch on all", partial(_batch, task, learn)
    yield 0.0, "stream alone", partial(_stream, task.online, learn)
    for share in SHARES:
        first, rest = map(learn.at, np.split(np.arange(size), [round(share * size)]))
        batch = partial(_batch, task, first)
        yield share, "batch alone", batch
        yield share, "batch, then online", partial(_stream, partial(_online, batch), rest)
        yield share, "batch, then partial_fit", partial(_stream, batch, rest)


def _batch(task: Task, part: Part) -> Any:
    return task.batch().fit(part.X, part.y)


def _online(batch: Callable[[], Any]) -> Any:
    return batch().online()


def _stream(make: Callable[[], Any], part: Part) -> Any:
    """One pass in chunks, as they arrive, from what was made."""
    model = make()
    for places in np.split(np.arange(len(part.groups)), range(CHUNK, len(part.groups), CHUNK)):
        some = part.at(places)
        model.partial_fit(some.X, some.y)
    return model


def _figures(task: Task, run: Callable[[], Any]) -> dict[str, str]:
    begin = time.perf_counter()
    model = run()
    seconds = time.perf_counter() - begin
    return {
        "score %": f"{task.score(model, task.split.judge):.2f}",
        "log loss": f"{mean_log_loss(model, task.split.judge):.4f}",
        "seconds": f"{seconds:.2f}",
    }
