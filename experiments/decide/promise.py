"""Do the promises hold? 1,000 draws of calibration rows from a population; README.md.

One model learns; the other rows are the population. Calibration rows are drawn from it with
replacement, and risk and coverage are computed over all of it. Writes promise.csv.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from experiments.decide.data import parts
from surelearn import SureClassifier

HERE = Path(__file__).parent
#: The risk that is asked for, by set: one that most sets can reach.
RISKS = {
    "20 Newsgroups": 0.05,
    "Amazon reviews": 0.1,
    "Reuters R52": 0.05,
    "Sentiment140": 0.15,
    "Stack Overflow titles": 0.05,
    "CLINC150": 0.02,
}
N_DRAWS, N_ROWS, DELTA, COVERAGE = 1_000, 1_000, 0.1, 0.95


def judged(name: str, n_draws: int = N_DRAWS) -> list[dict[str, Any]]:
    """A line for each promise of a set."""
    own = parts(name, 0)
    vectorizer = TfidfVectorizer(sublinear_tf=True)
    X = vectorizer.fit_transform(own.learnt).astype(np.float32)
    X_all, y_all = vectorizer.transform(own.population).astype(np.float32), own.truth
    clf = SureClassifier(random_state=0).fit(X, own.y)
    random = np.random.default_rng(1)
    risk = RISKS[name]
    risks, answered, refusals = [], [], 0
    covered: dict[str, list[float]] = {"sets": [], "sets, delta": [], "sets by class": []}
    sizes: dict[str, list[float]] = {key: [] for key in covered}
    for draw in range(n_draws):
        rows = random.integers(0, len(y_all), N_ROWS)
        try:
            clf.choose_abstention(X_all[rows], y_all[rows], risk=risk, delta=DELTA)
        except ValueError:
            refusals += 1
        else:
            y = clf.predict(X_all, abstain=True)
            given = np.not_equal(y, None)
            risks.append(float(np.mean(y[given] != y_all[given])))
            answered.append(float(given.mean()))
        if draw % 5:
            continue
        clf.choose_sets(X_all[rows], y_all[rows], coverage=COVERAGE)
        for key, how in (
            ("sets", {}),
            ("sets, delta", {"delta": DELTA}),
            ("sets by class", {"by_class": True}),
        ):
            found = clf.predict_set(X_all, COVERAGE, **how)
            own_sets = zip(found, y_all.tolist(), strict=True)
            covered[key].append(float(np.mean([label in labels for labels, label in own_sets])))
            sizes[key].append(float(np.mean([len(labels) for labels in found])))
    share = float(np.sum(np.array(risks) > risk)) / n_draws  # a refusal breaks no promise
    error = float(np.sqrt(DELTA * (1 - DELTA) / n_draws))
    lines = [
        {
            "set": name,
            "promise": f"risk {risk:g}",
            "draws": n_draws,
            "refusals %": f"{100 * refusals / n_draws:.1f}",
            "broken %": f"{100 * share:.1f}",
            "allowed %": f"{100 * (DELTA + 2 * error):.1f}",
            "answered %": f"{100 * np.mean(answered):.1f}" if answered else "",
            "risk of all %": f"{100 * np.mean(clf.predict(X_all) != y_all):.1f}",
        }
    ]
    for key, values in covered.items():
        broken = np.mean(np.array(values) < COVERAGE)
        lines.append(
            {
                "set": name,
                "promise": f"{key} {COVERAGE:g}",
                "draws": len(values),
                "broken %": f"{100 * broken:.1f}" if "delta" in key else "",
                "covered %": f"{100 * np.mean(values):.2f}",
                "error": f"{100 * np.std(values, ddof=1) / np.sqrt(len(values)):.2f}",
                "labels": f"{np.mean(sizes[key]):.2f}",
            }
        )
    return lines


def main() -> None:
    names = sys.argv[1:] or list(RISKS)
    lines = []
    for name in names:
        lines += judged(name)
        print(*lines[-4:], sep="\n", flush=True)
    keys = list(dict.fromkeys(key for line in lines for key in line))
    with (HERE / "promise.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, keys, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


if __name__ == "__main__":
    main()
