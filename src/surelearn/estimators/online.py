"""The base class of all estimators: rule parameters, fitted attributes, saving."""

from __future__ import annotations

from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from surelearn import rules
from surelearn.weights import Layout


class LearntByRule(Protocol):
    """The attributes that every kind of model has."""

    layout: Layout
    projection: str
    classes: NDArray[Any]
    mistakes: list[int]
    updates: int


M = TypeVar("M", bound=LearntByRule)


def second_order(self: OnlineEstimator[Any]) -> bool:
    """For `available_if`: hide methods that need variances from first-order rules."""
    model = self.__dict__.get("_model")
    if rules.get(self.rule).first_order if model is None else not model.layout.second_order:
        raise AttributeError(
            f"rule must keep variances for this, got {self.rule!r}. Use a second-order rule such "
            "as 'arow'."
        )
    return True


def is_fitted(estimator: OnlineEstimator[Any]) -> bool:
    """Whether an estimator is fitted; scikit-learn's check takes longer than a prediction."""
    return not estimator._fresh


class OnlineEstimator(BaseEstimator, Generic[M]):  # type: ignore[misc]
    """An estimator that learns by a rule; `_model` holds its state."""

    rule: Any
    _model: M

    @property
    def _fresh(self) -> bool:
        return "_model" not in self.__dict__

    def __sklearn_is_fitted__(self) -> bool:
        return not self._fresh

    def _fitted(self) -> M:
        if self._fresh:  # checked first, since check_is_fitted takes longer than a prediction
            check_is_fitted(self)
        return self._model

    def _attribute(self, name: str) -> M:
        """The model behind the fitted attribute `name`; raises NotFittedError before `fit`."""
        if self._fresh:
            raise NotFittedError(
                f"{name} must be learnt first, got no call of fit or partial_fit yet."
            )
        return self._model

    @property
    def model_(self) -> M:
        """The trained model as plain state without scikit-learn; see `surelearn.models`."""
        return self._attribute("model_")

    @property
    def classes_(self) -> NDArray[Any]:
        return self._attribute("classes_").classes

    @property
    def projection_(self) -> str:
        return self._attribute("projection_").projection

    @property
    def n_updates_(self) -> int:
        return self._attribute("n_updates_").updates

    @property
    def n_iter_(self) -> int:
        return len(self._attribute("n_iter_").mistakes)

    @property
    def mistakes_(self) -> NDArray[np.int64]:
        return np.asarray(self._attribute("mistakes_").mistakes, dtype=np.int64)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the cached method of the last row, which holds core objects."""
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_kept", None)
        return state

    def _shell(self) -> Self:
        """A shallow copy to check input on, so that a call that raises changes nothing."""
        shell = object.__new__(type(self))
        shell.__dict__.update(self.__dict__)
        return shell

    def _adopt(self, shell: Self) -> None:
        """Take over the state of a shell after all checks have passed."""
        self.__dict__.update(shell.__dict__)
        for name in self.__dict__.keys() - shell.__dict__.keys():
            del self.__dict__[name]

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

    def save(self, path: Any) -> None:
        """Write the model to one file, which `surelearn.load` reads back.

        Parameters
        ----------
        path : str, path or binary file
            A path is written whole or not at all. An open file, such as ``open(name, "wb")`` or
            `io.BytesIO`, is written from its current position, and stays open.
        """
        from surelearn.estimators.file import write

        write(self, path)


def put_model(estimator: OnlineEstimator[M], model: M) -> None:
    """Give an estimator a model that was loaded or made elsewhere."""
    estimator._model = model
