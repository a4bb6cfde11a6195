"""The Gaussian over two weights, as ellipses; must not know how weights are learnt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from surelearn import _check
from surelearn.plot._display import Display
from surelearn.plot.style import COLOURS, FONT, GREY, LINE, SMALL, THIN, head, look, plain, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_N_POINTS = 181


class EllipseDisplay(Display):
    r"""The Gaussian over two weights, as ellipses of one and two standard deviations.

    .. math:: \{w : (w - \mu)^\top \Sigma^{-1} (w - \mu) = r^2\}, \qquad r = 1, 2

    The inner ellipse holds 39 % of the probability, the outer one 86 %. Make it with
    `from_estimator`, or with `from_estimators` for several models or several steps of one, then
    draw it with `plot` or `save`.

    Parameters
    ----------
    means : array of shape (n, 2)
        Mean of each Gaussian.
    covariances : array of shape (n, 2, 2)
    names : list of str of shape (n,), optional
        Names for the legend.
    features : pair of str, default ("w0", "w1")
        Labels of the axes.
    row : array of shape (2,), optional
        A row, multiplied by its label -1 or +1. Weights with ``row . w + offset >= 0`` classify it
        right; this half-plane is shaded.
    offset : float, default 0
        What all other weights add to the signed margin of the row.

    Attributes
    ----------
    means_ : ndarray of shape (n, 2)
    covariances_ : ndarray of shape (n, 2, 2)
    names_ : list of str or None
    features_ : tuple of str
    row_ : ndarray of shape (2,) or None
    offset_ : float
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.

    References
    ----------
    Crammer, Dredze & Pereira 2008, Exact Convex Confidence-Weighted Learning, figure 3 (bottom).

    Examples
    --------
    >>> from surelearn.plot import EllipseDisplay
    >>> display = EllipseDisplay([[1, 0]], [[[1, 0], [0, 4]]], row=[1, 0])
    >>> display.outline(0, 2)[:, 1].max()  # two deviations of the second weight
    np.float64(4.0)
    >>> display.probability().round(3)
    array([0.841])
    """

    def __init__(
        self,
        means: ArrayLike,
        covariances: ArrayLike,
        *,
        names: Sequence[str] | None = None,
        features: Sequence[str] = ("w0", "w1"),
        row: ArrayLike | None = None,
        offset: float = 0.0,
    ) -> None:
        self.means_ = _check.numbers("means", means)
        self.covariances_ = _check.numbers("covariances", covariances)
        self.names_ = None if names is None else [str(name) for name in names]
        self.features_ = tuple(str(feature) for feature in features)
        self.row_ = None if row is None else _check.numbers("row", row)
        self.offset_ = float(offset)
        self._check_shapes()

    def _check_shapes(self) -> None:
        if self.means_.ndim != 2 or self.means_.shape[1] != 2 or not len(self.means_):
            raise ValueError(f"means must have shape (n, 2), got shape {self.means_.shape}.")
        n = len(self.means_)
        if self.covariances_.shape != (n, 2, 2):
            raise ValueError(
                f"covariances must have shape ({n}, 2, 2) for {n} means, got shape "
                f"{self.covariances_.shape}."
            )
        for matrix in self.covariances_:
            scale = np.abs(matrix).max()
            symmetric = abs(matrix[0, 1] - matrix[1, 0]) <= 1e-6 * scale
            if not symmetric or np.linalg.eigvalsh(matrix)[0] < -1e-6 * scale:
                raise ValueError(
                    "covariances must be symmetric without negative eigenvalues, got "
                    f"{matrix.tolist()}."
                )
        if self.names_ is not None and len(self.names_) != n:
            raise ValueError(f"names must be {n}, one for each mean, got {len(self.names_)}.")
        if len(self.features_) != 2:
            raise ValueError(f"features must be two, got {len(self.features_)}.")
        if self.row_ is not None and self.row_.shape != (2,):
            raise ValueError(f"row must have shape (2,), got shape {self.row_.shape}.")

    @classmethod
    def from_estimator(
        cls,
        clf: Any,
        features: Sequence[int | str] = (0, 1),
        *,
        row: ArrayLike | None = None,
        label: Any = None,
    ) -> Self:
        """The weights of two features of a fitted linear classifier, one ellipse a class.

        Two classes share one ellipse, that of the weights for ``classes_[1]``.

        Parameters
        ----------
        clf : SureClassifier
            With a second-order rule, and diagonal or full covariance.
        features : pair of int or str, default (0, 1)
            Columns of X, or their names if the model was fitted on a frame.
        row : array of shape (n_features,), optional
            Shade the weights that classify this row right, the other weights being at their means.
            Two classes only.
        label : label, optional
            The class of `row`.

        Returns
        -------
        EllipseDisplay

        Examples
        --------
        >>> from surelearn import SureClassifier
        >>> from surelearn.plot import EllipseDisplay
        >>> clf = SureClassifier(covariance="full", fit_intercept=False, passes=3)
        >>> clf = clf.fit([[1, 1], [-1, -1]], ["yes", "no"])
        >>> display = EllipseDisplay.from_estimator(clf, row=[1, 1], label="yes")
        >>> bool(display.covariances_[0, 0, 1] < 0), bool(display.probability()[0] > 0.9)
        (True, True)
        """
        return cls.from_estimators({"": clf}, features, row=row, label=label)

    @classmethod
    def from_estimators(
        cls,
        estimators: Mapping[str, Any],
        features: Sequence[int | str] = (0, 1),
        *,
        row: ArrayLike | None = None,
        label: Any = None,
    ) -> Self:
        """The weights of two features in several models, such as copies before and after a row.

        Parameters
        ----------
        estimators : dict of {str: SureClassifier}
            Fitted models, keyed by the name to show.
        features, row, label
            As in `from_estimator`. The half-plane of `row` is that of the first model.

        Returns
        -------
        EllipseDisplay
        """
        if not isinstance(estimators, Mapping) or not estimators:
            raise TypeError(
                f"estimators must be a dict of {{name: estimator}}, got {estimators!r}."
            )
        models = list(estimators.values())
        columns = [_column(models[0], feature) for feature in _pair(features)]
        shown = [_shown(models[0], column) for column in columns]
        found = [_gaussians(clf, columns) for clf in models]
        names = [
            " ".join(filter(None, (str(name), own)))
            for name, clf in estimators.items()
            for own in _classes(clf)
        ]
        halves: dict[str, Any] = {}
        if row is not None:
            halves = _half_plane(models[0], columns, row, label)
        return cls(
            np.concatenate([means for means, _ in found]),
            np.concatenate([covariances for _, covariances in found]),
            names=names if any(names) else None,
            features=shown,
            **halves,
        )

    def outline(self, place: int, deviations: float = 1.0) -> NDArray[np.float64]:
        """Points of the ellipse at so many standard deviations, of shape (n_points, 2)."""
        values, vectors = np.linalg.eigh(self.covariances_[place])
        angles = np.linspace(0, 2 * np.pi, _N_POINTS)
        circle = np.stack([np.cos(angles), np.sin(angles)])
        axes = vectors * np.sqrt(np.maximum(values, 0))
        return np.asarray(self.means_[place] + deviations * (axes @ circle).T)

    def probability(self) -> NDArray[np.float64]:
        """Probability that weights drawn from each Gaussian classify `row_` right, of shape (n,).

        It is :math:`\\Phi(m / \\sqrt v)` of the signed margin.
        """
        if self.row_ is None:
            raise ValueError("row must be given for probability, got None.")
        mean = self.means_ @ self.row_ + self.offset_
        variance = np.einsum("i,nij,j->n", self.row_, self.covariances_, self.row_)
        with np.errstate(divide="ignore", invalid="ignore"):
            z = mean / np.sqrt(variance)
        return np.asarray(ndtr(np.nan_to_num(z, nan=0.0)))

    def _size(self) -> tuple[float, float]:
        return 7.0, 5.8

    def _draw(self, ax: Axes, title: str | None) -> None:
        for place, mean in enumerate(self.means_):
            own = look(place)
            for deviations, alpha in ((2, 0.12), (1, 0.22)):
                edge = self.outline(place, deviations)
                ax.fill(*edge.T, color=own["color"], alpha=alpha, linewidth=0)
                ax.plot(*edge.T, color=own["color"], linewidth=LINE)
            dot: dict[str, Any] = {"linestyle": "", "markeredgecolor": "white", "zorder": 5}
            ax.plot(*mean, label=self._named(place), **dot, **own)
        self._draw_half_plane(ax, *self._frame(ax))
        _dress(ax, self.features_, named=bool(self.names_) or self.row_ is not None)
        told = "Mean, one and two standard deviations of the weights"
        if self.row_ is not None:
            told += "; shaded: the row is right"
        head(ax, title, told)

    def _named(self, place: int) -> str:
        name = "" if self.names_ is None else plain(self.names_[place])
        if self.row_ is None:
            return name
        return f"{name}: {100 * self.probability()[place]:.0f} % right".removeprefix(": ")

    def _frame(self, ax: Axes) -> NDArray[np.float64]:
        """Make the Axes a square around all ellipses; return its limits, of shape (2, 2)."""
        points = np.concatenate([self.outline(place, 2) for place in range(len(self.means_))])
        low, high = points.min(axis=0), points.max(axis=0)
        half = 0.54 * max(float((high - low).max()), 1e-12)
        limits = np.stack([(low + high) / 2 - half, (low + high) / 2 + half], axis=1)
        ax.set(xlim=limits[0], ylim=limits[1], aspect="equal")
        return limits

    def _draw_half_plane(self, ax: Axes, x: NDArray[np.float64], y: NDArray[np.float64]) -> None:
        """Shade the weights that classify the row right, and draw the line of the others."""
        if self.row_ is None:
            return
        margin = self.row_[0] * x[None, :] + self.row_[1] * y[:, None] + self.offset_
        if margin.max() >= 0:
            shade: dict[str, Any] = {"colors": [COLOURS[2]], "alpha": 0.08}
            ax.contourf(x, y, margin, levels=[0, np.inf], **shade)
        if margin.min() < 0 < margin.max():
            ax.contour(x, y, margin, levels=[0], colors=GREY, linewidths=THIN)


# -------------------------------------------------------------------- computing


def _pair(features: Sequence[int | str]) -> list[int | str]:
    if isinstance(features, str) or not isinstance(features, Sequence | np.ndarray):
        raise TypeError(f"features must be two columns or names, got {features!r}.")
    if len(features) != 2:
        raise ValueError(f"features must be two columns or names, got {len(features)}.")
    return list(features)


def _column(clf: Any, feature: int | str) -> int:
    known: list[Any] = getattr(clf, "feature_names_in_", np.array([])).tolist()
    if isinstance(feature, str):
        if feature not in known:
            raise ValueError(
                f"features must be among the names of the fitted columns, got {feature!r}."
            )
        return known.index(feature)
    return _check.count("features", feature, least=0, most=clf.n_features_in_ - 1)


def _shown(clf: Any, column: int) -> str:
    names = getattr(clf, "feature_names_in_", None)
    return f"weight of {f'x{column}' if names is None else names[column]}"


def _gaussians(clf: Any, columns: list[int]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Means (n, 2) and covariances (n, 2, 2) of the weights of two columns."""
    means, sigma = clf.coef_, clf.sigma_
    n = len(means)
    is_full = str(clf.get_params().get("covariance")) == "full"
    if sigma.shape == means.shape and not is_full:
        return means[:, columns], np.stack([np.diag(own[columns]) for own in sigma])
    stride = len(sigma) // n  # the features of a class, and its intercept if there is one
    places = stride * np.arange(n)[:, None] + columns
    blocks = [sigma[np.ix_(own, own)] for own in places]
    return means[:, columns], np.stack(blocks)


