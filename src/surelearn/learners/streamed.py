"""`fit_stream`: training from files and streams, for online classifiers, taggers and rankers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Self

from numpy.typing import NDArray

from surelearn import _check
from surelearn.learners.labels import as_labels
from surelearn.learners.sharded import M, Sharded
from surelearn.read import Source
from surelearn.training.checkpoint import Checkpoint
from surelearn.training.position import StreamPosition
from surelearn.training.protocol import Trainable
from surelearn.training.stream import (
    BlockLearner,
    SingleLearner,
    StreamOptions,
    StreamProgress,
    StreamTrainer,
    train,
)
from surelearn.training.stream_shards import StreamShards


class Streamed(Sharded[M]):
    """An estimator that learns from files and streams."""

    passes: Any
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
        """Train on files or a stream that need not fit in memory.

        The first pass learns the records (rows or sentences) in order; it gives the same result as
        `partial_fit` block by block, except for rows that are kept back to calibrate. With
        `shuffle`, later passes learn the records of each block of two megabytes in a new random
        order. `n_jobs` threads read ahead; neither they nor the cache change the result.

        With `n_shards`, shard b mod n_shards learns block b. The estimator changes, and can be
        written, when shards are merged: after every `merge_every` passes and after the last. An
        error loses what was learnt since the last merge; `resume` continues from there and ends
        with the same bytes. Classes may differ between shards, unless `multiclass` is a code: then
        declare them with `classes`. With `idf` a shard counts the texts of its blocks until then.

        Parameters
        ----------
        source : str, path, list of them, frame or read.Source
            As in `read.batches`, or in `read.sentences` for taggers: files of any known format,
            ``"-"`` for standard input, a frame.
        passes : int, optional
            Default: `passes` of the estimator; one pass for standard input.
        classes : array, optional
            Classes to know from the first record on. Other classes are added when they appear.
        resume : bool, default False
            Whether to continue training: from `stream_` in the same source, which may have grown at
            its end, or with all of a new source. Standard input is always a new source.
        checkpoint : path, optional
            File to write the model to, whole or not at all: every `checkpoint_every`, at the end,
            and when Ctrl-C or a bad record stops training.
        checkpoint_every : int or str, default "60s"
            Records, or a time such as ``"30s"`` or ``"10m"``.
        cache_bytes : int, default 2**34
            Size limit of the cache. It keeps the features of the first pass in a temporary folder,
            so that later passes do not read the source again. 0: no cache. All passes of a call
            learn what its first pass has read, with a cache or without. A file that has grown since
            is read up to where it ended, and a warning says so; one that has changed otherwise ends
            training with an error if it is read again.
        progress : function, optional
            Called with a `StreamProgress` after each block.
        **reading
            For classifiers also ``calibrate=True``: whether to fit `temperature_` on the way. Each
            block keeps back every tenth row of its second half, but never all rows of a class,
            predicts these rows in the last pass before it learns them, and moves the temperature a
            little; passes that are asked for later leave it. Without shards, with one label per row
            and ``probability="softmax"`` only.
            Keywords of `read.batches`: text, label, weight, features, format, skip_bad, ..., or of
            `read.sentences`: columns, label, ... With `resume`, the default columns are those that
            were read before.

        Returns
        -------
        self
            An error in the first block leaves the model unchanged; a later one keeps what was
            learnt before it.

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
        training = self._training(reading)
        found = self._opened(source, reading, goes_on=goes_on)
        if passes is None:
            passes = self.passes if found.can_restart else 1
        settings = self._settings_for(passes=passes, **training)
        declared = None if classes is None else as_labels(classes, "classes")
        options = StreamOptions(
            passes=settings.passes,
            shuffle=settings.shuffle,
            seed=self._seed(),
            threads=settings.method.threads,
            cache_bytes=self._cached(settings, _check.count("cache_bytes", cache_bytes, least=0)),
            before=self.__dict__.get("stream_") if goes_on else None,
            is_new=not goes_on,
            kept_until=self._kept_until(settings),
            progress=progress,
        )
        if checkpoint is not None:
            self._check_saveable()
        writes = Checkpoint(self, checkpoint, checkpoint_every)
        trainable = self._trainable(settings, declared, goes_on=goes_on)
        learner = self._learner(trainable, options, found.name)
        trainer = StreamTrainer(learner, found, options, self._show_position)
        self._keep_back(trainable, trainer.position)
        train(trainer, writes)
        if not goes_on:
            self._warn_if_unmoved(self._model)
        return self

    @abstractmethod
    def _opened(self, source: Any, reading: Mapping[str, Any], *, goes_on: bool) -> Source:
        """The opened source; if training goes on, it is read as the earlier data was."""

    def _training(self, reading: dict[str, Any]) -> dict[str, Any]:
        """Keywords among these that are settings of training; they are removed."""
        return {}

    @abstractmethod
    def _trainable(
        self, settings: Any, declared: NDArray[Any] | None, *, goes_on: bool
    ) -> Trainable[Any, Any]:
        """The trainable that learns the blocks; the estimator adopts each model it publishes."""

    def _learner(
        self, trainable: Trainable[Any, Any], options: StreamOptions, source: str
    ) -> BlockLearner[Any]:
        """The learner of the blocks: one model, or shards."""
        settings: Any = trainable.settings  # type: ignore[attr-defined]
        if settings.n_shards == 1:
            return SingleLearner(trainable, shuffle=options.shuffle)
        return StreamShards(trainable, settings.n_shards, self._rounds(settings), source)

    def _kept_until(self, settings: Any) -> int:
        """The pass in which records that are kept back are learnt; 0: none are."""
        return 0

    def _keep_back(self, trainable: Any, position: StreamPosition) -> None:
        """Tell the trainable until when it keeps records back."""

    def _cached(self, settings: Any, room: int) -> int:
        """How many bytes of `room` are used for the features of the first pass."""
        return room

    def _show_position(self, position: StreamPosition | None) -> None:
        if position is None:
            self.__dict__.pop("stream_", None)
        else:
            self.stream_ = position
