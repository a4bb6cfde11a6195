"""Training a classifier of graphs, block by block; knows no sources."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn.learners.tasks.graph_settings import GraphSettings, ModelSettings
from surelearn.learners.tasks.graphs import EncodedGraphs, GraphModel, LabelledGraphs
from surelearn.learners.tasks.structured import columns_state, reset_to, with_labels, with_merged
from surelearn.merging import MergeState, Way
from surelearn.training.held_out import HeldOut, warn_if_worse
from surelearn.training.protocol import Order, Report


def encode_block(
    settings: ModelSettings,
    before: GraphModel | None,
    block: LabelledGraphs,
    *,
    declared: NDArray[Any] | None = None,
) -> tuple[GraphModel, EncodedGraphs]:
    """A model that knows the labels and features of a block, and the block as numbers.

    Parameters
    ----------
    settings : ModelSettings
    before : GraphModel or None
        The model that meets them; None: an untrained one.
    block : LabelledGraphs
    declared : ndarray or None
        More labels to know.
    """
    if before is None:
        before = settings.untrained(is_sparse=block.is_sparse)
    classes = with_labels(before.classes, block.labels, declared)
    features = before.features.register(block.X)
    model = before.fitting(classes, features)
    encoded = EncodedGraphs(
        features.table(block.X), model.places(block.y), classes, block.weight, block.numbers
    )
    return model, encoded


class GraphLearner:
    """A classifier of graphs in training; see `protocol.Learner`.

    Its shards know all labels and features from the first: they are merged as they are, without a
    look at names.

    Parameters
    ----------
    settings : GraphSettings
    model : GraphModel or None
        The model to continue with; None: start untrained.
    declared : ndarray or None
        Labels that the model knows from the first graph on.
    watch : function, optional
        Called with each new model.
    """

    def __init__(
        self,
        settings: GraphSettings,
        model: GraphModel | None = None,
        *,
        declared: NDArray[Any] | None = None,
        watch: Callable[[GraphModel], None] | None = None,
    ) -> None:
        self.settings = settings
        self.model = model
        self._declared = declared
        self._watch = watch

    def learn(
        self,
        block: LabelledGraphs | EncodedGraphs,
        order: Order = None,
        *,
        number: int = 1,
        starts_pass: bool = False,
        report: Report | None = None,
    ) -> EncodedGraphs:
        encoded = self.register(block) if isinstance(block, LabelledGraphs) else block
        model, settings = self.model, self.settings
        assert model is not None
        if starts_pass:
            model.mistakes.append(0)
        if encoded.size:
            model.learn(settings.method, encoded, settings.messages, order=order, report=report)
        return encoded

    def register(self, block: LabelledGraphs) -> EncodedGraphs:
        """Register the labels and features of a block, and encode it."""
        model, encoded = encode_block(self.settings, self.model, block, declared=self._declared)
        self.model = model
        if self._watch is not None:
            self._watch(model)
        return encoded

    # ----------------------------------------------------------------- merging

    def fork(self, model: GraphModel | None = None, *, threads: int = 1) -> GraphLearner:
        return GraphLearner(self.settings, model)

    def state(self, how: Way, start: GraphModel | None = None) -> MergeState:
        assert self.model is not None
        return columns_state(self.model, how, n_columns=len(self.model.classes), start=start)

    def take(self, total: MergeState, prior: MergeState | None = None, *, threads: int = 1) -> None:
        self.model = with_merged(self.model, total.merged(prior, threads=threads))
        warn_if_worse(total.held, self._right, total.how)

    def reset_to(self, start: GraphModel, state: MergeState) -> GraphModel | None:
        found: GraphModel | None = reset_to(self.model, start, state)
        return found

    def held_out(self, block: EncodedGraphs, n: int) -> HeldOut:
        records = block.part(block.size - n, block.size)
        return HeldOut(records, self._right(records))

    def _right(self, records: EncodedGraphs) -> NDArray[np.bool_]:
        """Of which nodes the model is right."""
        assert self.model is not None
        free = np.full(len(records.y), -1, dtype=np.int32)
        best, _ = self.model.labels(records.table, self.settings.messages, free, threads=1)
        some = slice(*records.table.node_bounds[[0, -1]])
        return np.asarray(best[some] == records.y[some])
