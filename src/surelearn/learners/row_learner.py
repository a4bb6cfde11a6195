"""Rows into a row model: one by one, in batches, in shards or as a stream; many labels per row."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surelearn import _check, _core, rules
from surelearn.learners.answers.classifier import calibrate_on
from surelearn.learners.answers.linear import Linear, OneRow, block_of, reader_of, whole_block
from surelearn.learners.answers.many_labels import label_lists
from surelearn.learners.answers.views import LabelView
from surelearn.learners.base import settings_of
from surelearn.learners.calibration import Follower, kept_back
from surelearn.learners.deciding import View
from surelearn.learners.feature_names import FeatureNames
from surelearn.learners.label_scoring import LabelScorer, best_thresholds, indicator, scorer_of
from surelearn.learners.labels import MATRIX, row_labels
from surelearn.learners.online import Streamed, rounds_of
from surelearn.learners.readers import NumberReader
from surelearn.learners.row_input import ShardRows, with_values
from surelearn.learners.scoring import ScoredModel, Scorer
from surelearn.learners.sources import opened
from surelearn.learners.tasks.row_block import RowBlock
from surelearn.learners.tasks.row_columns import columns_trained
from surelearn.learners.tasks.row_settings import RowSettings, balanced_weights, given_weight
from surelearn.learners.tasks.row_shards import cut, with_weights
from surelearn.learners.tasks.row_task import ROWS
from surelearn.learners.tasks.row_training import RowTrainable
from surelearn.learners.tasks.rows import RowModel, union_of_labels
from surelearn.merging import MergeState, Words
from surelearn.read import Labels, Source
from surelearn.training.position import StreamPosition
from surelearn.training.shards import Shard, train_shards
from surelearn.units import Units
from surelearn.weights import Method

Array = NDArray[np.float64]
R = TypeVar("R", bound="RowLearner")


class RowLearner(Linear, Streamed[RowModel]):
    """An online classifier of rows, which may have one label each or any number."""

    task = ROWS

    _label_form: str  # in what the labels came; absent for one label per row and for streams
    _thresholds: dict[Any, float]  # by label, so that new labels do not move them

    @property
    def label_format_(self) -> str | None:
        """In what `predict` gives many labels per row; an indicator matrix numbers its labels."""
        model = self._attribute("label_format_")
        if not model.many_labels:
            return None
        form: str = self.__dict__.get("_label_form", "lists")
        numbered = np.array_equal(model.classes, np.arange(len(model.classes)))
        return form if numbered else "lists"

    @property
    def thresholds_(self) -> Array:
        """The margin above which a row has each label."""
        model = self._attribute("thresholds_")
        if not model.many_labels:
            raise AttributeError("thresholds_ needs many labels per row, got one label for each.")
        return self._thresholds_of(model)

    def _thresholds_of(self, model: ScoredModel) -> Array:
        known = self.__dict__.get("_thresholds", {})
        return np.array([known.get(label, 0.0) for label in model.classes.tolist()])

    def _predicted(self, X: Any) -> Any:
        asked = self._scorer() if self._fitted().many_labels else None
        if not isinstance(asked, LabelScorer):
            return super()._predicted(X)
        has = asked.has(self._rows(X))
        form = self.label_format_
        if form == "lists":
            return label_lists(has, asked.model.classes)
        return sparse.csr_matrix(has, dtype=np.int64) if form == "sparse" else has.astype(np.int64)

    def predict_one(self, x: Any) -> Any:
        """The label of one row, an array, a sparse row or a dict; of many labels, a tuple."""
        asked = self._scorer() if self._fitted().many_labels else None
        if not isinstance(asked, LabelScorer):
            return super().predict_one(x)
        row, *_ = self._one(x)
        return label_lists(asked.has(row), asked.model.classes)[0]

    def choose_thresholds(self, X: Any, y: Any, *, average: str = "micro") -> Self:
        r"""Choose the thresholds of labels by rows that were kept back from training.

        .. math:: t = \arg\max_t F_1(y, [s > t]), \qquad F_1 = \frac{2\, TP}{P + N}

        with TP the right predictions, P all predictions and N all labels. `predict` uses them from
        then on, `partial_fit` keeps them, `fit` resets them to 0, as those of later labels.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
        y : indicator matrix or list of lists of labels
            Labels that the model does not know are left out.
        average : {"micro", "macro"}, default "micro"
            ``"micro"``: one for all labels, with the largest F1 of all. ``"macro"``: one for each
            label, with its largest F1; labels of fewer than three rows take the common one.

        Returns
        -------
        self
        """
        average = _check.choice("average", average, ["micro", "macro"])
        asked = self._scorer()
        if not asked.model.many_labels:
            raise ValueError("choose_thresholds needs many labels per row, got one label for each.")
        rows = self._rows(X)
        has = self._places(asked.model, y, len(rows))
        chosen = best_thresholds(asked.class_scores(rows), has, average=average).tolist()
        self._thresholds = dict(zip(asked.model.classes.tolist(), chosen, strict=True))
        return self

    def _places(
        self, model: ScoredModel, y: Any, n_rows: int, *, known: bool = True
    ) -> NDArray[Any]:
        """The position of each label; of many labels, whether each row has each that is known."""
        labels = self._known_labels(y)
        if not model.many_labels:
            return super()._places(model, labels.y, n_rows, known=known)
        _check.one_label_a_row(labels.n_rows, n_rows, many=True)
        _check.one_kind(model.classes, labels.values)
        return indicator(labels, model.classes)

    def _known_labels(self, y: Any) -> Labels:
        """Labels, as many for each row as the model has learnt."""
        model = self._fitted()
        labels, form = row_labels(y, form=self.label_format_)
        _check.same_number_of_labels(model.many_labels, labels.is_many)
        if form in MATRIX:
            _check.indicator_fits(len(labels.values), len(model.classes))
        return labels

    def __view__(self, X: Any, **records: Any) -> View:
        asked = self._scorer()
        if not isinstance(asked, LabelScorer):
            return super().__view__(X)
        return LabelView(asked, self._rows(X), self._known_labels)

    def _scorer(self) -> Scorer:
        model = self._fitted()
        if not model.many_labels:
            return super()._scorer()
        _check.for_many_labels("decoding", self.decoding, ["auto"])
        return scorer_of(
            model,
            rules.get(self.rule),
            temperature=self._temperature("exact"),
            threads=_check.threads("n_jobs", self.n_jobs),
            thresholds=self._thresholds_of(model),
        )

    def _right(self, X: Any, y: Any) -> NDArray[np.bool_]:
        """Whether all labels of each row are right, and no others predicted."""
        asked, rows = self._scorer(), self._rows(X)
        labels = self._known_labels(y)
        _check.one_label_a_row(labels.n_rows, len(rows), many=True)
        _check.one_kind(asked.model.classes, labels.values)
        return asked.right(rows, labels)

    # ------------------------------------------------------------------- one row

    def learn_one(self, x: Any, y: Any, sample_weight: float | None = None) -> Self:
        """Learn one row.

        Parameters
        ----------
        x : array of shape (n_features,), sparse row, or dict of {feature: value}
            The keys of a dict are names if the first row was a dict with names. They are hashed
            into 2**18 buckets; a string value is part of the name, so ``{"city": "Rome"}`` has the
            feature ``"city=Rome"``. Otherwise keys are feature numbers, or the column names of a
            frame that was learnt before.
        y : label
            For a model of many labels per row: a list, tuple or set of labels, which may be empty,
            or an array or sparse row, which is a row of an indicator matrix. A list always holds
            labels; in a model of an indicator matrix they are the numbers of its columns.
        sample_weight : float, optional
        """
        if not self._fresh:
            self._learn_one(x, y, sample_weight)
            return self
        shell = self._shell()
        if shell._learn_one(x, y, sample_weight):
            self._adopt(shell)
        return self

    def _learn_one(self, x: Any, y: Any, sample_weight: float | None) -> bool:
        """Learn one row; returns whether it has been learnt, rather than left out."""
        is_first = "n_features_in_" not in self.__dict__
        row = rows, n_features, is_sparse, _ = self._one(x, learning=True)
        weight = 1.0
        if sample_weight is not None:
            weight = _check.number("sample_weight", sample_weight, "[0, inf)", low=0.0)
        if weight == 0.0:
            return False
        method = self._kept_method()
        place = None if method is None else self._model.place_of(y)
        # What is new, or no label, takes the slow path, which learns it or raises the error.
        if method is not None and place is not None:
            self._learn_row(method, rows, place, weight)
        elif not self._learn_unprepared(rows, n_features, is_sparse, y=y, weight=weight):
            return False
        if is_first and isinstance(x, Mapping):
            self._names = FeatureNames()
        self._remember_one(x, row)
        return True

    def _remember_one(self, x: Any, row: OneRow) -> None:
        """Remember the names in a row, now that it is learnt."""
        if self._reads_by_names:
            self._names.register([x])

    def _learn_row(self, method: Method, row: _core.Rows, place: Any, weight: float) -> None:
        self._model.learn_row(method, row, place, weight)

    def _labels(self, y: Any, *, reset: bool) -> Labels:
        """Labels, one for each row or many; the form of the first ones is kept for answers."""
        if not reset:
            return y if isinstance(y, Labels) else self._known_labels(y)
        labels, form = row_labels(y)
        if labels.is_many:
            settings_of(self).check_many_labels()
        if form is not None:
            self._label_form = form
        return labels

    def _learn_unprepared(
        self, row: _core.Rows, n_features: int, is_sparse: bool, *, y: Any, weight: float
    ) -> bool:
        """Learn one row with all checks; the next rows may take the fast path.

        Returns False, and learns nothing, if the class of the row has weight 0.
        """
        params = self.get_params(deep=False)
        settings: Any = self.task.settings.of(params)
        labels, form = self._one_label(y)
        if not self._fresh:
            self._check_settings()
        started, many = None if self._fresh else self._model, labels.is_many
        model = settings.present(started, n_features, is_sparse=is_sparse, many=many)
        _check.one_kind(model.classes, labels.values)
        known = model.classes
        if form in MATRIX:
            known = union_of_labels(known, labels.values)
        settings.check_classes(union_of_labels(known, labels.seen), model)
        weights = given_weight(settings.class_weight, labels, np.array([weight]))
        if weights is not None and not weights[0]:
            return False
        self.n_features_in_ = n_features
        if self._fresh and form is not None:
            self._label_form = form
        block = RowBlock(row, labels, weights)
        with self._keeping():
            self._absorb(model.with_classes(known), settings, block)
        if settings.can_be_kept and self._model.weights is not None:
            method = self._model.core_method(settings.method)
            self._kept = (list(params), list(params.values()), method, self._model.layout)
        return True

    def _one_label(self, y: Any) -> tuple[Labels, str | None]:
        """The label of one row, or its labels: a collection, or a row of an indicator matrix."""
        if isinstance(y, sparse.sparray | sparse.spmatrix | np.ndarray) and np.ndim(y):
            y = sparse.csr_array(y.reshape(1, -1)) if sparse.issparse(y) else np.atleast_2d(y)
            return row_labels(y) if self._fresh else (self._known_labels(y), self.label_format_)
        labels, form = row_labels([y], form="lists")
        if not self._fresh:
            _check.same_number_of_labels(self._model.many_labels, labels.is_many)
            if self.label_format_ in MATRIX:
                _check.columns_only(labels.y.tolist(), len(self._model.classes))
        return labels, form

    def _kept_method(self) -> Method | None:
        """The method of the last row, if all parameters are still the same objects."""
        kept = self.__dict__.get("_kept")
        if kept is None or self._model.layout is not kept[3]:
            return None
        values = map(self.__dict__.get, kept[0])
        return kept[2] if all(map(operator.is_, values, kept[1])) else None

    def _go_on(self, shell: Self, model: RowModel, settings: RowSettings, block: RowBlock) -> None:
        """Learn a block that a shell has read, and remember the names in the rows learnt."""
        learnt = self._n_learnt
        with self._keeping():
            self._adopt(shell)
            try:
                self._absorb(model, settings, block)
            except BaseException:
                self._remember(block, self._n_learnt - learnt)
                raise
        self._remember(block)

    def _absorb(self, model: RowModel, settings: RowSettings, block: RowBlock) -> None:
        """Learn a block that may have new classes."""
        trainable = RowTrainable(settings, self._own_reader(), watch=self._publish)
        trainable.absorb(model, block)

    # ------------------------------------------------------------------- batches

    def _trained(self, X: Any, y: Any, sample_weight: Any, *, calibrate: bool) -> Self:
        """A twin that has learnt these rows and nothing else."""
        shell, settings = self._shell(), self._settings_for(calibrate=calibrate)
        shell._train_block(settings, whole_block(shell, X, y, sample_weight, who="fit"))
        return shell

    def _train_block(self, settings: RowSettings, block: RowBlock) -> None:
        """All passes over all rows, or all rounds over shards; rows kept back are learnt last."""
        labels, is_sparse, many = block.labels, block.is_sparse, block.labels.is_many
        classes = labels.values
        settings = settings.for_rows(block.size, len(classes), settings.n_shards)
        scale = settings.scale_of(block, self.n_features_in_)
        if scale is not None:
            settings, block = settings.but(scale=False), block.in_units(scale.units)
        start = settings.start(self.n_features_in_, classes, is_sparse=is_sparse, many=many)
        if settings.n_shards > 1:
            self._train_shards(settings, block, start)
        else:
            calibrates = settings.calibrates and settings.shuffle
            kept = kept_back(block.labels) if calibrates else np.zeros(0, np.int64)
            train = partial(self._train_in_passes, block=block, n=block.size, without=kept)
            trainable = RowTrainable(settings, None, start)  # the rows are read
            several = settings.method.threads > 1
            if not (several and columns_trained(trainable, block, self.random_state, train)):
                train(trainable)
            assert trainable.model is not None
            self._model = trainable.model
            self._forget()
            if len(kept):
                calibrate_on(self, [(block.X[kept], block.labels.take(kept))], block.units)
                trainable.learn(block, kept)
        if scale is not None:  # from now on the weights read rows as they are given
            self._model.scale_by(scale)

    def _train_shards(self, settings: RowSettings, block: RowBlock, start: RowModel) -> None:
        """All rounds over shards of all rows, which are read in place."""
        trainable = RowTrainable(settings, self._own_reader())
        trainable.units = block.units
        shards = cut(trainable, block)
        train_shards(trainable, shards, start, self._rounds(settings))
        self._take(trainable)
        self._forget()
        if settings.calibrates:
            calibrate_on(self, trainable.held, block.units)

    def _shard(self, part: ShardRows, classes: NDArray[Any], counts: Any) -> Shard:
        """The rows of one shard, read by a twin that has learnt nothing."""
        settings, twin = self._settings_for(), self._blank()
        twin.n_jobs = 1  # where several are read at a time each has its thread
        if settings.class_weight == "balanced":
            twin.class_weight = balanced_weights(classes, counts)
        if part.y.n_rows:
            block = block_of(twin, *part[:3])
            _check.one_kind(classes, block.labels.values)
            _check.known_labels(block.labels.y, classes, len(block.labels.codes), "y")
        else:
            block = RowBlock(None, part.y, None)
            twin.n_features_in_ = twin._n_features_of(part.X)
        block = block._replace(labels=with_values(block.labels, classes))
        trainable = RowTrainable(settings_of(twin), reader_of(twin))
        return Shard(part.number, trainable, block)

    def _n_features_of(self, X: Any) -> int:
        """The width of a part without rows."""
        shape = np.shape(X)
        if len(shape) != 2 or shape[1] == 0:
            raise ValueError(f"X must have features also where it has no rows, got shape {shape}.")
        return int(shape[1])

    # ------------------------------------------------------------------- merging

    def _of_parts(self, n_features: int, merge: Callable[[RowTrainable], None]) -> Self:
        """A twin of this estimator, which has learnt nothing, with what is merged."""
        twin = self._blank()
        twin.n_features_in_ = n_features
        trainable = RowTrainable(self._settings_for(), reader_of(twin))
        merge(trainable)
        twin._take(trainable)
        if trainable.settings.calibrates:
            calibrate_on(twin, trainable.held, trainable.units)
        return twin

    def _merged(self, total: MergeState, prior: MergeState | None = None) -> Self:
        """What was merged in any order."""
        return self._of_parts(total.layout.n_features, lambda own: own.take(total, prior))

    # ------------------------------------------------------------------- streams

    def _opened(self, source: Any, reading: Mapping[str, Any], *, goes_on: bool) -> Source:
        columns = ("text", "features", "label", "weight")
        return opened(source, reading, model=self if goes_on else None, columns=columns)

    def _training(self, reading: dict[str, Any]) -> dict[str, Any]:
        return {"calibrate": reading.pop("calibrate", True)}

    def _trainable(
        self, settings: RowSettings, declared: NDArray[Any] | None, *, goes_on: bool
    ) -> RowTrainable:
        is_new = not goes_on

        def watch(model: RowModel) -> None:
            nonlocal is_new
            if is_new:
                self._forget_model()
                is_new = False
            self._take(trainable)
            if trainable.follower is not None:
                self._follow(trainable.follower)

        reader, model = self._new_reader(), None
        if goes_on:
            self._check_settings()
            reader, model = self._own_reader(), settings.going_on(self._model)
        trainable = RowTrainable(settings, reader, model, declared=declared, watch=watch)
        if settings.calibrates_streams:
            trainable.follower = self._follower() if goes_on else Follower()
        return trainable

    def _kept_until(self, settings: RowSettings) -> int:
        return settings.passes if settings.calibrates_streams else 0

    def _keep_back(self, trainable: RowTrainable, position: StreamPosition) -> None:
        trainable.kept_until = position.kept_until

    def _follow(self, follower: Follower) -> None:
        """Take over the temperature of a stream."""
        if follower != Follower():
            self.temperature_, self._temperature_form = follower.temperature, "softmax"
            self._temperature_precision = follower.precision

    def _follower(self) -> Follower:
        """The temperature of the stream so far."""
        precision = self.__dict__.get("_temperature_precision", 1.0)
        return Follower(float(np.log(self._temperature("softmax"))), precision)

    def _new_reader(self) -> Any:
        """What makes rows of a stream for a new model."""
        return NumberReader()

    def _take(self, trainable: RowTrainable) -> None:
        """Go on with a model, and with what its rows were made by."""
        self._use(trainable.reader)
        assert trainable.model is not None
        self._model = trainable.model


# What files, shards, engines and `tune` ask of an estimator, and users do not.


def shard_of(
    estimator: RowLearner, part: ShardRows, *, classes: NDArray[Any], counts: Any
) -> Shard:
    """One shard, ready to be learnt; `estimator` is not changed.

    `classes` are those of all shards, sorted, and `counts` the rows of each, to balance them.
    """
    return estimator._shard(part, classes, counts)


def merged_shards(
    estimator: R,
    start: RowModel,
    states: Sequence[Any],
    words: Words | None,
    *,
    units: Units | None = None,
) -> R:
    """A twin of an estimator with what shards, in their order, have made of `start` in a round.

    Without weights `start` is at the start of its classes; `words` are those that all have met, and
    `units` those that rows were learnt in.
    """

    def merge(trainable: RowTrainable) -> None:
        trainable.model, trainable.units = with_weights(start), units
        trainable.merge_round(states, rounds_of(estimator).way)
        trainable.reader.know(words)

    return estimator._of_parts(start.layout.n_features, merge)


def train_block(estimator: RowLearner, block: RowBlock) -> None:
    """Fit an estimator to all rows that it has read; see `linear.whole_block`."""
    estimator._train_block(settings_of(estimator), block)
