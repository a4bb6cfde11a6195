"""Tasks of tagging, all made of the training file of CoNLL-2000; must not know taggers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from experiments import sets
from surelearn.evaluation import chunk_scores

LEARNT, SMALL, JUDGED, HELD = 2000, 500, 1000, 500
#: Four fifths of the file, but for the sentences to calibrate on.
MOST = 6700
NOISE = 0.1

Tags = list[list[str]]


class Task(NamedTuple):
    """What a token is, what its label is, how much is learnt, and how many labels are wrong."""

    columns: slice
    label: int
    learnt: int = LEARNT
    noise: float = 0.0
    n_splits: int = 2


#: Columns of the file: word, part of speech, chunk.
TASKS = {
    "chunks, 500 sentences": Task(slice(2), 2, SMALL),
    "parts of speech, 500 sentences": Task(slice(1), 1, SMALL),
    "chunks": Task(slice(2), 2, MOST, n_splits=1),
    "chunks, words alone": Task(slice(1), 2),
    "parts of speech": Task(slice(1), 1),
    "chunks, 10 % wrong labels": Task(slice(2), 2, noise=NOISE),
}


class Part(NamedTuple):
    """Sentences and their labels."""

    X: list[list[Any]]
    y: Tags


class Split(NamedTuple):
    """Sentences to learn, to judge by, and a few more to calibrate on."""

    learn: Part
    judge: Part
    held: Part


def splits(task: Task) -> Iterator[Split]:
    """Random ones; equal sentences stay together, on the side of the first."""
    found = sets.sentences("conll2000/train.txt.xz")
    groups = sets.numbered([tuple(tokens) for tokens in found])
    for seed in range(task.n_splits):
        random = np.random.default_rng(seed)
        order = np.argsort(random.permutation(groups.max() + 1)[groups], kind="stable")
        ends = np.cumsum([JUDGED, HELD, task.learnt])
        judge, held, learn = (
            _part(task, [found[i] for i in places])
            for places in np.split(order[: ends[-1]], ends[:-1])
        )
        yield Split(Part(learn.X, noisy(learn.y, task.noise, random)), judge, held)


def _part(task: Task, sentences: list[list[tuple[str, ...]]]) -> Part:
    own = [[token[task.columns] for token in tokens] for tokens in sentences]
    return Part(own, [[token[task.label] for token in tokens] for tokens in sentences])


def noisy(y: Tags, share: float, random: np.random.Generator) -> Tags:
    """The labels with a share of them replaced by any other one."""
    if share == 0.0:
        return y
    labels = sorted({label for tags in y for label in tags})

    def drawn(label: str) -> str:
        if random.random() >= share:
            return label
        return labels[(labels.index(label) + random.integers(1, len(labels))) % len(labels)]

    return [[drawn(label) for label in tags] for tags in y]


def score(task: Task, y: Tags, found: Tags) -> float:
    """F1 of chunks, or the share of right parts of speech, in percent."""
    scores = chunk_scores(y, found, raw=task.label == 1)
    return 100 * (scores.accuracy if task.label == 1 else scores.f1)
