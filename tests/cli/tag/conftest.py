"""A folder of sentences, and a tagger that was trained on them."""

from __future__ import annotations

from pathlib import Path

import pytest

import surelearn
from command import ok_tag as ok
from learners.tasks.test_sequence_training import text
from surelearn import SureTagger


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text(text(60))
    Path("test.txt").write_text(text(30, seed=1))
    return tmp_path


@pytest.fixture
def tagger(folder: Path) -> SureTagger:
    ok("train", "a.txt", "-o", "m.sure", "--passes", 3)
    return surelearn.load("m.sure")
