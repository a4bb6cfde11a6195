"""Weights at rest: what many shards start from."""

from __future__ import annotations

from typing import Any

from surelearn.weights import Weights


class Snapshot:
    """Weights that are read and copied many times but never changed: their state, taken once."""

    def __init__(self, weights: Weights) -> None:
        self._kind = type(weights)
        self._state = weights.state()

    @property
    def prior(self) -> float:
        prior: float = self._state["prior"]
        return prior

    def state(self) -> dict[str, Any]:
        """As `Weights.state`; not to be changed."""
        return self._state

    def copy(self) -> Weights:
        """Weights that can be changed."""
        return self._kind.from_state(self._state)


def copied(weights: Any) -> Any:
    """Weights, or those of a snapshot, in other memory."""
    if isinstance(weights, Snapshot):
        return weights.copy()
    return None if weights is None else type(weights).from_state(weights.state())
