"""Chunking of CoNLL-2000: SureTagger beside CRFsuite's four ways to learn.

Learnt from the published training part, judged on the published test part by F1 of chunks. Both
have the same 19 features of a token, a window of five words and parts of speech; CRFsuite gets
their names. CRFsuite learns by its own defaults (L-BFGS: c2 = 1, until it stops by itself).

Learning is timed from features that are made already. There is no way to hand such to `fit`, so
what `TokenFeatures.learn` takes is taken off the time of `fit`, and both are written down. What
CRFsuite takes to get its features from Python (`append`) is not counted.

Tagging is timed in one thread: from feature names for both, as lists of str; from what either
makes of them beforehand, CRFsuite's `ItemSequence` and our rows; and from words for ours alone.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from _measure import Claim, Timing, interleaved, ratio_claim, show, stop, write

from surelearn import SureTagger, read
from surelearn.evaluation import chunk_scores
from surelearn.templates import TokenFeatures

GOAL = 93.6
SEEDS = (0, 1, 2)
PASSES = range(1, 11)
REPEATS = 5
#: CRFsuite's ways to learn, with what they are called here.
THEIRS = {"lbfgs": "L-BFGS", "ap": "averaged perceptron", "pa": "PA", "arow": "AROW"}


class Part(NamedTuple):
    """Sentences of (word, part of speech), their tags, and names of each token's features."""

    X: list[list[tuple[str, str]]]
    y: list[list[str]]
    items: list[list[list[str]]]

    @classmethod
    def of(cls, name: str) -> Part:
        folder = os.environ.get("SURELEARN_DATA")
        if folder is None:
            stop("SURELEARN_DATA must name the folder with conll2000, got nothing.")
        batches = list(read.sentences(Path(folder) / "conll2000" / name))
        X = [tokens for batch in batches for tokens in batch.X]
        return cls(X, [list(tags) for batch in batches for tags in batch.y], items_of(X))

    @property
    def n_tokens(self) -> int:
        return sum(map(len, self.X))


def items_of(X: list[list[tuple[str, str]]]) -> list[list[list[str]]]:
    """Names of features as `SureTagger` makes them."""
    features = TokenFeatures()
    rows, _, bounds = features.learn(X)
    names = features.names
    tokens = [[names[j] for j in rows.indices[a:b]] for a, b in pairwise(rows.indptr)]
    return [tokens[a:b] for a, b in pairwise(bounds)]


def f1(test: Part, found: list[list[str]]) -> float:
    return 100 * chunk_scores(test.y, found).f1


def seconds(run: Callable[[], object]) -> float:
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


# ------------------------------------------------------------------------ learning


def theirs(train: Part, test: Part, folder: Path) -> dict[str, dict[str, float]]:
    """F1 and seconds of every way CRFsuite learns; its models are kept in the folder."""
    import pycrfsuite

    found = {}
    for algorithm, name in THEIRS.items():
        trainer = pycrfsuite.Trainer(algorithm, verbose=False)
        if algorithm == "lbfgs":
            trainer.set("c2", 1.0)
        handing = seconds(partial(handed, trainer, train))
        model = str(folder / algorithm)
        learning = seconds(partial(trainer.train, model))
        tagger = pycrfsuite.Tagger()
        tagger.open(model)
        score = f1(test, [tagger.tag(tokens) for tokens in test.items])
        found[name] = {"f1": score, "seconds": learning, "seconds to hand over": handing}
        print(f"CRFsuite, {name}: F1 {score:.2f} in {learning:.1f} s", flush=True)
    return found


def handed(trainer: Any, train: Part) -> None:
    for tokens, tags in zip(train.items, train.y, strict=True):
        trainer.append(tokens, tags)


def ours(train: Part, test: Part) -> list[dict[str, Any]]:
    """F1 and seconds after each number of passes, for each seed."""
    extraction = interleaved({"": lambda: TokenFeatures().learn(train.X)}, REPEATS)[""].best
    found = []
    for passes in PASSES:
        taggers = [SureTagger(passes=passes, random_state=seed) for seed in SEEDS]
        took = [seconds(partial(tagger.fit, train.X, train.y)) for tagger in taggers]
        found.append(
            {
                "passes": passes,
                "f1": [round(f1(test, tagger.predict(test.X)), 2) for tagger in taggers],
                "seconds to fit": round(min(took), 3),
                "seconds": round(min(took) - extraction, 3),
            }
        )
    return found


# ------------------------------------------------------------------------- tagging


