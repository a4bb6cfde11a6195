"""Folders of models, and of reviews or sentences to judge them by."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import surelearn
from command import TEST, ok_tag
from learners.tasks.test_sequence_training import text
from streaming import topical, write
from surelearn import SureClassifier, SureTagger, SureTextClassifier

TEXTS = ["a great film", "great fun", "a dull film", "how dull", "fine cast", "dull, dull cast"]
LABELS = ["good", "good", "bad", "bad", "good", "bad"]


@pytest.fixture(scope="session")
def topics(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of records with any number of labels, and a model of them."""
    path = tmp_path_factory.mktemp("topics")
    rows = list(topical(200))
    write(path / "train.jsonl", rows[:120])
    write(path / "kept.jsonl", rows[120:160])
    write(path / "test.jsonl", rows[160:])
    cells = ["text,label", *(f"{row['text']},{';'.join(row['label'])}" for row in rows[:120])]
    (path / "train.csv").write_text("\n".join(cells) + "\n")
    clf = SureTextClassifier(random_state=0).fit_stream(path / "train.jsonl")
    clf.save(path / "topics.sure")
    return path


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models")
    SureTextClassifier(random_state=0).fit(TEXTS, LABELS).save(path / "two.sure")
    SureTextClassifier("pa1", random_state=0).fit(TEXTS[:4], LABELS[:4]).save(path / "old.sure")
    three = SureTextClassifier(random_state=0, passes=2).fit(TEXTS, ["a", "b", "c"] * 2)
    three.save(path / "three.sure")
    SureClassifier(random_state=0).fit(np.eye(3), [1, 2, 3]).save(path / "numbers.sure")
    records = [json.dumps({"text": text, "label": label, "kind": label}) for text, label in TEST]
    (path / "test.jsonl").write_text("\n".join(records))
    (path / "bad.jsonl").write_text("\n".join([*records, "{"]))
    return path


@pytest.fixture
def sentence_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of sentences, where the commands run."""
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text(text(60))
    Path("test.txt").write_text(text(30, seed=1))
    return tmp_path


@pytest.fixture
def tagger(sentence_folder: Path) -> SureTagger:
    """A tagger that was trained on them."""
    ok_tag("train", "a.txt", "-o", "m.sure", "--passes", 3)
    return surelearn.load("m.sure")
