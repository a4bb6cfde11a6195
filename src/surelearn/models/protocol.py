"""What training, merging and files may ask of a model, whatever it learns: rows, sequences, ...

A `Learnt` model is plain state. A `Trainable` joins one with its settings and takes records block
by block: `surelearn.training` streams, shards, merges and resumes whatever implements it, with no
further code. `tests/models/test_protocol.py` adds a toy model in this way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from surelearn.read import Source
from surelearn.weights import Tally

#: Told now and then how much of a pass is done.
Report = Callable[[Tally], None]

#: Records in the order in which they are learnt; None: as they come.
Order = NDArray[np.int64] | None


class Refused(ValueError):
    """A record whose update would have left no usable model; those before it are learnt.

    Parameters
    ----------
    message : str
    place : int
        How many records were learnt before it, of those handed in.
    unit : str
        What a record is called.
    """

    def __init__(self, message: str, place: int, unit: str = "record") -> None:
        super().__init__(message)
        self.place = place
        self.unit = unit


class Learnt(Protocol):
    """What has been learnt: plain state that can be copied, merged and written."""

    classes: NDArray[Any]  # known labels, sorted
    mistakes: list[int]  # before each update, one entry a pass
    updates: int

    def copy(self) -> Self:
        """One that learns without changing this one."""

    def at_rest(self) -> Self:
        """The same, to be copied many times and never changed."""


class TrainingBlock(Protocol):
    """Records that can be learnt."""

    @property
    def size(self) -> int:
        """How many there are."""


class Packed(NamedTuple):
    """A block as a cache keeps it."""

    arrays: Sequence[NDArray[Any]]  # written to disk
    info: Any  # kept in memory: small


class Summable(Protocol):
    """What merging has to know of models: adds up, in any order and grouping."""

    def __add__(self, other: Self) -> Self:
        """Of the models of both."""

    @staticmethod
    def combined(states: Iterable[Any], *, threads: int = 1) -> Any:
        """Of the models of all; the number of threads changes no bit."""


B = TypeVar("B", bound=TrainingBlock)
S = TypeVar("S", bound=Summable)


class Trainable(Protocol[B, S]):
    """A model in training: its settings joined with what it has learnt so far.

    One thread learns; `prepare` and `unpack` are called in any thread at the same time.
    """

    model: Any  # Learnt: what it goes on from; None before the first block

    def prepare(self, records: Any, source: Source) -> B:
        """Records of a source, which knows what its columns are called, as a block, checked."""

    def learn(
        self,
        block: B,
        order: Order = None,
        *,
        number: int = 1,
        starts_pass: bool = False,
        report: Report | None = None,
    ) -> B:
        """Meet the classes and features of a block, then learn it.

        Parameters
        ----------
        block : TrainingBlock
        order : ndarray of int or None
        number : int
            The pass, from 1. What is counted or met once is counted and met in the first.
        starts_pass : bool
            Whether the mistakes are those of a new pass.
        report : function, optional

        Returns
        -------
        TrainingBlock
            The same records, ready to be learnt again or packed.

        Raises
        ------
        Refused
            After the records before a bad one.
        """

    def met_all(self, *, resumed: bool) -> None:
        """All records were prepared once: refuse settings that fit none of them.

        `resumed` says that some had been read before.
        """

    def pack(self, block: B) -> Packed:
        """A block that was learnt, for the cache."""

    def unpack(self, packed: Packed) -> B:
        """And back."""

    def fork(self, model: Any = None, *, threads: int = 1) -> Self:
        """A shard: one with the same settings that has met nothing and goes on from `model`."""

    def state(self, how: Any, start: Any = None) -> S:
        """What merging has to know of this model, which has gone on from `start`."""

    def rewound(self, start: Any, state: S) -> Any:
        """The model as it was at `start`, given its state since; None: take a copy of `start`."""

    def held_out(self, block: B, n: int) -> Any:
        """The last n records of a block, which were not learnt, and where this model is right."""

    def take(self, total: S, prior: S | None = None, *, threads: int = 1) -> None:
        """Go on with the one model of all those summed; `prior` is what each started from."""
