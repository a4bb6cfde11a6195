"""Ways and lines as they are counted, on calls and classes whose counts are known."""

from __future__ import annotations

import textwrap
from pathlib import Path

from house.paths import CLASSES, LIMITS, Way, budgets, own_classes, walked


def test_a_way_is_counted(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("def inner():\n    return [x for x in range(3)]\n")
    (tmp_path / "two.py").write_text(
        textwrap.dedent(
            """
            def outer(inner):
                inner()
                return inner()
            """
        )
    )
    spaces: list[dict[str, object]] = [{}, {}]
    for name, space in zip(("one", "two"), spaces, strict=True):
        path = tmp_path / f"{name}.py"
        exec(compile(path.read_text(), str(path), "exec"), space)
    outer, inner = spaces[1]["outer"], spaces[0]["inner"]
    assert walked(lambda: outer(inner), str(tmp_path)) == Way(2, 2, 2)  # type: ignore[operator]
    assert walked(lambda: inner(), str(tmp_path)) == Way(1, 1, 1)  # type: ignore[operator]
    assert walked(lambda: len("ab"), str(tmp_path)) == Way(0, 0, 0)


def test_classes_of_others_do_not_count() -> None:
    from surelearn import SureClassifier

    class Own(SureClassifier):
        pass

    assert own_classes(Own) == own_classes(SureClassifier)
    assert own_classes(SureClassifier) == CLASSES["SureClassifier"]
    assert own_classes(int) == 0


def test_what_is_over_a_limit_is_named_with_its_number() -> None:
    listed = {budget.title: budget for budget in budgets()}
    assert set(listed) == {
        "functions on the way of a fit",
        "files on the way of a fit",
        "depth on the way of a fit",
        "own classes of estimators",
    }
    for part in Way._fields:
        for name in listed[f"{part} on the way of a fit"].over:
            call, number = name.removeprefix(f"{part} on the way of ").split(": ")
            assert int(number) > getattr(LIMITS[call], part)
