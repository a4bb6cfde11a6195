"""A rule that is the user's function: AROW built in, compiled by numba, and called in Python.

The three learn the same bits, so all that differs is how the step is asked for. One binary pass
over the rows of `binary_pass.py` and one 20-class pass over those of `multiclass_pass.py`, float32,
one thread, whole `fit`, rows shuffled with the same seed. Compiling, which happens once in the life
of a function, falls into the round that does not count; how long it takes is shown by itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from _measure import Claim, Timing, interleaved, newsgroups, show, stop, write
from binary_pass import one_fit, windows
from multiclass_pass import matrices

from surelearn import SureClassifier, rules

REPEATS = 15
GOAL = 2.0
BUILT_IN, COMPILED, CALLED = "AROW built in", "AROW by numba", "AROW in Python"


def arow(m: float, v: float) -> tuple[float, float]:
    """AROW at r = 1 as a user would write it."""
    if m < 1.0:
        return (1.0 - m) / (v + 1.0), 1.0
    return 0.0, 0.0


def problems() -> dict[str, tuple[Any, np.ndarray]]:
    """Rows and labels by the name of the pass."""
    X, y = windows()
    texts, labels = newsgroups()
    return {
        "binary": (X.astype(np.float32), y),
        "20-class": (matrices(texts)["float32"], np.asarray(labels)),
    }


def fits(passes: Mapping[str, tuple[Any, np.ndarray]]) -> dict[str, Callable[[], object]]:
    """Every contestant by ``name/pass``."""
    contestants = {
        BUILT_IN: rules.AROW(r=1.0),
        COMPILED: rules.Custom(arow, compiled=True),
        CALLED: rules.Custom(arow, compiled=False),
    }
    how = {"passes": 1, "random_state": 0}
    return {
        f"{name}/{kind}": one_fit(SureClassifier(rule, **how), X, y)
        for kind, (X, y) in passes.items()
        for name, rule in contestants.items()
    }


def check_same(runs: Mapping[str, Callable[[], Any]]) -> None:
    """The contestants must have learnt the same, or the race says nothing."""
    models = {name: run() for name, run in runs.items()}
    for name, model in models.items():
        twin = models[f"{BUILT_IN}/{name.split('/')[1]}"]
        if not np.array_equal(model.coef_, twin.coef_):
            stop(f"{name} must learn the bits of {BUILT_IN}, got others.")


def figures_of(times: Mapping[str, Timing], rows: Mapping[str, int]) -> list[dict[str, Any]]:
    """Times, and how many times that of the built-in rule each is."""
    out = []
    for key, taken in times.items():
        name, kind = key.split("/")
        base = times[f"{BUILT_IN}/{kind}"]
        out.append(
            {
                "contestant": name,
                "pass": kind,
                "seconds": round(taken.best, 5),
                "median seconds": round(taken.median, 5),
                "rows/s": round(rows[kind] / taken.best),
                "ratio": round(taken.best / base.best, 3),
                "median ratio": round(taken.median / base.median, 3),
            }
        )
    return out


def claims_of(figures: list[dict[str, Any]]) -> list[Claim]:
    return [
        Claim(
            f"one {f['pass']} pass, a function compiled by numba",
            "the same rule built in",
            f"{f['ratio']:.2f}x the time (medians {f['median ratio']:.2f}x)",
            f"<= {GOAL:g}x",
            f["ratio"] <= GOAL,
        )
        for f in figures
        if f["contestant"] == COMPILED
    ]


def main() -> None:
    begin = time.perf_counter()
    if not rules.Custom(arow).is_compiled:
        stop("numba must be installed to be measured: pip install '.[numba]'.")
    compiling = time.perf_counter() - begin
    passes = problems()
    runs = fits(passes)
    check_same(runs)
    rows = {kind: X.shape[0] for kind, (X, _) in passes.items()}
    print(f"{rows} rows, best of {REPEATS}; importing numba and compiling: {compiling:.2f} s")
    figures = figures_of(interleaved(runs, REPEATS), rows)
    header = ["contestant", "pass", "ms", "krows/s", "ratio", "of medians"]
    show("A pass with a custom rule (ratios to the built-in)", header, [_line(f) for f in figures])
    about = {"repeats": REPEATS, "rows": rows, "compiling seconds": round(compiling, 2)}
    write("custom_rule", figures, claims_of(figures), **about)


def _line(f: dict[str, Any]) -> list[str]:
    rate = [f"{1e3 * f['seconds']:.1f}", f"{f['rows/s'] / 1e3:.0f}"]
    return [f["contestant"], f["pass"], *rate, f"{f['ratio']:.2f}", f"{f['median ratio']:.2f}"]


if __name__ == "__main__":
    main()
