"""Rankers on the command line: train --rank, predict, evaluate, info, explain and merge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surelearn
from command import run
from grouped import candidates, queries
from surelearn.learners.base import settings_of
from surelearn.learners.tasks.rank_task import LARGEST


def ok(*words: object, **more: Any) -> str:
    done = run(*words, **more)
    assert done.exit_code == 0, done.output
    return str(done.stdout)


def lines(*words: object, **more: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in ok(*words, **more).splitlines()]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("a.svm").write_text(queries(200))
    Path("b.svm").write_text(queries(50, seed=1))
    Path("a.vw").write_text(candidates(200))
    Path("b.vw").write_text(candidates(50, seed=1))
    return tmp_path


@pytest.fixture
def ranker(folder: Path) -> Any:
    ok("train", "--rank", "a.svm", "-o", "m.sure", "--passes", 2)
    return surelearn.load("m.sure")


# ----------------------------------------------------------------------- training


def test_a_ranker_is_trained(folder: Path) -> None:
    said = ok("train", "--rank", "a.svm", "-o", "m.sure", "--passes", 2)
    ranker = surelearn.load("m.sure")
    n = ranker.n_skipped_
    assert 0 < n < 100
    wrong = [f"{100 * x / (200 - n):.1f} %" for x in ranker.mistakes_]
    assert said == (
        "Learnt 200 groups from a.svm in 2 passes.\n"
        f"Progressive validation error: {wrong[0]} of groups, which are wrong if the best "
        "candidate is not first.\n"
        f"Training error in pass 2: {wrong[1]}.\n"
        f"Not learnt because all candidates are equally good: {n} groups.\n"
        f"The model is in m.sure ({Path('m.sure').stat().st_size / 1000:.1f} kB).\n"
    )
    assert ranker.mistakes_[0] < 0.25 * (200 - n)
    twin = surelearn.SureRanker(random_state=0).fit_stream("a.svm", passes=2)
    assert ranker.coef_.tobytes() == twin.coef_.tobytes()


def test_the_report_as_json(folder: Path) -> None:
    words = ("train", "--rank", "a.svm", "-o", "m.sure", "--passes", 1, "--rule", "arow(r=2)")
    (found,) = lines(*words, "--json")
    ranker = surelearn.load("m.sure")
    assert repr(ranker.rule) == "AROW(r=2.0)"
    assert (found["groups"], found["learnt"]) == (200, 200)
    assert found["equal"] == ranker.n_skipped_
    assert found["mistakes"] == ranker.mistakes_.tolist()
    assert "classes" not in found


@pytest.mark.parametrize("words", [("--rank",), ()])  # the file knows that it ranks
def test_training_goes_on(folder: Path, words: tuple[str, ...]) -> None:
    ok("train", "--rank", "a.svm", "-o", "m.sure", "--passes", 1)
    said = ok("train", *words, "b.svm", "-o", "m.sure", "--passes", 1, "--resume")
    assert said.startswith("Learnt 50 groups from b.svm in one pass.")
    twin = surelearn.SureRanker(random_state=0).fit_stream("a.svm", passes=1)
    before = twin.n_skipped_
    twin.fit_stream("b.svm", passes=1, resume=True)
    assert surelearn.load("m.sure").coef_.tobytes() == twin.coef_.tobytes()
    assert f"equally good: {twin.n_skipped_ - before} groups." in said
    said = ok("train", "--rank", "b.svm", "-o", "m.sure", "--passes", 1, "--resume")
    assert said.startswith("No new groups in b.svm: the model is unchanged.")


def test_standard_input(folder: Path) -> None:
    words = ("train", "--rank", "-", "-o", "m.sure", "--n-features", 12)
    assert "200 groups from standard input in one pass" in ok(*words, input=queries(200))
    done = run("train", "--rank", "-", "-o", "n.sure", input=queries(200))
    assert done.exit_code == 1
    assert "--n-features must be given for svmlight from standard input" in done.stderr


def test_shared_features_are_crossed(folder: Path) -> None:
    ok("train", "--rank", "a.vw", "-o", "x.sure", "--cross")
    ok("train", "--rank", "a.vw", "-o", "m.sure")
    (crossed,) = lines("evaluate", "x.sure", "b.vw", "--json")
    (plain,) = lines("evaluate", "m.sure", "b.vw", "--json")
    assert crossed["accuracy"] == 1
    assert plain["accuracy"] < 0.5
    assert surelearn.load("x.sure").stream_.columns == {"cross": True, "format": "vw"}


def test_bad_groups(folder: Path) -> None:
    Path("bad.svm").write_text(queries(20) + "1 qid:99 1:x\n0 qid:99 1:1\n")
    done = run("train", "--rank", "bad.svm", "-o", "m.sure")
    assert done.exit_code == 1
    assert "expected index:value, got '1:x'. With --skip-bad such groups are left out." in (
        done.stderr
    )
    said = ok("train", "--rank", "bad.svm", "-o", "m.sure", "--skip-bad")
    assert "Skipped because they could not be parsed: 1 groups." in said
    done = run("predict", "m.sure", "bad.svm", "--skip-bad")
    assert done.stderr == "surelearn: 1 bad group was skipped.\n"
    assert len(done.stdout.splitlines()) == 20


def test_the_help_names_the_default_passes() -> None:
    help = " ".join(ok("train", "-h").split())
    numbers = (settings_of(surelearn.SureClassifier()).passes, surelearn.SureRanker().passes)
    assert "by default {}, for rankers {}, for standard".format(*numbers) in help


# ------------------------------------------------------------------------ answers


def test_a_line_for_each_group(ranker: Any) -> None:
    found = lines("predict", "m.sure", "b.svm")
    batch = surelearn.read.groups("b.svm", n_features=12).first(50)
    best = ranker.predict(batch.X, group=batch.sizes)
    p = ranker.predict_proba(batch.X, group=batch.sizes)[batch.bounds[:-1] + best]
    assert [line["qid"] for line in found] == batch.ids.tolist()
    assert [line["best"] for line in found] == best.tolist()
    assert [line["probability"] for line in found] == pytest.approx(p.tolist(), rel=1e-5)
    assert all(line.keys() == {"qid", "best", "probability"} for line in found)


def test_all_candidates(ranker: Any) -> None:
    found = lines("predict", "m.sure", "b.svm", "--all", "--proba")
    for line in found:
        n = len(line["scores"])
        assert sorted(line["order"]) == list(range(n))
        assert line["order"][0] == line["best"] == int(np.argmax(line["scores"]))
        assert sum(line["probabilities"]) == pytest.approx(1, abs=1e-5)
        assert line["probabilities"][line["best"]] == line["probability"]


def test_a_group_too_large_for_probabilities(ranker: Any) -> None:
    rows = [f"1 qid:1 {i % 12 + 1}:{i}\n" for i in range(LARGEST + 1)]
    Path("large.svm").write_text("".join(rows) + "1 qid:2 1:1\n0 qid:2 2:1\n")
    large, small = lines("predict", "m.sure", "large.svm", "--proba")
    assert large["probability"] is None
    assert large["probabilities"] == [None] * (LARGEST + 1)
    assert large["best"] == ranker.predict(surelearn.read.groups("large.svm").first(1).X)[0]
    assert sum(small["probabilities"]) == pytest.approx(1)
    assert small["probability"] == max(small["probabilities"])


def test_the_label_of_the_best_candidate(folder: Path) -> None:
    ok("train", "--rank", "a.vw", "-o", "m.sure", "--cross")
    found = lines("predict", "m.sure", "b.vw")
    assert [line["label"] for line in found] == [line["best"] + 1 for line in found]
    assert found == lines("predict", "m.sure", "-", input=Path("b.vw").read_text())
    (line,) = lines("predict", "m.sure", "-", input="shared |s a\n|l a\n|l b\n")
    assert (line["best"], line["label"]) == (0, None)


def test_first_order_rules_have_no_probabilities(folder: Path) -> None:
    ok("train", "--rank", "a.svm", "-o", "m.sure", "--rule", "pa1")
    assert lines("predict", "m.sure", "b.svm")[0].keys() == {"qid", "best"}
    done = run("predict", "m.sure", "b.svm", "--proba")
    assert "--proba needs a model with probabilities, got m.sure" in done.stderr


def test_scores(ranker: Any) -> None:
    said = ok("evaluate", "m.sure", "b.svm")
    found = surelearn.evaluate(ranker, "b.svm")
    assert said == f"{found}\n"
    assert "NDCG@10" in said
    (as_json,) = lines("evaluate", "m.sure", "b.svm", "--json")
    assert as_json == found.to_dict()


def test_scores_of_one_group_have_no_errors(ranker: Any) -> None:
    Path("one.svm").write_text("1 qid:1 1:1\n0 qid:1 2:1\n")
    (found,) = lines("evaluate", "m.sure", "one.svm", "--json")
    assert found["n"] == 1
    assert found["standard_error"]["ndcg"] is None


def test_what_is_in_the_file(ranker: Any) -> None:
    said = ok("info", "m.sure")
    assert "kind                  SureRanker\n" in said
    assert f"groups skipped        {ranker.n_skipped_}\n" in said
    assert said.endswith("stream                a.svm, at the end of pass 2 of 2\n")
    (found,) = lines("info", "m.sure", "--json")
    assert found["right"] == "all"
    assert "classes" not in found


def test_weights_are_explained(ranker: Any) -> None:
    assert ok("explain", "m.sure", "--top", 3) == f"{ranker.explain(top=3)}\n"


def test_rankers_are_merged(ranker: Any) -> None:
    ok("train", "--rank", "b.svm", "-o", "n.sure", "--n-features", 12)
    (found,) = lines("merge", "m.sure", "n.sure", "-o", "both.sure", "--json")
    assert found["merged"] == ["m.sure", "n.sure"]
    both = surelearn.merge([ranker, surelearn.load("n.sure")])
    assert surelearn.load("both.sure").coef_.tobytes() == both.coef_.tobytes()


# ------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("train", "--rank", "a.svm", "-o", "x.sure", "--tune"), "tune is for classifiers"),
        (("train", "--rank", "a.svm", "-o", "x.sure", "--text", "t"), "text is for classifiers"),
        (("train", "--rank", "a.svm", "-o", "x.sure", "--bigrams"), "bigrams is for classifiers"),
        (("train", "--rank", "a.svm", "-o", "x.sure", "--no-idf"), "idf is for classifiers"),
        (
            ("train", "--rank", "a.svm", "-o", "x.sure", "--calibrate"),
            "calibrate is for classifiers",
        ),
        (("train", "a.svm", "-o", "x.sure", "--cross"), "cross is for rankers, got a classifier"),
        (
            ("predict", "m.sure", "b.svm", "--keep", "label"),
            "keep is for classifiers, got a ranker",
        ),
        (("evaluate", "m.sure", "b.svm", "--against", "m.sure"), "against is for classifiers"),
        (("evaluate", "m.sure", "b.svm", "--label-type", "int"), "label-type is for classifiers"),
        (("explain", "m.sure", "--label", "x"), "label is for classifiers, got a ranker"),
        (("predict", "c.sure", "b.svm", "--all"), "all is for rankers, got a classifier"),
    ],
)
def test_options_of_other_models_are_refused(
    ranker: Any, words: tuple[object, ...], message: str
) -> None:
    ok("train", "a.svm", "-o", "c.sure", "--passes", 1)
    done = run(*words)
    assert done.exit_code == 2
    assert message in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("train", "--rank", "a.svm", "-o", "c.sure", "--resume"),
            "c.sure must be a ranker, got a SureClassifier.",
        ),
        (
            ("train", "--rank", "a.svm", "-o", "x.sure", "--cross"),
            "--cross is for vw, got svmlight",
        ),
        (("evaluate", "c.sure", "b.svm", "--against", "m.sure"), "classifier, got the ranker"),
        (
            ("train", "--rank", "bare.vw", "-o", "x.sure"),
            "bare.vw must have a relevance or a cost for each candidate, got none. A line of vw "
            "begins with label:cost, such as 2:0.5, a line of svmlight with the relevance.",
        ),
        (("evaluate", "m.sure", "bare.vw"), "bare.vw must have a relevance or a cost"),
    ],
)
def test_files_of_other_models_are_refused(
    ranker: Any, words: tuple[object, ...], message: str
) -> None:
    ok("train", "a.svm", "-o", "c.sure", "--passes", 1)
    Path("bare.vw").write_text("shared |s a\n|l a\n|l b\n")
    done = run(*words)
    assert done.exit_code == 1
    assert message in done.stderr
