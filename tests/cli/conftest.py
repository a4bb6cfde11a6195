"""A folder of models and of reviews to judge them by."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from command import TEST
from surelearn import SureClassifier, SureTextClassifier

TEXTS = ["a great film", "great fun", "a dull film", "how dull", "fine cast", "dull, dull cast"]
LABELS = ["good", "good", "bad", "bad", "good", "bad"]


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
