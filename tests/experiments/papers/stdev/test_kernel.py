"""The kernel form equals the full form; claims turn with the rows."""

from __future__ import annotations

import pytest

from experiments.papers.stdev import kernel
from surelearn import SureKernelClassifier


@pytest.fixture(scope="module")
def rows():
    accuracy = dict(zip(kernel.LEARNERS, ([50.0, 51.0], [97.0, 98.0], [50.0, 50.0], [98.0, 98.0]),
                        strict=True))  # fmt: skip
    judged = [
        {"data": data, "learner": name, "accuracy": values}
        for data in kernel.DATA
        for name, values in accuracy.items()
    ]
    return [row for name in kernel.RULES for row in kernel._dual(name, 1)] + judged


def test_both_forms_agree_and_the_kernel_helps(rows):
    assert [claim.verdict for claim in kernel.claims(rows)] == ["held"] * 3


@pytest.mark.parametrize("change", [{"same": 0}, {"mean": 0.01}, {"variance": 0.01}])
def test_forms_that_differ_speak_against_the_theorem(rows, change):
    changed = [{**rows[0], **change}, *rows[1:]]
    assert kernel.claims(changed)[0].verdict == "did not hold"


def test_a_kernel_that_does_not_help_speaks_against_it(rows):
    names = {kernel.LINEAR: kernel.RBF, kernel.RBF: kernel.LINEAR}
    turned = [
        {**row, "learner": names.get(row["learner"], row["learner"])} if "data" in row else row
        for row in rows
    ]
    assert [claim.verdict for claim in kernel.claims(turned)[1:]] == ["did not hold"] * 2


def test_tables_have_a_line_for_each(rows):
    both, judged = kernel.tables(rows).values()
    assert [line["rule"] for line in both] == list(kernel.RULES)
    assert judged[1]["accuracy"] == "97.50 ± 0.50"


def test_rings_need_a_kernel(monkeypatch):
    monkeypatch.setitem(kernel.DATA, "two rings", lambda: kernel.circles(200))
    linear, rbf = (
        kernel._judged("two rings", name, 2)[0]["accuracy"] for name in (kernel.LINEAR, kernel.RBF)
    )
    assert len(rbf) == 2
    assert min(rbf) > max(linear)


def test_the_picture_is_drawn(rows, tmp_path):
    kernel.draw(rows, tmp_path)
    assert (tmp_path / "kernel.png").stat().st_size > 10_000


def test_forms_are_the_same_if_they_make_the_same_mistakes(monkeypatch):
    name = next(iter(kernel.RULES))
    assert kernel._compared(name, 0)["same"]
    monkeypatch.setattr(
        kernel, "SureKernelClassifier", lambda rule, **more: SureKernelClassifier("arow", **more)
    )
    assert not kernel._compared(name, 0)["same"]
