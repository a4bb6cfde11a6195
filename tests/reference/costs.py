"""What a rule asks for when its mistakes do not all cost the same; knows no weights."""

from __future__ import annotations

import inspect

from reference.rules import PARAMETERS, REGISTRY

# Rules that ask for the margin 1, and rules that ask for a probability by phi.
MARGIN = {name for name, rule in REGISTRY.items() if "margin" in inspect.signature(rule).parameters}
CONFIDENCE = {name for name, keys in PARAMETERS.items() if "phi" in keys}


def at_cost(rule: str, params: dict[str, float], cost: float) -> dict[str, float]:
    """Parameters of a rule for a rival that costs ``cost``: margin cost, or phi times cost."""
    if rule in MARGIN:
        return {**params, "margin": cost}
    if rule in CONFIDENCE:
        return {**params, "phi": params["phi"] * cost}
    raise ValueError(f"cost must be None for rule {rule!r}, which asks for nothing to scale.")
