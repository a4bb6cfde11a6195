"""`simulate` is the loop of the paper, and what it says of curves is what they show."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import BernoulliNB
from sklearn.tree import DecisionTreeClassifier

from reference import simulation as reference
from surelearn import SureClassifier, SureTextClassifier, rules
from surelearn.active import Pool, Simulation, _simulate, simulate
from surelearn.text import HashingVectorizer

PAIRS = [("PA", "random"), ("PA", "margin"), ("CW", "random"), ("CW", "margin"), ("CW", "acl")]
SURE = [("Sure", "random"), ("Sure", "margin"), ("Sure", "acl")]


def exact(**options):
    """The paper's learners in double precision."""
    return {
        "PA": SureClassifier(rules.PA1(C=1.0), dtype="float64", **options, scale=False),
        "CW": SureClassifier(rules.Variance(phi=1.0), dtype="float64", **options, scale=False),
    }


@pytest.fixture(scope="module")
def rows():
    """120 sparse rows of two classes, no two alike, a fifth of the labels noise."""
    random = np.random.default_rng(0)
    X = sparse.random_array((120, 30), density=0.3, rng=random, format="csr")
    X.data[:] = random.normal(size=X.nnz)
    y = np.where(X @ random.normal(size=30) + random.normal(scale=0.8, size=120) > 0, 1, -1)
    return sparse.csr_matrix(X), y


@pytest.fixture(scope="module")
def found(rows):
    learners = exact()
    return simulate(
        *rows, learners=learners, passes=1, n_labels=60, n_folds=4, random_state=3, n_jobs=1
    )


# --------------------------------------------------------------------- the reference


def on_paper(rows, n_folds, seed):
    """The runs with rows as dictionaries, the intercept a feature of its own."""
    X, y = rows
    found = []
    for i in range(len(y)):
        x = X[i].tocoo()
        found.append({**dict(zip(x.col.tolist(), x.data.tolist(), strict=True)), "intercept": 1.0})
    random = np.random.RandomState(seed)
    for run in _simulate._runs(y, None, n_folds, n_runs=None, random=random):
        yield {"rows": found, "y": y, "pool": run.pool.tolist(), "test": run.test.tolist()}, run


def fresh(learner):
    paper = reference.PassiveAggressive(1.0), reference.ConfidenceWeighted(1.0)
    return dict(zip(("PA", "CW"), paper, strict=True))[learner]


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_curves_are_those_of_the_plain_loop(rows, found, pair):
    learner, strategy = pair
    for number, (task, run) in enumerate(on_paper(rows, 4, 3)):
        expected = reference.curve(fresh(learner), strategy, **task, seed=run.seed, n_labels=60)
        assert found.curves[pair][number].tolist() == expected
        assert found.full[learner][number] == reference.all_of(fresh(learner), **task)


def test_the_tried_pairs_are_those_of_the_paper(rows, found):
    assert list(found.curves) == PAIRS
    default = simulate(*rows, n_labels=5, n_folds=3, random_state=0)
    assert list(default.curves) == [*PAIRS, *SURE]
    assert default.labels.tolist() == [2, 3, 4, 5]


@pytest.mark.slow
@pytest.mark.parametrize("passes", [None, 2])
def test_default_learners_are_those_of_the_paper_and_ours_as_it_comes(rows, passes):
    named = {
        "PA": SureClassifier(rules.PA1(C=1.0), scale=False),
        "CW": SureClassifier(rules.Variance(phi=1.0), scale=False),
    }
    options = {"n_labels": 40, "n_folds": 3, "random_state": 0}
    found = simulate(*rows, passes=passes, **options)
    same(of(found, "PA", "CW"), simulate(*rows, learners=named, passes=1, **options))
    sure = {"Sure": SureClassifier(scale=False)}
    same(of(found, "Sure"), simulate(*rows, learners=sure, passes=passes, **options))


def of(found, *learners):
    """The curves of some learners."""
    curves = {pair: curve for pair, curve in found.curves.items() if pair[0] in learners}
    full = {name: full for name, full in found.full.items() if name in learners}
    return Simulation(found.labels, curves, full, pool=found.pool)


