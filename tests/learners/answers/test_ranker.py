"""What a ranker answers: the best candidate, ranks, leads, probabilities, explanations."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from scipy.special import ndtr
from sklearn.exceptions import NotFittedError

from ranked import candidates
from surelearn import SureRanker, load, rules


@pytest.fixture(scope="module")
def fitted():
    X, y, group = candidates(80)
    return SureRanker(random_state=0, dtype="float64").fit(X, y, group=group)


def test_answers_agree_with_the_scores(fitted):
    X, _, group = candidates(30, seed=1)
    scores = fitted.decision_function(X)
    np.testing.assert_allclose(scores, X @ fitted.coef_, rtol=1e-12)
    ranks, best = fitted.rank(X, group=group), fitted.predict(X, group=group)
    mean, variance = fitted.margin(X, group=group)
    for i, (a, b) in enumerate(pairwise(np.concatenate([[0], np.cumsum(group)]))):
        order = np.argsort(-scores[a:b], kind="stable")
        assert ranks[i].tolist() == order.tolist()
        assert best[i] == order[0]
        first, second = a + order[:2]
        assert mean[i] == pytest.approx(scores[first] - scores[second])
        g = X[first] - X[second]
        assert variance[i] == pytest.approx(fitted.sigma_ @ g**2)


def test_two_candidates_have_the_probability_of_their_margin(fitted):
    X, _, _ = candidates(30, seed=2, size=2)
    pairs = [2] * (len(X) // 2)
    p = fitted.predict_proba(X, group=pairs).reshape(-1, 2)
    mean, variance = fitted.margin(X, group=pairs)
    noise = rules.get(fitted.rule).label_noise
    np.testing.assert_allclose(p.max(axis=1), ndtr(mean / np.sqrt(variance + noise)), rtol=1e-9)
    assert (p.argmax(axis=1) == fitted.predict(X, group=pairs)).all()


def test_without_groups_all_rows_are_one(fitted):
    X, _, _ = candidates(3, seed=3)
    assert fitted.predict(X).tolist() == [fitted.decision_function(X).argmax()]
    assert fitted.predict_proba(X).sum() == pytest.approx(1.0)
    (ranks,) = fitted.rank(X)
    assert sorted(ranks.tolist()) == list(range(len(X)))


def test_small_groups(fitted):
    X, _, _ = candidates(3, seed=3)
    group = [1, 0, len(X) - 1]
    assert fitted.predict(X, group=group)[:2].tolist() == [0, -1]
    mean, variance = fitted.margin(X, group=group)
    assert mean[:2].tolist() == [np.inf, np.inf]
    assert variance[:2].tolist() == [0.0, 0.0]
    assert fitted.predict_proba(X, group=group)[0] == 1.0
    assert [len(own) for own in fitted.rank(X, group=group)] == group


def test_the_first_of_equals_is_the_best(fitted):
    assert fitted.predict(np.zeros((3, 6)), group=[3]).tolist() == [0]
    assert fitted.rank(np.zeros((3, 6)), group=[3])[0].tolist() == [0, 1, 2]


@pytest.mark.parametrize("jobs", [1, 2])
def test_threads_change_no_bit(fitted, jobs):
    X, _, group = candidates(200, seed=4)
    other = SureRanker(n_jobs=jobs, dtype="float64", random_state=0)
    train, y, sizes = candidates(80)
    other.fit(train, y, group=sizes)
    assert other.predict_proba(X, group=group).tobytes() == (
        fitted.predict_proba(X, group=group).tobytes()
    )


def test_first_order_rules_have_no_probabilities():
    X, y, group = candidates()
    ranker = SureRanker("pa").fit(X, y, group=group)
    assert ranker.predict(X, group=group).shape == (60,)
    for name in ("margin", "predict_proba", "sigma_"):
        assert not hasattr(ranker, name)


def test_it_explains_weights_and_rows(fitted):
    table = fitted.explain(top=2, names=list("abcdef"))
    assert table.columns == ("feature", "mean", "deviation", "probability")
    assert table.feature[0] == "a"
    row = np.array([1.0, 0, 0, 2.0, 0, 0])
    for one in (row, row[None], sparse.csr_array(row[None])):
        own = fitted.explain(one)
        assert sorted(own.feature) == ["x0", "x3"]
        assert own.margin.sum() == pytest.approx(fitted.decision_function(row[None])[0])
        assert own.variance.sum() == pytest.approx(fitted.sigma_ @ row**2)
    with pytest.raises(ValueError, match="row must be one row"):
        fitted.explain(np.ones((2, 6)))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((2, 5)), "5 features, but SureRanker is expecting 6 features"),
        ([[1, 1, 1, 1, 1, np.nan]], "X must be finite, got NaN or infinity in row 0"),
    ],
)
def test_rows_that_make_no_sense(fitted, X, message):
    with pytest.raises(ValueError, match=message):
        fitted.predict(X)


def test_before_fit():
    for name in ("predict", "rank", "decision_function", "margin", "predict_proba"):
        with pytest.raises(NotFittedError, match="SureRanker instance is not fitted"):
            getattr(SureRanker(), name)([[1.0]])
    with pytest.raises(NotFittedError, match="coef_ must be learnt first"):
        SureRanker().coef_  # noqa: B018


def log_loss(ranker, X, y, group):
    """Of the probability that a right candidate is the best."""
    p = ranker.predict_proba(X, group=group)
    ends = np.cumsum(group)
    worth = np.split(np.asarray(y), ends[:-1])
    own = [q[w == w.max()].sum() for q, w in zip(np.split(p, ends[:-1]), worth, strict=True)]
    return -np.log(np.maximum(own, 5e-4)).mean()


@pytest.mark.parametrize("rule", [rules.AROW(r=100.0), rules.AROW(r=0.1), rules.Probit(noise=0.1)])
def test_calibration_lowers_the_log_loss_of_new_groups(rule, tmp_path):
    ranker = SureRanker(rule, random_state=0).fit(*(known := candidates(300))[:2], group=known[2])
    before, ranks = log_loss(ranker, *(new := candidates(300, seed=5))), ranker.rank(new[0])
    held = candidates(300, seed=4)
    assert ranker.calibrate(held[0], held[1], group=held[2]) is ranker
    assert log_loss(ranker, *new) < before
    assert np.array_equal(ranker.rank(new[0]), ranks)
    ranker.save(tmp_path / "ranker.sure")
    again = load(tmp_path / "ranker.sure")
    assert again.temperature_ == ranker.temperature_
    assert log_loss(again, *new) == log_loss(ranker, *new)
    ranker.partial_fit(held[0], held[1], group=held[2])
    assert ranker.temperature_ == again.temperature_
    assert not hasattr(ranker.fit(held[0], held[1], group=held[2]), "temperature_")


def test_the_temperature_is_that_of_the_least_loss(fitted):
    held = candidates(200, seed=4)
    ranker = SureRanker(random_state=0).fit(held[0], held[1], group=held[2])
    found = ranker.calibrate(held[0], held[1], group=held[2]).temperature_
    least = log_loss(ranker, *held)
    for factor in (0.5, 0.8, 1.25, 2.0):
        ranker.temperature_ = factor * found
        assert log_loss(ranker, *held) > least - 1e-3


def test_calibration_needs_groups_that_tell(fitted):
    with pytest.raises(ValueError, match="calibrate needs at least one group with a right and a"):
        fitted.calibrate(np.ones((3, fitted.n_features_in_)), [1, 1, 0], group=[2, 1])
    with pytest.raises(AttributeError, match="calibrate"):
        _ = SureRanker("pa1").calibrate


@pytest.mark.parametrize("n", [3, 4, 7])
def test_equal_candidates_share_the_probability(fitted, n):
    p = fitted.predict_proba(np.ones((n, fitted.n_features_in_)))
    np.testing.assert_allclose(p, 1 / n, atol=1e-12)


def test_few_groups_leave_the_temperature_near_one(fitted):
    X, y, group = candidates(2, seed=4)
    ranker = SureRanker(random_state=0).fit(X, y, group=group)
    assert 0.3 < ranker.calibrate(X, y, group=group).temperature_ < 3.0


def test_explaining_a_row_leaves_it_as_it_was(fitted):
    indices, data = np.array([3, 0, 3, 5]), np.array([1.0, 1.0, 1.0, 0.0])
    row = sparse.csr_array((data.copy(), indices.copy(), np.array([0, 4])), shape=(1, 6))
    own = fitted.explain(row)
    assert sorted(own.feature) == ["x0", "x3"]
    assert own.value.tolist() == [{"x0": 1.0, "x3": 2.0}[name] for name in own.feature]
    assert row.indices.tolist() == indices.tolist()
    assert row.data.tolist() == data.tolist()


def test_a_row_to_explain_must_be_finite(fitted):
    row = np.array([1.0, np.nan, 0, 0, 0, 0])
    for one in (row, sparse.csr_array(row[None])):
        with pytest.raises(ValueError, match="must be finite, got NaN or infinity"):
            fitted.explain(one)
