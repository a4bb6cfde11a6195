"""The lecture's error-correcting code, and codes that do correct errors."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.papers.entry import Case, Claim, Entry, Row, Rows
from surelearn.decode import Code, error_correcting, hamming

#: The lecture's table: a code word for each of eight classes, and the word that it decodes.
LECTURE = ("000100", "100000", "011010", "110000", "110010", "001101", "001000", "010100")
WORD = "011011"


def _signs(words: tuple[str, ...]) -> NDArray[Any]:
    return np.array([[2 * int(bit) - 1 for bit in word] for word in words])


def _table() -> Rows:
    """The code of the lecture and the class that its word decodes to, counted from 1."""
    code = Code(_signs(LECTURE))
    label = 1 + int(hamming(code, _signs((WORD,)).astype(float)).argmax())
    return [_row("the lecture's table", code, label=label)]


def _designed(n_classes: int) -> Rows:
    """A designed code, and the share of words with as many errors as it corrects that it mends."""
    code = error_correcting(n_classes)
    random = np.random.default_rng(n_classes)
    mended = [_mended(code, int(random.integers(n_classes)), random) for _ in range(1000)]
    return [_row(f"designed for {n_classes} classes", code, mended=float(np.mean(mended)))]


def _mended(code: Code, label: int, random: np.random.Generator) -> bool:
    word = code.matrix[[label]].astype(float)
    word[0, random.choice(code.n_problems, code.errors_corrected, replace=False)] *= -1
    return int(hamming(code, word).argmax()) == label


def _row(name: str, code: Code, **found: float) -> Row:
    return {
        "code": name,
        "problems": code.n_problems,
        "dmin": code.dmin,
        "corrects": code.errors_corrected,
        **found,
    }


def cases(quick: bool) -> dict[str, Case]:
    """The lecture's table, and codes for some numbers of classes."""
    sizes = (5, 8) if quick else (5, 8, 20, 50)
    return {"lecture": _table, **{f"{n}": partial(_designed, n) for n in sizes}}


def tables(rows: Rows) -> dict[str, Rows]:
    """All codes."""
    return {
        "Codes": [
            {
                "code": row["code"],
                "problems": row["problems"],
                "least distance": row["dmin"],
                "errors corrected": row["corrects"],
                "words mended": f"{100 * row['mended']:.1f} %" if "mended" in row else "",
            }
            for row in rows
        ]
    }


def claims(rows: Rows) -> tuple[Claim, ...]:
    """What the lecture says of its table, and of codes in general."""
    lecture, *designed = rows
    return (
        Claim(
            text=f"The word {WORD} decodes to class 3.",
            theirs="class 3",
            ours=f"class {lecture['label']}",
            lead=1.0 if lecture["label"] == 3 else -1.0,
            note=f"The table's least distance is {lecture['dmin']}: it corrects no error for sure.",
        ),
        Claim(
            text="A code with least distance d corrects (d - 1)/2 wrong bits, rounded down.",
            theirs="all",
            ours=f"{100 * min(row['mended'] for row in designed):g} % of 1,000 words a code",
            lead=1.0 if all(row["mended"] == 1.0 for row in designed) else -1.0,
        ),
    )


ENTRY = Entry(
    name="lecture-ecoc",
    title="Error-correcting codes: the lecture's table, and codes that correct errors",
    cases=cases,
    tables=tables,
    claims=claims,
    notes="Class labels are decoded by the least Hamming distance.",
)
