"""The kinds of models that files can hold, with a codec for each; must not know any model.

To add a kind, call `register` where the model is defined: no other file changes.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any, NamedTuple

from surelearn import _check
from surelearn._check import FormatError
from surelearn.files._container import Tensors
from surelearn.files._fields import Fields
from surelearn.files._paths import Arrays, File, read, write

#: Exceptions of checks and conversions. If settings or tensors of a file have the right types but
#: do not fit each other, unpacking raises one of these.
_UNSOUND = (TypeError, ValueError, LookupError, ArithmeticError, NotImplementedError)


class Codec(NamedTuple):
    """How to write and read a kind of model.

    Parameters
    ----------
    pack : function
        Returns the settings, as JSON can hold them, and the tensors of a model.
    unpack : function
        Returns the model of the fields and tensors of a file, and of the number of bytes that it
        may allocate besides the tensors. It must raise for anything that does not fit: a file
        cannot be trusted.
    """

    pack: Callable[[Any], tuple[dict[str, Any], Tensors]]
    unpack: Callable[[Fields, Arrays, int], Any]


_CODECS: dict[str, Codec] = {}


def register(kind: str, codec: Codec) -> None:
    """Register the codec of a kind of model."""
    _CODECS[kind] = codec


def save(kind: str, model: Any, file: File) -> None:
    """Write a model of a registered kind; an old file is replaced only by a complete new one."""
    settings, tensors = _CODECS[kind].pack(model)
    write(file, tensors, {"kind": kind, "version": version("surelearn"), **settings})


def load(file: File, *, max_bytes: int = 2**32) -> Any:
    """Read a model of any registered kind; raises `FormatError` for a damaged or foreign file."""
    fields, tensors = read(file, _check.count("max_bytes", max_bytes))
    budget = max_bytes - sum(tensor.nbytes for tensor in tensors.values())
    codec = _CODECS[fields.text("kind", sorted(_CODECS))]
    try:
        return codec.unpack(fields, tensors, budget)
    except FormatError:
        raise
    except _UNSOUND as error:
        raise FormatError(
            f"{fields.where} must be a valid model, got a damaged one: {error}"
        ) from None
