"""The panel beside the question, with its charts: how far it is, and whether to stop."""

from __future__ import annotations

from collections.abc import Sequence

from surelearn.label.html import Html, hue_of, shown, tag
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
            tag("meter", min=0, max=most, value=n, aria_label=f"{name}: {n}"),
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
    chart = curves(lines, title="Error of the last answers by number of labels")
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
    chart = bars(
        found.histogram, lowest=found.lowest, title="Probability of the best label in the pool"
    )
    none = "Nothing is left to predict." if found.is_done else "Two labels are needed first."
    empty = tag("p", none, class_="hint")
    hint = f"Share of the {what} that are left, by the probability of their best label."
    title = tag("h2", "How sure the model is of the pool")
    return tag(
        "section", title, *([chart, tag("p", hint, class_="hint")] if found.histogram else [empty])
    )


_WIDTH, _HEIGHT = 320, 120
_LEFT, _BOTTOM, _TOP = 34, 22, 8

Points = Sequence[tuple[int, float]]


def curves(lines: Sequence[tuple[str, Points]], *, title: str) -> Html:
    """Lines of shares over the number of labels; each has a class for its looks."""
    most = max((x for _, points in lines for x, _ in points), default=1)
    highest = max((y for _, points in lines for _, y in points), default=0.0)
    high = next((end for end in (0.05, 0.1, 0.2, 0.5) if highest <= end), 1.0)  # a round number

    def place(x: float, y: float) -> tuple[float, float]:
        right, up = _WIDTH - 8 - _LEFT, _HEIGHT - _BOTTOM - _TOP
        return _LEFT + right * x / most, _HEIGHT - _BOTTOM - up * y / high

    drawn = [
        tag("polyline", class_=f"curve {name}", points=_points([place(*p) for p in points]))
        for name, points in lines
        if points
    ]
    left, base = place(0, 0)
    right, top = place(most, high)
    return _svg(
        title,
        tag("path", class_="axis", d=f"M{left:.1f} {top:.1f}V{base:.1f}H{right:.1f}"),
        _text(left - 5, top + 4, f"{high:.0%}", "end"),
        _text(left - 5, base, "0", "end"),
        _text(left, base + 15, "0", "middle"),
        _text(right, base + 15, f"{most:,} labels", "end"),
        *drawn,
    )


def bars(shares: Sequence[float], *, lowest: float, title: str) -> Html:
    """A histogram of probabilities from `lowest` to 1."""
    high = max([*shares, 1e-9])
    width = (_WIDTH - 8 - _LEFT) / max(1, len(shares))
    base, up = _HEIGHT - _BOTTOM, _HEIGHT - _BOTTOM - _TOP
    drawn = [
        tag(
            "rect",
            class_="bar",
            x=f"{_LEFT + i * width + 1:.1f}",
            y=f"{base - up * share / high:.1f}",
            width=f"{width - 2:.1f}",
            height=f"{up * share / high:.1f}",
        )
        for i, share in enumerate(shares)
    ]
    return _svg(
        title,
        *drawn,
        tag("path", class_="axis", d=f"M{_LEFT} {base}H{_WIDTH - 8}"),
        _text(_LEFT - 5, _TOP + 4, f"{high:.0%}", "end"),
        _text(_LEFT, base + 15, f"{lowest:.0%}", "middle"),
        _text(_WIDTH - 8, base + 15, "100% sure", "end"),
    )


def _svg(title: str, *parts: Html) -> Html:
    return tag("svg", *parts, viewBox=f"0 0 {_WIDTH} {_HEIGHT}", role="img", aria_label=title)


def _text(x: float, y: float, text: str, anchor: str) -> Html:
    return tag("text", text, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor)


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
