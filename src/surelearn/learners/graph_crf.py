"""GraphCRF: the log loss of labellings of whole graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from surelearn.learners.batch_graphs import BatchGraphs, Problem
from surelearn.learners.tasks.graphs import GraphSettings
from surelearn.solvers import Loss, Solution, lbfgs


class GraphCRF(BatchGraphs):
    r"""Conditional random field over graphs with a Gaussian over its weights.

    .. math:: \min_w \sum_i \bigl(\log \sum_z \exp(w \cdot \Psi(x_i, z)) - w \cdot \Psi(x_i, y_i)
        \bigr) + \tfrac{l_2}{2} \lVert w \rVert^2

    with the features :math:`\Psi` of `SureGraphClassifier`, by L-BFGS. On forests the sum over all
    labellings is exact. On graphs with loops it is Bethe's approximation by messages: `objective_`
    is then that of the approximation, and `gap_` is None. Where edges are strong, as in pictures,
    the approximation can be far too low and jump from one solution of the messages to another:
    `GraphSVM`, which needs the best labelling only, is the better choice there.

    The weights get the variances of Laplace's approximation,
    :math:`\sigma_j = 1 / (l_2 + \partial^2 loss / \partial w_j^2)`, in which the nodes and edges of
    a graph count as independent. So `margin` and `merge` work as for `SureGraphClassifier`.

    Parameters
    ----------
    l2 : float > 0, default 1
        Penalty of squared weights, the precision of their prior; intercepts have it as well.
    directed : bool, default True
        Whether an edge from label i to label j has another weight than one from j to i.
    fit_intercept : bool, default True
        Whether each label has a weight for every node.
    tol : float, default 1e-4
        The solver stops when the objective is within this share of its optimum, as far as it can
        tell.
    max_iter : int, default 1000
        Iterations of L-BFGS; a `ConvergenceWarning` tells if they end first.
    damping : float in [0, 1), default 0.3
    message_tol : float > 0, default 1e-4
    max_sweeps : int, default 100
        How messages are sent on graphs with loops, in training and in predictions; see
        `graph.FactorGraph.sum_product`, whose `tol` is `message_tol`. A gradient is as precise as
        the messages.
    n_jobs : int or None, default None
        Threads, as in `SureClassifier`. Changes no bit of the result.
    dtype : {"float32", "float64"}, default "float32"
        How weights are kept. Arithmetic is always in double.
    verbose : int, default 0
        1 prints objective, gap and seconds as the solver goes on.

    Attributes
    ----------
    classes_, coef_, sigma_, intercept_, intercept_sigma_, pairwise_, pairwise_sigma_
        As in `SureGraphClassifier`, as are `n_features_in_`, `edge_types_` and `temperature_`.
    objective_ : float
        The minimum that was found.
    gap_ : float or None
        How much lower the objective can be at most; None: unknown.
    n_iter_ : int
        Iterations.

    References
    ----------
    Lafferty, McCallum & Pereira 2001, Conditional random fields. Yedidia, Freeman & Weiss 2005,
    Constructing free-energy approximations and generalized belief propagation algorithms. MacKay
    1992, The evidence framework applied to classification networks (variances).

    Examples
    --------
    >>> from surelearn import GraphCRF
    >>> from surelearn.graph import Graph, tree
    >>> edges = tree([-1, 0, 1])
    >>> X = [Graph([[1.0], [0.0], [0.0]], edges), Graph([[-1.0], [0.0], [0.0]], edges)]
    >>> y = [["a", "a", "a"], ["b", "b", "b"]]
    >>> crf = GraphCRF(l2=0.1).fit(X, y)
    >>> crf.predict([Graph([[0.0], [0.0], [2.0]], edges)])
    [array(['a', 'a', 'a'], dtype='<U1')]
    """

    def __init__(
        self,
        *,
        l2: float = 1.0,
        directed: bool = True,
        fit_intercept: bool = True,
        tol: float = 1e-4,
        max_iter: int = 1000,
        damping: float = 0.3,
        message_tol: float = 1e-4,
        max_sweeps: int = 100,
        n_jobs: int | None = None,
        dtype: Any = "float32",
        verbose: int = 0,
    ) -> None:
        self.l2 = l2
        self.directed = directed
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.damping = damping
        self.message_tol = message_tol
        self.max_sweeps = max_sweeps
        self.n_jobs = n_jobs
        self.dtype = dtype
        self.verbose = verbose

    def _solver(
        self, settings: GraphSettings, problem: Problem, loss: Loss
    ) -> Callable[[], Solution]:
        limits = settings.limits()
        return lambda: lbfgs(loss, problem.prior, threads=settings.n_jobs, **limits)
