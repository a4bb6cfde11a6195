"""What is public is documented, and what is documented is there."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from importlib import import_module
from inspect import ismodule
from pathlib import Path

import pytest
from typer.testing import CliRunner

import surelearn
from surelearn import constraints, decode, graph, rules
from surelearn.cli._app import app

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
#: What `make docs` writes, where it has run.
GENERATED = [DOCS / "gallery", DOCS / "reference", DOCS / "theory" / "papers.md"]
PAGES = [
    page
    for page in sorted(DOCS.rglob("*.md"))
    if "_build" not in page.parts and not any(page.is_relative_to(made) for made in GENERATED)
]
THEORY = [page for page in PAGES if page.parent.name == "theory" and page.stem != "index"]


@pytest.fixture(autouse=True)
def figures_are_closed():
    """Pages leave their figures open, as a notebook would; other tests count figures."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


@pytest.mark.parametrize("name", surelearn.__all__)
def test_every_public_name_has_a_docstring(name):
    assert getattr(surelearn, name).__doc__


ESTIMATORS = [
    surelearn.CRFTagger,
    surelearn.GraphCRF,
    surelearn.GraphSVM,
    surelearn.SureClassifier,
    surelearn.SureGraphClassifier,
    surelearn.SureKernelClassifier,
    surelearn.SureRanker,
    surelearn.SureTagger,
    surelearn.SVMTagger,
]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_parameter_of_an_estimator_is_described(estimator):
    for name in estimator().get_params(deep=False):
        assert re.search(rf"^    {name}\b.* : ", estimator.__doc__, re.MULTILINE), name


def test_every_method_is_described():
    for method in ("fit", "partial_fit", "predict", "margin", "save", "learn_one", "explain"):
        assert getattr(surelearn.SureClassifier, method).__doc__
    parts = (surelearn.SureTagger, surelearn.CRFTagger, surelearn.SVMTagger, decode.Chain)
    for part in (*parts, surelearn.SureGraphClassifier, graph.FactorGraph):
        for name in dir(part):
            method = getattr(part, name, None)
            if callable(method) and not name.startswith("_"):
                assert method.__doc__, name


def test_every_rule_has_a_row_in_the_theory():
    table = (ROOT / "docs" / "theory" / "rules.md").read_text()
    for name, rule in rules.RULES.items():
        assert f"`{rule.__name__}`" in table, name
        assert f'`"{name}"`' in table, name


def test_every_scheme_has_a_row_in_the_theory():
    page = (ROOT / "docs" / "theory" / "constraints.md").read_text()
    for name, scheme in constraints.SCHEMES.items():
        assert re.search(rf'^\| `{scheme.__name__}\(.*?\)` \| `"{name}"` \|', page, re.MULTILINE), (
            name
        )


@pytest.mark.parametrize("page", THEORY, ids=lambda page: page.stem)
def test_equations_are_rendered(page):
    """An indented block is shown as text; an equation stands between lines of two dollars."""
    text = page.read_text()
    assert not re.search(r"\n\n    \S.*( = |<-|\+=)", text)
    assert text.count("\n$$\n") % 2 == 0


def cells_of(page):
    """Cells of the last two columns, code and test, of the table of paper and code."""
    table = page.read_text().split("## Paper and code\n")[1]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
    assert rows[0] == ["what", "equation", "code", "test"]
    return [cell for row in rows[1:] for cell in row[2:]]


def defines(text, name):
    """Whether source of either language defines or declares a name, and not only mentions it."""
    name = re.escape(name)
    return re.search(rf"\b(def|class|struct|concept) {name}\b", text) or re.search(
        rf"^ *[^/# \n][^/#\n]*\b{name}\(|^{name}\b.* = ", text, re.MULTILINE
    )


@pytest.mark.parametrize("page", THEORY, ids=lambda page: page.stem)
def test_what_papers_are_said_to_be_in_the_code_is_there(page):
    """Every file in the table exists, and defines the names that stand before it."""
    for cell in cells_of(page):
        names = []
        for word in re.findall(r"`([^`]+)`", cell):
            if "/" not in word:
                names.append(re.split(r"::|\.", word)[-1])
                continue
            text = (ROOT / word).read_text()
            for name in names:
                assert defines(text, name), f"{word} has no {name}"
            names = []
        assert not names, f"{names} in no file"


