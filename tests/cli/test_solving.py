"""Training by a solver: what is written at Ctrl-C, and what is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import surelearn
from surelearn.cli import _solving
from surelearn.learners.tasks.sequence_task import SEQUENCES
from surelearn.solvers import Interrupted, Solution
from surelearn.training.claim import claimed

X, Y = [["the", "dog"], ["a", "cat", "runs"]], [["D", "N"], ["D", "N", "V"]]


class Stopped(surelearn.CRFTagger):
    """A tagger whose training is stopped, after something was learnt or before."""

    def fit_stream(self, source, *, progress=None, resume=False, learns=True):
        if not learns:
            raise KeyboardInterrupt
        self.fit(X, Y)
        raise Interrupted(Solution(np.zeros(1), 1.0, 3, False, None))


Stopped.__name__ = "CRFTagger"  # as files know it
Stopped.__module__ = surelearn.CRFTagger.__module__


def test_ctrl_c_writes_the_best_so_far(tmp_path, capsys):
    with (
        claimed(tmp_path / "m.sure") as output,
        pytest.raises(KeyboardInterrupt, match=r"^$"),
    ):
        _solving.solve(Stopped(), ["a.txt"], output, quiet=False)
    model = surelearn.load(tmp_path / "m.sure")
    assert model.predict(X) == Y
    said = capsys.readouterr().err
    assert said.startswith(f"surelearn: interrupted after {model.n_iter_} iterations at an obj")
    assert said.endswith(f"The best model so far is in {tmp_path / 'm.sure'}.\n")


def test_ctrl_c_before_the_first_iteration_writes_nothing(tmp_path, capsys):
    with (
        claimed(tmp_path / "m.sure") as output,
        pytest.raises(KeyboardInterrupt, match=r"^$"),
    ):
        _solving.solve(Stopped(), ["a.txt"], output, quiet=False, learns=False)
    assert capsys.readouterr().err == "surelearn: interrupted before anything was learnt.\n"
    assert not (tmp_path / "m.sure").exists()


def report(**changes):
    found = {"model": "m.sure", "bytes": 10, "sentences": 1000, "skipped": 0, "classes": ["A", "B"],
             "iterations": 1, "objective": 12345.678, "gap": None, "seconds": 2.0}  # fmt: skip
    return found | changes


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        ({}, ["Learnt 1,000 sentences of 2 tags from a.txt, b.txt in one iteration.",
              "Objective: 12,345.7.", "The model is in m.sure (10 bytes)."]),
        ({"gap": 0.5, "iterations": 2000, "skipped": 3},
         ["Learnt 1,000 sentences of 2 tags from a.txt, b.txt in 2,000 iterations.",
          "Objective: 12,345.7, at most 0.5 above the least.",
          "Skipped because they could not be parsed: 3 sentences.",
          "The model is in m.sure (10 bytes)."]),
    ],
)  # fmt: skip
def test_a_report_in_words(changes, lines):
    said = _solving.in_words(report(**changes), ["a.txt", "b.txt"], surelearn.CRFTagger.task)
    assert said.splitlines() == lines
    piped = _solving.in_words(report(), ["-"], SEQUENCES)
    assert "from standard input" in piped


def test_warnings_are_one_line(tmp_path, capsys):
    (tmp_path / "a.txt").write_text("the D\ndog N\n")
    with claimed(tmp_path / "m.sure") as output:
        _solving.solve(
            surelearn.CRFTagger(max_iter=1), [str(tmp_path / "a.txt")], output, quiet=True
        )
    said = capsys.readouterr().err
    assert said.startswith("surelearn: CRFTagger must converge within max_iter=1 iterations, got")
    assert said.count("\n") == 1
    assert Path(tmp_path / "m.sure").exists()
