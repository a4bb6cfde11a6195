"""Table 1 names what is rebuilt and what is not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from experiments.papers.multiclass import table1
from experiments.papers.multiclass.tasks import Task

ROWS = [
    {"task": "20 Newsgroups", "counts": [18828, 170826, 20, "Y"]},
    {"task": "Amazon 10", "counts": [3000, 20000, 10, "Y"]},
]


def test_counts_stand_beside_those_of_the_paper():
    lines = {line["task"]: line for line in table1.tables(ROWS)["Data sets"]}
    assert set(table1.PAPER) < set(lines)
    assert lines["NYTD"]["about"] == lines["Enron B"]["about"] == "not rebuilt"
    assert lines["20 Newsgroups"]["features, paper"] == "252,115"
    assert lines["20 Newsgroups"]["features, ours"] == "170,826"
    assert lines["Amazon 10"]["about"] == "stands in for Enron B"


def test_another_number_of_messages_speaks_against_the_claim():
    assert [claim.verdict for claim in table1.claims(ROWS)] == ["held"]
    fewer = [{"task": "20 Newsgroups", "counts": [18827, 170826, 20, "Y"]}]
    assert [claim.verdict for claim in table1.claims(fewer)] == ["did not hold"]


@pytest.mark.parametrize(("largest", "balanced"), [(19, "Y"), (20, "N")])
def test_classes_are_balanced_if_none_is_twice_another(monkeypatch, largest, balanced):
    y = np.repeat(["a", "b"], (10, largest))
    task = Task(sparse.csr_matrix((len(y), 7)), y, np.arange(len(y)))
    monkeypatch.setattr(table1, "load", lambda name, quick: task)
    (row,) = table1.cases(True)["20 Newsgroups"]()
    assert row["counts"] == [10 + largest, 7, 2, balanced]
