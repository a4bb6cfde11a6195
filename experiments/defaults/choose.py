"""The choice: the grid on the part of every set that is for choosing, and what it says."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from experiments.defaults.grid import PASSES, PROJECTIONS, Setting, key_of, right_after, settings
from experiments.defaults.parts import EVERY, FAMILIES, Part, is_dense
from surelearn import rules


class Judged(NamedTuple):
    """Of one set: accuracy of each setting (rows) after each number of passes (columns)."""

    accuracy: np.ndarray  # not a number where the variances collapsed
    below: np.ndarray  # standard errors below the perceptron of as many passes
    below_average: np.ndarray  # the same against the averaged perceptron
    rank: np.ndarray  # among all settings and passes, 1 is the best
    rows: int


class Candidate(NamedTuple):
    """What a default is made of: one setting for sparse rows, one for dense, and the passes."""

    sparse: Setting
    dense: Setting
    passes: int


def judged(name: str, cache: Path) -> Judged:
    """The grid on one set; kept in `cache`, so that only what is new in the grid is learnt."""
    file = cache / f"{name}.npz"
    kept = dict(np.load(file)) if file.exists() else {}
    new = [setting for setting in settings() if key_of(setting) not in kept]
    if new:
        begin = time.perf_counter()
        kept.update(zip(map(key_of, new), _right(Part(name), new), strict=True))
        np.savez(file, **kept)
        print(f"{name}: {len(new)} settings, {time.perf_counter() - begin:.0f} s", flush=True)
    return _judged(np.array([kept[key_of(setting)] for setting in settings()]))


def _right(part: Part, new: list[Setting]) -> np.ndarray:
    """Share of the cuts in which a row was right, of shape (settings, passes, rows)."""
    found: dict[int, list[np.ndarray]] = {}
    for task in part.choosing():
        right = np.array([right_after(s, task.passes, task.judge, task.classes) for s in new])
        for column, place in enumerate(task.places):
            found.setdefault(place, []).append(right[:, :, column])
    return np.stack([_mean(one) for _, one in sorted(found.items())], axis=2)


def _mean(cuts: list[np.ndarray]) -> np.ndarray:
    """A collapse in one cut is one for good."""
    right = np.array(cuts, dtype=np.float32)
    return np.where((right < 0).any(axis=0), np.nan, right.mean(axis=0))


def _judged(right: np.ndarray) -> Judged:
    every = settings()
    lost = np.isnan(right).any(axis=2)
    accuracy = np.where(lost, np.nan, np.nan_to_num(right).mean(axis=2))
    rank = rankdata(np.where(lost, 1.0, 1.0 - accuracy).ravel()).reshape(lost.shape)
    plain, averaged = (
        _below(right, right[every.index(Setting(rules.Perceptron(), "auto", average))])
        for average in (False, True)
    )
    return Judged(accuracy, plain, averaged, rank, right.shape[2])


def _below(right: np.ndarray, floor: np.ndarray) -> np.ndarray:
    """By how many standard errors of the paired difference each is below the floor."""
    difference = floor - right
    error = difference.std(axis=2) / np.sqrt(right.shape[2])
    mean = difference.mean(axis=2)
    return np.where(mean == 0, 0.0, mean / np.maximum(error, 1e-12))


class Choice:
    """All sets judged, and the candidates in the order in which they are to be preferred."""

    def __init__(self, cache: Path) -> None:
        cache.mkdir(parents=True, exist_ok=True)
        self.every = settings()
        self.places = {setting: place for place, setting in enumerate(self.every)}
        self.sets = {name: judged(name, cache) for name in EVERY}

    def candidates(self) -> list[Candidate]:
        """Pairs of settings that differ in their projection at most."""
        return [
            Candidate(s, s._replace(projection=other), passes)
            for s in self.every
            for other in (("auto",) if s.projection == "auto" else PROJECTIONS)
            for passes in PASSES
        ]

    def of(self, candidate: Candidate, names: Iterable[str], field: str) -> np.ndarray:
        """One figure of a candidate on each of the sets."""
        column = PASSES.index(candidate.passes)
        pair = candidate.sparse, candidate.dense
        return np.array(
            [
                getattr(self.sets[name], field)[self.places[pair[is_dense(name)]], column]
                for name in names
            ]
        )

    def mean_rank(self, candidate: Candidate, names: Iterable[str]) -> float:
        return float(self.of(candidate, names, "rank").mean())

    def family_rank(self, candidate: Candidate, names: Iterable[str]) -> float:
        """Mean rank in which sets of one family count as one set."""
        of_family: dict[str, list[float]] = {}
        for name, rank in zip(names, self.of(candidate, names, "rank"), strict=True):
            of_family.setdefault(FAMILIES.get(name, name), []).append(rank)
        return float(np.mean([np.mean(ranks) for ranks in of_family.values()]))

    def failures(
        self, candidate: Candidate, names: Iterable[str], field: str = "below"
    ) -> list[str]:
        """Sets where it collapsed or was below the perceptron by more than a standard error."""
        below = self.of(candidate, names, field)
        return [name for name, by in zip(names, below, strict=True) if not by <= 1.0]

    def best(self, candidates: list[Candidate], names: tuple[str, ...]) -> list[Candidate]:
        """Fewest sets failed first, then the best mean rank."""
        return sorted(
            candidates,
            key=lambda c: (len(self.failures(c, names)), self.mean_rank(c, names)),
        )

    def without_each(
        self, candidates: list[Candidate], names: tuple[str, ...]
    ) -> dict[str, Candidate]:
        """The best candidate where one family of sets is left out, for each family."""
        below = np.array([self.of(c, names, "below") for c in candidates])
        rank = np.array([self.of(c, names, "rank") for c in candidates])
        family = np.array([FAMILIES.get(name, name) for name in names])
        return {
            one: candidates[_first(~(below <= 1.0)[:, family != one], rank[:, family != one])]
            for one in dict.fromkeys(family.tolist())
        }


def _first(failed: np.ndarray, rank: np.ndarray) -> int:
    return int(np.lexsort((rank.mean(axis=1), failed.sum(axis=1)))[0])
