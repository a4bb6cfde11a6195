"""Decisions in predictions from files: as in memory, for every kind of record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier

from learners.deciding.test_keeping import numbers, texts, write_groups, write_rows
from surelearn import SureClassifier, SureRanker, SureTableClassifier, SureTagger, predict
from surelearn.learners.deciding import PLAIN, DecisionOptions
from surelearn.prediction import predict_groups, predict_tags

pytestmark = pytest.mark.usefixtures("small_blocks")

HOW: list[dict[str, Any]] = [
    {"abstain": True},
    {"abstain": True, "novel": 0.05},
    {"novel": 0.1},
    {"cost": {("a", "b"): 9, None: 0.2}},
    {"cost": [[0, 3], [1, 0]]},
]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "rows.jsonl", 1000)


@pytest.mark.parametrize("how", HOW)
def test_decisions_of_a_file_are_those_of_its_rows(how: dict[str, Any], rows: Path) -> None:
    clf = texts().fit_stream(rows, risk=0.1, novel=0.05)
    X = [json.loads(line)["text"] for line in rows.read_text().splitlines()]
    batches = list(predict(clf, rows, **how, coverage=0.9))
    assert len(batches) > 5
    labels = np.concatenate([batch.label for batch in batches])
    assert labels.tolist() == clf.predict(X, **how).tolist()
    answered = np.concatenate([batch.answered for batch in batches])
    why = np.concatenate([batch.why for batch in batches])
    assert answered.tolist() == [label is not None for label in labels]
    assert answered.tolist() == (why == "sure").tolist()
    assert [own for batch in batches for own in batch.sets] == clf.predict_set(X, 0.9)
    p = np.concatenate([batch.probabilities for batch in batches])
    assert np.array_equal(p, clf.predict_proba(X))
    plain = list(predict(clf, rows))
    for batch, other in zip(batches, plain, strict=True):
        np.testing.assert_allclose(batch.sureness, other.sureness, rtol=1e-9)
        assert batch[4:7] == other[4:7]  # what is kept, and the numbers of bytes and bad rows
    assert {(batch.answered, batch.why, batch.sets) for batch in plain} == {(None, None, None)}


def test_sets_alone_leave_the_answers(rows: Path) -> None:
    clf = texts().fit_stream(rows, risk=0.1)
    batch = next(predict(clf, rows, coverage=0.9))
    assert (batch.answered, batch.why) == (None, None)
    assert batch.label.tolist() == next(predict(clf, rows)).label.tolist()
    assert batch.sets is not None
    assert all(label in own for label, own in zip(batch.label, batch.sets, strict=True))


@pytest.mark.parametrize("kind", [SureClassifier, SureTableClassifier])
def test_columns_are_decided_on_by_their_names(kind: Any, tmp_path: Path) -> None:
    frame = numbers(1000)
    frame.to_csv(tmp_path / "t.csv", index=False)
    clf = kind(random_state=0).fit_stream(tmp_path / "t.csv", risk=0.1)
    batches = list(predict(clf, tmp_path / "t.csv", abstain=True, coverage=0.9))
    labels = np.concatenate([batch.label for batch in batches])
    X = pd.read_csv(tmp_path / "t.csv").drop(columns="label")
    assert labels.tolist() == clf.predict(X, abstain=True).tolist()
    assert None in labels.tolist()


def test_many_labels(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    with (tmp_path / "many.jsonl").open("w") as file:
        for _ in range(800):
            has = random.random(3) < 0.4
            words = [f"{'xyz'[k]}{random.integers(5)}" for k in np.flatnonzero(has)]
            words += ["odd"] * int(random.random() < 0.2)
            label = [*np.array([*"pqr"])[has ^ (random.random(3) < 0.5 * ("odd" in words))]]
            print(json.dumps({"text": " ".join([*words, "all"]), "label": label}), file=file)
    clf = texts().fit_stream(tmp_path / "many.jsonl", risk=0.25)
    batches = list(predict(clf, tmp_path / "many.jsonl", abstain=True, coverage=0.8))
    X = [json.loads(line)["text"] for line in (tmp_path / "many.jsonl").read_text().splitlines()]
    answers = [own for batch in batches for own in batch.label]
    assert answers == clf.predict(X, abstain=True)
    assert {None, ("p",)} <= set(answers)
    assert all(batch.probability is None for batch in batches)
    text = "".join(clf.task.lines(clf, _shown())(batch) for batch in batches)
    lines = [json.loads(line) for line in text.splitlines()]
    listed = [None if own is None else list(own) for own in answers]
    assert [line["labels"] for line in lines] == listed
    assert [line["answered"] for line in lines] == [own is not None for own in answers]
    sets = [list(own) for own in clf.predict_set(X, 0.8)]
    assert [line["set"] for line in lines] == sets


def _shown() -> Any:
    from surelearn.learners.task import Shown

    return Shown()


def test_sentences(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    with (tmp_path / "s.conll").open("w") as file:
        for _ in range(600):
            unsure = random.random() < 0.3
            for k in random.integers(20, size=int(random.integers(1, 5))).tolist():
                tag = int(random.integers(2)) if unsure else k % 2
                print(f"{'q' if unsure else 'w'}{k} {'NV'[tag]}", file=file)
            print(file=file)
    tagger = SureTagger(random_state=0).fit_stream(tmp_path / "s.conll", risk=0.12)
    batches = list(predict_tags(tagger, tmp_path / "s.conll", abstain=True, coverage=0.9))
    X = [sentence for batch in batches for sentence in batch.X]
    tags = [own for batch in batches for own in batch.tags]
    assert tags == tagger.predict(X, abstain=True)
    assert None in tags
    assert [own for batch in batches for own in batch.sets] == tagger.predict_set(X, 0.9)
    lines = [line for batch in batches for line in batch.text.split("\n") if line]
    flat = [tag for x, own in zip(X, tags, strict=True) for tag in own or ["_"] * len(x)]
    assert [line.split()[-1] for line in lines] == flat
    first = next(predict(tagger, tmp_path / "s.conll", abstain=True))
    assert first.tags == batches[0].tags
    cost = list(predict_tags(tagger, tmp_path / "s.conll", cost={("N", "V"): 100}))
    assert [own for batch in cost for own in batch.tags] == tagger.predict(
        X, cost={("N", "V"): 100}
    )


def test_groups(tmp_path: Path) -> None:
    path = write_groups(tmp_path / "g.svm")
    ranker = SureRanker(random_state=0).fit_stream(path, risk=0.1)
    batches = list(predict_groups(ranker, path, abstain=True, coverage=0.8))
    plain = list(predict(ranker, path))
    for batch, other in zip(batches, plain, strict=True):
        groups = batch.groups
        assert (
            batch.best.tolist()
            == ranker.predict(groups.X, group=groups.sizes, abstain=True).tolist()
        )
        assert batch.sets == ranker.predict_set(groups.X, 0.8, group=groups.sizes)
        for name in ("scores", "probability", "probabilities"):
            assert np.array_equal(getattr(batch, name), getattr(other, name))
        assert other.answered is None
    best = [own for batch in batches for own in batch.best]
    assert None in best
    text = "".join(ranker.task.lines(ranker, _shown())(batch) for batch in batches)
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["best"] for line in lines] == best
    assert [line["answered"] for line in lines] == [own is not None for own in best]


def test_a_batch_without_records(rows: Path, tmp_path: Path) -> None:
    clf = texts().fit_stream(rows, risk=0.1)
    (tmp_path / "bad.jsonl").write_text('{"text": "p0"}\n' + "no json\n" * 200)
    how: dict[str, Any] = {"skip_bad": True, "abstain": True, "coverage": 0.9}
    first, *_, batch = predict(clf, tmp_path / "bad.jsonl", **how)
    assert len(first.answered) == 1
    assert (len(batch.answered), len(batch.why), batch.sets) == (0, 0, [])
    assert clf.task.lines(clf, _shown())(batch) == ""
    assert PLAIN.of_nothing() == (None, None, None)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"abstain": True}, "needs rows that were kept back, got none. Call choose_abstention"),
        ({"novel": 0.1}, "novel=0.1 needs rows that were kept back, got none. Call choose_novelty"),
        ({"coverage": 0.9}, "coverage needs rows that were kept back, got none. Call choose_sets"),
        ({"coverage": 9}, r"coverage must be in \(0, 1\), got 9"),
    ],
)
def test_what_a_model_cannot_decide_is_refused_before_anything_is_read(
    how: dict[str, Any], message: str, rows: Path
) -> None:
    clf = texts().fit_stream(rows)
    with pytest.raises(ValueError, match=message):
        predict(clf, "missing.jsonl", **how)


def test_models_without_certainty(rows: Path) -> None:
    first = texts(rule="pa1").fit_stream(rows)
    other = DummyClassifier().fit([[0], [1]], [0, 1])
    for model in (first, other):
        for how in ({"abstain": True}, {"cost": {None: 1}}, {"coverage": 0.9}, {"novel": 0.1}):
            (name,) = how
            with pytest.raises(ValueError, match=f"{name} needs a model of surelearn that keeps"):
                predict(model, rows, **how)
    with pytest.raises(TypeError, match="abstain must be True or False, got 1"):
        predict(first, rows, abstain=1)
    assert not DecisionOptions().is_any
