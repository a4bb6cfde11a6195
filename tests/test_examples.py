"""The scripts of examples/ run and draw what they say."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def front_page(monkeypatch, data_folder):
    """The picture of the README, on its data."""
    monkeypatch.syspath_prepend(str(ROOT))
    return import_module("examples.front_page")


def test_the_picture_of_the_front_page_is_drawn(front_page, tmp_path):
    split = front_page.reviews()
    found = front_page.weights(split)
    by_word = {weight.word: weight for weight in found}
    assert [weight.mean for weight in found] == sorted((w.mean for w in found), reverse=True)
    assert by_word["spellbinding"] == ("spellbinding", 0, 0.0, 1.0)  # the prior
    assert by_word["great"].deviation < by_word["terrific"].deviation < 1
    assert by_word["great"].mean > 2 * by_word["great"].deviation
    assert by_word["terrible"].mean < -2 * by_word["terrible"].deviation
    display = front_page.curves(split, n_repeats=1)
    assert display.mean("surelearn")[-1] > display.mean("SGDClassifier")[-1]
    front_page.draw(found, display, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000


@pytest.mark.slow
def test_topics_that_come_together_are_better_learnt_as_a_graph(monkeypatch, data_folder):
    monkeypatch.syspath_prepend(str(ROOT))
    example = import_module("examples.correlated_labels")
    train, test, names = example.reuters()
    known, joined = example.margins(train, test), example.pairs(train.topics)
    assert (len(names), known.test.shape) == (90, (3299, 90))
    clf, ours = example.learnt_graphs(known, train.topics, joined)
    _, apart = example.learnt_graphs(known, train.topics, None)
    _, right = example.compared("against no edges", ours, apart, test.topics)
    assert right.ours - right.theirs > 2 * right.error
    strong = example.couplings(clf, joined, names)
    assert [abs(mean) for _, mean, _ in strong] == sorted((abs(m) for _, m, _ in strong))[::-1]
    assert all(deviation > 0 for _, _, deviation in strong)
