"""Checks of columns: their names, and which must be named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

from surelearn._check._lines import BadInput
from surelearn._check._messages import Keyword, Message, must
from surelearn._check._values import listing

#: An error suggests at most this many numeric columns by name; for more it suggests ``"*"``.
_LISTED = 10

#: An error shows this many characters of a value.
_SHOWN = 20


def chosen(
    where: str, names: Sequence[str], *, texts: Mapping[str, Any], numbers: Sequence[str]
) -> None:
    """Refuse to guess which columns to use if the user named none and there is no column 'text'.

    Numeric columns are used without a question only if there are no texts.

    Parameters
    ----------
    where : str
    names : list of str
        Names of all columns.
    texts : dict
        Text columns without another role, each with one of its values or None.
    numbers : list of str
        Numeric columns without another role.
    """
    if not texts and numbers:
        return
    if not texts:
        raise BadInput(
            Message(
                "{where} must have a column 'text', or name another by {text}, got {names}.",
                where=where,
                text=Keyword("text"),
                names=listing(names) or "none",
            )
        )
    by_text = Keyword("text", next(iter(texts)))
    by_numbers = Keyword("features", list(numbers) if len(numbers) <= _LISTED else ["*"])
    remedy = Message("Name the one to learn from, such as {text}", text=by_text)
    if numbers:
        remedy = Message("{first}, or the numeric columns: {them}", first=remedy, them=by_numbers)
    raise BadInput(
        Message(
            "{where} must have a column 'text', got texts in {found}. {remedy}.",
            where=where,
            found=", ".join(_example(name, value) for name, value in texts.items()),
            remedy=remedy,
        )
    )


def _example(name: str, value: Any) -> str:
    if value is None:
        return repr(name)
    shown = repr(value if len(value) <= _SHOWN else f"{value[: _SHOWN - 4]} ...")
    return f"{name!r} (such as {shown})"


def text_and_features(text: str) -> BadInput:
    keywords = {name: Keyword(name) for name in ("text", "features")}
    return BadInput(
        Message(
            "{text} or {features} must be named, not both, got {column!r} and features.",
            column=text,
            **keywords,
        )
    )


def no_labels(where: str) -> BadInput:
    return BadInput(
        Message(
            "{where} must have labels, got none. Name their column by {label}.",
            where=where,
            label=Keyword("label"),
        )
    )


def text_wanted(where: str) -> BadInput:
    """The error for a source of numbers where texts are needed."""
    text = Keyword("text")
    said = "{where} must have a column of texts, got numbers. Name one by {text}."
    return BadInput(Message(said, where=where, text=text))


#: What the rows of a model have, by whether they have many labels.
_LABELS = {False: "one label for each row", True: "a list of labels for each row"}


def labels_for(where: str, *, many: bool, got: bool) -> None:
    """Refuse rows of one label for a model of many labels, and the reverse."""
    if many == got:
        return
    said = "{where} must have {wanted}, as the model has learnt, got {found}."
    if many and where != "y":
        said += " In csv, {separator} names what separates labels."
    separator = Keyword("label_separator")
    names = {"wanted": _LABELS[many], "found": _LABELS[got]}
    raise BadInput(Message(said, where=where, separator=separator, **names))


def like_rival(many: bool, rival_many: bool) -> None:
    if many != rival_many:
        raise ValueError(
            f"rival must predict {_LABELS[many]}, as the model does, got {_LABELS[rival_many]}."
        )


def column(who: str, value: Any) -> str | None:
    """The name of a column, or None."""
    (name,) = as_names([value])
    if name is not None and not isinstance(name, str):
        raise TypeError(f"{who} must be the name of a column, got {value!r}.")
    return name


def reads_labels(label: object) -> bool:
    """Whether labels are read, from a `label` that may be None or False."""
    if label is not None and label is not False:
        raise TypeError(f"label must be None or False, got {label!r}.")
    return label is None


def as_names(names: Any) -> Any:
    """The names with whole numbers as texts: columns of a frame without names are numbered."""
    if not isinstance(names, list | tuple):
        return names
    return [
        str(name) if isinstance(name, Integral) and not isinstance(name, bool) else name
        for name in names
    ]


def odd_label(wrong: str) -> Message:
    """What is wrong with a label that differs in type from the first ones, with the remedy."""
    return Message(
        "{wrong} With {label_type} all labels are texts.",
        wrong=wrong,
        label_type=Keyword("label_type", str),
    )


def label_type(value: Any) -> type | None:
    if value not in (None, str, int):
        raise ValueError(must("label_type", "be str or int", value))
    found: type | None = value
    return found


def feature_names(value: Any) -> tuple[str, ...] | None:
    """The names of numeric columns; ``"*"`` means all."""
    if value is None:
        return None
    listed = [value] if isinstance(value, str) and value == "*" else as_names(value)
    if isinstance(listed, str) or not all(isinstance(name, str) for name in listed):
        raise TypeError(must("features", "be a list of names of columns", value))
    if not listed:
        raise ValueError(must("features", "name at least one column", value))
    return tuple(listed)


def too_wide(most: int, found: int) -> Message:
    """What is wrong with a sparse row that has too many features."""
    return Message(
        "expected at most {most} features, got {found}. Train with {n_features} to have room.",
        most=most,
        found=found,
        n_features=Keyword("n_features", found),
    )


def width_wanted(which: str) -> BadInput:
    """The error for svmlight text whose width must be given."""
    said = "{n_features} must be given for svmlight {which}."
    return BadInput(Message(said, n_features=Keyword("n_features"), which=which))
