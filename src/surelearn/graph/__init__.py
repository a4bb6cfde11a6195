"""Graphs of nodes with labels: the best labels and their probabilities by messages along edges.

Must not know weights or estimators. A `FactorGraph` has a score for each label of each node and for
each pair of labels of two joined nodes; `max_product` finds the best labelling and `sum_product`
the probability of each label. Both are exact on trees. A `Graph` has features instead of scores: it
is what `SureGraphClassifier` learns from. `grid` and `tree` list the edges of two common shapes.

>>> from surelearn.graph import FactorGraph, tree
>>> alike = [[1.0, 0.0], [0.0, 1.0]]
>>> factors = FactorGraph([[0.0, 2.0], [0.5, 0.0], [0.5, 0.0]], tree([-1, 0, 0]), alike)
>>> factors.max_product().labels
array([1, 1, 1], dtype=int32)
>>> factors.sum_product().marginals[0].round(3)
array([0.176, 0.824])
"""

from __future__ import annotations

from surelearn.graph._factors import BestLabelling, FactorGraph, GraphReport, Marginals
from surelearn.graph._shapes import Graph, grid, tree

__all__ = ["BestLabelling", "FactorGraph", "Graph", "GraphReport", "Marginals", "grid", "tree"]
