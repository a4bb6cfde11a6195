"""Runs all parts, one after the other; README.md."""

from __future__ import annotations

from importlib import import_module

PARTS = ("promise", "coverage", "noise", "novelty", "costs", "sureness")


def main() -> None:
    for part in PARTS:
        import_module(f"experiments.decide.{part}").main()


if __name__ == "__main__":
    main()
