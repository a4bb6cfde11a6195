"""Labels and features of a block, registered with a model."""

from __future__ import annotations

import numpy as np
import pytest

from surelearn.learners.tasks.sequence_training import SequenceSettings, encode_block
from surelearn.learners.tasks.sequences import LabelledSequences
from tagged import PAIRED, corpus, tagger


def settings(**options):
    return SequenceSettings.of(tagger(**options).get_params(deep=False))


def test_a_block_is_encoded_by_the_model_that_knows_it():
    X, y = corpus(5)
    model, encoded = encode_block(settings(templates=["w[0]"]), None, LabelledSequences.of(X, y))
    names, labels = model.features.names, model.classes.tolist()
    at = encoded.sequences.X.indices
    assert [names[j] for j in at] == [f"w[0]={word}" for words in X for word in words]
    assert [labels[k] for k in encoded.y] == [tag for tags in y for tag in tags]
    assert encoded.size == 5


def test_what_was_encoded_before_other_labels_and_pairs_came_still_fits():
    how = settings(templates=PAIRED)
    first, old = encode_block(how, None, LabelledSequences.of([["a", "dog"]], [["D", "N"]]))
    grown, _ = encode_block(
        how, first, LabelledSequences.of([["oh", "a", "dog"]], [["C", "D", "N"]])
    )
    batch = old.batch(grown)
    assert grown.classes[batch.y].tolist() == ["D", "N"]
    assert old.sequences.pairs.shape == (2, grown.n_pairs) == (2, 4)


def test_parts_keep_their_numbers_and_weights():
    X, y = corpus(6)
    weight = np.array([1.0, 0.0, 2.0, 3.0, 4.0, 5.0])
    block = LabelledSequences.of(X, y, weight)
    _, encoded = encode_block(settings(), None, block)
    part = encoded.part(1, 3)
    assert (part.numbers.tolist(), part.weight.tolist()) == ([2, 3], [2.0, 3.0])
    assert part.classes[part.y].tolist() == y[2] + y[3]


def test_refused_labels_leave_no_features():
    how = settings()
    model, _ = encode_block(how, None, LabelledSequences.of(*corpus(5)))
    before = model.features.names
    with pytest.raises(TypeError, match="y must hold labels of the same type as before"):
        encode_block(how, model, LabelledSequences.of([["zebra"]], [[1]]))
    assert model.features.names == before
