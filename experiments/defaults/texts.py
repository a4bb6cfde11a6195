"""Raw texts: idf, noise, passes, rivals, places and pairs, chosen on 70 % of every raw text set.

A third of that part is judged; 500, 2,000, 12,000 and 50,000 rows of the rest are learnt, or all if
there are fewer.

python -m experiments.defaults.texts   # about half an hour of one core
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from itertools import groupby, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_softmax
from sklearn.feature_extraction.text import TfidfTransformer

from experiments import sets
from experiments.defaults.parts import REPORTED
from surelearn import SureClassifier, rules
from surelearn.constraints import Constraints, Sequential, Single
from surelearn.probability import best_temperature
from surelearn.text import HashingVectorizer

HERE = Path(__file__).parent
SIZES = (500, 2000, 12_000, 50_000)
JUDGED, KEPT = 4000, 20  # rows at most; one row in so many is kept back for the temperature
PASSES = 10
THREE = Sequential(3)


class Setting(NamedTuple):
    """How texts become rows, and how these are learnt."""

    rule: rules.Rule = rules.Probit(noise=1.0)
    constraints: Constraints = THREE
    idf: bool = True
    log_counts: bool = True
    pairs: bool = False
    bits: int = 18

    def __str__(self) -> str:
        changed = [name for name in ("idf", "log_counts") if not getattr(self, name)]
        parts = [str(self.rule), str(self.constraints), *(f"no {name}" for name in changed)]
        parts += ["pairs"] * self.pairs + [f"2^{self.bits}"] * (self.bits != 18)
        return ", ".join(parts)


SETTINGS = (
    *(Setting(rules.Probit(noise=n)) for n in (0.3, 1.0, 3.0, 10.0)),
    *(Setting(rules.Probit(noise=n), Single()) for n in (0.3, 1.0, 3.0, 10.0)),
    *(Setting(rules.AROW(r=r), Single()) for r in (1.0, 3.0, 10.0)),
    Setting(rules.NHERD(C=0.3), Single()),
    Setting(rules.Probit(noise=0.3), Single(), idf=False),  # the default before
    Setting(idf=False),
    Setting(constraints=Sequential(5)),
    Setting(log_counts=False),
    Setting(bits=20),
    Setting(pairs=True),
    Setting(pairs=True, bits=20),
)


class Rows(NamedTuple):
    """Rows to learn, to calibrate on and to judge, with their labels as numbers."""

    learn: tuple[Any, np.ndarray]
    kept: tuple[Any, np.ndarray]
    judge: tuple[Any, np.ndarray]
    n_classes: int


class Parts(NamedTuple):
    """Texts to learn and to judge as counts of words, with their labels as numbers."""

    learn: tuple[Any, np.ndarray]
    judge: tuple[Any, np.ndarray]

    def first(self, n: int, setting: Setting) -> Rows:
        """The first n texts to learn, weighed by their counts; some of them are kept back."""
        (C, y), judge = (part[:n] for part in self.learn), self.judge
        weigh = TfidfTransformer(use_idf=setting.idf).fit(C)
        X, judged = (weigh.transform(part).astype(np.float32) for part in (C, judge[0]))
        kept = len(y) // KEPT
        n_classes = 1 + int(max(self.learn[1].max(), judge[1].max()))
        return Rows((X[kept:], y[kept:]), (X[:kept], y[:kept]), (judged, judge[1]), n_classes)


def counted(corpus: sets.Corpus, setting: Setting) -> Parts:
    y = np.unique(corpus.y, return_inverse=True)[1]
    groups = sets.numbered(corpus.texts)
    choose, _ = sets.cut(np.arange(len(y)), groups, REPORTED)
    learn, judge = next(sets.folds(groups[choose], 3))
    learn = choose[learn][: SIZES[-1]]
    judge = np.random.default_rng(0).permutation(choose[judge])[:JUDGED]
    counts = HashingVectorizer(
        n_features=2**setting.bits, norm=None, log_counts=setting.log_counts,
        alternate_sign=False, dtype=np.float32, ngram_range=(1, 1 + setting.pairs),
    )  # fmt: skip
    C = (counts.transform([corpus.texts[i] for i in part]) for part in (learn, judge))
    return Parts(*zip(C, (y[learn], y[judge]), strict=True))


def trained(rows: Rows, setting: Setting, *, seed: int = 0) -> Iterator[dict[str, float]]:
    """Accuracy and log loss after each pass; the temperature is that of rows kept back."""
    random, (X, y) = np.random.default_rng(seed), rows.learn
    one_rival = rows.n_classes == 2
    clf = SureClassifier(
        setting.rule, constraints=Single() if one_rival else setting.constraints, scale=False
    )
    for number in range(1, PASSES + 1):
        order = random.permutation(len(y))
        clf.partial_fit(X[order], y[order], classes=np.arange(rows.n_classes))
        kept, judged = (_scores(clf, part[0]) for part in (rows.kept, rows.judge))
        tau = best_temperature(lambda t, s=kept: _log_likelihood(s / t, rows.kept[1]))
        yield {
            "pass": number,
            "accuracy": float((judged.argmax(axis=1) == rows.judge[1]).mean()),
            "log_loss": -float(_log_likelihood(judged / tau, rows.judge[1]).mean()),
        }


def _scores(clf: SureClassifier, X: Any) -> np.ndarray:
    scores = clf.decision_function(X)
    return scores if scores.ndim == 2 else np.stack([-scores / 2, scores / 2], 1)


def _log_likelihood(scores: np.ndarray, y: np.ndarray) -> np.ndarray:
    return log_softmax(scores, axis=1)[np.arange(len(y)), y]


def run(names: list[str]) -> None:
    fields = ["set", "classes", "rows", "setting", "pass", "accuracy", "log_loss"]
    with (HERE / "texts.csv").open("w", newline="", encoding="utf-8") as out:
        table = csv.DictWriter(out, fields, lineterminator="\n")
        table.writeheader()
        for name in names:
            table.writerows({"set": name} | line for line in measured(sets.texts(name)))
            print(name, flush=True)


def measured(corpus: sets.Corpus) -> Iterator[dict[str, Any]]:
    """A line for each setting, number of rows and pass."""
    binary = len(np.unique(corpus.y)) == 2
    settings = {s._replace(constraints=Single()) if binary else s for s in SETTINGS}
    for _, alike in groupby(sorted(settings, key=_features), key=_features):
        some = list(alike)
        parts = counted(corpus, some[0])
        n_rows = sorted({min(n, len(parts.learn[1])) for n in SIZES})
        for setting, n in product(some, n_rows):
            rows = parts.first(n, setting)
            common = {"classes": rows.n_classes, "rows": n, "setting": setting}
            for line in trained(rows, setting):
                yield common | {k: f"{v:.5g}" for k, v in line.items()}


def _features(setting: Setting) -> tuple[bool, bool, int]:
    return setting.log_counts, setting.pairs, setting.bits


if __name__ == "__main__":
    run(sys.argv[1:] or [name for name in sets.TEXTS if name not in sets.TOKENISED])
