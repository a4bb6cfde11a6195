"""The task of kernel classifiers: rows learnt by support points, in files, judged."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surelearn import _check, files, kernels
from surelearn._check import FormatError
from surelearn.dual import Dual, ProblemState
from surelearn.learners import reductions
from surelearn.learners.base import put_model, settings_of
from surelearn.learners.file_parts import (
    class_code_in,
    code_out,
    labels_in,
    labels_out,
    layout_in,
    names_in,
    names_out,
    put_names,
    within,
)
from surelearn.learners.task import Task
from surelearn.learners.tasks.kernel import KernelModel, KernelSettings
from surelearn.learners.tasks.row_task import RowTask, class_facts, multiclass_name
from surelearn.rows import rows_of

Tensors = dict[str, NDArray[Any]]

#: Tensors of support points in rows: dense, sparse, or row numbers of a precomputed kernel.
_CSR = ("point_starts", "point_features", "point_values")


class KernelTask(RowTask):
    """Kernel classifiers of rows, which have support points in place of weights."""

    settings = KernelSettings
    not_merged = (
        "models must have weights of common features to be merged, got SureKernelClassifier, "
        "whose support points differ. Train one on the rows of all."
    )

    # ------------------------------------------------------------------- files

    def check_params(self, where: str, params: dict[str, Any]) -> None:
        super().check_params(where, params)
        try:
            kernels.check(params.get("kernel"))
        except (TypeError, ValueError):  # the name of a function that is not registered here
            short = str(params.get("kernel"))[:60]
            raise FormatError(
                f"{where} must have a kernel that is known here, got {short!r}. If it is a "
                f"function of yours, call surelearn.kernels.register({short!r}, function) first."
            ) from None

    def params(self, estimator: Any) -> dict[str, Any]:
        params = Task.params(self, estimator)
        kernel = estimator.model_.form.kernel
        if isinstance(kernel, kernels.Custom):
            if kernel.registered_name is None:
                raise ValueError(
                    f"kernel must have a name to be saved, got {kernel.function!r}. Call "
                    "surelearn.kernels.register(name, function) first."
                )
            params["kernel"] = kernel.registered_name
        return params

    def packed(self, estimator: Any) -> tuple[dict[str, Any], Tensors]:
        model = estimator.model_
        kernel = model.form.kernel
        settings: dict[str, Any] = {
            "kernel": {"name": kernel.name, "params": _kernel_params(kernel)},
            "classes": labels_out(model.classes),
            "counts": model.counts.tolist(),
        }
        if model.code is not None:
            settings["code"] = code_out(model.code)
        tensors: Tensors = {} if model.support is None else {"support": model.support}
        if model.weights is not None:
            settings["problems"], more = _weights_out(model.weights)
            tensors |= more
        return settings, tensors | names_out(estimator)

    def put(
        self, estimator: Any, fields: files.Fields, tensors: files.Tensors, budget: int
    ) -> None:
        settings = settings_of(estimator)
        model = _model(fields, tensors, budget, settings)
        settings.check_fits(model)
        put_model(estimator, model)
        estimator.n_features_in_ = model.layout.n_features
        put_names(estimator, names_in(tensors, model.layout.n_features))

    # ---------------------------------------------------------------- commands

    def facts(self, model: Any) -> dict[str, Any]:
        known = model.model_.weights
        return {
            **class_facts(model),
            "multiclass": multiclass_name(model),
            "kernel": repr(model.kernel_),
            "budget": model.budget,
            **({} if known is None else {"points": known.n_points}),
        }


#: The task of kernel classifiers.
KERNEL = KernelTask()


def _kernel_params(kernel: kernels.Kernel) -> dict[str, Any]:
    return {} if isinstance(kernel, kernels.Custom) else kernel.params()


# ---------------------------------------------------------------------------------- the model


def _model(
    fields: files.Fields, tensors: files.Tensors, budget: int, settings: KernelSettings
) -> KernelModel:
    classes = labels_in(fields.inner("classes"), budget)
    kernel = _kernel_in(fields.inner("kernel"))
    model = KernelModel(
        layout_in(fields.inner("layout")),
        settings.form(kernel),
        classes,
        counts=np.asarray(fields.naturals("counts", len(classes)), dtype=np.int64),
        mistakes=fields.naturals("mistakes"),
        updates=fields.integer("updates"),
        multiclass=settings.multiclass,
        code=class_code_in(fields, settings.multiclass, len(classes)),
    )
    if len(classes) >= 2:
        model.weights = _weights_in(fields.inner("problems"), model, tensors, budget)
        if "support" in tensors:
            (model.support,) = _cut(
                "support", _numbers(tensors, "support"), [model.weights.n_points]
            )
    return model


def _kernel_in(fields: files.Fields) -> kernels.Kernel:
    """The kernel with its parameters, which the constructor's checks have been made for."""
    params = fields.object("params")
    kernel = kernels.restored(fields.text("name"), params)
    numbers = [x for x in params.values() if x is not None]
    if not all(isinstance(x, int | float) and x >= 0 for x in numbers):
        raise FormatError(f"{fields.where}: params must be numbers, not negative.")
    return kernel


