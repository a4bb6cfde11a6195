"""The estimators that the machine is run on: how to make one, and what it learns from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from machines import kinds
from machines.kinds import Kind
from surelearn import (
    CRFTagger,
    GraphCRF,
    GraphSVM,
    MulticlassSVM,
    SoftmaxClassifier,
    SureClassifier,
    SureGraphClassifier,
    SureKernelClassifier,
    SureRanker,
    SureTableClassifier,
    SureTagger,
    SureTextClassifier,
    SVMTagger,
    constraints,
)

ONLINE: dict[str, list[Any]] = {"passes": [1, 3], "shuffle": [True, False], "verbose": [0]}
BATCH: dict[str, list[Any]] = {"max_iter": [5, 50], "tol": [0.1, 1e-4]}


class Subject(NamedTuple):
    """An estimator with parameters."""

    make: Callable[[], Any]
    kind: Kind
    params: dict[str, list[Any]] = ONLINE  # what `set_params` may set, with some values
    many_labels: bool = False


def online(estimator: Any, kind: Kind, *given: Any, many: bool = False, **params: Any) -> Subject:
    return Subject(lambda: estimator(*given, random_state=0, **params), kind, many_labels=many)


def batch(estimator: Any, kind: Kind, **params: Any) -> Subject:
    return Subject(lambda: estimator(max_iter=20, **params), kind, BATCH)


ROWS, MILD_ROWS = kinds.rows(kinds.NUMBERS), kinds.rows(kinds.MILD)
LISTED_TEXTS = kinds.TEXTS._replace(answers=kinds.any_number, predicted=kinds.flat)
TEXTS, TAGS, GRAPHS = kinds.TEXTS, kinds.SEQUENCES, kinds.GRAPHS

COLUMNS = {"text": "text", "kind": "category"}

SUBJECTS = {
    "rows": online(SureClassifier, ROWS),
    "rows, sparse": online(SureClassifier, kinds.SPARSE_ROWS, "arow", average=True),
    "rows, dicts": online(SureClassifier, kinds.DICTS, "scw1"),
    "rows, full": online(SureClassifier, ROWS, "arow", covariance="full"),
    "rows, exact": online(SureClassifier, ROWS, "stdev", constraints=constraints.Exact()),
    "rows, first order": online(SureClassifier, ROWS, "pa1", constraints="parallel"),
    "rows, shards": online(SureClassifier, ROWS, n_shards=2),
    "rows, ovo": online(SureClassifier, ROWS, "scw1", multiclass="ovo"),
    "rows, ovr": online(SureClassifier, ROWS, "nherd", multiclass="ovr"),
    "rows, ecoc": online(SureClassifier, ROWS, "probit", multiclass="ecoc"),
    "rows, exact probabilities": online(SureClassifier, ROWS, probability="exact", dtype="float64"),
    "many labels": online(SureClassifier, kinds.LABEL_LISTS, many=True),
    "texts": online(SureTextClassifier, TEXTS),
    "texts, two threads": online(SureTextClassifier, TEXTS, "arow", n_jobs=2, idf=False),
    "texts, many labels": online(SureTextClassifier, LISTED_TEXTS, n_features=64, many=True),
    "tables": online(SureTableClassifier, kinds.TABLES, columns=COLUMNS),
    "kernel": online(SureKernelClassifier, ROWS, gamma=0.5, budget=5),
    "softmax": batch(SoftmaxClassifier, MILD_ROWS),
    "multi-class SVM": batch(MulticlassSVM, MILD_ROWS, random_state=0),
    "tags": online(SureTagger, TAGS, templates=["w[0]", "w[-1]", "B:w[0]"]),
    "tags, hashed": online(SureTagger, TAGS, "arow", n_features=64),
    "tags, CRF": batch(CRFTagger, TAGS),
    "tags, SVM": batch(SVMTagger, TAGS, random_state=0),
    "graphs": online(SureGraphClassifier, GRAPHS),
    "graphs, CRF": batch(GraphCRF, GRAPHS),
    "graphs, SVM": batch(GraphSVM, GRAPHS, random_state=0),
    "groups": online(SureRanker, kinds.GROUPS),
}
