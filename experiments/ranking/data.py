"""Ranking sets: articles for a headline or a sentence, graded; the message of a subject."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

from experiments import sets
from experiments.many_labels.data import Articles, Sentences, profiles
from experiments.many_labels.data import articles as headlines_and_sentences
from experiments.many_labels.features import groups
from surelearn.candidates import by_shared_features, cross

#: Words of an article that are crossed with its headline, and candidates of a group.
WORDS, CANDIDATES = 40, 20
N_FEATURES = 2**18
_SUBJECT = re.compile(r"^Subject: *(?:(?:re|fwd?): *)*(.*)$", re.IGNORECASE | re.MULTILINE)


class Ranking(NamedTuple):
    """Candidates, their relevance, and the size of each group."""

    X: Any
    y: np.ndarray
    group: list[int]


def articles(n_train: int = 1500, n_test: int = 600) -> tuple[Ranking, Ranking]:
    """Reuters: a headline, twenty articles of the same side of the ModLewis split that have words
    of it, and how many topics each shares with the headline's own article, which is left out.

    Features are the words of the headline crossed with the first words of the article, hashed.
    """
    found = [r for r in sets.records("reuters-21578.jsonl.xz") if r["topics"] and r["title"]]
    bodies = [" ".join(re.findall(r"\w+", r["text"].split("\n", 1)[-1])[:WORDS]) for r in found]
    words = CountVectorizer(binary=True, stop_words="english", dtype=np.float32)
    words.fit([r["title"] for r in found] + bodies)
    sides = []
    for side, n in (("TRAIN", n_train), ("TEST", n_test)):
        pool = np.array([i for i, r in enumerate(found) if r["lewissplit"] == side])
        asked = np.random.default_rng(0).permutation(pool)[:n]
        X = words.transform([found[i]["title"] for i in asked])
        Z = words.transform([bodies[i] for i in pool])
        lists = by_shared_features(X, Z, most=CANDIDATES + 1)
        lists = [own[pool[own] != i][:CANDIDATES] for own, i in zip(lists, asked, strict=True)]
        topics = [set(r["topics"]) for r in found]
        y = [
            len(topics[i] & topics[pool[j]])
            for i, own in zip(asked, lists, strict=True)
            for j in own
        ]
        rows = normalize(cross(X, Z, lists, n_features=N_FEATURES))
        sides.append(Ranking(sparse.csr_array(rows), np.array(y), [len(own) for own in lists]))
    return sides[0], sides[1]


def messages(n_train: int = 2000, n_test: int = 1000) -> tuple[Ranking, Ranking]:
    """20 Newsgroups: the subject of a message, its text and ten other texts that have words of it.

    Features are ten dense measures of the words that both have.
    """
    texts = sets.texts("20 Newsgroups").texts
    texts = [texts[i] for i in np.random.default_rng(0).permutation(len(texts))[:6000]]
    both = [(match.group(1), text) for text in texts if (match := _SUBJECT.search(text))]
    subjects = [subject for subject, _ in both]
    bodies = [
        re.sub(r"^(From|Subject):.*$", "", text, flags=re.MULTILINE)[:2000] for _, text in both
    ]
    words = CountVectorizer(stop_words="english", dtype=np.float32, min_df=2)
    words.fit(subjects + bodies)
    S, B = words.transform(subjects), words.transform(bodies)
    rarity = np.log(len(bodies) / (1.0 + np.bincount(B.indices, minlength=B.shape[1])))
    train, test = (
        _measured(S, B, range(*side), rarity)
        for side in ((0, n_train), (n_train, n_train + n_test))
    )
    mean, spread = train.X.mean(axis=0), train.X.std(axis=0) + 1e-9
    return train._replace(X=(train.X - mean) / spread), test._replace(X=(test.X - mean) / spread)


def _measured(S: Any, B: Any, asked: range, rarity: np.ndarray) -> Ranking:
    lists = by_shared_features(S[list(asked)], B, most=10)
    lists = [np.union1d(own, [i]) for own, i in zip(lists, asked, strict=True)]
    X = [_measures(S[[i]].indices, B[own], rarity) for own, i in zip(lists, asked, strict=True)]
    y = [(own == i).astype(int) for own, i in zip(lists, asked, strict=True)]
    return Ranking(np.vstack(X), np.concatenate(y), [len(own) for own in lists])


def _measures(words: np.ndarray, bodies: Any, rarity: np.ndarray) -> np.ndarray:
    """Ten measures of how well bodies fit the words of a subject."""
    own = rarity[words]
    counts = np.log1p(bodies[:, words].toarray())
    shared = (counts > 0).astype(float)
    length = np.log1p(np.asarray(bodies.sum(axis=1)).ravel())
    size = np.sqrt(1.0 + np.asarray(bodies.multiply(bodies).sum(axis=1)).ravel())
    n, total = max(1, len(words)), own.sum() + 1e-9
    return np.column_stack(
        [
            shared.sum(axis=1),
            shared.sum(axis=1) / n,
            shared @ own,
            shared @ own / total,
            shared @ own / (1 + length),
            counts.sum(axis=1),
            counts @ own,
            counts @ own / size,
            shared.all(axis=1),
            length,
        ]
    )


def sentences(n_train: int = 4000, n_test: int = 3000, *, words: bool) -> tuple[Ranking, Ranking]:
    """Reuters: a sentence and the articles that share words with it, up to forty.

    The article that it is from has relevance 2, one with a topic of that article 1, any other 0.
    Features are six sums over the words that both have; with `words` also these words.
    """
    data = headlines_and_sentences()
    before, after = profiles(data, data.profile), profiles(data, data.profile, data.learnt)
    train = _graded(data, data.learnt, n_train, before, words=words)
    test = _graded(data, data.judged, n_test, after, words=words)
    if words:
        return train, test
    mean, spread = train.X.mean(axis=0), train.X.std(axis=0)
    return train._replace(X=(train.X - mean) / spread), test._replace(X=(test.X - mean) / spread)


def _graded(data: Articles, given: Sentences, n: int, profile: Any, *, words: bool) -> Ranking:
    found = groups(given.X[:n], data.names, profile, most=2 * CANDIDATES)
    own = np.repeat(given.y[:n], found.sizes)
    pairs = zip(own, found.labels, strict=True)
    near = [not data.topics[a].isdisjoint(data.topics[b]) for a, b in pairs]
    y = np.where(found.labels == own, 2, np.array(near, dtype=int))
    return Ranking(found.X if words else found.sums, y, found.sizes.tolist())


#: The sets by name.
SETS: dict[str, Callable[[], tuple[Ranking, Ranking]]] = {
    "Reuters headlines": articles,
    "20 Newsgroups subjects": messages,
    "Reuters sentences, sums": partial(sentences, words=False),
    "Reuters sentences, words": partial(sentences, words=True),
}
