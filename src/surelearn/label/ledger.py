"""What a log of events says: who gave which label; must not know models or files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from surelearn.label.store import Event

#: Kinds of events that a person can undo.
UNDOABLE = ("answer", "skip", "settle")
#: Kinds of events that are about an item, and what the value of each kind must have.
_OF_ITEMS = ("start", "ask", "answer", "settle", "skip")
_NEEDS = {"label": "label", "enter": None, "start": "label", "ask": "reason", "answer": "label",
          "settle": "label", "skip": None, "undo": "of", "strategy": "strategy"}  # fmt: skip
#: What can be asked next in each kind of task, the default first: other kinds have only that.
STRATEGIES = {"texts": ("acl", "novel")}
#: Why an item is asked that a strategy has chosen; another strategy takes such a question back.
REASONS = {"acl": "unsure", "novel": "new"}


def strategies(kind: str) -> tuple[str, ...]:
    """What can be asked next in a kind of task, the default first."""
    return STRATEGIES.get(kind, ("acl",))


def is_sound(event: Event, n_items: int, kind: str = "texts") -> bool:
    """Whether an event of a log is of a known kind, and has what this kind needs."""
    if event.kind not in _NEEDS or not isinstance(event.value, dict):
        return False
    item, need = event.item, _NEEDS[event.kind]
    in_pool = isinstance(item, int) and 0 <= item < n_items
    of_label = str if kind == "texts" or event.kind == "label" else list
    types = {"label": of_label, "reason": str, "of": int, "strategy": str}
    return (
        isinstance(event.person, str)
        and (in_pool or (item is None and event.kind not in _OF_ITEMS))
        and (need is None or isinstance(event.value.get(need), types[need]))
        and isinstance(event.value.get("predicted"), of_label | None)
        and isinstance(event.value.get("novelty"), float | int | None)
        and event.value.get("strategy", "acl") in strategies(kind)
    )


class Given(NamedTuple):
    """A label that a person gave to an item; `number` and `time` are those of the event."""

    person: str
    label: Any
    predicted: Any
    at_random: bool
    number: int
    time: float


class Step(NamedTuple):
    """What a model has to follow: a label to learn, or an item never to ask about."""

    kind: str  # "tell" or "skip"
    item: int
    label: Any = None
    predicted: Any = None
    at_random: bool = False


@dataclass
class Ledger:
    """The state that a log leads to.

    Attributes
    ----------
    labels : list of str
        In the order in which they were added.
    people : list of str
    given : dict of {item: {person: Given}}
    settled : dict of {item: Given}
        Labels that decide where people disagree, or that a reviewer has changed.
    skipped : dict of {item: number of the event}
    current : dict of {person: item}
        The question that each person has before them.
    reasons : dict of {(person, item): dict}
        Why an item was asked.
    done : dict of {person: list of Event}
        What each person can undo.
    declined : dict of {(person, item): number of the event}
        Second opinions that a person would not give.
    n_asked : int
        Questions so far.
    strategies : dict of {person: str}
        What each person wants to be asked; the default for those who have not said.
    novelty : dict of {item: float}
        How new questions with known labels were before they were learnt, in their order.
    """

    labels: list[str] = field(default_factory=list)
    people: list[str] = field(default_factory=list)
    given: dict[int, dict[str, Given]] = field(default_factory=dict)
    settled: dict[int, Given] = field(default_factory=dict)
    skipped: dict[int, int] = field(default_factory=dict)
    current: dict[str, int] = field(default_factory=dict)
    reasons: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)
    done: dict[str, list[Event]] = field(default_factory=dict)
    declined: dict[tuple[str, int], int] = field(default_factory=dict)
    n_asked: int = 0
    # Not in repr, whose checksum older stores keep.
    strategies: dict[str, str] = field(default_factory=dict, repr=False)
    novelty: dict[int, float] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, events: Iterable[Event]) -> Ledger:
        """Read a whole log. What was undone never happened, but for the question it was about."""
        listed = list(events)
        undone = {event.value["of"] for event in listed if event.kind == "undo"}
        ledger = cls()
        for event in listed:
            if event.number not in undone:
                ledger.add(event)
        return ledger

    def add(self, event: Event) -> None:
        """Take one more event, of any kind but those that change earlier ones."""
        if event.kind in UNDOABLE:
            self.done.setdefault(event.person, []).append(event)
        getattr(self, f"_{event.kind}")(event)

    @property
    def closed(self) -> set[int]:
        """Items that are not asked about again."""
        return self.given.keys() | self.settled.keys() | self.skipped.keys()

    def final(self, item: int) -> Any:
        """The label of an item: the settled one, else the one given first; None without any."""
        if item in self.settled:
            return self.settled[item].label
        return next((given.label for given in self._in_order(item)), None)

    def first(self, item: int) -> Given:
        """The label that was given first, or the settled one if there is no other."""
        return next(self._in_order(item), self.settled.get(item))  # type: ignore[return-value]

    def disagreements(self) -> list[int]:
        """Items that people gave different labels, and that are not settled."""
        return [
            item
            for item, by in self.given.items()
            if item not in self.settled and any(g.label != self.final(item) for g in by.values())
        ]

    def pairs(self) -> dict[tuple[str, str], list[tuple[Any, Any]]]:
        """Labels of both, for every two people who labelled the same items."""
        found: dict[tuple[str, str], list[tuple[Any, Any]]] = {}
        for by in self.given.values():
            names = sorted(by)
            for i, one in enumerate(names):
                for other in names[i + 1 :]:
                    found.setdefault((one, other), []).append((by[one].label, by[other].label))
        return found

    def steps(self) -> list[Step]:
        """What a model learns, in the order of the first labels."""
        numbered = [
            (first.number, Step("tell", item, self.final(item), first.predicted, first.at_random))
            for item, first in ((item, self.first(item)) for item in self.given | self.settled)
        ]
        numbered += [(number, Step("skip", item)) for item, number in self.skipped.items()]
        return [step for _, step in sorted(numbered, key=lambda pair: pair[0])]

    def _in_order(self, item: int) -> Iterator[Given]:
        return iter(sorted(self.given.get(item, {}).values(), key=lambda given: given.number))

    # ------------------------------------------------------------ kinds of events

    def _label(self, event: Event) -> None:
        if event.value["label"] not in self.labels:
            self.labels.append(event.value["label"])

    def _enter(self, event: Event) -> None:
        if event.person not in self.people:
            self.people.append(event.person)

    def _start(self, event: Event) -> None:
        self._give(event)

    def _ask(self, event: Event) -> None:
        assert event.item is not None
        self.n_asked += 1
        self.current[event.person] = event.item
        self.reasons[event.person, event.item] = event.value

    def _answer(self, event: Event) -> None:
        self._give(event)
        self._leave(event)

    def _give(self, event: Event) -> None:
        assert event.item is not None
        by = self.given.setdefault(event.item, {})
        earlier = by.get(event.person)
        new = Given(
            event.person,
            event.value["label"],
            event.value.get("predicted"),
            event.value.get("at_random", False),
            event.number,
            event.time,
        )
        if "novelty" in event.value and earlier is None:
            self.novelty[event.item] = event.value["novelty"]
        # A changed answer keeps its place and what the model said before it learnt it.
        by[event.person] = new if earlier is None else earlier._replace(label=new.label)
        self.skipped.pop(event.item, None)

    def _settle(self, event: Event) -> None:
        assert event.item is not None
        self.settled[event.item] = Given(
            event.person, event.value["label"], None, False, event.number, event.time
        )
        self.skipped.pop(event.item, None)

    def _skip(self, event: Event) -> None:
        assert event.item is not None
        if event.item in self.given:
            self.declined[event.person, event.item] = event.number
        else:
            self.skipped[event.item] = event.number
        self._leave(event)

    def _undo(self, event: Event) -> None:
        if event.item is not None:
            self.current[event.person] = event.item

    def _strategy(self, event: Event) -> None:
        self.strategies[event.person] = event.value["strategy"]
        item = self.current.get(event.person)
        if item is not None:
            reason = self.reasons.get((event.person, item), {}).get("reason")
            if reason in REASONS.values():
                del self.current[event.person]

    def _leave(self, event: Event) -> None:
        if self.current.get(event.person) == event.item:
            del self.current[event.person]
