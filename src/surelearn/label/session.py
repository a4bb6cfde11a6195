"""Questions out, answers in, on disk before anything else; must not know the web."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple

import numpy as np

from surelearn import _check
from surelearn.columns.specs import column_in, given_columns
from surelearn.label.items import Items
from surelearn.label.learner import Learner, ManyLearner, TagLearner, TextLearner, refuse_start
from surelearn.label.ledger import REASONS, Ledger, Step, is_sound, strategies
from surelearn.label.spans import OUTSIDE, choices, has_spans, span_tags
from surelearn.label.store import Event, Store, check_whole, damaged
from surelearn.label.table_learner import TableLearner
from surelearn.learners.table_classifier import columns_of

#: The person behind labels that were in the files of the pool.
FILE = ""
#: What follows the answers of each kind of task.
LEARNERS: dict[str, type[Learner]] = {
    "texts": TextLearner,
    "many": ManyLearner,
    "tags": TagLearner,
}


def learner_of(kind: str, items: Items) -> type[Learner]:
    """What follows the answers to these items."""
    return LEARNERS[kind] if items.lines is None else TableLearner


_LONGEST = 60


class Question(NamedTuple):
    """An item to label, and why: "unsure", "new", "random", "first", "second" or "chosen"."""

    item: int
    reason: str


class Session:
    """A pool, a store and a model: who is asked what, and what they answered.

    Every change is an event of the store first and then a change of this object, so that the store
    alone leads back to the same state. All methods may be called from several threads.

    Parameters
    ----------
    items : Items
    store : Store
    labels : list of str
        Labels to choose from. More can be added at any time.
    kind : {"texts", "many", "tags"}, default "texts"
        One label for each text, any number of them, or one for each token of a sentence.
    model : str or path, optional
        The file of a model to start from. A store keeps a copy of it.
    overlap : float, default 0.0
        Share of the items that two people are asked about.
    explore : float, default 0.1
        Share of the questions that are drawn at random: by these the error is estimated.
    seed : int, default 0
        Decides what is drawn. A store keeps the seed it began with.
    columns : dict of {str: kind}, optional
        What columns of a table are, as in `SureTableClassifier`. A store keeps all of them as they
        were when it began.

    Examples
    --------
    >>> import pyarrow
    >>> from tempfile import TemporaryDirectory
    >>> pool = Items(pyarrow.array(["a fine film", "a dull film", "fine acting"]))
    >>> with TemporaryDirectory() as folder, Store(f"{folder}/answers.db") as store:
    ...     session = Session(pool, store, ["good", "bad"])
    ...     item = session.question("ann").item
    ...     session.answer("ann", item, "good")
    ...     session.ledger.final(item), session.question("ann").item == item
    ('good', False)
    """

    def __init__(
        self,
        items: Items,
        store: Store,
        labels: Sequence[str] = (),
        *,
        kind: str = "texts",
        model: str | os.PathLike[str] | None = None,
        overlap: float = 0.0,
        explore: float = 0.1,
        seed: int = 0,
        columns: Mapping[str, Any] | None = None,
    ) -> None:
        self.items, self.store, self.lock = items, store, RLock()
        self.overlap = _check.number("overlap", overlap, "[0, 1]", low=0.0, high=np.nextafter(1, 2))
        self.explore = _check.number("explore", explore, "[0, 1)", low=0.0, high=1.0)
        _check.some_rows(len(items), "the pool")
        self.kind = _check.choice("kind", kind, LEARNERS)
        self._begin(model, seed)
        self._read_log()
        self._order = np.random.RandomState(self._seed).permutation(len(items)).astype(np.int32)
        self.items = items = self._with_columns(columns)
        self.learner = learner_of(kind, items)(items, self._first_model, self._seed)
        self.n_clashes = items.n_clashes
        self._meet(labels)
        self.learner.follow(self.ledger.steps())
        self._first = sorted(self._choices())

    # ------------------------------------------------------------------ questions

    def enter(self, person: str) -> str:
        """Let a person in by name, and return the name as it is kept."""
        name = _tidy_name("a name", person)
        with self.lock:
            if name not in self.ledger.people:
                self._log(Event(name, "enter"))
        return name

    def question(self, person: str) -> Question | None:
        """The item that a person has before them; a new one if they answered the last."""
        with self.lock:
            item = self.ledger.current.get(person)
            if item is None:
                chosen = self._choose(person)
                if chosen is None:
                    return None
                item = chosen.item
                # If it is lost, it is asked again: nobody has to wait for the disk.
                self._log(Event(person, "ask", item, {"reason": chosen.reason}), sync=False)
            return Question(item, self.ledger.reasons.get((person, item), {}).get("reason", ""))

    def choose(self, person: str, item: int) -> None:
        """Ask a person about an item that they have found themselves."""
        with self.lock:
            self._check_item(item)
            if item in self._held_by_others(person):
                raise ValueError(f"text {item + 1} must be free, got one that is being labelled.")
            self._log(Event(person, "ask", item, {"reason": "chosen"}))

    def strategy(self, person: str) -> str:
        """What a person wants to be asked."""
        return self.ledger.strategies.get(person, strategies(self.kind)[0])

    def ask_about(self, person: str, strategy: str) -> None:
        """Ask a person by another strategy from now on, in place of an open question as well."""
        with self.lock:
            name = _check.choice("strategy", strategy, strategies(self.kind))
            if name != self.strategy(person):
                self._log(Event(person, "strategy", None, {"strategy": name}))

    def _choose(self, person: str) -> Question | None:
        held, closed = self._held_by_others(person), self.ledger.closed
        second = self._second_opinion(person, held)
        if second is not None:
            return Question(second, "second")
        if _draw(self._seed, "question", self.ledger.n_asked) < self.explore:
            for item in map(int, self._order):
                if item not in closed and item not in held:
                    return Question(item, "random")
        strategy = self.strategy(person)
        best = self.learner.ask(1 + len(held), strategy)
        free = [item for item in best if item not in held]
        # The last texts of a pool go to whoever is there, even if others have them open.
        reason = REASONS[strategy] if self.learner.decides else "first"
        return next((Question(item, reason) for item in [*free, *best]), None)

    def _second_opinion(self, person: str, held: set[int]) -> int | None:
        """An item that another person has labelled, and this one should; not twice in a row."""
        ledger = self.ledger
        last = [event.item for event in ledger.done.get(person, [])][-1:]
        reasons = [ledger.reasons.get((person, item), {}) for item in last if item is not None]
        if not self.overlap or {"reason": "second"} in reasons:
            return None
        for item, by in ledger.given.items():
            if (
                len(by) == 1
                and not by.keys() & {person, FILE}
                and item not in held
                and item not in ledger.settled
                and (person, item) not in ledger.declined
                and _draw(self._seed, "overlap", item) < self.overlap
            ):
                return item
        return None

    def _check_item(self, item: int) -> None:
        """Refuse a number that no item has; people count from 1."""
        if not 0 <= item < len(self.items):
            raise ValueError(f"text must be in [1, {len(self.items)}], got {item + 1}.")

    def _check_open(self, person: str, item: int) -> None:
        """Refuse an answer to another question than the one that is open."""
        if item != self.ledger.current.get(person):
            raise ValueError(
                f"text {item + 1} must be the open question, got an old page. Load it again."
            )

    def _held_by_others(self, person: str) -> set[int]:
        return {item for name, item in self.ledger.current.items() if name != person}

    # -------------------------------------------------------------------- answers

    def answer(self, person: str, item: int, label: Any) -> None:
        """Learn the answer to the question that a person has before them."""
        with self.lock:
            self._check_open(person, item)
            self._give(person, item, label)

    def change(self, person: str, item: int, label: Any) -> None:
        """Change the label of an item, one's answer or that of another person."""
        with self.lock:
            self._check_item(item)
            if person in self.ledger.given.get(item, {}) and item not in self.ledger.settled:
                self._give(person, item, label)
            else:
                self.settle(person, item, label)

    def settle(self, person: str, item: int, label: Any) -> None:
        """Decide the label of an item."""
        with self.lock:
            self._check_item(item)
            self._log(Event(person, "settle", item, {"label": self._checked(label, item)}))

    def skip(self, person: str, item: int) -> None:
        """Ask about the next item instead, and never about this one again."""
        with self.lock:
            self._check_open(person, item)
            self._log(Event(person, "skip", item))

    def undo(self, person: str) -> None:
        """Take back the last thing a person did; the model is as it was before."""
        with self.lock:
            done = self.ledger.done.get(person, [])
            if not done:
                raise ValueError("undo needs an answer to take back, got none.")
            last = done[-1]
            assert last.item is not None
            gone = Ledger.of(event for event in self._events if event.number != last.number)
            was_open = last.kind != "settle" and person not in gone.given.get(last.item, {})
            item = last.item if was_open else None
            self._log(Event(person, "undo", item, {"of": last.number}))

    def add_label(self, person: str, label: str) -> str:
        """Add a label to choose from, and return it as it is kept; of spans it is a type."""
        name = _tidy_name("a label", label)
        if self.kind == "tags":
            _tag_names([name])
        with self.lock:
            known = self.ledger.labels
            names = span_tags([name]) if self.kind == "tags" and has_spans(known) else [name]
            self._log(
                *(Event(person, "label", None, {"label": n}) for n in names if n not in known)
            )
        return name

    def _give(self, person: str, item: int, label: Any) -> None:
        value = {"label": self._checked(label, item)}
        if item not in self.ledger.given:
            reason = self.ledger.reasons.get((person, item), {}).get("reason")
            predicted = self.learner.predict(item)
            value |= {"predicted": _plain(predicted), "at_random": reason == "random"}
            value |= self._evidence(item, label, reason)
        self._log(Event(person, "answer", item, value))

    def _evidence(self, item: int, label: Any, reason: str | None) -> dict[str, float]:
        """How new a question of a known label is; one that was chosen as a new one is no measure.

        The model has not learnt it yet, so this is how new texts of known labels look.
        """
        if reason not in ("unsure", "random") or not self.learner.knows(label):
            return {}
        novelty = self.learner.novelty(item)
        return {} if novelty is None else {"novelty": novelty}

    def _checked(self, label: Any, item: int) -> Any:
        """The label of an item as the log keeps it."""
        for name in [label] if self.kind == "texts" else label:
            if name not in self.ledger.labels:
                raise ValueError(f"label must be one of {list(self.ledger.labels)}, got {name!r}.")
        if self.kind == "tags":
            n_tokens = len(self.items.X[item])
            if len(label) != n_tokens:
                raise ValueError(
                    f"tags must be one for each of {n_tokens} tokens, got {len(label)}."
                )
        return sorted(set(label)) if self.kind == "many" else label

    def _log(self, *events: Event, sync: bool = True) -> None:
        """Save events; only then count them, and let the model follow."""
        added = self.store.append(*events, sync=sync)
        self._events += added
        if any(event.kind == "undo" for event in added):
            self.ledger = Ledger.of(self._events)
        else:
            for event in added:
                self.ledger.add(event)
        if any(event.kind not in ("ask", "enter", "label", "strategy") for event in added):
            self.learner.follow(self.ledger.steps())

    # ---------------------------------------------------------------------- state

    @property
    def n_events(self) -> int:
        """The number of events in the log."""
        return len(self._events)

    def place_of(self, label: Any) -> int | None:
        """The place of a label, or of a type of spans, among all; None: it is no label.

        That of the class in the exported model, so that it has one colour everywhere. Labels that
        are new since the start come last: no colour changes while somebody looks.
        """
        known = self._choices()
        order = [*self._first, *(name for name in known if name not in self._first)]
        return order.index(label) if label in order else None

    def _choices(self) -> list[str]:
        return [name for name in choices(self.ledger.labels) if name != OUTSIDE]

    def told(self) -> list[str]:
        """What was left out of the files, one sentence each."""
        n_clashes = self.n_clashes - self.items.n_clashes
        clash = f"labels of the files that contradict an answer, which was kept: {n_clashes:,}"
        return [*self.items.told(), *([clash] if n_clashes else [])]

    def label_steps(self) -> Iterator[Step]:
        """The labels so far, in the order in which the model learnt them."""
        return (step for step in self.ledger.steps() if step.kind == "tell")

    def model_bytes(self) -> bytes:
        """The model as a file; nothing while it cannot predict."""
        if not self.learner.decides:
            return b""
        with self.lock, tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.sure")
            self.learner.model.save(path)
            with open(path, "rb") as file:
                return file.read()

    # ------------------------------------------------------------------ beginning

    def _begin(self, model: str | os.PathLike[str] | None, seed: int) -> None:
        """Make a new store belong to this pool, or check that an old one does."""
        store, items = self.store, self.items
        if store.about("n_items") is None and not store.events():
            facts = {"files": json.dumps(list(items.files)), "digest": items.digest(len(items))}
            first = b"" if model is None else self._start_model(model)
            store.tell(n_items=len(items), seed=seed, kind=self.kind, model=first, **facts)
        elif model is not None and Path(model).read_bytes() != self._fact("model"):
            raise ValueError(
                f"{store.path} must have begun with this model, got another. Leave it out, or "
                "name another store."
            )
        self._seed = int(self._fact("seed"))
        self._check_pool(int(self._fact("n_items")))

    def _with_columns(self, given: Mapping[str, Any] | None) -> Items:
        """The items with the columns of the store, which decides them when it begins."""
        if self.items.lines is None or self._fact("model"):
            return self.items
        text = self.store.about("columns")
        if text is None:
            from surelearn import SureTableClassifier

            known = columns_of(SureTableClassifier(columns=given), self.items.X)
            text = json.dumps([one.plain() for one in known])
            self.store.tell(columns=text)
        plain = json.loads(text)
        kinds = {one["name"]: column_in(one["column"]).kind for one in plain}
        for name, column in given_columns(given).items():
            if kinds.get(name) != column.kind:
                raise ValueError(
                    f"{self.store.path} began with {name!r} as {kinds.get(name)}, got "
                    f"{column.kind}. Leave it out, or name another store."
                )
        return replace(self.items, columns=plain)

    def _start_model(self, path: str | os.PathLike[str]) -> bytes:
        """The file of a model that can go on with the answers: a store keeps it for good."""
        from surelearn import load

        blank = learner_of(self.kind, self.items).blank(0)
        refuse_start(load(path), blank, many=self.kind == "many")
        return Path(path).read_bytes()

    def _check_pool(self, n: int) -> None:
        """Refuse a store of another pool; a pool may have grown at its end."""
        store = self.store
        kind = self._fact("kind")
        if kind != self.kind:
            raise ValueError(
                f"{store.path} must have answers of the kind {self.kind!r}, got {kind!r}. Name "
                "another store."
            )
        is_same = n <= len(self.items) and self._fact("digest") == self.items.digest(n)
        named = ", ".join(json.loads(self._fact("files"))) or "another pool"
        if not is_same:
            raise ValueError(
                f"{store.path} must be the store of this pool, got that of {named} with {n:,} "
                "items. Name another store, or delete this one to lose its answers."
            )
        if n < len(self.items):
            store.tell(n_items=len(self.items), digest=self.items.digest(len(self.items)))

    def _fact(self, name: str) -> Any:
        """A fact that every store with answers has."""
        value = self.store.about(name)
        check_whole(self.store.path, f"the fact {name!r}", is_whole=value is not None)
        return value

    def _read_log(self) -> None:
        """Take up the log; refuse one that cannot come from this program."""
        path, self._events = self.store.path, self.store.events()
        for event in self._events:
            is_whole = is_sound(event, len(self.items), self.kind)
            check_whole(path, f"event {event.number}", is_whole=is_whole)
        self.ledger = Ledger.of(self._events)
        for event in self._events:
            if event.item is not None and "label" in event.value:
                try:
                    self._checked(event.value["label"], event.item)
                except ValueError as error:
                    raise damaged(path, f"event {event.number}: {error}") from None

    def _first_model(self) -> Any:
        """The model before the first answer, a new one on every call."""
        from surelearn import load

        data = self._fact("model")
        if not data:
            return learner_of(self.kind, self.items).blank(self._seed)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model.sure")
            path.write_bytes(data)
            model = load(path)
            model.n_jobs = -1  # as that of a new pool
            return model

    def _meet(self, labels: Sequence[str]) -> None:
        """Log labels that are new: those to choose from, and those that the files had."""
        ledger, start = self.ledger, self.items.start
        if self.kind == "texts" and not all(isinstance(label, str) for label in start.values()):
            raise ValueError("labels of the files must be one for each text, got lists. Use many.")
        if self.kind == "many":
            start = {item: [x] if isinstance(x, str) else x for item, x in start.items()}
        known = {item for item in start if item in ledger.given or item in ledger.settled}
        clashes = {item for item in known if ledger.final(item) != start[item]}
        self.n_clashes += len(clashes)
        given = [_tidy_name("a label", name) for name in labels]
        names = [*given, *map(str, getattr(self.learner.model, "classes_", ()))]
        new = {item: label for item, label in start.items() if item not in known}
        for label in new.values():
            names += [label] if isinstance(label, str) else label
        added = [name for name in dict.fromkeys(names) if name not in ledger.labels]
        if self.kind == "tags":
            _tag_names(added)
        events = [Event(FILE, "label", None, {"label": name}) for name in added]
        events += [Event(FILE, "start", item, {"label": label}) for item, label in new.items()]
        if events:
            self._log(*events)


def _plain(label: Any) -> Any:
    """A label as JSON can hold it."""
    return label.item() if isinstance(label, np.generic) else label


@lru_cache(maxsize=1 << 17)
def _draw(seed: int, what: str, number: int) -> float:
    """A number in [0, 1) that depends on these alone."""
    found = hashlib.sha256(f"{seed} {what} {number}".encode()).digest()
    return int.from_bytes(found[:7], "big") / 2**56


def _tidy_name(what: str, text: str) -> str:
    """A name of a person or a label: on one line, not too long, with letters that can be seen."""
    name = " ".join(text.split())[:_LONGEST].strip()
    if not name or not name.isprintable():
        raise ValueError(f"{what} must have letters, got {text!r}.")
    return name


def _tag_names(names: Sequence[str]) -> None:
    """Refuse tags that a file of tokens and tags could not hold."""
    for name in names:
        if name.split() != [name]:
            raise ValueError(f"tags must have no blanks, got {name!r}.")
