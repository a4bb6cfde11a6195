"""Columns of texts and of numbers, in a file or a frame of every kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
from pyarrow import feather, parquet

from surelearn import SureClassifier

FILES = ("csv", "tsv", "jsonl", "parquet", "arrow")
FRAMES = ("pandas", "polars", "table")

TEXTS = {
    "id": [str(i) for i in range(40)],
    "body": [f"{'good' if i % 2 else 'bad'} film number {i % 7}" for i in range(40)],
    "stars": [5 if i % 2 else 1 for i in range(40)],
    "votes": [1.0 + i % 3 for i in range(40)],
}
_random = np.random.default_rng(0)
NUMBERS: dict[str, list[Any]] = {
    "age": _random.normal(size=60).round(3).tolist(),
    "height": _random.normal(size=60).round(3).tolist(),
}
NUMBERS["kind"] = ["x" if a > b else "y" for a, b in zip(*NUMBERS.values(), strict=True)]


def stored(kind: str, folder: Path, columns: dict[str, list[Any]], name: str = "t") -> Any:
    """The columns in a file or a frame."""
    frame, path = pandas.DataFrame(columns), folder / f"{name}.{kind}"
    if kind == "pandas":
        return frame
    if kind == "polars":
        return polars.DataFrame(columns)
    if kind == "table":
        return pyarrow.table(columns)
    if kind in ("csv", "tsv"):
        frame.to_csv(path, index=False, sep="," if kind == "csv" else "\t")
    elif kind == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif kind == "parquet":
        parquet.write_table(pyarrow.table(columns), path)
    else:
        feather.write_feather(pyarrow.table(columns), path)
    return path


def numbers(**settings: Any) -> SureClassifier:
    return SureClassifier(random_state=0, **{"passes": 2, **settings}, scale=False)
