"""A rule's function in machine code, by numba; must not know what a rule is.

numba is imported here and only when a function is to be compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary


class CannotCompile(TypeError):
    """Why a function stays in Python."""


#: Machine code, or the reason why there is none, for as long as the function lives.
_known: WeakKeyDictionary[Callable[..., Any], Any] = WeakKeyDictionary()


def compiled(function: Callable[..., Any]) -> Any:
    """The function as numba's C callback ``int32(m, v, out)``, compiled once.

    It writes two doubles to `out` and gives 1, or gives 0 where the function raises.
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
        except Exception as error:  # numba fails in many ways, some of them by accident
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
    """The same function as another object: a reference to itself would keep the key alive."""
    twin = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    twin.__kwdefaults__ = function.__kwdefaults__
    return twin
