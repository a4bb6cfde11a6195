"""Tests of the command: run in process by typer's runner, its output read."""

from __future__ import annotations

import builtins
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import image
from typer.testing import CliRunner

import surelearn
from surelearn import SureClassifier, rules
from surelearn.cli import _app, demo, main
from surelearn.plot import LearningCurveDisplay

# For a fresh interpreter in which one module cannot be found, as without the extra.
WITHOUT = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {missing!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocker())
sys.argv = ["surelearn", "demo"]
from surelearn.cli import main
main()
"""

# What the modules of the command import beside surelearn/__init__.py itself.
IMPORTED = """
import sys, types, importlib.util
package = types.ModuleType("surelearn")
package.__path__ = [{path!r}]
package.__version__ = "0"
sys.modules["surelearn"] = package
import surelearn.cli._app
print(*sorted({{name.partition(".")[0] for name in sys.modules}}))
"""
