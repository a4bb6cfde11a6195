"""A model that follows the answers; must not know people, pages or the log."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn.label.items import Items
from surelearn.label.ledger import Step

#: Texts with more letters are not explained word by word.
LONGEST_EXPLAINED = 20_000
#: Items whose predictions show how sure the model is of the whole pool.
_SAMPLE = 1000
#: Answers between two of these predictions, and how many comparisons make them stable.
_WINDOW, _TIMES, _AGREE = 20, 3, 0.99


class Word(NamedTuple):
    """A stretch of a text, what it adds to the margin, and the probability of that sign."""

    begin: int
    end: int
    score: float
    sureness: float | None


class Why(NamedTuple):
    """What the model thinks of an item before it is labelled."""

    label: Any
    rival: Any
    probability: float
    margin: float
    deviation: float | None
    words: list[Word]
    text: str | None = None  # the text that the words are stretches of
    token: str | None = None  # the token of a sentence that this is about


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
    def ask(self, n: int) -> list[int]:
        """The best open items to ask about, best first; fewer if fewer are open."""

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

    def ask(self, n: int) -> list[int]:
        """As `Pool.ask`."""
        found = [int(item) for item in self._pool.ask(n)] if len(self._pool) else []
        if self.decides and not self._is_read:
            self._is_read = True
            self.items.give_back()  # the texts that were copied to be hashed
        return found

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
        if steps:
            history = {**blank.history, "steps": [_plain(step) for step in steps]}
            blank = Pool(self._make(), self.items.X, history=history)
        self._pool = blank


def explained(model: Any, text: str) -> Why:
    """What a text classifier thinks of a text."""
    (scores,), (variances,) = model.margin([text])
    probabilities = model.predict_proba([text])[0]
    best, rival = np.argsort(-probabilities, kind="stable")[:2].tolist()
    label = str(model.classes_[best])
    if np.ndim(scores) == 0:
        lead, variance = float(scores) * (1 if best else -1), variances
    else:
        lead = float(scores[best] - scores[rival])
        variance = None if variances is None else variances[best] + variances[rival]
    deviation = None if variance is None else float(np.sqrt(variance))
    why = Why(label, str(model.classes_[rival]), float(probabilities[best]), lead, deviation, [])
    return why if len(text) > LONGEST_EXPLAINED else _with_words(why, model, text)


def _with_words(why: Why, model: Any, text: str) -> Why:
    found = model.explain(text)
    sign = 1.0 if str(found.verdict.label) == why.label else -1.0
    mine = [str(label) == why.label for label in found.label]
    only = len(set(found.label.tolist())) == 1  # two classes have one set of weights
    sure = {
        str(name): float(p)
        for name, p, is_mine in zip(found.feature, found.probability, mine, strict=True)
        if only or is_mine
    }
    return why._replace(words=words_of(found, sign, sure), text=found.text)


def words_of(found: Any, sign: float, sure: Mapping[str, float]) -> list[Word]:
    """The words of an explained text: how much each speaks for a label, and how surely."""
    return [
        Word(begin, end, sign * score, sure.get(found.text[begin:end].lower()))
        for (begin, end), score in zip(found.units, found.scores.tolist(), strict=True)
    ]


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
