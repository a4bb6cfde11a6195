"""Costs as users write them, and answers of the least expected cost against loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from reference import decisions as slow
from surelearn.decide import ABSTAIN, cost_matrix, least_cost

MAIL = np.array(["ham", "spam"])
THREE = np.array([3, 5, 7])


def test_nothing_named_costs_one_for_each_mistake():
    assert cost_matrix({}, THREE).tolist() == (1 - np.eye(3)).tolist()


def test_pairs_cost_what_they_are_given():
    found = cost_matrix({(3, 5): 10, (5, 5): -2, (7, 3): 0.5}, THREE)
    assert found.tolist() == [[0, 10, 1], [1, -2, 1], [0.5, 1, 0]]
    assert cost_matrix({(np.int64(3), np.int64(5)): 10}, THREE)[0, 1] == 10


def test_the_price_of_no_answer():
    assert ABSTAIN is None
    assert cost_matrix({None: 0.2}, MAIL).tolist() == [[0, 1, 0.2], [1, 0, 0.2]]
    given = {None: 0.2, ("spam", None): 0.7, ("ham", "spam"): 9}
    assert cost_matrix(given, MAIL).tolist() == [[0, 9, 0.2], [1, 0, 0.7]]
    assert cost_matrix({("ham", None): 1, ("spam", None): 2}, MAIL)[:, 2].tolist() == [1, 2]


@given(st.permutations([(None, 3.0), (("ham", None), 1.0), (("ham", "spam"), 5.0)]))
def test_the_order_of_a_dict_does_not_matter(items):
    assert cost_matrix(dict(items), MAIL).tolist() == [[0, 5, 1], [1, 0, 3]]


@pytest.mark.parametrize("columns", [3, 4])
def test_a_matrix_stays_as_it_is(columns):
    matrix = np.arange(3.0 * columns).reshape(3, columns)
    assert cost_matrix(matrix.tolist(), THREE).tolist() == matrix.tolist()
    assert cost_matrix(np.asfortranarray(matrix), THREE).flags.c_contiguous


@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (3, 5), (3,), (3, 3, 1), (0, 0)])
def test_a_matrix_of_another_shape_is_refused(shape):
    message = (
        r"^cost must be of shape \(3, 3\), or \(3, 4\) with the price of no answer in the last "
        r"column, for classes 3, 5, 7, got shape \("
    )
    with pytest.raises(ValueError, match=message):
        cost_matrix(np.zeros(shape), THREE)


def test_many_classes_are_not_all_listed():
    with pytest.raises(ValueError, match=r"for classes 0, 1, 2, 3, 4, 5, \.\.\., got shape"):
        cost_matrix(np.zeros((2, 2)), np.arange(7))
    with pytest.raises(ValueError, match=r"beside 0, 1, 2, 3, 4, 5, \.\.\.\.$"):
        cost_matrix({(0, 9): 1}, np.arange(7))
    with pytest.raises(ValueError, match=r"beside 0, 1, 2, 3, 4, 5\.$"):
        cost_matrix({(0, 9): 1}, np.arange(6))


@pytest.mark.parametrize(
    ("cost", "error", "message"),
    [
        ({("ham", "eggs"): 1}, ValueError, "got the answer 'eggs' beside 'ham', 'spam'"),
        ({("eggs", "ham"): 1}, ValueError, "got the true label 'eggs' beside"),
        ({("eggs", None): 1}, ValueError, "got the true label 'eggs' beside"),
        ({(None, "ham"): 1}, ValueError, "got the true label None beside"),
        ({"ham": 1}, TypeError, r"pairs \(true label, answer\) as keys, got 'ham'"),
        ({"ab": 1}, TypeError, "as keys, got 'ab'"),
        ({("ham", "spam", 2): 1}, TypeError, "as keys, got"),
        ({("ham", None): 1}, ValueError, "price of no answer for all true labels.*'spam'.*None: p"),
        ({("ham", "spam"): "much"}, TypeError, r"cost\[\('ham', 'spam'\)\] must be a number"),
        ({("ham", "spam"): True}, TypeError, "must be a number, got True"),
        ({None: np.nan}, ValueError, r"cost\[None\] must be in \(-1e30, 1e30\), got nan"),
        ({None: np.inf}, ValueError, "got inf"),
        ([[0, np.nan], [1, 0]], ValueError, "cost must be finite, got nan"),
        ("cheap", TypeError, "cost must be an array of numbers"),
        (None, TypeError, "cost must be an array of numbers, got None"),
    ],
)
def test_costs_that_cannot_be(cost, error, message):
    with pytest.raises(error, match=message):
        cost_matrix(cost, MAIL)


def eighths(shape, low):
    return hnp.arrays(np.float64, shape, elements=st.integers(low, 8).map(lambda k: k / 8))


@given(st.data(), st.integers(0, 5), st.integers(1, 4), st.booleans())
def test_the_least_cost_by_loops(data, n, K, abstain):
    """Of eighths, sums of which are exact, so that many answers tie."""
    p, cost = data.draw(eighths((n, K), 0)), data.draw(eighths((K, K + abstain), -8))
    assert least_cost(p, cost).tolist() == [slow.least_cost(q, cost.tolist()) for q in p.tolist()]


def test_equal_costs_answer_the_most_probable_label():
    p = np.random.default_rng(0).dirichlet(np.ones(6), 200)
    assert (least_cost(p, 1 - np.eye(6)) == p.argmax(axis=1)).all()


def test_no_answer_where_every_answer_is_too_dear():
    """Chow's rule: none where the largest probability is below 1 - price."""
    p = np.array([[0.75, 0.25], [0.6, 0.4], [0.1, 0.9], [0.5, 0.5]])
    assert least_cost(p, cost_matrix({None: 0.3}, MAIL)).tolist() == [0, 2, 1, 2]
    assert least_cost(p, cost_matrix({None: 0.5}, MAIL)).tolist() == [
        0,
        0,
        1,
        0,
    ]  # answers win ties
    assert least_cost(p, cost_matrix({None: -1}, MAIL)).tolist() == [2, 2, 2, 2]


