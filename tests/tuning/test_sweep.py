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
from surelearn.tuning import candidates as settings_to_try
from surelearn.tuning import search
from surelearn.tuning.sweep import Candidate, OrderedRows
from surelearn.weights import Diagonal, rows_of
from tuned import bits, problem


def averaged():
    """Enough of them to share a table."""
    return [{"rule": rule, "average": True} for rule in ("nherd", "variance", "scw1", "pa2")]


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_default_candidate_learns_what_fit_teaches(n_classes, form, dtype):
    """All side by side, each with the bits, mistakes and updates of a fit of its own."""
    X, y = problem(n_classes, form=form)
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    base = SureClassifier(passes=1, random_state=3, dtype=dtype, class_weight="balanced")
    tried = settings_to_try.default(form == "csr") + averaged()
    for entry, params in zip(_swept(base, X, y, tried, weight), tried, strict=True):
        alone = clone(base).set_params(**params)
        if entry.failure:
            with pytest.raises(ValueError, match="collapse"):
                alone.fit(X, y, weight)
            continue
        alone.fit(X, y, weight)
        same = clone(alone)
        same.n_features_in_, same._model = X.shape[1], entry.finish()
        assert bits(same) == bits(alone), params


def _swept(base, X, y, tried, weight):
    """The entries of a sweep, all kept, over the rows of weight above 0, in the order of `fit`."""
    from surelearn.tuning import sweep

    every_settings = [clone(base).set_params(**p)._settings_for() for p in tried]
    shell = clone(base)
    batch, classes = shell._whole(X, y, weight, "tune")
    order = np.random.RandomState(base.random_state).permutation(len(batch.y)).astype(np.int64)
    data = OrderedRows(batch._replace(y=np.searchsorted(classes, batch.y)), order, classes)
    entries = [
        Candidate(one, one.untrained(X.shape[1], is_sparse=sparse.issparse(X)))
        for one in every_settings
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweep._Sweep, "_settle", lambda self, group: None)
        sweep.sweep(entries, data, 2, lambda ended: None)
    return entries


def test_the_memory_of_the_others_is_given_back(monkeypatch):
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
        tune(SureClassifier(), X, y)
        assert len(alive) > 2
        assert not any(ref() for ref in alive)
    finally:
        gc.enable()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_only_the_best_keeps_its_weights(n_classes, monkeypatch):
    X, y = problem(n_classes)
    kept = []
    real = search.sweep

    def watched(entries, *rest):
        real(entries, *rest)
        kept.extend(entry.mistakes for entry in entries if entry.finish is not None)

    monkeypatch.setattr(search, "sweep", watched)
    _, table = tune(SureClassifier(random_state=0), X, y)
    assert kept == [table.mistakes[0]]


def test_rows_beyond_one_block(monkeypatch):
    """Cut into stretches or not, in a table or alone: the same."""
    for n_classes in (2, 3):
        X, y = problem(n_classes)
        whole = tune(SureClassifier(random_state=0), X, y)
        monkeypatch.setattr("surelearn.tuning.sweep._BLOCK", 7)
        cut = tune(SureClassifier(random_state=0), X, y)
        monkeypatch.undo()
        np.testing.assert_equal(cut.table.to_dict(), whole.table.to_dict())
        assert bits(cut.best) == bits(whole.best)


def test_many_rivals_and_functions_learn_alone():
    X, y = problem(4)

    def careful(m, v):
        return (0.1, 0.1) if m < 1.0 else (0.0, 0.0)

    tried = [{"rule": careful}, {"constraints": Sequential(2)}, {"constraints": Exact(2)}]
    base = SureClassifier("variance", random_state=0, passes=1)
    _, table = tune(base, X, y, tried)
    for params, mistakes in zip(table.parameters, table.mistakes, strict=True):
        assert clone(base).set_params(**params).fit(X, y).mistakes_[0] == mistakes


def shrinking():
    """Rows on which Stdev's variances fall below 1e-20, but not below what float32 has."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 2)).astype(np.float32), rng.integers(0, 2, 3000)
    return X[:200], y[:200]


def test_weights_to_be_rescaled_are_learnt_alone():
    X, y = shrinking()
    base = SureClassifier(random_state=0, passes=2, projection="covariance")
    grid = {"rule": [rules.Stdev(phi=2.0), rules.AROW(), rules.PA1()]}
    _, table = tune(base, X, y, grid)
    alone = clone(base).set_params(rule=rules.Stdev(phi=2.0), passes=1).fit(X, y)
    assert alone._model.weights.prior > 1e6  # it is rescaled
    mine = [i for i, p in enumerate(table.parameters) if p["rule"] == alone.rule]
    assert table.mistakes[mine] == alone.mistakes_
    assert table.updates[mine] == alone.n_updates_
    entries = _swept(base, X, y, [{"rule": rule} for rule in grid["rule"]], None)
    same = clone(alone)
    same.n_features_in_, same._model = 2, entries[0].finish()
    assert bits(same) == bits(alone)


def test_a_sweep_needs_its_own_table():
    """The core looks at the sizes it is handed: it would read beyond their ends."""
    X, y = problem(2)
    weights = SureClassifier(random_state=0).fit(X, y)._model.weights
    empty = np.zeros(0, np.uint8), np.zeros(0, np.uint64)
    places = (y == "b").astype(np.int32)
    with pytest.raises(ValueError, match="do not fit the weights"):
        weights._core.race([], [], rows_of(X), places, None, None, None, *empty, 0, 1)
    with pytest.raises(IndexError, match="no lane"):
        weights._core.lane(0, True, 1.0)


def test_ordered_rows_know_their_places():
    data = OrderedRows(None, None, np.array(["x", "y", "z"]))
    assert data.places.tolist() == [0, 1, 2]


def test_a_frame_of_sparse_columns_is_sparse_once_it_is_rows():
    pandas = pytest.importorskip("pandas")
    X, y = problem(2)
    frame = pandas.DataFrame(
        np.where(np.abs(X) < 1, 0.0, X), columns=list(map(str, range(X.shape[1])))
    )
    frame = frame.astype(pandas.SparseDtype(float, 0.0))
    base = SureClassifier(random_state=0, passes=2)
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
    tried = [{"rule": rule} for rule in ("arow", "stdev", "probit", "pa1", "nherd", "scw1")]
    base = SureClassifier(random_state=0, passes=1)
    assert bits(tune(base, slack, y, tried).best) == bits(tune(base, wide, y, tried).best)
