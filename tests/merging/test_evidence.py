"""Merging by evidence: its parameter, and that it never collapses where adding up does."""

from __future__ import annotations

import json
import lzma
import math

import numpy as np
import pytest

from surelearn import SureTextClassifier, merge, rules
from surelearn.merging import Evidence, MergeState, repeated, way_of


def texts(n, *, n_classes=20, n_words=400, seed=0):
    """Common words by their rank, and a few of each class: what all parts learn alike."""
    random = np.random.default_rng(seed)
    share = 1 / np.arange(1, n_words + 1)
    own = [random.permutation(n_words)[:8] for _ in range(n_classes)]
    y = random.integers(n_classes, size=n)
    words = [
        np.r_[random.choice(n_words, 25, p=share / share.sum()), random.choice(own[k], 4)]
        for k in y
    ]
    return [" ".join(f"w{i}" for i in row) for row in words], y.astype(str)


def in_rounds(X, y, passes, **params):
    params = {"n_shards": 10, "passes": passes, "random_state": 0, **params}
    params |= {"rule": rules.Probit(noise=0.3), "idf": False, "constraints": "single"}
    clf = SureTextClassifier(**params)
    half = len(y) // 2
    return clf.fit(X[:half], y[:half]).score(X[half:], y[half:])


def test_ten_shards_in_rounds_do_not_collapse():
    """What all shards have learnt is added up ten times by `bayes`, and feeds itself."""
    X, y = texts(3000)
    assert in_rounds(X, y, 5, n_features=2**12) > 0.93
    assert in_rounds(X, y, 5, n_features=2**12, combine="bayes") < 0.7


@pytest.mark.slow
def test_ten_shards_of_news_in_rounds_do_not_collapse(data_folder):
    with lzma.open(data_folder / "20news-18828.jsonl.xz", "rt", encoding="utf-8") as lines:
        news = [json.loads(line) for line in lines]
    np.random.default_rng(0).shuffle(news)
    X, y = [one["text"] for one in news], np.array([one["label"] for one in news])
    one = in_rounds(X, y, 10, n_shards=1)
    assert in_rounds(X, y, 10) > one - 0.005
    with pytest.warns(UserWarning, match="merged shards must not be worse than one shard"):
        assert in_rounds(X, y, 10, combine="bayes") < 0.5


def test_tau_is_checked_and_names_are_those_of_ways():
    assert way_of("evidence") == Evidence() == Evidence(16)
    assert way_of(Evidence(3)).tau == 3.0
    assert way_of("bayes") == "bayes"
    with pytest.raises(ValueError, match=r"tau must be in \(0, inf\], got 0"):
        Evidence(0)
    with pytest.raises(ValueError, match=r"tau must be in \(0, inf\], got nan"):
        Evidence(math.nan)
    with pytest.raises(TypeError, match="tau must be a number, got 'much'"):
        Evidence("much")
    with pytest.raises(ValueError, match=r"how must be one of 'evidence', 'bayes'.*got 'sum'"):
        way_of("sum")


def test_what_is_merged_again_and_again_is_averaged():
    assert repeated("evidence", 1) == "evidence"
    assert repeated("evidence", 2) == Evidence(math.inf)
    assert repeated("bayes", 2) == "bayes"


def test_states_of_two_taus_are_not_added():
    X, y = texts(60, n_classes=3)
    clf = SureTextClassifier(random_state=0, n_features=2**8).fit(X, y)
    with pytest.raises(ValueError, match=r"the same how to be merged, got Evidence\(tau=16.0\)"):
        MergeState.of(clf) + MergeState.of(clf, Evidence(2))
    parts = [clf, SureTextClassifier(random_state=1, n_features=2**8).fit(X, y)]
    found = [merge(parts, Evidence(tau)).coef_ for tau in (1, 16, math.inf)]
    assert not np.array_equal(found[0], found[1])
    assert not np.array_equal(found[1], found[2])
    np.testing.assert_allclose(found[0], merge(parts, "bayes").coef_, rtol=1e-4, atol=1e-6)
