"""The base class of batch classifiers of graphs: graphs to a loss, its solution to a model."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, _core
from surelearn.learners.answers.graphs import GraphAnswers
from surelearn.learners.batch import BatchEstimator, Cells
from surelearn.learners.deciding import fit_certified
from surelearn.learners.tasks.graphs import EncodedGraphs, GraphModel, LabelledGraphs, encode_block
from surelearn.solvers import Interrupted, Prior, Solution, laplace


class Problem(NamedTuple):
    """Graphs to learn, in the form of the core, and the model that takes the solution."""

    model: GraphModel
    block: EncodedGraphs
    data: _core.GraphArrays
    prior: Prior

    def loss(self) -> _core.GraphLoss:
        return _core.GraphLoss(self.data, self.block.y, self.block.weight, len(self.model.classes))

    def take(self, loss: _core.GraphLoss, w: NDArray[np.float64], threads: int) -> GraphModel:
        """The model with a solution as means, and the variances of Laplace's approximation."""
        weights, n_rows = _check.trained(self.model.weights, "fit"), self.model.layout.n_features
        cells = Cells.all(n_rows, len(self.model.classes))
        cells.write(weights, np.arange(n_rows), w, laplace(loss, self.prior, w, threads))
        return self.model


class BatchGraphs(GraphAnswers, BatchEstimator[GraphModel]):
    """A classifier of graphs that minimises a loss over all of them at once."""

    @abstractmethod
    def _solver(self, settings: Any, problem: Problem, loss: Any) -> Callable[[], Solution]:
        """What minimises the loss."""

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, risk: Any = None, delta: float = 0.1
    ) -> Self:
        """Minimise the loss over these graphs.

        Parameters
        ----------
        X : list of graph.Graph
            All with the same features of nodes, and of edges.
        y : list of lists of labels
            One label for each node.
        sample_weight : array of shape (n_graphs,), optional
            Factors of the losses; graphs of weight 0 are left out before anything else.
        risk, delta : optional
            Keep a fifth of the graphs back, at random, to certify that at most a share `risk` of
            labels is wrong where ``predict(X, abstain=True)`` answers; see `choose_abstention`.
            These graphs are never learnt. `predict_set` uses them as well.

        Returns
        -------
        self
            On an error the model is as it was before the call. At Ctrl-C it is the best that was
            found so far, and KeyboardInterrupt is raised. A `ConvergenceWarning` tells on how many
            graphs messages have not converged at the solution.
        """
        if risk is not None:
            return fit_certified(self, X, y, sample_weight, risk=risk, delta=delta)
        settings = self._settings_for()
        block = LabelledGraphs.of(X, y, sample_weight)
        block.check_fit()
        model, encoded = encode_block(settings, None, block)
        _check.cost_fits(vars(settings).get("cost"), model.classes)
        data = model.data(encoded.table, settings.messages, settings.n_jobs)
        self._learn(settings, Problem(model, encoded, data, Prior(None, settings.precision)))
        known = np.full(len(encoded.y), -1, np.int32)
        how = {"temperature": 1.0, "threads": settings.n_jobs}
        self._reported(model.marginals(encoded.table, settings.messages, known, **how)[1])
        return self

    def _learn(self, settings: Any, problem: Problem) -> None:
        loss = problem.loss()

        def take(solution: Solution) -> None:
            self._model = problem.take(loss, solution.w, settings.n_jobs)
            self._forget()

        solve = self._solver(settings, problem, loss)
        if not problem.block.table.is_forest:
            solve = partial(_without_gap, solve)
        self._minimise(solve, take, settings.max_iter)


def _without_gap(solve: Callable[[], Solution]) -> Solution:
    """The solution of an approximate loss, of which no gap is known."""
    try:
        return solve()._replace(gap=None)
    except Interrupted as stopped:
        raise Interrupted(stopped.solution._replace(gap=None)) from None
