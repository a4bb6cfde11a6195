"""`tune`: the winner is what separate fits would have chosen, and is made as `fit` makes it."""

from __future__ import annotations

import pickle
import re
from copy import deepcopy

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits

from surelearn import SureClassifier, SureTextClassifier, rules, tune
from surelearn.training.protocol import refused
from surelearn.tuning import search
from tuned import bits, problem

#: A few candidates, for tests of something else.
FEW = [{}, {"rule": "arow"}, {"rule": "stdev"}, {"rule": rules.Probit(noise=10.0), "average": True}]


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


def kept_back(clf, X, y):
    """Errors and log losses by the slow way: `fit` without a tenth of the rows, ten times."""
    random = np.random.RandomState(clf.random_state)
    parts = np.array_split(random.permutation(len(y)), 10)
    wrong, losses = [], []
    for part in parts:
        rest = np.delete(np.arange(len(y)), part)
        own = (
            clone(clf)
            .set_params(random_state=deepcopy(random))
            .fit(X[rest], y[rest], calibrate=False)
        )
        wrong.append(own.predict(X[part]) != y[part])
        if own.model_.layout.second_order:
            losses.append(_crossed(own, X[part], y[part]))
    return np.concatenate(wrong), np.concatenate(losses) if losses else None


def _crossed(own, X, y):
    """The log loss of each half of the rows, calibrated on the other half."""
    first = np.arange(len(y)) % 2 == 0
    out = np.zeros(len(y))
    for one, other in ((first, ~first), (~first, first)):
        p = own.calibrate(X[one], y[one]).predict_log_proba(X[other])
        out[other] = -p[np.arange(len(p)), np.searchsorted(own.classes_, y[other])]
    return np.minimum(out, 20.0)


# ------------------------------------------------------------------------- laws


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("options", [{}, {"class_weight": {"a": 2.0}}, {"shuffle": False}], ids=str)
def test_the_winner_is_what_fit_makes_of_it(n_classes, form, options):
    X, y = problem(n_classes, form=form)
    base = SureClassifier(passes=3, random_state=0, **options, scale=False)
    best, table = tune(base, X, y, FEW)
    alone = clone(base).set_params(**table.parameters[0]).fit(X, y)
    assert bits(best) == bits(alone)
    assert best.get_params() == alone.get_params()
    assert best.n_features_in_ == X.shape[1]
    np.testing.assert_array_equal(best.predict_proba(X), alone.predict_proba(X))


def test_texts_are_read_once_and_fitted_as_fit_does():
    X, y = problem(3)
    texts = [" ".join(f"w{j}" for j in np.flatnonzero(row)) for row in X]
    base = SureTextClassifier(random_state=0)
    best, _ = tune(base, iter(texts), y, [{"rule": "arow"}])
    alone = clone(base).set_params(rule="arow").fit(texts, y)
    assert bits(best) == bits(alone)
    np.testing.assert_array_equal(best.predict_proba(texts), alone.predict_proba(texts))


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("probability", ["softmax", "exact"])
def test_candidates_are_judged_as_separate_fits_would_be(n_classes, form, probability):
    X, y = problem(n_classes, n=120, form=form)
    base = SureClassifier(random_state=5, probability=probability, scale=False)
    tried = [
        {"rule": "stdev", "average": True},
        {"rule": "arow", "projection": "covariance"},
        {"rule": "pa1"},
    ]
    _, table = tune(base, X, y, tried)
    slow = [kept_back(clone(base).set_params(**p), X, y) for p in table.parameters]
    for line, (wrong, losses) in zip(table, slow, strict=True):
        behind = wrong.astype(float) - slow[0][0]
        assert line.error == wrong.mean()
        assert line.deviation == pytest.approx(np.sqrt(line.error * (1 - line.error) / 120))
        assert line.behind == behind.mean()
        assert line.behind_deviation == pytest.approx(behind.std() / np.sqrt(120))
        if losses is None:
            assert np.isnan(line.log_loss)
        else:
            assert line.log_loss == pytest.approx(losses.mean(), rel=1e-6)


def test_all_passes_count_and_as_many_as_fit_would_make():
    """One pass would prefer another rule; `passes="auto"` goes by the number of all rows."""
    X, y = problem(3, n=150)
    table = tune(SureClassifier(random_state=0, scale=False), X, y, FEW).table
    ten = tune(SureClassifier(random_state=0, passes=10, scale=False), X, y, FEW).table
    one = tune(SureClassifier(random_state=0, passes=1, scale=False), X, y, FEW).table
    assert repr(table) == repr(ten) != repr(one)


