"""Records that shards keep back from learning, to judge what was merged by; knows no model."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

#: One record in so many is kept back, and so many at most by a shard.
_SHARE, _MOST = 100, 50


class HeldOut(NamedTuple):
    """Records of one shard that no model has learnt."""

    records: Any
    right: NDArray[np.bool_]  # of each row or token: was the shard's model right?


def n_held_out(size: int) -> int:
    """How many of so many records are kept back: those at the end."""
    return min(size // _SHARE, _MOST)


def warn_if_worse(
    held: Sequence[HeldOut], right: Callable[[Any], NDArray[np.bool_]], combine: object
) -> None:
    """Say so where a merged model is worse than those it was merged from.

    Parameters
    ----------
    held : list of HeldOut
        Of all shards.
    right : function
        Tells of records where the merged model is right.
    combine : str or Evidence
        How they were merged.
    """
    if not held:
        return
    parts = np.concatenate([one.right for one in held])
    merged = np.concatenate([right(one.records) for one in held])
    lost, won = int((parts & ~merged).sum()), int((merged & ~parts).sum())
    # McNemar: beyond two standard errors of what chance would do.
    if lost - won > 2 * np.sqrt(lost + won):
        if str(combine).lower().startswith("evidence"):
            remedy = "Use fewer shards, or more passes with merge_every=1."
        else:
            remedy = "Use combine='evidence', fewer shards, or fit_intercept=False."
        said = (
            f"merged shards must not be worse than one shard, got {100 * merged.mean():.1f} % "
            f"right where the models of the shards have {100 * parts.mean():.1f} %, on "
            f"{len(parts):,} records that none of them has learnt. {remedy}"
        )
        warnings.warn(said, UserWarning, stacklevel=2)
