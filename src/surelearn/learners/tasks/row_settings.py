"""Constructor parameters of classifiers of rows, and the weights of rows that they give."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, _core, constraints, rules
from surelearn.decode import LABELS
from surelearn.learners import reductions
from surelearn.learners.settings import PARAMETERS, Parameter, Params, Settings, resolved
from surelearn.learners.tasks.row_block import RowBlock
from surelearn.learners.tasks.rows import RowModel
from surelearn.read import Labels
from surelearn.training.shards import spans
from surelearn.units import ColumnScale, growth_of
from surelearn.weights import Layout, fits

#: With ``passes="auto"``, so many rows are learnt in `fit`, within these numbers of passes; see
#: docs/theory/defaults.md.
_ROWS_LEARNT, _FEWEST_PASSES, _MOST_PASSES = 10_000, 3, 10
#: Shards with fewer rows of each class make the most passes; see docs/theory/shards.md.
_FEW_OF_CLASS = 5


def _passes(name: str, params: Params) -> int:
    """The number of passes; "auto" without a number of rows, as of a stream: the fewest."""
    value = params[name]
    if isinstance(value, str) and not _check.is_auto(value):
        raise ValueError(_check.must(name, "be a whole number or 'auto'", value))
    if not _check.is_auto(value):
        return _check.count(name, value)
    return _FEWEST_PASSES


def _scheme(name: str, params: Params) -> constraints.Constraints:
    """The constraints; of "auto", the three best rivals raise the accuracy of the first pass."""
    value = params[name]
    if _check.is_auto(value):
        joint = reductions.multiclass(params["multiclass"]) == "joint"
        diagonal = params["covariance"] == "diagonal"
        several = joint and diagonal and not rules.get(params["rule"]).first_order
        return constraints.Sequential(3) if several else constraints.Single()
    if isinstance(value, str):
        _check.choice(name, value, ["auto", *constraints.SCHEMES])
    return constraints.get(value)


class RowSettings(Settings):
    """The checked parameters of a classifier of rows, by a rule or by a solver."""

    own: ClassVar = {
        "constraints": Parameter(_scheme, shared=True),
        "passes": Parameter(_passes),
        "l1": Parameter(PARAMETERS["l1"].check, shared=True),
        # It may change: `going_on`.
        "projection": Parameter(PARAMETERS["projection"].check),
    }

    @classmethod
    def of(cls, params: Params) -> Self:
        settings: Any = super().of(params)
        settings.chooses_passes = _check.is_auto(params.get("passes"))
        settings.chooses_constraints = _check.is_auto(params.get("constraints"))
        checked: Self = settings
        return checked

    def complete(self) -> None:
        own = vars(self)
        by_rule = "rule" in own
        if not by_rule:
            own |= {"multiclass": "joint", "covariance": "diagonal", "projection": "auto"}
            own |= {"dtype": "float64", "n_shards": 1}
        cost = own.setdefault("cost", None)
        own.setdefault("scale", False)
        super().complete()
        if not by_rule:
            if "C" in own:  # 1 / (1 / C) may be another number
                self.initial_variance = _check.prior(self.C, np.dtype(self.dtype))
            return
        self.calibrates = own.get("calibrate", True) and self.second_order
        _check_pieces(
            self.rule, self.method.rule, self.constraints, covariance=self.covariance, cost=cost
        )
        if self.multiclass != "joint":
            _check_reduced(self.constraints, covariance=self.covariance, cost=cost)

    @property
    def takes_many_labels(self) -> bool:
        """Whether rows may have any number of labels."""
        return "rule" in vars(self)

    def layout(self, n_features: int) -> Layout:
        return replace(
            super().layout(n_features), intercept=self.fit_intercept, covariance=self.covariance
        )

    def resolved(self, is_sparse: bool) -> str:
        """The projection for sparse or dense input."""
        return resolved(self.projection, is_sparse=is_sparse)

    def untrained(self, n_features: int, *, is_sparse: bool, many: bool = False) -> RowModel:
        """An untrained model for rows of this width, of one label or of many labels each."""
        if many:
            self.check_many_labels()
        how, none = LABELS if many else self.multiclass, np.zeros(0, dtype=np.int64)
        layout, projection = self.layout(n_features), self.resolved(is_sparse)
        scale = self.new_scale(n_features, is_sparse=is_sparse)
        variance = self.initial_variance
        return RowModel(layout, variance, projection, none, multiclass=how, scale=scale)

    def new_scale(self, n_features: int, *, is_sparse: bool) -> ColumnScale | None:
        """The scale of columns of no rows; None: they are learnt as they are.

        Without an intercept nothing takes what a centre took. Zeros of sparse rows stay zeros.
        """
        if self.scale is False or (is_sparse and self.scale == "auto"):
            return None
        centred = self.fit_intercept and not is_sparse
        return ColumnScale.new(
            n_features, centred=centred, whole=not is_sparse, growth=growth_of(self.covariance)
        )

    def scale_of(self, block: RowBlock, n_features: int) -> ColumnScale | None:
        """The scale of all rows of `fit`, united of those of its shards."""
        scale = self.new_scale(n_features, is_sparse=block.is_sparse)
        if scale is None:
            return None
        parts = []
        for begin, end in spans(block.size, self.n_shards):
            parts.append(scale.blank())
            parts[-1].count(block.rows, begin, end)
        return ColumnScale.united(parts)

    def check_many_labels(self) -> None:
        """Raise for settings that rows of many labels cannot have."""
        _check.for_many_labels("multiclass", self.multiclass, ["joint", "ovr"])
        _check.for_many_labels("decoding", self.decoding, ["auto"])
        if not self.chooses_constraints:
            _check.for_many_labels("constraints", self.constraints, [constraints.Single()])
        _check.for_many_labels("covariance", self.covariance, ["diagonal"])
        _check.for_many_labels("cost", None if self.cost is None else "a matrix", [None])
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

    def for_rows(self, n: int, n_classes: int = 1, n_shards: int = 1) -> RowSettings:
        """The settings of `fit` for so many rows: with ``passes="auto"`` few rows get more.

        So do shards that have few rows of each class: they learn little between two merges.
        """
        if not self.chooses_passes:
            return self
        passes = -(-_ROWS_LEARNT // max(1, n))
        if n_shards > 1 and n < _FEW_OF_CLASS * n_classes * n_shards:
            passes = _MOST_PASSES
        return self.but(passes=min(max(passes, _FEWEST_PASSES), _MOST_PASSES))

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
        fixed = self.class_weight is None and self.cost is None
        named = isinstance(self.multiclass, str)
        return fixed and named and not isinstance(self.rule, rules.Custom)

    def check_classes(self, classes: NDArray[Any], model: RowModel) -> None:
        """Raise for classes without a cost, without a row of the code, or without memory."""
        _check.cost_fits(self.cost, classes)
        reductions.check_classes(model.multiclass, model.classes, classes)
        n_columns, what, more = reductions.demand(model.multiclass, len(classes))
        if n_columns > (0 if model.weights is None else model.weights.capacity):
            fits(model.layout, n_columns, what=what, more=more)

    def check_fits(self, model: RowModel) -> None:
        if model.many_labels:
            self.check_many_labels()
        else:
            _check.same("multiclass", model.multiclass, self.multiclass)
        if self.scale != "auto":
            _check.same("scale", model.scale is not None, self.scale)
        super().check_fits(model)


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
    labels: Labels,
    sample_weight: NDArray[np.float64] | None,
) -> NDArray[np.float64] | None:
    """The weight of each row from `sample_weight` and a dict `class_weight`."""
    if not isinstance(class_weight, dict):
        return sample_weight
    values = labels.values.tolist()
    _check.weighted_kind(class_weight, values)
    of_class = np.array([float(class_weight.get(label, 1.0)) for label in values])
    return times(of_class[labels.codes], sample_weight)


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


def balanced(labels: Labels) -> NDArray[np.float64]:
    """The balanced weight n / (K n_y) of each row, from the counts of the labels."""
    counts = labels.counts
    return np.asarray(labels.n_rows / (np.count_nonzero(counts) * counts[labels.codes]))


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


def balanced_stream(codes: NDArray[Any], counts: NDArray[np.int64]) -> NDArray[np.float64]:
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
