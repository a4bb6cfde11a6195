"""The group of commands: help, version, completion, missing extras, and errors in one line."""

from __future__ import annotations

import builtins
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import surelearn
from command import run
from surelearn._check import Keyword, Message
from surelearn.cli import _app, main
from surelearn.cli._app import app, in_options, stoppable

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


SIGNALS = (signal.SIGINT, signal.SIGTERM)


def stopped(number, cleaned, error=KeyboardInterrupt):
    """Work that a signal interrupts; what it raises then."""
    try:
        signal.raise_signal(number)
    except KeyboardInterrupt:
        cleaned.append(number)
        raise error from None


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_interrupts_and_is_the_exit_code(number):
    cleaned = []
    with pytest.raises(typer.Exit, match=rf"^{128 + number}$"), stoppable():
        stopped(number, cleaned)
    assert cleaned == [number]


def test_what_an_interrupted_import_raises_is_no_error():
    with pytest.raises(typer.Exit, match=r"^143$"), stoppable():
        stopped(signal.SIGTERM, [], ImportError("half of a module"))


def test_an_interrupt_without_a_signal_is_that_of_ctrl_c():
    with pytest.raises(typer.Exit, match=r"^130$"), stoppable():
        raise KeyboardInterrupt


def test_other_errors_come_out_as_they_are():
    error = ValueError("ours")
    with pytest.raises(ValueError, match="ours") as caught, stoppable():
        raise error
    assert caught.value is error


def test_handlers_are_those_of_before_afterwards():
    before = [signal.getsignal(number) for number in SIGNALS]
    with stoppable():
        inside = [signal.getsignal(number) for number in SIGNALS]
    assert all(one is not other for one, other in zip(before, inside, strict=True))
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_a_job_in_the_background_keeps_ignoring_ctrl_c():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with stoppable():
            signal.raise_signal(signal.SIGINT)
            assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_set_no_handler():
    before, seen = signal.getsignal(signal.SIGTERM), []

    def work():
        with stoppable():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]


COMMANDS_WORDING = typer.main.get_command(app)


@pytest.mark.parametrize(
    ("keyword", "python", "option"),
    [
        (Keyword("text", "body"), "text='body'", "--text body"),
        (Keyword("text", "the body"), "text='the body'", "--text 'the body'"),
        (Keyword("features", ["a", "b"]), "features=['a', 'b']", "--features a,b"),
        (Keyword("n_features", 7), "n_features=7", "--n-features 7"),
        (Keyword("n_features"), "n_features", "--n-features"),
        (Keyword("skip_bad", True), "skip_bad=True", "--skip-bad"),
        (Keyword("cache_bytes", 0), "cache_bytes=0", "cache_bytes=0"),
        (Keyword("columns", ["w", "_"]), "columns=['w', '_']", "--columns w,_"),
    ],
)
def test_keywords_are_options_in_the_command(keyword: Keyword, python: str, option: str) -> None:
    error = ValueError(Message("{file} is bad: use {it}.", file="{a}.csv", it=keyword))
    assert str(error) == f"{{a}}.csv is bad: use {python}."
    assert in_options(error, COMMANDS_WORDING) == f"{{a}}.csv is bad: use {option}."


@pytest.mark.parametrize("error", [ValueError("a {text} b"), KeyError("a"), OSError(2, "no")])
def test_other_errors_are_told_as_they_are(error: Any) -> None:
    assert in_options(error, COMMANDS_WORDING) == str(error)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train", "r.txt", "-o", "m.sure"], "Name the --format: jsonl, csv"),
        (["train", "r.jsonl", "--format", "xml", "-o", "m.sure"], "--format must be one of"),
        (["train", "r.jsonl", "--text", "text", "--features", "a", "-o", "m.sure"],
         "--text or --features must be named, not both"),
        (["train", "r.jsonl", "--rule", "foo", "-o", "m.sure"], "--rule must be one of"),
        (["train", "r.jsonl", "--checkpoint-every", "soon", "-o", "m.sure"],
         "--checkpoint-every must be rows or a time"),
        (["train", "r.jsonl", "--label", "label", "-o", "m.sure"], "must have a column 'label'"),
        (["train", "r.jsonl", "-o", "m.sure"], "must have labels, got none. Name their column by"),
        (["train", "r.jsonl", "--encoding", "klingon", "-o", "m.sure"], "--encoding must be one"),
        (["train", "r.jsonl", "--delimiter", ";", "-o", "m.sure"], "--delimiter is for csv"),
        (["train", "r.csv", "--quote", "ab", "-o", "m.sure"], "--quote must be one ASCII"),
        (["train", "r.csv", "--label-type", "x", "-o", "m.sure"], "--label-type must be str"),
        (["simulate", "r.jsonl"], "must have labels, got none. Name their column by --label."),
    ],
)  # fmt: skip
def test_errors_of_the_command_name_its_options(
    arguments: list[Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("r.jsonl", "r.txt"):
        Path(name).write_text('{"text": "a", "number": 1}\n' * 3)
    Path("r.csv").write_text("text,label\na,1\n")
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 1
    assert said in done.output
    assert not re.search(r"\b[a-z_]+=", done.output)


def test_a_width_beyond_all_is_named(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["train", "r.jsonl", "-o", "m.sure", "--n-features", str(2**40)])
    assert done.exit_code == 2
    assert "'--n-features'" in done.output


def test_rows_that_are_too_wide_name_the_width(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.svm").write_text("1 1:1\n2 2:1\n")
    Path("u.svm").write_text("1 1:1\n2 7:1\n")
    CliRunner().invoke(app, ["train", "t.svm", "-o", "m.sure"])
    for command in (["predict", "m.sure", "u.svm"], ["evaluate", "m.sure", "u.svm"],
                    ["train", "u.svm", "-o", "m.sure", "--resume"]):  # fmt: skip
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 1
        assert done.output == (
            "surelearn: u.svm, line 2: expected at most 2 features, got 7. Train with --n-features "
            "7 to have room. With --skip-bad such records are left out.\n"
        )


def test_the_largest_index_of_svmlight_has_a_width(tmp_path: Path) -> None:
    arguments = ["train", str(tmp_path / "r.svm"), "-o", "m.sure", "--n-features", str(2**31 - 1)]
    assert "No such file" in CliRunner().invoke(app, arguments).output
