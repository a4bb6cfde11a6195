"""Save an estimator to one file and load it; `files` defines the container, tasks the contents.

A file is untrusted input: all of it is checked before it is used.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from importlib import import_module
from typing import Any

from surelearn import files, learners
from surelearn.learners.answers.classifier import put_temperature, temperature_out
from surelearn.learners.base import Estimator
from surelearn.learners.batch import BatchEstimator, put_solution, solution_out
from surelearn.learners.file_decisions import decisions_out, put_file_decisions
from surelearn.learners.file_parts import params_in, params_out, temperature_in
from surelearn.training.position import StreamPosition

#: The module of each estimator, imported when a file needs it: a command that reads one model must
#: not wait for the code of all.
_MODULES = {name: learners.HOMES[name] for name in learners.ESTIMATORS}


def register(estimator: type[Estimator[Any]]) -> None:
    """Let files hold estimators of a class, by its name and its task."""
    _MODULES[estimator.__name__] = estimator.__module__
    _register(estimator.__name__)


def _register(name: str) -> None:
    files.register(name, files.Codec(_packed, partial(_unpacked, name)))


def class_named(name: str) -> Any:
    """The class of an estimator in a file."""
    return getattr(import_module(_MODULES[name]), name)


def write(estimator: Any, path: files.File) -> None:
    """Write a fitted estimator; see docs/format.md."""
    check_saveable(estimator)
    files.save(type(estimator).__name__, estimator, path)


def check_saveable(estimator: Any) -> None:
    """Refuse a subclass of a user: a file stores the name of a registered class."""
    kind = type(estimator)
    if _MODULES.get(kind.__name__) != kind.__module__:
        raise TypeError(
            "estimator must be one of surelearn's own classes to be saved, got the subclass "
            f"{kind.__name__}. Pickle it, or save an estimator of the class it is derived from."
        )


def load(path: files.File, *, max_bytes: int = 2**32) -> Any:
    """Load a model written by `save`. Loading runs no code from the file.

    Parameters
    ----------
    path : str, path or binary file
        An open file, such as ``open(name, "rb")`` or `io.BytesIO`, is read from its current
        position to the end of the model, and stays open.
    max_bytes : int, default 2**32
        Limit of the memory for the model and the contents of the file; more raises FormatError.

    Returns
    -------
    estimator
        The same estimator, bit for bit.

    Raises
    ------
    FormatError
        If the file is damaged, of another format or of a newer version, or if its rule is a
        function that is not registered here.

    Examples
    --------
    >>> import io
    >>> from surelearn import SureClassifier, load
    >>> file = io.BytesIO()
    >>> SureClassifier().fit([[0.0, 1.0], [1.0, 0.0]], ["no", "yes"]).save(file)
    >>> load(io.BytesIO(file.getvalue())).predict([[3.0, 1.0]])
    array(['yes'], dtype='<U3')
    """
    return files.load(path, max_bytes=max_bytes)


def _packed(estimator: Any) -> tuple[dict[str, Any], files.Tensors]:
    """Settings and tensors of an estimator."""
    own, tensors = estimator.task.packed(estimator)
    params, model = estimator.task.params(estimator), estimator.model_
    settings: dict[str, Any] = {
        "params": params_out(params),
        "layout": asdict(model.layout),
        "mistakes": model.mistakes,
        "updates": model.updates,
    }
    settings |= temperature_out(estimator)
    if isinstance(estimator, BatchEstimator):
        settings["solution"] = solution_out(estimator)
    if hasattr(estimator, "stream_"):
        settings["stream"] = estimator.stream_.plain()
    decisions, more = decisions_out(estimator)
    return settings | decisions | own, tensors | more


def _unpacked(name: str, fields: files.Fields, tensors: files.Tensors, budget: int) -> Any:
    """The estimator of a file."""
    cls = class_named(name)
    params = fields.object("params")
    cls.task.check_params(fields.where, params)
    estimator = cls(**params_in(params, name))
    cls.task.put(estimator, fields, tensors, budget)
    temperature = temperature_in(fields)
    if temperature is not None:
        followed = fields.has("temperature_precision")
        precision = fields.number("temperature_precision") if followed else None
        put_temperature(estimator, temperature, precision)
    if isinstance(estimator, BatchEstimator):
        put_solution(estimator, fields.inner("solution"))
    if fields.has("stream"):
        estimator.stream_ = StreamPosition.of(fields.inner("stream"))
    put_file_decisions(estimator, fields, tensors)
    return estimator


for _name in _MODULES:
    _register(_name)
