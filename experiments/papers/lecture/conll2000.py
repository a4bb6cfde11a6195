"""Chunks of CoNLL-2000: perceptron, SVM, CRF and CW over sequences, with CRFsuite beside."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.papers.entry import Case, Claim, Entry, Row, Rows
from experiments.papers.lecture.sentences import Part, Tags, part
from experiments.papers.statistics import Mean
from surelearn import CRFTagger, SureTagger, SVMTagger
from surelearn.evaluation import chunk_scores
from surelearn.templates import TokenFeatures

#: Names of a token's features, by sentence and token.
Named = list[list[list[str]]]

PERCEPTRON, SVM, CRF, CW = "structured perceptron", "structured SVM", "CRF", "CW"
SINGLE = "CW, each token alone"
CRFSUITE, AVERAGED = "CRFsuite, CRF", "CRFsuite, averaged perceptron"
#: Sentences that are learnt and judged in quick mode.
FEW = 400
DRAWS = 1000


def named(X: list[list[tuple[str, ...]]]) -> Named:
    """Features of tokens as `SureTagger` makes them, by name."""
    features = TokenFeatures()
    rows, _, bounds = features.learn(X)
    names = features.names
    tokens = [[names[j] for j in rows.indices[a:b]] for a, b in pairwise(rows.indptr)]
    return [tokens[a:b] for a, b in pairwise(bounds)]


# --------------------------------------------------------------------------- cases


class Found(NamedTuple):
    """Tags of the test part; with probabilities, the log loss of each sentence's tags."""

    tags: Tags
    losses: list[float] | None = None


def _ours(make: Callable[[], Any], learn: Part, judge: Part) -> Found:
    model = make().fit(learn.X, learn.y)
    marginals = model.predict_marginals(judge.X)
    return Found(model.predict(judge.X), list(map(_log_loss, judge.y, marginals)))


def _log_loss(tags: list[str], marginals: list[dict[str, float]]) -> float:
    """Summed over tokens; a tag that was never learnt counts as the least likely one."""
    found = [p.get(tag, min(p.values())) for tag, p in zip(tags, marginals, strict=True)]
    return float(-np.sum(np.log(np.maximum(found, 1e-300))))


def _alone(learn: Part, judge: Part) -> Found:
    """Every token a sequence of its own, with the features of its neighbours but not their tags."""
    X = [[token] for token in chain.from_iterable(named(learn.X))]
    y = [[tag] for tag in chain.from_iterable(learn.y)]
    model = SureTagger(n_jobs=1, random_state=0).fit(X, y)
    judged = named(judge.X)
    tags = iter(model.predict([[token] for token in chain.from_iterable(judged)]))
    return Found([[next(tags)[0] for _ in tokens] for tokens in judged])


def _crfsuite(algorithm: str, learn: Part, judge: Part) -> Found:
    from pycrfsuite import Tagger, Trainer

    trainer = Trainer(algorithm, verbose=False)
    if algorithm == "lbfgs":
        trainer.set("c2", 1.0)
    for tokens, tags in zip(named(learn.X), learn.y, strict=True):
        trainer.append(tokens, tags)
    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder) / "model")
        trainer.train(model)
        tagger = Tagger()
        tagger.open(model)
        return Found([tagger.tag(tokens) for tokens in named(judge.X)])


_ONE: dict[str, Any] = {"n_jobs": 1, "random_state": 0}
LEARNERS: dict[str, Callable[[Part, Part], Found]] = {
    PERCEPTRON: partial(_ours, partial(SureTagger, "perceptron", average=True, passes=20, **_ONE)),
    SVM: partial(_ours, partial(SVMTagger, C=0.1, tol=0.01, **_ONE)),
    CRF: partial(_ours, partial(CRFTagger, l2=2.0, tol=1e-3, n_jobs=1)),
    CW: partial(_ours, partial(SureTagger, **_ONE)),
    SINGLE: _alone,
    CRFSUITE: partial(_crfsuite, "lbfgs"),
    AVERAGED: partial(_crfsuite, "ap"),
}


def cases(quick: bool) -> dict[str, Case]:
    """Each learner."""
    return {name: partial(_judged, name, FEW if quick else None) for name in LEARNERS}


