"""`simulate` is the loop of the paper, and what it says of curves is what they show."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import SGDClassifier
from sklearn.tree import DecisionTreeClassifier

from reference import simulation as reference
from surelearn import FormatError, SureClassifier, SureTextClassifier, rules
from surelearn.active import Simulation, _simulate, simulate

PAIRS = [("PA", "random"), ("PA", "margin"), ("CW", "random"), ("CW", "margin"), ("CW", "acl")]


def exact(**options):
    """The paper's learners in double precision."""
    return {
        "PA": SureClassifier(rules.PA1(C=1.0), dtype="float64", **options),
        "CW": SureClassifier(rules.Variance(phi=1.0), dtype="float64", **options),
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
    return simulate(*rows, learners=exact(), n_labels=60, n_folds=4, random_state=3, n_jobs=1)


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
    assert list(default.curves) == PAIRS
    assert default.labels.tolist() == [2, 3, 4, 5]


def test_default_learners_are_those_of_the_paper(rows):
    named = {"PA": SureClassifier(rules.PA1(C=1.0)), "CW": SureClassifier(rules.Variance(phi=1.0))}
    options = {"n_labels": 40, "n_folds": 3, "random_state": 0}
    same(simulate(*rows, **options), simulate(*rows, learners=named, **options))


def same(one, other):
    assert list(one.curves) == list(other.curves)
    assert one.labels.tolist() == other.labels.tolist()
    assert one.pool.tolist() == other.pool.tolist()
    for pair in one.curves:
        assert one.curves[pair].tolist() == other.curves[pair].tolist()
    for name in one.full:
        assert one.full[name].tolist() == other.full[name].tolist()


# ------------------------------------------------------------------- what is handed in


def test_the_same_seed_the_same_curves_for_any_number_of_threads(rows, found):
    options = {"learners": exact(), "n_labels": 60, "n_folds": 4}
    for n_jobs in (None, 3):
        same(simulate(*rows, random_state=3, n_jobs=n_jobs, **options), found)
    other = simulate(*rows, random_state=4, **options)
    assert any((other.curves[pair] != found.curves[pair]).any() for pair in PAIRS)


def test_kinds_of_rows(rows, found):
    X, y = rows
    dense = X.toarray()
    wide = sparse.hstack([sparse.csr_matrix((120, 7)), X]).tocsr()  # columns without any number
    options = {"n_labels": 15, "n_folds": 4, "random_state": 3}
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
    hashed = SureTextClassifier(keep_names=False).fit(X, y).vectorizer_.transform(X)
    expected = simulate(hashed, y, **options)
    same(simulate(X, y, **options), expected)
    same(simulate(pd.Series(X), y, **options), expected)
    own = {
        "PA": SureTextClassifier(rules.PA1(C=1.0)),
        "CW": SureTextClassifier(rules.Variance(phi=1.0)),
    }
    same(simulate(X, y, learners=own, **options), expected)
    own["CW"].set_params(norm=None)
    other = simulate(X, y, learners=own, **options)
    assert (other.curves["PA", "margin"] == expected.curves["PA", "margin"]).all()
    assert (other.curves["CW", "acl"] != expected.curves["CW", "acl"]).any()


def test_texts_are_hashed_once(texts, monkeypatch):
    calls = []
    read = SureTextClassifier._validated
    monkeypatch.setattr(
        SureTextClassifier, "_validated", lambda *a, **k: calls.append(1) or read(*a, **k)
    )
    simulate(*texts, n_labels=5, n_folds=4, random_state=0)
    assert len(calls) == 1


def test_learners_of_scikit_learn(rows):
    options = {"n_labels": 30, "n_folds": 4, "n_jobs": 2, "random_state": 0}
    learners = {"SGD": SGDClassifier(), **exact()}
    found = simulate(*rows, learners=learners, **options)
    assert list(found.curves) == [("SGD", "random"), ("SGD", "margin"), *PAIRS]
    same(simulate(*rows, learners=learners, **options), found)  # SGD draws what the seed decides
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
                                  ("CW", "acl")]  # fmt: skip


