"""The picture of the tutorial on abstaining: what is promised, and which texts are answered.

    python -m examples.abstain_picture    # from the root; writes docs/tutorial/abstain.png

On the left the risk among the surest answers on docstrings held out, with the risk that was asked
for and the share that is answered. On the right some of these docstrings, drawn at random among
short ones: each with the answer, or with none.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from sklearn.model_selection import train_test_split

from surelearn import SureTextClassifier
from surelearn.datasets import load_docstrings
from surelearn.plot import RiskCoverageDisplay

PICTURE = Path(__file__).parents[1] / "docs" / "tutorial" / "abstain.png"
RISK = 0.05
BLUE, PALE, GREY, LIGHT, RED = "#0072B2", "#DCEBF5", "#6B6B6B", "#EFEFEF", "#C1440E"
#: Docstrings of one line in these lengths fit on a card.
SHORT = range(28, 54)


class Card(NamedTuple):
    """A text, the label that the model would give, whether it does, and the right one."""

    text: str
    label: str
    answered: bool
    truth: str


class Shown(NamedTuple):
    """What the picture shows of a model."""

    display: RiskCoverageDisplay
    answered: float
    cards: list[Card]


def judged(n_cards: int = 5) -> Shown:
    """A model with a promise, judged on a fifth of the docstrings."""
    texts, packages = load_docstrings(return_X_y=True)
    train, test, y_train, y_test = train_test_split(
        texts, packages, test_size=0.2, stratify=packages, random_state=0
    )
    clf = SureTextClassifier(random_state=0).fit(train, y_train, risk=RISK)
    answered = np.not_equal(clf.predict(test, abstain=True), None)
    labels = clf.predict(test)
    short = np.array([len(text) in SHORT and text.isascii() and "\n" not in text for text in test])
    random = np.random.default_rng(4)
    cards = []
    for given in (True, False):
        rows = np.flatnonzero(short & (answered == given))
        for i in random.choice(rows, n_cards, replace=False):
            cards.append(Card(test[i], str(labels[i]), bool(answered[i]), str(y_test[i])))
    display = RiskCoverageDisplay.from_estimator(clf, test, y_test, name="model")
    return Shown(display, float(answered.mean()), cards)


def draw_curve(ax: Axes, shown: Shown) -> None:
    """The curve, the stated risk and what is answered."""
    curve, point = shown.display.curves_["model"], shown.display.certified_["model"]
    x, y = 100 * curve.coverage, 100 * curve.risk
    risk, certified = 100 * RISK, 100 * point.coverage
    top = 1.1 * y[-1]
    ax.axvspan(0, certified, color=PALE, zorder=0)
    ax.axvspan(certified, 100, color=LIGHT, zorder=0)
    ax.plot([0, 100], [risk, risk], color=RED, linewidth=1.6, linestyle=(0, (5, 3)), zorder=2)
    ax.plot(x, y, color=BLUE, linewidth=2.4, zorder=3)
    dot: dict[str, Any] = {"marker": "D", "markersize": 11, "markeredgecolor": "white"}
    ax.plot([certified], [risk], color=BLUE, zorder=5, **dot)
    ax.annotate(
        f"certified: {certified:.0f} % answered,\nat most {risk:.0f} % of that wrong",
        (certified, risk), (certified - 4, risk + 0.17 * top), ha="right", fontsize=11.5,
        color="black", arrowprops={"arrowstyle": "-", "color": GREY, "shrinkB": 7},
    )  # fmt: skip
    ax.text(2, risk + 0.015 * top, f"asked for: risk={RISK:g}", color=RED, fontsize=11.5)
    ax.annotate(
        f"all answered:\n{y[-1]:.0f} % wrong", (100, y[-1]), (certified + 1.5, 0.72 * top),
        fontsize=11.5, color=BLUE, arrowprops={"arrowstyle": "-", "color": GREY, "shrinkB": 5},
    )  # fmt: skip
    ax.text(certified / 2, 0.955 * top, "answered", ha="center", va="top", fontsize=13, color=BLUE)
    ax.text((100 + certified) / 2, 0.955 * top, "\u201cI don\u2019t know\u201d", ha="center",
            va="top", fontsize=13, color=GREY)  # fmt: skip
    ax.set(xlim=(0, 100), ylim=(0, top))
    ax.set_xlabel("Share of new texts that is answered, surest first (%)", fontsize=12)
    ax.set_ylabel("Wrong among the answers (%)", fontsize=12)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=11)


def draw_cards(ax: Axes, cards: list[Card]) -> None:
    """The texts, one below the other, with their answers."""
    ax.set(xlim=(0, 1), ylim=(len(cards) + 1.5, 0))
    ax.axis("off")
    y = 0.0
    for given, name, colour in ((True, "answered", BLUE), (False, "not answered", GREY)):
        ax.text(0, y + 0.62, f"Texts that are {name}", va="bottom", fontsize=12, color=colour)
        y += 0.75
        for card in cards:
            if card.answered == given:
                _card(ax, y, card)
                y += 1.0


def _card(ax: Axes, y: float, card: Card) -> None:
    right = card.label == card.truth
    box = {"boxstyle": "round,pad=0,rounding_size=0.012", "linewidth": 0, "mutation_aspect": 12}
    face = PALE if card.answered else LIGHT
    ax.add_patch(FancyBboxPatch((0.0, y), 1.0, 0.84, facecolor=face, **box))
    ax.text(0.02, y + 0.42, f"\u201c{card.text}\u201d", va="center", fontsize=11)
    if card.answered:
        said = card.label if right else f"{card.label} (it is {card.truth})"
        ax.text(0.98, y + 0.42, said, va="center", ha="right", fontsize=11.5, fontweight="bold",
                color=BLUE if right else RED)  # fmt: skip
        return
    ax.text(0.98, y + 0.26, "None", va="center", ha="right", fontsize=11.5, fontweight="bold",
            color=GREY)  # fmt: skip
    told = f"{card.label} would be right" if right else f"{card.label} would be wrong"
    ax.text(0.98, y + 0.63, told, va="center", ha="right", fontsize=9.5, color=GREY)


def draw(shown: Shown, to: Path) -> None:
    """Both halves of the picture."""
    figure = Figure(figsize=(14, 5.6), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.12))
    heads = (
        (left, "Ask for at most 5 % wrong, get a promise"),
        (right, "predict(texts, abstain=True) leaves what is unsure to you"),
    )
    for ax, title in heads:
        ax.set_title(title, loc="left", fontsize=14, fontweight="bold", pad=12)
    draw_curve(left, shown)
    draw_cards(right, shown.cards)
    figure.savefig(to, dpi=110, bbox_inches="tight")


if __name__ == "__main__":
    draw(judged(), PICTURE)
    print(f"The picture is in {PICTURE}.")
