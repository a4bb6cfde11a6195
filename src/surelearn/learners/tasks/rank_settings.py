"""Constructor parameters of a ranker, checked and converted for training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from surelearn import _check, constraints
from surelearn.learners.tasks.learning_settings import (
    LearningSettings,
    check_learning,
    learning,
    resolved,
)
from surelearn.learners.tasks.ranking import RankModel
from surelearn.weights import Diagonal, Layout, fits

#: Parameters that rankers must share to be merged.
_MERGE_KEY = ("rule", "constraints", "right", "projection", "dtype", "initial_variance")


@dataclass(frozen=True)
class RankSettings(LearningSettings):
    """The checked settings of a ranker."""

    constraints: constraints.Constraints
    right: str
    projection: str

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> RankSettings:
        """Check every parameter of a `SureRanker`."""
        scheme = constraints.get(params["constraints"])
        _check_scheme(scheme)
        return cls(
            **learning(params, scheme.core()),
            constraints=scheme,
            right=_check.choice("right", params["right"], ["all", "any"]),
            projection=_check.choice(
                "projection", params["projection"], ["auto", "precision", "covariance"]
            ),
        )

    @property
    def all_right(self) -> bool:
        """Whether a wrong candidate must lose to all better ones."""
        return self.right == "all"

    def untrained(self, n_features: int, *, is_sparse: bool) -> RankModel:
        """An untrained model for rows of this width."""
        layout = Layout(
            n_features=n_features,
            intercept=False,
            second_order=self.second_order,
            averaged=self.averaged,
            dtype=self.dtype,
        )
        fits(layout, 1)
        weights = Diagonal(layout, 1, self.initial_variance)
        projection = resolved(self.projection, is_sparse=is_sparse)
        return RankModel(layout, self.initial_variance, projection, weights)

    def check_fits(self, model: RankModel) -> None:
        """Raise if a setting differs that a fitted model cannot change."""
        _check.same("dtype", model.layout.dtype, self.dtype)
        check_learning(self, model)
        if self.projection != "auto":
            _check.same("projection", model.projection, self.projection)

    def merge_key(self) -> dict[str, Any]:
        """The parameters that rankers must share to be merged."""
        return {**{name: getattr(self, name) for name in _MERGE_KEY}, "average": self.averaged}


def _check_scheme(scheme: constraints.Constraints) -> None:
    if not isinstance(scheme, constraints.Single | constraints.Sequential):
        raise ValueError(
            "constraints must be 'single' or 'sequential', or constraints.Sequential(k), for "
            f"candidates, got {scheme!r}."
        )
