"""The features of an article that a sentence may belong to: the words that both have."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from experiments.many_labels.data import rarity
from surelearn.candidates import by_shared_features, match

#: Words of more than this share of the labels find no candidates.
_COMMON = 0.1


class Groups(NamedTuple):
    """Candidates of each sentence with their features, and which articles they are."""

    sums: np.ndarray  # a few numbers for each candidate
    words: Any  # the words that it shares with the sentence, in its profile and in its headline
    sizes: np.ndarray
    labels: np.ndarray  # the article of each candidate

    @property
    def X(self) -> Any:
        """All features."""
        return sparse.csr_array(sparse.hstack([sparse.csr_array(self.sums), self.words]))


def first_stage(X: Any, Z: Any, *, most: int) -> list[np.ndarray]:
    """The articles that share most with each sentence, by words that few of them have."""
    count = np.bincount(Z.indices, minlength=Z.shape[1])
    rare = sparse.diags_array((count <= _COMMON * Z.shape[0]).astype(np.float32))
    kept = sparse.csr_array(X @ rare)
    kept.eliminate_zeros()
    return by_shared_features(kept, Z, most=most)


def groups(X: Any, names: Any, profile: Any, *, most: int) -> Groups:
    """Candidates of the first stage, half of them by their headline alone, with features."""
    lists = _union(first_stage(X, profile, most=most // 2), first_stage(X, names, most=most // 2))
    rare = rarity(profile)
    scaled = sparse.csr_array(X @ sparse.diags_array(rare / rare.max()))
    by_text, by_name = match(scaled, profile, lists), match(scaled, names, lists)
    sizes, labels = np.array([len(own) for own in lists]), np.concatenate(lists)
    total = np.repeat(np.maximum(scaled.sum(axis=1), 1e-6), sizes)
    words = sparse.csr_array(sparse.hstack([by_text, by_name]))
    return Groups(_sums(by_text, by_name, total, _lengths(profile)[labels]), words, sizes, labels)


def _sums(by_text: Any, by_name: Any, total: np.ndarray, length: np.ndarray) -> np.ndarray:
    """How much is shared: as it is, as a share of the sentence, and for the article's length."""
    text, name = by_text.sum(axis=1), by_name.sum(axis=1)
    most = [part.max(axis=1).toarray().ravel() for part in (by_text, by_name)]
    fair = text / length
    return np.stack(
        [text / total, name / total, fair / total, fair, *most], axis=1, dtype=np.float32
    )


def _lengths(profile: Any) -> np.ndarray:
    """Roots of the numbers of words."""
    return np.sqrt(np.maximum(np.diff(profile.indptr), 1))


def _union(a: list[np.ndarray], b: list[np.ndarray]) -> list[np.ndarray]:
    return [np.union1d(*pair) for pair in zip(a, b, strict=True)]
