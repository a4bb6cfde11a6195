"""Labels that a curve needs to reach a mark, and whether asking pays."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from curves import NOISE, of, rising
from surelearn.active._worth import drawn, smoothed


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


def test_the_interval_adds_the_spacing_of_tests_to_the_spread_of_runs():
    curves = {
        how: rising(slope, 60, (0.0, 0.2)) for how, slope in (("random", 0.01), ("acl", 0.03))
    }
    random, acl = of(**curves).labels_needed(0.8)
    alone = [of(**{how: curve[[run]] for how, curve in curves.items()}) for run in (0, 1)]
    ratios = np.array([list(one.labels_needed(0.8))[1].ratio for one in alone])
    spread = np.log(drawn(2) @ ratios).std()  # a draw is one of two runs
    half = 12.7062047 * np.hypot(spread, np.sqrt((1 / random.labels**2 + 1 / acl.labels**2) / 12))
    assert ratios[0] != ratios[1]
    assert [acl.low, acl.high] == pytest.approx(acl.ratio * np.exp([-half, half]))


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.5, 0.99, "worth it"),
        (0.5, 1.0, "no difference could be shown"),
        (1.0, 1.5, "no difference could be shown"),
        (1.01, 1.5, "not worth it"),
        (np.nan, np.nan, "no difference could be shown"),
    ],
)
def test_an_interval_that_holds_1_shows_no_difference(low, high, verdict):
    found = replace(of(random=rising(0.01), acl=rising(0.02)).worth(), low=low, high=high)
    assert found.verdict == verdict
    assert found.headline.endswith("could be shown") == verdict.endswith("could be shown")


@pytest.mark.parametrize(
    ("curves", "verdict", "sentence"),
    [
        ({"random": rising(0.005, shifts=NOISE), "acl": rising(0.01, shifts=NOISE)}, "worth it",
         r"To reach 90 % of its full-data accuracy, CW needs 42 labels with acl and 82 in random "
         r"order: 51 % as many \(95 % interval over 10 runs: \d+ to \d+ %\)\. Worth it\."),
        ({"random": rising(0.01, shifts=NOISE), "acl": rising(0.005, shifts=NOISE)},
         "not worth it", r": 195 % as many .*\. Not worth it\."),
        ({"random": rising(0.005, shifts=NOISE), "acl": rising(0.005, shifts=NOISE[::-1])},
         "no difference could be shown", r": 100 % as many .*\. No difference could be shown\."),
        ({"random": rising(0.0001), "acl": rising(0.0001)}, "no difference could be shown",
         r"CW did not reach 90 % of its full-data accuracy within 201 labels, neither with acl nor "
         r"in random order\. Nothing can be said\."),
        ({"random": rising(0.001), "acl": rising(0.01)}, "worth it",
         r"42 labels with acl and more than 201 in random order: less than 21 % as many "
         r"\(95 % interval over 2 runs: 19 to 23 %\)\. "),
        ({"random": rising(0.01), "acl": rising(0.001)}, "not worth it",
         r"more than 201 labels with acl and 42 in random order: more than 479 % as many"),
        ({"random": rising(0.005, shifts=[0]), "acl": rising(0.01, shifts=[0])},
         "no difference could be shown", r": 51 % as many \(one run only, so no interval\)"),
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


def test_moving_averages_run_along_the_last_axis():
    curves = np.random.default_rng(0).random((2, 3, 30))
    found = smoothed(curves)
    assert found.shape == curves.shape
    for i, j in np.ndindex(2, 3):
        alone = smoothed(curves[i, j])
        np.testing.assert_allclose(found[i, j], alone)
        for at in range(30):
            reach = min(4, at, 29 - at)
            mean = curves[i, j, at - reach : at + reach + 1].mean()
            assert alone[at] == pytest.approx(mean)
