"""A release, from the source distribution to a fresh environment that has nothing but the wheel.

Builds with `python -m build` and installs with pip from the package index, so it takes minutes.
"""

from __future__ import annotations

import email
import os
import re
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

import released
from released import ROOT, run

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NAME = f"surelearn-{PROJECT['version']}"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    return released.dist(tmp_path_factory) / f"{NAME}.tar.gz"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return released.wheel(tmp_path_factory)


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """The interpreter of a fresh environment with the wheel, its command, and pytest."""
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    run(python, "-m", "pip", "install", "-q", f"{wheel}[cli]", "pytest", cwd=folder)
    return python


def files_below(folder):
    """Paths in a folder of the repository that a release has to have."""
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix not in {".so", ".pyc"}
    }


def test_sdist_has_what_building_needs_and_no_more(sdist):
    with tarfile.open(sdist) as archive:
        names = {name.removeprefix(f"{NAME}/") for name in archive.getnames()}
    single = {"CHANGELOG.md", "CITATION.cff", "CMakeLists.txt", "LICENSE", "README.md"}
    folders = {
        f"{folder}/{name}"
        for folder in ("cpp", "src", "tests/release")
        for name in files_below(ROOT / folder)
    }
    assert names == single | folders | {"PKG-INFO", "pyproject.toml"}
    assert sdist.stat().st_size < 2_000_000


def test_wheel_has_the_package_and_no_more(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    [core] = [name for name in names if name.endswith(".so")]
    assert re.fullmatch(r"surelearn/_core\.[\w-]+\.so", core)
    info = {
        f"{NAME}.dist-info/{name}"
        for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")
    }
    package = {f"surelearn/{name}" for name in files_below(ROOT / "src" / "surelearn")}
    assert {"surelearn/py.typed", "surelearn/_core.pyi", "surelearn/label/static/page.js"} < package
    assert names == package | info | {core}


def test_metadata(wheel):
    with zipfile.ZipFile(wheel) as archive:
        metadata = email.message_from_bytes(archive.read(f"{NAME}.dist-info/METADATA"))
    assert metadata["Version"] == PROJECT["version"]
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert metadata["License-File"] == "LICENSE"
    assert metadata["Requires-Python"] == PROJECT["requires-python"]
    assert "Typing :: Typed" in metadata.get_all("Classifier")
    assert metadata["Description-Content-Type"] == "text/markdown"


def test_page_of_the_package_index_has_no_dead_link(wheel):
    """It has no files beside it: relative links and pictures would lead nowhere."""
    with zipfile.ZipFile(wheel) as archive:
        metadata = email.message_from_bytes(archive.read(f"{NAME}.dist-info/METADATA"))
    text = metadata.get_payload()
    assert "```python\nfrom surelearn import SureTextClassifier" in text
    assert "## What sets it apart" in text
    assert not re.findall(r"\]\((?!https?:)[^)]*\)", text)
    assert "![" not in text


def test_changelog_and_citation_have_the_version():
    version = PROJECT["version"]
    assert re.search(rf"^## {re.escape(version)}\b", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()


def test_import_from_another_folder(python, tmp_path):
    code = "import surelearn; print(surelearn.__version__, surelearn.__file__)"
    version, path = run(python, "-c", code, cwd=tmp_path).split()
    assert version == PROJECT["version"]
    assert Path(path).is_relative_to(Path(python).parents[1])


def test_installed_package_does_what_the_readme_shows(python, sdist, tmp_path):
    """With the tests of the source distribution, as a packager would run them."""
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    folder = tmp_path / NAME
    command = ("-m", "pytest", "-q", "-c", os.devnull, "--rootdir", str(folder))
    said = run(python, *command, "tests/release/test_installed.py", cwd=folder)
    assert "3 passed" in said


def test_users_of_mypy_see_types(python, tmp_path):
    script = tmp_path / "user.py"
    script.write_text(
        "from surelearn import SureTextClassifier\n"
        "from surelearn.rules import AROW\n"
        "reveal_type(SureTextClassifier)\n"
        "reveal_type(AROW(r=1.0).step(0.5, 1.0).alpha)\n"
    )
    mypy = ("-m", "mypy", "--python-executable", python, "--follow-imports", "silent")
    said = run(sys.executable, *mypy, str(script), cwd=tmp_path)
    assert 'Revealed type is "float"' in said.replace("builtins.", "")
    assert "SureTextClassifier" in said
