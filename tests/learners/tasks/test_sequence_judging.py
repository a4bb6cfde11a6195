"""Taggers judged by sentences in memory and in files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from surelearn import SureTagger, read
from surelearn.evaluation import chunk_scores, evaluate_tagger
from tagged import corpus, tagger


@pytest.mark.parametrize("labels", [[1, 2, 3], [True, False, True]])
def test_labels_that_are_no_texts_are_counted_by_what_they_are_called(labels: list[Any]) -> None:
    X, y = [["a", "b", "c"]], [labels]
    tagger = SureTagger(random_state=0).fit(X, y)
    assert tagger.score(X, y) == 1.0
    found = evaluate_tagger(tagger, X, np.array(y))
    assert (found.f1, list(found.by_type)) == (1.0, sorted(set(map(str, labels))))


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Sentences of one column and their tags, in two files."""
    monkeypatch.chdir(tmp_path)
    for name, seed in (("a.txt", 0), ("b.txt", 1)):
        sentences = zip(*corpus(20, seed), strict=True)
        lines = ("".join(f"{w} {t}\n" for w, t in zip(*one, strict=True)) for one in sentences)
        (tmp_path / name).write_text("\n".join(lines))
    return ["a.txt", "b.txt"]


@pytest.fixture
def known():
    """A tagger that has learnt a little."""
    return tagger(passes=1).fit(*corpus(4, seed=5))


def test_a_source_is_judged_as_its_sentences_are(known, files):
    X, y = corpus(20, 0)
    more = corpus(20, 1)
    found = evaluate_tagger(known, X, y)
    assert found == chunk_scores(y, known.predict(X), raw=True)
    assert 0 < found.n_right < found.n_tokens
    assert evaluate_tagger(known, files) == found + evaluate_tagger(known, *more)


def test_chunks_are_counted_where_tags_mark_them():
    X, y = [["the", "dog", "barks"]] * 2, [["B-NP", "I-NP", "B-VP"]] * 2
    model = SureTagger(random_state=0).fit(X, y)
    assert list(evaluate_tagger(model, X, y).by_type) == ["NP", "VP"]
    plain = SureTagger(random_state=0).fit(X, [["D", "N", "V"]] * 2)
    assert list(evaluate_tagger(plain, X, [["D", "N", "V"]] * 2).by_type) == ["D", "N", "V"]


def test_progress_tells_tokens_and_mistakes(known, files):
    seen = []
    found = evaluate_tagger(known, files, progress=seen.append)
    assert [now.rows for now in seen][-1] == found.n_tokens
    assert seen[-1].n_bytes == seen[-1].total
    assert seen[-1].mistakes == found.n_tokens - found.n_right


def test_what_cannot_be_judged_by(known, files):
    with pytest.raises(read.BadInput, match=r"^a.txt must have a column of labels, got none.$"):
        evaluate_tagger(known, "a.txt", label=False)
    with pytest.raises(
        TypeError, match=r"^sequences in memory must have no reading options, got \['label'\].$"
    ):
        evaluate_tagger(known, [["a"]], [["O"]], label="x")
    with pytest.raises(TypeError, match=r"^y must be given for rows in memory, got None\."):
        evaluate_tagger(known, [["a", "b"]])
    with pytest.raises(ValueError, match=r"^evaluate needs at least one sentence, got none\.$"):
        evaluate_tagger(known, [], [])
