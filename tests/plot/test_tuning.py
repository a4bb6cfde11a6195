"""The picture of a search shows what is in its table."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from surelearn import SureClassifier, rules, tune
from surelearn.plot import TuningDisplay


def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)).astype(np.float32)
    y = (X[:, 0] + 0.3 * rng.normal(size=200) > 0).astype(int)
    X *= np.float32(1e19)  # too much for a bold rule
    good = [{"rule": rule} for rule in ("pa1", "pa2", "perceptron")]
    bad = {"rule": rules.AROW(r=1e-10), "projection": "precision"}
    return tune(SureClassifier(random_state=0, scale=False), X, y, [bad, *good]).table


def test_it_shows_the_table():
    pytest.importorskip("matplotlib")
    found = table()
    assert found.failure[-1]
    display = TuningDisplay.from_table(found).plot()
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == display.names_
    assert display.names_ == [p["rule"] for p in found.parameters[:3]]
    np.testing.assert_array_equal(display.behind_, found.behind[:3])
    np.testing.assert_array_equal(display.deviation_, found.behind_deviation[:3])
    assert display.error_ == found.error[0]
    drawn = np.concatenate([c.lines[0].get_xdata() for c in display.ax_.containers])
    np.testing.assert_allclose(np.sort(drawn), 100 * found.behind[:3])
    assert display.ax_.yaxis_inverted()


@pytest.mark.parametrize("n", [3, 40])
def test_each_candidate_has_room_for_its_name(n, tmp_path):
    display = TuningDisplay([f"rule {i}" for i in range(n)], np.arange(n) / n, np.ones(n), error=0)
    display.save(tmp_path / "t.png")
    boxes = [label.get_window_extent() for label in display.ax_.get_yticklabels()]
    for high, low in pairwise(boxes):
        assert low.height < high.y0 - low.y0 < 5 * low.height


def test_the_best_are_kept_and_saved(tmp_path):
    pytest.importorskip("matplotlib")
    display = TuningDisplay.from_table(table(), top=2)
    assert len(display.names_) == 2
    assert display.save(tmp_path / "t.png", title="Two $ of them") is display
    assert (tmp_path / "t.png").stat().st_size > 5000
    assert display.ax_.get_title(loc="left") == r"Two \$ of them"


def test_what_is_no_table_is_refused():
    with pytest.raises(TypeError, match="table must be a table of tune, got 3"):
        TuningDisplay.from_table(3)
    with pytest.raises(ValueError, match="behind must have a number for each of 2 names"):
        TuningDisplay(["a", "b"], [0.0], [0.0, 0.0], error=0.1)
    with pytest.raises(ValueError, match=r"error must be in \[0, 1\], got 2"):
        TuningDisplay(["a"], [0.0], [0.0], error=2)
    with pytest.raises(TypeError, match="top must be a whole number"):
        TuningDisplay.from_table(table(), top=1.5)
