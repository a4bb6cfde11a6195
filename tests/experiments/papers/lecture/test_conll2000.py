"""Chunks are counted by sentence, and differences have errors over sentences."""

from __future__ import annotations

import json

import numpy as np
import pytest

from experiments.papers.lecture import conll2000, sentences
from experiments.papers.lecture.conll2000 import CRF, CRFSUITE, CW, LEARNERS, SINGLE, SVM

#: Correct, found and true chunks, right tags, tags, log loss.
GOOD, BAD = [3, 3, 3, 8, 8, 0.5], [1, 3, 3, 5, 8, 9.0]


def made(**counts):
    """Rows of all learners: all sentences alike, but for some that are wrong."""
    share = dict.fromkeys(LEARNERS, 0.2) | counts
    return [
        {
            "learner": name,
            "learnt": 1000,
            "has probabilities": name != CRFSUITE,
            "counts": [BAD if i < 100 * share[name] else GOOD for i in range(100)],
        }
        for name in LEARNERS
    ]


def test_claims_follow_the_rows():
    found = conll2000.claims(made(**{SINGLE: 0.5, SVM: 0.6}))
    assert [claim.verdict for claim in found] == ["held", "held"]
    assert found[0].note.endswith("CRFsuite: 0.00 ± 0.00.")
    turned = conll2000.claims(made(**{CW: 0.5, CRF: 0.6}))
    assert [claim.verdict for claim in turned] == ["did not hold", "did not hold"]


def test_the_table_has_f1_and_the_difference_to_cw():
    ((title, lines),) = conll2000.tables(made(**{SVM: 0.0})).items()
    assert title == "1,000 sentences learnt, 100 judged"
    by_name = {line["learner"]: line for line in lines}
    assert by_name[SVM]["F1 of chunks"] == "100.00 ± 0.00"
    assert by_name[CW]["F1 less that of CW"] == "0.00 ± 0.00"
    assert by_name[CRFSUITE]["log loss of a tag"] == ""
    assert float(by_name[SVM]["F1 less that of CW"].split()[0]) == pytest.approx(13.33)


@pytest.fixture
def easy(monkeypatch):
    """Short sentences whose tags follow their words."""
    random = np.random.default_rng(0)
    kinds = {"the": ("DT", "B-NP"), "dog": ("NN", "I-NP"), "barks": ("VB", "B-VP")}

    def drawn(name):
        n = 30 if "train" in name else 10
        words = [["the", "dog", "barks", "the", "dog"][: random.integers(2, 6)] for _ in range(n)]
        return [[(word, *kinds[word]) for word in one] for one in words]

    monkeypatch.setattr(sentences.sets, "sentences", drawn)
    sentences.part.cache_clear()
    yield
    sentences.part.cache_clear()


@pytest.mark.usefixtures("easy")
@pytest.mark.parametrize("name", LEARNERS)
def test_each_learner_finds_the_chunks_of_easy_sentences(name):
    if name.startswith("CRFsuite"):
        pytest.importorskip("pycrfsuite")
    (row,) = conll2000.cases(True)[name]()
    assert json.loads(json.dumps(row)) == row
    assert row["learnt"] == 30
    total = np.array(row["counts"]).sum(axis=0)
    assert conll2000.f1(total) == 100
    assert conll2000.accuracy(total) == 100
    assert row["has probabilities"] == (total[5] > 0)
