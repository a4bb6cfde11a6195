"""Chunks are counted as the script of the CoNLL shared tasks counts them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import accuracy_score
from seqeval.metrics.sequence_labeling import get_entities, precision_recall_fscore_support

from reference import chunks as slow
from surelearn.evaluation import ChunkCounts, ChunkScores, chunk_scores
from surelearn.scores._chunks import are_chunk_tags, chunks_of


def tags_of(places, types=("X", "Y", "X-Y")):
    """Tags that need not be consistent."""
    inside = st.builds("{}-{}".format, st.sampled_from(places), st.sampled_from(types))
    return st.one_of(st.just("O"), inside)


def pairs(places):
    """True and predicted tags of some sequences, many of them equal."""
    tag = tags_of(places)
    pair = st.one_of(tag.map(lambda t: (t, t)), st.tuples(tag, tag))
    return st.lists(st.lists(pair, max_size=9), max_size=5)


def parted(made):
    return [[a for a, _ in row] for row in made], [[b for _, b in row] for row in made]


@given(pairs("BIES"))
def test_scores_are_those_of_seqeval(made):
    true, pred = parted(made)
    found = chunk_scores(true, pred)
    if not any(any(tag != "O" for tag in row) for row in [*true, *pred]):
        assert found.by_type == {}
        return
    wanted = precision_recall_fscore_support(true, pred, average="micro", zero_division=0)
    assert (found.precision, found.recall, found.f1) == pytest.approx(wanted[:3], abs=1e-12)
    assert found.accuracy == pytest.approx(accuracy_score(true, pred), abs=1e-12)
    by_type = precision_recall_fscore_support(true, pred, average=None, zero_division=0)
    rows = [(s.precision, s.recall, s.f1, s.support) for s in found.by_type.values()]
    np.testing.assert_allclose(rows, np.transpose(by_type), atol=1e-12)


@given(st.sampled_from(["BI", "IE"]).flatmap(pairs))
def test_counts_are_those_of_the_script(made):
    true, pred = parted(made)
    found = chunk_scores(true, pred)
    wanted, equal = slow.counts(true, pred)
    assert {kind: tuple(counts) for kind, counts in found.by_type.items()} == wanted
    assert found.n_right == equal
    assert found.n_tokens == sum(map(len, true))


@given(st.lists(tags_of("BIES"), max_size=12))
def test_chunks_are_those_of_seqeval(tags):
    found = [(chunk.type, chunk.begin, chunk.end - 1) for chunk in chunks_of(tags)]
    assert found == get_entities(tags)


def spans(text):
    return [f"{c.type}{c.begin}:{c.end}" for c in chunks_of(text.split())]


@pytest.mark.parametrize(
    ("tags", "wanted"),
    [
        ("", []),
        ("O O", []),
        ("B-N I-N O B-N", ["N0:2", "N3:4"]),  # IOB2
        ("I-N I-N B-N I-N O I-N", ["N0:2", "N2:4", "N5:6"]),  # IOB1
        ("S-N B-N I-N E-N S-N S-V O", ["N0:1", "N1:4", "N4:5", "V5:6"]),  # BIOES
        ("I-N E-N E-N I-N O", ["N0:2", "N2:3", "N3:4"]),  # IOE1
        ("O I-N I-V I-N", ["N1:2", "V2:3", "N3:4"]),  # after O, and after another type
        ("B-N I-V", ["N0:1", "V1:2"]),
        ("E-N I-N", ["N0:1", "N1:2"]),  # after an end
        ("S-N I-N E-N", ["N0:1", "N1:3"]),
        ("B-N S-N", ["N0:1", "N1:2"]),  # without an end
        ("B-N E-V", ["N0:1", "V1:2"]),
        ("B-NP-SBJ I-NP-SBJ I-NP", ["NP-SBJ0:2", "NP2:3"]),  # hyphens in types
        ("B I O I", ["0:2", "3:4"]),  # no type
        ("B- I", ["0:2"]),
    ],
)
def test_chunks_of_known_sequences(tags, wanted):
    assert spans(tags) == wanted


def test_a_sentence_in_the_numbers_of_the_script():
    """Eight words: right, a wrong end, a wrong type, one too many, one missed."""
    true = [["B-NP", "I-NP", "B-VP", "B-NP", "I-NP", "O", "B-PP", "O"], ["B-NP"]]
    pred = [["B-NP", "I-NP", "B-VP", "B-NP", "O", "O", "B-NP", "B-NP"], ["O"]]
    found = chunk_scores(true, pred)
    assert found.by_type == {
        "NP": ChunkCounts(correct=1, found=4, support=3),
        "PP": ChunkCounts(correct=0, found=0, support=1),
        "VP": ChunkCounts(correct=1, found=1, support=1),
    }
    assert found.overall == (2, 5, 5)
    assert (found.precision, found.recall, found.f1) == (0.4, 0.4, 0.4)
    assert found.by_type["NP"].f1 == pytest.approx(2 / 7)
    assert (found.n_sequences, found.n_tokens, found.n_right) == (2, 9, 5)
    assert found.accuracy == pytest.approx(5 / 9)


def test_a_chunk_does_not_go_on_in_the_next_sequence():
    apart = chunk_scores([["B-N"], ["I-N"]], [["B-N"], ["I-N"]])
    assert apart.by_type["N"] == (2, 2, 2)
    assert chunk_scores([["B-N", "I-N"]], [["B-N", "I-N"]]).by_type["N"] == (1, 1, 1)


def test_schemes_are_read_alike():
    true = [["B-N", "I-N", "B-N", "O", "B-V"]]
    for other in (["I-N", "I-N", "B-N", "O", "I-V"], ["B-N", "E-N", "S-N", "O", "S-V"]):
        assert chunk_scores(true, [other]).f1 == 1.0


def test_tags_of_single_words():
    true, pred = [["DET", "NOUN", "O", "NOUN"]], [["DET", "VERB", "NOUN", "NOUN"]]
    found = chunk_scores(true, pred, raw=True)
    assert found.by_type == {"DET": (1, 1, 1), "NOUN": (1, 2, 2), "VERB": (0, 1, 0)}
    assert found.accuracy == 0.5


@given(pairs("BI"), pairs("BIES"))
def test_scores_add_up(first, second):
    together = chunk_scores(*parted(first + second))
    assert chunk_scores(*parted(first)) + chunk_scores(*parted(second)) == together
    assert ChunkScores() + together == together


def test_nothing_scores_nothing():
    for found in (ChunkScores(), chunk_scores([], []), chunk_scores([[]], [[]])):
        assert (found.precision, found.recall, found.f1, found.accuracy) == (0, 0, 0, 0)
        assert len(found.table()) == 0
        assert "F1" in str(found)


def test_the_table_and_what_is_printed():
    found = chunk_scores([["B-NP", "I-NP", "B-VP"]], [["B-NP", "B-NP", "B-VP"]])
    assert found.table().to_dict() == {
        "type": ["NP", "VP"],
        "precision": [0.0, 1.0],
        "recall": [0.0, 1.0],
        "f1": [0.0, 1.0],
        "support": [1, 1],
        "found": [2, 1],
    }
    assert str(found) == (
        "3 tokens of 1 sequences with 2 chunks; found 3, right 1\n"
        "\n"
        "accuracy           0.6667\n"
        "precision          0.3333\n"
        "recall             0.5000\n"
        "F1                 0.4000\n"
        "\n"
        "type  precision  recall      f1  support  found\n"
        "NP       0.0000  0.0000  0.0000        1      2\n"
        "VP       1.0000  1.0000  1.0000        1      1"
    )
    assert json.loads(json.dumps(found.to_dict()))["by_type"][1]["found"] == 1


def test_arrays_of_tags_are_sequences():
    y = [np.array(["B-N", "O"]), np.array([], dtype=str)]
    assert chunk_scores(y, y).f1 == 1.0
    assert chunk_scores(np.array([["B-N", "O"]]), [("B-N", "O")]).f1 == 1.0


def test_raw_must_be_a_flag():
    with pytest.raises(TypeError, match=r"^raw must be True or False, got 'IOB2'.$"):
        chunk_scores([], [], raw="IOB2")


def test_tags_that_mark_chunks():
    assert are_chunk_tags(["O", "B-X", "I", "S-Y-Z"])
    assert not are_chunk_tags(["O", "NOUN"])
    assert not are_chunk_tags(["O-X"])


@pytest.mark.parametrize(
    ("true", "pred", "error", "match"),
    [
        ([["O"]], [], ValueError, r"^y_pred must have as many sequences as y_true, 1, got 0.$"),
        (
            [["O"], ["O", "O"]],
            [["O"], ["O"]],
            ValueError,
            r"^y_pred must have as many tags as y_true, 2 in sequence 1, got 1.$",
        ),
        (["B-N"], ["B-N"], TypeError, r"^y_true must be a list of sequences of tags, got 'B-N' as"),
        ([["O"]], [[1]], TypeError, r"^y_pred must have texts as tags, got 1 in sequence 0.$"),
        ([["O"]], [3], TypeError, r"^y_pred must be a list of sequences of tags, got 3 as"),
        ([["NN"]], [["O"]], ValueError, r"^tags must be 'O', or B, I, .*, got 'NN'. Use raw=True"),
        ([["O-X"]], [["O"]], ValueError, r"got 'O-X'"),
        ([[""]], [["O"]], ValueError, r"got ''"),
    ],
)
def test_what_is_refused(true, pred, error, match):
    with pytest.raises(error, match=match):
        chunk_scores(true, pred)
