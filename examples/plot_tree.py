"""
A tree: guess the kind of hidden statements
===========================================

The statements of a function form a tree: a statement follows another one or opens a block inside
it. This example hides the kind of each statement (``if``, ``for``, ``return``, an assignment and so
on) and shows only its names and the indentation. ``SureGraphClassifier`` predicts the kinds of all
statements of a function together; on a tree it finds the best labels exactly.
"""

import ast
import sysconfig
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction import FeatureHasher

from surelearn import SureGraphClassifier
from surelearn.graph import Graph, tree
from surelearn.plot.style import COLOURS, FONT
from surelearn.rules import Probit

# %%
# Modules of the standard library give the functions; those of the test come from other modules.
# The features of a statement are the names and types of constants in its head, and whether a block
# is inside, so a model without edges sees the indentation as well.

TRAIN = "argparse calendar cmd csv difflib ftplib inspect optparse pdb pickle pydoc shutil smtplib"
TEST = "configparser gzip mailbox statistics tarfile textwrap zipfile"
KINDS = (ast.Assign, ast.AugAssign, ast.Expr, ast.For, ast.If, ast.Raise, ast.Return, ast.While)


def words(statement):
    """The features of a statement."""
    found = ["(block)" if hasattr(statement, "body") else "(no block)"]
    heads = [n for n in ast.iter_child_nodes(statement) if not isinstance(n, ast.stmt)]
    for node in (node for part in heads for node in ast.walk(part)):
        if isinstance(node, ast.Name | ast.Attribute):
            found.append(node.id if isinstance(node, ast.Name) else f".{node.attr}")
        elif isinstance(node, ast.Constant):
            found.append(type(node.value).__name__)
    return found


def walk(block, found, parent=-1, depth=0):
    """Append (statement, parent, kind of edge, depth) in the order of the text.

    The parent is the statement before, or for the first of a block the one around it.
    """
    edge = "inside"
    for statement in (own for own in block if isinstance(own, KINDS)):
        place = len(found)
        found.append((statement, parent, edge, depth))
        walk(getattr(statement, "body", ()), found, place, depth + 1)
        parent, edge = place, "next"
    return found


def functions(modules):
    """The statements of each function with 4 to 40 of them."""
    paths = [Path(sysconfig.get_path("stdlib"), f"{name}.py") for name in modules.split()]
    texts = [path.read_text("utf-8") for path in paths if path.exists()]
    nodes = [node for text in texts for node in ast.walk(ast.parse(text))]
    found = [walk(node.body, []) for node in nodes if isinstance(node, ast.FunctionDef)]
    return [own for own in found if 4 <= len(own) <= 40]


def graph(function, *, edges):
    """The tree of a function, or its statements one by one."""
    hasher = FeatureHasher(2**14, input_type="string", alternate_sign=False)
    rows = hasher.transform([words(statement) for statement, *_ in function])
    if not edges:
        return Graph(rows, np.empty((0, 2), int))
    kinds = [kind for _, parent, kind, _ in function if parent >= 0]
    return Graph(rows, tree([parent for _, parent, *_ in function]), edge_types=kinds)


# %%
# The same rule learns with and without edges.

train, test = functions(TRAIN), functions(TEST)
y, y_test = ([[type(node).__name__ for node, *_ in own] for own in part] for part in (train, test))
labels = {}
for name, edges in (("Without edges", False), ("With edges", True)):
    clf = SureGraphClassifier(Probit(1.0), random_state=0)
    clf.fit([graph(own, edges=edges) for own in train], y)
    labels[name] = clf.predict([graph(own, edges=edges) for own in test])
right = {
    name: [np.equal(*pair) for pair in zip(found, y_test, strict=True)]
    for name, found in labels.items()
}
for name, found in right.items():
    share = np.concatenate(found).mean()
    print(f"{name}: {share:.1%} of {sum(map(len, y_test)):,} statements in {len(test)} functions")

# %%
# One test function as both models label it. Of those with 8 to 12 statements it is the one that
# gains most by edges, so it is no typical case; the shares above are.

gains = [w.sum() - b.sum() for b, w in zip(*right.values(), strict=True)]
shown = max((i for i, own in enumerate(test) if 8 <= len(own) <= 12), key=lambda i: gains[i])
figure, axes = plt.subplots(1, 2, figsize=(8, 0.4 * len(test[shown]) + 0.8), layout="constrained")
for ax, name in zip(axes, labels, strict=True):
    for line, (_, parent, _, depth) in enumerate(test[shown]):
        guess, truth = labels[name][shown][line], y_test[shown][line]
        colour, marker = (COLOURS[0], "o") if guess == truth else (COLOURS[1], "X")
        if parent >= 0:
            start = test[shown][parent][3]
            ax.plot([start, start, depth], [parent, line, line], color="#BBBBBB", zorder=1)
        ax.scatter(depth, line, s=80, color=colour, marker=marker, zorder=2)
        text = guess if guess == truth else f"{guess} (in fact: {truth})"
        ax.text(depth + 0.3, line, text, color=colour, va="center", fontsize=FONT)
    ax.set(xlim=(-0.3, 6), ylim=(len(test[shown]) - 0.5, -0.5))
    ax.axis("off")
    n_right = f"{right[name][shown].sum()} of {len(test[shown])} right"
    ax.set_title(f"{name}: {n_right}", loc="left", fontsize=FONT + 1, fontweight="bold")
plt.show()

# %%
# What do edges tell? For example, that a block seldom goes on after a ``return``. Without edges the
# model cannot know that:


def followed(kinds):
    """The share of returns after which the block goes on."""
    before = [own[parent] for part, own in zip(test, kinds, strict=True)
              for _, parent, edge, _ in part if edge == "next"]  # fmt: skip
    return before.count("Return") / sum(list(own).count("Return") for own in kinds)


for name, kinds in {"In fact": y_test, **labels}.items():
    print(f"{name}: the block goes on after {followed(kinds):.0%} of the returns")
