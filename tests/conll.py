"""Sentences in the columns of CoNLL and of CoNLL-U, for the tests of their readers."""

from __future__ import annotations

from surelearn import read

TEXT = "The DT B-NP\nmill NN I-NP\nturns VBZ B-VP\n\nIt PRP B-NP\nrains VBZ B-VP\n"
X = [[("The", "DT"), ("mill", "NN"), ("turns", "VBZ")], [("It", "PRP"), ("rains", "VBZ")]]
Y = [["B-NP", "I-NP", "B-VP"], ["B-NP", "B-VP"]]


def whole(source, **options):
    """Everything in a source."""
    X, y, n_bad = [], [], 0
    for batch in read.sentences(source, **options):
        X, y, n_bad = X + batch.X, None if batch.y is None else y + batch.y, n_bad + batch.n_bad
    return X, y, n_bad


def u_row(number, form="a", upos="X", **more):
    row = {"id": number, "form": form, "lemma": "_", "upos": upos, "xpos": "_", "feats": "_",
           "head": "_", "deprel": "_", "deps": "_", "misc": "_"} | more  # fmt: skip
    return "\t".join(map(str, row.values())) + "\n"


SAID = (
    "# text = Wir sehen's\n" + u_row(1, "Wir", "PRON", xpos="PPER") + u_row("2-3", "sehen's", "_")
    + u_row(2, "sehen", "VERB") + u_row("2.1", "doch", "ADV") + "# a remark\n"
    + u_row(3, "'s da", "PRON", misc="SpaceAfter=No") + "\n" + u_row(1, "Ja", "INTJ")
)  # fmt: skip
