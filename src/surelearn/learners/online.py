"""The shell of estimators that learn by a rule: passes, shards, streams, and what is counted.

It knows blocks and the protocol of training only; a subclass says what examples are.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, rules
from surelearn.learners.base import Estimator, Fitted, settings_of
from surelearn.learners.checks import random_numbers
from surelearn.learners.deciding import Wanted, certify_stream
from surelearn.learners.labels import as_labels
from surelearn.read import Source, Withheld
from surelearn.training.checkpoint import Checkpoint
from surelearn.training.passes import random_orders, reports, run
from surelearn.training.position import StreamPosition
from surelearn.training.protocol import LearnsBlocks, Trainable, TrainingBlock
from surelearn.training.shards import Rounds, Shard, spans, train_shards
from surelearn.training.stream import (
    BlockLearner,
    SingleLearner,
    StreamOptions,
    StreamProgress,
    StreamTrainer,
    train,
)
from surelearn.training.stream_shards import StreamShards


class LearntByRule(Fitted, Protocol):
    """The attributes that every model learnt by a rule has."""

    mistakes: list[int]
    updates: int


M = TypeVar("M", bound=LearntByRule)


class Online(Estimator[M]):
    """An estimator that learns by a rule, in passes and in shards."""

    rule: Any
    random_state: Any

    @property
    def n_updates_(self) -> int:
        return self._attribute("n_updates_").updates

    @property
    def n_iter_(self) -> int:
        return len(self._attribute("n_iter_").mistakes)

    @property
    def mistakes_(self) -> NDArray[np.int64]:
        return np.asarray(self._attribute("mistakes_").mistakes, dtype=np.int64)

    def _warn_if_unmoved(self, model: M) -> None:
        """Warn if a model that was trained from scratch has made mistakes and learnt from none.

        A fit with nothing to learn, such as rows of one class, makes no mistake; nor does a model
        that goes on and has learnt all there is.
        """
        mistakes = sum(model.mistakes)
        if mistakes and not model.updates:
            warnings.warn(
                f"rule must move the weights, got {rules.get(self.rule)}, which moved none in "
                f"{mistakes:,} mistakes: nothing was learnt. Use eta above 0.5 (phi above 0) where "
                "a rule has it, or another rule; rows need features that are not 0.",
                UserWarning,
                stacklevel=3,
            )

    def _check_variances(self) -> None:
        model = self.__dict__.get("_model")
        if rules.get(self.rule).first_order if model is None else not model.layout.second_order:
            raise AttributeError(
                f"rule must keep variances for this, got {self.rule!r}. Use a second-order rule "
                "such as 'arow'."
            )

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the cached method of the last row, which holds core objects."""
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_kept", None)
        return state

    @property
    def projection_(self) -> str:
        if not hasattr(self, "projection"):  # support points are not projected
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'projection_'")
        model: Any = self._attribute("projection_")
        return str(model.projection)

    @property
    def _n_learnt(self) -> int:
        model: Any = None if self._fresh else self._model
        return 0 if model is None else int(model.records_learnt)

    @contextmanager
    def _keeping(self) -> Iterator[None]:
        """Learning that raises in this context before a record is learnt changes nothing."""
        before, learnt = self._shell(), self._n_learnt
        try:
            yield
        except BaseException:  # includes Ctrl-C
            if self._n_learnt == learnt:
                self._adopt(before)
            raise

    def _train_in_passes(
        self,
        trainable: LearnsBlocks[Any],
        block: TrainingBlock,
        *,
        n: int,
        what: str = "rows",
        without: NDArray[np.int64] | None = None,
    ) -> None:
        """All passes over all records, n of which are learnt, or over those not in `without`."""
        settings: Any = trainable.settings  # type: ignore[attr-defined]
        random, passes = random_numbers(self.random_state), settings.passes
        run(
            trainable,
            block,
            range(1, passes + 1),
            order=random_orders(random, block.size, shuffle=settings.shuffle, without=without),
            report=reports(n, passes, verbose=settings.verbose, what=what),
        )

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

    def _seed(self) -> int:
        """The seed of the random orders of streams and shards."""
        return int(random_numbers(self.random_state).randint(2**31 - 1))

    # ------------------------------------------------------------------ in memory

    def _train(self, trainable: Any, block: Any, *, what: str, n: int | None = None) -> None:
        """All passes over all records of a block, or all rounds over its shards.

        Shards know all labels and features from the first. `n` records are learnt, by default all.
        """
        settings = trainable.settings
        if settings.n_shards == 1:
            self._train_in_passes(trainable, block, n=block.size if n is None else n, what=what)
            return
        # Registering makes the model that all shards start from.
        encoded = trainable.register(block)
        start = trainable.model
        shards = [
            Shard(number, trainable.fork(), encoded.part(*span))
            for number, span in enumerate(spans(block.size, settings.n_shards))
        ]
        train_shards(trainable, shards, start, self._rounds(settings))

    def _take_trained(self, model: M) -> None:
        """Go on with a model that was trained from scratch."""
        self._warn_if_unmoved(model)
        self._model = model
        self._forget()

    def _go_on_with_structures(self, block: Any, trainable: Any, classes: Any) -> Self:
        """Go on learning: one pass over structures, in their order."""
        settings, model = self._to_go_on_with()
        declared = None if classes is None else as_labels(classes, "classes")
        if block.size or declared is not None:
            with self._keeping():
                trainable(settings, model, declared=declared, watch=self._publish).learn(block)
        return self

    def _to_go_on_with(self) -> tuple[Any, M | None]:
        """The checked parameters and the model that learning goes on with, which must fit."""
        settings, model = self._settings_for(), None if self._fresh else self._model
        if model is not None:
            settings.check_fits(model)
        return settings, model

    def _publish(self, model: M) -> None:
        self._model = model

    def _publisher(self, *, is_new: bool) -> Callable[[M], None]:
        """What takes each model of a stream; a new one drops what belonged to the one before."""

        def watch(model: M) -> None:
            nonlocal is_new
            if is_new:
                self._forget()
                is_new = False
            self._model = model

        return watch

    # --------------------------------------------------------------- parameters

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; with `deep` also those of a rule object, as ``rule__phi``."""
        params: dict[str, Any] = super().get_params(deep=False)
        if deep and isinstance(self.rule, rules.Rule):
            params.update({f"rule__{name}": x for name, x in self.rule.params().items()})
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``rule__eta=0.9`` replaces the rule by a copy with another eta."""
        inner = {k.removeprefix("rule__"): v for k, v in params.items() if k.startswith("rule__")}
        super().set_params(**{k: v for k, v in params.items() if not k.startswith("rule__")})
        if inner:
            self.rule = rules.get(self.rule).replace(**inner)
        return self


