"""Learning sequences from a source that need not fit in memory; must not know formats."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surelearn import _check
from surelearn.estimators._base import as_labels
from surelearn.estimators._course import Course, Options, StreamProgress, train
from surelearn.estimators._reading import opened_sentences
from surelearn.estimators._ruled import Ruled
from surelearn.models.position import StreamPosition
from surelearn.models.rows import Refused, joined
from surelearn.models.sequences import Given, TagBatch, TagModel
from surelearn.read import BadInput, Place
from surelearn.templates import Sequences
from surelearn.training.cache import Kept
from surelearn.training.checkpoint import Checkpoint

if TYPE_CHECKING:
    from surelearn.estimators._tagger import SureTagger
    from surelearn.models.sequence_settings import TagPlan


class Known(NamedTuple):
    """Sequences as they were learnt: features by their numbers, labels by places in `classes`."""

    sequences: Sequences
    y: NDArray[np.int32]
    classes: NDArray[Any]

    def arrays(self) -> list[NDArray[Any]]:
        """What a cache keeps."""
        X, pairs, bounds = self.sequences
        tables = [X] if pairs is None else [X, pairs]
        parts = [part for table in tables for part in (table.data, table.indices, table.indptr)]
        return [bounds, self.y, *parts]


class _About(NamedTuple):
    """What a cache need not write of a block."""

    classes: NDArray[Any]
    widths: list[int]  # of the features of tokens and of pairs
    end: Place
    n_bytes: int


class TagPiece(NamedTuple):
    """A block of sequences, from a source or from the cache."""

    what: Given | Known
    size: int
    end: Place
    n_bytes: int
    n_bad: int = 0


@dataclass
class TagLearner:
    """A tagger that learns blocks.

    Parameters
    ----------
    tagger : SureTagger
    plan : TagPlan
    model : TagModel
        What to go on with; it is the tagger's as soon as a block is found to be sound.
    classes : array or None
        Labels to know from the first sequence on.
    source : str
        What blocks are read from.
    opens : bool
        Whether the mistakes of this pass have no place of their own yet.
    learnt : Known or None
        The last block.
    """

    tagger: SureTagger
    plan: TagPlan
    model: TagModel
    classes: Any
    source: str
    opens: bool = False
    learnt: Known | None = field(default=None, repr=False)

    def learn(self, block: TagPiece, position: StreamPosition) -> None:
        """Learn a block with sequences, which begins at `position`."""
        batch = self._batch(block.what)
        self.open_pass(self.model)
        order = position.order(batch.size) if self.plan.shuffle else None
        try:
            self.model.learn(self.plan.how, batch, order=order)
        except Refused as error:
            number = position.rows + error.place
            error.add_note(f"This is sequence {number} of {self.source}, counted from 0.")
            raise

    def open_pass(self, model: TagModel) -> None:
        """Count mistakes anew; not before sequences are learnt."""
        if self.opens:
            model.mistakes.append(0)
        self.opens = False

    def _batch(self, what: Given | Known) -> TagBatch:
        """As the core reads it; the model has room for it."""
        if isinstance(what, Known):
            y = np.searchsorted(self.model.classes, what.classes)[what.y].astype(np.int32)
            sequences = what.sequences
            if sequences.pairs is not None:  # the core reads from their width how many there are
                sequences.pairs.resize((len(y), self.model.n_pairs))
            return TagBatch(*self.model._rows(sequences), sequences.bounds, y, None, None)
        classes = self._with(what.labels)
        before = self.model
        with before.lock, before.features.forgetting():
            sequences = before.features.learn(what.X)
            self.model = before.fitting(classes)
            batch = self.model.batch(what, sequences)
            self._show(before)
        self.learnt = Known(sequences, batch.y, self.model.classes)
        return batch

    def _with(self, labels: NDArray[Any]) -> NDArray[Any]:
        """All labels that are known from now on."""
        classes = self.model.classes
        declared = labels[:0] if self.classes is None else as_labels(self.classes, "classes")
        for some in (declared, labels):
            _check.one_kind(classes, some)
            classes = joined(classes, some)
        return classes

    def _show(self, before: TagModel) -> None:
        """Let the tagger predict with the model."""
        mine = self.tagger.__dict__.get("_model")
        if mine is not before:  # the first block of a new model
            self.tagger._forget()
        self.tagger._model = self.model
        self.tagger._know()


class TagTraining(Course[TagPiece]):
    """A tagger on its way through a source of sentences."""

    _learner: TagLearner

    def _check_fits(self) -> None:
        self._plan.check_fits(self._estimator, self._estimator._model)

    def _make_learner(self) -> TagLearner:
        tagger, plan = self._estimator, self._plan
        model = plan.blank(tagger) if self._is_new else tagger._model
        return TagLearner(tagger, plan, model, self._options.classes, self._source.name)

    def _prepare(self, block: Any) -> TagPiece:
        """Labels and words of a block. Features get their numbers in the order they are met, so
        those are made when it is learnt."""
        batch = block.parse()
        if batch.y is None:
            raise BadInput(f"{self._source.name} must have a column of labels, got none.")
        given = Given.of(batch.X, batch.y, None)
        return TagPiece(given, len(batch), block.end, block.n_bytes, batch.n_bad)

    def _learn(self, piece: TagPiece) -> None:
        if self._is_new and not self._learner.model.features.columns:
            self._learner.model.features = self._plan.features(self._estimator, self._inputs())
        super()._learn(piece)

    def _inputs(self) -> list[str] | None:
        """What the source calls the columns of words, for templates to call them so."""
        read = self._source.columns
        names = [name for name in read.get("columns", []) if name not in ("_", read.get("label"))]
        return names or None

    def _keep(self, piece: TagPiece) -> None:
        known = self._learner.learnt
        assert known is not None
        tables = [table for table in known.sequences[:2] if table is not None]
        widths = [table.shape[1] for table in tables]
        about = _About(known.classes, widths, piece.end, piece.n_bytes)
        self.cache.add(known.arrays(), about)

    def _cached(self, kept: Kept) -> TagPiece:
        about: _About = kept.info
        bounds, y, *parts = self.cache.read(kept)
        tables = [
            sparse.csr_array(tuple(parts[3 * i : 3 * i + 3]), shape=(bounds[-1], width))
            for i, width in enumerate(about.widths)
        ]
        sequences = Sequences(tables[0], tables[1] if len(tables) > 1 else None, bounds)
        known = Known(sequences, y, about.classes)
        return TagPiece(known, len(bounds) - 1, about.end, about.n_bytes)


class Streamed(Ruled[TagModel]):
    """A tagger that learns from files and streams."""

    passes: int
    stream_: StreamPosition

    @abstractmethod
    def _planned(self, **instead: Any) -> TagPlan:
        """The parameters, with others for some, all of them checked."""

    def fit_stream(
        self,
        source: Any,
        *,
        passes: int | None = None,
        classes: Any = None,
        resume: bool = False,
        checkpoint: Any = None,
        checkpoint_every: int | str = "60s",
        cache_bytes: int = 2**34,
        progress: Callable[[StreamProgress], None] | None = None,
        **reading: Any,
    ) -> Self:
        """Learn from files or a stream of sentences that need not fit in memory.

        The first pass is what `partial_fit` learns from block after block of two megabytes, in
        their order. Later ones, where `shuffle` is on, go through the sentences of each block in a
        new random order. Threads read ahead; they and the cache never change the result.

        Parameters
        ----------
        source : str, path, list of them or read.Source
            As in `read.sentences`: CoNLL's columns or CoNLL-U, ``"-"`` for standard input.
        passes : int, optional
            Default: those of the tagger; one for standard input.
        classes : array, optional
            Labels to know from the first sentence on. Others are known from the block where they
            first appear.
        resume : bool, default False
            Whether to go on with what was learnt before: from `stream_` in the same source, which
            may have grown at its end, or with all of a new one.
        checkpoint : path, optional
            File to write the model to, whole or not at all: every `checkpoint_every`, at the end,
            and when training ends before it by Ctrl-C or a line that cannot be read.
        checkpoint_every : int or str, default "60s"
            Sentences, or a time such as ``"30s"`` or ``"10m"``.
        cache_bytes : int, default 2**34
            Room for the features of the first pass on disk, in a temporary folder, so that later
            ones need not read the source again. 0: none.
        progress : function, optional
            Is called with a `StreamProgress` after each block.
        **reading
            Keywords of `read.sentences`: columns, label, format, skip_bad, ... With `resume` the
            columns are those that were read before, unless others are named.

        Returns
        -------
        self
            On an error in the first block the model is as it was; later, what was learnt is kept.
        """
        before = self if _check.flag("resume", resume) and not self._fresh else None
        found = opened_sentences(source, reading, model=before)
        if passes is None:
            passes = self.passes if found.can_restart else 1
        plan = self._planned(passes=passes)
        room = _check.count("cache_bytes", cache_bytes, least=0)
        options = Options(classes, before is not None, room, progress)
        training = TagTraining(self, found, plan, options)
        train(training, Checkpoint(self, checkpoint, checkpoint_every))
        return self
