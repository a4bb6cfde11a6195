"""`surelearn tag`, in process and as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import surelearn
from models.test_sequence_training import text
from surelearn import SureTagger, SureTextClassifier, read, rules
from surelearn.cli import _app
from surelearn.evaluation import chunk_scores, evaluate_tagger
from surelearn.prediction import predict_tags

runner = CliRunner()
COMMAND = [sys.executable, "-c", "from surelearn.cli import main; main()"]


def run(*arguments: object, **more: Any) -> Any:
    return runner.invoke(_app.app, ["tag", *map(str, arguments)], **more)


def ok(*arguments: object, **more: Any) -> str:
    done = run(*arguments, **more)
    assert done.exit_code == 0, done.output
    return str(done.stdout)


def u_line(number: object, form: str, upos: str, misc: str = "_") -> str:
    return "\t".join([str(number), form, "_", upos, *["_"] * 5, misc]) + "\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text(text(60))
    Path("test.txt").write_text(text(30, seed=1))
    return tmp_path


# ---------------------------------------------------------------------------- train


def test_a_tagger_comes_out_of_a_file(folder: Path) -> None:
    said = ok("train", "a.txt", "-o", "m.sure")
    assert said.startswith(
        "Learnt 60 sentences of 6 tags from a.txt in 10 passes.\nProgressive val"
    )
    model = surelearn.load("m.sure")
    by_hand = SureTagger(random_state=0).fit_stream("a.txt")
    by_hand.save("b.sure")
    assert Path("m.sure").read_bytes() == Path("b.sure").read_bytes()
    assert model.predict([[("the", "D"), ("mill", "N")]]) == [["B-NP", "I-NP"]]


def test_every_option_reaches_the_tagger(folder: Path) -> None:
    Path("more.txt").write_text("# of the word before\n\npos[-1]|pos[0]\n B:pos[0] \n")
    said = ok(
        "train", "a.txt", "-o", "m.sure", "--columns", "word,pos,chunk", "--label", "chunk",
        "--template", "word[0]", "--templates", "more.txt", "--rule", "arow(r=0.5)", "--passes", 2,
        "--jobs", 1, "--seed", 5, "--json", "--quiet", "--checkpoint-every", 10, "--skip-bad",
        "--format", "conll", "--n-features", 4096,
    )  # fmt: skip
    model = surelearn.load("m.sure")
    assert model.templates == ["word[0]", "pos[-1]|pos[0]", "B:pos[0]"]
    assert model.features_.columns == ("word", "pos")
    assert model.features_.n_features == model.n_features == 4096
    assert model.rule == rules.AROW(r=0.5)
    assert (model.n_jobs, model.random_state) == (1, 5)
    assert model.stream_.columns == {"columns": ["word", "pos", "chunk"], "label": "chunk"}
    found = json.loads(said)
    assert (found["sentences"], found["passes"], len(found["mistakes"])) == (60, 2, 2)
    assert found["classes"] == model.classes_.tolist()


def test_files_of_rows_are_refused(folder: Path) -> None:
    Path("r.jsonl").write_text('{"text": "a", "label": "b"}\n' * 3)
    ok("train", "a.txt", "-o", "t.sure")
    for command in (("train", "r.jsonl", "-o", "m.sure"), ("predict", "t.sure", "r.jsonl"),
                    ("evaluate", "t.sure", "r.jsonl")):  # fmt: skip
        done = run(*command)
        assert (done.exit_code, done.stdout) == (1, "")
        assert done.stderr.startswith("surelearn: r.jsonl must have a word a line, got a name that")
    assert not Path("m.sure").exists()


def test_templates_of_crfpp(folder: Path) -> None:
    Path("template").write_text("# words\nU00:%x[0,0]\nU01:%x[-1,1]/%x[0,1]\n\nB\n")
    ok("train", "a.txt", "-o", "m.sure", "--templates", "template", "--passes", 1)
    assert surelearn.load("m.sure").templates == ["w[0]", "pos[-1]|pos[0]", "B:"]
    names = ("--columns", "form,tag,chunk")
    ok("train", "a.txt", "-o", "m.sure", "--templates", "template", "--passes", 1, *names)
    assert surelearn.load("m.sure").templates == ["form[0]", "tag[-1]|tag[0]", "B:"]


def test_going_on_takes_columns_and_settings_from_the_tagger(folder: Path) -> None:
    ok("train", "a.txt", "-o", "m.sure", "--columns", "w,_,chunk", "--passes", 1)
    with open("a.txt", "a") as file:
        file.write("\n" + text(20, seed=2))
    said = ok("train", "a.txt", "-o", "m.sure", "--resume", "--passes", 1)
    assert said.startswith("Learnt 80 sentences of 6 tags")
    model = surelearn.load("m.sure")
    assert model.stream_.columns == {"columns": ["w", "_", "chunk"], "label": "chunk"}
    assert model.features_.columns == ("w",)
    done = run("train", "a.txt", "-o", "m.sure", "--resume", "--template", "w[0]")
    assert done.exit_code == 1
    assert "templates must stay None in a fitted model" in done.stderr


def test_sentences_arrive_on_standard_input(folder: Path) -> None:
    said = subprocess.run(
        [*COMMAND, "tag", "train", "-", "-o", "m.sure"], input=text(40), text=True, check=True,
        capture_output=True,
    ).stdout  # fmt: skip
    assert said.startswith("Learnt 40 sentences of 6 tags from standard input in one pass.")
    tagged = subprocess.run(
        [*COMMAND, "tag", "predict", "m.sure", "-"], input="the D\nmill N", text=True, check=True,
        capture_output=True,
    ).stdout  # fmt: skip
    assert tagged == "the D B-NP\nmill N I-NP\n"


@pytest.mark.parametrize(
    ("arguments", "status", "match"),
    [
        (["bad.txt"], 1, "surelearn: bad.txt, line 2: expected 3 columns, got 2."),
        (["a.txt", "--label", "ner"], 1, "label must be one of 'w', 'pos', 'c2', got 'ner'."),
        (["a.txt", "--template", "lemma[0]"], 1, "lemma"),
        (["a.txt", "--rule", "nothing"], 1, "rule must be one of"),
        (["a.txt", "--templates", "empty.txt"], 1, "empty.txt must have at least one template"),
        (["a.txt", "--templates", "nowhere.txt"], 1, "nowhere.txt: No such file or directory."),
        (["nowhere.txt"], 1, "nowhere.txt: No such file or directory."),
        (["a.txt", "--format", "csv"], 1, "format must be one of 'conll', 'conllu', got 'csv'."),
        (["a.txt", "--resume", "-o", "c.sure"], 1, "must be a tagger, got a SureTextClassifier."),
        (["a.txt", "-o", "no/m.sure"], 2, "output must be in a folder that exists"),
        (["a.txt", "-o", "a.txt"], 2, "output must be a file of its own"),
    ],
)
def test_what_train_refuses(folder: Path, arguments: list[str], status: int, match: str) -> None:
    Path("bad.txt").write_text("a A X\nb B\n")
    Path("empty.txt").write_text("# nothing\n")
    SureTextClassifier(passes=1).fit(["good", "bad"], ["p", "n"]).save("c.sure")
    output = [] if "-o" in arguments else ["-o", "m.sure"]
    done = run("train", *arguments, *output)
    assert done.exit_code == status, done.output
    assert match in " ".join(done.stderr.replace("│", " ").split())
    assert not Path("m.sure").exists()


# -------------------------------------------------------------------------- predict


@pytest.fixture
def tagger(folder: Path) -> SureTagger:
    ok("train", "a.txt", "-o", "m.sure", "--passes", 3)
    return surelearn.load("m.sure")


def test_the_input_comes_back_with_tags(tagger: SureTagger) -> None:
    Path("new.txt").write_text("-DOCSTART- -X-\n\nthe\tD\nold\tA\n\n\nsoon\tR")
    Path("more.txt").write_text("dogs N\n")
    (a, b), (c,), (d,) = tagger.predict(
        [[("the", "D"), ("old", "A")], [("soon", "R")], [("dogs", "N")]]
    )
    wanted = f"-DOCSTART- -X-\n\nthe\tD\t{a}\nold\tA\t{b}\n\n\nsoon\tR\t{c}\n\ndogs N {d}\n"
    assert ok("predict", "m.sure", "new.txt", "more.txt") == wanted
    ok("predict", "m.sure", "new.txt", "more.txt", "--output", "out.txt")
    assert Path("out.txt").read_text() == wanted


def test_tags_are_those_of_the_tagger(tagger: SureTagger) -> None:
    (known,) = read.sentences("test.txt")
    lines = ok("predict", "m.sure", "test.txt", "--confidence").splitlines()
    rows = [line.split() for line in lines if line]
    tags = [tag for own in tagger.predict(known.X) for tag in own]
    sure = [p for own in tagger.confidence(known.X) for p in own]
    assert [row[3] for row in rows] == tags
    np.testing.assert_allclose([float(row[4]) for row in rows], sure, atol=5.1e-5)
    assert [line == "" for line in lines] == [
        line == "" for line in Path("test.txt").read_text().splitlines()
    ]
    (batch,) = predict_tags(tagger, "test.txt")
    assert batch.confidence is None
    assert batch.tags == tagger.predict(known.X)
    assert batch.n_bytes == Path("test.txt").stat().st_size


def test_universal_dependencies_come_back_whole(folder: Path) -> None:
    words = [("Wir", "PRON"), ("lesen", "VERB"), ("gern", "ADV")]
    said = "# text\n" + "".join(u_line(i, *word) for i, word in enumerate(words, start=1)) + "\n"
    Path("a.conllu").write_text(said * 20)
    ok("train", "a.conllu", "-o", "u.sure", "--passes", 2, "--label", "UPOS")
    blank = said.replace("PRON", "_").replace("VERB", "_").replace("ADV", "_")
    Path("new.conllu").write_text(blank)
    assert ok("predict", "u.sure", "new.conllu") == said
    sure = ok("predict", "u.sure", "new.conllu", "--confidence").splitlines()
    assert sure[1].startswith("1\tWir\t_\tPRON\t")
    assert sure[1].split("\t")[-1].startswith("Confidence=0.")
    assert len(sure[1].split("\t")) == 10
    found = json.loads(ok("evaluate", "u.sure", "a.conllu", "--json"))
    assert found["accuracy"] == found["f1"] == 1.0
    assert [row["type"] for row in found["by_type"]] == ["ADV", "PRON", "VERB"]
    Path("new.txt").write_text("1 Wir PRON\n2 lesen VERB\n")
    done = run("predict", "u.sure", "new.txt", "--columns", "_,w")
    assert done.stdout == "1 Wir PRON PRON\n2 lesen VERB VERB\n"


def test_the_column_of_labels_may_come_first(folder: Path) -> None:
    Path("b.txt").write_text("B-NP the D\nI-NP mill N\n\n" * 10)
    ok("train", "b.txt", "-o", "b.sure", "--columns", "chunk,w,pos", "--label", "chunk")
    Path("new.txt").write_text("? the D\n? mill N\n")
    assert ok("predict", "b.sure", "new.txt") == "? the D B-NP\n? mill N I-NP\n"


def test_a_tagger_that_was_fitted_in_memory(folder: Path) -> None:
    SureTagger(random_state=0).fit([[("the", "D"), ("mill", "N")]], [["A", "B"]]).save("p.sure")
    Path("new.txt").write_text("the D x\nmill N x\n")
    assert ok("predict", "p.sure", "new.txt") == "the D x A\nmill N x B\n"
    SureTagger(random_state=0).fit([["the", "mill"]], [["A", "B"]]).save("p.sure")
    assert ok("predict", "p.sure", "new.txt") == "the D x A\nmill N x B\n"


def test_bad_sentences_are_left_out_and_counted(tagger: SureTagger) -> None:
    Path("new.txt").write_text("the D\n\nold\n\nmill N\n\nbark\n")
    done = run("predict", "m.sure", "new.txt", "--skip-bad")
    assert done.stderr == "surelearn: 2 bad sentences were left out.\n"
    assert [line.split()[0] for line in done.stdout.splitlines() if line] == ["the", "mill"]
    done = run("predict", "m.sure", "new.txt")
    assert (done.exit_code, done.stderr) == (
        1, "surelearn: new.txt, line 3: expected 2 columns, got 1. With --skip-bad such sentences "
        "are left out.\n"
    )  # fmt: skip


def test_what_predict_refuses(tagger: SureTagger) -> None:
    done = run("predict", "m.sure", "test.txt", "--output", "test.txt")
    assert done.exit_code == 2
    assert "output must be a file of its own" in done.stderr
    ok("train", "a.txt", "-o", "p.sure", "--rule", "perceptron", "--passes", 1)
    done = run("predict", "p.sure", "test.txt", "--confidence")
    assert done.exit_code == 1
    assert done.stderr == (
        "surelearn: confidence needs a rule that keeps variances, got 'perceptron'.\n"
    )
    SureTextClassifier(passes=1).fit(["good", "bad"], ["p", "n"]).save("c.sure")
    done = run("predict", "c.sure", "test.txt")
    assert done.stderr == "surelearn: c.sure must be a tagger, got a SureTextClassifier.\n"


# ------------------------------------------------------------------------- evaluate


def test_chunks_are_counted(tagger: SureTagger) -> None:
    (known,) = read.sentences("test.txt")
    wanted = chunk_scores(known.y, tagger.predict(known.X))
    assert 0.5 < wanted.f1 < 1
    assert ok("evaluate", "m.sure", "test.txt") == f"{wanted}\n"
    assert json.loads(ok("evaluate", "m.sure", "test.txt", "--json")) == wanted.to_dict()
    assert evaluate_tagger(tagger, known.X, known.y) == wanted
    twice = evaluate_tagger(tagger, ["test.txt", "test.txt"])
    assert twice == wanted + wanted


def test_evaluating_what_cannot_be_read(tagger: SureTagger) -> None:
    Path("bad.txt").write_text("the D B-NP\n\nold A\n\n")
    done = run("evaluate", "m.sure", "bad.txt")
    assert done.stderr.startswith("surelearn: bad.txt, line 3: expected 3 columns, got 2. With --")
    said = ok("evaluate", "m.sure", "bad.txt", "--skip-bad")
    assert said.startswith("1 tokens of 1 sequences (1 left out as bad) with 1 chunks; found 1,")
    with pytest.raises(read.BadInput, match=r"^test.txt must have a column of labels, got none.$"):
        evaluate_tagger(tagger, "test.txt", label=False)
    with pytest.raises(TypeError, match=r"^sequences in memory need no reading, got \['label'\].$"):
        evaluate_tagger(tagger, [["a"]], [["O"]], label="x")
    Path("odd.txt").write_text("the D DET\n")
    done = run("evaluate", "m.sure", "odd.txt")
    assert "tags must be 'O', or B, I, E or S, a hyphen and a type" in done.stderr


def test_progress_of_an_evaluation(tagger: SureTagger) -> None:
    seen: list[Any] = []
    found = evaluate_tagger(tagger, ["test.txt", "a.txt"], progress=seen.append)
    assert [now.rows for now in seen][-1] == found.n_tokens
    assert seen[-1].n_bytes == seen[-1].total
    assert seen[-1].mistakes == found.n_tokens - found.n_right


# ------------------------------------------------------------------- other commands


def test_taggers_have_commands_of_their_own(tagger: SureTagger) -> None:
    Path("r.jsonl").write_text('{"text": "a", "label": "b"}\n')
    commands = ["predict m.sure r.jsonl", "evaluate m.sure r.jsonl",
                "train r.jsonl -o m.sure --resume"]  # fmt: skip
    for command in map(str.split, commands):
        done = runner.invoke(_app.app, command)
        assert (done.exit_code, done.stderr) == (
            1,
            "surelearn: m.sure must be a classifier, got a SureTagger. Its commands are those of "
            "surelearn tag.\n",
        )


def test_a_tagger_is_explained_like_any_model(tagger: SureTagger) -> None:
    said = runner.invoke(_app.app, ["explain", "m.sure", "--top", "4"]).stdout
    assert said == f"{tagger.explain(top=4)}\n"
    label = tagger.classes_[0]
    said = runner.invoke(_app.app, ["explain", "m.sure", "--label", label, "--top", "2"]).stdout
    assert said == f"{tagger.explain(label=label, top=2)}\n"
    refused = runner.invoke(_app.app, ["explain", "m.sure", "--text", "a dog"])
    assert (refused.exit_code, "needs a model of texts, got a SureTagger" in refused.stderr) == (
        2,
        True,
    )


def test_what_is_in_the_file_of_a_tagger(tagger: SureTagger) -> None:
    said = runner.invoke(_app.app, ["info", "m.sure"]).stdout
    assert "kind                  SureTagger\n" in said
    assert "columns               w pos\n" in said
    assert "stream                a.txt, at the end of pass 3 of 3\n" in said
    assert said.endswith("\nclass\n" + "\n".join(tagger.classes_.tolist()) + "\n")
    found = json.loads(runner.invoke(_app.app, ["info", "m.sure", "--json"]).stdout)
    assert found["features"] == tagger.features_.n_features
    assert found["templates"] == tagger.features_.templates


# ------------------------------------------------------------------------- going on


def start(*arguments: str) -> subprocess.Popen[str]:
    blocks = "from surelearn.read import _lines; _lines.BLOCK = 2000; "
    code = f"{blocks}print('ready', flush=True); from surelearn.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", code, "tag", "train", *arguments], stdout=subprocess.PIPE, text=True,
        stderr=subprocess.PIPE,
    )  # fmt: skip


def wait_for_a_checkpoint(process: subprocess.Popen[str], path: Path) -> None:
    """Until the file has changed, or whoever writes it has ended."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    while process.poll() is None and not (path.exists() and path.stat().st_mtime_ns > before):
        time.sleep(0.005)


