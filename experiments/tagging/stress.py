"""Which settings survive labels that mean nothing; must not know how well they do elsewhere.

Rules that ask for a margin in its own deviations shrink variances at every contradiction, in the
end to zero: then `fit` refuses to go on. A default must bear it, also where features are few and
dense.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from surelearn import SureTagger

#: Passes over 2,000 sequences.
PASSES = 30
#: A weight of smaller variance will never move again: single precision ends at 1e-45.
FROZEN = 1e-30


class Corpus(NamedTuple):
    X: list[list[Any]]
    y: list[list[str]]
    templates: list[str] | None


def corpora() -> dict[str, Corpus]:
    """Random labels: 30 words, and ten numbers a token, which nobody has centred."""
    random = np.random.default_rng(0)
    lengths = random.integers(1, 12, 2000)
    y = [[f"L{k}" for k in random.integers(0, 5, n)] for n in lengths]
    words = [[f"w{k}" for k in random.integers(0, 30, n)] for n in lengths]
    dense = [[_numbers(random) for _ in range(n)] for n in lengths]
    return {
        "words": Corpus(words, y, ["w[0]", "w[-1]", "w[1]"]),
        "numbers": Corpus(dense, y, None),
    }


def _numbers(random: np.random.Generator) -> dict[str, float]:
    return {f"f{j}": float(x) for j, x in enumerate(random.normal(10.0, size=10))}


def lines_of(settings: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """A line for each setting and corpus: did it end, and how small is its smallest variance?"""
    for name, corpus in corpora().items():
        for setting in settings:
            tagger = SureTagger(
                **setting._asdict(), templates=corpus.templates, passes=PASSES, random_state=0
            )
            least = _least_variance(tagger, corpus)
            yield {
                "corpus": name,
                "rule": repr(setting.rule),
                "averaged": "yes" if setting.average else "no",
                "projection": setting.projection,
                "survived": "yes" if least >= FROZEN else "no",
                "least variance": f"{least:.1e}",
            }


def _least_variance(tagger: SureTagger, corpus: Corpus) -> float:
    """After all passes; 0 where it ended before, 1 of rules that keep none."""
    try:
        tagger.fit(corpus.X, corpus.y)
    except ValueError:  # refused: an update would have left no usable model
        return 0.0
    return float(tagger.sigma_.min()) if hasattr(tagger, "confidence") else 1.0