def _classes(clf: Any) -> list[str]:
    """What each row of weights is for; two classes share one."""
    n = len(clf.coef_)
    if n == 1:
        return [""]
    if n == len(clf.classes_):
        return [str(label) for label in clf.classes_]
    return [f"problem {place}" for place in range(n)]


def _half_plane(clf: Any, columns: list[int], row: Any, label: Any) -> dict[str, Any]:
    """The signed row in two columns, and what the means of all other weights add to its margin."""
    if len(clf.classes_) != 2:
        raise ValueError(f"row needs a model of 2 classes, got {len(clf.classes_)}.")
    sign = 2 * _check.place_of(label, clf.classes_.tolist()) - 1
    x = _check.numbers("row", row)
    if x.shape != (clf.n_features_in_,):
        raise ValueError(f"row must have shape ({clf.n_features_in_},), got shape {x.shape}.")
    units = clf.model_.weights.units
    z = x if units is None else units.centred(np.arange(len(x)), x)
    rest = clf.coef_[0] @ x + clf.intercept_[0] - clf.coef_[0, columns] @ z[columns]
    return {"row": sign * z[columns], "offset": float(sign * rest)}


# ---------------------------------------------------------------------- drawing


def _dress(ax: Axes, features: tuple[str, ...], *, named: bool) -> None:
    quiet(ax, "both")
    first, second = (plain(feature[:1].upper() + feature[1:]) for feature in features)
    ax.set_xlabel(first, fontsize=FONT)
    ax.set_ylabel(second, fontsize=FONT)
    handles, _ = ax.get_legend_handles_labels()
    if named and handles:
        ax.legend(frameon=False, fontsize=SMALL)
