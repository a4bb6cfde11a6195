"""Other learners of tables, told what each column is; must not know how they are judged.

Each has `fit`, `predict_proba` and `classes_`.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

Kinds = Mapping[str, str]

PASSES = 5


def columns_of(kinds: Kinds, kind: str) -> list[str]:
    return [name for name in kinds if kinds[name] == kind]


def without_dates(X: Any, kinds: Kinds) -> tuple[Any, dict[str, str]]:
    """Dates as numbers of days, and month, day of the week and hour as categories."""
    frame, known = X.copy(), dict(kinds)
    for name in columns_of(kinds, "date"):
        date = pandas.to_datetime(frame.pop(name), utc=True).dt.tz_localize(None)
        del known[name]
        frame[f"{name} days"] = (date - pandas.Timestamp(0)) / pandas.Timedelta(days=1)
        known[f"{name} days"] = "number"
        for part in ("month", "day_of_week", "hour"):
            frame[f"{name} {part}"] = getattr(date.dt, part)
            known[f"{name} {part}"] = "category"
    return frame, known


class Peer:
    """A learner of tables whose dates are taken apart."""

    def __init__(self, kinds: Kinds) -> None:
        self.kinds = kinds

    def fit(self, X: Any, y: Any) -> Self:
        frame, kinds = without_dates(X, self.kinds)
        self.classes_ = np.unique(y)
        self.learn(frame, kinds, y)
        return self

    def predict_proba(self, X: Any) -> Any:
        return self.answer(without_dates(X, self.kinds)[0])

    def learn(self, X: Any, kinds: Kinds, y: Any) -> None:
        raise NotImplementedError

    def answer(self, X: Any) -> Any:
        raise NotImplementedError


class Logistic(Peer):
    """The pipeline that people write."""

    def learn(self, X: Any, kinds: Kinds, y: Any) -> None:
        parts: list[Any] = [
            ("numbers", StandardScaler(), columns_of(kinds, "number")),
            ("categories", OneHotEncoder(handle_unknown="ignore"), columns_of(kinds, "category")),
        ]
        parts = [part for part in parts if part[2]]
        parts += [(name, TfidfVectorizer(), name) for name in columns_of(kinds, "text")]
        self.model = make_pipeline(ColumnTransformer(parts), LogisticRegression()).fit(X, y)

    def answer(self, X: Any) -> Any:
        return self.model.predict_proba(X)


class Boosted(Peer):
    """LightGBM as it comes; categories as such, words weighed by tf-idf."""

    def learn(self, X: Any, kinds: Kinds, y: Any) -> None:
        from lightgbm import LGBMClassifier

        codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        categories = columns_of(kinds, "category")
        parts: list[Any] = [
            ("categories", codes, categories),
            ("numbers", "passthrough", columns_of(kinds, "number")),
        ]
        parts += [(name, TfidfVectorizer(), name) for name in columns_of(kinds, "text")]
        self.rows = ColumnTransformer([part for part in parts if part[2]])
        self.model = LGBMClassifier(random_state=0, verbose=-1)
        as_codes = list(range(len(categories))) or "auto"
        self.model.fit(_doubles(self.rows.fit_transform(X)), y, categorical_feature=as_codes)

    def answer(self, X: Any) -> Any:
        return self.model.predict_proba(_doubles(self.rows.transform(X)))


def _doubles(rows: Any) -> Any:
    return rows.astype(np.float64)


class VowpalWabbit(Peer):
    """Namespaces n of numbers, c of categories, t of words; probabilities are not calibrated."""

    def __init__(self, kinds: Kinds, *, pairs: bool) -> None:
        super().__init__(kinds)
        self.pairs = pairs

    def learn(self, X: Any, kinds: Kinds, y: Any) -> None:
        from vowpalwabbit import Workspace

        self.known = kinds
        two = len(self.classes_) == 2
        how = "--link logistic" if two else f"--oaa {len(self.classes_)} --probabilities"
        if self.pairs:
            there = set(kinds.values())
            pairs = {"nn": {"number"}, "cc": {"category"}, "cn": {"category", "number"},
                     "ct": {"category", "text"}, "nt": {"number", "text"}}  # fmt: skip
            how += "".join(f" -q {pair}" for pair, needs in pairs.items() if needs <= there)
        place = {label: i for i, label in enumerate(self.classes_.tolist())}
        signs = ["-1", "1"] if two else [str(i + 1) for i in range(len(place))]
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder) / "rows.vw"
            lines = zip(y.tolist(), self.lines(X), strict=True)
            data.write_text("".join(f"{signs[place[label]]} {line}\n" for label, line in lines))
            model = Path(folder) / "model"
            reading = f"-d {data} --passes {PASSES} --cache_file {data}.cache -k --holdout_off"
            fixed = "--quiet --loss_function logistic -b 22"
            Workspace(f"{fixed} {how} {reading} -f {model}").finish()
            self.model = Workspace(f"--quiet -t -i {model}" + " --probabilities" * (not two))

    def answer(self, X: Any) -> Any:
        found = np.array([self.model.predict(line) for line in self.lines(X)])
        if found.ndim == 1:
            return np.column_stack([1 - found, found])
        return found / found.sum(axis=1, keepdims=True)

    def lines(self, X: Any) -> Iterator[str]:
        """Rows without their labels."""
        made = {"n": self._of(X, "number"), "c": self._of(X, "category"), "t": self._of(X, "text")}
        shown = [[f"|{name} {cell}" for cell in cells] for name, cells in made.items() if cells]
        yield from map(" ".join, zip(*shown, strict=True))

    def _of(self, X: Any, kind: str) -> list[str]:
        cells = [self._cells(X[name], _plain(name), kind) for name in columns_of(self.known, kind)]
        return list(map(" ".join, zip(*cells, strict=True)))

    def _cells(self, column: Any, name: str, kind: str) -> list[str]:
        if kind == "number":
            return [f"{name}:{value!r}" if value == value else "" for value in column.tolist()]
        if kind == "category":
            return [f"{name}={_plain(value)}" for value in column.tolist()]
        words = re.compile(r"\b\w\w+\b")
        return [
            " ".join(f"{name}_{word}" for word in words.findall(text.lower()))
            for text in column.tolist()
        ]


def _plain(value: Any) -> str:
    """A name without the marks that mean something in the format."""
    return re.sub(r"[\s:|]+", "_", str(value))
