"""Which files are collected: make test installs neither Spark nor a convex solver."""

from __future__ import annotations

from importlib.util import find_spec

#: Files by the package of the group `slow` that they import; test_layers.py asks for all of them.
NEED = {
    "pyspark": ["src/surelearn/spark.py", "tests/test_spark.py"],
    "cvxpy": ["tests/reference/convex.py", "tests/reference/test_reference_exact.py"],
}

#: The last one is a script of the tests of Spark.
collect_ignore = [
    *(path for package, paths in NEED.items() if find_spec(package) is None for path in paths),
    "tests/connect.py",
]
