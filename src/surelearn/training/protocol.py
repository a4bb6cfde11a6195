"""The interface of models for training, merging and files, whatever a model learns.

A `Learnt` model is plain state. A `Learner` combines it with settings and learns blocks in memory,
also in shards; a `Trainable` learns from sources as well. Anything that implements `Trainable` can
be streamed, sharded, merged and resumed by `surelearn.training` without further code;
`tests/training/test_protocol.py` adds a toy model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from surelearn import _core
from surelearn.read import Source
from surelearn.weights import Method, Tally

#: A callback for the progress of a pass.
Report = Callable[[Tally], None]

#: The order in which to learn records; None: as they come.
Order = NDArray[np.int64] | None


class UpdateMethod(NamedTuple):
    """How to learn: rule, scheme and misclassification costs."""

    rule: _core.Rule
    scheme: _core.Scheme
    cost: NDArray[np.float64] | None = None
    threads: int = 1
    classes: NDArray[Any] | None = None  # the classes of the costs; None: those of the model

    def core(self, projection: str) -> Method:
        """What the core needs to learn: rule and scheme, and how covariances are projected."""
        return Method(self.rule, self.scheme, projection == "covariance")

    def cost_of(self, classes: NDArray[Any]) -> NDArray[np.float64] | None:
        """The cost matrix of these classes, flattened by rows."""
        if self.cost is None:
            return None
        if self.classes is None or len(self.classes) == len(classes):
            return np.ascontiguousarray(self.cost).ravel()
        places = np.searchsorted(self.classes, classes)
        return self.cost[np.ix_(places, places)].ravel()


class Refused(ValueError):
    """A record was refused: its update would leave the model unusable. Earlier ones are learnt.

    Parameters
    ----------
    message : str
    place : int
        How many records of the call were learnt before it.
    unit : str
        The word for a record.
    """

    def __init__(self, message: str, place: int, unit: str = "record") -> None:
        super().__init__(message)
        self.place = place
        self.unit = unit


def refused(model: Any, number: int, place: int, *, exact: bool, unit: str = "row") -> Refused:
    """The error for a record whose update would leave the model unusable.

    Parameters
    ----------
    model : Learnt
    number : int
        Number of the record in the user's data.
    place : int
        Number of records that this call has learnt before it.
    exact : bool
        Whether the scheme is `Exact`.
    unit : {"row", "sequence", "graph", "group"}
    """
    other = {"precision": "covariance", "covariance": "precision"}[model.projection]
    with_, use = f"projection={model.projection!r}", f"Use projection={other!r}, scale"
    if model.layout.covariance == "full":
        with_ = f"covariance='full' and dtype={model.layout.dtype!r}"
        use = "Use dtype='float64', scale" if model.layout.dtype == "float32" else "Scale"
    elif exact:
        with_ = "the exact scheme"
        use = "Use Sequential or Parallel with projection='covariance', scale"
    message = (
        f"{unit} {number} must leave finite weights and positive variances, got a collapse with "
        f"{with_}. {use} the features, or choose parameters with smaller steps."
    )
    return Refused(message, place, "record" if unit == "row" else unit)


class Learnt(Protocol):
    """A trained model: plain state that can be copied, merged and written."""

    mistakes: list[int]  # wrong predictions before the update, one entry per pass
    updates: int
    records_learnt: int  # since the model was made or loaded, in all passes

    def copy(self) -> Self:
        """An independent copy: training it does not change this model."""


class TrainingBlock(Protocol):
    """A block of records that can be learnt."""

    @property
    def size(self) -> int:
        """Number of records."""


class Packed(NamedTuple):
    """A block in the form that a cache stores."""

    arrays: Sequence[NDArray[Any]]  # written to disk
    info: Any  # small, stays in memory


class Summable(Protocol):
    """What merging needs from models; sums do not depend on order or grouping."""

    def __add__(self, other: Self) -> Self:
        """The sum of two states."""

    @staticmethod
    def combined(states: Iterable[Any], *, threads: int = 1) -> Any:
        """The sum of all states; the number of threads does not change a bit."""


B = TypeVar("B", bound=TrainingBlock)
S = TypeVar("S", bound=Summable)


class LearnsBlocks(Protocol[B]):
    """A model in training on records in memory, and what it has learnt so far."""

    model: Any  # Learnt: the current model; None before the first block

    def learn(
        self,
        block: B,
        order: Order = None,
        *,
        number: int = 1,
        starts_pass: bool = False,
        report: Report | None = None,
    ) -> B:
        """Register the classes and features of a block, then learn it.

        Parameters
        ----------
        block : TrainingBlock
        order : ndarray of int or None
        number : int
            The pass, from 1. Class counts and features are registered in the first pass only.
        starts_pass : bool
            Whether to start a new mistake counter.
        report : function, optional

        Returns
        -------
        TrainingBlock
            The same records, ready to be learnt again or packed.

        Raises
        ------
        Refused
            For a bad record, after learning those before it.
        """


class Learner(LearnsBlocks[B], Protocol[B, S]):
    """One that can be cut into shards, and merged."""

    def fork(self, model: Any = None, *, threads: int = 1) -> Self:
        """A shard: a learner with the same settings that starts from `model`."""

    def state(self, how: Any, start: Any = None) -> S:
        """What merging needs from this model, which was trained from `start`."""

    def align(self, shards: Sequence[Any]) -> None:
        """Bring what shards have learnt, and what they went on from, to units of all records."""

    def take(self, total: S, prior: S | None = None, *, threads: int = 1) -> None:
        """Continue with the merged model of a sum; `prior` is what each part started from."""

    # Shards of records in memory, all of which know the labels and features of all from the first.

    def begin_round(self, block: B, start: Any, how: Any) -> B:
        """Go on from the merged model of the round before, which other shards read at that time.

        Returns
        -------
        TrainingBlock
            The same records, ready to be learnt in this round.
        """

    def end_round(self, start: Any, how: Any, held: int) -> Any:
        """What a shard has learnt since `start`, until the next round begins.

        If the last `held` records are not 0, these were kept back, and are judged.
        """

    def merge_round(self, states: Iterable[Any], how: Any, *, threads: int = 1) -> None:
        """Continue with what shards, in their order, have made of the current model."""


class Trainable(Learner[B, S], Protocol):
    """A learner that can also be trained from a source.

    One thread learns; other threads call `prepare` and `unpack` at the same time.
    """

    def prepare(self, records: Any, source: Source) -> B:
        """Turn records into a checked block; the source knows the names of its columns."""

    def check_all_read(self, *, resumed: bool) -> None:
        """Raise for settings that match no record; called once all records have been prepared.

        `resumed` tells that some records were read by an earlier call.
        """

    def check_learnt(self) -> None:
        """Raise if a new model is of no use; called once a whole source has been learnt."""

    def pack(self, block: B) -> Packed:
        """Convert a learnt block for the cache."""

    def unpack(self, packed: Packed) -> B:
        """Convert a block from the cache back."""
