"""What follows the answers: a text classifier in a `Pool`, or models that are fitted again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn.label.items import Items
from surelearn.label.ledger import Step
from surelearn.label.why import LONGEST_EXPLAINED, Why, explained, words_of

#: Items whose predictions show how sure the model is of the whole pool.
_SAMPLE = 1000
#: Answers between two of these predictions, and how many comparisons make them stable.
_WINDOW, _TIMES, _AGREE = 20, 3, 0.99


class Learner(ABC):
    """A model, and the steps that it has learnt.

    Its state depends on the steps alone: `follow` takes the shortest way from the last ones.
    """

    model: Any

    @staticmethod
    @abstractmethod
    def blank(seed: int) -> Any:
        """A new model."""

    def __init__(self, items: Items, make: Callable[[], Any], seed: int) -> None:
        self.items, self._make, self._seed = items, make, seed
        self._steps: list[Step] = []
        order = np.random.RandomState(seed).permutation(len(items))
        self.sample: NDArray[np.int64] = np.sort(order[:_SAMPLE])
        self._looks: dict[int, NDArray[Any]] = {}  # labels learnt: predictions of the sample
        self._kappas: dict[int, float] = {}  # labels learnt: agreement with the look before
        self._restart([])

    def follow(self, steps: list[Step]) -> None:
        """Learn what has been added, unlearn what is gone."""
        before, self._steps = self._steps, list(steps)
        if steps == before:
            return
        if steps[:-1] == before:
            self._take(steps[-1])
        elif steps == before[:-1]:
            self._undo()
        else:
            self._restart(self._steps)
            self._looks, self._kappas = {}, {}  # of labels that may have changed
        self._look()

    @property
    def n_labels(self) -> int:
        """Labels learnt."""
        return sum(step.kind == "tell" for step in self._steps)

    @property
    def decides(self) -> bool:
        """Whether the model knows two classes, without which it cannot predict."""
        return len(getattr(self.model, "classes_", ())) > 1

    def predict(self, item: int) -> Any:
        """The label of an item, or None if the model cannot predict yet."""
        return self._predicted(np.array([item]))[0] if self.decides else None

    def stable(self) -> str:
        """Why more answers would change little, or ``""``.

        The sample is predicted after every 20 answers. The predictions are stable if three
        comparisons in a row agree, by Cohen's kappa (Bloodgood & Vijay-Shanker 2009).
        """
        last = self.n_labels // _WINDOW
        if last <= _TIMES or not self.decides:
            return ""
        kappas = [self._kappa(_WINDOW * (last - i)) for i in range(_TIMES)]
        if not float(np.mean(kappas)) >= _AGREE:
            return ""
        return f"the last {_WINDOW * _TIMES} labels changed almost no prediction"

    def _look(self) -> None:
        """Remember what the model predicts now, if it is time."""
        n = self.n_labels
        self._looks = {at: look for at, look in self._looks.items() if at < n}
        self._kappas = {at: kappa for at, kappa in self._kappas.items() if at < n}
        if n and n % _WINDOW == 0 and self.decides:
            self._looks[n] = self._predicted(self.sample)

    def _kappa(self, n: int) -> float:
        """How the predictions after n labels agree with those a window before; 0 without any."""
        if n not in self._kappas:
            now, before = self._seen(n), self._seen(n - _WINDOW)
            # One label for all says that the classes are not told apart yet, as in `Stable`.
            tells = now is not None and before is not None and len(np.union1d(now, before)) > 1
            self._kappas[n] = agreement(now, before) if tells else 0.0
        return self._kappas[n]

    def _seen(self, n: int) -> NDArray[Any] | None:
        """The predictions after n labels; learnt once more if they have been forgotten."""
        if n not in self._looks:
            told = [step for step in self._steps if step.kind == "tell"][:n]
            twin = type(self)(self.items, self._make, self._seed)
            twin._restart(told)
            if not twin.decides:
                return None
            self._looks[n] = twin._predicted(self.sample)
        return self._looks[n]

    @abstractmethod
    def ask(self, n: int, strategy: str = "acl") -> list[int]:
        """The best open items to ask about, best first; fewer if fewer are open.

        The strategy is one of `ledger.STRATEGIES` of the kind of task.
        """

    def knows(self, label: Any) -> bool:
        """Whether the model has learnt a label."""
        return isinstance(label, str) and label in getattr(self.model, "classes_", ())

    def novelty(self, item: int) -> float | None:
        """How little of an item the model has met; None if it cannot tell."""
        return None

    @abstractmethod
    def why(self, item: int) -> Why | None:
        """What the model thinks of an item; None while it cannot predict."""

    @abstractmethod
    def sureness(self) -> NDArray[np.float64]:
        """The probability of the best label, for each item of the sample."""

    @abstractmethod
    def _predicted(self, items: NDArray[np.int64]) -> NDArray[Any]:
        """Labels of some items."""

    @abstractmethod
    def _take(self, step: Step) -> None:
        """Follow one more step."""

    @abstractmethod
    def _undo(self) -> None:
        """Take the last step back."""

    @abstractmethod
    def _restart(self, steps: list[Step]) -> None:
        """Start again from nothing and follow these steps."""


class TextLearner(Learner):
    """A text classifier in a `Pool`."""

    _is_read = False

    @staticmethod
    def blank(seed: int) -> Any:
        """A classifier as it comes."""
        from surelearn import SureTextClassifier

        return SureTextClassifier(random_state=seed, n_jobs=-1)

    @property
    def model(self) -> Any:
        """The classifier."""
        return self._pool.model

    def ask(self, n: int, strategy: str = "acl") -> list[int]:
        """As `Pool.ask`."""
        found = self._pool.ask(n, strategy=strategy).tolist() if len(self._pool) else []
        if self.decides and not self._is_read:
            self._is_read = True
            self.items.give_back()  # the texts that were copied to be hashed
        return found

    def novelty(self, item: int) -> float | None:
        """Minus the score of the strategy "novel"; None for an item that has nothing to learn."""
        from surelearn.active import scores

        if not self.decides:
            return None
        (familiar,) = scores(self.model, self._texts(np.array([item])), "novel").tolist()
        return -familiar if np.isfinite(familiar) else None

    def why(self, item: int) -> Why | None:
        """Margin, deviation and probability, and what each word adds."""
        return explained(self.model, self.items.text(item)) if self.decides else None

    def sureness(self) -> NDArray[np.float64]:
        """The probability of the best label, for each text of the sample."""
        if not self.decides:
            return np.zeros(0)
        return np.asarray(self.model.predict_proba(self._texts(self.sample)).max(axis=1))

    def _texts(self, items: NDArray[np.int64]) -> Any:
        return self.items.X.take(items)

    def _predicted(self, items: NDArray[np.int64]) -> NDArray[Any]:
        return np.asarray(self.model.predict(self._texts(items)))

    def _take(self, step: Step) -> None:
        if step.kind == "skip":
            self._pool.skip(step.item)
        else:
            self._pool.tell(step.item, step.label)

    def _undo(self) -> None:
        self._pool.undo()

    def _restart(self, steps: list[Step]) -> None:
        from surelearn.active import Pool

        self.__dict__.pop("_pool", None)  # its rows, before those of the next
        self._is_read = False
        blank = Pool(self._make(), self.items.X, random_state=self._seed)
        own = {} if self.items.columns is None else {"columns": self.items.columns}
        if steps or own:
            history = {**blank.history, **own, "steps": [_plain(step) for step in steps]}
            blank = Pool(self._make(), self.items.X, history=history)
        self._pool = blank


def agreement(a: Any, b: Any) -> float:
    """Cohen's kappa: agreement beyond chance; 1 if both are one and the same label."""
    from sklearn.metrics import cohen_kappa_score

    a, b = np.asarray(a, dtype=str), np.asarray(b, dtype=str)
    return float(cohen_kappa_score(a, b)) if len(np.union1d(a, b)) > 1 else 1.0