def _judged(name: str, n: int | None) -> Rows:
    """Counts of chunks and of right tags in each test sentence."""
    learn, judge = part("train", n), part("test", n)
    found = LEARNERS[name](learn, judge)
    losses = found.losses or [0.0] * len(judge.y)
    counts = []
    for truth, tags, loss in zip(judge.y, found.tags, losses, strict=True):
        one = chunk_scores([truth], [tags])
        counts.append([*one.overall, one.n_right, one.n_tokens, loss])
    has_probabilities = found.losses is not None
    return [
        {
            "learner": name,
            "learnt": len(learn.y),
            "has probabilities": has_probabilities,
            "counts": counts,
        }
    ]


# --------------------------------------------------------------------------- pages


def f1(counts: NDArray[Any]) -> NDArray[Any]:
    """F1 of chunks in per cent, from sums of (correct, found, support, ...) along the last axis."""
    return np.asarray(200 * counts[..., 0] / (counts[..., 1] + counts[..., 2]))


def accuracy(counts: NDArray[Any]) -> NDArray[Any]:
    """Right tags in per cent."""
    return np.asarray(100 * counts[..., 3] / counts[..., 4])


def log_loss(counts: NDArray[Any]) -> NDArray[Any]:
    """Mean over tokens."""
    return np.asarray(counts[..., 5] / counts[..., 4])


def _drawn(row: Row) -> NDArray[Any]:
    """Counts of all sentences, then of bootstrap draws of them: the same draws for all learners."""
    counts = np.array(row["counts"])
    n = len(counts)
    weights = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), DRAWS)
    return np.asarray(np.concatenate([np.ones((1, n)), weights]) @ counts)


def _spread(values: NDArray[Any]) -> Mean:
    """A figure of all sentences, with the spread over draws as its error."""
    return Mean(float(values[0]), float(values[1:].std()))


def tables(rows: Rows) -> dict[str, Rows]:
    """F1 and right tags, with the difference to CW on the same sentences."""
    base = f1(_drawn(next(row for row in rows if row["learner"] == CW)))
    title = f"{rows[0]['learnt']:,} sentences learnt, {len(rows[0]['counts']):,} judged"
    return {title: [_line(row, base) for row in rows]}


def _line(row: Row, base: NDArray[Any]) -> Row:
    counts = _drawn(row)
    loss = f"{_spread(log_loss(counts)).value:.3f}" if row["has probabilities"] else ""
    return {
        "learner": row["learner"],
        "F1 of chunks": str(_spread(f1(counts))),
        "right tags, %": str(_spread(accuracy(counts))),
        "log loss of a tag": loss,
        "F1 less that of CW": str(_spread(f1(counts) - base)),
    }


def claims(rows: Rows) -> tuple[Claim, ...]:
    """Tags of neighbours matter; a CRF has probabilities."""
    found = {row["learner"]: _drawn(row) for row in rows}
    lead = _spread(f1(found[CW]) - f1(found[SINGLE]))
    same = _spread(f1(found[CRF]) - f1(found[CRFSUITE]))
    losses = log_loss(found[SVM]), log_loss(found[CRF])
    gain = _spread(losses[0] - losses[1])
    return (
        Claim(
            text="Neighbouring labels depend on each other: Markov features help.",
            theirs="no figure",
            ours=f"F1 {lead.value:+.2f} with them",
            lead=lead.value,
            error=lead.error,
            note="CW over sentences against CW with the same features of each token alone. F1 of "
            f"CRFTagger less that of CRFsuite: {same}.",
        ),
        Claim(
            text="Compared to the structured SVM, the CRF has a probabilistic interpretation.",
            theirs="no figure",
            ours=f"log loss of a tag {losses[1][0]:.3f} against {losses[0][0]:.3f}",
            lead=gain.value,
            error=gain.error,
            note="The scores of the SVM are read as those of a CRF, not calibrated.",
        ),
    )


NOTES = """
The published split; F1 of chunks as conlleval counts them. All learners have the same features, a
window of five words and parts of speech, and weights for pairs of tags. ± is one standard error
over test sentences (bootstrap, the same draws for all).

*CRF* is `CRFTagger` with l2 = 2, which is CRFsuite's c2 = 1: the same objective, but for weights of
the first and last tag, which CRFsuite does not have. *CW* is `SureTagger` as it comes. Passes of
the perceptron and C of the SVM were chosen on a part of the training sentences
(`experiments/batch`). Solvers stop early: `CRFTagger` at 0.1 % of the objective, `SVMTagger` at a
duality gap of 1 %. Log loss is that of a token's tag, not calibrated.
"""

ENTRY = Entry(
    name="lecture-conll2000",
    title="CRF, structured SVM, structured perceptron and CW on CoNLL-2000",
    cases=cases,
    tables=tables,
    claims=claims,
    notes=NOTES,
)
