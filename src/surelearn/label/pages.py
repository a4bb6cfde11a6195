"""Whole pages as HTML: entry, review, search, agreement, export; must not know requests."""

from __future__ import annotations

import re
from typing import Any, NamedTuple
from urllib.parse import urlencode

from surelearn.label.export import formats
from surelearn.label.html import Html, join, shown, tag
from surelearn.label.parts import labels_form
from surelearn.label.progress import agreements
from surelearn.label.session import Session

#: Lines of a list on one page, and letters of a text in it.
PAGE, SNIPPET = 50, 240
_NAV = {"/": "Label", "/review": "Review", "/search": "Search", "/agreement": "Agreement",
        "/export": "Export"}  # fmt: skip
_KEYS = [
    ("1 … 9, 0", "give the label with this number"),
    ("/", "find a label, if there are more than ten"),
    ("N", "add a label"),
    ("S", "skip this one"),
    ("U", "undo"),
    ("W", "show why this one was asked"),
    ("← →", "sentences: choose a token; with Shift a span"),
    ("O", "sentences: take the tag away"),
    ("Enter", "save, where an answer has several parts"),
    ("Esc", "leave a field"),
]


class Filter(NamedTuple):
    """Which answers a review lists."""

    label: str = ""
    person: str = ""
    doubted: bool = False
    skipped: bool = False
    page: int = 0


def layout(title: str, body: Html, *, path: str = "", person: str = "") -> Html:
    """A whole page."""
    links = [
        tag("a", name, href=href, aria_current="page" if href == path else None)
        for href, name in _NAV.items()
    ]
    header = tag(
        "header",
        tag("a", "surelearn", href="/", class_="brand"),
        tag("nav", *links, aria_label="Pages") if person else None,
        tag("span", tag("span", shown(person), class_="who"),
            tag("button", "Keys ", tag("kbd", "?"), id="help", type="button"))
        if person else None,
    )  # fmt: skip
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("link", rel="icon", href="/static/icon.svg", type="image/svg+xml"),
        tag("link", rel="stylesheet", href="/static/style.css"),
        tag("script", type="module", src="/static/page.js"),
    )
    message = tag("p", id="message", role="alert", hidden=True)
    live = tag("p", id="live", class_="unheard", aria_live="polite")
    whole = tag("body", header, message, live, body, _help() if person else None)
    return join([Html("<!doctype html>"), tag("html", head, whole, lang="en")])


def _help() -> Html:
    rows = [tag("div", tag("dt", tag("kbd", key)), tag("dd", does)) for key, does in _KEYS]
    close = tag("form", tag("button", "Close"), method="dialog")
    return tag("dialog", tag("h2", "Keys"), tag("dl", *rows), close, id="keys", aria_label="Keys")


def enter_page(suggested: str, told: list[str]) -> Html:
    """Ask for a name."""
    form = tag(
        "form",
        tag("label", "Your name", for_="name"),
        tag("input", id="name", name="name", value=suggested, required=True, maxlength=60,
            autofocus=True, autocomplete="nickname"),
        tag("button", "Start", class_="save"),
        method="post",
        action="/enter",
    )  # fmt: skip
    hint = "Answers are kept under this name, so that several people can label together."
    notes = [tag("li", line) for line in told]
    main = tag("main", tag("h1", "Who is labelling?"), form, tag("p", hint, class_="hint"),
               tag("ul", *notes, class_="hint") if notes else None, class_="narrow")  # fmt: skip
    return layout("Enter · surelearn", main)


def message_page(text: str, *, person: str = "") -> Html:
    """One sentence, for what could not be done."""
    main = tag("main", tag("h1", "That did not work"), tag("p", shown(text), role="alert"),
               tag("p", tag("a", "Back", href="/")), class_="narrow")  # fmt: skip
    return layout("surelearn", main, person=person)


# --------------------------------------------------------------------------- review


