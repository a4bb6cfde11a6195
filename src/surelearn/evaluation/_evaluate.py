"""One pass over labelled rows, in constant memory; must not know how results are printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surelearn import _check
from surelearn.estimators import StreamProgress, SureRanker
from surelearn.estimators.labels import as_labels
from surelearn.estimators.margins import Judgement, check_fitted, judge, why_unsure
from surelearn.estimators.sources import opened
from surelearn.evaluation._comparison import Comparison
from surelearn.evaluation._rankings import RankingScores, evaluate_ranker
from surelearn.evaluation._result import Evaluation
from surelearn.prediction import judged_batches, of_label
from surelearn.probability import Bins, entropy

if TYPE_CHECKING:
    from surelearn.read import Source

#: Rows in memory are evaluated in blocks of this size.
_BLOCK = 8192
_BINS = 10
#: The log loss clips probabilities here, as in scikit-learn.
_LEAST = float(np.finfo(np.float64).eps)


class _Piece(NamedTuple):
    """A batch of rows: their labels, as distinct values and codes, and the predictions of each
    model."""

    values: NDArray[Any]
    codes: NDArray[Any]
    judgements: list[Judgement]
    n_bytes: int = 0
    n_bad: int = 0

    @property
    def y(self) -> NDArray[Any]:
        labels: NDArray[Any] = self.values[self.codes]
        return labels


@overload
def evaluate(
    model: SureRanker, X: Any, y: Any = None, *, rival: None = None, **options: Any
) -> RankingScores: ...
@overload
def evaluate(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    rival: Any = None,
    progress: Callable[[StreamProgress], object] | None = None,
    **reading: Any,
) -> Evaluation: ...


def evaluate(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    rival: Any = None,
    progress: Callable[[StreamProgress], object] | None = None,
    **reading: Any,
) -> Evaluation | RankingScores:
    """Evaluate a model on labelled rows, or compare two models.

    Parameters
    ----------
    model : fitted classifier or SureRanker
        For a ranker see `evaluation.evaluate_ranker`, which takes `group`, `qid` and `cost`.
    X : rows or texts, or a source of them
        With `y`, what the model takes: an array, CSR matrix, frame, list of texts or of dicts.
        Without `y`, a source with labels as in `read.batches`, such as a path, or a `read.Source`;
        it is read batch by batch.
    y : array of shape (n_samples,), optional
        The true labels. Labels that the model does not know count as mistakes.
    rival : fitted classifier, optional
        A second model to compare with on the same rows, by McNemar's test.
    progress : callable, optional
        Called with an `estimators.StreamProgress` after each batch.
    **reading
        Keywords of `read.batches`, such as `text`, `label` and `format`. By default the columns are
        those of training, if the model knows their names.

    Returns
    -------
    Evaluation
        Every row counts once; weights of the source are ignored. For a ranker, `RankingScores`.

    Examples
    --------
    >>> from surelearn import SureClassifier, evaluate
    >>> clf = SureClassifier(random_state=0).fit([[0.0, 1.0], [1.0, 0.0]], ["no", "yes"])
    >>> found = evaluate(clf, [[0.0, 2.0], [3.0, 1.0], [2.0, 0.0]], ["no", "yes", "no"])
    >>> found.confusion
    array([[1, 1],
           [0, 1]])
    """
    if isinstance(model, SureRanker):
        _check.no_rival(rival)
        return evaluate_ranker(model, X, y, progress=progress, **reading)
    _check.callback("progress", progress)
    _check.rows_or_source(X, y, sorted(reading))
    models = [model] if rival is None else [model, rival]
    for name, classifier in zip(("model", "rival"), models, strict=False):
        check_fitted(name, classifier)
    columns = ("text", "features", "label")
    source = None if y is not None else opened(X, reading, model=model, columns=columns)
    total = None if source is None else source.n_bytes
    pieces = _of_memory(models, X, y) if source is None else _of_source(models, source)
    tally = _Tally(model)
    duel = np.zeros((2, 2), dtype=np.int64)
    for piece in pieces:
        right = tally.add(piece)
        if rival is not None:
            _check.one_kind(rival.classes_, piece.values)
            also = piece.judgements[1].labels == piece.y
            np.add.at(duel, (right.astype(int), also.astype(int)), 1)
        if progress is not None:
            progress(tally.progress(total))
    return tally.result(None if rival is None else _comparison(duel))


def _comparison(duel: NDArray[np.int64]) -> Comparison:
    (neither, rival_only), (model_only, both) = duel.tolist()
    return Comparison(both, model_only, rival_only, neither)


# ------------------------------------------------------------------------ pieces


def _of_source(models: list[Any], source: Source) -> Iterator[_Piece]:
    for judged in judged_batches(models, source):
        labels = judged.batch.labels
        if labels is None:
            raise _check.no_labels(source.name)
        values = as_labels(labels.values)
        yield _Piece(values, labels.codes, judged.judgements, judged.n_bytes, judged.batch.n_bad)


def _of_memory(models: list[Any], X: Any, y: Any) -> Iterator[_Piece]:
    labels = as_labels(y)
    if sparse.issparse(X):
        X = X.tocsr()
    elif not hasattr(X, "__len__"):
        X = list(X)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    _check.one_label_a_row(len(labels), n)
    rows = getattr(X, "iloc", X)  # slices of rows by position, also for pandas
    for first in range(0, n, _BLOCK):
        some = slice(first, first + _BLOCK)
        values, codes = np.unique(labels[some], return_inverse=True)
        yield _Piece(values, codes, [judge(model, rows[some]) for model in models])


# ------------------------------------------------------------------------- sums


class _Tally:
    """Counts and sums over the rows so far."""

    def __init__(self, model: Any) -> None:
        self.n = self.n_bytes = self.n_bad = 0
        self._model = model
        self._classes = np.asarray(model.classes_)
        self._lines = {label: line for line, label in enumerate(self._classes.tolist())}
        self._confusion = np.zeros((len(self._lines), len(self._classes)), dtype=np.int64)
        self._bins = Bins(_BINS)
        self._why_not = why_unsure(model)
        self._log_loss = self._brier = 0.0

    def add(self, piece: _Piece) -> NDArray[np.bool_]:
        """Add a batch; return which of its rows were predicted right."""
        _check.one_kind(self._classes, piece.values)
        judged = piece.judgements[0]
        self.n += len(piece.codes)
        self.n_bytes += piece.n_bytes
        self.n_bad += piece.n_bad
        lines = self._lines_of(piece.values)[piece.codes]
        columns = np.searchsorted(self._classes, judged.labels)
        np.add.at(self._confusion, (lines, columns), 1)
        right: NDArray[np.bool_] = lines == columns
        confidence = of_label(self._model, judged)
        if judged.probabilities is not None and confidence is not None:
            self._bins.add(confidence, ~right, entropy(judged.probabilities))
            self._lose(judged.probabilities, lines)
        return right

    def progress(self, total: int | None) -> StreamProgress:
        mistakes = self.n - int(np.trace(self._confusion))
        return StreamProgress(1, 1, self.n, mistakes, self.n_bytes, total, self.n_bad)

    def _lines_of(self, labels: NDArray[Any]) -> NDArray[np.int64]:
        """The line of each label in the confusion matrix; a new label gets a new line."""
        lines = [self._lines.setdefault(label, len(self._lines)) for label in labels.tolist()]
        missing = len(self._lines) - len(self._confusion)
        if missing > 0:
            # At least double the size, so that many new labels do not copy the matrix each time.
            more = max(missing, len(self._confusion))
            self._confusion = np.pad(self._confusion, ((0, more), (0, 0)))
        return np.asarray(lines, dtype=np.int64)

    def _lose(self, p: NDArray[np.float64], lines: NDArray[np.int64]) -> None:
        """Add to the losses; an unknown label has probability 0."""
        known = np.flatnonzero(lines < p.shape[1])
        of_truth = np.zeros(len(p))
        of_truth[known] = p[known, lines[known]]
        self._log_loss -= float(np.log(np.maximum(of_truth, _LEAST)).sum())
        # sum_z (p_z - [z = y])^2 = sum_z p_z^2 + 1 - 2 p_y, which holds for unknown labels as well.
        self._brier += float(np.square(p).sum() + (1.0 - 2.0 * of_truth).sum())

    def result(self, comparison: Comparison | None) -> Evaluation:
        _check.some_judged(self.n, "row")
        labels, order = self._sorted_labels()
        found: dict[str, Any] = {}
        if not self._why_not:
            half = 0.5 if len(self._classes) == 2 else 1.0
            found["log_loss"] = self._log_loss / self.n
            found["brier"] = half * self._brier / self.n
            found["reliability"] = self._bins.reliability()
        return Evaluation(
            self._classes,
            labels,
            self._confusion[order],
            **found,
            no_probabilities=self._why_not,
            comparison=comparison,
            n_bad=self.n_bad,
        )

    def _sorted_labels(self) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Classes, then unknown labels, sorted, with the line of each in the confusion matrix."""
        n_known = len(self._classes)
        unknown = sorted(list(self._lines)[n_known:])
        order = [*range(n_known), *(self._lines[label] for label in unknown)]
        if not unknown:
            return self._classes, np.asarray(order)
        own: NDArray[Any] = np.asarray(
            unknown, dtype=object if self._classes.dtype == object else None
        )
        return np.concatenate([self._classes, own]), np.asarray(order)
