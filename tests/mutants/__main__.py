"""Change single tokens of the package and the core at random, and see whether the tests notice.

    PYTHONPATH=tests python -m mutants [--seed N] [--python N] [--core N] [--only PATH] [--jobs N]

A change that no test notices asks for an answer: a test, simpler code, or a line in
tests/mutants/equal.txt that says why the changed program is as good. Each such line holds, between
`` | ``, the path, the line of the source, the change, and the reason. Fails
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from mutants.core import Core
from mutants.places import Change, header_changes, python_changes
from mutants.rooms import Rooms, Verdict
from mutants.tree import Tree

EQUAL = "tests/mutants/equal.txt"
#: Tries a change in a tree.
Judge = Callable[[Tree, str, Change], Verdict]

#: What is drawn from: the option, files of that kind, and how they are read.
_KINDS: dict[str, tuple[str, Callable[[str], list[Change]]]] = {
    "python": ("src/surelearn/**/*.py", python_changes),
    "core": ("cpp/surelearn/*.hpp", header_changes),
}


class Mutant(NamedTuple):
    """A change of a file; `line` is the source before it."""

    path: str
    change: Change
    line: str
    told: str

    def __str__(self) -> str:
        return f"{self.path}:{self.change.line}  {self.told}"

    @property
    def key(self) -> str:
        """What finds its answer, wherever the line stands by now."""
        return f"{self.path} | {self.line} | {self.told}"


def main(arguments: list[str] | None = None) -> int:
    """Draw, try, print; 1 where too few are noticed, or one that is not has no answer."""
    given = _parser().parse_args(arguments)
    seed = random.SystemRandom().randrange(10**6) if given.seed is None else given.seed
    print(f"seed {seed}")
    root = given.root.resolve()
    answers = answered((root / EQUAL).read_text())
    name = f"surelearn-mutants-{sha256(str(root).encode()).hexdigest()[:8]}"
    folder = Path(tempfile.gettempdir()) / name
    trees: SimpleQueue[Tree] = SimpleQueue()
    for i in range(given.jobs):
        tree = Tree(root, folder / str(i))
        tree.renew()
        trees.put(tree)
    judges: dict[str, Judge] = {"python": Rooms(folder).judge, "core": Core(folder).judge}
    lost = 0
    with ThreadPoolExecutor(given.jobs) as pool:
        for kind, wanted in (("python", given.python), ("core", given.core)):
            drawn = list(mutants(root, kind, given.only))
            random.Random(f"{seed} {kind}").shuffle(drawn)
            print(f"{kind}: {min(wanted, len(drawn))} of {len(drawn)} places", flush=True)
            lost += report(tried(drawn, wanted, answers, _trial(judges[kind], trees, pool)))
    _tell_stale(answers, root)
    return 1 if lost else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m mutants", description="tests that bite")
    parser.add_argument("--seed", type=int, help="of the draw; a new one is drawn and printed")
    parser.add_argument("--python", type=int, default=100, help="changes of the package (100)")
    parser.add_argument("--core", type=int, default=20, help="changes of the core (20)")
    parser.add_argument(
        "--only", default="", help="draw from paths that begin so, or from PATH:LINE"
    )
    parser.add_argument("--jobs", type=int, default=1, help="changes tried at a time (1)")
    parser.add_argument("--root", type=Path, default=Path(), help="folder of the repository")
    return parser


def mutants(root: Path, kind: str, only: str) -> Iterator[Mutant]:
    """Every place of a kind, in the order of files and lines."""
    pattern, changes = _KINDS[kind]
    for file in sorted(root.glob(pattern)):
        path = file.relative_to(root).as_posix()
        if path.startswith(only.partition(":")[0]):
            text = file.read_text()
            made = (Mutant(path, c, c.source(text), c.told(text)) for c in changes(text))
            yield from (m for m in made if ":" not in only or only == f"{path}:{m.change.line}")


def answered(text: str) -> dict[str, str]:
    """The reason of each known change, by its key."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return {key: reason for key, _, reason in (line.rpartition(" | ") for line in lines)}


def tried(
    drawn: list[Mutant],
    wanted: int,
    answers: dict[str, str],
    trial: Callable[[list[Mutant]], Iterable[tuple[Verdict, float]]],
) -> Iterator[tuple[Mutant, Verdict | None]]:
    """What became of the first ones, None for a known one; unusable ones are passed over."""
    waiting, n = iter(drawn), 0
    while batch := list(islice(waiting, wanted - n)):
        known = [mutant for mutant in batch if mutant.key in answers]
        yield from ((mutant, None) for mutant in known)
        n += len(known)
        unknown = [mutant for mutant in batch if mutant.key not in answers]
        for mutant, (verdict, seconds) in zip(unknown, trial(unknown), strict=True):
            if verdict.usable:
                n += 1
                said = f"noticed by {verdict.by}" if verdict.noticed else f"SURVIVED {verdict.by}"
                print(f"{n:3}/{wanted}  {seconds:5.1f} s  {mutant}  {said}", flush=True)
                yield mutant, verdict


def report(ends: Iterable[tuple[Mutant, Verdict | None]]) -> int:
    """Print the share that was noticed and the others; the number of those without an answer."""
    all_ends = list(ends)
    survivors = [mutant for mutant, verdict in all_ends if verdict and not verdict.noticed]
    n_known = sum(verdict is None for _, verdict in all_ends)
    n_tried = len(all_ends) - n_known
    for mutant in survivors:
        print(f"{mutant}\n    {mutant.line}")
    n_noticed = n_tried - len(survivors)
    print(f"noticed {n_noticed} of {n_tried}, {n_known} more are answered in {EQUAL}", flush=True)
    return len(survivors)


def _trial(
    judge: Judge, trees: SimpleQueue[Tree], pool: ThreadPoolExecutor
) -> Callable[[list[Mutant]], Iterable[tuple[Verdict, float]]]:
    """Tries mutants in the trees that are free, some at a time."""

    def one(mutant: Mutant) -> tuple[Verdict, float]:
        tree, begin = trees.get(), time.monotonic()
        try:
            return judge(tree, mutant.path, mutant.change), time.monotonic() - begin
        finally:
            trees.put(tree)

    return lambda batch: pool.map(one, batch)


def _tell_stale(answers: dict[str, str], root: Path) -> None:
    """Name the answers whose line has changed."""
    keys = {mutant.key for kind in _KINDS for mutant in mutants(root, kind, "")}
    for key in sorted(set(answers) - keys):
        print(f"no longer there, remove it from {EQUAL}: {key}")


if __name__ == "__main__":
    sys.exit(main())
