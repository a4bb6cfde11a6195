"""`surelearn simulate`: what it prints, leaves behind and refuses."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import image
from typer.testing import CliRunner

from surelearn import SureClassifier, rules
from surelearn.active import Simulation, simulate
from surelearn.cli import _app, _progress

runner = CliRunner()


def run(*arguments: object) -> Any:
    result = runner.invoke(_app.app, ["simulate", *map(str, arguments)])
    assert "\x1b" not in result.output
    return result


def texts() -> tuple[list[str], list[str]]:
    random = np.random.default_rng(0)
    labels = random.choice(["good", "bad"], size=90)
    words = [random.integers(30, size=8) + 12 * (label == "good") for label in labels]
    return [" ".join(f"w{word}" for word in one) for one in words], labels.tolist()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("labelled")
    X, y = texts()
    lines = [
        json.dumps({"text": text, "label": label, "body": text[::-1], "topic": label[0]})
        for text, label in zip(X, y, strict=True)
    ]
    (path / "rows.jsonl").write_text("\n".join(lines))
    (path / "bad.jsonl").write_text("\n".join([*lines, "no json"]))
    (path / "one.jsonl").write_text("\n".join(line for line in lines if '"good"' in line))
    numbers = [f"{len(text)},{text.count('1')},{label}" for text, label in zip(X, y, strict=True)]
    (path / "numbers.csv").write_text("\n".join(["a,b,label", *numbers]))
    return path


@pytest.fixture(autouse=True)
def inside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


SHORT = ("--labels", 12, "--folds", 3)


def expected(**more: Any) -> Simulation:
    return simulate(*texts(), **{"n_labels": 12, "n_folds": 3, "random_state": 0, **more})


def test_the_table_and_the_sentence_are_printed() -> None:
    result = run("rows.jsonl", *SHORT)
    assert (result.exit_code, result.stderr) == (0, "")
    sentence = textwrap.fill(str(expected().worth()), 79)
    assert result.stdout == f"{expected()}\n\n{sentence}\n"
    assert run("rows.jsonl", *SHORT, "--jobs", 2, "--quiet").stdout == result.stdout


def test_json_is_one_line_with_the_same() -> None:
    result = run("rows.jsonl", *SHORT, "--json")
    assert result.stdout.count("\n") == 1
    found = json.loads(result.stdout)
    worth = expected().worth().to_dict()
    assert found == {**expected().to_dict(), "skipped": 0, "worth": worth}


def test_columns_seed_runs_learners_and_strategies() -> None:
    X, y = texts()
    learners = {
        name: SureClassifier(rule)
        for name, rule in {
            "perceptron": "perceptron",
            "scw1(eta=0.9, C=0.5)": rules.SCW1(eta=0.9, C=0.5),
        }.items()
    }
    options = ("--text", "body", "--label", "topic", "--seed", 5, "--runs", 4, "--learners",
               "perceptron, scw1(eta=0.9, C=0.5)", "--strategies", "random,entropy")  # fmt: skip
    result = run("rows.jsonl", *SHORT, *options)
    found = simulate([text[::-1] for text in X], [label[0] for label in y], learners=learners,
                     strategies=["random", "entropy"], n_labels=12, n_folds=3, n_runs=4,
                     random_state=5)  # fmt: skip
    sentence = textwrap.fill(str(found.worth()), 79)
    assert result.stdout == f"{found}\n\n{sentence}\n"
    assert run("rows.jsonl", *SHORT, *options, "--passes", 1).stdout != result.stdout


@pytest.mark.parametrize("strategy", ["acl", "random"])
def test_one_strategy_has_nothing_to_be_compared_with(strategy: str) -> None:
    result = run("rows.jsonl", *SHORT, "--strategies", strategy)
    assert result.stdout == f"{expected(strategies=[strategy])}\n"
    as_json = run("rows.jsonl", *SHORT, "--strategies", strategy, "--json")
    assert json.loads(as_json.stdout)["worth"] is None


def test_numbers_of_a_csv() -> None:
    X, y = texts()
    rows = np.array([[len(text), text.count("1")] for text in X], dtype=float)
    result = run("numbers.csv", *SHORT, "--features", "a,b")
    found = simulate(rows, y, n_labels=12, n_folds=3, random_state=0)
    assert result.stdout.startswith(str(found))
    assert "X should have columns" not in result.stderr  # they are learnt in units of their own


def test_files_are_left_behind(tmp_path: Path) -> None:
    curves, picture = tmp_path / "curves.csv", tmp_path / "curves.png"
    result = run("rows.jsonl", *SHORT, "-o", curves, "--picture", picture)
    assert result.stdout.endswith(
        f"\n\nThe curves are in {curves}.\nThe picture is in {picture}.\n"
    )
    assert str(Simulation.from_csv(curves)) == str(expected())
    assert image.imread(picture).shape[:2] == (750, 1200)
    silent = run("rows.jsonl", *SHORT, "-o", curves, "--json")
    assert silent.stdout.count("\n") == 1


def test_bad_lines_are_counted() -> None:
    assert "bad.jsonl, line 91: expected a JSON object" in run("bad.jsonl", *SHORT).stderr
    result = run("bad.jsonl", *SHORT, "--skip-bad")
    assert "\n\nSkipped because they could not be parsed: 1 rows.\n\nTo reach" in result.stdout


def test_few_rows_are_told_on_standard_error() -> None:
    result = run("rows.jsonl", "--labels", 5, "--folds", 10)
    assert result.stderr.startswith("surelearn: Only 9 rows judge a run")
    assert result.exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("one.jsonl",), 1, "surelearn: simulate needs at least two classes, got 1 class: 'good'."),
        (("rows.jsonl", "--folds", "91"), 1, "n_folds must be at most 90, the rows of X, got 91."),
        (("rows.jsonl", "--strategies", "guess"), 1, "--strategies must be one of 'random'"),
        (("rows.jsonl", "--learners", "newton"), 1, "--learners must be one of 'variance'"),
        (("rows.jsonl", "--learners", "foo("), 1, "--learners must be a name such as 'arow'"),
        (("rows.jsonl", "--learners", "arow(x=1)"), 1, "--learners must have the parameters of"),
        (
            ("rows.jsonl", "--learners", "arow(r=big)"),
            1,
            "--learners must be a name such as 'arow'",
        ),
        (("rows.jsonl", "--label", "colour"), 1, "colour"),
        (("none.jsonl",), 1, "none.jsonl"),
        (("rows.jsonl", "--picture", "curves.txt"), 2, "picture must end in .png, .svg or .pdf"),
        (("rows.jsonl", "-o", "no/where.csv"), 2, "output must be in a folder that exists"),
        (("rows.jsonl", "-o", "rows.jsonl"), 2, "output must not be one of the inputs"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(arguments: Any, code: int, says: str) -> None:
    result = run(*arguments)
    assert result.exit_code == code
    assert says in " ".join(result.stderr.replace("\u2502", " ").split())
    assert "Traceback" not in result.output
    assert result.stdout == ""


def test_the_bar_is_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    with _progress.count_bar("Curves", quiet=False) as told:
        assert told is None
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with _progress.count_bar("Curves", quiet=True) as told:
        assert told is None
    with _progress.count_bar("Curves", quiet=False) as told:
        assert told is not None
        told(1, 2)
