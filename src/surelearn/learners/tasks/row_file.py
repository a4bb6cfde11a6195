"""Models of rows from the parts of a file, checked; must not know estimators."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from surelearn import _check, files
from surelearn._check import FormatError
from surelearn.learners import reductions
from surelearn.learners.file_parts import (
    class_code_in,
    labels_in,
    layout_in,
    prior_in,
    scale_in,
    touched,
    whole,
    within,
)
from surelearn.learners.tasks.rows import RowModel
from surelearn.weights import Diagonal, Full


def model_in(
    fields: files.Fields, tensors: files.Tensors, budget: int, *, multiclass: reductions.Multiclass
) -> RowModel:
    """The model; must need at most `budget` bytes."""
    layout = layout_in(fields.inner("layout"))
    classes = labels_in(fields.inner("classes"), budget)
    model = RowModel(
        layout,
        *prior_in(fields, layout),
        classes,
        weights=None,
        counts=np.asarray(fields.naturals("counts", len(classes)), dtype=np.int64),
        mistakes=fields.naturals("mistakes"),
        updates=fields.integer("updates"),
        multiclass=multiclass,
        code=class_code_in(fields, multiclass, len(classes)),
    )
    if fields.has("scale"):
        model.scale = scale_in(fields.inner("scale"), tensors, layout.n_features)
    if reductions.n_columns_of(multiclass, len(classes), model.code):
        model.weights = _weights(fields.inner("weights"), model, tensors, budget)
        model.weights.units = None if model.scale is None else model.scale.units
    return model


def _weights(
    fields: files.Fields, model: RowModel, tensors: files.Tensors, budget: int
) -> Diagonal | Full:
    layout, K = model.layout, len(model.classes)
    n_columns = fields.integer("n_columns")
    if n_columns != reductions.n_columns_of(model.multiclass, K, model.code):
        raise FormatError(f"{fields.where}: n_columns must fit {K} classes, got {n_columns}.")
    within(layout.nbytes(n_columns), budget, fields.where)
    full = layout.covariance == "full"
    arrays = (whole if full else touched)(tensors, layout, n_columns)
    kind: type[Diagonal | Full] = Full if full else Diagonal
    prior = _check.prior(fields.number("prior"), np.dtype(layout.dtype))
    state = {"n_columns": n_columns, "prior": prior, "rounds": fields.integer("rounds")}
    return kind.from_state(
        {"layout": asdict(layout), **dict(zip(kind.arrays, arrays, strict=True)), **state}
    )
