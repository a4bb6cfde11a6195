"""Many candidates in one table: each learns what it learns alone."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from surelearn import SureClassifier, rules, tune
from surelearn.constraints import Exact, Sequential
from surelearn.rows import rows_of
from surelearn.rules._registry import RULES
from surelearn.tuning.sweep import Candidate, OrderedRows, sweep
from surelearn.weights import Diagonal
from tuned import bits, problem

#: Candidates of all rules, projections and averages; enough of each to share a table.
MANY = [
    *({"rule": rule} for rule in RULES),
    *({"rule": rule, "average": True} for rule in ("nherd", "variance", "scw1", "pa2", "probit")),
    *({"rule": rule, "projection": "covariance"} for rule in ("arow", "variance", "probit")),
    *({"rule": rule, "projection": "precision"} for rule in ("arow", "variance", "probit")),
]


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_candidate_learns_what_fit_teaches(n_classes, form, dtype):
    """All side by side, each with the mistakes and updates of a separate fit."""
    X, y = problem(n_classes, form=form)
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    base = SureClassifier(
        passes=1, random_state=3, dtype=dtype, class_weight="balanced", scale=False
    )
    for entry, params in zip(_swept(base, X, y, MANY, weight), MANY, strict=True):
        alone = clone(base).set_params(**params)
        if entry.failure:
            with pytest.raises(ValueError, match="collapse"):
                alone.fit(X, y, weight, calibrate=False)
            continue
        alone.fit(X, y, weight, calibrate=False)
        assert entry.updates == alone.n_updates_, params
        if not params.get("average"):  # judged by averaged weights
            assert entry.mistakes == alone.mistakes_[0], params


def _swept(base, X, y, tried, weight):
    """The entries of a sweep over the rows of weight above 0, in the order of `fit`."""
    every_settings = [clone(base).set_params(**p)._settings_for() for p in tried]
    shell = clone(base)
    block = shell._whole(X, y, weight, "tune")
    order = np.random.RandomState(base.random_state).permutation(block.size).astype(np.int64)
    data = OrderedRows(block, order)
    entries = [
        Candidate(one, one.untrained(X.shape[1], is_sparse=sparse.issparse(X)))
        for one in every_settings
    ]
    sweep(entries, data, 2, lambda ended: None)
    return entries


def _mistakes(base, X, y, tried):
    return [(entry.mistakes, entry.updates) for entry in _swept(base, X, y, tried, None)]


def test_the_memory_is_given_back(monkeypatch):
    """At once, and not when the collector of cycles comes by."""
    X, y = problem(2)
    alive = []
    real = Diagonal.lanes

    def lanes(*given):
        made = real(*given)
        alive.append(weakref.ref(made))
        return made

    monkeypatch.setattr(Diagonal, "lanes", lanes)
    gc.disable()
    try:
        _swept(SureClassifier(random_state=0, scale=False), X, y, MANY, None)
        assert len(alive) > 2
        assert not any(ref() for ref in alive)
    finally:
        gc.enable()


def test_rows_beyond_one_block(monkeypatch):
    """Cut into stretches or not, in a table or alone: the same."""
    for n_classes in (2, 3):
        X, y = problem(n_classes)
        whole = _mistakes(SureClassifier(random_state=0, scale=False), X, y, MANY)
        monkeypatch.setattr("surelearn.tuning.sweep._BLOCK", 7)
        assert _mistakes(SureClassifier(random_state=0, scale=False), X, y, MANY) == whole
        monkeypatch.undo()


def test_many_rivals_and_functions_learn_alone():
    X, y = problem(4)

    def careful(m, v):
        return (0.1, 0.1) if m < 1.0 else (0.0, 0.0)

    tried = [{"rule": careful}, {"constraints": Sequential(2)}, {"constraints": Exact(2)}]
    base = SureClassifier("variance", random_state=0, passes=1, scale=False)
    for params, found in zip(tried, _mistakes(base, X, y, tried), strict=True):
        alone = clone(base).set_params(**params).fit(X, y, calibrate=False)
        assert found == (alone.mistakes_[0], alone.n_updates_)


def shrinking():
    """Rows on which Stdev's variances fall below 1e-20, but not below what float32 has."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 2)).astype(np.float32), rng.integers(0, 2, 3000)
    return X[:200], y[:200]


def test_weights_to_be_rescaled_are_learnt_alone():
    X, y = shrinking()
    base = SureClassifier(random_state=0, passes=1, projection="covariance", scale=False)
    tried = [{"rule": rule} for rule in (rules.Stdev(phi=2.0), rules.AROW(), rules.PA1())]
    alone = clone(base).set_params(**tried[0]).fit(X, y, calibrate=False)
    assert alone._model.weights.prior > 1e6  # it is rescaled
    found = _mistakes(base, X, y, tried)
    assert found[0] == (alone.mistakes_[0], alone.n_updates_)


def test_a_sweep_needs_its_own_table():
    """The core looks at the sizes it is handed: it would read beyond their ends."""
    X, y = problem(2)
    weights = SureClassifier(random_state=0, scale=False).fit(X, y)._model.weights
    empty = np.zeros(0, np.uint8), np.zeros(0, np.uint64)
    places = (y == "b").astype(np.int32)
    with pytest.raises(ValueError, match="do not fit the weights"):
        weights._core.sweep([], [], rows_of(X), places, None, None, None, *empty, 0, 1)
    with pytest.raises(IndexError, match="no lane"):
        weights._core.sweep_column(0, True, 1.0)


def test_a_frame_of_sparse_columns_is_sparse_once_it_is_rows():
    pandas = pytest.importorskip("pandas")
    X, y = problem(2)
    frame = pandas.DataFrame(
        np.where(np.abs(X) < 1, 0.0, X), columns=list(map(str, range(X.shape[1])))
    )
    frame = frame.astype(pandas.SparseDtype(float, 0.0))
    base = SureClassifier(random_state=0, passes=2, scale=False)
    best, _ = tune(base, frame, y, [{"rule": "arow"}])
    assert best.projection_ == "precision"
    assert bits(best) == bits(clone(base).set_params(rule="arow").fit(frame, y))


def test_rows_with_slack_behind_them():
    X, y = problem(2)
    X = sparse.csr_matrix(np.where(np.abs(X) < 1.5, 0.0, X))
    wide = sparse.csr_matrix((X.data, X.indices, X.indptr), shape=(X.shape[0], 10 * X.shape[1]))
    slack = sparse.csr_matrix(wide.shape)
    slack.indptr = wide.indptr
    slack.indices = np.append(wide.indices, np.int32(2**30))
    slack.data = np.append(wide.data, np.nan)
    base = SureClassifier(random_state=0, scale=False)
    assert _mistakes(base, slack, y, MANY) == _mistakes(base, wide, y, MANY)
