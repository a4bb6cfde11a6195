"""`surelearn info`: what is in the file of a model."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

from command import plain_run as run
from surelearn import (
    MulticlassSVM,
    SoftmaxClassifier,
    SureClassifier,
    SureGraphClassifier,
    SureKernelClassifier,
    SureTextClassifier,
    __version__,
    load,
)
from surelearn.cli import info
from surelearn.graph import Graph


@pytest.fixture(autouse=True)
def inside(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(models)


def test_what_is_in_a_file(models: Path) -> None:
    lines = run("info", "three.sure").stdout.splitlines()
    facts = dict(line.split("  ", 1) for line in lines if "  " in line)
    facts = {name: value.strip() for name, value in facts.items()}
    model = load("three.sure")
    assert facts["kind"] == "SureTextClassifier"
    assert facts["rule"] == "Probit(noise=1.0)"
    assert facts["written by surelearn"] == __version__
    assert facts["size"] == f"{(models / 'three.sure').stat().st_size / 1000:.1f} kB"
    assert facts["passes"] == "2"
    assert facts["mistakes by pass"] == ", ".join(map(str, model.mistakes_))
    assert facts["features"] == "262,144"
    assert facts["words known"] == str(model.vectorizer_.n_names_)
    assert facts["hash collisions"] == str(model.vectorizer_.n_clashes_)
    assert lines[-4:] == ["class  rows", "a         2", "b         2", "c         2"]


@pytest.mark.parametrize("idf", [False, True])
def test_texts_counted_for_the_rarity_of_words(idf: bool, tmp_path: Path) -> None:
    clf = SureTextClassifier(idf=idf).fit(["a good film", "a bad film", "bad"], [1, 0, 0])
    clf.save(tmp_path / "m.sure")
    assert ("texts counted for idf" in run("info", str(tmp_path / "m.sure")).stdout) == idf
    plain = json.loads(run("info", str(tmp_path / "m.sure"), "--json").stdout)
    assert plain.get("documents") == (3 if idf else None)


def test_info_as_json() -> None:
    plain = json.loads(run("info", "two.sure", "--json").stdout)
    assert plain["classes"] == [{"label": "bad", "rows": 3}, {"label": "good", "rows": 3}]
    assert plain["version"] == __version__
    assert plain["updates"] == load("two.sure").n_updates_
    assert "temperature" not in plain
    assert "stream" not in plain
    numbers = json.loads(run("info", "numbers.sure", "--json").stdout)
    assert "words" not in numbers
    assert numbers["features"] == 3


def test_info_of_a_calibrated_model_of_a_matrix(tmp_path: Path) -> None:
    code = [[1, 1, 1], [1, -1, -1], [-1, 1, -1]]
    model = SureClassifier(multiclass=code, random_state=0).fit(np.eye(3), [1, 2, 3])
    model.calibrate(np.eye(3), [1, 2, 3]).save(tmp_path / "m.sure")
    shown = run("info", tmp_path / "m.sure").stdout
    assert f"temperature           {model.temperature_:.4g}\n" in shown
    assert "multiclass            a matrix\n" in shown


def test_info_of_columns_that_are_learnt_in_units(tmp_path: Path) -> None:
    X, y = [[1.0, 200.0], [2.0, 100.0], [3.0, 300.0]], ["a", "b", "a"]
    SureClassifier().fit(X, y).save(tmp_path / "scaled.sure")
    SureClassifier(scale=False).fit(X, y).save(tmp_path / "plain.sure")
    assert "scaled columns        2, by 3 rows" in run("info", tmp_path / "scaled.sure").stdout
    assert "scaled columns" not in run("info", tmp_path / "plain.sure").stdout


def test_a_place_midway() -> None:
    position = {
        "files": ["a.jsonl", "b.jsonl"], "rows": 1200, "number": 1, "passes": 3, "n_bad": 2,
        "ended": False,
    }  # fmt: skip
    assert info._stream(position) == (
        "a.jsonl and 1 more, at row 1,200 of pass 1 of 3, 2 bad rows skipped"
    )


@pytest.mark.parametrize("kind", [SoftmaxClassifier, MulticlassSVM])
def test_commands_read_files_of_batch_classifiers(kind: Any, tmp_path: Path) -> None:
    frame = pandas.DataFrame({"a": [0, 1, 0.2, 0.9], "b": [1, 0.1, 0.8, 0]})
    model = kind().fit(frame, ["no", "yes", "no", "yes"])
    path, rows = tmp_path / "model.sure", tmp_path / "rows.csv"
    model.save(path)
    frame.assign(label=["no", "yes", "no", "yes"]).to_csv(rows, index=False)
    facts = json.loads(run("info", path, "--json").stdout)
    assert (facts["kind"], facts["rows"], facts["features"]) == (kind.__name__, 4, 2)
    assert facts["objective"] == model.objective_
    assert facts["iterations"] == model.n_iter_
    assert "l2" in facts or "C" in facts
    labels = [json.loads(line)["label"] for line in run("predict", path, rows).stdout.splitlines()]
    assert labels == ["no", "yes", "no", "yes"]
    assert run("evaluate", path, rows).exit_code == 0
    assert "intercept" in run("explain", path, "--intercept").stdout
    assert run("merge", path, path, "--output", tmp_path / "both.sure").exit_code == 0
    assert type(load(tmp_path / "both.sure")) is kind


def test_info_of_a_kernel_classifier(tmp_path: Path) -> None:
    model = SureKernelClassifier(gamma=0.5, budget=7).fit(np.eye(3), [1, 2, 3])
    model.save(tmp_path / "m.sure")
    shown = run("info", tmp_path / "m.sure").stdout
    assert "kernel                RBF(gamma=0.5)\n" in shown
    assert "budget                7\n" in shown
    assert f"support points        {len(model.points_)}\n" in shown
    one = SureKernelClassifier(budget=None).partial_fit(np.eye(3), [1, 1, 1])
    one.save(tmp_path / "m.sure")
    assert "budget                None\n" in run("info", tmp_path / "m.sure").stdout


def test_info_of_many_labels(topics: Path, tmp_path: Path) -> None:
    found = json.loads(run("info", topics / "topics.sure", "--json").stdout)
    assert found["labels"] == "any number"
    assert "multiclass" not in found
    assert "thresholds" not in found
    assert found["labels_learnt"] == sum(line["rows"] for line in found["classes"])
    model = load(topics / "topics.sure")
    records = [json.loads(line) for line in (topics / "kept.jsonl").read_text().splitlines()]
    model.choose_thresholds([r["text"] for r in records], [r["label"] for r in records])
    model.save(tmp_path / "m.sure")
    text = run("info", tmp_path / "m.sure").stdout
    assert f"margins from {min(model.thresholds_):.4g} to {max(model.thresholds_):.4g}" in text
    assert "\nlabel    rows\n" in text


def test_info_of_a_model_that_knows_no_label(tmp_path: Path) -> None:
    SureClassifier().partial_fit(np.eye(3), [[], [], []]).save(tmp_path / "m.sure")
    done = run("info", tmp_path / "m.sure")
    assert done.exit_code == 0
    assert "labels learnt         0\n" in done.stdout
    assert "\n\n" not in done.stdout
    assert json.loads(run("info", tmp_path / "m.sure", "--json").stdout)["classes"] == []


def test_info_shows_thresholds_that_were_chosen_as_0(tmp_path: Path) -> None:
    y = [["a"], ["b"], []]
    model = SureClassifier().fit(np.eye(3), y).choose_thresholds(np.eye(3), y)
    assert not any(model.thresholds_)
    model.save(tmp_path / "m.sure")
    assert "margins from 0 to 0\n" in run("info", tmp_path / "m.sure").stdout


def test_info_of_a_classifier_of_graphs(tmp_path: Path) -> None:
    pairs = [Graph([[x], [0.0]], [[0, 1]], edge_types=["next to"]) for x in (-1.0, 1.0)]
    classifier = SureGraphClassifier(passes=2).fit(pairs, [["b", "b"], ["a", "a"]])
    classifier.save(tmp_path / "graphs.sure")
    said = run("info", str(tmp_path / "graphs.sure")).stdout
    for name, value in (
        ("kind", "SureGraphClassifier"),
        ("features", "1"),
        ("features of an edge", "1"),
        ("types of edges", "next to"),
        ("edges", "directed"),
        ("passes", "2"),
    ):
        assert re.search(rf"^{name} +{value}$", said, re.MULTILINE), (name, said)
    facts = json.loads(run("info", str(tmp_path / "graphs.sure"), "--json").stdout)
    assert facts["edge_types"] == ["next to"]
    assert facts["classes"] == [{"label": "a"}, {"label": "b"}]
    for command in ("predict", "evaluate"):
        refused = run(command, str(tmp_path / "graphs.sure"), "three.jsonl")
        assert "must be a classifier of rows, got SureGraphClassifier" in refused.stderr


def test_a_file_cannot_steer_the_terminal(tmp_path: Path) -> None:
    rows = pandas.DataFrame({"text": ["a", "b"] * 20, "label": ["x", "y"] * 20})
    (tmp_path / "r\x07.csv").write_text(rows.to_csv(index=False))
    clf = SureTextClassifier().fit_stream(tmp_path / "r\x07.csv")
    clf.save(tmp_path / "m.sure")
    assert "\x07" not in run("info", tmp_path / "m.sure").stdout
