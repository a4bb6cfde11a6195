"""`surelearn train` on tables: what columns are, and how to say so."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas
import pytest

import surelearn
from command import run
from surelearn import SureTableClassifier


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    words = ["good", "fine", "bad", "dull"]
    frame = pandas.DataFrame(
        {
            "title": [" ".join(random.choice(words, 4)) for _ in range(200)],
            "brand": random.choice(["Acme", "Bell"], 200),
            "price": random.normal(50, 10, 200).round(2),
        }
    )
    frame["y"] = np.where(frame["title"].str.contains("good"), "p", "q")
    frame.to_csv("t.csv", index=False)
    return tmp_path


def test_all_columns_are_learnt_and_shown(folder: Path) -> None:
    done = run("train", "t.csv", "--label", "y", "-o", "m.sure")
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert lines[0].split() == ["column", "kind", "example", "missing", "decided"]
    assert [line.split()[:2] for line in lines[1:4]] == [
        ["title", "text"],
        ["brand", "category"],
        ["price", "number"],
    ]
    assert lines[4].startswith("Change what a column is by --text, --category")
    assert lines[5] == "Learnt 200 rows of 2 classes from t.csv in 3 passes."
    by_hand = SureTableClassifier(random_state=0).fit_stream("t.csv", label="y")
    model = surelearn.load("m.sure")
    assert model.coef_.tobytes() == by_hand.coef_.tobytes()
    assert "title (text) brand (category) price (number)" in run("info", "m.sure").output
    said = run("evaluate", "m.sure", "t.csv", "--label", "y", "--json").output
    assert json.loads(said)["n"] == 200
    assert len(run("predict", "m.sure", "t.csv").output.splitlines()) == 200
    again = run("train", "t.csv", "--label", "y", "-o", "m.sure", "--resume")
    assert "No new rows" in again.output


def test_columns_can_be_told(folder: Path) -> None:
    done = run(
        "train", "t.csv", "--label", "y", "-o", "m.sure", "--text", "title,brand",
        "--ignore", "price", "--interaction", "brand,title", "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    kinds = {one["column"]: one["kind"] for one in json.loads(done.output)["columns"]}
    assert kinds == {"title": "text", "brand": "text", "price": "ignored"}
    assert surelearn.load("m.sure").interactions == [("brand", "title")]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--category", "title", "--number", "title"], "must not name a column of"),
        (["--table", "--features", "price"], "columns of a table"),
        (["--rank", "--category", "brand"], "for new classifiers of tables"),
        (["--category", "colour"], "'colour'"),
        (["--interaction", "brand"], "pairs"),
    ],
)
def test_what_is_refused(folder: Path, options: list[str], said: str) -> None:
    done = run("train", "t.csv", "--label", "y", "-o", "m.sure", *options)
    assert done.exit_code != 0
    assert said in " ".join(done.output.replace("│", " ").split())
    assert not (folder / "m.sure").exists()


def test_kinds_are_for_new_models(folder: Path) -> None:
    run("train", "t.csv", "--label", "y", "-o", "m.sure")
    done = run("train", "t.csv", "--label", "y", "-o", "m.sure", "--resume", "--text", "brand")
    assert done.exit_code != 0
    done = run("train", "t.csv", "-o", "m.sure", "--resume", "--category", "brand")
    assert "for new classifiers of tables" in " ".join(done.output.split())


def test_a_column_of_texts_is_learnt_alone_unless_asked(folder: Path) -> None:
    frame = pandas.read_csv("t.csv").rename(columns={"title": "text", "y": "label"})
    frame.to_csv("u.csv", index=False)
    run("train", "u.csv", "-o", "a.sure")
    run("train", "u.csv", "-o", "b.sure", "--table")
    names = [type(surelearn.load(name)).__name__ for name in ("a.sure", "b.sure")]
    assert names == ["SureTextClassifier", "SureTableClassifier"]


@pytest.mark.parametrize("command", ["evaluate", "predict"])
def test_a_column_that_is_gone_is_said_in_one_line(folder: Path, command: str) -> None:
    run("train", "t.csv", "--label", "y", "-o", "m.sure")
    pandas.read_csv("t.csv").drop(columns="brand").to_csv("less.csv", index=False)
    done = run(command, "m.sure", "less.csv", *["--label", "y"] * (command == "evaluate"))
    assert done.exit_code == 0
    said = "column 'brand' is missing from these rows; all its values count as missing."
    assert f"surelearn: {said}" in done.stderr.splitlines()
