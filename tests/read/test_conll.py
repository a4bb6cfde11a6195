"""Sentences in columns: what is read is what was written, from any place, or an error says why."""

from __future__ import annotations

import gzip

import fsspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conll import SAID, TEXT, X, Y, u_row, whole
from reading import blocks_of, check_going_on
from reference import sentences as slow
from reference.readers import NoColumns
from surelearn import read
from surelearn.read._conll import _widths, default_names


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "x.txt"
    found.write_text(TEXT)
    return found


# ------------------------------------------------------------------------- columns

#: Fields of a word: whatever is no separator, blanks that only `str.split` knows of too.
fields = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters=" "), min_size=1, max_size=6
).filter(lambda word: word != "-DOCSTART-")


@st.composite
def documents(draw):
    """Sentences of words of several columns, and a text with them."""
    width = draw(st.integers(2, 4))
    words = st.tuples(*[fields] * width)
    sentences = draw(st.lists(st.lists(words, min_size=1, max_size=5), min_size=1, max_size=8))
    blanks = st.sampled_from([" ", "\t", "  ", " \t "])
    end = draw(st.sampled_from(["\n", "\r\n", " \n"]))
    between = st.sampled_from([end, end * 3, "\t \n", f"{end}-DOCSTART- -X- O{end}{end}"])
    text = draw(st.sampled_from(["", end, f"-DOCSTART-{end}{end}"]))
    for sentence in sentences:
        text += "".join(draw(blanks).join(word) + end for word in sentence) + draw(between)
    return sentences, text


@given(documents(), st.sampled_from([5, 30, 200, 2**21]))
def test_what_was_written_is_read(document, size):
    sentences, text = document
    memory = fsspec.filesystem("memory")
    memory.pipe("/a.txt", text.encode())
    words = [[word[:-1] if len(word) > 2 else word[0] for word in s] for s in sentences]
    labels = [[word[-1] for word in s] for s in sentences]
    with blocks_of(size):
        assert whole("/a.txt", filesystem=memory) == (words, labels, 0)
        n = check_going_on(read.sentences("/a.txt", filesystem=memory))
    if size == 5:  # blocks end at lines without anything in them
        assert n >= min(len(sentences), text.rstrip().count("\n\n"))


pieces = st.sampled_from(
    ["a", "b", "é", " ", "\t", "\n", "\n\n", "\r\n", "\xa0", "\x85", "\u3000", "\x0b", "\x1c",
     "-DOCSTART-", "a b\n", "a b c\n", "\ufeff", b"\xff", b"\0", "#"]
).map(lambda piece: piece if isinstance(piece, bytes) else piece.encode())  # fmt: skip
u_pieces = st.one_of(
    pieces,
    st.sampled_from(
        [*map(u_row, [1, "1-2", "1.1", "x"]), u_row(1, ""), u_row(1, upos=""), "# a\n", "1\t"]
    ).map(str.encode),
)


@pytest.mark.parametrize(("format", "made"), [("conll", pieces), ("conllu", u_pieces)])
def test_anything_is_read_as_the_slow_reader_does(format, made):
    @given(st.lists(made, max_size=30).map(b"".join), st.sampled_from([8, 2**21]))
    def check(data, size):
        memory = fsspec.filesystem("memory")
        memory.pipe("/a", data)
        options = {"format": format, "filesystem": memory}
        try:
            X, y, bad = getattr(slow, format)(data)
        except NoColumns:
            with pytest.raises(
                read.BadInput, match=r"must have at least|expected a column besides"
            ):
                whole("/a", **options)
            return
        with blocks_of(size):
            assert whole("/a", skip_bad=True, **options) == (X, y, len(bad))
            if not bad:
                assert whole("/a", **options) == (X, y, 0)
                return
            with pytest.raises(read.BadInput, match=rf"^/a, line {bad[0]}: expected"):
                whole("/a", **options)

    check()


