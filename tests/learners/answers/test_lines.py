"""Predictions as lines of JSON."""

from __future__ import annotations

import json

import numpy as np

from surelearn.learners.answers.lines import Lines, Prediction, kept_key


def prediction(label, **more):
    none = dict.fromkeys(("probability", "sureness", "probabilities", "kept"))
    return Prediction(label=label, n_bytes=0, n_bad=0, **{**none, **more})


def written(lines, batch):
    return [json.loads(line) for line in lines.of(batch)]


def test_a_line_has_what_the_model_knows():
    lines, labels = Lines(np.array(["no", "yes"]), proba=True), np.array(["yes", "no"])
    assert written(lines, prediction(labels)) == [{"label": "yes"}, {"label": "no"}]
    sure = prediction(
        labels,
        probability=np.array([0.75, 1.0]),
        sureness=np.array([0.67, np.inf]),  # which JSON lacks
        probabilities=np.array([[0.25, 0.75], [1.0, 0.0]]),
    )
    assert written(lines, sure) == [
        {
            "label": "yes",
            "probability": 0.75,
            "sureness": 0.67,
            "probabilities": {"no": 0.25, "yes": 0.75},
        },
        {
            "label": "no",
            "probability": 1,
            "sureness": None,
            "probabilities": {"no": 1, "yes": 0},
        },
    ]


def test_of_many_labels_the_probabilities_are_those_of_the_row():
    lines = Lines(np.array([0, 1, 2]), proba=False)
    batch = prediction([(0, 2), ()], probabilities=np.array([[0.9, 0.1, 0.6], [0.1, 0.2, 0.3]]))
    assert written(lines, batch) == [
        {"labels": [0, 2], "probabilities": {"0": 0.9, "2": 0.6}},
        {"labels": [], "probabilities": {}},
    ]


def test_kept_columns_come_first_and_never_hide_an_answer():
    assert [kept_key(name) for name in ("id", "label", "sureness")] == [
        "id", "kept_label", "kept_sureness",
    ]  # fmt: skip
    kept = {"id": np.array([7]), "label": np.array([np.nan])}
    (line,) = Lines(np.array(["a"]), proba=False).of(prediction(np.array(["a"]), kept=kept))
    assert line == '{"id": 7, "kept_label": null, "label": "a"}\n'
