"""Sequences of tokens drawn at random, and what their rows say, for the tests of templates."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from reference import templates as reference

COLUMNS = ("w", "pos", "c2")
#: Letters that names, marks and shapes might stumble over.
LETTERS = st.one_of(
    st.sampled_from("aAbB1|\\=:<>s-+/.ǅßİ٣²é東👍e\u0301\0\n"),
    st.characters(exclude_categories=["Cs"]),
)
WORDS = st.one_of(
    st.sampled_from(["", "the", "The", "<s-1>", "</s+1>", "\\<s-1>", "a|b", "|", "\\", "1999"]),
    st.text(LETTERS, max_size=9),
)
STEPS = st.one_of(
    st.tuples(st.sampled_from(["prefix", "suffix"]), st.integers(1, 6)),
    st.tuples(st.sampled_from(["lower", "shape", "capital", "capitals", "digits"]), st.none()),
    st.tuples(
        st.just("match"), st.sampled_from([r"^\d+$", "a|b", r"\W", "[=|']".replace("'", "")])
    ),
)


def pieces(n_columns):
    return st.tuples(
        st.integers(0, n_columns - 1),
        st.integers(-3, 3),
        st.lists(STEPS, max_size=2).map(tuple),
    )


@st.composite
def problems(draw):
    """(columns, templates as lists of pieces, sequences of tuples)"""
    n = draw(st.integers(1, 3))
    templates = draw(
        st.lists(st.lists(pieces(n), min_size=1, max_size=3).map(tuple), max_size=5, unique=True)
    )
    some = st.lists(WORDS, min_size=1, max_size=4).flatmap(st.sampled_from)
    token = st.tuples(*[st.one_of(some, WORDS) for _ in range(n)])
    return COLUMNS[:n], templates, draw(st.lists(st.lists(token, max_size=6), max_size=4))


def texts_of(templates, columns):
    return ["|".join(reference.text_of(piece, columns) for piece in one) for one in templates]


def names_in(rows, names):
    """Of each row {name: value}."""
    starts = rows.indptr
    return [
        {names[rows.indices[i]]: float(rows.data[i]) for i in range(starts[r], starts[r + 1])}
        for r in range(rows.shape[0])
    ]


def assert_sound(rows):
    assert rows.indices.dtype == np.int32
    assert rows.data.dtype == np.float32
    for begin, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        assert (np.diff(rows.indices[begin:end]) > 0).all()


def assert_same(one, other):
    for a, b in ((one.X, other.X), (one.pairs, other.pairs)):
        assert (a is None) == (b is None)
        for part in ("indptr", "indices", "data", "shape") if a is not None else ():
            np.testing.assert_array_equal(getattr(a, part), getattr(b, part))
    np.testing.assert_array_equal(one.bounds, other.bounds)
