"""Partitions, as every engine has them learnt."""

from __future__ import annotations

import numpy as np
import pytest

from classifiers import X4, Y4, fingerprint
from surelearn import SureClassifier
from surelearn.estimators import partitions


class Parts:
    """An engine that holds its partitions in a list."""

    def __init__(self, *parts):
        self._parts = parts

    def tally(self, job):
        parts = enumerate(self._parts)
        return partitions.together([job.tally(y, number=i) for i, (_, y) in parts])

    def total(self, job):
        parts = enumerate(self._parts)
        return partitions.summed([job.state(X, y, number=i) for i, (X, y) in parts])


@pytest.mark.parametrize("classes", [None, ["a", "b"]])
def test_many_labels_are_refused(classes):
    parts = Parts((X4, [["a"], [], ["b"], ["a", "b"]]))
    with pytest.raises(ValueError, match="y must have one label for each row here, got rows of"):
        partitions.fit(SureClassifier(), parts, classes=classes)


def test_partitions_have_all_classes_together():
    parts = Parts((X4, Y4), (X4, ["ad", "no", "ad", "no"]))
    for weights in ({"ad": 0.0, "yes": 2.0}, {"no": 3.0}):
        clf = SureClassifier(class_weight=weights, random_state=0, n_shards=2)
        want = clf.fit(np.vstack([X4, X4]), [*Y4, "ad", "no", "ad", "no"])
        if 0.0 not in weights.values():  # rows of weight 0 are dropped before a fit is cut
            assert fingerprint(partitions.fit(clf, parts)) == fingerprint(want)
        assert partitions.fit(clf, parts).classes_.tolist() == want.classes_.tolist()
    with pytest.raises(ValueError, match=r"classes 'ad', 'no', 'yes', got 'yess'"):
        partitions.fit(SureClassifier(class_weight={"yess": 2.0}), parts)
    classes = ["ad", "no", "yes"]
    with pytest.raises(ValueError, match=r"classes 'ad', 'no', 'yes', got 'yess'"):
        partitions.fit(SureClassifier(class_weight={"yess": 2.0}), parts, classes=classes)
    with pytest.raises(
        TypeError, match=r"partition 0: class_weight must have keys of the same type"
    ):
        partitions.fit(SureClassifier(class_weight={1: 2.0}), parts)
