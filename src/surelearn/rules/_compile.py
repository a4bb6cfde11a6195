"""Compiles the function of a rule with numba; must not know what a rule is.

Only `compiled` imports numba, and only when it is called.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary


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
