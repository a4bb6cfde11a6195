"""Very many classes: which of 12,000 articles is a sentence from? One process for each way."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import SGDClassifier

from experiments.many_labels.data import Articles, Sentences, articles, profiles
from experiments.many_labels.features import Groups, first_stage, groups
from surelearn import SureClassifier, SureRanker

#: Share of the articles of which only the headline is known.
NEW = 0.1

#: Most candidates of a sentence.
MOST = 100


class Result(NamedTuple):
    """Articles found, and what they took."""

    found: np.ndarray
    learning: float  # seconds
    answering: float
    model: int  # bytes


def lines() -> Iterator[dict[str, Any]]:
    """A line for each way."""
    for name in WAYS:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            yield pool.submit(line, name).result()


def line(name: str) -> dict[str, Any]:
    """Accuracy on sentences of articles that were learnt and of new ones, time and memory."""
    data = articles(new=NEW)
    base = peak()
    result = WAYS[name](data)
    right = result.found == data.judged.y
    new = np.isin(data.judged.y, np.unique(data.learnt.y), invert=True)
    error = np.sqrt(right[~new].mean() * (1 - right[~new].mean()) / (~new).sum())
    return {
        "way": name,
        "accuracy %": f"{100 * right[~new].mean():.1f}",
        "standard error": f"{100 * error:.1f}",
        "accuracy % on new labels": f"{100 * right[new].mean():.1f}",
        "seconds to learn": f"{result.learning:.1f}",
        "ms a sentence": f"{1000 * result.answering / len(right):.2f}",
        "MB of the model": f"{result.model / 1e6:.0f}",
        "MB in all": f"{peak() - base:.0f}",
        "labels": len(data.headlines),
        "sentences learnt": len(data.learnt.y) + len(data.profile.y),
        "sentences judged": len(right),
    }


def peak() -> float:
    """Most megabytes that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


# ------------------------------------------------------------------------- ways


def by_words(data: Articles) -> Result:
    """The first stage alone: the article that shares most, a rare word counting more."""
    begin = time.perf_counter()
    profile = profiles(data, data.profile, data.learnt)
    learnt = time.perf_counter()
    found = first_stage(data.judged.X, profile, most=1)
    labels = np.array([own[0] if len(own) else -1 for own in found])
    return Result(labels, learnt - begin, time.perf_counter() - learnt, nbytes(profile))


def ranker(data: Articles) -> Result:
    """Candidates of the first stage, ranked by the words that they share with the sentence."""
    begin = time.perf_counter()
    known = groups(data.learnt.X, data.names, profiles(data, data.profile), most=MOST)
    right = known.labels == np.repeat(data.learnt.y, known.sizes)
    model = SureRanker(random_state=0)
    model.fit(known.X, right.astype(int), group=known.sizes)
    profile = profiles(data, data.profile, data.learnt)
    learnt = time.perf_counter()
    asked = groups(data.judged.X, data.names, profile, most=MOST)
    labels = best(model, asked)
    seconds = time.perf_counter() - learnt
    held = model.coef_.nbytes + model.sigma_.nbytes + nbytes(profile) + nbytes(data.names)
    return Result(labels, learnt - begin, seconds, held)


def classifier(data: Articles) -> Result:
    """A weight for each word and label, all labels against each other."""
    return _by_class(data, SureClassifier(passes=3, random_state=0, scale=False))


def one_vs_rest(data: Articles) -> Result:
    """scikit-learn's one-vs-rest: a binary classifier for each label."""
    return _by_class(data, SGDClassifier(max_iter=1, tol=None, n_jobs=2, random_state=0))


WAYS: dict[str, Callable[[Articles], Result]] = {
    "shared words": by_words,
    "`SureRanker`": ranker,
    "`SureClassifier`": classifier,
    "`SGDClassifier`, one-vs-rest": one_vs_rest,
}


def best(model: SureRanker, asked: Groups) -> np.ndarray:
    """The label of each group's best candidate; -1 where there is none."""
    some = asked.sizes > 0
    labels = np.full(len(asked.sizes), -1)
    first = np.cumsum(asked.sizes) - asked.sizes
    places = model.predict(asked.X, group=asked.sizes)
    labels[some] = asked.labels[(first + places)[some]]
    return labels


def _by_class(data: Articles, model: Any) -> Result:
    """Tf-idf of the words that occur in what is learnt; headlines are learnt as well."""
    known = np.unique(data.learnt.y)
    headlines = Sentences(data.names[known], known)
    parts = (data.profile, data.learnt, headlines)
    begin = time.perf_counter()
    X = sparse.vstack([part.X for part in parts])
    words = np.unique(X.indices)
    weigh = TfidfTransformer().fit(X[:, words])
    model.fit(_rows(weigh, X[:, words]), np.concatenate([part.y for part in parts]))
    learnt = time.perf_counter()
    labels = model.predict(_rows(weigh, data.judged.X[:, words]))
    seconds = time.perf_counter() - learnt
    held = model.coef_.nbytes + getattr(model, "sigma_", np.zeros(0)).nbytes
    return Result(labels, learnt - begin, seconds, held)


def _rows(weigh: TfidfTransformer, X: Any) -> Any:
    return sparse.csr_array(weigh.transform(X), dtype=np.float32)


def nbytes(matrix: Any) -> int:
    """Bytes of a sparse matrix."""
    return int(matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes)
