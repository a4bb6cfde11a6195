"""Weights at rest are copied, never changed."""

from __future__ import annotations

import numpy as np

from surelearn import SureClassifier
from surelearn.models.snapshot import Snapshot


def test_copies_of_a_snapshot_are_the_weights_it_was_taken_of():
    clf = SureClassifier(random_state=0).fit(np.eye(3), [0, 1, 2])
    weights = clf.model_.weights
    before = weights.means.tobytes()
    snapshot = Snapshot(weights)
    assert snapshot.prior == weights.prior
    clf.partial_fit(-np.eye(3), [0, 1, 2])
    assert weights.means.tobytes() != before
    assert snapshot.copy().means.tobytes() == before
    assert snapshot.state() is snapshot.state()
