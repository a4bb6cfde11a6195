"""The command, run in this process by typer's runner, or started as another one."""

from __future__ import annotations

import json
import sys
from typing import Any

from typer.testing import CliRunner

from surelearn.cli import _app

#: Starts a process of the command; its words follow.
COMMAND = [sys.executable, "-c", "from surelearn.cli import main; main()"]

#: Reviews to judge models by, with their labels.
TEST = [("great", "good"), ("so dull", "bad"), ("dull, but fine", "good"), ("new", "odd")]


def run(*words: object, **more: Any) -> Any:
    """What ``surelearn words`` gives: exit_code, stdout, stderr, output."""
    return CliRunner().invoke(_app.app, [*map(str, words)], **more)


def plain_run(*words: object) -> Any:
    """The same, without any colour in it."""
    result = run(*words)
    assert "\x1b" not in result.output
    return result


def run_tag(*words: object, **more: Any) -> Any:
    """The same of ``surelearn tag words``."""
    return run("tag", *words, **more)


def ok_tag(*words: object, **more: Any) -> str:
    """What ``surelearn tag words`` prints, which must end well."""
    done = run_tag(*words, **more)
    assert done.exit_code == 0, done.output
    return str(done.stdout)


def line(i: int) -> str:
    good = i % 2 == 0
    text = f"{'good' if good else 'bad'} film number {i % 7}"
    return json.dumps({"text": text, "label": "pos" if good else "neg", "stars": 5 - 4 * (i % 2)})
