"""Figure 2: claims follow bins, errors and entropies."""

from __future__ import annotations

from confidence_rows import confident
from experiments.papers.multiclass import figure2
from experiments.papers.multiclass.confidence import CW, MAXENT


def _verdicts(rows):
    return {claim.text: claim.verdict for claim in figure2.claims(rows)}


def test_claims_flip_where_cw_and_maxent_change_places():
    rows = confident("Amazon 10")
    before = _verdicts(rows)
    assert before["CW keeps a higher entropy than maxent."] == "held"
    assert before["Passes lower the entropy of CW."] == "held"
    for row in rows:
        row["entropy"] = 1 - row["entropy"]
    after = _verdicts(rows)
    assert after["CW keeps a higher entropy than maxent."] == "did not hold"
    assert after["Passes lower the entropy of CW."] == "did not hold"


def test_claims_count_rows_in_bins():
    found = {claim.text: claim for claim in figure2.claims(confident("Amazon 10"))}
    sure = found["Maxent gives 0.9 and more to more examples than CW after seven passes."]
    assert sure.ours == "40.00 % against 29.00 %"
    unsure = found["After one pass CW gives less than 0.3 more often than 0.9 and more."]
    assert (unsure.verdict, unsure.ours) == ("held", "52.00 % against 5.00 %")
    errors = found["Less of CW's error than of maxent's comes from 0.9 and above."]
    assert errors.ours == "5.00 % against 1.00 %"
    below = found["Maxent has more errors below 0.5 than above."]
    assert below.ours.startswith("100.00 % against ")


def test_errors_are_compared_in_bins_that_both_fill():
    rows = confident("Amazon 10")
    text = "CW has fewer errors than maxent in a bin of equal probability."
    assert _verdicts(rows)[text] == "held"
    for row in rows:
        if row["model"] == MAXENT:
            row["wrong"] = [0] * 10
    assert _verdicts(rows)[text] == "did not hold"


def test_fewer_errors_after_two_passes():
    rows = confident("Amazon 10")
    text = "CW has fewer errors than maxent after two passes."
    assert _verdicts(rows)[text] == "did not hold"
    for row in rows:
        if row["model"] == CW:
            row["wrong"] = [0] * 10
    assert _verdicts(rows)[text] == "held"


def test_numbers_and_pictures_of_every_set(tmp_path):
    rows = confident("Amazon 10") + confident("20 Newsgroups")
    tables = figure2.tables(rows)
    assert len(tables) == 4
    lines = tables["Amazon 10: error and entropy"]
    assert [line["model"] for line in lines][::7] == ["CW, 1 pass", "maxent"]
    assert (lines[-1]["below 0.3"], lines[-1]["0.9 and above"]) == (9, 120)
    bins = tables["20 Newsgroups: bins of the prediction probability"]
    assert bins[9]["count, maxent"] == "120"
    assert bins[0]["conditional error, maxent"] == ""
    figure2.draw(rows, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        "figure2_amazon_10.png",
        "figure2_20_newsgroups.png",
    }


def test_a_quick_run_draws_the_stand_in():
    assert list(figure2.cases(True)) == ["Amazon 10"]
