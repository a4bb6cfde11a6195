"""Marks in a text: safe, and where the words are."""

from __future__ import annotations

import pickle
import re
from collections import Counter

import pytest

from surelearn import SureTextClassifier
from surelearn.learners.explain.highlight import COLOURS, GREY, pieces_of, rgb
from surelearn.text import HashingVectorizer


def test_marks_are_safe_and_where_the_words_are():
    clf = SureTextClassifier(random_state=0).fit(["<i>great</i>", "dull & bad"], ["yes", "no"])
    table = clf.explain("So GREAT <script>alert(1)</script> & dull")
    html = table._repr_html_()
    assert "<script>" not in html
    no, yes = (rf"rgba\({rgb(colour)}," for colour in COLOURS[:2])
    assert re.search(rf'<mark style="background: {yes}[^"]*" title="\+[\d.]+">GREAT</mark>', html)
    assert re.search(rf'<mark style="background: {no}[^"]*" title="-[\d.]+">dull</mark>', html)
    assert [table.text[a:b] for a, b in table.units] == [
        "So", "GREAT", "script", "alert", "script", "dull",
    ]  # fmt: skip
    assert pickle.loads(pickle.dumps(table))._repr_html_() == html
    assert clf.explain("")._repr_html_()


@pytest.mark.parametrize("text", ["", "unseen words", "!"])
@pytest.mark.parametrize("labels", [["yes", "no", "so"], [["yes"], ["no", "so"], []]])
def test_a_text_without_a_known_word_says_so(text, labels):
    clf = SureTextClassifier(random_state=0).fit(["great", "dull", "fine"], labels)
    found = clf.explain(text)
    assert found.verdict.n_known == 0
    assert repr(found).startswith("The text holds no word that the model knows.")
    assert "<p>The text holds no word that the model knows." in found._repr_html_()
    known = clf.explain("unseen and great")
    assert known.verdict.n_known == 1
    assert "no word" not in repr(known) + known._repr_html_()


def test_a_word_keeps_its_colour_when_the_label_changes():
    """It speaks for the same label, whether or not that is the label of the text."""
    clf = SureTextClassifier(random_state=0).fit(["great", "dull"], ["yes", "no"])
    texts = "great great dull", "great dull dull"
    first, second = (clf.explain(text) for text in texts)
    assert {first.verdict.label, second.verdict.label} == {"yes", "no"}
    for place, word in enumerate(["dull", "great"]):
        marks = [re.findall(rf'rgba\(([\d, ]+), [^"]*"[^>]*>{word}<', table.marked())[0]
                 for table in (first, second)]  # fmt: skip
        assert marks == [rgb(COLOURS[place])] * 2


def test_more_classes_than_colours_are_told_apart():
    words = [f"word{i:02}" for i in range(8)]
    clf = SureTextClassifier(random_state=0).fit(words, words)
    found = clf.explain("word00 word00 word07")
    assert found.verdict.places == (0, 7)
    assert rgb(COLOURS[0]) in found.marked()
    assert rgb(GREY) in found.marked()


@pytest.mark.parametrize("analyzer", ["word", "char", "char_wb"])
@pytest.mark.parametrize("ngram_range", [(1, 1), (1, 3), (2, 5)])
def test_every_ngram_covers_its_letters(analyzer, ngram_range):
    """One of char_wb that is the space beside a word covers the first or last letter."""
    options = {"token_pattern": r"\w+", "norm": None, "alternate_sign": False}
    vectorizer = HashingVectorizer(analyzer=analyzer, ngram_range=ngram_range, **options)
    text = "k lm nop qrst"
    found = pieces_of(vectorizer, text)
    spaces = []
    for gram in found.grams:
        covered = found.text[found.units[gram.first][0] : found.units[gram.last - 1][1]]
        name = found.names[gram.feature]
        if name == " " and analyzer == "char_wb":
            spaces.append(covered)
        else:
            assert covered == (name.strip() if analyzer == "char_wb" else name)
    assert spaces == (list("kklmnpqt") if ngram_range[0] == 1 and analyzer == "char_wb" else [])
    row = vectorizer.transform([text])
    counts = Counter(gram.feature for gram in found.grams)
    assert counts == dict(zip(row.indices.tolist(), row.data.tolist(), strict=True))


def test_a_text_that_grows_is_shown_small():
    """The small form of a dotted capital I is two characters."""
    clf = SureTextClassifier().fit(["İstanbul evet", "hayir"], [0, 1])
    table = clf.explain("İSTANBUL")
    assert table.text == "İSTANBUL".lower()
    assert clf.explain("ISTANBUL").text == "ISTANBUL"


def test_marks_are_where_the_words_are_when_letters_come_and_go():
    clf = SureTextClassifier(strip_accents="unicode").fit(["good", "bad"], [0, 1])
    table = clf.explain("\ufb01 good e\u0301 bad")
    assert [table.text[a:b] for a, b in table.units] == ["fi", "good", "bad"]


def test_a_verdict_is_read_by_people():
    """Its shares are by the number of a column."""
    clf = SureTextClassifier(random_state=0).fit(["good fun", "bad fun"], ["yes", "no"])
    verdict = clf.explain("good good").verdict
    assert str(verdict) == f"yes rather than no, margin {verdict.margin:.3g}"
    assert repr(verdict) == f"<Verdict: {verdict}, shares of 1>"
    assert len(verdict.shares) == 1
