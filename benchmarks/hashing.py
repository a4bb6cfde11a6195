"""Texts to hashed rows: surelearn's HashingVectorizer beside scikit-learn's, which it equals.

20 Newsgroups as it is (34 MB, 0.4 % of the texts with a letter beyond ASCII), words alone and with
pairs of words, with the names of features kept, by one thread and by two; and the same texts with
an accent in every one, so that all of them go through the interpreter's own `str.lower`. Output is
compared bit for bit before anything is timed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from _measure import Claim, Timing, interleaved, newsgroups, ratio_claim, show, write
from sklearn.feature_extraction.text import HashingVectorizer as ScikitLearns

from surelearn.text import HashingVectorizer

REPEATS = 7
PAIRS = {"ngram_range": (1, 2)}


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
    }


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
    return [
        ratio_claim(work, peer, best["scikit-learn"] / ours, 20),
        Claim(f"{work}, all texts non-ASCII", peer, f"{beyond:.1f}x", "-", True),
        Claim(f"{work}, words and word pairs", "words alone", f"{pairs:.2f}x the time", "< 2.5x",
              pairs < 2.5),
        Claim(f"{work}, names kept", "names not kept", f"{names:.2f}x the time", "< 1.2x",
              names < 1.2),
        ratio_claim(f"{work}, two threads", "one thread", threads, 1.8),
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
