"""What estimators learn from: rows, texts, sequences, graphs, groups; good ones and bad ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

from surelearn.graph import Graph

#: Sizes at the edges of float32 and beyond, where squares overflow or vanish.
EDGES = [1e-300, 1e-30, 1e-10, 1e10, 1e19, 1e30]
PLAIN = st.integers(-4, 4).map(float)
NUMBERS = PLAIN | st.sampled_from(EDGES + [-size for size in EDGES])
MILD = PLAIN | st.sampled_from([1e-30, -1e-3, 1e3])

WIDTH = 3
WORDS = ["good", "bad", "film", "a", "", "naïve", "x" * 300, "the end", "\u4e2d\u6587"]


class Batch(NamedTuple):
    """Records as an estimator takes them, and keywords that say more about X."""

    X: Any
    y: Any
    about: Mapping[str, Any] = MappingProxyType({})


class Kind(NamedTuple):
    """One kind of records."""

    things: st.SearchStrategy[Any]
    #: (thing, labels) -> strategy of what `y` holds for it
    answers: Callable[[Any, st.SearchStrategy[Any]], st.SearchStrategy[Any]]
    joined: Callable[[list[Any], list[Any]], Batch]
    #: X that must be refused, whatever was learnt before.
    wrong: dict[str, Any]
    #: X that must be refused once something was learnt: it is not like that.
    unlike: dict[str, Any]
    #: Methods that read: name -> how it is called with a model and a batch.
    reads: dict[str, Callable[[Any, Batch], Any]]
    #: The labels in what `predict` returns.
    predicted: Callable[[Any], list[Any]] = lambda found: np.asarray(found).tolist()
    has_labels: bool = True  # whether `y` has labels, not relevances
    ignores_unknown: bool = False  # whether names that were not learnt are passed over, and values


def of_X(name: str) -> Callable[[Any, Batch], Any]:
    return lambda model, batch: getattr(model, name)(batch.X, **batch.about)


def of_one(name: str) -> Callable[[Any, Batch], Any]:
    """For the first thing alone."""
    return lambda model, batch: getattr(model, name)(batch.X[0])


def of_answers(name: str) -> Callable[[Any, Batch], Any]:
    return lambda model, batch: getattr(model, name)(batch.X, batch.y)


def flat(found: Any) -> list[Any]:
    """The labels of all parts."""
    return [label for own in found for label in np.asarray(own).tolist()]


def every(*names: str) -> dict[str, Callable[[Any, Batch], Any]]:
    return {name: of_X(name) for name in names}


def cheapest(model: Any, batch: Batch) -> Any:
    """Answers by costs of mistakes that all differ."""
    K = len(model.classes_)
    cost = 1.0 + np.arange(K * K).reshape(K, K) / (K * K)
    return model.predict(batch.X, cost=cost * (1.0 - np.eye(K)))


#: What every learner decides that is more or less sure.
DECIDED: dict[str, Callable[[Any, Batch], Any]] = {
    "predict abstain": lambda model, batch: model.predict(batch.X, abstain=True, **batch.about),
    "predict_set": lambda model, batch: model.predict_set(batch.X, 0.5, **batch.about),
}

OF_ROWS = {
    **DECIDED,
    "predict cost": cheapest,
    "predict novel": lambda model, batch: model.predict(batch.X, novel=0.5, abstain_label="?"),
    "predict_set by_class": lambda model, batch: model.predict_set(batch.X, 0.5, by_class=True),
    "novelty": of_X("novelty"),
    "novelty p": lambda model, batch: model.novelty(batch.X, p_value=True),
    **every("predict", "predict_proba", "predict_log_proba", "decision_function", "margin"),
    "entropy": of_X("entropy"),
    "sample_proba": lambda model, batch: model.sample_proba(batch.X, 5, random_state=0),
    "score": of_answers("score"),
    "reliability": lambda model, batch: model.reliability(batch.X, batch.y).count,
    "predict_one": of_one("predict_one"),
    "predict_proba_one": of_one("predict_proba_one"),
    "explain": lambda model, batch: str(model.explain(top=2)),
    "explain one": lambda model, batch: str(model.explain(batch.X[0], top=2)),
}


def alone(_: Any, labels: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return labels


def any_number(_: Any, labels: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(labels, max_size=3, unique=True)


WRONG_ROWS = {
    "NaN": [[1.0, np.nan, 1.0]],
    "infinity": [[1.0, np.inf, 1.0]],
    "texts": [["a", "b", "c"]],
    "complex numbers": np.ones((1, WIDTH)) * 1j,
    "no table": [1.0] * WIDTH,
    "no rows": np.zeros((0, WIDTH)),
    "a sparse NaN": sparse.csr_array([[np.nan, 0.0, 1.0]]),
    "None": None,
}


NARROW = {"one column too few": [[1.0] * (WIDTH - 1)]}


def row_of(numbers: st.SearchStrategy[float]) -> st.SearchStrategy[list[float]]:
    """Two rows of three have plain numbers: extreme ones are often refused."""
    plain, any_ = (st.lists(one, min_size=WIDTH, max_size=WIDTH) for one in (PLAIN, numbers))
    return plain | plain | any_


def table(X: list[Any], y: list[Any]) -> Batch:
    return Batch(np.array(X), y)


def rows(numbers: st.SearchStrategy[float], answers: Any = alone) -> Kind:
    return Kind(
        row_of(numbers), answers, lambda X, y: Batch(np.array(X), y), WRONG_ROWS, NARROW, OF_ROWS
    )


SPARSE_ROWS = rows(NUMBERS)._replace(joined=lambda X, y: Batch(sparse.csr_array(np.array(X)), y))
LABEL_LISTS = rows(NUMBERS, any_number)._replace(predicted=flat)
SPARSE_ROWS = SPARSE_ROWS._replace(
    reads={name: read for name, read in OF_ROWS.items() if "one" not in name}
)
DICTS = Kind(
    st.dictionaries(st.sampled_from(WORDS), NUMBERS, max_size=3),
    alone,
    Batch,
    {
        "NaN": [{"a": np.nan}],
        "a number for a name": [{1: 2.0, "a": 1.0}],
        "None": [{"a": None}],
        "a list": [{"a": [1.0]}],
        "no rows": [],
    },
    {"a table": [[1.0] * WIDTH]},
    OF_ROWS,
    ignores_unknown=True,
)
TEXTS = Kind(
    st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join),
    alone,
    Batch,
    {
        "a number": [1.0],
        "None": [None],
        "one text": "good film",
        "rows": [[1.0] * WIDTH],
        "no rows": [],
    },
    {},
    OF_ROWS,
)


ROWS_OF_TABLES = st.fixed_dictionaries(
    {},
    optional={
        "text": st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join) | st.none(),
        "kind": st.sampled_from(["a", "b", 7, None]),
    },
)
TABLES = Kind(
    ROWS_OF_TABLES,
    alone,
    Batch,
    {"rows": [[1.0] * WIDTH], "a text": "good film", "None": [None], "no rows": []},
    {},
    OF_ROWS,
)


def label_of_each(thing: Any, labels: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(labels, min_size=len(thing), max_size=len(thing))


SEQUENCES = Kind(
    st.lists(st.sampled_from(["a", "b", "c", "Dog", "7"]), min_size=1, max_size=4),
    label_of_each,
    Batch,
    {
        "a number": [[1.0]],
        "None": [[None]],
        "no sequence": ["a b"],
        "a lone surrogate": [["\ud800"]],
        "no sequences": [],
    },
    {"columns": [[("a", "b")]]},
    {
        **DECIDED,
        **every("predict", "predict_marginals"),
        "predict cost": cheapest,
        "score": of_answers("score"),
        "confidence": of_X("confidence"),
        "k_best": lambda model, batch: model.k_best(batch.X, 2),
        "sample": lambda model, batch: model.sample(batch.X, 2, random_state=0),
        "log_probability": of_answers("log_probability"),
        "explain": lambda model, batch: str(model.explain(top=2)),
    },
    predicted=flat,
)


@st.composite
def graphs(draw: st.DrawFn, numbers: st.SearchStrategy[float] = MILD) -> Graph:
    """A chain of nodes, perhaps closed, with a type for each edge."""
    n = draw(st.integers(1, 4))
    nodes = [[draw(numbers), draw(numbers)] for _ in range(n)]
    edges = [(i, i + 1) for i in range(n - 1)]
    if n > 2 and draw(st.booleans()):
        edges.append((n - 1, 0))
    types = [draw(st.sampled_from(["near", "far"])) for _ in edges]
    return Graph(nodes, np.array(edges, np.int64).reshape(-1, 2), edge_types=types)


GRAPHS = Kind(
    graphs(),
    lambda graph, labels: st.lists(labels, min_size=graph.n_nodes, max_size=graph.n_nodes),
    Batch,
    {
        "no graph": [[1.0, 2.0]],
        "None": [None],
        "no graphs": [],
    },
    {"another width": [Graph([[1.0]], np.zeros((0, 2), int), edge_types=[])]},
    {
        **DECIDED,
        **every("predict", "predict_proba", "margin"),
        "predict cost": cheapest,
        "score": of_answers("score"),
    },
    predicted=flat,
)


@st.composite
def candidates(draw: st.DrawFn) -> list[list[float]]:
    return draw(st.lists(row_of(NUMBERS), min_size=1, max_size=4))


def group_of(X: list[Any], y: list[Any]) -> Batch:
    rows_, relevance = [row for group in X for row in group], [r for own in y for r in own]
    return Batch(np.array(rows_), relevance, {"group": [len(group) for group in X]})


GROUPS = Kind(
    candidates(),
    lambda group, _: st.lists(st.integers(0, 2), min_size=len(group), max_size=len(group)),
    group_of,
    WRONG_ROWS,
    NARROW,
    {
        **DECIDED,
        **every("predict", "rank", "predict_proba", "margin"),
        "decision_function": lambda model, batch: model.decision_function(batch.X),
        "explain": lambda model, batch: str(model.explain(top=2)),
    },
    has_labels=False,
)
