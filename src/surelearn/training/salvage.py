"""Records before a bad one, which would be lost where they cannot be read again."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from typing import Any, TypeVar

from surelearn.read import BadInput, Source

R = TypeVar("R")

#: What was made of a block, or of its begin and what is wrong behind that.
Tried = tuple[R, BadInput | None]


def salvaging(work: Callable[[Any], R], source: Source) -> Callable[[Any], Tried[R]]:
    """Work on a block that ends before a bad record, if the source cannot be read again.

    A file can be mended and is gone on with where the block begins.
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
    """What was made, and then what is wrong."""
    with closing(results):
        for made, wrong in results:
            yield made
            if wrong is not None:
                raise wrong
