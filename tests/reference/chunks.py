"""Chunks counted as the script of the CoNLL shared tasks does: one walk over two columns of tags.

It never builds a chunk: it knows which pairs of neighbouring tags end one and begin one, and keeps
in mind whether the chunk it is in has been the same in both columns so far. The script knows the
tags B, I, E and O; S, which came later, is not among them.
"""

from __future__ import annotations

from collections import Counter

ENDS = {"BB", "BO", "IB", "IO", "EE", "EI", "EO"}
BEGINS = {"BB", "IB", "OB", "OI", "OE", "EE", "EI"}


def counts(y_true, y_pred):
    """(correct, found, there) by type, and how many tags are equal."""
    correct, found, there = Counter(), Counter(), Counter()
    equal, same = 0, False
    gold_before = guess_before = ("O", "")
    for true, pred in zip(y_true, y_pred, strict=True):
        # A sentence ends with a line that is outside of all chunks.
        for gold_tag, guess_tag in [*zip(true, pred, strict=True), ("O", "O")]:
            gold, guess = parted(gold_tag), parted(guess_tag)
            gold_ends, guess_ends = ends(gold_before, gold), ends(guess_before, guess)
            if same and gold_ends and guess_ends:
                correct[gold_before[1]] += 1
            if gold_ends or guess_ends or gold[1] != guess[1]:
                same = False
            gold_begins, guess_begins = begins(gold_before, gold), begins(guess_before, guess)
            if gold_begins and guess_begins and gold[1] == guess[1]:
                same = True
            there[gold[1]] += gold_begins
            found[guess[1]] += guess_begins
            gold_before, guess_before = gold, guess
        equal += sum(a == b for a, b in zip(true, pred, strict=True))
    types = {kind for kind in {*there, *found} if there[kind] or found[kind]}
    return {kind: (correct[kind], found[kind], there[kind]) for kind in types}, equal


def parted(tag):
    place, _, kind = tag.partition("-")
    return place, kind


def ends(before, now):
    inside = before[0] != "O"
    return before[0] + now[0] in ENDS or (inside and before[1] != now[1])


def begins(before, now):
    inside = now[0] != "O"
    return before[0] + now[0] in BEGINS or (inside and before[1] != now[1])
