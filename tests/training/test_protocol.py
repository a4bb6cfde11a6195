"""A toy model added through the protocol alone: it streams, shards, merges, saves and resumes."""

from __future__ import annotations

import copy
import operator
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import pytest

from surelearn import constraints, files, read, rules
from surelearn.training.checkpoint import Checkpoint
from surelearn.training.position import StreamPosition
from surelearn.training.protocol import Packed, UpdateMethod
from surelearn.training.shards import Rounds, Shard, train_shards
from surelearn.training.stream import SingleLearner, StreamOptions, StreamTrainer, train
from surelearn.training.stream_shards import StreamShards

# ------------------------------------------------------------------ the toy: nearest class mean


class Points(NamedTuple):
    X: np.ndarray
    y: np.ndarray

    @property
    def size(self) -> int:
        return len(self.y)


@dataclass
class Means:
    sums: dict[str, np.ndarray] = field(default_factory=dict)  # with the count last
    mistakes: list[int] = field(default_factory=list)
    updates: int = 0
    position: StreamPosition | None = None
    n: int = 1  # models in a sum of them
    held: tuple = ()  # records that were kept back

    @property
    def classes(self):
        return np.array(sorted(self.sums))

    def copy(self):
        return copy.deepcopy(self)

    def predict(self, X):
        means = [self.sums[k][:-1] / self.sums[k][-1] for k in self.classes]
        return self.classes[((X[:, None] - np.array(means)) ** 2).sum(2).argmin(1)]

    def __add__(self, other):
        sums = {k: self.sums.get(k, 0) + other.sums.get(k, 0) for k in {**self.sums, **other.sums}}
        pairs = zip(self.mistakes, other.mistakes, strict=False)
        updates, n = self.updates + other.updates, self.n + other.n
        return Means(sums, [a + b for a, b in pairs], updates, n=n)

    @staticmethod
    def combined(states, *, threads=1):
        return reduce(operator.add, states)


class MeansTrainable:
    def __init__(self, model=None):
        self.model = model

    def prepare(self, records, source):
        return Points(records.X, records.y)

    def check_all_read(self, *, resumed):
        pass

    def check_learnt(self):
        assert self.model.sums

    def learn(self, block, order=None, *, number=1, starts_pass=False, report=None):
        self.model = self.model or Means()
        if starts_pass or not self.model.mistakes:
            self.model.mistakes.append(0)
        for i in range(block.size) if order is None else order:
            x, k = np.append(block.X[i], 1.0), str(block.y[i])
            known = len(self.model.sums) > 1
            self.model.mistakes[-1] += known and self.model.predict(block.X[[i]])[0] != k
            self.model.sums[k] = self.model.sums.get(k, 0 * x) + x * (number == 1)
            self.model.updates += 1
        return block

    def pack(self, block):
        return Packed([block.X], block.y)

    def unpack(self, packed):
        return Points(packed.arrays[0], packed.info)

    def fork(self, model=None, *, threads=1):
        return MeansTrainable(model)

    def state(self, how, start=None):
        return (self.model or Means()).copy()

    def begin_round(self, block, start, how):
        self.model = start.copy()
        return block

    def end_round(self, start, how, held):
        return self.state(how, start)

    def merge_round(self, states, how, *, threads=1):
        self.take(Means.combined(states), self.model)

    def align(self, shards):
        pass

    def take(self, total, prior=None, *, threads=1):
        for k, sums in ({} if prior is None else prior.sums).items():  # in each of n models
            total.sums[k] = total.sums[k] - (total.n - 1) * sums
        self.model = replace(total, n=1)


def packed(model):
    place = None if model.position is None else model.position.plain()
    settings = {"classes": list(model.sums), "mistakes": model.mistakes, "stream": place}
    return settings, {"sums": np.array(list(model.sums.values()))}


