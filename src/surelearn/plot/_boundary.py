"""The predicted classes over two features, shaded by certainty; must not know any model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surelearn import _check
from surelearn.learners.tasks.row_task import ROWS
from surelearn.plot._display import Display
from surelearn.plot.style import (
    FONT,
    GREY,
    LINE,
    SMALL,
    THIN,
    TINY,
    colour_of,
    head,
    look,
    plain,
    unframed,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]

#: Certainties of the thin lines, and what the certainty is called.
_LEVELS = {"probability": (0.6, 0.75, 0.9, 0.99), "deviation": (1.0, 2.0, 3.0)}
_TOLD = {
    "probability": "probability of the class",
    "deviation": "margin in standard deviations",
}


class BoundaryDisplay(Display):
    """The predicted class over two features, the more certain, the darker.

    Thick lines are the boundaries between classes, thin lines join points of equal certainty. Make
    it with `from_estimator`, then draw it with `plot` or `save`.

    Parameters
    ----------
    x0, x1 : array of shape (n0,) and (n1,)
        Increasing values of the first and the second feature.
    winner : array of int of shape (n1, n0)
        Index of the predicted class at each pair of values.
    certainty : array of shape (n1, n0)
        Probability of the predicted class, or its lead over the next class in standard deviations.
    classes : list of shape (n_classes,)
    lead : array of shape (n1, n0), optional
        How far the predicted class is ahead of the next one, for smooth boundary lines. The default
        is constant.
    response : {"probability", "deviation"}, default "probability"
        What `certainty` is.
    points, labels : array of shape (n, 2) and (n,), optional
        Rows to draw, and their classes.
    features : pair of str, default ("x0", "x1")
        Labels of the axes.

    Attributes
    ----------
    x0_, x1_, winner_, certainty_, lead_ : ndarray
    classes_ : ndarray of shape (n_classes,)
    response_ : str
    points_, labels_ : ndarray or None
    features_ : tuple of str
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.

    Examples
    --------
    >>> from surelearn import SureClassifier
    >>> from surelearn.plot import BoundaryDisplay
    >>> X, y = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]], ["no", "yes", "no"]
    >>> clf = SureClassifier(random_state=0).fit(X, y)
    >>> display = BoundaryDisplay.from_estimator(clf, X, y, grid_resolution=50)
    >>> display.certainty_.shape, display.classes_.tolist()
    ((50, 50), ['no', 'yes'])
    """

    def __init__(
        self,
        x0: ArrayLike,
        x1: ArrayLike,
        winner: ArrayLike,
        certainty: ArrayLike,
        *,
        classes: ArrayLike,
        lead: ArrayLike | None = None,
        response: Literal["probability", "deviation"] = "probability",
        points: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        features: Sequence[str] = ("x0", "x1"),
    ) -> None:
        self.x0_, self.x1_ = _check.numbers("x0", x0), _check.numbers("x1", x1)
        self.winner_ = np.asarray(winner)
        self.certainty_ = _check.numbers("certainty", certainty)
        self.lead_ = np.ones(self.winner_.shape) if lead is None else _check.numbers("lead", lead)
        self.classes_ = np.asarray(classes)
        self.response_ = _check.choice("response", response, _LEVELS)
        self.points_ = None if points is None else _check.numbers("points", points)
        self.labels_ = None if labels is None else np.asarray(labels)
        self.features_ = tuple(str(feature) for feature in features)
        self._check_shapes()

    def _check_shapes(self) -> None:
        for name, values in (("x0", self.x0_), ("x1", self.x1_)):
            if values.ndim != 1 or len(values) < 2 or (np.diff(values) <= 0).any():
                raise ValueError(
                    f"{name} must be at least two increasing numbers, got shape {values.shape}."
                )
        shape = len(self.x1_), len(self.x0_)
        for name in ("winner", "certainty", "lead"):
            got = getattr(self, f"{name}_").shape
            if got != shape:
                raise ValueError(f"{name} must have shape {shape}, got shape {got}.")
        if self.winner_.dtype.kind not in "iu":
            raise TypeError(f"winner must hold whole numbers, got {self.winner_.dtype}.")
        if self.winner_.min() < 0 or self.winner_.max() >= len(self.classes_):
            raise ValueError(
                f"winner must be within 0 and {len(self.classes_) - 1} for {len(self.classes_)} "
                f"classes, got {self.winner_.min()} to {self.winner_.max()}."
            )
        if len(self.features_) != 2:
            raise ValueError(f"features must be two, got {len(self.features_)}.")
        self._check_points()

    def _check_points(self) -> None:
        if self.points_ is not None and self.points_.shape[1:] != (2,):
            raise ValueError(f"points must have shape (n, 2), got shape {self.points_.shape}.")
        if self.labels_ is not None:
            n = None if self.points_ is None else len(self.points_)
            if self.labels_.shape != (n,):
                raise ValueError(
                    f"labels must have one label for each of {n} points, got shape "
                    f"{self.labels_.shape}."
                )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike | None = None,
        *,
        response: Literal["probability", "deviation"] = "probability",
        grid_resolution: int = 100,
        margin: float = 0.1,
    ) -> Self:
        """Predict a grid that covers the rows.

        Parameters
        ----------
        estimator : classifier
            A fitted `SureClassifier`, `SureKernelClassifier`, or any classifier of scikit-learn
            with `predict_proba`, of rows with two features.
        X : array or frame of shape (n_samples, 2)
            Rows that the grid covers.
        y : array of shape (n_samples,), optional
            Their classes. With them the rows are drawn.
        response : {"probability", "deviation"}, default "probability"
            The certainty: the probability of the predicted class, or its lead over the next class
            in standard deviations of this lead. The latter needs a model with `margin`; the scores
            of three or more classes are taken as independent.
        grid_resolution : int, default 100
            Number of values of each feature.
        margin : float, default 0.1
            Space around the rows, as a share of their range.

        Returns
        -------
        BoundaryDisplay
            Regions are those of `predict`.
        """
        ROWS.check_fitted("estimator", estimator)
        _check.choice("response", response, _LEVELS)
        points = _points(X)
        n = _check.count("grid_resolution", grid_resolution, least=2)
        space = _check.number("margin", margin, "[0, inf)", low=0.0)
        x0, x1 = (_values(column, n, space) for column in points.T)
        grid = np.stack(np.meshgrid(x0, x1), axis=-1).reshape(-1, 2)
        rows = type(X)(grid, columns=X.columns) if hasattr(X, "iloc") else grid
        classes = np.asarray(estimator.classes_)
        winner = _check.known_labels(estimator.predict(rows), classes, len(grid), "predict(X)")
        measure = _probability if response == "probability" else _deviations
        certainty, lead = measure(estimator, rows, winner)
        return cls(
            x0,
            x1,
            winner.reshape(n, n),
            certainty.reshape(n, n),
            lead=lead.reshape(n, n),
            classes=classes,
            response=response,
            points=None if y is None else points,
            labels=y,
            features=list(X.columns) if hasattr(X, "iloc") else ("x0", "x1"),
        )

    def _size(self) -> tuple[float, float]:
        return 7.2, 5.4

    def _draw(self, ax: Axes, title: str | None) -> None:
        from matplotlib.colors import to_rgb

        colours = np.array([to_rgb(colour_of(place)) for place in range(len(self.classes_))])
        tints: Array = 1.0 - self._strength()[..., None] * (1.0 - colours[self.winner_])
        ax.imshow(tints, origin="lower", extent=self._extent(), aspect="auto")
        self._draw_lines(ax)
        self._draw_points(ax)
        ax.set(xlim=self.x0_[[0, -1]], ylim=self.x1_[[0, -1]])
        self._dress(ax)
        told = f"Colour: predicted class; darker: more certain ({_TOLD[self.response_]})"
        head(ax, title, told)

    def _strength(self) -> Array:
        """How dark each cell is, 0.1 to 0.7: a tie is pale, certainty is strong."""
        if self.response_ == "probability":
            least = 1 / max(len(self.classes_), 2)
            share = (self.certainty_ - least) / (1 - least)
        else:
            share = self.certainty_ / _LEVELS["deviation"][-1]
        return np.asarray(0.1 + 0.6 * np.clip(share, 0, 1))

    def _extent(self) -> tuple[float, float, float, float]:
        """The edges of the outer cells, whose centres are the values."""
        ends: list[float] = []
        for values in (self.x0_, self.x1_):
            half = (values[-1] - values[0]) / (len(values) - 1) / 2
            ends += [float(values[0] - half), float(values[-1] + half)]
        return ends[0], ends[1], ends[2], ends[3]

    def _draw_lines(self, ax: Axes) -> None:
        levels = [
            level
            for level in _LEVELS[self.response_]
            if np.min(self.certainty_) < level < np.max(self.certainty_)
        ]
        if levels:
            thin: dict[str, Any] = {"colors": GREY, "linewidths": THIN, "linestyles": "dashed"}
            lines = ax.contour(self.x0_, self.x1_, self.certainty_, levels, **thin)
            ax.clabel(lines, fontsize=TINY, fmt="%g")
        # The lead is 0 at a boundary, so that the interpolated line is smooth. Its sign is that of
        # the prediction: the line always runs between points of different classes.
        ahead = np.maximum(np.abs(self.lead_), 1e-12)
        for place in np.unique(self.winner_)[:-1]:
            signed = np.where(self.winner_ == place, ahead, -ahead)
            ax.contour(self.x0_, self.x1_, signed, [0.0], colors="black", linewidths=LINE)

    def _draw_points(self, ax: Axes) -> None:
        if self.points_ is None:
            return
        if self.labels_ is None:
            x, y = self.points_.T
            ax.scatter(x, y, color=GREY, zorder=3)
            return
        for place, label in enumerate(self.classes_):
            x, y = self.points_[self.labels_ == label].T
            dots: dict[str, Any] = {"edgecolors": "white", "linewidths": THIN, "zorder": 3}
            ax.scatter(x, y, **dots, **look(place))

    def _dress(self, ax: Axes) -> None:
        from matplotlib.patches import Patch

        unframed(ax)
        ax.set_xlabel(plain(self.features_[0]), fontsize=FONT)
        ax.set_ylabel(plain(self.features_[1]), fontsize=FONT)
        patches = [
            Patch(color=colour_of(place), alpha=0.7, label=plain(str(label)))
            for place, label in enumerate(self.classes_)
        ]
        where: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)}
        ax.legend(handles=patches, frameon=False, fontsize=SMALL, **where)


# -------------------------------------------------------------------- computing


def _points(X: Any) -> Array:
    points = _check.numbers("X", X)
    if points.ndim != 2 or points.shape[1] != 2 or not len(points):
        raise ValueError(f"X must have shape (n_samples, 2), got shape {points.shape}.")
    return points


def _values(column: Array, n: int, margin: float) -> Array:
    """Evenly spaced values that cover a column."""
    low, high = column.min(), column.max()
    space = margin * (high - low) if high > low else 1.0
    return np.linspace(low - space, high + space, n)


def _probability(estimator: Any, rows: Any, winner: NDArray[np.int64]) -> tuple[Array, Array]:
    """The probability of the predicted class, and its lead over the most probable other one."""
    if not hasattr(estimator, "predict_proba"):
        raise TypeError(f"estimator must have predict_proba, got {estimator!r}.")
    return _ahead(np.asarray(estimator.predict_proba(rows), dtype=np.float64), winner)


def _deviations(estimator: Any, rows: Any, winner: NDArray[np.int64]) -> tuple[Array, Array]:
    """The lead of the predicted class over each other one in deviations, the smallest of them."""
    if not hasattr(estimator, "margin"):
        raise TypeError(
            f"estimator must have margin for response='deviation', got {estimator!r}. Use "
            "response='probability'."
        )
    mean, variance = estimator.margin(rows)
    if mean.ndim == 1:
        z = _ratio(np.abs(mean), variance)
        return z, z
    if mean.shape[1] != len(estimator.classes_):
        raise ValueError(
            f"estimator must have a score for each of {len(estimator.classes_)} classes for "
            f"response='deviation', got {mean.shape[1]} problems. Use response='probability'."
        )
    own = np.arange(len(mean)), winner
    z = _ratio(mean[own][:, None] - mean, variance[own][:, None] + variance)
    z[own] = np.inf
    least = np.maximum(z.min(axis=1), 0.0)
    return least, least


def _ratio(mean: Array, variance: Array) -> Array:
    """Means over deviations; 0 where both are 0."""
    return np.asarray(mean / np.sqrt(np.maximum(variance, 1e-300)))


def _ahead(values: Array, winner: NDArray[np.int64]) -> tuple[Array, Array]:
    """The value of the winner, and how far it is ahead of the best other one."""
    own = np.arange(len(values)), winner
    others = values.copy()
    others[own] = -np.inf
    return values[own], values[own] - others.max(axis=1)
