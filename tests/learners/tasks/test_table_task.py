"""Classifiers of tables in files, and what they say of themselves."""

from __future__ import annotations

import io

import pytest

from containers import settings_of, with_settings
from surelearn import FormatError, SureTableClassifier, load

ROWS = [{"a": f"v{i % 3}", "b": f"some words {i % 5}"} for i in range(30)]
LABELS = [f"{i % 3}"[0] for i in range(30)]
COLUMNS = {"a": "category", "b": "text"}


def saved():
    file = io.BytesIO()
    SureTableClassifier(columns=COLUMNS, random_state=0).fit(ROWS, LABELS).save(file)
    return file.getvalue()


def test_facts_list_the_columns():
    model = load(io.BytesIO(saved()))
    facts = model.task.facts(model)
    assert [(one["column"], one["kind"]) for one in facts["columns"]] == [
        ("a", "category"),
        ("b", "text"),
    ]


@pytest.mark.parametrize(
    "damage",
    [
        lambda settings: settings.update(columns=[]),
        lambda settings: settings["columns"][0].pop("why"),
        lambda settings: settings["columns"][0].update(name=3),
        lambda settings: settings["columns"][1]["column"].update(kind="words"),
        lambda settings: settings["columns"][1]["column"].update(ngram_range=[0, 1]),
    ],
)
def test_damaged_columns_are_refused(damage):
    whole = saved()
    settings = settings_of(whole)
    damage(settings)
    with pytest.raises(FormatError):
        load(io.BytesIO(with_settings(whole, settings)))
