"""Budgets of distance: functions, files and depth of calls on the way of a fit, classes in a line.

They are counted while the package runs, so numbers that only shrink stand in the baseline.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from house.sources import Budget


class Way(NamedTuple):
    """What a call passes in the package."""

    functions: int
    files: int
    depth: int  # of calls, those of comprehensions left out


#: The most functions, files and calls in one another that a call should pass.
LIMITS = {
    "SureClassifier.fit": Way(95, 18, 12),
    "SureTextClassifier.fit_stream": Way(200, 32, 12),
    "SureTagger.fit": Way(95, 20, 12),
}

#: The most classes of the package that an estimator should stand on.
CLASSES = {"SureClassifier": 7, "SureTableClassifier": 8, "SureTextClassifier": 8}
OTHERS = 6


def budgets() -> list[Budget]:
    """The ways of three fits, and the classes of all estimators, as they are today."""
    import surelearn
    from surelearn import learners

    root, ways = str(Path(surelearn.__file__).parent), _ways()
    found = {name: walked(call, root) for name, call in ways.items()}
    listed = [_budget(part, found) for part in Way._fields]
    lines = {name: own_classes(getattr(surelearn, name)) for name in learners.ESTIMATORS}
    over = {
        f"own classes of {name}: {n}": ""
        for name, n in lines.items()
        if n > CLASSES.get(name, OTHERS)
    }
    return [*listed, Budget("own classes of estimators", str(OTHERS), {"src": len(over)}, over)]


def _budget(part: str, found: dict[str, Way]) -> Budget:
    over = {
        f"{part} on the way of {name}: {getattr(way, part)}": ""
        for name, way in found.items()
        if getattr(way, part) > getattr(LIMITS[name], part)
    }
    most = max(getattr(way, part) for way in found.values())
    limit = max(getattr(way, part) for way in LIMITS.values())
    return Budget(f"{part} on the way of a fit", str(limit), {"src": most}, over)


def own_classes(cls: type[Any]) -> int:
    """The classes of the package that a class stands on, itself counted."""
    return sum(base.__module__.startswith("surelearn") for base in cls.__mro__)


def walked(call: Callable[[], object], root: str) -> Way:
    """What a call passes in the files below `root`; it is made twice, and the second one counts."""
    functions: set[tuple[str, str]] = set()
    deepest = 0

    def is_own(frame: FrameType) -> bool:
        code = frame.f_code
        return code.co_filename.startswith(root) and not code.co_name.startswith("<")

    def note(frame: FrameType, event: str, _: object) -> None:
        nonlocal deepest
        if event != "call" or not is_own(frame):
            return
        functions.add((frame.f_code.co_filename, frame.f_code.co_name))
        depth, above = 0, frame
        while above is not None:
            depth += is_own(above)
            above = above.f_back  # type: ignore[assignment]  # None above the first
        deepest = max(deepest, depth)

    call()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]  # which ends it
    return Way(len(functions), len({file for file, _ in functions}), deepest)


def _ways() -> dict[str, Callable[[], object]]:
    import numpy as np
    from scipy import sparse

    from surelearn import SureClassifier, SureTagger, SureTextClassifier

    X = sparse.random(300, 50, density=0.2, format="csr", random_state=0)
    y = np.array(["a", "b", "c"])[np.arange(300) % 3]
    sentences, tags = [["the", "dog", "barks"], ["a", "cat", "sleeps"]] * 20, [["D", "N", "V"]] * 40

    def stream() -> object:
        lines = [{"text": f"word{i % 7} word{i % 3}", "label": "ab"[i % 2]} for i in range(400)]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "r.jsonl"
            path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
            return SureTextClassifier(random_state=0, n_jobs=1).fit_stream(str(path), passes=1)

    def quiet(call: Callable[[], object]) -> Callable[[], object]:
        def run() -> object:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return call()

        return run

    return {
        "SureClassifier.fit": quiet(lambda: SureClassifier(random_state=0).fit(X, y)),
        "SureTextClassifier.fit_stream": quiet(stream),
        "SureTagger.fit": quiet(lambda: SureTagger(random_state=0).fit(sentences, tags)),
    }
