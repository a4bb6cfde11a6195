"""The examples of the gallery run, draw a picture, leave nothing behind, and show what they say."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

FOLDER = Path(__file__).parents[1] / "examples"


def margin_distributions(shown):
    assert min(shown["ranking"].values()) > 0.85
    assert abs(np.subtract(*shown["ranking"].values())) < 0.02
    right = shown["right"]
    for values in shown["measures"].values():
        assert np.median(values[~right]) < 0.5 * np.median(values[right])


def calibration(shown):
    before, after = shown["found"].values()
    assert (before.conditional_error < 1 - before.mean_probability).all()
    assert distance(after) < 0.5 * distance(before)
    assert after.count.argmax() == 9
    assert (shown["clf"].predict(shown["test"]) == shown["labels"]).all()


def distance(found):
    """The mean distance of the error in a bin from what its probability says."""
    gap = np.nan_to_num(np.abs(found.conditional_error - (1 - found.mean_probability)))
    return gap @ found.count / found.count.sum()


def weight_confidence(shown):
    assert spearmanr(shown["frequency"], shown["deviation"]).statistic < -0.5
    assert shown["closer"] < shown["order"] - 0.1


def learning_curves(shown):
    display = shown["display"]
    late = display.sizes_ >= 400
    others = [display.mean(name)[late] for name in ("SGDClassifier", "Perceptron", "PA-I")]
    for name in ("Probit", "AROW"):
        assert (display.mean(name)[late] > np.max(others, axis=0)).all()
    assert others[2][-1] < min(others[0][-1], others[1][-1])
    assert shown["needed"] < 0.7 * display.sizes_[-1]


def active_learning(shown):
    display = shown["display"]
    late = display.sizes_ >= 12
    for name in ("Sure acl", "Sure margin"):
        assert (display.mean(name)[late] > display.mean("Sure random")[late]).all()
    apart = display.mean("Sure acl")[-1] - display.mean("Sure margin")[-1]
    assert abs(apart) < 0.01
    assert str(shown["found"].worth()).endswith("Worth it.")


def ellipses(shown):
    full = [display.probability() for display in shown["steps"]("full")]
    diagonal = [display.probability() for display in shown["steps"]("diagonal")]
    assert all(before < 0.9 for before, _ in full + diagonal)
    np.testing.assert_allclose([after for _, after in full], 0.9, atol=1e-6)
    assert all(before < after < 0.9 - 1e-3 for before, after in diagonal)


def drift(shown):
    probit, scw, pa, restarted = shown["curves"].values()
    first, second = shown["first"], shown["second"]
    assert max(probit[first].mean(), scw[first].mean()) < 0.5 * pa[first].mean()
    assert scw[-5:].mean() > 0.4
    assert probit[second][1:6].mean() > 0.4
    assert 0.15 < probit[-5:].mean() < 0.35
    assert pa[second][1:6].mean() < 0.25
    assert restarted[second].mean() < 0.5 * min(probit[second].mean(), pa[second].mean()) + 0.02


def tagger_confidence(shown):
    shares = shown["shares"]
    assert shares[-1] > 98
    assert 35 < shares[0] < 65
    assert (np.diff(shares) > -3).all()
    assert shown["counts"].sum() == len(shown["right"])
    assert (~shown["correct"]).sum() == 2


def which_multiclass(shown):
    accuracy = {name: values[:, 0].mean() for name, values in shown["found"].items()}
    time = {name: np.median(values[:, 1]) for name, values in shown["found"].items()}
    assert max(accuracy, key=accuracy.get) == "all pairs"
    assert min(accuracy, key=accuracy.get) == max(time, key=time.get) == "code"


def tree(shown):
    bare, joined = (np.concatenate(found).mean() for found in shown["right"].values())
    assert joined > bare + 0.03
    in_fact, without, with_edges = map(
        shown["followed"], (shown["y_test"], *shown["labels"].values())
    )
    assert max(in_fact, with_edges) < 0.05 < 0.3 < without


def grid(shown):
    rows, truth = shown["rows"], shown["truth"]
    noisy, bare, joined, _ = (np.mean(pixels == truth) for pixels in rows.values())
    assert noisy + 0.02 < bare < joined - 0.015
    corners = [0, 7, 56, 63]
    wrong = {name: (pixels[5] != truth[5])[corners].sum() for name, pixels in rows.items()}
    assert wrong["without edges"] > wrong["with edges"] == 0


def kernel_boundary(shown):
    assert shown["right"] > 0.95
    assert shown["size"] < 0.01  # the corner, which comes last
    assert shown["spread"] == pytest.approx(shown["deviation"].max(), rel=1e-3)
    assert shown["deviation"].min() < 0.5 * shown["spread"]


def merge(shown):
    merged, uniform, alone = (np.array(values) for values in shown["found"].values())
    assert (merged > shown["whole"] - 0.03).all()
    assert (np.diff(uniform) < 0).all()
    assert (np.diff(alone) < 0).all()
    assert (np.diff(uniform, 2) < 0).all()
    assert (alone < uniform).all()


def table_columns(shown):
    weights = shown["weights"]
    assert weights["title: serviced"][0] > 1 > -1 > weights["title: rust"][0]
    assert weights["brand=Alba"][0] > weights["brand=Cima"][0] > weights["brand=Esker"][0]
    assert shown["rare"] > 3 * shown["common"]
    assert max(weights, key=lambda name: weights[name][1]) == "brand=Fado"
    assert sum(shown["sizes"]) == sum(name.split(" ")[-1][:7] != "weekday" for name in weights) - 1


def abstention(shown):
    answered, wrong = shown["answered"], shown["wrong"]
    assert 0.85 < answered.mean() < 1
    assert wrong[answered].mean() < shown["clf"].risk_bound_ <= 0.03 < wrong.mean()
    assert wrong[~answered].mean() > 0.5
    assert shown["held"].mean() > 0.98
    sizes = np.array([len(labels) for labels in shown["sets"]])
    assert sizes[~answered].mean() > 2 * sizes[answered].mean()
    assert set(shown["display"].certified_) == {"surelearn"}


FINDINGS = [
    margin_distributions, calibration, weight_confidence, learning_curves, active_learning,
    ellipses, drift, tagger_confidence, which_multiclass, tree, grid, kernel_boundary, merge,
    table_columns, abstention,
]  # fmt: skip


def test_every_example_has_its_finding():
    files = {path.stem.removeprefix("plot_") for path in FOLDER.glob("plot_*.py")}
    assert files == {finding.__name__ for finding in FINDINGS}


@pytest.fixture
def plt(monkeypatch, tmp_path):
    """pyplot without windows, in an empty folder and without the real data sets."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    pyplot.close("all")  # what other tests left open
    monkeypatch.delenv("SURELEARN_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    yield pyplot
    pyplot.close("all")


@pytest.mark.slow
@pytest.mark.parametrize("finding", FINDINGS, ids=lambda finding: finding.__name__)
def test_an_example_draws_what_it_says(finding, plt, tmp_path):
    around, settings = set(FOLDER.iterdir()), dict(plt.rcParams)
    shown = runpy.run_path(str(FOLDER / f"plot_{finding.__name__}.py"))
    finding(shown)
    (number,) = plt.get_fignums()
    figure = plt.figure(number)
    assert figure.axes
    figure.canvas.draw()
    assert figure.get_size_inches()[0] <= 9  # readable in a column of 700 pixels
    assert not list(tmp_path.iterdir())
    assert set(FOLDER.iterdir()) == around
    assert dict(plt.rcParams) == settings
