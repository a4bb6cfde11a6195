"""
What each column of a table says
================================

A model of a table keeps the names of columns: a weight belongs to the word of a title, to a brand,
to a range of prices, or to a value that is missing. This example draws the weights of each column
side by side, each with its deviation, and so shows which columns decide, and how surely.
"""

import random

import matplotlib.pyplot as plt
import numpy as np

from surelearn import SureTableClassifier
from surelearn.columns import Number
from surelearn.plot.style import COLOURS, FONT, GREY, head, quiet

# %%
# Two thousand offers of used bicycles are sold within a week, or not. One brand is rare.

chance = random.Random(0)
brands = {"Alba": 1.0, "Borea": 0.5, "Cima": 0.0, "Duna": -0.5, "Esker": -1.0, "Fado": 1.0}
words = {"serviced": 1.0, "new tyres": 0.6, "lamp": 0.2, "blue": 0.0, "old": -0.6, "rust": -1.2}


def offer():
    brand = chance.choices(list(brands), [20, 20, 20, 20, 20, 0.3])[0]
    said = chance.sample(list(words), chance.randint(1, 3))
    price = round(chance.lognormvariate(5.5, 0.5))
    missing = chance.random() < 0.1
    spring = chance.random() < 0.25
    liked = 0.0 if missing else brands[brand]
    liked += sum(words[word] for word in said) - price / 150 + 0.8 * spring
    return {
        "title": ", ".join(word.replace(" ", "_") for word in said),
        "brand": None if missing else brand,
        "price": price,
        "listed": f"2024-{chance.choice([3, 4, 5] if spring else [1, 2, *range(6, 13)]):02d}-15",
    }, "yes" if liked + 1.8 + chance.gauss(0, 0.5) > 0 else "no"


offers, sold = zip(*(offer() for _ in range(2000)), strict=True)
kinds = {"title": "text", "price": Number(bins=[100, 200, 300, 400, 500])}
clf = SureTableClassifier(columns=kinds, random_state=0).fit(list(offers), sold)
print(clf.columns_)

# %%
# ``explain`` lists all weights by name, and a name begins with its column: ``brand=Alba``,
# ``title: rust``, ``price in [100, 200)``, ``listed month=Mar``, ``brand missing``. A number has a
# weight for its value as well, which stands for one unit: here, for 100 more of the price.
# The time of a date has one, too, which is not drawn.

found = clf.explain(top=None)
weights = {
    name: (mean, deviation)
    for name, mean, deviation in zip(found.feature, found.mean, found.deviation, strict=True)
}
weights["price, 100 more"] = tuple(100 * value for value in weights.pop("price"))
panels = {
    "title": [name for name in weights if name.startswith("title: ")],
    "brand": [name for name in weights if name.startswith("brand")],
    "price": ["price, 100 more"] + [name for name in weights if name.startswith("price in")],
    "listed": [name for name in weights if name.startswith("listed month=")],
}
months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
orders = {
    "title": lambda name: -weights[name][0],
    "brand": lambda name: (name == "brand missing", name),
    "price": lambda name: float(name.split("[")[1].split(",")[0]) if "[" in name else -np.inf,
    "listed": lambda name: months.index(name[-3:]),
}


def short(name):
    """A name without its column."""
    if " in [" in name:
        low, high = name.rstrip(")").split("[")[1].split(", ")
        return (
            f"below {high}" if low == "-inf" else f"{low} to {high}".replace(" to inf", " or more")
        )
    for mark in (": ", "=", ", ", " "):
        if mark in name:
            return name.split(mark, 1)[1].replace("_", " ")
    return name


# %%
# Bars are means, and whiskers two deviations to each side. Bars to the right speak for a sale
# within a week.

sizes = [len(names) for names in panels.values()]
figure, axes = plt.subplots(
    len(panels), 1, figsize=(8, 9), sharex=True, height_ratios=sizes, layout="constrained"
)
for ax, (column, names) in zip(axes, panels.items(), strict=True):
    names = sorted(names, key=orders[column])
    mean, deviation = np.array([weights[name] for name in names]).T
    places = np.arange(len(names))
    colours = [COLOURS[0] if value > 0 else COLOURS[1] for value in mean]
    ax.barh(places, mean, 0.7, color=colours)
    ax.errorbar(mean, places, xerr=2 * deviation, fmt="none", ecolor="#333333", elinewidth=1.2)
    ax.axvline(0, color=GREY, linewidth=0.8)
    ax.set_yticks(places, [short(name) for name in names])
    ax.set_ylabel(column, fontsize=FONT, fontweight="bold", rotation=0, ha="left", va="top")
    ax.yaxis.set_label_coords(-0.24, 1)
    ax.set_ylim(len(names) - 0.4, -0.6)
    quiet(ax, "x")
axes[-1].set_xlabel("Weight, with two standard deviations", fontsize=FONT)
head(axes[0], "What sells a bicycle", "Right: speaks for a sale within a week")
plt.show()

# %%
# Two offers in a thousand are of Fado, so the model hardly knows this brand: its whisker is the
# longest. The others are known, and so is what a missing brand says.

rare, common = weights["brand=Fado"][1], weights["brand=Alba"][1]
print(f"deviation of Fado {rare:.2f}, of Alba {common:.2f}")
