"""What every estimator shares: a rule among its parameters, a model behind fitted attributes."""

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
    """What is asked of every kind of model."""

    layout: Layout
    projection: str
    classes: NDArray[Any]
    mistakes: list[int]
    updates: int


M = TypeVar("M", bound=LearntByRule)


def second_order(self: OnlineEstimator[Any]) -> bool:
    """For `available_if`: first-order rules keep no variances, so what needs them is not there."""
    model = self.__dict__.get("_model")
    if rules.get(self.rule).first_order if model is None else not model.layout.second_order:
        raise AttributeError(
            f"rule must keep variances for this, got {self.rule!r}. Use a second-order rule such "
            "as 'arow'."
        )
    return True


def is_fitted(estimator: OnlineEstimator[Any]) -> bool:
    """Whether anything has been learnt; scikit-learn's check takes longer than a prediction."""
    return not estimator._fresh


class OnlineEstimator(BaseEstimator, Generic[M]):  # type: ignore[misc]
    """An estimator that learns by a rule; what it has learnt is in `_model`."""

    rule: Any
    _model: M

    @property
    def _fresh(self) -> bool:
        return "_model" not in self.__dict__

    def __sklearn_is_fitted__(self) -> bool:
        return not self._fresh

    def _fitted(self) -> M:
        if self._fresh:  # asked first: scikit-learn's check takes longer than a prediction
            check_is_fitted(self)
        return self._model

    def _attribute(self, name: str) -> M:
        """The model behind a fitted attribute, which must not be there before `fit`."""
        if self._fresh:
            raise NotFittedError(
                f"{name} must be learnt first, got no call of fit or partial_fit yet."
            )
        return self._model

    @property
    def model_(self) -> M:
        """What has been learnt, as plain state without scikit-learn: see `surelearn.models`."""
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
        """Without the settings kept for speed, which holds a rule of the core."""
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_kept", None)
        return state

    def _shell(self) -> Self:
        """A twin to check input on, so that a refused call leaves this one as it is."""
        shell = object.__new__(type(self))
        shell.__dict__.update(self.__dict__)
        return shell

    def _adopt(self, shell: Self) -> None:
        """Take over what was learnt of the input's shape, and the model."""
        self.__dict__.update(shell.__dict__)
        for name in self.__dict__.keys() - shell.__dict__.keys():
            del self.__dict__[name]

    # --------------------------------------------------------------- parameters

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; with `deep` also those of a rule value, as ``rule__phi``."""
        params: dict[str, Any] = super().get_params(deep=False)
        if deep and isinstance(self.rule, rules.Rule):
            params.update({f"rule__{name}": x for name, x in self.rule.params().items()})
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``rule__eta=0.9`` puts a new rule value in place."""
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
            A path is written whole or not at all. A file such as ``open(name, "wb")`` or
            `io.BytesIO` is written to from where it stands, and stays open.
        """
        from surelearn.estimators.file import write

        write(self, path)


def put_model(estimator: OnlineEstimator[M], model: M) -> None:
    """Make a model, from a file or from elsewhere, that of an estimator."""
    estimator._model = model
