"""SureTagger against the plain reference: what it learns and what it answers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import strategies
from reference.chain import Paths
from reference.rules import FIRST_ORDER, REGISTRY
from reference.tagger import ReferenceTagger, Sentence
from reference.test_reference import PARAMS
from surelearn import SureTagger, rules
from surelearn.constraints import Sequential

TOLERANCE = 1e-9

# A step of almost nothing and none at all are the same; these step by more, or not at all.
ABRUPT = frozenset({"perceptron", "sop", "arow", "nherd"})


def random_corpus(seed=0, n_sequences=10, n_labels=3):
    """Short sequences of few features, whose values float32 holds."""
    rng = np.random.default_rng(seed)
    corpus = []
    for length in rng.integers(1, 5, n_sequences):
        tokens = [
            {f: float(np.float32(rng.normal())) for f in "abcd" if rng.random() < 0.6}
            for _ in range(length)
        ]
        y = tuple(rng.integers(0, n_labels, length).tolist())
        corpus.append(strategies.Tagged(tokens, [], y, float(rng.choice([0.25, 1.0, 3.0]))))
    return corpus


def expected(corpus, n_labels, rule, *, weighted=True, **options):
    """The reference after all sequences, and whether it refused one."""
    tagger = ReferenceTagger(*rule, n_labels, **options)
    for tagged in corpus:
        try:
            x = Sentence(tagged.tokens, tagged.pairs)
            tagger.learn(x, tagged.y, tagged.weight if weighted else 1.0)
        except FloatingPointError:
            return tagger, True
    return tagger, False


def make(rule, *, k=1, **options):
    name, params = rule
    return SureTagger(
        rule=rules.RULES[name](**params),
        constraints="single" if k == 1 else Sequential(k),
        shuffle=False,
        passes=1,
        dtype="float64",
        **options,
    )


def names(y):
    """Labels as a user has them; their order is that of the numbers."""
    return [f"L{label}" for label in y]


def teach(tagger, corpus, n_labels, *, weighted=True):
    tagger.partial_fit(
        [tagged.tokens for tagged in corpus],
        [names(tagged.y) for tagged in corpus],
        classes=names(range(n_labels)),
        sample_weight=[tagged.weight for tagged in corpus] if weighted else None,
    )
    return tagger


def cells(tagger, what=""):
    """Means, or variances, of a fitted tagger by the reference's names of the cells."""
    emissions = np.asarray(getattr(tagger, {"": "coef_", "_sigma": "sigma_"}[what]))
    found = {
        ("emission", feature, label): value
        for label, row in enumerate(emissions)
        for feature, value in zip(tagger.features_.names, row, strict=True)
    }
    for kind in ("start", "end"):
        for label, value in enumerate(getattr(tagger, f"{kind}{what}_")):
            found[kind, label] = value
    for (i, j), value in np.ndenumerate(getattr(tagger, f"transitions{what}_")):
        found["transition", None, i, j] = value
    return found


def assert_cells(got, want, *, rest, scale=0.0):
    """Every cell the reference touched is the same, every other one is at its start."""
    assert set(want) <= set(got)
    both = sorted(got, key=repr)
    np.testing.assert_allclose(
        [got[cell] for cell in both],
        [want.get(cell, rest) for cell in both],
        rtol=TOLERANCE,
        atol=TOLERANCE * scale,
    )


def agree(tagger, want, n_missed=0):
    mean = want.mean()
    scale = max(map(abs, mean.values()), default=1e-3)
    assert_cells(cells(tagger), mean, rest=0.0, scale=scale)
    if want.rule not in FIRST_ORDER:
        assert_cells(cells(tagger, "_sigma"), want.sigma, rest=want.initial_variance)
    assert tagger.mistakes_[-1] == want.mistakes
    assert abs(tagger.n_updates_ - want.updates) <= n_missed


