"""Promise 2: the same input gives the same bytes on every x86-64 machine.

The sums below were taken once. They hold for every build of one source: with AVX2 or without, as
released or slowed down by sanitizers (which run this file too). A change of the arithmetic that is
meant changes them; one that is not is a bug.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from surelearn import SureClassifier, SureTextClassifier, _core, rules
from surelearn.constraints import Exact, Parallel, Sequential
from surelearn.probability import label_probabilities
from surelearn.text import HashingVectorizer

ROOT = Path(__file__).parents[1]
SUMS = ROOT / "tests" / "data" / "bits.json"

#: Parameters that the sums were taken with; others are defaults that have not changed since.
PINNED = {
    "variance": rules.Variance(phi=0.3),
    "variance-exact": rules.VarianceExact(phi=0.1),
    "probit": rules.Probit(noise=1.0),
    "scw1": rules.SCW1(phi=1.0, C=0.1),
    "scw2": rules.SCW2(phi=1.0, C=1.0),
    "nherd": rules.NHERD(C=0.1),
}


def numbers(count, seed):
    """Whole numbers from a congruential generator, which no library will ever change."""
    out, x = [], seed
    for _ in range(count):
        x = (6364136223846793005 * x + 1442695040888963407) % 2**64
        out.append(x >> 33)
    return np.array(out)


def problem(n_classes):
    n, d, k = 400, 300, 17
    index = numbers(n * k, 1) % d
    value = (numbers(n * k, 2) % 1000 - 500) / 128 + 1 / 1024
    X = sparse.csr_matrix((value, index, np.arange(0, n * k + 1, k)), shape=(n, d))
    X.sum_duplicates()
    return X, (np.asarray(X[:, :n_classes].sum(axis=1)).ravel() * 8).astype(int) % n_classes


def trained(name, n_classes, dtype, **options):
    X, y = problem(n_classes)
    pinned = {"projection": "covariance", "average": True, "passes": 2, "constraints": "single"}
    options = pinned | options
    clf = SureClassifier(PINNED.get(name, name), dtype=dtype, shuffle=False, **options, scale=False)
    if options.get("covariance") == "full":
        X = X[:, :40]
    return clf.fit(X, y)


def digest_of(clf):
    weights = clf._model.weights
    state = weights.state()
    return hashlib.sha256(b"".join(state[array].tobytes() for array in weights.arrays)).hexdigest()[
        :16
    ]


def digest(name, n_classes, dtype, **options):
    return digest_of(trained(name, n_classes, dtype, **options))


@pytest.mark.skipif(platform.machine() != "x86_64", reason="other processors agree to 1e-6 only")
@pytest.mark.parametrize("name", rules.RULES)
def test_bits_are_those_of_every_machine(name):
    known = json.loads(SUMS.read_text())
    for n_classes in (2, 5):
        for dtype in ("float32", "float64"):
            key = f"{name}, {n_classes} classes, {dtype}"
            assert digest(name, n_classes, dtype) == known[key], key


SCHEMES = {
    "sequential": Sequential(3),
    "parallel": Parallel(mixing=[3, 2, 1]),
    "exact": Exact(),
}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="other processors agree to 1e-6 only")
@pytest.mark.parametrize("covariance", ["diagonal", "full"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_bits_of_many_constraints(scheme, covariance):
    known = json.loads(SUMS.read_text())
    for name in ("variance", "stdev"):
        for dtype in ("float32", "float64"):
            key = f"{name}, {scheme}, {covariance}, {dtype}"
            options = {"constraints": SCHEMES[scheme], "covariance": covariance, "passes": 1}
            rule = rules.get(name).replace(phi=0.1)
            assert digest(rule, 5, dtype, **options) == known[key], key


def learnt_covariance(name, n_classes, dtype, dense, n_jobs):
    n, d = 40, 1100 if n_classes == 2 else 270  # two classes: large enough for two threads
    X = (numbers(n * d, 7) % 1000 - 500).reshape(n, d) / 256 + 1 / 1024
    X[:, ::2] *= dense
    X[numbers(n * d, 8).reshape(n, d) % 16 > 16 * dense] = 0.0
    y = np.append(np.arange(n_classes), numbers(n - n_classes, 9) % n_classes)
    clf = SureClassifier(PINNED.get(name, name), covariance="full", dtype=dtype, passes=1,
                         constraints="single", shuffle=False, n_jobs=n_jobs,
                         scale=False)  # fmt: skip
    return clf.fit(X, y, calibrate=False)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="other processors agree to 1e-6 only")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", ["arow", "probit"])
def test_bits_of_a_covariance(name, n_classes):
    """Dense rows and sparse ones, with one thread and with two."""
    known = json.loads(SUMS.read_text())
    for dtype in ("float32", "float64"):
        for dense in (1, 0.25):
            key = f"{name}, {n_classes} classes, covariance, {dense}, {dtype}"
            for n_jobs in (1, 2):
                clf = learnt_covariance(name, n_classes, dtype, dense, n_jobs)
                assert digest_of(clf) == known[key], (key, n_jobs)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="other processors agree to 1e-6 only")
@pytest.mark.parametrize("name", ["arow", "variance", "pa1"])
def test_bits_and_mistakes_of_all_pairs(name):
    """Scores of other pairs are left out where the class of a row wins all of its own."""
    known = json.loads(SUMS.read_text())
    for dtype in ("float32", "float64"):
        key = f"{name}, all pairs, {dtype}"
        clf = trained(name, 7, dtype, multiclass="ovo", average=False)
        assert [digest_of(clf), *clf.mistakes_.tolist()] == known[key], key


@pytest.mark.skipif(platform.machine() != "x86_64", reason="other processors agree to 1e-6 only")
def test_bits_of_probabilities():
    mean = (numbers(4000, 3) % 1000 - 500).reshape(200, 20) / 64
    variance = (numbers(4000, 4) % 1000 + 1).reshape(200, 20) ** 2 / 1e4
    known = json.loads(SUMS.read_text())
    for log in (False, True):
        p = label_probabilities(mean, variance, log=log)
        found = hashlib.sha256(p.tobytes()).hexdigest()[:16]
        assert found == known[f"probabilities, log={log}"]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="other processors agree to 1e-6 only")
def test_bits_of_rare_words():
    words = (numbers(4000, 5) % 1000) ** 2 // 3000
    texts = [" ".join(f"word{k}" for k in row) for row in words.reshape(400, 10)]
    y = numbers(400, 6) % 3
    rows = HashingVectorizer(idf=True, n_features=2**10).fit_transform(texts)
    clf = SureTextClassifier(rules.Probit(noise=1.0), constraints="single", idf=True)
    weights = clf.partial_fit(texts, y)._model.weights.state()
    found = {"idf, rows": rows.data, "idf, running": weights["cells"]}
    known = json.loads(SUMS.read_text())
    for key, array in found.items():
        assert hashlib.sha256(array.tobytes()).hexdigest()[:16] == known[key], key


def test_the_core_takes_no_rounded_function_from_the_c_library():
    """Its exp and log depend on the processor: the core has its own, in normal.hpp."""
    command = ["nm", "-D", "--undefined-only", _core.__file__]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    taken = {line.split()[-1].split("@")[0].rstrip("fl") for line in listed.splitlines()}
    rounded = {
        "exp",
        "exp2",
        "expm1",
        "log",
        "log2",
        "log10",
        "log1p",
        "pow",
        "erf",
        "erfc",
        "tanh",
    }
    assert "sqrt" in taken  # which rounds once, everywhere alike
    assert not taken & rounded


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="other processors have one path")
def test_bits_do_not_depend_on_avx2():
    """The same sums with the wide loops switched off, as on a processor without AVX2."""
    env = os.environ | {"SURELEARN_WIDE": "0"}
    code = "import pytest, surelearn._core as core; exit(core.is_wide() or pytest.main())"
    command = [sys.executable, "-c", code]
    chosen = ["-q", "-p", "no:cacheprovider", "-k", "bits and not avx2", __file__]
    done = subprocess.run([*command, *chosen], env=env, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="other processors have one path")
def test_only_wide_loops_hold_instructions_of_avx2():
    """The linker may take a shared function from any object: none may need a newer processor."""
    objects = sorted(ROOT.glob("build/cp*/CMakeFiles/_core.dir/cpp/bind/*.o"))
    if not objects:
        pytest.skip("the core was not built here")
    wide = 0
    for path in objects:
        command = ["objdump", "--disassemble", "--no-show-raw-insn", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        function = ""
        for line in done.stdout.splitlines():
            if line.endswith(">:"):
                function = line.partition("<")[2]
            elif "%ymm" in line or "\tv" in line:
                assert "8run_wide" in function, f"{path.name}: {function} {line.strip()}"
                wide += 1
    assert wide > 1000
