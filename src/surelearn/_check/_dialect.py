"""Checks of text formats: encoding, delimiters and quotes."""

from __future__ import annotations

import codecs
from collections.abc import Sequence

from surelearn._check._lines import BadInput
from surelearn._check._messages import Keyword, Message, must
from surelearn._check._rows import one_text

#: The formats that a keyword applies to, in words and by name.
_FOR = {
    "delimiter": ("csv and tsv", ("csv", "tsv")),
    "quote": ("csv and tsv", ("csv", "tsv")),
    "label_separator": ("csv, tsv and svmlight", ("csv", "tsv", "svmlight")),
    "weight": ("formats with columns", ("csv", "tsv", "jsonl", "parquet", "arrow")),
    "cross": ("vw", ("vw",)),
    "zero_based": ("svmlight", ("svmlight",)),
    "encoding": ("lines of text", ("csv", "tsv", "jsonl", "svmlight", "vw")),
}

_BOMS = {
    b"\xff\xfe\0\0": "utf-32",
    b"\0\0\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}

#: Bytes at the start of a file that show whether it is UTF-16 or UTF-32.
_LOOKED = 64

#: Common delimiters.
_DELIMITERS = (";", "\t", "|", ",")


def format_unknown(
    name: str, ending: str, formats: Sequence[str], such: str = ".jsonl"
) -> BadInput:
    return BadInput(
        Message(
            "{name} must have an extension that shows its format, such as {such}, got {ending!r}. "
            "Name the {format}: {formats}.",
            name=name,
            such=such,
            ending=ending,
            format=Keyword("format"),
            formats=", ".join(formats),
        )
    )


def only_for(kind: str, **given: str | bool | None) -> None:
    """Refuse keywords that do not apply to a format."""
    for name, value in given.items():
        what, kinds = _FOR[name]
        if value is not None and kind not in kinds:
            raise ValueError(
                Message(
                    "{name} is for {what}, got {kind}.", name=Keyword(name), what=what, kind=kind
                )
            )


def delimiter(value: object) -> str:
    return _one_letter("delimiter", value, "one ASCII character that ends no line")


def label_separator(value: object) -> str | None:
    """What separates the labels of a record; None if a record has one label."""
    if value is None:
        return None
    return _one_letter("label_separator", value, "one ASCII character that ends no line")


def svmlight_label_lists(separator: str | None) -> bool:
    """Whether the labels of a row of svmlight are a list, which commas separate."""
    if separator not in (None, ","):
        raise ValueError(must("label_separator", "be ',' for svmlight", separator))
    return separator is not None


def quote(value: object, between: str) -> str:
    """The quote character; empty for none."""
    if value == "":
        return ""
    mark = _one_letter("quote", value, "one ASCII character, or '' for none")
    if mark == between:
        raise ValueError(f"delimiter and quote must differ, got {mark!r} for both.")
    return mark


def _one_letter(name: str, value: object, what: str) -> str:
    letter = one_text(name, value)
    if len(letter) != 1 or not letter.isascii() or letter in "\r\n\0":
        raise ValueError(must(name, f"be {what}", letter))
    return letter


def encoding(value: object) -> str | None:
    """The name of a text encoding; None for UTF-8."""
    if value is None:
        return None
    name = one_text("encoding", value)
    try:
        found = codecs.lookup(name)
        "".encode(name)  # raises for codecs that do not encode text, such as "hex"
    except (LookupError, TypeError, ValueError):
        known = "be one that Python knows, such as 'latin-1' or 'utf-16'"
        raise ValueError(must("encoding", known, name)) from None
    return None if found.name.replace("_", "-") in ("utf-8", "utf-8-sig") else name


def not_utf16(data: bytes, name: str) -> None:
    """Refuse a file that starts like UTF-16 or UTF-32."""
    found = _wide_encoding(data[:_LOOKED])
    if found is not None:
        raise BadInput(
            Message(
                "{name} must be in UTF-8, got {kind}. Use {encoding}.",
                name=name,
                kind=found[:6].upper(),
                encoding=Keyword("encoding", found),
            )
        )


def _wide_encoding(begin: bytes) -> str | None:
    for bom, name in _BOMS.items():
        if begin.startswith(bom):
            return name
    # Without a byte order mark: in UTF-16 of mostly ASCII text, every other byte is zero.
    pairs = len(begin) // 2
    first, second = begin[0 : 2 * pairs : 2].count(0), begin[1 : 2 * pairs : 2].count(0)
    if pairs < 4 or 0 not in (first, second) or first + second < 0.8 * pairs:
        return None
    return "utf-16-le" if second else "utf-16-be"


def not_utf8(data: bytes, given: str | None, inside: str | None = None) -> Message:
    """What is wrong with bytes that are not text; names their position, or the value `inside`."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        start = error.start
    where = f"at position {start}" if inside is None else f"in {inside}"
    if given is not None:
        return Message("expected {given}, got other bytes {where}.", given=given, where=where)
    return Message(
        "expected UTF-8, got byte 0x{byte:02x} {where}. Name the encoding of the file, such as "
        "{encoding}.",
        byte=data[start],
        where=where,
        encoding=Keyword("encoding", "latin-1"),
    )


def utf8_already(name: str, given: str) -> BadInput:
    return BadInput(
        Message(
            "{name} must be in {given}, got UTF-8. Use {encoding}.",
            name=name,
            given=given,
            encoding=Keyword("encoding", "utf-8"),
        )
    )


def delimited(name: str, header: str, between: str) -> None:
    """Refuse a header of one column that looks like several with another delimiter."""
    for mark in _DELIMITERS:
        if mark in header and mark != between:
            raise BadInput(
                Message(
                    "{name} must have columns separated by {between!r}, got {header!r}. "
                    "Use {mark}.",
                    name=name,
                    between=between,
                    header=header if len(header) <= 60 else f"{header[:56]} ...",
                    mark=Keyword("delimiter", mark),
                )
            )


def not_lines(name: str, what: str) -> BadInput:
    return BadInput(
        f"{name} must have one JSON object a line, got {what}. Convert it with jq -c, which writes "
        "one object a line."
    )


def endless_row(name: str, most: int) -> BadInput:
    return BadInput(
        Message(
            "{name} must be made of rows, got one of more than {most} MiB. Look for an unclosed "
            "quote, or use {quote}.",
            name=name,
            most=most >> 20,
            quote=Keyword("quote", ""),
        )
    )


def miscounted(expected: int, found: int, row: bytes, mark: str) -> str:
    """What is wrong with a row that has more or fewer columns than the header."""
    begin = repr(row.decode(errors="replace"))
    begin = begin if len(begin) <= 40 else f"{begin[:37]}..."
    said = f"expected {expected} columns, got {found} in {begin}."
    if not mark or b"\n" not in row:
        return said
    return Message(
        "{said} Use {quote} if the file has no quoted values.",
        said=said,
        quote=Keyword("quote", ""),
    )
