from __future__ import annotations

from labelling import answer, pool, session
from surelearn.label.panel import panel_part
from surelearn.label.progress import Goal, report


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