@pytest.mark.slow
def test_killed_at_many_moments_training_ends_with_the_same_bytes(folder: Path) -> None:
    """Promise 10, for taggers."""
    Path("a.txt").write_text(text(4000))
    options = ("a.txt", "--passes", "2", "--checkpoint-every", "100")
    whole = start(*options, "-o", "whole.sure")
    assert whole.communicate()[0].startswith("ready\nLearnt 4,000 sentences")
    chance = np.random.default_rng(0)
    midway = 0
    for _ in range(8):
        process = start(*options, "-o", "killed.sure", "--resume")
        wait_for_a_checkpoint(process, Path("killed.sure"))
        time.sleep(chance.uniform(0.0, 0.1))
        process.kill()
        process.communicate()
        position = surelearn.load("killed.sure").stream_
        if position.ended and position.number == 2:  # all is learnt: start once more
            assert Path("killed.sure").read_bytes() == Path("whole.sure").read_bytes()
            os.remove("killed.sure")
        else:
            midway += 1
    assert midway > 1
    last = start(*options, "-o", "killed.sure", "--resume")
    assert last.communicate()[1] == ""
    assert Path("killed.sure").read_bytes() == Path("whole.sure").read_bytes()


def test_what_was_merged_reads_and_writes_the_same_columns(folder: Path) -> None:
    numbered = [f"{i} {line}" if line else "" for i, line in enumerate(text(60).split("\n"))]
    Path("n.txt").write_text("\n".join(numbered))
    columns = ("--columns", "_,w,pos,chunk", "-q")
    for name, seed in (("one.sure", 0), ("two.sure", 1)):
        ok("train", "n.txt", "-o", name, "--seed", seed, *columns)
    merged = surelearn.merge([surelearn.load("one.sure"), surelearn.load("two.sure")])
    merged.save("both.sure")
    shown = runner.invoke(_app.app, ["info", "both.sure"])
    assert shown.exit_code == 0
    assert "stream" not in shown.stdout
    assert ok("evaluate", "both.sure", "n.txt") == ok("evaluate", "one.sure", "n.txt")
    assert ok("predict", "both.sure", "n.txt") == ok("predict", "one.sure", "n.txt")
    learnt = json.loads(ok("train", "a.txt", "-o", "both.sure", "--resume", "--columns",
                           "w,pos,chunk", "--passes", 1, "--json"))  # fmt: skip
    assert learnt["sentences"] == 60


