"""Whether the tests of the core notice a change of a header.

First the C++ tests of the same name alone, then the whole C++ test program, then the extension with
the Python tests that `make sanitize` runs and those of the same name. All are compiled in little
time and not for speed; results are those of a release. A header that no longer compiles is no
change to judge.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from threading import Lock

import nanobind

from mutants.places import Change
from mutants.rooms import Run, Verdict, deselected, noticed, unchanged
from mutants.tree import Tree

_LEVEL = "-O1"
_FLAGS = ["-std=c++20", _LEVEL, "-ffp-contract=off", "-D_GLIBCXX_ASSERTIONS", "-pthread"]
_FOLDERS = ["-Icpp", "-Icpp/tests"]
#: Seconds for a C++ test program; unchanged, all of it takes three.
_LIMIT = 60
#: Seconds for compiling it or the extension from scratch.
_COMPILING = 1200

_UNUSABLE = Verdict(False, "does not compile", usable=False)


class Core:
    """The judge of changes in headers; what was compiled before lies in the trees."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ready: set[Path] = set()
        self._lock = Lock()

    def judge(self, tree: Tree, path: str, change: Change) -> Verdict:
        """Compile and run what should notice a change, the cheapest first."""
        stem, text = PurePosixPath(path).stem, (tree.folder / path).read_text()
        with self._lock:
            if tree.folder not in self._ready:
                _configure(tree)
                self._ready.add(tree.folder)
        stages: list[Callable[[], Verdict | None]] = [
            lambda: _program(tree, stem),
            lambda: _program(tree),
            lambda: self._extension(tree, stem),
        ]
        try:
            with tree.changed(path, change.applied(text)):
                for stage in stages:
                    if verdict := stage():
                        return verdict
        finally:
            tree.place_extension()
        return Verdict(False, "all C++ tests, and Python tests of the core")

    def _extension(self, tree: Tree, stem: str) -> Verdict | None:
        with self._lock:
            runs = self._unchanged(tree, stem)
        if tree.run(["cmake", "--build", "build/core"], _COMPILING).code != 0:
            return _UNUSABLE
        tree.place_extension(_built(tree))
        names = _names(tree.folder, stem)

        def rank(file: str) -> tuple[bool, float]:
            return not any(_is_of(file, name) for name in names), runs[file].seconds

        files = sorted(runs, key=rank)
        limit = 60 + 10 * sum(run.seconds for run in runs.values())
        by = noticed(tree.pytest(["-x", *files, *deselected(runs, files)], limit))
        return Verdict(True, by) if by else None

    def _unchanged(self, tree: Tree, stem: str) -> dict[str, Run]:
        """The runs of the Python tests with the extension of the release."""
        runs = unchanged(tree, _python_tests(tree.folder, stem), self.folder / "core.json")
        return {file: run for file, run in runs.items() if run.sound}


def _configure(tree: Tree) -> None:
    """Compile the unchanged extension, of which later builds compile a part again."""
    print("compiling the unchanged core, some minutes unless it was there ...", flush=True)
    settings = {
        "CMAKE_BUILD_TYPE": "Debug",
        "CMAKE_CXX_FLAGS": "-D_GLIBCXX_ASSERTIONS",
        "CMAKE_CXX_FLAGS_DEBUG": "",
        "SURELEARN_OPTIMIZE": _LEVEL,
        "Python_EXECUTABLE": sys.executable,
        "nanobind_DIR": nanobind.cmake_dir(),
    }
    words = [f"-D{name}={value}" for name, value in settings.items()]
    generated = tree.run(["cmake", "-B", "build/core", "-G", "Ninja", *words], None)
    outcome = (
        tree.run(["cmake", "--build", "build/core"], None) if not generated.code else generated
    )
    if outcome.code != 0:
        raise SystemExit(f"the unchanged core does not compile:\n{outcome.output}")


def _built(tree: Tree) -> Path:
    return next((tree.folder / "build" / "core").glob("_core.*.so"))


def _program(tree: Tree, stem: str = "") -> Verdict | None:
    """The test program, or the part of it for one header, if there is one."""
    if stem and not (tree.folder / f"cpp/tests/test_{stem}.hpp").exists():
        return None
    source, program = tree.folder / "build/mutant.cpp", "build/mutant"
    source.write_text(part_of((tree.folder / "cpp/tests/main.cpp").read_text(), stem))
    if tree.run(["g++", *_FLAGS, *_FOLDERS, str(source), "-o", program], _COMPILING).code != 0:
        return _UNUSABLE
    outcome = tree.run([str(tree.folder / program)], _LIMIT)
    if outcome.code == 0:
        return None
    said = re.search(r"^FAILED (.*): \d+ checks$", outcome.output, re.MULTILINE)
    return Verdict(True, f"C++ test '{said[1]}'" if said else f"C++ tests: exit {outcome.code}")


def part_of(program: str, stem: str) -> str:
    """The test program with the tests of one header alone; all of it without a header."""

    def kept(line: str) -> bool:
        named = re.match(r'#include "test_(\w+)\.hpp"|    run\((\w+)_tests, count\);', line)
        return not stem or not named or stem in named.groups()

    return "".join(filter(kept, program.splitlines(keepends=True)))


def _python_tests(folder: Path, stem: str) -> list[str]:
    """The test files that `make sanitize` runs, and those of a header's name or its bindings'."""
    listed = re.search(r"\$\{TESTS:-([^}]*)\}", (folder / "tests/sanitize/run.sh").read_text())
    named = [folder / name for name in (listed[1].split() if listed else [])]
    tests = sorted((folder / "tests").rglob("test_*.py"))
    own = {file for file in tests if file in named or set(named) & set(file.parents)}
    own |= {
        file
        for name in _names(folder, stem)
        for file in tests
        if _is_of(file.relative_to(folder).as_posix(), name)
    }
    return sorted(file.relative_to(folder).as_posix() for file in own)


def _names(folder: Path, stem: str) -> set[str]:
    """A header and the files of bindings that include it."""
    include = f'#include "surelearn/{stem}.hpp"'
    files = (folder / "cpp" / "bind").iterdir()
    return {stem} | {file.stem for file in files if include in file.read_text()}


def _is_of(file: str, stem: str) -> bool:
    """Whether a test file or its folder has the name of a header."""
    path = PurePosixPath(file)
    return path.stem == f"test_{stem}" or stem in path.parts
