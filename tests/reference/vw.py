"""Vowpal Wabbit text, line by line and slowly: the format as its documentation has it.

Names are hashed by scikit-learn's MurmurHash3. Nothing here is shared with the core.
"""

from __future__ import annotations

import math
import re

from sklearn.utils import murmurhash3_32

_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class Bad(Exception):
    """A line that is none."""


def number(word):
    if not _NUMBER.fullmatch(word) or not math.isfinite(float(word)):
        raise Bad(word)
    return float(word)


def label_of(text):
    """Label (None if missing) and importance (None if missing) of what stands before the bar."""
    words = text.lstrip(b" \t\r").split(b" ")
    tagged = bool(words[-1])
    words = [word for word in words if word]
    if words and (tagged or words[-1].startswith(b"'")):
        words.pop()
    if len(words) > 3:
        raise Bad(text)
    found = [number(word) for word in words]
    if len(found) > 1 and found[1] < 0:
        raise Bad(text)
    return (*found[:2], None, None)[:2]


def feature_of(token, scale):
    """Name and value of one feature."""
    name, colon, value = token.partition(b":")
    if not name or (colon and not value) or b":" in value:
        raise Bad(token)
    if not colon:
        return name, scale
    if value[:1] in b"+-.0123456789" or value.lower() in (b"inf", b"infinity", b"nan"):
        return name, scale * number(value)
    return name + b"^" + value, 1.0


def namespace_of(text):
    """Names and values of a namespace: all between two bars."""
    head = re.match(rb"[^ \t\r]*", text)[0]
    space, colon, value = head.partition(b":")
    if colon and not space:
        raise Bad(head)
    scale = number(value) if colon else 1.0
    prefix = space + b"^" if space else b""
    for token in re.split(rb"[ \t\r]+", text[len(head) :]):
        if token:
            name, x = feature_of(token, scale)
            yield prefix + name, x


def row_of(line, n_features, alternate_sign):
    """(label, importance, {feature: value}); None for a blank line."""
    if not line.strip(b" \t\r"):
        return None
    before, bar, rest = line.partition(b"|")
    if not bar:
        raise Bad(line)
    label, importance = label_of(before)
    sums = {}
    for text in rest.split(b"|"):
        for name, x in namespace_of(text):
            h = murmurhash3_32(name, seed=0)
            j = abs(h) % n_features
            sums[j] = sums.get(j, 0.0) + (-x if alternate_sign and h < 0 else x)
    return label, importance, dict(sorted(sums.items()))
