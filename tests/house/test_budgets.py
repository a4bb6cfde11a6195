"""The budgets on small trees: each broken once, each kept once, and a list that only shrinks."""

from __future__ import annotations

import pytest

from house.__main__ import BASELINE, main, measured, table
from house.sources import Source

LINES = "\n".join(f"    x = {i}" for i in range(70))
COPY = "".join(f"    step_{i}()\n" for i in range(6))

#: A house in order: one module with its test, one header, one script.
CLEAN = {
    "src/surelearn/__init__.py": '"""Package."""\n__all__ = ["open_rows"]\n',
    "src/surelearn/read/__init__.py": '"""Room."""\nfrom surelearn.read._rows import open_rows\n',
    "src/surelearn/read/_rows.py": '"""Rows."""\ndef open_rows():\n    """Open."""\n',
    "tests/read/test_rows.py": "def test_rows():\n    pass\n",
    "cpp/surelearn/rows.hpp": "// Rows.\nint rows() {\n  return 1;\n}\n",
    "benchmarks/pass.py": '"""Pass."""\nfrom surelearn import open_rows\n',
    "experiments/papers/run.py": '"""Run."""\nfrom surelearn import open_rows\n',
    "tests/experiments/papers/test_run.py": "def test_run():\n    pass\n",
}


def deep(n):
    """Modules that import one another in a chain."""
    return {
        f"src/surelearn/read/_rows{i or ''}.py": f"from surelearn.read._rows{i + 1} import a\n"
        for i in range(n)
    }


#: What breaks a budget: the files that do it, and what is named.
BROKEN = {
    "long function": (
        {"src/surelearn/read/_rows.py": f"def _long():\n{LINES}\n"},
        "functions over 60 lines: src/surelearn/read/_rows.py: _long (71 lines)",
    ),
    "long function of C++": (
        {"cpp/surelearn/rows.hpp": "void Rows::all() {\n" + LINES.replace("0", "0;\n") + "}\n"},
        "functions over 60 lines: cpp/surelearn/rows.hpp: Rows::all (",
    ),
    "long functions": (
        {"tests/read/test_rows.py": "def test_rows():\n" + LINES[:300]},
        "median lines of a function: tests (",
    ),
    "one in ten": (
        {"benchmarks/pass.py": "def run():\n" + "\n".join(LINES.split("\n")[:35])},
        "lines of nine in ten: scripts (36)",
    ),
    "long file": (
        {"tests/read/test_rows.py": "x = 1\n" * 501},
        "files over 500 lines: tests/read/test_rows.py (501 lines)",
    ),
    "long header": (
        {"cpp/surelearn/rows.hpp": "int x;\n" * 501},
        "files over 500 lines: cpp/surelearn/rows.hpp (501 lines)",
    ),
    "no docstring": (
        {"src/surelearn/read/_rows.py": "def open_rows():\n    pass\n"},
        "public names without docstring: src/surelearn/read/_rows.py: open_rows",
    ),
    "no docstring in a base": (
        {
            "src/surelearn/read/_rows.py": '"""Rows."""\n'
            'class Base:\n    """Base."""\n    def size(self): ...\n'
            'class open_rows(Base):\n    """Rows."""\n'
        },
        "public names without docstring: src/surelearn/read/_rows.py: Base.size",
    ),
    "no test": (
        {"src/surelearn/read/_jsonl.py": '"""Lines."""\n'},
        "modules without own test file: src/surelearn/read/_jsonl.py",
    ),
    "private attribute": (
        {"src/surelearn/read/_rows.py": "def _size(model):\n    return model._model\n"},
        "private names of other files: src/surelearn/read/_rows.py: ._model",
    ),
    "private attribute in a script": (
        {"benchmarks/pass.py": "def run(model):\n    return model._model\n"},
        "private names of other files: benchmarks/pass.py: ._model",
    ),
    "private function": (
        {"src/surelearn/read/__init__.py": "from surelearn.read._rows import _cut\n"},
        "private names of other files: src/surelearn/read/__init__.py: surelearn.read._rows._cut",
    ),
    "private function of a library": (
        {"src/surelearn/read/_rows.py": "from sklearn.utils import _safe_indexing\n"},
        "private names of other files: src/surelearn/read/_rows.py: sklearn.utils._safe_indexing",
    ),
    "private file": (
        {
            "src/surelearn/active.py": "from surelearn.read._rows import open_rows\n",
            "tests/test_active.py": "",
        },
        "private files of other rooms: src/surelearn/active.py: surelearn.read._rows",
    ),
    "private file in a script": (
        {"benchmarks/pass.py": "from surelearn.read import _rows\n"},
        "private files of other rooms: benchmarks/pass.py: surelearn.read._rows",
    ),
    "long function of the papers": (
        {"experiments/papers/run.py": f"def run():\n{LINES}\n"},
        "functions over 60 lines: experiments/papers/run.py: run (71 lines)",
    ),
    "no test of the papers": (
        {"experiments/papers/lecture/svm.py": '"""Entry."""\n'},
        "modules without own test file: experiments/papers/lecture/svm.py",
    ),
    "no docstring in the papers": (
        {"experiments/papers/run.py": '"""Run."""\n__all__ = ["rebuild"]\ndef rebuild(): ...\n'},
        "public names without docstring: experiments/papers/run.py: rebuild",
    ),
    "private file in the papers": (
        {"experiments/papers/run.py": "from surelearn.read import _rows\n"},
        "private files of other rooms: experiments/papers/run.py: surelearn.read._rows",
    ),
    "deep": (
        deep(15) | {f"tests/read/test_rows{i}.py": "" for i in range(1, 16)}
        | {"src/surelearn/read/_rows15.py": ""},
        "longest chain of imports: 17 (surelearn.read > surelearn.read._rows > ",
    ),
    "cycle": (
        {"src/surelearn/read/_rows.py": "import surelearn.read\n"},
        "cycle of imports: surelearn.read > surelearn.read._rows > surelearn.read",
    ),
    "copy": (
        {
            "src/surelearn/text.py": f"def _walk():\n    a = 1\n{COPY}",
            "src/surelearn/read/_rows.py": f"# Rows.\ndef _run():\n{COPY}    b = 1\n",
            "tests/test_text.py": "",
        },
        "copied blocks: src/surelearn/read/_rows.py src/surelearn/text.py: step_0() "
        "(6 lines at 3 and 3)",
    ),
    "copy in the papers": (
        {
            "experiments/papers/run.py": f"def run():\n{COPY}",
            "experiments/papers/entry.py": f"# Entry.\ndef rows():\n{COPY}",
            "tests/experiments/papers/test_entry.py": "",
        },
        "copied blocks: experiments/papers/entry.py experiments/papers/run.py: step_0() "
        "(6 lines at 3 and 2)",
    ),
    "copy in C++": (
        {
            "cpp/surelearn/a.hpp": "void a() {\n" + COPY.replace(")", ");") + "}\n",
            "cpp/surelearn/b.hpp": "void b() {\n" + COPY.replace(")", ");\n//\n") + "}\n",
        },
        "copied blocks: cpp/surelearn/a.hpp cpp/surelearn/b.hpp: step_0(); (6 lines at 2 and 2)",
    ),
}  # fmt: skip


