"""The mutants: places that are found in tiny sources, what is tried, what counts as noticed."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from mutants.__main__ import Mutant, answered, mutants, report, tried
from mutants.core import part_of
from mutants.places import header_changes, python_changes
from mutants.rooms import Verdict, deselected, mirrored, noticed, read_reached, room
from mutants.tree import Outcome, Tree

ROOT = Path(__file__).parents[2]

#: Sources, and what becomes of them one token at a time.
PYTHON = {
    "a < b": ["a <= b"],
    "a not in b": ["a in b"],
    "a  is  not b": ["a  is b"],
    "a is (not b)": ["a is not (not b)", "a is ( b)"],
    "a and not b or c": ["a or not b or c", "a and  b or c", "a and not b and c"],
    "0 < (a) <= 2": ["1 < (a) <= 2", "0 <= (a) <= 2", "0 < (a) < 2", "0 < (a) <= 3"],
    "a = b - -1": ["a = b + -1", "a = b - +1", "a = b - -2"],
    "a //= True": ["a /= True", "a //= False"],
    "é = 'ü' == ö != 0.5": ["é = 'ü' != ö != 0.5", "é = 'ü' == ö == 0.5", "é = 'ü' == ö != 1.5"],
    "a @ b": [],
    "a: Literal[1] = 7": ["a: Literal[1] = 8"],
    "A = int | None": [],
    "a[b] = 65536": [],
    "'a' + b + f'{c + 1}'": [],
    "'%d' % 3": ["'%d' % 4"],
    "__all__ = ['a'] + ['b'] * 2": [],
    "assert a == 1": [],
    "zip(a, b, strict=True)": [],
    "if TYPE_CHECKING:\n    a = 1\nelse:\n    a = 2": [
        "if TYPE_CHECKING:\n    a = 1\nelse:\n    a = 3"
    ],
    "@overload\ndef f(a=1): ...": [],
    "@dataclass(frozen=True)\nclass A:\n    a: int | None = 1": [
        "@dataclass(frozen=True)\nclass A:\n    a: int | None = 2"
    ],
    "def f(a: Literal[1] = 2, *, b=0) -> A | B:\n    'Of 1.'": [
        "def f(a: Literal[1] = 3, *, b=0) -> A | B:\n    'Of 1.'",
        "def f(a: Literal[1] = 2, *, b=1) -> A | B:\n    'Of 1.'",
    ],
}

HEADERS = {
    "if (a <= b && c) ++d;": ["if (a < b && c) ++d;", "if (a <= b || c) ++d;"],
    "template <class T, int n = 1>\nT x{2};  // of 3": [
        "template <class T, int n = 1>\nT x{3};  // of 3"
    ],
    "#include <a>\n#define a(b) \\\n    b + 1\nstatic_assert(a + 1 == 2);\nf(T&& a, U* b);": [],
    "a[i] *= 0.5; /* 1 + 2 */": ["a[i] /= 0.5; /* 1 + 2 */", "a[i] *= 1.5; /* 1 + 2 */"],
    "x = 0x1f + 1'000 - b2;": ["x = 0x1f - 1'000 - b2;", "x = 0x1f + 1'000 + b2;"],
    "return c == '+' ? \" < \" : true;": [
        "return c != '+' ? \" < \" : true;",
        "return c == '+' ? \" < \" : false;",
    ],
    "bool operator==(A a) const { return a > b; }": [
        "bool operator==(A a) const { return a >= b; }"
    ],
}


def changed(text, changes):
    return [change.applied(text) for change in changes]


@pytest.mark.parametrize("text", PYTHON)
def test_places_of_python(text):
    assert changed(text, python_changes(text)) == PYTHON[text]


@pytest.mark.parametrize("text", HEADERS)
def test_places_of_headers(text):
    assert changed(text, header_changes(text)) == HEADERS[text]


def test_a_place_is_told_by_its_line():
    text = "def f(a, b):\n    return a + 1 + b + 11 + 1\n"
    assert [change.told(text) for change in python_changes(text)] == [
        "+ -> - (number 1)",
        "1 -> 2 (number 1)",
        "+ -> - (number 2)",
        "+ -> - (number 3)",
        "11 -> 12",
        "+ -> - (number 4)",
        "1 -> 2 (number 2)",
    ]
    assert {change.source(text) for change in python_changes(text)} == {text.split("\n")[1].strip()}
    assert {change.function for change in python_changes(text)} == {1}


def test_a_function_begins_with_its_decorators():
    text = "x = 1\n@cache\n@wraps(f)\ndef f(a=2):\n    def g():\n        return 3\n    return g\n"
    assert [change.function for change in python_changes(text)] == [None, 2, 5]


def test_every_change_of_the_package_is_python():
    for file in sorted((ROOT / "src" / "surelearn").rglob("*.py")):
        text = file.read_text()
        changes = python_changes(text)
        for change in random.Random(0).sample(changes, min(2, len(changes))):
            compile(change.applied(text), str(file), "exec", dont_inherit=True)


@pytest.mark.parametrize(
    ("path", "name", "files"),
    [
        ("src/surelearn/read/_jsonl.py", "read", ["tests/read/test_jsonl.py"]),
        ("src/surelearn/_check/_rows.py", "_check", ["tests/check/test_rows.py"]),
        ("src/surelearn/learners/tasks/rows.py", "learners", ["tests/learners/tasks/test_rows.py"]),
        ("src/surelearn/weights.py", "", ["tests/test_weights.py"]),
        ("src/surelearn/__init__.py", "", ["tests/test_public.py"]),
    ],
)
def test_a_module_has_a_room_and_a_mirror(path, name, files):
    assert room(path) == name
    assert mirrored(path)[:1] == files
    assert (ROOT / files[0]).exists()


def test_what_files_reach_is_read_from_lines(capsys):
    lines = [
        "reached\t\tread/_a.py\t1",
        "passed\ta\t0.0",
        "passed\tb\t0.0",
        "reached\ta\tread/_a.py\t7",
        "passed\ta::one\t0.5",
        "failed\ta::two\t0.25",
        "failed\tb\t1",
    ]
    runs = read_reached("\n".join(lines), {"a": "A", "b": "B", "c": "C"}, ["a", "b", "c"])
    assert runs["a"] == ("A", True, 0.75, [("read/_a.py", 1), ("read/_a.py", 7)], ("a::two",))
    assert deselected(runs, ["a", "b"]) == ["--deselect=a::two"]
    assert [runs[file].sound for file in "abc"] == [True, False, False]
    assert runs["c"].reached == [("read/_a.py", 1)]
    said = capsys.readouterr().out
    assert [line.rpartition(" ")[2] for line in said.splitlines()] == ["a::two", "b", "c"]


@pytest.mark.parametrize(
    ("code", "output", "by"),
    [
        (0, "", ""),
        (5, "no tests ran", ""),
        (None, "", "its time limit"),
        (1, "FAILED tests/test_a.py::test_b - assert 1 == 2\n1 failed", "tests/test_a.py::test_b"),
        (2, "ERROR tests/test_a.py\n", "tests/test_a.py"),
        (-11, "", "exit code -11"),
    ],
)
def test_what_counts_as_noticed(code, output, by):
    assert noticed(Outcome(code, output, 1.0)) == by


def test_unusable_ones_are_drawn_again_and_known_ones_not_tried(capsys):
    text = "a = [1, 2, 3, 4, 5]"
    made = [Mutant("a.py", c, c.source(text), c.told(text)) for c in python_changes(text)]
    answers = answered(f"# Why.\n\na.py | {text} | 3 -> 4 | it is | the same\n")
    assert list(answers) != [made[2].key]
    answers = answered(f"# Why.\n\na.py | {text} | 3 -> 4 | it is the same\n")
    assert list(answers) == [made[2].key]
    verdicts = iter([Verdict(True, "b"), Verdict(False, "", usable=False), Verdict(False, "all")])
    ends = tried(made, 3, answers, lambda batch: [(next(verdicts), 0.5) for _ in batch])
    assert report(ends) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[-1].startswith("noticed 1 of 2, 1 more")
    assert said[-3:-1] == [f"a.py:1  4 -> 5\n    {text}".split("\n")[i] for i in (0, 1)]


def test_the_copy_is_changed_and_restored(tmp_path):
    tree = Tree(ROOT, tmp_path)
    file = tmp_path / "a.py"
    file.write_text("print(1 + 1)")
    before = file.stat().st_mtime_ns
    (change,) = [c for c in python_changes(file.read_text()) if c.new == "-"]
    with tree.changed("a.py", change.applied(file.read_text())):
        assert tree.run([sys.executable, "a.py"], 60).output == "0\n"
    assert file.read_text() == "print(1 + 1)"
    assert file.stat().st_mtime_ns == before


def test_a_program_without_end_is_ended(tmp_path):
    outcome = Tree(ROOT, tmp_path).run([sys.executable, "-c", "while True: pass"], 0.5)
    assert outcome.code is None
    assert noticed(outcome)


def test_a_part_of_the_test_program():
    program = (ROOT / "cpp/tests/main.cpp").read_text()
    part = part_of(program, "chain")
    assert '#include "test_chain.hpp"' in part
    assert "run(chain_tests, count);" in part
    assert "test_graph" not in part
    assert "graph_tests" not in part
    assert part_of(program, "") == program


def test_all_places_are_drawn_from_and_one_file_alone(tmp_path):
    (tmp_path / "src/surelearn").mkdir(parents=True)
    (tmp_path / "src/surelearn/a.py").write_text("a = 1\nb = 2\n")
    (tmp_path / "src/surelearn/b.py").write_text("c = 3\n")
    drawn = list(mutants(tmp_path, "python", ""))
    assert [str(mutant) for mutant in drawn] == [
        "src/surelearn/a.py:1  1 -> 2",
        "src/surelearn/a.py:2  2 -> 3",
        "src/surelearn/b.py:1  3 -> 4",
    ]
    for only, line in (("src/surelearn/b", "c = 3"), ("src/surelearn/a.py:2", "b = 2")):
        assert [mutant.line for mutant in mutants(tmp_path, "python", only)] == [line]
