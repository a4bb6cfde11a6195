"""
The native core of surelearn. Trusts its caller; checks are in surelearn._check.
"""

from collections.abc import Sequence
from typing import Annotated, Any, overload

import numpy
from numpy.typing import NDArray


def is_wide() -> bool:
    """Whether loops run with AVX2."""

class Rows:
    """Rows of a matrix, read in place; fault tells what is wrong."""

    @overload
    @staticmethod
    def csr(start: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], index: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_features: int) -> Rows: ...

    @overload
    @staticmethod
    def csr(start: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], index: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_features: int) -> Rows: ...

    @overload
    @staticmethod
    def csr(start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], index: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_features: int) -> Rows: ...

    @overload
    @staticmethod
    def csr(start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], index: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_features: int) -> Rows: ...

    @overload
    @staticmethod
    def dense(x: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Rows: ...

    @overload
    @staticmethod
    def dense(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Rows: ...

    @staticmethod
    def from_dict(x: dict[int, float], n_features: int) -> Rows: ...

    @property
    def fault(self) -> tuple[str, int] | None:
        """(kind, row) of the first fault found, or None."""

    def with_own_features(self, begin: int, end: int) -> tuple[NDArray[numpy.int64], Rows] | None:
        """
        (features that occur in rows [begin, end), these rows under their places among them); None where most do.
        """

    def n_values(self, begin: int, end: int) -> int | None:
        """
        How many values other than 0 rows [begin, end) have; None of dense ones.
        """

    def are_empty(self) -> NDArray[numpy.bool_]:
        """Whether each row has no value other than 0."""

    def __len__(self) -> int: ...

    def part(self, begin: int, end: int) -> Rows:
        """Sound rows from one number up to another, in place."""

    def in_units(self, centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], factor: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], whole: bool) -> Rows:
        """
        Sound rows with z = (x - centre) * factor in the first columns; `whole`: also where nothing is stored. Check `fault` again.
        """

    def add_moments(self, begin: int, end: int, n: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], mean: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], square: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], centred: bool) -> None:
        """
        Take rows [begin, end) into the number, mean and sum of squares about the mean of the entries of the first columns, in place.
        """

    def take(self, numbers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Rows:
        """Copies of some sound rows."""

def join_rows32(parts: Sequence[tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], int, float]], n_rows: int) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float32]]:
    """
    (starts, features, values) of rows from parts (starts, features, values, offset, weight): features ascend, values of one feature are summed.
    """

def join_rows64(parts: Sequence[tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], int, float]], n_rows: int) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64]]: ...

class Rule:
    """A rule with its parameters in the order of rule_parameters()."""

    def __init__(self, name: str, values: Sequence[float]) -> None: ...

    def step(self, m: float, v: float, shares: Sequence[float] = []) -> tuple[float, float]:
        """(alpha, gain) for margin m and variance v."""

    def take_error(self) -> BaseException | None:
        """None: only a function can raise."""

    @property
    def first_order(self) -> bool:
        """Whether the rule needs no variances."""

    @property
    def asks(self) -> bool:
        """Whether the rule asks for a margin that a cost can scale."""

    @property
    def exact(self) -> bool:
        """Whether several constraints can be met at once."""

class CustomRule(Rule):
    """A rule that is a Python function, maybe compiled."""

    def __init__(self, function: object, judge: object, *, first_order: bool, compiled: object | None) -> None: ...

    def take_error(self) -> BaseException | None:
        """What was raised when this thread's last row was refused, or None."""

def rule_parameters() -> dict[str, tuple[str, ...]]:
    """Name of every rule with the names of its parameters."""

def normal_cdf(t: float) -> float: ...

def normal_quantile(p: float) -> float: ...

class Scheme:
    """Which rivals are learnt from, and how."""

    def __init__(self, name: str, k: int = 0, mixing: Sequence[float] = []) -> None: ...

    @property
    def exact(self) -> bool:
        """Whether all constraints are met at once."""

def mistakes_of_code(code: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int) -> int:
    """How many rows do not have the best label by these scores of problems."""

