"""The command of the papers: lists entries, runs them, and says what held."""

from __future__ import annotations

import contextlib
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.papers import Claim, __main__
from experiments.papers.__main__ import main

ROOT = Path(__file__).parents[3]


def test_entries_are_listed(capsys):
    assert main(["--list"]) == 0
    said = capsys.readouterr().out
    assert "lecture-ecoc " in said
    assert "Error-correcting codes" in said


def test_an_entry_is_run_and_its_claims_are_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["lecture-ecoc", "--quick", "--jobs", "1"]) == 0
    said = capsys.readouterr().out
    assert "held: The word 011011 decodes to class 3." in said
    assert "designed for 8 classes  30        16" in said
    assert "start with reproduced-quick/README.md" in said
    assert (tmp_path / "reproduced-quick" / "lecture-ecoc" / "table1.csv").exists()


@pytest.mark.slow
def test_claims_as_json(tmp_path, capsys):
    assert main(["lecture-ecoc", "--quick", "-o", str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [claim["verdict"] for claim in found["lecture-ecoc"]] == 2 * ["held"]


@pytest.mark.slow
def test_the_command_runs_as_a_module(tmp_path):
    """Cases run in other processes, which have to find the module again."""
    words = ["lecture-ecoc", "-o", str(tmp_path), "--quick", "lecture-viterbi", "--jobs", "2"]
    command = [sys.executable, "-m", "experiments.papers", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.startswith("\nlecture-ecoc: ")
    assert "\nlecture-viterbi: " in done.stdout


def test_the_guide_shows_what_is_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "experiments" / "papers" / "README.md").read_text(encoding="utf-8")
    command = r"```console\n\$ python -m experiments.papers (.*?)\n(.*?)```"
    [(words, shown)] = re.findall(command, page, re.DOTALL)
    assert main(words.split()) == 0
    assert capsys.readouterr().out == shown
    blocks = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == page.count("```python")
    for code, shown in blocks:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(code, {})
        assert out.getvalue() == shown


def test_other_names_are_refused(capsys):
    assert main(["table9"]) == 1
    assert capsys.readouterr().err.startswith("papers: name must be one of 'variance', ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--jobs", "0"], "--jobs: must be a whole number of at least 1, got '0'."),
        (["--jobs", "two"], "--jobs: must be a whole number of at least 1, got 'two'."),
        (["-o", __file__], "--output/-o: must be a folder, got the file"),
    ],
)
def test_bad_options_are_refused(words, said, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["lecture-ecoc", "--quick", *words])
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("package", ["matplotlib", "pycrfsuite"])
def test_a_package_that_is_missing_is_named_before_anything_is_run(
    package, tmp_path, monkeypatch, capsys
):
    monkeypatch.setitem(sys.modules, package, None)
    assert main(["lecture-ecoc", "--quick", "-o", str(tmp_path / "out")]) == 1
    assert capsys.readouterr().err == (
        f"papers: experiments.papers needs {package}, got none. "
        "In a clone of surelearn, run: pip install . --group papers\n"
    )
    assert not (tmp_path / "out").exists()


def test_an_error_of_the_system_names_its_file(tmp_path, capsys):
    (tmp_path / "file").touch()
    assert main(["lecture-ecoc", "--quick", "-o", str(tmp_path / "file" / "out")]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"papers: {tmp_path / 'file' / 'out'}")
    assert said.endswith(": Not a directory.\n")


def test_a_module_that_is_no_package_of_the_group_is_a_bug(monkeypatch):
    def broken(names):
        raise ImportError("No module named 'experiments.papers.other'")

    monkeypatch.setattr(__main__, "chosen", broken)
    with pytest.raises(ImportError, match="other"):
        main(["--list"])


def test_json_has_no_nan(tmp_path, monkeypatch, capsys):
    claim = Claim(text="One run.", theirs="", ours="", lead=1.0, error=float("nan"))
    monkeypatch.setattr(__main__, "reproduce", lambda *_, **__: {"lecture-ecoc": [claim]})
    assert main(["lecture-ecoc", "-o", str(tmp_path), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["lecture-ecoc"]
    assert (found["lead"], found["error"], found["verdict"]) == (1.0, None, "not decided")
