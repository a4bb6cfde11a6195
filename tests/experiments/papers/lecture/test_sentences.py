"""Sentences are cut into what a token is and its tag."""

from __future__ import annotations

from experiments.papers.lecture import sentences


def test_columns_are_cut_and_the_first_sentences_kept(monkeypatch):
    asked = []
    found = [[("the", "DT", "B-NP"), ("dog", "NN", "I-NP")], [("barks", "VB", "B-VP")]]
    monkeypatch.setattr(sentences.sets, "sentences", lambda name: asked.append(name) or found)
    sentences.part.cache_clear()
    assert sentences.part("train") == (
        [[("the", "DT"), ("dog", "NN")], [("barks", "VB")]],
        [["B-NP", "I-NP"], ["B-VP"]],
    )
    assert sentences.part("test", 1).y == [["B-NP", "I-NP"]]
    assert asked == ["conll2000/train.txt.xz", "conll2000/test.txt.xz"]
    sentences.part.cache_clear()
