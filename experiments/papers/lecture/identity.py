"""Claims that two computations agree; must not know what they compute."""

from __future__ import annotations

from experiments.papers.entry import Claim

#: Rounding of sums in double precision.
ROUNDING = 1e-9


def identity(
    text: str, apart: float, where: str, *, within: float = ROUNDING, note: str = ""
) -> Claim:
    """A claim that holds exactly, or not: by the largest difference that was seen.

    Examples
    --------
    >>> identity("Both agree.", 1e-12, "20 chains").ours
    'largest difference 1e-12 in 20 chains'
    >>> identity("Both agree.", 0.1, "20 chains").verdict
    'did not hold'
    """
    return Claim(
        text=text,
        theirs="exact",
        ours=f"largest difference {apart:.0e} in {where}",
        lead=1.0 if apart <= within else -1.0,
        note=note,
    )
