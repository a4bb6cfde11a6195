"""What weights store for each feature; must not know how."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Layout"]


@dataclass(frozen=True)
class Layout:
    """What is stored for each feature; fixed for the life of a model.

    Parameters
    ----------
    n_features : int
        Number of features without the intercept.
    intercept : bool
        Whether there is a last feature that is 1 in every row.
    second_order : bool
        Whether to store variances besides means.
    averaged : bool
        Whether to store sums for averaged weights.
    dtype : str
        ``"float32"`` or ``"float64"``.
    covariance : str
        ``"diagonal"`` for a variance of each weight, ``"full"`` for a covariance of each pair.
    """

    n_features: int
    intercept: bool
    second_order: bool
    averaged: bool
    dtype: str
    covariance: str = "diagonal"

    @property
    def n_rows(self) -> int:
        """Number of features including the intercept."""
        return self.n_features + self.intercept

    @property
    def parts(self) -> int:
        """How many numbers diagonal weights store for each feature and column."""
        return 1 + self.second_order + self.averaged

    def nbytes(self, n_columns: int) -> int:
        """Size of the weights of `n_columns` columns."""
        size = (self.n_features + self.intercept) * n_columns
        full = self.covariance == "full"
        numbers = size * (size + 1 + self.averaged) if full else size * self.parts
        return numbers * np.dtype(self.dtype).itemsize
