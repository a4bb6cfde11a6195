"""Sources without a record: nothing is predicted, nothing can be learnt or judged by."""

from __future__ import annotations

import subprocess
import sys

import pandas
import pyarrow
import pytest
from pyarrow import feather, parquet
from typer.testing import CliRunner

from surelearn import SureClassifier, SureTagger, SureTextClassifier, evaluate, predict, read
from surelearn.cli import _app
from surelearn.evaluation import evaluate_tagger
from surelearn.prediction import predict_tags

COMMAND = [sys.executable, "-c", "from surelearn.cli import main; main()"]
NO_ROW = "evaluate needs at least one row, got none."
NO_SENTENCE = "evaluate needs at least one sentence, got none."

#: Files of each format that have no record in them.
FILES = {
    "empty.jsonl": b"",
    "blank.jsonl": b"\n \n\n",
    "mark.jsonl": b"\xef\xbb\xbf",
    "empty.csv": b"",
    "header.csv": b"text,label\n",
    "open.csv": b"text,label",
    "header.tsv": b"text\tlabel\r\n\r\n",
}
SPARSE = {"empty.svm": b"", "blank.svm": b"\n\n", "empty.vw": b"", "comment.svm": b"# nothing\n"}
SENTENCES = {
    "empty.txt": b"",
    "blank.txt": b"\n\n",
    "docstart.txt": b"-DOCSTART- -X-\n\n",
    "comment.conllu": b"# text = nothing\n\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("empty")
    for name, data in {**FILES, **SPARSE, **SENTENCES}.items():
        (path / name).write_bytes(data)
    table = pyarrow.table(
        {"text": pyarrow.array([], "string"), "label": pyarrow.array([], "string")}
    )
    parquet.write_table(table, path / "none.parquet")
    feather.write_feather(table, path / "none.arrow")
    SureTextClassifier(random_state=0).fit(["fine", "dull"], ["good", "bad"]).save(path / "m.sure")
    SureClassifier(random_state=0).fit([[0.0, 1.0], [1.0, 0.0]], [7, 8]).save(path / "n.sure")
    SureTagger(random_state=0).fit([["a", "b"]], [["A", "B"]]).save(path / "t.sure")
    return path


@pytest.fixture(autouse=True)
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)


def run(*arguments, **more):
    return CliRunner().invoke(_app.app, [*map(str, arguments)], **more)


def model_for(name):
    return "n.sure" if name in SPARSE else "m.sure"


ROWS = [*FILES, *SPARSE, "none.parquet", "none.arrow"]


def some_quick(names, *quick):
    """All but a few are left to the slow tests: each starts two processes."""
    return [n if n in quick else pytest.param(n, marks=pytest.mark.slow) for n in names]


@pytest.mark.parametrize("name", ROWS)
def test_nothing_is_predicted(name, tmp_path):
    done = run("predict", model_for(name), name)
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")
    target = tmp_path / "labels.jsonl"
    target.write_text("of before\n")
    assert run("predict", model_for(name), name, "--output", target).exit_code == 0
    assert target.read_text() == ""


@pytest.mark.parametrize("name", ROWS)
def test_nothing_can_be_judged_by(name):
    done = run("evaluate", model_for(name), name)
    assert (done.exit_code, done.stdout, done.stderr) == (1, "", f"surelearn: {NO_ROW}\n")


@pytest.mark.parametrize("name", ROWS)
def test_nothing_can_be_learnt(name, tmp_path):
    done = run("train", name, "-o", tmp_path / "x.sure")
    assert done.exit_code == 1
    assert f"surelearn: {name} must have at least one record, got " in done.stderr
    assert not (tmp_path / "x.sure").exists()


