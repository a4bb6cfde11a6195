"""Lines of JSON: what Python's own reader gives, bad lines named, whatever the blocks."""

from __future__ import annotations

import json
import re
from unittest import mock

import numpy as np
import pyarrow
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from reading import (
    as_sets,
    blocks_of,
    check_going_on,
    dumped,
    many_labelled,
    records,
    rows,
    without_core,
)
from reference import readers as slow
from surelearn import read
from surelearn.read import _jsonl

GOOD = b'{"text": "a", "label": "x"}\n'


@pytest.fixture
def path(tmp_path):
    return tmp_path / "reviews.jsonl"


@given(pairs=records(), ascii=st.booleans(), size=st.sampled_from([16, 100, 2**20]))
def test_what_was_written_is_read(pairs, ascii, size, tmp_path_factory):
    path = tmp_path_factory.mktemp("jsonl") / "a.jsonl"
    path.write_bytes(dumped(pairs, ensure_ascii=ascii))
    with blocks_of(size):
        found, n_bad = rows(path)
    assert (found, n_bad) == (pairs, 0)
    assert [type(label) for _, label in found] == [type(label) for _, label in pairs]


ODD = [
    b'{"text": "b", "label": null}',
    b'{"text": "b"}',
    b'{"label": "x"}',
    b'{"text": null, "label": "x"}',
    b'{"text": 5, "label": "x"}',
    b'{"text": "b", "label": 1}',
    b'{"text": "b", "label": true}',
    b'{"text": "b", "label": 1.5}',
    b'{"text": "b", "label": ["x"]}',
    b'{"text": "b", "label": "x"}{"text": "c", "label": "x"}',
    b'{"text": "b", "label": "x"} {"text": "c", "label": "x"}',
    b'{"text":\n "b", "label": "x"}',
    b'{"text": "b",\n"label": "x"}{"text": "c", "label": "x"}',
    b'{"text": "b", "label": "x"},',
    b'{"text": "b", "label": "x"',
    b'{"text": "\xff", "label": "x"}',
    b'{"text": "b", "label": "x", "other": "\xc3"}',
    b'{"text": "\\ud800", "label": "x"}',
    b'{"text": "b", "label": "\\udc00"}',
    b'{"text": "b", "label": "x", "other": "\\ud800"}',
    b'{"text": "b", "text": "c", "label": "x"}',
    b'{"text": "b", "label": "x", "other": 1, "other": 2}',
    b'{"text": "b", "label": "x", "other": NaN}',
    b'{"text": "b", "label": "x", "other": {"text": [null, {}]}}',
    b'\xef\xbb\xbf{"text": "b", "label": "x"}',
    b"null",
    b"[]",
    b"{}",
    b'"text"',
    b"hello",
    b"",
    b"   ",
    b"\r",
    b"\x00",
    b' {"text": "b", "label": "x"} ',
    b'{"text": "b", "label": "x"}\r',
]


@given(
    lines=st.lists(st.sampled_from([*ODD, GOOD.strip()]), max_size=8),
    size=st.sampled_from([30, 2**20]),
    end=st.sampled_from([b"\n", b""]),
)
def test_bad_lines_are_those_that_a_slow_reader_refuses(lines, size, end, tmp_path_factory):
    data = GOOD + b"\n".join(lines) + end
    others = (b'"label": 1', b'"label": [', b'"label": true')
    is_mixed = any(other in line for line in lines for other in others)
    assume(size > 30 or not is_mixed)  # the first block decides the type of labels
    path = tmp_path_factory.mktemp("jsonl") / "a.jsonl"
    path.write_bytes(data)
    texts, labels, bad = slow.jsonl(data)
    with blocks_of(size):
        found, n_bad = rows(path, skip_bad=True)
        assert found == list(zip(texts, labels, strict=True))
        assert n_bad == len(bad)
        if not bad:
            assert rows(path) == (found, 0)
        else:
            # Labels up to the first line that is no object decide which type is the bad one.
            line = r"\d+" if is_mixed else bad[0]
            with pytest.raises(read.BadInput, match=rf"a.jsonl, line {line}: "):
                rows(path)


