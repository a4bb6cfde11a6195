"""scikit-learn's own checks on every estimator with every rule."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import check_classifiers_train, parametrize_with_checks

from surelearn import (
    MulticlassSVM,
    SoftmaxClassifier,
    SureClassifier,
    SureKernelClassifier,
    constraints,
    rules,
)

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


_NEAR_TIES = (
    "predict goes by the mean scores, which near a tie need not name the most probable label; "
    "the rest of this check is run below"
)


def of_every_kind():
    """Each way to learn once: variances or none, full, many constraints, a code, shards."""
    yield SureClassifier(passes=10)
    yield SureClassifier("pa1", constraints=constraints.Exact(), passes=100)
    yield SureClassifier("stdev", covariance="full", dtype="float64", passes=5)
    yield SureClassifier("scw1", multiclass="ecoc")
    yield SureClassifier(n_shards=2)
    yield SoftmaxClassifier()
    yield MulticlassSVM()
    yield SureKernelClassifier()


def all_others():
    """Rules that learn means only get the many passes the checks give to others as max_iter."""
    for name, rule in rules.RULES.items():
        yield SureClassifier(name, passes=100 if rule().first_order else 10)
    yield SureClassifier("arow", covariance="full", constraints="parallel")
    yield SureClassifier("scw1", constraints=constraints.Sequential())
    yield SureClassifier(rules.Variance(phi=0.1), constraints=constraints.Exact())
    for reduction in ("ovr", "ovo"):
        yield SureClassifier("scw1", multiclass=reduction)
    yield SureClassifier("pa1", n_shards=2, combine="uniform", merge_every=10, passes=100)
    yield SoftmaxClassifier(moderated=True)
    yield SoftmaxClassifier(l1=0.1)
    yield SoftmaxClassifier(solver="sgd", tol=1e-3)
    yield MulticlassSVM(C=0.1, solver="sgd")
    yield SureKernelClassifier("arow", kernel="linear", multiclass="ovo")
    yield SureKernelClassifier("probit", kernel="cosine", budget=None)
    yield SureKernelClassifier("stdev", budget=20)
    yield SureKernelClassifier("pa1", kernel="poly", degree=2, passes=100)


def expected_failures(estimator):
    if not hasattr(estimator, "rule"):
        return expected_of_batch(estimator)
    if rules.get(estimator.rule).first_order or isinstance(estimator, SureClassifier):
        return EXPECTED_FAILURES
    return EXPECTED_FAILURES | {
        "check_decision_proba_consistency": _PROBABILITY,
        "check_classifiers_train": _NEAR_TIES,
    }


_NEAR_OPTIMUM = "it visits rows in random order, and comes as near to the optimum as tol says"
_PENALTY = "partial_fit refuses l1, which cannot be carried on as a Gaussian"


def expected_of_batch(estimator):
    if isinstance(estimator, MulticlassSVM) or estimator.solver == "sgd":
        return dict.fromkeys(EXPECTED_FAILURES, _NEAR_OPTIMUM)
    checks = ("check_fit_score_takes_y", "check_n_features_in_after_fitting",
              "check_estimators_partial_fit_n_features")  # fmt: skip
    return dict.fromkeys(checks, _PENALTY) if estimator.l1 else {}


@pytest.mark.filterwarnings("default")
@parametrize_with_checks(list(of_every_kind()), expected_failed_checks=expected_failures)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@parametrize_with_checks(list(all_others()), expected_failed_checks=expected_failures)
def test_scikit_learn_accepts_all_others(estimator, check):
    if check.func.__name__ == "check_classifiers_multilabel_output_format_predict_proba":
        first_order = rules.get(estimator.rule).first_order
        assert hasattr(estimator, "predict_proba") != first_order
        if first_order:  # nothing to check; scikit-learn would skip it
            return
    check(estimator)


class ByMeans(SureKernelClassifier):
    """The classifier without the probabilities that may name another label."""

    def __getattribute__(self, name):
        if name in ("predict_proba", "predict_log_proba"):
            raise AttributeError(name)
        return super().__getattribute__(name)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("readonly", [False, True])
def test_scikit_learn_accepts_how_kernels_train(readonly):
    check_classifiers_train("ByMeans", ByMeans(), readonly_memmap=readonly)
