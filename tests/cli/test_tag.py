"""The commands of taggers: their options, tags as the output, scores, and training by a solver."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surelearn
from command import ok_tag as ok
from command import run_tag as run
from surelearn import SureGraphClassifier, SureTagger, SureTextClassifier, read
from surelearn.cli import tag
from surelearn.cli._options import model_in, reading, reads
from surelearn.cli.tag import SENTENCES
from surelearn.evaluation import chunk_scores
from surelearn.graph import Graph
from surelearn.prediction import predict_tags
from surelearn.solvers import Interrupted, Solution
from surelearn.training.checkpoint import claimed


def test_columns_are_named_between_commas():
    assert reading(columns="w,_,pos", label=None, format="conll") == {
        "columns": ["w", "_", "pos"], "format": "conll",
    }  # fmt: skip
    assert reading(columns=None, label="upos", skip_bad=True) == {"label": "upos", "skip_bad": True}


def test_a_command_gets_its_options_as_one_parameter():
    @reads(SENTENCES, without=("label",))
    def command(files: list[str], *, reading: dict[str, Any], quiet: bool = False) -> None:
        asked.append((files, reading, quiet))

    asked: list[Any] = []
    names = list(inspect.signature(command).parameters)
    assert names == ["files", "columns", "format", "encoding", "skip_bad", "quiet"]
    command(files=["-"], columns="w,pos", format=None, encoding=None, skip_bad=True, quiet=True)
    assert asked == [(["-"], {"columns": ["w", "pos"], "skip_bad": True}, True)]


def test_the_tagger_of_a_file(tmp_path):
    tagger = SureTagger(random_state=0).fit([["a", "b"]], [["A", "B"]])
    tagger.save(tmp_path / "t.sure")
    found = model_in(tmp_path / "t.sure", "tagger")
    assert found.predict([["b", "a"]]) == tagger.predict([["b", "a"]])


def test_other_models_are_refused_by_name(tmp_path):
    SureTextClassifier().fit(["a", "b"], [0, 1]).save(tmp_path / "c.sure")
    message = r"c\.sure must be a tagger, got a SureTextClassifier\."
    with pytest.raises(ValueError, match=message):
        model_in(tmp_path / "c.sure", "tagger")
    graphs = [Graph(np.eye(2), [[0, 1]])] * 2
    SureGraphClassifier().fit(graphs, [["a", "b"]] * 2).save(tmp_path / "g.sure")
    with pytest.raises(ValueError, match=r"g\.sure must be a tagger, got a SureGraphClassifier\."):
        model_in(tmp_path / "g.sure", "tagger")


X, Y = [["the", "dog"], ["a", "cat", "runs"]], [["D", "N"], ["D", "N", "V"]]


class Stopped(surelearn.CRFTagger):
    """A tagger whose training is stopped, after something was learnt or before."""

    def fit_stream(self, source, *, progress=None, resume=False, learns=True):
        if not learns:
            raise KeyboardInterrupt
        self.fit(X, Y)
        raise Interrupted(Solution(np.zeros(1), 1.0, 3, False, None))


Stopped.__name__ = "CRFTagger"  # as files know it
Stopped.__module__ = surelearn.CRFTagger.__module__


def test_ctrl_c_writes_the_best_so_far(tmp_path, capsys):
    with (
        claimed(tmp_path / "m.sure") as output,
        pytest.raises(KeyboardInterrupt, match=r"^$"),
    ):
        tag.fit(Stopped(), ["a.txt"], output, quiet=False)
    model = surelearn.load(tmp_path / "m.sure")
    assert model.predict(X) == Y
    said = capsys.readouterr().err
    assert said.startswith(f"surelearn: interrupted after {model.n_iter_} iterations at an obj")
    assert said.endswith(f"The best model so far is in {tmp_path / 'm.sure'}.\n")


def test_ctrl_c_before_the_first_iteration_writes_nothing(tmp_path, capsys):
    with (
        claimed(tmp_path / "m.sure") as output,
        pytest.raises(KeyboardInterrupt, match=r"^$"),
    ):
        tag.fit(Stopped(), ["a.txt"], output, quiet=False, learns=False)
    assert capsys.readouterr().err == "surelearn: interrupted before anything was learnt.\n"
    assert not (tmp_path / "m.sure").exists()


def report(**changes):
    found = {"model": "m.sure", "bytes": 10, "sentences": 1000, "skipped": 0, "classes": ["A", "B"],
             "iterations": 1, "objective": 12345.678, "gap": None, "seconds": 2.0}  # fmt: skip
    return found | changes


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        ({}, ["Learnt 1,000 sentences of 2 tags from a.txt, b.txt in one iteration.",
              "Objective: 12,345.7.", "The model is in m.sure (10 bytes)."]),
        ({"gap": 0.5, "iterations": 2000, "skipped": 3},
         ["Learnt 1,000 sentences of 2 tags from a.txt, b.txt in 2,000 iterations.",
          "Objective: 12,345.7, at most 0.5 above the least.",
          "Skipped because they could not be parsed: 3 sentences.",
          "The model is in m.sure (10 bytes)."]),
    ],
)  # fmt: skip
def test_a_report_in_words(changes, lines):
    said = tag.solver_words(report(**changes), ["a.txt", "b.txt"], Stopped().task)
    assert said.splitlines() == lines
    piped = tag.solver_words(report(), ["-"], Stopped().task)
    assert "from standard input" in piped


def test_warnings_are_one_line(tmp_path, capsys):
    (tmp_path / "a.txt").write_text("the D\ndog N\n")
    with claimed(tmp_path / "m.sure") as output:
        tag.fit(surelearn.CRFTagger(max_iter=1), [str(tmp_path / "a.txt")], output, quiet=True)
    said = capsys.readouterr().err
    assert said.startswith("surelearn: CRFTagger must converge within max_iter=1 iterations, got")
    assert said.count("\n") == 1
    assert Path(tmp_path / "m.sure").exists()


def u_line(number: object, form: str, upos: str, misc: str = "_") -> str:
    return "\t".join([str(number), form, "_", upos, *["_"] * 5, misc]) + "\n"


def test_the_input_comes_back_with_tags(tagger: SureTagger) -> None:
    Path("new.txt").write_text("-DOCSTART- -X-\n\nthe\tD\nold\tA\n\n\nsoon\tR")
    Path("more.txt").write_text("dogs N\n")
    (a, b), (c,), (d,) = tagger.predict(
        [[("the", "D"), ("old", "A")], [("soon", "R")], [("dogs", "N")]]
    )
    wanted = f"-DOCSTART- -X-\n\nthe\tD\t{a}\nold\tA\t{b}\n\n\nsoon\tR\t{c}\n\ndogs N {d}\n"
    assert ok("predict", "m.sure", "new.txt", "more.txt") == wanted
    ok("predict", "m.sure", "new.txt", "more.txt", "-o", "out.txt")
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


def test_universal_dependencies_come_back_whole(sentence_folder: Path) -> None:
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


def test_the_column_of_labels_may_come_first(sentence_folder: Path) -> None:
    Path("b.txt").write_text("B-NP the D\nI-NP mill N\n\n" * 10)
    ok("train", "b.txt", "-o", "b.sure", "--columns", "chunk,w,pos", "--label", "chunk")
    Path("new.txt").write_text("? the D\n? mill N\n")
    assert ok("predict", "b.sure", "new.txt") == "? the D B-NP\n? mill N I-NP\n"


def test_a_tagger_that_was_fitted_in_memory(sentence_folder: Path) -> None:
    SureTagger(random_state=0).fit([[("the", "D"), ("mill", "N")]], [["A", "B"]]).save("p.sure")
    Path("new.txt").write_text("the D x\nmill N x\n")
    assert ok("predict", "p.sure", "new.txt") == "the D x A\nmill N x B\n"
    SureTagger(random_state=0).fit([["the", "mill"]], [["A", "B"]]).save("p.sure")
    assert ok("predict", "p.sure", "new.txt") == "the D x A\nmill N x B\n"


def test_bad_sentences_are_left_out_and_counted(tagger: SureTagger) -> None:
    Path("new.txt").write_text("the D\n\nold\n\nmill N\n\nbark\n")
    done = run("predict", "m.sure", "new.txt", "--skip-bad")
    assert done.stderr == "surelearn: 2 bad sentences were skipped.\n"
    assert [line.split()[0] for line in done.stdout.splitlines() if line] == ["the", "mill"]
    done = run("predict", "m.sure", "new.txt")
    assert (done.exit_code, done.stderr) == (
        1, "surelearn: new.txt, line 3: expected 2 columns, got 1. With --skip-bad such sentences "
        "are left out.\n"
    )  # fmt: skip


def test_what_predict_refuses(tagger: SureTagger) -> None:
    done = run("predict", "m.sure", "test.txt", "--output", "test.txt")
    assert done.exit_code == 2
    assert "output must not be one of the inputs" in done.stderr
    ok("train", "a.txt", "-o", "p.sure", "--rule", "perceptron", "--passes", 1)
    done = run("predict", "p.sure", "test.txt", "--confidence")
    assert done.exit_code == 1
    assert done.stderr == (
        "surelearn: confidence needs a rule that keeps variances, got 'perceptron'.\n"
    )
    SureTextClassifier(passes=1).fit(["good", "bad"], ["p", "n"]).save("c.sure")
    done = run("predict", "c.sure", "test.txt")
    assert done.stderr == "surelearn: c.sure must be a tagger, got a SureTextClassifier.\n"


def test_what_was_merged_tags_the_column_that_was_learnt(sentence_folder: Path) -> None:
    said = u_line(1, "we", "X") + u_line(2, "go", "Y") + "\n"
    Path("a.conllu").write_text(said.replace("\t_\tX", "\tP\tX").replace("\t_\tY", "\tV\tY"))
    ok("train", "a.conllu", "-o", "u.sure", "--label", "lemma")
    surelearn.merge([surelearn.load("u.sure")] * 2).save("uu.sure")
    assert ok("predict", "uu.sure", "a.conllu") == Path("a.conllu").read_text()


def test_what_was_written_before_stays_where_nothing_can_be_tagged(sentence_folder: Path) -> None:
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


def test_chunks_are_counted(tagger: SureTagger) -> None:
    (known,) = read.sentences("test.txt")
    wanted = chunk_scores(known.y, tagger.predict(known.X))
    assert 0.5 < wanted.f1 < 1
    assert ok("evaluate", "m.sure", "test.txt") == f"{wanted}\n"
    assert json.loads(ok("evaluate", "m.sure", "test.txt", "--json")) == wanted.to_dict()


def test_evaluating_what_cannot_be_read(tagger: SureTagger) -> None:
    Path("bad.txt").write_text("the D B-NP\n\nold A\n\n")
    done = run("evaluate", "m.sure", "bad.txt")
    assert done.stderr.startswith("surelearn: bad.txt, line 3: expected 3 columns, got 2. With --")
    said = ok("evaluate", "m.sure", "bad.txt", "--skip-bad")
    assert said.startswith("1 tokens of 1 sequences (1 skipped as bad) with 1 chunks; found 1,")
    Path("odd.txt").write_text("the D DET\n")
    done = run("evaluate", "m.sure", "odd.txt")
    assert "tags must be 'O', or B, I, E or S, a hyphen and a type" in done.stderr
