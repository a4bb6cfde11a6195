"""What is read off simulated curves: labels needed, the sentence, tables, files."""

from __future__ import annotations

import csv
import json
import re

import numpy as np
import pytest

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
    shifts = np.random.default_rng(0).normal(scale=0.05, size=5)
    found = of(random=rising(0.001, 800, shifts), acl=rising(0.002, 800, shifts))
    lines = {line.strategy: line for line in found.labels_needed(0.8)}
    expected = shifts.std(ddof=1) / np.sqrt(5)
    assert lines["random"].error == pytest.approx(expected / 0.001, rel=0.05)
    assert lines["acl"].error == pytest.approx(expected / 0.002, rel=0.05)
    # Both are early together, so their ratio is surer than either.
    assert lines["acl"].ratio == pytest.approx(0.5, abs=0.005)
    assert lines["acl"].ratio_error < 0.01
    assert lines["acl"].low < lines["acl"].ratio < lines["acl"].high


@pytest.mark.parametrize("n_runs", [2, 3])
def test_the_interval_holds_for_few_runs(n_runs):
    """Curves that differ by chance alone: one interval of twenty may leave 1 out."""
    random = np.random.default_rng(0)
    missed = 0
    for _ in range(200):
        found = of(**{how: rising(0.01, 60, random.normal(scale=0.05, size=n_runs))
                      for how in ("random", "acl")})  # fmt: skip
        acl = list(found.labels_needed(0.8))[1]
        missed += not acl.low <= 1 <= acl.high
    assert missed <= 20  # 10 with a standard deviation of 3; quantiles: 91 and 39


def test_one_label_less_is_no_saving():
    """All runs alike: only that labels are counted in whole numbers is left of the error."""
    found = of(random=rising(0.06, 30, (0.0,) * 5), acl=rising(0.07, 30, (0.0,) * 5))
    line = list(found.labels_needed(0.8))[1]
    assert (line.labels, line.ratio) == (7.0, 7 / 8)
    assert line.ratio_error == pytest.approx(0.0, abs=1e-15)
    half = np.sqrt((1 / 49 + 1 / 64) / 12) * 2.7764451  # t of 4 degrees of freedom
    assert [line.low, line.high] == pytest.approx([7 / 8 * np.exp(-half), 7 / 8 * np.exp(half)])
    assert line.high > 1


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
         r"Asking with acl needs less than 21 % \(19 to 23 %, 95 % interval over 2 runs\) of the "
         r"labels that random order needs to get CW to 90 % of the accuracy of learning all: "),
        ({"random": rising(0.01), "acl": rising(0.001)}, "not worth it", r"needs more than 479 %"),
        ({"random": rising(0.005, shifts=[0]), "acl": rising(0.01, shifts=[0])},
         "no difference could be shown", r"needs 51 % \(one run only, so no interval\)"),
    ],
)  # fmt: skip
def test_whether_it_is_worth_it(curves, verdict, sentence):
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
    assert lines[-1] == f"CW,all,3,75,{found.full['CW'][-1]}"
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
