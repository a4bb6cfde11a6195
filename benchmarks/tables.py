"""From a csv of ten columns to a two-class model: one pass of SureTableClassifier beside peers.

A generated file of a million rows: four numbers, three categories, yes or no, a text and a date.
Peers: Vowpal Wabbit on the same rows in its own format, a namespace for numbers, one for
categories, one for words, one for the parts of the date, written beforehand and not timed; and a
loop over chunks of pandas with `ColumnTransformer` and `SGDClassifier.partial_fit`. All may use two
cores. Each is judged on rows that it did not learn. Peak memory is that of processes that learn a
fifth of the rows, all, and all twice.
"""

from __future__ import annotations

import argparse
import datetime
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from _measure import Claim, interleaved, ratio_claim, show, write

from surelearn import SureTableClassifier, evaluate

REPEATS = 5
HELD_OUT = 20_000
#: Rows in one piece of the files that are written, and in one chunk of pandas.
PIECE = 50_000
NUMBERS, CATEGORIES = ("price", "metres", "age", "score"), ("brand", "city", "colour", "sale")
COLUMNS = (*NUMBERS, *CATEGORIES, "title", "sold")
_FIRST_DAY = datetime.date(2020, 1, 1)
_SCRIPT = """
import re, sys
from surelearn import SureTableClassifier

SureTableClassifier(random_state=0, n_jobs=-1).fit_stream(sys.argv[1], label="label", passes=1)
# Not ru_maxrss, which begins with the memory of the process that started this one.
print(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
"""

Row = tuple[str, dict[str, str]]


class Shop:
    """Draws rows; what decides the label is drawn once."""

    def __init__(self) -> None:
        draw = np.random.default_rng(0)
        self.words = [f"w{''.join(draw.choice(list('aeioklmnrst'), 5))}{i}" for i in range(5000)]
        self.of_word = draw.normal(0, 0.7, 5000)
        self.of_brand, self.of_city = draw.normal(0, 0.7, 200), draw.normal(0, 0.7, 5000)
        self.draw = np.random.default_rng(1)

    def rows(self, n: int) -> Iterator[Row]:
        """(label, values by column) of n rows; about one score in ten is missing."""
        for begin in range(0, n, PIECE):
            yield from self._piece(min(PIECE, n - begin))

    def _piece(self, n: int) -> Iterator[Row]:
        draw = self.draw
        price, metres = draw.lognormal(3, 1, n), draw.normal(80, 25, n)
        age, score = draw.integers(0, 90, n), draw.normal(0, 1, n)
        brand, colour = draw.integers(0, 200, n), draw.integers(0, 8, n)
        city = np.minimum(draw.zipf(1.3, n), 5000) - 1
        sale, day = draw.random(n) < 0.3, draw.integers(0, 1400, n)
        words = np.minimum(draw.zipf(1.2, (n, 8)), 5000) - 1
        n_words = draw.integers(4, 9, n)
        used = np.arange(8) < n_words[:, None]
        margin = (
            self.of_brand[brand] + self.of_city[city] + (self.of_word[words] * used).sum(1)
            - 0.6 * (np.log(price) - 3) + 0.5 * score + 0.5 * sale
            + 0.6 * (np.abs(age - 45) > 20)
        )  # fmt: skip
        is_good = margin + draw.logistic(0, 0.5, n) > 0
        is_gone = draw.random(n) < 0.1
        for i in range(n):
            values = {
                "price": f"{price[i]:.2f}", "metres": f"{metres[i]:.1f}", "age": str(age[i]),
                "score": "" if is_gone[i] else f"{score[i]:.3f}", "brand": f"brand{brand[i]}",
                "city": f"city{city[i]}", "colour": f"colour{colour[i]}",
                "sale": "yes" if sale[i] else "no",
                "title": " ".join(self.words[j] for j in words[i, : n_words[i]]),
                "sold": str(_FIRST_DAY + datetime.timedelta(days=int(day[i]))),
            }  # fmt: skip
            yield "good" if is_good[i] else "bad", values


