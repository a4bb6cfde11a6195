"""`surelearn tag evaluate`: chunks or tags, counted."""

from __future__ import annotations

import json
from pathlib import Path

from command import ok_tag as ok
from command import run_tag as run
from surelearn import SureTagger, read
from surelearn.evaluation import chunk_scores


def test_chunks_are_counted(tagger: SureTagger) -> None:
    (known,) = read.sentences("test.txt")
    wanted = chunk_scores(known.y, tagger.predict(known.X))
    assert 0.5 < wanted.f1 < 1
    assert ok("evaluate", "m.sure", "test.txt") == f"{wanted}\n"
    assert json.loads(ok("evaluate", "m.sure", "test.txt", "--json")) == wanted.to_dict()


def test_evaluating_what_cannot_be_read(tagger: SureTagger) -> None:
    Path("bad.txt").write_text("the D B-NP\n\nold A\n\n")
    done = run("evaluate", "m.sure", "bad.txt")
    assert done.stderr.startswith("surelearn: bad.txt, line 3: expected 3 columns, got 2. With --")
    said = ok("evaluate", "m.sure", "bad.txt", "--skip-bad")
    assert said.startswith("1 tokens of 1 sequences (1 skipped as bad) with 1 chunks; found 1,")
    Path("odd.txt").write_text("the D DET\n")
    done = run("evaluate", "m.sure", "odd.txt")
    assert "tags must be 'O', or B, I, E or S, a hyphen and a type" in done.stderr