@pytest.mark.slow
@pytest.mark.parametrize("idf", [False, True])
def test_a_simulation_tells_what_a_pool_will_do(texts, idf):
    X, y = np.array(texts[0]), texts[1]
    model = SureTextClassifier(idf=idf)
    found = simulate(X, y, learners={"it": model}, strategies=["acl"], n_labels=25, n_folds=4,
                     random_state=0)  # fmt: skip
    runs = _simulate._runs(y, None, 4, n_runs=None, random=np.random.RandomState(0))
    for run, curve in zip(runs, found.curves["it", "acl"], strict=True):
        first = np.sort(np.unique(y[run.pool], return_index=True)[1])
        labels = {int(place): y[run.pool[place]] for place in first}
        learner = SureTextClassifier(idf=idf)
        pool = Pool(learner, X[run.pool], labels=labels, random_state=run.seed)
        accuracy = [learner.score(X[run.test], y[run.test])]
        while len(pool.answers) < 25:
            (row,) = pool.ask()
            pool.tell(row, y[run.pool[row]])
            accuracy.append(learner.score(X[run.test], y[run.test]))
        assert curve.tolist() == accuracy


def same(one, other):
    assert list(one.curves) == list(other.curves)
    assert one.labels.tolist() == other.labels.tolist()
    assert one.pool.tolist() == other.pool.tolist()
    for pair in one.curves:
        assert one.curves[pair].tolist() == other.curves[pair].tolist()
    for name in one.full:
        assert one.full[name].tolist() == other.full[name].tolist()


# ------------------------------------------------------------------- what is handed in


@pytest.mark.slow
def test_the_same_seed_the_same_curves_for_any_number_of_threads(rows, found):
    options = {"learners": exact(), "passes": 1, "n_labels": 60, "n_folds": 4}
    for n_jobs in (None, 3):
        same(simulate(*rows, random_state=3, n_jobs=n_jobs, **options), found)
    other = simulate(*rows, random_state=4, **options)
    assert any((other.curves[pair] != found.curves[pair]).any() for pair in PAIRS)


