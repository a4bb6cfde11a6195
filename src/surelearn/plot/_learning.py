"""Learning curves: accuracy by number of rows; must not know rules or weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from sklearn.utils import check_consistent_length, check_random_state, shuffle

from surelearn import _check
from surelearn.plot import _simulation_curves
from surelearn.plot._display import Display
from surelearn.plot.style import FONT, LINE, SMALL, head, look, plain, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_N_SIZES = 12


class LearningCurveDisplay(Display):
    """Accuracy on test rows by the number of training rows, in one pass.

    Make it with `from_estimator`, `from_estimators` or `from_simulation`, then draw it with `plot`
    or `save`.

    Parameters
    ----------
    sizes : array of int of shape (n_sizes,)
        Numbers of training rows.
    accuracy : dict of {str: array of shape (n_repeats, n_sizes)}
        Share of right predictions, 0 to 1, for each learner.
    full : dict of {str: array of shape (n_repeats,)}, optional
        Accuracy of learners with all labels. The curves must then be named ``learner strategy``,
        and are drawn as curves of active learning, see `from_simulation`.

    Attributes
    ----------
    sizes_ : ndarray of int of shape (n_sizes,)
    accuracy_ : dict of {str: ndarray of shape (n_repeats, n_sizes)}
    full_ : dict of {str: ndarray of shape (n_repeats,)}
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.

    Examples
    --------
    >>> from surelearn.plot import LearningCurveDisplay
    >>> display = LearningCurveDisplay([10, 100], {"AROW": [[0.5, 0.75], [0.5, 0.25]]})
    >>> display.mean("AROW")
    array([0.5, 0.5])
    """

    def __init__(
        self,
        sizes: ArrayLike,
        accuracy: Mapping[str, ArrayLike],
        *,
        full: Mapping[str, ArrayLike] | None = None,
    ) -> None:
        self.sizes_ = np.asarray(sizes)
        self.accuracy_ = {
            name: np.asarray(values, dtype=np.float64) for name, values in accuracy.items()
        }
        _check_table(self.accuracy_, len(self.sizes_))
        self.full_ = {
            name: np.asarray(values, dtype=np.float64) for name, values in (full or {}).items()
        }
        if self.full_:
            _simulation_curves.check(self.accuracy_, self.full_)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        test_size: float | int = 0.25,
        name: str | None = None,
        random_state: Any = None,
        **options: Any,
    ) -> Self:
        """Hold out some rows, train one estimator on the others and test it on the way.

        Parameters
        ----------
        estimator : estimator
            A classifier with `partial_fit`. It is not changed.
        X : array, CSR matrix or list of shape (n_samples, ...)
        y : array of shape (n_samples,)
        test_size : float or int, default 0.25
            Share or number of rows to hold out, the same share of each class.
        name : str, optional
            The name to show. The default is that of the class.
        random_state : int, RandomState or None, default None
            Controls the rows that are held out, and the random orders.
        **options
            `sizes`, `classes`, `n_repeats` and `progress`, as in `from_estimators`.

        Returns
        -------
        LearningCurveDisplay

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from surelearn import SureClassifier
        >>> from surelearn.plot import LearningCurveDisplay
        >>> display = LearningCurveDisplay.from_estimator(
        ...     SureClassifier(), *load_iris(return_X_y=True), sizes=[5, 50], random_state=0)
        >>> display.accuracy_["SureClassifier"].shape
        (3, 2)
        """
        generator = check_random_state(random_state)
        parts = train_test_split(X, y, test_size=test_size, stratify=y, random_state=generator)
        X_train, X_test, y_train, y_test = parts
        learners = {type(estimator).__name__ if name is None else name: estimator}
        tested = {"X_test": X_test, "y_test": y_test, "random_state": generator}
        return cls.from_estimators(learners, X_train, y_train, **tested, **options)

    @classmethod
    def from_estimators(
        cls,
        estimators: Mapping[str, Any],
        X_train: Any,
        y_train: ArrayLike,
        *,
        X_test: Any,
        y_test: ArrayLike,
        sizes: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        n_repeats: int = 3,
        random_state: Any = None,
        progress: Callable[[int, int], object] | None = None,
    ) -> Self:
        """Train estimators in one pass over the rows in random order, and test them on the way.

        Every repeat shuffles the rows once with ``sklearn.utils.shuffle``, in the same order for
        all estimators, and passes them to ``partial_fit`` of a clone of each in growing chunks.

        Parameters
        ----------
        estimators : dict of {str: estimator}
            Classifiers with `partial_fit`, keyed by the name to show. They are not changed.
        X_train : array, CSR matrix or list of shape (n_samples, ...)
        y_train : array of shape (n_samples,)
        X_test : array, CSR matrix or list of shape (n_test, ...)
        y_test : array of shape (n_test,)
        sizes : array of int, optional
            Increasing numbers of training rows at which to test. The default is 12 sizes from a
            hundredth of the rows to all of them, evenly spaced on a log scale.
        classes : array, optional
            All labels, for the first `partial_fit`. The default is those in `y_train`.
        n_repeats : int, default 3
            Number of random orders.
        random_state : int, RandomState or None, default None
            Controls the random orders.
        progress : callable, optional
            Called as ``progress(done, total)`` after each test.

        Returns
        -------
        LearningCurveDisplay

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from surelearn import SureClassifier
        >>> from surelearn.plot import LearningCurveDisplay
        >>> X, y = load_iris(return_X_y=True)
        >>> display = LearningCurveDisplay.from_estimators(
        ...     {"AROW": SureClassifier("arow"), "PA": SureClassifier("pa1")},
        ...     X[::2], y[::2], X_test=X[1::2], y_test=y[1::2], sizes=[5, 25, 75], random_state=0)
        >>> display.accuracy_["AROW"].shape
        (3, 3)
        """
        learners = _learners(estimators)
        check_consistent_length(X_test, y_test)
        y_train, y_test = np.asarray(y_train), np.asarray(y_test)
        grid = _sizes(sizes, len(y_train))
        labels = np.unique(y_train) if classes is None else np.asarray(classes)
        repeats = _check.count("n_repeats", n_repeats)
        total = repeats * len(learners) * len(grid)
        generator = check_random_state(random_state)
        accuracy = {name: np.empty((repeats, len(grid))) for name in learners}
        done = 0
        for repeat in range(repeats):
            X, y = shuffle(X_train, y_train, random_state=generator)
            for name, learner in learners.items():
                for place, model in enumerate(_growing(clone(learner), X, y, grid, classes=labels)):
                    accuracy[name][repeat, place] = np.mean(model.predict(X_test) == y_test)
                    done += 1
                    if progress is not None:
                        progress(done, total)
        return cls(grid, accuracy)

    @classmethod
    def from_simulation(
        cls, simulation: Any, curves: Sequence[tuple[str, str]] | None = None
    ) -> Self:
        """The curves of `active.simulate`.

        Parameters
        ----------
        simulation : surelearn.active.Simulation
        curves : list of (learner, strategy), optional
            Curves to draw, in this order. The default is all.

        Returns
        -------
        LearningCurveDisplay
            Of the `smooth` curves. Each learner has a line style and each strategy a colour. Bands
            show one standard error of the mean over the runs. Thin lines show the accuracy of each
            learner with all labels.

        Examples
        --------
        >>> from surelearn.active import Simulation
        >>> from surelearn.plot import LearningCurveDisplay
        >>> found = Simulation([2, 3], {("CW", "acl"): [[0.5, 0.7]]}, {"CW": [0.9]}, pool=[100])
        >>> LearningCurveDisplay.from_simulation(found).mean("CW acl")
        array([0.5, 0.7])
        """
        labels, accuracy, full = _simulation_curves.curves(simulation, curves)
        return cls(labels, accuracy, full=full)

    def mean(self, name: str) -> NDArray[np.float64]:
        """Mean accuracy of one learner over the repeats, of shape (n_sizes,)."""
        return np.asarray(self.accuracy_[name].mean(axis=0))

    def rows_needed(self, name: str, accuracy: float) -> float:
        """The number of rows at which the mean accuracy of a learner first reaches a value.

        Between two tested sizes it is interpolated on the log scale, as the line is drawn.

        Parameters
        ----------
        name : str
            Name of the learner.
        accuracy : float
            The accuracy to reach, 0 to 1.

        Returns
        -------
        float
            The first size if that is enough; ``inf`` if the curve ends below.

        Examples
        --------
        >>> from surelearn.plot import LearningCurveDisplay
        >>> display = LearningCurveDisplay([1, 100], {"AROW": [[0.5, 0.75]]})
        >>> display.rows_needed("AROW", 0.625)
        10.0
        """
        mean, logs = self.mean(name), np.log10(self.sizes_)
        enough = np.flatnonzero(mean >= accuracy)
        if not len(enough):
            return float("inf")
        at = int(enough[0])
        if at == 0:
            return float(self.sizes_[0])
        share = (accuracy - mean[at - 1]) / (mean[at] - mean[at - 1])
        return float(10 ** (logs[at - 1] + share * (logs[at] - logs[at - 1])))

    def plot(self, ax: Axes | None = None, *, title: str | None = None, unit: str = "rows") -> Self:
        """Draw the mean of each learner, with a band of one standard deviation on both sides.

        For a simulation, the band is one standard error of the mean.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw. The default is a new pyplot figure.
        title : str, optional
        unit : str, default "rows"
            The word for rows in the labels of the axes, such as ``"texts"``.

        Returns
        -------
        self
            With `ax_` and `figure_`.

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from surelearn.plot import LearningCurveDisplay
        >>> display = LearningCurveDisplay([10, 100], {"AROW": [[0.5, 0.75]]})
        >>> display.plot(Figure().subplots(), unit="texts").ax_.get_xlabel()
        'Training texts, seen once (log scale)'
        """
        return self._plot(ax, title, unit=unit)

    def _size(self) -> tuple[float, float]:
        return 8.0, 5.0

    def _draw(self, ax: Axes, title: str | None, unit: str = "rows") -> None:
        subtitle = self._draw_asked(ax, unit) if self.full_ else self._draw_learnt(ax, unit)
        head(ax, title, subtitle)

    def _draw_learnt(self, ax: Axes, unit: str) -> str:
        """Draw learners that see all rows; return the subtitle."""
        looks = [look(place) for place in range(len(self.accuracy_))]
        for values, own in zip(self.accuracy_.values(), looks, strict=True):
            _draw_curve(ax, self.sizes_, 100 * values, own)
        _dress(ax, self.sizes_, unit)
        _name_curves(ax, self._ends(), [own["color"] for own in looks])
        return _subtitle(len(next(iter(self.accuracy_.values()))), unit)

    def _draw_asked(self, ax: Axes, unit: str) -> str:
        """Draw learners that ask for labels; return the subtitle."""
        looks = _simulation_curves.looks(self.accuracy_, self.full_)
        for name, values in self.accuracy_.items():
            _simulation_curves.draw_curve(ax, self.sizes_, 100 * values, looks[name])
        _simulation_curves.draw_full(ax, self.full_)
        _simulation_curves.frame(ax, self.accuracy_, self.full_)
        _dress(ax, self.sizes_, unit)
        ax.set_xlabel("Labels asked for (log scale)", fontsize=FONT)
        _name_curves(ax, self._ends(), [looks[name]["color"] for name in self.accuracy_])
        return _simulation_curves.subtitle(len(next(iter(self.full_.values()))))

    def _ends(self) -> dict[str, float]:
        """The accuracy in percent at the right end of each curve."""
        return {name: float(100 * self.mean(name)[-1]) for name in self.accuracy_}

    def save(
        self, path: str | PathLike[str], *, title: str | None = None, unit: str = "rows"
    ) -> Self:
        """Draw into a file of 1200 x 750 pixels, without a window and without pyplot.

        Parameters
        ----------
        path : str or path
            The extension decides the format: ``.png``, ``.svg``, ``.pdf``.
        title, unit : str
            As in `plot`.

        Returns
        -------
        self
        """
        return self._save(path, title=title, unit=unit)


# -------------------------------------------------------------------- computing


def _learners(estimators: Mapping[str, Any]) -> dict[str, Any]:
    """The estimators; checks that each has `partial_fit`."""
    if not isinstance(estimators, Mapping) or not estimators:
        raise TypeError(f"estimators must be a dict of {{name: estimator}}, got {estimators!r}.")
    for name, estimator in estimators.items():
        if not hasattr(estimator, "partial_fit"):
            raise TypeError(f"estimators[{name!r}] must have partial_fit, got {estimator!r}.")
    return dict(estimators)


def _sizes(sizes: ArrayLike | None, n_rows: int) -> NDArray[np.int64]:
    """Increasing numbers of rows, at most `n_rows`."""
    if sizes is None:
        spaced = np.geomspace(max(1, n_rows / 100), n_rows, _N_SIZES)
        return np.unique(np.rint(spaced).astype(np.int64))
    grid = np.asarray(sizes)
    if grid.ndim != 1 or not len(grid) or grid.dtype.kind not in "iu":
        raise TypeError(f"sizes must be a list of whole numbers, got {sizes!r}.")
    if grid[0] < 1 or (np.diff(grid) <= 0).any():
        raise ValueError(f"sizes must be increasing and at least 1, got {grid.tolist()}.")
    if grid[-1] > n_rows:
        raise ValueError(f"sizes must be at most {n_rows}, the rows of X_train, got {grid[-1]}.")
    return grid.astype(np.int64)


def _check_table(accuracy: dict[str, NDArray[np.float64]], n_sizes: int) -> None:
    if not accuracy:
        raise ValueError("accuracy must have at least one learner, got none.")
    for name, values in accuracy.items():
        if values.ndim != 2 or values.shape[1] != n_sizes or not len(values):
            raise ValueError(
                f"accuracy[{name!r}] must have shape (n_repeats, {n_sizes}) for {n_sizes} sizes, "
                f"got shape {values.shape}."
            )


def _growing(
    model: Any, X: Any, y: NDArray[Any], sizes: NDArray[np.int64], *, classes: NDArray[Any]
) -> Iterator[Any]:
    """Train the model, and yield it at each number of rows."""
    start = 0
    for stop in sizes.tolist():
        model.partial_fit(X[start:stop], y[start:stop], classes=classes)
        yield model
        start = stop


# ---------------------------------------------------------------------- drawing


def _draw_curve(
    ax: Axes, sizes: NDArray[np.int64], percent: NDArray[np.float64], look: dict[str, Any]
) -> None:
    mean, deviation = percent.mean(axis=0), percent.std(axis=0)
    ax.plot(sizes, mean, linewidth=LINE, **look)
    if len(percent) > 1:
        ax.fill_between(
            sizes, mean - deviation, mean + deviation, color=look["color"], alpha=0.18, linewidth=0
        )


def _dress(ax: Axes, sizes: NDArray[np.int64], unit: str) -> None:
    """Label the axes, with a pale grid and no frame at the top and right."""
    ax.set_xscale("log")
    ax.set_xticks(_ticks(sizes))
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    ax.minorticks_off()
    ax.set_xlabel(f"Training {unit}, seen once (log scale)", fontsize=FONT)
    ax.set_ylabel(f"Accuracy on test {unit} (%)", fontsize=FONT)
    quiet(ax)


def _ticks(sizes: NDArray[np.int64]) -> list[float]:
    """1, 2 and 5 times the powers of ten within the range, and the last size."""
    low, high = int(sizes[0]), int(sizes[-1])
    steps = [m * 10.0**e for e in range(int(np.log10(high)) + 1) for m in (1, 2, 5)]
    # A round number just below the last size would overlap its label.
    return [step for step in steps if low <= step < high / 1.5] + [float(high)]


def _name_curves(ax: Axes, ends: dict[str, float], colours: list[str]) -> None:
    """Write each name at the right end of its line, without overlaps."""
    low, high = ax.get_ylim()
    heights = _spread(list(ends.values()), 0.05 * (high - low))
    for (name, end), height, colour in zip(ends.items(), heights, colours, strict=True):
        ax.annotate(
            f"{plain(name)}  {end:.1f} %",
            (1.015, height),
            xycoords=("axes fraction", "data"),
            color=colour,
            fontsize=SMALL,
            fontweight="bold",
            verticalalignment="center",
        )


def _spread(heights: list[float], gap: float) -> list[float]:
    """The heights, with the lower one of each close pair moved down to keep a gap."""
    order = np.argsort(heights)[::-1]
    moved = list(heights)
    for upper, lower in pairwise(order):
        moved[lower] = min(moved[lower], moved[upper] - gap)
    return moved


def _subtitle(n_repeats: int, unit: str) -> str:
    if n_repeats == 1:
        return f"One random order of the training {unit}"
    return f"Mean and standard deviation over {n_repeats} random orders of the training {unit}"
