"""Labels on a tree: the newsgroup of every message of a discussion.

    export SURELEARN_DATA=...            # the folder with 20news-18828.jsonl.xz
    python -m examples.thread_tree       # from the root; writes docs/howto/pictures/thread_tree.png

Messages of 20 Newsgroups with the same subject, "Re:" apart, are a thread. An edge joins a message
to the one that it answers: the last earlier message whose author its "... writes:" line names,
otherwise the thread's first message. A learner sees the words below the header, so neither subject
nor author. A quarter of the threads is held out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.model_selection import train_test_split

from examples import baselines
from examples.baselines import Labels, Learners
from experiments import sets
from surelearn.graph import Graph, tree
from surelearn.plot.style import COLOURS, FONT, GREY
from surelearn.text import HashingVectorizer

PICTURE = Path(__file__).parents[1] / "docs" / "howto" / "pictures" / "thread_tree.png"
SIZES = range(2, 31)  # messages in a thread


class Message(NamedTuple):
    """A message, taken apart."""

    author: str
    subject: str
    body: str
    label: str


class Thread(NamedTuple):
    """Messages in the order of the file, and the place of each one's parent; -1: none."""

    messages: list[Message]
    parents: list[int]
    quotes: list[bool]  # whether the parent is the message that it quotes

    @property
    def labels(self) -> list[str]:
        return [each.label for each in self.messages]


class Split(NamedTuple):
    """Threads to learn from and to test on."""

    train: list[Thread]
    test: list[Thread]


# ---------------------------------------------------------------------- threads


def message(text: str, label: str) -> Message:
    """Author, subject without "Re:", and body of a message."""
    head, _, body = text.partition("\n\n")
    fields = dict(re.findall(r"^(From|Subject):[ \t]*(.*)$", head, re.MULTILINE))
    subject = re.sub(r"^(re\S{0,4}:\s*)+", "", fields["Subject"].strip().lower())
    return Message(fields["From"].lower(), subject, body, label)


def names(author: str) -> list[str]:
    """The address and the name of an author, from ``address (name)`` or ``name <address>``."""
    parts = re.split(r"[()<>\"]", author)
    return [part.strip() for part in parts if len(part.strip()) > 3]


def quoted(body: str) -> str:
    """The first line that says who is quoted, with the line above; empty: none."""
    found = re.search(r"^.*\n?.*\b(?:writes|wrote)\s*:", body, re.MULTILINE)
    return found.group().lower() if found else ""


def parent(messages: list[Message], place: int) -> tuple[int, bool]:
    """The message that is answered, and whether it is quoted."""
    if place == 0:
        return -1, False
    source = quoted(messages[place].body)
    for earlier in reversed(range(place)):
        if any(name in source for name in names(messages[earlier].author)):
            return earlier, True
    return 0, False


def thread(messages: list[Message]) -> Thread:
    """The tree of messages with one subject."""
    found = [parent(messages, place) for place in range(len(messages))]
    return Thread(messages, [place for place, _ in found], [quotes for _, quotes in found])


def threads() -> list[Thread]:
    """All threads of 20 Newsgroups that are neither single messages nor very long."""
    by_subject = defaultdict(list)
    for record in sets.records("20news-18828.jsonl.xz"):
        found = message(record["text"], record["label"])
        by_subject[found.subject].append(found)
    return [thread(messages) for messages in by_subject.values() if len(messages) in SIZES]


def split(found: list[Thread]) -> Split:
    """A quarter of the threads is held out."""
    return Split(*train_test_split(found, test_size=0.25, random_state=0))


# --------------------------------------------------------------------- learning


def graphs(found: list[Thread]) -> list[Graph]:
    """Hashed words of the bodies, and edges from parents to answers."""
    words = HashingVectorizer(n_features=2**16, log_counts=True, dtype=np.float32)
    made = []
    for own in found:
        kinds = ["quotes" if quotes else "first" for quotes in own.quotes[1:]]
        rows = words.transform([each.body for each in own.messages])
        made.append(Graph(rows, tree(own.parents), edge_types=kinds))
    return made


def pooled(learners: Learners, X: list[Graph]) -> Labels:
    """One label for a whole thread: the largest sum of the scores of its messages."""
    rows = learners.rows
    scores = baselines.per_graph(rows.decision_function(baselines.stacked(X)), X)
    return [np.full(len(own), rows.classes_[own.sum(axis=0).argmax()]) for own in scores]