# ------------------------------------------------------------------ the core beside others

#: Values as they may be written: good and bad strings, numbers, words and nested values.
# fmt: off
WRITTEN = [
    '""', '"a"', '"x"', '"y"', '"', '"', r'"caf\u00e9"', r'"\u00e9"', r'"\n\t\r\b\f\/\\\""',
    r'"\ud83d\udc4d"', r'"\ud800"', r'"\udc00\ud800"', r'"\ud83d\u0041"', r'"\u12"', r'"\u00zz"',
    r'"\x"', r'"\"', r'"a\u0000"', r'"\u0000"', "0", "-0", "1", "-1", "7", "01", "-01", "1.",
    ".5", "+1", "1.0", "1.5", "1e5", "1E-2", "1e", "1e999", "9223372036854775807",
    "9223372036854775808", "123456789012345678", "1234567890123456789", "-", "true", "false",
    "null", "True", "NaN", "Infinity", "nul", "trues", "[]", "{}", "[1]", "[1,]", "[,]", "[[]]",
    '[null,"a",{"text":"b"}]', '{"label":1}', '{"a":}', '{"a"}', "{1:2}", '{"a":1,}', "[1}",
    "",
    '"a\tb"',
    '"a\x00b"',
    '"\x7f"',
    '"東京 👍"',
    '[1, {"a" : [ ]} ]',
    "[" * 33 + "]" * 33,
    "[" * 30 + "]" * 30,
    "1" * 301,
    '"long enough for more than one step, with "',
    '"long enough for more than one step, with \\u00e9 and \\n"',
]
# fmt: on
NAMES = ["text", "label", "other", "la\\u0062el", "Text", "", "\u00e9"]
SPACES = st.sampled_from(["", "", "", " ", "\t", "\r", "\x0b"])


@st.composite
def written_lines(draw):
    """A line of any fields, most often those that are wanted; now and then with a byte lost."""
    names = draw(
        st.one_of(st.just(["text", "label"]), st.lists(st.sampled_from(NAMES), max_size=4))
    )
    names = draw(st.permutations(names))
    members = [
        f'{draw(SPACES)}"{name}"{draw(SPACES)}:{draw(SPACES)}{draw(st.sampled_from(WRITTEN))}'
        for name in names
    ]
    line = f"{draw(SPACES)}{{{','.join(members)}{draw(SPACES)}}}{draw(SPACES)}".encode()
    lost = draw(st.one_of(st.none(), st.none(), st.integers(0, len(line) - 1)))
    return line if lost is None else line[:lost] + line[lost + 1 :]


def batches_of(path, **options):
    """All there is to know of each batch, or the error and the records before it."""
    found = []
    try:
        for batch in read.batches(path, **options):
            X, (codes, values, starts) = batch.X, batch.labels or (None, None, None)
            labels = None if codes is None else (codes.tolist(), codes.dtype, values.tolist())
            kind = None if values is None else values.dtype
            found.append((X.to_pylist(), X.type, labels, kind, starts, batch.n_bad))
    except read.BadInput as error:
        found.append((str(error), error.n_before))
    return found


@given(
    label=st.sampled_from(["x", 1, True, 1.5]),
    lines=st.lists(st.one_of(written_lines(), st.sampled_from([*ODD, GOOD.strip()])), max_size=6),
    size=st.sampled_from([30, 2**20]),
    end=st.sampled_from([b"\n", b"\r\n", b"\n\n"]),
    options=st.fixed_dictionaries(
        {
            "skip_bad": st.booleans(),
            "label": st.sampled_from(["label", None, False]),
            "keep": st.sampled_from([[], [], ["text"]]),
        }
    ),
)
def test_the_core_reads_what_others_read(label, lines, size, end, options, tmp_path_factory):
    """Every record and every error is that of the reader without the core, in every company."""
    path = tmp_path_factory.mktemp("jsonl") / "a.jsonl"
    path.write_bytes(dumped([("a", label)]) + end.join(lines) + end)
    with blocks_of(size):
        ours = batches_of(path, **options)
        with without_core():
            assert batches_of(path, **options) == ours


