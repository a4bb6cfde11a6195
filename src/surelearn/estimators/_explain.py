"""What a model knows, as a table: `Explanation`; must not know how the weights are kept."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator, Mapping
from functools import lru_cache
from html import escape
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from surelearn.estimators import _shares

# More rows than the first are printed as the second from the top and the third from the bottom.
_MOST, _HEAD, _TAIL = 40, 20, 10
_WIDEST = 40


class Explanation:
    """A table of weights: what they are, how sure the model is of them, what they say of a row.

    Made by `SureClassifier.explain`. Each column is an attribute, and cannot be changed.

    Parameters
    ----------
    table : dict of {str: array of shape (n_rows,)}
        The columns by name.

    Attributes
    ----------
    columns : tuple of str
        The names of the columns that are there, in their order.
    feature : ndarray of str
        The feature's name; ``"intercept"``; ``"(others)"`` for all that are not listed.
    label : ndarray
        The class that a positive weight speaks for.
    value : ndarray of float
        The feature's value in the row.
    mean, deviation : ndarray of float
        Mean and standard deviation of the weight.
    probability : ndarray of float
        How likely the weight has the sign of its mean, ``Phi(|mean| / deviation)``.
    margin, variance : ndarray of float
        The feature's share in the mean and in the variance of the row's margin.

    Examples
    --------
    >>> from surelearn import SureClassifier
    >>> clf = SureClassifier(passes=1, shuffle=False).fit([[0, 1], [1, 0]], ["no", "yes"])
    >>> clf.explain().feature
    array(['x0', 'x1', 'intercept'], dtype=object)
    >>> print(clf.explain([0, 2]))
    feature    label  value      mean  deviation  probability    margin  variance
    x1         yes        2   -0.5261     0.8504       0.7319    -1.052     2.893
    intercept  yes        1  0.006386     0.7347       0.5035  0.006386    0.5398
    """

    columns: tuple[str, ...]

    def __init__(self, table: Mapping[str, NDArray[Any]]) -> None:
        own = {name: np.array(column) for name, column in table.items()}
        for column in own.values():
            column.flags.writeable = False
        self.__dict__.update(own, columns=tuple(own))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{name} of an Explanation must stay as it is, got {value!r}.")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{name} of an Explanation must stay as it is, got a deletion.")

    def __getattr__(self, name: str) -> NDArray[Any]:
        """For columns that are not there, such as `deviation` of a first-order rule."""
        known = ", ".join(self.__dict__.get("columns", ()))
        raise AttributeError(f"an Explanation must be asked for one of {known}, got {name!r}.")

    def __len__(self) -> int:
        return len(self.__dict__[self.columns[0]])

    def __iter__(self) -> Iterator[Any]:
        """Rows as named tuples of plain Python values."""
        row = _row_type(self.columns)
        return map(row._make, zip(*self.to_dict().values(), strict=True))

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy is made anew, so that nothing of it can be changed either."""
        return type(self), ({name: self.__dict__[name] for name in self.columns},)

    def __repr__(self) -> str:
        return _text(self)

    def _repr_html_(self) -> str:
        return _html(self)

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns as lists of plain Python values."""
        return {name: self.__dict__[name].tolist() for name in self.columns}

    def to_pandas(self) -> Any:
        """The table as a `pandas.DataFrame`, which is not needed for anything else."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError(
                "Explanation.to_pandas needs pandas, got none. Run: pip install pandas"
            ) from error
        return pandas.DataFrame({name: self.__dict__[name] for name in self.columns})


class Subject(NamedTuple):
    """What is explained: the weights as plain arrays, and the names around them."""

    means: NDArray[Any]
    variances: NDArray[Any] | None
    labels: NDArray[Any]  # what each column of the weights speaks for
    n_features: int
    names: NDArray[Any] | None


def of_model(subject: Subject, top: int | None) -> Explanation:
    """The weights the model is surest of."""
    weights = _shares.surest(subject.means, subject.variances, top)
    return Explanation({**_places(subject, weights), **_beliefs(weights)})


