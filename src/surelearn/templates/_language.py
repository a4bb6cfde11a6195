"""The language of templates: a string to what it asks of which word; must not know features.

A template is ``bias``, or pieces joined by ``|``. A piece is a word such as ``w[-1]``, cut by
``[:3]`` or ``[-3:]`` or handed to a function such as ``lower(w[0])``; both can be repeated. ``B:``
before a template makes it one of pairs of labels.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, NoReturn

from surelearn import _check

#: The furthest word a template may ask for.
FURTHEST = 100

#: Columns of tokens whose columns nobody named.
NAMES = ("w", "pos")


class WordStep(NamedTuple):
    """Something that is made of a word: its name, as in templates, and what it is given."""

    name: str
    argument: str | int | None = None

    def function(self) -> Callable[[str], str]:
        """The step in Python."""
        return _FUNCTIONS[self.name](self.argument)

    @property
    def code(self) -> tuple[int, int] | None:
        """The step in the core; None: it has none."""
        if self.name not in _NATIVE:
            return None
        return _NATIVE.index(self.name), self.argument if isinstance(self.argument, int) else 0


class Piece(NamedTuple):
    """A word of a column, so far from the token at hand, and what is made of it."""

    column: int
    offset: int
    steps: tuple[WordStep, ...]


class Template(NamedTuple):
    """A template as it is written without blanks, and its pieces; none: a constant."""

    text: str
    pieces: tuple[Piece, ...]
    pair: bool

    @property
    def is_plain_pair(self) -> bool:
        """Whether it is the pair of labels alone, which every tagger has."""
        return self.pair and not self.pieces


# ------------------------------------------------------------------ what is made of a word


def shape(word: str) -> str:
    """Capitals to X, other letters to x, digits to d, the rest as it is; four of a kind at most.

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


# ------------------------------------------------------------------ reading


class _Reader:
    """Reads one template from left to right."""

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
        """What comes next, if it is that."""
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
    """A piece as templates have it."""
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
    """Templates of tokens with these columns."""
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
    """Names of columns that have none: ``("w", "pos", "c2", "c3", ...)``."""
    return (*NAMES[:n], *(f"c{i}" for i in range(2, n)))


def default_templates(columns: Sequence[str] = ("w",)) -> list[str]:
    """What is taken of tokens when no templates are given.

    Of words alone: the words around (two to each side), joined neighbours, prefixes and suffixes up
    to four characters, small letters, shapes. Of words and parts of speech: both from two to the
    left to two to the right, joined neighbours of words, and pairs and triples of parts of speech;
    of further columns the value and its neighbours.

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
    return window + _of_tags(others[0]) + [f"{c}[{i}]" for c in others[1:] for i in (-1, 0, 1)]


def _of_tags(pos: str) -> list[str]:
    at = [f"{pos}[{i}]" for i in range(-2, 3)]
    return ["|".join(at[i : i + n]) for n in (1, 2, 3) for i in range(len(at) - n + 1)]