@pytest.fixture
def house(tmp_path):
    """A function that changes files of a house in order and runs the watch on it."""

    def run(changes, *arguments):
        for path, text in changes.items():
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.unlink(missing_ok=True)
            if text is not None:
                file.write_text(text)
        return main(["--root", str(tmp_path), *arguments])

    run(CLEAN)
    return run


def test_a_house_in_order_is_silent(house, capsys):
    capsys.readouterr()
    assert house({}) == 0
    assert capsys.readouterr().out.count("\n") == 11


@pytest.mark.parametrize(("changes", "named"), BROKEN.values(), ids=BROKEN)
def test_what_is_over_budget_is_named(house, capsys, changes, named):
    assert house(changes) == 1
    assert f"over budget: {named}" in capsys.readouterr().out


@pytest.mark.parametrize("changes", [changes for changes, _ in BROKEN.values()], ids=BROKEN)
def test_what_is_known_passes_until_it_is_gone(house, capsys, changes):
    assert house(changes, "--write") == 0
    assert house({}) == 0
    capsys.readouterr()
    assert house({path: CLEAN.get(path) for path in changes}) == 1
    said = capsys.readouterr().out
    assert "no longer over budget: " in said
    assert said.endswith("make budgets\n")
    assert house({}, "--write") == 0


def test_the_list_has_names_and_no_figures(house, tmp_path):
    house(BROKEN["long function"][0], "--write")
    named = (tmp_path / BASELINE).read_text().splitlines()
    assert "functions over 60 lines: src/surelearn/read/_rows.py: _long" in named


KEPT = {
    "own attribute": "class _A:\n    def b(self):\n        self._x = 1\ndef _b(a):\n    a._x\n",
    "own field": "class _A:\n    _x: int\ndef _b(a):\n    return a._x\n",
    "own method of the base": "class _A:\n    def b(self):\n        super()._c()\n",
    "named tuple": "def _b(a):\n    return a._replace(x=1)\n",
    "native core": "from surelearn import _core\n",
    "file of the room": "from surelearn.read import _rows\n",
    "documented in the class": """
class open_rows:
    '''Rows.

    size, width : int
        Of the rows.
    '''
    @property
    def size(self): ...
    @size.setter
    def size(self): ...
""",
    "private function": "def _cut():\n    def inner(): ...\n",
    "types only": "if TYPE_CHECKING:\n    import surelearn.read\n",
    "later": "def _later():\n    import surelearn.read\n",
    "comments": "def _long():\n" + LINES.replace("x", "# x") + '\n    """Text."""\n',
}


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_what_is_within_budget(house, text):
    assert house({"src/surelearn/read/_rows.py": text}) == 0


@pytest.mark.parametrize(
    ("text", "functions"),
    [
        ("struct A {\n  int b() const {\n    return 1;\n  }\n};\n", [("b", 3)]),
        ("namespace a {\nint b(int c = d(1)) {\n// }\n  e(\"}\", '{');\n}\n}\n", [("b", 3)]),
        ("void a() {\n  auto b = [](int c) {\n    return c;\n  };\n}\n", [("a", 5)]),
        ("template <class T>\nbool a(T t) {\n  if (t) {\n    b();\n  }\n}\nvoid c() {}\n",
         [("a", 5), ("c", 1)]),
        ("constexpr double A[] = {f(1), f(2)};\nint b() { return 1'000; }\n", [("b", 1)]),
        ("struct alignas(64) A {\n  A() = default;\n  A& operator=(A&&) {\n  }\n};\n",
         [("operator=", 2)]),
        ("template <class T>\nconcept A = requires(T t) {\n  t.b();\n};\n", []),
    ],
)  # fmt: skip
def test_functions_of_headers(text, functions):
    assert list(Source("cpp/a.hpp", text).functions()) == functions


def test_the_table_has_a_figure_for_every_budget(house, tmp_path):
    lines = table(measured(tmp_path)).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert lines[1].split()[-6:] == ["9", "1", "3", "2", "0", "0"]
