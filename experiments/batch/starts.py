"""A batch fit on the first part of a stream, then one pass over the rest, against either alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from experiments.batch.data import Part, Split, chunks, splits
from experiments.batch.judge import Score, accuracy, f1, mean_log_loss
from surelearn import CRFTagger, SoftmaxClassifier, SureClassifier, SureTagger, rules

#: Shares of the stream that the batch learner gets.
SHARES = (0.05, 0.2, 0.5)
#: So many rows or sentences arrive together.
CHUNK = 1000


class Task(NamedTuple):
    """A stream, its batch learner, its online learner, and how both are judged."""

    split: Split
    batch: Callable[[], Any]
    online: Callable[[], Any]
    score: Score


def tasks() -> Iterator[tuple[str, Task]]:
    titles = next(splits("Stack Overflow titles"))
    softmax = partial(SoftmaxClassifier, l2=0.1, tol=1e-3)
    yield "Stack Overflow titles", Task(titles, softmax, SureClassifier, accuracy)
    yield "CoNLL-2000", Task(chunks(), partial(CRFTagger, l2=0.5, tol=1e-3), SureTagger, f1)


def lines() -> Iterator[dict[str, Any]]:
    """A line for each task, share and way."""
    for name, task in tasks():
        for share, way, model, seconds in ways(task):
            yield {
                "set": name,
                "share": f"{share:g}",
                "way": way,
                "score %": f"{task.score(model, task.split.judge):.2f}",
                "log loss": f"{mean_log_loss(model, task.split.judge):.4f}",
                "seconds": f"{seconds:.2f}",
            }


def ways(task: Task) -> Iterator[tuple[float, str, Any, float]]:
    """The share that a batch learner gets, how the rest is learnt, the model and its seconds."""
    learn = task.split.learn
    size = len(learn.groups)
    yield 1.0, "batch on all", *_timed(partial(_batch, task, learn))
    yield 0.0, "stream alone", *_timed(partial(_stream, task.online(), learn))
    yield 0.0, "stream alone, rule of `online`", *_timed(partial(_stream, _same(task), learn))
    for share in SHARES:
        first, rest = map(learn.at, np.split(np.arange(size), [round(share * size)]))
        start, spent = _timed(partial(_batch, task, first))
        yield share, "batch alone", start, spent
        model, seconds = _timed(partial(_stream, start.online(), rest))
        yield share, "batch, then `online`", model, spent + seconds
        model, seconds = _timed(partial(_stream, deepcopy(start), rest))
        yield share, "batch, then `partial_fit`", model, spent + seconds


def _same(task: Task) -> Any:
    """An online learner as `online` makes it, at its prior: what the start adds is the rest."""
    return task.online().set_params(
        rule=rules.Probit(noise=2.9), initial_variance=1 / task.batch().l2, average=False
    )


def _batch(task: Task, part: Part) -> Any:
    return task.batch().fit(part.X, part.y)


def _stream(model: Any, part: Part) -> Any:
    """One pass in chunks, as they arrive."""
    size = len(part.groups)
    for places in np.split(np.arange(size), range(CHUNK, size, CHUNK)):
        some = part.at(places)
        model.partial_fit(some.X, some.y)
    return model


def _timed(run: Callable[[], Any]) -> tuple[Any, float]:
    begin = time.perf_counter()
    model = run()
    return model, time.perf_counter() - begin
