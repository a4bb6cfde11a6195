"""Classifiers of rows as their task says: what they read, and what must agree to be merged."""

from __future__ import annotations

import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from surelearn import SureClassifier, SureTextClassifier, evaluate, merge, predict
from surelearn.learners.task import task_of
from surelearn.learners.tasks.row_task import ROWS, TEXTS

X, Y = [[0.0, 1.0], [1.0, 0.0]], ["no", "yes"]
TEXT = ["a fine film", "dull"]


def numbers(**params):
    return SureClassifier(random_state=0, **params).fit(X, Y)


def texts(**params):
    return SureTextClassifier(random_state=0, **params).fit(TEXT, Y)


def test_every_classifier_of_rows_has_the_task_of_its_input():
    assert task_of(numbers()) is ROWS
    assert task_of(texts()) is TEXTS
    assert task_of(LogisticRegression()) is ROWS


def test_texts_for_a_model_of_numbers_are_refused_and_the_other_way_round():
    with pytest.raises(ValueError, match="rows of numbers for a SureClassifier, got texts"):
        next(predict(numbers(), pd.DataFrame({"text": TEXT})))
    with pytest.raises(ValueError, match="texts for a SureTextClassifier, got rows of numbers"):
        next(predict(texts(), pd.DataFrame({"a": [1.0], "b": [2.0]}), features=["a", "b"]))


@pytest.mark.parametrize("changed", [{"ngram_range": (1, 2)}, {"idf": False}, {"lowercase": False}])
def test_what_a_vectorizer_does_must_agree_to_be_merged(changed):
    (name,) = changed
    with pytest.raises(ValueError, match=f"must have the same {name} to be merged"):
        merge([texts(), texts(**changed)])


def test_a_parameter_changed_after_training_is_refused():
    changed = texts().set_params(lowercase=False)
    with pytest.raises(ValueError, match="lowercase must stay True in a fitted model, got False"):
        merge([changed, changed])
    with pytest.raises(ValueError, match="lowercase must stay True in a fitted model, got False"):
        TEXTS.params(changed)


def test_facts_are_those_of_the_kind():
    assert ROWS.facts(numbers())["covariance"] == "diagonal"
    facts = TEXTS.facts(texts())
    assert (facts["words"], facts["documents"]) == (3, 2)
    assert [line["rows"] for line in facts["classes"]] == [1, 1]


@pytest.mark.parametrize("many", [False, True])
def test_rows_with_labels_of_the_other_form_are_refused(many):
    """How labels are cut is said of files alone, and only where there should be many."""
    model = SureTextClassifier().fit(TEXT, [["no"], []] if many else Y)
    wrong, said = (Y, "y must have a list") if many else ([["no"], []], "y must have one label")
    with pytest.raises(ValueError, match=said) as refused:
        evaluate(model, TEXT, wrong)
    assert "csv" not in str(refused.value)
    with pytest.raises(ValueError, match=said.replace("y ", "frame ")) as refused:
        evaluate(model, pd.DataFrame({"text": TEXT, "label": wrong}))
    assert ("In csv, label_separator names" in str(refused.value)) == many


def test_only_one_label_per_row_has_a_probability():
    frame = pd.DataFrame({"text": [*TEXT, "a dull film"]})
    (found,) = predict(texts(), frame)
    assert found.probability == pytest.approx(texts().predict_proba(frame["text"]).max(axis=1))
    (found,) = predict(SureTextClassifier().fit(TEXT, [["no"], []]), frame)
    assert found.probability is None
    assert found.probabilities.shape == (3, 1)
