"""The panel says how far labelling is; its charts are drawn to scale."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from labelling import answer, label, pool, session
from surelearn.label.panel import bars, curves, panel_part
from surelearn.label.progress import FEWEST, Goal, report


def _text(html: str) -> str:
    return " ".join(re.sub("<[^>]+>", " ", html).split())


def test_the_first_number_is_the_error_of_random_questions_with_its_interval(tmp_path):
    found = session(tmp_path, pool(300), explore=0.4)
    answer(found, n=100)
    seen = report(found)
    page = _text(panel_part(seen))
    drawn = seen.at_random
    assert drawn.n >= FEWEST
    said = f"{drawn.value:.1%} 95 % interval: {drawn.low:.1%} to {drawn.high:.1%} (n = {drawn.n})"
    assert page.startswith(f"Error on texts drawn at random {said}")
    assert "40% of the questions are drawn at random ( --explore 0.4 )" in page
    assert page.index(said) < page.index("Progressive validation error")


def test_too_few_random_answers_give_no_error_but_their_number(tmp_path):
    found = session(tmp_path, pool(300), explore=0.2)
    answer(found, n=20)
    n = report(found).at_random.n
    assert 0 < n < FEWEST
    page = _text(panel_part(report(found)))
    assert f"Not enough random answers yet {n} of 20" in page
    assert "95 % interval" not in page


def test_without_random_questions_the_page_says_what_makes_them(tmp_path):
    found = session(tmp_path, explore=0.0)
    answer(found, n=30)
    page = _text(panel_part(report(found)))
    assert "start with --explore 0.1" in page


def test_the_panel_shows_counts_error_curve_histogram_and_reason(tmp_path):
    found = session(tmp_path, pool(200), explore=0.2)
    assert "Two labels are needed first" in panel_part(report(found))
    answer(found, n=40)
    page = panel_part(report(found, Goal(budget=30)))
    for text in ("of 200 texts", 'aria-label="good: ', "polyline", "rect", "Drawn at random"):
        assert text in page
    assert "You could stop: 40 labels reach the budget of 30." in page


def test_the_end_of_a_pool_is_no_question(tmp_path):
    found = session(tmp_path, pool(4))
    answer(found, n=4)
    page = panel_part(report(found))
    assert "nothing is left to label" in page
    assert "or go on" not in page
    assert "Nothing is left to predict" in page


@pytest.mark.parametrize(("n", "more"), [(12, 0), (13, 1), (22, 10)])
def test_many_labels_are_summed_up(n, more, tmp_path):
    found = session(tmp_path)
    for i in range(2, n):
        found.add_label("ann", f"label {i}")
    page = panel_part(report(found))
    assert page.count("<meter") == 12
    assert re.findall(r"and (\d+) more labels", page) == [str(more)] * bool(more)


def test_a_count_is_a_share_of_the_largest_one(tmp_path):
    found = session(tmp_path)
    for item in (1, 3, 0):
        found.choose("ann", item)
        found.answer("ann", item, label(item))
    lengths = re.findall(r'<meter min="(.*?)" max="(.*?)" value="(.*?)"', panel_part(report(found)))
    assert lengths == [("0", "2", "2"), ("0", "2", "1")]


def _words(chart):
    """The words of a chart by where they stand: inside its frame, at the left or below."""
    for word in chart.findall("text"):
        x, y = (float(word.get(at)) + float(word.get(f"d{at}", 0)) for at in "xy")
        assert 0 < x <= 312
        assert 0 < y < 120
        yield word.text, "left" if x < 34 else "below" if y > 98 else "inside"


@pytest.mark.parametrize(
    ("highest", "top"),
    [(0.01, 0.05), (0.05, 0.05), (0.06, 0.1), (0.1, 0.1), (0.2, 0.2), (0.5, 0.5), (0.51, 1.0)],
)
def test_curves_are_drawn_to_scale_below_a_round_number(highest, top):
    lines = [("a", [(10, highest), (40, 0.0)]), ("b", []), ("c", [(1000, highest / 2)])]
    found = ET.fromstring(curves(lines, title="Error"))
    assert found.get("viewBox") == "0 0 320 120"
    assert found.get("aria-label") == "Error"
    assert found.find("path").get("d") == "M34 8V98H312"
    drawn = {line.get("class"): line.get("points") for line in found.findall("polyline")}
    high = 98 - 90 * highest / top
    assert drawn == {
        "curve a": f"{34 + 2.78:.1f},{high:.1f} {34 + 4 * 2.78:.1f},98.0",
        "curve c": f"312.0,{(98 + high) / 2:.1f}",
    }
    words = [(f"{top:.0%}", "left"), ("0", "left"), ("0", "below"), ("1,000 labels", "below")]
    assert list(_words(found)) == words


def test_bars_are_as_high_as_their_shares():
    found = ET.fromstring(bars([0.5, 0.25, 0.0, 0.25], lowest=0.25, title="Sure"))
    sides = [[float(bar.get(name)) for name in ("x", "y", "width", "height")]
             for bar in found.findall("rect")]  # fmt: skip
    step = (312 - 34) / 4
    for i, (bar, height) in enumerate(zip(sides, (90, 45, 0, 45), strict=True)):
        expected = [34 + i * step + 1, 98 - height, step - 2, height]
        assert bar == pytest.approx(expected, abs=0.051)
    assert found.find("path").get("d") == "M34 98H312"
    words = [("50%", "left"), ("25%", "below"), ("100% sure", "below")]
    assert list(_words(found)) == words
