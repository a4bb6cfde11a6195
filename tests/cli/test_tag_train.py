"""`surelearn tag train`, in process and as a process of its own, and what follows it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import surelearn
from command import COMMAND
from command import ok_tag as ok
from command import run as run_command
from command import run_tag as run
from learners.tasks.test_sequence_training import text
from surelearn import CRFTagger, SureTagger, SureTextClassifier, SVMTagger, rules
from surelearn.cli._progress import share


def test_a_tagger_comes_out_of_a_file(sentence_folder: Path) -> None:
    said = ok("train", "a.txt", "-o", "m.sure")
    assert said.startswith(
        "Learnt 60 sentences of 6 tags from a.txt in 10 passes.\nProgressive val"
    )
    model = surelearn.load("m.sure")
    first = share(int(model.mistakes_[0]), 60)
    assert f"error: {first} of sentences, which are wrong if one tag is.\n" in said
    by_hand = SureTagger(random_state=0).fit_stream("a.txt")
    by_hand.save("b.sure")
    assert Path("m.sure").read_bytes() == Path("b.sure").read_bytes()
    assert model.predict([[("the", "D"), ("mill", "N")]]) == [["B-NP", "I-NP"]]


def test_every_option_reaches_the_tagger(sentence_folder: Path) -> None:
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
    assert model.random_state == 5
    assert model.stream_.columns == {"columns": ["word", "pos", "chunk"], "label": "chunk"}
    found = json.loads(said)
    assert (found["sentences"], found["passes"], len(found["mistakes"])) == (60, 2, 2)
    assert found["classes"] == model.classes_.tolist()


@pytest.mark.parametrize("kind", ["crf", "svm"])
def test_batch_taggers_come_out_of_files(sentence_folder: Path, kind: str) -> None:
    option = ("--l2", 0.5, "--l1", 0.01) if kind == "crf" else ("--C", 0.5)
    said = ok("train", "a.txt", "-o", "m.sure", "--model", kind, *option, "--seed", 3)
    made = CRFTagger(l2=0.5, l1=0.01) if kind == "crf" else SVMTagger(C=0.5)
    by_hand = made.set_params(random_state=3).fit_stream("a.txt")
    by_hand.save("b.sure")
    assert Path("m.sure").read_bytes() == Path("b.sure").read_bytes()
    assert said == (
        f"Learnt 60 sentences of 6 tags from a.txt in {by_hand.n_iter_} iterations.\n"
        f"Objective: {by_hand.objective_:,.6g}, at most {by_hand.gap_:.2g} above the least.\n"
        f"The model is in m.sure ({Path('m.sure').stat().st_size / 1000:.1f} kB).\n"
    )
    assert "F1                 1.0000" in ok("evaluate", "m.sure", "a.txt")
    assert ok("predict", "m.sure", "a.txt", "--confidence").startswith(". . O O 0.")
    shown = run_command("info", "m.sure").stdout
    assert f"kind                  {type(by_hand).__name__}\n" in shown
    assert f"objective             {by_hand.objective_:,.6g}\n" in shown
    assert "rule" not in shown
    assert run_command("explain", "m.sure", "--top", "2").stdout == f"{by_hand.explain(top=2)}\n"


def test_a_crf_is_resumed_from_its_weights(sentence_folder: Path) -> None:
    ok("train", "a.txt", "-o", "m.sure", "--model", "crf", "--columns", "w,_,chunk")
    cold = surelearn.load("m.sure").n_iter_
    found = json.loads(ok("train", "a.txt", "-o", "m.sure", "--resume", "--l2", 1.1, "--json"))
    assert found["iterations"] < cold
    assert (found["sentences"], found["skipped"]) == (60, 0)
    model = surelearn.load("m.sure")
    assert (model.l2, model.warm_start) == (1.1, False)
    assert model.stream_.columns == {"columns": ["w", "_", "chunk"], "label": "chunk"}
    assert found["objective"] == model.objective_


def test_files_of_rows_are_refused(sentence_folder: Path) -> None:
    Path("r.jsonl").write_text('{"text": "a", "label": "b"}\n' * 3)
    ok("train", "a.txt", "-o", "t.sure")
    for command in (("train", "r.jsonl", "-o", "m.sure"), ("predict", "t.sure", "r.jsonl"),
                    ("evaluate", "t.sure", "r.jsonl")):  # fmt: skip
        done = run(*command)
        assert (done.exit_code, done.stdout) == (1, "")
        assert done.stderr.startswith("surelearn: r.jsonl must have one token a line, got a name")
    assert not Path("m.sure").exists()


def test_templates_of_crfpp(sentence_folder: Path) -> None:
    Path("template").write_text("# words\nU00:%x[0,0]\nU01:%x[-1,1]/%x[0,1]\n\nB\n")
    ok("train", "a.txt", "-o", "m.sure", "--templates", "template", "--passes", 1)
    assert surelearn.load("m.sure").templates == ["w[0]", "pos[-1]|pos[0]", "B:"]
    names = ("--columns", "form,tag,chunk")
    ok("train", "a.txt", "-o", "m.sure", "--templates", "template", "--passes", 1, *names)
    assert surelearn.load("m.sure").templates == ["form[0]", "tag[-1]|tag[0]", "B:"]


def test_going_on_takes_columns_and_settings_from_the_tagger(sentence_folder: Path) -> None:
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


def test_another_rule_is_refused_where_training_continues(sentence_folder: Path) -> None:
    ok("train", "a.txt", "-o", "m.sure", "--passes", 1, "--rule", "arow")
    done = run("train", "a.txt", "-o", "m.sure", "--resume", "--rule", "stdev")
    assert done.exit_code == 2
    assert "rule must be AROW(r=1.0), which m.sure has learnt by" in done.output
    ok("train", "a.txt", "-o", "m.sure", "--resume", "--rule", "arow")


@pytest.mark.slow
def test_sentences_arrive_on_standard_input(sentence_folder: Path) -> None:
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
        (["a.txt", "--model", "hmm"], 1, "--model must be one of 'sure', 'crf', 'svm', got 'hmm'."),
        (["a.txt", "--model", "crf", "--rule", "arow"], 2, "rule is for --model sure, got --model"),
        (
            ["a.txt", "--model", "svm", "--passes", "2"],
            2,
            "passes is for --model sure, got",
        ),
        (["a.txt", "--model", "svm", "--l2", "2"], 2, "l2 is for --model crf, got --model svm."),
        (["a.txt", "--C", "2"], 2, "C is for --model svm, got --model sure."),
        (["a.txt", "--model", "crf", "--l2", "-1"], 1, "l2 must be in [1e-30, 1e30], got -1.0."),
        (["a.txt", "--model", "sure", "--resume", "-o", "crf.sure"], 2, "model must be crf, the"),
        (["a.txt", "--resume", "-o", "svm.sure"], 1, "resume must be False for SVMTagger"),
        (
            ["bad.txt", "--model", "crf"],
            1,
            "surelearn: bad.txt, line 2: expected 3 columns, got 2.",
        ),
        (["a.txt", "-o", "no/m.sure"], 2, "output must be in a folder that exists"),
        (["a.txt", "-o", "a.txt"], 2, "output must not be one of the inputs"),
    ],
)
def test_what_train_refuses(
    sentence_folder: Path, arguments: list[str], status: int, match: str
) -> None:
    Path("bad.txt").write_text("a A X\nb B\n")
    Path("empty.txt").write_text("# nothing\n")
    SureTextClassifier(passes=1).fit(["good", "bad"], ["p", "n"]).save("c.sure")
    CRFTagger().fit([["a", "b"]], [["A", "B"]]).save("crf.sure")
    SVMTagger().fit([["a", "b"]], [["A", "B"]]).save("svm.sure")
    output = [] if "-o" in arguments else ["-o", "m.sure"]
    done = run("train", *arguments, *output)
    assert done.exit_code == status, done.output
    assert match in " ".join(done.stderr.replace("│", " ").split())
    assert not Path("m.sure").exists()


# ------------------------------------------------------------------- other commands


def test_taggers_have_commands_of_their_own(tagger: SureTagger) -> None:
    Path("r.jsonl").write_text('{"text": "a", "label": "b"}\n')
    commands = ["predict m.sure r.jsonl", "evaluate m.sure r.jsonl",
                "train r.jsonl -o m.sure --resume"]  # fmt: skip
    for command in map(str.split, commands):
        done = run_command(*command)
        assert (done.exit_code, done.stderr) == (
            1,
            "surelearn: m.sure must be a classifier, got a SureTagger. Use the commands of "
            "surelearn tag.\n",
        )


def test_a_tagger_is_explained_like_any_model(tagger: SureTagger) -> None:
    said = run_command("explain", "m.sure", "--top", "4").stdout
    assert said == f"{tagger.explain(top=4)}\n"
    label = tagger.classes_[0]
    said = run_command("explain", "m.sure", "--label", label, "--top", "2").stdout
    assert said == f"{tagger.explain(label=label, top=2)}\n"
    refused = run_command("explain", "m.sure", "--text", "a dog")
    assert (refused.exit_code, "needs a text classifier, got a SureTagger" in refused.stderr) == (
        2,
        True,
    )


def test_what_is_in_the_file_of_a_tagger(tagger: SureTagger) -> None:
    said = run_command("info", "m.sure").stdout
    assert "kind                  SureTagger\n" in said
    assert "columns               w pos\n" in said
    assert "stream                a.txt, at the end of pass 3 of 3\n" in said
    assert said.endswith("\nclass\n" + "\n".join(tagger.classes_.tolist()) + "\n")
    found = json.loads(run_command("info", "m.sure", "--json").stdout)
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
def test_killed_at_many_moments_training_ends_with_the_same_bytes(sentence_folder: Path) -> None:
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


def test_what_was_merged_reads_and_writes_the_same_columns(sentence_folder: Path) -> None:
    numbered = [f"{i} {line}" if line else "" for i, line in enumerate(text(60).split("\n"))]
    Path("n.txt").write_text("\n".join(numbered))
    columns = ("--columns", "_,w,pos,chunk", "-q")
    for name, seed in (("one.sure", 0), ("two.sure", 1)):
        ok("train", "n.txt", "-o", name, "--seed", seed, *columns)
    merged = surelearn.merge([surelearn.load("one.sure"), surelearn.load("two.sure")])
    merged.save("both.sure")
    shown = run_command("info", "both.sure")
    assert shown.exit_code == 0
    assert "stream" not in shown.stdout
    assert ok("evaluate", "both.sure", "n.txt") == ok("evaluate", "one.sure", "n.txt")
    assert ok("predict", "both.sure", "n.txt") == ok("predict", "one.sure", "n.txt")
    learnt = json.loads(ok("train", "a.txt", "-o", "both.sure", "--resume", "--columns",
                           "w,pos,chunk", "--passes", 1, "--json"))  # fmt: skip
    assert learnt["sentences"] == 60
