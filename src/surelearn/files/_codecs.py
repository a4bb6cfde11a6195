"""Which kinds of models files can hold; a kind tells how it is packed and unpacked.

A new kind is a `register` call where the model is written: no other file changes.
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

#: What the checks of users' input raise, and conversions of values of another kind: where settings
#: and tensors of a file are not refused by kind and range, one of these says that they do not fit.
_UNSOUND = (TypeError, ValueError, LookupError, ArithmeticError, NotImplementedError)


class Codec(NamedTuple):
    """How a kind of model is written and read.

    Parameters
    ----------
    pack : function
        Gives the settings, which JSON can hold, and the tensors of a model.
    unpack : function
        Makes a model of the fields and tensors of a file, and of the bytes that it may take up
        beside them. Whatever does not fit is an error: nothing in a file can be trusted.
    """

    pack: Callable[[Any], tuple[dict[str, Any], Tensors]]
    unpack: Callable[[Fields, Arrays, int], Any]


_CODECS: dict[str, Codec] = {}


def register(kind: str, codec: Codec) -> None:
    """Let files hold models of this kind."""
    _CODECS[kind] = codec


def save(kind: str, model: Any, file: File) -> None:
    """Write a model of a registered kind, whole or not at all."""
    settings, tensors = _CODECS[kind].pack(model)
    write(file, tensors, {"kind": kind, "version": version("surelearn"), **settings})


def load(file: File, *, max_bytes: int = 2**32) -> Any:
    """Read a model of any registered kind; `FormatError` for what is damaged or foreign."""
    fields, tensors = read(file, _check.count("max_bytes", max_bytes))
    budget = max_bytes - sum(tensor.nbytes for tensor in tensors.values())
    codec = _CODECS[fields.text("kind", sorted(_CODECS))]
    try:
        return codec.unpack(fields, tensors, budget)
    except FormatError:
        raise
    except _UNSOUND as error:
        raise FormatError(
            f"{fields.where} must be a sound model, got a damaged one: {error}"
        ) from None