def review_page(session: Session, person: str, chosen: Filter) -> Html:
    """Earlier answers, newest first, each with a way to change it."""
    with session.lock:
        items = _items_to_review(session, chosen)
        there = items[PAGE * chosen.page : PAGE * (chosen.page + 1)]
        rows = [_review_row(session, item) for item in there]
    table = tag(
        "table",
        tag("thead", tag("tr", *(tag("th", name, scope="col") for name in _COLUMNS))),
        tag("tbody", *rows),
    )
    main = tag(
        "main",
        tag("h1", "Review"),
        _review_filter(session, chosen),
        tag("p", f"{len(items):,} found", class_="meta"),
        table if rows else tag("p", "No answers here."),
        _pager("/review", chosen._asdict(), len(items)),
        class_="list",
    )
    return layout("Review · surelearn", main, path="/review", person=person)


_COLUMNS = ("Text", "Label", "By", "Model")


def _items_to_review(session: Session, chosen: Filter) -> list[int]:
    ledger = session.ledger
    if chosen.skipped:
        return sorted(ledger.skipped, key=lambda item: -ledger.skipped[item])
    found = [step.item for step in session.label_steps()][::-1]
    if chosen.label:
        found = [item for item in found if _has(ledger.final(item), chosen.label)]
    if chosen.person:
        found = [item for item in found if chosen.person in ledger.given.get(item, {})]
    if chosen.doubted:
        found = [i for i in found if session.learner.predict(i) not in (None, ledger.final(i))]
    return found


def _has(label: Any, wanted: str) -> bool:
    return label == wanted if isinstance(label, str) else wanted in label


def _review_row(session: Session, item: int) -> Html:
    ledger = session.ledger
    by = [name or "file" for name in ledger.given.get(item, {})]
    by += [f"settled by {ledger.settled[item].person}"] if item in ledger.settled else []
    label, predicted = ledger.final(item), session.learner.predict(item)
    agrees = predicted is None or predicted == label
    opinion = (
        "–" if predicted is None else ("agrees" if agrees else f"says {_label_words(predicted)}")
    )
    return tag(
        "tr",
        tag("td", snippet(session.items.text(item)), class_="snippet", dir="auto"),
        tag("td", _change_form(session, item, label)),
        tag("td", shown(", ".join(by)), data_name="By"),
        tag("td", shown(opinion), data_name="Model", class_=None if agrees else "doubt"),
    )


def _label_words(label: Any) -> str:
    return label if isinstance(label, str) else ", ".join(label) or "none"


def _change_form(session: Session, item: int, label: Any) -> Html:
    """Ways to change a label: here, or with the whole text and new labels at hand."""
    button = tag("button", "Open", formaction="/choose", aria_label=f"Open text {item + 1}")
    if session.kind != "texts":
        text = shown(_label_words(label) if label is not None else "skipped")
        return _small_form("/choose", item, [tag("span", text), button])
    options = [
        tag("option", name, value=name, selected=name == label) for name in session.ledger.labels
    ]
    none = tag("option", "skipped", value="", selected=True) if label is None else None
    select = tag("select", none, *options, name="label", aria_label=f"Label of text {item + 1}")
    return _small_form("/change", item, [select, tag("button", "Change"), button])


def _small_form(action: str, item: int, inner: list[Any]) -> Html:
    hidden = tag("input", type="hidden", name="item", value=item)
    return tag("form", hidden, *inner, method="post", action=action, class_="row")


def _review_filter(session: Session, chosen: Filter) -> Html:
    ledger = session.ledger
    return tag(
        "form",
        _select("label", "Label", ledger.labels, chosen.label),
        _select("person", "By", ledger.people, chosen.person),
        _check_box("doubted", "only where the model disagrees", chosen.doubted),
        _check_box("skipped", "skipped texts", chosen.skipped),
        tag("button", "Show"),
        method="get",
        action="/review",
        class_="filter",
    )


def _select(name: str, title: str, values: list[str], chosen: str) -> Html:
    options = [tag("option", value, value=value, selected=value == chosen) for value in values]
    any_one = tag("option", "any", value="")
    return tag("label", title, " ", tag("select", any_one, *options, name=name))


