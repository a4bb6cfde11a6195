"""GraphSVM: the hinge loss of labellings of whole graphs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from surelearn import _core
from surelearn.learners.batch import loss_factors
from surelearn.learners.batch_graphs import BatchGraphs, Problem
from surelearn.learners.tasks.graphs import GraphSettings
from surelearn.solvers import Loss, Solution, frank_wolfe
from surelearn.weights import Diagonal


class GraphSVM(BatchGraphs):
    r"""Support vector machine over labellings of graphs (structural SVM).

    .. math:: \min_w \tfrac12 \lVert w \rVert^2 + C \sum_i \max_z \bigl(\Delta(y_i, z)
        + w \cdot \Psi(x_i, z) - w \cdot \Psi(x_i, y_i)\bigr)

    with the features :math:`\Psi` of `SureGraphClassifier` and :math:`\Delta` the number of wrong
    labels, or the sum of their costs, by block-coordinate Frank-Wolfe. On forests the largest term
    is found exactly. On graphs with loops it is the one that max-product finds: `objective_` is
    then that of the approximation, and `gap_` is None.

    The hinge has no curvature, so the variances are those of a `GraphCRF` with the prior of
    variance C and these scores,
    :math:`\sigma_j = 1 / (1 / C + \partial^2 log\,loss / \partial w_j^2)`. So `margin` and `merge`
    work as there. Probabilities are also those of a conditional random field with the same scores;
    `calibrate` fits them to data.

    Parameters
    ----------
    C : float > 0, default 1
        Weight of the losses against the penalty of the weights, those of intercepts among them.
    cost : array of shape (n_labels, n_labels), optional
        Cost of predicting the label of the column for that of the row, in the order of sorted
        labels, with zeros on the diagonal. Default: 1 for each wrong label (Hamming).
    tol : float, default 1e-3
        The solver stops when the duality gap is at most this share of the objective.
    max_iter : int, default 10,000
        Passes over the graphs; a `ConvergenceWarning` tells if they end first.
    directed : bool, default True
        Whether an edge from label i to label j has another weight than one from j to i.
    fit_intercept : bool, default True
        Whether each label has a weight for every node.
    damping : float in [0, 1), default 0.3
    message_tol : float > 0, default 1e-3
    max_sweeps : int, default 50
        How messages are sent on graphs with loops, in training and in predictions; see
        `graph.FactorGraph.max_product`, whose `tol` is `message_tol`.
    n_jobs : int or None, default None
        Threads for predictions and variances, as in `SureClassifier`. Changes no bit of the result.
    dtype : {"float32", "float64"}, default "float32"
        How weights are kept. Arithmetic is always in double.
    random_state : int, RandomState or None, default None
        Order of the graphs in each pass.
    verbose : int, default 0
        1 prints objective, gap and seconds as the solver goes on.

    Attributes
    ----------
    classes_, coef_, sigma_, intercept_, intercept_sigma_, pairwise_, pairwise_sigma_
        As in `SureGraphClassifier`, as are `n_features_in_`, `edge_types_` and `temperature_`.
    objective_ : float
        The minimum that was found.
    gap_ : float or None
        The duality gap: how much lower the objective can be at most; None with loops.
    n_iter_ : int
        Passes.

    References
    ----------
    Taskar, Guestrin & Koller 2003, Max-margin Markov networks. Finley & Joachims 2008, Training
    structural SVMs when exact inference is intractable. Lacoste-Julien, Jaggi, Schmidt & Pletscher
    2013, Block-coordinate Frank-Wolfe optimization for structural SVMs.

    Examples
    --------
    >>> from surelearn import GraphSVM
    >>> from surelearn.graph import Graph, tree
    >>> edges = tree([-1, 0, 1])
    >>> X = [Graph([[1.0], [0.0], [0.0]], edges), Graph([[-1.0], [0.0], [0.0]], edges)]
    >>> y = [["a", "a", "a"], ["b", "b", "b"]]
    >>> svm = GraphSVM(random_state=0).fit(X, y)
    >>> svm.predict([Graph([[0.0], [0.0], [2.0]], edges)]), svm.gap_ < 1e-3 * svm.objective_
    ([array(['a', 'a', 'a'], dtype='<U1')], True)
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        cost: Any = None,
        tol: float = 1e-3,
        max_iter: int = 10_000,
        directed: bool = True,
        fit_intercept: bool = True,
        damping: float = 0.3,
        message_tol: float = 1e-3,
        max_sweeps: int = 50,
        n_jobs: int | None = None,
        dtype: Any = "float32",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.cost = cost
        self.tol = tol
        self.max_iter = max_iter
        self.directed = directed
        self.fit_intercept = fit_intercept
        self.damping = damping
        self.message_tol = message_tol
        self.max_sweeps = max_sweeps
        self.n_jobs = n_jobs
        self.dtype = dtype
        self.random_state = random_state
        self.verbose = verbose

    def _solver(
        self, settings: GraphSettings, problem: Problem, loss: Loss
    ) -> Callable[[], Solution]:
        model, block = problem.model, problem.block
        layout = replace(model.layout, second_order=False, dtype="float64")
        weights = Diagonal(layout, len(model.classes), 1.0)
        bound = loss_factors(settings.C, block.weight, block.size)
        machine = _core.GraphFrankWolfe(problem.data, block.y, bound, settings.cost, weights.core)
        order, limits = self._orders(block.size), settings.limits()
        return lambda: frank_wolfe(machine, weights, order=order, **limits)
