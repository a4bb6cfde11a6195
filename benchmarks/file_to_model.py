"""From a jsonl file to a trained binary model: one pass of SureTextClassifier beside its peers.

The reviews and tweets of the shared sets, repeated in new orders up to some hundred megabytes.
Peers: Vowpal Wabbit on the same texts, split into lower-case words beforehand, in its format, one
fastText epoch on the same words, and a loop of scikit-learn's `HashingVectorizer` and
`SGDClassifier.partial_fit` over the same jsonl (over a part of it: it reads some ten megabytes a
second). All may use two cores. Vowpal Wabbit and fastText keep no variances.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from random import Random

from _measure import interleaved, ratio_claim, records, show, write

from surelearn import SureTextClassifier

REPEATS = 3
#: Bytes of the jsonl that scikit-learn reads.
PART = 20_000_000
_WORDS = re.compile(r"\b\w\w+\b")
_SIGNS = {"positive": "1", "negative": "-1"}


def reviews() -> list[tuple[str, str]]:
    """Texts with their sentiment."""
    found: list[tuple[str, str]] = []
    for name in ("amazon-multidomain", "amazon-raw-4domains", "sentiment140-100k"):
        found += [(r["text"], str(r["label"])) for r in records(f"{name}.jsonl.xz")]
    return [(text, label) for text, label in found if label in _SIGNS]


def repeated(pairs: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The texts again and again, each time in a new order."""
    random = Random(0)
    while True:
        random.shuffle(pairs)
        yield from pairs


def lines(size: int) -> Iterator[tuple[str, str, str]]:
    """(line of jsonl, text, label) up to a size in bytes."""
    written = 0
    for text, label in repeated(reviews()):
        line = json.dumps({"text": text, "label": label}, ensure_ascii=False) + "\n"
        written += len(line.encode())
        yield line, text, label
        if written >= size:
            return


def write_jsonl(path: Path, size: int) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(line for line, _, _ in lines(size))


def write_files(folder: Path, size: int) -> dict[str, Path]:
    """The same texts in every format, and a part of the jsonl for scikit-learn."""
    paths = {name: folder / name for name in ("all.jsonl", "all.vw", "all.txt", "part.jsonl")}
    with (
        open(paths["all.jsonl"], "w", encoding="utf-8") as plain,
        open(paths["part.jsonl"], "w", encoding="utf-8") as part,
        open(paths["all.vw"], "w", encoding="utf-8") as vw,
        open(paths["all.txt"], "w", encoding="utf-8") as fast,
    ):
        written = 0
        for line, text, label in lines(size):
            words = " ".join(_WORDS.findall(text.lower()))
            plain.write(line)
            if written < PART:
                part.write(line)
            written += len(line)
            vw.write(f"{_SIGNS[label]} | {words}\n")
            fast.write(f"__label__{label} {words}\n")
    return paths


def ours(path: Path) -> Callable[[], object]:
    return lambda: SureTextClassifier(random_state=0, n_jobs=-1).fit_stream(path, passes=1)


def vowpal_wabbit(path: Path) -> Callable[[], object]:
    from vowpalwabbit import Workspace

    arguments = f"--quiet --no_stdin -b 18 --loss_function logistic --data {path}"
    return lambda: Workspace(arguments).finish()


def fasttext_epoch(path: Path) -> Callable[[], object]:
    import fasttext

    return lambda: fasttext.train_supervised(str(path), epoch=1, thread=2, verbose=0)


def scikit_learn(path: Path) -> Callable[[], object]:
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.linear_model import SGDClassifier

    def run() -> object:
        vectorizer, model = HashingVectorizer(n_features=2**18), SGDClassifier(loss="log_loss")
        with open(path, encoding="utf-8") as lines:
            while batch := [json.loads(line) for line in islice(lines, 5000)]:
                X = vectorizer.transform([record["text"] for record in batch])
                y = [record["label"] for record in batch]
                model.partial_fit(X, y, classes=list(_SIGNS))
        return model

    return run


def contestants(paths: dict[str, Path]) -> dict[str, Callable[[], object]]:
    """Ours, scikit-learn, and the other peers that are installed."""
    runs = {
        "surelearn": ours(paths["all.jsonl"]),
        "scikit-learn": scikit_learn(paths["part.jsonl"]),
    }
    if find_spec("vowpalwabbit"):
        runs["Vowpal Wabbit"] = vowpal_wabbit(paths["all.vw"])
    if find_spec("fasttext"):
        runs["fastText"] = fasttext_epoch(paths["all.txt"])
    return runs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=200)
    size = 1_000_000 * parser.parse_args().megabytes
    with tempfile.TemporaryDirectory() as folder:
        paths = write_files(Path(folder), size)
        times = interleaved(contestants(paths), REPEATS, warm=False)
        part = os.path.getsize(paths["part.jsonl"]) / size
        own_size = {"Vowpal Wabbit": os.path.getsize(paths["all.vw"])}
    seconds = {name: t.best / (part if name == "scikit-learn" else 1) for name, t in times.items()}
    figures = [
        {
            "contestant": name,
            "seconds": round(taken, 3),
            "mb_of_jsonl_a_second": round(size / 1e6 / taken, 1),
            "mb_of_own_file_a_second": round(own_size.get(name, size) / 1e6 / taken, 1),
            "ratio": round(taken / seconds["surelearn"], 2),
        }
        for name, taken in seconds.items()
    ]
    table = [
        [str(f["contestant"]), f"{f['seconds']:.2f}", f"{f['mb_of_jsonl_a_second']:.0f}",
         f"{f['ratio']:.1f}"]
        for f in figures
    ]  # fmt: skip
    show("A jsonl file to a binary model", ["contestant", "s", "MB/s", "times ours"], table)
    goals = {
        "Vowpal Wabbit": ("Vowpal Wabbit, tokenized beforehand", 3),
        "scikit-learn": ("scikit-learn HashingVectorizer + partial_fit", 40),
        "fastText": ("one fastText epoch, two threads", 4),
    }
    claims = [
        ratio_claim("jsonl file to a binary model, one pass, two cores", peer,
                    seconds[name] / seconds["surelearn"], goal)
        for name, (peer, goal) in goals.items()
        if name in seconds
    ]  # fmt: skip
    write("file_to_model", figures, claims, repeats=REPEATS, bytes=size)


if __name__ == "__main__":
    main()
