"""What commands say about labels: the rows of each, and which look like a mistake."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from command import run
from surelearn import SureClassifier, SureTagger
from surelearn.cli import _labels


def trained(folder: Path, labels: list[object], *options: object) -> str:
    """The warnings of training on texts with these labels."""
    rows = [json.dumps({"text": f"film {i % 5}", "label": y}) for i, y in enumerate(labels)]
    (folder / "rows.jsonl").write_text("\n".join(rows))
    done = run("train", folder / "rows.jsonl", "-o", folder / "m.sure", "--passes", 1, *options)
    assert done.exit_code == 0, done.output
    return str(done.stderr)


def test_rows_of_each_class_are_told_from_the_most_to_the_fewest() -> None:
    model = SureClassifier().fit(np.eye(6), ["b", "a", "b", "c", "c", "b"])
    assert _labels.in_words(model) == "Rows of each class: b (3), c (2), a (1)."
    numbers = SureClassifier().fit(np.eye(15), range(15))
    assert _labels.in_words(numbers).endswith(" 8 (1), 9 (1) and 5 more.")
    many = SureClassifier().fit(np.eye(3), [["a", "b"], ["b"], []])
    assert _labels.in_words(many) == "Rows with each label: b (2), a (1)."
    tagger = SureTagger().fit([["x", "y"]], [["O", "B"]])
    assert _labels.in_words(tagger) == "Labels: B, O."


def test_control_characters_of_labels_do_not_reach_the_terminal() -> None:
    model = SureClassifier().fit(np.eye(2), ["a\x1b[31m", "b"])
    assert "\x1b" not in _labels.in_words(model)


@pytest.mark.parametrize("twins", [("pos", "pos "), ("pos", "Pos"), ("a b", "a  b"), ("ß", "SS")])
def test_labels_that_differ_in_white_space_or_case_are_warned_of(
    tmp_path: Path, twins: tuple[str, str]
) -> None:
    said = trained(tmp_path, [*twins, "other"] * 10)
    listed = ", ".join(map(repr, sorted(twins)))
    assert said == (
        f"surelearn: labels {listed} differ only in white space or case, and are classes of their "
        "own.\n"
    )


@pytest.mark.parametrize("labels", [["a", "b", "ab"] * 10, [1, 2] * 10, [["a"], ["a", "b"]] * 15])
def test_good_labels_bring_no_warning(tmp_path: Path, labels: list[object]) -> None:
    assert trained(tmp_path, labels) == ""


def test_labels_of_their_own_are_warned_of(tmp_path: Path, monkeypatch) -> None:
    question = "different labels. Is --label the right column?\n"
    ids = [f"id{i}" for i in range(30)]
    assert trained(tmp_path, ids) == f"surelearn: 30 rows have 30 {question}"
    assert trained(tmp_path, [*ids, *ids]) == ""
    assert trained(tmp_path, ids[:19]) == ""
    monkeypatch.setattr(_labels, "_LOOKED_AT", 25)
    assert trained(tmp_path, ids) == f"surelearn: the first 25 rows have 25 {question}"


def test_bad_rows_are_left_to_the_training(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"text": "a", "label": "b"}\n{')
    done = run("train", tmp_path / "r.jsonl", "-o", tmp_path / "m.sure")
    assert done.exit_code == 1
    assert done.stderr.count("surelearn: ") == 1
    assert "line 2" in done.stderr
