"""The scripts of examples/ run and draw what they say."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def example(monkeypatch):
    """Import an example by its name."""
    monkeypatch.syspath_prepend(str(ROOT))
    return lambda name: import_module(f"examples.{name}")


@pytest.fixture
def front_page(example, data_folder):
    """The picture of the README, on its data."""
    return example("front_page")


def test_the_picture_of_the_front_page_is_drawn(front_page, tmp_path):
    split = front_page.reviews()
    found = front_page.weights(split)
    table = found.explanation_
    by_word = {line.feature.split()[0]: line for line in table}
    assert table.mean.tolist() == sorted(table.mean, reverse=True)
    unseen = by_word["spellbinding"]
    assert (unseen.feature, unseen.mean, unseen.deviation) == ("spellbinding  (0)", 0.0, 1.0)
    assert by_word["great"].deviation < by_word["terrific"].deviation < 1
    assert by_word["great"].mean > 2 * by_word["great"].deviation
    assert by_word["terrible"].mean < -2 * by_word["terrible"].deviation
    display = front_page.curves(split, n_repeats=1)
    assert display.mean("surelearn")[-1] > display.mean("SGDClassifier")[-1]
    front_page.draw(found, display, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000


def test_the_picture_of_the_tutorial_on_abstaining_is_drawn(example, tmp_path):
    picture = example("abstain_picture")
    shown = picture.judged(n_cards=3)
    point = shown.display.certified_["model"]
    assert point.bound <= picture.RISK == shown.display.risk_
    assert abs(shown.answered - point.coverage) < 0.1
    assert [card.answered for card in shown.cards] == [True] * 3 + [False] * 3
    assert len({card.text for card in shown.cards}) == 6
    picture.draw(shown, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000


@pytest.mark.slow
def test_topics_that_come_together_are_better_learnt_as_a_graph(monkeypatch, capsys, data_folder):
    monkeypatch.syspath_prepend(str(ROOT))
    example = import_module("examples.correlated_labels")
    train, test, names = example.reuters()
    known, joined = example.margins(train, test), example.pairs(train.topics)
    assert (len(names), known.test.shape) == (90, (3299, 90))
    clf, ours = example.learnt_graphs(known, train.topics, joined)
    said = re.search(r"not converged on (\d+) of 3299 graphs", capsys.readouterr().out)
    assert int(said[1]) <= 10
    _, apart = example.learnt_graphs(known, train.topics, None)
    _, right = example.compared("against no edges", ours, apart, test.topics)
    assert right.ours - right.theirs > 2 * right.error
    strong = example.couplings(clf, joined, names)
    assert [abs(mean) for _, mean, _ in strong] == sorted((abs(m) for _, m, _ in strong))[::-1]
    assert all(deviation > 0 for _, _, deviation in strong)


def test_the_error_of_a_gain_is_that_of_a_ratio(example):
    baselines = example("baselines")
    y = [["a", "a"], ["b", "b", "b", "b"], ["a"]]
    before = [["a", "b"], ["b", "b", "a", "a"], ["a"]]
    after = [["a", "a"], ["b", "b", "b", "b"], ["b"]]
    assert baselines.share(y, before) == pytest.approx(4 / 7)
    found = baselines.gain(y, before, after)
    assert found.value == pytest.approx(2 / 7)
    rest = np.array([1 - 4 / 7, 2 - 8 / 7, -1 - 2 / 7])  # more right, less the share of the size
    assert found.error == pytest.approx(np.sqrt(3 * (rest @ rest) / 2) / 7)


def test_learners_without_edges_get_the_same_nodes(example):
    baselines, denoise = example("baselines"), example("denoise_grid")
    graphs = denoise.graphs(denoise.pictures().train.noisy[:3])
    bare = baselines.without_edges(graphs)
    for own, other in zip(graphs, bare, strict=True):
        assert (own.nodes != other.nodes).nnz == 0
        assert other.is_sparse == own.is_sparse
        assert (own.n_edges, other.n_edges) == (112, 0)
    rows = baselines.stacked(graphs)
    again = baselines.per_graph(rows, graphs)
    assert all((part == own.nodes.toarray()).all() for part, own in zip(again, graphs, strict=True))


def test_a_pixel_sees_its_window(example):
    denoise = example("denoise_grid")
    noisy = np.zeros((8, 8), int)
    noisy[0, 1] = 1
    rows = denoise.features(noisy)
    assert rows[0].tolist() == [0, 0, 0, 0, -1, 1, 0, -1, -1]
    assert rows[9].tolist() == [-1, 1, -1, -1, -1, -1, -1, -1, -1]


def test_edges_help_to_denoise_digits(example, tmp_path):
    baselines, denoise = example("baselines"), example("denoise_grid")
    train, test = (denoise.Pictures(*(part[:200] for part in half)) for half in denoise.pictures())
    assert 0.15 < np.mean(test.clean != test.noisy) < 0.25
    learners = baselines.fit(denoise.graphs(train.noisy), train.labels, directed=False)
    found = baselines.predictions(learners, denoise.graphs(test.noisy))
    for name in ("each node a row", "without edges"):
        gain = baselines.gain(test.labels, found[name], found["with edges"])
        assert gain.value > 2 * gain.error > 0
    denoise.draw(test, found, tmp_path / "picture.png", n_shown=3)
    assert (tmp_path / "picture.png").stat().st_size > 10_000


def mail(author, subject, body):
    return f"From: {author}\nSubject: {subject}\n\n{body}\n"


MAILS = (
    mail("ann@a.edu (Ann Bell)", "Comets", "Look up."),
    mail("Bob <bob@b.org>", "Re: comets", "ann@a.edu (Ann Bell) writes:\n> Look up.\nWhy?"),
    mail("cat@c.com", "RE: Re: Comets", "In article <1@b.org>\nbob@b.org wrote:\n> Why?\nTails."),
    mail("dan@d.net (Dan Dee)", "Re: Comets", "I saw one."),
)


def test_a_message_answers_the_one_that_it_quotes(example):
    tree = example("thread_tree")
    messages = [tree.message(text, "sci.space") for text in MAILS]
    assert {message.subject for message in messages} == {"comets"}
    assert not any("comets" in message.body.lower() for message in messages)
    found = tree.thread(messages)
    assert found.parents == [-1, 0, 1, 0]
    assert found.quotes == [False, True, True, False]
    assert tree.depths(found.parents) == [0, 1, 2, 1]
    assert tree.in_order([-1, 0, 0, 1]) == [0, 1, 3, 2]


@pytest.mark.slow
def test_edges_help_to_label_threads(example, data_folder, tmp_path):
    baselines, tree = example("baselines"), example("thread_tree")
    train, test = (half[:600] for half in tree.split(tree.threads()))
    X, y = tree.graphs(test), [own.labels for own in test]
    learners = baselines.fit(tree.graphs(train), [own.labels for own in train], directed=True)
    found = baselines.predictions(learners, X)
    gain = baselines.gain(y, found["without edges"], found["with edges"])
    assert gain.value > 2 * gain.error > 0
    known = learners.together.predict(X, fixed=[{0: own[0]} for own in y])
    assert baselines.share(y, known) > baselines.share(y, found["with edges"]) + 0.05
    place = tree.shown(test, found)
    drawn = {name: np.asarray(labels[place]) for name, labels in found.items()}
    tree.draw(test[place], drawn, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000
