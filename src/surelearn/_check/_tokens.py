"""Checks of sequences of tokens and their labels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from typing import Any, NoReturn, TypeGuard

import numpy as np
from numpy.typing import NDArray

from surelearn._check._labels import is_missing, labels
from surelearn._check._values import listing, shown

#: The deepest nesting of dicts in a token.
_DEEPEST = 100
#: Feature values are stored in single precision.
_LARGEST = float(np.finfo(np.float32).max)


def listed(name: str, value: object, of: str) -> None:
    """Refuse a single string, and anything that is not iterable."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise TypeError(f"{name} must be a list of {of}, got {value!r}.")


def sequences(X: object) -> list[list[Any]]:
    """`X` as a list of lists of tokens; it may be an array, a series or a generator of them."""
    if not _in_a_row(X):
        raise TypeError(f"X must be a list of sequences, got {shown(X)}.")
    return [tokens if type(tokens) is list else _tokens(tokens, i) for i, tokens in enumerate(X)]


def _tokens(sequence: object, i: int) -> list[Any]:
    if _in_a_row(sequence) and not isinstance(sequence, tuple):  # a tuple is one token
        return list(sequence)
    raise TypeError(f"sequence {i} must be a list of tokens, got {shown(sequence)}.")


def _in_a_row(value: object) -> TypeGuard[Iterable[Any]]:
    """Whether a value is a one-dimensional iterable with an order: no text, table, dict or set."""
    unlike = isinstance(value, str | bytes | Mapping | Set)
    return isinstance(value, Iterable) and not unlike and getattr(value, "ndim", 1) == 1


def tagged(X: object, y: object) -> tuple[list[list[Any]], list[list[Any]]]:
    """Sequences and their labels, one for each token."""
    found = sequences(X)
    return found, label_lists(y, [len(tokens) for tokens in found], of="sequences", unit="token")


def label_lists(y: Any, sizes: Sequence[int], *, of: str, unit: str) -> list[list[Any]]:
    """Labels of structures, one for each of their parts.

    Parameters
    ----------
    y : list of lists of labels
    sizes : list of int
        The number of parts of each structure.
    of, unit : str
        The words for structures and for a part.
    """
    listed("y", y, f"{of} of labels")
    lists = [own.tolist() if isinstance(own, np.ndarray) else list(own) for own in _lists(y)]
    if len(lists) != len(sizes):
        raise ValueError(f"y must have {len(sizes)} {of} of labels like X, got {len(lists)}.")
    for i, (size, own) in enumerate(zip(sizes, lists, strict=True)):
        if size != len(own):
            raise ValueError(
                f"y[{i}] must have {size} labels, one for each {unit} of X[{i}], got {len(own)}."
            )
    return lists


def _lists(y: Any) -> Iterable[Any]:
    for i, tags in enumerate(y):
        listed(f"y[{i}]", tags, "labels")
        yield tags


def tags_in(y: Sequence[Sequence[Any]]) -> NDArray[Any]:
    """The distinct labels, sorted; checks that they have one type and that none is missing."""
    try:
        distinct = set(itertools.chain.from_iterable(y))
    except TypeError:
        _refuse_label(y, lambda label: label.__hash__ is None)
        raise
    if any(is_missing(label) for label in distinct):
        _refuse_label(y, is_missing)
    if any(_ends_in_nul(label) for label in distinct):  # numpy would drop the NUL
        _refuse_label(y, _ends_in_nul)
    try:
        found = labels(_objects(distinct), "y")
    except (TypeError, ValueError):
        for i, tags in enumerate(y):  # find the sequence, for the message
            labels(_objects(tags), f"y[{i}]")
        raise
    return np.unique(found.astype(str) if found.dtype.kind == "O" and len(found) else found)


def _objects(tags: Collection[Any]) -> NDArray[Any]:
    return np.fromiter(tags, dtype=object, count=len(tags))


def _ends_in_nul(label: Any) -> bool:
    return isinstance(label, str) and label.endswith("\0")


def some_tokens(n_tokens: int) -> None:
    if n_tokens == 0:
        raise ValueError("X must have at least one token, got none.")


def known_tags(found: NDArray[Any], classes: NDArray[Any]) -> None:
    """Refuse labels that a model does not know."""
    strange = found[~np.isin(found, classes)]
    if len(strange):
        raise ValueError(
            f"y must hold labels that the model knows ({listing(classes.tolist())}), got "
            f"{strange.tolist()[0]!r}."
        )


def _refuse_label(y: Sequence[Sequence[Any]], wrong: Callable[[Any], bool]) -> None:
    for i, tags in enumerate(y):
        for t, label in enumerate(tags):
            if wrong(label):
                raise TypeError(f"y[{i}][{t}] must be a label, got {shown(label)}.")


def columns(names: object) -> tuple[str, ...]:
    """Names of columns: distinct identifiers, at least one."""
    listed("columns", names, "names")
    found: tuple[str, ...] = tuple(names)  # type: ignore[arg-type]
    for i, name in enumerate(found):
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(f"columns[{i}] must be a name, got {name!r}.")
    if len(set(found)) != len(found) or not found:
        raise ValueError(f"columns must be different names, at least one, got {found!r}.")
    return found


def token_kind(token: object, i: int, t: int) -> str:
    """The kind of a token; raises for anything else."""
    for kind, types in _KINDS.items():
        if isinstance(token, types):
            return kind
    raise TypeError(
        f"{_who(i, t)} must be a str, a tuple of str, a list of str or a dict, got {shown(token)}."
    )