def unpacked(fields, tensors, budget):
    names = fields.list("classes")
    position = StreamPosition.of(fields.inner("stream"))
    sums = dict(zip(names, tensors["sums"], strict=True))
    return Means(sums, fields.naturals("mistakes"), 0, position)


files.register("Means", files.Codec(packed, unpacked))

# ----------------------------------------------------------------------------------- its trial


def rows(n=400):
    random = np.random.default_rng(0)
    y = random.choice(["a", "b", "c"], n)
    centre = {"a": (0.0, 3.0), "b": (3.0, 0.0), "c": (-3.0, -3.0)}
    return np.array([centre[k] for k in y]) + random.normal(size=(n, 2)), y


@pytest.fixture
def csv(tmp_path, monkeypatch):
    monkeypatch.setattr("surelearn.read._lines.BLOCK", 700)
    X, y = rows()
    lines = [f"{a},{b},{k}" for (a, b), k in zip(X.tolist(), y.tolist(), strict=True)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["u,v,label", *lines]) + "\n")
    return path


class Saved:
    """What a checkpoint writes."""

    def __init__(self, trainable):
        self._trainable = trainable
        self.position = None

    def save(self, path):
        files.save("Means", replace(self._trainable.model, position=self.position), path)


def stream(path, model=None, *, passes=2, n_shards=1, checkpoint=None, stop_after=None):
    trainable = MeansTrainable(model)
    saved = Saved(trainable)
    before = None if model is None else model.position

    def publish(position):
        saved.position = position
        if stop_after is not None and position.rows >= stop_after:
            raise KeyboardInterrupt

    options = StreamOptions(passes, True, 0, 2, before=before, is_new=model is None)
    learner: Any = SingleLearner(trainable, shuffle=True)
    if n_shards > 1:
        rounds = Rounds(passes, 1, "any", True, 0, threads=2)
        learner = StreamShards(trainable, n_shards, rounds, str(path))
    trainer = StreamTrainer(learner, read.batches(path), options, publish)
    train(trainer, Checkpoint(saved, checkpoint, 1))
    return trainable.model


def same(a, b):
    assert sorted(a.sums) == sorted(b.sums)
    for k in a.sums:
        np.testing.assert_allclose(a.sums[k], b.sums[k], rtol=1e-9)


def expected():
    X, y = rows()
    return Means({k: np.append(X[y == k].sum(0), (y == k).sum()) for k in "abc"})


def test_it_streams(csv):
    found = stream(csv, passes=3)
    same(found, expected())
    assert len(found.mistakes) == 3
    X, y = rows()
    assert (found.predict(X) == y).mean() > 0.95


@pytest.mark.parametrize("passes", [1, 2])
def test_it_is_sharded_in_a_stream_and_in_memory(csv, passes):
    same(stream(csv, passes=passes, n_shards=3), expected())
    X, y = rows()
    whole = MeansTrainable()
    cuts = np.array_split(np.arange(len(y)), 9)  # so small that no record is kept back
    shards = [Shard(i, whole.fork(), Points(X[cut], y[cut])) for i, cut in enumerate(cuts)]
    train_shards(whole, shards, Means(), Rounds(passes, None, "any", True, 0, threads=2))
    same(whole.model, expected())


def test_it_is_saved_and_resumed(csv, tmp_path):
    path = tmp_path / "means.sure"
    with pytest.raises(KeyboardInterrupt):
        stream(csv, checkpoint=path, stop_after=100)
    half = files.load(path)
    assert 0 < half.position.rows < 400
    same(stream(csv, half, checkpoint=path), expected())
    again = files.load(path)
    same(again, expected())
    assert again.position.ended


def test_a_method_tells_the_core_whether_to_project_the_covariance():
    rule, scheme = rules.AROW(), constraints.Sequential(2)
    method = UpdateMethod(rule.core(), scheme.core())
    for projection, covariance in (("covariance", True), ("precision", False)):
        made = method.core(projection)
        assert made == (method.rule, method.scheme, covariance)
