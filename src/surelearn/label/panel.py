"""The panel beside the question: how far it is, and whether to stop; must not know requests."""

from __future__ import annotations

from surelearn.label import charts
from surelearn.label.html import Html, shown, tag
from surelearn.label.progress import Report, Share


def panel_part(found: Report, *, what: str = "texts") -> Html:
    """The panel of a report."""
    return tag(
        "aside",
        _stop(found),
        _labels(found, what),
        _error(found, what),
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
        )
        for name, n in found.counts[:12]
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
    lines = [("chosen", found.curve), ("random", found.random_curve)]
    chart = charts.curves(lines, title="Error of the last answers by number of labels")
    hint = f"The model predicts each of the {what} before it learns the answer."
    return tag(
        "section",
        tag("h2", "Progressive validation error"),
        tag("dl", *_share("All questions", "chosen", found.error),
            *_share("Drawn at random", "random", found.at_random)),
        chart if found.curve else None,
        tag("p", hint, " Chosen questions are the hard ones; the random ones show what to expect "
            f"of other {what}.", class_="hint"),
    )  # fmt: skip


def _share(name: str, kind: str, share: Share | None) -> list[Html]:
    value = "–" if share is None else f"{share.value:.1%}"
    rest = "none yet" if share is None else f"{share.low:.0%} to {share.high:.0%}, n = {share.n:,}"
    term = tag("dt", tag("span", class_=f"key {kind}", aria_hidden="true"), name)
    return [tag("div", term, tag("dd", tag("b", value), " ", tag("small", rest)))]


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
