"""Shards of texts: counted first, then weighed by the counts of all; must not know classifiers."""

from __future__ import annotations

from typing import Any

from surelearn.learners.answers.linear import Linear, block_of
from surelearn.learners.readers import TextReader
from surelearn.merging import Documents
from surelearn.parameters import untrained
from surelearn.rows import rows_of
from surelearn.training.shards import Shard


def counted_texts(estimator: Linear, X: Any, y: Any, sample_weight: Any) -> Documents:
    """The document counts of texts, without those of weight 0.

    Parameters
    ----------
    estimator : SureTextClassifier
        Its parameters alone are used.
    X, y, sample_weight
        As in `fit`.
    """
    twin: Any = untrained(estimator).set_params(keep_names=False, n_jobs=1)
    block = block_of(twin, X, y, sample_weight)
    twin.vectorizer_.count(block.X)
    documents: Documents = twin.vectorizer_.documents_met()
    return documents


def weighed_by(shard: Shard, documents: Documents) -> Shard:
    """A shard whose texts are weighed by these counts of all shards."""
    reader: TextReader = shard.trainable.reader  # type: ignore[attr-defined]
    reader.vectorizer.restore_documents(documents)
    reader.is_shard = True
    block = shard.block
    if not block.size:
        return shard
    X = reader.vectorizer.weigh_in_place(block.X)
    return shard._replace(block=block._replace(rows=rows_of(X), X=X))
