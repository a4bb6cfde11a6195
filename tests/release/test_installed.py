"""An installed package does what the README shows, and learns what the first machine learnt.

Runs wherever a wheel was installed, with nothing else of the repository: cibuildwheel runs it for
every wheel. Promise 2: compilers and processors may change a weight by 1e-6, no more.

    python tests/release/test_installed.py    # writes weights.json again, on x86-64 only
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from surelearn import SureClassifier, load, rules

HERE = Path(__file__).parent
README = (HERE.parents[1] / "README.md").read_text(encoding="utf-8")
WEIGHTS = HERE / "weights.json"


def numbers(count, seed):
    """Whole numbers from a congruential generator, which no library will ever change."""
    out, x = [], seed
    for _ in range(count):
        x = (6364136223846793005 * x + 1442695040888963407) % 2**64
        out.append(x >> 33)
    return np.array(out)


def learnt(name, n_classes, dtype):
    """Means and variances of every fifth feature, after two passes over 300 rows."""
    n, d = 300, 40
    X = (numbers(n * d, 1).reshape(n, d) % 1000 - 500) / 128 + 1 / 1024
    X[numbers(n * d, 2).reshape(n, d) % 10 > 2] = 0.0
    y = (X[:, :n_classes].sum(axis=1) * 8).astype(int) % n_classes
    clf = SureClassifier(
        name,
        dtype=dtype,
        projection="covariance",
        constraints="single",
        passes=2,
        shuffle=False,
        scale=False,
    )
    clf.fit(X, y, **({} if rules.get(name).first_order else {"calibrate": False}))
    arrays = {"coef": clf.coef_}
    if not rules.get(name).first_order:
        arrays["sigma"] = clf.sigma_
    return {key: np.asarray(array[:, ::5], dtype=float) for key, array in arrays.items()}


def all_learnt():
    """Every rule with two classes and five, in both types."""
    return {
        f"{name}, {n_classes} classes, {dtype}": learnt(name, n_classes, dtype)
        for name in rules.RULES
        for n_classes in (2, 5)
        for dtype in ("float32", "float64")
    }


def difference(found, known):
    """The largest difference, relative to the largest number of the same class."""
    known = np.asarray(known)
    return float((np.abs(found - known).max(axis=1) / np.abs(known).max(axis=1)).max())


def test_weights_are_those_of_the_first_machine():
    known = json.loads(WEIGHTS.read_text())
    found = all_learnt()
    assert known.keys() == found.keys()
    differences = {
        f"{key}, {array}": difference(found[key][array], known[key][array])
        for key in known
        for array in known[key]
    }
    worst = max(differences, key=differences.__getitem__)
    print(f"largest difference: {differences[worst]:.2g} ({worst})")
    assert differences[worst] <= 1e-6, worst


def test_python_of_the_readme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    [block] = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    scope = {}
    exec(block, scope)
    clf = scope["clf"]
    assert clf.predict_proba(["great fun"])[0] == pytest.approx([0.03, 0.97], abs=0.005)
    assert clf.margin(["a film", "unseen words"])[1] == pytest.approx([0.3, 1.1], abs=0.05)


def write_reviews(folder):
    import pyarrow as pa
    import pyarrow.parquet as pq

    words = {"good": ["great", "fun", "fine"], "bad": ["dull", "slow", "poor"]}
    rows = [
        {"text": f"a {words[label][i % 3]} film, number {i}", "label": label}
        for i in range(40)
        for label in words
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "reviews.jsonl").write_text(lines)
    (folder / "new.jsonl").write_text('{"text": "a great film"}\n{"text": "how dull"}\n')
    pq.write_table(pa.Table.from_pylist(rows[:30]), folder / "test.parquet")


def test_commands_of_the_readme(tmp_path):
    commands = re.findall(r"^    ((?:surelearn|cat) .*)", README, re.MULTILINE)
    assert [re.search(r"surelearn (\w+)", each)[1] for each in commands] == [
        "train",
        "evaluate",
        "predict",
    ]
    write_reviews(tmp_path)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    for command in commands:
        subprocess.run(
            command, shell=True, check=True, cwd=tmp_path, env={**os.environ, "PATH": path}
        )
    assert load(tmp_path / "reviews.sure").predict(["a great film"]) == ["good"]
    answers = (tmp_path / "labels.jsonl").read_text().splitlines()
    assert [json.loads(answer)["label"] for answer in answers] == ["good", "bad"]


if __name__ == "__main__":
    short = {
        key: {array: values.tolist() for array, values in arrays.items()}
        for key, arrays in all_learnt().items()
    }
    WEIGHTS.write_text(json.dumps(short, indent=None, separators=(",", ":")) + "\n")
