"""SVMTagger: the hinge loss of whole label sequences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, _core
from surelearn.learners.batch import Cells, loss_factors
from surelearn.learners.batch_tagger import BatchTagger, Problem
from surelearn.learners.tasks.sequence_training import SequenceSettings
from surelearn.learners.tasks.sequences import SequenceBatch
from surelearn.solvers import Loss, Prior, Solution, frank_wolfe, stochastic
from surelearn.weights import Diagonal


class SVMTagger(BatchTagger):
    r"""Support vector machine over label sequences (structural SVM, max-margin Markov network).

    .. math:: \min_w \tfrac12 \lVert w \rVert^2 + C \sum_i \max_z \bigl(\Delta(y_i, z)
        + w \cdot \Psi(x_i, z) - w \cdot \Psi(x_i, y_i)\bigr)

    with the features :math:`\Psi` of `SureTagger` and :math:`\Delta` the number of wrong tags, or
    the sum of their costs. The loss is an upper bound of :math:`\Delta(y_i, \hat y_i)`.

    Divided by C, this is the objective of losses of weight 1 and a Gaussian prior of variance C.
    The hinge has no curvature, so the variances are those of a `CRFTagger` with this prior and
    these scores,
    :math:`\sigma_j = 1 / (1 / C + \partial^2 log\,loss / \partial w_j^2)`. So `confidence`,
    `explain`, `merge` and `online` work as there. Probabilities are also those of a conditional
    random field with the same scores; `calibrate` fits them to data.

    Parameters
    ----------
    C : float > 0, default 1
        Weight of the losses against the penalty of the weights. The margin becomes hard as C grows.
    cost : array of shape (n_labels, n_labels), optional
        Cost of predicting the label of the column for that of the row, in the order of sorted
        labels, with zeros on the diagonal. Default: 1 for each wrong tag (Hamming).
    solver : {"frank-wolfe", "sgd"}, default "frank-wolfe"
        Block-coordinate Frank-Wolfe, which knows how far it is from the optimum, or the stochastic
        subgradient method with averaging. `partial_fit` always uses Frank-Wolfe.
    tol : float, default 1e-3
        Frank-Wolfe stops when the duality gap is at most this share of the objective.
    max_iter : int, default 10,000
        Passes over the sequences; a `ConvergenceWarning` tells if they end first. Few sequences
        that can be told apart without a mistake take the most passes.
    templates : list of str, optional
    columns : list of str, optional
    n_features : int, optional
        Features of words, as in `SureTagger`.
    dtype : {"float32", "float64"}, default "float32"
        How weights are kept. The solvers' arithmetic is always in double.
    n_jobs : int or None, default None
        Threads for predictions and variances, as in `SureClassifier`. Changes no bit of the result.
    random_state : int, RandomState or None, default None
        Order of the sequences in each pass.
    verbose : int, default 0
        1 prints objective, gap and seconds as the solver goes on.

    Attributes
    ----------
    classes_, features_, coef_, sigma_, transitions_, transitions_sigma_, start_, start_sigma_
        As in `SureTagger`, as are `end_`, `end_sigma_` and `temperature_`.
    objective_ : float
        The minimum that was found.
    gap_ : float or None
        The duality gap: how much lower the objective can be at most; None with "sgd".
    n_iter_ : int
        Passes of the last call.
    stream_ : StreamPosition
        After `fit_stream`: which columns were read.

    References
    ----------
    Taskar, Guestrin & Koller 2003, Max-margin Markov networks. Tsochantaridis, Joachims, Hofmann &
    Altun 2005, Large margin methods for structured and interdependent output variables. Ren 2023,
    Multiclass classification, lecture at NYU, eq. 20 and 24.
    Lacoste-Julien, Jaggi, Schmidt & Pletscher 2013, Block-coordinate Frank-Wolfe optimization for
    structural SVMs.

    Examples
    --------
    >>> from surelearn import SVMTagger
    >>> X = [["the", "dog", "barks"], ["a", "cat", "sleeps"]]
    >>> y = [["DET", "NOUN", "VERB"], ["DET", "NOUN", "VERB"]]
    >>> tagger = SVMTagger(random_state=0).fit(X, y)
    >>> tagger.predict([["a", "dog", "sleeps"]]), tagger.gap_ < 1e-3 * tagger.objective_
    ([['DET', 'NOUN', 'VERB']], True)
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        cost: Any = None,
        solver: str = "frank-wolfe",
        tol: float = 1e-3,
        max_iter: int = 10_000,
        templates: Any = None,
        columns: Any = None,
        n_features: int | None = None,
        dtype: Any = "float32",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.cost = cost
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.templates = templates
        self.columns = columns
        self.n_features = n_features
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _settings_for(self, **instead: Any) -> SequenceSettings:
        started, use = instead.get("warm_start", False), "partial_fit for more sequences"
        _check.left_alone("resume", started, False, where="for SVMTagger", use=use)
        return SequenceSettings.of({**self.get_params(deep=False), **instead})

    def _cells(
        self, settings: SequenceSettings, batch: SequenceBatch, learnt: NDArray[np.bool_]
    ) -> Cells:
        n_labels, n_rows = learnt.shape
        return Cells.all(n_rows, n_labels)

    def _solver(
        self, settings: SequenceSettings, problem: Problem, loss: Loss
    ) -> Callable[[], Solution]:
        order, limits = self._orders(problem.batch.size), settings.limits()
        if settings.solver == "sgd" and problem.prior.mean is None:
            return lambda: stochastic(
                problem.loss(settings.C),
                "hinge",
                Prior(None, 1.0),
                cost=settings.cost,
                order=order,
                threads=settings.n_jobs,
                **limits,
            )
        weights = _in_doubles(problem, settings.C)
        bound = loss_factors(settings.C, problem.batch.weight, problem.batch.size)
        machine = _core.SequenceFrankWolfe(*problem.batch[:4], bound, settings.cost, weights.core)
        return lambda: frank_wolfe(machine, weights, order=order, **limits)


def _in_doubles(problem: Problem, C: float) -> Diagonal:
    """Weights that begin at the prior, with its variances as metric; without them it is 1.

    The objective is C times that of the Gaussian: all its precisions have this factor.
    """
    cells, prior = problem.cells, problem.prior
    layout = replace(
        problem.model.layout,
        n_features=cells.n_rows,
        second_order=prior.mean is not None,
        dtype="float64",
    )
    weights = Diagonal(layout, len(problem.model.classes), 1.0)
    if prior.mean is not None:
        rows = np.arange(cells.n_rows)
        cells.write(weights, rows, prior.mean, 1.0 / (C * np.asarray(prior.precision)))
    return weights
