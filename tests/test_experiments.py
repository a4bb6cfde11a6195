"""What the experiments share and what their pages show, without running any."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from surelearn import merge
from surelearn.merging import HOWS

ROOT = Path(__file__).parents[1]


@pytest.fixture
def module(monkeypatch):
    """A module of the experiments, which are no part of the package."""
    monkeypatch.syspath_prepend(str(ROOT))
    return lambda name: import_module(f"experiments.{name}")


def test_every_experiment_is_listed():
    folder = ROOT / "experiments"
    page = (folder / "README.md").read_text()
    for run in folder.glob("*/run.py"):
        assert f"({run.parent.name}/README.md)" in page


def test_the_page_of_tuning_shows_the_result(module):
    tuned = module("defaults.tuned")
    text = tuned.PAGE.read_text()
    assert tuned.renewed(text) == text, "run 'python -m experiments.defaults.tuned'"
    for one in tuned.tables.lines(tuned.RESULT):
        assert float(one["accuracy difference"]) >= -float(one["accuracy standard error"])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["docstrings", "digits", "breast cancer"])
def test_tuning_never_costs_more_than_a_standard_error(module, name):
    found = module("defaults.tuned").line(name)
    assert float(found["accuracy difference"]) >= -float(found["accuracy standard error"])
    assert float(found["log loss difference"]) <= float(found["log loss standard error"])


@pytest.mark.parametrize(
    "name",
    [
        "as_it_comes",
        "columns",
        "decide",
        "peers",
        "multiclass",
        "scale",
        "shards",
        "label",
        "tagging",
        "ranking",
        "batch",
        "many_labels",
    ],
)
def test_the_page_shows_the_result(module, name):
    page = module(f"{name}.page")
    text = page.PAGE.read_text()
    assert page.renewed(text) == text, f"run 'python -m experiments.{name}.page'"


def test_the_guide_on_costs_shows_the_result(module):
    page = module("decide.page")
    text = page.GUIDE.read_text()
    assert page.renewed(text) == text, "run 'python -m experiments.decide.page'"
    assert "| default rule, cost at prediction |" in text


def test_every_table_of_decisions_has_its_place(module):
    page = module("decide.page")
    text = page.PAGE.read_text() + page.GUIDE.read_text()
    for name in page.TABLES:
        assert text.count(f"<!-- made by {name} in experiments/decide/page.py -->") == 1, name


def test_costs_at_prediction_are_level_with_costs_in_training_or_better(module):
    """What the guide on costs concludes."""
    for line in module("tables").lines(ROOT / "experiments/decide/costs.csv"):
        more, error = float(line["more than ours"]), float(line["error"])
        if "in training" in line["who"] or "Tuned" in line["who"]:
            assert more >= -error, line


def test_no_promised_risk_is_broken_more_often_than_stated(module):
    """What the page on decisions concludes; sets with delta were judged in fewer draws."""
    for line in module("tables").lines(ROOT / "experiments/decide/promise.csv"):
        if line["broken %"]:
            allowed = 10 + 200 * np.sqrt(0.1 * 0.9 / int(line["draws"]))
            assert float(line["broken %"]) <= allowed, line


def test_sharper_log_odds_lie_between_log_odds_and_the_lead(module):
    score = module("decide.sureness").sureness
    p = np.array([[0.6, 0.3, 0.1], [0.1, 0.45, 0.45]])
    assert score(p, 1.0) == pytest.approx(np.log([0.6 / 0.4, 0.45 / 0.55]))
    assert score(p, 2.0) == pytest.approx(np.log([0.36 / 0.1, 0.45**2 / (0.45**2 + 0.01)]))
    assert score(p, 100.0) == pytest.approx([100 * np.log(2.0), 0.0])


@pytest.mark.parametrize("name", ["forms", "texts_page"])
def test_pages_of_defaults_show_the_result(module, name):
    made = module(f"defaults.{name}")
    text = made.PAGE.read_text()
    assert made.renewed(text) == text, f"run 'python -m experiments.defaults.{name}'"


def test_a_peer_that_leads_is_listed(module):
    page = module("peers.page")
    ours = {"seconds": "0.10", "processor seconds": "0.10"}
    for lead, listed in (("-0.31", True), ("-0.29", False), ("0.31", False)):
        line = {f"{page.CHOSEN}: leads by": lead, f"{page.CHOSEN}: error over rows": "0.30"}
        lines = {
            page.CHOSEN: ours,
            **{who: {**ours, **line, "seconds": "0.05"} for who in page.PEERS},
        }
        found = list(page.trailing({"a set": lines}, page.CHOSEN))
        assert len(found) == listed * len(page.PEERS)
        assert len(list(page.faster({"a set": lines}, page.CHOSEN))) == len(page.PEERS)
    assert not list(page.faster({"a set": dict.fromkeys(lines, ours)}, page.CHOSEN))


def test_a_peer_that_is_as_accurate_and_nearly_as_fast_is_listed(module):
    page = module("as_it_comes.page")
    behind = {"difference": "-0.02", "deviation": "0.01", "seconds": "0.1"}
    for difference, seconds, listed in (
        ("-0.009", "4.9", True),
        ("-0.011", "4.9", False),
        ("0.02", "5.1", False),
    ):
        level = {"difference": difference, "deviation": "0.01", "seconds": seconds}
        lines = {page.OURS: {"seconds": "1.0"}, **dict.fromkeys(page.PEERS, behind)}
        found = list(page.slow({"a set": {**lines, page.PEERS[0]: level}}))
        assert len(found) == listed


def test_a_lead_is_that_of_the_same_rows(module):
    ours, theirs = [np.array([1.0, 1.0, 0.0]), np.ones(3)], [np.array([1.0, 0.0, 0.0]), np.ones(3)]
    found = module("peers.paired").lead(ours, theirs)
    assert found.points == pytest.approx(100 / 6)
    assert found.over_rows == pytest.approx(100 * np.sqrt(1 / 6 / 6))
    assert found.over_folds == pytest.approx(100 / 6)


def test_a_table_takes_the_place_of_the_last_one(module):
    tables = module("tables")
    page = "a\n<!-- made by x -->\n\nold\n\n<!-- end -->\nb\n"
    once = tables.placed(page, "x", tables.table(("c", "d"), [("1", "2")]))
    assert once == ("a\n<!-- made by x -->\n\n| c | d |\n|---|---|\n| 1 | 2 |\n\n<!-- end -->\nb\n")
    assert tables.placed(once, "x", ["old", ""]) == page


def test_a_page_may_have_several_tables(module):
    placed = module("tables").placed
    page = "".join(f"<!-- made by {maker} -->\n\nold\n\n<!-- end -->\n" for maker in "xy")
    once = placed(page, "x", ["first", ""])
    assert once == page.replace("old", "first", 1)
    assert placed(once, "y", ["second", ""]) == once.replace("old", "second")


@pytest.fixture
def rows():
    """Three classes, with texts that occur twice."""
    random = np.random.default_rng(0)
    X = sparse.random_array((200, 30), density=0.3, rng=random, format="csr", dtype=np.float32)
    return X, random.integers(3, size=200), np.arange(200) // 2


def test_ways_that_share_sums_are_those_of_merge(module, rows):
    run = module("shards.run")
    data = run.Data(*rows)
    models = run.apart(run.ONE, 1.0, data, 10)
    assert sum(model.n_updates_ > 0 for model in models) == 10
    found = dict(run.merged(models, data.X))
    assert set(found) == set(HOWS)
    for how, labels in found.items():
        assert np.array_equal(labels, merge(models, how).predict(data.X)), how
    assert np.array_equal(found["kl"], found["weighted"])
    assert not np.array_equal(found["bayes"], found["weighted"])


def test_shards_are_disjoint_and_complete(module, rows):
    run = module("shards.run")
    X, _, groups = rows
    parts = run.apart(run.ONE, 1.0, run.Data(X, np.arange(200), groups), 7)
    assert np.concatenate([part.classes_ for part in parts]).tolist() == list(range(200))


def test_no_text_is_learnt_or_chosen_on_and_judged(module, rows):
    run = module("shards.run")
    found = list(run.splits(run.Data(*rows)))
    assert len(found) == run.SPLITS
    for split in found:
        groups = [set(part.groups.tolist()) for part in split]
        assert sum(map(len, groups)) == len(set.union(*groups)) == 100
    assert len({tuple(sorted(set(split.judge.groups))) for split in found}) == run.SPLITS


def test_the_parameter_is_chosen_without_the_judged_rows(module, rows, monkeypatch):
    """Labels of the judged rows are spoilt: only what is judged may change."""
    run = module("shards.run")
    monkeypatch.setattr(run, "SHARDS", (2, 5))
    split = next(iter(run.splits(run.Data(*rows))))
    spoilt = split._replace(judge=split.judge._replace(y=2 - split.judge.y))
    for trial in (run.ONE, run.OWN):
        found, other = (list(run.judged(trial, one)) for one in (split, spoilt))
        assert [line[:3] for line in found] == [line[:3] for line in other]
        assert [line[3] for line in found] != [line[3] for line in other]


def test_the_projection_is_that_of_its_figures(module):
    speeds = {("in order", "rows/s"): 2e6, ("two cores", "MB/s"): 80.0}
    about = "2^20 features, 2 classes"
    cost = {(about, "bytes of a leaf"): 10e6, (about, "bytes of a sum"): 25e6}
    cost[about, "seconds to add two leaves"] = 0.1
    for what in ("add two sums", "pickle a sum", "unpickle a sum"):
        cost[about, f"seconds to {what}"] = 0.04
    found = {
        what: result for what, _, result in module("shards.projection").projected(speeds, cost)
    }
    assert found["rows of a worker"] == "10,000,000"
    assert found["one pass, rows in memory"] == "5 s"
    assert found["one pass from JSON lines"] == "50 s"
    assert found["bytes in all, two at a time"] == "69.9 GB"  # 500 x 40 MB + 499 x 100 MB
    assert found["one level"] == "0.56 s"  # 100 MB / 1.25 GB + 3 x 0.16
    assert found["the tree, 10 levels"] == "5.6 s"
    assert found["no tree: one driver takes all"] == "432 s"  # 1000 x (0.032 + 0.4)


# --------------------------------------------------------------- against LogisticRegression


def test_the_page_of_the_refitted_model_shows_the_result(module):
    page = module("active.refit_page")
    text = page.PAGE.read_text()
    assert page.renewed(text) == text, "run 'python -m experiments.active.refit_page'"


def test_labels_needed_are_read_off_the_smoothed_curve(module):
    run = module("active.refit_page").Run
    curve = run(1.0, np.array([0.3, 0.9, 0.3, 0.6, 0.6, 0.6]), 0.5)
    assert curve.needed(0.6) == 30  # (0.9 + 0.3 + 0.6) / 3
    assert curve.needed(0.5) == 10  # (0.3 + 0.3 + 0.9) / 3
    assert curve.needed(0.7) == float("inf")
    assert curve.after(20) == 0.9


def test_a_target_that_is_not_reached_counts_as_the_last_label(module):
    page = module("active.refit_page")
    fast, slow = (page.Run(0.8, np.array(rise), 0.5) for rise in ([0.8] * 4, [0.1] * 4))
    late = page.Run(0.8, np.array([0.1, 0.8, 0.8, 0.8]), 0.5)
    learners = {page.POOL: [fast, late], page.REFITTED: [late, slow]}
    mean, error = page.ratio(learners, 0.9)
    assert (mean, error) == pytest.approx(((1 / 3 + 3 / 4) / 2, (3 / 4 - 1 / 3) / 2))
    assert page.lost({"a set": learners}, 0.9) == []
    swapped = {**learners, page.POOL: learners[page.REFITTED], page.REFITTED: learners[page.POOL]}
    assert page.lost({"a set": swapped}, 0.9) == ["a set"]


def test_runs_go_on_where_they_stopped(module, monkeypatch, tmp_path):
    run, sets = module("active.against_refit"), import_module("experiments.sets")
    random = np.random.default_rng(0)
    words = random.integers(20, size=(120, 6)) + 12 * (np.arange(120) % 2)[:, None]
    texts = [" ".join(f"w{word}" for word in row) for row in words]
    corpus = sets.Corpus(texts, np.array(["a", "b"] * 60))
    monkeypatch.setattr(sets, "TEXTS", {"small": lambda: corpus})
    for name, value in {"NAMES": ("small",), "RUNS": 2, "LABELS": 40, "SAME": 20,
                        "RESULT": tmp_path / "refit.csv"}.items():  # fmt: skip
        monkeypatch.setattr(run, name, value)
    run.main(["Pool"])
    before = run.RESULT.read_text()
    run.main(["Pool"])
    assert run.RESULT.read_text() == before
    run.main([])
    found = module("active.refit_page").results(run.RESULT)["small"]
    assert {learner: len(runs) for learner, runs in found.items()} == dict.fromkeys(run.LEARNERS, 2)
    for runs in found.values():
        assert [len(one.accuracy) for one in runs] == [4, 4]
        assert np.mean([one.full for one in runs]) > 0.6


def test_where_the_pool_needs_more_labels_is_said(module):
    page = module("active.refit_page")
    found = page.results()
    assert len(found) == 12
    assert page.lost(found, 0.9) == ["Sentiment140"]
    assert page.lost(found, 0.95) == ["Amazon dvd", "Sentiment140"]
    for learners in found.values():
        lead = [run.after(page.SAME) - run.same for run in learners[page.POOL]]
        assert np.mean(lead) > 0
