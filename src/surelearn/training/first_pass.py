"""Later passes over a source learn what the first one has read; must not know models.

A cache keeps what the first pass has read. Without one, files are read again, and may have changed.
Bytes that were added since are not read. A file that has changed in any other way ends training.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any

from surelearn.read import Place, Source, Stamp


class FirstPass:
    """Reads a source for each pass, and holds later passes to the first.

    Parameters
    ----------
    source : Source
    start : Place
        Where the first pass begins: midway if training is resumed there.
    """

    def __init__(self, source: Source, start: Place) -> None:
        self._source = source
        self._start = start
        self._stamps = source.stamps
        # A later pass reads these files up to here. Those before the start are read as they are.
        self._ends = dict.fromkeys(range(start.file, len(source.names)), 0) | {start.file: start.at}
        self._met: set[Place] = set()  # the ends of all blocks
        self._is_over = False

    def blocks(self, place: Place) -> Iterator[Any]:
        """The blocks from a place on."""
        return self._again(place) if self._is_over else self._anew(place)

    def end(self, *, is_last: bool) -> None:
        """End a pass; after the last, warn of files that have changed since the first began."""
        self._is_over = True
        if is_last:
            with contextlib.suppress(OSError):  # a file that is gone is no longer needed
                for name, is_longer in self._changed():
                    _warn(name, is_longer=is_longer)

    def _anew(self, place: Place) -> Iterator[Any]:
        for block in self._source.blocks(place):
            self._met.add(block.end)
            self._ends[block.end.file] = block.end.at
            yield block

    def _again(self, place: Place) -> Iterator[Any]:
        self._check()
        for block in self._source.blocks(place, self._ends):
            if block.end > self._start and block.end not in self._met:
                raise _source_changed(self._source.names[block.end.file])
            yield block
        self._check()

    def _check(self) -> None:
        """Raise for a file that has changed, unless bytes may have been added at its end."""
        for name, is_longer in self._changed():
            if not is_longer:
                raise _source_changed(name)

    def _changed(self) -> list[tuple[str, bool]]:
        """The files that are not as they were, and whether they may only have grown."""
        now = zip(self._source.names, self._stamps, self._source.stamps, strict=True)
        return [
            (name, self._source.can_grow and _is_longer(before, after))
            for name, before, after in now
            if before is not None and after is not None and before != after
        ]


def _warn(name: str, *, is_longer: bool) -> None:
    what = "has grown" if is_longer else "has changed"
    rest = " Resume to learn what was added." if is_longer else ""
    warnings.warn(
        f"{name} {what} since the first pass. All passes learnt what was read then.{rest}",
        stacklevel=2,
    )


def _is_longer(before: Stamp, after: Stamp) -> bool:
    if before.size is None or after.size is None:
        return False
    return before.inode == after.inode and before.size < after.size


def _source_changed(name: str) -> ValueError:
    """The error for a file that later passes cannot read as the first one did."""
    return ValueError(
        f"{name} must stay as it was in the first pass, got one that has changed since. Train anew."
    )
