"""Records for every estimator, and models with records kept back, for tests of decisions."""

from __future__ import annotations

import copy
import io
import warnings
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

import surelearn
from surelearn import learners
from surelearn.graph import Graph, tree

#: What each estimator learns from.
KINDS = {
    **dict.fromkeys(["CRFTagger", "SVMTagger", "SureTagger"], "sentence"),
    **dict.fromkeys(["GraphCRF", "GraphSVM", "SureGraphClassifier"], "graph"),
    "SureRanker": "group",
    "SureTableClassifier": "table",
    "SureTextClassifier": "text",
}
#: Estimators by whether a record has one label, several in parts, or candidates.
STRUCTURES = [name for name in learners.ESTIMATORS if KINDS.get(name) in ("sentence", "graph")]
RANKERS = ["SureRanker"]
ROWS = [name for name in learners.ESTIMATORS if name not in [*STRUCTURES, *RANKERS]]

#: Estimators with a choice of rules.
RULED = [name for name in learners.ESTIMATORS if "rule" in getattr(surelearn, name)().get_params()]

#: A risk that each kind of records can show with `N` records.
RISK, N = 0.3, 240


class Batch(NamedTuple):
    """Records as an estimator takes them."""

    X: Any
    y: Any
    about: Mapping[str, Any] = MappingProxyType({})

    def take(self, numbers: Any) -> Batch:
        numbers = np.asarray(numbers)
        if not self.about:
            return Batch(_taken(self.X, numbers), _taken(self.y, numbers))
        bounds = np.append(0, np.cumsum(self.about["group"]))
        rows = np.concatenate([np.arange(bounds[i], bounds[i + 1]) for i in numbers])
        sizes = np.diff(bounds)[numbers].tolist()
        return Batch(self.X[rows], self.y[rows], {"group": sizes})

    def __len__(self) -> int:
        raise TypeError("ask for n_records")

    @property
    def n_records(self) -> int:
        return len(self.about.get("group", self.y))


def _taken(values: Any, numbers: Any) -> Any:
    return values[numbers] if isinstance(values, np.ndarray) else [values[i] for i in numbers]


def rows(n: int, seed: int = 0, n_classes: int = 3, noise: float = 0.6) -> Batch:
    """Rows whose labels are those of the largest of some columns, with noise."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, n_classes + 1))
    y = (X[:, :n_classes] + noise * random.normal(size=(n, n_classes))).argmax(axis=1)
    return Batch(X, np.array([f"c{k}" for k in range(n_classes)])[y])


def records(name: str, n: int = N, seed: int = 0) -> Batch:
    """Records of the kind that an estimator learns."""
    kind, own = KINDS.get(name), rows(n, seed)
    if kind in ("sentence", "graph"):
        return parts(kind, n, seed)
    if kind == "group":
        return groups(n, seed)
    words = [" ".join(f"w{k}{round(v)}" for k, v in enumerate(row)) for row in own.X]
    if kind == "text":
        return Batch(words, own.y)
    if kind == "table":
        pairs = zip(own.X, words, strict=True)
        return Batch([{"a": row[0], "b": row[1], "text": text} for row, text in pairs], own.y)
    return own


def parts(kind: str, n: int, seed: int = 0, error: float = 0.4) -> Batch:
    """Sentences or graphs of one to five parts; the first feature tells labels, with noise."""
    random = np.random.default_rng(seed)
    X: list[Any] = []
    y = []
    for size in random.integers(1, 6, n):
        x = random.normal(size=(size, 2))
        right = x[:, 0] + error * random.normal(size=size) > 0
        y.append(["p" if own else "q" for own in right])
        path = tree([-1, *range(size - 1)])
        X.append([f"w{v:.0f}" for v in 3 * x[:, 0]] if kind == "sentence" else Graph(x, path))
    return Batch(X, y)


def groups(n: int, seed: int = 0, noise: float = 0.4) -> Batch:
    """Groups of two to five candidates, one of which is right."""
    random = np.random.default_rng(seed)
    sizes = random.integers(2, 6, n)
    X = random.normal(size=(sizes.sum(), 3))
    worth = X @ [1.0, 2.0, 0.0] + noise * random.normal(size=len(X))
    best = [own == own.max() for own in np.split(worth, np.cumsum(sizes)[:-1])]
    return Batch(X, np.concatenate(best).astype(float), {"group": sizes.tolist()})


def make(name: str, **params: Any) -> Any:
    """An estimator that repeats itself."""
    own = getattr(surelearn, name)(**params)
    if "random_state" in own.get_params():
        own.set_params(random_state=0)
    return own


@cache
def _fitted(name: str) -> Any:
    own = records(name, 200, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of solvers that stop early
        return make(name).fit(own.X, own.y, **own.about)


def fitted(name: str) -> Any:
    """A copy of a model that has learnt 200 records."""
    return copy.deepcopy(_fitted(name))


@cache
def _certified(name: str) -> Any:
    own, model = records(name, seed=2), fitted(name)
    model.choose_abstention(own.X, own.y, risk=RISK, **own.about)
    model.choose_sets(own.X, own.y, **own.about)
    if name in ROWS:
        model.choose_novelty(own.X)
    return model


def certified(name: str) -> Any:
    """A copy of a model with all that kept-back records tell."""
    return copy.deepcopy(_certified(name))


def saved(model: Any) -> bytes:
    file = io.BytesIO()
    model.save(file)
    return file.getvalue()


def loaded(whole: bytes) -> Any:
    return surelearn.load(io.BytesIO(whole))


def plain(found: Any) -> Any:
    """An answer as lists, which are equal if all of it is."""
    if isinstance(found, list | tuple):
        return [plain(own) for own in found]
    if isinstance(found, np.ndarray):
        return (str(found.dtype), found.tolist())
    return found


def decided(model: Any, batch: Batch) -> dict[str, Any]:
    """All that a model decides on some records."""
    name = type(model).__name__
    found = {
        "abstain": plain(model.predict(batch.X, abstain=True, **batch.about)),
        "sets": model.predict_set(batch.X, coverage=0.8, **batch.about),
        "told": (model.coverage_, model.risk_bound_, model.n_certified_),
    }
    if name in ROWS:
        found["novelty"] = plain(model.novelty(batch.X, p_value=True))
        found["novel"] = plain(model.predict(batch.X, novel=0.1))
    return found
