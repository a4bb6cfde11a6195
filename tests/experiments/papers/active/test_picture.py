"""Figure 1 has three panels: two of curves, one of tasks."""

from __future__ import annotations

import pytest

from experiments.papers.active import picture
from experiments.papers.active.tasks import TASKS
from rising import curves

pytest.importorskip("matplotlib")


def test_panels_have_curves_and_tasks(monkeypatch, tmp_path):
    made = []
    axes = picture.axes
    monkeypatch.setattr(picture, "axes", lambda *a, **k: made.append(axes(*a, **k)) or made[-1])
    picture.draw(curves(), tmp_path)
    assert (tmp_path / "figure1.png").stat().st_size > 10_000
    left, middle, right = made[0][1]
    for ax in (left, middle):
        named = [text.get_text() for text in ax.get_legend().get_texts()]
        assert [name.split("  ")[0] for name in named] == [
            "PA random", "CW random", "PA margin", "CW margin", "ACL",
        ]  # fmt: skip
    assert [text.get_text() for text in right.get_legend().get_texts()] == list(TASKS)
