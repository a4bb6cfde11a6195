"""`tune`: the winner is what separate fits would have chosen, and is made as `fit` makes it."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits

from surelearn import SureClassifier, rules, tune
from surelearn.models.protocol import refused
from surelearn.tuning import search
from tuned import bits, problem


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


def test_the_estimator_is_left_alone():
    X, y = problem(2)
    base = SureClassifier(random_state=np.random.RandomState(0))
    before = base.get_params(), base.random_state.get_state()[1].tolist()
    best, _ = tune(base, X, y, {"rule": ["pa1", "arow"]})
    assert before == (base.get_params(), base.random_state.get_state()[1].tolist())
    assert not hasattr(base, "classes_")
    assert bits(best) == bits(clone(base).set_params(rule=best.rule).fit(X, y))


# ---------------------------------------------------------------------- settings


def test_the_first_of_equals_wins():
    X, y = problem(2)
    tried = [{"rule": rules.SCW1(phi=1.0, C=C)} for C in (1e9, 1e10, 1e8)]
    best, table = tune(SureClassifier(), X, y, tried)
    assert len(set(table.mistakes)) == 1
    assert table.parameters.tolist() == tried
    assert best.rule == tried[0]["rule"]


# ---------------------------------------------------------------------- failures


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
    assert capsys.readouterr().out.splitlines() == ["tune: 3 of 3 candidates done"]
    tune(SureClassifier(), X, y, {"rule": ["arow", "stdev"]})
    assert capsys.readouterr().out == ""


def test_it_finds_good_settings_for_digits():
    X, y = load_digits(return_X_y=True)
    best, _ = tune(SureClassifier(random_state=0), X[:1200] / 16, y[:1200])
    assert best.score(X[1200:] / 16, y[1200:]) > 0.9


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
