"""Keep the records before a bad one where the source cannot be read again."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from typing import Any, TypeVar

from surelearn.read import BadInput, Source

R = TypeVar("R")

#: The result of a block; or that of the records before a bad one, and the error.
Tried = tuple[R, BadInput | None]


def salvaging(work: Callable[[Any], R], source: Source) -> Callable[[Any], Tried[R]]:
    """Wrap `work` so that a bad record of a pipe does not lose the records before it.

    A file needs no such care: once it is corrected, training resumes at the start of the block.
    """

    def tried(block: Any) -> Tried[R]:
        try:
            return work(block), None
        except BadInput as error:
            if source.can_restart or not error.n_before:
                raise
            return work(block.before(error.n_before)), error

    return tried


def raising(results: Generator[Tried[R], None, None]) -> Generator[R, None, None]:
    """The results; an error is raised after the result it came with."""
    with closing(results):
        for made, wrong in results:
            yield made
            if wrong is not None:
                raise wrong