@given(st.data(), st.integers(1, 4))
def test_scaled_costs_and_costs_of_a_true_label_change_no_answer(data, K):
    p, cost = data.draw(eighths((5, K), 0)), data.draw(eighths((K, K), -8))
    assert (least_cost(p, 4 * cost) == least_cost(p, cost)).all()
    assert (least_cost(p, cost + np.arange(K)[:, None]) == least_cost(p, cost)).all()


def test_dear_mistakes_are_avoided():
    random = np.random.default_rng(1)
    p = random.dirichlet(np.ones(3), 2000)
    y = (p.cumsum(axis=1) < random.random((2000, 1))).sum(axis=1)
    cost = np.array([[0, 1, 9], [4, 0, 1], [1, 2, 0]])
    paid = cost[y, least_cost(p, cost)].mean()
    assert paid < cost[y, p.argmax(axis=1)].mean() - 0.1
    assert paid == pytest.approx((p @ cost).min(axis=1).mean(), abs=0.1)


def test_a_row_alone_has_the_answer_that_it_has_among_others():
    random = np.random.default_rng(0)
    for K in range(2, 12):
        p = random.dirichlet(np.ones(K), 200).round(1)
        cost = random.integers(0, 3, (K, K)).astype(float)
        alone = np.concatenate([least_cost(p[[i]], cost) for i in range(len(p))])
        np.testing.assert_array_equal(least_cost(p, cost), alone)


def test_a_frame_must_have_the_classes_in_their_order():
    import pandas

    costs, classes = [[0, 50], [1, 0]], np.array(["c0", "c1"])
    for names in (["c0", "c1"], [0, 1]):
        frame = pandas.DataFrame(costs, index=names, columns=names)
        np.testing.assert_array_equal(cost_matrix(frame, classes), costs)
    turned = pandas.DataFrame(costs, index=["c1", "c0"], columns=["c1", "c0"])
    with pytest.raises(ValueError, match=r"cost must have the classes 'c0', 'c1' as its index"):
        cost_matrix(turned, classes)
