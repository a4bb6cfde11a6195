"""Models of 1, 10, 50 and 100 shards, merged in every way, beside one model of all: README.md.

Writes result.csv and shards.png beside this file.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import vstack
from sklearn.model_selection import GroupShuffleSplit
from threadpoolctl import threadpool_limits

from experiments import sets
from experiments.shards.picture import draw
from surelearn import SureClassifier, rules
from surelearn.merging import MergeState, way_of
from surelearn.rows import rows_of
from surelearn.text import HashingVectorizer

SHARDS, SPLITS = (10, 50, 100), 4
#: Shares of a set that are judged and that parameters are chosen on; the rest is learnt.
JUDGED, CHECKED = 0.1, 1 / 9
#: Words as they are and as `SureTextClassifier` takes them.
VALUES: dict[str, dict[str, Any]] = {
    "presence": {"binary": True, "norm": None},
    "length 1": {"log_counts": True, "norm": "l2"},
}
#: Rules by the names of the result, with the values their parameter is chosen from.
RULES: dict[str, tuple[Callable[[float], Any], tuple[float, ...]]] = {
    "Variance, phi": (lambda phi: rules.Variance(phi=phi), (0.1, 0.3, 1, 3, 10, 30)),
    "AROW, r": (lambda r: rules.AROW(r=r), (0.3, 1, 3, 10, 30)),
    "Probit, noise": (lambda noise: rules.Probit(noise=noise), (0.03, 0.1, 0.3, 1, 3, 10)),
    "PA1, C": (lambda C: rules.PA1(C=C), (0.003, 0.01, 0.1, 1)),
}
VARIANCE, PA = "Variance, phi", "PA1, C"
#: Ways whose sums are the same: they are added up once.
WAYS = (("evidence",), ("bayes", "weighted", "kl"), ("uniform",))
HERE = Path(__file__).parent


class Trial(NamedTuple):
    """A rule, how it learns a shard, and whether shards choose a parameter of their own."""

    rule: str
    passes: int = 1
    intercept: bool = True
    own: bool = False


ONE, AROW, PROBIT = Trial(VARIANCE), Trial("AROW, r"), Trial("Probit, noise")
FIVE, BARE = ONE._replace(passes=5), ONE._replace(intercept=False)
OWN = BARE._replace(own=True)
#: What is tried on a set with words as they are, and with rows of length 1.
SETS: dict[str, tuple[tuple[Trial, ...], tuple[Trial, ...]]] = {
    "Sentiment140": ((ONE, AROW), (ONE, BARE, AROW, PROBIT)),
    "Reuters earn": ((ONE, AROW), (ONE, BARE, FIVE, AROW)),
    "docstrings": ((ONE,), (ONE, BARE, OWN, FIVE)),
    "Stack Overflow titles": ((ONE,), (ONE, BARE, OWN, FIVE)),
    "Amazon sentiment": ((ONE,), (ONE, BARE)),
    "20 Newsgroups": ((ONE,), (ONE, BARE)),
}


class Data(NamedTuple):
    """Rows, class numbers, and a number that equal texts share."""

    X: Any
    y: np.ndarray
    groups: np.ndarray


class Split(NamedTuple):
    """Rows to learn, in random order, to choose a parameter on, and to judge."""

    learn: Data
    check: Data
    judge: Data


def load(name: str, values: str) -> Data:
    """Hashed words; of the tweets pairs of words too."""
    corpus = sets.texts("Reuters R52" if name == "Reuters earn" else name)
    y = corpus.y == "earn" if name == "Reuters earn" else corpus.y
    words = HashingVectorizer(
        ngram_range=(1, 2 if name == "Sentiment140" else 1),
        alternate_sign=False,
        dtype=np.float32,
        **VALUES[values],
    )
    X = words.transform(corpus.texts)
    y = np.unique(y, return_inverse=True)[1]
    return Data(X[:, np.unique(X.indices)], y, sets.numbered(corpus.texts))


def splits(data: Data) -> Iterator[Split]:
    """Four random ones; equal texts stay together."""
    cut = GroupShuffleSplit(SPLITS, test_size=JUDGED, random_state=0)
    for seed, (rest, judge) in enumerate(cut.split(data.y, groups=data.groups)):
        learn, check = sets.cut(rest, data.groups[rest], CHECKED)
        learn = np.random.default_rng(seed).permutation(learn)
        yield Split(*(Data(*(part[rows] for part in data)) for rows in (learn, check, judge)))


# ------------------------------------------------------------------------ models


def fitted(trial: Trial, parameter: float, X: Any, y: np.ndarray) -> SureClassifier:
    """One model."""
    rule = RULES[trial.rule][0](parameter)
    settings: dict[str, Any] = {"passes": trial.passes, "fit_intercept": trial.intercept}
    return SureClassifier(rule, random_state=0, **settings, scale=False).fit(X, y)


def apart(trial: Trial, parameter: float, learn: Data, n_shards: int) -> list[SureClassifier]:
    """A model for each of so many shards, which know nothing of each other."""
    ends = np.linspace(0, len(learn.y), n_shards + 1).astype(int)
    pieces = (slice(begin, end) for begin, end in pairwise(ends))
    return [fitted(trial, parameter, learn.X[rows], learn.y[rows]) for rows in pieces]


def merged(
    models: Sequence[SureClassifier], X: Any, ways: Sequence[Sequence[str]] = WAYS
) -> Iterator[tuple[str, np.ndarray]]:
    """Labels by every way: those of `surelearn.merge`, with fewer sums."""
    for shared in ways:
        state = MergeState.combined(MergeState.of(model.model_, shared[0]) for model in models)
        for how in shared:
            found = replace(state, how=way_of(how)).result()
            assert found.weights is not None
            yield how, found.classes[found.weights.winners(rows_of(X))]


def chosen(trial: Trial, split: Split) -> tuple[float, SureClassifier]:
    """The parameter that serves one model best on the rows for choosing, and that model."""
    learn, check, _ = split
    tried = [(p, fitted(trial, p, learn.X, learn.y)) for p in RULES[trial.rule][1]]
    return max(tried, key=lambda one: one[1].score(check.X, check.y))


def chosen_apart(trial: Trial, split: Split, n_shards: int) -> tuple[float, float]:
    """The parameter that serves merged shards best, and what it comes to on the judged rows."""
    learn, check, judge = split
    best = (-1.0, 0.0, 0.0)
    for parameter in RULES[trial.rule][1]:
        models = apart(trial, parameter, learn, n_shards)
        ((_, labels),) = merged(models, vstack([check.X, judge.X], format="csr"), [["bayes"]])
        on_check, on_judge = np.split(labels, [len(check.y)])
        best = max(best, (_right(on_check, check.y), parameter, _right(on_judge, judge.y)))
    return best[1:]


def _right(labels: np.ndarray, y: np.ndarray) -> float:
    """Percent."""
    return 100 * float(np.mean(labels == y))


# ------------------------------------------------------------------------ the table

Figures = Iterator[tuple[int, str, float, float]]


def judged(trial: Trial, split: Split) -> Figures:
    """Shards, way, parameter and accuracy of all that one split shows."""
    learn, _, judge = split
    parameter, single = chosen(trial, split)
    alone = _right(single.predict(judge.X), judge.y)
    yield 1, "single", parameter, alone
    if trial.own:
        yield SHARDS[-1], "bayes", *chosen_apart(trial, split, SHARDS[-1])
        return
    for n_shards in SHARDS if trial.rule != PA else ():
        models = apart(trial, parameter, learn, n_shards)
        each = [_right(model.predict(judge.X), judge.y) for model in models]
        yield n_shards, "average", parameter, float(np.mean(each))
        for how, labels in merged(models, judge.X):
            yield n_shards, how, parameter, _right(labels, judge.y)


def lines_of(trial: Trial, cuts: Sequence[Split]) -> Iterator[dict[str, Any]]:
    """A line for each number of shards and way, the mean of all splits."""
    found: dict[tuple[int, str], list[tuple[float, float]]] = {}
    for split in cuts:
        for n_shards, way, *figures in judged(trial, split):
            found.setdefault((n_shards, way), []).append((figures[0], figures[1]))
    singles = np.array([accuracy for _, accuracy in found[1, "single"]])
    for (n_shards, way), kept in found.items():
        accuracies = np.array([accuracy for _, accuracy in kept])
        behind = accuracies - singles
        yield {
            "rule": trial.rule,
            "passes": trial.passes,
            "intercept": "yes" if trial.intercept else "no",
            "chosen for": "shards" if trial.own else "one model",
            "shards": n_shards,
            "way": way,
            "accuracy %": f"{accuracies.mean():.2f}",
            "to single": f"{behind.mean():+.2f}",
            "standard error": f"{behind.std(ddof=1) / np.sqrt(len(behind)):.2f}",
            "parameters": " ".join(f"{parameter:g}" for parameter, _ in kept),
        }


def table(name: str, values: str, trials: Sequence[Trial]) -> Iterator[dict[str, Any]]:
    """All lines of a set with one kind of values, PA's single model first."""
    data = load(name, values)
    cuts = list(splits(data))
    about = {
        "set": name,
        "classes": data.y.max() + 1,
        "rows learnt": len(cuts[0].learn.y),
        "rows judged": len(cuts[0].judge.y),
        "features": data.X.shape[1],
        "values": values,
    }
    for trial in (Trial(PA), *trials):
        for line in lines_of(trial, cuts):
            yield {**about, **line}
        print(name, values, *trial, flush=True)


def main() -> None:
    lines: list[dict[str, Any]] = []
    with threadpool_limits(1):
        for name, both in SETS.items():
            for values, trials in zip(VALUES, both, strict=True):
                lines += table(name, values, trials)
            with (HERE / "result.csv").open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, lines[0], lineterminator="\n")
                writer.writeheader()
                writer.writerows(lines)
    draw(lines, HERE / "shards.png")


if __name__ == "__main__":
    main()
