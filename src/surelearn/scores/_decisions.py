"""Scores of decisions: risk against coverage, promises, sets; must not know models or records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn.decide import RiskCoverage
from surelearn.scores._comparison import in_words
from surelearn.scores._result import Scores
from surelearn.table import Table

#: Text shows this many labels of a table of sets.
_MOST = 20


class Kept(NamedTuple):
    """A certified risk beside what was observed on other records.

    Parameters
    ----------
    label : label or None
        The risk is that of the answers with this label; None: of all answers.
    risk, delta : float
        The risk that was promised, and the probability that the promise fails.
    coverage, bound : float
        Of the certifying records: the share answered, and the upper bound of the risk.
    n : int
        Number of records judged.
    n_answered : int
        How many of them are answered (with this label).
    observed : float or None
        The mean loss among these; None without any.
    interval : tuple of two float
        The interval of the observed risk at 95 %.

    Examples
    --------
    >>> own = Kept(None, 0.05, 0.1, 0.8, 0.048, 200, 150, 0.02, (0.004, 0.057))
    >>> own.answered, own.observed <= own.risk
    (0.75, True)
    """

    label: Any
    risk: float
    delta: float
    coverage: float
    bound: float
    n: int
    n_answered: int
    observed: float | None
    interval: tuple[float, float]

    @property
    def answered(self) -> float:
        """The share of records that is answered."""
        return self.n_answered / self.n

    def to_dict(self) -> dict[str, Any]:
        """All numbers as plain Python values."""
        own = self._asdict()
        own["label"] = self.label.item() if isinstance(self.label, np.generic) else self.label
        return {**own, "interval": list(self.interval), "answered": self.answered}


@dataclass(frozen=True, eq=False, repr=False)
class SetScores:
    """Coverage and size of sets of labels on labelled records.

    Attributes
    ----------
    stated : float
        The coverage that was asked for.
    coverage : float
        The share of records whose set holds the right label; of records with several right labels
        the mean share of these.
    interval : tuple of two float
        The interval of the coverage at 95 %.
    size : float
        The mean number of labels in a set.
    n_labels : int
        How many labels a set could hold.
    by_class : Table or None
        With columns label, coverage, size and support, one line for each label that occurs; None
        where labels are numbers of candidates.

    Examples
    --------
    >>> SetScores(0.95, 0.94, (0.9, 0.97), 1.3, 4, None).to_dict()["size"]
    1.3
    """

    stated: float
    coverage: float
    interval: tuple[float, float]
    size: float
    n_labels: int
    by_class: Table | None

    def to_dict(self) -> dict[str, Any]:
        """All numbers as plain Python values."""
        names = ("stated", "coverage", "size", "n_labels")
        found = {name: getattr(self, name) for name in names}
        found["interval"] = list(self.interval)
        if self.by_class is not None:
            found["by_class"] = [row._asdict() for row in self.by_class]
        return found


@dataclass(frozen=True, eq=False, repr=False)
class DecisionScores:
    """How well a model knows what it does not know, on labelled records.

    Attributes
    ----------
    curve : decide.RiskCoverage
        The risk among the surest answers, by their number.
    area : float
        The area under it: 0 if nothing is wrong.
    risk : float or None
        The risk that was asked about.
    coverage_at_risk : float or None
        The largest coverage with at most this risk. It is an observation: the threshold is chosen
        by the same records, and nothing is promised for others.
    rival_area, area_difference, area_error : float or None
        The area of the rival, by how much that of the model is larger, and the standard error of
        this difference by the paired bootstrap.
    kept : tuple of Kept
        What the model has promised, and what was observed.
    sets : SetScores or None
        Sets by the evidence of the model.
    note : str
        Why there are no sets, though the model has evidence for some. Otherwise empty.

    Examples
    --------
    >>> from surelearn import SureClassifier, evaluate
    >>> clf = SureClassifier(random_state=0).fit([[0.0, 1.0], [1.0, 0.0]], ["no", "yes"])
    >>> found = evaluate(clf, [[0.0, 2.0], [3.0, 1.0], [1.0, 1.1]], ["no", "yes", "yes"], risk=0.1)
    >>> found.decisions.curve.risk.round(2), round(found.decisions.coverage_at_risk, 2)
    (array([0.  , 0.  , 0.33]), 0.67)
    """

    curve: RiskCoverage
    risk: float | None = None
    rival_area: float | None = None
    area_error: float | None = None
    kept: tuple[Kept, ...] = ()
    sets: SetScores | None = None
    note: str = ""

    @property
    def area(self) -> float:
        return self.curve.area

    @property
    def coverage_at_risk(self) -> float | None:
        return None if self.risk is None else self.curve.coverage_at(self.risk)

    @property
    def area_difference(self) -> float | None:
        return None if self.rival_area is None else self.area - self.rival_area

    @property
    def kept_table(self) -> Table:
        """What was promised and observed, one line for each label that has a risk of its own."""
        columns: dict[str, list[Any]] = {
            "label": [one.label for one in self.kept],
            "promised": [one.risk for one in self.kept],
            "answered": [one.answered for one in self.kept],
            "observed": [np.nan if one.observed is None else one.observed for one in self.kept],
            "low": [one.interval[0] for one in self.kept],
            "high": [one.interval[1] for one in self.kept],
        }
        return Scores({name: _column(values) for name, values in columns.items()})

    def to_dict(self) -> dict[str, Any]:
        """All numbers as plain Python values; what was not asked for is left out."""
        found: dict[str, Any] = {"risk_coverage_area": self.area}
        if self.risk is not None:
            found |= {"risk": self.risk, "coverage_at_risk": self.coverage_at_risk}
        if self.rival_area is not None:
            names = ("rival_area", "area_difference", "area_error")
            found |= {name: getattr(self, name) for name in names}
        if self.kept:
            found["promises"] = [one.to_dict() for one in self.kept]
        if self.sets is not None:
            found["sets"] = self.sets.to_dict()
        return found

    # ------------------------------------------------------------------- looks

    def measures(self) -> Iterator[tuple[str, str]]:
        """Names and values of what is printed beside other scores."""
        yield "risk-coverage area", f"{self.area:.4f}"
        if self.rival_area is not None:
            told = f"{self.area_difference:+.4f} +- {self.area_error:.4f}"
            yield "area less rival's", f"{told} (rival: {self.rival_area:.4f})"
        if self.risk is not None:
            told = f"{self.coverage_at_risk:.4f} (seen here, not promised)"
            yield f"coverage at {100 * self.risk:g} %", told
        if len(self.kept) == 1 and self.kept[0].label is None:
            yield from _promised(self.kept[0])
        if self.sets is not None:
            told = in_words(self.sets.coverage, self.sets.interval)
            yield "set coverage", f"{told}; asked: {self.sets.stated:g}"
            what = "candidates at most" if self.sets.by_class is None else "labels"
            yield "set size", f"{self.sets.size:.2f} of {self.sets.n_labels:,} {what}"

    def notes(self) -> Iterator[str]:
        """Remarks on what is missing."""
        if self.note:
            yield self.note

    def tables(self, *, html: bool = False) -> list[str]:
        """Tables of promises by label, and of sets by class."""
        found: list[tuple[str, Table, int]] = []
        if any(one.label is not None for one in self.kept):
            title = f"Promised risks by label, which all hold with probability {self._sure:g}:"
            found.append((title, self.kept_table, 0))
        if self.sets is not None and self.sets.by_class is not None:
            title = f"Sets of labels for {100 * self.sets.stated:g} % coverage, by class:"
            shown, hidden = _most_frequent(self.sets.by_class)
            found.append((title, shown, hidden))
        return [_titled(*one, html=html) for one in found]

    @property
    def _sure(self) -> float:
        return 1.0 - sum(one.delta for one in self.kept)

    def __str__(self) -> str:
        lines = [f"{name:<18} {value}" for name, value in self.measures()]
        return "\n\n".join(["\n".join(lines), *self.notes(), *self.tables()])

    __repr__ = __str__


def _promised(own: Kept) -> Iterator[tuple[str, str]]:
    yield "promised risk", f"{own.risk:g}, with probability {1.0 - own.delta:g}"
    yield "answered", f"{own.answered:.4f}"
    if own.observed is None:
        yield "risk if answered", "none was answered"
    else:
        yield "risk if answered", in_words(own.observed, own.interval)


def _column(values: list[Any]) -> NDArray[Any]:
    return np.array(values, dtype=object if None in values else None)


def _most_frequent(table: Table) -> tuple[Table, int]:
    """The lines of the most frequent labels, and how many are left out."""
    order = np.argsort(-table.support, kind="stable")[:_MOST]
    columns = {name: getattr(table, name)[order] for name in table.columns}
    return Scores(columns), len(table) - len(order)


def _titled(title: str, table: Table, hidden: int, *, html: bool) -> str:
    if html:
        return f"<p>{title}</p>{table._repr_html_()}"
    more = f"\n... and {hidden:,} more that occur less often" if hidden else ""
    return f"{title}\n{table}{more}"
