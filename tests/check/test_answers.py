from __future__ import annotations

import pytest

from surelearn import _check


def test_names_are_on_one_line_and_not_too_long():
    assert _check.answers.tidy_name("a name", "  Ann \n Lee ") == "Ann Lee"
    assert len(_check.answers.tidy_name("a label", "x" * 100)) == 60
    for text in ("", " \n", "\u202e", "a\x00"):
        with pytest.raises(ValueError, match="a label must have letters, got"):
            _check.answers.tidy_name("a label", text)


REFUSED = [
    (
        lambda: _check.answers.known_label("c", ["a", "b"]),
        r"label must be one of \['a', 'b'\], got 'c'",
    ),
    (lambda: _check.answers.tags_of(["O"], 2), "tags must be one for each of 2 tokens, got 1"),
    (lambda: _check.answers.tag_names(["O", "a b"]), "tags must have no blanks, got 'a b'"),
    (lambda: _check.answers.item_number(-1, 5), r"text must be in \[1, 5\], got 0"),
    (
        lambda: _check.answers.free_item(3, {3}),
        "text 4 must be free, got one that is being labelled",
    ),
    (
        lambda: _check.answers.open_question(3, None),
        "text 4 must be the open question, got an old page",
    ),
    (lambda: _check.answers.something_done([]), "undo needs an answer to take back, got none"),
    (
        lambda: _check.answers.one_label_each([["a"]]),
        "must be one for each text, got lists. Use many",
    ),
    (
        lambda: _check.answers.store_of_model("s", is_same=False),
        "s must have begun with this model",
    ),
    (lambda: _check.answers.store_of_kind("s", "tags", "many"), "of the kind 'tags', got 'many'"),
    (
        lambda: _check.answers.store_of_pool("s", ["a", "b"], 9, is_same=False),
        "s must be the store of this pool, got that of a, b with 9 items",
    ),
]


@pytest.mark.parametrize(("check", "told"), REFUSED)
def test_what_is_refused_is_told(check, told):
    with pytest.raises(ValueError, match=told):
        check()


def test_what_is_fine_passes():
    _check.answers.known_label("a", ["a"])
    _check.answers.tags_of(["O"], 1)
    _check.answers.tag_names(["B-PER"])
    _check.answers.item_number(4, 5)
    _check.answers.free_item(3, {4})
    _check.answers.open_question(3, 3)
    _check.answers.something_done([1])
    _check.answers.one_label_each(["a"])
    _check.answers.store_of_model("s", is_same=True)
    _check.answers.store_of_kind("s", "tags", "tags")
    _check.answers.store_of_pool("s", [], 9, is_same=True)
