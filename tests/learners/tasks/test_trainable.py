"""Taggers in shards: the same bytes for any threads, and as good as one."""

from __future__ import annotations

import lzma

import numpy as np
import pytest

from surelearn import SureTagger
from surelearn.evaluation import chunk_scores

WORDS = {"D": ["a", "the"], "N": ["dog", "cat", "bird"], "V": ["runs", "sings"], "A": ["big"]}


def corpus(n=240, seed=0):
    random = np.random.default_rng(seed)
    y = [["D", "A", "N", "V"] if random.random() < 0.5 else ["D", "N", "V"] for _ in range(n)]
    return [[str(random.choice(WORDS[tag])) for tag in tags] for tags in y], y


def bits(tagger):
    model = tagger.model_
    state = model.weights.state()
    arrays = [state[name].tobytes() for name in ("features", "cells")]
    return [*arrays, state["rounds"], model.mistakes, model.updates, tagger.features_.names]


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("rule", ["scw1", "perceptron", "stdev"])
@pytest.mark.parametrize("every", [1, 2, None])
def test_threads_change_no_byte(rule, average, every):
    params = {"n_shards": 4, "passes": 3, "average": average, "merge_every": every}
    one, *others = (
        SureTagger(rule, random_state=0, n_jobs=n_jobs, **params).fit(*corpus())
        for n_jobs in (1, 2, 4)
    )
    assert one.score(*corpus(seed=1)) == 1.0
    assert len(one.mistakes_) == 3
    for other in others:
        assert bits(other) == bits(one)


def test_rows_of_weight_zero_and_errors_of_a_shard_are_those_of_one():
    X, y = corpus(40)
    weight = np.arange(40) % 4 > 0
    kept = np.flatnonzero(weight)
    params = {"n_shards": 3, "random_state": 0}
    some = SureTagger(**params).fit(X, y, weight.astype(float))
    assert bits(some) == bits(SureTagger(**params).fit([X[i] for i in kept], [y[i] for i in kept]))
    with pytest.raises(ValueError, match="n_shards must be at least 1, got 0"):
        SureTagger(n_shards=0).fit(X, y)
    with pytest.raises(ValueError, match="combine must be 'evidence' or 'uniform' for rule Percep"):
        SureTagger("perceptron", n_shards=2, combine="kl").fit(X, y)


def test_a_stream_is_dealt_to_shards(tmp_path, monkeypatch):
    monkeypatch.setattr("surelearn.read._lines.BLOCK", 300)
    X, y = corpus(100)
    lines = ("".join(f"{w} {t}\n" for w, t in zip(*pair, strict=True)) + "\n"
             for pair in zip(X, y, strict=True))  # fmt: skip
    path = tmp_path / "tagged.txt"
    path.write_text("".join(lines))
    params = {"n_shards": 3, "passes": 2, "random_state": 0}
    one, two = (SureTagger(n_jobs=n, **params).fit_stream(path) for n in (1, 2))
    assert bits(one) == bits(two)
    assert one.score(*corpus(seed=1)) == 1.0
    assert bits(one) != bits(SureTagger(passes=2, random_state=0).fit_stream(path))


def chunked(path):
    """Sentences of CoNLL-2000."""
    with lzma.open(path, "rt") as lines:
        rows = [block.splitlines() for block in lines.read().strip().split("\n\n")]
    split = [[line.split() for line in sentence] for sentence in rows]
    X = [[(word, pos) for word, pos, _ in sentence] for sentence in split]
    return X, [[tag for _, _, tag in sentence] for sentence in split]


@pytest.mark.slow
def test_ten_shards_of_chunks_are_as_good_as_one(data_folder):
    """93.81 F1 by one tagger, 93.55 by ten shards in rounds."""
    (X, y), (Z, z) = (chunked(data_folder / f"conll2000/{n}.txt.xz") for n in ("train", "test"))
    order = np.random.default_rng(0).permutation(len(X))
    X, y = [X[i] for i in order], [y[i] for i in order]
    one, ten = (
        chunk_scores(z, SureTagger(n_shards=n, random_state=0).fit(X, y).predict(Z)).f1
        for n in (1, 10)
    )
    assert one > 0.935
    assert ten > one - 0.005
