"""Labels that come together: the topics of a story as the nodes of a graph.

    export SURELEARN_DATA=...               # the folder with reuters-21578.jsonl.xz
    python -m examples.correlated_labels    # writes docs/howto/pictures/correlated_labels.png

Reuters-21578, the 90 topics of both sides of the ModApte split. `SureTextClassifier` learns every
topic as a separate problem; its margins on stories that it has not learnt (five folds) are the
features of 90 nodes, one for each topic, with the labels 0 and 1. Edges join topics that come
together in five stories or more; each pair has separate weights. The same classifier without
edges is the independent baseline; a third answer is the text classifier with one threshold for all
topics. Weights, edges, thresholds and the rule of the graphs are learnt and chosen on the training
side. The rule of the text classifier, `AROW(1.0)`, is not: it was preferred on test stories
(`benchmarks/labels.py`), for all three answers alike.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from experiments import sets
from surelearn import SureGraphClassifier, SureTextClassifier, rules
from surelearn.graph import Graph
from surelearn.plot.style import COLOURS, GREY, head, quiet

PICTURE = Path(__file__).parents[1] / "docs" / "howto" / "pictures" / "correlated_labels.png"
#: Stories in which two topics must come together to be joined.
TOGETHER = 5
N_FOLDS = 5
N_SHOWN = 12

Table = np.ndarray[Any, np.dtype[Any]]


class Stories(NamedTuple):
    """Texts and the topics of each, a column for each topic."""

    texts: list[str]
    topics: Table


class Margins(NamedTuple):
    """The margin of every topic of stories that the classifier has not learnt."""

    train: Table
    test: Table


class Compared(NamedTuple):
    """A score of two answers: the difference, and its standard error."""

    name: str
    ours: float
    theirs: float
    error: float

    def __str__(self) -> str:
        lead = self.ours - self.theirs
        return f"{self.name}: {self.ours:.4f} - {self.theirs:.4f} = {lead:+.4f} +- {self.error:.4f}"


def reuters(n_train: int | None = None) -> tuple[Stories, Stories, list[str]]:
    """Both sides of the ModApte split and the topics that occur on both."""
    found = [r for r in sets.records("reuters-21578.jsonl.xz") if r["has_topics"] == "YES"]
    sides = [[r for r in found if r["lewissplit"] == side] for side in ("TRAIN", "TEST")]
    sides[0] = sides[0][:n_train]
    names = sorted(set.intersection(*({t for r in side for t in r["topics"]} for side in sides)))
    train, test = (
        Stories(
            [r["text"] for r in side],
            np.array([[name in r["topics"] for name in names] for r in side], dtype=np.int64),
        )
        for side in sides
    )
    return train, test, names


def margins(train: Stories, test: Stories) -> Margins:
    """Margins of independent topics: of training stories from the other folds."""

    def learnt(rows: Table) -> SureTextClassifier:
        clf = SureTextClassifier(rule=rules.AROW(1.0), random_state=0)
        return clf.fit([train.texts[i] for i in rows], train.topics[rows])

    found = np.zeros(train.topics.shape)
    for rows, others in KFold(N_FOLDS, shuffle=True, random_state=0).split(train.texts):
        found[others] = learnt(rows).margin([train.texts[i] for i in others])[0]
    return Margins(found, learnt(np.arange(len(train.texts))).margin(test.texts)[0])


def pairs(topics: Table) -> Table:
    """Topics that come together often enough, each pair once."""
    counts = np.triu(topics.T @ topics, 1)
    return np.argwhere(counts >= TOGETHER).astype(np.int32)


def graphs(margins: Table, joined: Table | None) -> list[Graph]:
    """A graph for each story: a topic has a bias and a weight for its margin, and all share one."""
    n = margins.shape[1]
    own = np.arange(n)
    edges = np.zeros((0, 2), np.int32) if joined is None else joined
    types = None if joined is None else np.arange(len(joined))
    places = np.concatenate([own, own, own]), np.concatenate([own, n + own, np.full(n, 2 * n)])
    return [
        Graph(
            sparse.csr_array((np.concatenate([np.ones(n), m, m]), places), shape=(n, 2 * n + 1)),
            edges,
            edge_types=types,
        )
        for m in margins
    ]


def learnt_graphs(known: Margins, topics: Table, joined: Table | None) -> tuple[Any, Table]:
    """A classifier of graphs with these edges, and its answers for the test stories.

    Its rule was the best of six on a third of the training side.
    """
    # A few graphs need more than the 50 sweeps of messages that are the default.
    clf = SureGraphClassifier("scw1", max_sweeps=500, random_state=0)
    clf.fit(graphs(known.train, joined), list(topics))
    with warnings.catch_warnings():
        # On a few stories messages never settle, whatever the damping: what they found last counts.
        warnings.simplefilter("ignore", ConvergenceWarning)
        answers, report = clf.predict(graphs(known.test, joined), report=True)
    print(f"messages have not converged on {np.sum(~report.converged)} of {len(answers)} graphs")
    return clf, np.array(answers)


def thresholded(known: Margins, topics: Table) -> Table:
    """Independent answers with one threshold, by micro F1 on the training side."""
    cuts = np.quantile(known.train[topics == 1], np.linspace(0.01, 0.5, 50))
    best = max(cuts, key=lambda cut: micro_f1(known.train > cut, topics))
    return np.asarray(known.test > best, dtype=np.int64)


def micro_f1(answers: Table, topics: Table, weight: Table | None = None) -> float:
    weight = np.ones(len(topics)) if weight is None else weight
    both, either = weight @ (answers * topics).sum(axis=1), weight @ (answers + topics).sum(axis=1)
    return float(2 * both / either)


def compared(name: str, ours: Table, theirs: Table, topics: Table) -> list[Compared]:
    """Micro F1 and stories with exactly the right topics; errors by 1,000 draws of the stories."""
    random, n = np.random.default_rng(0), len(topics)
    draws = random.multinomial(n, np.full(n, 1 / n), size=1000).astype(float)
    leads = [micro_f1(ours, topics, w) - micro_f1(theirs, topics, w) for w in draws]
    right = [(answers == topics).all(axis=1).astype(float) for answers in (ours, theirs)]
    return [
        Compared(f"micro F1, {name}", micro_f1(ours, topics), micro_f1(theirs, topics),
                 float(np.std(leads))),
        Compared(f"all topics right, {name}", right[0].mean(), right[1].mean(),
                 float((right[0] - right[1]).std() / np.sqrt(n))),
    ]  # fmt: skip


def couplings(clf: Any, joined: Table, names: list[str]) -> list[tuple[str, float, float]]:
    """Of each pair of topics: how much more it counts if both agree, and the standard deviation."""
    sign = np.array([[1.0, -1.0], [-1.0, 1.0]]) / 2
    mean = (clf.pairwise_[1:] * sign).sum(axis=(1, 2))
    deviation = np.sqrt((clf.pairwise_sigma_[1:] * sign**2).sum(axis=(1, 2)))
    found = [
        (f"{names[a]} – {names[b]}", float(m), float(d))
        for (a, b), m, d in zip(joined, mean, deviation, strict=True)
    ]
    return sorted(found, key=lambda one: -abs(one[1]))[:N_SHOWN]


# -------------------------------------------------------------------- the picture


def draw_couplings(ax: Axes, found: list[tuple[str, float, float]]) -> None:
    at = np.arange(len(found))[::-1]
    means, deviations = (np.array([one[i] for one in found]) for i in (1, 2))
    ax.errorbar(means, at, xerr=2 * deviations, fmt="o", color=COLOURS[0], ecolor=GREY, capsize=2)
    ax.axvline(0, color=GREY, linewidth=0.8)
    ax.set_yticks(at, [one[0] for one in found])
    head(ax, "Pairs with the largest weights", "If both topics agree, two deviations")


def draw_scores(ax: Axes, found: list[Compared]) -> None:
    at = np.arange(len(found))[::-1]
    leads = np.array([100 * (one.ours - one.theirs) for one in found])
    errors = np.array([200 * one.error for one in found])
    ax.errorbar(leads, at, xerr=errors, fmt="o", color=COLOURS[0], ecolor=GREY, capsize=2)
    ax.axvline(0, color=GREY, linewidth=0.8)
    ax.set_yticks(at, [one.name.replace(", ", "\n") for one in found])
    head(ax, "Lead of the graph over independent topics", "Points, two standard errors")


def main() -> None:
    train, test, names = reuters()
    known, joined = margins(train, test), pairs(train.topics)
    clf, ours = learnt_graphs(known, train.topics, joined)
    _, apart = learnt_graphs(known, train.topics, None)
    cut = thresholded(known, train.topics)
    found = [
        *compared("against no edges", ours, apart, test.topics),
        *compared("against one threshold", ours, cut, test.topics),
    ]
    print(f"{len(names)} topics, {len(joined)} pairs")
    print(*found, sep="\n")
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    draw_scores(left, found)
    draw_couplings(right, couplings(clf, joined, names))
    for ax in (left, right):
        quiet(ax, "x")
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=150)


if __name__ == "__main__":
    main()