def test_the_stub_is_the_one_the_build_gives(tmp_path):
    made = tmp_path / "_core.pyi"
    subprocess.run(
        [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "surelearn._core", "-o", str(made)],
        check=True,
    )
    kept = (ROOT / "src" / "surelearn" / "_core.pyi").read_text()
    assert made.read_text() == kept, "run 'make stub'"


def test_versions_agree():
    assert f"version: {surelearn.__version__}" in (ROOT / "CITATION.cff").read_text()
    assert f"## {surelearn.__version__}" in (ROOT / "CHANGELOG.md").read_text()
    assert f'version = "{surelearn.__version__}"' in (ROOT / "pyproject.toml").read_text()


def run_blocks(page, folder, monkeypatch):
    """Run every block of Python of a page, one after the other; what they leave behind."""
    monkeypatch.chdir(folder)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert blocks
    scope: dict[str, object] = {}
    for block in blocks:
        exec(block, scope)
    return scope


def test_the_five_lines_of_the_readme_work(tmp_path, monkeypatch):
    clf = run_blocks("README.md", tmp_path, monkeypatch)["clf"]
    assert clf.predict_proba(["great fun"])[0] == pytest.approx([0.03, 0.97], abs=0.005)
    known, unseen = "a film", "unseen words"
    mean, variance = clf.margin([known, unseen])
    assert mean == pytest.approx([0, 0], abs=0.12)
    assert variance == pytest.approx([0.3, 1.1], abs=0.05)
    assert clf.predict_proba([known, unseen]) == pytest.approx(0.5, abs=0.05)


