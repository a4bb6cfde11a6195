"""`tune`: the winner is what separate fits would have chosen, and is made as `fit` makes it."""

from __future__ import annotations

import gc
import pickle
import weakref

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits

from surelearn import SureClassifier, rules, tune
from surelearn.constraints import Exact, Sequential
from surelearn.models.rows import refused
from surelearn.tuning import candidates as settings_to_try
from surelearn.tuning import search
from surelearn.tuning.sweep import Candidate, OrderedRows
from surelearn.weights import Diagonal, rows_of


def averaged():
    """Enough of them to share a table."""
    return [{"rule": rule, "average": True} for rule in ("nherd", "variance", "scw1", "pa2")]


def problem(n_classes, *, n=300, d=12, form="dense", seed=0):
    """Rows of words, some features never seen, labels that are a little noisy."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, d)) < 0.4) * rng.integers(1, 4, (n, d)).astype(np.float32)
    y = (X @ rng.normal(size=(d, n_classes)) + rng.normal(size=(n, n_classes))).argmax(axis=1)
    labels = np.array(["b", "a", "d", "c", "e"])[:n_classes]
    if form == "dense":
        return X, labels[y]
    wide = sparse.lil_array((n, 5 * d), dtype=np.float32)
    wide[:, 2 : 5 * d : 5] = X  # four in five features never occur
    return wide.tocsr(), labels[y]


def bits(clf):
    """Everything learnt, as bytes."""
    state = clf._model.weights.state()
    arrays = [np.asarray(state[name]).tobytes() for name in ("features", "cells")]
    known = {k: v for k, v in state.items() if k not in ("features", "cells")}
    counts = clf._model.counts.tolist()
    return arrays, known, counts, clf.mistakes_.tolist(), clf.n_updates_, clf.classes_.tolist()


def progressive(clf, X, y):
    """Mistakes by the slow way: say, then learn, row by row in the order of `fit`."""
    order = np.random.RandomState(clf.random_state).permutation(len(y))
    first = order[:1]
    own = clone(clf).partial_fit(X[first], y[first], classes=np.unique(y))
    wrong = np.zeros(len(y), bool)
    wrong[first] = True  # at the start all scores are 0, and a tie is a mistake
    for i in order[1:]:
        s = own.decision_function(X[i : i + 1])[0]
        place = int(np.searchsorted(own.classes_, y[i]))
        if np.ndim(s) == 0:
            wrong[i] = not (s if place else -s) > 0
        else:
            wrong[i] = not s[place] > np.delete(s, place).max()
        own.learn_one(X[[i]] if sparse.issparse(X) else X[i], y[i])
    return wrong


# ------------------------------------------------------------------------- laws


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


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("options", [{}, {"class_weight": {"a": 2.0}}, {"shuffle": False}], ids=str)
def test_the_winner_is_what_fit_makes_of_it(n_classes, form, options):
    X, y = problem(n_classes, form=form)
    base = SureClassifier(passes=3, random_state=0, **options)
    best, table = tune(base, X, y)
    alone = clone(base).set_params(**table.parameters[0]).fit(X, y)
    assert bits(best) == bits(alone)
    assert best.get_params() == alone.get_params()
    assert best.n_features_in_ == X.shape[1]
    np.testing.assert_array_equal(best.predict(X), alone.predict(X))


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("form", ["dense", "csr"])
def test_the_winner_is_the_one_that_separate_fits_would_choose(n_classes, form):
    """Mistakes, of averaged candidates too, are those of saying first and learning then."""
    X, y = problem(n_classes, n=120, form=form)
    base = SureClassifier(random_state=5)
    tried = [
        {"rule": rule, "average": average, "projection": projection}
        for rule in ("pa1", "arow", "stdev")
        for average in (False, True)
        for projection in ("precision", "covariance")
        if rule != "pa1" or projection == "precision"
    ]
    best, table = tune(base, X, y, tried)
    wrong = [progressive(clone(base).set_params(**p), X, y) for p in tried]
    counts = [int(w.sum()) for w in wrong]
    assert table.mistakes.tolist() == sorted(counts)
    winner = counts.index(min(counts))
    assert table.parameters[0] == tried[winner]
    assert {name: best.get_params()[name] for name in tried[winner]} == tried[winner]
    assert len(set(counts)) > 4
    last = wrong[tried.index(table.parameters[-1])].astype(float) - wrong[winner]
    assert table.behind[-1] == pytest.approx(last.mean())
    assert table.behind_deviation[-1] == pytest.approx(last.std() / np.sqrt(len(y)))
    assert table.error.tolist() == [n / len(y) for n in table.mistakes]


def test_averaged_candidates_are_judged_by_what_predict_uses():
    """A perceptron and its average make other mistakes; `mistakes_` stays that of learning."""
    X, y = problem(3)
    best, table = tune(SureClassifier("perceptron", random_state=0), X, y, {"average": [True]})
    plain = tune(SureClassifier("perceptron", random_state=0), X, y, [{}]).table
    assert table.mistakes[0] < plain.mistakes[0]
    assert best.mistakes_[0] == plain.mistakes[0]


@pytest.mark.parametrize("n_classes", [2, 4])
def test_threads_change_nothing(n_classes):
    X, y = problem(n_classes, n=2000)
    made = [tune(SureClassifier(random_state=0, passes=2), X, y, n_jobs=n) for n in (1, 2, 5)]
    assert len({pickle.dumps(table.to_dict()) for _, table in made}) == 1
    assert bits(made[0].best) == bits(made[1].best) == bits(made[2].best)


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


def test_the_estimator_is_left_alone():
    X, y = problem(2)
    base = SureClassifier(random_state=np.random.RandomState(0))
    before = base.get_params(), base.random_state.get_state()[1].tolist()
    best, _ = tune(base, X, y, {"rule": ["pa1", "arow"]})
    assert before == (base.get_params(), base.random_state.get_state()[1].tolist())
    assert not hasattr(base, "classes_")
    assert bits(best) == bits(clone(base).set_params(rule=best.rule).fit(X, y))


# ---------------------------------------------------------------------- settings


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_there_are_enough_default_candidates(form):
    X, y = problem(2, form=form)
    _, table = tune(SureClassifier(), X, y)
    assert len(table) >= 24
    told = " ".join(map(repr, table.parameters))
    for word in ("AROW", "Variance", "Stdev", "Probit", "SCW1", "SCW2", "NHERD", "PA1", "average"):
        assert word in told
    assert ("covariance" if form == "csr" else "precision") in told


@pytest.mark.parametrize(
    "options",
    [
        {"covariance": "full"},
        {"cost": [[0, 2], [1, 0]]},
        {"constraints": "exact"},
        {"fit_intercept": False, "initial_variance": 0.5},
    ],
    ids=str,
)
def test_default_candidates_that_do_not_fit_are_left_out(options):
    X, y = problem(2)
    base = SureClassifier(random_state=0, passes=2, **options)
    best, table = tune(base, X, y)
    assert 4 <= len(table) <= len(settings_to_try.default(is_sparse=False))
    if "cost" in options:
        assert "Probit" not in str(table)
    alone = clone(base).set_params(**table.parameters[0]).fit(X, y)
    np.testing.assert_array_equal(best.coef_, alone.coef_)
    assert best.mistakes_.tolist() == alone.mistakes_.tolist()


def test_an_estimator_that_fits_nothing_is_refused():
    X, y = problem(2)
    with pytest.raises(ValueError, match="passes must be at least 1, got 0"):
        tune(SureClassifier(passes=0), X, y)


def test_a_grid_is_every_combination():
    X, y = problem(2)
    grid = {"rule": [rules.AROW(), rules.Stdev()], "average": [False, True]}
    _, table = tune(SureClassifier(), X, y, grid)
    assert len(table) == 4
    _, table = tune(SureClassifier("arow"), X, y, {"rule__r": [0.1, 1.0, 10.0]})
    assert sorted(p["rule__r"] for p in table.parameters) == [0.1, 1.0, 10.0]


def test_the_first_of_equals_wins():
    X, y = problem(2)
    tried = [{"rule": rules.SCW1(phi=1.0, C=C)} for C in (1e9, 1e10, 1e8)]
    best, table = tune(SureClassifier(), X, y, tried)
    assert len(set(table.mistakes)) == 1
    assert table.parameters.tolist() == tried
    assert best.rule == tried[0]["rule"]


def test_many_rivals_and_functions_learn_alone():
    X, y = problem(4)

    def careful(m, v):
        return (0.1, 0.1) if m < 1.0 else (0.0, 0.0)

    tried = [{"rule": careful}, {"constraints": Sequential(2)}, {"constraints": Exact(2)}]
    base = SureClassifier("variance", random_state=0, passes=1)
    _, table = tune(base, X, y, tried)
    for params, mistakes in zip(table.parameters, table.mistakes, strict=True):
        assert clone(base).set_params(**params).fit(X, y).mistakes_[0] == mistakes


# ---------------------------------------------------------------------- failures


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


def test_a_candidate_that_collapses_comes_last():
    X, y = problem(2)
    X = X * np.float32(1e19)
    tried = [
        {"rule": rules.AROW(r=1e-10), "projection": "precision"},
        {"rule": "pa1"},
        {"rule": "perceptron"},
        {"rule": "pa2"},
    ]
    best, table = tune(SureClassifier(random_state=0), X, y, tried)
    assert best.rule != tried[0]["rule"]
    assert table.failure[:-1].tolist() == [""] * 3
    with pytest.raises(ValueError, match="collapse") as refusal:
        SureClassifier(random_state=0).set_params(**tried[0]).fit(X, y)
    assert table.failure[-1] == str(refusal.value)
    assert np.isnan(table.error[-1])
    assert np.isnan(table.behind[-1])
    assert "collapse" in table.to_pandas().failure[3]
    with pytest.raises(ValueError, match=r"must learn all rows, got none.*collapse"):
        tune(SureClassifier(random_state=0), X, y, tried[:1])
    bold = [{**tried[0], "rule": rules.AROW(r=r)} for r in (1e-10, 1e-11, 1e-12)]
    with pytest.raises(ValueError, match=r"must learn all rows, got none.*collapse"):
        tune(SureClassifier(random_state=0), X, y, bold)


def test_a_winner_that_collapses_later_gives_way(monkeypatch):
    X, y = problem(2)
    real, seen = search.run, []

    def run(trainable, *rest, order, report):
        seen.append(trainable.settings.rule)
        if len(seen) == 1:
            order(2)
            raise refused(trainable.model, 7, 0, exact=False)
        real(trainable, *rest, order=order, report=report)

    monkeypatch.setattr(search, "run", run)
    base = SureClassifier(random_state=0)
    best, table = tune(base, X, y)
    assert table.failure[-1].startswith("in a later pass: row 7 must")
    assert rules.get(table.parameters[-1]["rule"]) == seen[0]
    assert bits(best) == bits(clone(base).set_params(**table.parameters[0]).fit(X, y))


def test_an_error_of_a_function_comes_out():
    X, y = problem(2)

    def broken(m, v):
        raise ZeroDivisionError("no such rule")

    tried = [{"rule": "arow"}, {"rule": rules.Custom(broken, compiled=False)}]
    for n_jobs in (1, 2):
        with pytest.raises(ZeroDivisionError, match="no such rule"):
            tune(SureClassifier(), X, y, tried, n_jobs=n_jobs)


@pytest.mark.parametrize(
    ("candidates", "error", "match"),
    [
        ([], ValueError, "at least one, got none"),
        ({"rule": []}, ValueError, "at least one, got none"),
        ("arow", TypeError, "must be a list of dicts of parameters, or a dict of lists"),
        (["arow"], TypeError, r"candidates\[0\] must be a dict of parameters, got 'arow'"),
        ({"rule": "arow"}, TypeError, r"candidates\['rule'\] must be a list of values"),
        ([{"passes": 3}], ValueError, "got 'passes'. Set others in the estimator"),
        ([{"random_state": 3}], ValueError, "got 'random_state'"),
        ([{"class_weight": None}], ValueError, "got 'class_weight'"),
        ([{"speed": 3}], ValueError, r"candidates\[0\] must name parameters.*got 'speed'"),
        ([{"rule": "arow"}, {"rule": "row"}], ValueError, r"candidates\[1\], row: rule must be"),
        ([{"rule": "arow", "rule__r": -1}], ValueError, r"rule__r=-1: r must be in"),
        ([{"rule": "arow", "rule__phi": 1}], TypeError, "must be given 'r', got 'phi'"),
        ([{"average": 1}], TypeError, "average must be True or False, got 1"),
        (
            [{"constraints": Sequential(7)}],
            ValueError,
            r"candidates\[0\].*needs at least 8 classes",
        ),
        (
            [{}, {"rule": rules.Probit()}],
            ValueError,
            r"candidates\[1\], Pro.*the same as as it",
        ),
        (
            [{"rule": "pa"}, {"rule": "pa", "projection": "precision"}],
            ValueError,
            "must all differ",
        ),
    ],
)
def test_candidates_are_checked_before_anything_is_learnt(candidates, error, match):
    X, y = problem(2)
    with pytest.raises(error, match=match):
        tune(SureClassifier(), X, y, candidates)


def test_the_rest_is_checked_too():
    X, y = problem(2)
    with pytest.raises(TypeError, match="estimator must be a SureClassifier, got 'arow'"):
        tune("arow", X, y)
    with pytest.raises(ValueError, match="n_jobs must be None, -1 or at least 1, got 0"):
        tune(SureClassifier(), X, y, n_jobs=0)
    with pytest.raises(ValueError, match="two classes"):
        tune(SureClassifier(), X, np.zeros(len(y)))
    with pytest.raises(ValueError, match="finite"):
        tune(SureClassifier(), np.where(X == 3, np.inf, X), y)
    with pytest.raises(ValueError, match="y must"):
        tune(SureClassifier(), X, y[1:])


# ------------------------------------------------------------------------ looks


def test_the_table_can_be_read():
    X, y = problem(3)
    _, table = tune(SureClassifier(random_state=0), X, y, {"rule": ["arow", "pa1"]})
    lines = str(table).splitlines()
    assert lines[0].split() == list(table.columns)
    assert lines[1].startswith(str(table.parameters[0]["rule"]))
    assert f"{table.error[0]:.4f}" in lines[1]
    assert "<td>pa1</td>" in table._repr_html_()
    assert table.to_pandas().shape == (2, len(table.columns))
    assert [line.mistakes for line in table] == table.mistakes.tolist()
    assert pickle.loads(pickle.dumps(table)).to_dict() == table.to_dict()
    with pytest.raises(AttributeError, match="mistakes of Standings must stay as it is"):
        table.mistakes = 3


def test_progress_is_told(capsys):
    X, y = problem(2)
    tune(SureClassifier(), X, y, {"rule": ["arow", "stdev", "pa1"]}, verbose=1)
    assert capsys.readouterr().out.splitlines() == ["tune: 3 of 3 candidates have ended"]
    tune(SureClassifier(), X, y, {"rule": ["arow", "stdev"]})
    assert capsys.readouterr().out == ""


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


def test_it_finds_good_settings_for_digits():
    X, y = load_digits(return_X_y=True)
    best, _ = tune(SureClassifier(random_state=0), X[:1200] / 16, y[:1200])
    assert best.score(X[1200:] / 16, y[1200:]) > 0.9


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


@pytest.mark.parametrize("how", ["ovr", "ovo", "ecoc"])
def test_reductions_are_judged_as_they_predict(how):
    X, y = problem(4)
    base = SureClassifier(random_state=0, passes=1, shuffle=False)
    _, table = tune(base, X, y, [{"multiclass": how, "rule": "arow"}])
    stream = SureClassifier("arow", multiclass=how, random_state=0)
    stream.partial_fit(X[:1], y[:1], classes=np.unique(y))
    wrong = 0
    for x, label in zip(X[1:], y[1:], strict=True):
        wrong += stream.predict_one(x) != label
        stream.learn_one(x, label)
    assert table.mistakes[0] == wrong + 1  # before the first row all scores are equal


def test_another_decoding_is_for_the_winner():
    X, y = problem(3)
    with pytest.raises(ValueError, match=r"decoding must be 'auto' for tune, which .*'hamming'"):
        tune(SureClassifier(multiclass="ecoc", decoding="hamming"), X, y)
