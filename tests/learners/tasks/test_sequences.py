"""Sequences learnt by the core against the plain reference, for every rule and scheme."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import strategies
from reference.chain import Paths
from reference.rules import FIRST_ORDER, REGISTRY
from reference.tagger import ReferenceTagger, Sentence, difference
from reference.test_reference import PARAMS
from surelearn import _core, rules
from surelearn.constraints import Sequential, Single
from surelearn.rows import rows_of
from surelearn.weights import Diagonal, Layout

TOLERANCE = 1e-9

FEATURES, PAIRS = "abcd", "pq"

# A step of almost nothing and none at all are the same; these step by more, or not at all.
ABRUPT = frozenset({"perceptron", "sop", "arow", "nherd"})


def random_corpus(seed=0, n_sequences=10, n_labels=3):
    """Short sequences of few features, whose values float32 holds."""
    rng = np.random.default_rng(seed)

    def draw(names):
        return {f: float(np.float32(rng.normal())) for f in names if rng.random() < 0.6}

    return [
        strategies.Tagged(
            tokens=[draw(FEATURES) for _ in range(length)],
            pairs=[draw(PAIRS) for _ in range(length)],
            y=tuple(rng.integers(0, n_labels, length).tolist()),
            weight=float(rng.choice([0.25, 1.0, 3.0])),
        )
        for length in rng.integers(1, 5, n_sequences)
    ]


def sentence(tagged):
    return Sentence(tagged.tokens, tagged.pairs)


def expected(corpus, n_labels, rule, *, weighted=True, **options):
    """The reference after all sequences, and whether it refused one."""
    tagger = ReferenceTagger(*rule, n_labels, **options)
    for tagged in corpus:
        try:
            tagger.learn(sentence(tagged), tagged.y, tagged.weight if weighted else 1.0)
        except FloatingPointError:
            return tagger, True
    return tagger, False


# ------------------------------------------------------------------- the core


def matrix(rows, names):
    """The rows as the core takes them."""
    dense = np.array([[row.get(name, 0.0) for name in names] for row in rows], np.float32)
    return rows_of(csr_array(dense.reshape(len(rows), len(names))))


def sequences(corpus):
    """Tokens, steps and bounds of the sequences."""
    bounds = np.cumsum([0, *(len(tagged.y) for tagged in corpus)], dtype=np.int64)
    tokens = list(itertools.chain(*(tagged.tokens for tagged in corpus)))
    pairs = list(itertools.chain(*(tagged.pairs for tagged in corpus)))
    return matrix(tokens, FEATURES), matrix(pairs, PAIRS), bounds


def place(cell, n_labels):
    """Row and column of a cell in the table of all weights."""
    kind, *where, label = cell
    if kind in ("start", "end"):
        return ("start", "end").index(kind), label
    if kind == "transition":
        pair, before = where
        return 2 + (None, *PAIRS).index(pair) * n_labels + before, label
    return 2 + (1 + len(PAIRS)) * n_labels + FEATURES.index(where[0]), label


class Core:
    """The core's weights, taught the way the reference is."""

    def __init__(self, rule, n_labels, *, k=1, projection="precision", average=False, **prior):
        name, params = rule
        self.n_labels = n_labels
        n_rows = 2 + (1 + len(PAIRS)) * n_labels + len(FEATURES)
        layout = Layout(
            n_rows,
            intercept=False,
            second_order=name not in FIRST_ORDER,
            averaged=average,
            dtype="float64",
        )
        self.weights = Diagonal(layout, n_labels, prior.get("initial_variance", 1.0))
        scheme = Single() if k == 1 else Sequential(k)
        self.method = rules.RULES[name](**params).core(), scheme.core(), projection == "covariance"
        self.done = np.zeros(3, np.uint64)

    def learn(self, corpus, *, weighted=True, order=None):
        """Whether a sequence was refused. Those of no weight are left out, as for rows."""
        corpus = [tagged for tagged in corpus if tagged.weight > 0 or not weighted]
        y = np.array([label for tagged in corpus for label in tagged.y], np.int32)
        weight = np.array([tagged.weight for tagged in corpus]) if weighted else None
        learn = functools.partial(_core.learn_sequences, self.weights._core, *self.method)
        return learn(*sequences(corpus), y, weight, order, 0, len(corpus), self.done)


def assert_cells(table, want, n_labels, *, rest, scale=0.0):
    """Every cell the reference touched is the same, and every other one as it was at the start."""
    wanted = np.full(table.shape, rest)
    for cell, value in want.items():
        row, column = place(cell, n_labels)
        wanted[column, row] = value
    np.testing.assert_allclose(table, wanted, rtol=TOLERANCE, atol=TOLERANCE * scale)


def agree(core, want, n_close=0):
    mean = want.mean()
    scale = max(map(abs, mean.values()), default=1e-3)
    assert_cells(core.weights.means, mean, core.n_labels, rest=0.0, scale=scale)
    if want.rule not in FIRST_ORDER:
        start = want.initial_variance
        assert_cells(core.weights.variances, want.sigma, core.n_labels, rest=start)
    _, mistakes, updates = core.done.tolist()
    assert mistakes == want.mistakes
    assert abs(updates - want.updates) <= n_close


