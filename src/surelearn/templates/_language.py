"""The language of templates: parses strings; must not know features.

A template is ``bias``, or pieces joined by ``|``. A piece is a word such as ``w[-1]``, cut by
``[:3]`` or ``[-3:]`` or passed to a function such as ``lower(w[0])``; both can be repeated. A
template with ``B:`` in front makes features of pairs of labels.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, NoReturn

from surelearn import _check

#: The largest offset in a template.
FURTHEST = 100

#: Default names of the first columns.
NAMES = ("w", "pos")


class WordStep(NamedTuple):
    """A function applied to a word: its name, as in templates, and its argument."""

    name: str
    argument: str | int | None = None

    def function(self) -> Callable[[str], str]:
        """The step in Python."""
        return _FUNCTIONS[self.name](self.argument)

    @property
    def code(self) -> tuple[int, int] | None:
        """The step as the core takes it; None if the core does not know it."""
        if self.name not in _NATIVE:
            return None
        return _NATIVE.index(self.name), self.argument if isinstance(self.argument, int) else 0


class Piece(NamedTuple):
    """A word: its column, its offset from the current token, and the steps applied to it."""

    column: int
    offset: int
    steps: tuple[WordStep, ...]


class Template(NamedTuple):
    """A template: its text without blanks, and its pieces; without pieces it is a constant."""

    text: str
    pieces: tuple[Piece, ...]
    pair: bool

    @property
    def is_plain_pair(self) -> bool:
        """Whether it is only the pair of labels, which every tagger has."""
        return self.pair and not self.pieces


# ------------------------------------------------------------------ functions of a word


def shape(word: str) -> str:
    """The word with X for capitals, x for other letters and d for digits.

    Other characters stay. A run of more than four equal characters is cut to four.

    >>> shape("McDonald's"), shape("1,000"), shape("U.S.")
    ("XxXxxxx'x", 'd,ddd', 'X.X.')
    """
    return re.sub(r"(.)\1{4,}", r"\1\1\1\1", "".join(map(_sign, word)), flags=re.DOTALL)


def _sign(c: str) -> str:
    if c.isalpha():
        return "X" if c.isupper() or c.istitle() else "x"
    return "d" if c.isdigit() else c


def _said(test: Callable[[str], object]) -> Callable[[str], str]:
    return lambda word: "1" if test(word) else "0"


def _is_capital(word: str) -> bool:
    return word[:1].isupper() or word[:1].istitle()


_FUNCTIONS: dict[str, Callable[..., Callable[[str], str]]] = {
    "prefix": lambda n: lambda word: word[:n],
    "suffix": lambda n: lambda word: word[-n:],
    "lower": lambda _: str.lower,
    "shape": lambda _: shape,
    "capital": lambda _: _said(_is_capital),
    "capitals": lambda _: _said(str.isupper),
    "digits": lambda _: _said(str.isdigit),
    "match": lambda quoted: _said(re.compile(quoted[1:-1]).search),
}

#: Steps of the core, in the order of `WordForm::Kind`.
_NATIVE = ("prefix", "suffix", "lower", "shape", "capital", "capitals", "digits")

#: Functions that templates can call.
CALLED = ("lower", "shape", "capital", "capitals", "digits", "match")


# ------------------------------------------------------------------ parsing


class _Reader:
    """Parses one template from left to right."""

    def __init__(self, text: str, columns: Sequence[str], who: str) -> None:
        self.text, self.columns, self.who = text, columns, who
        self.at = 0

    def template(self) -> Template:
        pair = self.take(r"B:|B$") is not None
        start = "B:" if pair else ""
        if pair and self.ends():
            return Template("B:", (), True)
        if self.take(r"bias$"):
            return Template(f"{start}bias", (), pair)
        pieces = [self.piece()]
        while self.take(r"\|"):
            pieces.append(self.piece())
        if not self.ends():
            self.refuse("'|' or the end")
        shown = "|".join(written(piece, self.columns) for piece in pieces)
        return Template(start + shown, tuple(pieces), pair)

    def piece(self) -> Piece:
        name = self.take(r"[^\W\d]\w*")
        if name is None:
            self.refuse("a column or a function")
        piece = self.call(name) if self.take(r"\(") else self.word(name)
        while self.take(r"\["):
            piece = piece._replace(steps=(*piece.steps, self.cut()))
        return piece

    def word(self, name: str) -> Piece:
        if name not in self.columns:
            self.at -= len(name)
            self.refuse(f"a column ({', '.join(self.columns)}) or a function")
        self.expect(r"\[", "'[' and an offset")
        offset = int(self.expect(r"[+-]?\d{1,9}", "an offset"))
        if abs(offset) > FURTHEST:
            self.refuse(f"an offset from -{FURTHEST} to {FURTHEST}", back=True)
        self.expect(r"\]", "']'")
        return Piece(self.columns.index(name), offset, ())

    def call(self, name: str) -> Piece:
        if name not in CALLED:
            self.at = self.text.rindex(name, 0, self.at)
            self.refuse(f"one of {', '.join(CALLED)}")
        piece = self.piece()
        argument = None
        if name == "match":
            self.expect(",", "',' and a pattern")
            argument = self.pattern()
        self.expect(r"\)", "')'")
        return piece._replace(steps=(*piece.steps, WordStep(name, argument)))

    def cut(self) -> WordStep:
        size = self.take(r":\d{1,9}\]")
        if size is not None:
            step = WordStep("prefix", int(size[1:-1]))
        else:
            size = self.expect(r"-\d{1,9}:\]", "a cut such as ':3]' or '-3:]'")
            step = WordStep("suffix", int(size[1:-2]))
        if step.argument == 0:
            self.refuse("a cut of at least one character", back=True)
        return step

    def pattern(self) -> str:
        quoted = self.expect(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"", "a pattern in quotes")
        try:
            re.compile(quoted[1:-1])
        except re.error as error:
            self.refuse(f"a regular expression ({error})", back=True)
        return quoted

    def take(self, pattern: str) -> str | None:
        """The next token of the text, if it matches the pattern; None otherwise."""
        found = re.compile(rf"[ \t]*({pattern})", re.DOTALL).match(self.text, self.at)
        if found is None:
            return None
        self.before, self.at = found.start(1), found.end()
        return found[1]

    def expect(self, pattern: str, what: str) -> str:
        found = self.take(pattern)
        if found is None:
            self.refuse(what)
        return found

    def ends(self) -> bool:
        return not self.text[self.at :].strip(" \t")

    def refuse(self, what: str, *, back: bool = False) -> NoReturn:
        at = self.before if back else self.at
        raise ValueError(f"{self.who} must have {what} at character {at}, got {self.text!r}.")


def written(piece: Piece, columns: Sequence[str]) -> str:
    """A piece in the language of templates."""
    text = f"{columns[piece.column]}[{piece.offset}]"
    for name, argument in piece.steps:
        if name == "prefix":
            text += f"[:{argument}]"
        elif name == "suffix":
            text += f"[-{argument}:]"
        else:
            text = f"{name}({text})" if argument is None else f"{name}({text}, {argument})"
    return text


def read(templates: Iterable[object], columns: Sequence[str]) -> list[Template]:
    """Parse templates for tokens with these columns."""
    _check.listed("templates", templates, "templates such as 'w[0]'")
    found: dict[str, int] = {}
    made = []
    for i, text in enumerate(templates):
        who = f"templates[{i}]"
        _check.one_text(who, text)
        _check.no_surrogates(who, str(text))
        template = _Reader(str(text), columns, who).template()
        if template.text in found:
            first = f"templates[{found[template.text]}]"
            raise ValueError(f"{who} must differ from {first}, got {text!r} again.")
        found[template.text] = i
        made.append(template)
    return made


# ------------------------------------------------------------------ defaults


def default_columns(n: int) -> tuple[str, ...]:
    """Default names of n columns: ``("w", "pos", "c2", "c3", ...)``."""
    return (*NAMES[:n], *(f"c{i}" for i in range(2, n)))


def default_templates(columns: Sequence[str] = ("w",)) -> list[str]:
    """The default templates.

    For words alone: the words within two positions, pairs of neighbours, prefixes and suffixes up
    to four characters, lower case and shapes. For words and parts of speech: both within two
    positions, pairs of neighbouring words, and pairs and triples of parts of speech. For further
    columns: the value and its neighbours.

    Parameters
    ----------
    columns : sequence of str
        Names of the columns.

    Examples
    --------
    >>> len(default_templates()), len(default_templates(["w", "pos"]))
    (20, 19)
    >>> default_templates(["form", "tag"])[5:8]
    ['form[-1]|form[0]', 'form[0]|form[1]', 'tag[-2]']
    """
    w, *others = columns
    window = [f"{w}[{i}]" for i in range(-2, 3)] + [f"{w}[-1]|{w}[0]", f"{w}[0]|{w}[1]"]
    if not others:
        cuts = [f"{w}[0][:{n}]" for n in range(1, 5)] + [f"{w}[0][-{n}:]" for n in range(1, 5)]
        shapes = [f"shape({w}[{i}])" for i in (-1, 0, 1)]
        return [*window, *cuts, f"lower({w}[0])", *shapes, f"shape({w}[-1])|shape({w}[0])"]
    pos = [f"{others[0]}[{i}]" for i in range(-2, 3)]
    tags = ["|".join(pos[i : i + n]) for n in (1, 2, 3) for i in range(len(pos) - n + 1)]
    return window + tags + [f"{c}[{i}]" for c in others[1:] for i in (-1, 0, 1)]


def checked_columns(names: object) -> tuple[str, ...]:
    """Names of columns: distinct identifiers, at least one."""
    _check.listed("columns", names, "names")
    found: tuple[str, ...] = tuple(names)  # type: ignore[arg-type]
    for i, name in enumerate(found):
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(f"columns[{i}] must be a name, got {name!r}.")
    if len(set(found)) != len(found) or not found:
        raise ValueError(f"columns must be different names, at least one, got {found!r}.")
    return found


_MACRO = re.compile(r"%x\[\s*(-?\d+)\s*,\s*(\d+)\s*\]")


def read_crfpp(lines: Iterable[str], columns: Sequence[str] | None = None) -> list[str]:
    """Convert a template file of CRF++ to templates that make the same features.

    ``U01:%x[-1,0]/%x[0,0]`` becomes ``w[-1]|w[0]``; the name before the colon and the text between
    the macros have no meaning. A repeated line is dropped. A ``U`` without a macro becomes
    ``bias``.

    Parameters
    ----------
    lines : iterable of str
        The lines of the file, or the open file.
    columns : sequence of str or None
        Names of the columns; None means ``("w", "pos", "c2", ...)``.

    Returns
    -------
    list of str

    Examples
    --------
    >>> read_crfpp(["# words", "U00:%x[0,0]", "U01:%x[-1,0]/%x[0,1]", "", "B"])
    ['w[0]', 'w[-1]|pos[0]', 'B:']
    """
    _check.listed("lines", lines, "lines")
    names = None if columns is None else checked_columns(columns)
    found = (_template(line.strip(), i, names) for i, line in enumerate(lines, start=1))
    return list(dict.fromkeys(template for template in found if template is not None))


def _template(line: str, i: int, columns: Sequence[str] | None) -> str | None:
    if not line or line.startswith("#"):
        return None
    kind, rest = line[0], _MACRO.sub("", line)
    if kind not in "UB" or "%" in rest:
        reason = _check.unlike(
            "U or B, and places such as %x[-1,0]", line.encode("utf-8", "replace")
        )
        raise _check.BadInput(f"template, line {i}: {reason}")
    pieces = [_piece(int(row), int(column), i, columns) for row, column in _MACRO.findall(line)]
    joined = "|".join(pieces)
    return f"B:{joined}" if kind == "B" else joined or "bias"


def _piece(offset: int, column: int, i: int, columns: Sequence[str] | None) -> str:
    if abs(offset) > FURTHEST:
        reason = f"expected an offset from -{FURTHEST} to {FURTHEST}, got {offset}."
        raise _check.BadInput(f"template, line {i}: {reason}")
    if columns is None:
        return f"{default_columns(column + 1)[column]}[{offset}]"
    if column >= len(columns):
        reason = f"expected a column below {len(columns)}, got {column}."
        raise _check.BadInput(f"template, line {i}: {reason}")
    return f"{columns[column]}[{offset}]"
