"""The table of a search: a line for each candidate, readable and read-only."""

from __future__ import annotations

import pickle

import pytest

from surelearn import SureClassifier, tune
from tuned import problem


def test_the_table_can_be_read():
    X, y = problem(3)
    _, table = tune(SureClassifier(random_state=0), X, y, {"rule": ["arow", "pa1"]})
    lines = str(table).splitlines()
    assert lines[0].split() == list(table.columns)
    assert lines[1].startswith(str(table.parameters[0]["rule"]))
    assert f"{table.error[0]:.4f}" in lines[1]
    assert "<td>pa1</td>" in table._repr_html_()
    assert table.to_pandas().shape == (2, len(table.columns))
    assert [line.error for line in table] == table.error.tolist()
    assert repr(pickle.loads(pickle.dumps(table))) == repr(table)
    with pytest.raises(AttributeError, match="error of Standings must stay as it is"):
        table.error = 3


def test_the_winner_comes_first_and_others_by_their_error():
    X, y = problem(3)
    _, table = tune(SureClassifier(random_state=0), X, y)
    assert table.behind[0] == 0
    assert table.error[1:].tolist() == sorted(table.error[1:])