def _check_box(name: str, title: str, checked: bool) -> Html:
    return tag("label", tag("input", type="checkbox", name=name, value="1", checked=checked), title)


def _pager(path: str, query: dict[str, Any], n: int) -> Html | None:
    page = query["page"]
    links = []
    for name, to, exists in (
        ("Previous", page - 1, page > 0),
        ("Next", page + 1, n > PAGE * (page + 1)),
    ):
        asked = {key: int(v) if isinstance(v, bool) else v for key, v in query.items() if v}
        if exists:
            links.append(tag("a", name, href=f"{path}?{urlencode({**asked, 'page': to})}"))
    return tag("nav", *links, class_="pager", aria_label="More") if links else None


# --------------------------------------------------------------------------- search


def search_page(session: Session, person: str, words: str, page: int) -> Html:
    """Texts that contain all these letters, labelled or not."""
    words = " ".join(words.split())
    found = _matching(session, words) if words else []
    there = found[PAGE * page : PAGE * (page + 1)]
    with session.lock:
        rows = [_search_row(session, item, words) for item in there]
    form = tag(
        "form",
        tag("input", type="search", name="q", value=words, aria_label="Search the pool",
            placeholder="Search the pool", autofocus=not words),
        tag("button", "Search"),
        method="get",
        action="/search",
        class_="filter",
    )  # fmt: skip
    what = session.items.plural
    told = f"{len(found):,} of {len(session.items):,} {what}" if words else ""
    main = tag("main", tag("h1", "Search"), form, tag("p", told, class_="meta"),
               tag("ul", *rows, class_="found"), _pager("/search", {"q": words, "page": page},
               len(found)), class_="list")  # fmt: skip
    return layout("Search · surelearn", main, path="/search", person=person)


def _matching(session: Session, words: str) -> list[int]:
    wanted, items = words.casefold(), session.items
    return [i for i in range(len(items)) if wanted in items.text(i).casefold()]


def _search_row(session: Session, item: int, words: str) -> Html:
    label = session.ledger.final(item)
    text = session.items.text(item)
    state = tag("b", shown(_label_words(label))) if label is not None else tag("i", "not labelled")
    button = tag("button", "Open" if label is not None else "Label this one")
    return tag("li", tag("p", _around(text, words), class_="snippet", dir="auto"), state,
               _small_form("/choose", item, [button]))  # fmt: skip


def _around(text: str, words: str) -> Html:
    """The words marked in what stands around them, which begins with a whole word."""
    found = re.search(re.escape(words), text, re.IGNORECASE)
    at, end = found.span() if found else (0, 0)
    begin = 0 if at < SNIPPET // 3 else text.rfind(" ", 0, at - SNIPPET // 3) + 1
    before = " ".join(text[begin:at].split()) + (" " if text[at - 1 : at].isspace() else "")
    return join(["… " if begin else "", shown(before), found and tag("mark", shown(text[at:end])),
                 snippet(text[end:], SNIPPET - (end - begin))])  # fmt: skip


def snippet(text: str, longest: int = SNIPPET) -> Html:
    """The beginning of a text on one line."""
    line = re.sub(r"\s+", " ", text[: 4 * SNIPPET])
    return shown(line if len(line) <= longest else line[: max(0, longest - 1)] + "…")


# ------------------------------------------------------------------------ agreement