def test_what_was_merged_tags_the_column_that_was_learnt(folder: Path) -> None:
    said = u_line(1, "we", "X") + u_line(2, "go", "Y") + "\n"
    Path("a.conllu").write_text(said.replace("\t_\tX", "\tP\tX").replace("\t_\tY", "\tV\tY"))
    ok("train", "a.conllu", "-o", "u.sure", "--label", "lemma")
    surelearn.merge([surelearn.load("u.sure")] * 2).save("uu.sure")
    assert ok("predict", "uu.sure", "a.conllu") == Path("a.conllu").read_text()


def test_what_was_written_before_stays_where_nothing_can_be_tagged(folder: Path) -> None:
    ok("train", "a.txt", "-o", "m.sure", "--rule", "perceptron")
    Path("out.txt").write_text("precious")
    SureTextClassifier().fit(["a", "b"], [0, 1]).save("c.sure")
    for model, path, more in (
        ("m.sure", "nowhere.txt", []),
        ("c.sure", "a.txt", []),
        ("m.sure", "a.txt", ["--confidence"]),
        ("m.sure", "a.txt", ["--format", "csv"]),
    ):
        assert run("predict", model, path, "--output", "out.txt", *more).exit_code == 1
        assert Path("out.txt").read_text() == "precious"


@pytest.mark.parametrize("labels", [[1, 2, 3], [True, False, True]])
def test_labels_that_are_no_texts_are_counted_by_what_they_are_called(labels: list[Any]) -> None:
    X, y = [["a", "b", "c"]], [labels]
    tagger = SureTagger(random_state=0).fit(X, y)
    assert tagger.score(X, y) == 1.0
    found = evaluate_tagger(tagger, X, np.array(y))
    assert (found.f1, list(found.by_type)) == (1.0, sorted(set(map(str, labels))))
