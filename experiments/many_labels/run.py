"""Which of 12,000 articles is a sentence from? Writes many.csv beside this file; see README.md."""

from __future__ import annotations

import csv
from pathlib import Path

from experiments.many_labels.many import lines

HERE = Path(__file__).parent


def main() -> None:
    found = []
    for line in lines():
        print(line, flush=True)
        found.append(line)
    with (HERE / "many.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(found[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)


if __name__ == "__main__":
    main()
