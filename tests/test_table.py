"""Tables: their forms and their looks, whatever names they hold."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from learners.explain.test_explanation import ROW, fitted, spread
from surelearn.learners import Explanation


def table_of(**columns):
    return Explanation({name: np.asarray(column) for name, column in columns.items()})


def test_lines_are_named_tuples_of_plain_values():
    clf, X = fitted()
    for table in (clf.explain(), clf.explain(X[0], intercept=True)):
        assert len(list(table)) == len(table)
        for place, line in enumerate(table):
            assert line._fields == table.columns
            assert [type(value) for value in line] == [str, str] + [float] * (len(line) - 2)
            assert line.mean == table.mean[place]


def test_columns_in_other_forms():
    clf, X = fitted()
    table = clf.explain(X[0])
    assert list(table.to_dict()) == list(ROW)
    assert json.loads(json.dumps(table.to_dict()))["margin"] == table.margin.tolist()
    frame = table.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert tuple(frame.columns) == ROW
    assert_array_equal(frame["variance"], table.variance)


def test_pandas_is_not_needed_but_for_its_frame():
    code = """
import sys
sys.modules["pandas"] = None
from surelearn import SureClassifier
table = SureClassifier().fit([[0, 1], [1, 0]], [0, 1]).explain()
str(table), table._repr_html_(), list(table)
try:
    table.to_pandas()
except ImportError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    remedy = "Explanation.to_pandas needs pandas, got none. Run: pip install pandas"
    assert run.stdout.strip() == remedy


def test_nothing_of_it_can_be_changed():
    clf, _ = fitted()
    table = clf.explain()
    with pytest.raises(AttributeError, match="mean of an Explanation must stay as it is, got 3"):
        table.mean = 3
    with pytest.raises(AttributeError, match="mean of an Explanation must stay"):
        del table.mean
    with pytest.raises(ValueError, match="read-only"):
        table.mean[0] = 3
    before = table.to_dict()
    clf.partial_fit(*spread(seed=1))
    assert table.to_dict() == before


@pytest.mark.parametrize(
    "twin", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))]
)
def test_copies(twin):
    clf, X = fitted()
    table = clf.explain(X[0], intercept=True)
    assert twin(table).to_dict() == table.to_dict()
    assert str(twin(table)) == str(table)
    with pytest.raises(ValueError, match="read-only"):
        twin(table).mean[0] = 3


def test_text_is_aligned():
    table = table_of(
        feature=np.array(["a", "long name"], object),
        label=["no", "yes"],
        mean=[1.5, -20.25],
        probability=[0.75, 1 - 1e-9],
    )
    assert str(table).splitlines() == [
        "feature    label    mean  probability",
        "a          no        1.5       0.7500",
        "long name  yes    -20.25      >0.9999",
    ]
    assert repr(table) == str(table)


def test_long_tables_are_cut_in_the_middle():
    table = table_of(feature=[f"f{i}" for i in range(2041)], mean=np.arange(2041.0))
    lines = str(table).splitlines()
    assert len(lines) == 1 + 20 + 1 + 10
    assert lines[20].split() == ["f19", "19"]
    assert lines[21] == "... 2,011 more ..."
    assert lines[22].split() == ["f2031", "2031"]
    assert "2,011 more" in table._repr_html_()
    assert table._repr_html_().count("<tr>") == len(lines)
    whole = table_of(feature=[f"f{i}" for i in range(40)], mean=np.arange(40.0))
    assert len(str(whole).splitlines()) == 41


def test_missing_numbers_are_blank():
    clf, X = fitted()
    last = str(clf.explain(X[0], top=1)).splitlines()[-1]
    assert last.split()[0] == "(others)"
    assert len(last.split()) == 4
    assert "nan" not in last


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.words = set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.words.append(data)


@given(name=st.text(max_size=30), label=st.text(min_size=1, max_size=10))
def test_markup_in_names_is_shown_as_text(name, label):
    for word in (name, f"<script>alert('{name}')</script>", f'"><b onload="x">{name}'):
        table = table_of(feature=np.array([word], object), label=np.array([label]), mean=[1.0])
        parser = _Tags()
        parser.feed(table._repr_html_())
        assert parser.tags == {"table", "thead", "tbody", "tr", "th", "td"}
        assert len(str(table).splitlines()) == 2
        str(table).encode()


def test_names_are_seen_in_both_looks():
    table = table_of(feature=np.array(["<i>&", "two\nlines", "w" * 60], object), mean=[1.0, 2.0, 3])
    assert "&lt;i&gt;&amp;" in table._repr_html_()
    assert "<i>&" in str(table)
    assert "two\\nlines" in str(table)
    assert "w" * 39 + "…" in str(table)
    assert "w" * 40 not in str(table)
