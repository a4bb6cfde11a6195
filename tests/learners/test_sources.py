"""What a model remembers of how its source was read: the same for every format with columns."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from subprocess import run as process
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from frames import FILES, FRAMES, NUMBERS, TEXTS, numbers, stored
from grouped import candidates
from surelearn import (
    SureClassifier,
    SureRanker,
    SureTagger,
    SureTextClassifier,
    evaluate,
    load,
    merge,
    predict,
    read,
)
from surelearn.cli import _app
from surelearn.learners.sources import _same_order, put_columns
from surelearn.read import _lines, _stores
from surelearn.training.position import StreamPosition

COMMAND = [sys.executable, "-c", "from surelearn.cli import main; main()"]


def run(*arguments: object) -> str:
    done = CliRunner().invoke(_app.app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return done.output


def labels(model: Any, source: Any) -> list[Any]:
    return [label for batch in predict(model, source) for label in batch.label.tolist()]


# -------------------------------------------------------------------------- columns


@pytest.mark.parametrize("kind", [*FILES, *FRAMES])
def test_the_columns_of_texts_are_remembered(kind: str, tmp_path: Path) -> None:
    source = stored(kind, tmp_path, TEXTS)
    model = SureTextClassifier(random_state=0, passes=2)
    model.fit_stream(source, text="body", label="stars", weight="votes")
    columns = {"text": "body", "label": "stars", "weight": "votes"}
    assert model.stream_.columns == columns
    model.save(tmp_path / "m.sure")
    for known in (model, load(tmp_path / "m.sure"), merge([model, load(tmp_path / "m.sure")])):
        assert known.stream_.columns == columns
        assert evaluate(known, source).accuracy == 1.0
        assert labels(known, source) == TEXTS["stars"]
    more = {name: values[:10] for name, values in TEXTS.items()}
    model.fit_stream(stored(kind, tmp_path, more, "more"), resume=True)
    assert model.stream_.columns == columns


@pytest.mark.parametrize("kind", [*FILES, *FRAMES])
def test_columns_of_numbers_are_found_by_name_in_any_order(kind: str, tmp_path: Path) -> None:
    source = stored(kind, tmp_path, NUMBERS)
    turned = {name: NUMBERS[name] for name in ("kind", "height", "age")}
    other = stored(kind, tmp_path, turned, "other")
    model = numbers().fit_stream(source, label="kind")
    assert model.stream_.columns == {"label": "kind", "features": ["age", "height"]}
    assert evaluate(model, source).accuracy > 0.9
    assert labels(model, other) == labels(model, source)
    assert evaluate(model, other).accuracy == evaluate(model, source).accuracy
    again = numbers().fit_stream(source, label="kind").fit_stream(other, resume=True)
    expected = numbers().fit_stream(source, label="kind").fit_stream(source, resume=True)
    if kind in FILES:  # going on with the same file there is nothing new in it
        same = stored(kind, tmp_path, NUMBERS, "same")
        expected = numbers().fit_stream(source, label="kind").fit_stream(same, resume=True)
    np.testing.assert_array_equal(again.coef_, expected.coef_)


@pytest.mark.parametrize("kind", FILES)
def test_commands_need_no_options_twice(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = stored(kind, tmp_path, TEXTS).name
    run("train", file, "-o", "m.sure", "--text", "body", "--label", "stars")
    known = json.loads(run("info", "m.sure", "--json"))["stream"]["columns"]
    assert known == {"text": "body", "label": "stars"}
    assert json.loads(run("evaluate", "m.sure", file, "--json"))["accuracy"] == 1.0
    found = [json.loads(line)["label"] for line in run("predict", "m.sure", file).splitlines()]
    assert found == TEXTS["stars"]
    run("train", file, "-o", "m.sure", "--resume")


@pytest.mark.parametrize("kind", ["csv", pytest.param("tsv", marks=pytest.mark.slow), "jsonl"])
def test_the_columns_of_a_pipe_are_remembered(kind: str, tmp_path: Path) -> None:
    path = stored(kind, tmp_path, TEXTS)
    options = ["--format", kind, "--text", "body", "--label", "stars", "-o", "m.sure"]
    with path.open("rb") as file:
        process([*COMMAND, "train", "-", *options], cwd=tmp_path, stdin=file, check=True)
    assert load(tmp_path / "m.sure").stream_.columns["text"] == "body"
    with path.open("rb") as file:
        options = ["-", "--format", kind, "--json"]
        done = process(
            [*COMMAND, "evaluate", "m.sure", *options], cwd=tmp_path, stdin=file, check=True,
            capture_output=True,
        )  # fmt: skip
    assert json.loads(done.stdout)["accuracy"] == 1.0


def test_models_of_other_columns_are_merged_without_them() -> None:
    one = SureTextClassifier().fit_stream(pandas.DataFrame(TEXTS), text="body", label="stars")
    other = SureTextClassifier().fit_stream(
        pandas.DataFrame(TEXTS).rename(columns={"body": "text"}), label="stars"
    )
    assert merge([one, other]).stream_.columns == {"label": "stars"}
    other.fit(["good", "bad"], [5, 1])
    assert not hasattr(merge([other, other]), "stream_")


# ------------------------------------------------------------------ names of features


@pytest.mark.parametrize("settings", [{}, {"n_shards": 3}], ids=str)
@pytest.mark.parametrize("kind", [*FILES, *FRAMES])
def test_columns_of_numbers_keep_their_names(
    kind: str, settings: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_lines, "BLOCK", 200)
    monkeypatch.setattr(_stores, "BLOCK", 200)
    source = stored(kind, tmp_path, NUMBERS)
    model = numbers(**settings).fit_stream(source, label="kind")
    model.save(tmp_path / "m.sure")
    apart = [model, load(tmp_path / "m.sure")]
    for known in (*apart, merge(apart), model.fit_stream(source, resume=True)):
        assert known.feature_names_in_.dtype == object
        assert known.feature_names_in_.tolist() == ["age", "height"]
        assert set(known.explain().feature) == {"age", "height"}
        frame = pandas.DataFrame(NUMBERS)[["age", "height"]]
        assert known.predict(frame).tolist() == labels(known, source)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.predict(frame.to_numpy())


def test_names_belong_to_the_model_that_was_learnt(tmp_path: Path) -> None:
    frame = pandas.DataFrame(NUMBERS)
    model = numbers().fit_stream(frame, label="kind")
    with pytest.raises(ValueError, match="'weight' must be a number of at least 0"):
        model.fit_stream(frame.assign(weight=-1.0), features=["height"], weight="weight")
    assert model.feature_names_in_.tolist() == ["age", "height"]
    model.fit_stream(frame.rename(columns={"age": "x1"}), label="kind")
    assert model.feature_names_in_.tolist() == ["x1", "height"]
    (tmp_path / "t.svm").write_text("1 1:2 2:1\n2 1:1 2:2\n")
    assert not hasattr(model.fit_stream(tmp_path / "t.svm"), "feature_names_in_")
    texts = SureTextClassifier().fit_stream(pandas.DataFrame(TEXTS), text="body", label="stars")
    assert not hasattr(texts, "feature_names_in_")


def test_names_that_are_numbers_are_no_names() -> None:
    """As in scikit-learn: a frame without names of its own is an array."""
    frame = pandas.DataFrame({0: NUMBERS["age"], 1: NUMBERS["height"], "kind": NUMBERS["kind"]})
    model = numbers().fit_stream(frame, label="kind")
    assert not hasattr(model, "feature_names_in_")
    assert model.predict(frame[[0, 1]]).tolist() == labels(model, frame)


def test_going_on_by_rows_keeps_the_names() -> None:
    frame = pandas.DataFrame(NUMBERS)
    model = numbers().fit_stream(frame, label="kind")
    model.partial_fit(frame[["age", "height"]], frame["kind"]).learn_one([1.0, 0.0], "x")
    assert model.feature_names_in_.tolist() == ["age", "height"]
    with pytest.raises(ValueError, match="in the same order"):
        model.partial_fit(frame[["height", "age"]], frame["kind"])


def test_features_that_are_named_in_another_order_are_refused() -> None:
    frame = pandas.DataFrame(NUMBERS)
    model = numbers().fit_stream(frame, label="kind")
    message = r"features must be in the order .* 'age', 'height', got 'height', 'age'\."
    for go in (
        lambda **reading: list(predict(model, frame, **reading)),
        lambda **reading: evaluate(model, frame, **reading),
        lambda **reading: model.fit_stream(frame, resume=True, **reading),
    ):
        with pytest.raises(ValueError, match=message):
            go(features=["height", "age"])
    other = frame.rename(columns={"age": "Alter", "height": "Hoehe"})
    (found,) = predict(model, other, features=["Alter", "Hoehe"])
    assert found.label.tolist() == labels(model, frame)


def test_the_command_explains_by_the_names_of_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    stored("csv", tmp_path, {"x1": NUMBERS["age"], **NUMBERS})
    run("train", "t.csv", "-o", "m.sure", "--label", "kind")
    features = [line.split()[0] for line in run("explain", "m.sure").splitlines()[1:]]
    assert sorted(features) == ["age", "height", "x1"]


# ------------------------------------------------------------------ texts or numbers


def test_the_command_says_what_was_learnt_and_what_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    stored("csv", tmp_path, {**NUMBERS, "name": NUMBERS["kind"]})
    done = CliRunner().invoke(_app.app, ["train", "t.csv", "-o", "m.sure", "--label", "kind"])
    assert done.exit_code == 0
    assert "name    category" in done.output  # all columns, as a table
    done = CliRunner().invoke(_app.app, ["simulate", "t.csv", "--label", "kind"])
    assert "or the numeric columns: --features age,height." in done.output
    options = ["-o", "m.sure", "--label", "kind"]
    said = run("train", "t.csv", *options, "--features", "age,height")
    assert "\nFeatures: age, height.\n" in said
    said = run("train", "t.csv", *options, "--features", "*", "--json")
    assert json.loads(said)["features"] == ["age", "height"]
    stored("parquet", tmp_path, {**NUMBERS, "ok": [True] * 60})
    said = run("train", "t.parquet", *options)
    assert "\nFeatures: age, height. Not read: ok.\n" in said
    stored("csv", tmp_path, {f"x{i}": [0, 1] for i in range(12)} | {"label": ["a", "b"]}, "wide")
    said = run("train", "wide.csv", *options[:2])
    assert "Features: x0, x1, x2, x3, x4, x5, x6, x7, x8, x9 and 2 more.\n" in said


# ------------------------------------------------------------- how files were written

WRITTEN = "id;body;stars\n" + "".join(
    f"{i};{'très bon' if i % 2 else 'mauvais, très mauvais'} film {i % 5};{5 if i % 2 else 1}\n"
    for i in range(60)
)


@pytest.fixture
def french(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SureTextClassifier:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(WRITTEN, encoding="latin-1")
    return SureTextClassifier(random_state=0).fit_stream(
        "t.csv", text="body", label="stars", delimiter=";", quote="'", encoding="latin-1"
    )


def test_delimiter_quote_and_encoding_are_remembered(french: SureTextClassifier) -> None:
    known = {
        "text": "body", "label": "stars",
        "format": "csv", "delimiter": ";", "quote": "'", "encoding": "latin-1",
    }  # fmt: skip
    assert french.stream_.columns == known
    french.save("m.sure")
    for model in (french, load("m.sure"), merge([french, load("m.sure")])):
        assert model.stream_.columns == known
        assert evaluate(model, "t.csv").accuracy == 1.0
        assert len(labels(model, "t.csv")) == 60
    Path("t.csv").write_text(WRITTEN + "60;très bon;5\n", encoding="latin-1")
    french.fit_stream("t.csv", resume=True)
    assert french.stream_.columns == known
    assert french._model.counts.sum() == 61


def test_what_is_said_of_one_format_says_nothing_of_others(french: SureTextClassifier) -> None:
    rows = [dict(zip(("id", "body", "stars"), line.split(";"), strict=True))
            for line in WRITTEN.splitlines()[1:]]  # fmt: skip
    Path("t.jsonl").write_text("".join(
        json.dumps({**row, "stars": int(row["stars"])}, ensure_ascii=False) + "\n" for row in rows
    ), encoding="utf-8")  # fmt: skip
    Path("t.tsv").write_text(WRITTEN.replace(";", "\t"), encoding="utf-8")
    for other in ("t.jsonl", "t.tsv", pandas.DataFrame(rows).astype({"stars": int})):
        assert evaluate(french, other).accuracy == 1.0
    Path("u.csv").write_text(WRITTEN, encoding="utf-8")
    with pytest.raises(read.BadInput, match=r"u\.csv must be in latin-1, got UTF-8\. Use encoding"):
        evaluate(french, "u.csv")
    assert evaluate(french, "u.csv", encoding="utf-8").accuracy == 1.0


def test_a_format_that_no_name_tells_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.txt").write_text("a,b,label\n" + "1,0,x\n0,1,y\n" * 10)
    model = numbers().fit_stream("t.txt", format="csv")
    assert model.stream_.columns["format"] == "csv"
    assert evaluate(model, "t.txt").accuracy == 1.0
    assert evaluate(model, ["t.txt", "t.txt"]).n == 40
    Path("t.jsonl").write_text('{"a": 1, "b": 0, "label": "x"}\n')
    assert labels(model, "t.jsonl") == ["x"]
    with pytest.raises(read.BadInput, match=r"t\.txt must have an extension that shows"):
        evaluate(model, ["t.txt", "t.jsonl"])


def test_how_features_are_counted_is_remembered(tmp_path: Path) -> None:
    (tmp_path / "t.svm").write_text("1 0:1 2:1\n2 1:1 2:1\n" * 10)
    (tmp_path / "u.svm").write_text("2 1:1 2:1\n")
    model = numbers().fit_stream(tmp_path / "t.svm", zero_based=True)
    assert model.stream_.columns == {"format": "svmlight", "zero_based": True}
    model.save(tmp_path / "m.sure")
    assert labels(load(tmp_path / "m.sure"), tmp_path / "u.svm") == [2]


def test_what_merged_models_do_not_agree_on_is_forgotten(french: SureTextClassifier) -> None:
    Path("u.csv").write_text(WRITTEN.replace(",", "").replace(";", ","), encoding="utf-8")
    other = SureTextClassifier(random_state=0).fit_stream("u.csv", text="body", label="stars")
    assert merge([french, other]).stream_.columns == {"text": "body", "label": "stars"}


def test_the_command_needs_no_dialect_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(WRITTEN.replace(";", "\t"), encoding="utf-16")
    columns = ["--text", "body", "--label", "stars", "-o", "m.sure"]
    dialect = ["--delimiter", r"\t", "--encoding", "utf-16", "--quote", ""]
    run("train", "t.csv", *columns, *dialect)
    assert json.loads(run("evaluate", "m.sure", "t.csv", "--json"))["accuracy"] == 1.0
    assert len(run("predict", "m.sure", "t.csv").splitlines()) == 60
    run("train", "t.csv", "-o", "m.sure", "--resume")
    said = run("simulate", "t.csv", *columns[:4], *dialect, "--labels", 20, "--folds", 2, "--json")
    assert json.loads(said)
    run("evaluate", "m.sure", "t.csv", *dialect, "--label-type", "int")
    run("predict", "m.sure", "t.csv", *dialect)


@pytest.mark.parametrize(
    ("text", "encoding", "said"),
    [
        (WRITTEN, "utf-8", r"Use --delimiter ';'\."),
        (WRITTEN.replace(";", "\t"), "utf-8", r"Use --delimiter '\\t'\."),
        (WRITTEN, "utf-16", r"Use --encoding utf-16\."),
        ("body,stars\ntrès,1\n", "latin-1", r"such as --encoding latin-1\. With --skip-bad such"),
        (
            "body,stars\n" + "a,1\nb,2\n" * 9 + "a,NaN\n",
            "utf-8",
            r"With --label-type str all labels",
        ),
    ],
)
def test_the_command_names_options(
    text: str, encoding: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(text, encoding=encoding)
    options = ["--text", "body", "--label", "stars", "-o", "m.sure"]
    done = CliRunner().invoke(_app.app, ["train", "t.csv", *options])
    assert done.exit_code == 1
    assert re.search(said, done.output), done.output


# --------------------------------------------------------------------------- groups


def test_how_groups_were_read_is_remembered(tmp_path: Path) -> None:
    Path(tmp_path / "a.vw").write_text(candidates(100))
    Path(tmp_path / "a.txt").write_text(candidates(100))
    Path(tmp_path / "b.svm").write_text("1 qid:1 1:1\n0 qid:1 2:1\n")
    ranker = SureRanker(random_state=0).fit_stream(tmp_path / "a.vw", cross=True)
    ranker.save(tmp_path / "m.sure")
    known = load(tmp_path / "m.sure")
    assert known.stream_.columns == {"cross": True, "format": "vw"}
    assert evaluate(known, tmp_path / "a.vw").accuracy == 1.0
    assert evaluate(known, tmp_path / "a.vw", cross=False).accuracy < 0.5
    assert evaluate(known, tmp_path / "b.svm").n == 1  # the name shows another format
    assert evaluate(known, tmp_path / "a.txt", format="vw").accuracy == 1.0
    named = SureRanker(random_state=0).fit_stream(tmp_path / "a.txt", format="vw")
    with pytest.raises(read.BadInput, match=r"a\.txt, line 1: expected a label, got 'shared'"):
        evaluate(named, tmp_path / "a.txt")  # .txt shows svmlight
    assert named.fit_stream(tmp_path / "a.vw", resume=True, passes=1).stream_.rows == 100


@dataclass
class Learnt:
    """What has learnt from a source, or has not."""

    stream_: StreamPosition


def test_merged_models_keep_what_all_agree_on():
    columns = [{"text": "body", "label": "stars"}, {"text": "body", "label": "kind"}]
    merged = SimpleNamespace()
    put_columns(merged, [Learnt(StreamPosition(("a",), found)) for found in columns])
    assert merged.stream_ == StreamPosition((), {"text": "body"}, ended=True)
    nothing = SimpleNamespace()
    put_columns(nothing, [SimpleNamespace(), Learnt(StreamPosition(("a",)))])
    assert not hasattr(nothing, "stream_")


def test_a_source_must_hold_what_a_model_learns(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("1 qid:1 1:1\n0 qid:1 2:1\n")
    for model, reader, other in (
        (SureRanker(), "groups", "batches"),
        (SureClassifier(), "batches", "groups"),
        (SureTagger(), "sentences", "groups"),
    ):
        message = rf"source must be made by read\.{reader}, got one made by read\.{other}\."
        with pytest.raises(TypeError, match=message):
            model.fit_stream(getattr(read, other)(path))


@given(st.lists(st.text(max_size=3), max_size=5, unique=True), st.randoms())
def test_only_another_order_of_the_same_columns_is_refused(known, random):
    given_ = random.sample(known, len(known))
    if given_ == known:
        _same_order(known, given_)
    else:
        with pytest.raises(ValueError, match="features must be in the order of training"):
            _same_order(known, given_)
    _same_order(known, [*given_, "one more"])
