"""Averaging, TF-IDF and unbalanced labels change rows as they say, and claims flip with errors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from experiments.papers.variance import variants
from experiments.sets import Rows


@pytest.fixture
def rows():
    """Two tasks on which nothing helps, and Variance is ahead."""
    plain = {"PA": 10.0, "Variance": 8.0, "SVM": 9.0, "Maxent": 9.0}
    change = {
        variants.PLAIN: 0.0,
        variants.AVERAGED: 1.0,
        variants.TFIDF: 2.0,
        variants.UNBALANCED: -3.0,
    }
    return [
        {"task": task, "learner": learner, "variant": variant, "error": error + more}
        for task in ("talk", "books")
        for learner, error in plain.items()
        for variant, more in change.items()
        if learner in variants.ONLINE or variant != variants.AVERAGED
    ]


def test_claims_hold_where_nothing_helps_and_fall_where_it_does(rows):
    claims = variants.claims(rows)
    assert [claim.verdict for claim in claims] == ["held"] * 7
    assert claims[-1].ours == "5.00 % against 7.00 %"
    better = [{**row, "error": -row["error"]} for row in rows]
    assert [claim.verdict for claim in variants.claims(better)] == ["did not hold"] * 7


def test_the_table_has_errors_and_changes(rows):
    (lines,) = variants.tables(rows).values()
    assert lines[0]["change, averaged"] == "1.00 ± 0.00"
    assert lines[2]["change, averaged"] == ""
    assert lines[3]["TF-IDF"] == "11.00"
    assert lines[1]["unbalanced labels"] == "5.00"


def test_variants_change_values_or_drop_positive_rows():
    random = np.random.default_rng(0)
    X = sparse.random_array((400, 30), density=0.3, rng=random, format="csr", dtype=np.float32)
    data = Rows(X, np.arange(400) % 2 == 0, np.arange(400))
    fewer = variants.changed(variants.UNBALANCED, data)
    assert (~fewer.y).sum() == 200
    assert 30 < fewer.y.sum() < 70
    assert fewer.X.shape[0] == len(fewer.y) == len(fewer.groups)
    weighed = variants.changed(variants.TFIDF, data)
    lengths = sparse.linalg.norm(weighed.X, axis=1)
    assert np.ptp(lengths[lengths > 0]) < 1e-4
    assert np.mean(lengths**2) == pytest.approx(X.multiply(X).sum() / 400, rel=0.02)
    assert variants.changed(variants.AVERAGED, data) is data


def test_only_online_learners_are_averaged():
    names = list(variants.cases(True))
    assert "talk, PA, averaged" in names
    assert "talk, SVM, averaged" not in names
    assert len(names) == 3 * 14