@pytest.mark.parametrize("label", ["x", 1, -12, True])
def test_plain_lines_are_read_by_the_core(path, label):
    others = {"id": 1.5e3, "at": None, "who": {"name": "\u00e9", "tags": [[], {}]}, "ok": False}
    lines = [json.dumps(others | {"text": "caf\u00e9 \U0001f44d\n", "label": label}) + "\n"]
    lines += [f' {{"label":{json.dumps(label)} , "text" : "" }}\t\r\n', "\n", "\r\n"]
    path.write_text("".join(lines), encoding="utf-8", newline="")
    with mock.patch.object(read._jsonl.JsonLines, "_table", side_effect=AssertionError):
        assert rows(path) == ([("caf\u00e9 \U0001f44d\n", label), ("", label)], 0)


LISTS = [
    b'{"text": "b", "label": []}',
    b'{"text": "b", "label": ["x", "y", "x"]}',
    b'{"text": "b", "label": ["x", null]}',
    b'{"text": "b", "label": [null]}',
    b'{"text": "b", "label": null}',
    b'{"text": "b", "label": "x"}',
    b'{"text": "b", "label": ["x", 1]}',
    b'{"text": "b", "label": [["x"]]}',
    b'{"text": "b", "label": [{"x": ["y"]}]}',
    b'{"text": "b", "label": {"x": []}}',
    b'{"text": "b", "label": [1, 2.5]}',
    b'{"text": "b", "label": [1]}',
    b'{"text": "b", "label": [true]}',
    b'{"text": "b", "label": ["\\udc00"]}',
    b'{"text": "b", "label": ["x"',
    b'{"text": "b", "label": ["x",]}',
    b'{"text": "b", "label": ["x"]}{"text": "b", "label": ["x"]}',
    b'{"text": "b", "label": [' + b"[" * 300 + b"]" * 300 + b"]}",
]


@given(
    first=st.sampled_from([b'["x"]', b"[3]", b"[2.5, 1]", b"[false]"]),
    lines=st.lists(st.sampled_from(LISTS), max_size=8),
    size=st.sampled_from([30, 2**20]),
)
def test_bad_lists_are_those_that_a_slow_reader_refuses(first, lines, size, tmp_path_factory):
    # So many of the first that it decides, whatever is in the first block.
    begin = [b'{"text": "a", "label": ' + first + b"}"] * 9
    data = b"\n".join([*begin, *lines]) + b"\n"
    path = tmp_path_factory.mktemp("jsonl") / "a.jsonl"
    path.write_bytes(data)
    texts, labels, bad = slow.jsonl(data)
    with blocks_of(size):
        found, n_bad = rows(path, skip_bad=True)
    assert found == list(zip(texts, labels, strict=True))
    assert n_bad == len(bad)


@given(pairs=records(min_size=6), size=st.sampled_from([16, 60, 200]))
def test_reading_goes_on_from_the_end_of_any_block(pairs, size, tmp_path_factory):
    folder = tmp_path_factory.mktemp("jsonl")
    for name in ("a", "b"):
        (folder / f"{name}.jsonl").write_bytes(dumped(pairs).removesuffix(b"\n"))
    with blocks_of(size):
        n = check_going_on(read.batches(folder / "*.jsonl"))
    assert n >= 2 if size == 200 else n > 2  # six short records fit in one of the largest blocks


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"hello", "line 40: expected a JSON object, got 'hello'."),
        (b"h" * 99, "got 'hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh...."),
        (b"[]", r"line 40: expected a JSON object, got '\[\]'."),
        (b"null", "line 40: expected a JSON object, got 'null'."),
        (b'{"text": "b", "label": null}', "line 40: 'label' must be a text, got null."),
        (b'{"text": "b"}', "line 40: 'label' must be a text, got none."),
        (b'{"text": "b", "label": 3}', "line 40: 'label' must be a text, got 3."),
        (b'{"text": ["b"], "label": "x"}', r"line 40: 'text' must be a text, got \['b'\]."),
        (b'{"text": "\xff", "label": "x"}', "expected UTF-8, got byte 0xff at position 10."),
        (b'{"text": "\\ud800", "label": "x"}', r"'text' must be a text, got '\\ud800'."),
        (GOOD.strip() * 2, "line 40: expected a JSON object, got"),
        (b'{"text":\n"b", "label": "x"}', "line 40: expected a JSON object, got '{\"text\":'."),
    ],
)
def test_a_bad_line_is_named_wherever_it_is(path, line, message):
    path.write_bytes(GOOD * 39 + line + b"\n" + GOOD * 39)
    for size in (200, 2**20):
        with blocks_of(size), pytest.raises(read.BadInput, match=rf"reviews.jsonl, .*{message}"):
            rows(path)
        with blocks_of(size):
            found, n_bad = rows(path, skip_bad=True)
        assert len(found) == 78
        assert n_bad == 1 + line.count(b"\n")


