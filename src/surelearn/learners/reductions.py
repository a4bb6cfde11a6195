"""Reductions from multiclass to binary problems: codes, columns, labels and decoding.

Must not know how problems are learnt. Two classes need one weight vector with any reduction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, decode
from surelearn.decode import LABELS, Code

Decoder = Callable[[Code, Any], NDArray[np.float64]]

#: The code of each reduction, by the number of classes; None: all classes are learnt together.
_CODES: dict[str, Callable[[int], Code] | None] = {
    "joint": None,
    "ovr": decode.one_vs_rest,
    "ovo": decode.all_pairs,
    "ecoc": decode.error_correcting,
}

#: The number of problems of each code, by the number of classes.
_LENGTHS: dict[str, Callable[[int], int]] = {
    "ovr": int,
    "ovo": lambda n_classes: n_classes * (n_classes - 1) // 2,
    "ecoc": decode.default_length,
}

#: Decoders from margins of problems to scores of classes; `probability` also needs variances.
_DECODERS: dict[str, Decoder] = {
    "scores": decode.scores,
    "hamming": decode.hamming,
    "loss": decode.loss_based,
    "votes": decode.votes,
    "tournament": decode.tournament,
}

#: How a model learns its classes: the name of a reduction, a user's code, or `LABELS`.
Multiclass = str | Code


def multiclass(value: Any) -> Multiclass:
    """Check `multiclass`: the name of a reduction, or the code of a matrix."""
    matrix: Any = value
    if isinstance(value, Code):
        return value
    if isinstance(value, str):
        return _check.choice("multiclass", value, list(_CODES))
    if not isinstance(value, np.ndarray | list | tuple):
        raise TypeError(
            f"multiclass must be one of {_check.listing(_CODES)} or a coding matrix, got {value!r}."
        )
    code = Code(matrix)
    _no_complements(code)
    return code


def _no_complements(code: Code) -> None:
    """Raise if two classes have complementary rows, which is most likely a slip."""
    products = code.matrix.astype(np.int64) @ code.matrix.T.astype(np.int64)
    pairs = np.argwhere(np.triu(products == -code.n_problems, 1))
    if code.n_classes > 2 and len(pairs):
        k, other = pairs[0].tolist()
        raise ValueError(
            "coding matrix must not have a row that is the complement of another one, got rows "
            f"{k} and {other}. If that is meant, pass surelearn.decode.Code(matrix)."
        )


def decoding(value: Any, how: Multiclass, *, first_order: bool) -> str:
    """Check `decoding`, which must fit the reduction and the rule."""
    name = _check.choice("decoding", value, ["auto", *_DECODERS, "probability"])
    if name != "auto" and how == "joint":
        raise ValueError(
            f"decoding={name!r} needs multiclass 'ovr', 'ovo', 'ecoc' or a coding matrix, got "
            "'joint', which has no problems to decode."
        )
    if name in ("votes", "tournament") and not _all_pairs(how):
        raise ValueError(
            f"decoding={name!r} needs a problem for every two classes, got multiclass={how!r}. Use "
            "multiclass='ovo', or another decoding."
        )
    if name == "probability" and first_order:
        raise ValueError(
            "decoding='probability' needs a rule that keeps variances, got a first-order one. Use "
            "another decoding, or a second-order rule such as 'arow'."
        )
    return name


def _all_pairs(how: Multiclass) -> bool:
    if isinstance(how, str):
        return how == "ovo"
    K, B = how.matrix.shape
    return B == K * (K - 1) // 2 and bool(((how.matrix != 0).sum(axis=0) == 2).all())


def is_fixed(how: Multiclass) -> bool:
    """Whether the code must know all classes in advance."""
    return how == "ecoc" or isinstance(how, Code)


def check_classes(how: Multiclass, known: NDArray[Any], classes: NDArray[Any]) -> None:
    """Raise if the code has no row for some class."""
    if isinstance(how, Code) and how.n_classes != len(classes):
        raise ValueError(
            f"multiclass must be a coding matrix with a row for each of the {len(classes)} classes "
            f"{_check.listing(classes.tolist())}, got {how.n_classes} rows. In a stream, declare "
            "all classes in the first partial_fit."
        )
    if how == "ecoc" and 1 <= len(known) < len(classes):
        late = classes[~np.isin(classes, known)].tolist()
        raise ValueError(
            f"multiclass='ecoc' must know all classes when its code is made, got {late[0]!r} "
            "later. Declare all classes in the first partial_fit, or use 'ovr' or 'ovo', which "
            "take new ones."
        )


def code_of(how: Multiclass, n_classes: int) -> Code | None:
    """The code for `n_classes`; None if there is nothing to reduce."""
    if n_classes < 3 or how == LABELS:
        return None
    if isinstance(how, Code):
        return how
    make = _CODES[how]
    return None if make is None else make(n_classes)


def demand(how: Multiclass, n_classes: int) -> tuple[int, str, int]:
    """Weight columns that `n_classes` need, the word for a column, and the bytes of the code.

    It does not build the code, which can be larger than all weights if there are many classes.

    >>> demand("joint", 3), demand("ovo", 100)
    ((3, 'classes', 0), (4950, 'problems', 495000))
    """
    if how == LABELS:
        return n_classes, "labels", 0
    if n_classes < 3:
        return max(0, n_classes - 1), "classes", 0
    if how == "joint":
        return n_classes, "classes", 0
    n_problems = how.n_problems if isinstance(how, Code) else _LENGTHS[how](n_classes)
    return n_problems, "classes" if how == "ovr" else "problems", n_classes * n_problems


def n_columns_of(how: Multiclass, n_classes: int, code: Code | None) -> int:
    """Weight columns: none for one class, one for two; else one per class or problem of a code.

    Many labels per row have a column each, however many they are.
    """
    if how == LABELS:
        return n_classes
    if n_classes < 3:
        return max(0, n_classes - 1)
    return n_classes if code is None else code.n_problems


def labels_of(how: Multiclass, classes: NDArray[Any], code: Code | None) -> NDArray[Any]:
    """The label that a positive weight of each column supports."""
    if how == LABELS:
        return classes
    if len(classes) == 2:  # one column, which supports the second class
        return classes[1:]
    if code is None or code.kind == "ovr":
        return classes
    if code.kind == "ovo":
        names = [
            f"{classes[column == 1][0]}, not {classes[column == -1][0]}" for column in code.matrix.T
        ]
    else:
        names = [f"problem {b}" for b in range(code.n_problems)]
    return np.asarray(names, dtype=object)


#: The meaning of "auto". All pairs use votes: a pair trained on neither of the true classes can
#: have a large, meaningless margin, which would dominate a sum but is only one vote.
_AUTO = {"ovr": "scores", "ovo": "votes", "ecoc": "loss", "custom": "loss"}


def decoder(name: str, code: Code) -> Decoder | None:
    """The decoder of this name; None: decode by probability."""
    if name == "auto":
        name = _AUTO[code.kind]
    return None if name == "probability" else _DECODERS[name]
