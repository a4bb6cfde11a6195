"""Every extra alone, in an environment that has nothing else: it does what it is for.

One wheel is installed with each extra in turn, so a package that an extra forgot is missing here,
where other extras cannot hide it.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tomllib
import venv

import pytest

import released
from released import ROOT, run

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]

pytestmark = pytest.mark.slow

#: Twenty rows in a file, for the scripts below.
ROWS = """
from pathlib import Path
texts = ["a great film", "how dull"] * 10
labels = ["good", "bad"] * 10
lines = ('{"text": "%s", "label": "%s"}' % row for row in zip(texts, labels))
Path("rows.jsonl").write_text("\\n".join(lines))
"""

#: What each extra is for, in Python.
SCRIPTS = {
    "files": """
import pyarrow
from pyarrow import parquet
from surelearn import SureTextClassifier, read
parquet.write_table(pyarrow.table({"text": texts, "label": labels}), "rows.parquet")
model = SureTextClassifier().fit_stream("rows.parquet")
assert model.predict(["great"])[0] == "good"
try:
    read.batches("http://127.0.0.1:1/rows.jsonl")
except FileNotFoundError as error:  # nobody listens there, but everything to ask is installed
    assert "Cannot connect" in str(error), error
""",
    "label": """
import http.client, os, signal, threading
from surelearn.label import Session, Store, read_texts
from surelearn.label.serve import serve

def visit(address, port):
    def work():
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            connection.request("GET", address.partition(str(port))[2])
            status.append(connection.getresponse().status)
        finally:
            os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=work).start()

status = []
try:
    serve(Session(read_texts("rows.jsonl"), Store("answers.db"), ["good", "bad"]), ready=visit)
except KeyboardInterrupt:
    pass
assert status == [303], status  # to the page, with a cookie
""",
    "plot": """
import surelearn
model = surelearn.SureTextClassifier().fit(texts, labels)
found = surelearn.evaluate(model, texts, labels)
surelearn.plot.ConfusionDisplay.from_evaluation(found).save("picture.png")
assert Path("picture.png").read_bytes().startswith(b"\\x89PNG")
""",
    "numba": """
from surelearn import SureTextClassifier, rules

def arow(m, v):
    return max(0.0, 1.0 - m) / (v + 1.0), 1.0 if m < 1.0 else 0.0

rule = rules.Custom(arow, compiled=True)
assert rule.is_compiled
assert SureTextClassifier(rule).fit(texts, labels).predict(["great"])[0] == "good"
""",
    "dask": """
import dask.array
import surelearn.dask
from surelearn import SureClassifier
X = dask.array.from_array([[1.0, 0.0], [0.0, 1.0]] * 10, chunks=(5, 2))
y = dask.array.from_array(labels, chunks=5)
model = surelearn.dask.fit(SureClassifier(), X, y)
assert model.predict([[1.0, 0.0]])[0] == "good"
""",
    "spark": """
import shutil
import surelearn.spark
from surelearn import SureTextClassifier
if shutil.which("java"):
    from pyspark.sql import SparkSession
    builder = SparkSession.builder.master("local[1]").config("spark.driver.host", "127.0.0.1")
    session = builder.config("spark.ui.enabled", "false").getOrCreate()
    df = session.createDataFrame(list(zip(texts, labels)), "text string, label string")
    model = surelearn.spark.fit(SureTextClassifier(), df)
    session.stop()
    assert model.predict(["great"])[0] == "good"
""",
    # Every benchmark finds what it imports; running them takes an hour.
    "bench": """
import runpy, sys
folder = Path(sys.argv[1]) / "benchmarks"
sys.path.insert(0, str(folder))
scripts = sorted(folder.glob("[!_]*.py"))
for script in scripts:
    runpy.run_path(str(script))
