"""scikit-learn's base classes of estimators, and what stands in for them in the command.

Importing scikit-learn takes half a second, which a short command does not have: `cli.main` sets
`IS_COMMAND` of `surelearn._lazy` before it imports an estimator.
"""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, Any

from surelearn import _lazy

__all__ = ["IS_LIGHT", "BaseEstimator", "ClassifierMixin"]

#: Whether estimators do without scikit-learn in this process.
IS_LIGHT = _lazy.IS_COMMAND and "sklearn.base" not in sys.modules

if TYPE_CHECKING or not IS_LIGHT:
    from sklearn.base import BaseEstimator, ClassifierMixin
else:

    class BaseEstimator:
        """An estimator without scikit-learn: its tags, which need it, are made when asked for."""

        def __repr__(self) -> str:
            defaults = inspect.signature(type(self)).parameters
            given = {name: getattr(self, name) for name in defaults}
            shown = [f"{k}={v!r}" for k, v in given.items() if repr(v) != repr(defaults[k].default)]
            return f"{type(self).__name__}({', '.join(shown)})"

        def __sklearn_tags__(self) -> Any:
            from sklearn.base import BaseEstimator

            return BaseEstimator.__sklearn_tags__(self)

    class ClassifierMixin:
        """A classifier without scikit-learn."""

        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
            from sklearn.base import ClassifierMixin

            return ClassifierMixin.score(self, X, y, sample_weight)

        def __sklearn_tags__(self) -> Any:
            from sklearn.utils import ClassifierTags

            tags = super().__sklearn_tags__()
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
            tags.target_tags.required = True
            return tags
