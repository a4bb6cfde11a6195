"""`surelearn predict`, and what all commands do with bad input: one line, no traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from command import run
from containers import with_settings
from surelearn import SureClassifier, SureTextClassifier, load

TEXTS = ["a great film", "great fun", "a dull film", "how dull", "so odd", "odd one"]
LABELS = ["good", "good", "bąd", "bąd", "odd", "odd"]


def child(*arguments: object, **more: Any) -> Any:
    """A real process."""
    code = "from surelearn.cli import main; main()"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="module")
def clf() -> SureTextClassifier:
    return SureTextClassifier(random_state=0).fit(TEXTS, LABELS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, clf: SureTextClassifier) -> Path:
    """Models and rows to use them on."""
    path = tmp_path_factory.mktemp("predict")
    clf.save(path / "model.sure")
    SureTextClassifier("pa1", random_state=0).fit(TEXTS, LABELS).save(path / "first.sure")
    rows = SureClassifier(random_state=0).fit([[0.0, 1.0], [1.0, 0.0]], [7, 8])
    rows.save(path / "numbers.sure")
    records = [{"text": text, "id": f"r{i}"} for i, text in enumerate(TEXTS)]
    text = "".join(json.dumps(record) + "\n" for record in records)
    (path / "rows.jsonl").write_text(text)
    (path / "bad.jsonl").write_text(text + "no json\n")
    (path / "numbers.jsonl").write_text('{"a": 0.5, "b": 2}\n{"a": 3, "b": 1}\n')
    return path


# ----------------------------------------------------------------------- predict


def test_a_line_for_each_row(folder: Path, clf: SureTextClassifier) -> None:
    result = run("predict", folder / "model.sure", folder / "rows.jsonl")
    assert (result.exit_code, result.stderr) == (0, "")
    found = lines(result.stdout)
    assert [line["label"] for line in found] == clf.predict(TEXTS).tolist()
    p = clf.predict_proba(TEXTS).max(axis=1)
    assert [line["probability"] for line in found] == pytest.approx(p.tolist(), rel=1e-5)
    assert all(line.keys() == {"label", "probability", "sureness"} for line in found)
    assert "bąd" in result.stdout
    for jobs in (1, 3, -2):
        again = run("predict", folder / "model.sure", folder / "rows.jsonl", "--jobs", jobs)
        assert again.stdout == result.stdout


def test_all_probabilities_and_a_column_that_is_kept(folder: Path, clf: SureTextClassifier) -> None:
    result = run("predict", folder / "model.sure", folder / "rows.jsonl", "--proba", "--keep", "id")
    found = lines(result.stdout)
    assert [line["id"] for line in found] == [f"r{i}" for i in range(6)]
    for line, row in zip(found, clf.predict_proba(TEXTS), strict=True):
        assert list(line["probabilities"]) == clf.classes_.tolist()
        assert list(line["probabilities"].values()) == pytest.approx(row.tolist(), rel=1e-5)


def keys(line: str) -> list[str]:
    """The keys of a line of JSON as they are written, also those that are there twice."""
    pairs: list[tuple[str, Any]] = json.loads(line, object_pairs_hook=list)
    return [key for key, _ in pairs]


def test_columns_that_are_called_as_what_is_predicted(folder: Path, tmp_path: Path) -> None:
    names = ["label", "probability", "sureness", "probabilities"]
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"text": "great", **dict.fromkeys(names, "mine")}) + "\n")
    more = [word for name in names for word in ("--keep", name)]
    result = run("predict", folder / "model.sure", path, "--proba", *more)
    assert result.exit_code == 0, result.output
    assert keys(result.stdout) == [*(f"kept_{name}" for name in names), *names]
    (found,) = lines(result.stdout)
    assert found["label"] == "good"
    assert [found[f"kept_{name}"] for name in names] == ["mine"] * 4


def test_several_columns_are_kept_in_order(folder: Path, tmp_path: Path) -> None:
    command = ("predict", folder / "model.sure")
    more = ("--keep", "text", "--keep", "id", "--keep", "n")
    expected = ["text", "id", "n", "label", "probability", "sureness"]
    (tmp_path / "r.csv").write_text("n,id,text\n1,r0,great\n2,r1,dull\n")
    (tmp_path / "r.jsonl").write_text('{"n": 1, "id": "r0", "text": "great"}\n')
    for path in ("r.csv", "r.jsonl"):
        result = run(*command, tmp_path / path, *more)
        assert result.exit_code == 0, result.output
        assert all(keys(line) == expected for line in result.stdout.splitlines())
        assert lines(result.stdout)[0].items() >= {"text": "great", "id": "r0", "n": 1}.items()


def test_values_that_are_kept_are_sound_json(folder: Path, tmp_path: Path) -> None:
    values = [[1, {"a": None}], float("nan"), [float("inf")], "\ud800", 10**30, {"a": float("nan")}]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({"text": "a", "v": v}) + "\n" for v in values))
    result = run("predict", folder / "model.sure", path, "--keep", "v")
    assert [line["v"] for line in lines(result.stdout)] == [
        [1, {"a": None}], None, [None], "\ud800", 10**30, {"a": None},
    ]  # fmt: skip
    assert "NaN" not in result.stdout
    assert "Infinity" not in result.stdout


@pytest.mark.parametrize(
    ("keep", "message"),
    [
        (["id", "id"], "keep must name columns that differ, got 'id', 'id', all of which become"),
        (["label", "kept_label"], "got 'label', 'kept_label', all of which become 'kept_label'"),
    ],
)
def test_columns_of_one_key_are_refused(keep: list[str], message: str, folder: Path) -> None:
    more = [word for name in keep for word in ("--keep", name)]
    result = run("predict", folder / "model.sure", folder / "rows.jsonl", *more)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_labels_that_are_numbers(folder: Path) -> None:
    result = run("predict", folder / "numbers.sure", folder / "numbers.jsonl", "--proba")
    found = lines(result.stdout)
    assert [line["label"] for line in found] == [7, 8]
    assert [list(line["probabilities"]) for line in found] == [["7", "8"]] * 2


def test_columns_of_numbers_in_their_order(folder: Path) -> None:
    command = ("predict", folder / "numbers.sure", folder / "numbers.jsonl", "--features")
    assert [line["label"] for line in lines(run(*command, "a,b").stdout)] == [7, 8]
    assert [line["label"] for line in lines(run(*command, "b,a").stdout)] == [8, 7]


def test_first_order_rules_give_labels_only(folder: Path) -> None:
    result = run("predict", folder / "first.sure", folder / "rows.jsonl")
    assert [line.keys() for line in lines(result.stdout)] == [{"label"}] * 6


def test_probabilities_that_a_model_lacks_are_refused(folder: Path, tmp_path: Path) -> None:
    one = tmp_path / "one.sure"
    SureTextClassifier().partial_fit(["a"], ["x"]).save(one)
    for model, reason in (
        (folder / "first.sure", "the rule 'pa1' is of first order and keeps no variances"),
        (one, "the model knows one class only"),
    ):
        result = run("predict", model, folder / "rows.jsonl", "--proba")
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr == (
            f"surelearn: --proba needs a model with probabilities, got {model}: {reason}.\n"
        )
        assert run("predict", model, folder / "rows.jsonl").exit_code == 0


def test_output_goes_to_a_file(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "labels.jsonl"
    result = run("predict", folder / "model.sure", folder / "rows.jsonl", "-o", target)
    assert (result.exit_code, result.output) == (0, "")
    plain = run("predict", folder / "model.sure", folder / "rows.jsonl").stdout
    assert target.read_text("utf-8") == plain


def test_what_was_written_before_stays_where_nothing_can_be_labelled(
    folder: Path, tmp_path: Path
) -> None:
    target = tmp_path / "labels.jsonl"
    target.write_text("precious")
    (tmp_path / "bad.jsonl").write_text("no JSON")
    for path, more in (("nowhere.jsonl", []), ("bad.jsonl", []), ("bad.jsonl", ["--text", "x"])):
        result = run("predict", folder / "model.sure", tmp_path / path, "--output", target, *more)
        assert result.exit_code == 1
        assert target.read_text() == "precious"


@pytest.mark.parametrize("name", ["rows.jsonl", "model.sure"])
def test_what_is_read_is_not_overwritten(name: str, folder: Path) -> None:
    before = (folder / name).read_bytes()
    target = folder / "." / name
    result = run("predict", folder / "model.sure", folder / "rows.jsonl", "--output", target)
    assert result.exit_code == 2
    assert "output must not be one of the inputs" in result.stderr
    assert (folder / name).read_bytes() == before


def test_bad_rows_are_left_out_on_request(folder: Path) -> None:
    result = run("predict", folder / "model.sure", folder / "bad.jsonl")
    assert result.exit_code == 1
    assert result.stderr == (
        f"surelearn: {folder / 'bad.jsonl'}, line 7: expected a JSON object, got 'no json'. With "
        "--skip-bad such records are left out.\n"
    )
    result = run("predict", folder / "model.sure", folder / "bad.jsonl", "--skip-bad")
    assert (result.exit_code, len(lines(result.stdout))) == (0, 6)
    assert result.stderr == "surelearn: 1 bad row was skipped.\n"


def test_several_files(folder: Path) -> None:
    result = run("predict", folder / "model.sure", folder / "rows.jsonl", folder / "rows.jsonl")
    assert len(lines(result.stdout)) == 12


# ---------------------------------------------------------------- real processes


def test_standard_input_and_output_of_a_plain_terminal(folder: Path) -> None:
    """Labels are written in UTF-8 whatever the terminal's letters are."""
    plain = {**os.environ, "PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}
    text = (folder / "rows.jsonl").read_text()
    result = child("predict", folder / "model.sure", "-", input=text, env=plain, encoding="utf-8")
    assert (result.returncode, result.stderr) == (0, "")
    assert [line["label"] for line in lines(result.stdout)] == LABELS
    shown = child("info", folder / "model.sure", env=plain)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "b\\u0105d" in shown.stdout


@pytest.mark.skipif(os.name == "nt", reason="pipes end otherwise")
@pytest.mark.parametrize(("command", "copies"), [("predict", 20_000), ("predict", 1), ("info", 0)])
def test_a_pipe_that_nobody_reads(command: str, copies: int, folder: Path, tmp_path: Path) -> None:
    big = tmp_path / "big.jsonl"
    big.write_text((folder / "rows.jsonl").read_text() * copies)
    files = [str(big)] if command == "predict" else []
    process = subprocess.Popen(
        [sys.executable, "-c", "from surelearn.cli import main; main()", command,
         str(folder / "model.sure"), *files],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    if copies > 1:
        assert process.stdout.readline().startswith(b'{"label"')
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 141


WITHOUT = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {missing!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocker())
from surelearn.cli import main
main()
"""


@pytest.mark.parametrize(
    ("missing", "options", "extra"),
    [("pyarrow", (), "files"), ("matplotlib", ("--picture", "x.png"), "plot")],
)
def test_a_missing_extra_is_named(
    missing: str, options: tuple[str, ...], extra: str, folder: Path
) -> None:
    command = [sys.executable, "-c", WITHOUT.format(missing=missing), "evaluate",
               str(folder / "model.sure"), str(folder / "rows.jsonl"), *options]  # fmt: skip
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    (line,) = result.stderr.splitlines()
    assert line.startswith("surelearn: ")
    assert missing in line
    assert line.endswith(f"In a clone of surelearn, run: pip install '.[{extra}]'")


# ------------------------------------------------------------- errors in one line


def damaged(folder: Path, target: Path, how: str) -> Path:
    """A model file that is none."""
    whole = (folder / "model.sure").read_bytes()
    if how == "cut short":
        target.write_bytes(whole[: len(whole) // 2])
    elif how == "empty":
        target.write_bytes(b"")
    elif how == "text":
        target.write_text("these are not the bytes you are looking for")
    elif how == "foreign":
        save_file({"x": np.zeros(3)}, target)
    elif how == "newer":
        target.write_bytes(with_settings((folder / "model.sure").read_bytes(), {"format": 99}))
    return target


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("cut short", "must be a safetensors file, got a damaged one"),
        ("empty", "must be a safetensors file, got a damaged one"),
        ("text", "must be a surelearn model, got another kind of file"),
        ("foreign", "must be a surelearn model, got a safetensors file without one."),
        ("newer", "must have format 2 or older, got 99. Update surelearn to read it."),
        ("missing", "No such file or directory."),
    ],
)
@pytest.mark.parametrize("command", ["predict", "evaluate", "explain", "info"])
def test_damaged_models(command: str, how: str, message: str, folder: Path, tmp_path: Path) -> None:
    model = damaged(folder, tmp_path / "damaged.sure", how)
    files = [folder / "rows.jsonl"] if command in ("predict", "evaluate") else []
    result = run(command, model, *files)
    assert result.exit_code == 1
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"surelearn: {model}")
    assert message in line
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rows.jsonl", "--text", "body"), "must have a column 'body', got 'text', 'id'."),
        (("rows.jsonl", "--format", "word"), "--format must be one of 'jsonl', 'csv',"),
        (("nothing.jsonl",), "nothing.jsonl: No such file or directory."),
        (("*.nothing",), "source must match at least one file, got"),
        (("numbers.jsonl",), "source must hold texts for a SureTextClassifier, got rows of num"),
    ],
)
def test_bad_input(
    arguments: tuple[str, ...], message: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    result = run("predict", "model.sure", *arguments)
    assert result.exit_code == 1
    (line,) = result.stderr.splitlines()
    assert line.startswith("surelearn: ")
    assert message in line


# ------------------------------------------------------------------- many labels


def test_lists_of_labels_have_the_probability_of_each(topics: Path) -> None:
    model = load(topics / "topics.sure")
    rows = [json.loads(line) for line in (topics / "test.jsonl").read_text().splitlines()]
    texts = [row["text"] for row in rows]
    result = run("predict", topics / "topics.sure", topics / "test.jsonl", "--keep", "label")
    assert result.exit_code == 0, result.output
    found = lines(result.stdout)
    assert [line["kept_label"] for line in found] == [row["label"] for row in rows]
    assert [tuple(line["labels"]) for line in found] == model.predict(texts)
    assert any(len(line["labels"]) > 1 for line in found)
    assert not all(line["labels"] for line in found)
    for line, p in zip(found, model.predict_proba(texts), strict=True):
        of_label = dict(zip(model.classes_.tolist(), p.tolist(), strict=True))
        assert line["probabilities"] == pytest.approx(
            {label: of_label[label] for label in line["labels"]}, rel=1e-4
        )
        assert line["sureness"] >= 0
    every = lines(run("predict", topics / "topics.sure", topics / "test.jsonl", "--proba").stdout)
    assert [list(line["probabilities"]) for line in every] == [model.classes_.tolist()] * len(rows)


def test_lists_of_labels_of_a_first_order_rule(topics: Path, tmp_path: Path) -> None:
    clf = SureTextClassifier("pa1", random_state=0).fit_stream(topics / "train.jsonl")
    clf.save(tmp_path / "first.sure")
    found = lines(run("predict", tmp_path / "first.sure", topics / "test.jsonl").stdout)
    assert {tuple(line) for line in found} == {("labels",)}
    refused = run("predict", tmp_path / "first.sure", topics / "test.jsonl", "--proba")
    assert "--proba needs a model with probabilities" in refused.output
