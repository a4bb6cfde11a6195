"""The parts of a model file that only rankers have."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, files
from surelearn._check import FormatError
from surelearn.learners.base import put_model, settings_of
from surelearn.learners.file_parts import (
    diagonal_in,
    layout_in,
    names_in,
    names_out,
    weights_out,
)
from surelearn.learners.ranker import SureRanker
from surelearn.learners.tasks.ranking import RankModel


def ranker_params(ranker: SureRanker) -> dict[str, Any]:
    """Constructor parameters that a reader will accept; they must fit the model."""
    settings_of(ranker).check_fits(ranker.model_)
    params: dict[str, Any] = ranker.get_params(deep=False)
    return params


def ranker_out(ranker: SureRanker) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The settings and tensors of a ranker."""
    settings, cells = weights_out(ranker.model_.weights)
    return {"weights": settings, "skipped": ranker.model_.skipped}, cells | names_out(ranker)


def take_ranker(
    ranker: SureRanker, fields: files.Fields, tensors: files.Tensors, budget: int
) -> None:
    """Put the model of a file in a new ranker."""
    settings, layout = settings_of(ranker), layout_in(fields.inner("layout"))
    if layout.intercept or layout.covariance != "diagonal":
        raise FormatError(f"{fields.where}: layout must be diagonal, without intercept.")
    model = RankModel(
        layout,
        _check.prior(fields.number("initial_variance"), np.dtype(layout.dtype)),
        fields.text("projection", ["precision", "covariance"]),
        diagonal_in(fields.inner("weights"), tensors, layout, n_columns=1, budget=budget),
        skipped=fields.integer("skipped"),
        mistakes=fields.naturals("mistakes"),
        updates=fields.integer("updates"),
    )
    settings.check_fits(model)
    names = names_in(tensors, layout.n_features)
    put_model(ranker, model)
    ranker.n_features_in_ = layout.n_features
    if names is not None:
        ranker.feature_names_in_ = names
