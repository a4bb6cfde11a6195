"""CRFTagger: the log loss of whole label sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn.learners.batch import Cells
from surelearn.learners.batch_tagger import BatchTagger, Problem
from surelearn.learners.tasks.sequence_training import SequenceSettings
from surelearn.learners.tasks.sequences import LabelledSequences, SequenceBatch, SequenceModel
from surelearn.solvers import Loss, Solution, lbfgs, stochastic


class CRFTagger(BatchTagger):
    r"""Linear-chain conditional random field with a Gaussian over its weights.

    .. math:: \min_w \sum_i \bigl(\log \sum_z \exp(w \cdot \Psi(x_i, z)) - w \cdot \Psi(x_i, y_i)
        \bigr) + \tfrac{l_2}{2} \lVert w \rVert^2 + l_1 \lVert w \rVert_1

    with the features :math:`\Psi` of `SureTagger`. The weights get the variances of Laplace's
    approximation, :math:`\sigma_j = 1 / (l_2 + \partial^2 loss / \partial w_j^2)`, in which the
    tokens of a sequence count as independent. So `confidence`, `explain` and `merge` work as for
    `SureTagger`, and `online` goes on with a stream.

    Parameters
    ----------
    l2 : float > 0, default 1
        Penalty of squared weights, the precision of their prior. Twice the `c2` of CRFsuite.
    l1 : float >= 0, default 0
        Penalty of absolute weights, the `c1` of CRFsuite: many weights become zero. It has no
        part in the variances. `partial_fit` counts it once for each weight.
    cells : {"observed", "all"}, default "observed"
        Which weights there are: those of the features and labels, and of the pairs of labels, that
        occur together in the training data, as in CRFsuite, or of all. All take more memory and
        time, in proportion to the number of labels.
    templates : list of str, optional
    columns : list of str, optional
    n_features : int, optional
        Features of words, as in `SureTagger`.
    solver : {"lbfgs", "sgd"}, default "lbfgs"
        L-BFGS, or stochastic gradient descent with averaging, which is soon near the optimum of a
        large corpus and slow to reach it. `partial_fit` always uses L-BFGS.
    tol : float, default 1e-4
        The solver stops when the objective is within this share of its optimum, as far as it can
        tell.
    max_iter : int, default 1000
        Iterations of L-BFGS or passes of "sgd"; a `ConvergenceWarning` tells if they end first.
    warm_start : bool, default False
        Whether `fit` starts from the weights at hand, which changes the way but not the optimum.
    dtype : {"float32", "float64"}, default "float32"
        How weights are kept. The solvers' arithmetic is always in double.
    n_jobs : int or None, default None
        Threads, as in `SureClassifier`. Changes no bit of the result.
    random_state : int, RandomState or None, default None
        Order of the sequences for "sgd".
    verbose : int, default 0
        1 prints objective, gap and seconds as the solver goes on.

    Attributes
    ----------
    classes_, features_, coef_, sigma_, transitions_, transitions_sigma_, start_, start_sigma_
        As in `SureTagger`, as are `end_`, `end_sigma_` and `temperature_`. Weights that the data
        cannot tell have a mean of 0 and a variance of 1 / l2.
    objective_ : float
        The minimum that was found.
    gap_ : float or None
        How much lower the objective can be at most; None: unknown.
    n_iter_ : int
        Iterations, or passes, of the last call.
    stream_ : StreamPosition
        After `fit_stream`: which columns were read.

    References
    ----------
    Lafferty, McCallum & Pereira 2001, Conditional random fields. Sha & Pereira 2003, Shallow
    parsing with conditional random fields (L-BFGS). Ren 2023, Multiclass classification, lecture at
    NYU, eq. 27 to 30. MacKay 1992, The evidence framework applied to
    classification networks (variances).

    Examples
    --------
    >>> from surelearn import CRFTagger
    >>> X = [["the", "dog", "barks"], ["a", "cat", "sleeps"]]
    >>> y = [["DET", "NOUN", "VERB"], ["DET", "NOUN", "VERB"]]
    >>> tagger = CRFTagger(l2=0.1).fit(X, y)
    >>> tagger.predict([["a", "dog", "sleeps"]])
    [['DET', 'NOUN', 'VERB']]
    >>> tagger.online().partial_fit([["oh"]], [["INTJ"]]).predict([["oh"]])
    [['INTJ']]
    """

    def __init__(
        self,
        *,
        l2: float = 1.0,
        l1: float = 0.0,
        cells: str = "observed",
        templates: Any = None,
        columns: Any = None,
        n_features: int | None = None,
        solver: str = "lbfgs",
        tol: float = 1e-4,
        max_iter: int = 1000,
        warm_start: bool = False,
        dtype: Any = "float32",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.l2 = l2
        self.l1 = l1
        self.cells = cells
        self.templates = templates
        self.columns = columns
        self.n_features = n_features
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _settings_for(self, **instead: Any) -> SequenceSettings:
        resumed = instead.get("warm_start", False) and self.solver == "sgd"
        _check.left_alone("resume", resumed, False, where="with solver='sgd'", use="solver='lbfgs'")
        return SequenceSettings.of({**self.get_params(deep=False), **instead})

    def _starting(
        self, settings: SequenceSettings, block: LabelledSequences
    ) -> SequenceModel | None:
        if not settings.warm_start or self._fresh:
            return None
        before = self._snapshot()
        kept = settings.but(initial_variance=before.initial_variance)
        kept.check_fits(before)  # l2 and l1 may change
        _check.same_labels(before.classes, block.labels)
        return before

    def _cells(
        self, settings: SequenceSettings, batch: SequenceBatch, learnt: NDArray[np.bool_]
    ) -> Cells:
        n_labels, n_rows = learnt.shape
        if settings.cells == "all":
            return Cells.all(n_rows, n_labels)
        observed = Cells.observed(batch, n_labels)
        return Cells.where(observed.mask(n_labels) | learnt) if learnt.any() else observed

    def _solver(
        self, settings: SequenceSettings, problem: Problem, loss: Loss
    ) -> Callable[[], Solution]:
        threads, limits = settings.n_jobs, settings.limits()
        if settings.solver == "sgd" and problem.prior.mean is None:
            order = self._orders(problem.batch.size)
            return lambda: stochastic(
                loss, "log", problem.prior, order=order, threads=threads, **limits
            )
        # An earlier call has already penalised the weights it learnt by L1.
        new = np.less_equal(problem.prior.precision, settings.l2 * (1 + 1e-6))
        return lambda: lbfgs(
            loss,
            problem.prior,
            l1=np.where(new, settings.l1, 0.0),
            start=problem.start,
            threads=threads,
            **limits,
        )
