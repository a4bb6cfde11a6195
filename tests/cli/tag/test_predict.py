"""`surelearn tag predict`: the input comes back with tags."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import surelearn
from command import ok_tag as ok
from command import run_tag as run
from surelearn import SureTagger, SureTextClassifier, read
from surelearn.prediction import predict_tags


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
