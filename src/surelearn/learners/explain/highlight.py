"""Highlight the words of a text by their contributions; must not know weights."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn.learners.explain.explanation import Explanation
from surelearn.text import NativeVectorizer


class Gram(NamedTuple):
    """One n-gram of a text: its units [first, last), and its feature."""

    first: int
    last: int
    feature: int


class Pieces(NamedTuple):
    """A text, its units that can be highlighted (words or characters), and its n-grams."""

    text: str
    units: list[tuple[int, int]]
    grams: list[Gram]
    names: dict[int, str]

    def scores(self, shares: Mapping[int, float]) -> NDArray[np.float64]:
        """The score of each unit: a feature's contribution is split among all its units."""
        places = Counter(gram.feature for gram in self.grams)
        scores = np.zeros(len(self.units))
        for gram in self.grams:
            if gram.first == gram.last:  # it covers no word
                continue
            own = shares.get(gram.feature, 0.0) / places[gram.feature]
            scores[gram.first : gram.last] += own / (gram.last - gram.first)
        return scores


def pieces_of(vectorizer: NativeVectorizer, text: str) -> Pieces:
    """The n-grams of a text with their positions; the same n-grams as the vectorizer's."""
    preprocess = vectorizer.cleaner()
    clean = preprocess(text)
    if vectorizer.analyzer == "word":
        units = _words(vectorizer, clean)
        found = _word_grams(vectorizer, clean, units)
    else:
        clean = re.sub(r"\s\s+", " ", clean)
        units = [(i, i + 1) for i in range(len(clean))]
        within = vectorizer.analyzer == "char_wb"
        found = _within_words(vectorizer, clean) if within else _char_grams(vectorizer, clean)
    spelled = list(found)
    features = vectorizer.features_of([gram for _, _, gram in spelled])
    grams = [Gram(a, b, j) for (a, b, _), j in zip(spelled, features, strict=True)]
    names: dict[int, str] = {}
    for (_, _, gram), j in zip(spelled, features, strict=True):
        names.setdefault(j, gram)
    shown = text if _letter_by_letter(preprocess, text, clean) else clean
    return Pieces(shown, units, grams, names)


def _letter_by_letter(preprocess: Callable[[str], str], text: str, clean: str) -> bool:
    """Whether positions agree in both texts: lower-casing may change the number of letters."""
    return len(text) == len(clean) and all(map(str.__eq__, map(preprocess, text), clean))


def _words(vectorizer: NativeVectorizer, text: str) -> list[tuple[int, int]]:
    stop = vectorizer.stop_list() or ()
    found = re.finditer(vectorizer.token_pattern or "", text)
    return [match.span() for match in found if match.group() not in stop]


def _word_grams(
    vectorizer: NativeVectorizer, text: str, units: list[tuple[int, int]]
) -> Iterator[tuple[int, int, str]]:
    words = [text[a:b] for a, b in units]
    least, most = vectorizer.ngram_range
    for n in range(least, min(most, len(words)) + 1):
        for i in range(len(words) - n + 1):
            yield i, i + n, " ".join(words[i : i + n])


def _char_grams(vectorizer: NativeVectorizer, text: str) -> Iterator[tuple[int, int, str]]:
    least, most = vectorizer.ngram_range
    for n in range(least, min(most, len(text)) + 1):
        for i in range(len(text) - n + 1):
            yield i, i + n, text[i : i + n]


def _within_words(vectorizer: NativeVectorizer, text: str) -> Iterator[tuple[int, int, str]]:
    """N-grams of each word padded with spaces, which belong to no unit."""
    least, most = vectorizer.ngram_range
    for match in re.finditer(r"\S+", text):
        begin, end = match.span()
        padded = f" {match.group()} "
        for n in range(least, most + 1):
            for i in range(max(1, len(padded) - n + 1)):
                # An n-gram that is only the space belongs to the letter next to it.
                first = min(max(begin, begin + i - 1), end - 1)
                yield first, max(first + 1, min(end, begin + i - 1 + n)), padded[i : i + n]
            if n >= len(padded):
                break


#: What an answer means to which no word has contributed.
_NOTHING_KNOWN = (
    "The text holds no word that the model knows. The answer is that of the intercept alone, or a "
    "tie without one: it is the same for every such text."
)


class Verdict(NamedTuple):
    """The label of a text, the next best label, and each feature's contribution to the margin.

    `n_known` counts the features that the model has a weight for.
    """

    label: Any
    rival: Any
    margin: float
    shares: dict[int, float]
    n_known: int
    places: tuple[int, int | None] = (1, 0)  # of both among the classes; None: the rival is none

    def __repr__(self) -> str:
        """In words: the shares are by the number of a column, which says nothing."""
        return f"<Verdict: {self}, shares of {len(self.shares):,}>"

    def __str__(self) -> str:
        return f"{self.label} rather than {self.rival}, margin {self.margin:.3g}"


