from __future__ import annotations

from surelearn.label.spans import choices, has_spans, span_tags


def test_tags_of_spans_are_chosen_by_type():
    tags = span_tags(["PER", "LOC"])
    assert tags == ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
    assert has_spans(tags)
    assert choices(tags) == ["PER", "LOC", "O"]
    assert choices(["DET", "NOUN"]) == ["DET", "NOUN"]
