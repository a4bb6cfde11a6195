"""Evaluations as text of eighty columns and as HTML."""

from __future__ import annotations

import numpy as np

from surelearn.evaluation import Comparison, Evaluation


def example(n_classes=3, unknown=0):
    names = [f"class {k}" for k in range(n_classes)]
    table = np.arange(n_classes * (n_classes + unknown)).reshape(-1, n_classes)
    labels = [*names, *(f"new {k}" for k in range(unknown))]
    return Evaluation(np.array(names), np.array(labels), table, comparison=Comparison(1, 2, 3, 4))


def test_the_text_of_few_classes():
    lines = str(example(3, 1)).splitlines()
    assert lines[0] == "66 rows, 3 classes"
    assert "accuracy           0.1818 (95 % interval: 0.0976 to 0.2961)" in lines
    assert "1 label that the model does not know, on 30 rows: new 0." in lines
    assert "         class 0  class 1  class 2" in lines
    assert "new 0          9       10       11" in lines
    assert lines[-1:] == ["Only the model is right on 2 rows, only its rival on 3: p = 1."]


def test_the_text_of_many_classes_lists_mistakes():
    found = example(60, 5)
    text = str(found)
    assert "The most frequent mistakes:" in text
    assert "5 labels that the model does not know" in text
    assert max(map(len, text.splitlines())) <= 79
    table = found.mistakes(top=3)
    assert table.label.tolist() == ["new 4"] * 3
    assert table.predicted.tolist() == ["class 59", "class 58", "class 57"]
    assert table.times.tolist() == [3899, 3898, 3897]
    assert table.share[0] == 3899 / sum(range(3840, 3900))
    assert len(found.mistakes(top=None)) == 60 * 65 - 60 - 0


def test_long_and_hostile_labels_stay_within_their_line():
    names = np.array(["<b>\n" + "x" * 200, "y" * 200])
    found = Evaluation(names, names, np.array([[1, 0], [0, 1]]))
    assert max(map(len, str(found).splitlines())) <= 79
    names = np.array([f"{k:02d}" + "x" * 200 for k in range(60)])
    many = str(Evaluation(names, names, np.ones((60, 60), dtype=int)))
    assert "most frequent mistakes" in many
    assert max(map(len, many.splitlines())) <= 79
    assert "<b>" not in found._repr_html_()
    assert "&lt;b&gt;" in found._repr_html_()


def test_html_of_many_classes_lists_mistakes():
    assert "most frequent mistakes" in example(40)._repr_html_()
    assert "<caption>predicted" in example(4)._repr_html_()
