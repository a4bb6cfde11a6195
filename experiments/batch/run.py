"""Perceptron, SVM, softmax or CRF, and CW side by side; Laplace variances; batch starts: README.md.

Writes losses.csv, variances.csv and starts.csv beside this file. Their names may be given; those
alone are then written.
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from experiments.batch import losses, starts, variances

HERE = Path(__file__).parent
PARTS: dict[str, Callable[[], Iterator[dict[str, Any]]]] = {
    "losses": losses.lines,
    "variances": variances.lines,
    "starts": starts.lines,
}


def main() -> None:
    for name in sys.argv[1:] or PARTS:
        begin, lines = time.perf_counter(), []
        for line in PARTS[name]():
            print(line, flush=True)
            lines.append(line)
        with (HERE / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(lines)
        print(f"{name}: {time.perf_counter() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
