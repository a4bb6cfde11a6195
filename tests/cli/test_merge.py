"""`surelearn merge`: the file that comes out, and what is said of it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from command import run
from surelearn import SureClassifier, load, merge


def test_the_command_merges_files(tmp_path):
    models = [SureClassifier(random_state=i).fit(np.eye(2), ["a", "b"]) for i in range(3)]
    paths = [tmp_path / f"{i}.sure" for i in range(3)]
    for model, path in zip(models, paths, strict=True):
        model.save(path)
    out = tmp_path / "all.sure"
    done = run("merge", *paths, "-o", out, "--how", "kl")
    assert done.exit_code == 0, done.output
    assert done.output == f"Merged 3 models into {out}\n"
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


def test_models_that_do_not_fit_leave_no_file(models: Path, tmp_path: Path) -> None:
    done = run("merge", models / "two.sure", models / "numbers.sure", "-o", tmp_path / "w.sure")
    assert done.exit_code == 1
    assert done.stderr.startswith("surelearn: models must ")
    assert done.stderr.count("\n") == 1
    assert not any(tmp_path.iterdir())
