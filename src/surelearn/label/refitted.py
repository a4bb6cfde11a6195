"""Models that a `Pool` does not take: many labels for a text, tags for a sentence."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn.label.learner import LONGEST_EXPLAINED, Learner, Why, words_of
from surelearn.label.ledger import Step

#: Passes over the answers of a model that had learnt before, which `fit` would forget.
_PASSES = 5


class Refitted(Learner):
    """A model that is fitted to all answers anew; beyond 100 answers not after each of them.

    After the n-th answer it is fitted if n is a multiple of 1 + n // 100, and else it goes on with
    that answer alone. The questions are the best of `window` open items, other ones each time.
    """

    window = 2000

    def ask(self, n: int) -> list[int]:
        """The best of the items in the window."""
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
        lessons = self._lessons(self._steps)
        if step.kind == "skip":
            return
        if self._is_whole(len(lessons)) or not self.decides:
            self._fit(lessons)
        else:
            self._go_on(lessons[-1:])

    def _undo(self) -> None:
        self._restart(self._steps)

    def _restart(self, steps: list[Step]) -> None:
        self._closed = np.zeros(len(self.items), dtype=bool)
        self._closed[[step.item for step in steps]] = True
        self.model = self._make()
        lessons = self._lessons(steps)
        whole = next((n for n in range(len(lessons), 0, -1) if self._is_whole(n)), 0)
        self._fit(lessons[:whole])
        for n in range(whole, len(lessons)):
            if self.decides:
                self._go_on(lessons[n : n + 1])
            else:
                self._fit(lessons[: n + 1])

    @staticmethod
    def _is_whole(n: int) -> bool:
        return n % (1 + n // 100) == 0

    @staticmethod
    def _lessons(steps: list[Step]) -> list[Step]:
        return [step for step in steps if step.kind == "tell"]

    def _fit(self, lessons: list[Step]) -> None:
        self.model = self._make()
        if self.decides:
            for _ in range(_PASSES if lessons else 0):
                self._go_on(lessons)
        elif self._can_fit(lessons):
            self.model.fit(*self._rows(lessons))

    def _go_on(self, lessons: list[Step]) -> None:
        self.model.partial_fit(*self._rows(lessons))

    @abstractmethod
    def _rows(self, lessons: list[Step]) -> tuple[Any, list[Any]]:
        """X and y."""

    @abstractmethod
    def _can_fit(self, lessons: list[Step]) -> bool:
        """Whether there are labels enough to fit a model."""

    @abstractmethod
    def _doubts(self, items: NDArray[np.int64]) -> NDArray[np.float64]:
        """How sure the model is of each item; the smallest is asked first."""


class ManyLearner(Refitted):
    """A text classifier with any number of labels for a text."""

    @staticmethod
    def blank(seed: int) -> Any:
        """A classifier as it comes."""
        from surelearn import SureTextClassifier

        return SureTextClassifier(random_state=seed, n_jobs=-1)

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

    def _rows(self, lessons: list[Step]) -> tuple[Any, list[Any]]:
        return self._texts(np.array([s.item for s in lessons])), [s.label for s in lessons]

    def _can_fit(self, lessons: list[Step]) -> bool:
        return any(step.label for step in lessons)

    def _doubts(self, items: NDArray[np.int64]) -> NDArray[np.float64]:
        from surelearn.active import scores

        return scores(self.model, self._texts(items), "acl")


class TagLearner(Refitted):
    """A tagger of sentences, asked about by their weakest token."""

    window = 500
    _limit, _limit_at = 0.5, -1  # what `unsure_below` found last, and after how many steps

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

    def _rows(self, lessons: list[Step]) -> tuple[Any, list[Any]]:
        return [self.items.X[step.item] for step in lessons], [step.label for step in lessons]

    def _can_fit(self, lessons: list[Step]) -> bool:
        return len({tag for step in lessons for tag in step.label}) > 1

    def _doubts(self, items: NDArray[np.int64]) -> NDArray[np.float64]:
        found = self.model.confidence([self.items.X[item] for item in items.tolist()])
        return np.array([min(sure) for sure in found])