class Diagonal32:
    """Diagonal Gaussian weights, feature-major."""

    def __init__(self, n_features: int, n_columns: int, *, intercept: bool, second_order: bool, averaged: bool, prior: float) -> None: ...

    def learn(self, rule: Rule, scheme: Scheme, covariance: bool, rows: Rows, y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, known: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')], cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, code: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, missed: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')] | None, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None, moved: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')] | None, begin: int, end: int, done: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')]) -> bool:
        """
        Learn rows [begin, end), counting (rows, mistakes, updates); was one refused?
        """

    def learn_row(self, rule: Rule, scheme: Scheme, covariance: bool, rows: Rows, y: int, weight: float) -> tuple[int, int, bool]:
        """Learn one row: (mistakes, updates, refused)."""

    def winners(self, rows: Rows) -> NDArray[numpy.int64]:
        """Class of the largest mean score."""

    def winner(self, rows: Rows) -> int:
        """The same for one row."""

    def scores(self, rows: Rows) -> NDArray[numpy.float64]:
        """Mean score of every column."""

    def margin(self, rows: Rows, numbers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
        """Mean and variance of every column's score."""

    def surest_margin(self, rows: Rows, two_sided: bool) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
        """Mean of every column's score, and the variance of the largest one."""

    def leads(self, rows: Rows, numbers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, threads: int) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.float64]]:
        """
        (best label, next best, margin between them, its variance) of every row.
        """

    def hypothetical_update(self, rule: Rule, covariance: bool, rows: Rows, number: int, columns: Sequence[int]) -> bool:
        """
        Shrink the variances as if a row with margin 0 had been learnt; was it done?
        """

    def averages(self) -> NDArray[numpy.float64]:
        """The averaged means."""

    def split(self) -> Diagonal32:
        """The one vector of two classes as two blocks."""

    @property
    def n_columns(self) -> int: ...

    @property
    def prior(self) -> float: ...

    def part(self, which: int) -> Annotated[NDArray[numpy.float32], dict(writable=False)]:
        """View of the means (0), variances (1), ..."""

    def put_columns(self, parts: Sequence[Diagonal32], threads: int) -> None:
        """
        Put the columns of others that have learnt the same rows side by side into these.
        """

    def mirrored(self) -> Diagonal32:
        """
        The one column of two classes as each of them sees it: -mu and +mu, sigma both.
        """

    def extended(self, columns: Sequence[int]) -> Diagonal32:
        """
        The same weights with new columns in the same memory; None: it has too little room.
        """

    @property
    def capacity(self) -> int:
        """Columns that there is room for."""

    def room_for(self, n_columns: int) -> int:
        """Room to take for so many columns, others being likely to come."""

    def with_columns(self, columns: Sequence[int], *, room: int = 0) -> Diagonal32:
        """
        The same weights under other columns, and room for more; -1 makes a new one.
        """

    def snapshot(self) -> tuple[NDArray[numpy.int64], NDArray[numpy.float32], float, int]:
        """
        (features that differ from the start, their runs, prior, rounds) of one moment.
        """

    def restore(self, features: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], cells: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], rounds: int) -> None:
        """Put a snapshot back."""

    def sweep(self, rules: Sequence[Rule], covariance: Sequence[bool], rows: Rows, y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, missed: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')], lanes: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')], begin: int, end: int) -> None:
        """Learn rows [begin, end) into each of eight columns by its own rule."""

    def sweep_column(self, column: int, second_order: bool, prior: float) -> Diagonal32:
        """The weights of one of the eight."""

class Diagonal64:
    """Diagonal Gaussian weights, feature-major."""

    def __init__(self, n_features: int, n_columns: int, *, intercept: bool, second_order: bool, averaged: bool, prior: float) -> None: ...

    def learn(self, rule: Rule, scheme: Scheme, covariance: bool, rows: Rows, y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, known: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')], cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, code: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, missed: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')] | None, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None, moved: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')] | None, begin: int, end: int, done: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')]) -> bool:
        """
        Learn rows [begin, end), counting (rows, mistakes, updates); was one refused?
        """

    def learn_row(self, rule: Rule, scheme: Scheme, covariance: bool, rows: Rows, y: int, weight: float) -> tuple[int, int, bool]:
        """Learn one row: (mistakes, updates, refused)."""

    def winners(self, rows: Rows) -> NDArray[numpy.int64]:
        """Class of the largest mean score."""

    def winner(self, rows: Rows) -> int:
        """The same for one row."""

    def scores(self, rows: Rows) -> NDArray[numpy.float64]:
        """Mean score of every column."""

    def margin(self, rows: Rows, numbers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
        """Mean and variance of every column's score."""

    def surest_margin(self, rows: Rows, two_sided: bool) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
        """Mean of every column's score, and the variance of the largest one."""

    def leads(self, rows: Rows, numbers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, threads: int) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.float64]]:
        """
        (best label, next best, margin between them, its variance) of every row.
        """

    def hypothetical_update(self, rule: Rule, covariance: bool, rows: Rows, number: int, columns: Sequence[int]) -> bool:
        """
        Shrink the variances as if a row with margin 0 had been learnt; was it done?
        """

    def averages(self) -> NDArray[numpy.float64]:
        """The averaged means."""

    def split(self) -> Diagonal64:
        """The one vector of two classes as two blocks."""

    @property
    def n_columns(self) -> int: ...

    @property
    def prior(self) -> float: ...

    def part(self, which: int) -> Annotated[NDArray[numpy.float64], dict(writable=False)]:
        """View of the means (0), variances (1), ..."""

    def put_columns(self, parts: Sequence[Diagonal64], threads: int) -> None:
        """
        Put the columns of others that have learnt the same rows side by side into these.
        """

    def mirrored(self) -> Diagonal64:
        """
        The one column of two classes as each of them sees it: -mu and +mu, sigma both.
        """

    def extended(self, columns: Sequence[int]) -> Diagonal64:
        """
        The same weights with new columns in the same memory; None: it has too little room.
        """

    @property
    def capacity(self) -> int:
        """Columns that there is room for."""

    def room_for(self, n_columns: int) -> int:
        """Room to take for so many columns, others being likely to come."""

    def with_columns(self, columns: Sequence[int], *, room: int = 0) -> Diagonal64:
        """
        The same weights under other columns, and room for more; -1 makes a new one.
        """

    def snapshot(self) -> tuple[NDArray[numpy.int64], NDArray[numpy.float64], float, int]:
        """
        (features that differ from the start, their runs, prior, rounds) of one moment.
        """

    def restore(self, features: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], cells: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], rounds: int) -> None:
        """Put a snapshot back."""

    def sweep(self, rules: Sequence[Rule], covariance: Sequence[bool], rows: Rows, y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, missed: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')], lanes: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')], begin: int, end: int) -> None:
        """Learn rows [begin, end) into each of eight columns by its own rule."""

    def sweep_column(self, column: int, second_order: bool, prior: float) -> Diagonal64:
        """The weights of one of the eight."""

