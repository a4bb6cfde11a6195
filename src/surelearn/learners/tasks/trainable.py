"""Structures in training: blocks are registered, learnt, merged; must not know what they hold."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn.learners.tasks.structure_merging import StructureMergeState
from surelearn.learners.tasks.structured import columns_state, reset_to, with_merged
from surelearn.merging import Way
from surelearn.training.held_out import HeldOut, warn_if_worse
from surelearn.training.protocol import Order, Report


class StructureTrainable:
    """A model of structures in training; see `training.protocol.Trainable`.

    Parameters
    ----------
    settings : settings of the estimator
    model : model or None
        The model to continue with; None: start untrained.
    declared : ndarray or None
        Labels that the model knows from the first structure on.
    watch : function, optional
        Called with each new model.
    same_space : bool, default False
        Whether all shards know the same labels and features: then they are merged column by column,
        without a look at names.
    """

    def __init__(
        self,
        settings: Any,
        model: Any = None,
        *,
        declared: NDArray[Any] | None = None,
        watch: Callable[[Any], None] | None = None,
        same_space: bool = False,
    ) -> None:
        self.settings = settings
        self.model = model
        self._declared = declared
        self._watch = watch
        self._same_space = same_space

    # ------------------------------------------------- what a kind of structures has to say

    @abstractmethod
    def register(self, block: Any) -> Any:
        """Let the model know the labels and features of a block, and encode it."""

    @abstractmethod
    def _learn(self, encoded: Any, order: Order, report: Report | None) -> None:
        """Learn an encoded block by the core."""

    @abstractmethod
    def _right(self, encoded: Any) -> NDArray[np.bool_]:
        """Where the model is right, for each label of a block."""

    # ---------------------------------------------------------------- learning

    def check_all_read(self, *, resumed: bool) -> None:
        pass  # no setting names labels or features

    def check_learnt(self) -> None:
        _check.two_classes(self.model.classes, "fit_stream")

    def learn(
        self,
        block: Any,
        order: Order = None,
        *,
        number: int = 1,
        starts_pass: bool = False,
        report: Report | None = None,
    ) -> Any:
        encoded = self.register(block)
        if starts_pass:
            self.model.mistakes.append(0)
        if encoded.size:
            self._learn(encoded, order, report)
        return encoded

    def _publish(self, model: Any) -> None:
        self.model = model
        if self._watch is not None:
            self._watch(model)

    # ----------------------------------------------------------------- merging

    def fork(self, model: Any = None, *, threads: int = 1) -> Self:
        return type(self)(
            self.settings, model, declared=self._declared, same_space=self._same_space
        )

    def state(self, how: Way, start: Any = None) -> Any:
        if self._same_space:
            n_columns = len(self.model.classes)
            return columns_state(self.model, how, n_columns=n_columns, start=start)
        model = self.settings.untrained() if self.model is None else self.model
        return StructureMergeState.of(model, how)

    def take(self, total: Any, prior: Any = None, *, threads: int = 1) -> None:
        if self._same_space:
            self.model = with_merged(self.model, total.merged(prior, threads=threads))
        else:
            self._publish(total.merged(prior))
        warn_if_worse(total.held, self._right, total.how)

    def reset_to(self, start: Any, state: Any) -> Any:
        """The model at `start` again; None where features may have grown since."""
        return reset_to(self.model, start, state) if self._same_space else None

    def held_out(self, block: Any, n: int) -> HeldOut:
        records = block.part(block.size - n, block.size)
        return HeldOut(records, self._right(records))
