"""Texts to hashed rows: surelearn's HashingVectorizer beside scikit-learn's, which it equals.

20 Newsgroups as it is (34 MB, 0.4 % of the texts with a letter beyond ASCII), words alone and with
pairs of words, with the names of features kept, by one thread and by two, weighed by rarity; and
the same texts with an accent in every one, so that all of them go through the interpreter's own
`str.lower`. Output is compared bit for bit before anything is timed. Counts of the rows so far are
those of a stream, so they are timed with its rows: float32, 2^18 features, logarithms of counts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from _measure import Claim, Timing, interleaved, newsgroups, ratio_claim, show, write
from sklearn.feature_extraction.text import HashingVectorizer as ScikitLearns

from surelearn.rows import rows_of
from surelearn.text import HashingVectorizer

REPEATS = 7
PAIRS = {"ngram_range": (1, 2)}
BLOCK = 1100  # texts in two megabytes
STREAM = {"n_features": 2**18, "log_counts": True, "alternate_sign": False, "dtype": np.float32}


def contestants(texts: list[str], accented: list[str]) -> dict[str, Callable[[], object]]:
    """Everything that is timed; scikit-learn's ways first."""
    return {
        "scikit-learn": partial(ScikitLearns().transform, texts),
        "scikit-learn, beyond ASCII": partial(ScikitLearns().transform, accented),
        "surelearn": partial(HashingVectorizer().transform, texts),
        "surelearn, beyond ASCII": partial(HashingVectorizer().transform, accented),
        "surelearn, pairs too": partial(HashingVectorizer(**PAIRS).transform, texts),
        "surelearn, names kept": lambda: HashingVectorizer(keep_names=True).transform(texts),
        "surelearn, two threads": partial(HashingVectorizer(n_jobs=2).transform, texts),
        "surelearn, idf": partial(HashingVectorizer(idf=True).fit_transform, texts),
        "surelearn, rows of a stream": partial(stream_rows, texts, idf=False),
        "surelearn, rows of a stream, idf": partial(stream_rows, texts, idf=True),
    }


def stream_rows(texts: list[str], *, idf: bool) -> object:
    """Texts as `fit_stream` learns them in its first pass, block by block; the last block."""
    vectorizer = HashingVectorizer(**STREAM, idf=idf)
    for begin in range(0, len(texts), BLOCK):
        rows = rows_of(vectorizer.unweighed(texts[begin : begin + BLOCK]))
        rows = vectorizer.count_and_weigh_rows(rows) if idf else rows
    return rows


def check_same(texts: list[str], accented: list[str]) -> None:
    """Stop if the two differ in a single bit."""
    for some in (texts, accented):
        ours, theirs = HashingVectorizer().transform(some), ScikitLearns().transform(some)
        for part in ("indptr", "indices", "data"):
            if getattr(ours, part).tobytes() != getattr(theirs, part).tobytes():
                raise SystemExit(f"{part} must be that of scikit-learn, got another.")


def figures_of(times: dict[str, Timing], megabytes: float) -> list[dict[str, Any]]:
    """Speed of each, and its ratio to scikit-learn's on the same texts."""
    out = []
    for name, taken in times.items():
        beyond = name.endswith("ASCII")
        theirs = times["scikit-learn, beyond ASCII" if beyond else "scikit-learn"]
        out.append(
            {
                "contestant": name,
                "seconds": round(taken.best, 4),
                "MB/s": round(megabytes / taken.best, 1),
                "ratio": round(theirs.best / taken.best, 2),
            }
        )
    return out


def claims_of(times: dict[str, Timing]) -> list[Claim]:
    best = {name: taken.best for name, taken in times.items()}
    ours = best["surelearn"]
    work, peer = "hashing 20 Newsgroups", "scikit-learn HashingVectorizer"
    beyond = best["scikit-learn, beyond ASCII"] / best["surelearn, beyond ASCII"]
    pairs = best["surelearn, pairs too"] / ours
    names = best["surelearn, names kept"] / ours
    threads = ours / best["surelearn, two threads"]
    idf = best["surelearn, idf"] / ours - 1
    stream = "surelearn, rows of a stream"
    running = best[f"{stream}, idf"] / best[stream] - 1
    return [
        ratio_claim(work, peer, best["scikit-learn"] / ours, 28),
        Claim(f"{work}, all texts non-ASCII", peer, f"{beyond:.1f}x", "-", True),
        Claim(f"{work}, words and word pairs", "words alone", f"{pairs:.2f}x the time", "< 2.5x",
              pairs < 2.5),
        Claim(f"{work}, names kept", "names not kept", f"{names:.2f}x the time", "< 1.2x",
              names < 1.2),
        ratio_claim(f"{work}, two threads", "one thread", threads, 1.85),
        Claim(f"{work}, idf of all texts", "without idf", f"{idf:+.1%} time", "< 15 %", idf < 0.15),
        Claim(f"{work}, idf of the texts so far", "without idf", f"{running:+.1%} time", "< 15 %",
              running < 0.15),
    ]  # fmt: skip


def main() -> None:
    texts, _ = newsgroups()
    accented = [f"\u00e9 {text}" for text in texts]
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    check_same(texts, accented)
    print(f"{len(texts):,} texts, {megabytes:.1f} MB, best of {REPEATS}")
    times = interleaved(contestants(texts, accented), REPEATS)
    figures = figures_of(times, megabytes)
    lines = [
        [f["contestant"], f"{1e3 * f['seconds']:.0f}", f"{f['MB/s']:.0f}", f"{f['ratio']:.1f}"]
        for f in figures
    ]
    show("Texts to hashed rows", ["contestant", "ms", "MB/s", "ratio"], lines)
    write("hashing", figures, claims_of(times), repeats=REPEATS, megabytes=round(megabytes, 1))


if __name__ == "__main__":
    main()
