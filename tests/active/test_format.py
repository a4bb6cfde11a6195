"""A simulation as a table and as plain values."""

from __future__ import annotations

import json

import numpy as np
import pytest

from curves import NOISE, of, rising
from surelearn.active import simulate


@pytest.fixture(scope="module")
def found():
    """Curves of two learners in four runs, on rows of two classes that overlap."""
    random = np.random.default_rng(0)
    y = np.arange(100) % 2
    X = random.normal(size=(100, 5)) + 1.2 * y[:, None]
    return simulate(X, y, n_labels=30, n_folds=4, random_state=0)


def test_the_table():
    curves = {"random": rising(0.004, shifts=NOISE), "acl": rising(0.008, shifts=-NOISE),
              "margin": rising(0.0015, shifts=NOISE)}  # fmt: skip
    assert (
        str(of(**curves))
        == """\
10 runs, 2 to 201 labels from a pool of 999 rows

learner  strategy  at 201 labels    80 % of all    90 % of all    95 % of all
CW       random     100.0+-0.0 %             77            102            115
CW       acl        100.0+-0.0 %    40: 52+-2 %    52: 51+-1 %    59: 51+-1 %
CW       margin      79.8+-0.4 %  never: >261 %  never: >197 %  never: >175 %
CW       (all)      100.0+-0.0 %

Columns: accuracy at 201 labels; then the labels needed to reach 80, 90 and
95 % of the accuracy with all labels, and that number as a percentage of what
random order needs. < and >: bounds, since one of the two did not get there.
+-: one standard error over runs."""
    )
    slow = of(random=rising(0.002, shifts=NOISE), acl=rising(0.004, shifts=NOISE))
    assert str(slow).splitlines()[4].endswith(": <57+-1 %")  # random order is not there yet


def test_a_table_of_one_run_has_no_errors():
    one, two = (str(of(random=[[0.5, 1.0]] * n, acl=[[0.5, 1.0]] * n)) for n in (1, 2))
    assert "1 run, 2 to 3 labels from a pool of 999 rows" in one
    assert "+-" not in one
    assert "+-: one standard error over runs." in two


def test_plain_values(found):
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["runs"] == 4
    assert plain["labels"] == found.labels.tolist()
    assert plain["curves"][4]["strategy"] == "acl"
    assert plain["curves"][4]["accuracy"] == found.mean["CW", "acl"].tolist()
    assert plain["all_labels"]["CW"] == found.full["CW"].mean()
    assert [line["share"] for line in plain["labels_needed"]] == [0.8] * 8 + [0.9] * 8 + [0.95] * 8