@pytest.mark.parametrize("format", ["conll", "conllu"])
def test_the_bad_line_is_named(format, tmp_path):
    good = "a b c\n" if format == "conll" else u_row(1)
    path = tmp_path / f"x.{format}"
    for n in (1, 7, 40):
        path.write_text(good * n + "\n" + good * 2 + "a b\n" + good)
        width = 3 if format == "conll" else 10
        got = 2 if width == 3 else 1
        match = rf"x.{format}, line {n + 4}: expected {width} columns, got {got}\. With skip"
        for size in (8, 2**21):
            with blocks_of(size), pytest.raises(read.BadInput, match=match):
                whole(path)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (
            b"a b\nc \xffd\n",
            r"x.txt, line 2: expected UTF-8, got byte 0xff at position 2\. Name the enc",
        ),
        (
            b"a b\n\nc \0d\n",
            r"x.txt, line 3: expected text, got a null byte at position 2\. With skip",
        ),
        (b"a b\n\n\nc\n", r"x.txt, line 4: expected 2 columns, got 1\. With skip"),
        (b"\n\na\n", r"x.txt, line 3: expected a column besides the label, got 1 in all.$"),
        (b"\n-DOCSTART-\n\n", r"x.txt must have at least one sentence, got none.$"),
        (b"", r"x.txt must have at least one record, got an empty file.$"),
    ],
)
def test_what_is_wrong_with_columns(text, match, tmp_path):
    (tmp_path / "x.txt").write_bytes(text)
    with pytest.raises(read.BadInput, match=match):
        whole(tmp_path / "x.txt")


def test_bad_sentences_are_left_out_whole(tmp_path):
    (tmp_path / "x.txt").write_bytes(b"a A\nb\nc C\n\nd D\n\ne E\nf \xff\n\ng G\n")
    assert whole(tmp_path / "x.txt", skip_bad=True) == ([["d"], ["g"]], [["D"], ["G"]], 2)


def test_columns_have_names(path):
    assert whole(path) == (X, Y, 0)
    assert read.sentences(path).first(1).y == Y[:1]
    words = [[word for word, _ in s] for s in X]
    assert whole(path, columns=["w", "_", "chunk"]) == (words, Y, 0)
    pos = [[tag for _, tag in s] for s in X]
    assert whole(path, columns=["w", "pos"]) == (words, pos, 0)
    assert whole(path, columns=["w", "pos", "_"]) == (words, pos, 0)
    assert whole(path, label="pos")[1] == pos
    assert whole(path, label="w")[0][0][0] == ("DT", "B-NP")
    assert whole(path, columns=["w"], label=False) == (words, None, 0)
    assert whole(path, label=False)[0][0][0] == ("The", "DT", "B-NP")


def test_which_columns_were_read(path):
    source = read.sentences(path)
    assert source.columns == {}
    list(source)
    assert source.columns == {"columns": ["w", "pos", "c2"], "label": "c2"}
    assert default_names(1) == ("w",)
    assert default_names(4) == ("w", "pos", "c2", "c3")
    source = read.sentences(path, columns=["w", "_", "ner"])
    assert whole(source)[1] == Y
    assert source.columns == {"columns": ["w", "_", "ner"], "label": "ner"}
    assert read.sentences(source) is source


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"columns": "w"}, TypeError, r"^columns must be a list of names, got 'w'.$"),
        ({"columns": [1]}, TypeError, r"^columns must be a list of names, got \[1\].$"),
        ({"columns": ["w", "w"]}, ValueError, r"^columns must be different names, got \['w', "),
        ({"columns": ["_"]}, ValueError, r"^columns must have a name besides '_', got \['_'\]"),
        ({"columns": list("abcd")}, read.BadInput, r"line 1: expected the 4 columns 'a', .* got 3"),
        ({"label": "ner"}, read.BadInput, r"^label must be one of 'w', 'pos', 'c2', got 'ner'.$"),
        ({"columns": ["w", "_"], "label": "_"}, read.BadInput, r"^label must be one of 'w', got"),
        ({"columns": ["w"]}, read.BadInput, r"line 1: expected a column besides the label, got 3"),
        ({"format": "tsv"}, ValueError, r"^format must be one of 'conll', 'conllu', got 'tsv'.$"),
        ({"skip_bad": 1}, TypeError, r"^skip_bad must be True or False, got 1.$"),
    ],
)  # fmt: skip
def test_what_is_refused(options, error, match, path):
    with pytest.raises(error, match=match):
        whole(path, **options)


def test_widths_of_lines():
    assert _widths(b"a b\n\n c\t d\re \nf").tolist() == [2, 0, 3, 1]
    assert _widths(b"a\n").tolist() == [1, 0]


