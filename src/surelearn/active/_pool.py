"""A pool of rows without labels: questions out, answers in; must not know how rows are scored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from surelearn import _check
from surelearn.active._history import Answer, History, HistoryStep, mark_of
from surelearn.active._query import STRATEGIES, batch_of, first, rate, together
from surelearn.active._stopping import Progress, Stopping
from surelearn.active._teach import Lesson, Pupil
from surelearn.active._view import Foreign, Own
from surelearn.estimators.labels import as_labels
from surelearn.estimators.linear import core_rows, reads_by_names
from surelearn.estimators.probabilistic import ProbabilisticLinear
from surelearn.estimators.text_classifier import taken

Rows = NDArray[np.int64]


class Pool:
    """Rows without labels, the answers so far, and a model that learns each as it comes.

    Ask, tell, ask again. Until two classes are known questions are drawn at random; after that they
    are those of `query`. `ask` changes nothing: asked twice it gives the same rows.

    Parameters
    ----------
    model : classifier
        Is taught in place, and by nothing else while the pool is in use. One of ours learns each
        label by `partial_fit`, with the same bytes as if that had been called with all of them. Of
        others those with `partial_fit` do so too, but must start over with all labels where a new
        class appears; those without are fitted again with all labels after each.
    X : array or CSR matrix of shape (n_samples, n_features), or texts
        Whatever the model takes. Read, and texts hashed, once for all scores.
    strategy : {"acl", "margin", "entropy", "least-confident", "random"}, default "acl"
        See `scores`.
    batch : bool, default False
        Whether several rows that are asked about together should differ, see `query`.
    labels : dict of {row: label}, optional
        A start, such as one example of each class. It is not undone. For a model that has learnt
        nothing yet; others are told such labels by `tell`.
    classes : array, optional
        Labels that may come, where the model must know them before: codes of ``"ecoc"`` and coding
        matrices need them.
    stop : stopping rule or list of them, optional
        When `should_stop` gives a reason: `Budget`, `Stable`, `EstimatedError`.
    explore : float, default 0.0
        Share of questions in [0, 1) that are drawn at random, which `EstimatedError` is honest by.
    random_state : int, RandomState or None
        Of random questions, and of the rows that `Stable` watches.
    history : dict, optional
        That of an earlier pool, to go on where it ended: with its answers, skips, random order and
        steps to undo, the same next question, and the model to the byte. `model` is one with the
        settings of before, fitted or not: it starts anew and learns the answers again. One that was
        fitted before the first question is handed in as it was then. `X` has the same rows in the
        same order; more may have come at its end.

    Attributes
    ----------
    model : classifier
    answers : list of Answer
        In the order they were told.
    skipped : list of int
    history : dict
        Everything that was told and skipped, as plain values that JSON can hold: ``random_state``;
        ``steps``, a list of dicts of ``kind`` ("start", "tell" or "skip") and ``answers`` or
        ``rows``; ``drawn``, rows of the last questions that were drawn at random; ``label_type``;
        ``learnt_before``, how many rows the model had learnt. Only the first two must be there to
        go on from it, and only ``row`` and ``label`` of each answer.

    Notes
    -----
    `undo` goes back to a copy of the model and learns again what was told since. Copies are bytes
    of what was learnt, so they are as large as the features met, not as the table of weights; three
    are kept: the start and the last two of those made every 32 labels. So `undo` takes the time of
    at most 32 labels for the last few steps, and of all labels before, some 10 microseconds each,
    for those further back.

    Examples
    --------
    >>> from surelearn import SureTextClassifier
    >>> from surelearn.active import Budget, Pool
    >>> texts = ["a fine film", "a dull film", "fine acting", "dull, dull, dull"]
    >>> pool = Pool(SureTextClassifier(), texts, labels={0: "good", 1: "bad"}, stop=Budget(3))
    >>> pool.ask()
    array([2])
    >>> pool.tell(2, "good")
    >>> pool.should_stop()
    '3 labels of 3'
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        *,
        strategy: str = "acl",
        batch: bool = False,
        labels: Mapping[int, Any] | None = None,
        classes: Any = None,
        stop: Stopping | Iterable[Stopping] | None = None,
        explore: float = 0.0,
        random_state: Any = None,
        history: Mapping[str, Any] | None = None,
    ) -> None:
        _check.classifier("model", model)
        self._strategy = _check.choice("strategy", strategy, STRATEGIES)
        self._batch = batch_of(strategy, batch)
        self._stop = _rules(stop)
        self._explore = _check.number("explore", explore, "[0, 1)", low=0.0, high=1.0)
        self._X = _by_rows(X)
        self._n_rows = int(_num_samples(self._X))
        _check.some_rows(self._n_rows, "rows of X")
        before = None if history is None else History.of(history)
        self._seed = _seed(random_state, before)
        self._pupil = Pupil(model, self._X, classes)
        self._rows: Any = None  # read when they are first needed
        self._draw()
        self._places: dict[Any, int] = {}  # of labels in predictions
        self._predictions: list[NDArray[np.int32] | None] = []
        self._closed = np.zeros(self._n_rows, dtype=bool)
        self._drawn: frozenset[int] = frozenset()  # of the last questions those drawn at random
        self._steps: list[HistoryStep] = []
        self.answers: list[Answer] = []
        self.skipped: list[int] = []
        if before is not None:
            _check.no_start(labels)
            self._go_on(before)
        elif labels is not None:
            self._start(labels)

    @property
    def model(self) -> Any:
        return self._pupil.model

    @property
    def history(self) -> dict[str, Any]:
        drawn = sorted(self._drawn)
        kind, before = self._pupil.label_type, self._pupil.learnt_before
        return History(self._seed, before, kind, drawn, self._steps, self.answers).plain()

    def __len__(self) -> int:
        """Rows that are neither answered nor skipped."""
        return int(self._n_rows - self._closed.sum())

    def ask(self, n: int = 1) -> Rows:
        """The rows to ask about next, best first.

        Parameters
        ----------
        n : int, default 1

        Returns
        -------
        ndarray of int64
            Row numbers that were neither answered nor skipped; fewer than n where fewer are left.
        """
        n = min(_check.count("n", n), len(self))
        number = int(self._closed.sum())  # of the first of these questions
        at_random = self._coins[number : number + n] < self._explore
        if self._strategy == "random" or not self._pupil.decides:
            at_random[:] = True
        drawn = self._in_order(int(at_random.sum()))
        rows = np.empty(n, dtype=np.int64)
        rows[at_random] = drawn
        if not at_random.all():
            rows[~at_random] = self._best(int((~at_random).sum()), drawn)
        self._drawn = frozenset(drawn.tolist())
        return rows

    def tell(self, rows: Any, labels: Any) -> None:
        """Learn the labels of rows, one after the other.

        Parameters
        ----------
        rows : int or array of int
            Any that are neither answered nor skipped, asked or not.
        labels : label or array of labels
            One for each row.
        """
        numbers = self._open("rows", rows)
        given = as_labels([labels] if np.ndim(labels) == 0 else labels, "labels")
        if len(given) != len(numbers):
            raise ValueError(f"labels must be one for each of {len(numbers)} rows, got {labels!r}.")
        told: list[int] = []
        try:
            for row, label in zip(numbers, given, strict=True):
                self._learn(row, label, judged=True)
                told.append(row)
        finally:  # what was learnt before a label that is refused stays
            if told:
                self._steps.append(HistoryStep("tell", told))

    def skip(self, rows: Any) -> None:
        """Never ask about these rows again.

        Parameters
        ----------
        rows : int or array of int
        """
        numbers = self._open("rows", rows)
        self._closed[numbers] = True
        self.skipped.extend(numbers)
        if numbers:
            self._steps.append(HistoryStep("skip", numbers))

    def undo(self) -> Rows:
        """Take back the last call of `tell` or `skip`, and before that the one before.

        The model is to the byte what it was.

        Returns
        -------
        ndarray of int64
            The rows that are open again.
        """
        if not self._steps or self._steps[-1].kind == "start":
            raise ValueError("undo needs an answer or a skip to take back, got none.")
        kind, rows = self._steps.pop()
        self._closed[rows] = False
        if kind == "skip":
            del self.skipped[-len(rows) :]
        else:
            del self.answers[-len(rows) :]
            self._pupil.go_back(len(self.answers))
            del self._predictions[len(self.answers) :]
        return np.array(rows, dtype=np.int64)

    def should_stop(self) -> str:
        """Why to stop asking: the reason of the first stopping rule that has one, or ``""``.

        Also where there is nothing left to ask about.
        """
        if not len(self):
            return "no rows left"
        judged = [answer for answer in self.answers if answer.predicted is not None]
        seen = Progress(
            len(self.answers),
            np.array([answer.predicted != answer.label for answer in judged], dtype=bool),
            np.array([answer.at_random for answer in judged], dtype=bool),
            self._predictions,
        )
        return next((reason for rule in self._stop if (reason := rule.reason(seen))), "")

    # ---------------------------------------------------------------- internals

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_rows": None}  # of the core; read again

    def _draw(self) -> None:
        """All that is random: the order of random questions, when to ask one, rows to watch."""
        random = check_random_state(self._seed)
        self._order: Rows = random.permutation(self._n_rows)
        self._coins = random.random_sample(self._n_rows)
        watched = min(self._n_rows, max((rule.watch for rule in self._stop), default=0))
        self._watched: Rows = np.sort(random.permutation(self._n_rows)[:watched])

    def _start(self, labels: Mapping[int, Any]) -> None:
        if not isinstance(labels, Mapping):
            raise TypeError(f"labels must be a dict of rows and labels, got {labels!r}.")
        rows = self._open("labels", list(labels))
        if not rows:
            return
        _check.not_learnt(self._pupil.learnt_before)
        for row, label in zip(rows, labels.values(), strict=True):
            self._learn(row, label, judged=False)
        self._steps.append(HistoryStep("start", rows))

    def _go_on(self, history: History) -> None:
        """Be the pool that this is the history of."""
        for kind, rows in history.steps:
            self._closed[self._open("history", rows)] = True
            if kind == "skip":
                self.skipped.extend(rows)
        for answer in history.answers:
            _check.same_row(answer.row, answer.mark, self._mark(answer.row))
        labels = as_labels([answer.label for answer in history.answers], "labels of history")
        labels = labels if history.label_type is None else labels.astype(history.label_type)
        lessons = [
            Lesson(answer.row, label) for answer, label in zip(history.answers, labels, strict=True)
        ]
        # Whoever watches predictions has to see the model after every label.
        size = 1 if len(self._watched) else max(1, len(lessons))
        with self._pupil.starting_over(history.learnt_before, len(lessons)):
            for begin in range(0, len(lessons), size):
                self._pupil.learn(*lessons[begin : begin + size])
                if len(self._watched):
                    self._predictions.append(self._watch())
        self.answers, self._steps = list(history.answers), list(history.steps)
        self._drawn = frozenset(history.drawn)

    def _mark(self, row: int) -> int:
        return mark_of(taken(self._X, [row]))

    def _open(self, name: str, rows: Any) -> list[int]:
        """Numbers of rows that can still be answered."""
        numbers = np.asarray(rows).reshape(-1)
        if numbers.dtype.kind not in "iu" and len(numbers):
            raise TypeError(f"{name} must be row numbers, got {rows!r}.")
        found = [int(number) for number in numbers]
        for number in found:
            if not 0 <= number < self._n_rows:
                raise ValueError(f"{name} must be in [0, {self._n_rows}), got {number}.")
            if self._closed[number]:
                raise ValueError(f"{name} must not be answered or skipped before, got {number}.")
        if len(set(found)) < len(found):
            raise ValueError(f"{name} must differ, got {rows!r}.")
        return found

    def _learn(self, row: int, label: Any, *, judged: bool) -> None:
        predicted = None
        if judged and self._pupil.decides:
            predicted = self._pupil.predict(np.array([row]))[0]
        mark = self._mark(row)
        self._pupil.learn(Lesson(row, label))
        self._closed[row] = True
        # Not those before two classes were known: with none after them they would stand for all.
        at_random = row in self._drawn and (self._explore > 0 or self._strategy == "random")
        self.answers.append(Answer(row, _plain(label), _plain(predicted), at_random, mark))
        if len(self._watched):
            self._predictions.append(self._watch())

    def _watch(self) -> NDArray[np.int32] | None:
        """What the model says of the watched rows, as places of labels."""
        if not self._pupil.decides:
            return None
        labels, inverse = np.unique(self._pupil.predict(self._watched), return_inverse=True)
        known = [self._places.setdefault(label, len(self._places)) for label in labels.tolist()]
        return np.array(known, dtype=np.int32)[inverse]

    def _in_order(self, n: int) -> Rows:
        """The first open rows of the random order."""
        return self._order[~self._closed[self._order]][:n]

    def _best(self, n: int, taken: Rows) -> Rows:
        """The best open rows but those taken."""
        is_open = ~self._closed
        is_open[taken] = False
        among = np.flatnonzero(is_open)
        if self._batch:
            return together(self._view(), n, among)
        score = rate(self._view(), self._strategy, None)
        return among[first(score[among], n)]

    def _view(self) -> Own | Foreign:
        """The rows as the model sees them now."""
        model = self._pupil.model
        if not isinstance(model, ProbabilisticLinear):
            return Foreign(model, self._X)
        if reads_by_names(model):  # names that are met later make other rows of the same
            return Own(model, self._X)
        if self._rows is None:
            self._rows = core_rows(model, self._X)
        return Own(model, self._rows)


def _by_rows(X: Any) -> Any:
    """Rows that can be taken out by their numbers, many times."""
    if sparse.issparse(X):
        return X.tocsr()
    return X if hasattr(X, "__len__") or hasattr(X, "shape") else list(X)


def _seed(random_state: Any, history: History | None) -> int:
    """The seed of all that a pool draws, which its history has to tell."""
    if history is not None:
        _check.same_seed(random_state, history.random_state)
        return history.random_state
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def _plain(label: Any) -> Any:
    """A label as Python has it."""
    return label.item() if isinstance(label, np.generic) else label


def _rules(stop: Stopping | Iterable[Stopping] | None) -> list[Stopping]:
    if stop is None:
        return []
    rules = list(stop) if isinstance(stop, Iterable) else [stop]
    for rule in rules:
        if not isinstance(rule, Stopping):
            raise TypeError(f"stop must be Budget, Stable or EstimatedError, got {rule!r}.")
    return rules
