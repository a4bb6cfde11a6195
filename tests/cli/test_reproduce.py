"""`surelearn reproduce`: lists entries, runs them, and says what held."""

from __future__ import annotations

import json
import sys

import pytest

from command import run
from surelearn.reproduce import Claim


def test_entries_are_listed():
    done = run("reproduce", "--list")
    assert "lecture-ecoc " in done.stdout
    assert "Error-correcting codes" in done.stdout


def test_an_entry_is_run_and_its_claims_are_printed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run("reproduce", "lecture-ecoc", "--quick", "--jobs", "1")
    assert "held: The word 011011 decodes to class 3." in done.stdout
    assert "designed for 8 classes  30        16" in done.stdout
    assert "start with reproduced-quick/README.md" in done.stdout
    assert (tmp_path / "reproduced-quick" / "lecture-ecoc" / "table1.csv").exists()


@pytest.mark.slow
def test_claims_as_json(tmp_path):
    done = run("reproduce", "lecture-ecoc", "--quick", "-o", str(tmp_path), "--json")
    assert [claim["verdict"] for claim in json.loads(done.stdout)["lecture-ecoc"]] == 2 * ["held"]


def test_other_names_are_refused(tmp_path):
    done = run("reproduce", "table9")
    assert done.exit_code == 1
    assert done.stderr.startswith("surelearn: name must be one of")


@pytest.mark.parametrize("package", ["matplotlib", "pycrfsuite"])
def test_a_package_that_is_missing_is_named_before_anything_is_run(package, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    done = run("reproduce", "lecture-ecoc", "--quick", "-o", str(tmp_path / "out"))
    assert done.exit_code == 1
    assert done.stderr == (
        f"surelearn: surelearn reproduce needs {package}, got none. "
        "In a clone of surelearn, run: pip install '.[reproduce]'\n"
    )
    assert not (tmp_path / "out").exists()


def test_json_has_no_nan(tmp_path, monkeypatch):
    claim = Claim(text="One run.", theirs="", ours="", lead=1.0, error=float("nan"))
    monkeypatch.setattr("surelearn.reproduce.reproduce", lambda *_, **__: {"lecture-ecoc": [claim]})
    done = run("reproduce", "lecture-ecoc", "-o", str(tmp_path), "--json")
    (found,) = json.loads(done.stdout)["lecture-ecoc"]
    assert (found["lead"], found["error"], found["verdict"]) == (1.0, None, "not decided")