assert len(scripts) > 10
import mapie, river, vowpalwabbit, pgmpy, pycrfsuite, numba
""",
}

#: What each extra is for, as commands of its environment.
COMMANDS = {
    "cli": [
        "surelearn --help",
        "surelearn train rows.jsonl -o model.sure",
        "surelearn predict model.sure rows.jsonl",
    ],
}

#: Where an extra is tried alone by something else.
ELSEWHERE = {
    "docs": "test_the_extra_docs_is_enough_for_the_manual",
    "test": "make test installs it into a fresh environment",
    "all": "test_all_has_every_extra_for_users",
}


def test_every_extra_is_tried():
    assert sorted([*SCRIPTS, *COMMANDS, *ELSEWHERE]) == sorted(EXTRAS)


def test_all_has_every_extra_for_users():
    [wanted] = EXTRAS["all"]
    names = re.fullmatch(r"surelearn\[(.*)\]", wanted)[1].split(",")
    assert sorted(names) == sorted(set(EXTRAS) - {"all", "bench", "docs", "test"})


def packages(folder):
    [found] = folder.glob("lib/python3*/site-packages")
    return found


def install(folder, wanted, *options):
    """Install a package into an environment, which needs no pip of its own."""
    pip = (sys.executable, "-m", "pip", "--python", folder / "bin" / "python")
    run(*pip, "install", "-q", *options, wanted, cwd=folder)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return released.wheel(tmp_path_factory)


@pytest.fixture(scope="module")
def core(wheel, tmp_path_factory):
    """An environment with the wheel and no extra."""
    folder = tmp_path_factory.mktemp("core") / "venv"
    venv.create(folder, symlinks=True)
    install(folder, wheel)
    return folder


@pytest.fixture
def environment(wheel, core, tmp_path):
    """A function that makes an environment with one extra; its packages go when the test ends."""
    folder = tmp_path / "venv"

    def make(extra):
        venv.create(folder, symlinks=True)
        # Hard links to what any environment of the wheel has: unpacking it takes seconds each time.
        for entry in packages(core).iterdir():
            if entry.is_dir() and not entry.name.startswith("surelearn"):
                shutil.copytree(entry, packages(folder) / entry.name, copy_function=os.link)
            elif not entry.is_dir():
                os.link(entry, packages(folder) / entry.name)
        install(folder, f"{wheel}[{extra}]", "--no-compile")  # what is imported will do
        return folder / "bin"

    yield make
    shutil.rmtree(folder)


@pytest.fixture
def folder(tmp_path):
    """A folder with rows to read."""
    work = tmp_path / "work"
    work.mkdir()
    run(sys.executable, "-c", ROWS, cwd=work)
    return work


def test_no_extra_is_enough_to_learn(core, folder):
    code = (
        ROWS + "from surelearn import SureTextClassifier\nSureTextClassifier().fit(texts, labels)"
    )
    run(core / "bin" / "python", "-c", code, cwd=folder)
    installed = {path.name.partition("-")[0] for path in packages(core).glob("*.dist-info")}
    assert not installed & {"pyarrow", "typer", "matplotlib", "pandas", "aiohttp"}


@pytest.mark.parametrize("extra", SCRIPTS)
def test_an_extra_alone(extra, environment, folder):
    run(environment(extra) / "python", "-c", ROWS + SCRIPTS[extra], ROOT, cwd=folder)


@pytest.mark.parametrize("extra", COMMANDS)
def test_an_extra_of_commands_alone(extra, environment, folder):
    bin = environment(extra)
    for command in COMMANDS[extra]:
        program, *words = command.split()
        assert run(bin / program, *words, cwd=folder)


def test_the_group_papers_is_enough_to_rebuild_them(core, tmp_path):
    """A group is no extra of the wheel, so it is installed beside the package."""
    folder = tmp_path / "venv"
    shutil.copytree(core, folder, symlinks=True)
    install(folder, f"{ROOT / 'pyproject.toml'}:papers", "--group")
    words = ("lecture-ecoc", "--quick", "-o", tmp_path / "out")
    assert run(folder / "bin" / "python", "-m", "experiments.papers", *words, cwd=ROOT)
    assert not list(packages(folder).glob("typer"))


#: What the manual is made of.
MANUAL = ("docs", "benchmarks", "examples", "experiments", "src/surelearn/label/static")


def test_the_extra_docs_is_enough_for_the_manual(environment, tmp_path):
    """Without running the examples of the gallery; it failed where Dask or Spark were missing."""
    tree = tmp_path / "tree"
    without = shutil.ignore_patterns("_build", "gallery", "reference", "cases.jsonl")
    for name in MANUAL:
        shutil.copytree(ROOT / name, tree / name, ignore=without)
    for page in ROOT.glob("*.md"):
        shutil.copy(page, tree)
    bin = environment("docs")
    build = ("-m", "sphinx", "-q", "-W", "--keep-going", "-D", "plot_gallery=0", "-c", "docs")
    run(bin / "python", *build, ".", "html", cwd=tree)
    for engine in ("dask", "spark"):
        page = (tree / "html/docs/reference/names" / f"surelearn.{engine}.fit.html").read_text()
        assert "from the partitions of a" in page
    assert not list(packages(bin.parent).glob("pyspark"))
