"""Solvers of batch losses: they minimise any loss of the core over weights; know no labels.

.. math:: \\min_w \\sum_i weight_i \\, loss_i(w) + \\tfrac12 \\sum_j \\lambda_j (w_j - m_j)^2
    + l_1 \\lVert w \\rVert_1
"""

from surelearn.solvers._collinear import Joined
from surelearn.solvers._frank_wolfe import Machine, frank_wolfe
from surelearn.solvers._lbfgs import lbfgs
from surelearn.solvers._objective import (
    Interrupted,
    Loss,
    Prior,
    Progress,
    Report,
    Solution,
    laplace,
    printed,
)
from surelearn.solvers._stochastic import stochastic

__all__ = [
    "Interrupted",
    "Joined",
    "Loss",
    "Machine",
    "Prior",
    "Progress",
    "Report",
    "Solution",
    "frank_wolfe",
    "laplace",
    "lbfgs",
    "printed",
    "stochastic",
]
