"""A copy of the repository: renewed, changed by one token, and the programs that run in it."""

from __future__ import annotations

import importlib.util
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

#: What a changed program may take: bytes of memory and of one file.
MEMORY, FILE = 6 << 30, 2 << 30

#: Where the tests find `reach.py`, as the first thing that Python imports.
SITE = "build/mutants"


class Outcome(NamedTuple):
    """How a program ended: its exit code, None after its time was over."""

    code: int | None
    output: str
    seconds: float


class Tree:
    """A copy below a folder that outlasts the run: what was compiled there serves again."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root, self.folder = root, folder

    def renew(self) -> None:
        """Write what differs, remove what is gone, and put the extension in place."""
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        out = subprocess.run(listed, cwd=self.root, capture_output=True, check=True).stdout
        names = {name for name in os.fsdecode(out).split("\0") if (self.root / name).is_file()}
        index = self.folder / "build" / "listed"
        known = set(index.read_text().split("\0")) if index.exists() else set()
        for name in known - names - {""}:
            (self.folder / name).unlink(missing_ok=True)
        for name in names:
            _copy(self.root / name, self.folder / name)
        self.place_extension()
        _copy(self.root / "tests/mutants/reach.py", self.folder / SITE / "sitecustomize.py")
        index.write_text("\0".join(sorted(names)))

    def place_extension(self, file: Path | None = None) -> None:
        """Put an extension into the tree's package; without one, that of this environment."""
        own = importlib.util.find_spec("surelearn._core")
        if own and own.origin:
            name = Path(own.origin).name
            _copy(file or Path(own.origin), self.folder / "src" / "surelearn" / name)

    @contextmanager
    def changed(self, path: str, text: str) -> Iterator[None]:
        """The tree with another text in one file."""
        file = self.folder / path
        before, times = file.read_bytes(), file.stat()
        file.write_text(text)
        try:
            yield
        finally:
            file.write_bytes(before)
            # Bytecode of before is valid again; an object file is not.
            if path.endswith(".py"):
                os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))

    def pytest(self, files: list[str], limit: float | None, **environment: str) -> Outcome:
        """The quick tests of some files with the package of this tree."""
        words = ["-q", "-p", "no:cacheprovider", "-p", "sitecustomize", "-m", "not slow"]
        words += ["--basetemp", str(self.folder / "build" / "temporary" / "pytest"), *files]
        return self.run([sys.executable, "-m", "pytest", *words], limit, **environment)

    def run(self, words: list[str], limit: float | None, **environment: str) -> Outcome:
        """A program in this tree, ended with all that it started."""
        temporary = self.folder / "build" / "temporary"
        temporary.mkdir(parents=True, exist_ok=True)
        paths = [self.folder / SITE, self.folder / "src"]
        given = {"PYTHONPATH": os.pathsep.join(map(str, paths)), "TMPDIR": str(temporary)}
        begin = time.monotonic()
        # Not a pipe: a process left behind may hold it open.
        with open(temporary / "output", "w+", errors="replace") as out:
            process = subprocess.Popen(
                words,
                cwd=self.folder,
                env=os.environ | given | environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                with suppress(ProcessLookupError):
                    resource.prlimit(process.pid, resource.RLIMIT_AS, (MEMORY, MEMORY))
                    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (FILE, FILE))
                code = process.wait(limit)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            out.seek(0)
            output = out.read()
        shutil.rmtree(temporary, ignore_errors=True)
        return Outcome(code, output, time.monotonic() - begin)


def _copy(source: Path, target: Path) -> None:
    """A copy with the time of now, where the bytes differ: what was made of them is old."""
    if target.exists() and target.read_bytes() == source.read_bytes():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)