def test_every_so_many_labels(rows, found):
    some = simulate(*rows, learners=exact(), n_labels=60, n_folds=4, every=7, random_state=3)
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
    total = 3 * (5 + 2)  # five curves and two learners of all labels
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
    twins = {name: SureClassifier(rules.PA1(C=1.0)) for name in "ab"}
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
        ({"every": 0}, ValueError, "every must be at least 1, got 0"),
        ({"n_runs": 0}, ValueError, "n_runs must be at least 1, got 0"),
        ({"n_jobs": 0}, ValueError, "n_jobs must be None, -1 or at least 1, got 0"),
        ({"y": np.where(np.arange(120) == 7, "rare", "many")}, ValueError,
         "y must have rows of 'rare' in more than one fold, got 1 in one"),
        ({"y": np.arange(120) // 2}, ValueError, "X must have more rows than classes in every run"),
        ({"strategies": ["guess"]}, ValueError, "strategy must be one of 'random', 'margin'"),
        ({"strategies": "acl"}, TypeError, "strategies must be a list of names, got 'acl'"),
        ({"strategies": []}, TypeError, r"strategies must be a list of names, got \[\]"),
        ({"strategies": ["acl"], "learners": {"PA": SureClassifier("pa")}}, ValueError,
         "strategy must be one that needs no variances, got 'acl'"),
        ({"learners": {}}, TypeError, "learners must be a dict of"),
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


def test_few_rows_to_judge_by_are_told(rows):
    X, y = rows
    with pytest.warns(UserWarning, match=r"Only 12 rows judge a run: accuracy moves in steps of 8"):
        simulate(X, y, n_labels=3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulate(X, y, n_labels=3, n_folds=6, random_state=0)


# ---------------------------------------------------------------------- labels needed


def of(**curves):
    """A simulation of CW with these curves, tested at 2, 3, ... labels; all labels give 1."""
    made = {("CW", name): np.atleast_2d(curve) for name, curve in curves.items()}
    n_runs, n_points = next(iter(made.values())).shape
    return Simulation(range(2, 2 + n_points), made, {"CW": np.ones(n_runs)}, pool=[999] * n_runs)


def rising(slope, n_points=200, shifts=(0.0, 0.0)):
    """A line from 0.5 to at most 1 in several runs."""
    return np.array([np.clip(0.5 + slope * np.arange(n_points) + s, 0, 1) for s in shifts])


def test_labels_needed_are_read_off_the_mean():
    found = of(random=rising(0.005), acl=rising(0.01), margin=rising(0.001))
    lines = {line.strategy: line for line in found.labels_needed(0.8)}
    assert {name: line.labels for name, line in lines.items()} == {
        "random": 62.0, "acl": 32.0, "margin": np.inf}  # fmt: skip
    assert lines["acl"].ratio == 32 / 62
    assert lines["margin"].ratio == 201 / 62  # as if reached with the last label
    assert lines["acl"].mark == 0.8
    assert [lines["acl"].error, lines["acl"].ratio_error] == pytest.approx([0.0, 0.0], abs=1e-15)
    assert np.isnan(lines["margin"].error)
    against = {line.strategy: line for line in found.labels_needed(0.8, against="acl")}
    assert against["random"].ratio == 62 / 32


def test_one_lucky_test_does_not_count():
    curve = np.full((1, 100), 0.6)
    curve[:, 60:] = 0.9
    spoilt = curve.copy()
    spoilt[:, 20] = 1.0
    labels = [of(random=one).labels_needed(0.8).labels.tolist() for one in (curve, spoilt)]
    assert labels == [[63.0], [63.0]]  # seven of nine tests at 0.9 are needed for a mean of 0.8


def test_a_start_that_is_enough_needs_no_more():
    assert of(random=[[0.9, 0.5, 0.9, 0.9]]).labels_needed(0.8).labels.tolist() == [2.0]


def test_errors_are_those_of_the_mean_over_runs():
    """Lines that are shifted from run to run cross the mark earlier by the mean shift."""
    shifts = np.random.default_rng(0).normal(scale=0.05, size=12)
    found = of(random=rising(0.001, 800, shifts), acl=rising(0.002, 800, shifts))
    lines = {line.strategy: line for line in found.labels_needed(0.8)}
    expected = shifts.std(ddof=1) / np.sqrt(12)
    assert lines["random"].error == pytest.approx(expected / 0.001, rel=0.05)
    assert lines["acl"].error == pytest.approx(expected / 0.002, rel=0.05)
    # Both are early together, so their ratio is surer than either.
    assert lines["acl"].ratio == pytest.approx(0.5, abs=0.005)
    assert lines["acl"].ratio_error < 0.01
    assert lines["acl"].low < lines["acl"].ratio < lines["acl"].high


def test_mean_and_error():
    found = of(random=[[0.5, 0.7], [0.5, 0.9], [0.5, 0.8]])
    assert found.mean["CW", "random"] == pytest.approx([0.5, 0.8])
    assert found.error["CW", "random"] == pytest.approx([0.0, 0.1 / np.sqrt(3)])
    assert np.isnan(of(random=[[0.5]]).error["CW", "random"]).all()


@pytest.mark.parametrize("share", [0.0, 1.1, np.nan])
def test_shares_are_shares(share):
    with pytest.raises(ValueError, match=r"share must be in \(0, 1\]"):
        of(random=[[0.5]]).labels_needed(share)


# ------------------------------------------------------------------------------ worth


NOISE = np.linspace(-0.02, 0.02, 10)


@pytest.mark.parametrize(
    ("curves", "verdict", "sentence"),
    [
        ({"random": rising(0.005, shifts=NOISE), "acl": rising(0.01, shifts=NOISE)}, "worth it",
         r"Asking with acl needs 51 % \(\d+ to \d+ %, 95 % interval over 10 runs\) of the labels "
         r"that random order needs to get CW to 90 % of the accuracy of learning all "
         r"\(42 against 82\): worth it\."),
        ({"random": rising(0.01, shifts=NOISE), "acl": rising(0.005, shifts=NOISE)},
         "not worth it", r"Asking with acl needs 195 % .*: not worth it\."),
        ({"random": rising(0.005, shifts=NOISE), "acl": rising(0.005, shifts=NOISE[::-1])},
         "no difference could be shown", r"needs 100 % .*: no difference could be shown\."),
        ({"random": rising(0.0001), "acl": rising(0.0001)}, "no difference could be shown",
         r"Neither acl nor random order got CW to 90 % of the accuracy of learning all within 201 "
         r"labels: nothing can be said\."),
        ({"random": rising(0.001), "acl": rising(0.01)}, "worth it",
         r"Asking with acl needs less than 21 % \(21 to 21 %, 95 % interval over 2 runs\) of the "
         r"labels that random order needs to get CW to 90 % of the accuracy of learning all: "),
        ({"random": rising(0.01), "acl": rising(0.001)}, "not worth it", r"needs more than 479 %"),
        ({"random": rising(0.005, shifts=[0]), "acl": rising(0.01, shifts=[0])},
         "no difference could be shown", r"needs 51 % \(one run only, so no interval\)"),
    ],
)  # fmt: skip
def test_whether_it_is_worth_it(curves, verdict, sentence):
    import re

    found = of(**curves).worth()
    assert found.verdict == verdict
    assert re.search(sentence, str(found)), str(found)
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["sentence"] == str(found)


def test_what_is_judged_is_fixed_beforehand():
    curves = {"random": rising(0.005), "margin": rising(0.02), "acl": rising(0.01)}
    assert of(**curves).worth().strategy == "acl"  # and not margin, which is better
    assert of(**curves).worth(strategy="margin").strategy == "margin"
    del curves["acl"]
    assert of(**curves).worth().strategy == "margin"


def test_worth_needs_random_order():
    with pytest.raises(ValueError, match="worth needs curves of CW with 'random', got only CW acl"):
        of(acl=[[0.5]]).worth()
    with pytest.raises(ValueError, match="worth needs a strategy other than 'random', got none"):
        of(random=[[0.5]]).worth()
    with pytest.raises(ValueError, match="worth needs curves of PA with 'acl'"):
        of(random=[[0.5]], acl=[[0.5]]).worth(learner="PA")


# ------------------------------------------------------------------- tables and files


def test_csv_gives_the_same_curves_back(found, tmp_path):
    found.to_csv(tmp_path / "curves.csv")
    lines = (tmp_path / "curves.csv").read_text().splitlines()
    assert lines[0] == "learner,strategy,run,labels,accuracy"
    assert lines[1] == f"PA,random,0,2,{found.curves['PA', 'random'][0, 0]}"
    assert lines[-1] == f"CW,all,3,90,{found.full['CW'][-1]}"
    same(Simulation.from_csv(tmp_path / "curves.csv"), found)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "must have the columns learner, strategy, run, labels, accuracy, got "),
        ("a,b\n", "got a, b"),
        ("CW,random,0,2,0.5\n", "must have the columns"),
        ("{head}CW,random,0,2\n", "must hold whole curves"),
        ("{head}CW,random,0,2,good\n", "must hold whole curves"),
        ("{head}CW,random,0,2,0.5\n", "must hold whole curves"),
        ("{head}CW,random,0,2,0.5\nCW,random,1,3,0.5\nCW,all,0,9,1\n", "same numbers of labels"),
        ("{head}CW,random,0,2,0.5\nCW,all,0,9,1\nCW,all,1,9,1\n", "must have shape"),
        ("{head}CW,random,0,2,0.5\nPA,all,0,9,1\n", "full must have an entry for 'CW'"),
        ("{head}CW,random,0,2,nan\nCW,all,0,9,1\n", "curves must be finite"),
    ],
)
def test_files_that_are_no_curves_are_refused(text, says, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text(text.format(head="learner,strategy,run,labels,accuracy\n"))
    with pytest.raises(FormatError, match=says):
        Simulation.from_csv(path)


def test_the_table():
    curves = {"random": rising(0.004, shifts=NOISE), "acl": rising(0.008, shifts=-NOISE),
              "margin": rising(0.0015, shifts=NOISE)}  # fmt: skip
    assert (
        str(of(**curves))
        == """\
10 runs, 2 to 201 labels of 999 that could be asked for

learner  strategy  at 201 labels    80 % of all    90 % of all    95 % of all
CW       random     100.0+-0.0 %             77            102            115
CW       acl        100.0+-0.0 %    40: 52+-2 %    52: 51+-1 %    59: 51+-1 %
CW       margin      79.8+-0.4 %  never: >261 %  never: >197 %  never: >175 %
CW       (all)      100.0+-0.0 %

Accuracy; labels needed for a share of that of learning all labels: in per cent
of what random order needs. +-: one standard error over runs."""
    )
    slow = of(random=rising(0.002, shifts=NOISE), acl=rising(0.004, shifts=NOISE))
    assert str(slow).splitlines()[4].endswith(": <57+-1 %")  # random order is not there yet


def test_a_table_of_one_run():
    text = str(of(random=[[0.5, 1.0]], acl=[[0.5, 1.0]]))
    assert "1 run, 2 to 3 labels of 999" in text
    assert "+-" not in text


def test_plain_values(found):
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["runs"] == 4
    assert plain["labels"] == found.labels.tolist()
    assert plain["curves"][4]["strategy"] == "acl"
    assert plain["curves"][4]["accuracy"] == found.mean["CW", "acl"].tolist()
    assert plain["all_labels"]["CW"] == found.full["CW"].mean()
    assert [line["share"] for line in plain["labels_needed"]] == [0.8] * 5 + [0.9] * 5 + [0.95] * 5


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"curves": {}}, "curves must have at least one run and one test"),
        ({"labels": [2, 2]}, r"labels must be increasing, got \[2, 2\]"),
        ({"curves": {("CW", "acl"): [[0.5]]}}, r"must have shape \(1, 2\), got \(1, 1\)"),
        ({"full": {"PA": [1.0]}}, "full must have an entry for 'CW'"),
        ({"full": {"CW": [1.0, 1.0]}}, r"full\['CW'\] must have shape \(1,\), got \(2,\)"),
    ],
)
def test_curves_that_do_not_fit_are_refused(change, says):
    given = {"labels": [2, 3], "curves": {("CW", "acl"): [[0.5, 0.6]]}, "full": {"CW": [1.0]},
             "pool": [9], **change}  # fmt: skip
    with pytest.raises(ValueError, match=says):
        Simulation(**given)
