"""What fitted learners decide: to abstain, sets of labels, costs, novelty; knows no algorithm.

`Estimator` takes functions of this room as its methods. A kind of learner gives a `View` of
records, which says how its answers are made, judged and shown.
"""

from surelearn.learners.deciding.abstention import Decided, choose_abstention, decide, decided
from surelearn.learners.deciding.batch import PLAIN, DecisionOptions, Given, given
from surelearn.learners.deciding.keeping import Wanted, certify, certify_stream, fit_certified
from surelearn.learners.deciding.sets import choose_novelty, choose_sets, novelty, predict_set
from surelearn.learners.deciding.state import (
    Abstention,
    coverage_,
    decisions_of,
    n_certified_,
    promise_of,
    put_decisions,
    risk_bound_,
)
from surelearn.learners.deciding.view import SURENESS, Places, View

__all__ = [
    "PLAIN",
    "SURENESS",
    "Abstention",
    "Decided",
    "DecisionOptions",
    "Given",
    "Places",
    "View",
    "Wanted",
    "certify",
    "certify_stream",
    "choose_abstention",
    "choose_novelty",
    "choose_sets",
    "coverage_",
    "decide",
    "decided",
    "decisions_of",
    "fit_certified",
    "given",
    "n_certified_",
    "novelty",
    "predict_set",
    "promise_of",
    "put_decisions",
    "risk_bound_",
]  # fmt: skip
