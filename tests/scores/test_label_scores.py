"""The result of evaluating many labels: its errors, tables and looks."""

from __future__ import annotations

import json

import numpy as np
import pytest

from surelearn.evaluation import Comparison, LabelScores


def scores_of(t, found, support, **more):
    """Scores of rows with so many right, predicted and true labels, all of one kind."""
    t, found, support = map(np.asarray, (t, found, support))
    s = found + support
    counts = [np.array([part.sum()]) for part in (t, found, support)]
    exact = int(((t == found) & (t == support)).sum())
    squares = int(t @ t), int(t @ s), int(s @ s)
    classes = np.array(["a"])
    return LabelScores(classes, classes, *counts, len(t), exact, squares, **more)


def many(n_labels, **more):
    labels = np.array([f"<{i}>" for i in range(n_labels)])
    support = np.arange(n_labels)
    counts = support // 2, support, support
    return LabelScores(labels, labels, *counts, 100, 40, (100, 200, 400), **more)


def test_the_standard_error_of_micro_f1_is_that_of_the_bootstrap():
    random = np.random.default_rng(0)
    n = 2000
    support = random.integers(0, 4, n)
    t = random.binomial(support, 0.7)
    found = t + random.binomial(2, 0.2, n)
    own = scores_of(t, found, support)
    drawn = []
    for _ in range(2000):
        rows = random.integers(0, n, n)
        drawn.append(2 * t[rows].sum() / (found + support)[rows].sum())
    assert own.micro_f1_error == pytest.approx(np.std(drawn), rel=0.07)
    assert own.micro_f1 == pytest.approx(np.mean(drawn), abs=0.002)


def test_without_any_label_all_scores_are_zero():
    none = scores_of([0, 0], [0, 0], [0, 0])
    assert (none.micro_f1, none.micro_f1_error, none.macro_f1, none.hamming_loss) == (0, 0, 0, 0)
    assert none.accuracy == 1.0


def test_text_lists_the_most_frequent_labels():
    text = str(many(90, no_probabilities="it is an oracle", n_bad=2))
    assert text.startswith("100 rows, 2 skipped as bad, 90 labels, 40.05 a row\n")
    for line in (
        "micro F1 ",
        "macro F1 ",
        "subset accuracy    0.4000 (95 % interval: ",
        "Hamming loss ",
    ):
        assert f"\n{line}" in text
    assert "No log loss: it is an oracle." in text
    assert "<70>" in text
    assert "<69>" not in text
    assert text.endswith("... and 70 labels that occur less often")
    assert "occur less often" not in str(many(20))
    assert repr(many(3)) == str(many(3))


def test_unknown_labels_are_noted():
    known = np.array(["a"])
    labels = np.array(["a", "x", "y"])
    counts = np.array([[3, 0, 0], [4, 0, 0], [5, 1, 2]])
    found = LabelScores(known, labels, *counts, 10, 3, (3, 9, 27))
    assert found.unknown.tolist() == ["x", "y"]
    assert "2 labels that the model does not know, found 3 times: x, y." in str(found)


def test_html_is_escaped_and_has_all_labels():
    html = many(90)._repr_html_()
    assert "&lt;5&gt;" in html
    assert "<5>" not in html
    assert "micro F1" in html


def test_tables_and_dicts_have_every_label_most_frequent_first():
    found = many(30, comparison=Comparison(1, 2, 3, 4))
    assert found.scores.label.tolist() == [f"<{i}>" for i in range(29, -1, -1)]
    assert found.table(2).support.tolist() == [29, 28]
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["micro_f1"] == found.micro_f1
    assert plain["micro_f1_error"] == found.micro_f1_error
    assert len(plain["scores"]) == 30
    assert plain["comparison"]["model_only"] == 2
    assert str(found).endswith(str(found.comparison).splitlines()[-1])
