"""Options of the commands of sentences: columns by name, and the tagger of a file."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from surelearn import SureTagger, SureTextClassifier
from surelearn.cli._options import reading, reads
from surelearn.cli.tag._options import SENTENCES, tagger_in


def test_columns_are_named_between_commas():
    assert reading(columns="w,_,pos", label=None, format="conll") == {
        "columns": ["w", "_", "pos"], "format": "conll",
    }  # fmt: skip
    assert reading(columns=None, label="upos", skip_bad=True) == {"label": "upos", "skip_bad": True}


def test_a_command_gets_its_options_as_one_parameter():
    @reads(SENTENCES, without=("label",))
    def command(files: list[str], *, reading: dict[str, Any], quiet: bool = False) -> None:
        asked.append((files, reading, quiet))

    asked: list[Any] = []
    names = list(inspect.signature(command).parameters)
    assert names == ["files", "columns", "format", "encoding", "skip_bad", "quiet"]
    command(files=["-"], columns="w,pos", format=None, encoding=None, skip_bad=True, quiet=True)
    assert asked == [(["-"], {"columns": ["w", "pos"], "skip_bad": True}, True)]


def test_the_tagger_of_a_file(tmp_path):
    tagger = SureTagger(random_state=0).fit([["a", "b"]], [["A", "B"]])
    tagger.save(tmp_path / "t.sure")
    found = tagger_in(tmp_path / "t.sure")
    assert found.predict([["b", "a"]]) == tagger.predict([["b", "a"]])


def test_other_models_are_refused_by_name(tmp_path):
    SureTextClassifier().fit(["a", "b"], [0, 1]).save(tmp_path / "c.sure")
    message = r"c\.sure must be a tagger, got a SureTextClassifier\."
    with pytest.raises(ValueError, match=message):
        tagger_in(tmp_path / "c.sure")
