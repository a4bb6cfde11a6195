"""Constructor parameters of a classifier, checked and converted for training."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, _core, constraints, rules
from surelearn.decode import LABELS
from surelearn.learners import reductions
from surelearn.learners.tasks.learning_settings import resolved, sharding
from surelearn.learners.tasks.rows import RowModel
from surelearn.training.protocol import UpdateMethod
from surelearn.weights import Layout, fits

#: The forms of label probabilities: of the mean scores, or over the distribution of the weights.
PROBABILITIES = ("softmax", "exact")

#: With ``passes="auto"``, so many rows are learnt in `fit`, within these numbers of passes; see
#: docs/theory/defaults.md.
_ROWS_LEARNT, _FEWEST_PASSES, _MOST_PASSES = 10_000, 3, 10


@dataclass(frozen=True)
class ClassifierSettings:
    """The checked settings that all classifiers of rows have."""

    multiclass: reductions.Multiclass
    projection: str
    dtype: str
    intercept: bool
    initial_variance: float
    class_weight: dict[Any, float] | str | None

    #: Whether rows may have any number of labels.
    takes_many_labels: ClassVar[bool] = False

    @abstractmethod
    def layout(self, n_features: int) -> Layout:
        """What is stored for each of so many features."""

    @abstractmethod
    def merge_key(self) -> dict[str, Any]:
        """The parameters that models must share to be merged, by name."""

    @abstractmethod
    def check_classes(self, classes: NDArray[Any], model: RowModel) -> None:
        """Raise for classes that a model cannot have."""

    def untrained(self, n_features: int, *, is_sparse: bool) -> RowModel:
        """An untrained model for rows of this width."""
        none: NDArray[Any] = np.zeros(0, dtype=np.int64)
        layout, projection = self.layout(n_features), self.resolved(is_sparse)
        return RowModel(layout, self.initial_variance, projection, none, multiclass=self.multiclass)

    def resolved(self, is_sparse: bool) -> str:
        """The projection for sparse or dense input."""
        return resolved(self.projection, is_sparse=is_sparse)

    def check_fits(self, model: RowModel) -> None:
        """Raise if a setting differs that a fitted model cannot change."""
        _check.same("dtype", model.layout.dtype, self.dtype)
        _check.same("fit_intercept", model.layout.intercept, self.intercept)
        _check.same("initial_variance", model.initial_variance, self.initial_variance)


@dataclass(frozen=True)
class RowSettings(ClassifierSettings):
    """The checked settings of an online classifier."""

    rule: rules.Rule
    constraints: constraints.Constraints
    chooses_constraints: bool  # whether the parameter is "auto"
    method: UpdateMethod
    decoding: str
    covariance: str
    passes: int
    chooses_passes: bool  # whether the parameter is "auto"
    shuffle: bool
    averaged: bool
    verbose: int
    n_shards: int
    combine: str
    merge_every: int | None
    probability: str
    calibrates: bool  # whether rows are kept back to calibrate the probabilities

    takes_many_labels: ClassVar[bool] = True

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> RowSettings:
        """Check every parameter of a `SureClassifier`, and the keyword `calibrate` of `fit`."""
        rule = rules.get(params["rule"])
        core = rule.core()
        covariance = _check.choice("covariance", params["covariance"], ["diagonal", "full"])
        multiclass = reductions.multiclass(params["multiclass"])
        several = multiclass == "joint" and covariance == "diagonal" and not core.first_order
        chooses = _check.is_auto(params["constraints"])
        scheme = _chosen(several) if chooses else _named(params["constraints"])
        cost = _check.cost(params["cost"])
        _check_pieces(rule, core, scheme, covariance=covariance, cost=cost)
        decoding = reductions.decoding(params["decoding"], multiclass, first_order=core.first_order)
        if multiclass != "joint":
            _check_reduced(scheme, covariance=covariance, cost=cost)
        dtype = _check.storage(params["dtype"])
        threads = _check.threads("n_jobs", params["n_jobs"])
        return cls(
            rule=rule,
            constraints=scheme,
            chooses_constraints=chooses,
            method=UpdateMethod(core, scheme.core(), cost, threads),
            multiclass=multiclass,
            decoding=decoding,
            covariance=covariance,
            projection=_check.choice(
                "projection", params["projection"], ["auto", "precision", "covariance"]
            ),
            dtype=dtype.name,
            **_passes(params["passes"], params["n_shards"]),
            shuffle=_check.flag("shuffle", params["shuffle"]),
            intercept=_check.flag("fit_intercept", params["fit_intercept"]),
            averaged=_check.flag("average", params["average"]),
            initial_variance=_check.prior(params["initial_variance"], dtype),
            class_weight=_check.class_weight(params["class_weight"]),
            verbose=_check.verbosity(params["verbose"]),
            probability=_check.choice("probability", params["probability"], PROBABILITIES),
            calibrates=_check.flag("calibrate", params.get("calibrate", True))
            and not core.first_order,
            **sharding(params, rule),
        )

    def layout(self, n_features: int) -> Layout:
        return Layout(
            n_features=n_features,
            intercept=self.intercept,
            second_order=not self.method.rule.first_order,
            averaged=self.averaged,
            dtype=self.dtype,
            covariance=self.covariance,
        )

    def untrained(self, n_features: int, *, is_sparse: bool, many: bool = False) -> RowModel:
        """An untrained model for rows of this width, of one label or of many labels each."""
        model = super().untrained(n_features, is_sparse=is_sparse)
        if not many:
            return model
        self.check_many_labels()
        return replace(model, multiclass=LABELS)

    def check_many_labels(self) -> None:
        """Raise for settings that rows of many labels cannot have."""
        _check.for_many_labels("multiclass", self.multiclass, ["joint", "ovr"])
        _check.for_many_labels("decoding", self.decoding, ["auto"])
        if not self.chooses_constraints:
            _check.for_many_labels("constraints", self.constraints, [constraints.Single()])
        _check.for_many_labels("covariance", self.covariance, ["diagonal"])
        _check.for_many_labels("cost", None if self.method.cost is None else "a matrix", [None])
        _check.for_many_labels("class_weight", self.class_weight, [None])

    def start(
        self, n_features: int, classes: NDArray[Any], *, is_sparse: bool, many: bool = False
    ) -> RowModel:
        """The untrained model of `fit`, with all classes known."""
        model = self.untrained(n_features, is_sparse=is_sparse, many=many)
        self.check_rivals(len(classes) - 1)
        self.check_classes(classes, model)
        return model.with_classes(classes)

    def check_rivals(self, n_rivals: int) -> None:
        """Raise if the constraints that were asked for need more rivals than there are."""
        if not self.chooses_constraints:
            self.constraints.check_rivals(n_rivals)

    def for_rows(self, n: int) -> RowSettings:
        """The settings of `fit` for so many rows: with ``passes="auto"`` few rows get more."""
        if not self.chooses_passes or self.n_shards > 1:
            return self
        passes = -(-_ROWS_LEARNT // max(1, n))
        return replace(self, passes=min(max(passes, _FEWEST_PASSES), _MOST_PASSES))

    @property
    def calibrates_streams(self) -> bool:
        """Whether the temperature follows a stream: by one model, with rows kept back.

        A code that is fixed must know all classes from the first block on.
        """
        follows = self.n_shards == 1 and not reductions.is_fixed(self.multiclass)
        return self.calibrates and follows and self.probability == "softmax"

    def present(
        self, model: RowModel | None, n_features: int, *, is_sparse: bool, many: bool
    ) -> RowModel:
        """The model to continue with; None: an untrained one for such rows."""
        if model is None:
            return self.untrained(n_features, is_sparse=is_sparse, many=many)
        return self.going_on(model)

    def going_on(self, model: RowModel) -> RowModel:
        """A fitted model to continue with under these settings, which must match it."""
        self.check_fits(model)
        projection = model.projection if self.projection == "auto" else self.projection
        return model if projection == model.projection else replace(model, projection=projection)

    @property
    def can_be_kept(self) -> bool:
        """Whether the settings stay valid while the parameters are the same objects.

        A registered rule name can get a new meaning, and a matrix or dict can change in place.
        """
        fixed = self.class_weight is None and self.method.cost is None
        named = isinstance(self.multiclass, str)
        return fixed and named and not isinstance(self.rule, rules.Custom)

    def check_classes(self, classes: NDArray[Any], model: RowModel) -> None:
        """Raise for classes without a cost, without a row of the code, or without memory."""
        _check.cost_fits(self.method.cost, classes)
        reductions.check_classes(model.multiclass, model.classes, classes)
        n_columns, what, more = reductions.demand(model.multiclass, len(classes))
        if n_columns > (0 if model.weights is None else model.weights.capacity):
            fits(model.layout, n_columns, what=what, more=more)

    def check_fits(self, model: RowModel) -> None:
        fitted = model.layout
        if model.many_labels:
            self.check_many_labels()
        else:
            _check.same("multiclass", model.multiclass, self.multiclass)
        _check.same("covariance", fitted.covariance, self.covariance)
        super().check_fits(model)
        _check.same("average", fitted.averaged, self.averaged)
        if fitted.second_order == self.method.rule.first_order:
            _check.same_order(fitted.second_order, self.rule)

    def merge_key(self) -> dict[str, Any]:
        names = ("rule", "covariance", "multiclass", "constraints", "dtype", "initial_variance")
        cost = self.method.cost
        return {
            **{name: getattr(self, name) for name in names},
            "fit_intercept": self.intercept,
            "average": self.averaged,
            "cost": None if cost is None else cost.tolist(),
        }


def _chosen(several: bool) -> constraints.Constraints:
    """The constraints of "auto": the three best rivals raise the accuracy of the first pass."""
    return constraints.Sequential(3) if several else constraints.Single()


def _named(value: Any) -> constraints.Constraints:
    """The constraints of a value or a name other than "auto"."""
    if isinstance(value, str):
        _check.choice("constraints", value, ["auto", *constraints.SCHEMES])
    return constraints.get(value)


def _passes(value: Any, n_shards: Any) -> dict[str, Any]:
    """The number of passes; "auto" without a number of rows: of a stream, or of shards."""
    if isinstance(value, str) and not _check.is_auto(value):
        raise ValueError(_check.must("passes", "be a whole number or 'auto'", value))
    if not _check.is_auto(value):
        return {"passes": _check.count("passes", value), "chooses_passes": False}
    return {"passes": _FEWEST_PASSES if n_shards == 1 else _MOST_PASSES, "chooses_passes": True}


def _check_pieces(
    rule: rules.Rule,
    core: _core.Rule,
    scheme: constraints.Constraints,
    *,
    covariance: str,
    cost: NDArray[np.float64] | None,
) -> None:
    """Raise if rule, scheme, covariance and cost do not work together."""
    if isinstance(scheme, constraints.Exact) and not core.exact:
        raise ValueError(
            f"constraints={scheme!r} needs rule Variance, Stdev, PA, PA1 or PA2, got {rule!r}. "
            "Use Sequential or Parallel, which take every rule."
        )
    if covariance == "full" and core.first_order:
        raise ValueError(
            f"covariance='full' needs a rule that keeps variances, got {rule!r}. Use "
            "covariance='diagonal', or a second-order rule such as 'arow'."
        )
    if cost is not None and not core.asks:
        raise ValueError(
            f"cost needs a rule that asks for a margin, got {rule!r}. Use a CW, SCW, PA, AROW or "
            "NHERD rule."
        )


def _check_reduced(
    scheme: constraints.Constraints, *, covariance: str, cost: NDArray[np.float64] | None
) -> None:
    """Raise for what a binary problem cannot have: several rivals, costs, full covariance."""
    given = {
        "constraints='single'": None if isinstance(scheme, constraints.Single) else repr(scheme),
        "cost=None": None if cost is None else "a cost matrix",
        "covariance='diagonal'": None if covariance == "diagonal" else repr(covariance),
    }
    for needed, got in given.items():
        if got is not None:
            raise ValueError(
                f"multiclass other than 'joint' needs {needed}, got {got}. Use "
                "multiclass='joint', which takes it."
            )


def given_weight(
    class_weight: dict[Any, float] | str | None,
    y: NDArray[Any],
    sample_weight: NDArray[np.float64] | None,
) -> NDArray[np.float64] | None:
    """The weight of each row from `sample_weight` and a dict `class_weight`."""
    if not isinstance(class_weight, dict):
        return sample_weight
    labels, places = np.unique(y, return_inverse=True)
    _check.weighted_kind(class_weight, labels.tolist())
    of_class = [float(class_weight.get(label, 1.0)) for label in labels.tolist()]
    return times(np.asarray(of_class)[places], sample_weight)


def check_weighted(class_weight: dict[Any, float] | str | None, classes: NDArray[Any]) -> None:
    """Raise if `class_weight` names a label that is not among all `classes`."""
    if isinstance(class_weight, dict):
        _check.weighted_classes(class_weight, classes.tolist(), "Classes without a key weigh 1.")


def check_declared(class_weight: dict[Any, float] | str | None, classes: NDArray[Any]) -> None:
    """Raise if `class_weight` names a label that is not declared for a stream.

    Rows of weight 0 are left out, so their labels need not be declared.
    """
    if isinstance(class_weight, dict):
        weights = {label: weight for label, weight in class_weight.items() if weight}
        remedy = "Declare those that come later as well."
        _check.weighted_classes(weights, classes.tolist(), remedy)


def times(weight: NDArray[np.float64], other: NDArray[np.float64] | None) -> NDArray[np.float64]:
    return np.ascontiguousarray(weight if other is None else weight * other, dtype=np.float64)


def balanced(y: NDArray[Any]) -> NDArray[np.float64]:
    """The balanced weight n / (K n_y) of each row, from the counts of y."""
    labels, places, counts = np.unique(y, return_inverse=True, return_counts=True)
    return np.asarray(len(y) / (len(labels) * counts[places]), dtype=np.float64)


def balanced_weights(classes: NDArray[Any], counts: Any) -> dict[Any, float]:
    """The balanced weight of each class, from given counts."""
    if counts is None or len(counts) != len(classes):
        raise ValueError(
            "counts must have one entry for each class where class_weight='balanced', got "
            f"{counts!r}."
        )
    met = np.count_nonzero(counts)
    pairs = zip(classes.tolist(), counts, strict=True)
    return {label: float(np.sum(counts) / (met * n)) for label, n in pairs if n}


def balanced_stream(codes: NDArray[np.intp], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """The balanced weight of each row of a stream, from the counts up to and including the row.

    `counts` are the rows of each class before the first row; K is the number of classes met so far.
    """
    own = np.zeros(len(codes), dtype=np.int64)
    first = np.zeros(len(codes), dtype=bool)
    for k in np.unique(codes):
        places = np.flatnonzero(codes == k)
        own[places] = counts[k] + np.arange(1, len(places) + 1)
        first[places[0]] = counts[k] == 0
    seen = int(counts.sum()) + np.arange(1, len(codes) + 1)
    met = int(np.count_nonzero(counts)) + np.cumsum(first)
    return np.asarray(seen / (met * own), dtype=np.float64)
