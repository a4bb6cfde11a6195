"""Small charts as SVG without styles inside, which the page's policy forbids; no pages here."""

from __future__ import annotations

from collections.abc import Sequence

from surelearn.label.html import Html, tag

_WIDTH, _HEIGHT = 320, 120
_LEFT, _BOTTOM, _TOP = 34, 22, 8

Points = Sequence[tuple[int, float]]


def curves(lines: Sequence[tuple[str, Points]], *, title: str) -> Html:
    """Lines of shares over the number of labels; each has a class for its looks."""
    most = max((x for _, points in lines for x, _ in points), default=1)
    high = _rounded(max((y for _, points in lines for _, y in points), default=0.0))

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


def _rounded(high: float) -> float:
    """The end of an axis: a round number that is not smaller."""
    return next((end for end in (0.05, 0.1, 0.2, 0.5) if high <= end), 1.0)
