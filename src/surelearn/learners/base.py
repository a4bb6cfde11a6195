"""The base class of all estimators: parameters, fitted state and saving; knows no algorithm."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from types import MethodType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NoReturn, Protocol, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from surelearn._scikit_learn import BaseEstimator
from surelearn.learners import deciding
from surelearn.learners.checks import taken
from surelearn.parameters import Parametrized
from surelearn.weights import Layout

if TYPE_CHECKING:
    from surelearn.learners.task import Task
    from surelearn.read import Batch


class Fitted(Protocol):
    """The attributes that every kind of model has."""

    layout: Layout


class FittedClasses(Fitted, Protocol):
    """The attributes of a model that knows classes."""

    classes: NDArray[Any]


M = TypeVar("M", bound=Fitted)
C = TypeVar("C", bound=FittedClasses)
E = TypeVar("E", bound="Estimator[Any]")


def require_variances(estimator: Estimator[Any]) -> None:
    """Raise AttributeError if the model keeps no variances."""
    estimator._check_variances()


class _SecondOrderMethod:
    """A method that estimators without variances do not have."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method
        wrapper: Any = self  # a descriptor, not the function that `update_wrapper` is typed for
        update_wrapper(wrapper, method)

    def __get__(self, estimator: Estimator[Any] | None, owner: type[Any]) -> Callable[..., Any]:
        if estimator is None:
            return self._method
        try:
            require_variances(estimator)
        except Exception as error:  # of whatever kind: hasattr must be False
            raise AttributeError(
                f"This {owner.__name__!r} has no attribute {self._method.__name__!r}"
            ) from error
        return MethodType(self._method, estimator)


F = TypeVar("F", bound=Callable[..., Any])


def with_variances(method: F) -> F:
    """Hide a method that needs variances from estimators without them."""
    hidden: Any = _SecondOrderMethod(method)
    shown: F = hidden
    return shown


def not_fitted(message: str) -> NoReturn:
    """Raise scikit-learn's NotFittedError."""
    from sklearn.exceptions import NotFittedError

    raise NotFittedError(message)


def is_fitted(estimator: Estimator[Any]) -> bool:
    """Whether an estimator is fitted; scikit-learn's check takes longer than a prediction."""
    return not estimator._fresh


def with_model(estimator: E, model: Any) -> E:
    """The estimator itself, or a twin, with another model of the same classes and features."""
    if model is estimator._model:
        return estimator
    twin = estimator._shell()
    twin._model = model
    return twin


class Estimator(BaseEstimator, Generic[M]):  # type: ignore[misc]
    """An estimator whose `_model` holds what was learnt."""

    #: What this kind of learner says of itself.
    task: ClassVar[Task]

    _model: M

    # Those of scikit-learn read the signature of the constructor at each call.
    get_params = Parametrized.get_params
    set_params = Parametrized.set_params

    choose_abstention = with_variances(deciding.choose_abstention)
    choose_sets = with_variances(deciding.choose_sets)
    choose_novelty = with_variances(deciding.choose_novelty)
    predict_set = with_variances(deciding.predict_set)
    novelty = with_variances(deciding.novelty)
    coverage_ = property(deciding.coverage_)
    risk_bound_ = property(deciding.risk_bound_)
    n_certified_ = property(deciding.n_certified_)

    def _settings_for(self, **instead: Any) -> Any:
        """The checked parameters, some of them replaced."""
        params = Parametrized.get_params(cast(Any, self))
        return self.task.settings.of({**params, **instead})

    def _forget(self) -> None:
        """Drop what belongs to another model."""
        for name in ("temperature_", "stream_", "_decisions"):
            self.__dict__.pop(name, None)

    @property
    def _fresh(self) -> bool:
        return "_model" not in self.__dict__

    def __sklearn_is_fitted__(self) -> bool:
        return not self._fresh

    def _fitted(self) -> M:
        if self._fresh:
            not_fitted(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with "
                "appropriate arguments before using this estimator."
            )
        return self._model

    def _attribute(self, name: str) -> M:
        """The model behind the fitted attribute `name`; raises NotFittedError before `fit`."""
        if self._fresh:
            not_fitted(f"{name} must be learnt first, got no call of fit or partial_fit yet.")
        return self._model

    @property
    def model_(self) -> M:
        """The trained model as plain state without scikit-learn; see `surelearn.learners`."""
        return self._attribute("model_")

    @property
    def classes_(self: Estimator[C]) -> NDArray[Any]:
        return self._attribute("classes_").classes

    def _check_variances(self) -> None:
        """Raise AttributeError if the model keeps no variances."""

    def __view__(self, X: Any, **records: Any) -> deciding.View:
        """What this learner says of some records."""
        raise NotImplementedError

    def _n_records(self, y: Any, **records: Any) -> int:
        """The number of labelled records, as they are given to `fit`."""
        return int(y.shape[0]) if hasattr(y, "shape") else len(y)

    def _picked(
        self, X: Any, y: Any, numbers: NDArray[np.int64], **records: Any
    ) -> tuple[Any, Any, dict[str, Any]]:
        """Some of the labelled records, by their numbers, as they are given to `fit`."""
        return taken(X, numbers), taken(y, numbers), records

    def _examples_of(self, batch: Batch) -> tuple[Any, Any, dict[str, Any]]:
        """A batch of labelled records of a source, as they are given to `fit`."""
        return batch.X, batch.y, {}

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

    def save(self, path: Any) -> None:
        """Write the model to one file, which `surelearn.load` reads back.

        Parameters
        ----------
        path : str, path or binary file
            A path is written whole or not at all. An open file, such as ``open(name, "wb")`` or
            `io.BytesIO`, is written from its current position, and stays open.
        """
        from surelearn.learners.file import write

        self._fitted()
        write(self, path)

    def _check_saveable(self) -> None:
        """Raise before training if `save` would raise for this class."""
        from surelearn.learners.file import check_saveable

        check_saveable(self)


def put_model(estimator: Estimator[M], model: M) -> None:
    """Give an estimator a model that was loaded or made elsewhere."""
    estimator._model = model


def forget(estimator: Estimator[Any]) -> None:
    """Drop what belongs to another model."""
    estimator._forget()


def settings_of(estimator: Estimator[Any]) -> Any:
    """The checked parameters of an estimator."""
    return estimator._settings_for()
