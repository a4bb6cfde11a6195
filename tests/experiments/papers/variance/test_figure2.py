"""Figure 2: shards are disjoint, every way is judged, and claims flip with the rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from experiments.papers.variance import figure2, large
from experiments.papers.variance.large import REUTERS, SENTIMENT, Part

WAYS = {"average": 70.0, "best shard": 75.0, "uniform": 80.0, "weighted": 80.1}


def _rows(single):
    """Three runs of both sets; the ways of the paper and ours, and single models as given."""
    found = []
    for run in range(3):
        for name, models in single.items():
            size = {"set": name, "run": run, "rows": 1000, "features": 360}
            found += [
                {**size, "shards": 1, "way": way, "accuracy": accuracy + 0.1 * run}
                for way, accuracy in models.items()
            ]
            ways = WAYS | dict.fromkeys(("kl", "bayes", "evidence"), 80.1)
            if name == SENTIMENT:
                ways["weighted"] = 81.0
            found += [
                {**size, "shards": n, "way": way, "accuracy": accuracy + 0.1 * run, "loss": 0.5}
                for n in (10, 50)
                for way, accuracy in ways.items()
            ]
    return found


@pytest.fixture
def rows():
    """As the paper has it."""
    return _rows({REUTERS: {"PA": 79, "Variance": 78}, SENTIMENT: {"PA": 80, "Variance": 82}})


def test_all_claims_hold_where_rows_are_as_in_the_paper(rows):
    claims = figure2.claims(rows)
    assert [claim.verdict for claim in claims] == ["held"] * 8
    assert claims[0].ours == "79.10 % against 78.10 %"
    assert claims[4].ours == "in 8 of 8; least +10.00 points, uniform of 10, Reuters"
    assert claims[0].note.endswith("the stand-in has 0.4.")


def test_claims_fall_where_single_models_and_ways_change_places():
    rows = _rows({REUTERS: {"PA": 78, "Variance": 81}, SENTIMENT: {"PA": 82, "Variance": 60}})
    ways = {
        "average": "weighted",
        "weighted": "average",
        "uniform": "best shard",
        "best shard": "uniform",
    }
    swapped = [{**row, "way": ways.get(row["way"], row["way"])} for row in rows]
    verdicts = [claim.verdict for claim in figure2.claims(swapped)]
    assert verdicts == ["did not hold"] * 8


def test_tables_have_every_way(rows):
    accuracy, loss = figure2.tables(rows).values()
    assert [(line["set"], line["shards"]) for line in accuracy] == [
        (name, n) for name in (REUTERS, SENTIMENT) for n in (10, 50)
    ]
    assert accuracy[0]["single PA"] == "79.10 ± 0.06"
    assert accuracy[0]["best shard"] == "75.10 ± 0.06"
    assert loss[0]["kl"] == "0.50 ± 0.00"


def test_the_picture_is_written(rows, tmp_path):
    figure2.draw(rows, tmp_path)
    assert (tmp_path / "figure2.png").stat().st_size > 10_000


def test_models_of_shards_are_merged_in_every_way(monkeypatch):
    monkeypatch.setattr(large, "CHOICE", (200, 400))
    random = np.random.default_rng(0)
    X = sparse.random_array((900, 50), density=0.2, rng=random, format="csr", dtype=np.float32)
    data = Part(X, X @ random.normal(size=50) > 0)
    learn, judge = data.taken(slice(700)), data.taken(slice(700, None))
    found = figure2.judged(learn, judge, [5])
    by_way = {(row["shards"], row["way"]): row for row in found}
    assert set(by_way) == {(1, "PA"), (1, "Variance")} | {
        (5, way) for way in ("average", "best shard", *figure2.WAYS)
    }
    assert by_way[5, "best shard"]["accuracy"] >= by_way[5, "average"]["accuracy"] > 50
    assert by_way[5, "kl"]["accuracy"] == by_way[5, "weighted"]["accuracy"]
    assert by_way[5, "kl"]["loss"] != by_way[5, "weighted"]["loss"]


def test_cases_are_runs_of_both_sets():
    assert len(figure2.cases(False)) == 16
    assert list(figure2.cases(True))[:2] == ["Reuters, run 0", "Reuters, run 1"]
