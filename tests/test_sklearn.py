"""scikit-learn's own checks on every estimator with every rule."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from surelearn import SureClassifier, rules

_ORDER = (
    "an online learner takes one step for a row of weight 2 and two for the row repeated; "
    "design: weights scale the rule's own trade-off"
)
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": _ORDER,
    "check_sample_weight_equivalence_on_sparse_data": _ORDER,
}
_PROBABILITY = (
    "the probability is that of the margin over its standard deviation, which differs from row to "
    "row, so it need not rank rows as the margin does"
)


def estimators():
    """Rules that learn means only get the many passes the checks give to others as max_iter."""
    for name, rule in rules.RULES.items():
        yield SureClassifier(name, passes=100 if rule().first_order else 5)


def expected_failures(estimator):
    if rules.get(estimator.rule).first_order:
        return EXPECTED_FAILURES
    return EXPECTED_FAILURES | {"check_decision_proba_consistency": _PROBABILITY}


@pytest.mark.filterwarnings("default")
@parametrize_with_checks(list(estimators()), expected_failed_checks=expected_failures)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)
