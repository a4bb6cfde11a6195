"""Labels go through the core some at a time: nothing may depend on how many there are."""

from __future__ import annotations

import numpy as np
import pytest

from surelearn import SureTagger, _core, rules
from surelearn.decode import Chain

#: Around the numbers of labels that the core takes at a time: 4, 8, 16 and 20.
WIDTHS = [2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 19, 20, 21, 23, 24, 25, 28, 31, 40, 44, 47]


def corpus(n_labels, n_sequences=40):
    """Sequences of tokens with up to six of 30 features, and any labels."""
    random = np.random.default_rng(n_labels)
    X = [
        [[f"f{j}" for j in random.integers(30, size=random.integers(7))] for _ in range(length)]
        for length in random.integers(1, 9, size=n_sequences)
    ]
    return X, [random.integers(n_labels, size=len(tokens)).tolist() for tokens in X]


def scores_of(tagger, tokens):
    """What each label of each token is worth, weight by weight."""
    places = {name: j for j, name in enumerate(tagger.features_.names)}
    U = np.zeros((len(tokens), len(tagger.classes_)))
    for t, token in enumerate(tokens):
        for name in token:
            U[t] += tagger.coef_[:, places[name]]
    U[0] += tagger.start_
    U[-1] += tagger.end_
    return U


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("n_labels", WIDTHS)
def test_scores_are_sums_of_weights(n_labels, average):
    X, y = corpus(n_labels)
    tagger = SureTagger(rules.AROW(), average=average, dtype="float64")
    tagger.partial_fit(X, y, classes=range(n_labels))
    assert len(tagger.classes_) == n_labels
    for tokens in X[:10]:
        U = scores_of(tagger, tokens)
        np.testing.assert_allclose(tagger.chain(tokens).U, U, rtol=0, atol=1e-12)
        assert np.ptp(U, axis=1).max() > 0


@pytest.mark.parametrize("own_tables", [False, True])
@pytest.mark.parametrize("n_labels", WIDTHS)
def test_the_best_paths_are_the_first_of_all(n_labels, own_tables):
    random = np.random.default_rng(n_labels)
    U = random.normal(size=(7, n_labels))
    A = random.normal(size=(6 if own_tables else 1, n_labels, n_labels))
    chain = Chain(U, A if own_tables else A[0])
    first, second = chain.k_best(2)
    np.testing.assert_array_equal(chain.best(), first)
    np.testing.assert_array_equal(_core.Chain(U, A).best_other(first), [second])
    np.testing.assert_array_equal(_core.Chain(U, A).best_other(second), [first])


def test_more_labels_and_fewer_again_leave_nothing_behind():
    """Tables that are kept from one sequence to the next are those of the next."""
    random = np.random.default_rng(0)
    for n_labels in (44, 5, 22, 3):
        X, y = corpus(n_labels)
        tagger = SureTagger(random_state=0).fit(X, y)
        chains = [tagger.chain(tokens) for tokens in X]
        found = [[tagger.classes_[k] for k in chain.best()] for chain in chains]
        order = random.permutation(len(X))
        assert tagger.predict([X[i] for i in order]) == [found[i] for i in order]
