"""Which columns of a source must be named, and by which keyword."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas
import pytest

from frames import FILES, FRAMES, NUMBERS, TEXTS, numbers, stored
from surelearn import SureTextClassifier, evaluate, predict, read


@pytest.mark.parametrize("kind", [*FILES, *FRAMES])
def test_texts_that_nobody_has_chosen_are_not_passed_over(kind: str, tmp_path: Path) -> None:
    rows = {**TEXTS, "id": list(range(40)), "label": TEXTS["stars"]}
    rows.pop("stars")
    source = stored(kind, tmp_path, rows)
    message = (
        r"(frame|t\.\w+).* must have a column 'text', got texts in 'body'.* such as text='body', "
        r"or the numeric columns: features=\['id', 'votes'\]\."
    )
    model = numbers().fit([[0.0, 1.0], [1.0, 0.0]], [1, 5])
    for go in (
        lambda: list(read.batches(source)),
        lambda: numbers().fit_stream(source),
        lambda: SureTextClassifier().fit_stream(source),
        lambda: list(predict(model, source)),
        lambda: evaluate(model, source),
    ):
        with pytest.raises(read.BadInput, match=message):
            go()
    assert evaluate(model, source, features=["id", "votes"]).n == 40
    (batch,) = read.batches(source, features="*")
    assert batch.X.shape == (40, 2)
    (batch,) = read.batches(source, text="body")
    assert batch.X.to_pylist() == rows["body"]


def test_a_column_with_one_value_that_is_no_number_is_shown(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("age,size,label\n3,1,x\nn/a,2,y\n")
    with pytest.raises(read.BadInput, match=r"got texts in 'age' \(such as 'n/a'\)\."):
        read.batches(tmp_path / "a.csv").first(1)
    (tmp_path / "a.jsonl").write_text(
        '{"body": null, "size": 1, "label": 1}\n{"body": "a good film, a very good one"}\n'
    )
    with pytest.raises(read.BadInput, match=r"'body' \(such as 'a good film, a v \.\.\.'\)"):
        read.batches(tmp_path / "a.jsonl").first(1)


def test_of_many_columns_all_are_proposed() -> None:
    frame = pandas.DataFrame({f"x{i}": [1.0, 2.0] for i in range(20)})
    frame["name"], frame["label"] = ["a", "b"], [0, 1]
    with pytest.raises(read.BadInput, match=r"or the numeric columns: features=\['\*'\]\."):
        numbers().fit_stream(frame)
    assert numbers().fit_stream(frame, features=["*"]).n_features_in_ == 20
    with pytest.raises(read.BadInput, match=r"Name the one to learn from, such as text='name'\.$"):
        numbers().fit_stream(frame[["name", "label"]])
    with pytest.raises(read.BadInput, match=r"or name another by text, got 'name', 'label'\."):
        numbers().fit_stream(frame[["name", "label"]], features="*")


@pytest.mark.parametrize(
    ("features", "error", "message"),
    [
        ("ab", TypeError, "features must be a list of names of columns, got 'ab'"),
        ([0.5], TypeError, r"features must be a list of names of columns, got \[0.5\]"),
        ([], ValueError, r"features must name at least one column, got \[\]"),
    ],
)
def test_features_are_names(features: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        numbers().fit_stream(pandas.DataFrame(NUMBERS), label="kind", features=features)