def agreement_page(session: Session, person: str) -> Html:
    """How far people agree, and the next text on which they do not."""
    with session.lock:
        pairs = agreements(session.ledger, session.kind)
        open_items = session.ledger.disagreements()
        first = _disagreement(session, open_items[0]) if open_items else None
    rows = [
        tag("tr", tag("td", shown(f"{p.one or 'file'} and {p.other}")),
            tag("td", f"{p.n:,}", data_name="Texts"), tag("td", f"{p.same:.0%}", data_name="Same"),
            tag("td", f"{round(p.kappa, 2) + 0.0:.2f}", data_name="Kappa"))
        for p in pairs
    ]  # fmt: skip
    head = tag("tr", *(tag("th", name, scope="col") for name in ("Who", "Texts", "Same", "Kappa")))
    none = tag("p", "No text has been labelled by two people. Start with --overlap 0.1 to give a "
               "tenth of the texts to two.", class_="hint")  # fmt: skip
    main = tag(
        "main",
        tag("h1", "Agreement"),
        tag("table", tag("thead", head), tag("tbody", *rows)) if rows else none,
        tag("h2", f"Disagreements: {len(open_items):,}") if rows else None,
        first,
        class_="list",
        data_keys="settle",
    )
    return layout("Agreement · surelearn", main, path="/agreement", person=person)


def _disagreement(session: Session, item: int) -> Html:
    by = session.ledger.given[item]
    said = [
        tag("li", tag("b", shown(name or "file")), ": ", shown(_said(session, item, given.label)))
        for name, given in by.items()
    ]
    text = tag("article", shown(session.items.text(item)[:5000]), class_="text long", dir="auto",
               aria_label="Text", tabindex="-1", id="text")  # fmt: skip
    if session.kind == "texts":
        settle: Html = labels_form(session, "/settle", item)
    else:
        keys = [
            tag("button", tag("kbd", i + 1), f"as {name or 'file'}", name="as", value=name,
                data_key=i + 1)
            for i, name in enumerate(by)
        ]  # fmt: skip
        settle = _small_form("/settle", item, keys)
    return tag("div", text, tag("ul", *said), settle, id="work")


def _said(session: Session, item: int, label: Any) -> str:
    """A label that others contradict; of a sentence the tokens with other tags."""
    if session.kind != "tags":
        return _label_words(label)
    words, others = session.items.words(item), session.ledger.given[item].values()
    tags = zip(words, label, *(given.label for given in others), strict=True)
    return ", ".join(f"{word} {mine}" for word, mine, *said in tags if set(said) != {mine})


# --------------------------------------------------------------------------- export


def export_page(session: Session, person: str, told: list[str]) -> Html:
    """Links to labels and model as files."""
    n = sum(1 for _ in session.label_steps())
    model = tag("a", "model.sure", href="/export/model.sure", download=True)
    use = tag("pre", tag("code", "surelearn predict model.sure new.jsonl"))
    if session.kind == "tags":
        use = tag("pre", tag("code", "surelearn tag predict model.sure new.conll"))
    main = tag(
        "main",
        tag("h1", "Export"),
        tag("h2", f"{n:,} labels"),
        _files(session, "labels", "One line for each text, with the label that counts:"),
        _files(session, "answers", "One line for each answer of each person:"),
        tag("p", _PLACES, class_="hint"),
        tag("h2", "The model"),
        tag("p", model, " has learnt all of them:") if session.learner.decides
        else tag("p", "It needs two labels first."),
        use if session.learner.decides else None,
        tag("h2", "This pool"),
        tag("ul", *(tag("li", line) for line in told)),
        tag("p", "Every answer is in ", shown(session.store.path), ".", class_="hint"),
        class_="narrow",
    )  # fmt: skip
    return layout("Export · surelearn", main, path="/export", person=person)


_PLACES = (
    "Each line has all columns of your files, and the file and the line it comes from. A text that "
    "occurs more than once has a line for each place."
)


def _files(session: Session, name: str, meaning: str) -> Html:
    """What a file of answers has, and links to it in all formats."""
    kinds = formats(session.kind, agreed=name == "labels")
    links = [tag("li", tag("a", f"{name}.{kind}", href=f"/export/{name}.{kind}", download=True))
             for kind in kinds]  # fmt: skip
    return tag("div", tag("p", meaning), tag("ul", *links))


__all__ = ["Filter", "agreement_page", "enter_page", "export_page", "layout", "message_page",
           "review_page", "search_page", "snippet"]  # fmt: skip
