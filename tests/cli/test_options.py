"""Values of options: rules, sizes, and what was asked for as keywords."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import typer

from command import run
from surelearn import rules
from surelearn.cli import _app, _options


@pytest.mark.parametrize(
    ("n_bytes", "shown"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (2**32, "4.3 GB"),
        (1e16, "10,000.0 TB"),
    ],
)
def test_sizes(n_bytes: float, shown: str) -> None:
    assert _options.size(n_bytes) == shown


def test_reading_leaves_out_what_was_not_asked() -> None:
    asked = _options.reading(text=None, label="y", features="a,b", skip_bad=False)
    assert asked == {"label": "y", "features": ["a", "b"]}


def test_json_is_what_every_reader_takes(capsys: pytest.CaptureFixture[str]) -> None:
    _options.print_json({"Wörter": [1.5, None]})
    assert capsys.readouterr().out == '{"Wörter": [1.5, null]}\n'
    with pytest.raises(ValueError, match="not JSON compliant"):
        _options.print_json({"error": float("nan")})


def test_rules_are_read_as_they_are_shown() -> None:
    assert _options.rule("AROW(r=0.5)") == rules.AROW(r=0.5)
    assert _options.rule("scw1(phi=1, C=2)") == rules.SCW1(phi=1, C=2)
    assert _options.rule("pa1") == "pa1"


def commands(group: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every command with its name, as typed."""
    for word, command in group.commands.items():
        inner = hasattr(command, "commands")
        yield from commands(command, f"{word} ") if inner else [(name + word, command)]


def test_flags_are_off_unless_they_are_given() -> None:
    on = {}
    for name, command in commands(typer.main.get_command(_app.app)):
        flags = [option for option in command.params if getattr(option, "is_flag", False)]
        assert flags
        on.update(
            {f"{name} {one.opts[0]}": one.default for one in flags if one.default is not False}
        )
    # None: the model decides.
    assert on == {"train --idf": None, "train --calibrate": None, "label --browser": True}


#: The least and the largest value of options that are numbers, by command.
SEED = (0, 2**32 - 2)
RANGES: dict[str, dict[str, tuple[float, float | None]]] = {
    "train": {
        "--passes": (1, None),
        "--n-features": (1, 2**31 - 1),
        "--jobs": (1, None),
        "--seed": SEED,
    },
    "tag train": {
        "--passes": (1, None),
        "--n-features": (1, None),
        "--jobs": (1, None),
        "--seed": SEED,
    },
    "predict": {"--jobs": (1, None)},
    "evaluate": {"--jobs": (1, None)},
    "tag predict": {"--jobs": (1, None)},
    "tag evaluate": {"--jobs": (1, None)},
    "explain": {"--top": (1, None)},
    "simulate": {
        "--labels": (2, None),
        "--folds": (2, None),
        "--runs": (1, None),
        "--passes": (1, None),
        "--jobs": (1, None),
        "--seed": SEED,
    },
    "label": {
        "--overlap": (0, 1),
        "--explore": (0, 0.99),
        "--budget": (1, None),
        "--error": (0, 1),
        "--port": (1, 65535),
        "--seed": (0, 2**31 - 1),
    },
}


@pytest.mark.parametrize(
    ("command", "option"), [(name, option) for name, of in RANGES.items() for option in of]
)
def test_numbers_are_refused_beyond_their_range(command: str, option: str) -> None:
    """Without its arguments a command does nothing else."""
    for bound, sign in zip(RANGES[command][option], (-1, 1), strict=True):
        if bound is not None:
            step = 0.005 if isinstance(bound, float) or option in ("--overlap", "--error") else 1
            within, beyond = (
                run(*command.split(), f"{option}={value}") for value in (bound, bound + sign * step)
            )
            assert within.exit_code == beyond.exit_code == 2
            assert f"Invalid value for '{option}'" not in within.output
            assert f"Invalid value for '{option}'" in beyond.output
