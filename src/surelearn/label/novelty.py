"""Whether an item is unlike those answered so far; must not know how novelty is measured."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surelearn.decide import Novelty
from surelearn.label.session import Session

#: Share of items of known labels that are marked at most, on average.
LEVEL = 0.05
#: Answered questions to compare with. The model becomes surer, so older ones look newer than they
#: would now: with 200 of them 1 % of the texts of known labels are marked, with 39 4 %.
_LAST = 39


class NeverSeen(NamedTuple):
    """An item is newer to the model than `newer` of `n` answered questions were."""

    newer: int
    n: int


def never_seen(session: Session, item: int) -> NeverSeen | None:
    """Whether an item is unlike those answered so far, by its conformal p-value; None if not.

    It is compared with the last questions of known labels, each as new as it was before the model
    learnt it. Items that the model has learnt, and kinds of task without novelty, are never new.
    """
    answered = [*session.ledger.novelty.values()][-_LAST:]
    n = len(answered)
    if n < Novelty.fewest(LEVEL) or item in session.ledger.closed:
        return None
    novelty = session.learner.novelty(item)
    if novelty is None:
        return None
    known = Novelty.of(np.array(answered))
    (p,) = known.p_value(np.array([novelty])).tolist()
    return NeverSeen(n + 1 - round(p * (n + 1)), n) if p <= LEVEL else None
