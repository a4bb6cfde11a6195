"""Lemma 3 holds for Stdev; a run that differs speaks against it."""

from __future__ import annotations

import pytest

from experiments.papers.stdev import lemma3


@pytest.fixture(scope="module")
def rows():
    return [row for name in lemma3.LEARNERS for row in lemma3._run(name, 7.0, 2)]


def test_the_lemma_holds_for_stdev_and_not_for_variance(rows):
    assert [claim.verdict for claim in lemma3.claims(rows)] == ["held", "held"]
    assert "in 4 of 4 runs" in lemma3.claims(rows)[0].note


def test_claims_turn_with_the_rows(rows):
    other = [{**row, "learner": "Stdev"} for row in rows]
    assert [claim.verdict for claim in lemma3.claims(other)] == ["did not hold"] * 2


def test_the_table_counts_runs_that_differ(rows):
    (lines,) = lemma3.tables(rows).values()
    assert [line["runs with other mistakes"] for line in lines] == [0, 0, 0, 2, 2]
    assert {line["a"] for line in lines} == {"7"}


def test_all_learners_are_run_with_all_variances():
    assert len(lemma3.cases(True)) == len(lemma3.LEARNERS) * len(lemma3.VARIANCES)
