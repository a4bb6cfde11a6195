"""What learners of structures share, be it sequences or groups: the loop of a pass, merging."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn.merging import Merged, MergeState, Way
from surelearn.models.protocol import refused
from surelearn.weights import Tally

#: Structures between two reports of progress.
_REPORT = 1 << 16


def learn_in_turns(
    model: Any,
    size: int,
    learn: Callable[[tuple[int, int], NDArray[np.uint64]], bool],
    *,
    name: Callable[[int], tuple[int, int]],
    unit: str,
    report: Callable[[Tally], None] | None = None,
) -> None:
    """One pass over structures; a bad one raises `Refused` after those before it are learnt.

    Parameters
    ----------
    model : SequenceModel or RankModel
        Its mistakes and updates are counted, also if the pass is interrupted.
    size : int
        Number of structures to learn.
    learn : function
        Learns a span of them and adds to (learnt, mistakes, updates); returns whether one was
        refused.
    name : function
        For the structure in this place: its number in the user's data, and how many records come
        before it in this call.
    unit : str
        The word for a structure.
    report : function, optional
    """
    if not model.mistakes:
        model.mistakes.append(0)
    done, learnt, stopped = np.zeros(3, np.uint64), 0, False
    try:
        while learnt < size and not stopped:
            end = size if report is None else min(size, learnt + _REPORT)
            stopped = learn((learnt, end), done)
            learnt = int(done[0])
            if report is not None:
                report(Tally(*done.tolist()))
    finally:
        model.mistakes[-1] += int(done[1])
        model.updates += int(done[2])
    if stopped:
        number, before = name(learnt)
        raise refused(model, number, before, exact=False, unit=unit)


# --------------------------------------------------------------------------- merging


def columns_state(
    model: Any, how: Way, *, n_columns: int, start: Any = None, counts: NDArray[Any] | None = None
) -> MergeState:
    """What merging needs from a model each column of which is merged for itself."""
    return MergeState.of_columns(
        model.weights,
        how,
        layout=model.layout,
        initial_variance=model.initial_variance,
        n_columns=n_columns,
        mistakes=model.mistakes,
        updates=model.updates,
        start=None if start is None else start.weights,
        counts=counts,
    )


def with_merged(model: Any, found: Merged) -> Any:
    """A model with merged weights and counters; `found` has no weights if no part has learnt."""
    weights = model.weights if found.weights is None else found.weights
    return replace(model, weights=weights, mistakes=found.mistakes, updates=found.updates)


def rewound(model: Any, start: Any, state: MergeState) -> Any:
    """A model as it was at `start`, given its state since; None if that is unknown."""
    before = state.start_of_moves()
    if model is None or model.weights is None or start.weights is None or before is None:
        return None
    if before["prior"] != start.weights.prior:
        return None
    weights = model.weights.moved(before)
    return replace(model, weights=weights, mistakes=list(start.mistakes), updates=start.updates)
