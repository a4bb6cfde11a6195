"""Reliability of probabilities, in four panels; must not know how a model computes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surelearn import _check
from surelearn.learners.tasks.row_task import ROWS
from surelearn.plot.style import (
    DPI,
    FONT,
    GREY,
    LINE,
    SMALL,
    TITLE,
    blank,
    look,
    need_matplotlib,
    plain,
    quiet,
    root,
)
from surelearn.probability import Reliability, reliability

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BINNED = ("count", "error_share", "conditional_error", "mean_probability")
_SINGLE = ("entropy", "error", "right_probability", "wrong_probability")


class ReliabilityDisplay:
    """How well the probabilities of one or more models match their errors.

    The four panels show the error in each bin of the prediction probability beside the expected
    error, the number of examples in each bin, the share of each bin in the error, and the error
    against the normalised entropy. Make it with `from_estimator`, `from_estimators` or
    `from_predictions`, then draw it with `plot` or `save`.

    Parameters
    ----------
    reliabilities : dict of {str: Reliability}
        Keyed by the name to show. Each has the attributes `edges` of shape (n_bins + 1,), `count`,
        `error_share`, `conditional_error` and `mean_probability` of shape (n_bins,), and the
        numbers `entropy`, `error`, `right_probability` and `wrong_probability`. `entropy` and
        `error` may be arrays, such as one number a pass; these are drawn as a path that ends in a
        large marker.

    Attributes
    ----------
    reliabilities_ : dict of {str: Reliability}
    axes_ : ndarray of matplotlib Axes of shape (4,)
        Where it was drawn last.
    figure_ : matplotlib Figure
        The figure of `axes_`.

    References
    ----------
    Crammer, Dredze & Kulesza 2009, figure 2, whose panels are in another order.

    Examples
    --------
    >>> from surelearn.plot import ReliabilityDisplay
    >>> display = ReliabilityDisplay.from_predictions(
    ...     ["a", "b", "b"], [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], n_bins=2, name="mine")
    >>> display.reliabilities_["mine"].count
    array([0, 3])
    """

    axes_: NDArray[Any]
    figure_: Figure

    def __init__(self, reliabilities: Mapping[str, Any]) -> None:
        if not isinstance(reliabilities, Mapping) or not reliabilities:
            raise TypeError(
                f"reliabilities must be a dict of {{name: reliability}}, got {reliabilities!r}."
            )
        for name, found in reliabilities.items():
            _check_parts(name, found)
        self.reliabilities_ = dict(reliabilities)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, n_bins: int = 10, name: str | None = None
    ) -> Self:
        """Compare the probabilities of a fitted classifier with its errors.

        Parameters
        ----------
        estimator : classifier
            Any fitted classifier with `predict_proba`.
        X : array, CSR matrix or list of shape (n_samples, ...)
            Rows that it was not trained on.
        y : array of shape (n_samples,)
            Their labels.
        n_bins : int, default 10
            Number of equal parts of [0, 1].
        name : str, optional
            The name to show. The default is that of the class.

        Returns
        -------
        ReliabilityDisplay
            Predictions are those of `predict`.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.linear_model import LogisticRegression
        >>> from surelearn.plot import ReliabilityDisplay
        >>> X, y = load_iris(return_X_y=True)
        >>> clf = LogisticRegression(max_iter=1000).fit(X[::2], y[::2])
        >>> display = ReliabilityDisplay.from_estimator(clf, X[1::2], y[1::2])
        >>> int(display.reliabilities_["LogisticRegression"].count.sum())
        75
        """
        named = type(estimator).__name__ if name is None else name
        return cls.from_estimators({named: estimator}, X, y, n_bins=n_bins)

    @classmethod
    def from_estimators(
        cls, estimators: Mapping[str, Any], X: Any, y: ArrayLike, *, n_bins: int = 10
    ) -> Self:
        """Compare the probabilities of several fitted classifiers on the same rows.

        Parameters
        ----------
        estimators : dict of {str: classifier}
            Keyed by the name to show.
        X, y, n_bins
            As in `from_estimator`.

        Returns
        -------
        ReliabilityDisplay
        """
        if not isinstance(estimators, Mapping) or not estimators:
            raise TypeError(
                f"estimators must be a dict of {{name: estimator}}, got {estimators!r}."
            )
        return cls({name: _measured(own, X, y, n_bins) for name, own in estimators.items()})

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_proba: ArrayLike,
        *,
        classes: ArrayLike | None = None,
        n_bins: int = 10,
        name: str = "classifier",
    ) -> Self:
        """Compare given probabilities with the true labels.

        Parameters
        ----------
        y_true : array of shape (n_samples,)
        y_proba : array of shape (n_samples, n_classes) or (n_samples,)
            Probability of each class, or of the second of two.
        classes : array of shape (n_classes,), optional
            The label of each column, sorted. The default is the labels in `y_true`.
        n_bins : int, default 10
            Number of equal parts of [0, 1].
        name : str, default "classifier"
            The name to show.

        Returns
        -------
        ReliabilityDisplay
            The most probable class of a row is its prediction.
        """
        p = _check.numbers("y_proba", y_proba)
        if p.ndim == 1:
            p = np.stack([1 - p, p], axis=1)
        p = _check.probabilities(p, "y_proba")
        labels = np.unique(np.asarray(y_true)) if classes is None else classes
        return cls({name: reliability(y_true, p, labels, bins=n_bins)})

    def plot(self, axes: Sequence[Axes] | NDArray[Any] | None = None) -> Self:
        """Draw the four panels.

        Parameters
        ----------
        axes : four matplotlib Axes in any shape, optional
            Where to draw. The default is a new pyplot figure.

        Returns
        -------
        self
            With `axes_` and `figure_`.
        """
        need_matplotlib("ReliabilityDisplay.plot")
        if axes is None:
            import matplotlib.pyplot as plt

            figure, axes = plt.subplots(2, 2, figsize=self._size(), layout="constrained")
            _give_room(figure)
        four = np.asarray(axes, dtype=object).ravel()
        if len(four) != 4:
            raise ValueError(f"axes must be four Axes, got {len(four)}.")
        _draw_reliability(four[0], self.reliabilities_)
        _draw_bars(four[1], self.reliabilities_, "count", 1)
        _draw_bars(four[2], self.reliabilities_, "error_share", 100)
        _draw_entropy(four[3], self.reliabilities_)
        _dress(four, self.reliabilities_)
        self.axes_ = four
        self.figure_ = root(four[0])
        self._name_models()
        return self

    def save(self, path: str | PathLike[str]) -> Self:
        """Draw into a file, without a window and without pyplot.

        Parameters
        ----------
        path : str or path
            The extension decides the format: ``.png``, ``.svg``, ``.pdf``.

        Returns
        -------
        self
        """
        figure = blank("ReliabilityDisplay.save", self._size())
        _give_room(figure)
        self.plot(figure.subplots(2, 2))
        figure.savefig(path, dpi=DPI)
        return self

    def _size(self) -> tuple[float, float]:
        return 10.0, 7.2 + 0.25 * len(self.reliabilities_)

    def _name_models(self) -> None:
        """Write one line a model above all panels."""
        handles, _ = self.axes_[0].get_legend_handles_labels()
        names = [_described(name, found) for name, found in self.reliabilities_.items()]
        self.figure_.legend(
            handles[: len(names)],
            names,
            loc="outside upper left",
            frameon=False,
            fontsize=SMALL,
            borderaxespad=0.4,
        )


def _measured(estimator: Any, X: Any, y: ArrayLike, n_bins: int) -> Reliability:
    """The reliability of a classifier; our models compute it without a table of probabilities."""
    ROWS.check_fitted("estimator", estimator)
    if not hasattr(estimator, "predict_proba"):
        raise TypeError(f"estimator must have predict_proba, got {estimator!r}.")
    bins = _check.count("n_bins", n_bins)
    if hasattr(estimator, "reliability"):
        found: Reliability = estimator.reliability(X, y, bins=bins)
        return found
    p, predicted = estimator.predict_proba(X), estimator.predict(X)
    return reliability(y, p, estimator.classes_, bins=bins, y_pred=predicted)


def _check_parts(name: str, found: Any) -> None:
    missing = [part for part in ("edges", *_BINNED, *_SINGLE) if not hasattr(found, part)]
    if missing:
        raise TypeError(f"reliabilities[{name!r}] must have {', '.join(missing)}, got {found!r}.")
    n_bins = len(found.edges) - 1
    for part in _BINNED:
        if np.shape(getattr(found, part)) != (n_bins,):
            raise ValueError(
                f"reliabilities[{name!r}].{part} must have shape ({n_bins},) for {n_bins} bins, "
                f"got shape {np.shape(getattr(found, part))}."
            )


def _described(name: str, found: Any) -> str:
    error = np.atleast_1d(found.error)[-1]
    right, wrong = (
        np.atleast_1d(x)[-1] for x in (found.right_probability, found.wrong_probability)
    )
    return (
        f"{plain(name)}: error {100 * error:.1f} %, mean probability {right:.2f} where right, "
        f"{wrong:.2f} where wrong"
    )


def _give_room(figure: Figure) -> None:
    """Widen the gaps between panels, so that a title is not mistaken for a label above it."""
    figure.get_layout_engine().set(h_pad=0.12, w_pad=0.1)  # type: ignore[union-attr, call-arg]


def _draw_reliability(ax: Axes, models: Mapping[str, Any]) -> None:
    """Draw the error by probability; the grey line is that of perfect calibration."""
    for place, (name, found) in enumerate(models.items()):
        filled = np.asarray(found.count) > 0
        x = np.asarray(found.mean_probability)[filled]
        y = 100 * np.asarray(found.conditional_error)[filled]
        # Without clipping, markers on the frame are drawn whole. A line without points must be
        # clipped: matplotlib finds no bounds for it otherwise.
        style: dict[str, Any] = {
            "linewidth": LINE,
            "zorder": 3,
            "clip_on": not len(x),
        }
        ax.plot(x, y, label=plain(name), **style, **look(place))
    low, high = _range(models)
    promised = [100 * (1 - low), 100 * (1 - high)]
    (line,) = ax.plot([low, high], promised, color=GREY, linestyle="--")
    ax.set_ylim(bottom=0)
    ax.legend([line], ["expected"], frameon=False, fontsize=SMALL, labelcolor=GREY)


def _draw_bars(ax: Axes, models: Mapping[str, Any], part: str, times: float) -> None:
    """Draw bars of the models side by side in each bin."""
    for place, found in enumerate(models.values()):
        edges = np.asarray(found.edges, dtype=np.float64)
        width = 0.84 * np.diff(edges) / len(models)
        left = edges[:-1] + 0.08 * np.diff(edges) + place * width
        heights = times * np.nan_to_num(np.asarray(getattr(found, part), dtype=np.float64))
        ax.bar(left, heights, width, align="edge", color=look(place)["color"])
    ax.set_ylim(bottom=0)


def _draw_entropy(ax: Axes, models: Mapping[str, Any]) -> None:
    for place, found in enumerate(models.values()):
        entropy, error = np.atleast_1d(found.entropy), 100 * np.atleast_1d(found.error)
        ax.plot(entropy, error, linewidth=LINE, **look(place))
        ax.plot(entropy[-1:], error[-1:], markersize=10, **look(place))
    ax.margins(0.15)


def _range(models: Mapping[str, Any]) -> tuple[float, float]:
    """The range from the first to the last bin that is not empty for some model."""
    ends = []
    for found in models.values():
        filled = np.flatnonzero(np.asarray(found.count) > 0)
        if len(filled):
            ends.append((found.edges[filled[0]], found.edges[filled[-1] + 1]))
    if not ends:
        return 0.0, 1.0
    return float(min(low for low, _ in ends)), float(max(high for _, high in ends))


def _dress(axes: NDArray[Any], models: Mapping[str, Any]) -> None:
    titles = (
        "Error by prediction probability",
        "Examples in each bin",
        "What each bin adds to the error",
        "Error and entropy",
    )
    heights = ("Error in the bin (%)", "Examples", "Errors of all examples (%)", "Error (%)")
    for ax, title, height in zip(axes, titles, heights, strict=True):
        quiet(ax)
        ax.set_title(title, loc="left", fontsize=TITLE, fontweight="bold", pad=10)
        ax.set_ylabel(height, fontsize=FONT)
        ax.set_xlabel("Prediction probability", fontsize=FONT)
    for ax in axes[:3]:
        ax.set_xlim(_range(models))
    axes[1].yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes[3].set_xlabel("Normalised entropy of the predictions", fontsize=FONT)
