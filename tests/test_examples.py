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


def test_topics_that_come_together_are_learnt_as_a_graph(monkeypatch, data_folder, tmp_path):
    monkeypatch.syspath_prepend(str(ROOT))
    example = import_module("examples.correlated_labels")
    train, test, names = example.reuters(n_train=1500)
    test = example.Stories(test.texts[:600], test.topics[:600])
    known, joined = example.margins(train, test), example.pairs(train.topics)
    assert len(names) == train.topics.shape[1] == known.test.shape[1]
    assert {"grain", "wheat"} in [{names[a], names[b]} for a, b in joined]
    clf, ours = example.learnt_graphs(known, train.topics, joined)
    _, apart = example.learnt_graphs(known, train.topics, None)
    found = example.compared("against no edges", ours, apart, test.topics)
    assert found[0].ours > 0.6
    assert found[1].ours > found[1].theirs
    assert "all topics right, against no edges" in str(found[1])
    strong = example.couplings(clf, joined, names)
    assert [abs(one[1]) for one in strong] == sorted((abs(o[1]) for o in strong), reverse=True)
