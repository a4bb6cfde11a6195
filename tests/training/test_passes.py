"""Passes over records in memory: their order, and what is told of them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from surelearn.training import passes
from surelearn.weights import Tally


class Trainable:
    """Notes what it is told to learn; each pass gives the block of the next."""

    def __init__(self):
        self.model = SimpleNamespace(mistakes=[])
        self.told = []

    def learn(self, block, order, *, number, starts_pass, report):
        self.told.append((block.name, order, number, starts_pass, report))
        return SimpleNamespace(size=block.size, name=block.name + "'")


def test_each_pass_goes_on_with_the_block_of_the_last():
    trainable = Trainable()
    block = SimpleNamespace(size=3, name="b")
    passes.run(trainable, block, [2, 3], order=lambda n: -n, report=lambda n: f"report {n}")
    assert trainable.told == [("b", -2, 2, True, "report 2"), ("b'", -3, 3, True, "report 3")]


def test_a_pass_over_nothing_makes_no_mistake():
    trainable = Trainable()
    block = SimpleNamespace(size=0, name="b")
    passes.run(trainable, block, [1, 2], order=lambda n: None, report=lambda n: None)
    assert trainable.told == []
    assert trainable.model.mistakes == [0, 0]


def test_orders_are_new_in_every_pass_and_those_of_the_seed():
    orders = passes.random_orders(np.random.RandomState(0), 50, shuffle=True)
    first, second = orders(1), orders(2)
    assert sorted(first) == sorted(second) == list(range(50))
    assert first.tolist() != second.tolist()
    assert first.dtype == np.int64
    again = passes.random_orders(np.random.RandomState(0), 50, shuffle=True)
    assert again(1).tolist() == first.tolist()


def test_without_shuffling_no_number_is_drawn():
    random = np.random.RandomState(0)
    assert passes.random_orders(random, 50, shuffle=False)(1) is None
    assert random.randint(100) == np.random.RandomState(0).randint(100)


@pytest.mark.parametrize("shuffle", [False, True])
def test_rows_left_out_are_in_no_order(shuffle):
    left = np.array([7, 3], dtype=np.int64)
    orders = passes.random_orders(np.random.RandomState(0), 10, shuffle=shuffle, without=left)
    kept = [0, 1, 2, 4, 5, 6, 8, 9]
    for number in (1, 2):
        found = orders(number).tolist()
        assert sorted(found) == kept
        assert (found == kept) != shuffle


def test_a_report_is_a_line(capsys, monkeypatch):
    clock = iter([10.0, 12.0])
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    report = passes.reports(4000, 3, verbose=1, what="sequences", of="shard 1, ")(2)
    report(Tally(rows=2000, mistakes=100, updates=150))
    assert capsys.readouterr().out == (
        "shard 1, pass 2/3: 2,000 of 4,000 sequences, 100 mistakes (5.0 %), 1,000 sequences/s\n"
    )


@pytest.mark.parametrize("verbose", [0, False])
def test_nothing_is_told_unless_it_is_asked_for(verbose):
    assert passes.reports(4, 3, verbose=verbose)(1) is None
