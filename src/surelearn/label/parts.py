"""The question of a page: text or tokens, labels and why it was asked; must not know requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from surelearn.label.html import Html, hue_of, join, key_of, label_search, shown, tag
from surelearn.label.items import written
from surelearn.label.learner import TagLearner
from surelearn.label.ledger import strategies
from surelearn.label.novelty import NeverSeen, never_seen
from surelearn.label.session import Question, Session
from surelearn.label.spans import OUTSIDE, choices, has_spans
from surelearn.label.why import Why, Word

#: Letters of a text that are shown at first.
SHOWN = 20_000
#: Letters of a value of a table that are shown at first.
LONG = 600
_REASONS = {
    "unsure": "the model is least sure of it",
    "new": "the model has seen the least like it",
    "random": "drawn at random, to estimate the error",
    "first": "drawn at random, until two labels are known",
    "second": "a second opinion",
    "chosen": "chosen by you",
    "": "",
}
#: What each strategy asks about first.
_FIRST = {"acl": "Least sure", "novel": "Never seen"}
_TOP_WORDS = 6
_TOO_EARLY = "The model asks at random until it has seen two labels."
_BLIND = "The model has learnt from this text: what it says would give the first answer away."


class Hues(NamedTuple):
    """The looks of words for a label, and for the next best one."""

    label: str
    rival: str


def question_part(session: Session, person: str) -> Html:
    """The next question of a person, or that there is none."""
    with session.lock:
        question = session.question(person)
        blind = question is not None and question.reason == "second"
        told = None if question is None or blind else question.item
        why = None if told is None else session.learner.why(told)
        new = None if told is None else never_seen(session, told)
    if question is None:
        what = session.items.plural
        return tag(
            "div",
            tag("h1", f"All {what} are labelled{' or skipped' if session.ledger.skipped else ''}"),
            tag("p", "There is nothing left to ask. ", tag("a", "Review", href="/review"), " or ",
                tag("a", "export", href="/export"), " the labels."),
            _tools(session, person, None),
            id="work",
            data_item="",
        )  # fmt: skip
    body = _text(session, question, why, new, blind=blind)
    note = _BLIND if blind else _TOO_EARLY
    reasons = _why(why, note, _hues(session, why), new)
    return tag("div", *body, _tools(session, person, question), _strategy(session, person),
               reasons, id="work", data_item=question.item)  # fmt: skip


def _text(
    session: Session, question: Question, why: Why | None, new: NeverSeen | None, *, blind: bool
) -> list[Html]:
    text = session.items.text(question.item)
    reason = _REASONS.get(question.reason, "")
    is_table = session.items.lines is not None
    what = "Sentence" if session.kind == "tags" else "Record" if is_table else "Text"
    meta = tag("p", f"{what} {question.item + 1:,} of {len(session.items):,}",
               " · " if reason else "", reason, _mark_new(new), class_="meta")  # fmt: skip
    if session.kind == "tags":
        return [meta, *tokens_part(session, question.item, blind=blind)]
    if is_table:
        form = labels_form(session, "/answer", question.item)
        return [meta, record_part(session.items.values(question.item)), form]
    given = () if blind else session.ledger.final(question.item) or ()
    cut = tag("p", tag("a", f"Show all {len(text):,} letters", href=f"/text/{question.item}"))
    return [
        meta,
        tag(
            "article",
            mark_words(text, why, _hues(session, why))
            if len(text) <= SHOWN
            else shown(text[:SHOWN]),
            class_="text long" if len(text) > 600 else "text",
            id="text",
            dir="auto",
            tabindex="-1",
            aria_label="Text to label",
        ),
        cut if len(text) > SHOWN else Html(""),
        labels_form(session, "/answer", question.item, many=session.kind == "many", chosen=given),
    ]


def _mark_new(new: NeverSeen | None) -> Html | None:
    """A mark in words for what the model has never seen."""
    if new is None:
        return None
    title = f"Newer to the model than {new.newer} of the last {new.n} questions"
    return join([" · ", tag("strong", "never seen", class_="never-seen", title=title)])


def record_part(values: Mapping[str, Any]) -> Html:
    """All columns of a record; of a long value the beginning, and all of it at a click."""
    rows = [tag("div", tag("dt", shown(name)), _value(x), dir="auto") for name, x in values.items()]
    return tag("article", tag("dl", *rows), class_="text record", id="text", tabindex="-1",
               aria_label="Record to label")  # fmt: skip


def _value(value: Any) -> Html:
    if value is None:
        return tag("dd", "missing", class_="hint")
    text = written(value)
    if len(text) <= LONG:
        return tag("dd", shown(text))
    cut = max(text.rfind(" ", LONG // 2, LONG), LONG // 2)
    more = tag("summary", shown(text[:cut]), " ", tag("span", f"… all {len(text):,} letters"))
    return tag("dd", tag("details", more, shown(text[cut : cut + SHOWN])))


def _hues(session: Session, why: Why | None) -> Hues:
    """The looks of the label of a text and of the next best one."""
    if why is None:
        return Hues("none", "none")
    label, rival = (hue_of(session.place_of(name)) for name in (why.label, why.rival))
    return Hues(label, "none" if rival == label else rival)


def mark_words(text: str, why: Why | None, hues: Hues) -> Html:
    """A text with its words marked by the label that they pull towards."""
    if why is None or why.text is None:
        return shown(text)
    largest = max((abs(word.score) for word in why.words), default=0.0) or 1.0
    parts: list[Html] = []
    at = 0
    for word in why.words:
        strength = round(4 * abs(word.score) / largest)
        piece = shown(why.text[word.begin : word.end])
        side = (why.label, hues.label) if word.score > 0 else (why.rival, hues.rival)
        parts += [
            shown(why.text[at : word.begin]),
            _mark(piece, word, strength, side),
        ]
        at = word.end
    return join([*parts, shown(why.text[at:])])


def _mark(piece: Html, word: Word, strength: int, side: tuple[Any, str]) -> Html:
    """A word with the label that it pulls towards."""
    if not strength:
        return piece
    label, kind = side
    sure = "" if word.sureness is None else f", sure of the direction: {_percent(word.sureness)}"
    vague = " vague" if word.sureness is not None and word.sureness < 0.9 else ""
    title = f"{abs(word.score):.2f} for {label}{sure}"
    return tag("mark", piece, class_=f"{kind} s{strength}{vague}", title=title)


def labels_form(
    session: Session, action: str, item: int, *, many: bool = False, chosen: Any = ()
) -> Html:
    """Buttons or boxes of all labels, with a search if they are many."""
    labels = session.ledger.labels
    chosen = [chosen] if isinstance(chosen, str) else chosen
    choose = _box if many else _button
    return tag(
        "form",
        tag("input", type="hidden", name="item", value=item),
        label_search(len(labels)),
        tag(
            "div",
            *(
                choose(i, label, _label_name(session, label), label in chosen)
                for i, label in enumerate(labels)
            ),
            tag("p", "Add a label to begin.", class_="hint") if not labels else None,
            class_="choices",
        ),
        tag("button", "Save ", tag("kbd", "Enter"), class_="save", data_key="Enter")
        if many
        else None,
        method="post",
        action=action,
        class_="labels",
        aria_label="Labels",
    )


def _label_name(session: Session, label: str) -> Html:
    return tag("span", shown(label), class_=f"named {hue_of(session.place_of(label))}")


def _button(i: int, label: str, named: Html, is_chosen: bool) -> Html:
    key = key_of(i)
    inner = (tag("kbd", key) if key else None, named)
    return tag("button", *inner, name="label", value=label, data_key=key,
               class_="given" if is_chosen else None)  # fmt: skip


def _box(i: int, label: str, named: Html, is_chosen: bool) -> Html:
    key = key_of(i)
    box = tag("input", type="checkbox", name="label", value=label, checked=is_chosen, data_key=key)
    return tag("label", box, tag("kbd", key) if key else None, named)


def _tools(session: Session, person: str, question: Question | None) -> Html:
    done = bool(session.ledger.done.get(person))
    skip = question is not None and tag(
        "form",
        tag("input", type="hidden", name="item", value=question.item),
        tag("button", "Skip ", tag("kbd", "S"), data_key="s"),
        method="post",
        action="/skip",
    )
    undo = tag(
        "form",
        tag("button", "Undo ", tag("kbd", "U"), data_key="u", disabled=not done),
        method="post",
        action="/undo",
    )
    new = "New tag" if session.kind == "tags" else "New label"
    add = question is not None and tag(
        "form",
        tag("input", name="label", id="new-label", placeholder=f"{new} ( N )", aria_label=new,
            autocomplete="off", required=True, maxlength=60),
        tag("button", "Add"),
        method="post",
        action="/labels",
        class_="add",
    )  # fmt: skip
    return tag("div", skip, undo, add, class_="tools")


def _strategy(session: Session, person: str) -> Html | None:
    """What to ask about first, where there is a choice."""
    names = strategies(session.kind)
    if len(names) < 2:
        return None
    chosen = session.strategy(person)
    buttons = [
        tag("button", _FIRST[name], name="strategy", value=name,
            aria_pressed="true" if name == chosen else "false")
        for name in names
    ]  # fmt: skip
    return tag("form", tag("span", "Ask first: "), *buttons, method="post", action="/strategy",
               class_="ask", aria_label="Ask first")  # fmt: skip


def _why(why: Why | None, note: str, hues: Hues, new: NeverSeen | None = None) -> Html:
    """What the model thinks; a note if it thinks nothing that may be told."""
    summary = tag("summary", "Why this one ", tag("kbd", "W"))
    if why is None:
        return tag("details", summary, tag("p", note, class_="hint"), class_="why")
    deviation = None if why.deviation is None else f" ± {why.deviation:.2f}"
    facts = [
        *([] if why.token is None else [("Weakest token", why.token)]),
        ("Model says", why.label),
        ("Probability", f"{why.probability:.0%}"),
        ("Next best", why.rival),
        ("Margin", f"{why.margin:.2f}{deviation or ''}"),
        *([] if new is None else [("Never seen", f"newer than {new.newer} of {new.n} questions")]),
    ]
    listed = [tag("div", tag("dt", name), tag("dd", shown(str(value)))) for name, value in facts]
    meaning = (
        "The margin is the lead over the next best label, with its standard deviation: near zero "
        "the model cannot tell, and a large deviation means that it has seen too little."
    )
    hint = tag("p", meaning, class_="hint")
    return tag("details", summary, tag("dl", *listed), _pulls(why, hues), hint, class_="why")


def _pulls(why: Why, hues: Hues) -> Html | None:
    """The words that pull most, for each side."""
    if why.text is None:
        return None
    best: dict[str, Word] = {}
    for word in sorted(why.words, key=lambda word: -abs(word.score)):
        name = why.text[word.begin : word.end]
        best.setdefault(name if why.of_record else name.lower(), word)
    sides = []
    for kind, label, sign in ((hues.label, why.label, 1), (hues.rival, why.rival, -1)):
        words = [(text, word) for text, word in best.items() if sign * word.score > 1e-9]
        listed = [_pull(kind, *pair) for pair in words[:_TOP_WORDS]]
        empty = tag("li", "no value" if why.of_record else "no word", class_="hint")
        named = tag("span", shown(str(label)), class_=f"named {kind}")
        sides.append(tag("div", tag("h3", "for ", named), tag("ul", *(listed or [empty]))))
    return tag("div", *sides, class_="pulls")


def _pull(kind: str, text: str, word: Word) -> Html:
    sure = None if word.sureness is None else tag("small", f"{_percent(word.sureness)} sure")
    return tag(
        "li", tag("mark", shown(text), class_=f"{kind} s4"), f" {abs(word.score):.2f} ", sure
    )


def _percent(p: float) -> str:
    """A probability, which is never certainty."""
    return ">99%" if p > 0.99 else f"{p:.0%}"


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