def test_labels_that_change_their_type_half_way(path):
    path.write_bytes(dumped([("a", 1)] * 50 + [("a", 1.5)] + [("a", 2)] * 50))
    with blocks_of(100), pytest.raises(read.BadInput, match=r"line 51: .* a whole number, got 1.5"):
        rows(path)
    path.write_bytes(dumped([("a", 0.5)] * 50 + [("a", 2)] * 50))
    with blocks_of(100):
        assert rows(path)[0][-1] == ("a", 2.0)
    path.write_bytes(dumped([("a", 1), ("a", 2**63)]))
    with pytest.raises(
        read.BadInput, match=r"line 2: .* number that fits int64, got 9223372036854775808"
    ):
        rows(path)


def test_very_deep_and_very_long_values_are_one_thing_in_all_company(path):
    """pyarrow reads them and Python does not: they are good among good lines and among bad."""
    for odd in (b"[" * 5000 + b"]" * 5000, b"1" * 5000, b"Inf"):
        line = b'{"text": "b", "label": "y", "other": ' + odd + b"}\n"
        path.write_bytes(GOOD + line)
        assert rows(path) == ([("a", "x"), ("b", "y")], 0)
        path.write_bytes(GOOD + line + b"hello\n")
        assert rows(path, skip_bad=True) == ([("a", "x"), ("b", "y")], 1)


@pytest.mark.parametrize("number", [19223372036854775808, 2**53 + 1, -(10**300)])
def test_whole_numbers_too_large_for_integers_are_numbers_beside_bad_lines_too(tmp_path, number):
    path = tmp_path / "r.jsonl"
    good = f'{{"a": 0.5, "label": 0.5}}\n{{"a": {number}, "label": {number}}}\n'
    path.write_text(f"{good}no JSON\n")
    (batch,) = read.batches(path, skip_bad=True)
    assert batch.n_bad == 1
    assert np.asarray(batch.X)[:, 0].tolist() == [0.5, float(number)]
    assert batch.labels.values[batch.labels.codes].tolist() == [0.5, float(number)]
    path.write_text(good)
    (plain,) = read.batches(path)
    assert np.asarray(plain.X).tolist() == np.asarray(batch.X).tolist()


@given(pairs=many_labelled(), size=st.sampled_from([16, 100, 2**20]))
def test_lists_of_labels_are_read(pairs, size, tmp_path_factory):
    path = tmp_path_factory.mktemp("many") / "a.jsonl"
    path.write_bytes(dumped(pairs))
    with blocks_of(size):
        assert rows(path) == (as_sets(pairs), 0)
        check_going_on(read.batches(path))
        assert read.batches(path).first(100).y == [labels for _, labels in as_sets(pairs)]