# ------------------------------------------------------------------ agreement


@functools.cache
def judged(name, k, projection, weighted):
    """The reference on the random corpus; it keeps both the mean and its average."""
    rule, options = (name, PARAMS[name]), {"k": k, "projection": projection}
    want, refused = expected(
        random_corpus(), 3, rule, weighted=weighted, initial_variance=1.5, **options
    )
    assert not refused
    assert want.ties == want.close_calls == 0
    assert want.updates > 3
    return want


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("projection", ["precision", "covariance"])
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_learning_agrees_with_the_reference(name, k, projection, average, weighted):
    want = judged(name, k, projection, weighted)
    want.average = average
    options = {"k": k, "projection": projection, "average": average, "initial_variance": 1.5}
    core = Core((name, PARAMS[name]), 3, **options)
    assert not core.learn(random_corpus(), weighted=weighted)
    agree(core, want)


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
    return draw(strategies.corpora()), rule, options


@given(settings())
def test_any_corpus_is_learnt_as_by_the_reference(setting):
    (corpus, n_labels), rule, options = setting
    want, refused = expected(corpus, n_labels, rule, **options)
    assume(want.ties == 0)
    assume(want.close_calls == 0 or rule[0] not in ABRUPT)
    core = Core(rule, n_labels, **options)
    assert core.learn(corpus) == refused
    agree(core, want, want.close_calls)


def test_a_sequence_that_would_collapse_is_refused():
    """Precisions grow by C^2 v a_j here, which is more than a float holds."""
    first = strategies.Tagged([{"b": 1.0}], [{}], (1,), 1.0)
    fatal = strategies.Tagged([{"a": 1e38}, {"b": 1.0}], [{}, {}], (2, 1), 1.0)
    rule, options = ("nherd", {"C": 1e30}), {"initial_variance": 1e80}
    core = Core(rule, 3, **options)
    assert core.learn([first, fatal, first])
    want, refused = expected([first, fatal], 3, rule, **options)
    assert refused
    assert want.updates == 1
    agree(core, want)


@pytest.mark.parametrize("name", ["perceptron", "arow", "stdev"])
def test_order_is_that_of_the_sequences_given_so(name):
    corpus, order = random_corpus(), np.random.default_rng(2).permutation(10)
    straight, turned = (Core((name, PARAMS[name]), 3, average=True) for _ in range(2))
    straight.learn([corpus[i] for i in order])
    turned.learn(corpus, order=order)
    np.testing.assert_array_equal(straight.weights.means, turned.weights.means)
    np.testing.assert_array_equal(straight.done, turned.done)


# -------------------------------------------------------------------- answers


def answered(average=False):
    """The core and the reference, taught the same, and sequences neither has seen."""
    rule = ("arow", PARAMS["arow"])
    core = Core(rule, 3, average=average)
    core.learn(random_corpus())
    want, _ = expected(random_corpus(), 3, rule, average=average)
    return core.weights._core, want, random_corpus(seed=1)


@pytest.mark.parametrize("average", [False, True])
def test_scores_of_a_sequence_are_those_of_its_features(average):
    core, want, unseen = answered(average)
    for tagged in unseen:
        U, A = want.scores(sentence(tagged), want.mean())
        got_U, got_A = _core.chain_scores(core, *sequences([tagged]))
        np.testing.assert_allclose(got_U, U, rtol=0, atol=1e-12)
        np.testing.assert_allclose(np.broadcast_to(got_A, A.shape), A, rtol=0, atol=1e-12)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("average", [False, True])
def test_tags_and_marginals_are_those_of_enumeration(average, threads):
    core, want, unseen = answered(average)
    unseen.insert(4, strategies.Tagged([], [], (), 1.0))
    given = sequences(unseen)
    tags = [label for tagged in unseen for label in want.predict(sentence(tagged))]
    np.testing.assert_array_equal(_core.tag(core, *given, threads), tags)
    scores = [want.scores(sentence(x), want.mean()) for x in unseen if x.y]
    for temperature in (1.0, 2.5):
        tables = [Paths(U / temperature, A / temperature).marginals() for U, A in scores]
        got = _core.tag_marginals(core, *given, temperature, threads)
        np.testing.assert_allclose(got, np.concatenate(tables), rtol=0, atol=1e-12)


@pytest.mark.parametrize("average", [False, True])
def test_lead_is_over_the_best_path_with_another_label_there(average):
    core, want, unseen = answered(average)
    labels, means, variances = _core.leads(core, *sequences(unseen), 1)
    mean, rows = want.mean(), []
    for x in map(sentence, unseen):
        paths = Paths(*want.scores(x, mean))
        best = paths.best()
        for t, label in enumerate(best):
            other = next(path for path in paths.ranked if path[t] != label)
            g = difference(x, best, other)
            m = sum(mean.get(cell, 0.0) * value for cell, value in g.items())
            rows.append((label, m, sum(want.sigma.get(c, 1.0) * v**2 for c, v in g.items())))
    np.testing.assert_allclose([labels, means, variances], np.transpose(rows), rtol=1e-9)
