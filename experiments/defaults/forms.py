"""Forms of probabilities beside each other, on the part of every raw text set that is chosen on.

`SureClassifier()` learns all rows but one in twenty, which fit the temperature of each form.

python -m experiments.defaults.forms
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from scipy.special import log_softmax

from experiments import sets, tables
from experiments.as_it_comes.judge import calibration_error
from experiments.defaults.texts import Rows, Setting, counted
from surelearn import SureClassifier, rules
from surelearn.probability import best_temperature, label_probabilities

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "theory" / "probability.md"
FIELDS = ["set", "classes", "form", "calibrated", "accuracy", "log_loss", "ece"]
LOGISTIC = 1.702  # a logistic curve of this slope is near the normal one

#: Log probabilities of labels from the means and variances of their scores and a temperature.
Form = Callable[[np.ndarray, np.ndarray, float], np.ndarray]


def exact(mean: np.ndarray, variance: np.ndarray, tau: float) -> np.ndarray:
    """That a label has the largest score, under the distribution of the weights."""
    return label_probabilities(mean, tau**2 * variance, log=True)


def pooled(mean: np.ndarray, variance: np.ndarray, tau: float) -> np.ndarray:
    """The same, with one variance for all labels of a row, so that the largest mean wins."""
    same = np.broadcast_to(variance.mean(axis=1, keepdims=True), variance.shape)
    return label_probabilities(mean, tau**2 * same, log=True)


def softmax(mean: np.ndarray, variance: np.ndarray, tau: float) -> np.ndarray:
    """Without variances."""
    return log_softmax(LOGISTIC * mean / tau, axis=1)


FORMS: dict[str, Form] = {"exact": exact, "pooled variance": pooled, "softmax": softmax}


def scores(clf: SureClassifier, X: object) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of each label's score; half of a margin, and of the label noise, each."""
    mean, variance = clf.margin(X)
    noise = rules.get(clf.rule).label_noise
    if mean.ndim == 1:
        half = (variance + noise) / 2
        return np.stack([-mean / 2, mean / 2], 1), np.stack([half, half], 1)
    return mean, variance + noise / 2


def measured(rows: Rows) -> Iterator[dict[str, object]]:
    """A line for each form, with the temperature 1 and with the fitted one."""
    clf = SureClassifier(random_state=0, scale=False).fit(*rows.learn, calibrate=False)
    known = np.isin(rows.kept[1], clf.classes_)
    kept, judged = (scores(clf, X) for X in (rows.kept[0][known], rows.judge[0]))
    y = np.searchsorted(clf.classes_, rows.kept[1][known])
    for name, form in FORMS.items():
        own = np.arange(len(y)), y
        fitted = best_temperature(lambda tau, form=form, own=own: form(*kept, tau)[own])
        for calibrated, tau in (("no", 1.0), ("yes", fitted)):
            log_p = np.full((len(rows.judge[1]), rows.n_classes), np.log(1e-15))
            log_p[:, clf.classes_] = np.maximum(form(*judged, tau), np.log(1e-15))
            truth = rows.judge[1]
            yield {
                "classes": rows.n_classes,
                "form": name,
                "calibrated": calibrated,
                "accuracy": (log_p.argmax(axis=1) == truth).mean(),
                "log_loss": -log_p[np.arange(len(truth)), truth].mean(),
                "ece": calibration_error(np.exp(log_p), truth),
            }


def run(names: list[str]) -> None:
    with (HERE / "forms.csv").open("w", newline="", encoding="utf-8") as out:
        table = csv.DictWriter(out, FIELDS, lineterminator="\n")
        table.writeheader()
        for name in names:
            parts = counted(sets.texts(name), Setting())
            for line in measured(parts.first(12_000, Setting())):
                numbers = {k: f"{v:.5g}" if isinstance(v, float) else v for k, v in line.items()}
                table.writerow({"set": name} | numbers)
            print(name, flush=True)


def page() -> list[str]:
    """Means over the sets of two classes and over those of more."""
    lines = tables.lines(HERE / "forms.csv")
    made = []
    for form in FORMS:
        for calibrated in ("no", "yes"):
            cells = [form, calibrated]
            for is_many in (False, True):
                some = [
                    line for line in lines
                    if line["form"] == form and line["calibrated"] == calibrated
                    and (int(line["classes"]) > 2) == is_many
                ]  # fmt: skip
                mean = {k: np.mean([float(line[k]) for line in some]) for k in FIELDS[4:]}
                cells.append(
                    f"{100 * mean['accuracy']:.2f} % / {mean['log_loss']:.3f} / {mean['ece']:.3f}"
                )
            made.append(cells)
    return tables.table(["form", "calibrated", "two classes", "more classes"], made)


def renewed(text: str) -> str:
    """The page with the table of the result."""
    return tables.placed(text, "experiments/defaults/forms.py", page())


if __name__ == "__main__":
    run(sys.argv[1:] or [name for name in sets.TEXTS if name not in sets.TOKENISED])
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
