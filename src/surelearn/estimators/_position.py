"""How far training from a source has come: all that is needed to go on with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from surelearn import _check
from surelearn.read import STDIN_NAME, BadInput, Place, Source
from surelearn.save import Fields


@dataclass(frozen=True)
class StreamPosition:
    """Where in its source a model's training is, or has ended.

    Parameters
    ----------
    files : tuple of str
        The source, by the names of its files.
    columns : dict
        Which columns were read, by the keywords of `read.batches`.
    number : int
        The pass, from 1.
    place : Place
        Where the next block of this pass begins.
    block, rows : int
        Blocks and rows of this pass that are learnt.
    n_bad : int
        Records of the first pass that were left out because they could not be read.
    seed : int
        Decides the order of rows in all passes but the first.
    passes : int
        How many passes there are to be.
    ended : bool
        Whether this pass has come to the end of the source.
    """

    files: tuple[str, ...]
    columns: dict[str, Any] = field(default_factory=dict)
    number: int = 1
    place: Place = field(default_factory=Place)
    block: int = 0
    rows: int = 0
    n_bad: int = 0
    seed: int = 0
    passes: int = 1
    ended: bool = False

    def after(self, place: Place, rows: int, n_bad: int) -> StreamPosition:
        """One block later; one without rows does not count as one."""
        return replace(
            self,
            place=place,
            block=self.block + (rows > 0),
            rows=self.rows + rows,
            n_bad=self.n_bad + (n_bad if self.number == 1 else 0),
        )

    def next_pass(self) -> StreamPosition:
        """At the begin of the next pass."""
        return replace(self, number=self.number + 1, place=Place(), block=0, rows=0, ended=False)

    def goes_on_in(self, source: Source, passes: int) -> bool:
        """Whether this is a place in a source: the same files, perhaps with others after them.

        A frame has no name, and cannot have grown: after all passes it must be another one.
        """
        if not source.is_named and self.ended and self.number >= passes:
            return False
        return source.can_restart and tuple(source.names)[: len(self.files)] == self.files

    def check_over(self, source: Source) -> None:
        """Refuse another source before this one has been gone through."""
        from_files = STDIN_NAME not in self.files
        if source.can_restart and from_files and not (self.ended and self.number >= self.passes):
            raise ValueError(
                f"source must be {', '.join(self.files)}, which training has not gone through yet, "
                f"got {source.name}. Go on with that one, or start anew without resume."
            )

    def check_in(self, source: Source) -> None:
        """Refuse a file that ends before the place."""
        end = source.end_of(self.place.file)
        if end is not None and end < self.place.at:
            raise BadInput(
                f"{source.names[self.place.file]} must be the file that was read before, got one "
                f"that ends at {end}, before {self.place.at}."
            )

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        return {**asdict(self), "place": list(self.place)}

    @classmethod
    def of(cls, fields: Fields) -> StreamPosition:
        """From a file."""
        columns = fields.inner("columns")
        names = _texts(fields.list("files"))
        place = fields.list("place")
        if len(place) != 3:
            raise ValueError(f"place must have three numbers, got {len(place)}.")
        return cls(
            files=tuple(names),
            columns=_columns_in(columns),
            place=Place(*(_check.count("place", x, least=0) for x in place)),
            ended=fields.flag("ended"),
            **{name: fields.integer(name) for name in _NUMBERS},
        )


_NUMBERS = ("number", "block", "rows", "n_bad", "seed", "passes")


def _columns_in(fields: Fields) -> dict[str, Any]:
    known = {"text", "label", "weight", "format"}
    columns: dict[str, Any] = {name: fields.text(name) for name in known if fields.has(name)}
    if fields.has("features"):
        columns["features"] = _texts(fields.list("features"))
    return columns


def _texts(values: Sequence[Any]) -> list[str]:
    if not all(isinstance(value, str) for value in values):
        raise ValueError("names must be texts, got others.")
    return list(values)
