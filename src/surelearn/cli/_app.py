"""The group of sub-commands, one file each: their errors in one line, and Ctrl-C; no computing.

This module imports only what typer needs: ``surelearn --help`` waits for every import here.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import rich  # noqa: F401  (sub-commands print with it: fail here if it is missing, not midway)
import typer
from typer.core import TyperGroup

from surelearn import __version__
from surelearn.cli.demo import demo
from surelearn.cli.evaluate import evaluate
from surelearn.cli.explain import explain
from surelearn.cli.info import info
from surelearn.cli.label import label
from surelearn.cli.merge import merge
from surelearn.cli.predict import predict
from surelearn.cli.simulate import simulate
from surelearn.cli.tag import tag
from surelearn.cli.train import train

if TYPE_CHECKING:
    from surelearn._check import Keyword

#: The exit code of a process that a shell saw die of SIGPIPE (13): the reader of its pipe is gone.
_BROKEN_PIPE = 128 + 13

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
#: Seconds after which a signal is raised again: a destructor may have swallowed the exception.
_AGAIN = 2.0


class _Commands(TyperGroup):
    """Sub-commands that print an error as one line, without a traceback."""

    def main(self, *args: Any, **more: Any) -> Any:
        try:
            return super().main(*args, **more)
        except OSError as error:  # the help page could not be written
            _say(_line(error, self))
            sys.exit(1)

    def invoke(self, ctx: Any) -> Any:
        if hasattr(sys.stdout, "reconfigure"):  # escape characters that the terminal cannot show
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            with stoppable():
                return super().invoke(ctx)
        except BrokenPipeError:
            raise typer.Exit(_BROKEN_PIPE) from None
        except (ImportError, MemoryError, OSError, TypeError, ValueError) as error:
            line = _line(error, self)
            if line is None:
                raise
            _say(line)
            raise typer.Exit(1) from None


def _say(line: str | None) -> None:
    typer.echo(f"surelearn: {line}", err=True)


def _line(error: Exception, commands: TyperGroup) -> str | None:
    """The error as one line; None if it is a bug of surelearn and needs its traceback."""
    text = in_options(error, commands)
    if isinstance(error, MemoryError) and text in ("", "std::bad_alloc"):
        text = "there must be enough memory for this, got too little."
    if isinstance(error, ImportError) and "pip install" not in text:
        return None
    if isinstance(error, OSError) and error.strerror:
        where = "" if error.filename is None else f"{os.fspath(error.filename)}: "
        text = f"{where}{error.strerror}."
    notes = [in_options(note, commands) for note in getattr(error, "__notes__", ())]
    return " ".join(" ".join([text, *notes]).split())


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},  # sub-commands inherit it
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command()(train)
app.command()(predict)
app.command()(evaluate)
app.command()(explain)
app.command()(info)
app.command()(merge)
app.command()(simulate)
app.command()(label)
app.add_typer(tag, name="tag")
app.command()(demo)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"surelearn {__version__}")
        raise typer.Exit


@app.callback()
def _surelearn(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Linear classifiers that know how sure they are of every weight."""


@contextmanager
def stoppable() -> Iterator[None]:
    """Make SIGTERM raise KeyboardInterrupt, as Ctrl-C does.

    The command then exits with the usual codes of a shell: 130 for Ctrl-C and 143 for SIGTERM.
    """
    received: list[int] = []

    def stop(number: int, frame: Any) -> None:
        received.append(number)
        signal.setitimer(signal.ITIMER_REAL, _AGAIN, _AGAIN)
        raise KeyboardInterrupt

    def stop_again(_: int, frame: Any) -> None:
        signal.raise_signal(received[-1])  # training may have a handler of its own by now

    before = {number: signal.getsignal(number) for number in _SIGNALS if _is_heard(number)}
    for number in before:
        signal.signal(number, stop)
    if before:
        before[signal.SIGALRM] = signal.signal(signal.SIGALRM, stop_again)
    try:
        yield
    except BaseException as error:
        # An interrupted import may raise any exception, so the signal decides, not the type.
        if received or isinstance(error, KeyboardInterrupt):
            raise typer.Exit(128 + (received or [signal.SIGINT])[0]) from None
        raise
    finally:
        if received:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_heard(number: int) -> bool:
    """Whether to catch this signal: only in the main thread, and not if the process ignores it.

    A shell starts background jobs with Ctrl-C ignored; that must stay so.
    """
    here = threading.current_thread() is threading.main_thread()
    return here and signal.getsignal(number) not in (signal.SIG_IGN, None)


def in_options(said: BaseException | str, group: Any) -> str:
    """The text of an error or a sentence, with keywords spelled as options of these commands."""
    from surelearn._check import Message

    text = said.args[0] if isinstance(said, BaseException) and said.args else said
    if not isinstance(text, Message):
        return str(said)
    options = _options_of(group)
    return text.spelled(lambda keyword: _option(keyword, options))


def _option(keyword: Keyword, options: Mapping[str, str]) -> str:
    if keyword.name not in options:
        return str(keyword)
    option, value = options[keyword.name], keyword.value
    if value is None or value is True:
        return option
    if isinstance(value, type):
        value = value.__name__
    listed = ",".join(value) if isinstance(value, list | tuple) else str(value)
    typed = shlex.quote(listed.replace("\t", "\\t"))
    return f"{option} {typed}"


def _options_of(group: Any) -> dict[str, str]:
    """The options of all commands, keyed by parameter name."""
    found: dict[str, str] = {}
    for command in group.commands.values():
        if hasattr(command, "commands"):
            found |= _options_of(command)
        for parameter in command.params:
            long = [option for option in parameter.opts if option.startswith("--")]
            found |= dict.fromkeys([parameter.name], long[0]) if long else {}
    return found
