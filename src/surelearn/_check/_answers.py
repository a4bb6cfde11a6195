"""Checks of what people do on the labelling page, and of the store it is kept in."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from surelearn._check._values import FormatError

_LONGEST = 60


def tidy_name(what: str, text: str) -> str:
    """A name of a person or a label: on one line, not too long, with letters that can be seen."""
    name = " ".join(text.split())[:_LONGEST].strip()
    if not name or not name.isprintable():
        raise ValueError(f"{what} must have letters, got {text!r}.")
    return name


def known_label(label: Any, labels: Sequence[str]) -> None:
    """Refuse a label that is not one of those to choose from."""
    if label not in labels:
        raise ValueError(f"label must be one of {list(labels)}, got {label!r}.")


def tags_of(tags: Sequence[str], n_tokens: int) -> None:
    """Refuse tags that are not one for each token."""
    if len(tags) != n_tokens:
        raise ValueError(f"tags must be one for each of {n_tokens} tokens, got {len(tags)}.")


def tag_names(names: Sequence[str]) -> None:
    """Refuse tags that a file of tokens and tags could not hold."""
    for name in names:
        if name.split() != [name]:
            raise ValueError(f"tags must have no blanks, got {name!r}.")


def item_number(item: int, n_items: int) -> None:
    """Refuse a number that no text of the pool has; people count from 1."""
    if not 0 <= item < n_items:
        raise ValueError(f"text must be in [1, {n_items}], got {item + 1}.")


def free_item(item: int, held: Collection[int]) -> None:
    """Refuse a text that another person has before them."""
    if item in held:
        raise ValueError(f"text {item + 1} must be free, got one that is being labelled.")


def open_question(item: int, current: int | None) -> None:
    """Refuse an answer to another question than the one that is open."""
    if item != current:
        raise ValueError(
            f"text {item + 1} must be the open question, got an old page. Load it again."
        )


def something_done(done: Collection[Any]) -> None:
    """Refuse to undo nothing."""
    if not done:
        raise ValueError("undo needs an answer to take back, got none.")


def one_label_each(labels: Collection[Any]) -> None:
    """Refuse lists of labels where a text has one."""
    if any(not isinstance(label, str) for label in labels):
        raise ValueError("labels of the files must be one for each text, got lists. Use many.")


def start_model(model: Any, blank: Any, *, many: bool) -> None:
    """Refuse a model that could not go on with the answers of the page."""
    kind, wanted = type(model).__name__, type(blank).__name__
    if kind != wanted:
        raise ValueError(f"the model to start from must be a {wanted}, got {kind}.")
    if (getattr(model, "label_format_", None) is not None) != many:
        raise ValueError(
            "the model to start from must have one label for each text, got many. Use --many."
            if not many
            else "the model to start from must have many labels for each text, got one. Leave out "
            "--many."
        )
    known = next(iter(getattr(model, "classes_", ())), "")
    if not isinstance(known, str):
        raise ValueError(
            f"labels of the model to start from must be texts, got {known!r}. Train it again with "
            "--label-type str."
        )


def store_of_model(path: str, *, is_same: bool) -> None:
    """Refuse a store that began with another model."""
    if not is_same:
        raise ValueError(
            f"{path} must have begun with this model, got another. Leave it out, or name another "
            "store."
        )


def store_of_kind(path: str, kind: str, found: str) -> None:
    """Refuse a store of another kind of answers."""
    if kind != found:
        raise ValueError(
            f"{path} must have answers of the kind {kind!r}, got {found!r}. Name another store."
        )


def same_text(where: str, *, is_same: bool) -> None:
    """Refuse a file that has changed since the pool was read."""
    if not is_same:
        raise ValueError(
            f"{where} must be as it was when the page started, got another text. Put the file "
            "back, or start the page again."
        )


def readable(name: str, error: OSError) -> ValueError:
    """The error for a file of the pool that cannot be read once more."""
    return ValueError(
        f"{name} must be there for its other columns to be exported, got: {error.strerror}. Put "
        "the file back."
    )


def some_id(where: str, name: str, value: Any) -> None:
    """Refuse a record without an id."""
    if value is None or value == "" or value != value:
        raise ValueError(f"{where}: {name!r} must be an id, got none.")


def own_id(where: str, name: str, value: Any, first: str) -> None:
    """Refuse an id that an earlier record has, too."""
    raise ValueError(
        f"{where}: {name!r} must be another in each record, got {value!r} as in {first}."
    )


def damaged(path: str, what: str) -> FormatError:
    """The error for a store that lost answers or has changed ones."""
    return FormatError(
        f"{path} must be a whole store of answers, got a damaged one: {what}. "
        "Put a copy of it back, or delete it to begin anew without its answers."
    )


def whole(path: str, where: str, *, is_whole: bool) -> None:
    """Refuse a part of a store that is missing, or that the page cannot have written."""
    if not is_whole:
        raise damaged(path, f"{where} is not as it was written")


def store_of_pool(path: str, files: Sequence[str], n_items: int, *, is_same: bool) -> None:
    """Refuse a store that was made from another pool, and say which."""
    if not is_same:
        named = ", ".join(files) or "another pool"
        raise ValueError(
            f"{path} must be the store of this pool, got that of {named} with {n_items:,} items. "
            "Name another store, or delete this one to lose its answers."
        )
