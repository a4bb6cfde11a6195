"""Decisions with finite-sample promises, from scores and losses; must not know models.

The estimators call these functions from `choose_abstention`, `predict_set`, `predict(cost=)` and
`novelty`.
"""

from surelearn.decide.bounds import binomial_upper_bound, fewest_rows, mean_upper_bound
from surelearn.decide.costs import ABSTAIN, cost_matrix, least_cost
from surelearn.decide.curves import RiskCoverage, compare_areas, risk_coverage
from surelearn.decide.novelty import NOVELTY_SCORES, Novelty, novelty_of
from surelearn.decide.selection import (
    Certified,
    Selection,
    fewest_to_split,
    select,
    split,
    too_few,
)
from surelearn.decide.sets import SET_SCORES, Right, SetEvidence, label_sets, nonconformity

__all__ = [
    "ABSTAIN", "NOVELTY_SCORES", "SET_SCORES", "Certified", "Novelty", "Right", "RiskCoverage",
    "Selection", "SetEvidence", "binomial_upper_bound", "compare_areas", "cost_matrix",
    "fewest_rows", "fewest_to_split", "label_sets", "least_cost", "mean_upper_bound",
    "nonconformity", "novelty_of", "risk_coverage", "select", "split", "too_few",
]  # fmt: skip
