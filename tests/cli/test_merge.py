"""`surelearn merge`: the file that comes out, and what is said of it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from command import run
from surelearn import SureClassifier, SureRanker, SureTagger, load, merge


def test_the_command_merges_files(tmp_path):
    models = [SureClassifier(random_state=i).fit(np.eye(2), ["a", "b"]) for i in range(3)]
    paths = [tmp_path / f"{i}.sure" for i in range(3)]
    for model, path in zip(models, paths, strict=True):
        model.save(path)
    out = tmp_path / "all.sure"
    done = run("merge", *paths, "-o", out, "--how", "kl")
    assert done.exit_code == 0, done.output
    assert done.output == f"Merged 3 models into {out}.\nRows of each class: a (3), b (3).\n"
    assert load(out).coef_.tobytes() == merge(models, "kl").coef_.tobytes()


def test_json_of_merging(models: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(models)
    merged, out = ["two.sure", "two.sure"], str(tmp_path / "w.sure")
    done = run("merge", *merged, "-o", out, "--json", "--how", "kl")
    assert done.exit_code == 0, done.output
    assert json.loads(done.output) == {
        "model": out, "bytes": Path(out).stat().st_size, "how": "kl",
        "merged": merged, "classes": ["bad", "good"],
    }  # fmt: skip


def saved(path: Path, *labels: str) -> Path:
    SureClassifier(random_state=0).fit(np.eye(len(labels)), labels).save(path)
    return path


def test_models_of_other_tasks_are_merged_on_request_only(tmp_path: Path) -> None:
    feelings, products = tmp_path / "f.sure", tmp_path / "p.sure"
    saved(feelings, "bad", "good")
    saved(products, "books", "music")
    out = tmp_path / "out.sure"
    done = run("merge", feelings, products, "-o", out)
    assert (done.exit_code, done.output) == (
        1, "surelearn: models must have labels in common to be merged, got 'bad', 'good' and "
        "'books', 'music'. Use --any-labels to merge them into one model of all labels.\n"
    )  # fmt: skip
    assert not out.exists()
    done = run("merge", feelings, products, "-o", out, "--any-labels")
    assert done.exit_code == 0, done.output
    assert "bad (1), books (1), good (1), music (1)" in done.output
    assert load(out).classes_.tolist() == ["bad", "books", "good", "music"]


def test_one_model_is_said_to_be_one(tmp_path: Path) -> None:
    path, out = saved(tmp_path / "a.sure", "b", "B "), tmp_path / "out.sure"
    done = run("merge", path, "-o", out)
    assert done.stdout == f"Merged one model into {out}.\nRows of each class: B  (1), b (1).\n"
    assert done.stderr.startswith("surelearn: labels 'B ', 'b' differ only in white space or case")


def test_tags_are_named_and_rankers_have_none(tmp_path: Path) -> None:
    path, out = tmp_path / "tags.sure", tmp_path / "out.sure"
    SureTagger().fit([["a", "b"]], [["O", "B"]]).save(path)
    assert run("merge", path, "-o", out).stdout.endswith("\nLabels: B, O.\n")
    SureRanker().fit(np.eye(2), [0, 1], qid=[0, 0]).save(path)
    assert run("merge", path, path, "-o", out).output == f"Merged 2 models into {out}.\n"


def test_models_that_do_not_fit_leave_no_file(models: Path, tmp_path: Path) -> None:
    done = run("merge", models / "two.sure", models / "numbers.sure", "-o", tmp_path / "w.sure")
    assert done.exit_code == 1
    assert done.stderr.startswith("surelearn: models must ")
    assert done.stderr.count("\n") == 1
    assert not any(tmp_path.iterdir())