def _plain(step: Step) -> dict[str, Any]:
    """A step as the history of a pool has it."""
    if step.kind == "skip":
        return {"kind": "skip", "rows": [step.item]}
    answer = {"row": step.item, "label": step.label, "predicted": step.predicted}
    return {"kind": "tell", "answers": [{**answer, "at_random": step.at_random}]}


#: Passes over the answers of a model that had learnt before, which `fit` would forget.
_PASSES = 5


class Refitted(Learner):
    """A model that is fitted to all answers anew; beyond 100 answers not after each of them.

    After the n-th answer it is fitted if n is a multiple of 1 + n // 100, and else it goes on with
    that answer alone. The questions are the best of `window` open items, other ones each time.
    """

    window = 2000

    def ask(self, n: int, strategy: str = "acl") -> list[int]:
        """The best of the items in the window; there is one strategy."""
        order = np.random.RandomState(self._seed).permutation(len(self.items))
        free = order[~self._closed[order]]
        begin = len(self._steps) * self.window % max(1, len(free))
        seen = np.roll(free, -begin)[: self.window]
        if not self.decides or len(seen) == 0:
            return [int(item) for item in free[:n]]
        best = np.argsort(self._doubts(seen), kind="stable")[:n]
        return [int(item) for item in seen[best]]

    def _take(self, step: Step) -> None:
        self._closed[step.item] = True
        label_steps = self._label_steps(self._steps)
        if step.kind == "skip":
            return
        if self._is_whole(len(label_steps)) or not self.decides:
            self._fit(label_steps)
        else:
            self._go_on(label_steps[-1:])

    def _undo(self) -> None:
        self._restart(self._steps)

    def _restart(self, steps: list[Step]) -> None:
        self._closed = np.zeros(len(self.items), dtype=bool)
        self._closed[[step.item for step in steps]] = True
        self.model = self._make()
        label_steps = self._label_steps(steps)
        whole = next((n for n in range(len(label_steps), 0, -1) if self._is_whole(n)), 0)
        self._fit(label_steps[:whole])
        for n in range(whole, len(label_steps)):
            if self.decides:
                self._go_on(label_steps[n : n + 1])
            else:
                self._fit(label_steps[: n + 1])

    @staticmethod
    def _is_whole(n: int) -> bool:
        return n % (1 + n // 100) == 0

    @staticmethod
    def _label_steps(steps: list[Step]) -> list[Step]:
        return [step for step in steps if step.kind == "tell"]

    def _fit(self, label_steps: list[Step]) -> None:
        self.model = self._make()
        if self.decides:
            for _ in range(_PASSES if label_steps else 0):
                self._go_on(label_steps)
        elif self._can_fit(label_steps):
            self.model.fit(*self._rows(label_steps))

    def _go_on(self, label_steps: list[Step]) -> None:
        self.model.partial_fit(*self._rows(label_steps))

    @abstractmethod
    def _rows(self, label_steps: list[Step]) -> tuple[Any, list[Any]]:
        """X and y."""

    @abstractmethod
    def _can_fit(self, label_steps: list[Step]) -> bool:
        """Whether there are labels enough to fit a model."""

    @abstractmethod
    def _doubts(self, items: NDArray[np.int64]) -> NDArray[np.float64]:
        """How sure the model is of each item; the smallest is asked first."""


class ManyLearner(Refitted):
    """A text classifier with any number of labels for a text."""

    blank = staticmethod(TextLearner.blank)

    @property
    def decides(self) -> bool:
        """Whether the model knows a label."""
        return len(getattr(self.model, "classes_", ())) > 0

    def predict(self, item: int) -> Any:
        """The labels of a text, or None if the model cannot predict yet."""
        if not self.decides:
            return None
        return sorted(map(str, self.model.predict(self._texts(np.array([item])))[0]))

    def why(self, item: int) -> Why | None:
        """What the model thinks of the label that it is least sure of."""
        if not self.decides:
            return None
        text = self.items.text(item)
        probabilities = self.model.predict_proba([text])[0]
        (scores,), (variances,) = self.model.margin([text])
        place = int(np.abs(probabilities - 0.5).argmin())
        p, label = float(probabilities[place]), str(self.model.classes_[place])
        sign = 1.0 if p >= 0.5 else -1.0
        best, rival = [label, f"not {label}"][:: int(sign)]
        deviation = float(np.sqrt(variances[place]))
        why = Why(best, rival, max(p, 1 - p), sign * float(scores[place]), deviation, [])
        if len(text) > LONGEST_EXPLAINED:
            return why
        found = self.model.explain(text, label=self.model.classes_[place])
        sure = dict(zip(map(str, found.feature), found.probability.tolist(), strict=True))
        return why._replace(words=words_of(found, sign, sure), text=found.text)

    def sureness(self) -> NDArray[np.float64]:
        """How likely the label that the model is least sure of is right, for each of the sample."""
        if not self.decides:
            return np.zeros(0)
        p = self.model.predict_proba(self._texts(self.sample))
        return np.asarray(np.maximum(p, 1 - p).min(axis=1))

    def _texts(self, items: NDArray[np.int64]) -> Any:
        return self.items.X.take(items)

    def _predicted(self, items: NDArray[np.int64]) -> NDArray[Any]:
        found = self.model.predict(self._texts(items))
        return np.array(["; ".join(sorted(map(str, labels))) for labels in found])

    def _rows(self, label_steps: list[Step]) -> tuple[Any, list[Any]]:
        return self._texts(np.array([s.item for s in label_steps])), [s.label for s in label_steps]

    def _can_fit(self, label_steps: list[Step]) -> bool:
        return any(step.label for step in label_steps)

    def _doubts(self, items: NDArray[np.int64]) -> NDArray[np.float64]:
        from surelearn.active import scores

        return scores(self.model, self._texts(items), "acl")


class TagLearner(Refitted):
    """A tagger of sentences, asked about by their weakest token."""

    window = 500
    #: What `unsure_below` found last, and after how many steps.
    _limit: float
    _limit_at: int | None = None

    @staticmethod
    def blank(seed: int) -> Any:
        """A tagger as it comes."""
        from surelearn import SureTagger

        return SureTagger(random_state=seed, n_jobs=-1)

    def predict(self, item: int) -> Any:
        """The tags of a sentence, or None if the model cannot predict yet."""
        return self.model.predict([self.items.X[item]])[0] if self.decides else None

    def why(self, item: int) -> Why | None:
        """What the model thinks of the token that it is least sure of."""
        if not self.decides:
            return None
        sure = self.confidence(item)
        weakest = int(np.argmin(sure))
        table = self.model.explain(self.items.X[item], top=None)
        mine = table.position == weakest
        margin, variance = float(table.margin[mine].sum()), float(table.variance[mine].sum())
        place = int(np.flatnonzero(mine)[0])
        label, rival = str(table.label[place]), str(table.rival[place])
        deviation = float(np.sqrt(variance))
        token = self.items.words(item)[weakest]
        return Why(label, rival, sure[weakest], margin, deviation, [], token=token)

    def confidence(self, item: int) -> list[float]:
        """How sure the model is of each tag; nothing while it cannot predict."""
        return [float(p) for p in self.model.confidence([self.items.X[item]])[0]]

    def unsure_below(self) -> float:
        """The confidence that one token in six of the pool does not reach."""
        if self._limit_at != len(self._steps):
            found = self.model.confidence([self.items.X[i] for i in self.sample[:200].tolist()])
            self._limit = float(np.quantile(np.concatenate(found), 1 / 6))
            self._limit_at = len(self._steps)
        return self._limit

    def sureness(self) -> NDArray[np.float64]:
        """The mean confidence of the tokens, for each sentence of the sample."""
        if not self.decides:
            return np.zeros(0)
        found = self.model.confidence([self.items.X[item] for item in self.sample.tolist()])
        return np.array([np.mean(sure) for sure in found])

    def _predicted(self, items: NDArray[np.int64]) -> NDArray[Any]:
        found = self.model.predict([self.items.X[item] for item in items.tolist()])
        return np.array([tag for tags in found for tag in tags])

    def _rows(self, label_steps: list[Step]) -> tuple[Any, list[Any]]:
        return [self.items.X[step.item] for step in label_steps], [
            step.label for step in label_steps
        ]

    def _can_fit(self, label_steps: list[Step]) -> bool:
        return len({tag for step in label_steps for tag in step.label}) > 1

    def _doubts(self, items: NDArray[np.int64]) -> NDArray[np.float64]:
        found = self.model.confidence([self.items.X[item] for item in items.tolist()])
        return np.array([min(sure) for sure in found])


def refuse_start(model: Any, blank: Any, *, many: bool) -> None:
    """Refuse a model that could not go on with the answers of the page."""
    kind, wanted = type(model).__name__, type(blank).__name__
    if kind != wanted:
        raise ValueError(f"the model to start from must be a {wanted}, got {kind}.")
    if (getattr(model, "label_format_", None) is not None) != many:
        raise ValueError(
            "the model to start from must have one label for each text, got many. Use --many."
            if not many
            else "the model to start from must have many labels for each text, got one. Leave out "
            "--many."
        )
    known = next(iter(getattr(model, "classes_", ())), "")
    if not isinstance(known, str):
        raise ValueError(
            f"labels of the model to start from must be texts, got {known!r}. Train it again with "
            "--label-type str."
        )
