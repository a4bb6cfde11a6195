"""Tests of room 1, read: the corpora of surelearn.datasets."""

from __future__ import annotations

import gc
import hashlib
import json
import os
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from surelearn import datasets
from surelearn.datasets import docstrings, load_docstrings

LONG = "A docstring that is long enough to be kept in the corpus"

# Written for a fresh interpreter: what the call gives, and what it imports on the way.
CHILD = """
import hashlib, json, sys
from surelearn.datasets import load_docstrings
before = set(sys.modules)
corpus = load_docstrings()
rows = json.dumps([corpus.data, corpus.target.tolist(), corpus.source])
read = {source.partition(":")[0] for source in corpus.source}
print(json.dumps({
    "digest": hashlib.sha256(rows.encode()).hexdigest(),
    "imported": sorted((set(sys.modules) - before) & read),
    "tkinter": "tkinter" in sys.modules,
}))
"""


@pytest.fixture(scope="module")
def corpus() -> Any:
    return load_docstrings()


@pytest.fixture(scope="module")
def child(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What another process finds, in another folder and with other hashes of strings."""
    # Relative entries of the path would point elsewhere from there.
    path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path)
    run = subprocess.run(
        [sys.executable, "-c", CHILD],
        cwd=tmp_path_factory.mktemp("elsewhere"),
        env={**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def _digest(corpus: Any) -> str:
    rows = json.dumps([corpus.data, corpus.target.tolist(), corpus.source])
    return hashlib.sha256(rows.encode()).hexdigest()


def _write(root: Path, path: str, text: str) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def test_what_is_public() -> None:
    assert datasets.__all__ == ["find", "load_docstrings"]


def test_size_is_within_bounds(corpus: Any) -> None:
    assert 5_000 <= len(corpus.data) <= 12_000
    assert 25 <= len(corpus.target_names) <= 45


def test_parts_fit_together(corpus: Any) -> None:
    assert len(corpus.data) == len(corpus.target) == len(corpus.source)
    assert corpus.target.dtype.kind == "U"
    assert corpus.target_names == np.unique(corpus.target).tolist()
    assert isinstance(corpus.DESCR, str)


def test_all_four_sources_have_labels(corpus: Any) -> None:
    assert {name.partition(".")[0] for name in corpus.target_names} == {
        "numpy",
        "scipy",
        "sklearn",
        "stdlib",
    }
    assert {"scipy.stats", "sklearn.linear_model", "stdlib.asyncio"} <= set(corpus.target_names)


def test_label_is_the_sub_package_of_the_source(corpus: Any) -> None:
    for label, source in zip(corpus.target, corpus.source, strict=True):
        module = source.partition(":")[0]
        package = label.removeprefix("stdlib.")
        assert module == package or module.startswith(package + ".")


def test_texts_are_distinct_long_enough_and_encodable(corpus: Any) -> None:
    assert len(set(corpus.data)) == len(corpus.data)
    assert min(len(text.strip()) for text in corpus.data) >= docstrings._MIN_LENGTH
    assert all(text.encode() for text in corpus.data)


def test_every_label_has_enough_texts(corpus: Any) -> None:
    assert min(Counter(corpus.target.tolist()).values()) >= docstrings._MIN_TEXTS


def test_tests_and_copies_of_other_projects_are_left_out(corpus: Any) -> None:
    parts = {part for source in corpus.source for part in source.partition(":")[0].split(".")}
    assert not parts & docstrings._SKIPPED


def test_return_X_y_gives_the_same_rows(corpus: Any) -> None:
    data, target = load_docstrings(return_X_y=True)
    assert data == corpus.data
    np.testing.assert_array_equal(target, corpus.target)


def test_every_call_gives_rows_of_its_own(corpus: Any) -> None:
    data, target = load_docstrings(return_X_y=True)
    data.clear()
    target[:] = "changed"
    assert _digest(load_docstrings()) == _digest(corpus)


@pytest.mark.slow
def test_same_in_every_process(corpus: Any, child: dict[str, Any]) -> None:
    assert child["digest"] == _digest(corpus)


@pytest.mark.slow
def test_nothing_is_imported(child: dict[str, Any]) -> None:
    assert child["imported"] == []
    assert not child["tkinter"]


def test_collect_names_every_definition_by_path_and_line(tmp_path: Path) -> None:
    _write(tmp_path, "b/late.py", 'def last():\n    """Last."""\n')
    _write(
        tmp_path,
        "b/__init__.py",
        '"""Module."""\n'
        'class Outer:\n    """Class."""\n    async def method(self):\n        """Method."""\n'
        'try:\n    pass\nexcept OSError:\n    def handler():\n        """Handler."""\n'
        'def plain():\n    def inner():\n        """Inner."""\n    return 1\n',
    )
    _write(tmp_path, "a/deep/x.py", '"""First."""\n')
    assert list(docstrings._collect(tmp_path, "pkg")) == [
        ("pkg.a", "pkg.a.deep.x:<module>", "First."),
        ("pkg.b", "pkg.b:<module>", "Module."),
        ("pkg.b", "pkg.b:Outer", "Class."),
        ("pkg.b", "pkg.b:Outer.method", "Method."),
        ("pkg.b", "pkg.b:handler", "Handler."),
        ("pkg.b", "pkg.b:plain.inner", "Inner."),
        ("pkg.b", "pkg.b.late:last", "Last."),
    ]


def test_text_has_neither_indentation_nor_space_around_it(tmp_path: Path) -> None:
    source = 'def f():\n    """\n    Head.\n\n      Body.   \n    """\n'
    _write(tmp_path, "sub/x.py", source)
    assert [text.text for text in docstrings._collect(tmp_path, "pkg")] == ["Head.\n\n  Body."]


def test_modules_of_the_standard_library_keep_their_name(tmp_path: Path) -> None:
    _write(tmp_path, "email/message.py", '"""Text."""\n')
    found = list(docstrings._collect(tmp_path, "stdlib"))
    assert found == [("stdlib.email", "email.message:<module>", "Text.")]


@pytest.mark.parametrize(
    "broken",
    [
        b'"""Text."""\ndef (:\n',
        b'"""Text \xff\xfe."""\n',
        b'# -*- coding: no-such-code -*-\n"""Text."""\n',
        b'"""Text."""\n\x00\n',
        b'"""Text."""\nx = ' + b"-" * 100_000 + b"1\n",
    ],
    ids=["syntax", "bytes", "encoding", "null", "nesting"],
)
def test_broken_source_is_skipped(tmp_path: Path, broken: bytes) -> None:
    _write(tmp_path, "sub/good.py", '"""Good."""\n')
    (tmp_path / "sub" / "broken.py").write_bytes(broken)
    (tmp_path / "sub" / "folder.py").mkdir()
    found = list(docstrings._collect(tmp_path, "pkg"))
    assert found == [("pkg.sub", "pkg.sub.good:<module>", "Good.")]


def test_missing_link_is_skipped(tmp_path: Path) -> None:
    _write(tmp_path, "sub/good.py", '"""Good."""\n')
    try:
        (tmp_path / "sub" / "gone.py").symlink_to(tmp_path / "nowhere.py")
    except OSError:
        pytest.skip("links are not allowed here")
    assert [text.text for text in docstrings._collect(tmp_path, "pkg")] == ["Good."]


def test_declared_encoding_is_read(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    source = '# -*- coding: latin-1 -*-\n"""Größe."""\n'.encode("latin-1")
    (tmp_path / "sub" / "latin.py").write_bytes(source)
    assert [text.text for text in docstrings._collect(tmp_path, "pkg")] == ["Größe."]


def test_warnings_of_the_parser_stay_silent(tmp_path: Path) -> None:
    _write(tmp_path, "sub/escape.py", '"""A \\d digit."""\nassert (1, "always true")\n')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = list(docstrings._collect(tmp_path, "pkg"))
    assert [text.text for text in found] == ["A \\d digit."]


def test_skipped_folders_count_below_the_root_only(tmp_path: Path) -> None:
    root = tmp_path / "tests" / "pkg"
    for path in ("alone.py", "sub/good.py", "sub/tests/bad.py", "_vendor/bad.py", "lib-x/bad.py"):
        _write(root, path, f'"""{path}"""\n')
    assert [text.text for text in docstrings._collect(root, "pkg")] == ["sub/good.py"]


@pytest.mark.parametrize("enabled", [True, False])
def test_collector_is_left_as_it_was(enabled: bool) -> None:
    (gc.enable if enabled else gc.disable)()
    try:
        with docstrings._collector_paused():
            assert not gc.isenabled()
        assert gc.isenabled() == enabled
    finally:
        gc.enable()


def test_select_keeps_the_first_of_equal_texts() -> None:
    n = docstrings._MIN_TEXTS
    texts = [docstrings._Text("pkg.a", f"a:{i}", f"{LONG}, number {i}.") for i in range(n)]
    again = [text._replace(label="pkg.b", source="b:again") for text in texts]
    assert docstrings._select([*texts, *again]) == texts


def test_select_drops_short_texts_before_it_counts() -> None:
    n = docstrings._MIN_TEXTS
    texts = [docstrings._Text("pkg.a", f"a:{i}", f"{LONG}, number {i}.") for i in range(n - 1)]
    short = docstrings._Text("pkg.a", "a:short", "x" * (docstrings._MIN_LENGTH - 1))
    enough = short._replace(text="x" * docstrings._MIN_LENGTH)
    assert docstrings._select([*texts, short]) == []
    assert docstrings._select([*texts, enough]) == [*texts, enough]
