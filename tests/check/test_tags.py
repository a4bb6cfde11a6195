"""Sequences of tags that cannot be compared are refused by their number."""

from __future__ import annotations

import pytest

from surelearn.evaluation import chunk_scores


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
