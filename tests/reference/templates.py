"""Features of tokens, slowly: names by plain loops over strings, as the guide has it."""

from __future__ import annotations

import re

#: What is made of a word, by the name of a step.
STEPS = {
    "prefix": lambda word, n: word[:n],
    "suffix": lambda word, n: word[max(0, len(word) - n) :],
    "lower": lambda word, _: word.lower(),
    "shape": lambda word, _: shape(word),
    "capital": lambda word, _: str(int(word != "" and (word[0].isupper() or word[0].istitle()))),
    "capitals": lambda word, _: str(int(word.isupper())),
    "digits": lambda word, _: str(int(word.isdigit())),
    "match": lambda word, pattern: str(int(re.search(pattern, word) is not None)),
}


def shape(word):
    signs = ""
    for c in word:
        sign = c
        if c.isalpha():
            sign = "X" if c.isupper() or c.istitle() else "x"
        elif c.isdigit():
            sign = "d"
        if not signs.endswith(sign * 4):
            signs += sign
    return signs


def text_of(piece, columns):
    """A piece (column, offset, steps) as it is written in templates."""
    column, offset, steps = piece
    text = f"{columns[column]}[{offset}]"
    for name, argument in steps:
        if name in ("prefix", "suffix"):
            text += f"[:{argument}]" if name == "prefix" else f"[-{argument}:]"
        elif name == "match":
            text = f"match({text}, '{argument}')"
        else:
            text = f"{name}({text})"
    return text


def value_of(piece, tokens, t):
    """What a piece sees from token t, as it stands in names."""
    column, offset, steps = piece
    at = t + offset
    if at < 0:
        return f"<s-{-at}>"
    if at >= len(tokens):
        return f"</s+{at - len(tokens) + 1}>"
    word = tokens[at][column]
    for name, argument in steps:
        word = STEPS[name](word, argument)
    safe = word.replace("\\", "\\\\").replace("|", "\\|")
    return f"\\{safe}" if re.fullmatch(r"<s-[0-9]*>|</s\+[0-9]*>", word) else safe


def names_of(pieces, columns, tokens, t):
    """The name that a template of these pieces gives token t."""
    text = "|".join(text_of(piece, columns) for piece in pieces)
    return f"{text}={'|'.join(value_of(piece, tokens, t) for piece in pieces)}"


def rows(X, templates, columns, *, first=0):
    """Names of each token, in the order of the templates; those of tokens before `first` empty."""
    return [
        [names_of(pieces, columns, tokens, t) for pieces in templates if t >= first]
        for tokens in X
        for t in range(len(tokens))
    ]


def numbers(rows):
    """Names to numbers as they arrive."""
    table = {}
    for row in rows:
        for name in row:
            table.setdefault(name, len(table))
    return table
