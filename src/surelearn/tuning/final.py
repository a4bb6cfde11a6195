"""The final of `tune`: a few candidates trained as `fit` trains them, judged on rows kept back.

A tenth of the rows is kept back at a time, and the other nine are learnt in all passes. Small data
is cut several times, so that more rows are judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn.learners.readers import NumberReader
from surelearn.learners.scoring import MeanScorer, Scorer
from surelearn.learners.tasks.row_block import RowBlock
from surelearn.learners.tasks.row_settings import RowSettings
from surelearn.learners.tasks.row_training import RowTrainable
from surelearn.learners.tasks.rows import RowModel
from surelearn.rows import rows_of
from surelearn.training.passes import random_orders, run

Array = NDArray[np.float64]

#: Rows are cut into so many parts; one of them is kept back, of so many rows at most.
_PARTS, _LARGEST = 10, 5000
#: Parts are kept back in turn until so many rows have been judged.
_ENOUGH = 2000
#: The log loss of a row counts as this at most: a sampled probability may be 0.
_WORST = 20.0
#: How many standard errors of the paired difference a candidate must be better by, and on how many
#: rows at least: a standard error of fewer means little.
_CLEARLY, _FEWEST = 2.0, 200


class Verdict(NamedTuple):
    """Whether each judged row was mispredicted, and its log loss; NaN for a first-order rule."""

    missed: NDArray[np.bool_]
    losses: Array

    @property
    def error(self) -> float:
        return float(self.missed.mean())

    @property
    def log_loss(self) -> float:
        return float(self.losses.mean())


def parts(n: int, random: np.random.RandomState) -> list[NDArray[np.int64]]:
    """The rows to keep back in turn, in random order."""
    cut = np.array_split(random.permutation(n), min(n, _PARTS))
    wanted = -(-_ENOUGH // len(cut[0]))
    return [part[:_LARGEST] for part in cut[:wanted]]


class Judge(NamedTuple):
    """Judges settings by rows kept back.

    Parameters
    ----------
    block : RowBlock
        All rows.
    parts : list of array of int
        The rows to keep back in turn.
    state : tuple
        The state of the random generator before the first pass, the same for all settings.
    """

    block: RowBlock
    parts: list[NDArray[np.int64]]
    state: Any

    def verdict(self, settings: RowSettings, untrained: RowModel) -> Verdict:
        """Train without each part, and judge by it; a bad row raises `Refused`."""
        settings = settings.but(method=settings.method._replace(threads=1))
        found = [
            self._judge(_scorer(self._train(settings, untrained.copy(), part), settings), part)
            for part in self.parts
        ]
        missed, losses = zip(*found, strict=True)
        return Verdict(np.concatenate(missed), np.concatenate(losses))

    def _train(
        self, settings: RowSettings, untrained: RowModel, part: NDArray[np.int64]
    ) -> RowModel:
        n, random = self.block.size, np.random.RandomState()
        random.set_state(self.state)
        model = untrained.with_classes(self.block.labels.values)
        order = random_orders(random, n, shuffle=settings.shuffle, without=part)
        passes = range(1, settings.for_rows(n).passes + 1)
        run(
            RowTrainable(settings, NumberReader(), model),
            self.block,
            passes,
            order=order,
            report=lambda _: None,
        )
        return model

    def _judge(self, asked: Scorer, part: NDArray[np.int64]) -> Verdict:
        X, places = self.block.X[part], self.block.labels.codes[part].astype(np.int64)
        missed = asked.winners(rows_of(X)) != places
        losses = np.full(len(part), np.nan)
        if asked.model.layout.second_order:
            first = np.arange(len(part)) % 2 == 0
            for one, other in ((first, ~first), (~first, first)):
                tau = asked.fitted_temperature(rows_of(X[one]), places[one])
                losses[other] = asked.log_losses(rows_of(X[other]), places[other])(tau)
        return Verdict(missed, np.minimum(losses, _WORST))


def _scorer(model: RowModel, settings: RowSettings) -> Scorer:
    make = MeanScorer if settings.probability == "softmax" else Scorer
    return make(model, settings.rule, settings.decoding)


def compared(one: NDArray[Any], other: NDArray[Any]) -> tuple[float, float]:
    """The mean of the difference, row by row, and its standard error."""
    difference = one.astype(np.float64) - other
    return float(difference.mean()), float(difference.std() / np.sqrt(len(difference)))


def best_of(verdicts: Mapping[int, Verdict], default: int | None) -> int:
    """The number of the winner.

    `default` wins unless others are clearly better. Among these, or among all where there is no
    default, the least error wins; within one standard error of it the least log loss.
    """
    rivals = list(verdicts)
    if default is not None and default in verdicts:
        rivals = [i for i in verdicts if _beats(verdicts[i], verdicts[default])]
        if not rivals:
            return default
    least = min(rivals, key=lambda i: verdicts[i].error)
    near = [i for i in rivals if _is_near(verdicts[i], verdicts[least])]
    return min([least, *near], key=lambda i: np.nan_to_num(verdicts[i].log_loss, nan=np.inf))


def _is_near(one: Verdict, least: Verdict) -> bool:
    behind, deviation = compared(one.missed, least.missed)
    return behind <= deviation and not np.isnan(least.log_loss)


def _beats(one: Verdict, default: Verdict) -> bool:
    """Whether a candidate is clearly better by errors or log loss, and not worse by the other."""
    error, error_deviation = compared(one.missed, default.missed)
    loss, loss_deviation = compared(one.losses, default.losses)
    # NaN is not larger: a first-order rule may win by its errors.
    if len(one.missed) < _FEWEST or loss > loss_deviation:
        return False
    fewer = error < -_CLEARLY * error_deviation
    return fewer or (error <= 0 and loss < -_CLEARLY * loss_deviation)