@pytest.mark.parametrize("name", some_quick([*FILES, *SPARSE], "empty.jsonl", "header.csv"))
def test_pipes_are_no_different(name, folder):
    """Real ones: what arrives is read otherwise than files."""
    format = name.partition(".")[2]
    more = ["--format", {"svm": "svmlight"}.get(format, format)]
    with open(name, "rb") as file:
        data = file.read()
    for command, expected in (("predict", (0, "")), ("evaluate", (1, f"surelearn: {NO_ROW}\n"))):
        done = subprocess.run(
            [*COMMAND, command, model_for(name), "-", *more], input=data, capture_output=True,
            check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr.decode(), done.stdout) == (*expected, b"")


def test_a_stream_of_arrow_without_rows(folder):
    table = pyarrow.table({"text": pyarrow.array([], "string")})
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    command = [*COMMAND, "predict", "m.sure", "-", "--format", "arrow"]
    data = sink.getvalue().to_pybytes()
    done = subprocess.run(command, input=data, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("name", SENTENCES)
def test_sentences(name, tmp_path):
    comment = "# text = nothing" if name.startswith("comment") else ""
    done = run("tag", "predict", "t.sure", name)
    assert (done.exit_code, done.stdout.strip("\n"), done.stderr) == (0, comment, "")
    done = run("tag", "evaluate", "t.sure", name)
    assert (done.exit_code, done.stdout, done.stderr) == (1, "", f"surelearn: {NO_SENTENCE}\n")
    done = run("tag", "train", name, "-o", tmp_path / "x.sure")
    assert done.exit_code == 1
    assert f"surelearn: {name} must have at least one " in done.stderr
    with open(name) as file:
        text = file.read()
    more = ("--format", "conllu" if name.endswith("u") else "conll")
    done = run("tag", "predict", "t.sure", "-", *more, input=text)
    assert (done.exit_code, done.stdout.strip("\n"), done.stderr) == (0, comment, "")
    done = run("tag", "evaluate", "t.sure", "-", *more, input=text)
    assert (done.exit_code, done.stdout, done.stderr) == (1, "", f"surelearn: {NO_SENTENCE}\n")


def test_frames_and_python():
    clf = SureTextClassifier(random_state=0).fit(["fine", "dull"], ["good", "bad"])
    frame = pandas.DataFrame({"text": pandas.Series([], dtype=str), "label": []})
    for source in (frame, "empty.jsonl", "header.csv", ["empty.csv", "header.csv"]):
        assert list(predict(clf, source)) == []
        with pytest.raises(ValueError, match=NO_ROW):
            evaluate(clf, source)
        with pytest.raises(read.BadInput, match="must have at least one record, got"):
            SureTextClassifier().fit_stream(source)
    tagger = SureTagger(random_state=0).fit([["a", "b"]], [["A", "B"]])
    assert list(predict_tags(tagger, "empty.txt")) == []
    with pytest.raises(ValueError, match=NO_SENTENCE):
        evaluate_tagger(tagger, "empty.txt")
    with pytest.raises(ValueError, match=NO_SENTENCE):
        evaluate_tagger(tagger, [], [])


def test_lines_that_are_bad_are_still_told(tmp_path):
    (tmp_path / "bad.jsonl").write_text("no json\n")
    done = run("predict", "m.sure", tmp_path / "bad.jsonl")
    assert done.exit_code == 1
    assert "line 1: expected a JSON object, got 'no json'." in done.stderr


def test_simulate_needs_rows():
    for name in ("empty.jsonl", "header.csv"):
        done = run("simulate", name)
        assert (done.exit_code, done.stderr.count("\n")) == (1, 1)
        assert "must have at least one record" in done.stderr
    done = run("simulate", "-", input="")
    assert (done.exit_code, done.stderr) == (
        1, "surelearn: standard input must have at least one record, got none.\n"
    )  # fmt: skip


def test_blank_lines_that_arrive_first_are_passed_over(folder):
    process = subprocess.Popen(
        [*COMMAND, "predict", "m.sure", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"\n\n")
    process.stdin.flush()
    process.stdin.write(b'{"text": "fine"}\n')
    process.stdin.close()
    assert process.stdout.read().startswith(b'{"label": "good"')
    process.stdout.close()
    assert process.wait() == 0
