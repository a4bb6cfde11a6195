"""Rules made of a user's function, compiled with numba if they can be; must not know vectors.

Only `compiled` imports numba, and only when it is called.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Real
from types import FunctionType
from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np

from surelearn import _check, _core
from surelearn.rules._base import Rule, Step

#: Registered rules by name; the built-in rules are in `RULES`.
registered: dict[str, Custom] = {}


@dataclass(frozen=True, repr=False)
class Custom(Rule):
    r"""A custom rule: any function of margin and variance.

    .. math:: (\alpha, gain) = function(m, v), \qquad \alpha \ge 0,\; gain \ge 0

    `m` is the mean of the margin, positive if right; `v` > 0 is its variance. The function must
    depend on nothing else, and must return two finite numbers that are not negative. It must not
    use the model that is being trained, which is locked. If it raises, `fit`, `partial_fit` or
    `learn_one` raises the same exception, and the row is not learnt. A row of weight w scales
    (alpha, gain) by min(1, w).

    Two rules are equal if their functions and `first_order` are. Globals that the function uses
    are fixed when it is compiled.

    Parameters
    ----------
    function : callable (m, v) -> (alpha, gain)
    compiled : bool or None, default None
        True compiles the function with numba, and raises if that fails. False calls it in Python.
        None compiles it if numba is installed and can compile it.
    first_order : bool, default False
        Whether to learn means only: sigma stays the identity, ``v = |g|^2``, and gain must be 0.

    References
    ----------
    docs/howto/custom_rule.md has an example from a paper.

    Examples
    --------
    >>> def arow(m, v):
    ...     return (max(0.0, 1.0 - m) / (v + 1.0), 1.0 if m < 1.0 else 0.0)
    >>> Custom(arow).step(0.0, 1.0)
    Step(alpha=0.5, gain=1.0)
    """

    function: Callable[[float, float], Any]
    compiled: bool | None = field(default=None, kw_only=True, compare=False)
    first_order: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if isinstance(self.function, type) or not callable(self.function):
            raise TypeError(f"function must be a function of (m, v), got {self.function!r}.")
        if self.compiled is not None:
            _check.flag("compiled", self.compiled)
        _check.flag("first_order", self.first_order)
        if self.compiled:
            self._code()

    def __repr__(self) -> str:
        options = "".join(
            f", {name}={getattr(self, name)!r}"
            for name, default in (("compiled", None), ("first_order", False))
            if getattr(self, name) is not default
        )
        return f"Custom({getattr(self.function, '__qualname__', repr(self.function))}{options})"

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # immutable; and a copied function would not equal the original

    @property
    def name(self) -> str:  # type: ignore[override]
        """The registered name, or ``"custom"``."""
        return self.registered_name or "custom"

    @property
    def registered_name(self) -> str | None:
        """The name that a file stores; None if it is not registered and cannot be saved."""
        return next((name for name, known in registered.items() if known == self), None)

    @property
    def is_compiled(self) -> bool:
        """Whether training runs the compiled function; compiles it if necessary."""
        return self._code() is not None

    def step(self, m: float, v: float) -> Step:
        """Step for a margin of mean `m` (positive is right) and variance `v`, in Python."""
        m, v = float(m), float(v)
        return self._judge(m, v, self.function(m, v)) if v > 0 else Step(0.0, 0.0)

    def core(self) -> _core.Rule:
        """The same rule in the native core."""
        return _core.CustomRule(
            self.function, self._judge, first_order=self.first_order, compiled=self._code()
        )

    def _judge(self, m: float, v: float, got: object) -> Step:
        """The step that the function returned; raises if it is none."""
        pair = _two_numbers(got)
        if pair is None or not all(math.isfinite(x) and x >= 0 for x in pair):
            raise ValueError(
                f"{self!r} must return two finite numbers (alpha, gain), not negative, got {got!r} "
                f"for m={m!r}, v={v!r}."
            )
        if self.first_order and pair[1] != 0:
            raise ValueError(
                f"{self!r} must return gain 0 with first_order=True, got {got!r} for m={m!r}, "
                f"v={v!r}."
            )
        return Step(*pair)

    def _code(self) -> Any:
        """The compiled function; None if it is called in Python."""
        if self.compiled is False:
            return None
        if self.compiled:
            _check.need(repr(self), "numba", "numba")
        try:
            return compiled(self.function)
        except CannotCompile as reason:
            if self.compiled:
                raise TypeError(
                    f"{self!r} must be a function that numba can compile, got this: {reason}. "
                    "Use compiled=False to call it in Python."
                ) from None
            return None


def _two_numbers(got: Any) -> tuple[float, float] | None:
    try:
        alpha, gain = got
        if any(isinstance(x, bool | np.bool_) or not isinstance(x, Real) for x in (alpha, gain)):
            return None
        return float(alpha), float(gain)
    except (TypeError, ValueError, OverflowError):
        return None


class CannotCompile(TypeError):
    """Why a function cannot be compiled."""


#: The compiled code of each function, or the reason why there is none, while the function lives.
_known: WeakKeyDictionary[Callable[..., Any], Any] = WeakKeyDictionary()


def compiled(function: Callable[..., Any]) -> Any:
    """The function as a C callback of numba, ``int32(m, v, out)``, compiled once.

    It writes two doubles to `out` and returns 1, or returns 0 if the function raises.
    """
    try:
        import numba
    except ImportError as error:
        raise CannotCompile(f"numba cannot be imported ({error})") from None
    if not isinstance(function, FunctionType) and not numba.extending.is_jitted(function):
        raise CannotCompile("only a plain function can be compiled")
    if function not in _known:
        try:
            _known[function] = _compile(numba, function)
        except Exception as error:  # numba raises many types, also because of bugs
            _known[function] = CannotCompile(f"{type(error).__name__}: {str(error).strip()}")
    code = _known[function]
    if isinstance(code, CannotCompile):
        raise CannotCompile(*code.args)
    return code


def _compile(numba: Any, function: Callable[..., Any]) -> Any:
    inner = function if numba.extending.is_jitted(function) else numba.njit(_twin(function))
    number = numba.types.float64

    @numba.cfunc(numba.types.int32(number, number, numba.types.CPointer(number)))  # type: ignore[untyped-decorator]
    def call(m: float, v: float, out: Any) -> int:
        try:
            alpha, gain = inner(m, v)
        except Exception:
            return 0
        out[0] = alpha
        out[1] = gain
        return 1

    return call


def _twin(function: Any) -> FunctionType:
    """A copy of the function: compiled code that refers to the function itself would keep the
    weak key alive."""
    twin = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    twin.__kwdefaults__ = function.__kwdefaults__
    return twin
