"""`surelearn tag evaluate`: chunks or tags, counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command import ok_tag as ok
from command import run_tag as run
from surelearn import SureTagger, read
from surelearn.evaluation import chunk_scores, evaluate_tagger


def test_chunks_are_counted(tagger: SureTagger) -> None:
    (known,) = read.sentences("test.txt")
    wanted = chunk_scores(known.y, tagger.predict(known.X))
    assert 0.5 < wanted.f1 < 1
    assert ok("evaluate", "m.sure", "test.txt") == f"{wanted}\n"
    assert json.loads(ok("evaluate", "m.sure", "test.txt", "--json")) == wanted.to_dict()
    assert evaluate_tagger(tagger, known.X, known.y) == wanted
    twice = evaluate_tagger(tagger, ["test.txt", "test.txt"])
    assert twice == wanted + wanted


def test_evaluating_what_cannot_be_read(tagger: SureTagger) -> None:
    Path("bad.txt").write_text("the D B-NP\n\nold A\n\n")
    done = run("evaluate", "m.sure", "bad.txt")
    assert done.stderr.startswith("surelearn: bad.txt, line 3: expected 3 columns, got 2. With --")
    said = ok("evaluate", "m.sure", "bad.txt", "--skip-bad")
    assert said.startswith("1 tokens of 1 sequences (1 left out as bad) with 1 chunks; found 1,")
    with pytest.raises(read.BadInput, match=r"^test.txt must have a column of labels, got none.$"):
        evaluate_tagger(tagger, "test.txt", label=False)
    with pytest.raises(TypeError, match=r"^sequences in memory need no reading, got \['label'\].$"):
        evaluate_tagger(tagger, [["a"]], [["O"]], label="x")
    Path("odd.txt").write_text("the D DET\n")
    done = run("evaluate", "m.sure", "odd.txt")
    assert "tags must be 'O', or B, I, E or S, a hyphen and a type" in done.stderr


def test_progress_of_an_evaluation(tagger: SureTagger) -> None:
    seen: list[Any] = []
    found = evaluate_tagger(tagger, ["test.txt", "a.txt"], progress=seen.append)
    assert [now.rows for now in seen][-1] == found.n_tokens
    assert seen[-1].n_bytes == seen[-1].total
    assert seen[-1].mistakes == found.n_tokens - found.n_right


@pytest.mark.parametrize("labels", [[1, 2, 3], [True, False, True]])
def test_labels_that_are_no_texts_are_counted_by_what_they_are_called(labels: list[Any]) -> None:
    X, y = [["a", "b", "c"]], [labels]
    tagger = SureTagger(random_state=0).fit(X, y)
    assert tagger.score(X, y) == 1.0
    found = evaluate_tagger(tagger, X, np.array(y))
    assert (found.f1, list(found.by_type)) == (1.0, sorted(set(map(str, labels))))