def answers_right(learners: Learners, X: list[Graph], y: Labels) -> str:
    """The messages after the first: what the label of the first one tells of them."""
    known = [{0: own[0]} for own in y]
    found = {
        "with edges": learners.together.predict(X),
        "first label known": learners.together.predict(X, fixed=known),
        "first label copied to all": [np.full(len(own), own[0]) for own in y],
    }
    rest = {name: [own[1:] for own in labels] for name, labels in found.items()}
    return baselines.table([own[1:] for own in y], rest)


# ------------------------------------------------------------------------ picture


def shown(found: list[Thread], predicted: dict[str, Labels]) -> int:
    """A thread of medium size whose labels gain most by edges; the deepest of these."""
    y = [own.labels for own in found]
    more = baselines.n_right(y, predicted["with edges"])
    more -= baselines.n_right(y, predicted["without edges"])
    medium = [place for place, own in enumerate(found) if 6 <= len(own.messages) <= 9]
    return max(medium, key=lambda place: (more[place], max(depths(found[place].parents))))


def depths(parents: list[int]) -> list[int]:
    """How far each message is from the first."""
    found: list[int] = []
    for place in parents:
        found.append(0 if place < 0 else found[place] + 1)
    return found


def in_order(parents: list[int], of: int = -1) -> list[int]:
    """Messages as a reader of mail lists them: each one above its answers."""
    answers = [place for place, parent in enumerate(parents) if parent == of]
    return [place for answer in answers for place in (answer, *in_order(parents, answer))]


def draw_tree(ax: Axes, own: Thread, predicted: np.ndarray) -> None:
    """A message a line, indented below the one that it answers."""
    depth, order = depths(own.parents), in_order(own.parents)
    line = {place: -number for number, place in enumerate(order)}
    for place, parent in enumerate(own.parents):
        right = predicted[place] == own.labels[place]
        colour, marker = (COLOURS[0], "o") if right else (COLOURS[1], "X")
        if parent >= 0:
            x, y = depth[parent], line[place]
            ax.plot((x, x, x + 1), (line[parent], y, y), color="#BBBBBB", zorder=1)
        ax.scatter(depth[place], line[place], s=90, color=colour, marker=marker, zorder=2)
        ax.text(depth[place] + 0.25, line[place], predicted[place], color=colour, va="center")
    ax.set_xlim(-0.3, max(depth) + 3)
    ax.set_ylim(0.6 - len(order), 0.6)
    ax.axis("off")


def draw(own: Thread, predicted: dict[str, np.ndarray], to: Path) -> None:
    """The same thread as each learner labels it."""
    figure = Figure(figsize=(9, 0.42 * len(own.messages) + 1.1), layout="constrained")
    for ax, (name, labels) in zip(
        figure.subplots(1, len(predicted)), predicted.items(), strict=True
    ):
        draw_tree(ax, own, labels)
        n_right = int(np.sum(labels == np.array(own.labels)))
        title = f"{name.capitalize()}: {n_right} of {len(labels)} right"
        ax.set_title(title, loc="left", fontsize=FONT + 1, fontweight="bold")
    note = (
        "Circles are right, crosses wrong; a message is below the one that it answers.\n"
        "Of all test threads of 6 to 9 messages, this one gains most."
    )
    figure.supxlabel(note, x=0.01, ha="left", fontsize=FONT - 1, color=GREY)
    figure.savefig(to, dpi=110)


def main() -> None:
    """Learn, print all figures, draw one thread."""
    parts = split(threads())
    X, y = graphs(parts.test), [own.labels for own in parts.test]
    learners = baselines.fit(
        graphs(parts.train), [own.labels for own in parts.train], directed=True
    )
    found = baselines.predictions(learners, X)
    print(f"{len(parts.train)} threads to learn, {len(X)} with {sum(map(len, y))} messages to test")
    print(baselines.table(y, {**found, "one label a thread, scores added": pooled(learners, X)}))
    print("\nMessages after the first:")
    print(answers_right(learners, X, y))
    place = shown(parts.test, found)
    drawn = {name: np.asarray(found[name][place]) for name in ("without edges", "with edges")}
    draw(parts.test[place], drawn, PICTURE)
    print(f"The picture is in {PICTURE}.")


if __name__ == "__main__":
    main()
