"""Words and parts of speech to rows of features: surelearn's templates beside a loop in Python.

The training part of CoNLL-2000 (211,727 tokens) with the 19 templates of a window of five. The loop
writes the name of every feature and looks its number up in a dict, as programs around taggers do;
its numbers and names are compared with ours before anything is timed.
"""

from __future__ import annotations

import lzma
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from _measure import Claim, Timing, interleaved, ratio_claim, show, stop, write

from surelearn.templates import TokenFeatures

REPEATS = 7
Sentence = list[tuple[str, str]]


def sentences() -> list[Sentence]:
    """(word, part of speech) of every token of the training part."""
    folder = os.environ.get("SURELEARN_DATA")
    if folder is None:
        stop("SURELEARN_DATA must name the folder with conll2000, got nothing.")
    with lzma.open(Path(folder) / "conll2000" / "train.txt.xz", "rt", encoding="utf-8") as file:
        blocks = file.read().split("\n\n")
    found = [[line.split()[:2] for line in block.splitlines() if line] for block in blocks]
    return [[(w, pos) for w, pos in lines] for lines in found if lines]


def names_of(w: list[str], p: list[str], i: int) -> list[str]:
    """Names of a token that has two more to each side."""
    return [
        f"w[-2]={w[i - 2]}",
        f"w[-1]={w[i - 1]}",
        f"w[0]={w[i]}",
        f"w[1]={w[i + 1]}",
        f"w[2]={w[i + 2]}",
        f"w[-1]|w[0]={w[i - 1]}|{w[i]}",
        f"w[0]|w[1]={w[i]}|{w[i + 1]}",
        f"pos[-2]={p[i - 2]}",
        f"pos[-1]={p[i - 1]}",
        f"pos[0]={p[i]}",
        f"pos[1]={p[i + 1]}",
        f"pos[2]={p[i + 2]}",
        f"pos[-2]|pos[-1]={p[i - 2]}|{p[i - 1]}",
        f"pos[-1]|pos[0]={p[i - 1]}|{p[i]}",
        f"pos[0]|pos[1]={p[i]}|{p[i + 1]}",
        f"pos[1]|pos[2]={p[i + 1]}|{p[i + 2]}",
        f"pos[-2]|pos[-1]|pos[0]={p[i - 2]}|{p[i - 1]}|{p[i]}",
        f"pos[-1]|pos[0]|pos[1]={p[i - 1]}|{p[i]}|{p[i + 1]}",
        f"pos[0]|pos[1]|pos[2]={p[i]}|{p[i + 1]}|{p[i + 2]}",
    ]


def by_loop(X: list[Sentence]) -> tuple[list[list[int]], dict[str, int]]:
    """Numbers of each token's features, and the number of each name."""
    table: dict[str, int] = {}
    rows = []
    for sentence in X:
        words = ["<s-2>", "<s-1>", *(w for w, _ in sentence), "</s+1>", "</s+2>"]
        tags = ["<s-2>", "<s-1>", *(pos for _, pos in sentence), "</s+1>", "</s+2>"]
        for i in range(2, len(sentence) + 2):
            names = names_of(words, tags, i)
            rows.append([table.setdefault(name, len(table)) for name in names])
    return rows, table


def check_same(X: list[Sentence]) -> int:
    """Stop if a number or a name differs; how many features there are."""
    # In our names a backslash is two, as one stands before a '|' that is of the word.
    rows, table = by_loop([[(w.replace("\\", "\\\\"), pos) for w, pos in tokens] for tokens in X])
    features = TokenFeatures()
    ours = features.learn(X).X
    flat = [number for row in rows for number in sorted(row)]
    if features.names != list(table) or ours.indices.tolist() != flat:
        raise SystemExit("numbers and names must be those of the loop, got others.")
    return features.n_features


def contestants(X: list[Sentence]) -> dict[str, Callable[[], object]]:
    """Everything that is timed; the loop first."""
    words = [[w for w, _ in sentence] for sentence in X]
    known = TokenFeatures()
    known.learn(X)
    return {
        "loop in Python": partial(by_loop, X),
        "surelearn": lambda: TokenFeatures().learn(X),
        "surelearn, known names": partial(known.transform, X),
        "surelearn, hashed": partial(TokenFeatures(n_features=2**18).learn, X),
        "surelearn, words alone": lambda: TokenFeatures().learn(words),
    }


def figures_of(times: dict[str, Timing], n_tokens: int) -> list[dict[str, Any]]:
    loop = times["loop in Python"].best
    return [
        {
            "contestant": name,
            "seconds": round(taken.best, 4),
            "tokens/s": round(n_tokens / taken.best),
            "ratio": round(loop / taken.best, 2),
        }
        for name, taken in times.items()
    ]


def claims_of(times: dict[str, Timing]) -> list[Claim]:
    loop, ours = times["loop in Python"].best, times["surelearn"].best
    work, peer = "features of CoNLL-2000, 19 templates", "a loop in Python"
    return [
        ratio_claim(work, peer, loop / ours, 10),
        Claim(f"{work}, total time", "-", f"{ours:.2f} s", "-", True),
    ]


def main() -> None:
    X = sentences()
    n_tokens = sum(map(len, X))
    n_features = check_same(X)
    print(f"{n_tokens:,} tokens, {n_features:,} features, best of {REPEATS}")
    times = interleaved(contestants(X), REPEATS)
    figures = figures_of(times, n_tokens)
    lines = [
        [f["contestant"], f"{1e3 * f['seconds']:.0f}", f"{f['tokens/s']:,}", f"{f['ratio']:.1f}"]
        for f in figures
    ]
    show("Tokens to rows of features", ["contestant", "ms", "tokens/s", "ratio"], lines)
    write("token_features", figures, claims_of(times), repeats=REPEATS, tokens=n_tokens)


if __name__ == "__main__":
    main()
