"""SureClassifier: rows, rule and weights joined behind scikit-learn's methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state

from surelearn import _check, rules
from surelearn.estimators._base import as_labels
from surelearn.estimators._blocks import Features
from surelearn.estimators._course import Options, StreamProgress, train
from surelearn.estimators._one_row import RowByRow
from surelearn.estimators._reading import opened
from surelearn.estimators._shards import Shard, blank, coded, fit_shards, spans
from surelearn.estimators._stream import Training
from surelearn.merging import Words
from surelearn.models import reductions
from surelearn.models.row_settings import (
    Plan,
    balanced,
    check_weighted,
    given_weight,
    times,
)
from surelearn.models.rows import Batch, joined
from surelearn.training.checkpoint import Checkpoint
from surelearn.training.passes import run
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
        read-only view where nothing is averaged.
    sigma_ : ndarray of the shape of `coef_`
        Variances of the weights, a read-only view. Second-order rules only. With full covariance
        the whole matrix over all weights, class after class, the intercept last in each.
    intercept_, intercept_sigma_ : ndarray of shape (1,) or (n_classes,)
        Mean and variance of the intercept.
    n_features_in_ : int
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
        X : array or CSR matrix of shape (n_samples, n_features)
            Read in place where it is C-ordered float32 or float64.
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            Rows of weight 0 are left out before anything else.

        Returns
        -------
        self
            On an error the model is as it was before the call.
        """
        shell = self._shell()
        plan = Plan.of(self.get_params(deep=False))
        if plan.n_shards == 1:
            batch, classes = shell._whole(X, y, sample_weight, "fit")
            model = blank(shell, plan, classes, is_sparse=batch.is_sparse)
            run(model, plan, batch, check_random_state(self.random_state))
            shell._model = model
        else:
            shards, classes = shell._cut(X, y, sample_weight, plan)
            model = blank(shell, plan, classes, is_sparse=shards[0].batch.is_sparse)
            fit_shards(shell, plan, shards, model)
        shell._forget()
        self._adopt(shell)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go on learning: one pass over these rows, in their order.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
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
        shell = self._shell()
        plan = Plan.of(self.get_params(deep=False))
        batch = shell._batch(X, y, sample_weight, reset=self._fresh)
        model = self._present(plan, shell.n_features_in_, batch.is_sparse)
        known = model.classes
        if classes is not None:
            declared = as_labels(classes, "classes")
            _check.one_kind(known, declared)
            known = joined(known, declared)
            plan.check_declared(known)
        _check.one_kind(known, batch.y)
        every = joined(known, batch.y)
        plan.check_classes(every, model)
        model = model.with_classes(every if reductions.is_fixed(plan.multiclass) else known)
        if len(batch.y) or classes is not None:
            self._adopt(shell)
            self._absorb(model, plan, batch)
        return self

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

        The first pass goes through the records in their order, and one pass is what `partial_fit`
        learns from them. Later ones, where `shuffle` is on, go through the rows of each block of
        two megabytes in a new random order. Threads (`n_jobs`, None: as many as there are cores)
        read ahead; they and the cache never change the result.

        With `n_shards` block b is learnt by shard b mod n_shards. The estimator changes, and can be
        written, where shards are merged: after every `merge_every` passes and after the last. What
        was learnt since is lost with an error, and `resume` goes on from there to the same bytes.
        Classes may differ from shard to shard, unless `multiclass` is a code: declare them then.

        Parameters
        ----------
        source : str, path, list of them, frame or read.Source
            As in `read.batches`: files of any known format, ``"-"`` for standard input, a frame.
        passes : int, optional
            Default: those of the estimator; one for standard input.
        classes : array, optional
            Labels to know from the first row on. Others are known from where they first appear.
        resume : bool, default False
            Whether to go on with what was learnt before: from `stream_` in the same source, which
            may have grown at its end, or with all of a new one. What arrives on standard input is
            always new.
        checkpoint : path, optional
            File to write the model to, whole or not at all: every `checkpoint_every`, at the end,
            and when training ends before it by Ctrl-C or a record that cannot be read.
        checkpoint_every : int or str, default "60s"
            Rows, or a time such as ``"30s"`` or ``"10m"``.
        cache_bytes : int, default 2**34
            Room for the rows of the first pass on disk, in a temporary folder, so that later ones
            need not read the source again. 0: none.
        progress : function, optional
            Is called with a `StreamProgress` after each block.
        **reading
            Keywords of `read.batches`: text, label, weight, features, format, skip_bad, ... With
            `resume` the columns are those that were read before, unless others are named.

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
        before = self if _check.flag("resume", resume) and not self._fresh else None
        columns = ("text", "features", "label", "weight")
        found = opened(source, reading, model=before, columns=columns)
        if passes is None:
            passes = self.passes if found.can_restart else 1
        plan = Plan.of({**self.get_params(deep=False), "passes": passes})
        room = _check.count("cache_bytes", cache_bytes, least=0)
        options = Options(classes, before is not None, room, progress)
        training = Training(self, found, plan, options)
        train(training, Checkpoint(self, checkpoint, checkpoint_every))
        return self

    # ---------------------------------------------------------------- internals

    def _batch(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Batch:
        """Everything of the input checked, rows of weight 0 dropped."""
        class_weight = _check.class_weight(self.class_weight)
        X = self._validated(X, reset=reset, learning=True)
        y = as_labels(y)
        _check.one_label_a_row(len(y), X.shape[0])
        weight = given_weight(class_weight, y, _check.sample_weight(sample_weight, len(y)))
        rows = rows_of(X)
        _check.sound_rows(rows.fault)
        if weight is not None and not weight.all():
            kept = np.flatnonzero(weight)
            X = X[kept]
            return Batch(rows_of(X), X, y[kept], weight[kept], kept)
        return Batch(rows, X, y, weight)

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

    def _cut(
        self, X: Any, y: Any, sample_weight: Any, plan: Plan
    ) -> tuple[list[Shard], NDArray[Any]]:
        """All rows that there are in shards that read them in place, and their classes."""
        batch, classes = self._whole(X, y, sample_weight, "fit")
        batch = coded(batch, classes)
        cuts = enumerate(spans(len(batch.y), plan.n_shards))
        return [Shard(number, batch, span) for number, span in cuts], classes

    def _n_features_of(self, X: Any) -> int:
        """The width of a part without rows."""
        shape = np.shape(X)
        if len(shape) != 2 or shape[1] == 0:
            raise ValueError(f"X must have features also where it has no rows, got shape {shape}.")
        return int(shape[1])

    def _known_words(self) -> Words | None:
        """Words that features stand for."""
        return None

    def _know(self, words: Words | None) -> None:
        """Take over the words of a merged model."""

    def _forget(self) -> None:
        """Drop what belongs to another model."""
        for name in ("temperature_", "stream_"):
            self.__dict__.pop(name, None)

    def _stream_shell(self) -> Self:
        """A twin that has learnt nothing, for the first block of a stream."""
        shell = self._shell()
        shell._forget()
        for name in ("_model", "n_features_in_", "feature_names_in_"):
            shell.__dict__.pop(name, None)
        return shell

    def _features(self, X: Any, names: list[str] | None) -> Features:
        """Rows of numbers of a stream, and what their columns are called."""
        _check.no_texts(X)
        X = self._validated_block(X, names)
        arrays = (X.indptr, X.indices, X.data) if issparse(X) else (X,)
        return Features(arrays, X.shape[1])
