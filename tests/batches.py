"""What tests of the batch losses share: drawn chains as arrays, costs, finite differences."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import strategies
from reference.losses import Chain

TOKENS, PAIRS = "abcd", "pq"


@st.composite
def chain_sets(draw, max_sequences=4, max_labels=3):
    """A few chains, empty ones among them, with or without pair features; and how many labels."""
    pairs = draw(st.booleans())
    corpus, n_labels = draw(
        strategies.corpora(max_sequences=max_sequences, max_labels=max_labels, pairs=pairs)
    )
    names = PAIRS if pairs else ""
    return [_chain(tagged, names) for tagged in corpus], n_labels


def _chain(tagged, pairs):
    return Chain(
        _array(tagged.tokens, TOKENS), _array(tagged.pairs, pairs), tagged.y, tagged.weight
    )


def _array(features, names):
    rows = [[token.get(name, 0.0) for name in names] for token in features]
    return np.array(rows, np.float64).reshape(len(features), len(names))


def table_size(chains, n_labels):
    """Rows of the table of weights."""
    first = chains[0]
    return 2 + (first.pairs.shape[1] + 1) * n_labels + first.tokens.shape[1]


def weights(n, size=2.0):
    """Weights near 0, or large ones."""
    return hnp.arrays(np.float64, n, elements=st.floats(-size, size, width=32))


@st.composite
def costs(draw, n):
    """No cost matrix, or one with any costs off its diagonal."""
    if draw(st.booleans()):
        return None
    found = draw(hnp.arrays(np.float64, (n, n), elements=st.integers(0, 16).map(lambda c: c / 4)))
    np.fill_diagonal(found, 0.0)
    return found


def differences(function, w, step=1e-5):
    """The gradient by differences of fourth order: the error is near step^4."""
    found = np.zeros(len(w))
    for j in range(len(w)):
        e = np.zeros(len(w))
        e[j] = step
        near = function(w + e) - function(w - e)
        far = function(w + 2 * e) - function(w - 2 * e)
        found[j] = (8 * near - far) / (12 * step)
    return found