class Full32:
    """Gaussian weights with a whole covariance matrix."""

    def __init__(self, n_features: int, n_columns: int, *, intercept: bool, second_order: bool, averaged: bool, prior: float) -> None: ...

    def learn(self, rule: Rule, scheme: Scheme, covariance: bool, rows: Rows, y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, known: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')], cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, code: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, missed: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')] | None, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None, moved: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')] | None, begin: int, end: int, done: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')]) -> bool:
        """
        Learn rows [begin, end), counting (rows, mistakes, updates); was one refused?
        """

    def learn_row(self, rule: Rule, scheme: Scheme, covariance: bool, rows: Rows, y: int, weight: float) -> tuple[int, int, bool]:
        """Learn one row: (mistakes, updates, refused)."""

    def winners(self, rows: Rows) -> NDArray[numpy.int64]:
        """Class of the largest mean score."""

    def winner(self, rows: Rows) -> int:
        """The same for one row."""

    def scores(self, rows: Rows) -> NDArray[numpy.float64]:
        """Mean score of every column."""

    def margin(self, rows: Rows, numbers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
        """Mean and variance of every column's score."""

    def surest_margin(self, rows: Rows, two_sided: bool) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
        """Mean of every column's score, and the variance of the largest one."""

    def leads(self, rows: Rows, numbers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, threads: int) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.float64]]:
        """
        (best label, next best, margin between them, its variance) of every row.
        """

    def hypothetical_update(self, rule: Rule, covariance: bool, rows: Rows, number: int, columns: Sequence[int]) -> bool:
        """
        Shrink the variances as if a row with margin 0 had been learnt; was it done?
        """

    def averages(self) -> NDArray[numpy.float64]:
        """The averaged means."""

    def split(self) -> Full32:
        """The one vector of two classes as two blocks."""

    @property
    def n_columns(self) -> int: ...

    @property
    def prior(self) -> float: ...

    def means(self) -> Annotated[NDArray[numpy.float32], dict(writable=False)]:
        """View of the means."""

    def sigma(self) -> Annotated[NDArray[numpy.float32], dict(writable=False)]:
        """View of the covariance, up to date until more is learnt."""

    def joint_moments(self, rows: Rows) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
        """Means of the columns' scores and the covariance of every two."""

    def with_columns(self, columns: Sequence[int]) -> Full32:
        """The same weights under other columns; -1 makes a new one."""

    def snapshot(self) -> tuple[NDArray[numpy.float32], NDArray[numpy.float32], float, int]:
        """(means and sums, covariance, prior, rounds)."""

    def restore(self, means: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], sigma: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], rounds: int) -> None:
        """Put a snapshot back."""

    def set_threads(self, threads: int) -> None:
        """How many threads a large update may use."""

class Full64:
    """Gaussian weights with a whole covariance matrix."""

    def __init__(self, n_features: int, n_columns: int, *, intercept: bool, second_order: bool, averaged: bool, prior: float) -> None: ...

    def learn(self, rule: Rule, scheme: Scheme, covariance: bool, rows: Rows, y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, known: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')], cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, code: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, missed: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')] | None, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None, moved: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')] | None, begin: int, end: int, done: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')]) -> bool:
        """
        Learn rows [begin, end), counting (rows, mistakes, updates); was one refused?
        """

    def learn_row(self, rule: Rule, scheme: Scheme, covariance: bool, rows: Rows, y: int, weight: float) -> tuple[int, int, bool]:
        """Learn one row: (mistakes, updates, refused)."""

    def winners(self, rows: Rows) -> NDArray[numpy.int64]:
        """Class of the largest mean score."""

    def winner(self, rows: Rows) -> int:
        """The same for one row."""

    def scores(self, rows: Rows) -> NDArray[numpy.float64]:
        """Mean score of every column."""

    def margin(self, rows: Rows, numbers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
        """Mean and variance of every column's score."""

    def surest_margin(self, rows: Rows, two_sided: bool) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
        """Mean of every column's score, and the variance of the largest one."""

    def leads(self, rows: Rows, numbers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, threads: int) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.float64]]:
        """
        (best label, next best, margin between them, its variance) of every row.
        """

    def hypothetical_update(self, rule: Rule, covariance: bool, rows: Rows, number: int, columns: Sequence[int]) -> bool:
        """
        Shrink the variances as if a row with margin 0 had been learnt; was it done?
        """

    def averages(self) -> NDArray[numpy.float64]:
        """The averaged means."""

    def split(self) -> Full64:
        """The one vector of two classes as two blocks."""

    @property
    def n_columns(self) -> int: ...

    @property
    def prior(self) -> float: ...

    def means(self) -> Annotated[NDArray[numpy.float64], dict(writable=False)]:
        """View of the means."""

    def sigma(self) -> Annotated[NDArray[numpy.float64], dict(writable=False)]:
        """View of the covariance, up to date until more is learnt."""

    def joint_moments(self, rows: Rows) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
        """Means of the columns' scores and the covariance of every two."""

    def with_columns(self, columns: Sequence[int]) -> Full64:
        """The same weights under other columns; -1 makes a new one."""

    def snapshot(self) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64], float, int]:
        """(means and sums, covariance, prior, rounds)."""

    def restore(self, means: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sigma: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], rounds: int) -> None:
        """Put a snapshot back."""

    def set_threads(self, threads: int) -> None:
        """How many threads a large update may use."""