class Guess(ClassifierMixin, BaseEstimator):
    """It predicts one class for all rows, by its seed alone."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        return self.partial_fit(X, y)

    def partial_fit(self, X, y, classes=None):
        self.classes_ = np.unique(y) if classes is None else classes
        return self

    def predict(self, X):
        return np.full(X.shape[0], (-1, 1)[self.random_state % 2])


def test_a_learner_without_a_seed_gets_that_of_the_run(rows):
    X, y = rows
    learners = {"none": Guess(), "five": Guess(5), "no draws": BernoulliNB()}
    found = simulate(X, y, learners=learners, strategies=["random"], n_labels=5, n_folds=6,
                     n_jobs=1, random_state=0)  # fmt: skip
    runs = _simulate._runs(y, None, 6, n_runs=None, random=np.random.RandomState(0))
    assert {run.seed % 2 for run in runs} == {0, 1}
    for number, run in enumerate(runs):
        for name, seed in (("none", run.seed), ("five", 5)):
            guesses = Guess(seed).fit(X, y).predict(X[run.test])
            assert found.full[name][number] == np.mean(guesses == y[run.test])


def test_kinds_of_rows(rows, found):
    X, y = rows
    dense = X.toarray()
    wide = sparse.hstack([sparse.csr_matrix((120, 7)), X]).tocsr()  # columns without any number
    options = {"passes": 1, "n_labels": 15, "n_folds": 4, "random_state": 3}
    begin = {pair: curve[:, :14] for pair, curve in found.curves.items()}
    expected = Simulation(found.labels[:14], begin, found.full, pool=found.pool)
    for kind in (dense, dense.tolist(), pd.DataFrame(dense), sparse.csr_array(X), wide):
        # Dense rows would keep the diagonal of the covariance by themselves.
        same(simulate(kind, y, learners=exact(projection="precision"), **options), expected)
    names = np.array(["no", "yes"], dtype=object)[(y > 0).astype(int)]
    same(simulate(X, names, learners=exact(), **options), expected)


@pytest.fixture(scope="module")
def texts():
    random = np.random.default_rng(1)
    words = np.array([f"word{i}" for i in range(40)])
    labels = random.choice(["ham", "spam"], size=80)
    shift = 12 * (labels == "spam")
    return [" ".join(words[random.integers(28, size=12) + s]) for s in shift], labels


def test_texts_are_read_as_by_the_text_classifier(texts):
    X, y = texts
    options = {"n_labels": 30, "n_folds": 4, "random_state": 0}
    hashed = SureTextClassifier(keep_names=False, idf=False).fit(X, y).vectorizer_.transform(X)
    paper = {"PA": rules.PA1(C=1.0), "CW": rules.Variance(phi=1.0)}
    options["passes"] = 1
    rows = {name: SureClassifier(rule, scale=False) for name, rule in paper.items()}
    expected = simulate(hashed, y, learners=rows, **options)
    same(of(simulate(X, y, **options), "PA", "CW"), expected)
    same(of(simulate(pd.Series(X), y, **options), "PA", "CW"), expected)
    own = {name: SureTextClassifier(rule, idf=False) for name, rule in paper.items()}
    same(simulate(X, y, learners=own, **options), expected)
    own["CW"].set_params(norm=None)
    other = simulate(X, y, learners=own, **options)
    assert (other.curves["PA", "margin"] == expected.curves["PA", "margin"]).all()
    assert (other.curves["CW", "acl"] != expected.curves["CW", "acl"]).any()


def test_texts_are_hashed_once(texts, monkeypatch):
    calls = []
    transform = HashingVectorizer.transform
    monkeypatch.setattr(HashingVectorizer, "transform", lambda *a: calls.append(1) or transform(*a))
    learners = {"a": SureTextClassifier(idf=False), "b": SureTextClassifier("arow", idf=False)}
    simulate(*texts, learners=learners, n_labels=5, n_folds=4, random_state=0)
    assert len(calls) == 1


@pytest.mark.slow
def test_learners_of_scikit_learn(rows):
    options = {"n_labels": 30, "n_folds": 4, "n_jobs": 2, "random_state": 0}
    learners = {"SGD": SGDClassifier(), **exact()}
    found = simulate(*rows, learners=learners, passes=1, **options)
    assert list(found.curves) == [("SGD", "random"), ("SGD", "margin"), *PAIRS]
    same(
        simulate(*rows, learners=learners, passes=1, **options), found
    )  # SGD draws what the seed decides
    assert found.full["SGD"].mean() > 0.6
    assert not hasattr(learners["SGD"], "coef_")
    assert not hasattr(learners["CW"], "coef_")


def test_three_classes(rows):
    X, y = rows
    labels = np.where(np.arange(120) % 3 == 0, "c", np.where(y > 0, "b", "a"))
    found = simulate(X, labels, strategies=["random", "entropy", "acl"], n_labels=20, n_folds=3,
                     random_state=0)  # fmt: skip
    assert found.labels.tolist() == [*range(3, 21)]
    assert list(found.curves) == [("PA", "random"), ("CW", "random"), ("CW", "entropy"),
                                  ("CW", "acl"), ("Sure", "random"), ("Sure", "entropy"),
                                  ("Sure", "acl")]  # fmt: skip


def test_every_so_many_labels(rows, found):
    some = simulate(
        *rows, learners=exact(), passes=1, n_labels=60, n_folds=4, every=7, random_state=3
    )
    assert some.labels.tolist() == [2, 9, 16, 23, 30, 37, 44, 51, 58, 60]
    for pair in PAIRS:
        kept = found.curves[pair][:, some.labels - 2]
        assert some.curves[pair].tolist() == kept.tolist()


def test_no_more_labels_than_there_are(rows):
    found = simulate(*rows, strategies=["random"], n_folds=4, random_state=0)
    assert found.labels[-1] == 90
    # Random order has then learnt what the one pass has, in another order.
    assert found.curves["CW", "random"][:, -1].mean() == pytest.approx(
        found.full["CW"].mean(), abs=0.08
    )


def test_progress_is_told(rows):
    told = []
    simulate(*rows, n_labels=4, n_folds=3, progress=lambda *now: told.append(now), random_state=0)
    total = 3 * (8 + 3)  # eight curves and three learners of all labels
    assert told == [(done, total) for done in range(1, total + 1)]


# ------------------------------------------------------------------------------ runs


def runs_of(y, groups=None, n_folds=5, n_runs=None):
    return _simulate._runs(y, groups, n_folds, n_runs=n_runs, random=np.random.RandomState(0))


def test_folds_hold_every_row_out_once_and_classes_evenly():
    y = np.array(["a"] * 23 + ["b"] * 200 + ["c"] * 2)
    runs = runs_of(y)
    assert sorted(np.concatenate([run.test for run in runs])) == [*range(225)]
    for run in runs:
        assert not set(run.test) & set(run.pool)
        assert len(run.test) == 45
        assert sum(y[run.test] == "a") in (4, 5)
        assert "c" in y[run.pool]
    assert len({run.seed for run in runs}) == 5


def test_more_runs_than_folds_deal_anew():
    runs = runs_of(np.arange(60) % 2, n_folds=3, n_runs=7)
    assert [len(run.test) for run in runs] == [20] * 7
    assert sorted(np.concatenate([run.test for run in runs[3:6]])) == [*range(60)]
    assert len({tuple(run.test) for run in runs}) == 7


def test_a_group_is_on_one_side():
    y = np.repeat(np.arange(60) % 2, 2)
    groups = [f"group {i // 2}" for i in range(120)]
    for run in runs_of(y, groups):
        assert not {groups[i] for i in run.test} & {groups[i] for i in run.pool}
        assert len(run.test) == 24


def test_all_strategies_start_alike_and_random_order_is_one_order(rows, found):
    for strategy in ("margin", "acl"):
        starts = found.curves["CW", strategy][:, 0], found.curves["CW", "random"][:, 0]
        assert starts[0].tolist() == starts[1].tolist()
    twins = {name: SureClassifier(rules.PA1(C=1.0), scale=False) for name in "ab"}
    both = simulate(*rows, learners=twins, strategies=["random"], n_labels=30, n_folds=4,
                    random_state=0)  # fmt: skip
    assert both.curves["a", "random"].tolist() == both.curves["b", "random"].tolist()


# --------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"y": np.ones(120)}, ValueError, "simulate needs at least two classes, got 1 class: 1.0"),
        ({"y": np.arange(119) % 2}, ValueError, "y must have one label for each of 120 rows"),
        ({"n_folds": 1}, ValueError, "n_folds must be at least 2, got 1"),
        ({"n_folds": 121}, ValueError, "n_folds must be at most 120, the rows of X, got 121"),
        ({"groups": np.arange(120) // 40, "n_folds": 4}, ValueError,
         "n_folds must be at most 3, the groups of X, got 4"),
        ({"groups": [1, 2]}, ValueError, "groups must have one entry for each of 120 rows"),
        ({"n_labels": 2}, ValueError, "n_labels must be more than 2, one row of each class, got 2"),
        ({"passes": 0}, ValueError, "passes must be at least 1, got 0"),
        ({"every": 0}, ValueError, "every must be at least 1, got 0"),
        ({"n_runs": 0}, ValueError, "n_runs must be at least 1, got 0"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be None, negative or at least 1, got 0"),
        ({"y": np.where(np.arange(120) == 7, "rare", "many")}, ValueError,
         "y must have rows of 'rare' in more than one fold, got 1 in one"),
        ({"y": np.arange(120) // 2}, ValueError, "X must have more rows than classes in every run"),
        ({"strategies": ["guess"]}, ValueError, "strategies must be one of 'random', 'margin'"),
        ({"strategies": "acl"}, TypeError, "strategies must be a list of names, got 'acl'"),
        ({"strategies": []}, TypeError, r"strategies must be a list of names, got \[\]"),
        ({"strategies": ["acl", "acl"]}, ValueError, r"strategies must differ, got \['acl', 'acl'"),
        ({"strategies": ["acl"], "learners": {"PA": SureClassifier("pa", scale=False)}}, ValueError,
         "strategy must be one that needs no variances, got 'acl'"),
        ({"learners": {}}, TypeError, "learners must be a dict of"),
        ({"learners": {1: SureClassifier(scale=False)}}, TypeError, "names that are str, got 1"),
        ({"learners": {"tree": DecisionTreeClassifier()}}, TypeError,
         r"learners\['tree'\] must have partial_fit"),
        ({"learners": {"text": SureTextClassifier()}}, ValueError,
         r"X must be texts for learners\['text'\], got rows of numbers"),
    ],
)  # fmt: skip
def test_what_cannot_be_simulated_is_refused(rows, change, error, says):
    X, y = rows
    given = {"X": X, "y": y, "n_folds": 2, "n_labels": 130, "random_state": 0, **change}
    with pytest.raises(error, match=says):
        simulate(**given)


def test_rows_without_any_feature_can_be_simulated(rows):
    X, y = rows
    found = simulate(sparse.csr_matrix(X.shape), y, n_labels=5, n_folds=2, random_state=0)
    assert list(found.curves) == [*PAIRS, *SURE]


def test_few_rows_to_judge_by_are_told(rows):
    X, y = rows
    with pytest.warns(
        UserWarning, match=r"Only 12 rows judge a run: accuracy moves in steps of 8"
    ) as told:
        simulate(X, y, n_labels=3, random_state=0)
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulate(X, y, n_labels=3, n_folds=6, random_state=0)


@pytest.mark.parametrize(
    ("X", "texts"),
    [
        (["a", "b"], True),
        (np.array(["a", "b"], object), True),
        (pd.Series(["a", "b"]), True),
        (pa.array(["a", "b"]), True),
        (pa.table({"a": [1.0]}), False),
        (pd.DataFrame({"a": [1.0]}), False),
        (sparse.csr_matrix([[1.0]]), False),
        (sparse.coo_array([1.0, 2.0]), False),
        ([[1.0]], False),
    ],
    ids=str,
)
def test_texts_are_one_list_of_them(X, texts):
    assert _simulate._is_texts(X) is texts
