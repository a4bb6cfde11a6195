"""None"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from labelling import answer, pool, session
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


def test_many_labels_are_summed_up(tmp_path):
    found = session(tmp_path)
    for i in range(20):
        found.add_label("ann", f"label {i}")
    assert "and 10 more labels" in panel_part(report(found))


def test_curves_are_sound_svg_within_their_frame():
    found = ET.fromstring(curves([("a", [(1, 0.4), (50, 0.1)]), ("b", [])], title="Error"))
    assert found.get("aria-label") == "Error"
    (line,) = found.findall("polyline")
    points = [tuple(map(float, pair.split(","))) for pair in line.get("points").split()]
    assert all(0 <= x <= 320 and 0 <= y <= 120 for x, y in points)
    assert points[0][1] < points[1][1]  # a larger error is higher
    assert "style" not in curves([], title="none")


def test_bars_are_as_high_as_their_shares():
    found = ET.fromstring(bars([0.5, 0.25, 0.25], lowest=0.5, title="Sure"))
    heights = [float(bar.get("height")) for bar in found.findall("rect")]
    assert heights[0] == 2 * heights[1] == 2 * heights[2]
