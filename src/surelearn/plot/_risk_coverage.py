"""The risk among the surest answers, by their share; must not know how sureness is computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surelearn import _check
from surelearn.decide import RiskCoverage, risk_coverage
from surelearn.learners.labels import as_labels
from surelearn.learners.task import EvaluationOptions, task_of
from surelearn.plot._display import Display
from surelearn.plot.style import FONT, GREY, LINE, SMALL, THIN, colour_of, head, plain, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from surelearn.scores import DecisionScores

Array = NDArray[np.float64]

#: The most points of a curve: more cannot be told apart.
_POINTS = 2000


class CertifiedPoint(NamedTuple):
    """A certified share of answers and the upper bound of their risk."""

    coverage: float
    bound: float


class RiskCoverageDisplay(Display):
    """The share of mistakes among the surest answers, by the share of records that is answered.

    A low curve belongs to a model whose mistakes are among its least sure answers. The legend gives
    the area under each curve. Make it with `from_estimator`, `from_estimators`, `from_predictions`
    or `from_evaluation`, then draw it with `plot` or `save`.

    Parameters
    ----------
    curves : dict of {str: decide.RiskCoverage}
        Keyed by the name to show.
    risk : float, optional
        A risk to draw as a horizontal line.
    certified : dict of {str: tuple of two float}, optional
        The certified coverage and the bound of the risk of some of the models: `coverage_` and
        `risk_bound_`.

    Attributes
    ----------
    curves_ : dict of {str: decide.RiskCoverage}
    risk_ : float or None
    certified_ : dict of {str: CertifiedPoint}
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.

    References
    ----------
    El-Yaniv & Wiener 2010, On the foundations of noise-free selective classification.

    Examples
    --------
    >>> from surelearn.plot import RiskCoverageDisplay
    >>> display = RiskCoverageDisplay.from_predictions(
    ...     ["a", "b", "b"], ["a", "a", "b"], [0.9, 0.6, 0.7], name="mine")
    >>> display.curves_["mine"].risk.round(2)
    array([0.  , 0.  , 0.33])
    """

    def __init__(
        self,
        curves: Mapping[str, RiskCoverage],
        *,
        risk: float | None = None,
        certified: Mapping[str, tuple[float, float]] | None = None,
    ) -> None:
        _check_named("curves", curves)
        for name, curve in curves.items():
            if not isinstance(curve, RiskCoverage):
                raise TypeError(f"curves[{name!r}] must be a RiskCoverage, got {curve!r}.")
        if risk is not None:
            risk = _check.number("risk", risk, "(0, 1)", low=0.0, high=1.0)
        self.curves_, self.risk_ = dict(curves), risk
        points = {} if certified is None else certified
        self.certified_ = {name: CertifiedPoint(*point) for name, point in points.items()}
        for name in self.certified_:
            _check.choice("certified", name, list(self.curves_))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        name: str | None = None,
        risk: float | None = None,
        **records: Any,
    ) -> Self:
        """Compare how sure a fitted model is with its mistakes.

        Parameters
        ----------
        estimator : classifier, tagger or ranker
            A model of this package that keeps variances, or any fitted classifier with
            `predict_proba`; the sureness of the latter is the probability of its answer.
        X, y
            Labelled records that it was not trained on, as `evaluate` takes them.
        name : str, optional
            The name to show. The default is that of the class.
        risk : float, optional
            A risk to draw as a line. The default is the one that `choose_abstention` has certified.
        **records
            `group` or `qid` for rankers.

        Returns
        -------
        RiskCoverageDisplay
            With the certified point, if the estimator has one risk for all of its answers.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from surelearn import SureClassifier
        >>> from surelearn.plot import RiskCoverageDisplay
        >>> X, y = load_iris(return_X_y=True)
        >>> clf = SureClassifier(random_state=0).fit(X[::2], y[::2])
        >>> display = RiskCoverageDisplay.from_estimator(clf, X[1::2], y[1::2])
        >>> display.curves_["SureClassifier"].coverage_at(0.01) > 0.5
        True
        """
        named = type(estimator).__name__ if name is None else name
        return cls.from_estimators({named: estimator}, X, y, risk=risk, **records)

    @classmethod
    def from_estimators(
        cls,
        estimators: Mapping[str, Any],
        X: Any,
        y: Any,
        *,
        risk: float | None = None,
        **records: Any,
    ) -> Self:
        """Compare several fitted models on the same records.

        Parameters
        ----------
        estimators : dict of {str: estimator}
            Keyed by the name to show.
        X, y, risk, **records
            As in `from_estimator`.

        Returns
        -------
        RiskCoverageDisplay
        """
        _check_named("estimators", estimators)
        found = {name: _judged(own, X, y, **records) for name, own in estimators.items()}
        return cls._of_scores(found, risk)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        sureness: ArrayLike,
        *,
        name: str = "classifier",
        risk: float | None = None,
    ) -> Self:
        """Compare a given sureness with the mistakes of given answers.

        Parameters
        ----------
        y_true, y_pred : array of shape (n_samples,)
            The true labels and the answers. For losses that are shares, make the curve with
            `decide.risk_coverage` and pass it to the class.
        sureness : array of shape (n_samples,)
            Larger is surer, such as the largest probability.
        name : str, default "classifier"
            The name to show.
        risk : float, optional
            A risk to draw as a line.

        Returns
        -------
        RiskCoverageDisplay
        """
        sure, true, predicted = (
            _check.numbers("sureness", sureness),
            as_labels(y_true),
            as_labels(y_pred),
        )
        if not len(true):
            raise ValueError("y_true must have at least one label, got none.")
        for own, values in (("y_pred", predicted), ("sureness", sure)):
            if values.shape != true.shape:
                raise ValueError(
                    f"{own} must have shape {true.shape}, as y_true has, got shape {values.shape}."
                )
        _check.one_kind(true, predicted)
        loss = np.asarray(true != predicted, dtype=np.float64)
        curve = risk_coverage(sure, loss)
        return cls({name: curve}, risk=risk)

    @classmethod
    def from_evaluation(
        cls, evaluation: Any, *, name: str = "the model", risk: float | None = None
    ) -> Self:
        """Draw the curve that `evaluate` has found.

        Parameters
        ----------
        evaluation : Evaluation, LabelScores, ChunkScores or RankingScores
            With `decisions`.
        name : str, default "the model"
            The name to show.
        risk : float, optional
            A risk to draw as a line. The default is that of the evaluation.

        Returns
        -------
        RiskCoverageDisplay
        """
        found = getattr(evaluation, "decisions", None)
        if found is None:
            raise TypeError(
                f"evaluation must be of a model with probabilities, got {evaluation!r:.80}."
            )
        return cls._of_scores({name: found}, risk)

    @classmethod
    def _of_scores(cls, found: Mapping[str, DecisionScores], risk: float | None) -> Self:
        curves = {name: own.curve for name, own in found.items()}
        certified = {
            name: (own.kept[0].coverage, own.kept[0].bound)
            for name, own in found.items()
            if len(own.kept) == 1 and own.kept[0].label is None
        }
        promised = [own.risk for own in found.values() if own.risk is not None]
        if risk is None and len(set(promised)) == 1:
            risk = promised[0]
        return cls(curves, risk=risk, certified=certified)

    def plot(
        self, ax: Axes | None = None, *, title: str | None = None, perfect: bool = False
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw. The default is a new pyplot figure.
        title : str, optional
        perfect : bool, default False
            Whether to draw the best possible curve of each model, dashed.

        Returns
        -------
        self
            With `ax_` and `figure_`.
        """
        return self._plot(ax, title, perfect=_check.flag("perfect", perfect))

    def save(self, path: Any, *, title: str | None = None, perfect: bool = False) -> Self:
        """Draw into a file, without a window and without pyplot.

        Parameters
        ----------
        path : str or path
            The extension decides the format: ``.png``, ``.svg``, ``.pdf``.
        title, perfect
            As in `plot`.

        Returns
        -------
        self
        """
        return self._save(path, title=title, perfect=perfect)

    def _size(self) -> tuple[float, float]:
        n_lines = len(self.curves_) + len(self.certified_) + 2
        return 7.2, 4.2 + 0.22 * n_lines

    def _draw(self, ax: Axes, title: str | None, *, perfect: bool = False) -> None:
        dashed: dict[str, Any] = {"linewidth": THIN, "linestyle": "--"}
        for place, (name, curve) in enumerate(self.curves_.items()):
            colour = colour_of(place)
            label = f"{plain(name)} (area {curve.area:.4f})"
            own: dict[str, Any] = {"color": colour, "label": label}
            ax.plot(*_points(curve, curve.risk), linewidth=LINE, zorder=3, **own)
            if perfect:
                ax.plot(*_points(curve, curve.least), color=colour, zorder=2, **dashed)
            if name in self.certified_:
                x, y = (100 * value for value in self.certified_[name])
                own["label"] = f"certified: {x:.0f} % answered, bound {y:.1f} %"
                dot: dict[str, Any] = {"marker": "D", "markersize": 8, "markeredgecolor": "white"}
                ax.plot([x], [y], linestyle="none", zorder=4, **dot, **own)
        if perfect:
            ax.plot([], [], color=GREY, label="least possible", **dashed)
        if self.risk_ is not None:
            told = f"risk {100 * self.risk_:g} %"
            ax.axhline(100 * self.risk_, color=GREY, linewidth=THIN, linestyle=":", label=told)
        self._dress(ax)
        head(ax, title, "Mistakes among the surest answers; a lower curve is better")

    def _dress(self, ax: Axes) -> None:
        quiet(ax)
        # The risk of the first few records is mostly chance, and may be far above the rest.
        tops = [
            100 * float(curve.risk[len(curve.risk) // 10 :].max())
            for curve in self.curves_.values()
        ]
        tops += [100 * point.bound for point in self.certified_.values()]
        tops += [100 * self.risk_] if self.risk_ is not None else []
        ax.set(xlim=(0, 100), ylim=(0, 1.08 * max(tops) or 1.0))
        ax.set_xlabel("Answered (% of records, surest first)", fontsize=FONT)
        ax.set_ylabel("Wrong among the answered (%)", fontsize=FONT)
        below: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (0.0, -0.15)}
        ax.legend(frameon=False, fontsize=SMALL, borderaxespad=0.0, **below)


# -------------------------------------------------------------------- computing


def _judged(estimator: Any, X: Any, y: Any, **records: Any) -> DecisionScores:
    """What an evaluation says of the decisions of a model."""
    task = task_of(estimator)
    found = task.evaluated(estimator, X, y, EvaluationOptions(), **records).decisions
    if found is None:  # taggers and rankers are judged where a risk is asked about
        asked = task.evaluated(estimator, X, y, EvaluationOptions(risk=0.5), **records)
        if asked.decisions is None:
            raise TypeError(f"estimator must have probabilities, got {estimator!r}.")
        found = replace(asked.decisions, risk=None)
    decisions: DecisionScores = found
    return decisions


def _check_named(name: str, given: Any) -> None:
    if not isinstance(given, Mapping) or not given:
        raise TypeError(f"{name} must be a dict of {{name: {name[:-1]}}}, got {given!r}.")


def _points(curve: RiskCoverage, risk: Array) -> tuple[Array, Array]:
    """Coverage and risk in percent, at no more places than can be told apart."""
    n = len(risk)
    places = np.unique(np.linspace(0, n - 1, min(n, _POINTS)).astype(np.int64))
    return 100 * curve.coverage[places], 100 * risk[places]
