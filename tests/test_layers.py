"""Imports and C++ includes point down only; heavy libraries stay out of the plain import."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

#: Headers of the core from the bottom up; one may include those on lines above its own.
LAYERS = [
    {
        "types.hpp",
        "normal.hpp",
        "simd.hpp",
        "table.hpp",
        "column_order.hpp",
        "journal.hpp",
        "rw_lock.hpp",
        "parallel_for.hpp",
        "hash.hpp",
        "word_forms.hpp",
        "parse.hpp",
        "utf8.hpp",
        "merge.hpp",
        "topology.hpp",
        "label_costs.hpp",
        "column_units.hpp",
        "urgency_queue.hpp",
    },
    {
        "gaussian.hpp",
        "bounds.hpp",
        "lines.hpp",
        "log_sum_exp.hpp",
        "moves.hpp",
        "hash_many.hpp",
    },
    {
        "rows.hpp",
        "decode.hpp",
        "weight_table.hpp",
        "shards.hpp",
        "gaussian_pairs.hpp",
        "column_sums.hpp",
        "weights.hpp",
        "covariance.hpp",
        "rules.hpp",
        "exact.hpp",
        "probability.hpp",
        "deciding.hpp",
        "text.hpp",
        "row_builder.hpp",
        "dictionary.hpp",
        "svmlight.hpp",
        "jsonl.hpp",
        "chain.hpp",
        "graph_scores.hpp",
    },
    {
        "diagonal.hpp",
        "own_features.hpp",
        "full.hpp",
        "dual.hpp",
        "chain_sums.hpp",
        "by_feature.hpp",
        "crossing.hpp",
        "row_parts.hpp",
        "graph.hpp",
    },
    {
        "sparse_difference.hpp",
        "column_updates.hpp",
        "transaction.hpp",
        "lane_transaction.hpp",
        "constraints.hpp",
        "log_probability.hpp",
        "temperature.hpp",
        "names.hpp",
        "templates.hpp",
        "vw.hpp",
        "graph_search.hpp",
    },
    {"round.hpp", "cells.hpp", "coded_steps.hpp"},
    {"lookahead.hpp", "targets.hpp", "scratch.hpp"},
    {"learn.hpp", "structured.hpp", "hashing.hpp", "top_two.hpp", "document_counts.hpp"},
    {"sweep.hpp", "mean_reader.hpp", "likelihood.hpp", "descent.hpp"},
    {"tagging.hpp", "classes.hpp", "candidates.hpp", "graph_learning.hpp"},
    {"frank_wolfe.hpp"},
]


def test_includes_point_down():
    headers = {path.name: path for path in (ROOT / "cpp" / "surelearn").glob("*.hpp")}
    assert set(headers) == set.union(*LAYERS)
    for level, layer in enumerate(LAYERS):
        below = set().union(*LAYERS[:level])
        for name in layer:
            included = set(re.findall(r'#include "surelearn/(\S+)"', headers[name].read_text()))
            assert included <= below, f"{name} includes {included - below}"


@pytest.mark.parametrize("header", sorted((ROOT / "cpp" / "surelearn").glob("*.hpp")), ids=str)
def test_the_core_has_no_python_and_no_output(header):
    text = header.read_text()
    assert text.startswith("// "), "a header opens with one sentence"
    for word in ("nanobind", "Python.h", "iostream", "printf", "std::cout", "using namespace std"):
        assert word not in text


def modules_after(statement):
    code = f"import sys; {statement}; print('\\n'.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_a_plain_import_is_light():
    loaded = modules_after("import surelearn")
    for heavy in ("matplotlib", "typer", "rich", "pyarrow", "hypothesis"):
        assert heavy not in loaded
    assert "surelearn.cli" not in loaded


def test_every_file_opens_with_a_sentence():
    for path in (ROOT / "src" / "surelearn").rglob("*.py"):
        assert path.read_text().startswith(('"""', 'r"""')), path


@pytest.mark.slow
def test_nothing_is_left_out_of_the_slow_tests():
    """Where a package is missing, conftest.py leaves out the tests that need it: not here."""
    assert runpy.run_path(str(ROOT / "conftest.py"))["collect_ignore"] == ["tests/connect.py"]


def test_what_runs_under_sanitizers_is_there():
    (listed,) = re.findall(r"TESTS:-([^}]*)}", (ROOT / "tests/sanitize/run.sh").read_text())
    assert len(listed.split()) == len(set(listed.split())) > 20
    assert [name for name in listed.split() if not (ROOT / name).exists()] == []
