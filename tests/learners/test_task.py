"""A kind of learner in one file: a toy gets files, merging, prediction, evaluation and commands."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import pytest

import surelearn
from command import run
from surelearn import evaluate, load, merge, predict, read
from surelearn.learners import file
from surelearn.learners.base import Estimator, put_model
from surelearn.learners.file_parts import labels_in, labels_out
from surelearn.learners.task import EvaluationOptions, Shown, Task, task_of
from surelearn.scores import RowTally
from surelearn.weights import Layout

# ------------------------------------------------------- a task, and an estimator that has it


@dataclass
class Counts:
    """How often each label was seen: the model of a learner that predicts the most frequent."""

    classes: Any
    counts: Any
    mistakes: list[int] = field(default_factory=list)
    updates: int = 0
    layout: Layout = Layout(1, False, False, False, "float64", "diagonal")  # noqa: RUF009
    projection: str = "precision"
    weights: Any = None


class Settings:
    def merge_key(self) -> dict[str, Any]:
        return {}

    def check_fits(self, model: Counts) -> None:
        pass


class Guessed(NamedTuple):
    label: Any
    n_bytes: int
    n_bad: int

    @property
    def n(self) -> int:
        return len(self.label)


class Judged(NamedTuple):
    labels: Any
    probabilities: Any = None
    has: Any = None


class MostFrequentTask(Task):
    unit, noun = "line", "guesser"

    def opened(
        self, source: Any, reading: Mapping[str, Any], *, model: Any = None, labelled: bool = True
    ) -> read.Source:
        return read.batches(source, **reading)

    def packed(self, estimator: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        model = estimator.model_
        return {"classes": labels_out(model.classes)}, {"seen": model.counts}

    def put(self, estimator: Any, fields: Any, tensors: Any, budget: int) -> None:
        classes = labels_in(fields.inner("classes"), budget)
        put_model(estimator, Counts(classes, np.asarray(tensors["seen"], np.int64)))

    def state(self, estimator: Any, how: Any, *, like: Any) -> Sums:
        return Sums([estimator.model_])

    def put_merged(self, estimator: Any, total: Sums, fitted: Sequence[Any]) -> Any:
        labels = np.concatenate([np.repeat(m.classes, m.counts) for m in total.models])
        return estimator.fit(None, labels)

    def predictions(self, model: Any, source: read.Source, **how: Any) -> Iterator[Guessed]:
        for block in source.blocks():
            batch = block.parse()
            yield Guessed(model.predict(batch.X), block.n_bytes, batch.n_bad)

    def lines(self, model: Any, shown: Shown) -> Callable[[Guessed], str]:
        return lambda batch: "".join(f'{{"label": "{x}"}}\n' for x in batch.label)

    def evaluated(self, model: Any, X: Any, y: Any, options: EvaluationOptions, **how: Any) -> Any:
        tally = RowTally(model.classes_, "it counts only")
        batch = self.opened(X, how).first(1000)
        tally.add(batch.labels, Judged(model.predict(batch.X)))
        return tally.result(None, batch.n_bad)

    def facts(self, model: Any) -> dict[str, Any]:
        return {"rows": int(model.model_.counts.sum())}


@dataclass
class Sums:
    models: list[Counts]

    @staticmethod
    def combined(states: Sequence[Sums]) -> Sums:
        return Sums([model for state in states for model in state.models])


class MostFrequent(Estimator[Counts]):
    task = MostFrequentTask()

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs

    def _settings_for(self, **instead: Any) -> Settings:
        return Settings()

    def fit(self, X: Any, y: Any) -> Self:
        self._model = Counts(*np.unique(y, return_counts=True))
        return self

    def predict(self, X: Any) -> Any:
        model = self._fitted()
        return np.repeat(model.classes[[model.counts.argmax()]], len(X))


# ------------------------------------------------------------------------------- what it gets


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "_MODULES", dict(file._MODULES))
    monkeypatch.setattr(surelearn.files._codecs, "_CODECS", dict(surelearn.files._codecs._CODECS))
    monkeypatch.setitem(sys.modules, MostFrequent.__module__, sys.modules[__name__])
    file.register(MostFrequent)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = [{"text": str(i), "label": "ab"[i % 3 == 0]} for i in range(10)]
    Path("r.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    for name, labels in (("one.sure", "aab"), ("two.sure", "bb")):
        MostFrequent().fit(None, list(labels)).save(name)
    return tmp_path


def test_files() -> None:
    saved = io.BytesIO()
    MostFrequent().fit(None, ["a", "b", "b"]).save(saved)
    loaded = load(io.BytesIO(saved.getvalue()))
    assert type(loaded) is MostFrequent
    assert loaded.predict([1, 2]).tolist() == ["b", "b"]


def test_a_subclass_of_a_user_is_not_saved() -> None:
    class Other(MostFrequent):
        pass

    with pytest.raises(TypeError, match="one of surelearn's own classes to be saved, got the"):
        Other().fit(None, ["a"]).save(io.BytesIO())


def test_merging() -> None:
    parts = [MostFrequent().fit(None, list(labels)) for labels in ("aab", "bb")]
    assert merge(parts).predict([0])[0] == "b"


def test_prediction_and_evaluation(folder: Path) -> None:
    model = load("one.sure")
    (batch,) = predict(model, "r.jsonl")
    assert batch.label.tolist() == ["a"] * 10
    assert evaluate(model, "r.jsonl").accuracy == 0.6


def test_commands(folder: Path) -> None:
    def ok(*words: object) -> str:
        done = run(*words)
        assert done.exit_code == 0, done.output
        return str(done.stdout)

    said = ok("info", "one.sure").splitlines()
    assert [line.split()[-1] for line in said if line[:4] in ("kind", "rows")] == [
        "MostFrequent",
        "3",
    ]
    assert ok("predict", "two.sure", "r.jsonl") == '{"label": "b"}\n' * 10
    assert "accuracy           0.4000" in ok("evaluate", "two.sure", "r.jsonl")
    ok("merge", "one.sure", "two.sure", "-o", "all.sure")
    assert load("all.sure").model_.counts.tolist() == [2, 3]


def test_others_refuse_it(folder: Path) -> None:
    with pytest.raises(TypeError, match="tagger must be a tagger, got MostFrequent"):
        next(surelearn.prediction.predict_tags(load("one.sure"), "r.jsonl"))
    done = run("tag", "predict", "one.sure", "r.jsonl")
    assert "one.sure must be a tagger, got a MostFrequent." in done.stderr


# ------------------------------------------------------------------------------ every task


def test_classifiers_of_other_libraries_learn_rows() -> None:
    from sklearn.linear_model import LogisticRegression

    assert task_of(LogisticRegression()) is task_of(surelearn.SureClassifier())
