"""The question on the page: the text, its labels, and what the model says of it."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

from labelling import TAGS, answer, pool, sentences, session
from surelearn.label import Items, Session, Store
from surelearn.label.parts import SHOWN, Hues, mark_words, question_part
from surelearn.label.spans import span_tags
from surelearn.label.why import Why, Word


def test_words_are_marked_by_direction_strength_and_sureness():
    words = [Word(0, 4, 0.5, 0.95), Word(5, 9, -0.25, 0.6), Word(10, 11, 0.0, None)]
    why = Why("good", "bad", 0.6, 0.1, 1.0, words, "fine <dul& x")
    found = mark_words("fine <dul& x", why, Hues("l1", "l0"))
    assert '<mark class="l1 s4" title="0.50 for good, sure of the direction: 95%">fine' in found
    assert '<mark class="l0 s2 vague"' in found
    assert "&lt;dul" in found
    assert found.count("<mark") == 2


def test_a_word_keeps_its_colour_when_the_answer_changes_the_label(tmp_path):
    """It is that of the label it speaks for, wherever it is shown."""
    found = session(tmp_path, pool(200), explore=0.0)
    answer(found, n=12)
    seen = set()
    for _ in range(60):
        page = question_part(found, "ann")
        found.skip("ann", found.question("ann").item)
        seen.add("".join(re.findall("<dt>Model says</dt><dd>(good|bad)", page)))
        assert '<span class="named l0">bad</span>' in page  # as sorted, as in `classes_`
        assert '<span class="named l1">good</span>' in page
        hues = dict(re.findall(r'<mark class="(l\d) s\d[^"]*" title="[\d.]+ for (\w+)', page))
        assert hues.items() <= {"l0": "bad", "l1": "good"}.items()
        assert hues
    assert seen == {"good", "bad"}


def test_words_for_the_rival_have_its_colour(tmp_path):
    texts = [*pool(200).X.to_pylist(), "a fine, dull film"]
    found = session(tmp_path, Items(pa.array(texts)), explore=0.0)
    answer(found, n=60)
    found.choose("ann", 200)
    both = set(re.findall(r'class="(l\d) s\d[^>]*>(\w+)', question_part(found, "ann")))
    assert both >= {("l1", "fine"), ("l0", "dull")}


def test_labels_that_are_new_leave_the_colours_of_others(tmp_path):
    found = session(tmp_path)
    assert [found.place_of(name) for name in ("bad", "good", "not good")] == [0, 1, None]
    found.add_label("ann", "awful")
    assert [found.place_of(name) for name in ("bad", "good", "awful")] == [0, 1, 2]


def test_types_of_spans_have_colours(tmp_path):
    tags = span_tags(["PER", "LOC"])
    found = Session(sentences(), Store(tmp_path / "s.db"), tags, kind="tags")
    page = question_part(found, "ann")
    assert 'data-choice="LOC" data-hue="l0"' in page
    assert 'data-choice="PER" data-hue="l1"' in page
    assert 'data-choice="O" data-hue="none"' in page


def test_the_question_has_keys_for_its_labels(tmp_path):
    found = question_part(session(tmp_path), "ann")
    assert 'value="good" data-key="1"' in found
    assert 'value="bad" data-key="2"' in found
    assert "until two labels are known" in found
    assert "find-label" not in found
    assert re.search('<input name="label" id="new-label"[^>]* required maxlength="60">', found)


def test_more_than_ten_labels_can_be_searched(tmp_path):
    found = session(tmp_path)
    for i in range(9):
        found.add_label("ann", f"label {i}")
    page = question_part(found, "ann")
    assert 'id="find-label"' in page
    assert page.count('data-key="') == 10 + 2  # and skip, undo


def test_why_has_margin_probability_and_words(tmp_path):
    found = session(tmp_path, explore=0.0)
    answer(found, n=12)
    page = question_part(found, "ann")
    for text in ("Model says", "Probability", "Margin", "±", "good", "bad", "<h3>for ", "sure"):
        assert text in page


@pytest.mark.parametrize(
    ("length", "is_long", "is_cut"),
    [(600, False, False), (601, True, False), (SHOWN, True, False), (SHOWN + 1, True, True)],
)
def test_long_texts_are_small_and_very_long_ones_cut(length, is_long, is_cut, tmp_path):
    page = question_part(session(tmp_path, Items(pa.array(["x" * length]))), "ann")
    assert ('class="text long"' in page) == is_long
    assert ("Show all" in page) == is_cut
    assert page.count("x" * min(length, SHOWN)) == 1


def test_long_texts_are_cut_and_linked(tmp_path):
    found = session(tmp_path, Items(pa.array(["<b>" + "x" * 1_000_000])))
    page = question_part(found, "ann")
    assert len(page) < SHOWN + 5000
    assert "Show all 1,000,003 letters" in page
    assert "<b>" not in page


def test_the_end_says_so(tmp_path):
    found = session(tmp_path, Items(pa.array(["x"])))
    answer(found)
    page = question_part(found, "ann")
    assert "<h1>All texts are labelled</h1>" in page
    assert 'href="/export"' in page
    assert "New label" not in page
    found.undo("ann")
    found.skip("ann", 0)
    assert "<h1>All texts are labelled or skipped</h1>" in question_part(found, "ann")


def second(found, person="bob"):
    """The question of a second opinion, after an answer by another person."""
    answer(found, "ann", 4)
    assert found.question(person).reason == "second"
    return question_part(found, person)


def test_a_second_opinion_does_not_know_the_first(tmp_path):
    page = second(session(tmp_path, explore=0.0, overlap=1.0))
    assert "given" not in page
    assert "Model says" not in page
    assert "<mark" not in page
    assert "would give the first answer away" in page


def test_a_second_opinion_of_a_sentence_begins_without_tags(tmp_path):
    found = Session(sentences(), Store(tmp_path / "a.db"), ["O", "PER", "LOC"], kind="tags",
                    explore=0.0, overlap=1.0)  # fmt: skip
    for _ in range(2):
        found.answer("ann", found.question("ann").item, TAGS)
    assert found.question("bob").reason == "second"
    assert 'value="O O O O O O"' in question_part(found, "bob")


def test_the_end_of_sentences_speaks_of_sentences(tmp_path):
    found = Session(sentences(1), Store(tmp_path / "a.db"), ["O", "PER", "LOC"], kind="tags")
    found.answer("ann", found.question("ann").item, TAGS)
    assert "All sentences are labelled" in question_part(found, "ann")


def test_many_tags_can_be_searched_and_added(tmp_path):
    tags = [f"T{i}" for i in range(12)]
    found = Session(sentences(), Store(tmp_path / "a.db"), tags, kind="tags")
    page = question_part(found, "ann")
    assert 'id="find-label"' in page
    assert 'id="new-label"' in page


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


def test_what_was_never_seen_is_said_in_words(tmp_path):
    found = session(tmp_path, explore=0.0)
    answer(found, n=12)
    assert "ever seen</strong>" not in question_part(found, "ann")
    found.ledger.novelty = dict.fromkeys(range(39), -99.0)
    page = question_part(found, "ann")
    title = "Newer to the model than 39 of the last 39 questions"
    assert f'<strong class="never-seen" title="{title}">never seen</strong>' in page
    assert "<dt>Never seen</dt><dd>newer than 39 of 39 questions</dd>" in page


def test_a_second_opinion_is_not_called_new(tmp_path):
    found = session(tmp_path, explore=0.0, overlap=1.0)
    answer(found, "ann", 4)
    found.ledger.novelty = dict.fromkeys(range(39), -99.0)
    assert "never-seen" not in second(found)


def test_what_to_ask_first_is_a_choice_for_texts_alone(tmp_path):
    found = session(tmp_path)
    page = question_part(found, "ann")
    assert 'value="acl" aria-pressed="true">Least sure</button>' in page
    assert 'value="novel" aria-pressed="false">Never seen</button>' in page
    found.ask_about("ann", "novel")
    assert 'value="novel" aria-pressed="true">' in question_part(found, "ann")
    many = Session(pool(), Store(tmp_path / "b.db"), ["good"], kind="many")
    assert "/strategy" not in question_part(many, "ann")
