"""SureClassifier: rows, rule and weights joined behind scikit-learn's methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np

from surelearn import _check, rules
from surelearn.constraints import Single
from surelearn.learners import reductions
from surelearn.learners.deciding import fit_certified
from surelearn.learners.labels import MATRIX
from surelearn.learners.row_input import known_classes
from surelearn.learners.row_learner import RowLearner
from surelearn.learners.tasks.rows import union_of_labels


class SureClassifier(RowLearner):
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
    constraints : str or constraints, default "auto"
        Which rivals are learnt from: ``"single"``, ``"sequential"``, ``"parallel"``, ``"exact"`` or
        a value such as ``constraints.Sequential(k=5)``. ``"auto"``: ``Sequential(k=3)`` for
        second-order rules with diagonal covariance and ``multiclass="joint"``, single otherwise.
    multiclass : {"joint", "ovr", "ovo", "ecoc"} or matrix, default "joint"
        How three or more classes are learnt. ``"joint"``: one weight vector a class, learnt
        together. Otherwise as problems of two classes, all in one pass: each class against the
        rest, every two classes, an error-correcting code, or a matrix of shape (n_classes,
        n_problems), or a `decode.Code` of it, with entries +1 and -1 for the sides of a problem and
        0 for classes it never sees. ``"ecoc"`` and a matrix cannot take classes that appear later.
        Many labels per row are always learnt as problems of two classes, one for each label, and
        need ``"joint"`` or ``"ovr"``, ``decoding="auto"``, single constraints and a diagonal
        covariance.
    passes : int or "auto", default "auto"
        Passes over the data in `fit`. ``"auto"``: as many as learn 10,000 rows, but at least 3 and
        at most 10; 10 with shards of fewer than five rows of each class; 3 in `fit_stream`.
    shuffle : bool, default True
        Whether `fit` goes through the rows in a new random order in each pass.
    fit_intercept : bool, default True
        Whether a last feature is 1 in every row.
    initial_variance : float > 0, default 1
        Variance of every weight before the first row; of scaled columns, of the margin of a typical
        row.
    scale : bool or "auto", default "auto"
        Whether columns are standardised, so that predictions do not depend on units: the value less
        the column's mean, over its standard deviation and the root of the number of columns. `fit`
        uses the moments of all rows, `partial_fit` and `fit_stream` running ones. ``"auto"``: dense
        rows and frames only. With True, sparse columns are divided by their root mean square and
        not centred. `coef_` and `intercept_` refer to X as given.
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
        Threads that learn shards, the problems of ``"ovr"`` and ``"ecoc"`` or many labels in `fit`,
        or one update with a large full covariance, and that predict files.
        None: one, or as many as a context such as `joblib.parallel_config` says; -1: as many as
        there are cores, -2: one less, and so on. Never more than there are cores, as far as the
        process may use them. A file does not store it.
    combine : {"evidence", "bayes", "weighted", "kl", "uniform"}, default "evidence"
        How shards are merged, see `merge`. The tau of ``"evidence"`` is 16 where shards of `fit`
        are merged once. Where they are merged more often it is the mean number of values in a
        sparse row, and infinite for dense rows and in `fit_stream`. First-order rules take
        ``"evidence"`` or ``"uniform"``.
    merge_every : int or None, default 1
        Shards are merged after so many passes, and go on from the merged model; None: after the
        last pass only.
    decoding : str, default "auto"
        How the label follows from the problems of a reduction: ``"scores"`` (sum of margins),
        ``"hamming"``, ``"loss"`` (hinge), ``"probability"`` (of the problems' answers, from margins
        and variances), and for all pairs also ``"votes"`` and ``"tournament"``. ``"auto"``: scores
        for ``"ovr"``, votes for ``"ovo"``, loss for other codes. Can be changed in a fitted model.
    probability : {"softmax", "exact"}, default "softmax"
        Form of `predict_proba`. ``"softmax"``: of the mean scores over `temperature_`, so that
        `predict` is always the most probable label. ``"exact"``: the probability, over the weights'
        distribution, that a label has the largest score, as in the papers; of three or more labels
        the most probable one may be another than that of `predict`. Can be changed in a
        fitted model; call `calibrate` then. Many labels per row always have exact probabilities.
    random_state : int, RandomState or None, default None
        Order of the rows in `fit`.
    verbose : int, default 0
        1 prints a line for each pass and each million rows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Known labels, sorted.
    label_format_ : {"dense", "sparse", "lists"} or None
        In what `predict` gives many labels per row: an indicator matrix, dense or CSR, or a list of
        tuples. None: rows have one label. A matrix numbers its labels: a model of a matrix takes
        matrices only, and a model of lists takes lists only.
    thresholds_ : ndarray of shape (n_labels,)
        The margin above which a row has each of many labels: 0, or as `choose_thresholds` chose.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Means of the weights, one row for two classes, and one for each problem of a reduction. A
        read-only view where nothing is averaged; a copy after classes came one by one, in another
        order than that of `classes_`.
    sigma_ : ndarray of the shape of `coef_`
        Variances of the weights, a view or copy as `coef_`. Second-order rules only. With full
        covariance the whole matrix over all weights, class after class, the intercept last in each:
        read it again after learning more, since a view of before may be of two moments.
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
        reductions by ``decoding="auto"``, whatever `decoding` is. With many labels per row, rows
        with a label on the wrong side.
    stream_ : StreamPosition
        After `fit_stream`: where in its source training is, or has ended.
    temperature_ : float
        Fitted by `fit`, `fit_stream` and `calibrate`: what the mean scores are divided by before
        the softmax, or what every standard deviation is multiplied by if probabilities are exact.

    Examples
    --------
    >>> from surelearn import SureClassifier
    >>> clf = SureClassifier(random_state=0).fit([[0.0, 1.0], [1.0, 0.0]], ["no", "yes"])
    >>> clf.predict([[3.0, 1.0]])
    array(['yes'], dtype='<U3')
    >>> both = clf.fit([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [["a"], ["b"], ["a", "b"]])
    >>> both.predict([[1.0, 1.0], [2.0, 0.0]])
    [('a', 'b'), ('b',)]
    """

    def __init__(
        self,
        rule: str | rules.Rule | Callable[[float, float], Any] = "probit",
        *,
        covariance: str = "diagonal",
        projection: str = "auto",
        constraints: Any = "auto",
        multiclass: Any = "joint",
        passes: int | Literal["auto"] = "auto",
        shuffle: bool = True,
        fit_intercept: bool = True,
        initial_variance: float = 1.0,
        scale: bool | Literal["auto"] = "auto",
        average: bool = False,
        class_weight: Any = None,
        cost: Any = None,
        dtype: Any = "float32",
        n_shards: int = 1,
        n_jobs: int | None = None,
        combine: str = "evidence",
        merge_every: int | None = 1,
        decoding: str = "auto",
        probability: str = "softmax",
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
        self.scale = scale
        self.average = average
        self.class_weight = class_weight
        self.cost = cost
        self.dtype = dtype
        self.n_shards = n_shards
        self.n_jobs = n_jobs
        self.combine = combine
        self.merge_every = merge_every
        self.decoding = decoding
        self.probability = probability
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        risk: Any = None,
        delta: float = 0.1,
        novel: float | None = None,
        calibrate: bool = True,
    ) -> Self:
        """Learn from scratch, in `passes` passes, and calibrate the probabilities.

        One row in twenty, at most 2,000, is kept back until the last pass has ended. `temperature_`
        is fitted to these rows, as by the method `calibrate`, before they are learnt, once. Rows of
        classes with fewer than 5 rows are never kept back. With shards the temperature is fitted
        to rows that no shard has learnt; with ``shuffle=False``, or with a first-order rule, there
        is none.

        Shards are stretches of rows, cut as by `numpy.array_split` where rows of weight 0 are left
        out. They read X in place. An error in one says which, counted from 0.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features), or list of dicts
            Read in place where it is C-ordered float32 or float64. Dicts of {name: value} as in
            `learn_one`.
        y : array of shape (n_samples,), or for many labels per row an indicator matrix or lists
            A matrix of 0 and 1 of shape (n_samples, n_labels), dense or sparse, has two columns at
            least; lists, tuples or sets of labels may be empty. Lists of 0 and 1 that all have the
            same length are a matrix.
        sample_weight : array of shape (n_samples,), optional
            Rows of weight 0 are left out before anything else.
        calibrate : bool, default True
            Whether to keep rows back and to fit `temperature_` to them.
        risk, delta, novel : optional
            Keep a fifth of the rows back, at random, to certify that at most a share `risk` of
            the answers of ``predict(X, abstain=True)`` is wrong; see `choose_abstention`. These
            rows are never learnt. `predict_set` uses them as well. Other steps of a Pipeline, and a
            search, do see them: call `choose_abstention` there, with rows that none has seen.

        Returns
        -------
        self
            On an error the model is as it was before the call.
        """
        if risk is not None or novel is not None:
            how: dict[str, Any] = {"risk": risk, "delta": delta, "novel": novel}
            return fit_certified(self, X, y, sample_weight, **how, calibrate=calibrate)
        shell = self._trained(X, y, sample_weight, calibrate=calibrate)
        self._warn_if_unmoved(shell.model_)
        self._adopt(shell)
        return self

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose prediction is right.

        With many labels per row, the share of rows whose labels are all predicted and no others:
        the subset accuracy.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,), or indicator matrix or list of lists of labels
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        float
        """
        if not self._fitted().many_labels:
            return float(super().score(X, y, sample_weight))
        right = self._right(X, y)
        weight = _check.sample_weight(sample_weight, len(right))
        return float(np.average(right, weights=weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # As `RowSettings.check_many_labels`, but quick: every check of X asks for the tags.
        tags.classifier_tags.multi_label = (
            self.cost is None
            and self.class_weight is None
            and self.covariance == "diagonal"
            and self.decoding == "auto"
            and isinstance(self.multiclass, str)
            and self.multiclass in ("joint", "ovr")
            and (self.constraints in ("auto", "single") or isinstance(self.constraints, Single))
        )
        return tags

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go on learning: one pass over these rows, in their order.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features), or list of dicts
        y : array of shape (n_samples,), or for many labels per row an indicator matrix or lists
            As many labels per row as before, one or many, and in the same form: a matrix or lists.
            All columns of a matrix are known from now on.
        classes : array, optional
            Labels to know from now on. Others are known from the row where they first appear.
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        self
            Where the input is refused, the model is as it was. Where one row's update would leave
            no usable model, the rows before it are kept and the error names it.
        """
        settings = self._settings_for()
        shell, block = self._read(X, y, sample_weight)
        labels, is_sparse = block.labels, block.is_sparse
        started = None if self._fresh else self._model
        n_features = shell.n_features_in_
        model = settings.present(started, n_features, is_sparse=is_sparse, many=labels.is_many)
        before, seen = model.classes, labels.seen
        form = shell.__dict__.get("_label_form") if self._fresh else self.label_format_
        is_matrix = labels.is_many and form in MATRIX
        if is_matrix:
            before = union_of_labels(before, labels.values)
        known = known_classes(before, seen, classes, settings.class_weight)
        every = union_of_labels(known, seen)
        if is_matrix:
            _check.columns_only(every.tolist(), len(every))
        settings.check_classes(every, model)
        model = model.with_classes(every if reductions.is_fixed(settings.multiclass) else known)
        if block.size or classes is not None:
            self._go_on(shell, model, settings, block)
        return self