class TextExplanation(Explanation):
    """An `Explanation` of one text; notebooks show the text with its words highlighted.

    A word has the colour of the label it supports, that of its place in `classes_`; a stronger
    colour means more. The line below it tells the labels apart in grey.

    Attributes
    ----------
    text : str
        The highlighted text.
    units, scores : list of (begin, end), ndarray
        Positions of its words (of its characters for character analyzers), and the contribution of
        each to the margin of the label over the next best one.
    verdict : Verdict
        The label, the next best one, and the margin between them.
    note : str
        What an answer means for a text without any word that the model knows; else empty.

    Examples
    --------
    >>> from surelearn import SureTextClassifier
    >>> clf = SureTextClassifier(random_state=0).fit(["great fun", "how dull"], ["good", "bad"])
    >>> found = clf.explain("great, not dull")
    >>> [found.text[begin:end] for begin, end in found.units]
    ['great', 'not', 'dull']
    >>> found.verdict
    <Verdict: bad rather than good, margin 0.0114, shares of 3>
    """

    text: str
    units: list[tuple[int, int]]
    scores: NDArray[np.float64]
    verdict: Verdict
    note: str

    def __init__(self, table: Explanation, pieces: Pieces, verdict: Verdict) -> None:
        super().__init__({name: getattr(table, name) for name in table.columns})
        self.__dict__.update(
            text=pieces.text,
            units=pieces.units,
            scores=pieces.scores(verdict.shares),
            verdict=verdict,
            note="" if verdict.n_known else _NOTHING_KNOWN,
            _made_of=(table, pieces, verdict),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.__dict__["_made_of"]

    def __repr__(self) -> str:
        return f"{self.note}\n{super().__repr__()}" if self.note else super().__repr__()

    def _repr_html_(self) -> str:
        note = f"<p>{escape(self.note)}</p>" if self.note else ""
        return f"{note}{self.marked()}{super()._repr_html_()}"

    def marked(self) -> str:
        """The text as HTML with highlighted words."""
        verdict = self.verdict
        head = (
            f"<b>{escape(str(verdict.label))}</b> rather than {escape(str(verdict.rival))}, "
            f"margin {verdict.margin:.3g}"
        )
        body = "".join(self._marks())
        return f'<p>{head}</p><p style="white-space: pre-wrap; line-height: 1.6">{body}</p>'

    def _marks(self) -> Iterator[str]:
        largest = float(np.abs(self.scores).max(initial=0.0)) or 1.0
        at = 0
        for (begin, end), score in zip(self.units, self.scores.tolist(), strict=True):
            yield escape(self.text[at:begin])
            yield _mark(self.text[begin:end], score, abs(score) / largest, self.verdict.places)
            at = end
        yield escape(self.text[at:])


def _mark(text: str, score: float, strength: float, places: tuple[int, int | None]) -> str:
    if strength < 0.02:  # too faint to see
        return escape(text)
    place = places[0 if score > 0 else 1]
    colour = GREY if place is None else colour_of(place)
    if score < 0 and colour == colour_of(places[0]):  # of more classes than colours
        colour = GREY
    line = "dotted" if place is None else line_of(place)
    style = (
        f"background: rgba({rgb(colour)}, {0.6 * strength:.2f}); color: inherit; "
        f"text-decoration: underline {line} rgba({rgb(colour)}, {strength:.2f}); border-radius: 2px"
    )
    return f'<mark style="{style}" title="{score:+.3g}">{escape(text)}</mark>'


# Okabe & Ito 2008: distinct with any kind of colour vision. Their yellow is too pale for a line.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
#: What is of no class, or against one of many.
GREY = "#555555"
#: Lines below words, as CSS names them: colours that are alike in grey have others.
LINES = ("solid", "dashed", "double")


def colour_of(place: int) -> str:
    """The colour of the class at this place of `classes_`; after the last they begin anew."""
    return COLOURS[place % len(COLOURS)]


def line_of(place: int) -> str:
    """The line below words of the class at this place."""
    return LINES[place % len(LINES)]


def rgb(colour: str) -> str:
    """A colour as CSS takes it beside an opacity.

    >>> rgb("#0072B2")
    '0, 114, 178'
    """
    return ", ".join(str(int(colour[at : at + 2], 16)) for at in (1, 3, 5))
