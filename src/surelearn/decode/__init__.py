r"""Decode: reduces many classes to two-class problems, and turns margins into labels.

Must not know weights, rules or estimators: margins of the problems come in, scores of the classes
go out. A `Code` says which classes are positive, negative or left out in each problem;
`one_vs_rest`, `all_pairs`, `error_correcting` and `minimal_bits` return one. Each decoder takes a
code and the margins of rows, one column a problem, and returns a score for every class. The label
is the class with the largest score, the first of equals. A `Chain` decodes the labels of a
sequence.

>>> from surelearn.decode import error_correcting, hamming
>>> code = error_correcting(5)
>>> code.n_problems, code.dmin, code.errors_corrected
(15, 8, 3)
>>> word = code.matrix[[2]].astype(float)
>>> word[0, [1, 4, 9]] *= -1  # three problems answer wrongly
>>> hamming(code, word).argmax(axis=1)
array([2])
"""

from __future__ import annotations

from surelearn.decode._chain import Chain
from surelearn.decode._code import LABELS as LABELS  # shared with other rooms, not public
from surelearn.decode._code import (
    Code,
    all_pairs,
    columns_of,
    minimal_bits,
    one_vs_rest,
)
from surelearn.decode._decoders import (
    hamming,
    label_probabilities,
    loss_based,
    probability,
    scores,
    tournament,
    votes,
)
from surelearn.decode._design import default_length, error_correcting

__all__ = [
    "Chain",
    "Code",
    "all_pairs",
    "columns_of",
    "default_length",
    "error_correcting",
    "hamming",
    "label_probabilities",
    "loss_based",
    "minimal_bits",
    "one_vs_rest",
    "probability",
    "scores",
    "tournament",
    "votes",
]
