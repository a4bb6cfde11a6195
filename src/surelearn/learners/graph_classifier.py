"""SureGraphClassifier: labels of the nodes of graphs, learnt online."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from surelearn import rules
from surelearn.learners.answers.graphs import GraphAnswers
from surelearn.learners.deciding import fit_certified
from surelearn.learners.online import Online
from surelearn.learners.tasks.graphs import GraphModel, GraphTrainable, LabelledGraphs


class SureGraphClassifier(GraphAnswers, Online[GraphModel]):
    r"""Classifier of the nodes of graphs that keeps a Gaussian over its weights.

    .. math:: \hat y = \arg\max_z \mu \cdot \Psi(x, z), \qquad
        \Psi(x, z) = \sum_i \Psi(x_i, z_i) + \sum_{(a, b) \in E} \Psi(x_{ab}, z_a, z_b), \qquad
        g = \Psi(x, y) - \Psi(x, \hat y)

    and then the update of `SureClassifier` with this g. A node has a weight for each feature and
    label; an edge has one for each feature and pair of labels, and one for each pair of labels
    alone. All nodes and edges of all graphs share them. Rules that ask for a margin (PA, AROW,
    NHERD) are shown the labelling that is best with a cost of 1 for each wrong label, and asked for
    as much margin as it has wrong labels. The others are shown the best wrong labelling; the
    perceptron learns from mistakes only.

    Labellings are found by `surelearn.graph`: exactly on forests, approximately on graphs with
    loops.

    Parameters
    ----------
    rule : str, rule or function, default "arow"
        As in `SureClassifier`. A margin that grows with the number of wrong labels suits graphs of
        many nodes, few graphs, and labels some of which are wrong.
    constraints : str or constraints, default "single"
        ``"single"``: learn from the best wrong labelling. ``constraints.Sequential(k)``: from the k
        best, one after the other.
    directed : bool, default True
        Whether an edge from label i to label j has another weight than one from j to i.
    fit_intercept : bool, default True
        Whether each label has a weight for every node.
    projection : {"auto", "precision", "covariance"}, default "auto"
        Which off-diagonal part an update drops. ``"auto"``: ``"precision"`` for sparse nodes,
        ``"covariance"`` for dense ones.
    passes : int, default 5
        Passes over the data in `fit`.
    shuffle : bool, default True
        Whether `fit` goes through the graphs in a new random order in each pass.
    initial_variance : float > 0, default 1
        Variance of every weight before the first graph.
    average : bool, default True
        Whether predictions use the mean of all weight vectors over all rounds, a graph each.
    damping : float in [0, 1), default 0.3
    tol : float > 0, default 1e-3
    max_sweeps : int, default 50
        How messages are sent on graphs with loops, in training and in predictions; see
        `graph.FactorGraph.max_product`.
    n_shards : int, default 1
        Parts that the graphs of `fit` are dealt to, learnt apart and merged. It changes the result,
        `n_jobs` never does.
    combine : {"evidence", "bayes", "weighted", "kl", "uniform"}, default "evidence"
    merge_every : int or None, default 1
        How shards are merged, and after how many passes, as in `SureClassifier`.
    n_jobs : int or None, default None
        Threads for shards and for predictions of many graphs, as in `SureClassifier`. Changes no
        result.
    dtype : {"float32", "float64"}, default "float32"
        How weights are kept. Arithmetic is always in double.
    random_state : int, RandomState or None, default None
        Order of the graphs in `fit`.
    verbose : int, default 0
        1 prints a line for each pass.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Known labels, sorted.
    coef_, sigma_ : ndarray of shape (n_labels, n_features)
        Means of the weights of nodes, and their variances (second-order rules only).
    intercept_, intercept_sigma_ : ndarray of shape (n_labels,)
    pairwise_, pairwise_sigma_ : ndarray of shape (1 + n_edge_features, n_labels, n_labels)
        The same for pairs of labels, of the first node and of the second: of every edge first, then
        of each feature or type.
    n_features_in_ : int
    edge_types_ : ndarray
        Types of edges, sorted; where edges have types.
    projection_ : {"precision", "covariance"}
    n_updates_ : int
        Graphs that moved the weights.
    n_iter_ : int
        Passes made; all calls of `partial_fit` count as one.
    mistakes_ : ndarray of int
        Graphs whose best labelling was not the right one before their update, one entry a pass.
    temperature_ : float
        After `calibrate`: what scores are divided by before they become probabilities.

    References
    ----------
    Taskar, Guestrin & Koller 2003, Max-margin Markov networks. Finley & Joachims 2008, Training
    structural SVMs when exact inference is intractable.

    Examples
    --------
    >>> from surelearn import SureGraphClassifier
    >>> from surelearn.graph import Graph, tree
    >>> edges = tree([-1, 0, 1])
    >>> X = [Graph([[1.0], [0.0], [0.0]], edges), Graph([[-1.0], [0.0], [0.0]], edges)]
    >>> y = [["a", "a", "a"], ["b", "b", "b"]]
    >>> clf = SureGraphClassifier(random_state=0).fit(X, y)
    >>> clf.predict([Graph([[0.0], [0.0], [2.0]], edges)])
    [array(['a', 'a', 'a'], dtype='<U1')]
    >>> clf.predict([Graph([[0.0], [0.0], [0.0]], edges)], fixed=[{1: "b"}])
    [array(['b', 'b', 'b'], dtype='<U1')]
    """

    def __init__(
        self,
        rule: str | rules.Rule | Callable[[float, float], Any] = "arow",
        *,
        constraints: Any = "single",
        directed: bool = True,
        fit_intercept: bool = True,
        projection: str = "auto",
        passes: int = 5,
        shuffle: bool = True,
        initial_variance: float = 1.0,
        average: bool = True,
        damping: float = 0.3,
        tol: float = 1e-3,
        max_sweeps: int = 50,
        n_shards: int = 1,
        combine: str = "evidence",
        merge_every: int | None = 1,
        n_jobs: int | None = None,
        dtype: Any = "float32",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.rule = rule
        self.constraints = constraints
        self.directed = directed
        self.fit_intercept = fit_intercept
        self.projection = projection
        self.passes = passes
        self.shuffle = shuffle
        self.initial_variance = initial_variance
        self.average = average
        self.damping = damping
        self.tol = tol
        self.max_sweeps = max_sweeps
        self.n_shards = n_shards
        self.combine = combine
        self.merge_every = merge_every
        self.n_jobs = n_jobs
        self.dtype = dtype
        self.random_state = random_state
        self.verbose = verbose

    # ----------------------------------------------------------------- learning

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, risk: Any = None, delta: float = 0.1
    ) -> Self:
        """Learn from scratch, in `passes` passes.

        Parameters
        ----------
        X : list of graph.Graph
            All with the same features of nodes, and of edges.
        y : list of lists of labels
            One label for each node.
        sample_weight : array of shape (n_graphs,), optional
            Graphs of weight 0 are left out before anything else.
        risk, delta : optional
            Keep a fifth of the graphs back, at random, to certify that at most a share `risk` of
            labels is wrong where ``predict(X, abstain=True)`` answers; see `choose_abstention`.
            These graphs are never learnt. `predict_set` uses them as well.

        Returns
        -------
        self
            On an error the model is as it was before the call.
        """
        if risk is not None:
            return fit_certified(self, X, y, sample_weight, risk=risk, delta=delta)
        block = LabelledGraphs.of(X, y, sample_weight)
        block.check_fit()
        trainable = GraphTrainable(self._settings_for(), same_space=True)
        self._train(trainable, block, what="graphs")
        self._take_trained(trainable.model)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go on learning: one pass over these graphs, in their order.

        Labels and types of edges that are new are known from the first of these graphs on.

        Parameters
        ----------
        X : list of graph.Graph
        y : list of lists of labels
        classes : array, optional
            Labels to know from now on.
        sample_weight : array of shape (n_graphs,), optional

        Returns
        -------
        self
            Where the input is refused, the model is as it was. Where one graph's update would leave
            no usable model, those before it are kept and the error names it.
        """
        block = LabelledGraphs.of(X, y, sample_weight)
        return self._go_on_with_structures(block, GraphTrainable, classes)
