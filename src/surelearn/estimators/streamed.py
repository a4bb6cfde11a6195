"""`fit_stream`, for every estimator that learns from files and streams."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Self

from numpy.typing import NDArray
from sklearn.utils import check_random_state

from surelearn import _check
from surelearn.estimators.labels import as_labels
from surelearn.estimators.online import M, OnlineEstimator
from surelearn.models.position import StreamPosition
from surelearn.models.protocol import Trainable
from surelearn.read import Source
from surelearn.training.checkpoint import Checkpoint
from surelearn.training.shards import Rounds
from surelearn.training.stream import (
    BlockLearner,
    SingleLearner,
    StreamOptions,
    StreamProgress,
    StreamTrainer,
    train,
)
from surelearn.training.stream_shards import StreamShards


class Streamed(OnlineEstimator[M]):
    """An estimator that learns from files and streams."""

    passes: int
    random_state: Any
    stream_: StreamPosition

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
        """Learn from files or a stream that need not fit in memory.

        The first pass goes through the records, rows or sentences, in their order, and one pass is
        what `partial_fit` learns from them block by block. Later ones, where `shuffle` is on, go
        through the records of each block of two megabytes in a new random order. Threads (`n_jobs`,
        None: as many as there are cores) read ahead; they and the cache never change the result.

        With `n_shards` block b is learnt by shard b mod n_shards. The estimator changes, and can be
        written, where shards are merged: after every `merge_every` passes and after the last. What
        was learnt since is lost with an error, and `resume` goes on from there to the same bytes.
        Classes may differ from shard to shard, unless `multiclass` is a code: declare them then.

        Parameters
        ----------
        source : str, path, list of them, frame or read.Source
            As in `read.batches`, and for taggers in `read.sentences`: files of any known format,
            ``"-"`` for standard input, a frame.
        passes : int, optional
            Default: those of the estimator; one for standard input.
        classes : array, optional
            Labels to know from the first record on. Others are known from where they first appear.
        resume : bool, default False
            Whether to go on with what was learnt before: from `stream_` in the same source, which
            may have grown at its end, or with all of a new one. What arrives on standard input is
            always new.
        checkpoint : path, optional
            File to write the model to, whole or not at all: every `checkpoint_every`, at the end,
            and when training ends before it by Ctrl-C or a record that cannot be read.
        checkpoint_every : int or str, default "60s"
            Records, or a time such as ``"30s"`` or ``"10m"``.
        cache_bytes : int, default 2**34
            Room for the features of the first pass on disk, in a temporary folder, so that later
            ones need not read the source again. 0: none.
        progress : function, optional
            Is called with a `StreamProgress` after each block.
        **reading
            Keywords of `read.batches`: text, label, weight, features, format, skip_bad, ..., or of
            `read.sentences`: columns, label, ... With `resume` the columns are those that were read
            before, unless others are named.

        Returns
        -------
        self
            On an error in the first block the model is as it was; later, what was learnt is kept.

        Examples
        --------
        >>> import pandas
        >>> from surelearn import SureClassifier
        >>> frame = pandas.DataFrame({"a": [0, 1], "b": [1, 0], "label": ["no", "yes"]})
        >>> SureClassifier(random_state=0).fit_stream(frame).predict(frame[["a", "b"]])
        array(['no', 'yes'], dtype='<U3')
        """
        _check.callback("progress", progress)
        goes_on = _check.flag("resume", resume) and not self._fresh
        found = self._opened(source, reading, goes_on=goes_on)
        if passes is None:
            passes = self.passes if found.can_restart else 1
        settings = self._settings_for(passes=passes)
        declared = None if classes is None else as_labels(classes, "classes")
        options = StreamOptions(
            passes=settings.passes,
            shuffle=settings.shuffle,
            seed=self._seed(),
            threads=settings.method.threads,
            cache_bytes=self._cached(settings, _check.count("cache_bytes", cache_bytes, least=0)),
            before=self.__dict__.get("stream_") if goes_on else None,
            is_new=not goes_on,
            progress=progress,
        )
        writes = Checkpoint(self, checkpoint, checkpoint_every)
        trainable = self._trainable(settings, declared, goes_on=goes_on)
        learner = self._learner(trainable, options, found.name)
        train(StreamTrainer(learner, found, options, self._show_position), writes)
        return self

    @abstractmethod
    def _opened(self, source: Any, reading: Mapping[str, Any], *, goes_on: bool) -> Source:
        """The source, read as what was learnt before if training goes on."""

    @abstractmethod
    def _settings_for(self, **instead: Any) -> Any:
        """The parameters, with others for some, all of them checked."""

    @abstractmethod
    def _trainable(
        self, settings: Any, declared: NDArray[Any] | None, *, goes_on: bool
    ) -> Trainable[Any, Any]:
        """What learns the blocks; this estimator takes over every model it publishes."""

    def _learner(
        self, trainable: Trainable[Any, Any], options: StreamOptions, source: str
    ) -> BlockLearner[Any]:
        """One model, or shards of it."""
        settings: Any = trainable.settings  # type: ignore[attr-defined]
        if settings.n_shards == 1:
            return SingleLearner(trainable, shuffle=options.shuffle)
        return StreamShards(trainable, settings.n_shards, self._rounds(settings), source)

    def _rounds(self, settings: Any) -> Rounds:
        """How shards are trained and merged."""
        return Rounds(
            settings.passes,
            settings.merge_every,
            settings.combine,
            settings.shuffle,
            self._seed(),
            settings.method.threads,
            settings.verbose,
        )

    def _cached(self, settings: Any, room: int) -> int:
        """How many bytes of `room` are used for the features of the first pass."""
        return room

    def _show_position(self, position: StreamPosition | None) -> None:
        if position is None:
            self.__dict__.pop("stream_", None)
        else:
            self.stream_ = position

    def _seed(self) -> int:
        """Decides the orders of a stream and of shards."""
        return int(check_random_state(self.random_state).randint(2**31 - 1))


def settings_of(estimator: Streamed[Any]) -> Any:
    """The parameters of an estimator, all of them checked."""
    return estimator._settings_for()


def rounds_of(estimator: Streamed[Any]) -> Rounds:
    """The rounds of an estimator's shards."""
    return estimator._rounds(estimator._settings_for())
