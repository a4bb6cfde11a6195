"""Training a classifier of graphs, block by block; knows no sources."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn.learners.tasks.graph_settings import ModelSettings
from surelearn.learners.tasks.graphs import EncodedGraphs, GraphModel, LabelledGraphs
from surelearn.learners.tasks.structured import with_labels
from surelearn.learners.tasks.trainable import StructureTrainable
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


class GraphTrainable(StructureTrainable):
    """A classifier of graphs in training."""

    def register(self, block: LabelledGraphs | EncodedGraphs) -> EncodedGraphs:
        if isinstance(block, EncodedGraphs):
            return block
        model, encoded = encode_block(self.settings, self.model, block, declared=self._declared)
        self._publish(model)
        return encoded

    def _learn(self, encoded: EncodedGraphs, order: Order, report: Report | None) -> None:
        settings = self.settings
        self.model.learn(settings.method, encoded, settings.messages, order=order, report=report)

    def _right(self, encoded: EncodedGraphs) -> NDArray[np.bool_]:
        free = np.full(len(encoded.y), -1, dtype=np.int32)
        best, _ = self.model.labels(encoded.table, self.settings.messages, free, threads=1)
        some = slice(*encoded.table.node_bounds[[0, -1]])
        return np.asarray(best[some] == encoded.y[some])
