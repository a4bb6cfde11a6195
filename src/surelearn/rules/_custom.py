"""A rule that is a user's function, and the names such rules are registered under."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

from surelearn import _check, _core
from surelearn.rules._base import Rule, Step
from surelearn.rules._compile import CannotCompile, compiled

#: Registered rules by their names; the built-in ones are in `RULES`.
registered: dict[str, Custom] = {}


@dataclass(frozen=True, repr=False)
class Custom(Rule):
    r"""A rule of your own: any function of margin and variance.

    .. math:: (\alpha, gain) = function(m, v), \qquad \alpha \ge 0,\; gain \ge 0

    `m` is the mean of the margin, positive is right; `v` > 0 is its variance. The function must
    depend on nothing else, give two finite numbers, neither negative, and must not use the model
    that is learning: that one is locked. What it raises comes out of `fit`, `partial_fit` or
    `learn_one` as it is, and the row is not learnt. A row of weight w scales (alpha, gain) by
    min(1, w).

    Two values are equal if function and `first_order` are. Numbers which the function takes from
    outside, such as globals, are fixed when it is compiled.

    Parameters
    ----------
    function : callable (m, v) -> (alpha, gain)
    compiled : bool or None, default None
        True: compiled by numba, refused where that fails. False: called in Python. None: compiled
        where numba is installed and can compile it.
    first_order : bool, default False
        Whether means only are kept: sigma stays the identity, ``v = |g|^2``, and gain must be 0.

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
        _check.function("function", self.function)
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
        return self  # a value; and a copied function would no longer equal itself

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name it is registered under, otherwise ``"custom"``."""
        return self.registered_name or "custom"

    @property
    def registered_name(self) -> str | None:
        """The name a file would hold; None where it is not registered, so cannot be saved."""
        return next((name for name, known in registered.items() if known == self), None)

    @property
    def is_compiled(self) -> bool:
        """Whether learning runs it as machine code; compiles it if need be."""
        return self._code() is not None

    def step(self, m: float, v: float) -> Step:
        """Step for a margin of mean `m` (positive is right) and variance `v`, asked in Python."""
        m, v = float(m), float(v)
        return self._judge(m, v, self.function(m, v)) if v > 0 else Step(0.0, 0.0)

    def core(self) -> _core.Rule:
        """The same rule in the native core."""
        return _core.CustomRule(
            self.function, self._judge, first_order=self.first_order, compiled=self._code()
        )

    def _judge(self, m: float, v: float, got: object) -> Step:
        return Step(*_check.step(repr(self), got, m=m, v=v, first_order=self.first_order))

    def _code(self) -> Any:
        """The compiled function; None where it is called in Python."""
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
                    "Use compiled=False to have it called in Python."
                ) from None
            return None