def test_rows_in_their_order_stay_in_order():
    X, y = problem(2, n=60)
    base = SureClassifier(shuffle=False, passes=1, random_state=0, scale=False)
    _, table = tune(base, X, y, [{}])
    assert table.error[0] == kept_back(base, X, y)[0].mean()


def test_the_first_round_shortens_a_long_list():
    """By progressive validation: mistakes are those of saying first and learning then."""
    X, y = problem(3, n=120)
    base = SureClassifier("pa1", random_state=5, passes=1, average=True, scale=False)
    tried = [{}, *({"rule": rules.AROW(r=r)} for r in np.geomspace(0.01, 1000, 16))]
    _, table = tune(base, X, y, tried)
    assert len(table) == 17
    assert np.isnan(table.error).tolist() == [False] * 14 + [True] * 3
    assert {} in table.parameters[:14].tolist()  # always judged
    slow = [progressive(clone(base).set_params(**p), X, y).mean() for p in table.parameters]
    assert table.first_pass.tolist() == slow
    judged = [e for e, p in zip(slow[:14], table.parameters, strict=False) if p]
    assert max(judged) <= min(slow[14:])
    assert slow[14:] == sorted(slow[14:])
    assert "first_pass" not in tune(base, X, y, tried[:4]).table.columns


@pytest.mark.parametrize("n_classes", [2, 4])
def test_threads_change_nothing(n_classes):
    X, y = problem(n_classes, n=400)
    base = SureClassifier(random_state=0, passes=2, scale=False)
    long = [*FEW, *({"rule": rules.AROW(r=r)} for r in np.geomspace(0.1, 100, 12))]
    made = [tune(base, X, y, long, n_jobs=n) for n in (1, 2, 5)]
    assert len({pickle.dumps(table.to_dict()) for _, table in made}) == 1
    assert bits(made[0].best) == bits(made[1].best) == bits(made[2].best)


def test_the_estimator_is_left_alone():
    X, y = problem(2)
    base = SureClassifier(random_state=np.random.RandomState(0), scale=False)
    before = base.get_params(), base.random_state.get_state()[1].tolist()
    best, _ = tune(base, X, y, {"rule": ["pa1", "arow"]})
    assert before == (base.get_params(), base.random_state.get_state()[1].tolist())
    assert not hasattr(base, "classes_")
    assert bits(best) == bits(clone(base).set_params(rule=best.rule).fit(X, y))


# ---------------------------------------------------------------------- settings


def test_the_first_of_equals_wins():
    X, y = problem(2)
    tried = [{"rule": rules.SCW1(phi=1.0, C=C)} for C in (1e9, 1e10, 1e8)]
    best, table = tune(SureClassifier(passes=1, scale=False), X, y, tried)
    assert len(set(table.log_loss)) == 1
    assert table.parameters.tolist() == tried
    assert best.rule == tried[0]["rule"]


def test_it_tells_whether_the_default_is_best(capsys):
    X, y = problem(2)
    base = SureClassifier(random_state=0, scale=False)
    same = tune(base, X, y, [{"rule": rules.Probit(noise=1.1)}, {}], verbose=1)
    assert same.default_is_best
    assert same.best.rule == base.rule
    assert repr(same).startswith("The settings as they are did best")
    assert "tune: The settings as they are did best" in capsys.readouterr().out
    # Bold steps follow the noise in the labels.
    poor = SureClassifier(rules.Probit(noise=1e-6), random_state=0, passes=10, scale=False)
    better = tune(poor, X, y)
    assert not better.default_is_best
    said = rf"^.* did best: {100 * better.table.error[0]:.2f} % errors, log loss 0.\d+ \(as it is: "
    assert re.match(said, repr(better))
    alone = repr(tune(base, X, y, [{"rule": "pa1"}])).splitlines()[0]
    assert re.fullmatch(r"pa1 did best: [\d.]+ % errors\.", alone)


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
    best, table = tune(SureClassifier(random_state=0, passes=1, scale=False), X, y, tried)
    assert best.rule != tried[0]["rule"]
    assert table.failure[:-1].tolist() == [""] * 3
    with pytest.raises(ValueError, match="collapse"):
        SureClassifier(random_state=0, scale=False).set_params(**tried[0]).fit(X, y)
    assert "must leave finite weights and positive variances" in table.failure[-1]
    assert np.isnan(table.error[-1])
    assert np.isnan(table.behind[-1])
    assert "collapse" in table.to_pandas().failure[3]
    with pytest.raises(ValueError, match=r"must learn all rows, got none.*collapse"):
        tune(SureClassifier(random_state=0, scale=False), X, y, tried[:1])
    bold = [{**tried[0], "rule": rules.AROW(r=r)} for r in (1e-10, 1e-11, 1e-12)]
    with pytest.raises(ValueError, match=r"must learn all rows, got none.*collapse"):
        tune(SureClassifier(random_state=0, scale=False), X, y, bold)


