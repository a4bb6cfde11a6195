"""Without the packages of an extra everything says which line installs it."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from surelearn import _check

ROOT = Path(__file__).parents[2]

WITHOUT = """
import sys
from pathlib import Path
sys.modules[{package!r}] = None
import numpy as np
import surelearn
from surelearn import SureTextClassifier, read, rules
Path("r.jsonl").write_text('{{"text": "a", "label": "x"}}\\n')
Path("r.jsonl.gz").touch()
Path("t.txt.gz").touch()
model = SureTextClassifier().fit(["good", "bad"], ["x", "y"])
{code}
"""

#: What is done without a package, and who needs it.
CASES = [
    ("pyarrow", "files", "model.fit_stream('r.jsonl')", "reading jsonl"),
    ("pyarrow", "files", "surelearn.evaluate(model, 'r.jsonl')", "reading jsonl"),
    ("pyarrow", "files", "list(surelearn.predict(model, 'r.jsonl'))", "reading jsonl"),
    ("pyarrow", "files", "read.batches('r.csv')", "reading csv"),
    ("pyarrow", "files", "read.batches('r.parquet')", "reading parquet"),
    ("pyarrow", "files", "list(read.sentences('t.txt.gz'))", "reading gzip"),
    ("pyarrow", "files", "read.batches('https://example.org/r.svm')", "reading https://"),
    ("fsspec", "files", "read.batches('zip://r.svm')", "reading zip://"),
    ("pyarrow", "files", "read.batches(object())", "reading a frame"),
    (
        "matplotlib", "plot",
        "found = surelearn.evaluate(model, ['good'], ['x'])\n"
        "surelearn.plot.ConfusionDisplay.from_evaluation(found).plot()",
        "ConfusionDisplay.plot",
    ),
    ("dask", "dask", "import surelearn.dask", "surelearn.dask"),
    ("pyspark", "spark", "import surelearn.spark", "surelearn.spark"),
    ("pyarrow", "spark", "import surelearn.spark", "surelearn.spark"),
    ("numba", "numba", "rules.Custom(max, compiled=True)", "Custom(max, compiled=True)"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("package", "extra", "code", "who"), CASES)
def test_a_missing_package_names_its_extra(package, extra, code, who, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT.format(package=package, code=code)],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stderr.splitlines()[-1] == (
        f"ImportError: {who} needs {package}, got none. "
        f"In a clone of surelearn, run: pip install '.[{extra}]'"
    )


#: A command that installs an extra: what it installs, and the names of the extras.
INSTALL = re.compile(r"pip install [\"']([\w.]+)\[([\w,]+)\]")


def test_every_hint_installs_what_the_errors_install():
    """Until there is a release, `pip install 'surelearn[x]'` finds nothing."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    hints = {
        (path.relative_to(ROOT).as_posix(), *found.groups())
        for folder in ("src", "docs", "benchmarks", "experiments", "examples")
        for path in [*(ROOT / folder).rglob("*"), ROOT / "README.md"]
        if path.suffix in (".md", ".py", ".html", ".js") and "_build" not in path.parts
        for found in INSTALL.finditer(path.read_text(encoding="utf-8"))
    }
    assert {name for name, *_ in hints} >= {"README.md", "docs/howto/dask.md"}
    [[package, _]] = INSTALL.findall(_check.install("files"))
    assert [hint for hint in sorted(hints) if hint[1] != package] == []
    assert {name for *_, names in hints for name in names.split(",")} <= set(extras)


@pytest.mark.slow
def test_what_needs_no_package_works_without(tmp_path):
    code = """
Path("r.svm").write_text("0 1:1\\n1 2:1\\n")
Path("t.txt").write_text("a A\\nb B\\n\\n")
surelearn.SureClassifier().fit_stream("r.svm")
surelearn.SureTagger().fit_stream("t.txt")
print(surelearn.evaluate(model, ["good", "bad"], ["x", "y"]).accuracy)
"""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT.format(package="pyarrow", code=code)],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "1.0\n"