class Dual:
    """One problem in dual form: nu and pi over support points."""

    def __init__(self, prior: float, *, second_order: bool, budget: int) -> None: ...

    @staticmethod
    def restored(prior: float, second_order: bool, budget: int, points: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], nu: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], pi: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], sites: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], rounds: int) -> Dual: ...

    def copy(self) -> Dual: ...

    def learn(self, rule: Rule, values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], norms: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], own: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, done: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> bool:
        """
        Learn a block of kernel values, with the score of each row before; was one refused?
        """

    def renumber(self, numbers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def points(self) -> Annotated[NDArray[numpy.int64], dict(writable=False)]: ...

    @property
    def nu(self) -> Annotated[NDArray[numpy.float64], dict(writable=False)]: ...

    @property
    def pi(self) -> Annotated[NDArray[numpy.float64], dict(writable=False)]: ...

    @property
    def sites(self) -> Annotated[NDArray[numpy.float64], dict(writable=False)]: ...

    @property
    def size(self) -> int: ...

    @property
    def prior(self) -> float: ...

    @property
    def rounds(self) -> int: ...

def label_probabilities(mean: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], variance: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], log: bool) -> NDArray[numpy.float64]:
    """
    Probability, or its log, that each of K independent normal scores is the largest.
    """

def log_probability_of(mean: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], variance: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]:
    """Log probability that the score in column y of each row is the largest."""

def followed_temperature(scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], factor: float, start: float, precision: float) -> tuple[float, float]:
    """
    (log of the temperature that the rows move to, curvature of their loss there)
    """

def least_costs(p: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], usual: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], label: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], answer: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], more: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.int64]:
    """
    The answer of least expected cost of each row of probabilities; ties: the first.
    """

def sharp_log_odds_of(p: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], best: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]:
    """
    Log odds of one label of each row, if probabilities were twice as sharp.
    """

def first_largest_of(x: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> NDArray[numpy.int64]:
    """Place of the largest number of each row; ties: the first."""

def label_sets(p: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], cumulative: bool, limits: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], penalty: float, n_free: int, always_the_best: bool, sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64]]:
    """
    (ends, places) of the labels of each row that fit, most probable first.
    """

def label_tuples(labels: tuple[Any, ...], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], places: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> list[tuple[Any, ...]]:
    """A tuple of labels for each set of `label_sets`."""

class Texts:
    """Texts, read in place."""

    def __len__(self) -> int: ...

    @property
    def longest(self) -> int:
        """Characters of the longest text."""

    def others(self) -> list[int]:
        """Places of texts that are more than ASCII."""

    def replace(self, place: int, text: object) -> None:
        """Put a text that needs nothing more in its place."""

def texts_of(texts: list[str], lower: bool) -> Texts:
    """The texts of a list of str."""

@overload
def texts_in(offsets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], bytes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], lower: bool) -> Texts:
    """Texts in UTF-8, one after the other."""

@overload
def texts_in(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], bytes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], lower: bool) -> Texts: ...

class Names:
    """Names that were met apart."""

