"""The base class of estimators that learn by a rule: its parameters, and what it has counted."""

from __future__ import annotations

import warnings
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from surelearn import rules
from surelearn.learners.base import Estimator, Fitted


class LearntByRule(Fitted, Protocol):
    """The attributes that every model learnt by a rule has."""

    mistakes: list[int]
    updates: int


M = TypeVar("M", bound=LearntByRule)


class OnlineEstimator(Estimator[M]):
    """An estimator that learns by a rule."""

    rule: Any

    @property
    def n_updates_(self) -> int:
        return self._attribute("n_updates_").updates

    @property
    def n_iter_(self) -> int:
        return len(self._attribute("n_iter_").mistakes)

    @property
    def mistakes_(self) -> NDArray[np.int64]:
        return np.asarray(self._attribute("mistakes_").mistakes, dtype=np.int64)

    def _warn_if_unmoved(self, model: M) -> None:
        """Warn if a model that was trained from scratch has made mistakes and learnt from none.

        A fit with nothing to learn, such as rows of one class, makes no mistake; nor does a model
        that goes on and has learnt all there is.
        """
        mistakes = sum(model.mistakes)
        if mistakes and not model.updates:
            warnings.warn(
                f"rule must move the weights, got {rules.get(self.rule)}, which moved none in "
                f"{mistakes:,} mistakes: nothing was learnt. Use eta above 0.5 (phi above 0) where "
                "a rule has it, or another rule; rows need features that are not 0.",
                UserWarning,
                stacklevel=3,
            )

    def _check_variances(self) -> None:
        model = self.__dict__.get("_model")
        if rules.get(self.rule).first_order if model is None else not model.layout.second_order:
            raise AttributeError(
                f"rule must keep variances for this, got {self.rule!r}. Use a second-order rule "
                "such as 'arow'."
            )

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the cached method of the last row, which holds core objects."""
        state: dict[str, Any] = dict(super().__getstate__())  # type: ignore[call-overload]
        state.pop("_kept", None)
        return state

    # --------------------------------------------------------------- parameters

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; with `deep` also those of a rule object, as ``rule__phi``."""
        params: dict[str, Any] = super().get_params(deep=False)
        if deep and isinstance(self.rule, rules.Rule):
            params.update({f"rule__{name}": x for name, x in self.rule.params().items()})
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``rule__eta=0.9`` replaces the rule by a copy with another eta."""
        inner = {k.removeprefix("rule__"): v for k, v in params.items() if k.startswith("rule__")}
        super().set_params(**{k: v for k, v in params.items() if not k.startswith("rule__")})
        if inner:
            self.rule = rules.get(self.rule).replace(**inner)
        return self
