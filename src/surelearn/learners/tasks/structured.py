"""What learners of sequences, graphs and groups share: labels, the loop of a pass, merging."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, merging, probability
from surelearn.merging import Merged, MergeState, Way
from surelearn.training.protocol import refused
from surelearn.weights import Tally

#: Structures between two reports of progress.
_REPORT = 1 << 16


def weighted(
    X: list[Any], y: list[list[Any]], sample_weight: Any
) -> tuple[list[Any], list[list[Any]], NDArray[np.float64] | None, NDArray[np.int64] | None]:
    """Structures, labels and weights without those of weight 0; their numbers, if any is left out.

    Parameters
    ----------
    X : list of structures
    y : list of lists of labels
    sample_weight : array or None
    """
    weight = _check.sample_weight(sample_weight, len(y))
    if weight is None or weight.all():
        return X, y, weight, None
    numbers = np.flatnonzero(weight)
    return [X[i] for i in numbers], [y[i] for i in numbers], weight[numbers], numbers


def places_of(y: list[list[Any]], classes: NDArray[Any]) -> NDArray[np.int32]:
    """The position of each label among the classes, list after list."""
    places = {label: k for k, label in enumerate(classes.tolist())}
    return np.fromiter(map(places.__getitem__, chain.from_iterable(y)), np.int32)


def known_places(known: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
    """The position of each class among the known ones; -1: it is not known."""
    places = {label: k for k, label in enumerate(known.tolist())}
    return np.array([places.get(label, -1) for label in classes.tolist()], dtype=np.int64)


def with_labels(
    classes: NDArray[Any], labels: NDArray[Any], declared: NDArray[Any] | None
) -> NDArray[Any]:
    """All labels known so far, including the declared ones."""
    for some in (labels[:0] if declared is None else declared, labels):
        _check.one_kind(classes, some)
        classes = merging.merged_classes(classes, np.unique(some))
    return classes


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
    model : SequenceModel, GraphModel or RankModel
        What is learnt is counted, also if the pass is interrupted.
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
    done, learnt, stopped = np.zeros(3, np.uint64), 0, False
    try:
        while learnt < size and not stopped:
            end = size if report is None else min(size, learnt + _REPORT)
            stopped = learn((learnt, end), done)
            learnt = int(done[0])
            if report is not None:
                report(Tally(*done.tolist()))
    finally:
        if done[0]:
            if not model.mistakes:
                model.mistakes.append(0)
            model.mistakes[-1] += int(done[1])
        model.updates += int(done[2])
        model.records_learnt += int(done[0])
    if stopped:
        number, before = name(learnt)
        raise refused(model, number, before, exact=False, unit=unit)


def check_fit(block: Any, unit: str) -> None:
    """Refuse structures that a model cannot be fitted to: `LabelledSequences`, `LabelledGraphs`."""
    if block.numbers is not None:  # some weights are zero
        _check.some_weight(block.size, unit)
    _check.two_classes(block.labels, "fit")


# ---------------------------------------------------------------------------- answers


def share_right(
    y: list[list[Any]], predicted: list[list[Any]], weight: NDArray[np.float64] | None
) -> float:
    """The share of labels that were predicted right; those of a structure have its weight."""
    factor = np.ones(len(y)) if weight is None else weight
    right = [
        sum(a == b for a, b in zip(*both, strict=True)) for both in zip(y, predicted, strict=True)
    ]
    total = float(factor @ np.array([len(own) for own in y], dtype=np.float64))
    return float(factor @ np.array(right, dtype=np.float64)) / total if total else float("nan")


def fitted_temperature(
    marginals: Callable[[float], NDArray[np.float64]], places: NDArray[np.int32]
) -> float:
    """The temperature with the least log loss of the marginals, drawn to 1 if labels are few.

    Parameters
    ----------
    marginals : function
        Gives the probability of each label, a row for each part, at a temperature.
    places : ndarray of int
        The right label of each part.
    """

    def log_probabilities(temperature: float) -> NDArray[np.float64]:
        own = marginals(temperature)[np.arange(len(places)), places]
        return np.asarray(np.log(np.maximum(own, np.finfo(float).tiny)))

    return probability.best_temperature(log_probabilities, shrink=True, near=1e-4)


# --------------------------------------------------------------------------- merging


def all_classes(models: Sequence[Any]) -> NDArray[Any]:
    """The labels of all models, sorted."""
    classes: NDArray[Any] = models[0].classes
    for model in models:
        classes = merging.merged_classes(classes, model.classes)
    return classes


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


def reset_to(model: Any, start: Any, state: MergeState) -> Any:
    """A model as it was at `start`, given its state since; None if that is unknown."""
    before = state.start_of_moves()
    if model is None or model.weights is None or start.weights is None or before is None:
        return None
    if before["prior"] != start.weights.prior:
        return None
    weights = model.weights.put_features(before)
    return replace(model, weights=weights, mistakes=list(start.mistakes), updates=start.updates)
