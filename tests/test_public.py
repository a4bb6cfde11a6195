"""Every public class and function shows its use, and every public method says what it does."""

from __future__ import annotations

import importlib
import inspect

import pytest

import surelearn

#: Packages that some modules need, and their module.
ENGINES = {"surelearn.dask": "dask", "surelearn.spark": "pyspark", "surelearn.plot": "matplotlib"}

#: Modules whose ``__all__`` is public besides those of the package itself.
OTHERS = ["dask", "decode", "learners", "evaluation", "prediction", "spark", "tuning"]


def modules():
    """Names of all public modules; Spark is there for slow tests only."""
    own = [name for name in surelearn.__all__ if inspect.ismodule(getattr(surelearn, name))]
    names = ["surelearn", *(f"surelearn.{name}" for name in sorted({*own, *OTHERS}))]
    slow = [pytest.mark.slow]
    return [pytest.param(name, marks=slow if name.endswith(".spark") else []) for name in names]


def public(module):
    """Classes and functions of a module's ``__all__``."""
    if module in ENGINES:
        pytest.importorskip(ENGINES[module])
    home = importlib.import_module(module)
    members = ((name, getattr(home, name)) for name in home.__all__)
    return [(n, part) for n, part in members if inspect.isclass(part) or inspect.isfunction(part)]


def undescribed(part):
    """Public methods of a class without a docstring; the budgets of names look after properties."""
    for name, method in inspect.getmembers(part, inspect.isroutine):
        ours = str(getattr(method, "__module__", "")).startswith("surelearn")
        if not name.startswith("_") and ours and not inspect.getdoc(method):
            yield name


@pytest.mark.parametrize("module", modules())
def test_every_public_name_has_an_example(module):
    assert [name for name, part in public(module) if ">>> " not in (part.__doc__ or "")] == []


@pytest.mark.parametrize("module", modules())
def test_every_public_method_says_what_it_does(module):
    classes = [(name, part) for name, part in public(module) if inspect.isclass(part)]
    assert [f"{name}.{method}" for name, part in classes for method in undescribed(part)] == []
