"""`Explanation`, a table of weights; must not know how the weights are stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn.learners.explain import contributions
from surelearn.table import Table, word
from surelearn.units import Units

#: How many lines of a table to list; None: all.
Top = int | Literal["auto"] | None
#: What puts weights in an order: the first of them, from means and variances.
Ordered = Callable[[NDArray[Any], NDArray[Any] | None, int | None], contributions.SomeWeights]


class Explanation(Table):
    """A table of weights, how sure the model is of them, and what they contribute to a row.

    `SureClassifier.explain` makes it. Each column is a read-only attribute.

    Parameters
    ----------
    table : dict of {str: array of shape (n_rows,)}
        The columns by name.

    Attributes
    ----------
    columns : tuple of str
        The names of the columns, in order.
    feature : ndarray of str
        The feature's name, ``"intercept"``, or ``"(others)"`` for all that are not listed, the
        intercept among them.
    label : ndarray
        The class that a positive weight supports.
    value : ndarray of float
        The feature's value in the row.
    mean, deviation : ndarray of float
        Mean and standard deviation of the weight.
    probability : ndarray of float
        Probability that the weight has the sign of its mean, ``Phi(|mean| / deviation)``.
    margin, variance : ndarray of float
        The feature's contribution to the mean and to the variance of the row's margin.
    position, token, rival : ndarray
        For a tagged sequence: the number of the token, the word, and the rival tag over which the
        label's lead is explained.

    Examples
    --------
    >>> from surelearn import SureClassifier
    >>> clf = SureClassifier(passes=1, shuffle=False).fit([[0, 1], [1, 0]], ["no", "yes"])
    >>> clf.explain().feature
    array(['x0', 'x1'], dtype=object)
    >>> print(clf.explain([0, 2], intercept=True))
    feature    label  value      mean  deviation  probability    margin  variance
    x1         yes        2   -0.8962      1.264       0.7608    -1.344     3.596
    x0         yes        0    0.8962      1.264       0.7608   -0.4481    0.3995
    intercept  yes        1  -0.07682     0.8003       0.5382  -0.07682    0.6405
    """

    _kind = "an Explanation"

    @staticmethod
    def _cell(name: str, value: Any) -> str:
        if name == "label":
            return word(str(value))
        if name == "probability" and not np.isnan(value):
            # 1.0000 would claim a certainty that no model has.
            return ">0.9999" if value > 0.9999 else f"{value:.4f}"
        return Table._cell(name, value)


class Subject(NamedTuple):
    """The weights to explain, as plain arrays, with their names."""

    means: NDArray[Any]
    variances: NDArray[Any] | None
    labels: NDArray[Any] | None  # what each column of the weights supports; None: no label
    n_features: int
    names: NDArray[Any] | None


def about(subject: Subject, classes: NDArray[Any], label: Any) -> Subject:
    """The weights of one label; with one vector for two classes, the first class negates it."""
    places = [_check.place_of(label, classes.tolist())]
    if len(subject.means) < len(classes) == 2:
        means = subject.means if places[0] else -subject.means
        return subject._replace(means=means, labels=classes[places])
    labels = [] if subject.labels is None else subject.labels.tolist()
    if labels != classes.tolist():
        raise ValueError(f"label needs weights for each class, got problems, and {label!r}.")
    means, variances = subject.means, subject.variances
    if variances is not None and variances.shape != means.shape:  # full: the block of this label
        own = slice(places[0] * means.shape[1], (places[0] + 1) * means.shape[1])
        variances = variances[own, own]
    elif variances is not None:
        variances = variances[places]
    return subject._replace(means=means[places], variances=variances, labels=classes[places])


def of_label(subject: Subject, top: int | None, *, intercept: bool = False) -> Explanation:
    """The weights of a subject with one label, largest mean first."""
    return _of_weights(subject, top, contributions.largest, intercept=intercept)


def of_model(subject: Subject, top: int | None, *, intercept: bool = False) -> Explanation:
    """The weights the model is surest of."""
    return _of_weights(subject, top, contributions.surest, intercept=intercept)


def of_row(
    subject: Subject,
    features: NDArray[np.int64],
    values: NDArray[np.float64],
    top: int | None,
    *,
    intercept: bool = False,
    best: int | None = None,
    units: Units | None = None,
) -> Explanation:
    """The contribution of each non-zero feature to the margins of a row, or to the `best` few.

    In units of columns a feature contributes by what its value is above the centre.
    """
    if units is not None:
        features, values = units.filled(features, values)
    given = dict(zip(features.tolist(), values.tolist(), strict=True))
    if units is not None:
        values = units.centred(features, values)
    if subject.means.shape[1] > subject.n_features:
        features, values = np.append(features, subject.n_features), np.append(values, 1.0)
    parts = contributions.shares(subject.means, subject.variances, features, values)
    if best is not None:
        parts = contributions.to_best(parts, best)
    parts = contributions.heaviest(parts, top, intercept=subject.n_features, shown=intercept)
    features = parts.weights.feature.tolist()
    value = np.array([given.get(j, x) for j, x in zip(features, parts.value, strict=True)])
    table = {**_places(subject, parts.weights), "value": value, **_beliefs(parts.weights)}
    table["margin"] = parts.margin
    if parts.variance is not None:
        table["variance"] = parts.variance
    return Explanation(table)


def touched(table: Explanation) -> Explanation:
    """Drop weights that no row has changed: with hashed names these are most."""
    kept = table.mean != 0
    return Explanation({name: getattr(table, name)[kept] for name in table.columns})


# -------------------------------------------------------------------- the columns


def _of_weights(
    subject: Subject, top: int | None, ordered: Ordered, *, intercept: bool
) -> Explanation:
    """The weights of features in an order; the intercepts after them, if they are asked for."""
    n, means, variances = subject.n_features, subject.means, subject.variances
    own = None if variances is None else contributions.diagonal(means, variances)
    weights = ordered(means[:, :n], None if own is None else own[:, :n], top)
    if intercept and means.shape[1] > n:
        last = ordered(means[:, n:], None if own is None else own[:, n:], None)
        weights = weights.before(last._replace(feature=last.feature + n))
    return Explanation({**_places(subject, weights), **_beliefs(weights)})


def _places(subject: Subject, weights: contributions.SomeWeights) -> dict[str, NDArray[Any]]:
    named = {"feature": _names(subject, weights.feature)}
    return named if subject.labels is None else {**named, "label": subject.labels[weights.column]}


def _names(subject: Subject, features: NDArray[np.int64]) -> NDArray[Any]:
    named = np.empty(len(features), dtype=object)
    own = (features >= 0) & (features < subject.n_features)
    if subject.names is None:  # as scikit-learn calls them
        named[own] = [f"x{feature}" for feature in features[own].tolist()]
    else:
        named[own] = subject.names[features[own]]
    named[features == subject.n_features] = "intercept"
    named[features == contributions.OTHERS] = "(others)"
    return named


def _beliefs(weights: contributions.SomeWeights) -> dict[str, NDArray[Any]]:
    if weights.variance is None:
        return {"mean": weights.mean}
    from scipy.special import ndtr  # slow to import

    sure = contributions.sureness(weights.mean, weights.variance)
    return {
        "mean": weights.mean,
        "deviation": np.sqrt(weights.variance),
        "probability": np.asarray(ndtr(sure)),
    }
