from __future__ import annotations

import xml.etree.ElementTree as ET

from surelearn.label.charts import bars, curves


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
