"""Rarity beside scikit-learn's `TfidfTransformer` on the same counts."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfTransformer

from reference.learner import Learner
from surelearn import SureClassifier, _core
from surelearn.merging import Documents
from surelearn.rows import rows_of
from surelearn.rules import get
from surelearn.text import HashingVectorizer

WORDS = ["good", "fine", "bad", "dull", "film", "plot", "naïve", "the"]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), max_size=8)
OPTIONS = st.fixed_dictionaries(
    {
        "analyzer": st.sampled_from(["word", "char_wb"]),
        "ngram_range": st.sampled_from([(1, 1), (1, 2)]),
        "binary": st.booleans(),
        "log_counts": st.booleans(),
        "norm": st.sampled_from([None, "l1", "l2"]),
        "alternate_sign": st.booleans(),
        "n_features": st.sampled_from([2, 7, 2**10]),
        "dtype": st.sampled_from([np.float32, np.float64]),
    }
)
SOME = ["good film", "bad film", "a dull dull plot", "the plot"]


def tfidf(options, counted, asked):
    """What scikit-learn makes of the same counts."""
    counts = HashingVectorizer(**{**options, "norm": None})
    transformer = TfidfTransformer(norm=options["norm"], smooth_idf=True)
    transformer.fit(counts.transform(counted))
    return transformer.transform(counts.transform(asked)).toarray(), transformer.idf_


def assert_bits(a, b):
    assert [x.tobytes() for x in (a.indptr, a.indices, a.data)] == [
        x.tobytes() for x in (b.indptr, b.indices, b.data)
    ]


# ------------------------------------------------------------- as in scikit-learn


@given(counted=TEXTS.filter(len), asked=TEXTS.filter(len), options=OPTIONS)
def test_equals_the_transformer(counted, asked, options):
    vectorizer = HashingVectorizer(**options, idf=True).fit(counted)
    rows, idf = tfidf(options, counted, asked)
    close = 1e-12 if options["dtype"] == np.float64 else 3e-6
    got = vectorizer.transform(asked)
    assert got.dtype == options["dtype"]
    np.testing.assert_allclose(got.toarray(), rows, rtol=close, atol=1e-300)
    np.testing.assert_allclose(vectorizer.idf_, idf, rtol=close)
    assert vectorizer.n_documents_ == len(counted)


@given(texts=TEXTS.filter(len), norm=st.sampled_from([None, "l1", "l2"]))
def test_where_scikit_learn_makes_the_ngrams(texts, norm):
    by_hand = HashingVectorizer(tokenizer=str.split, token_pattern=None, norm=norm, idf=True)
    native = HashingVectorizer(norm=norm, idf=True)
    np.testing.assert_allclose(
        by_hand.fit_transform(texts).toarray(), native.fit_transform(texts).toarray(), rtol=1e-12
    )


def test_logarithms_beyond_the_table():
    """A feature in more documents than the table of logarithms has entries."""
    counts, n = _core.DocumentCounts(2), 200_000
    counts.add(n, np.array([0, 1]), np.array([n - 1, 70_000]))
    np.testing.assert_allclose(counts.idf(), 1 + np.log((1 + n) / np.array([n, 70_001])))


# -------------------------------------------------------------------------- laws


@given(texts=TEXTS, cuts=st.lists(st.integers(0, 8), max_size=3).map(sorted))
def test_pieces_count_as_one(texts, cuts):
    whole = HashingVectorizer(idf=True).fit(texts)
    pieces = HashingVectorizer(idf=True)
    for begin, end in zip([0, *cuts], [*cuts, None], strict=True):
        pieces.partial_fit(texts[begin:end])
    assert pieces.idf_.tobytes() == whole.idf_.tobytes()
    assert_bits(pieces.transform(texts), whole.transform(texts))


@given(texts=TEXTS.filter(len), norm=st.sampled_from([None, "l1", "l2"]), threads=st.integers(1, 3))
def test_hashed_once_or_twice(texts, norm, threads):
    both = HashingVectorizer(idf=True, norm=norm, n_jobs=threads).fit_transform(texts)
    assert_bits(both, HashingVectorizer(idf=True, norm=norm).fit(texts).transform(texts))


@given(texts=TEXTS.filter(len))
def test_one_text_as_many(texts):
    vectorizer = HashingVectorizer(idf=True).fit(texts)
    rows = vectorizer.transform(texts)
    for i, text in enumerate(texts):
        _, features, values = vectorizer.transform_one(text)
        assert features.tolist() == rows[i].indices.tolist()
        assert values.tobytes() == rows[i].data.tobytes()


@given(texts=TEXTS.filter(len), n=st.integers(0, 8))
def test_forgetting_undoes_counting(texts, n):
    vectorizer = HashingVectorizer(idf=True)
    rows = rows_of(vectorizer.unweighed(texts))
    first = min(n, len(texts))
    assert len(vectorizer.count_and_weigh_rows(rows)) == len(texts)
    vectorizer.documents.forget_rows(rows, first)
    fewer = HashingVectorizer(idf=True).fit(texts[:first])
    assert vectorizer.n_documents_ == first
    assert vectorizer.idf_.tobytes() == fewer.idf_.tobytes()


@pytest.mark.parametrize("projection", ["precision", "covariance"])
@pytest.mark.parametrize(
    ("rule", "params"),
    [("probit", {"noise": 1.0}), ("arow", {"r": 1.0}), ("stdev", {"phi": 0.5})],
)
def test_a_scale_is_a_prior_variance(rule, params, projection):
    """Rows scaled by s, or a variance of s^2 for each weight at the start: the same Gaussian."""
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice(WORDS, random.integers(1, 7))) for _ in range(60)]
    y = np.array([text.count("good") > text.count("bad") for text in texts]).astype(int)
    scaled, plain = (
        HashingVectorizer(idf=True, n_features=16),
        HashingVectorizer(norm=None, n_features=16),
    )
    X, rows = scaled.fit_transform(texts), plain.transform(texts).toarray()
    s = scaled.idf_
    size = np.linalg.norm(s * rows, axis=1, keepdims=True)
    rows = rows / np.where(size == 0, 1, size)
    clf = SureClassifier(get(rule).replace(**params), projection=projection, dtype="float64")
    clf.partial_fit(X, y, classes=[0, 1])
    prior = Learner(16, 2, rule, params, projection=projection)
    prior.sigma[:, :16] = s**2
    for row, label in zip(rows, y, strict=True):
        prior.learn(row, label)
    assert clf.n_updates_ == prior.updates > 20
    np.testing.assert_allclose(s * clf.coef_, prior.mu[:, :16], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(s**2 * clf.sigma_, prior.sigma[:, :16], rtol=1e-9)
    means = [prior.margin(row)[0][0] for row in rows]
    np.testing.assert_allclose(clf.decision_function(X), means, rtol=1e-9, atol=1e-12)


# ------------------------------------------------------------------------- state


def test_fit_counts_anew_and_partial_fit_adds():
    vectorizer = HashingVectorizer(idf=True).fit(SOME)
    assert vectorizer.partial_fit(SOME[:1]).n_documents_ == 5
    assert vectorizer.fit(SOME[:3]).n_documents_ == 3
    assert vectorizer.fit([]).n_documents_ == 0
    assert (vectorizer.idf_ == 1).all()


def test_nothing_counted_yet():
    vectorizer = HashingVectorizer(idf=True)
    for ask in (
        lambda: vectorizer.transform(SOME),
        lambda: vectorizer.idf_,
        lambda: vectorizer.n_documents_,
    ):
        with pytest.raises(NotFittedError, match="idf=True needs texts counted by fit"):
            ask()
    assert not hasattr(HashingVectorizer(), "idf_")
    assert clone(vectorizer.fit(SOME)).__sklearn_tags__().requires_fit
    with pytest.raises(NotFittedError, match="got no call"):
        clone(vectorizer).transform(SOME)


def test_refused_calls_count_nothing():
    vectorizer = HashingVectorizer(idf=True).fit(SOME)
    before = vectorizer.idf_
    for method in (vectorizer.fit, vectorizer.partial_fit, vectorizer.fit_transform):
        with pytest.raises(TypeError, match="must be"):
            method(["good", 3])
    assert (vectorizer.idf_ == before).all()


def test_refused_settings():
    with pytest.raises(ValueError, match="dtype must be float32 or float64 with idf=True, got int"):
        HashingVectorizer(idf=True, norm=None, dtype=np.int64).fit(SOME)
    vectorizer = HashingVectorizer(idf=True).fit(SOME).set_params(n_features=8)
    with pytest.raises(ValueError, match="n_features must"):
        vectorizer.partial_fit(SOME)
    with pytest.raises(ValueError, match="n_features must"):
        vectorizer.transform(SOME)


@pytest.mark.parametrize("copied", [lambda v: pickle.loads(pickle.dumps(v)), copy.deepcopy])
def test_copies_are_independent(copied):
    vectorizer = HashingVectorizer(idf=True, keep_names=True).fit(SOME)
    other = copied(vectorizer)
    assert_bits(other.transform(SOME), vectorizer.transform(SOME))
    assert other.partial_fit(SOME).n_documents_ == 2 * vectorizer.n_documents_
    assert other.n_names_ == vectorizer.n_names_


def test_plain_counts():
    vectorizer = HashingVectorizer(idf=True).fit(SOME)
    other = HashingVectorizer(idf=True)
    other.restore_documents(vectorizer.documents_met())
    assert_bits(other.transform(SOME), vectorizer.transform(SOME))
    full = Documents(2**32 - 4, *vectorizer.documents_met()[1:])
    other.restore_documents(full)
    with pytest.raises(ValueError, match=r"fewer than 2\*\*32"):
        other.partial_fit(SOME)
    assert other.n_documents_ == 2**32 - 4


def test_readers_beside_a_counter():
    """Others may transform while one counts."""
    vectorizer = HashingVectorizer(idf=True, n_features=2**10).fit(SOME)

    def ask(_):
        return np.linalg.norm(vectorizer.transform(SOME).toarray(), axis=1)

    with ThreadPoolExecutor(2) as pool:
        asked = pool.map(ask, range(50))
        for _ in range(50):
            vectorizer.partial_fit(SOME)
        assert all(np.allclose(lengths, 1.0) for lengths in asked)
    assert vectorizer.n_documents_ == 4 * 51