def of_row(
    subject: Subject,
    features: NDArray[np.int64],
    values: NDArray[np.float64],
    top: int | None,
) -> Explanation:
    """What each non-zero feature of a row, and the intercept, adds to every margin."""
    if subject.means.shape[1] > subject.n_features:
        features, values = np.append(features, subject.n_features), np.append(values, 1.0)
    parts = _shares.shares(subject.means, subject.variances, features, values)
    parts = _shares.heaviest(parts, top)
    table = {**_places(subject, parts.weights), "value": parts.value, **_beliefs(parts.weights)}
    table["margin"] = parts.margin
    if parts.variance is not None:
        table["variance"] = parts.variance
    return Explanation(table)


# -------------------------------------------------------------------- the columns


def _places(subject: Subject, weights: _shares.Weights) -> dict[str, NDArray[Any]]:
    return {"feature": _names(subject, weights.feature), "label": subject.labels[weights.column]}


def _names(subject: Subject, features: NDArray[np.int64]) -> NDArray[Any]:
    named = np.empty(len(features), dtype=object)
    own = (features >= 0) & (features < subject.n_features)
    if subject.names is None:  # as scikit-learn calls them
        named[own] = [f"x{feature}" for feature in features[own].tolist()]
    else:
        named[own] = subject.names[features[own]]
    named[features == subject.n_features] = "intercept"
    named[features == _shares.OTHERS] = "(others)"
    return named


def _beliefs(weights: _shares.Weights) -> dict[str, NDArray[Any]]:
    if weights.variance is None:
        return {"mean": weights.mean}
    sure = _shares.sureness(weights.mean, weights.variance)
    return {
        "mean": weights.mean,
        "deviation": np.sqrt(weights.variance),
        "probability": np.asarray(ndtr(sure)),
    }


@lru_cache
def _row_type(columns: tuple[str, ...]) -> Any:
    return namedtuple("ExplanationRow", columns)


# -------------------------------------------------------------------- the looks


def _text(table: Explanation) -> str:
    """Aligned columns: words to the left, numbers to the right."""
    head, tail, left_out = _shown(table)
    lines = [list(table.columns), *head, *tail]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    left = [table.__dict__[name].dtype.kind not in "f" for name in table.columns]
    made = [_line(cells, widths, left) for cells in lines]
    if left_out:
        made.insert(1 + len(head), f"... {left_out:,} more ...")
    return "\n".join(made)


def _line(cells: list[str], widths: list[int], left: list[bool]) -> str:
    sized = zip(cells, widths, left, strict=True)
    made = (cell.ljust(width) if is_left else cell.rjust(width) for cell, width, is_left in sized)
    return "  ".join(made).rstrip()


def _html(table: Explanation) -> str:
    """Everything is escaped: the name of a feature may hold markup."""
    head, tail, left_out = _shown(table)
    rows = [_html_row(cells) for cells in head]
    if left_out:
        span = len(table.columns)
        rows.append(f'<tr><td colspan="{span}">&hellip; {left_out:,} more &hellip;</td></tr>')
    rows += [_html_row(cells) for cells in tail]
    return (
        f"<table><thead>{_html_row(table.columns, 'th')}</thead>"
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def _html_row(cells: list[str] | tuple[str, ...], tag: str = "td") -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"


def _shown(table: Explanation) -> tuple[list[list[str]], list[list[str]], int]:
    """Rows as texts: those from the top, those from the bottom, and how many are left out."""
    head, tail = (len(table), 0) if len(table) <= _MOST else (_HEAD, _TAIL)
    cells = [
        [_cell(name, value) for value in _ends(table.__dict__[name], head, tail)]
        for name in table.columns
    ]
    rows = [list(row) for row in zip(*cells, strict=True)]
    return rows[:head], rows[head:], len(table) - head - tail


def _ends(column: NDArray[Any], head: int, tail: int) -> list[Any]:
    return [*column[:head].tolist(), *column[len(column) - tail :].tolist()]


def _cell(name: str, value: Any) -> str:
    if not isinstance(value, float) or name == "label":
        return word(str(value))
    if np.isnan(value):
        return ""
    if name == "probability":  # four digits would round to a certainty nobody has
        return ">0.9999" if value > 0.9999 else f"{value:.4f}"
    return f"{value:.4g}"


def word(text: str, widest: int = _WIDEST) -> str:
    """A name in one line of bounded width, what cannot be printed spelled out."""
    plain = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return plain if len(plain) <= widest else plain[: widest - 1] + "\u2026"
