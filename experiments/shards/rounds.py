"""Shards merged after each pass, and merged once, beside one model of equal passes: README.md.

Writes rounds.csv beside this file.
"""

from __future__ import annotations

import csv
import warnings
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from experiments import sets
from surelearn import SureClassifier, merge
from surelearn.text import HashingVectorizer

#: Rules with their defaults; Probit is that of the classifier.
RULES = ("probit", "variance")
SHARDS, PASSES = (10, 50), (1, 10)
WAYS = ("evidence", "bayes")
NAMES = (
    "20 Newsgroups",
    "Stack Overflow titles",
    "Reuters R52",
    "Amazon domains",
    "Amazon sentiment",
    "Amazon reviews",
    "Sentiment140",
)
HERE = Path(__file__).parent

Rows = tuple[Any, np.ndarray]
Figures = Iterator[dict[str, Any]]


def split(name: str) -> tuple[Rows, Rows]:
    """Rows to learn, in random order, and a tenth to judge; as `SureTextClassifier` makes them."""
    corpus = sets.texts(name)
    groups = sets.numbered(corpus.texts)
    words = HashingVectorizer(alternate_sign=False, log_counts=True, norm="l2", dtype=np.float32)
    X = words.transform(corpus.texts)
    X, y = X[:, np.unique(X.indices)], np.unique(corpus.y, return_inverse=True)[1]
    learn, judge = sets.cut(np.arange(len(y)), groups, 0.1)
    learn = np.random.default_rng(0).permutation(learn)
    return (X[learn], y[learn]), (X[judge], y[judge])


def parts(learn: Rows, rule: str, passes: int, n_shards: int) -> list[SureClassifier]:
    """A model for each of so many shards, which know nothing of each other."""
    X, y = learn
    ends = np.linspace(0, len(y), n_shards + 1).astype(int)
    return [
        SureClassifier(rule, passes=passes, random_state=0, scale=False).fit(X[a:b], y[a:b])
        for a, b in pairwise(ends)
    ]


def once(learn: Rows, judge: Rows, rule: str, *, passes: int) -> Figures:
    """Merged after the last pass."""
    for n_shards in SHARDS:
        models = parts(learn, rule, passes, n_shards)
        mean = float(np.mean([model.score(*judge) for model in models]))
        yield {"shards": n_shards, "merged": "never", "way": "mean of the parts", "right": mean}
        for way in WAYS:
            right = merge(models, way).score(*judge)
            yield {"shards": n_shards, "merged": "once", "way": way, "right": right}


def in_rounds(learn: Rows, judge: Rows, rule: str, *, passes: int) -> Figures:
    """Merged after each pass."""
    for n_shards in SHARDS:
        for way in WAYS if n_shards == SHARDS[0] else WAYS[:1]:
            clf = SureClassifier(
                rule, passes=passes, n_shards=n_shards, combine=way, random_state=0, scale=False
            )
            with warnings.catch_warnings(record=True) as said:
                right = clf.fit(*learn).score(*judge)
            yield {
                "shards": n_shards,
                "merged": "each pass",
                "way": way,
                "right": right,
                "warned": "yes" if said else "no",
            }


def table(name: str) -> Iterator[dict[str, Any]]:
    """All lines of a set."""
    learn, judge = split(name)
    about = {"set": name, "classes": len(np.unique(learn[1])), "rows learnt": len(learn[1])}
    for rule in RULES:
        for passes in PASSES:
            one = (
                SureClassifier(rule, passes=passes, random_state=0, scale=False)
                .fit(*learn)
                .score(*judge)
            )
            found = [*once(learn, judge, rule, passes=passes)]
            found += in_rounds(learn, judge, rule, passes=passes) if passes > 1 else []
            for line in found:
                right = line.pop("right")
                yield {
                    **about,
                    "rule": rule,
                    "passes": passes,
                    **line,
                    "one model %": f"{100 * one:.2f}",
                    "accuracy %": f"{100 * right:.2f}",
                    "to one model": f"{100 * (right - one):+.2f}",
                    "warned": line.get("warned", ""),
                }
            print(name, rule, passes, flush=True)


def main() -> None:
    lines: list[dict[str, Any]] = []
    with threadpool_limits(1):
        for name in NAMES:
            lines += table(name)
            with (HERE / "rounds.csv").open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, lines[0], lineterminator="\n")
                writer.writeheader()
                writer.writerows(lines)


if __name__ == "__main__":
    main()
