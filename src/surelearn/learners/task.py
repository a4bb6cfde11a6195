"""A task: what one kind of learner says of itself, for all that handle learners of any kind.

Files, merging, prediction, evaluation and commands ask the `task` of an estimator; none of them
knows which kinds there are. A new kind of input or output is a subclass of `Task` and an estimator.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn.learners.answers.classifier import copy_temperature
from surelearn.learners.base import Estimator, is_fitted, not_fitted, settings_of
from surelearn.learners.file_parts import rule_must_be_known
from surelearn.learners.settings import Settings
from surelearn.learners.sources import put_columns
from surelearn.merging import Way, counts_start_once
from surelearn.parameters import untrained
from surelearn.training.prefetch import prefetch, raising, salvaging

if TYPE_CHECKING:
    from surelearn.files import Fields, Tensors
    from surelearn.read import Source
    from surelearn.training.stream import StreamProgress

Progress = Callable[["StreamProgress"], object] | None


class Answers(Protocol):
    """The answers of a model to one batch of a source."""

    @property
    def n(self) -> int:
        """Number of records."""

    @property
    def n_bytes(self) -> int:
        """Number of bytes of the source."""

    @property
    def n_bad(self) -> int:
        """Number of records that could not be parsed."""


class Shown(NamedTuple):
    """What a line of `surelearn predict` shows besides the answer."""

    probabilities: bool = False  # of all labels or candidates
    everything: bool = False  # also the order and the scores of all candidates


class EvaluationOptions(NamedTuple):
    """How a model is evaluated; see `surelearn.evaluate`."""

    rival: Any = None
    progress: Progress = None
    risk: float | None = None
    coverage: float = 0.95


class Task(ABC):
    """What a kind of learner says of itself. A task has no state: one serves all its estimators."""

    #: How the parameters of an estimator are checked.
    settings: ClassVar[type[Settings]]
    #: What a record and a learner of records are called.
    unit: ClassVar[str]
    noun: ClassVar[str]
    #: What is said where a classifier of rows is asked for; `{name}` and `{model}` are filled in.
    not_rows: ClassVar[str] = "{name} must be a classifier of rows, got {model!r}."
    #: What is said where models of a kind that cannot be merged are to be.
    not_merged: ClassVar[str] = ""
    #: Options of commands that this kind does not take, and the only ones that it takes.
    without: ClassVar[frozenset[str]] = frozenset()
    only: ClassVar[frozenset[str] | None] = None
    #: What labels are called, and what an error is a share of if that is not plain.
    labels: ClassVar[str] = "classes"
    wrong: ClassVar[str] = ""

    # ------------------------------------------------------------------ models

    def check_model(self, name: str, model: Any) -> None:
        """Raise unless `model` is a learner of this kind; `name` is how the user calls it."""
        refuse_class(name, model, self.noun)
        if not (isinstance(model, Estimator) and isinstance(model.task, type(self))):
            raise TypeError(f"{name} must be a {self.noun}, got {model!r}.")

    def check_fitted(self, name: str, model: Any) -> None:
        """Raise unless `model` is a fitted learner of this kind."""
        self.check_model(name, model)
        if not is_fitted(model):
            not_fitted(f"{name} must be a fitted {self.noun}, got {model!r}.")

    # ----------------------------------------------------------------- sources

    @abstractmethod
    def opened(
        self, source: Any, reading: Mapping[str, Any], *, model: Any = None, labelled: bool = True
    ) -> Source:
        """An opened source; by default it is read as the data that `model` has learnt from was."""

    # ------------------------------------------------------------------- files

    def check_params(self, where: str, params: dict[str, Any]) -> None:
        """Refuse parameters of a file that name what is not registered in this process."""
        rule_must_be_known(where, params.get("rule"))

    def params(self, estimator: Any) -> dict[str, Any]:
        """Constructor parameters that a reader will accept; they must fit the model."""
        settings_of(estimator).check_fits(estimator.model_)
        params: dict[str, Any] = estimator.get_params(deep=False)
        return params

    @abstractmethod
    def packed(self, estimator: Any) -> tuple[dict[str, Any], Tensors]:
        """The settings and tensors of a file that other kinds do not have; see docs/format.md."""

    @abstractmethod
    def put(self, estimator: Any, fields: Fields, tensors: Tensors, budget: int) -> None:
        """Put the model of a file into a new estimator. The file is untrusted: check all of it.

        `budget` is the number of bytes that may be allocated besides the tensors.
        """

    # ----------------------------------------------------------------- merging

    def check_alike(self, models: Sequence[Any]) -> None:
        """Refuse models that have learnt by other settings, or changed since."""
        wanted = settings_of(models[0]).merge_key()
        for model in models:
            settings = settings_of(model)
            for name, value in settings.merge_key().items():
                _check.agree(name, wanted[name], value)
            if is_fitted(model):
                settings.check_fits(model.model_)
        fitted = [model for model in models if is_fitted(model)]
        for other in fitted[1:]:
            _check.agree("projection_", fitted[0].model_.projection, other.model_.projection)

    @abstractmethod
    def state(self, estimator: Any, how: Way, *, like: Any) -> Any:
        """What merging has to know of an estimator.

        One that is not fitted counts as one at its prior, with the space of the fitted one `like`.
        """

    @abstractmethod
    def put_merged(self, estimator: Any, total: Any, fitted: Sequence[Any]) -> Any:
        """An estimator with what was merged, in place of one that has learnt nothing."""

    def merged(self, models: Sequence[Any], how: Way) -> Any:
        """One estimator from many, at least one of which is fitted."""
        self.check_alike(models)
        fitted = [model for model in models if is_fitted(model)]
        states = [self.state(model, how, like=fitted[0]) for model in models]
        result = self.put_merged(untrained(models[0]), type(states[0]).combined(states), fitted)
        trained = [model for model in fitted if model.model_.weights is not None]
        if len(trained) == 1 and (counts_start_once(how) or len(models) == 1):
            self.copy_calibration(trained[0], result)
        put_columns(result, fitted)
        return result

    def copy_calibration(self, source: Any, result: Any) -> None:
        """What was fitted to the weights is kept where these are kept."""
        copy_temperature(source, result)

    def score(self, model: Any, X: Any, y: Any) -> float:
        """How good a merged model is on labelled records, to choose among several."""
        return float(model.score(X, y))

    # ----------------------------------------------------------------- answers

    def predictions(self, model: Any, source: Source, **how: Any) -> Iterator[Answers]:
        """The answers of a fitted model to each batch of an opened source."""
        raise TypeError(f"model must be one that predicts from files, got {model!r}.")

    def lines(self, model: Any, shown: Shown) -> Callable[[Any], str]:
        """A function that writes the answers to a batch as lines of JSON."""
        raise TypeError(f"model must be one that predicts from files, got {model!r}.")

    def evaluated(self, model: Any, X: Any, y: Any, options: EvaluationOptions, **how: Any) -> Any:
        """The scores of a model on labelled records, in memory or from a source.

        `how` is how the records are read, or what they are in memory besides `X` and `y`.
        """
        raise TypeError(f"model must be one that evaluate takes, got {model!r}. Use its score.")

    # ---------------------------------------------------------------- commands

    def takes(self, option: str) -> bool:
        """Whether a command takes an option for models of this kind."""
        return option not in self.without and (self.only is None or option in self.only)

    def check_command(self, path: Any, model: Any, wanted: str) -> None:
        """Refuse the model of a file where a command wants another kind.

        By default the commands of classifiers handle it.
        """
        if wanted not in ("classifier", self.noun):
            raise ValueError(f"{path} must be a {wanted}, got a {type(model).__name__}.")

    @abstractmethod
    def facts(self, model: Any) -> dict[str, Any]:
        """What `surelearn info` says of a model besides what all models have."""

    def class_rows(self, model: Any) -> tuple[str, NDArray[np.int64]] | None:
        """What is counted for each class, and the counts; None if nothing is."""
        return None

    def learnt(self, model: Any, before: Mapping[str, Any]) -> dict[str, Any]:
        """What the report of a training says of a model besides what all models have.

        `before` are the facts of the model that training went on with, if it did.
        """
        return {}


def task_of(model: Any) -> Task:
    """The task of an estimator; classifiers of other libraries learn rows."""
    if isinstance(model, Estimator):
        return model.task
    from surelearn.learners.tasks.row_task import ROWS

    return ROWS


def refuse_class(name: str, model: Any, noun: str) -> None:
    """Raise for a class in place of its instance."""
    if isinstance(model, type):
        own = model.__name__
        raise TypeError(f"{name} must be a {noun}, got the class {own}. Use {own}(), an instance.")


def refuse_rival(rival: object, noun: str) -> None:
    """Raise for a second model where only one can be evaluated."""
    if rival is not None:
        raise TypeError(f"rival must be None for a {noun}, got {rival!r}.")


W = TypeVar("W")


def ahead(model: Any, work: Callable[[Any], W], source: Source) -> Iterator[W]:
    """What `work` makes of the blocks of a source, in order, ahead in `n_jobs` threads."""
    threads = _check.threads("n_jobs", getattr(model, "n_jobs", None))
    tried = salvaging(work, source)
    yield from raising(prefetch(source.some_blocks(), tried, threads, source.cancel))


def merged_names(fitted: Sequence[Any]) -> NDArray[Any] | None:
    """The names of the columns of merged models, which must agree where there are any."""
    named = [model.feature_names_in_ for model in fitted if hasattr(model, "feature_names_in_")]
    for names in named[1:]:
        _check.agree("feature_names_in_", named[0].tolist(), names.tolist())
    return named[0] if named else None


def json_number(x: float) -> str:
    """A number as JSON, which has no infinity."""
    return f"{x:.6g}" if -1e300 < x < 1e300 else "null"
