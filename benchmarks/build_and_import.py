"""How long the extension takes to build, how large it is, and what `import surelearn` costs.

Build: `pip wheel` without isolation and without dependencies into a new folder, CMake's
configuration and the building of the wheel included, nothing reused from an earlier build.

Import: measured inside fresh interpreters, in turns, the median of many. The package loads a name
when it is first asked for, so a bare ``import surelearn`` does nothing yet: what counts is
``from surelearn import SureClassifier``. The baseline is ``import sklearn, sklearn.base``, which
every user of scikit-learn's estimators pays for; all that the classifier needs beyond it counts as
surelearn's. Beside it, the same after ``import sklearn.linear_model``, as in a program that
compares linear classifiers.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from _measure import Claim, show, stop, write

ROOT = Path(__file__).parents[1]
REPEATS = 15
BASELINES = ("import sklearn, sklearn.base", "import sklearn.linear_model")
OURS = "from surelearn import SureClassifier"
_TIMED = """
import time
{before}
begin = time.perf_counter()
{statement}
print(time.perf_counter() - begin)
"""


def build() -> tuple[float, int]:
    """Seconds for a wheel from nothing, and the size of the extension in it."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"]
        command += ["--no-cache-dir", "--disable-pip-version-check", "--quiet"]
        command += ["--wheel-dir", folder, f"--config-settings=build-dir={folder}/build", str(ROOT)]
        begin = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - begin
        if done.returncode:
            stop(f"The wheel must build, got:\n{done.stderr[-2000:]}")
        (wheel,) = Path(folder).glob("*.whl")
        files = zipfile.ZipFile(wheel).infolist()
        return seconds, sum(f.file_size for f in files if "_core." in f.filename)


def import_seconds(statement: str, before: str = "") -> float:
    """Seconds of an import in a new interpreter that has executed `before` already."""
    script = _TIMED.format(before=before, statement=statement)
    # Away from the sources, so that a file there cannot shadow a module.
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd="/"
    )
    return float(done.stdout)


def imports() -> dict[str, float]:
    """Median seconds of every import, taken in turns."""
    wanted = {name: (name, "") for name in (*BASELINES, "import surelearn")}
    wanted |= {f"{OURS}, after {name}": (OURS, name) for name in BASELINES}
    seconds: dict[str, list[float]] = {name: [] for name in wanted}
    for _ in range(REPEATS):
        for name, (statement, before) in wanted.items():
            seconds[name].append(import_seconds(statement, before))
    return {name: statistics.median(found) for name, found in seconds.items()}


def main() -> None:
    import_seconds(OURS)  # byte code and disk cache
    medians = imports()
    lines = [[name, f"{1e3 * seconds:.0f}"] for name, seconds in medians.items()]
    show(f"Import, median of {REPEATS}", ["import", "ms"], lines)
    seconds, size = build()
    show("Build", ["", ""], [["seconds", f"{seconds:.1f}"], ["extension, kB", f"{size / 1e3:.0f}"]])
    added = medians[f"{OURS}, after {BASELINES[0]}"]
    claims = [
        Claim("building the wheel", "-", f"{seconds:.0f} s", "< 90 s", seconds < 90),
        Claim(OURS, BASELINES[0], f"{added:.3f} s more", "< 0.1 s", added < 0.1),
    ]
    figures: dict[str, object] = {"build seconds": round(seconds, 1), "extension bytes": size}
    figures["import seconds"] = {name: round(s, 4) for name, s in medians.items()}
    write("build_and_import", figures, claims, repeats=REPEATS)


if __name__ == "__main__":
    main()