def tagging(train: Part, test: Part, folder: Path) -> dict[str, Timing]:
    """All ways to tag the test part."""
    import pycrfsuite

    crf = pycrfsuite.Tagger()
    crf.open(str(folder / "lbfgs"))
    native = [pycrfsuite.ItemSequence(tokens) for tokens in test.items]
    words = SureTagger(n_jobs=1, random_state=0).fit(train.X, train.y)
    both = SureTagger(random_state=0, n_jobs=-1).fit(train.X, train.y)
    named = SureTagger(n_jobs=1, random_state=0).fit(train.items, train.y)
    rows = words.features_.transform(test.X)
    runs: dict[str, Callable[[], object]] = {
        "CRFsuite, feature names": lambda: [crf.tag(tokens) for tokens in test.items],
        "CRFsuite, ItemSequence": lambda: [crf.tag(tokens) for tokens in native],
        "surelearn, feature names": partial(named.predict, test.items),
        "surelearn, rows": partial(tagged, words, rows),
        "surelearn, words": partial(words.predict, test.X),
        "surelearn, words, all cores": partial(both.predict, test.X),
    }
    return interleaved(runs, REPEATS)


def tagged(tagger: SureTagger, rows: Any) -> list[str]:
    """Tags of rows that are made already. No public method takes such rows."""
    found: list[str] = tagger.classes_[tagger.model_.tags(rows, 1)].tolist()
    return found


# ------------------------------------------------------------------------- results


def claims_of(
    crf: dict[str, dict[str, float]], passes: list[dict[str, Any]], rates: dict[str, float]
) -> list[Claim]:
    lbfgs, last = crf["L-BFGS"], passes[-1]
    work, peer = "CoNLL-2000 chunking", "CRFsuite"
    reached = [line for line in passes if np.mean(line["f1"]) >= GOAL]
    ratio = lbfgs["seconds"] / reached[0]["seconds"] if reached else 0.0
    claims = [
        ratio_claim(f"{work}, to F1 {GOAL}", f"{peer} L-BFGS, {lbfgs['f1']:.2f}", ratio, 40),
        Claim(
            f"{work}, F1 with defaults",
            f"{peer} L-BFGS, {lbfgs['f1']:.2f}",
            f"{np.mean(last['f1']):.2f}",
            f">= {GOAL}",
            bool(np.mean(last["f1"]) >= GOAL),
        ),
    ]
    for name in list(THEIRS.values())[1:]:
        better, times = np.mean(last["f1"]) > crf[name]["f1"], crf[name]["seconds"]
        figure = f"{np.mean(last['f1']):.2f} in {last['seconds']:.1f} s"
        goal = f"> {crf[name]['f1']:.2f} in < {times:.1f} s"
        met = bool(better and last["seconds"] < times)
        claims.append(Claim(f"{work}, F1 and time", f"{peer} {name}", figure, goal, met))
    pairs = {
        "from feature names": ("feature names", "feature names"),
        "from precomputed features": ("ItemSequence", "rows"),
        "from words": ("ItemSequence", "words"),
    }
    for what, (their, our) in pairs.items():
        faster = rates[f"surelearn, {our}"] / rates[f"CRFsuite, {their}"]
        claims.append(ratio_claim(f"tagging CoNLL-2000, {what}", f"{peer}, {their}", faster, 3))
    return claims


def main() -> None:
    train, test = Part.of("train.txt.xz"), Part.of("test.txt.xz")
    print(f"{train.n_tokens:,} tokens to learn, {test.n_tokens:,} to tag")
    with tempfile.TemporaryDirectory() as name:
        passes = ours(train, test)
        crf = theirs(train, test, Path(name))
        times = tagging(train, test, Path(name))
    rates = {way: test.n_tokens / taken.best for way, taken in times.items()}
    lines = [
        [f"CRFsuite {who}", "", f"{f['f1']:.2f}", f"{f['seconds']:.1f}"] for who, f in crf.items()
    ]
    lines += [
        [
            "surelearn",
            str(line["passes"]),
            " ".join(f"{x:.2f}" for x in line["f1"]),
            f"{line['seconds']:.2f} ({line['seconds to fit']:.2f} from words)",
        ]
        for line in passes
    ]
    show("Learning", ["", "passes", "F1", "seconds"], lines)
    show("Tagging", ["", "tokens/s"], [[way, f"{rate:,.0f}"] for way, rate in rates.items()])
    figures = {
        "CRFsuite": {who: {k: round(x, 2) for k, x in f.items()} for who, f in crf.items()},
        "surelearn": passes,
        "tagging, tokens/s": {way: round(rate) for way, rate in rates.items()},
    }
    write("tagger", figures, claims_of(crf, passes, rates), repeats=REPEATS, seeds=len(SEEDS))


if __name__ == "__main__":
    main()