@pytest.mark.slow
@pytest.mark.usefixtures("no_registered_rules")
def test_the_page_on_custom_rules_works(tmp_path, monkeypatch):
    scope = run_blocks("docs/howto/custom_rule.md", tmp_path, monkeypatch)
    accuracy = scope["accuracy"]
    assert accuracy["SOP"] + 0.03 < accuracy["fixed multiplier"] < accuracy["Stdev"]
    assert scope["clf"].rule == "careful"


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.stem)
        for page in PAGES
        if re.search("```(python|console)", page.read_text()) and page.stem != "custom_rule"
    ],
)
def test_guides_work_and_show_what_is_printed(page, tmp_path, monkeypatch):
    """Every block of Python runs; a block of text after it is what it prints. Every command of a
    console runs; what is below it is what it prints."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```(python|text|console)\n(.*?)```", page.read_text(), re.DOTALL)
    assert blocks
    scope: dict[str, object] = {}
    printed = ""
    for kind, block in blocks:
        if kind == "console":
            for command, shown in transcript(block):
                assert said(command, tmp_path) == shown, command
        elif kind == "text":
            assert printed == block
        else:
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(block, scope)
            printed = out.getvalue()


def transcript(block):
    """The commands of a console, after ``$``, with what each prints."""
    assert block.startswith("$ "), block
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, shown = re.fullmatch(r"((?:.*\\\n)*.*\n)((?s:.*))", part).groups()
        yield command.replace("\\\n", " ").strip(), shown


def said(command, folder):
    """What a command prints; in this process unless it needs a shell."""
    words = shlex.split(command)
    if words[0] == "surelearn" and not {"|", "<", ">"} & set(words):
        return CliRunner().invoke(app, words[1:], prog_name="surelearn").output
    started = folder / "surelearn"
    started.write_text(f"#!{sys.executable}\nfrom surelearn.cli import main; main()\n")
    started.chmod(0o755)
    path = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    run = subprocess.run(
        command, shell=True, capture_output=True, text=True, env=path, check=False, cwd=folder
    )
    return run.stdout + run.stderr


def test_transcripts_are_taken_apart():
    block = "$ one \\\n  two\nout $ put\n\n$ three\n$ four\nlast\n"
    assert list(transcript(block)) == [
        ("one    two", "out $ put\n\n"),
        ("three", ""),
        ("four", "last\n"),
    ]


def test_every_command_is_in_the_guide():
    page = (ROOT / "docs" / "howto" / "command_line.md").read_text()
    ran = {command.split()[1] for block in re.findall(r"```console\n(.*?)```", page, re.DOTALL)
           for command, _ in transcript(block) if command.startswith("surelearn ")}  # fmt: skip
    assert ran >= {"train", "predict", "evaluate", "explain", "info", "simulate"}


def test_the_front_page_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 100


@pytest.mark.parametrize("folder", ["tutorial", "howto", "theory"])
def test_every_page_is_in_the_index_of_its_folder(folder):
    """Once as a link with a description, once in the table of contents of the manual."""
    pages = {page.stem for page in PAGES if page.parent.name == folder} - {"index"}
    pages |= {"papers"} if folder == "theory" else set()
    text = (DOCS / folder / "index.md").read_text()
    linked = re.findall(r"\]\((\w+)\.md\)", text)
    listed = "\n".join(re.findall(r"```{toctree}\n(.*?)```", text, re.DOTALL)).splitlines()
    listed = [line for line in listed if line and not line.startswith(":")]
    assert sorted(linked) == sorted(listed) == sorted(pages)


def test_every_public_module_is_in_the_reference(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    listed = {name for part in import_module("generated").MODULES.values() for name in part}
    public = [name for name in surelearn.__all__ if ismodule(getattr(surelearn, name))]
    assert listed >= {f"surelearn.{name}" for name in (*public, "dask", "spark")}


def test_the_reference_begins_with_the_estimators(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    page = "\n".join(import_module("generated").index_page())
    listed = re.findall(r"^- \[`(\w+)`\]\(names/surelearn\.\1\.rst\): \w", page, re.MULTILINE)
    estimators = {n for n in surelearn.__all__ if hasattr(getattr(surelearn, n), "fit")}
    assert set(listed) == estimators
    assert listed[0] == "SureClassifier"
    assert page.index(listed[-1]) < page.index("`surelearn.rules`")


def test_pages_show_what_they_are_about():
    assert "](label.png)" in (DOCS / "index.md").read_text()
    explain = (DOCS / "howto" / "explain.md").read_text()
    for name in re.findall(r'save\("(\w+\.png)"\)', explain):
        assert f"](pictures/explain_{name})" in explain


def layout():
    """The map of the code in CONTRIBUTING.md, and how a line reaches the weights."""
    section = (ROOT / "CONTRIBUTING.md").read_text().split("## Layout\n")[1].split("\n## ")[0]
    return section, re.search(r"^1\. .*?\n\n", section, re.MULTILINE | re.DOTALL).group()


def test_the_map_of_the_code_fits_on_a_screen():
    section, way = layout()
    assert len(section.splitlines()) <= 45
    assert len(re.findall(r"`[\w/]+\.(?:py|hpp)`", way)) <= 15


def test_the_files_that_contributors_are_sent_to_are_there():
    page = (ROOT / "CONTRIBUTING.md").read_text() + (DOCS / "extend.md").read_text()
    rooms = [ROOT, ROOT / "src" / "surelearn", ROOT / "cpp" / "surelearn"]
    rooms.append(ROOT / "src" / "surelearn" / "rules")  # where a rule is added
    for name in re.findall(r"`([\w/.]+(?:\.(?:py|hpp|cpp|md|txt)|/))`", page):
        assert any((room / name).exists() for room in rooms), name


def test_links_between_pages_lead_somewhere():
    for page in [*ROOT.glob("*.md"), *PAGES, *ROOT.glob("*/README.md")]:
        for target in re.findall(r"\]\(([^)#:\s]+)\)", page.read_text()):
            path = (page.parent / target).resolve()
            made = any(path.is_relative_to(each) for each in GENERATED)
            assert made or path.exists(), f"{page.name} links to {target}"


def settings_of(model, path):
    """Settings and names of tensors in the file of a model."""
    import json

    from safetensors import safe_open

    model.save(path)
    with safe_open(path, "numpy") as file:
        return json.loads(file.metadata()["surelearn"]), list(file.keys())


def test_the_format_page_names_every_setting(tmp_path):
    """docs/format.md alone is enough to write a reader."""
    page = (ROOT / "docs" / "format.md").read_text()
    clf = surelearn.SureClassifier().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    tagger = surelearn.SureTagger().fit([["a", "b"]], [["A", "B"]])
    tagger.calibrate([["a"]], [["A"]])
    crf = surelearn.CRFTagger().fit([["a", "b"]], [["A", "B"]])
    ranker = surelearn.SureRanker().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1], group=[2])
    kernel = surelearn.SureKernelClassifier().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    pair = graph.Graph([[0.0], [1.0]], [[0, 1]], edge_types=["next"])
    graphs = surelearn.SureGraphClassifier().fit([pair], [["A", "B"]])
    parts = ("layout", "weights", "features", "graphs", "solution", "kernel", "problems")
    for model in (clf, tagger, crf, ranker, kernel, graphs):
        settings, tensors = settings_of(model, tmp_path / "m.sure")
        inner = [name for part in parts for name in settings.get(part, ())]
        for name in [*settings, *inner, *tensors]:
            assert f"`{name}`" in page, name
