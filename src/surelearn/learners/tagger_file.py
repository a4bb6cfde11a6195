"""The parts of a model file that only taggers have."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, files
from surelearn._check import FormatError
from surelearn.learners.answers.tagger import Tagger
from surelearn.learners.base import put_model, settings_of
from surelearn.learners.file_parts import (
    diagonal_in,
    labels_in,
    labels_out,
    layout_in,
    weights_out,
)
from surelearn.learners.tasks.sequence_settings import FEATURES, feature_settings
from surelearn.learners.tasks.sequences import SequenceModel
from surelearn.templates import TokenFeatures
from surelearn.weights import Layout

#: The feature state: plain values, and tensors.
_PLAIN = ("kind", "templates", "columns", "n_features")
_TENSORS = ("names", "name_offsets", "pair_names", "pair_name_offsets")


def tagger_params(tagger: Tagger) -> dict[str, Any]:
    """Constructor parameters that a reader will accept; they must fit the model."""
    settings_of(tagger).check_fits(tagger.model_)
    params: dict[str, Any] = tagger.get_params(deep=False)
    return params


def tagger_out(tagger: Tagger) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The settings and tensors of a tagger with its labels, taken as one snapshot."""
    with tagger.model_.lock:
        model = tagger.model_
        state = model.features.state()
        settings: dict[str, Any] = {"features": {name: state[name] for name in _PLAIN}}
        tensors = {name: state[name] for name in _TENSORS}
        if model.weights is not None:
            settings["weights"], cells = weights_out(model.weights)
            tensors |= cells
        # Spare rows for new features are not part of the trained model.
        n_features = model.first + model.features.n_features
    settings["layout"] = {**asdict(model.layout), "n_features": n_features}
    settings["classes"] = labels_out(model.classes)
    return settings, tensors


def take_tagger(tagger: Tagger, fields: files.Fields, tensors: files.Tensors, budget: int) -> None:
    """Put the model of a file in a new tagger."""
    settings = settings_of(tagger)
    features = _features(tagger, fields.object("features"), tensors)
    layout = layout_in(fields.inner("layout"))
    model = SequenceModel(
        layout,
        _check.prior(fields.number("initial_variance"), np.dtype(layout.dtype)),
        fields.text("projection", ["precision", "covariance"]),
        features,
        feature_settings(settings.feature_params),
        classes=labels_in(fields.inner("classes"), budget),
        n_pairs=features.n_pair_features,
        mistakes=fields.naturals("mistakes"),
        updates=fields.integer("updates"),
    )
    _check_layout(layout, model, fields.where)
    settings.check_fits(model)
    put_model(tagger, model)
    if len(model.classes):
        model.weights = diagonal_in(
            fields.inner("weights"), tensors, layout, n_columns=len(model.classes), budget=budget
        )


def _features(tagger: Tagger, plain: dict[str, Any], tensors: files.Tensors) -> TokenFeatures:
    """The features of the file, which must match the parameters.

    Templates and columns that the user left at their defaults come from the file, since defaults
    may change.
    """
    asked = {name: getattr(tagger, name) for name in FEATURES}
    for name in ("templates", "columns"):
        asked[name] = plain[name] if asked[name] is None else asked[name]
    names = {name: tensors[name] for name in _TENSORS}
    features = TokenFeatures.from_state({**asked, **names, "kind": plain["kind"]})
    columns = None if features.columns is None else list(features.columns)
    made = {"templates": features.templates, "columns": columns, "n_features": asked["n_features"]}
    for name, value in made.items():
        _check.same(name, plain[name], value)
    return features


def _check_layout(layout: Layout, model: SequenceModel, where: str) -> None:
    expected = model.first + model.features.n_features
    if layout.intercept or layout.covariance != "diagonal" or layout.n_features != expected:
        raise FormatError(
            f"{where}: layout must be diagonal, without intercept, with {expected} features."
        )
