"""The parameters of a constructor by name, as scikit-learn asks for them; needs no scikit-learn."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from functools import cache
from typing import Any, Self, TypeVar

P = TypeVar("P", bound="Parametrized")


class Parametrized:
    """An object whose constructor stores each parameter under its name and does nothing else."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name.

        Parameters
        ----------
        deep : ignored
            No parameter has parameters.
        """
        return {name: getattr(self, name) for name in _names(type(self).__init__)}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name."""
        known = _names(type(self).__init__)
        for name, value in params.items():
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: "
                    f"{sorted(known)!r}."
                )
            setattr(self, name, value)
        return self


@cache
def _names(constructor: Callable[..., None]) -> tuple[str, ...]:
    """The parameters of a constructor without `self`, sorted."""
    return tuple(sorted(list(inspect.signature(constructor).parameters)[1:]))


def untrained(trained: P) -> P:
    """A copy with the same parameters that has learnt nothing, as by `sklearn.base.clone`."""
    twin = type(trained)(**copy.deepcopy(trained.get_params(deep=False)))
    if "_metadata_request" in trained.__dict__:  # what scikit-learn routes to its methods
        twin.__dict__["_metadata_request"] = copy.deepcopy(trained.__dict__["_metadata_request"])
    return twin
