"""Which score of sureness ranks answers best? The log odds at several sharpnesses; README.md.

The area under the risk-coverage curve of the default text classifier. Writes sureness.csv.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments import tables
from experiments.decide.data import CORPORA, parts
from surelearn import SureTextClassifier
from surelearn.decide import risk_coverage

HERE = Path(__file__).parent
N_SPLITS = 5
#: Powers of the probabilities: with 1 the order is that of the largest one, with the largest
#: power only the next best label counts.
POWERS = {"log odds": 1.0, "sharper by 1.5": 1.5, "by 2": 2.0, "by 4": 4.0, "lead": 100.0}
OURS = "by 2"

Array = NDArray[np.float64]


def sureness(p: Array, power: float) -> Array:
    """The log odds of the most probable label if probabilities were sharper by a power."""
    ordered = np.log(np.sort(p, axis=1)[:, ::-1] + 1e-300)
    beside = power * (ordered[:, 1:] - ordered[:, 1:2])
    return np.asarray(power * (ordered[:, 0] - ordered[:, 1]) - np.log(np.exp(beside).sum(axis=1)))


def areas(name: str, seed: int) -> dict[str, float]:
    """The area of each score on one split."""
    own = parts(name, seed)
    clf = SureTextClassifier(random_state=seed).fit(own.learnt, own.y)
    p = clf.predict_proba(own.population)
    wrong = (clf.classes_[p.argmax(axis=1)] != own.truth).astype(float)
    return {who: risk_coverage(sureness(p, power), wrong).area for who, power in POWERS.items()}


def lines_of(name: str) -> list[dict[str, Any]]:
    """A line for each score of a set."""
    found = [areas(name, seed) for seed in range(N_SPLITS)]
    lines = []
    for who in found[0]:
        own = np.array([one[who] for one in found])
        more = own - np.array([one[OURS] for one in found])
        error = more.std(ddof=1) / np.sqrt(N_SPLITS)
        lines.append(
            {
                "set": name,
                "score": who,
                "area": f"{own.mean():.5f}",
                "more than ours": f"{more.mean():+.5f}",
                "error": f"{error:.5f}",
            }
        )
    return lines


def main() -> None:
    lines = []
    for name in CORPORA:
        lines += lines_of(name)
        print(*(" ".join(line.values()) for line in lines if line["set"] == name), sep="\n")
    tables.save(HERE / "sureness.csv", lines)


if __name__ == "__main__":
    main()
