"""Lists of labellings give sums and probabilities by definition."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.papers.lecture.enumeration import Enumerated, path_edges


def test_two_nodes_by_hand():
    U = np.array([[0.0, 1.0], [2.0, 0.0]])
    A = np.array([[[0.0, 0.0], [0.0, 3.0]]])
    found = Enumerated.of(U, A, path_edges(2))
    assert found.labels.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert found.scores.tolist() == [2.0, 0.0, 3.0, 4.0]
    weights = np.exp(found.scores)
    assert found.log_partition == pytest.approx(np.log(weights.sum()))
    p = weights / weights.sum()
    assert found.marginals() == pytest.approx(
        np.array([[p[0] + p[1], p[2] + p[3]], [p[0] + p[2], p[1] + p[3]]])
    )
    assert found.pair_marginals() == pytest.approx(p.reshape(1, 2, 2))


def test_an_edge_has_a_table_of_its_own():
    U, A = np.zeros((3, 2)), np.zeros((2, 2, 2))
    A[1, 0, 1] = 5.0
    edges = np.array([[0, 1], [2, 0]])
    found = Enumerated.of(U, A, edges)
    assert found.scores[found.scores == 5.0].size == 2
    assert found.labels[found.scores == 5.0][:, [2, 0]].tolist() == [[0, 1], [0, 1]]