_KINDS: dict[str, Any] = {"words": (str, tuple), "strings": list, "dicts": dict}
_CALLED = {"words": "a str or a tuple of str", "strings": "a list of str", "dicts": "a dict"}


def no_templates(templates: object, kind: str) -> None:
    """Refuse templates for tokens that are lists or dicts of features."""
    if templates is not None:
        raise ValueError(
            f"templates must be None if tokens are {kind.replace('strings', 'lists of strings')}"
            f", got {templates!r}."
        )


def same_kind(kind: str, learnt: str) -> None:
    """Refuse tokens of another kind than in training."""
    if kind != learnt:
        raise TypeError(f"tokens must be {_CALLED[learnt]} as in training, got {_CALLED[kind]}.")


def refuse_token(
    X: Sequence[Sequence[Any]], place: tuple[int, int], kind: str, columns: Sequence[str]
) -> NoReturn:
    """Raise the error for a token that the core has refused."""
    i, t = place
    token, who = X[i][t], _who(i, t)
    if token_kind(token, i, t) != kind:
        raise TypeError(f"{who} must be {_CALLED[kind]} like those before, got {shown(token)}.")
    if kind == "words":
        _refuse_words(token, who, columns)
    elif kind == "strings":
        _strings(token, who, "")
    else:
        total = _items(token, who, "", 0)
        raise ValueError(f"{who} must have values that sum to less than 3.4e38, got {total}.")
    raise ValueError(f"{who} must not change while it is read, got another.")


def _refuse_words(token: Any, who: str, columns: Sequence[str]) -> None:
    words = (token,) if isinstance(token, str) else token
    if len(words) != len(columns):
        n, names = len(columns), ", ".join(columns)
        has = f"{n} column{'s' if n > 1 else ''} ({names})"
        raise ValueError(f"{who} must have {has}, got {len(words)}.")
    for name, word in zip(columns, words, strict=True):
        if not isinstance(word, str):
            raise TypeError(f"{who}: {name} must be a str, got {shown(word)}.")
        no_surrogates(f"{who}: {name}", word)


def no_surrogates(who: str, text: str) -> None:
    """Refuse a text that cannot be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        at = error.start
        said = f"{who} must have no lone surrogate, got one at character {at}."
        raise ValueError(said) from None


def _strings(items: Iterable[Any], who: str, prefix: str) -> None:
    for item in items:
        _name(item, who, prefix)


def _name(key: Any, who: str, prefix: str) -> str:
    if isinstance(key, bytes):
        try:
            key = key.decode("utf-8")
        except UnicodeDecodeError:
            raise ValueError(f"{who}: a feature must be UTF-8, got {key!r}.") from None
    if not isinstance(key, str):
        inside = f" in {prefix[:-1]!r}" if prefix else ""
        raise TypeError(f"{who}: a feature{inside} must be a str, got {shown(key)}.")
    no_surrogates(f"{who}: feature {prefix + key!r}", key)
    return prefix + key


def _items(token: dict[Any, Any], who: str, prefix: str, depth: int) -> float:
    total = 0.0
    for key, value in token.items():
        name = _name(key, who, prefix)
        if isinstance(value, str | bytes):
            _name(value, who, f"{name}:")
        elif isinstance(value, dict):
            if depth >= _DEEPEST:
                raise ValueError(f"{who}: feature {key!r} must be nested {_DEEPEST} deep at most.")
            total += _items(value, who, f"{name}:", depth + 1)
        elif isinstance(value, list | set):
            _strings(value, who, f"{name}:")
        else:
            total += abs(_value(value, f"{who}: feature {name!r}"))
    return total


def _value(value: Any, who: str) -> float:
    try:
        x = float(value)
    except OverflowError:
        x = math.inf
    except Exception:
        raise TypeError(
            f"{who} must be a number, a str, a dict, or a list or set of str, got {shown(value)}."
        ) from None
    if not math.isfinite(x):
        raise ValueError(f"{who} must be finite, got {shown(value)}.")
    if abs(x) > _LARGEST:
        raise ValueError(f"{who} must be finite in single precision, got {shown(value)}.")
    return x


def chain(
    U: NDArray[np.float64], A: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Check that scores of labels and of transitions fit; A may be one matrix or one a step."""
    if U.ndim != 2 or U.shape[1] == 0:
        raise ValueError(f"U must be of shape (length, n_labels), got shape {U.shape}.")
    T, K = U.shape
    if A.shape not in ((K, K), (1, K, K), (max(T - 1, 0), K, K)):
        raise ValueError(
            f"A must be of shape ({K}, {K}) or ({max(T - 1, 0)}, {K}, {K}) as U has {T} tokens and "
            f"{K} labels, got shape {A.shape}."
        )
    if A.ndim == 2 or len(A) == 0:  # without a transition, any matrix will do
        A = A.reshape(1, K, K) if A.size else np.zeros((1, K, K))
    return U, A


def path(value: Any, length: int, n_labels: int) -> NDArray[np.int32]:
    """The index of a label for each token."""
    found = np.asarray(value)
    inside = found.shape == (length,) and (length == 0 or found.dtype.kind in "iu")
    if not inside or (length and not (found.min() >= 0 and found.max() < n_labels)):
        raise ValueError(
            f"path must have {length} labels from 0 to {n_labels - 1}, got {shown(value)}."
        )
    return found.astype(np.int32)


def _who(i: int, t: int) -> str:
    return f"sequence {i}, token {t}"