def vw_line(label: str, values: dict[str, str]) -> str:
    """A row in the format of Vowpal Wabbit."""
    numbers = " ".join(f"{name}:{values[name]}" for name in NUMBERS if values[name])
    categories = " ".join(f"{name}={values[name]}" for name in CATEGORIES)
    day = datetime.date.fromisoformat(values["sold"])
    date = f"days:{(day - _FIRST_DAY).days} month={day.month} weekday={day.weekday()}"
    sign = "1" if label == "good" else "-1"
    return f"{sign} |n {numbers} |c {categories} |t {values['title']} |d {date}\n"


def write_files(folder: Path, n: int) -> dict[str, Path]:
    """The rows as csv and for Vowpal Wabbit, a fifth of the csv, and rows held out."""
    names = ("all.csv", "all.vw", "fifth.csv", "held.csv", "held.vw")
    paths = {name: folder / name for name in names}
    files = {name: open(path, "w", encoding="utf-8") for name, path in paths.items()}  # noqa: SIM115
    for name, file in files.items():
        if name.endswith(".csv"):
            file.write(",".join((*COLUMNS, "label")) + "\n")
    for i, (label, values) in enumerate(Shop().rows(n + HELD_OUT)):
        csv, vw = ",".join((*values.values(), label)) + "\n", vw_line(label, values)
        kind = "all" if i < n else "held"
        files[f"{kind}.csv"].write(csv)
        files[f"{kind}.vw"].write(vw)
        if i < n // 5:
            files["fifth.csv"].write(csv)
    for file in files.values():
        file.close()
    return paths


def doubled(path: Path) -> Path:
    """A file with the rows of another twice."""
    twice = path.with_name("twice.csv")
    with open(path, encoding="utf-8") as rows, open(twice, "w", encoding="utf-8") as out:
        out.write(header := next(rows))
        out.writelines(rows)
        rows.seek(len(header))
        out.writelines(rows)
    return twice


Run = tuple[Callable[[], Any], Callable[[Any], float]]


def ours(paths: dict[str, Path]) -> Run:
    def run() -> Any:
        model = SureTableClassifier(random_state=0, n_jobs=-1)
        return model.fit_stream(paths["all.csv"], label="label", passes=1)

    def accuracy(model: Any) -> float:
        return evaluate(model, paths["held.csv"], label="label").accuracy

    return run, accuracy


def vowpal_wabbit(paths: dict[str, Path]) -> Run:
    from vowpalwabbit import Workspace

    model = paths["all.vw"].with_suffix(".model")
    how = f"--quiet --no_stdin -b 18 --loss_function logistic --data {paths['all.vw']} -f {model}"

    def accuracy(_: Any) -> float:
        test = Workspace(f"--quiet -t -i {model}")
        with open(paths["held.vw"], encoding="utf-8") as lines:
            right = [(test.predict(line) > 0) == (line[0] == "1") for line in lines]
        test.finish()
        return float(np.mean(right))

    return lambda: Workspace(how).finish(), accuracy