@pytest.mark.parametrize("projection", ["precision", "covariance"])
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_learning_agrees_with_the_reference(name, k, projection):
    rule, corpus = (name, PARAMS[name]), random_corpus()
    options = {"k": k, "projection": projection, "average": k == 1, "initial_variance": 1.5}
    want, _ = expected(corpus, 3, rule, **options)
    assert want.ties == want.close_calls == 0
    assert want.updates > 3
    agree(teach(make(rule, **options), corpus, 3), want)


@st.composite
def settings(draw):
    """A corpus, a rule and a way to learn it."""
    rule = draw(strategies.rules())
    options = {
        "k": draw(st.integers(1, 4)),
        "projection": draw(st.sampled_from(["precision", "covariance"])),
        "average": draw(st.booleans()),
        "initial_variance": draw(st.sampled_from([1.0, 0.125, 9.0])),
    }
    return draw(strategies.corpora(pairs=False)), rule, options


@given(settings())
def test_any_corpus_is_learnt_as_by_the_reference(setting):
    (corpus, n_labels), rule, options = setting
    want, refused = expected(corpus, n_labels, rule, **options)
    assume(not refused and want.ties == 0)
    assume(want.close_calls == 0 or rule[0] not in ABRUPT)
    assume(any(tagged.y and tagged.weight > 0 for tagged in corpus))
    tagger = teach(make(rule, **options), corpus, n_labels)
    agree(tagger, want, want.close_calls)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("name", ["perceptron", "pa1", "arow", "stdev", "probit"])
def test_answers_are_those_of_enumeration(name, average):
    corpus = random_corpus()
    tagger = teach(make((name, PARAMS[name]), average=average), corpus, 3)
    want, _ = expected(corpus, 3, (name, PARAMS[name]), average=average)
    unseen = [tagged.tokens for tagged in random_corpus(seed=1)]
    found = tagger.predict(unseen)
    for tokens, labels in zip(unseen, found, strict=True):
        assert list(labels) == names(want.predict(Sentence(tokens)))


@pytest.mark.parametrize("average", [False, True])
def test_marginals_are_those_of_enumeration(average):
    corpus, rule = random_corpus(), ("arow", PARAMS["arow"])
    tagger = teach(make(rule, average=average), corpus, 3)
    want, _ = expected(corpus, 3, rule, average=average)
    unseen = [tagged.tokens for tagged in random_corpus(seed=2)]
    for tokens, got in zip(unseen, tagger.predict_marginals(unseen), strict=True):
        paths = Paths(*want.scores(Sentence(tokens), want.mean()))
        table = [[chances[label] for label in names(range(3))] for chances in got]
        np.testing.assert_allclose(table, paths.marginals(), atol=1e-9)


@pytest.mark.parametrize("name", ["perceptron", "arow", "stdev"])
@pytest.mark.parametrize("cuts", [[5], [1, 2, 3], list(range(1, 10))])
def test_pieces_are_learnt_as_the_whole(name, cuts):
    corpus = random_corpus()
    whole = teach(make((name, PARAMS[name]), average=True), corpus, 3)
    parts = make((name, PARAMS[name]), average=True)
    for low, high in zip([0, *cuts], [*cuts, len(corpus)], strict=True):
        teach(parts, corpus[low:high], 3)
    assert cells(parts) == cells(whole)


@pytest.mark.parametrize("name", ["perceptron", "arow", "stdev", "pa"])
def test_sequences_without_tokens_or_weight_teach_nothing(name):
    corpus = random_corpus()
    nothing = strategies.Tagged([], [], (), 1.0)
    unheard = strategies.Tagged(corpus[3].tokens, [], corpus[3].y, 0.0)
    mixed = [nothing, *corpus[:4], unheard, *corpus[4:], nothing]
    plain = teach(make((name, PARAMS[name]), average=True), corpus, 3)
    tagger = teach(make((name, PARAMS[name]), average=True), mixed, 3)
    assert cells(tagger) == cells(plain)
    assert list(tagger.predict([[]])[0]) == []
