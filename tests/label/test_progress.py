from __future__ import annotations

import numpy as np
import pytest

from labelling import answer, pool, session
from surelearn.label import progress
from surelearn.label.ledger import Ledger, Step
from surelearn.label.progress import Goal, _error_of, _share, agreements, report
from surelearn.label.store import Event


def test_a_report_counts_labels_and_errors(tmp_path):
    found = session(tmp_path, pool(300), explore=0.3)
    answer(found, n=80)
    found.skip("ann", found.question("ann").item)
    seen = report(found)
    assert (seen.n_labels, seen.n_items, seen.n_skipped) == (80, 300, 1)
    assert sum(n for _, n in seen.counts) == 80
    judged = [step for step in found.label_steps() if step.predicted is not None]
    assert seen.error.n == len(judged)
    assert seen.error.value == pytest.approx(
        sum(s.label != s.predicted for s in judged) / len(judged)
    )
    assert seen.at_random.n == sum(step.at_random for step in judged)
    assert seen.curve[-1][0] == 80
    assert sum(seen.histogram) == pytest.approx(1.0)
    assert seen.lowest == 0.5


def test_the_histogram_is_of_the_texts_that_are_left(tmp_path):
    found = session(tmp_path, explore=0.0)
    answer(found, n=30)
    is_open = [item not in found.ledger.given for item in found.learner.sample.tolist()]
    assert sum(is_open) == 30
    sure = found.learner.sureness()[is_open]
    assert report(found).histogram[-1] == pytest.approx((sure >= 0.95).mean())
    answer(found, n=30)
    assert (report(found).histogram, report(found).is_done) == ([], True)


def test_an_empty_report_has_no_errors(tmp_path):
    seen = report(session(tmp_path))
    assert (seen.error, seen.at_random, seen.curve, seen.histogram) == (None, None, [], [])
    assert seen.stop == ""


def test_the_interval_of_an_error_is_clopper_and_pearsons():
    from scipy.stats import binomtest

    found = _share([1.0] * 3 + [0.0] * 17)
    other = binomtest(3, 20).proportion_ci()
    assert (found.low, found.high) == pytest.approx((other.low, other.high))


def test_sentences_that_are_wrong_in_part_widen_the_interval():
    found = _share([0.5] * 3 + [0.0] * 17)
    below, above = _share([1.0] + [0.0] * 19), _share([1.0] * 2 + [0.0] * 18)
    assert found == (pytest.approx(0.075), below.low, above.high, 20)


def test_a_sentence_is_as_wrong_as_its_tags():
    assert _error_of(Step("tell", 0, ["O", "X"], ["O", "O"]), "tags") == 0.5
    assert _error_of(Step("tell", 0, ["a", "x"], ["a", "y"]), "many") == 1.0
    assert _error_of(Step("tell", 0, "a", "a")) == 0.0


def test_reasons_to_stop(tmp_path):
    found = session(tmp_path, pool(400), explore=0.5)
    answer(found, n=120)
    assert report(found, Goal(budget=120)).stop == "120 labels reach the budget of 120"
    assert "drawn at random" in report(found, Goal(error=0.2)).stop
    assert "changed almost no prediction" in report(found).stop
    (tmp_path / "b").mkdir()
    small = session(tmp_path / "b", pool(2))
    answer(small, n=2)
    assert report(small).stop == "nothing is left to label"


def test_agreement_of_every_two_people():
    events = []
    for item, (one, other) in enumerate([("x", "x"), ("x", "y"), ("y", "y"), ("y", "y")]):
        for person, label in (("bob", one), ("ann", other)):
            events.append(Event(person, "answer", item, {"label": label}, len(events) + 1))
    (found,) = agreements(Ledger.of(events))
    assert (found.one, found.other, found.n, found.same) == ("ann", "bob", 4, 0.75)
    assert found.kappa == pytest.approx(0.5)


def test_agreement_on_tags_is_that_of_tokens():
    answers = [("bob", ["O", "X", "O", "O"]), ("ann", ["O", "X", "X", "O"])]
    log = [Event(name, "answer", 0, {"label": tags}, 1) for name, tags in answers]
    (found,) = agreements(Ledger.of(log), "tags")
    assert found.kappa == pytest.approx(0.5)
    (found,) = agreements(Ledger.of(log), "many")
    assert found.kappa == 0.0


@pytest.mark.parametrize("n", [5, 6, 50, 150, 400])
def test_the_curve_is_the_mean_of_the_last_answers(n):
    shares = np.random.default_rng(0).integers(0, 2, n).astype(float).tolist()
    found = progress._curve([(3 * i, share) for i, share in enumerate(shares)])
    assert len(found) == (0 if n < 6 else min(60, n - 4))
    for number, error in found:
        last = shares[: number // 3 + 1][-progress._WINDOW :]
        assert error == pytest.approx(np.mean(last))
    if found:
        assert (found[0][0], found[-1][0]) == (12, 3 * (n - 1))