def _weights_out(weights: Dual) -> tuple[dict[str, Any], Tensors]:
    """Sizes and rounds of the problems, and their numbers one after the other."""
    problems = weights.state()
    tensors: Tensors = {
        "point_numbers": np.concatenate([one.points for one in problems]),
        "nu": np.concatenate([one.nu for one in problems]),
        "pi": np.concatenate([one.pi[np.tril_indices(len(one.pi))] for one in problems]),
        "sites": np.concatenate([one.sites for one in problems]),
        **_points_out(weights.points),
    }
    sizes, rounds = [len(one.points) for one in problems], [one.rounds for one in problems]
    return {"sizes": sizes, "rounds": rounds}, tensors


def _points_out(points: Any) -> Tensors:
    if points is None:
        return {}
    if sparse.issparse(points):
        arrays = (points.indptr.astype(np.int64), points.indices.astype(np.int64), points.data)
        return dict(zip(_CSR, arrays, strict=True))
    return {"points": points}


def _weights_in(
    fields: files.Fields, model: KernelModel, tensors: files.Tensors, budget: int
) -> Dual:
    n_problems = reductions.n_columns_of(model.multiclass, len(model.classes), model.code)
    sizes, rounds = (fields.naturals(name, n_problems) for name in ("sizes", "rounds"))
    most = model.form.budget
    if most and max(sizes) > most:
        raise FormatError(f"{fields.where}: sizes must be at most budget={most}.")
    widths = sizes if model.form.second_order else [0] * n_problems
    within(8 * sum(width * width for width in widths), budget, fields.where)
    points = _points_in(tensors, model)
    own = _numbers(tensors, "point_numbers")
    if len(own) and own.max() >= (0 if points is None else points.shape[0]):
        raise ValueError("point_numbers must be below the number of points.")
    halves = [width * (width + 1) // 2 for width in widths]
    parts = zip(
        _cut("point_numbers", own, sizes),
        _cut("nu", _doubles(tensors, "nu"), sizes),
        map(_square, _cut("pi", _doubles(tensors, "pi"), halves), widths),
        _cut("sites", _doubles(tensors, "sites", width=2), sizes),
        rounds,
        strict=True,
    )
    problems = (model.form.restored(_sound(ProblemState(*part))) for part in parts)
    return Dual(model.form, points, tuple(problems))


def _cut(name: str, numbers: NDArray[Any], sizes: list[int]) -> list[NDArray[Any]]:
    """The numbers of each problem."""
    if len(numbers) != sum(sizes):
        raise ValueError(f"{name} must have {sum(sizes)} numbers, got {len(numbers)}.")
    return [np.ascontiguousarray(part) for part in np.split(numbers, np.cumsum(sizes)[:-1])]


def _sound(problem: ProblemState) -> ProblemState:
    """The numbers of a problem, which must be possible."""
    if len(np.unique(problem.points)) != len(problem.points):
        raise ValueError("point_numbers must be distinct in each problem.")
    if (np.diagonal(problem.pi) > 0).any():
        raise ValueError("pi must not be positive on the diagonal.")
    if (problem.sites[:, 1] < 0).any():
        raise ValueError("sites must have gains that are not negative.")
    return problem


def _square(half: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """The symmetric matrix of a lower triangle."""
    pi = np.zeros((size, size))
    pi[np.tril_indices(size)] = half
    return pi + np.tril(pi, -1).T


def _points_in(tensors: files.Tensors, model: KernelModel) -> Any:
    """The checked support points."""
    n_features = model.layout.n_features
    if isinstance(model.form.kernel, kernels.Precomputed):
        points = _numbers(tensors, "points")
        if len(points) and points.max() >= n_features:
            raise ValueError("points must be row numbers of the training matrix.")
        return points
    if _CSR[0] not in tensors and "points" not in tensors:
        return None
    points = _sparse_in(tensors, n_features) if _CSR[0] in tensors else tensors["points"]
    if points.dtype != np.float64 or points.ndim != 2 or points.shape[1] != n_features:
        raise ValueError("points must have a number for each feature.")
    _check.sound_rows(rows_of(points).fault, "points")
    return points


def _sparse_in(tensors: files.Tensors, n_features: int) -> Any:
    """Sparse points, whose indices are not checked yet."""
    starts, features = (_numbers(tensors, name) for name in _CSR[:2])
    values = _doubles(tensors, _CSR[2])
    if not len(starts) or len(features) != len(values):
        raise ValueError("points must be a valid CSR matrix.")
    points = sparse.csr_matrix((len(starts) - 1, n_features))
    points.indptr, points.indices, points.data = starts, features, values
    return points


def _numbers(tensors: files.Tensors, name: str) -> NDArray[np.int64]:
    """A checked tensor of counts."""
    numbers = tensors[name]
    if numbers.dtype != np.int64 or numbers.ndim != 1 or (numbers < 0).any():
        raise ValueError(f"{name} must be one row of integers, not negative.")
    return np.ascontiguousarray(numbers)


def _doubles(tensors: files.Tensors, name: str, *, width: int | None = None) -> Any:
    """A checked tensor of numbers: one row, or rows of this width."""
    numbers = tensors[name]
    shape = numbers.shape[1:] if width is not None else (*numbers.shape[1:], None)
    if shape != (width,) or numbers.dtype != np.float64 or not np.isfinite(numbers).all():
        raise ValueError(f"{name} must be finite numbers, {width or 1} in a row.")
    return np.ascontiguousarray(numbers)
