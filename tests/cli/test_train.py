"""`surelearn train`, in process and as a process of its own."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import surelearn
from command import COMMAND, line, run
from containers import change_settings
from surelearn import SureTextClassifier, rules
from surelearn.graph import Graph


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.jsonl").write_text("".join(line(i) + "\n" for i in range(100)))
    return tmp_path


def test_a_model_comes_out_of_a_file(folder: Path) -> None:
    done = run("train", "r.jsonl", "-o", "m.sure")
    assert done.exit_code == 0, done.output
    assert done.output.startswith("Learnt 100 rows of 2 classes from r.jsonl in 3 passes.\n")
    assert done.output.splitlines()[1] == "Rows of each class: neg (50), pos (50)."
    assert "warn" not in done.output
    model = surelearn.load("m.sure")
    assert model.predict(["a good film"]) == ["pos"]
    by_hand = SureTextClassifier(random_state=0).fit_stream("r.jsonl")
    assert model.coef_.tobytes() == by_hand.coef_.tobytes()


def test_every_option_reaches_the_model(folder: Path) -> None:
    done = run(
        "train", "r.jsonl", "-o", "m.sure", "--passes", 2, "--rule", "variance(phi=3)", "--bigrams",
        "--n-features", 4096, "--average", "--balanced", "--jobs", 1, "--seed", 5, "--json",
        "--checkpoint-every", 10, "--weight", "stars", "--label", "label", "--text", "text",
        "--idf", "--no-calibrate",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    model = surelearn.load("m.sure")
    assert model.rule == rules.Variance(phi=3)
    assert model.ngram_range == (1, 2)
    assert model.idf
    assert not hasattr(model, "temperature_")
    assert model.n_features == 4096
    assert model.average
    assert model.class_weight == "balanced"
    assert model.n_jobs is None
    assert model.random_state == 5
    found = json.loads(done.output)
    assert found["rows"] == 100
    assert found["passes"] == len(found["mistakes"]) == 2
    assert model.stream_.columns == {"text": "text", "label": "label", "weight": "stars"}


def test_probabilities_are_calibrated_unless_told_otherwise(folder: Path) -> None:
    for options, is_calibrated in (
        ((), True),
        (("--calibrate",), True),
        (("--no-calibrate",), False),
    ):
        assert run("train", "r.jsonl", "-o", "m.sure", "--passes", 1, *options).exit_code == 0
        assert hasattr(surelearn.load("m.sure"), "temperature_") == is_calibrated
        assert ("\ntemperature " in run("info", "m.sure").output) == is_calibrated


def test_tune_shows_what_it_tried_and_takes_the_best(folder: Path) -> None:
    done = run("train", "r.jsonl", "-o", "m.sure", "--tune", "--passes", 1)
    assert done.exit_code == 0, done.output
    assert "did best" in done.output.splitlines()[0]
    assert done.output.splitlines()[1].split()[:2] == ["parameters", "error"]
    assert "Learnt 100 rows" in done.output
    quiet = run("train", "r.jsonl", "-o", "q.sure", "--tune", "--passes", 1, "--json")
    assert json.loads(quiet.output)["rows"] == 100
    records = surelearn.read.batches("r.jsonl").first(20_000)
    base = SureTextClassifier(random_state=0, passes=1)
    best = surelearn.tune(base, records.X, records.y).best
    assert surelearn.load("m.sure").rule == best.rule


@pytest.mark.parametrize("tuned", [[], ["--tune"]])
def test_numbers_in_units_of_their_own_are_learnt(folder: Path, tuned: list[str]) -> None:
    lines = [f"{150 + 40 * i / 99},{i % 7 / 7},{'tall' if i > 50 else 'small'}" for i in range(100)]
    (folder / "n.csv").write_text("\n".join(["height,luck,label", *lines]))
    done = run("train", "n.csv", "-o", "n.sure", "--features", "height,luck", *tuned)
    assert done.exit_code == 0
    assert "X should have" not in done.stderr
    found = surelearn.evaluate(surelearn.load("n.sure"), "n.csv", features=["height", "luck"])
    assert found.accuracy > 0.9


def test_numbers_make_a_classifier_of_numbers(folder: Path) -> None:
    (folder / "n.csv").write_text("a,b,label\n" + "1,0,x\n0,1,y\n" * 10)
    assert run("train", "n.csv", "-o", "n.sure", "--features", "a").exit_code == 0
    assert surelearn.load("n.sure").n_features_in_ == 1
    assert run("train", "n.csv", "-o", "n.sure").exit_code == 0
    assert surelearn.load("n.sure").n_features_in_ == 2
    assert surelearn.load("n.sure").predict_one([1, 0]) == "x"
    for option in ("--bigrams", "--idf", "--no-idf"):
        done = run("train", "n.csv", "-o", "n.sure", option)
        assert (done.exit_code, done.output) == (
            1, f"surelearn: {option} needs texts, got rows of numbers.\n"
        )  # fmt: skip


def test_many_files_and_compressed_ones(folder: Path) -> None:
    for i in range(3):
        with gzip.open(folder / f"p{i}.jsonl.gz", "wt") as file:
            file.writelines(line(10 * i + j) + "\n" for j in range(10))
    assert run("train", "p0.jsonl.gz", "p1.jsonl.gz", "-o", "a.sure").exit_code == 0
    assert surelearn.load("a.sure").stream_.rows == 20
    assert run("train", "p*.jsonl.gz", "-o", "a.sure").exit_code == 0
    assert surelearn.load("a.sure").stream_.rows == 30


def test_going_on_takes_columns_and_settings_from_the_model(folder: Path) -> None:
    first = run("train", "r.jsonl", "-o", "m.sure", "--label", "stars", "--passes", 1, "--bigrams")
    assert first.exit_code == 0, first.output
    with open("r.jsonl", "a") as file:
        file.writelines(line(i) + "\n" for i in range(20))
    done = run("train", "r.jsonl", "-o", "m.sure", "--resume", "--passes", 1)
    assert done.exit_code == 0, done.output
    model = surelearn.load("m.sure")
    assert model.classes_.tolist() == [1, 5]
    assert model.stream_.rows == 120
    assert model.ngram_range == (1, 2)
    # Settings that cannot change are refused.
    done = run("train", "r.jsonl", "-o", "m.sure", "--resume", "--n-features", 64)
    assert done.exit_code == 1
    assert "n_features must stay" in done.output


def test_settings_that_would_be_ignored_are_refused(folder: Path) -> None:
    assert run("train", "r.jsonl", "-o", "m.sure", "--rule", "arow").exit_code == 0
    before = (folder / "m.sure").read_bytes()
    for rule in ("pa1", "probit", "arow(r=2)"):
        done = run("train", "r.jsonl", "-o", "m.sure", "--resume", "--rule", rule)
        assert done.exit_code == 2
        assert "rule must be AROW(r=1.0), which m.sure has learnt by" in done.output
    assert (folder / "m.sure").read_bytes() == before
    done = run("train", "r.jsonl", "-o", "m.sure", "--resume", "--rule", "arow(r=1)")
    assert done.exit_code == 0, done.output
    done = run("train", "r.jsonl", "-o", "t.sure", "--tune", "--rule", "arow")
    assert done.exit_code == 2
    assert "rule is chosen by --tune, got 'arow'" in done.output
    assert not (folder / "t.sure").exists()


def test_going_on_names_the_rows_of_all_runs(folder: Path) -> None:
    assert run("train", "r.jsonl", "-o", "m.sure", "--passes", 1).exit_code == 0
    with open("r.jsonl", "a") as file:
        file.writelines(line(2 * i) + "\n" for i in range(20))
    done = run("train", "r.jsonl", "-o", "m.sure", "--resume", "--passes", 1)
    assert "\nRows of each class in all runs: pos (70), neg (50).\n" in done.output
    again = run("train", "r.jsonl", "-o", "m.sure", "--resume", "--passes", 1, "--json")
    assert json.loads(again.output)["class_rows"] == [50, 70]


def test_rows_that_end_earlier_than_those_learnt_are_gone_on_with(folder: Path) -> None:
    Path("a.svm").write_text("1 1:1 9:2\n-1 2:1\n" * 5)
    Path("b.svm").write_text("1 1:1\n-1 2:1\n")
    assert run("train", "a.svm", "-o", "m.sure", "--passes", 1).exit_code == 0
    done = run("train", "b.svm", "-o", "m.sure", "--passes", 1, "--resume")
    assert done.exit_code == 0, done.output
    more = ("-o", "m.sure", "--format", "svmlight", "--resume")
    done = run("train", "-", *more, input="1 1:1\n-1 9:1\n")
    assert done.exit_code == 0, done.output
    assert surelearn.load("m.sure")._model.counts.sum() == 14


def test_standard_input_goes_on(folder: Path) -> None:
    text = Path("r.jsonl").read_text()
    assert run("train", "-", "-o", "m.sure", "--resume", input=text).exit_code == 0
    done = run("train", "-", "-o", "m.sure", "--resume", input=text)
    assert done.exit_code == 0, done.output
    assert "from standard input in one pass" in done.output
    assert "Progressive validation error: 0.0 %." in done.output
    assert surelearn.load("m.sure")._model.counts.sum() == 200


BAD = {
    "missing column": (["--text", "body"], None, r"must have a column 'body', got 'text', 'label'"),
    "not json": ([], "{oops\n", "r.jsonl, line 101: expected a JSON object, got '{oops'."),
    "null label": ([], '{"text": "a", "label": null}\n', "'label' must be a text, got null."),
    "no label": ([], '{"text": "a"}\n', "line 101: 'label' must be a text, got none."),
    "another type": ([], '{"text": "a", "label": 3}\n', "'label' must be a text, got 3."),
    "no such rule": (["--rule", "foo"], None, "rule must be one of 'variance'"),
    "bad rule": (["--rule", "arow(q=1)"], None, "rule must have the parameters of arow"),
    "no number": (
        ["--rule", "arow(r=x)"],
        None,
        "such as 'arow' or 'arow(r=0.3)', got 'arow(r=x)'.",
    ),
    "no name": (["--rule", "arow(0.3)"], None, "such as 'arow' or 'arow(r=0.3)', got 'arow(0.3)'."),
    "no time": (["--checkpoint-every", "soon"], None, "--checkpoint-every must be rows or a time"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_exit_code_1(folder: Path, case: str) -> None:
    options, more, message = BAD[case]
    if more is not None:
        with open("r.jsonl", "a") as file:
            file.write(more)
    done = run("train", "r.jsonl", "-o", "m.sure", *options)
    assert done.exit_code == 1
    assert message in done.output
    assert done.output.count("\n") == 1
    if more is not None:
        done = run("train", "r.jsonl", "-o", "m.sure", "--skip-bad")
        assert done.exit_code == 0
        assert "Skipped because they could not be parsed: 1 row" in done.output


def test_invalid_utf8_and_an_empty_file(folder: Path) -> None:
    with open("r.jsonl", "ab") as file:
        file.write(b'{"text": "caf\xe9", "label": "pos"}\n')
    done = run("train", "r.jsonl", "-o", "m.sure")
    assert (done.exit_code, done.output) == (
        1, "surelearn: r.jsonl, line 101: expected UTF-8, got byte 0xe9 at position 13. Name the "
        "encoding of the file, such as --encoding latin-1. With --skip-bad such records "
        "are left out.\n"
    )  # fmt: skip
    Path("e.jsonl").write_text("")
    done = run("train", "e.jsonl", "-o", "m.sure")
    assert (done.exit_code, done.output) == (
        1, "surelearn: e.jsonl must have at least one record, got an empty file.\n"
    )  # fmt: skip
    assert not Path("m.sure").exists()


def test_wrong_use_is_exit_code_2(folder: Path) -> None:
    assert run("train", "r.jsonl").exit_code == 2
    done = run("train", "r.jsonl", "-o", "no/such/folder/m.sure")
    assert done.exit_code == 2
    assert "must be in a folder that exists" in done.output
    assert run("train", "r.jsonl", "-o", "m.sure", "--passes", 0).exit_code == 2


@pytest.mark.parametrize("files", ["r.jsonl", "./r.jsonl", "*.jsonl"])
def test_what_is_read_is_not_overwritten(folder: Path, files: str) -> None:
    before = (folder / "r.jsonl").read_bytes()
    done = run("train", files, "-o", "r.jsonl")
    assert done.exit_code == 2
    assert "output must not be one of the inputs, got 'r.jsonl'" in done.output
    assert (folder / "r.jsonl").read_bytes() == before


def test_a_model_that_cannot_be_gone_on_with_is_left_alone(folder: Path) -> None:
    run("train", "r.jsonl", "-o", "m.sure", "--passes", 1)
    whole = Path("m.sure").read_bytes()
    for damaged in (whole[:-10], whole[:100], b"junk", b""):
        Path("m.sure").write_bytes(damaged)
        done = run("train", "r.jsonl", "-o", "m.sure", "--resume")
        assert done.exit_code == 1
        assert done.output.startswith("surelearn: m.sure must be a safetensors file, got")
        assert Path("m.sure").read_bytes() == damaged


def test_a_newer_file_is_said_to_be_newer(folder: Path) -> None:
    run("train", "r.jsonl", "-o", "m.sure", "--passes", 1)
    change_settings("m.sure", lambda settings: settings.update(format=9))
    done = run("train", "r.jsonl", "-o", "m.sure", "--resume")
    assert done.exit_code == 1
    assert "m.sure must have format 2 or older, got 9. Update surelearn to read it." in done.output


def test_a_full_disk_leaves_the_old_model(folder: Path, no_room: Any) -> None:
    run("train", "r.jsonl", "-o", "m.sure", "--passes", 1)
    before = Path("m.sure").read_bytes()
    with no_room(1000):
        done = run("train", "r.jsonl", "-o", "m.sure", "--checkpoint-every", 50)
    assert done.exit_code == 1
    assert "surelearn: m.sure: File too large." in done.output
    assert Path("m.sure").read_bytes() == before
    assert sorted(os.listdir(".")) == ["m.sure", "r.jsonl"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_output_that_cannot_be_written(folder: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, "train", "r.jsonl", "-o", "m.sure"], stdout=full, stderr=subprocess.PIPE,
            text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert surelearn.load("m.sure").stream_.ended


def kernel_classifier() -> object:
    return surelearn.SureKernelClassifier().fit([[0.0], [1.0]], [0, 1])


def graph_classifier() -> object:
    return surelearn.SureGraphClassifier().fit([Graph([[0.0], [1.0]], [[0, 1]])], [["a", "b"]])


@pytest.mark.parametrize("make", [kernel_classifier, graph_classifier])
def test_a_model_that_cannot_learn_from_files_is_refused(folder: Path, make: Any) -> None:
    make().save("m.sure")
    done = run("train", "r.jsonl", "-o", "m.sure", "--resume")
    assert done.exit_code != 0
    assert "must be a model that learns from files to go on with" in done.output


# ------------------------------------------------------------------- many labels


def test_lists_of_labels_make_a_model_of_many_labels(folder: Path, topics: Path) -> None:
    done = run("train", topics / "train.jsonl", "-o", "m.sure")
    assert done.exit_code == 0, done.output
    assert done.output.startswith("Learnt 120 rows of 4 labels from")
    assert (folder / "m.sure").read_bytes() == (topics / "topics.sure").read_bytes()


def test_cells_of_many_labels_are_learnt_and_gone_on_with(folder: Path, topics: Path) -> None:
    words = "train", topics / "train.csv", "-o", "m.sure", "--passes"
    assert run(*words, 1, "--label-separator", ";").exit_code == 0
    lists = SureTextClassifier(random_state=0).fit_stream(topics / "train.jsonl", passes=1)
    assert surelearn.load("m.sure").coef_.tobytes() == lists.coef_.tobytes()
    done = run(*words, 2, "--resume")
    assert done.exit_code == 0, done.output
    assert len(surelearn.load("m.sure").mistakes_) == 2


def test_thresholds_are_chosen_on_a_file(folder: Path, topics: Path) -> None:
    kept = topics / "kept.jsonl"
    words = "train", topics / "train.jsonl", "-o", "m.sure", "--thresholds"
    done = run(*words, kept)
    assert done.exit_code == 0, done.output
    assert done.output.endswith(f"Thresholds were chosen on 40 rows of {kept}.\n")
    model = surelearn.load("m.sure")
    rows = [json.loads(line) for line in kept.read_text().splitlines()]
    by_hand = surelearn.load(topics / "topics.sure").choose_thresholds(
        [row["text"] for row in rows], [row["label"] for row in rows]
    )
    assert model.thresholds_.tolist() == by_hand.thresholds_.tolist()
    assert any(model.thresholds_)
    report = json.loads(run(*words, kept, "--json").stdout)
    assert report["thresholds"] == by_hand.thresholds_.tolist()


def test_what_fits_only_one_kind_of_labels_is_said_before_the_work(
    folder: Path, topics: Path
) -> None:
    words = "train", topics / "train.jsonl", "-o", "m.sure", "--thresholds"
    one = run(*words, "r.jsonl")
    assert "--thresholds needs rows with many labels, got r.jsonl" in one.output
    Path("kept.csv").write_text("text,label\nw01 film,\nw01 w11,topic 0;topic 1\n")
    without = run(*words, "kept.csv")
    assert "--thresholds needs rows with many labels, got kept.csv" in without.output
    assert "or --label-separator for csv" in without.output
    assert run(*words, "none.jsonl").exit_code == 2
    assert not (folder / "m.sure").exists()
    tuned = run("train", topics / "train.jsonl", "-o", "m.sure", "--tune")
    assert "--tune needs rows with one label each, got lists of labels." in tuned.output
    ranker = run("train", "--rank", "a.svm", "-o", "m.sure", "--thresholds", "r.jsonl")
    assert "thresholds is for classifiers, got a ranker" in " ".join(ranker.output.split())
