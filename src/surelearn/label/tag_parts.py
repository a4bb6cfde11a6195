"""The question of a tagger: tokens, tags and spans; must not know requests."""

from __future__ import annotations

from typing import Any

from surelearn.label.choosing import hue_of, key_of, label_search
from surelearn.label.html import Html, shown, tag
from surelearn.label.refitted import TagLearner
from surelearn.label.session import Session
from surelearn.label.spans import OUTSIDE, choices, has_spans


def tokens_part(session: Session, item: int, *, blind: bool = False) -> tuple[Html, Html]:
    """The tokens with the tags they have or the model gives them, and the form that sends them.

    With `blind`, they have no tags yet: the model has learnt what another person said.
    """
    words, ledger = session.items.words(item), session.ledger
    tags, sure, limit = _blank(session, item) if blind else _tags(session, item)
    listed = [
        _token(word, name, p, is_unsure=p is not None and p < limit, is_first=i == 0)
        for i, (word, name, p) in enumerate(zip(words, tags, sure, strict=True))
    ]
    article = tag("article", *listed, class_="text tokens", id="text", tabindex="-1", dir="auto",
                  role="group", aria_label="Tokens")  # fmt: skip
    names = choices(ledger.labels)
    buttons = [_choice(i, name, hue_of(session.place_of(name))) for i, name in enumerate(names)]
    hint = (
        "Arrow keys move, with Shift they make a span; a key or a click gives the chosen tokens a "
        "tag. Underlined tokens are those the model is unsure of."
    )
    form = tag(
        "form",
        tag("input", type="hidden", name="item", value=item),
        tag("input", type="hidden", name="label", id="tags", value=" ".join(tags)),
        label_search(len(names)),
        tag("div", *buttons, class_="choices", data_spans=has_spans(ledger.labels)),
        tag("button", "Save ", tag("kbd", "Enter"), class_="save", data_key="Enter"),
        tag("p", hint, class_="hint"),
        method="post",
        action="/answer",
        class_="labels",
        aria_label="Tags",
    )
    return article, form


def _tags(session: Session, item: int) -> tuple[list[str], list[float | None], float]:
    """Tags of each token, given or predicted, how sure the model is, and what is unsure."""
    n = len(session.items.words(item))
    given: Any = session.ledger.final(item)
    if given is not None:
        return list(given), [None] * n, 0.0
    learner, predicted = session.learner, session.learner.predict(item)
    if predicted is not None and isinstance(learner, TagLearner):
        return list(predicted), [*learner.confidence(item)], learner.unsure_below()
    return _blank(session, item)


def _blank(session: Session, item: int) -> tuple[list[str], list[float | None], float]:
    """As `_tags`, of a sentence that is not tagged yet."""
    labels, n = session.ledger.labels, len(session.items.words(item))
    first = OUTSIDE if OUTSIDE in labels or not labels else labels[0]
    return [first] * n, [None] * n, 0.0


def _token(word: str, name: str, sure: float | None, *, is_unsure: bool, is_first: bool) -> Html:
    kind = "token unsure" if is_unsure else "token"
    title = None if sure is None else f"{sure:.0%} sure"
    said = f"{word}, {name}" + (", unsure" if is_unsure else "")
    return tag("button", tag("span", shown(word)), tag("small", shown(name)), type="button",
               class_=kind, data_tag=name, aria_pressed="false", title=title, aria_label=said,
               tabindex="0" if is_first else "-1")  # fmt: skip


def _choice(i: int, name: str, hue: str) -> Html:
    key = "o" if name == OUTSIDE else key_of(i)
    named = tag("span", shown(name), class_=f"named {hue}" if name != OUTSIDE else None)
    return tag("button", tag("kbd", key.upper()) if key else None, named, type="button",
               data_choice=name, data_hue=hue, data_key=key)  # fmt: skip
