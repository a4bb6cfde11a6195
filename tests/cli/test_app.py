"""The group of commands: help, version, completion, missing extras, and errors in one line."""

from __future__ import annotations

import builtins
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import surelearn
from command import run
from surelearn.cli import _app, main

# For a fresh interpreter in which one module cannot be found, as without the extra.
WITHOUT = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {missing!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocker())
sys.argv = ["surelearn", "demo"]
from surelearn.cli import main
main()
"""

# What the modules of the command import beside surelearn/__init__.py itself.
IMPORTED = """
import sys, types, importlib.util
package = types.ModuleType("surelearn")
package.__path__ = [{path!r}]
package.__version__ = "0"
sys.modules["surelearn"] = package
import surelearn.cli._app
print(*sorted({{name.partition(".")[0] for name in sys.modules}}))
"""


def test_help_lists_the_commands() -> None:
    result = run("--help")
    assert result.exit_code == 0
    assert re.search(r"^\s+demo\s+Learn which package", result.output, flags=re.MULTILINE)


def test_no_argument_shows_the_help() -> None:
    assert run().output == run("--help").output


def test_version() -> None:
    result = run("--version")
    assert result.exit_code == 0
    assert result.output == f"surelearn {surelearn.__version__}\n"


def test_unknown_command() -> None:
    result = run("dmeo")
    assert result.exit_code == 2
    assert "dmeo" in result.stderr


def test_help_imports_nothing_heavy() -> None:
    path = str(Path(surelearn.__file__).parent)
    code = IMPORTED.format(path=path)
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = set(child.stdout.split())
    assert "typer" in imported
    assert not imported & {"numpy", "scipy", "sklearn", "matplotlib", "pandas"}


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_the_extra_one_line_names_the_remedy(missing: str) -> None:
    child = subprocess.run(
        [sys.executable, "-c", WITHOUT.format(missing=missing)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == 1
    assert child.stdout == ""
    (line,) = child.stderr.splitlines()
    assert missing in line
    assert line.endswith("In a clone of surelearn, run: pip install '.[cli]'")


def test_another_missing_module_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "surelearn.cli._app")
    usual = builtins.__import__

    def broken(name: str, *rest: Any) -> Any:
        if name == "typer":
            raise ModuleNotFoundError("No module named 'shellingham'", name="shellingham")
        return usual(name, *rest)

    monkeypatch.setattr(builtins, "__import__", broken)
    with pytest.raises(ModuleNotFoundError, match="shellingham"):
        main()


def test_main_runs_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["surelearn", "--version"])
    with pytest.raises(SystemExit, match="0"):
        main()
    assert capsys.readouterr().out == f"surelearn {surelearn.__version__}\n"


def commands(
    group: Any = None, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """All commands and groups, with the words that call them."""
    group = group or typer.main.get_command(_app.app)
    yield path, group
    for name, command in getattr(group, "commands", {}).items():
        yield from commands(command, (*path, name))


PATHS = [path for path, _ in commands()]
LEAVES = [path for path, command in commands() if not hasattr(command, "commands")]


@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_help_is_short_as_well(path: tuple[str, ...]) -> None:
    short, long = run(*path, "-h"), run(*path, "--help")
    assert short.exit_code == long.exit_code == 0
    assert short.output == long.output
    assert "-h, --help" in long.output


@pytest.mark.parametrize(
    ("typed", "found"),
    [("pre", {"predict"}), ("tag ", {"train", "predict", "evaluate"}),
     ("train --resu", {"--resume"}), ("merge --how we", {"weighted"})],
)  # fmt: skip
def test_shells_complete_what_was_begun(typed: str, found: set[str]) -> None:
    words = f"surelearn {typed}"
    code = "import sys; sys.argv = ['surelearn']; from surelearn.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "_SURELEARN_COMPLETE": "complete_bash", "COMP_WORDS": words,
             "COMP_CWORD": str(words.count(" "))},
    )  # fmt: skip
    assert set(done.stdout.split()) == found


def test_completion_can_be_installed() -> None:
    assert {"--install-completion", "--show-completion"} <= set(run("--help").output.split())


def test_every_command_that_reports_can_do_so_in_json() -> None:
    for path, command in commands():
        options = {name for parameter in command.params for name in parameter.opts}
        if path in LEAVES and path[-1] not in ("predict", "label"):  # their output is no report
            assert "--json" in options, path


COMMANDS = ("predict", "evaluate", "explain", "info", "demo")


def test_faults_of_ours_are_not_hidden(monkeypatch: pytest.MonkeyPatch, models: Path) -> None:
    from surelearn.learners import file

    for error in (RuntimeError("ours"), ModuleNotFoundError("gone", name="surelearn.gone")):

        def broken(path: object, error: Exception = error) -> None:
            raise error

        monkeypatch.setattr(file, "load", broken)
        result = run("info", models / "two.sure")
        assert result.exception is error


def test_an_error_of_several_lines_is_one(monkeypatch: pytest.MonkeyPatch, models: Path) -> None:
    from surelearn.learners import file

    def broken(path: object) -> None:
        raise ValueError("first\n   second\n")

    monkeypatch.setattr(file, "load", broken)
    assert run("info", models / "two.sure").stderr == "surelearn: first second\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_in_eighty_columns(command: str) -> None:
    result = run(command, "--help", env={"COLUMNS": "80"})
    assert result.exit_code == 0
    assert max(map(len, result.output.splitlines())) <= 80
    assert "\x1b" not in result.output


@pytest.mark.parametrize("command", COMMANDS[:-1])
def test_help_has_examples_that_can_be_read(command: str) -> None:
    result = run(command, "--help")
    _, examples = result.output.split("  Examples:\n")
    found = [line for line in examples.split("\n\n")[0].splitlines() if "surelearn" in line]
    assert len(found) >= 2
    parser = typer.main.get_command(_app.app).commands[command]  # type: ignore[attr-defined]
    for line in found:
        words = line.partition(f"surelearn {command} ")[2].replace('"', "").split()
        assert words
        known = {name for parameter in parser.params for name in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= known


@pytest.mark.parametrize(
    "words",
    [
        "--help",
        "train test.jsonl -o new.sure --quiet",
        "predict two.sure test.jsonl --proba",
        "predict numbers.sure rows.svm",
        "evaluate two.sure test.jsonl",
        "explain two.sure",
        "explain two.sure --text 'a great café'",
        "info two.sure",
        "merge two.sure two.sure -o both.sure",
    ],
)
def test_commands_do_not_wait_for_what_is_slow_to_import(
    words: str, models: Path, tmp_path: Path
) -> None:
    """Importing scikit-learn takes a second, pandas a third of one; scipy.special and the console
    of rich take a tenth of what is left."""
    slow = {"sklearn", "pandas", "rich.console", "scipy.special"}
    # A normal distribution for each weight; the interval of the accuracy.
    if words.startswith(("explain", "evaluate")):
        slow.remove("scipy.special")
    for name in ("two.sure", "numbers.sure", "test.jsonl"):
        (tmp_path / name).write_bytes((models / name).read_bytes())
    (tmp_path / "rows.svm").write_text("1 1:1 3:0.5\n2 2:1\n")
    script = (
        "import atexit, sys; from surelearn.cli import main; "
        f"atexit.register(lambda: print(*{slow!r} & {{*sys.modules}}, file=sys.stderr)); "
        "main()"
    )
    command = [sys.executable, "-c", script, *shlex.split(words)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (0, "")
