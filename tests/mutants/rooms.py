"""Which tests should notice a change of a module, and whether they do.

First the test file of the same name, with the examples of the module's docstrings; then those test
files of the room that call the changed function at all. An unchanged run of the room tells which
these are and how long they take. It is kept for the next call as long as its files are the same.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import NamedTuple

from house.names import mirrors
from mutants.places import Change
from mutants.tree import Outcome, Tree

PACKAGE = "src/surelearn"

#: Functions that a test file calls: path below the package, first line.
_Reached = list[tuple[str, int]]


class Verdict(NamedTuple):
    """Whether a change was noticed, and by what; `usable` is False where it does not compile."""

    noticed: bool
    by: str
    usable: bool = True


class Run(NamedTuple):
    """The unchanged run of one test file; tests that fail even so are left out later."""

    key: str
    sound: bool
    seconds: float
    reached: _Reached
    failing: tuple[str, ...] = ()


def mirrored(path: str) -> list[str]:
    """The test files of a module; what opens the package has the test of its public names."""
    return mirrors(path) or (["tests/test_public.py"] if path == f"{PACKAGE}/__init__.py" else [])


def room(path: str) -> str:
    """The first folder of a module below the package; empty for a module beside the rooms."""
    parts = PurePosixPath(path).relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else ""


class Rooms:
    """The judge of changes in Python, and what is known of the unchanged tests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._runs: dict[str, dict[str, Run]] = {}
        self._lock = Lock()

    def judge(self, tree: Tree, path: str, change: Change) -> Verdict:
        """Run the tests that should notice a change."""
        with self._lock:
            runs = self._room(tree, path)
        sound = {file: run for file, run in runs.items() if run.sound}
        first = [file for file in [*mirrored(path), path] if file in sound]
        rest = [file for file in sound if file not in first and _calls(sound[file], path, change)]
        rest.sort(key=lambda file: sound[file].seconds)
        text = (tree.folder / path).read_text()
        with tree.changed(path, change.applied(text)):
            for files in filter(None, (first, rest)):
                limit = 20 + 5 * sum(sound[file].seconds for file in files)
                # The time of a bytecode file has whole seconds: none is written of the change.
                words = ["-x", *files, *deselected(sound, files)]
                outcome = tree.pytest(words, limit, PYTHONDONTWRITEBYTECODE="1")
                if by := noticed(outcome):
                    return Verdict(True, by)
        return Verdict(False, f"{len(first)} + {len(rest)} files")

    def _room(self, tree: Tree, path: str) -> dict[str, Run]:
        """The unchanged runs of all test files of the module's room, by file."""
        name = room(path)
        if name not in self._runs or not name:
            files = _files(tree, name) if name else [*mirrored(path), path]
            file = self.folder / f"{name or path.replace('/', '-')}.json"
            self._runs[name] = unchanged(
                tree, [f for f in files if (tree.folder / f).exists()], file
            )
        return self._runs[name]


def _files(tree: Tree, name: str) -> list[str]:
    """The test files of a room, and its modules with examples."""
    folders = [f"tests/{name.removeprefix('_')}", f"{PACKAGE}/{name}"]
    found = [p for folder in folders for p in sorted((tree.folder / folder).rglob("*.py"))]
    tests = [p for p in found if p.name.startswith("test_") or _has_examples(p)]
    return [p.relative_to(tree.folder).as_posix() for p in tests]


def unchanged(tree: Tree, files: list[str], kept: Path) -> dict[str, Run]:
    """The unchanged runs of files, from the file where they are kept or from a new run."""
    read = json.loads(kept.read_text()) if kept.exists() else {}
    keys = _keys(tree, files)
    known = {file: Run(*read[file]) for file in files if read.get(file, [""])[0] == keys[file]}
    if stale := [file for file in files if file not in known]:
        print(f"unchanged run of {len(stale)} files, from {stale[0]} ...", flush=True)
        out = tree.folder / "build" / "reached"
        out.unlink(missing_ok=True)
        package = f"{tree.folder / PACKAGE}/"
        outcome = tree.pytest(stale, None, MUTANTS_OUT=str(out), MUTANTS_PACKAGE=package)
        if not out.exists():
            raise SystemExit(f"no test runs in the copy of the tree:\n{outcome.output}")
        known |= read_reached(out.read_text(), keys, stale)
        kept.write_text(json.dumps(known))
    return known


def _keys(tree: Tree, files: list[str]) -> dict[str, str]:
    """What the unchanged runs depend on: the package, helpers, and each file itself."""
    tests = [p for p in tree.folder.glob("tests/**/*.py") if "mutants" not in p.parts[-2:]]
    shared = [p for p in tests if not p.name.startswith("test_")]
    shared += [p for end in ("py", "so") for p in tree.folder.glob(f"{PACKAGE}/**/*.{end}")]
    begin = sha256(b"".join(path.read_bytes() for path in sorted(shared)))
    keys = {}
    for file in files:
        digest = begin.copy()
        digest.update((tree.folder / file).read_bytes())
        keys[file] = digest.hexdigest()
    return keys


def deselected(runs: dict[str, Run], files: list[str]) -> list[str]:
    """Options that leave out the tests which fail without any change."""
    return [f"--deselect={name}" for file in files for name in runs[file].failing]


def read_reached(text: str, keys: dict[str, str], files: list[str]) -> dict[str, Run]:
    """The runs of files, from the lines that `reach.py` writes.

    What is called while test files are read counts for all of them.
    """
    reached: dict[str, _Reached] = {file: [] for file in ["", *files]}
    seconds = dict.fromkeys(files, 0.0)
    heard, failed = set(), set()
    for kind, where, *more in (line.split("\t") for line in text.splitlines()):
        file = where.partition("::")[0]
        if kind == "reached":
            reached[file if file in reached else ""].append((more[0], int(more[1])))
        elif file in seconds:
            heard.add(file)
            seconds[file] += float(more[0])
            failed |= {where} if kind == "failed" else set()
    for name in sorted(failed | (set(files) - heard)):
        print(f"left out, since it fails without any change: {name}", flush=True)
    return {
        file: Run(
            keys[file],
            file in heard - failed,
            seconds[file],
            sorted({*reached[file], *reached[""]}),
            tuple(sorted(name for name in failed if name.startswith(f"{file}::"))),
        )
        for file in files
    }


def _has_examples(path: Path) -> bool:
    return "src" in path.parts and ">>> " in path.read_text()


def _calls(run: Run, path: str, change: Change) -> bool:
    """Whether a test file can meet a change; what is outside functions is met by all."""
    here = (str(PurePosixPath(path).relative_to(PACKAGE)), change.function)
    return change.function is None or here in set(map(tuple, run.reached))


def noticed(outcome: Outcome) -> str:
    """By which test a change was noticed; empty where all passed, or none ran."""
    if outcome.code in {0, 5}:
        return ""
    if outcome.code is None:
        return "its time limit"
    said = [line for line in outcome.output.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return said[-1].split(" ")[1] if said else f"exit code {outcome.code}"
