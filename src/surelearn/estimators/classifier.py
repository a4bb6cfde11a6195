"""SureClassifier: rows, rule and weights joined behind scikit-learn's methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from surelearn import _check, rules
from surelearn.estimators.labels import as_labels
from surelearn.estimators.one_row import RowByRow
from surelearn.estimators.readers import NumberReader
from surelearn.estimators.sources import opened
from surelearn.merging import MergeState
from surelearn.models import reductions
from surelearn.models.row_settings import (
    RowSettings,
    balanced,
    balanced_weights,
    check_weighted,
    given_weight,
    times,
)
from surelearn.models.row_training import RowBlock, RowTrainable
from surelearn.models.rows import Batch, RowModel, joined
from surelearn.read import Labels, Source
from surelearn.training.passes import random_orders, reports, run
from surelearn.training.shards import Rounds, Shard, spans, train_shards
from surelearn.training.stream import BlockLearner, SingleLearner, StreamOptions
from surelearn.training.stream_shards import StreamShards
from surelearn.weights import rows_of


class SureClassifier(ClassifierMixin, RowByRow):  # type: ignore[misc]
    r"""Linear classifier that keeps a Gaussian over its weights and learns from a stream.

    .. math:: \mu \leftarrow \mu + \alpha \Sigma g, \qquad
        \Sigma^{-1} \leftarrow \Sigma^{-1} + gain\; g g^\top, \qquad
        (\alpha, gain) = rule(\mu \cdot g,\; g^\top \Sigma g)

    with g the difference between the features of the right label and of the best wrong one.

    Parameters
    ----------
    rule : str, rule or function, default "probit"
        A name such as ``"stdev"``, a value such as ``rules.Stdev(eta=0.9)``, or a function of your
        own ``(m, v) -> (alpha, gain)``, see `rules.Custom`.
    covariance : {"diagonal", "full"}, default "diagonal"
        ``"full"`` keeps a covariance for each pair of weights: more is learnt from each row, but
        memory and time grow with the square of their number. Above
        ``surelearn.weights.FULL_LIMIT`` bytes (4 GiB) it is refused.
    projection : {"auto", "precision", "covariance"}, default "auto"
        Which off-diagonal part an update of diagonal weights drops. ``"auto"`` takes precision for
        sparse input and covariance for dense, at the first call, and keeps it.
    constraints : str or constraints, default "single"
        Which rivals are learnt from: ``"single"``, ``"sequential"``, ``"parallel"``, ``"exact"`` or
        a value such as ``constraints.Sequential(k=5)``.
    multiclass : {"joint", "ovr", "ovo", "ecoc"} or matrix, default "joint"
        How three or more classes are learnt. ``"joint"``: one weight vector a class, learnt
        together. Otherwise as problems of two classes, all in one pass: each class against the
        rest, every two classes, an error-correcting code, or a matrix of shape (n_classes,
        n_problems), or a `decode.Code` of it, with entries +1 and -1 for the sides of a problem and
        0 for classes it never sees. ``"ecoc"`` and a matrix cannot take classes that appear later.
    passes : int, default 10
        Passes over the data in `fit`.
    shuffle : bool, default True
        Whether `fit` goes through the rows in a new random order in each pass.
    fit_intercept : bool, default True
        Whether a last feature is 1 in every row.
    initial_variance : float > 0, default 1
        Variance of every weight before the first row.
    average : bool, default False
        Whether predictions use the mean of all weight vectors over all rounds.
    class_weight : None, "balanced" or dict, default None
        Weight of each class; 1 for those without a key. ``"balanced"``: inverse to its frequency;
        in `partial_fit` to its frequency so far. Keys that are no class are refused, unless every
        class has one: in `fit` those of y, in `partial_fit` and `fit_stream` those that are
        declared by `classes`, and in files those of the first pass. Others may come later in a
        stream, but a key of another type than the labels never can.
    cost : array of shape (n_classes, n_classes), optional
        ``cost[y, z]`` says how bad it is to take class y for z, both in the order of `classes_`:
        PA, AROW and NHERD rules ask for a margin of that size in place of 1, CW and SCW rules for
        phi times it. Other rules refuse it.
    dtype : {"float32", "float64"}, default "float32"
        How weights are kept. Arithmetic is always in double.
    n_shards : int, default 1
        Parts that the rows of `fit`, or the blocks of `fit_stream`, are dealt to, learnt apart and
        merged. It changes the result, `n_jobs` never does. `partial_fit` and `learn_one` go on with
        the one merged model.
    n_jobs : int or None, default None
        Threads that learn shards, or one update with a large full covariance; None and -1: as many
        as there are cores.
    combine : {"bayes", "weighted", "kl", "uniform"}, default "bayes"
        How shards are merged, see `merge`. First-order rules with shards need ``"uniform"``.
    merge_every : int or None, default None
        Shards are merged after so many passes, and go on from the merged model; None: after the
        last pass only.
    decoding : str, default "auto"
        How the label follows from the problems of a reduction: ``"scores"`` (sum of margins),
        ``"hamming"``, ``"loss"`` (hinge), ``"probability"`` (of the problems' answers, from margins
        and variances), and for all pairs also ``"votes"`` and ``"tournament"``. ``"auto"``: scores
        for ``"ovr"``, votes for ``"ovo"``, loss for other codes. Can be changed in a fitted model.
    random_state : int, RandomState or None, default None
        Order of the rows in `fit`.
    verbose : int, default 0
        1 prints a line for each pass and each million rows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Known labels, sorted.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Means of the weights, one row for two classes, and one for each problem of a reduction. A
        read-only view where nothing is averaged; a copy after classes came one by one, in another
        order than that of `classes_`.
    sigma_ : ndarray of the shape of `coef_`
        Variances of the weights, a view or copy as `coef_`. Second-order rules only. With full
        covariance the whole matrix over all weights, class after class, the intercept last in each.
    intercept_, intercept_sigma_ : ndarray of shape (1,) or (n_classes,)
        Mean and variance of the intercept.
    n_features_in_ : int
        With dicts of names 2**18, the places that these are hashed to.
    feature_names_in_ : ndarray of str
        Where X, or the columns of a source, had names.
    code_ : ndarray of shape (n_classes, n_problems), int8
        The coding matrix of a reduction.
    dmin_, errors_corrected_ : int or float, int
        Least distance between two of its rows, and how many problems may answer wrongly on any row
        without changing the label that ``decoding="hamming"`` gives.
    projection_ : {"precision", "covariance"}
    n_updates_ : int
        Rows that moved the weights.
    n_iter_ : int
        Passes made; all calls of `partial_fit` and `learn_one` count as one.
    mistakes_ : ndarray of int
        Mistakes made before each update, one entry a pass; of equal scores none is right. With
        reductions by ``decoding="auto"``, whatever `decoding` is.
    stream_ : StreamPosition
        After `fit_stream`: where in its source training is, or has ended.
    temperature_ : float
        After `calibrate`: what every standard deviation is multiplied by.

    Examples
    --------
    >>> from surelearn import SureClassifier
    >>> clf = SureClassifier(random_state=0).fit([[0.0, 1.0], [1.0, 0.0]], ["no", "yes"])
    >>> clf.predict([[3.0, 1.0]])
    array(['yes'], dtype='<U3')
    """

    def __init__(
        self,
        rule: str | rules.Rule | Callable[[float, float], Any] = "probit",
        *,
        covariance: str = "diagonal",
        projection: str = "auto",
        constraints: Any = "single",
        multiclass: Any = "joint",
        passes: int = 10,
        shuffle: bool = True,
        fit_intercept: bool = True,
        initial_variance: float = 1.0,
        average: bool = False,
        class_weight: Any = None,
        cost: Any = None,
        dtype: Any = "float32",
        n_shards: int = 1,
        n_jobs: int | None = None,
        combine: str = "bayes",
        merge_every: int | None = None,
        decoding: str = "auto",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.rule = rule
        self.covariance = covariance
        self.projection = projection
        self.constraints = constraints
        self.multiclass = multiclass
        self.passes = passes
        self.shuffle = shuffle
        self.fit_intercept = fit_intercept
        self.initial_variance = initial_variance
        self.average = average
        self.class_weight = class_weight
        self.cost = cost
        self.dtype = dtype
        self.n_shards = n_shards
        self.n_jobs = n_jobs
        self.combine = combine
        self.merge_every = merge_every
        self.decoding = decoding
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from scratch, in `passes` passes.

        Shards are stretches of rows, cut as by `numpy.array_split` where rows of weight 0 are left
        out. They read X in place. An error in one says which, counted from 0.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features), or list of dicts
            Read in place where it is C-ordered float32 or float64. Dicts of {name: value} as in
            `learn_one`.
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            Rows of weight 0 are left out before anything else.

        Returns
        -------
        self
            On an error the model is as it was before the call.
        """
        shell = self._shell()
        settings = self._settings_for()
        train = shell._train_whole if settings.n_shards == 1 else shell._train_shards
        shell._take(train(settings, X, y, sample_weight))
        shell._forget()
        self._adopt(shell)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go on learning: one pass over these rows, in their order.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features), or list of dicts
        y : array of shape (n_samples,)
        classes : array, optional
            Labels to know from now on. Others are known from the row where they first appear.
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        self
            Where the input is refused, the model is as it was. Where one row's update would leave
            no usable model, the rows before it are kept and the error names it.
        """
        shell, is_new = self._shell(), self._fresh
        settings = self._settings_for()
        batch = shell._batch(X, y, sample_weight, reset=is_new)
        model = self._present(settings, shell.n_features_in_, is_sparse=batch.is_sparse)
        known = model.classes
        if classes is not None:
            declared = as_labels(classes, "classes")
            _check.one_kind(known, declared)
            known = joined(known, declared)
            settings.check_declared(known)
        _check.one_kind(known, batch.y)
        every = joined(known, batch.y)
        settings.check_classes(every, model)
        model = model.with_classes(every if reductions.is_fixed(settings.multiclass) else known)
        if len(batch.y) or classes is not None:
            self._adopt(shell)
            if not is_new:
                self._meet_names(X, batch.numbers)
            self._absorb(model, settings, batch)
        return self

    # ---------------------------------------------------------------- internals

    def _batch(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Batch:
        """Everything of the input checked, rows of weight 0 dropped."""
        class_weight = _check.class_weight(self.class_weight)
        rows = self._validated(X, reset=reset, learning=True)
        y = as_labels(y)
        _check.one_label_a_row(len(y), rows.shape[0])
        weight = given_weight(class_weight, y, _check.sample_weight(sample_weight, len(y)))
        batch = Batch(rows_of(rows), rows, y, weight)
        _check.sound_rows(batch.rows.fault)
        if weight is not None and not weight.all():
            kept = np.flatnonzero(weight)
            batch = Batch(rows_of(rows[kept]), rows[kept], y[kept], weight[kept], kept)
        if reset:
            self._meet_names(X, batch.numbers)
        return batch

    def _whole(self, X: Any, y: Any, sample_weight: Any, who: str) -> tuple[Batch, NDArray[Any]]:
        """All rows that there are, and their classes."""
        self._check_class_weight(y)
        batch = self._batch(X, y, sample_weight, reset=True)
        _check.some_weight(len(batch.y))
        classes = np.unique(batch.y)
        _check.two_classes(classes, who)
        if isinstance(self.class_weight, str):
            batch = batch._replace(weight=times(balanced(batch.y), batch.weight))
        return batch, classes

    def _check_class_weight(self, y: Any) -> None:
        """Refuse weights of what is no class; `y` has all labels."""
        if isinstance(self.class_weight, Mapping):
            check_weighted(_check.class_weight(self.class_weight), np.unique(as_labels(y)))

    def _train_whole(
        self, settings: RowSettings, X: Any, y: Any, sample_weight: Any
    ) -> RowTrainable:
        """All passes over all rows."""
        batch, classes = self._whole(X, y, sample_weight, "fit")
        start = settings.start(self.n_features_in_, classes, is_sparse=batch.is_sparse)
        trainable = RowTrainable(settings, self._own_reader(), start)
        n, passes = len(batch.y), settings.passes
        random = check_random_state(self.random_state)
        run(
            trainable,
            RowBlock.of(batch, classes),
            range(1, passes + 1),
            order=random_orders(random, n, shuffle=settings.shuffle),
            report=reports(n, passes, verbose=settings.verbose),
        )
        return trainable

    def _train_shards(
        self, settings: RowSettings, X: Any, y: Any, sample_weight: Any
    ) -> RowTrainable:
        """All rounds over all shards."""
        shards, classes, is_sparse = self._cut(settings, X, y, sample_weight)
        start = settings.start(self.n_features_in_, classes, is_sparse=is_sparse)
        trainable = RowTrainable(settings, self._own_reader())
        train_shards(trainable, shards, start, self._rounds(settings))
        return trainable

    def _rounds(self, settings: RowSettings) -> Rounds:
        return Rounds(
            settings.passes,
            settings.merge_every,
            settings.combine,
            settings.shuffle,
            self._seed(),
            settings.method.threads,
            settings.verbose,
        )

    def _cut(
        self, settings: RowSettings, X: Any, y: Any, sample_weight: Any
    ) -> tuple[list[Shard], NDArray[Any], bool]:
        """Shards that read all rows in place, their classes, and whether they are sparse."""
        batch, classes = self._whole(X, y, sample_weight, "fit")
        block = RowBlock.of(batch, classes)
        like = RowTrainable(settings, self._own_reader())
        # Threads that are not needed for shards help with large full covariances.
        threads = max(1, settings.method.threads // settings.n_shards)
        shards = [
            Shard(number, like.fork(threads=threads), block._replace(span=span))
            for number, span in enumerate(spans(block.size, settings.n_shards))
        ]
        return shards, classes, batch.is_sparse

    def _shard(
        self, X: Any, y: Any, sample_weight: Any, *, classes: NDArray[Any], number: int
    ) -> Shard:
        """The rows of one shard, which this estimator has not read before."""
        block = RowBlock(None, Labels(np.zeros(0, np.int32), classes), None, False, (0, 0))
        if len(y):
            block = RowBlock.of(self._batch(X, y, sample_weight, reset=True), classes)
        else:
            self.n_features_in_ = self._n_features_of(X)
        return Shard(number, RowTrainable(self._settings_for(), self._own_reader()), block)

    def _part(self, settings: RowSettings, classes: NDArray[Any], counts: Any) -> Self:
        """A twin that has learnt nothing, to read one shard with."""
        twin = self._blank()
        twin.n_jobs = 1  # where several are read at a time each has its thread
        if settings.class_weight == "balanced":
            twin.class_weight = balanced_weights(classes, counts)
        return twin

    def _n_features_of(self, X: Any) -> int:
        """The width of a part without rows."""
        shape = np.shape(X)
        if len(shape) != 2 or shape[1] == 0:
            raise ValueError(f"X must have features also where it has no rows, got shape {shape}.")
        return int(shape[1])

    def _forget(self) -> None:
        """Drop what belongs to another model."""
        for name in ("temperature_", "stream_"):
            self.__dict__.pop(name, None)

    def _blank(self) -> Self:
        """A twin that has learnt nothing."""
        twin = self._shell()
        twin._forget_model()
        return twin

    def _forget_model(self) -> None:
        self._forget()
        for name in ("_model", "n_features_in_", "feature_names_in_", "_names"):
            self.__dict__.pop(name, None)

    # ------------------------------------------------------------------- merging

    def __merge_state__(self, how: str) -> MergeState:
        """What merging has to know of this estimator; see `surelearn.merging.MergeState`."""
        check_is_fitted(self)
        settings = self._settings_for()
        settings.check_fits(self._model)
        self._check_settings()
        state = RowTrainable(settings, self._own_reader(), self._model).state(how)
        return replace(state, make=self._blank()._merged)

    def _merged(self, total: MergeState, prior: MergeState | None = None) -> Self:
        """A twin of this estimator, which has learnt nothing, with what was merged."""
        twin = self._blank()
        twin.n_features_in_ = total.layout.n_features
        trainable = RowTrainable(self._settings_for(), twin._own_reader())
        trainable.take(total, prior)
        twin._take(trainable)
        return twin

    # ------------------------------------------------------------------- streams

    def _opened(self, source: Any, reading: Mapping[str, Any], *, goes_on: bool) -> Source:
        columns = ("text", "features", "label", "weight")
        return opened(source, reading, model=self if goes_on else None, columns=columns)

    def _settings_for(self, **instead: Any) -> RowSettings:
        return RowSettings.of({**self.get_params(deep=False), **instead})

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

        reader, model = self._new_reader(), None
        if goes_on:
            self._check_settings()
            reader, model = self._own_reader(), settings.going_on(self._model)
        trainable = RowTrainable(settings, reader, model, declared=declared, watch=watch)
        return trainable

    def _learner(
        self, trainable: Any, options: StreamOptions, source: str
    ) -> BlockLearner[RowBlock]:
        n_shards = trainable.settings.n_shards
        if n_shards == 1:
            return SingleLearner(trainable, shuffle=options.shuffle)
        rounds = self._rounds(trainable.settings)
        return StreamShards(trainable, n_shards, rounds, source)

    def _new_reader(self) -> Any:
        """What makes rows of a stream for a new model."""
        return NumberReader()

    def _own_reader(self) -> Any:
        """What makes rows for the model there is."""
        names = self.__dict__.get("feature_names_in_")
        columns = None if names is None else names.tolist()
        return NumberReader(self.n_features_in_, columns, self.__dict__.get("_names"))

    def _take(self, trainable: RowTrainable) -> None:
        """Go on with a model, and with what its rows were made by."""
        self._use(trainable.reader)
        assert trainable.model is not None
        self._model = trainable.model

    def _use(self, reader: Any) -> None:
        self.n_features_in_ = reader.n_features
        if reader.names is not None:
            self.feature_names_in_ = np.array(reader.names, dtype=object)
        if reader.hashed is not None:
            self._names = reader.hashed
