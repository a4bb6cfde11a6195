"""The report: chosen settings on the part of every set that was not used before."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from experiments.defaults.choose import Candidate
from experiments.defaults.grid import PASSES, Setting, key_of
from experiments.defaults.parts import EVERY, Part, Task, is_dense
from surelearn import SureClassifier

LEAST = 1e-9  # probabilities below count as this in a log loss

Figures = dict[str, float]


class Report:
    """Figures of candidates on each set, kept in `cache`: a run that was stopped goes on."""

    def __init__(self, candidates: Iterable[Candidate], cache: Path) -> None:
        every = list(candidates)
        self.found = {name: self._of_set(name, every, cache) for name in EVERY}

    def of(self, candidate: Candidate, names: Iterable[str], figure: str) -> np.ndarray:
        """One figure of a candidate on each of the sets; not a number where it has none."""
        return np.array(
            [self.found[name][_key(candidate, name)].get(figure, np.nan) for name in names]
        )

    def _of_set(self, name: str, candidates: list[Candidate], cache: Path) -> dict[str, Figures]:
        file = cache / f"{name}.json"
        kept = json.loads(file.read_text()) if file.exists() else {}
        wanted = {_key(c, name): c for c in candidates if _key(c, name) not in kept}
        if wanted:
            tasks = list(Part(name).reporting())
            for key, candidate in wanted.items():
                setting = candidate.dense if is_dense(name) else candidate.sparse
                kept[key] = _mean([_figures(setting, candidate.passes, task) for task in tasks])
            file.write_text(json.dumps(kept))
            print(f"{name}: {len(wanted)} settings reported", flush=True)
        return kept


def _key(candidate: Candidate, name: str) -> str:
    setting = candidate.dense if is_dense(name) else candidate.sparse
    return f"{key_of(setting)} {candidate.passes}"


def _mean(found: list[Figures]) -> Figures:
    return {name: float(np.mean([one[name] for one in found])) for name in found[0]}


def _figures(setting: Setting, passes: int, task: Task) -> Figures:
    """Accuracy after every number of passes, and after `passes` what probabilities are worth."""
    clf = setting.model()
    out: Figures = {}
    for number, rows in enumerate(task.passes, 1):
        try:
            clf.partial_fit(*rows, classes=task.classes)
        except ValueError as error:
            if "collapse" not in str(error):
                raise
            break
        if number in PASSES:
            out[f"accuracy {number}"] = float(np.mean(clf.predict(task.judge[0]) == task.judge[1]))
        if number == passes:
            out |= {"accuracy": out[f"accuracy {number}"], **_probabilities(clf, task)}
    return out


def _probabilities(clf: SureClassifier, task: Task) -> Figures:
    if not hasattr(clf, "predict_proba"):
        return {}
    before = _worth(clf, *task.judge)
    clf.calibrate(*task.calibrate)
    after = {f"{name}, calibrated": value for name, value in _worth(clf, *task.judge).items()}
    temperature = clf.temperature_
    del clf.temperature_  # so that learning more and asking again starts as before
    return {**before, **after, "temperature": temperature}


def _worth(clf: SureClassifier, X: Any, y: np.ndarray) -> Figures:
    p = clf.predict_proba(X)
    of_right = p[np.arange(len(y)), np.searchsorted(clf.classes_, y)]
    return {
        "accuracy by probability": float(np.mean(clf.classes_[p.argmax(axis=1)] == y)),
        "log loss": float(-np.log(np.maximum(of_right, LEAST)).mean()),
    }
