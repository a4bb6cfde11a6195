"""`surelearn explain`: the surest words of a model, and those of one text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command import plain_run as run
from surelearn import SureKernelClassifier, SureTagger, SureTextClassifier, load
from surelearn.text import NativeVectorizer


@pytest.fixture(autouse=True)
def inside(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(models)


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
    assert [line.split()[0] for line in table] == ["feature", "great", "(others)"]
    assert table[0].split() == ["feature", "label", "value", "mean", "deviation", "margin"]
    assert max(map(len, table)) < 80
    plain = json.loads(
        run("explain", "two.sure", "--text", "great, not dull", "--top", 1, "--json").stdout
    )
    assert plain["label"] == label
    assert plain["probabilities"][label] == p
    assert plain["shares"][-1]["feature"] == "(others)"
    assert plain["shares"][-1]["mean"] is None
    assert plain["known"] == 2  # "not" is new


def test_an_answer_to_a_text_without_a_known_word_is_explained() -> None:
    done = run("explain", "two.sure", "--text", "")
    assert done.exit_code == 0
    head, note, *_ = done.stdout.splitlines()
    assert ", with probability " in head
    assert note.startswith("The text holds no word that the model knows. The answer is that of the")
    assert json.loads(run("explain", "two.sure", "--text", "", "--json").stdout)["known"] == 0


def test_a_text_of_many_classes_is_explained_by_the_best_two(tmp_path: Path) -> None:
    words = [f"word{i}" for i in range(13)]
    model = SureTextClassifier(random_state=0).fit(words * 3, [f"label{i}" for i in range(13)] * 3)
    model.save(tmp_path / "many.sure")
    command = "explain", tmp_path / "many.sure", "--text", "word3 word7 word7"
    head, *lines = run(*command).stdout.splitlines()
    p = np.sort(model.predict_proba(["word3 word7 word7"])[0])
    assert head == f"label7, with probability {p[-1]:.4f}; next best: label3, {p[-2]:.4f}"
    assert [line.split()[:2] for line in lines] == [
        *([], ["feature", "label"], ["word7", "label7"], ["word3", "label7"]),
        *(["(others)", "label7"], [], ["feature", "label"], ["word3", "label3"]),
        *(["word7", "label3"], ["(others)", "label3"]),
    ]
    asked = run(*command, "--intercept").stdout
    assert [line.split()[0] for line in asked.splitlines() if line][2:5] == [
        *("word7", "word3", "intercept"),
    ]
    assert asked.count("intercept") == 2
    assert "(others)" not in asked
    assert "intercept" not in run("explain", tmp_path / "many.sure").stdout
    assert run("explain", tmp_path / "many.sure", "--intercept").stdout.count("intercept") == 13


@pytest.mark.parametrize("how", [(), ("--json",)], ids=str)
def test_one_text_is_hashed_for_its_shares_and_its_probability(how: Any, calls: Any) -> None:
    made = calls(NativeVectorizer, "_hash")
    assert run("explain", "two.sure", "--text", "great, not dull", *how).exit_code == 0
    assert made["_hash"] == 2


def test_one_text_of_a_first_order_rule() -> None:
    assert run("explain", "old.sure", "--text", "dull").stdout.startswith("bad\n\nfeature")
    plain = json.loads(run("explain", "old.sure", "--text", "dull", "--json").stdout)
    assert plain.keys() == {"label", "known", "shares"}


def test_what_explain_refuses() -> None:
    result = run("explain", "two.sure", "--label", "odd")
    assert result.exit_code == 1
    assert result.stderr == "surelearn: label must be one of 'bad', 'good', got 'odd'.\n"
    result = run("explain", "numbers.sure", "--text", "dull")
    assert result.exit_code == 2
    assert "text needs a text classifier, got a SureClassifier." in result.stderr
    assert run("explain", "two.sure", "--top", 0).exit_code == 2
    SureTagger(templates=["w[0]"]).fit([["a", "b"]], [["x", "y"]]).save("tags.sure")
    result = run("explain", "tags.sure", "--intercept")
    assert result.exit_code == 2
    assert "intercept needs a model with one, got a SureTagger." in result.stderr


def test_a_kernel_classifier_has_no_weights_of_features() -> None:
    SureKernelClassifier().fit(np.eye(3), [1, 2, 3]).save("kernel.sure")
    done = run("explain", "kernel.sure")
    assert (
        "must be a model with a weight for each feature, got a SureKernelClassifier" in done.stderr
    )


def test_every_label_of_a_text_is_explained(topics: Path) -> None:
    model = load(topics / "topics.sure")
    records = [json.loads(line) for line in (topics / "test.jsonl").read_text().splitlines()]
    texts = [record["text"] for record in records]
    labels = model.predict(texts)
    two = next(i for i, own in enumerate(labels) if len(own) == 2)
    words = "explain", topics / "topics.sure", "--text"
    text = run(*words, texts[two]).stdout
    p = model.predict_proba([texts[two]])[0]
    said = [f"{x}, with probability {p[model.classes_ == x][0]:.4f}" for x in labels[two]]
    assert text.startswith("; ".join(said))
    assert text.count("feature") == 2
    plain = json.loads(run(*words, texts[two], "--json").stdout)
    assert tuple(plain["labels"]) == labels[two]
    assert {line["label"] for line in plain["shares"]} == set(labels[two])
    none = texts[labels.index(())]
    assert run(*words, none).stdout.startswith("no label; the nearest is topic ")
    one = run(*words, texts[two], "--label", "topic 0").stdout
    assert one.count("feature") == 1


def test_a_label_cannot_steer_the_terminal(tmp_path: Path) -> None:
    clf = SureTextClassifier(random_state=0).fit(["good film", "bad film"], ["\x07", "no"])
    clf.save(tmp_path / "m.sure")
    said = run("explain", tmp_path / "m.sure", "--text", "good").stdout
    assert "\x07" not in said
    assert said.startswith("\\x07, with probability")
