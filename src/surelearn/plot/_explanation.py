"""Explanations of a model or a row, as bars; must not know how weights are learnt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surelearn import _check
from surelearn.learners.explain.explanation import Explanation
from surelearn.plot._display import Display
from surelearn.plot.style import (
    COLOURS,
    FONT,
    GREY,
    LINE,
    SMALL,
    THIN,
    colour_of,
    head,
    plain,
    quiet,
)
from surelearn.table import word

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: For and against a class where its colour cannot tell: of more classes than colours.
_FOR, _AGAINST = "#222222", "#999999"
_WIDEST = 28


class ExplanationDisplay(Display):
    """Surest or chosen weights of a model, or contributions of features to one row, as bars.

    Make it with `from_estimator`, then draw it with `plot` or `save`. Each line of the explanation
    is a bar, with whiskers that show how sure the model is. For a model, bars are the means of the
    weights; thick whiskers show one standard deviation, thin ones two. For a row, bars are shares
    in the margin; whiskers show the square root of the (absolute) share in its variance. The
    default title is that of `title`. A bar has the colour of the class it speaks for, that of its
    place in `classes_`; what speaks against one of many classes is grey.

    Parameters
    ----------
    explanation : Explanation
        A result of `SureClassifier.explain`; for a row, only the lines of one class.
    classes : array of shape (n_classes,)
        All classes of the model.
    probability : float, optional
        Probability of the predicted class of a row, for the title.
    chosen : bool, default False
        Whether the weights of a model were chosen by the user, for the title.

    Attributes
    ----------
    explanation_ : Explanation
    classes_ : ndarray of shape (n_classes,)
    probability_ : float or None
    chosen_ : bool
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.

    Examples
    --------
    >>> from surelearn import SureClassifier
    >>> from surelearn.plot import ExplanationDisplay
    >>> clf = SureClassifier(passes=1, shuffle=False).fit([[0, 1], [1, 0]], ["no", "yes"])
    >>> ExplanationDisplay.from_estimator(clf, [1, 0]).title()
    'yes: margin 0.819 ± 1.2, probability 0.80'
    """

    def __init__(
        self,
        explanation: Explanation,
        *,
        classes: ArrayLike,
        probability: float | None = None,
        chosen: bool = False,
    ) -> None:
        self.explanation_ = explanation
        self.classes_ = np.asarray(classes)
        self.probability_ = probability
        self.chosen_ = chosen
        labels = np.unique(explanation.label).tolist()
        if self._of_row and len(labels) > 1:
            raise ValueError(
                f"explanation must have the lines of one class, got {_check.listing(labels)}."
            )

    @classmethod
    def from_estimator(
        cls,
        clf: Any,
        row: Any = None,
        *,
        top: int | None = 15,
        label: Any = None,
        names: Any = None,
        features: Sequence[Any] | Mapping[Any, str] | None = None,
    ) -> Self:
        """Explain a fitted classifier, or its prediction for one row.

        Parameters
        ----------
        clf : SureClassifier
        row : array, sparse row, frame of one row, or dict of {feature: value}, optional
            The row to explain. By default the whole model is explained.
        top : int or None, default 15
            How many bars to draw; None means all. For a row, one more bar sums up the rest.
        label : optional
            With three or more classes, the class whose score is shown for a row. The default is the
            class with the largest score.
        names : array of str of shape (n_features,), optional
            Names of the features, as in `SureClassifier.explain`.
        features : list, or dict of {feature: name to show}, optional
            Draw these weights in place of the surest ones, largest mean first: columns, names of
            columns, or words of a text classifier. Unseen ones have the weights of the prior. With
            three or more classes, `label` chooses the class; the default is all.

        Returns
        -------
        ExplanationDisplay

        Examples
        --------
        >>> from surelearn import SureTextClassifier
        >>> from surelearn.plot import ExplanationDisplay
        >>> clf = SureTextClassifier(random_state=0).fit(["good film", "bad film"], ["yes", "no"])
        >>> display = ExplanationDisplay.from_estimator(clf, features=["bad", "unseen", "good"])
        >>> display.explanation_.feature.tolist(), float(display.explanation_.deviation[1])
        (['good', 'unseen', 'bad'], 1.0)
        """
        limit = _check.top(top, auto=15)
        if features is not None:
            if row is not None:
                raise ValueError(f"features must be None for a row, got {features!r}.")
            table = _chosen(clf, features, label, names)
            return cls(table, classes=clf.classes_, chosen=True)
        if row is None:
            return cls(clf.explain(top=limit, names=names), classes=clf.classes_)
        whole = clf.explain(row, names=names)
        shown = _shown_label(whole, clf.classes_, label)
        two = len(clf.classes_) == 2
        table = clf.explain(row, label=None if two else shown, top=limit, names=names)
        found = _probability(clf, row)
        if found is not None:
            found = found[_named(whole, clf.classes_, shown)]
        return cls(table, classes=clf.classes_, probability=found)

    @property
    def _of_row(self) -> bool:
        return "margin" in self.explanation_.columns

    @property
    def _sure(self) -> bool:
        return "deviation" in self.explanation_.columns

    def title(self) -> str:
        """The default title: the finding in one line."""
        if self.chosen_:
            return f"{len(self.explanation_)} chosen weights"
        if not self._of_row:
            return (
                f"The {len(self.explanation_)} surest weights" if self._sure else "Largest weights"
            )
        two = len(self.classes_) == 2
        margin = float(self.explanation_.margin.sum())
        named = self.classes_[int(margin > 0)] if two else [*self.explanation_.label, ""][0]
        number = f"{margin:.3g}".replace("-", "−")
        said = f"{word(str(named))}: {'margin' if two else 'score'} {number}"
        if self._sure:
            # Single shares of a full covariance may be negative; their sum only by rounding.
            variance = max(float(self.explanation_.variance.sum()), 0.0)
            said += f" ± {np.sqrt(variance):.3g}"
        if self.probability_ is not None:
            said += f", probability {_number(self.probability_)}"
        return said

    def _size(self) -> tuple[float, float]:
        return 8.0, 1.6 + 0.3 * max(len(self.explanation_), 3)

    def _draw(self, ax: Axes, title: str | None) -> None:
        bars = _bars(self.explanation_, self.classes_)
        _draw(ax, bars, of_row=self._of_row)
        _dress(ax, bars, of_row=self._of_row)
        told = _subtitle(self._of_row, self._sure)
        head(ax, self.title() if title is None else title, told)


# -------------------------------------------------------------------- computing


def _chosen(clf: Any, features: Any, label: Any, names: Any) -> Explanation:
    """The weights of some features, largest mean first."""
    if isinstance(features, str) or not isinstance(features, Mapping | Sequence | np.ndarray):
        raise TypeError(f"features must be a list of features, got {features!r}.")
    if not len(features):
        raise ValueError("features must have at least one feature, got none.")
    shown = features if isinstance(features, Mapping) else {}
    reads_texts = hasattr(clf, "vectorizer_")
    lines: list[dict[str, Any]] = []
    for feature in features:
        row = feature if reads_texts else {feature: 1.0}
        for one in [label] if label is not None or len(clf.classes_) == 2 else clf.classes_:
            table = clf.explain(row, label=one, names=names)
            lines += _lines_of(table, feature, shown.get(feature))
    lines.sort(key=lambda line: -line["mean"])
    columns = {name: np.array([line[name] for line in lines]) for name in lines[0]}
    return Explanation({**columns, "feature": columns["feature"].astype(object)})


def _lines_of(table: Explanation, feature: Any, shown: str | None) -> list[dict[str, Any]]:
    """The lines of the only feature of a row, one a class; without the intercept."""
    # In units of columns, the other columns of the row are zeros that say something, too.
    kept = np.flatnonzero((table.feature != "(others)") & (table.value != 0))
    labels = table.label[kept].tolist()
    if not labels or len(set(labels)) < len(labels):
        found = list(dict.fromkeys(table.feature[kept].tolist()))
        raise ValueError(
            f"features must each be one feature of the model, got {feature!r}, which is "
            f"{_check.listing(found) or 'none'}."
        )
    columns = [name for name in table.columns if name not in {"value", "margin", "variance"}]
    lines = [{name: getattr(table, name)[place] for name in columns} for place in kept]
    return lines if shown is None else [{**line, "feature": shown} for line in lines]


def _shown_label(table: Explanation, classes: NDArray[Any], label: Any) -> Any:
    """The class whose score is shown: of two the second, else by default the winner."""
    if label is not None:
        _check.place_of(label, classes.tolist())
    if len(classes) == 2:
        return classes[1]
    return [*table.label, classes[0]][0] if label is None else label


def _named(table: Explanation, classes: NDArray[Any], shown: Any) -> int:
    """The index of the class in the title: the winner of two classes, else the one shown."""
    if len(classes) == 2:
        return int(table.margin.sum() > 0)
    places: list[Any] = classes.tolist()
    return places.index(shown)


def _probability(clf: Any, row: Any) -> NDArray[np.float64] | None:
    """The probabilities of all classes; None if the model has none."""
    if not hasattr(clf, "predict_proba_one"):
        return None
    return np.array(list(clf.predict_proba_one(row).values()))


# ---------------------------------------------------------------------- drawing


class _Bars(NamedTuple):
    names: list[str]
    length: NDArray[np.float64]
    whisker: NDArray[np.float64] | None
    colours: list[str]
    sides: tuple[str, str]  # what bars to the left and to the right are evidence for
    labels: list[str] | None = None  # the class of each bar, if they differ
    inks: tuple[str, str] = (GREY, GREY)  # the colours of the sides


def _bars(table: Explanation, classes: NDArray[Any]) -> _Bars:
    of_row = "margin" in table.columns
    length = table.margin if of_row else table.mean
    whisker = None
    if "deviation" in table.columns:
        whisker = np.sqrt(np.abs(table.variance)) if of_row else table.deviation
    names = [plain(word(str(name), _WIDEST)) for name in table.feature]
    if len(classes) == 2 or of_row:
        inks, sides = _inks(table, classes), _sides(table, classes)
        return _Bars(names, length, whisker, _by_sign(length, *inks), sides, inks=inks)
    labels = [str(label) for label in table.label]
    colours = _by_sign(length, _AGAINST, _FOR)
    if len(classes) <= len(COLOURS):
        places = {str(label): place for place, label in enumerate(classes)}
        colours = [colour_of(places[label]) for label in labels]
    shown = [plain(word(label, _WIDEST)) for label in labels]
    return _Bars(names, length, whisker, colours, ("against the class", "for the class"), shown)


def _by_sign(length: NDArray[np.float64], below: str, above: str) -> list[str]:
    return [above if number > 0 else below if number < 0 else GREY for number in length]


def _inks(table: Explanation, classes: NDArray[Any]) -> tuple[str, str]:
    """What a bar to the left speaks for, and one to the right, as colours."""
    if len(classes) == 2:
        first, second = colour_of(0), colour_of(1)
        return (second, first) if _is_of_first(table, classes) else (first, second)
    if not len(table):
        return _AGAINST, _FOR
    return _AGAINST, colour_of(classes.tolist().index(table.label[0]))


def _is_of_first(table: Explanation, classes: NDArray[Any]) -> bool:
    """Whether a table of two classes is about the first of them, which was asked for."""
    return bool(len(table)) and table.label[0] == classes[0]


def _sides(table: Explanation, classes: NDArray[Any]) -> tuple[str, str]:
    if len(classes) == 2:
        left, right = (plain(word(str(label), _WIDEST)) for label in classes)
        return (right, left) if _is_of_first(table, classes) else (left, right)
    label = plain(word(str([*table.label, "the class"][0]), _WIDEST))
    return f"against {label}", f"for {label}"


def _draw(ax: Axes, bars: _Bars, *, of_row: bool) -> None:
    places = np.arange(len(bars.names))
    ax.barh(
        places,
        bars.length,
        height=0.64,
        color=bars.colours,
        alpha=1.0 if of_row else 0.35,
    )
    ax.axvline(0, color=GREY, linewidth=THIN, zorder=3)
    if bars.whisker is not None:
        inks = ["#222222"] * len(places) if of_row else bars.colours
        low, high = bars.length - bars.whisker, bars.length + bars.whisker
        ax.hlines(places, low, high, colors=inks, linewidth=LINE if of_row else 2 * LINE, zorder=4)
        if not of_row:
            low, high = low - bars.whisker, high + bars.whisker
            ax.hlines(places, low, high, colors=inks, linewidth=LINE, zorder=4)
    if not of_row:
        ax.scatter(bars.length, places, c=bars.colours, edgecolors="white", zorder=5)
    _name_classes(ax, bars)


def _name_classes(ax: Axes, bars: _Bars) -> None:
    """Write the classes in a column at the right edge, if bars belong to several classes."""
    if bars.labels is None:
        return
    lines = [
        ("class", -1, GREY),
        *zip(bars.labels, range(len(bars.names)), bars.colours, strict=True),
    ]
    for text, place, colour in lines:
        ax.annotate(
            text,
            (1.015, place),
            xycoords=("axes fraction", "data"),
            color=colour,
            fontsize=SMALL,
            verticalalignment="center",
            annotation_clip=False,
        )


def _dress(ax: Axes, bars: _Bars, *, of_row: bool) -> None:
    ax.set_yticks(range(len(bars.names)), labels=bars.names)
    ax.set_ylim(max(len(bars.names), 1) - 0.4, -0.6)
    quiet(ax, "x")
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_xlabel("Share in the margin" if of_row else "Weight", fontsize=FONT)
    sides = ((0.0, f"← {bars.sides[0]}", "left"), (1.0, f"{bars.sides[1]} →", "right"))
    for (x, text, side), colour in zip(sides, bars.inks, strict=True):
        ax.annotate(
            text,
            (x, 0),  # at the height of the axis label
            xycoords=("axes fraction", ax.xaxis.label),
            color=colour,
            fontsize=SMALL,
            fontweight="bold",
            horizontalalignment=side,
            verticalalignment="bottom",
        )


def _number(probability: float) -> str:
    """A probability with two digits, or more near 0 and 1; never rounded to 0 or 1."""
    if probability > 0.9995:
        return ">0.999"
    if probability > 0.995:
        return f"{probability:.3f}"
    return f"{probability:.2f}" if probability > 0.005 else f"{probability:.1g}"


def _subtitle(of_row: bool, sure: bool) -> str:
    if of_row:
        more = "; whiskers: root of its share in the variance"
        return "Share of each feature in the margin" + (more if sure else "")
    return "Mean of each weight" + (" ± one and two standard deviations" if sure else "")