@pytest.mark.parametrize(
    ("first", "bad", "message"),
    [
        (["a"], ["b", 1], r"must be a list of texts, got ['b', 1]."),
        (["a"], ["b", None], r"must be a list of texts, got ['b', None]."),
        (["a"], "b", r"must be a list of texts, got 'b'."),
        (["a"], None, r"must be a list of texts, got null."),
        (["a"], [["b"]], r"must be a list of texts, got [['b']]."),
        ([1], [2, 2.5], r"must be a list of whole numbers, got [2, 2.5]."),
        ([1], [2**63], r"must be a list of whole numbers, got [9223372036854775808]."),
        ([0.5], [True], r"must be a list of numbers, got [True]."),
        ("a", ["b"], r"must be a text, got ['b']."),
    ],
)
def test_a_bad_list_of_labels_is_a_bad_record(path, first, bad, message):
    pairs = [("t", first)] * 5 + [("t", bad)] + [("t", first)] * 5
    path.write_bytes(dumped(pairs))
    for size in (40, 2**20):
        with (
            blocks_of(size),
            pytest.raises(read.BadInput, match=re.escape(f"line 6: 'label' {message}")),
        ):
            rows(path)
        with blocks_of(size):
            found, n_bad = rows(path, skip_bad=True)
        assert (len(found), n_bad) == (10, 1)


def test_numbers_in_lists_beside_a_bad_line_lose_nothing(path):
    """A bad line sends its block through Python, where a whole number must become a float."""
    path.write_bytes(dumped([("t", [0.5, 10**30]), ("t", ["x"]), ("t", [3])]))
    assert rows(path, skip_bad=True) == ([("t", (0.5, 1e30)), ("t", (3.0,))], 1)


def test_empty_lists_do_not_decide_the_kind(path):
    path.write_bytes(dumped([("t", None), ("t", []), ("t", [7])]))
    assert rows(path, skip_bad=True) == ([("t", ()), ("t", (7,))], 1)


@pytest.mark.parametrize("size", [40, 2**20])
@pytest.mark.parametrize(
    ("bad", "good", "kind"),
    [
        ("n/a", [1, 0], "a whole number"),
        (0, ["x", "y"], "a text"),
        (True, ["x", "y"], "a text"),
        (1, [True, False], "true or false"),
        ("n/a", [["x"], ["x", "y"]], "a list of texts"),
        (["x"], ["x", "y"], "a text"),
        ([3], [["x"], ["y"]], "a list of texts"),
    ],
)
def test_a_bad_first_label_does_not_decide_for_all(path, bad, good, kind, size):
    path.write_bytes(dumped([("t", bad)] + [("t", label) for label in good] * 1000))
    first = f"line 1: 'label' must be {kind}"
    with blocks_of(size):
        if size > 40:  # else the first line is all of the first block
            with pytest.raises(read.BadInput, match=re.escape(first)):
                rows(path)
            found, n_bad = rows(path, skip_bad=True)
            assert (len(found), n_bad) == (2000, 1)


def test_numbers_without_a_point_are_numbers_after_one_with_a_point(path):
    path.write_bytes(dumped([("t", 0.5), ("t", 1), ("t", 2), ("t", "x")]))
    assert rows(path, skip_bad=True) == ([("t", 0.5), ("t", 1.0), ("t", 2.0)], 1)


def test_a_bad_first_number_does_not_make_a_column_a_text(path):
    lines = [{"x": "n/a", "label": 1}] + [{"x": 2.5, "label": 0}] * 9
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (batch,) = read.batches(path, skip_bad=True)
    assert (batch.X.tolist(), batch.n_bad) == ([[2.5]] * 9, 1)


def test_lines_are_one_string_of_arrow_without_a_copy():
    lines = "é\n".encode() * 3
    text = _jsonl._as_text(lines)
    assert text.to_pylist() == [lines.decode()]
    assert text.buffers()[2].address == pyarrow.py_buffer(lines).address


@pytest.mark.parametrize(
    ("lines", "n"),
    [
        (b'{"a": 1}\n{"b": 2}\n{}\n', 3),
        (b'{"a": 1}\n{"b": 2}', 2),
        (b'\n {"a": 1} \n\n{}\n', 2),
        (b'{"a": "}]\n', 0),  # no closing brace at the end of a line
        (b'{"a": 1}\n[2}\n', 0),  # no opening one at its begin: of the last line, of another
        (b'{"a": 1}\n[2}\n{"b": 3}\n', 0),
        (b'[1}\n{"b": 2}\n', 0),
    ],
)
def test_lines_that_look_like_records_are_counted(lines, n):
    assert _jsonl._n_objects(lines) == n
