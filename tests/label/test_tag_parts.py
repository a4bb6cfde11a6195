from __future__ import annotations

from labelling import TAGS, sentences, session
from surelearn.label import Items
from surelearn.label.parts import question_part


def test_tokens_have_the_models_tags_and_unsure_ones_are_marked(tmp_path):
    found = session(tmp_path, sentences(), kind="tags", explore=0.0)
    for name in ("O", "PER", "LOC"):
        found.add_label("ann", name)
    page = question_part(found, "ann")
    assert page.count('class="token"') == 6
    assert page.count('data-tag="O"') == 6
    for _ in range(2):
        found.answer("ann", found.question("ann").item, TAGS)
    page = question_part(found, "ann")
    assert 'data-tag="PER"' in page
    assert "token unsure" in page
    assert 'value="O PER O O LOC O"' in page
    assert "Weakest token" in page
    assert "New tag" in page


def test_tokens_are_shown_as_text(tmp_path):
    found = session(tmp_path, Items([["<b>", "\u202e"]]), kind="tags")
    page = question_part(found, "ann")
    assert "<b>" not in page
    assert "U+202E" in page