def test_a_winner_that_collapses_later_gives_way(monkeypatch):
    X, y = problem(2)
    real, seen = search.train_block, []

    def train_block(best, *rest):
        seen.append(best.get_params())
        if len(seen) == 1:
            best.random_state.permutation(3)
            raise refused(best._settings_for().untrained(2, is_sparse=False), 7, 0, exact=False)
        real(best, *rest)

    monkeypatch.setattr(search, "train_block", train_block)
    base = SureClassifier(random_state=np.random.RandomState(0), scale=False)
    best, table = tune(base, X, y, FEW)
    assert table.failure[-1].startswith("row 7 must")
    assert np.isnan(table.error[-1])
    assert table.parameters[-1].items() <= seen[0].items()
    monkeypatch.undo()
    assert bits(best) == bits(clone(base).set_params(**table.parameters[0]).fit(X, y))


def test_a_candidate_that_collapses_in_a_later_pass_makes_room(monkeypatch):
    X, y = problem(2, n=100)
    real = search.Judge.verdict

    def verdict(self, settings, untrained):
        if settings.rule == rules.Perceptron():
            raise refused(untrained, 7, 0, exact=False)
        return real(self, settings, untrained)

    monkeypatch.setattr(search.Judge, "verdict", verdict)
    monkeypatch.setattr(search, "_FINALISTS", 2)
    _, table = tune(
        SureClassifier(random_state=0, scale=False),
        X,
        y,
        {"rule": ["perceptron", "arow", "stdev", "nherd"]},
    )
    assert (~np.isnan(table.error)).sum() == 2
    assert table.parameters[-1] == {"rule": "perceptron"}


def test_an_error_of_a_function_comes_out():
    X, y = problem(2)

    def broken(m, v):
        raise ZeroDivisionError("no such rule")

    tried = [{"rule": "arow"}, {"rule": rules.Custom(broken, compiled=False)}]
    for n_jobs in (1, 2):
        with pytest.raises(ZeroDivisionError, match="no such rule"):
            tune(SureClassifier(scale=False), X, y, tried, n_jobs=n_jobs)


def test_the_rest_is_checked_too():
    X, y = problem(2)
    with pytest.raises(TypeError, match="estimator must be a SureClassifier, got 'arow'"):
        tune("arow", X, y)
    with pytest.raises(ValueError, match="n_jobs must be None, negative or at least 1, got 0"):
        tune(SureClassifier(scale=False), X, y, n_jobs=0)
    with pytest.raises(ValueError, match="two classes"):
        tune(SureClassifier(scale=False), X, np.zeros(len(y)))
    with pytest.raises(ValueError, match="finite"):
        tune(SureClassifier(scale=False), np.where(X == 3, np.inf, X), y)
    with pytest.raises(ValueError, match="y must"):
        tune(SureClassifier(scale=False), X, y[1:])


# ------------------------------------------------------------------------ looks


def test_progress_is_told(capsys):
    X, y = problem(2, n=50)
    tune(SureClassifier(scale=False), X, y, {"rule": ["arow", "stdev", "pa1"]}, verbose=1)
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "tune: 3 candidates judged"
    assert " did best: " in said[1]
    long = {"rule": [rules.AROW(r=r) for r in range(1, 16)]}
    tune(SureClassifier(scale=False), X, y, long, verbose=1)
    assert "tune: 15 of 15 candidates made the first pass" in capsys.readouterr().out
    tune(SureClassifier(scale=False), X, y, {"rule": ["arow", "stdev"]})
    assert capsys.readouterr().out == ""


def test_it_finds_good_settings_for_digits():
    X, y = load_digits(return_X_y=True)
    best, _ = tune(SureClassifier(random_state=0, scale=False), X[:1200] / 16, y[:1200])
    assert best.score(X[1200:] / 16, y[1200:]) > 0.9


@pytest.mark.parametrize("how", ["ovr", "ovo", "ecoc"])
def test_reductions_are_judged_as_they_predict(how):
    X, y = problem(4, n=100)
    base = SureClassifier("arow", random_state=0, multiclass=how, scale=False)
    _, table = tune(base, X, y, [{}])
    wrong, losses = kept_back(base, X, y)
    assert table.error[0] == wrong.mean()
    assert table.log_loss[0] == pytest.approx(losses.mean(), rel=1e-6)


def test_another_decoding_is_for_the_winner():
    X, y = problem(3)
    with pytest.raises(ValueError, match=r"decoding must be 'auto' for tune, which .*'hamming'"):
        tune(SureClassifier(multiclass="ecoc", decoding="hamming", scale=False), X, y)
