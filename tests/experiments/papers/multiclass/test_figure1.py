"""Figure 1: claims follow curves."""

from __future__ import annotations

from experiments.papers.multiclass import figure1
from fold_rows import folds


def _rows(shift=None):
    """Accuracy rises with passes but that of exact, which falls; k=5 is first, k=1 last."""
    slopes = {"CW k=1": 1.0, "CW k=5": 0.5, "CW all": 0.5, "parallel": 0.5, "exact": -0.5}
    starts = {"CW k=5": 72.0, **(shift or {})}
    rows = []
    for name, slope in slopes.items():
        for row in folds("Amazon 7", name, 70.0):
            noise = 0.01 * row["fold"]
            curve = [starts.get(name, 70.0) + slope * (1 + noise) * at + noise for at in range(10)]
            rows.append({**row, "curve": curve})
    return rows


def _verdicts(**shift):
    return [claim.verdict for claim in figure1.claims(_rows(**shift))]


def test_claims_follow_the_curves():
    assert _verdicts() == ["held"] * 5
    assert _verdicts(shift={"CW k=5": 60.0})[3:] == ["did not hold", "held"]
    assert _verdicts(shift={"CW k=5": 80.0})[3:] == ["held", "did not hold"]


def test_an_update_that_gets_better_does_not_degrade():
    rows = _rows()
    for row in rows:
        row["curve"] = row["curve"][::-1]
    assert [claim.verdict for claim in figure1.claims(rows)][:3] == ["did not hold"] * 3


def test_every_pass_has_a_line_and_a_point(tmp_path):
    (lines,) = figure1.tables(_rows()).values()
    assert [line["passes"] for line in lines] == list(range(1, 11))
    assert set(figure1.LEARNERS) < set(lines[0])
    assert set(figure1.cases(True)) == set(figure1.LEARNERS)
    figure1.draw(_rows(), tmp_path)
    assert (tmp_path / "figure1.png").stat().st_size > 10_000