# ------------------------------------------------------------------------- CoNLL-U


def test_words_of_universal_dependencies(tmp_path):
    path = tmp_path / "x.conllu"
    path.write_text(SAID)
    words = [["Wir", "sehen", "'s da"], ["Ja"]]
    upos = [["PRON", "VERB", "PRON"], ["INTJ"]]
    assert whole(path) == (words, upos, 0)
    source = read.sentences(path)
    list(source)
    assert source.columns == {"columns": ["w", "upos"], "label": "upos"}
    assert whole(path, columns=["FORM", "xpos"], label="upos")[0][0][0] == ("Wir", "PPER")
    assert whole(path, label="XPOS")[1] == [["PPER", "_", "_"], ["_"]]
    assert whole(path, label=False) == (words, None, 0)
    packed = tmp_path / "x.CONLLU.gz"
    packed.write_bytes(gzip.compress(SAID.encode()))
    assert whole(packed) == (words, upos, 0)
    with pytest.raises(ValueError, match=r"^label must be one of 'id', 'w', .*, got 'pos'.$"):
        whole(path, label="pos")
    with pytest.raises(ValueError, match=r"^columns must be one of 'id', .*, got 'word'.$"):
        whole(path, columns=["word"])
    with pytest.raises(
        read.BadInput, match=r"^columns must have one besides the label, got 'upos'"
    ):
        whole(path, columns=["upos"])


@pytest.mark.parametrize(
    ("line", "match"),
    [
        ("a b c\n", r"x.conllu, line 2: expected 10 columns, got 1\. With skip"),
        (u_row("one"), r"x.conllu, line 2: expected a number as id, got 'one'\. With skip"),
        (u_row("1-"), r"x.conllu, line 2: expected a number as id, got '1-'\. With skip"),
        (u_row("²"), r"x.conllu, line 2: expected a number as id, got '²'\. With skip"),
        (u_row(2, ""), r"x.conllu, line 2: expected 'w', got nothing\. With skip"),
        (u_row(2, upos=""), r"x.conllu, line 2: expected 'upos', got nothing\. With skip"),
    ],
)
def test_what_is_wrong_with_universal_dependencies(line, match, tmp_path):
    path = tmp_path / "x.conllu"
    path.write_text(u_row(1) + line + "\n" + u_row(1, "b"))
    with pytest.raises(read.BadInput, match=match):
        whole(path)
    assert whole(path, skip_bad=True) == ([["b"]], [["X"]], 1)


# --------------------------------------------------------------------------- files


# -------------------------------------------------------------------------- writing


def test_tags_are_put_behind_the_lines(tmp_path):
    path = tmp_path / "x.txt"
    path.write_bytes(b"-DOCSTART- O\n\na A\nb\tB\r\n \nc C \n\n\n")
    (batch,) = read.sentences(path)
    said = batch.tagged([["X", "Y"], ["Z"]])
    assert said == "-DOCSTART- O\n\na A X\nb\tB\tY\r\n \nc C Z\n\n\n"
    assert batch.tagged([["X", "Y"], ["Z"]], [["0.5", "1"], ["0"]]).startswith(
        "-DOCSTART- O\n\na A X 0.5\nb\tB\tY\t1\r\n"
    )
    path.write_bytes(b"a A\n\nb\nc C\n\nd D")
    (batch,) = read.sentences(path, skip_bad=True)
    assert batch.tagged([["X"], ["Y"]]) == "a A X\n\n\nd D Y"


def test_tags_are_put_into_the_column_of_labels(tmp_path):
    path = tmp_path / "x.conllu"
    path.write_text(SAID)
    (batch,) = read.sentences(path, label="xpos")
    assert batch.tagged(batch.y) == SAID
    said = batch.tagged([["A", "B", "C"], ["D"]], [["1", "0.5", "0.25"], ["0"]]).split("\n")
    assert said[0] == "# text = Wir sehen's"
    assert said[1] == u_row(1, "Wir", "PRON", xpos="A", misc="Confidence=1").rstrip("\n")
    assert said[6].endswith("\tC\t_\t_\t_\t_\tSpaceAfter=No|Confidence=0.25")
    (batch,) = read.sentences(path, label=False)
    assert "1\tJa\t_\tD\t" in batch.tagged([["A", "B", "C"], ["D"]])
