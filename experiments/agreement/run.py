"""How often the largest mean score and the largest probability name different labels: README.md.

Writes result.csv and reliability.png beside this file.
"""

from __future__ import annotations

import csv
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from experiments.agreement.splits import SETS, Split
from surelearn import SureClassifier, rules
from surelearn.plot import ReliabilityDisplay
from surelearn.probability import Reliability, entropy, reliability

PASSES = (1, 5)
RULES = {
    "Variance": rules.Variance(phi=0.3),
    "Stdev": rules.Stdev(phi=0.5),
    "AROW": rules.AROW(r=1.0),
    "Probit": rules.Probit(noise=1.0),
}
PICTURED = "20 Newsgroups"
HERE = Path(__file__).parent


def figures(clf: SureClassifier, data: Split) -> dict[str, Any]:
    """Agreement and accuracy of one model, before and after `calibrate`."""
    X, y = data.judge
    by_mean = clf.predict(X)
    before = _by_probability(clf, data, by_mean)
    clf.calibrate(*data.calibrate)
    after = _by_probability(clf, data, by_mean)
    accuracy = {"accuracy by mean %": f"{100 * np.mean(by_mean == y):.2f}"}
    calibrated = {f"{name}, calibrated": value for name, value in after.items()}
    return {**accuracy, **before, "temperature": f"{clf.temperature_:.3g}", **calibrated}


def _by_probability(clf: SureClassifier, data: Split, by_mean: np.ndarray) -> dict[str, str]:
    X, y = data.judge
    p = clf.predict_proba(X)
    most_likely = clf.classes_[p.argmax(axis=1)]
    return {
        "differ %": f"{100 * np.mean(most_likely != by_mean):.2f}",
        "accuracy by probability %": f"{100 * np.mean(most_likely == y):.2f}",
        "log loss": f"{_log_loss(clf, p, X, y=y):.3f}",
        "entropy": f"{entropy(p).mean():.3f}",
    }


def _log_loss(clf: SureClassifier, p: np.ndarray, X: Any, *, y: np.ndarray) -> float:
    """Mean of -log p of the right label; logarithms take their time, so only where p is tiny."""
    right = np.searchsorted(clf.classes_, y)
    of_right = p[np.arange(len(y)), right]
    tiny = np.flatnonzero(of_right < 1e-6)
    log_p = np.log(np.maximum(of_right, 1e-6))
    if len(tiny):
        log_p[tiny] = clf.predict_log_proba(X[tiny])[np.arange(len(tiny)), right[tiny]]
    return -float(log_p.mean())


def table(splits: dict[str, Split]) -> list[dict[str, Any]]:
    """One line for each set, rule and number of passes."""
    lines = []
    for name, data in splits.items():
        about = {
            "set": name,
            "classes": len(np.unique(data.learn[1])),
            "learnt": len(data.learn[1]),
            "judged": len(data.judge[1]),
        }
        for rule_name, rule in RULES.items():
            for passes in PASSES:
                clf = SureClassifier(rule, passes=passes, random_state=0).fit(*data.learn)
                how = {"rule": rule_name, "passes": passes}
                lines.append({**about, **how, **figures(clf, data)})
                print("  ".join(str(cell) for cell in lines[-1].values()))
    return lines


def maxent(data: Split) -> Reliability:
    """The peer of figure 2 of the paper, with scikit-learn's own prior."""
    peer = LogisticRegression(max_iter=200, tol=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # one that has not converged is no peer
        peer.fit(*data.learn)
    X, y = data.judge
    return reliability(y, peer.predict_proba(X), peer.classes_)


def picture(data: Split) -> None:
    """Reliability of CW after one pass and after five, Probit and maximum entropy."""
    models = {
        "CW (Variance), 1 pass": SureClassifier(RULES["Variance"], passes=1, random_state=0),
        "CW (Variance), 5 passes": SureClassifier(RULES["Variance"], passes=5, random_state=0),
        "Probit, 5 passes": SureClassifier(RULES["Probit"], passes=5, random_state=0),
    }
    found: dict[str, Reliability] = {
        name: clf.fit(*data.learn).reliability(*data.judge) for name, clf in models.items()
    }
    calibrated = models["CW (Variance), 5 passes"].calibrate(*data.calibrate)
    found["CW (Variance), 5 passes, calibrated"] = calibrated.reliability(*data.judge)
    found["Maximum entropy (scikit-learn)"] = maxent(data)
    for name, one in found.items():
        print(f"\n{name}\n{one}")
    ReliabilityDisplay(found).save(HERE / "reliability.png")


def main() -> None:
    splits = {name: make() for name, make in SETS.items()}
    lines = table(splits)
    with (HERE / "result.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, lines[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    picture(splits[PICTURED])


if __name__ == "__main__":
    main()
