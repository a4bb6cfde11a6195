"""Taggers trained apart as one: labels, features and pairs are matched by name, then summed."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from surelearn import _check
from surelearn.estimators._tagger import SureTagger
from surelearn.merging import MergeState, joined
from surelearn.models.position import put_columns
from surelearn.models.rows import Model
from surelearn.models.sequence_settings import FEATURES, TagPlan
from surelearn.models.sequences import TagModel
from surelearn.weights import Diagonal


def merge_taggers(taggers: list[SureTagger], how: str) -> SureTagger:
    """One tagger; its features are numbered as the first has met them, then the second, ..."""
    plans = [TagPlan.of(tagger.get_params(deep=False)) for tagger in taggers]
    for tagger, plan in zip(taggers, plans, strict=True):
        _check_settings(taggers[0], tagger, plans[0], plan)
    fitted = [tagger for tagger in taggers if not tagger._fresh]
    models = [tagger._snapshot() for tagger in fitted]
    whole = _blank(models[0])
    numbers = [whole.features.absorb(model.features) for model in models]
    classes = models[0].classes
    for model in models:
        classes = joined(classes, model.classes)
    whole = whole.fitting(classes)
    states = [
        MergeState.of(_columns(whole, model, found), how)
        for model, found in zip(models, numbers, strict=True)
    ]
    fresh = [MergeState.of(_columns(whole, None, None), how)] * (len(taggers) - len(models))
    merged = MergeState.combined([*states, *fresh]).result()
    if isinstance(merged.weights, Diagonal):
        whole.weights = merged.weights.with_columns(list(range(len(classes))))
    whole.mistakes, whole.updates = merged.mistakes, merged.updates
    result: SureTagger = clone(taggers[0])
    result._model = whole
    result._know()
    _put_temperature(result, fitted, alone=how == "bayes" or len(taggers) == 1)
    put_columns(result, fitted)
    return result


def _blank(like: TagModel) -> TagModel:
    """A model of the same kind that has seen nothing but knows the same features."""
    return replace(
        like,
        layout=replace(like.layout, n_features=2),
        features=deepcopy(like.features),
        classes=like.classes[:0],
        n_pairs=0,
        weights=None,
        mistakes=[],
        updates=0,
    )


def _columns(
    whole: TagModel,
    model: TagModel | None,
    numbers: tuple[NDArray[np.int64], NDArray[np.int64]] | None,
) -> Model:
    """A model under the rows and columns of the whole, each column a problem of its own.

    Two columns alone would be taken for the one vector of two classes: a third one, which nobody
    has touched, stands beside them.
    """
    found = Model(
        whole.layout,
        whole.initial_variance,
        whole.projection,
        np.arange(max(3, len(whole.classes))),
        counts=np.ones(max(3, len(whole.classes)), np.int64),
        multiclass="ovr",
    )
    if model is None or model.weights is None or numbers is None:
        return found
    known = {label: k for k, label in enumerate(model.classes.tolist())}
    places = [known.get(label, -1) for label in whole.classes.tolist()]
    rows = model.rows_for(whole, np.array(places), *numbers)
    places += [-1] * (3 - len(places))
    found.weights = model.weights.with_features(rows).with_columns(places)
    found.mistakes, found.updates = list(model.mistakes), model.updates
    return found


def _put_temperature(result: SureTagger, fitted: list[SureTagger], *, alone: bool) -> None:
    """A temperature belongs to the weights it was fitted to: kept where these are kept."""
    if len(fitted) == 1 and alone and hasattr(fitted[0], "temperature_"):
        result.temperature_ = fitted[0].temperature_


def _check_settings(one: SureTagger, other: SureTagger, plan: TagPlan, other_plan: TagPlan) -> None:
    """Refuse taggers that were taught differently, or changed after they were."""
    for name in ("rule", "constraints", "projection", "dtype", "averaged", "initial_variance"):
        _check.agree(
            name.replace("averaged", "average"), getattr(plan, name), getattr(other_plan, name)
        )
    for name in FEATURES:
        _check.agree(name, getattr(one, name), getattr(other, name))
    if not other._fresh:
        other_plan.check_fits(other, other._model)
