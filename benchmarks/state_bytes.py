"""Bytes that a partition sends: the state of one shard and of a sum of two, as docs/howto show.

Every feature is met, which is the most there can be; a state holds the features that were met and
no others. Prints one row for each number of features and classes: pickled, as Dask sends it, and
compressed, as `surelearn.spark` does.
"""

from __future__ import annotations

import pickle
import zlib

import numpy as np
from scipy import sparse

from surelearn import SureClassifier
from surelearn.merging import MergeState

#: Features in a row.
LENGTH = 256


def shard(n_features: int, n_classes: int, seed: int) -> MergeState:
    """What is learnt from rows in which every feature is met once."""
    random = np.random.default_rng(seed)
    starts = np.arange(0, n_features + 1, LENGTH)
    values = random.random(n_features, dtype=np.float32)
    shape = (len(starts) - 1, n_features)
    X = sparse.csr_matrix((values, random.permutation(n_features), starts), shape=shape)
    model = SureClassifier(passes=1, random_state=seed).fit(X, np.arange(shape[0]) % n_classes)
    return MergeState.of(model.model_)


def megabytes(state: MergeState) -> str:
    """Pickled and compressed."""
    pickled = pickle.dumps(state, protocol=5)
    return f"{len(pickled) / 1e6:8.1f} {len(zlib.compress(pickled, 1)) / 1e6:8.1f}"


def main() -> None:
    print("features  classes  MB: one shard, compressed; sum, compressed")
    for bits in (18, 20):
        for n_classes in (2, 20):
            one, other = (shard(2**bits, n_classes, seed) for seed in (0, 1))
            print(f"    2^{bits}  {n_classes:7}  {megabytes(one)} {megabytes(one + other)}")


if __name__ == "__main__":
    main()
