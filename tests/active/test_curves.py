"""What is read off simulated curves: labels needed, the sentence, tables, files."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from curves import of
from surelearn import FormatError
from surelearn.active import Simulation, simulate


@pytest.fixture(scope="module")
def found():
    """Curves of two learners in four runs, on rows of two classes that overlap."""
    random = np.random.default_rng(0)
    y = np.arange(100) % 2
    X = random.normal(size=(100, 5)) + 1.2 * y[:, None]
    return simulate(X, y, n_labels=30, n_folds=4, random_state=0)


def same(one, other):
    assert list(one.curves) == list(other.curves)
    assert one.labels.tolist() == other.labels.tolist()
    assert one.pool.tolist() == other.pool.tolist()
    for pair in one.curves:
        assert one.curves[pair].tolist() == other.curves[pair].tolist()
    for name in one.full:
        assert one.full[name].tolist() == other.full[name].tolist()


# ---------------------------------------------------------------------- labels needed


def test_mean_and_error():
    found = of(random=[[0.5, 0.7], [0.5, 0.9], [0.5, 0.8]])
    assert found.mean["CW", "random"] == pytest.approx([0.5, 0.8])
    assert found.error["CW", "random"] == pytest.approx([0.0, 0.1 / np.sqrt(3)])
    assert np.isnan(of(random=[[0.5]]).error["CW", "random"]).all()


@pytest.mark.parametrize("share", [0.0, 1.1, np.nan])
def test_shares_are_shares(share):
    with pytest.raises(ValueError, match=r"share must be in \(0, 1\]"):
        of(random=[[0.5]]).labels_needed(share)


# ------------------------------------------------------------------- tables and files


def test_csv_gives_the_same_curves_back(found, tmp_path):
    found.to_csv(tmp_path / "curves.csv")
    lines = (tmp_path / "curves.csv").read_text().splitlines()
    assert lines[0] == "learner,strategy,run,labels,accuracy"
    assert lines[1] == f"PA,random,0,2,{found.curves['PA', 'random'][0, 0]}"
    assert lines[-1] == f"Sure,all,3,75,{found.full['Sure'][-1]}"
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
        ("{head}CW,random,0,2,1.5\nCW,all,0,9,1\n", r"curves must be in \[0, 1\], got 1.5"),
        ("{head}CW,random,0,2,0.5\nCW,all,0,9,1\nCW,all,0,9,1\n", "must hold whole curves"),
        ("{head}CW,random,1,2,0.5\nCW,all,1,9,1\n", "the runs of CW random must be 0 to 0, got 1"),
        ("{head}CW,random,0," + "9" * 400 + ",0.5\nCW,all,0,9,1\n", "must hold whole curves"),
        ("{head}CW,random,0,2," + "9" * 200_000 + "\n", "field larger"),
    ],
)
def test_files_that_are_no_curves_are_refused(text, says, tmp_path, request):
    usual = csv.field_size_limit(131_072)  # one for all of the process, which others may change
    request.addfinalizer(lambda: csv.field_size_limit(usual))
    path = tmp_path / "bad.csv"
    path.write_text(text.format(head="learner,strategy,run,labels,accuracy\n"))
    with pytest.raises(FormatError, match=says):
        Simulation.from_csv(path)


def test_bytes_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "bad.csv").write_bytes(b"\x89PNG")
    with pytest.raises(FormatError, match="must hold whole curves"):
        Simulation.from_csv(tmp_path / "bad.csv")


def test_runs_are_paired_by_their_numbers(found, tmp_path):
    """Ratios compare the same run of two strategies, wherever its lines stand."""
    found.to_csv(tmp_path / "curves.csv")
    head, *lines = (tmp_path / "curves.csv").read_text().splitlines()
    lines.sort(key=lambda line: -int(line.split(",")[2]) if line.startswith("CW,acl") else 0)
    (tmp_path / "curves.csv").write_text("\n".join([head, *lines]))
    read = Simulation.from_csv(tmp_path / "curves.csv")
    assert read.curves["CW", "acl"].tolist() == found.curves["CW", "acl"].tolist()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"curves": {}}, "curves must have at least one run and one test"),
        ({"labels": [2, 2]}, r"labels must be positive and increasing, got \[2, 2\]"),
        ({"labels": [0, 1]}, r"labels must be positive and increasing, got \[0, 1\]"),
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
