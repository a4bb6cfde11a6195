"""Constructor parameters of a kernel classifier, checked and converted for training."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, _core, kernels, rules
from surelearn.dual import DualForm, KernelRows
from surelearn.kernels import Kernel
from surelearn.learners import reductions
from surelearn.learners.tasks.kernel import KernelModel
from surelearn.weights import Layout


@dataclass(frozen=True)
class KernelSettings:
    """The checked settings of a kernel classifier."""

    rule: rules.Rule
    core: _core.Rule
    kernel: str | Callable[[Any, Any], Any]
    gamma: float | str
    degree: int
    coef0: float
    budget: int | None
    multiclass: reductions.Multiclass
    passes: int
    shuffle: bool
    intercept: bool
    initial_variance: float
    class_weight: dict[Any, float] | str | None
    threads: int
    verbose: int

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> KernelSettings:
        """Check every parameter of a `SureKernelClassifier`."""
        rule, budget = rules.get(params["rule"]), params["budget"]
        core = rule.core()
        multiclass = reductions.multiclass(params["multiclass"])
        if multiclass == "joint":
            raise ValueError(
                "multiclass must be 'ovr', 'ovo', 'ecoc' or a coding matrix for kernels, got "
                "'joint'."
            )
        reductions.decoding(params["decoding"], multiclass, first_order=core.first_order)
        return cls(
            rule=rule,
            core=core,
            kernel=kernels.check(params["kernel"]),
            gamma=kernels.checked_gamma(params["gamma"]),
            degree=_check.count("degree", params["degree"]),
            coef0=_check.number("coef0", params["coef0"], "[0, inf)", low=0.0),
            budget=None if budget is None else _check.count("budget", budget, least=2),
            multiclass=multiclass,
            passes=_check.count("passes", params["passes"]),
            shuffle=_check.flag("shuffle", params["shuffle"]),
            intercept=_check.flag("fit_intercept", params["fit_intercept"]),
            initial_variance=_check.prior(params["initial_variance"], np.dtype(np.float64)),
            class_weight=_check.class_weight(params["class_weight"]),
            threads=_check.threads("n_jobs", params["n_jobs"]),
            verbose=_check.verbosity(params["verbose"]),
        )

    def untrained(self, rows: KernelRows) -> KernelModel:
        """An untrained model, whose kernel is made for the first rows."""
        kernel = self._kernel_for(rows.X, self.gamma, rows.numbers)
        layout = Layout(
            n_features=int(rows.X.shape[1]),
            intercept=self.intercept,
            second_order=not self.core.first_order,
            averaged=False,
            dtype="float64",
            covariance="full",
        )
        form, none = self.form(kernel), np.zeros(0, np.int64)
        return KernelModel(layout, form, none, multiclass=self.multiclass)

    def check_fits(self, model: KernelModel) -> None:
        """Raise if a setting differs that a fitted model cannot change."""
        known = model.form
        _check.same("multiclass", model.multiclass, self.multiclass)
        if model.layout.second_order == self.core.first_order:
            _check.same_order(model.layout.second_order, self.rule)
        _check.same("kernel", known.kernel, self._kernel_like(known.kernel))
        form = self.form(known.kernel)
        _check.same("fit_intercept", known.intercept, form.intercept)
        _check.same("initial_variance", known.prior, form.prior)
        _check.same("budget", known.budget or None, self.budget)

    def form(self, kernel: Kernel) -> DualForm:
        """The form of the problems; rules of first order have a fixed variance of 1."""
        second_order = not self.core.first_order
        return DualForm(
            kernel,
            self.intercept,
            second_order=second_order,
            prior=self.initial_variance if second_order else 1.0,
            budget=self.budget or 0,
        )

    def _kernel_for(
        self, X: Any, gamma: float | str, numbers: NDArray[np.int64] | None = None
    ) -> Kernel:
        return kernels.get(
            self.kernel, X, gamma=gamma, degree=self.degree, coef0=self.coef0, numbers=numbers
        )

    def _kernel_like(self, known: Kernel) -> Kernel:
        """The kernel of these settings, for the rows that another one was made for."""
        if isinstance(known, kernels.Precomputed) and self.kernel == "precomputed":
            return known
        gamma = getattr(known, "gamma", 1.0) if isinstance(self.gamma, str) else self.gamma
        none = np.zeros((0, 0))
        return self._kernel_for(none, gamma, numbers=np.zeros(0, np.int64))

    def check_classes(self, classes: NDArray[Any], model: KernelModel) -> None:
        """Raise for classes without a row of the code."""
        reductions.check_classes(self.multiclass, model.classes, classes)
