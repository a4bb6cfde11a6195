"""The learning curves of a simulation: summaries and CSV files; must not know who drew them."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surelearn import _check
from surelearn.active import _format, _worth
from surelearn.active._worth import Worth
from surelearn.table import Table

Array = NDArray[np.float64]
Pair = tuple[str, str]

_COLUMNS = ("learner", "strategy", "run", "labels", "accuracy")
#: The strategy column of lines that hold `full`.
_ALL = "all"
_SHARES = (0.8, 0.9, 0.95)


class LabelsNeeded(Table):
    """One line per curve: labels needed to reach a target accuracy, and the ratio to random."""

    _kind = "a table of labels needed"

    @staticmethod
    def _cell(name: str, value: Any) -> str:
        if not isinstance(value, float) or not np.isfinite(value):
            return "never" if value == np.inf else Table._cell(name, value)
        if name in ("labels", "error"):
            return f"{value:.0f}" if name == "labels" else f"{value:.1f}"
        return f"{value:.3f}"


class Simulation:
    r"""Learning curves of strategies and learners; made by `simulate`.

    Parameters
    ----------
    labels : array of int of shape (n_points,)
        Numbers of labels at each test; the first test has one label of each class.
    curves : dict of {(learner, strategy): array of shape (n_runs, n_points)}
        Accuracy on the held-out rows.
    full : dict of {learner: array of shape (n_runs,)}
        Accuracy of learners trained on all labels of the pool.
    pool : array of int of shape (n_runs,)
        Number of labels in the pool of each run.

    Attributes
    ----------
    labels, curves, full, pool
        As above, as arrays.
    mean, error : dict of {(learner, strategy): ndarray of shape (n_points,)}
        Mean over the runs and its standard error :math:`s / \sqrt{n}`; nan for one run. Runs share
        most of their training rows, so the error describes another split of these rows, not
        another sample of rows.
    smooth : dict of {(learner, strategy): ndarray of shape (n_runs, n_points)}
        `curves` with a centred moving average over nine tests. The window shrinks near the ends
        and stays symmetric.

    Examples
    --------
    >>> from surelearn.active import Simulation
    >>> found = Simulation([2, 3, 4], {("CW", "random"): [[0.5, 0.6, 0.7], [0.5, 0.8, 0.9]]},
    ...                    {"CW": [0.9, 0.9]}, pool=[100, 100])
    >>> found.mean["CW", "random"]
    array([0.5, 0.7, 0.8])
    """

    def __init__(
        self,
        labels: ArrayLike,
        curves: Mapping[Pair, ArrayLike],
        full: Mapping[str, ArrayLike],
        *,
        pool: ArrayLike,
    ) -> None:
        self.labels: NDArray[np.int64] = np.asarray(labels, dtype=np.int64)
        self.curves = {
            (learner, strategy): _shares("curves", curve)
            for (learner, strategy), curve in curves.items()
        }
        self.full = {name: _shares("full", values) for name, values in full.items()}
        self.pool: NDArray[np.int64] = np.asarray(pool, dtype=np.int64)
        _check_shapes(self)

    @property
    def n_runs(self) -> int:
        return len(self.pool)

    @property
    def mean(self) -> dict[Pair, Array]:
        return {pair: np.asarray(curve.mean(axis=0)) for pair, curve in self.curves.items()}

    @property
    def error(self) -> dict[Pair, Array]:
        return {pair: _standard_error(curve) for pair, curve in self.curves.items()}

    @property
    def smooth(self) -> dict[Pair, Array]:
        return {pair: _worth.smoothed(curve) for pair, curve in self.curves.items()}

    def labels_needed(self, share: float = 0.8, *, against: str = "random") -> LabelsNeeded:
        r"""Labels that each strategy needs to reach a share of the accuracy with all labels.

        The mark (target accuracy) of a learner is ``share`` times the mean of its `full`. A curve
        reaches the mark at the first test where the mean over runs of `smooth` is at least the
        mark. (Without smoothing the first lucky test would count, and noisy curves would win.)

        Errors come from a bootstrap of 2000 draws of runs with replacement. A draw takes curve,
        `full` and random order together and repeats the whole computation. It has n - 1 of the n
        runs, so that the spread of a mean equals its standard error. The 95 % interval of a ratio
        r is Student's,

        .. math:: r \exp(\pm\, t_{n-1,\,0.975}\; s)

        where :math:`s^2` is the variance of log r over the draws plus :math:`d^2 / 12` times the
        sum of the inverse squares of both numbers of labels: the second term is the rounding to
        tests that are d labels apart. The interval also holds for few runs, where it is very wide;
        quantiles of the draws would be too narrow.

        Parameters
        ----------
        share : float, default 0.8
            In (0, 1].
        against : str, default "random"
            The strategy to divide by.

        Returns
        -------
        Table
            Columns: learner, strategy, mark, labels (inf: not reached), error (nan: not reached in
            some draws), ratio (to `against` with the same learner; nan without it), ratio_error,
            low and high (95 % interval of the ratio). Ratios and their errors treat a mark that is
            not reached as reached with the last label, so they never overstate a difference.
        """
        share = _check.number("share", share, "(0, 1]", low=0.0, high=np.nextafter(1, 2))
        smooth = self.smooth
        lines = []
        for pair, curve in smooth.items():
            other, marks = smooth.get((pair[0], against)), share * self.full[pair[0]]
            lines.append((*pair, *_needed(curve, other, marks, self.labels).line()))
        columns = map(np.array, zip(*lines, strict=True))
        return LabelsNeeded(dict(zip(("learner", "strategy", *_NEEDED), columns, strict=True)))

    def worth(
        self, share: float = 0.9, *, learner: str | None = None, strategy: str | None = None
    ) -> Worth:
        """Say whether active learning pays off on these rows: one sentence with its uncertainty.

        Parameters
        ----------
        share : float, default 0.9
            Of the accuracy with all labels; as in `labels_needed`.
        learner, strategy : str, optional
            Default: ``"acl"`` and the last learner that has it; without ``"acl"`` the first
            strategy that is not random. The default never picks the best of those tried, since
            that would bias the result.

        Returns
        -------
        Worth
            Print it. The verdict is *worth it* or *not worth it* only if the 95 % interval of the
            ratio excludes 1.

        Examples
        --------
        >>> from surelearn.active import Simulation
        >>> rise = [[0.5, 0.6, 0.7, 0.8, 0.9]] * 10
        >>> fast = [[0.5, 0.9, 0.9, 0.9, 0.9]] * 10
        >>> found = Simulation(range(2, 7), {("CW", "random"): rise, ("CW", "acl"): fast},
        ...                    {"CW": [0.9] * 10}, pool=[100] * 10)
        >>> print(found.worth().verdict)
        worth it
        """
        pair = self._chosen(learner, strategy)
        lines = {line[:2]: line for line in self.labels_needed(share)}
        needed, random = lines[pair], lines[pair[0], "random"]
        return Worth(
            *pair,
            share=float(share),
            labels=needed.labels,
            random_labels=random.labels,
            ratio=needed.ratio,
            low=needed.low,
            high=needed.high,
            n_labels=int(self.labels[-1]),
            n_runs=self.n_runs,
        )

    def table(self) -> str:
        """Accuracy with the last label, and labels needed for 80, 90 and 95 % of the full accuracy.

        The full accuracy is that of the same learner trained on all labels.
        """
        return _format.table(self, _SHARES)

    def to_dict(self) -> dict[str, Any]:
        """Means, errors and labels needed as plain Python values that JSON can hold."""
        return _format.plain(self, _SHARES)

    def __repr__(self) -> str:
        return self.table()

    # ------------------------------------------------------------------------ files

    def to_csv(self, path: str | PathLike[str]) -> None:
        """Write all curves, one line per test of each run.

        Columns: learner, strategy, run, labels, accuracy. Lines of `full` have the strategy
        ``all``. `from_csv` reads the same curves back, to the last bit.
        """
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(_COLUMNS)
            writer.writerows(self._lines())

    @classmethod
    def from_csv(cls, path: str | PathLike[str]) -> Simulation:
        """Read a file written by `to_csv`."""
        with open(path, encoding="utf-8", newline="") as file:
            reader = csv.reader(file)
            try:
                return cls._read(reader)
            except (csv.Error, OverflowError, TypeError, ValueError) as error:
                raise _check.FormatError(
                    f"{path} must hold whole curves, line by line as to_csv writes them, got "
                    f"something else up to line {reader.line_num}: {error}"
                ) from None

    def _lines(self) -> Iterator[tuple[Any, ...]]:
        for (learner, strategy), curve in self.curves.items():
            for run, values in enumerate(curve.tolist()):
                for labels, accuracy in zip(self.labels.tolist(), values, strict=True):
                    yield learner, strategy, run, labels, repr(accuracy)
        for learner, values in self.full.items():
            for run, (labels, accuracy) in enumerate(
                zip(self.pool.tolist(), values.tolist(), strict=True)
            ):
                yield learner, _ALL, run, labels, repr(accuracy)

    @classmethod
    def _read(cls, lines: Iterator[list[str]]) -> Simulation:
        head = tuple(next(lines, ()))
        if head != _COLUMNS:
            raise ValueError(
                f"it must have the columns {', '.join(_COLUMNS)}, got {', '.join(head)}."
            )
        found: dict[Pair, dict[int, list[tuple[int, float]]]] = {}
        for learner, strategy, run, n, accuracy in lines:
            tests = found.setdefault((learner, strategy), {}).setdefault(int(run), [])
            tests.append((int(n), float(accuracy)))
        runs = {pair: _in_order(pair, by_run) for pair, by_run in found.items()}
        full = {who: [test for (test,) in one] for (who, how), one in runs.items() if how == _ALL}
        curves = {pair: np.array(one) for pair, one in runs.items() if pair[1] != _ALL}
        grids = {tuple(grid) for tests in curves.values() for grid in tests[..., 0].tolist()}
        if len(grids) != 1 or not full:
            raise ValueError("every curve must have the same numbers of labels.")
        return cls(
            grids.pop(),
            {pair: tests[..., 1] for pair, tests in curves.items()},
            {who: [accuracy for _, accuracy in tests] for who, tests in full.items()},
            pool=[n for n, _ in next(iter(full.values()))],
        )

    # --------------------------------------------------------------------- internals

    def _chosen(self, learner: str | None, strategy: str | None) -> Pair:
        asked = [how for _, how in self.curves if how != "random"]
        if strategy is None:
            if not asked:
                raise ValueError("worth needs a strategy other than 'random', got none.")
            strategy = "acl" if "acl" in asked else asked[0]
        if learner is None:
            able = [who for who, how in self.curves if how == strategy]
            learner = able[-1] if able else next(iter(self.full))
        pair = learner, strategy
        for one in (pair, (learner, "random")):
            if one not in self.curves:
                raise ValueError(
                    f"worth needs curves of {one[0]} with {one[1]!r}, got only "
                    f"{', '.join(map(' '.join, self.curves))}."
                )
        return pair


# --------------------------------------------------------------------- computing

_NEEDED = ("mark", "labels", "error", "ratio", "ratio_error", "low", "high")


class _Needed(NamedTuple):
    """Labels needed, over all runs and in each bootstrap draw."""

    mark: float
    labels: float
    ratio: float
    of_draws: Array
    ratio_of_draws: Array
    bounds: tuple[float, float] = (np.nan, np.nan)

    def line(self) -> tuple[float, ...]:
        """The columns of `_NEEDED`."""
        n = self.of_draws
        error = float(n.std()) if len(n) and np.isfinite(n).all() else np.nan
        if not len(self.ratio_of_draws):
            return self.mark, self.labels, error, self.ratio, np.nan, np.nan, np.nan
        spread = float(self.ratio_of_draws.std())
        return self.mark, self.labels, error, self.ratio, spread, *self.bounds


def _needed(curve: Array, other: Array | None, marks: Array, labels: NDArray[np.int64]) -> _Needed:
    """Labels needed by the mean over all runs (first row of weights) and over each draw."""
    n_runs = len(curve)
    weights = np.full((1, n_runs), 1 / n_runs)
    if n_runs > 1:
        weights = np.concatenate([weights, _worth.drawn(n_runs)])
    mark = weights @ marks
    found = _worth.first_reach(weights @ curve, mark, labels)
    if other is None:
        return _Needed(float(mark[0]), float(found[0]), np.nan, found[1:], np.empty(0))
    others = _worth.first_reach(weights @ other, mark, labels)
    most = float(labels[-1])
    ratio = _worth.relative(found, others, most)
    needed = _Needed(float(mark[0]), float(found[0]), float(ratio[0]), found[1:], ratio[1:])
    if n_runs == 1:
        return needed
    rounding = _worth.rounding(min(found[0], most), min(others[0], most), labels)
    bounds = _worth.interval(needed.ratio, ratio[1:], n_runs, rounding=rounding)
    return needed._replace(bounds=bounds)


def _standard_error(curve: Array) -> Array:
    n_runs, n_points = curve.shape
    if n_runs == 1:
        return np.full(n_points, np.nan)
    return np.asarray(curve.std(axis=0, ddof=1) / np.sqrt(n_runs))


def _in_order(pair: Pair, by_run: dict[int, Any]) -> list[Any]:
    """The runs in the order of their numbers; runs of one number share a split in all curves."""
    if sorted(by_run) != list(range(len(by_run))):
        raise ValueError(
            f"the runs of {' '.join(pair)} must be 0 to {len(by_run) - 1}, got "
            f"{', '.join(map(str, sorted(by_run)))}."
        )
    return [by_run[run] for run in range(len(by_run))]


def _shares(name: str, values: ArrayLike) -> Array:
    found = _check.numbers(name, values)
    wrong = found[(found < 0) | (found > 1)]
    if len(wrong):
        raise ValueError(f"{name} must be in [0, 1], got {wrong[0]}.")
    return found


def _check_shapes(found: Simulation) -> None:
    shape = len(found.pool), len(found.labels)
    if not found.curves or 0 in shape:
        raise ValueError("curves must have at least one run and one test, got none.")
    if found.labels[0] < 1 or (np.diff(found.labels) <= 0).any():
        raise ValueError(f"labels must be positive and increasing, got {found.labels.tolist()}.")
    for pair, curve in found.curves.items():
        if curve.shape != shape:
            raise ValueError(f"curves[{pair!r}] must have shape {shape}, got {curve.shape}.")
        if pair[0] not in found.full:
            raise ValueError(f"full must have an entry for {pair[0]!r}, got {list(found.full)}.")
    for name, values in found.full.items():
        if values.shape != shape[:1]:
            raise ValueError(f"full[{name!r}] must have shape {shape[:1]}, got {values.shape}.")