class Streamed(Online[M]):
    """An estimator that learns by a rule, also from files and streams."""

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
        risk: Any = None,
        delta: float = 0.1,
        novel: float | None = None,
        **reading: Any,
    ) -> Self:
        """Train on files or a stream that need not fit in memory.

        The first pass learns the records (rows or sentences) in order; it gives the same result as
        `partial_fit` block by block, except for rows that are kept back to calibrate. With
        `shuffle`, later passes learn the records of each block of two megabytes in a new random
        order. `n_jobs` threads read ahead, `n_jobs` + 2 blocks at most; neither they nor the cache
        change the result.

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
        risk, delta, novel : optional
            Keep a fifth of the records back, at random, and of large sources about 20,000, to
            certify after training that at most a share `risk` of the answers of ``predict(X,
            abstain=True)`` is wrong; see `choose_abstention`. No pass learns these records, and
            `predict_set` uses them as well. They are held in memory. If no threshold is certified,
            a warning says why, and the model is kept. A checkpoint from before the end, such as
            after Ctrl-C, holds a model without a promise; `resume` then reads all records that are
            left. Not with ``resume=True``: call `choose_abstention` with other records.
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
        wanted = None
        if risk is not None or novel is not None:
            wanted = Wanted.of(self, risk, delta, novel, resume=resume)
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
        finish = None
        if wanted is not None:
            found = Withheld(found, options.seed)
            finish = partial(certify_stream, self, wanted, found)
        trainable = self._trainable(settings, declared, goes_on=goes_on)
        learner = self._learner(trainable, options, found.name)
        trainer = StreamTrainer(learner, found, options, self._show_position)
        self._keep_back(trainable, trainer.position)
        train(trainer, writes, finish)
        if not goes_on:
            self._warn_of_stream(trainable)
        return self

    def _warn_of_stream(self, trainable: Any) -> None:
        """Warn of what is odd about a stream that a new model has learnt."""
        self._warn_if_unmoved(self._model)

    def _opened(self, source: Any, reading: Mapping[str, Any], *, goes_on: bool) -> Source:
        """The opened source; if training goes on, it is read as the earlier data was."""
        return self.task.opened(source, reading, model=self if goes_on else None)

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


def rounds_of(estimator: Online[Any]) -> Rounds:
    """The rounds of an estimator's shards."""
    return estimator._rounds(settings_of(estimator))
