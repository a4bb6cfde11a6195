"""`surelearn evaluate`, `explain` and `info`: their output, plain and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import image
from typer.testing import CliRunner

from surelearn import SureClassifier, SureTextClassifier, __version__, evaluate, load
from surelearn.cli import _app, _options, info
from surelearn.text import HashingVectorizer

TEXTS = ["a great film", "great fun", "a dull film", "how dull", "fine cast", "dull, dull cast"]
LABELS = ["good", "good", "bad", "bad", "good", "bad"]
TEST = [("great", "good"), ("so dull", "bad"), ("dull, but fine", "good"), ("new", "odd")]

runner = CliRunner()


def run(*arguments: object) -> Any:
    result = runner.invoke(_app.app, [str(argument) for argument in arguments])
    assert "\x1b" not in result.output
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
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


@pytest.fixture(autouse=True)
def inside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def expected(**more: Any) -> Any:
    texts, y = zip(*TEST, strict=True)
    return evaluate(load("two.sure"), texts, y, **more)


# ---------------------------------------------------------------------- evaluate


def test_an_evaluation_is_printed() -> None:
    result = run("evaluate", "two.sure", "test.jsonl")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"{expected()}\n"
    assert result.stdout.startswith("4 rows, 2 classes\n\naccuracy           0.5000 +- 0.2500\n")
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_an_evaluation_as_json() -> None:
    result = run("evaluate", "two.sure", "test.jsonl", "--json")
    assert result.stdout.count("\n") == 1
    assert json.loads(result.stdout) == expected().to_dict()


def test_two_models() -> None:
    result = run("evaluate", "two.sure", "test.jsonl", "--against", "old.sure")
    found = expected(rival=load("old.sure"))
    rival = found.comparison.rival_accuracy
    assert f"two.sure is right on 50.0 % of rows, old.sure on {100 * rival:.1f} %." in result.stdout
    assert "It alone is right " in result.stdout
    plain = json.loads(
        run("evaluate", "two.sure", "test.jsonl", "--against", "old.sure", "--json").stdout
    )
    assert plain["comparison"]["names"] == ["two.sure", "old.sure"]
    assert plain["comparison"]["p_value"] == found.comparison.p_value


def test_columns_and_bad_lines() -> None:
    result = run("evaluate", "two.sure", "test.jsonl", "--text", "text", "--label", "kind")
    assert result.stdout == f"{expected()}\n"
    result = run("evaluate", "two.sure", "bad.jsonl", "--skip-bad")
    assert result.stdout.startswith("4 rows, 1 left out as bad, 2 classes\n")


def test_columns_that_were_learnt(tmp_path: Path) -> None:
    records = [json.dumps({"body": text, "kind": label}) for text, label in TEST]
    (tmp_path / "named.jsonl").write_text("\n".join(records))
    model = SureTextClassifier(random_state=0)
    model.fit_stream(tmp_path / "named.jsonl", text="body", label="kind").save(tmp_path / "m.sure")
    result = run("evaluate", tmp_path / "m.sure", tmp_path / "named.jsonl")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("4 rows, 3 classes\n")
    (tmp_path / "new.jsonl").write_text('{"body": "great"}\n')
    assert run("predict", tmp_path / "m.sure", tmp_path / "new.jsonl").exit_code == 0
    again = run("evaluate", tmp_path / "m.sure", "test.jsonl", "--text", "text", "--label", "label")
    assert again.stdout.startswith("4 rows, 3 classes\n")
    shown = run("info", tmp_path / "m.sure").stdout
    assert (
        f"stream                   {tmp_path / 'named.jsonl'}, at the end of pass 10 of 10\n"
        in shown
    )


def test_a_picture(tmp_path: Path) -> None:
    target = tmp_path / "confusion.png"
    result = run("evaluate", "two.sure", "test.jsonl", "--picture", target)
    assert result.stdout == f"{expected()}\n\nThe picture is in {target}.\n"
    assert image.imread(target).shape[0] > 400
    plain = run("evaluate", "two.sure", "test.jsonl", "--picture", target, "--json")
    json.loads(plain.stdout)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("two.sure", "test.jsonl", "--picture", "x.gif"), 2, "picture must end in .png, .svg"),
        (("two.sure", "test.jsonl", "--picture", "no/x.png"), 2, "picture must be in a folder"),
        (("two.sure",), 2, "Missing argument"),
        (("numbers.sure", "test.jsonl"), 1, "source must hold rows of numbers for a SureClassif"),
        (("two.sure", "test.jsonl", "--label", "body"), 1, "must have a column 'body'"),
        (("two.sure", "test.jsonl", "--against", "no.sure"), 1, "no.sure: No such file"),
        (
            ("two.sure", "unlabelled.jsonl"),
            1,
            "unlabelled.jsonl must have labels, got none. Name their column by --label.",
        ),
        (("two.sure", "counted.jsonl"), 1, "labels of the kind known so far, such as 'bad', got 3"),
    ],
)
def test_what_evaluate_refuses(
    arguments: tuple[str, ...], code: int, message: str, folder: Path
) -> None:
    (folder / "unlabelled.jsonl").write_text('{"text": "great"}\n')
    (folder / "counted.jsonl").write_text('{"text": "great", "label": 3}\n')
    result = run("evaluate", *arguments)
    assert result.exit_code == code
    assert message in " ".join(result.stderr.split())
    assert code == 2 or len(result.stderr.splitlines()) == 1
    assert result.stdout == ""


# ----------------------------------------------------------------------- explain


def test_the_surest_words() -> None:
    result = run("explain", "two.sure", "--top", 2)
    assert result.stdout == f"{load('two.sure').explain(top=2)}\n"
    assert result.stdout.splitlines()[1].startswith("dull     good   -")


def test_words_of_a_label() -> None:
    result = run("explain", "two.sure", "--label", "bad", "--top", 1)
    assert result.stdout.splitlines()[1].startswith("dull     bad")
    plain = json.loads(run("explain", "two.sure", "--label", "bad", "--json").stdout)
    table = load("two.sure").explain(label="bad", top=20)
    assert plain == {"weights": [row._asdict() for row in table]}


def test_labels_that_are_numbers() -> None:
    result = run("explain", "numbers.sure", "--label", "2", "--top", 1)
    assert result.stdout.splitlines()[1].split()[:2] == ["x1", "2"]


def test_one_text() -> None:
    result = run("explain", "two.sure", "--text", "great, not dull", "--top", 1)
    model = load("two.sure")
    p = model.predict_proba(["great, not dull"])[0].max()
    label = model.predict(["great, not dull"])[0]
    head, empty, *table = result.stdout.splitlines()
    assert head == f"{label}, with probability {p:.4f}"
    assert empty == ""
    assert [line.split()[0] for line in table] == ["feature", "dull", "(others)"]
    assert table[0].split() == ["feature", "label", "value", "mean", "deviation", "margin"]
    assert max(map(len, table)) < 80
    plain = json.loads(
        run("explain", "two.sure", "--text", "great, not dull", "--top", 1, "--json").stdout
    )
    assert plain["label"] == label
    assert plain["probabilities"][label] == p
    assert plain["shares"][-1]["feature"] == "(others)"
    assert plain["shares"][-1]["mean"] is None


@pytest.mark.parametrize("how", [(), ("--json",)], ids=str)
def test_one_text_is_hashed_for_its_shares_and_its_probability(how: Any, calls: Any) -> None:
    made = calls(HashingVectorizer, "_hashed")
    assert run("explain", "two.sure", "--text", "great, not dull", *how).exit_code == 0
    assert made["_hashed"] == 2


def test_one_text_of_a_first_order_rule() -> None:
    assert run("explain", "old.sure", "--text", "dull").stdout.startswith("bad\n\nfeature")
    plain = json.loads(run("explain", "old.sure", "--text", "dull", "--json").stdout)
    assert plain.keys() == {"label", "shares"}


def test_what_explain_refuses() -> None:
    result = run("explain", "two.sure", "--label", "odd")
    assert result.exit_code == 1
    assert result.stderr == "surelearn: label must be one of 'bad', 'good', got 'odd'.\n"
    result = run("explain", "numbers.sure", "--text", "dull")
    assert result.exit_code == 2
    assert "text needs a model of texts, got a SureClassifier." in result.stderr
    assert run("explain", "two.sure", "--top", 0).exit_code == 2


# -------------------------------------------------------------------------- info


def test_what_is_in_a_file(folder: Path) -> None:
    lines = run("info", "three.sure").stdout.splitlines()
    facts = dict(line.split("  ", 1) for line in lines if "  " in line)
    facts = {name: value.strip() for name, value in facts.items()}
    model = load("three.sure")
    assert facts["kind"] == "SureTextClassifier"
    assert facts["rule"] == "Probit(noise=0.3)"
    assert facts["written by surelearn"] == __version__
    assert facts["size"] == f"{(folder / 'three.sure').stat().st_size / 1000:.1f} kB"
    assert facts["passes"] == "2"
    assert facts["mistakes by pass"] == ", ".join(map(str, model.mistakes_))
    assert facts["features"] == "262,144"
    assert facts["words known"] == str(model.vectorizer_.n_names_)
    assert facts["places that words share"] == str(model.vectorizer_.n_clashes_)
    assert lines[-4:] == ["class  rows", "a         2", "b         2", "c         2"]


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


@pytest.mark.parametrize(
    ("n_bytes", "shown"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (2**32, "4.3 GB"),
        (1e16, "10,000.0 TB"),
    ],
)
def test_sizes(n_bytes: float, shown: str) -> None:
    assert _options.size(n_bytes) == shown


def test_a_place_midway() -> None:
    position = {
        "files": ["a.jsonl", "b.jsonl"], "rows": 1200, "number": 1, "passes": 3, "n_bad": 2,
        "ended": False,
    }  # fmt: skip
    assert info._stream(position) == (
        "a.jsonl and 1 more, at row 1,200 of pass 1 of 3, 2 bad ones left out"
    )
