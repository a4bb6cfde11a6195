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
        curves(lines, title="Error of the last answers by number of labels")
        if found.curve
        else None,
        tag("p", hint, class_="hint"),
    )  # fmt: skip


def _line(name: str, kind: str, *value: Html | str | None) -> Html:
    """An entry of the chart's legend, with its value."""
    term = tag("dt", tag("span", class_=f"key {kind}", aria_hidden="true"), name)
    return tag("div", term, tag("dd", *value))


def _sure(found: Report, what: str) -> Html:
    if found.histogram:
        title = "Probability of the best label in the pool"
        chart = bars(found.histogram, lowest=found.lowest, title=title)
        hint = f"Share of the {what} that are left, by the probability of their best label."
    else:
        chart = None
        hint = "Nothing is left to predict." if found.is_done else "Two labels are needed first."
    name = tag("h2", "How sure the model is of the pool")
    return tag("section", name, chart, tag("p", hint, class_="hint"))


#: The sides of what is drawn, in a picture of 320 x 120 units.
_LEFT, _RIGHT, _TOP, _BASE = 34, 312, 8, 98
#: Where words stand: at the left of a point, below it, below it at the left.
_BESIDE = {"text_anchor": "end", "dx": "-5", "dy": "4"}
_BELOW = {"text_anchor": "middle", "dy": "15"}
_BEFORE = {"text_anchor": "end", "dy": "15"}

Points = Sequence[tuple[int, float]]


def curves(lines: Sequence[tuple[str, Points]], *, title: str) -> Html:
    """Lines of shares over the number of labels; each has a class for its looks."""
    most = max(x for _, points in lines for x, _ in points)
    highest = max(y for _, points in lines for _, y in points)
    high = next((end for end in (0.05, 0.1, 0.2, 0.5) if highest <= end), 1.0)  # a round number

    def place(x: int, y: float) -> str:
        return "{:.1f},{:.1f}".format(*_place(x / most, y / high))

    drawn = [
        tag("polyline", class_=f"curve {name}", points=" ".join(place(*p) for p in points))
        for name, points in lines
        if points
    ]
    return _svg(
        title,
        tag("path", class_="axis", d=f"M{_LEFT} {_TOP}V{_BASE}H{_RIGHT}"),
        _text(_LEFT, _TOP, f"{high:.0%}", _BESIDE),
        _text(_LEFT, _BASE, "0", _BESIDE),
        _text(_LEFT, _BASE, "0", _BELOW),
        _text(_RIGHT, _BASE, f"{most:,} labels", _BEFORE),
        *drawn,
    )


def bars(shares: Sequence[float], *, lowest: float, title: str) -> Html:
    """A histogram of probabilities from `lowest` to 1."""
    high = max(shares)
    places = [_place(i / len(shares), share / high) for i, share in enumerate(shares)]
    width = (_RIGHT - _LEFT) / len(shares)
    drawn = [
        tag(
            "rect",
            class_="bar",
            x=f"{x + 1:.1f}",
            y=f"{top:.1f}",
            width=f"{width - 2:.1f}",
            height=f"{_BASE - top:.1f}",
        )
        for x, top in places
    ]
    return _svg(
        title,
        *drawn,
        tag("path", class_="axis", d=f"M{_LEFT} {_BASE}H{_RIGHT}"),
        _text(_LEFT, _TOP, f"{high:.0%}", _BESIDE),
        _text(_LEFT, _BASE, f"{lowest:.0%}", _BELOW),
        _text(_RIGHT, _BASE, "100% sure", _BEFORE),
    )


def _svg(title: str, *parts: Html) -> Html:
    return tag("svg", *parts, viewBox="0 0 320 120", role="img", aria_label=title)


def _place(across: float, up: float) -> tuple[float, float]:
    """The point at shares of the width and the height, from the left end of the base."""
    return _LEFT + (_RIGHT - _LEFT) * across, _BASE - (_BASE - _TOP) * up


def _text(x: int, y: int, text: str, place: dict[str, str]) -> Html:
    return tag("text", text, x=x, y=y, **place)
