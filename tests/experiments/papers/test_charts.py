"""Charts are drawn to files with all their names."""

from __future__ import annotations

from experiments.papers import charts


def test_curves_are_drawn_in_panels(tmp_path):
    curve = charts.Curve([1, 2, 3], [0.5, 0.6, 0.7], [0.1, 0.1, 0.1])
    panels = [
        charts.Panel(f"panel {n}", "rows", "accuracy", {"a": curve, "b": curve}) for n in range(4)
    ]
    charts.draw_curves(panels, tmp_path / "c.png")
    assert (tmp_path / "c.png").stat().st_size > 10_000


def test_a_figure_has_as_many_axes_as_asked_for():
    figure, found = charts.axes(4)
    assert len(found) == 4
    assert [ax.get_visible() for ax in figure.axes] == [True] * 4 + [False] * 2


def test_few_points_have_a_tick_each():
    _, (few, many) = charts.axes(2)
    charts.tick(few, {10, 1, 2})
    charts.tick(many, range(100))
    assert [label.get_text() for label in few.get_xticklabels()] == ["1", "2", "10"]
    assert len(many.get_xticks()) < 20


def test_bars_are_drawn_in_groups(tmp_path):
    bars = {"ours": [1.0, 2.0], "theirs": [2.0, 1.0]}
    charts.draw_bars(["x", "y"], bars, tmp_path / "b.png", title="t", y="errors")
    assert (tmp_path / "b.png").stat().st_size > 5_000


def test_bars_may_have_marks_of_their_errors(tmp_path):
    bars = {"ours": [1.0, 2.0]}
    how = {"title": "t", "y": "errors"}
    charts.draw_bars(["x", "y"], bars, tmp_path / "plain.png", **how)
    charts.draw_bars(["x", "y"], bars, tmp_path / "marked.png", **how, errors={"ours": [0.5, 0.5]})
    assert (tmp_path / "plain.png").read_bytes() != (tmp_path / "marked.png").read_bytes()