class Hasher:
    """Texts to rows of hashed n-grams."""

    def __init__(self, unit: int, least: int, most: int, stop: Sequence[str], n_features: int, signs: bool, binary: bool, logarithmic: bool, norm: int) -> None: ...

    def use_alphabets(self, words: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], word_ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], spaces: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], space_ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Which characters are of words and which are spaces, as runs."""

    @property
    def has_alphabets(self) -> bool: ...

    def transform32(self, texts: Texts, threads: int) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float32], int]:
        """
        (starts of rows, features, values, place of a text without UTF-8 or -1)
        """

    def transform64(self, texts: Texts, threads: int) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64], int]: ...

    def transform_apart(self, texts: Texts) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float32], int, Names]:
        """The same in one thread, and the names met, which are left to `meet`."""

    def register(self, names: Names) -> None:
        """Take over names that were met apart, after all that are here."""

    def keep_names(self) -> None: ...

    @property
    def n_names(self) -> int: ...

    @property
    def clashes(self) -> int: ...

    def find_names(self, features: Sequence[int]) -> list[object]:
        """The word of each feature, or None."""

    def names(self) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64], bytes, NDArray[numpy.uint8]]:
        """(features, ends, words, clashes) in the order they were met."""

    def restore_names(self, features: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], words: bytes, shared: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

def feature_of(name: bytes, n_features: int) -> int:
    """The feature that a name in UTF-8 is hashed to."""

def unite_names(a: tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], bytes, Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]], b: tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], bytes, Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]]) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64], bytes, NDArray[numpy.uint8]]:
    """
    Names in the order of their features, of both: the smaller of two words stays.
    """

def names_met_in_order(parts: Sequence[tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], bytes, Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]]]) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64], bytes, NDArray[numpy.uint8]]:
    """
    Names of parts that are met one after the other: the first word of a feature stays.
    """

class DocumentCounts:
    """In how many documents each feature occurs."""

    def __init__(self, n_features: int) -> None: ...

    @overload
    def count(self, start: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], index: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @overload
    def count(self, start: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], index: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @overload
    def count(self, start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], index: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @overload
    def count(self, start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], index: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Count rows with distinct features."""

    @overload
    def weigh(self, start: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], index: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], norm: int, threads: int) -> None: ...

    @overload
    def weigh(self, start: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], index: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], norm: int, threads: int) -> None: ...

    @overload
    def weigh(self, start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], index: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], norm: int, threads: int) -> None: ...

    @overload
    def weigh(self, start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], index: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], norm: int, threads: int) -> None:
        """Weigh the values of rows in place, by the counts so far."""

    @overload
    def weigh_spans_in_place(self, start: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], index: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], texts: Sequence[tuple[int, int, float]]) -> None: ...

    @overload
    def weigh_spans_in_place(self, start: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], index: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], texts: Sequence[tuple[int, int, float]]) -> None: ...

    @overload
    def weigh_spans_in_place(self, start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], index: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], texts: Sequence[tuple[int, int, float]]) -> None: ...

    @overload
    def weigh_spans_in_place(self, start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], index: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], texts: Sequence[tuple[int, int, float]]) -> None:
        """
        Weigh each of these stretches of features in place, by the counts so far.
        """

    def count_and_weigh_rows(self, rows: Rows, norm: int) -> Rows:
        """
        Each row, counted and then weighed by the counts up to and including it.
        """

    def weigh_rows(self, rows: Rows, norm: int) -> Rows:
        """All rows, weighed by the counts so far."""

    def weigh_spans(self, rows: Rows, texts: Sequence[tuple[int, int, float]], counting: bool) -> Rows:
        """
        Rows with each (begin, end, weight) of features weighed for itself; with `counting` each row is counted first.
        """

    def forget_rows(self, rows: Rows, first: int) -> None:
        """Undo the counts of the rows from `first` on."""

    def add(self, n: int, features: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Add what `state` of others has returned."""

    def state(self) -> tuple[int, NDArray[numpy.int64], NDArray[numpy.int64]]:
        """(documents, features that occur, documents of each)"""

    def idf(self) -> NDArray[numpy.float64]:
        """The factor of each feature."""

    @property
    def n(self) -> int: ...

    @property
    def n_features(self) -> int: ...

def count_newlines(block: bytes) -> int:
    """Number of newlines."""

def parse_jsonl(block: bytes, *, text: str, label: str | None, kind: int) -> tuple[NDArray[numpy.int32], NDArray[numpy.uint8], NDArray[numpy.int32], list[str]] | None:
    """
    (starts of texts, texts in UTF-8, number of each label, labels as they are written); None if a line is not plain.
    """

def parse_svmlight32(block: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], *, zero_based: bool, grouped: bool, skip_bad: bool) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float32], int, NDArray[numpy.float64], NDArray[numpy.int64] | None, list[tuple[int, int, int, int, str]]]:
    """
    (starts, features, values, n_features, labels, queries or None, bad lines); the arrays are the caller's.
    """

def parse_svmlight64(block: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], *, zero_based: bool, grouped: bool, skip_bad: bool) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64], int, NDArray[numpy.float64], NDArray[numpy.int64] | None, list[tuple[int, int, int, int, str]]]:
    """
    (starts, features, values, n_features, labels, queries or None, bad lines); the arrays are the caller's.
    """

def parse_vw32(block: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], *, n_features: int, alternate_sign: bool, skip_bad: bool) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float32], NDArray[numpy.float64], NDArray[numpy.float64] | None, list[tuple[int, int, int, int, str]]]:
    """
    (starts, features, values, labels, weights, bad lines); the arrays are the caller's.
    """

def parse_vw64(block: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], *, n_features: int, alternate_sign: bool, skip_bad: bool) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64] | None, list[tuple[int, int, int, int, str]]]:
    """
    (starts, features, values, labels, weights, bad lines); the arrays are the caller's.
    """

def parse_candidates(block: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], *, n_features: int, skip_bad: bool) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float32], NDArray[numpy.float64], NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.bool_], list[tuple[int, int, int, int, str]]]:
    """
    (starts, features, values, costs, labels, groups, which are shared, bad lines); the arrays are the caller's.
    """

EMPTY_SUM: int = -128

def cut(numbers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_digits: int) -> tuple[NDArray[numpy.int64], NDArray[numpy.int8]]:
    """(digits, tops) of sums of one number each."""

def add_sums(digits: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], tops: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu')], places: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], other_digits: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], other_tops: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)], times: int) -> None:
    """Add lines of sums, so many times, to the lines in these places."""

def sum_values(digits: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tops: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]:
    """What sums come to."""

@overload
def moved_since(weights: Diagonal32, start_features: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], start_cells: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple[NDArray[numpy.int64], NDArray[numpy.float32], NDArray[numpy.float32], float, int]: ...

@overload
def moved_since(weights: Diagonal64, start_features: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], start_cells: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple[NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.float64], float, int]:
    """
    (features whose runs differ from the start, their runs, those of the start, prior, rounds).
    """

@overload
def settle_runs(weights: Diagonal32, moved: Sequence[tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], tuple[float, float], tuple[float, float]]], units: tuple[float, float], lifetime: tuple[float, float], tau: float, threads: int) -> bool: ...

@overload
def settle_runs(weights: Diagonal64, moved: Sequence[tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], tuple[float, float], tuple[float, float]]], units: tuple[float, float], lifetime: tuple[float, float], tau: float, threads: int) -> bool:
    """
    Put what models have moved into weights that are at their start; do all numbers fit?
    """

@overload
def moves(features: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], cells: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], columns: int, second_order: bool, averaged: bool, units: tuple[float, float], lifetime: tuple[float, float], n_digits: int) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.int8], NDArray[numpy.int32]] | None: ...

@overload
def moves(features: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], cells: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], columns: int, second_order: bool, averaged: bool, units: tuple[float, float], lifetime: tuple[float, float], n_digits: int) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.int8], NDArray[numpy.int32]] | None:
    """
    (places, digits, tops, counts) of the weights that one model has moved; None where a number is not finite.
    """

@overload
def settle(cells: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')], features: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], moves: tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]], columns: int, second_order: bool, averaged: bool, units: tuple[float, float], lifetime: tuple[float, float], tau: float) -> None: ...

@overload
def settle(cells: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], features: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], moves: tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]], columns: int, second_order: bool, averaged: bool, units: tuple[float, float], lifetime: tuple[float, float], tau: float) -> None:
    """Put what moves come to into runs that are at their start."""

def add_moves(a: tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]], b: tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]], n_sums: int) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.int8], NDArray[numpy.int32]]:
    """The sums of both."""

def inverse(matrix: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64] | None:
    """Inverse of a symmetric matrix; None where it is not positive definite."""

def applied(matrix: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.float64]:
    """Product of a symmetric matrix and a vector."""

@overload
def runs(weights: Diagonal32) -> tuple[Annotated[NDArray[numpy.float32], dict(writable=False)], int]: ...

@overload
def runs(weights: Diagonal64) -> tuple[Annotated[NDArray[numpy.float64], dict(writable=False)], int]:
    """(view of the runs of all features, updates)."""

@overload
def go_on_from(shard: Diagonal32, base: Diagonal32, features: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> None: ...

@overload
def go_on_from(shard: Diagonal64, base: Diagonal64, features: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> None:
    """Put a shard, whose features are these of the base, where the base is."""

@overload
def merge_shards(base: Diagonal32, shards: Sequence[tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], float]], tau: float, threads: int) -> bool: ...

@overload
def merge_shards(base: Diagonal64, shards: Sequence[tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], float]], tau: float, threads: int) -> bool:
    """
    Merge shards, (features, runs, updates) each, in their order; do all numbers fit?
    """

class Chain:
    """Label paths of one sequence."""

    def __init__(self, U: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], A: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)]) -> None: ...

    def k_best(self, k: int) -> NDArray[numpy.int32]:
        """The k best paths, best first."""

    def best(self) -> NDArray[numpy.int32]:
        """The best path."""

    def best_other(self, y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.int32]:
        """The best path that is not y, or none."""

    def log_partition(self) -> float:
        """log sum over all paths of exp(score)."""

    def marginals(self, pairs: bool) -> NDArray[numpy.float64]:
        """Probability of each label, or of each two in a row."""

    def sample(self, uniform: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> NDArray[numpy.int32]:
        """One path for each row of numbers in [0, 1)."""

@overload
def with_features(weights: Diagonal32, features: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Diagonal32: ...

@overload
def with_features(weights: Diagonal64, features: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Diagonal64:
    """The same weights under other features; -1: a new one."""

@overload
def learn_sequences(weights: Diagonal32, rule: Rule, scheme: Scheme, covariance: bool, tokens: Rows, pairs: Rows, bounds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, begin: int, end: int, done: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')]) -> bool: ...

@overload
def learn_sequences(weights: Diagonal64, rule: Rule, scheme: Scheme, covariance: bool, tokens: Rows, pairs: Rows, bounds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, begin: int, end: int, done: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')]) -> bool:
    """
    Learn sequences [begin, end), counting (sequences, mistakes, updates); was one refused?
    """

@overload
def tag(weights: Diagonal32, tokens: Rows, pairs: Rows, bounds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> NDArray[numpy.int32]: ...

@overload
def tag(weights: Diagonal64, tokens: Rows, pairs: Rows, bounds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> NDArray[numpy.int32]:
    """The best label of every token."""

@overload
def leads(weights: Diagonal32, tokens: Rows, pairs: Rows, bounds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64], NDArray[numpy.float64]]: ...

@overload
def leads(weights: Diagonal64, tokens: Rows, pairs: Rows, bounds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64], NDArray[numpy.float64]]:
    """
    Labels, and mean and variance of their lead over the best path with another.
    """

@overload
def tag_marginals(weights: Diagonal32, tokens: Rows, pairs: Rows, bounds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], temperature: float, threads: int) -> NDArray[numpy.float64]: ...

@overload
def tag_marginals(weights: Diagonal64, tokens: Rows, pairs: Rows, bounds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], temperature: float, threads: int) -> NDArray[numpy.float64]:
    """Probability of every label of every token."""

@overload
def chain_scores(weights: Diagonal32, tokens: Rows, pairs: Rows, bounds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]: ...

@overload
def chain_scores(weights: Diagonal64, tokens: Rows, pairs: Rows, bounds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
    """U and A of one sequence."""

class Words:
    """Sequences of tokens of words, each word kept once."""

    def bounds(self) -> NDArray[numpy.int64]: ...

    def distinct(self, column: int) -> list[str]:
        """The words of a column, as they arrived."""

class Bags:
    """Sequences of tokens of named values, each name kept once."""

    def bounds(self) -> NDArray[numpy.int64]: ...

class View:
    """What templates see of a column of words."""

class NameTable:
    """Names to numbers, as they arrive."""

    def __init__(self) -> None: ...

    def __len__(self) -> int: ...

    def names(self) -> list[str]:
        """All names, as they arrived."""

    def state(self) -> tuple[bytes, NDArray[numpy.int64]]:
        """(names in UTF-8 one after the other, their ends)"""

    def add(self, names: bytes, ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> NDArray[numpy.int64]:
        """The number of each of these names, which are added where they are new."""

class Lock:
    """For one thread at a time, and for none after a fork within it."""

    def __init__(self) -> None: ...

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object | None, error: object | None, traceback: object | None) -> None: ...

def words_of(sequences: list[list[object]], n_columns: int) -> tuple[Words, tuple[int, int] | None]:
    """Tokens of str, or of tuples of them; and where one is none of that."""

def bags_of(sequences: list[list[object]], dicts: bool) -> tuple[Bags, tuple[int, int] | None]:
    """
    Tokens of dicts of features, or of lists of str; and where one is none of that.
    """

def plain_view(words: Words, column: int) -> View:
    """The words themselves."""

def words_beyond(words: Words, column: int, steps: Sequence[tuple[int, int]]) -> list[str]:
    """The words for which Python has to take these steps."""

def stepped_view(words: Words, column: int, steps: Sequence[tuple[int, int]], values: list[str]) -> View:
    """What steps make of each word; `values` of those beyond."""

def made_view(words: Words, column: int, values: list[str]) -> View:
    """What was made of each word of `distinct`."""

def rows_of_words(words: Words, views: Sequence[View], templates: Sequence[tuple[str, Sequence[tuple[int, int]]]], names: NameTable, grows: bool, n_features: int, steps: bool) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float32]]:
    """
    (starts of rows, features, values); n_features 0: by names, else by their hashes.
    """

def rows_of_bags(bags: Bags, names: NameTable, grows: bool, n_features: int) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float32]]:
    """The same for tokens that bring their features."""

class RowLoss:
    """Batch losses of rows; w is row-major by feature."""

    def __init__(self, rows: Rows, y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_columns: int, intercept: bool) -> None: ...

    @property
    def n_weights(self) -> int: ...

    def log_loss(self, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> float:
        """The log loss of all examples; writes its gradient."""

    def curvature(self, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
        """Write the diagonal of the Hessian of the log loss."""

    def hinge_loss(self, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, threads: int) -> float:
        """The generalised hinge loss of all examples."""

    def descend(self, kind: str, cost: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], average: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], state: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], l2: float) -> None:
        """
        One stochastic pass; changes w, its average and the state (t, first step size).
        """

class SequenceLoss:
    """Batch losses of sequences; w has the cells in order."""

    def __init__(self, tokens: Rows, pairs: Rows, bounds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_labels: int, offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> None: ...

    @property
    def n_weights(self) -> int: ...

    def log_loss(self, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> float:
        """The log loss of all examples; writes its gradient."""

    def curvature(self, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
        """Write the diagonal of the Hessian of the log loss."""

    def hinge_loss(self, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, threads: int) -> float:
        """The generalised hinge loss of all examples."""

    def descend(self, kind: str, cost: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], average: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], state: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], l2: float) -> None:
        """
        One stochastic pass; changes w, its average and the state (t, first step size).
        """

class RowFrankWolfe:
    """Multi-class SVM on given weights."""

    def __init__(self, rows: Rows, y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], bound: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, weights: Diagonal64) -> None: ...

    def visit(self, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Visit these examples; moves the means of the weights."""

    def values(self) -> tuple[float, float]:
        """(sum of hinge losses, linear part of the dual)."""

class SequenceFrankWolfe:
    """Structured SVM of chains."""

    def __init__(self, tokens: Rows, pairs: Rows, bounds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], bound: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, weights: Diagonal64) -> None: ...

    def visit(self, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Visit these examples; moves the means of the weights."""

    def values(self) -> tuple[float, float]:
        """(sum of hinge losses, linear part of the dual)."""

def observed_cells(tokens: Rows, pairs: Rows, bounds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_labels: int) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32]]:
    """(offsets, labels): which labels occur with each row of the table."""

@overload
def learn_groups(weights: Diagonal32, rule: Rule, scheme: Scheme, covariance: bool, rows: Rows, bounds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], all_right: bool, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, begin: int, end: int, done: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')]) -> bool: ...

@overload
def learn_groups(weights: Diagonal64, rule: Rule, scheme: Scheme, covariance: bool, rows: Rows, bounds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], all_right: bool, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, begin: int, end: int, done: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')]) -> bool:
    """
    Learn groups [begin, end), counting (groups, mistakes, updates); was one refused?
    """

@overload
def group_leads(weights: Diagonal32, rows: Rows, bounds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.float64]]: ...

@overload
def group_leads(weights: Diagonal64, rows: Rows, bounds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.float64]]:
    """
    (best row, next best, margin between them, its variance) of every group.
    """

@overload
def group_covariances(weights: Diagonal32, rows: Rows, bounds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> NDArray[numpy.float64]: ...

@overload
def group_covariances(weights: Diagonal64, rows: Rows, bounds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> NDArray[numpy.float64]:
    """Covariances of the scores of every group, one square after the other."""

def cross_rows(left: Rows, right: Rows, left_of: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], right_of: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_features: int, hashed: bool) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float32]]:
    """Products of the features of two rows: starts, features, values."""

class Graph:
    """Labellings of a graph with unary and pairwise scores."""

    def __init__(self, sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], unary: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], edges: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], table_of: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def is_forest(self) -> bool: ...

    def solve(self, kind: str, damping: float, tol: float, max_sweeps: int) -> tuple[bool, float, float]:
        """
        Send messages, 'max' or 'sum': (converged, residual, number of sweeps).
        """

    def beliefs(self, kind: str) -> NDArray[numpy.float64]:
        """
        For every label of every node its probability ('sum'), or minus the loss of the best labelling with it ('max').
        """

    def pair_beliefs(self) -> NDArray[numpy.float64]:
        """Probability of the labels of every edge."""

    def log_partition(self) -> float: ...

    def best(self) -> NDArray[numpy.int32]:
        """The best labelling, after solve('max')."""

    def k_best(self, k: int) -> NDArray[numpy.int32]:
        """The k best labellings, best first."""

class GraphArrays:
    """Graphs with features of nodes and edges."""

    def __init__(self, nodes: Rows, pairs: Rows, node_bounds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], edge_bounds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)], *, directed: bool, damping: float, tol: float, max_sweeps: int) -> None: ...

    def __len__(self) -> int: ...

@overload
def learn_graphs(weights: Diagonal32, rule: Rule, scheme: Scheme, covariance: bool, graphs: GraphArrays, y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, begin: int, end: int, done: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')]) -> bool: ...

@overload
def learn_graphs(weights: Diagonal64, rule: Rule, scheme: Scheme, covariance: bool, graphs: GraphArrays, y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, begin: int, end: int, done: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')]) -> bool:
    """
    Learn graphs [begin, end), counting (graphs, mistakes, updates); was one refused?
    """

@overload
def graph_labels(weights: Diagonal32, graphs: GraphArrays, fixed: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64]]: ...

@overload
def graph_labels(weights: Diagonal64, graphs: GraphArrays, fixed: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64]]:
    """The best label of every node, and the residual of every graph."""

@overload
def graph_leads(weights: Diagonal32, graphs: GraphArrays, fixed: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64]]: ...

@overload
def graph_leads(weights: Diagonal64, graphs: GraphArrays, fixed: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64]]:
    """
    Labels, mean and variance of their lead over the best labelling without them, and the residual of every graph.
    """

@overload
def graph_marginals(weights: Diagonal32, graphs: GraphArrays, fixed: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], temperature: float, threads: int) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]: ...

@overload
def graph_marginals(weights: Diagonal64, graphs: GraphArrays, fixed: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], temperature: float, threads: int) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
    """
    Probability of every label of every node, and the residual of every graph.
    """

@overload
def graph_scores(weights: Diagonal32, graphs: GraphArrays) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]: ...

@overload
def graph_scores(weights: Diagonal64, graphs: GraphArrays) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
    """Scores of the nodes and of the edges of one graph."""

class GraphLoss:
    """Batch losses of graphs; w is row-major by feature."""

    def __init__(self, graphs: GraphArrays, y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_labels: int) -> None: ...

    @property
    def n_weights(self) -> int: ...

    def log_loss(self, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> float:
        """The log loss of all examples; writes its gradient."""

    def curvature(self, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
        """Write the diagonal of the Hessian of the log loss."""

    def hinge_loss(self, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, threads: int) -> float:
        """The generalised hinge loss of all examples."""

    def descend(self, kind: str, cost: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], average: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], state: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], l2: float) -> None:
        """
        One stochastic pass; changes w, its average and the state (t, first step size).
        """

class GraphFrankWolfe:
    """Structured SVM of graphs."""

    def __init__(self, graphs: GraphArrays, y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], bound: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, weights: Diagonal64) -> None: ...

    def visit(self, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Visit these examples; moves the means of the weights."""

    def values(self) -> tuple[float, float]:
        """(sum of hinge losses, linear part of the dual)."""
