"""A pool of unlabelled rows: questions out, answers in; must not know how rows are scored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from surelearn import _check
from surelearn.active._history import Answer, History, HistoryStep, mark_of
from surelearn.active._query import STRATEGIES, batch_of, first, rate, together
from surelearn.active._stopping import Progress, Stopping
from surelearn.active._table_rows import as_read_by, columns_for, n_rows, taken
from surelearn.active._teach import LabelledRow, ReplayTrainer
from surelearn.active._view import PoolRows
from surelearn.learners.labels import as_labels
from surelearn.learners.tasks.row_task import ROWS

Rows = NDArray[np.int64]


class Pool:
    """Unlabelled rows, the answers so far, and a model that learns them after each answer.

    Ask, tell, ask again. Questions are drawn at random until two classes are known; after that
    `query` chooses them. `ask` changes nothing: a second call gives the same rows.

    Few answers are worth several passes. So the answers are replayed: after an answer the model is
    what `fit` gives on all answers so far.

    Parameters
    ----------
    model : classifier
        The pool trains it in place; do not train it elsewhere meanwhile. If it has been trained
        before, the replays start from a copy of it. Classifiers of other libraries with
        `partial_fit` learn each answer once, and start over with all of them when a new class
        appears. Those without it are fitted again on all answers.
    X : array or CSR matrix of shape (n_samples, n_features), texts, or table
        Whatever the model takes. It is read, and texts are hashed, once for all scores. What the
        columns of a table are is decided once, by all rows of the pool, unless the model has been
        trained before.
    strategy : {"acl", "margin", "entropy", "least-confident", "novel", "random"}, default "acl"
        See `scores`.
    batch : bool, default False
        Whether several rows of one question should differ; see `query`.
    passes : int, optional
        Passes of a replay over the answers. Default: those of the model's `fit`. With 1 there are
        no replays: each answer is learnt once, by `partial_fit`.
    labels : dict of {row: label}, optional
        Labels to start from, such as one example of each class. `undo` does not revert them. The
        model must be untrained; give labels to a trained one with `tell`.
    classes : array, optional
        All classes. Models that must know them in advance need this: ``"ecoc"`` codes and coding
        matrices.
    stop : stopping rule or list of them, optional
        When `should_stop` gives a reason: `Budget`, `Stable`, `EstimatedError`.
    explore : float, default 0.0
        Share of questions in [0, 1) that are drawn at random. `EstimatedError` needs some for an
        unbiased estimate.
    random_state : int, RandomState or None
        Decides the random questions and the rows that `Stable` watches.
    history : dict, optional
        The `history` of an earlier pool, to resume it: with the same answers, skips, steps to
        undo, random order and next question, and the same model to the byte. Pass a `model` with
        the same settings, fitted or not: it starts over and learns the answers again. If the model
        was fitted before the first question, pass it as it was then. `X` must have the same rows
        in the same order; new rows may follow at the end.

    Attributes
    ----------
    model : classifier
    answers : list of Answer
        In the order they were told.
    skipped : list of int
    history : dict
        All answers and skips, as plain values that JSON can hold: ``random_state``; ``steps``, a
        list of dicts of ``kind`` ("start", "tell" or "skip") and ``answers`` or ``rows``;
        ``drawn``, the randomly drawn rows of the last questions; ``label_type``;
        ``learnt_before``, how many rows the model had learnt; of a table the ``columns`` as the
        pool decided them, so that new rows do not change them. To resume, only the first two are
        required, and only ``row`` and ``label`` of each answer.

    Notes
    -----
    A replay is due when the answers have grown by a fiftieth: after each of the first 99, then
    after every second one, from 150 on after every third, and so on. Answers in between are learnt
    once. So an answer costs about as much as 500 updates, however many came before. The order of
    the rows in a replay is drawn from the seed of the pool; the model depends on the answers and
    their order only. `undo` and `history` rely on this: they learn what is left again. A model that
    was trained before, or that must know its `classes`, makes its passes by `partial_fit`.

    Of a pool of more than 10,000 rows each question scores a random part of at most as many; the
    parts take turns.

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
        passes: int | None = None,
        labels: Mapping[int, Any] | None = None,
        classes: Any = None,
        stop: Stopping | Iterable[Stopping] | None = None,
        explore: float = 0.0,
        random_state: Any = None,
        history: Mapping[str, Any] | None = None,
    ) -> None:
        ROWS.check_model("model", model)
        if getattr(model, "label_format_", None) is not None:
            raise ValueError(
                "model must have one label per row in a Pool, got many. Choose rows with "
                "active.query, and learn them with partial_fit."
            )
        self._strategy = _check.choice("strategy", strategy, STRATEGIES)
        self._batch = batch_of(strategy, batch)
        self._stop = _rules(stop)
        if passes is not None:
            _check.count("passes", passes)
        self._explore = _check.number("explore", explore, "[0, 1)", low=0.0, high=1.0)
        self._X = _by_rows(as_read_by(model, X))
        self._n_rows = n_rows(self._X)
        _check.some_rows(self._n_rows, unit="row")
        before = None if history is None else History.of(history)
        self._seed = _seed(random_state, before)
        columns = _columns(model, self._X, before)
        more: dict[str, Any] = {"passes": passes, "seed": self._seed, "columns": columns}
        self._trainer = ReplayTrainer(model, self._X, classes, **more)
        self._draw()
        self._rows = PoolRows(self._X, self._order)
        self._places: dict[Any, int] = {}  # label: its number in predictions
        self._predictions: list[NDArray[np.int32] | None] = []
        self._closed = np.zeros(self._n_rows, dtype=bool)
        self._drawn: frozenset[int] = frozenset()  # the random ones among the last questions
        self._steps: list[HistoryStep] = []
        self.answers: list[Answer] = []
        self.skipped: list[int] = []
        if before is not None:
            if labels is not None:
                raise ValueError(
                    "labels must be None with history, which holds the first labels, got "
                    f"{labels!r}. Use tell to add labels."
                )
            self._go_on(before)
        elif labels is not None:
            self._start(labels)

    @property
    def model(self) -> Any:
        return self._trainer.model

    @property
    def history(self) -> dict[str, Any]:
        drawn = sorted(self._drawn)
        kind, before = self._trainer.label_type, self._trainer.learnt_before
        columns = self._trainer.columns
        return History(self._seed, before, kind, drawn, self._steps, self.answers, columns).plain()

    def __len__(self) -> int:
        """The number of open rows: neither answered nor skipped."""
        return int(self._n_rows - self._closed.sum())

    def ask(self, n: int = 1, *, strategy: str | None = None) -> Rows:
        """The rows to ask about next, best first.

        Parameters
        ----------
        n : int, default 1
        strategy : str, optional
            For these questions only. Default: that of the pool.

        Returns
        -------
        ndarray of int64
            Numbers of open rows, neither answered nor skipped; fewer than n if fewer are left.
        """
        how = self._strategy
        if strategy is not None:
            how = _check.choice("strategy", strategy, STRATEGIES)
            batch_of(how, self._batch)
        n = min(_check.count("n", n), len(self))
        number = int(self._closed.sum())  # how many questions came before
        # Each question has its coin, tossed in advance: asking twice gives the same rows.
        at_random = self._coins[number : number + n] < self._explore
        if how == "random" or not self._trainer.decides:
            at_random[:] = True
        drawn = self._in_order(int(at_random.sum()))
        rows = np.empty(n, dtype=np.int64)
        rows[at_random] = drawn
        if not at_random.all():
            rows[~at_random] = self._best(int((~at_random).sum()), drawn, how)
        self._drawn = frozenset(drawn.tolist())
        return rows

    def tell(self, rows: Any, labels: Any) -> None:
        """Learn the labels of rows, one by one.

        Parameters
        ----------
        rows : int or array of int
            Any open rows, whether they were asked or not.
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
                self._learn(row, label)
                told.append(row)
        finally:  # labels learnt before a refused one stay
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
        """Revert the last call of `tell` or `skip`; call it again to go further back.

        The model is restored to the byte.

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
            self._trainer.go_back(len(self.answers))
            del self._predictions[len(self.answers) :]
        return np.array(rows, dtype=np.int64)

    def should_stop(self) -> str:
        """The reason to stop asking, from the first stopping rule that gives one, or ``""``.

        A pool without open rows is a reason as well.
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

    def _draw(self) -> None:
        """Draw everything random in advance, so that a resumed pool draws the same."""
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
        n_learnt = self._trainer.learnt_before
        if n_learnt != 0:
            learnt = "rows" if n_learnt is None else f"{n_learnt} rows"
            raise ValueError(
                f"labels must be None for a model that has learnt {learnt}, which may be these. "
                "Use history= to resume an earlier pool, or tell to add labels."
            )
        given = as_labels(list(labels.values()), "labels")
        self._teach([LabelledRow(row, label) for row, label in zip(rows, given, strict=True)])
        self._closed[rows] = True
        self.answers = [
            Answer(row, _plain(label), mark=self._mark(row))
            for row, label in zip(rows, given, strict=True)
        ]
        self._steps.append(HistoryStep("start", rows))

    def _teach(self, answers: list[LabelledRow]) -> None:
        """Learn many labels in as few steps as possible."""
        # A rule that watches predictions needs the model after every label.
        size = 1 if len(self._watched) else max(1, len(answers))
        for begin in range(0, len(answers), size):
            self._trainer.learn(*answers[begin : begin + size])
            if len(self._watched):
                self._predictions.append(self._watch())

    def _go_on(self, history: History) -> None:
        """Resume the pool of this history."""
        for kind, rows in history.steps:
            self._closed[self._open("history", rows)] = True
            if kind == "skip":
                self.skipped.extend(rows)
        for answer in history.answers:
            if answer.mark is not None and answer.mark != self._mark(answer.row):
                raise ValueError(
                    f"row {answer.row} of X must be the row that was answered before, got another. "
                    "Pass the same rows in the same order, and new ones after them."
                )
        labels = as_labels([answer.label for answer in history.answers], "labels of history")
        labels = labels if history.label_type is None else labels.astype(history.label_type)
        answers = [
            LabelledRow(answer.row, label)
            for answer, label in zip(history.answers, labels, strict=True)
        ]
        with self._trainer.starting_over(history.learnt_before, len(answers)):
            self._teach(answers)
        self.answers, self._steps = list(history.answers), list(history.steps)
        self._drawn = frozenset(history.drawn)

    def _mark(self, row: int) -> int:
        return mark_of(taken(self._X, [row]))

    def _open(self, name: str, rows: Any) -> list[int]:
        """The row numbers as a list; all must be open."""
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

    def _learn(self, row: int, label: Any) -> None:
        predicted = self._trainer.predict(np.array([row]))[0] if self._trainer.decides else None
        mark = self._mark(row)
        self._teach([LabelledRow(row, label)])
        self._closed[row] = True
        # Early questions are random because the model cannot decide yet. Without `explore` they
        # must not count as random: `EstimatedError` would judge by these few alone.
        at_random = row in self._drawn and (self._explore > 0 or self._strategy == "random")
        self.answers.append(Answer(row, _plain(label), _plain(predicted), at_random, mark))

    def _watch(self) -> NDArray[np.int32] | None:
        """The predictions of the watched rows, as label numbers."""
        if not self._trainer.decides:
            return None
        labels, inverse = np.unique(self._trainer.predict(self._watched), return_inverse=True)
        known = [self._places.setdefault(label, len(self._places)) for label in labels.tolist()]
        return np.array(known, dtype=np.int32)[inverse]

    def _in_order(self, n: int) -> Rows:
        """The first open rows of the random order."""
        return self._order[~self._closed[self._order]][:n]

    def _best(self, n: int, taken: Rows, strategy: str) -> Rows:
        """The best open rows that are not taken."""
        is_open = ~self._closed
        is_open[taken] = False
        parts, numbers = self._rows.candidates(int(self._closed.sum()), n, is_open)
        view = self._rows.view(self._trainer.model, parts)
        among = np.flatnonzero(is_open[numbers])
        if self._batch:
            return numbers[together(view, n, among)]
        score = rate(view, strategy, None)
        return numbers[among[first(score[among], n)]]


def _by_rows(X: Any) -> Any:
    """X in a form that gives rows by number, any number of times."""
    if sparse.issparse(X):
        return X.tocsr()
    return X if hasattr(X, "__len__") or hasattr(X, "shape") else list(X)


def _columns(model: Any, X: Any, history: History | None) -> Any:
    """The columns of a table, as the pool decides them or has done before; None: the model has."""
    if history is None:
        return columns_for(model, X)
    return history.columns or columns_for(model, X, is_new=history.learnt_before == 0)


def _seed(random_state: Any, history: History | None) -> int:
    """The seed of all random draws; an int, so that the history can store it."""
    if history is not None:
        seed = history.random_state
        if random_state is not None and not (
            isinstance(random_state, Integral) and random_state == seed
        ):
            raise ValueError(
                f"random_state must be None or {seed} with history, got {random_state!r}."
            )
        return seed
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def _plain(label: Any) -> Any:
    """A label as a plain Python value."""
    return label.item() if isinstance(label, np.generic) else label


def _rules(stop: Stopping | Iterable[Stopping] | None) -> list[Stopping]:
    if stop is None:
        return []
    rules = list(stop) if isinstance(stop, Iterable) else [stop]
    for rule in rules:
        if not isinstance(rule, Stopping):
            raise TypeError(f"stop must be Budget, Stable or EstimatedError, got {rule!r}.")
    return rules