def scikit_learn(paths: dict[str, Path]) -> Run:
    """Units, and the values of categories, are those of the first chunk."""
    import pandas
    from sklearn.compose import ColumnTransformer
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import SGDClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    def columns(frame: Any) -> Any:
        sold = pandas.to_datetime(frame["sold"])
        days = (sold - pandas.Timestamp(_FIRST_DAY)).dt.days
        return frame.assign(days=days, month=sold.dt.month, weekday=sold.dt.day_of_week)

    def run() -> Any:
        numbers = make_pipeline(SimpleImputer(), StandardScaler())
        encode = ColumnTransformer(
            [
                ("numbers", numbers, [*NUMBERS, "days"]),
                (
                    "categories",
                    OneHotEncoder(handle_unknown="ignore"),
                    [*CATEGORIES, "month", "weekday"],
                ),
                ("title", HashingVectorizer(n_features=2**18), "title"),
            ]
        )
        model, is_first = SGDClassifier(loss="log_loss", random_state=0), True
        for chunk in pandas.read_csv(paths["all.csv"], chunksize=PIECE // 5):
            frame = columns(chunk)
            X = encode.fit_transform(frame) if is_first else encode.transform(frame)
            model.partial_fit(X, chunk["label"], classes=["bad", "good"])
            is_first = False
        return encode, model

    def accuracy(found: Any) -> float:
        encode, model = found
        held = pandas.read_csv(paths["held.csv"])
        return float(model.score(encode.transform(columns(held)), held["label"]))

    return run, accuracy


def contestants(paths: dict[str, Path]) -> dict[str, Run]:
    """Ours, and the peers that are installed."""
    runs = {"surelearn": ours(paths)}
    if find_spec("vowpalwabbit"):
        runs["Vowpal Wabbit"] = vowpal_wabbit(paths)
    if find_spec("pandas"):
        runs["scikit-learn"] = scikit_learn(paths)
    return runs


def timed(run: Callable[[], Any], seconds: list[float], made: list[Any]) -> Callable[[], Any]:
    """The same run, which notes its processor time and keeps what it made."""

    def noted() -> None:
        begin = time.process_time()
        made[:] = [run()]
        seconds.append(time.process_time() - begin)

    return noted


def peak(path: Path) -> float:
    """Megabytes of resident memory of a process that learns a file, at the most."""
    command = [sys.executable, "-c", _SCRIPT, str(path)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(run.stdout) / 1000


def claims_of(figures: dict[str, dict[str, Any]]) -> list[Claim]:
    """Time and accuracy beside each peer that was measured."""
    work, mine = (
        "csv of ten columns to a two-class model, one pass, two cores",
        figures["surelearn"],
    )
    beside = {
        "Vowpal Wabbit": ("Vowpal Wabbit, its format written beforehand", 3),
        "scikit-learn": ("scikit-learn ColumnTransformer + partial_fit over chunks of pandas", 20),
    }
    claims = []
    for name, (peer, goal) in beside.items():
        if name not in figures:
            continue
        its = figures[name]
        by_processor = its["processor_seconds"] / mine["processor_seconds"]
        claims += [
            ratio_claim(work, peer, its["seconds"] / mine["seconds"], goal),
            Claim(f"{work}: processor time", peer, f"{by_processor:.1f}x", "-", True),
            Claim(
                f"{work}: accuracy on rows held out", peer,
                f"{100 * mine['accuracy']:.2f} beside {100 * its['accuracy']:.2f} %",
                "not below", mine["accuracy"] >= its["accuracy"],
            ),
        ]  # fmt: skip
    return claims


def memory_claim(peaks: dict[int, float], few: int, n: int) -> Claim:
    """Peak memory does not grow with the file."""
    least, most = peaks[few], peaks[n]
    growth = most / least - 1
    return Claim(
        f"peak memory of fit_stream, csv of {few:,} to {n:,} rows", "-",
        f"{least:.0f} to {most:.0f} MB ({100 * growth:+.1f} %)", "< 5 % more", growth < 0.05,
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    n = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as folder:
        paths = write_files(Path(folder), n)
        runs = contestants(paths)
        processor: dict[str, list[float]] = {name: [] for name in runs}
        made: dict[str, list[Any]] = {name: [] for name in runs}
        noted = {name: timed(run, processor[name], made[name]) for name, (run, _) in runs.items()}
        times = interleaved(noted, REPEATS, warm=False)
        accuracy = {name: judge(*made[name]) for name, (_, judge) in runs.items()}
        n_bytes = paths["all.csv"].stat().st_size
        peaks = {n // 5: peak(paths["fifth.csv"]), n: peak(paths["all.csv"])}
        peaks[2 * n] = peak(doubled(paths["all.csv"]))
    figures = {
        name: {
            "seconds": round(times[name].best, 3),
            "processor_seconds": round(min(processor[name]), 3),
            "rows_a_second": round(n / times[name].best),
            "accuracy": round(accuracy[name], 4),
        }
        for name in runs
    }
    show(
        "A csv of ten columns to a model",
        ["contestant", "wall s", "processor s", "rows/s", "accuracy"],
        [[name, *map(str, figure.values())] for name, figure in figures.items()],
    )
    found = {"contestants": figures, "peak_mb": {str(rows): mb for rows, mb in peaks.items()}}
    memory = [memory_claim(peaks, n // 5, n), memory_claim(peaks, n, 2 * n)]
    claims = [*claims_of(figures), *memory]
    write("tables", found, claims, repeats=REPEATS, rows=n, bytes=n_bytes)


if __name__ == "__main__":
    main()
