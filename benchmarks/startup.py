"""How long the command takes when there is next to nothing to do: whole processes, in turns.

``surelearn predict`` labels ten lines of text with a small model; ``surelearn train`` learns a
hundred lines; ``surelearn --help`` prints its page. Beside them, what a command that imported
scikit-learn would take to begin with: ``import sklearn.base``, and NumPy and SciPy's sparse
matrices, which ours needs.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from _measure import Claim, interleaved, show, write

REPEATS = 15
GOAL = 0.4
#: As the installed script does.
COMMAND = ["-c", "from surelearn.cli import main; main()"]
PREDICT = "surelearn predict, ten lines"
RUNS = {
    "python": ["-c", "pass"],
    "import numpy, scipy.sparse": ["-c", "import numpy, scipy.sparse"],
    "import sklearn.base": ["-c", "import sklearn.base"],
    "surelearn --help": [*COMMAND, "--help"],
    PREDICT: [*COMMAND, "predict", "model.sure", "ten.jsonl"],
    "surelearn train, 100 lines": [*COMMAND, "train", "hundred.jsonl", "-o", "new.sure", "--quiet"],
}


def lines(n: int) -> str:
    """Reviews of two kinds, a line each."""
    told = (("pos", "a fine film") if i % 2 else ("neg", "a dull plot") for i in range(n))
    records = ({"text": f"{text} number {i}", "label": y} for i, (y, text) in enumerate(told))
    return "".join(f"{json.dumps(record)}\n" for record in records)


def process(words: list[str], folder: Path) -> Callable[[], object]:
    """A run of a new interpreter in a folder."""
    return lambda: subprocess.run(
        [sys.executable, *words], cwd=folder, capture_output=True, check=True
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "ten.jsonl").write_text(lines(10))
        (folder / "hundred.jsonl").write_text(lines(100))
        process([*COMMAND, "train", "hundred.jsonl", "-o", "model.sure"], folder)()
        found = interleaved({run: process(RUNS[run], folder) for run in RUNS}, REPEATS)
    table = [[run, f"{took.best:.3f}", f"{took.median:.3f}"] for run, took in found.items()]
    show(f"Whole processes, {REPEATS} rounds", ["process", "best, s", "median, s"], table)
    took = found[PREDICT]
    figure = f"{took.best:.2f} s (median {took.median:.2f} s)"
    claim = Claim(PREDICT, "-", figure, f"< {GOAL} s", took.best < GOAL)
    seconds = {run: {"best": took.best, "median": took.median} for run, took in found.items()}
    write("startup", {"seconds": seconds}, [claim], repeats=REPEATS)


if __name__ == "__main__":
    main()
