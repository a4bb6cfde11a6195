"""The panel beside the question: how far it is, and whether to stop; must not know requests."""

from __future__ import annotations

from surelearn.label import charts
from surelearn.label.choosing import hue_of
from surelearn.label.html import Html, shown, tag
from surelearn.label.progress import FEWEST, Report, Share


def panel_part(found: Report, *, what: str = "texts") -> Html:
    """The panel of a report."""
    return tag(
        "aside",
        _error(found, what),
        _stop(found),
        _hard(found, what),
        _labels(found, what),
        _sure(found, what),
        id="panel",
        aria_label="Progress",
    )


def _stop(found: Report) -> Html | None:
    if not found.stop:
        return None
    said = f"You could stop: {found.stop}."
    more = " Export labels and model." if found.is_done else " Export labels and model, or go on."
    return tag("p", tag("strong", said), more, class_="stop", role="status")


def _labels(found: Report, what: str) -> Html:
    most = max([n for _, n in found.counts], default=0) or 1
    rows = [
        tag(
            "li",
            tag("span", shown(name), class_="name", title=name),
            _meter(name, n, most),
            tag("b", f"{n:,}"),
            class_=hue_of(place),
        )
        for (name, n), place in list(zip(found.counts, found.places, strict=True))[:12]
    ]
    more = len(found.counts) - 12
    left = f"of {found.n_items:,} {what}" + (
        f", {found.n_skipped:,} skipped" if found.n_skipped else ""
    )
    return tag(
        "section",
        tag("h2", "Labels"),
        tag("p", tag("b", f"{found.n_labels:,}", class_="big"), " ", left),
        tag("ul", *rows, tag("li", tag("span", f"and {more} more labels")) if more > 0 else None,
            class_="counts"),
    )  # fmt: skip


def _meter(name: str, n: int, most: int) -> Html:
    return tag("meter", min=0, max=most, value=n, aria_label=f"{name}: {n}")


def _error(found: Report, what: str) -> Html:
    """The number to act on: what to expect of texts that nobody chose."""
    share = found.at_random
    n = 0 if share is None else share.n
    if share is None or n < FEWEST:
        value: tuple[Html, ...] = (tag("b", "Not enough random answers yet"),)
        rest = f"{n} of {FEWEST}"
    else:
        value = tag("b", f"{share.value:.1%}", class_="big"), Html(" ")
        rest = f"95 % interval: {_bounds(share)}"
    return tag(
        "section",
        tag("h2", f"Error on {what} drawn at random"),
        tag("p", *value, class_="figure"),
        tag("p", rest),
        tag("p", *_source(found.explore), class_="hint"),
        id="error",
    )


def _bounds(share: Share) -> str:
    return f"{share.low:.1%} to {share.high:.1%} (n = {share.n:,})"


def _source(explore: float) -> tuple[Html | str, ...]:
    """Where random questions come from."""
    if not explore:
        option = tag("code", "--explore 0.1")
        return "No question is drawn at random: start with ", option, " to have this error."
    return (
        f"{explore:.0%} of the questions are drawn at random (",
        tag("code", f"--explore {explore:g}"),
        "). The model predicts each before it learns the answer. This is the mean since the start: "
        "by now the model is usually better.",
    )


def _hard(found: Report, what: str) -> Html:
    """The error of all questions, which are mostly hard ones."""
    lines = [("chosen", found.curve), ("random", found.random_curve)]
    chart = charts.curves(lines, title="Error of the last answers by number of labels")
    hint = (
        f"Most {what} are asked because the model is unsure of them. It predicts these too before "
        "it learns the answer, and is wrong more often than in the pool, however much it learns."
    )
    share = found.error
    value = "none yet" if share is None else tag("b", f"{share.value:.1%}")
    rest = None if share is None else tag("small", f"{share.low:.0%} to {share.high:.0%}")
    return tag(
        "section",
        tag("h2", "Progressive validation error"),
        tag("dl", _line("All questions", "chosen", value, " ", rest),
            _line("Drawn at random", "random", tag("small", "see above"))),
        chart if found.curve else None,
        tag("p", hint, class_="hint"),
    )  # fmt: skip


def _line(name: str, kind: str, *value: Html | str | None) -> Html:
    """An entry of the chart's legend, with its value."""
    term = tag("dt", tag("span", class_=f"key {kind}", aria_hidden="true"), name)
    return tag("div", term, tag("dd", *value))


def _sure(found: Report, what: str) -> Html:
    chart = charts.bars(
        found.histogram, lowest=found.lowest, title="Probability of the best label in the pool"
    )
    none = "Nothing is left to predict." if found.is_done else "Two labels are needed first."
    empty = tag("p", none, class_="hint")
    hint = f"Share of the {what} that are left, by the probability of their best label."
    title = tag("h2", "How sure the model is of the pool")
    return tag(
        "section", title, *([chart, tag("p", hint, class_="hint")] if found.histogram else [empty])
    )
