"""SureKernelClassifier: kernel, rule and dual weights joined behind scikit-learn's methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surelearn import _check, kernels, rules
from surelearn.dual import Dual, KernelRows
from surelearn.learners import reductions
from surelearn.learners.answers.classifier import Probabilistic
from surelearn.learners.base import forget, put_model
from surelearn.learners.checks import checked, random_numbers, validated
from surelearn.learners.deciding import fit_certified
from surelearn.learners.labels import as_labels
from surelearn.learners.online import Online
from surelearn.learners.row_input import (
    block_to_fit,
    known_classes,
    labelled_block,
)
from surelearn.learners.tasks.kernel import KernelModel, KernelSettings, KernelTraining, absorbed
from surelearn.learners.tasks.kernel_task import KERNEL
from surelearn.learners.tasks.row_block import RowBlock
from surelearn.learners.tasks.row_settings import check_weighted
from surelearn.learners.tasks.rows import union_of_labels
from surelearn.read import Labels
from surelearn.rows import rows_of
from surelearn.training.passes import random_orders, reports


class SureKernelClassifier(Probabilistic[KernelModel], Online[KernelModel]):
    r"""Kernel classifier that keeps a Gaussian over its weights and learns from a stream.

    It is the dual form of `SureClassifier` with full covariance. Mean and covariance are sums over
    support points, the rows that the rule has learnt from:

    .. math:: \mu = \sum_p \nu_p \phi(x_p), \qquad
        \Sigma = a I + \sum_{pq} \Pi_{pq}\, \phi(x_p) \phi(x_q)^\top, \qquad
        k(x, z) = \phi(x) \cdot \phi(z)

    With the linear kernel, it is the same classifier. An update takes time in proportion to the
    square of the number of support points, and so does the memory of each problem; `budget` bounds
    both. With ``kernel="precomputed"``, X holds kernel values: in `fit` of each row with each other
    row, in `predict` of each row with each row of `fit`. For variances, the kernel of a row with
    itself is needed as well. If it was the same for all rows of `fit`, it is taken to be the same
    for new rows; otherwise append it to X as a last column.

    Parameters
    ----------
    rule : str, rule or function, default "scw1"
        As in `SureClassifier`. Rules that learn only from rows near the margin have few support
        points: `SCW1` and `Stdev` the fewest, `AROW` more; `Probit` learns from every row.
    kernel : {"linear", "poly", "rbf", "cosine", "precomputed"} or function, default "rbf"
        ``x.z``, ``(gamma x.z + coef0) ** degree``, ``exp(-gamma |x - z|^2)``, or the cosine of the
        angle. A function takes two matrices and returns the kernel of each row of the first with
        each row of the second. It must be symmetric and positive semi-definite, which is checked on
        up to 100 rows. `kernels.register` gives it a name, so that models can be saved.
    gamma : {"scale", "auto"} or float > 0, default "scale"
        As in scikit-learn's `SVC`: ``1 / (n_features * X.var())``, ``1 / n_features``, or a number.
        `partial_fit` computes it from the rows of its first call.
    degree : int, default 3
    coef0 : float >= 0, default 1
    budget : int >= 2 or None, default 1000
        The most support points of a problem. Beyond it, the point whose label the others are surest
        of is removed: its factor is divided out of the Gaussian, so variances only grow. None: no
        limit. A problem takes up to 8 (budget + 1)**2 bytes.
    multiclass : {"ovr", "ovo", "ecoc"} or matrix, default "ovr"
        How three or more classes are learnt, as in `SureClassifier`.
    decoding : str, default "auto"
        How the label follows from the problems, as in `SureClassifier`.
    passes : int, default 1
        Passes over the data in `fit`. More than one can help where features have unequal scales.
    shuffle : bool, default True
        Whether `fit` goes through the rows in a new random order in each pass.
    fit_intercept : bool, default True
        Whether 1 is added to the kernel, which is a feature that is 1 in every row.
    initial_variance : float > 0, default 1
        Variance of every weight before the first row.
    class_weight : None, "balanced" or dict, default None
        As in `SureClassifier`.
    n_jobs : int or None, default None
        Threads that learn problems, or the update of a single problem, as in `SureClassifier`. It
        does not change the result. Kernel values are computed by BLAS, whose threads it does not
        set.
    random_state : int, RandomState or None, default None
        Order of the rows in `fit`.
    verbose : int, default 0
        1 prints a line for each pass.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Known labels, sorted.
    points_ : ndarray or CSR matrix of shape (n_points, n_features)
        The support points of all problems; for a precomputed kernel, their row numbers in `fit`.
    support_ : ndarray of int of shape (n_points,)
        Row numbers of the support points in the X of `fit`. Not after `partial_fit`.
    n_support_ : ndarray of int of shape (n_problems,)
        Number of support points of each problem.
    kernel_ : kernels.Kernel
        The kernel, with the value of gamma.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X had names.
    n_updates_ : int
        Updates of all problems.
    n_iter_ : int
        Passes made; all calls of `partial_fit` count as one.
    mistakes_ : ndarray of int
        Mistakes made before each update, one entry a pass; of equal scores none is right.
    temperature_ : float
        After `calibrate`: what every standard deviation is multiplied by.

    References
    ----------
    Crammer, Dredze & Pereira 2008, Exact Convex Confidence-Weighted Learning, theorem 2. Several
    classes and the budget are ours; see docs/theory/kernels.md.

    Examples
    --------
    >>> from surelearn import SureKernelClassifier
    >>> X, y = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], ["same", "same", "not", "not"]
    >>> clf = SureKernelClassifier(gamma=1.0, passes=3, random_state=0).fit(X, y)
    >>> clf.predict([[0.9, 0.1], [0.9, 0.9]])
    array(['not', 'same'], dtype='<U4')
    """

    task = KERNEL

    def __init__(
        self,
        rule: str | rules.Rule | Callable[[float, float], Any] = "scw1",
        *,
        kernel: Any = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        budget: int | None = 1000,
        multiclass: Any = "ovr",
        decoding: str = "auto",
        passes: int = 1,
        shuffle: bool = True,
        fit_intercept: bool = True,
        initial_variance: float = 1.0,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.rule = rule
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.budget = budget
        self.multiclass = multiclass
        self.decoding = decoding
        self.passes = passes
        self.shuffle = shuffle
        self.fit_intercept = fit_intercept
        self.initial_variance = initial_variance
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # ----------------------------------------------------------------- learning

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        risk: Any = None,
        delta: float = 0.1,
        novel: float | None = None,
    ) -> Self:
        """Learn from scratch, in `passes` passes.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            For ``kernel="precomputed"``, an array of shape (n_samples, n_samples).
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            Rows of weight 0 are left out before anything else.
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
            return fit_certified(self, X, y, sample_weight, **how)
        settings, shell = self._settings_for(), self._shell()
        forget(shell)
        labels = Labels.of(as_labels(y))
        check_weighted(settings.class_weight, labels.values)  # also those of rows of weight 0
        block = shell._block(settings, X, labels, sample_weight, reset=True)
        classes = block.labels.seen
        block = block_to_fit(block, classes, settings.class_weight, "fit")
        model = settings.untrained(block.rows)
        settings.check_classes(classes, model)
        kernels.check_positive(model.form.kernel, block.X, block.numbers)
        training = KernelTraining(model.with_classes(classes), settings, block)
        n, random = block.size, random_numbers(self.random_state)
        order = random_orders(random, n, shuffle=settings.shuffle)
        report = reports(n, settings.passes, verbose=settings.verbose)
        for number in range(1, settings.passes + 1):
            training.learn_pass(order(number), report(number))
        model = training.result()
        self._warn_if_unmoved(model)
        put_model(shell, model)
        self._adopt(shell)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go on learning: one pass over these rows, in their order.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            Not kernel values: ``kernel="precomputed"`` is refused.
        y : array of shape (n_samples,)
        classes : array, optional
            Labels to know from now on. Others are known from the row where they first appear.
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        self
            On an error the model is as it was before the call.
        """
        is_new, settings, shell = self._fresh, self._settings_for(), self._shell()
        if settings.kernel == "precomputed":
            raise ValueError(
                "kernel must be a name or a function for partial_fit, got 'precomputed'. Pass all "
                "rows to fit."
            )
        labels = Labels.of(as_labels(y))
        block = shell._block(settings, X, labels, sample_weight, reset=is_new)
        if not block.size and classes is None:
            return self
        if is_new:
            _check.some_weight(block.size)  # gamma may depend on the rows
        else:
            settings.check_fits(self._model)
        model = settings.untrained(block.rows) if is_new else self._model
        seen = block.labels.seen
        known = known_classes(model.classes, seen, classes, settings.class_weight)
        every = union_of_labels(known, seen)
        settings.check_classes(every, model)
        kernels.check_positive(model.form.kernel, block.X)
        model = model.with_classes(every if reductions.is_fixed(settings.multiclass) else known)
        put_model(shell, absorbed(model, settings, block))
        self._adopt(shell)
        return self

    # -------------------------------------------------------------------- input

    n_features_in_: int
    feature_names_in_: NDArray[Any]

    @property
    def _is_gram(self) -> bool:
        """Whether X holds kernel values."""
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _block(
        self, settings: KernelSettings, X: Any, labels: Labels, sample_weight: Any, *, reset: bool
    ) -> RowBlock:
        """Everything of the input checked, rows of weight 0 dropped."""
        rows = self._validated(X, reset=reset)
        if settings.kernel == "precomputed":
            kernels.check_square(rows.shape)
        block = labelled_block(rows, labels, settings.class_weight, sample_weight)
        matrix = _canonical(block.X)
        return block._replace(rows=KernelRows(matrix, block.numbers), X=matrix)

    def _validated(self, X: Any, *, reset: bool) -> Any:
        """X after scikit-learn's checks of shape and type."""
        how: dict[str, Any] = {
            "accept_sparse": False if self._is_gram else "csr",
            "dtype": np.float64,
            "order": "C",
            "ensure_all_finite": False,
        }
        if self._is_gram and not reset:  # one more column is allowed
            rows = checked(X, **how)
            if rows.shape[1] not in (self.n_features_in_, self.n_features_in_ + 1):
                raise ValueError(
                    f"X must have {self.n_features_in_} columns for kernel='precomputed', the "
                    f"kernel of each row with each of the training rows, got {rows.shape[1]}. One "
                    "more column may hold the kernel of each row with itself."
                )
            return rows
        return validated(self, X, reset=reset, **how)

    def _rows(self, X: Any) -> KernelRows:
        rows = self._validated(X, reset=False)
        _check.sound_rows(rows_of(rows).fault)
        return KernelRows(_canonical(rows))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse, tags.input_tags.pairwise = not self._is_gram, self._is_gram
        return tags

    # ------------------------------------------------------------------- fitted

    @property
    def points_(self) -> Any:
        return self._weights("points_").points

    @property
    def support_(self) -> NDArray[np.int64]:
        support = self._attribute("support_").support
        if support is None:
            raise AttributeError("support_ needs the rows of one fit, got those of partial_fit.")
        return support

    @property
    def n_support_(self) -> NDArray[np.int64]:
        sizes = [problem.size for problem in self._weights("n_support_").problems]
        return np.array(sizes, dtype=np.int64)

    @property
    def kernel_(self) -> kernels.Kernel:
        return self._attribute("kernel_").form.kernel

    def _weights(self, name: str) -> Dual:
        return _check.trained(self._attribute(name).weights, name)


def _canonical(X: Any) -> Any:
    """Rows whose entries are in order, each once."""
    if not sparse.issparse(X) or X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X
