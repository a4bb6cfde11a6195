"""One pass over labelled rows, in constant memory; must not know how results are printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surelearn import _check
from surelearn.evaluation._comparison import Comparison
from surelearn.evaluation._label_scores import LabelScores
from surelearn.evaluation._label_tally import LEAST, LabelLines, LabelTally
from surelearn.evaluation._rankings import RankingScores, evaluate_ranker
from surelearn.evaluation._result import Evaluation
from surelearn.learners.answers.judgement import (
    Judgement,
    check_fitted,
    judge,
    many_labels,
    why_unsure,
)
from surelearn.learners.labels import as_labels, row_labels
from surelearn.learners.ranker import SureRanker
from surelearn.learners.sources import opened
from surelearn.prediction import judged_batches
from surelearn.probability import Bins, entropy
from surelearn.read import Labels
from surelearn.training.stream import StreamProgress

if TYPE_CHECKING:
    from surelearn.read import Source

#: Rows in memory are evaluated in blocks of this size.
_BLOCK = 8192
_BINS = 10


class _Piece(NamedTuple):
    """A batch of rows: their labels, and the predictions of each model."""

    labels: Labels
    judgements: list[Judgement]
    n_bytes: int = 0
    n_bad: int = 0


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
) -> Evaluation | LabelScores: ...


def evaluate(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    rival: Any = None,
    progress: Callable[[StreamProgress], object] | None = None,
    **reading: Any,
) -> Evaluation | LabelScores | RankingScores:
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
        The true labels, or those of each row in a form that `fit` takes if rows have many. Labels
        that the model does not know count as mistakes.
    rival : fitted classifier, optional
        A second model to compare with on the same rows, by McNemar's test.
    progress : callable, optional
        Called with an `learners.StreamProgress` after each batch.
    **reading
        Keywords of `read.batches`, such as `text`, `label` and `format`. By default the columns are
        those of training, if the model knows their names.

    Returns
    -------
    Evaluation
        Every row counts once; weights of the source are ignored. `LabelScores` if rows have many
        labels; for a ranker, `RankingScores`.

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
    _check.like_rival(many_labels(model), many_labels(models[-1]))
    columns = ("text", "features", "label")
    source = None if y is not None else opened(X, reading, model=model, columns=columns)
    total = None if source is None else source.n_bytes
    pieces = _of_memory(models, X, y) if source is None else _of_source(models, source)
    tallies = [_tally_of(classifier) for classifier in models]
    duel = np.zeros((2, 2), dtype=np.int64)
    n_bytes = n_bad = 0
    for piece in pieces:
        pairs = zip(tallies, piece.judgements, strict=True)
        right = [tally.add(piece.labels, judged).astype(int) for tally, judged in pairs]
        np.add.at(duel, (right[0], right[-1]), 1)
        n_bytes, n_bad = n_bytes + piece.n_bytes, n_bad + piece.n_bad
        if progress is not None:
            done = tallies[0].n, tallies[0].mistakes
            progress(StreamProgress(1, 1, *done, n_bytes, total, n_bad))
    return tallies[0].result(None if rival is None else _comparison(duel), n_bad)


def _comparison(duel: NDArray[np.int64]) -> Comparison:
    (neither, rival_only), (model_only, both) = duel.tolist()
    return Comparison(both, model_only, rival_only, neither)


# ------------------------------------------------------------------------ pieces


def _of_source(models: list[Any], source: Source) -> Iterator[_Piece]:
    many = many_labels(models[0])
    if not source.may_list:  # before an empty cell is read as a missing label
        _check.labels_for(source.name, many=many, got=False)
    for judged in judged_batches(models, source):
        labels = judged.batch.labels
        if labels is None:
            raise _check.no_labels(source.name)
        _check.labels_for(source.name, many=many, got=labels.starts is not None)
        labels = labels._replace(values=as_labels(labels.values))
        yield _Piece(labels, judged.judgements, judged.n_bytes, judged.batch.n_bad)


def _of_memory(models: list[Any], X: Any, y: Any) -> Iterator[_Piece]:
    many = many_labels(models[0])
    form = getattr(models[0], "label_format_", None)
    labels = row_labels(y, form=form)
    _check.labels_for("y", many=many, got=labels.is_many)
    if form is not None and labels.columns is not None:
        _check.indicator_fits(len(labels.columns), len(models[0].classes_))
    if sparse.issparse(X):
        X = X.tocsr()
    elif not hasattr(X, "__len__"):
        X = list(X)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    _check.one_label_a_row(len(labels), n)
    rows = getattr(X, "iloc", X)  # slices of rows by position, also for pandas
    for first in range(0, n, _BLOCK):
        some = slice(first, first + _BLOCK)
        yield _Piece(labels[some].coded(), [judge(model, rows[some]) for model in models])


# ------------------------------------------------------------------------- sums


def _tally_of(model: Any) -> _Tally | LabelTally:
    classes, why_not = np.asarray(model.classes_), why_unsure(model)
    return (LabelTally if many_labels(model) else _Tally)(classes, why_not)


class _Tally:
    """Counts and sums over the rows so far; the parameters are those of `LabelTally`."""

    def __init__(self, classes: NDArray[Any], why_not: str) -> None:
        self.n = 0
        self._classes = classes
        self._lines = LabelLines(classes)
        self._confusion = np.zeros((len(classes), len(classes)), dtype=np.int64)
        self._bins = Bins(_BINS)
        self._why_not = why_not
        self._log_loss = self._brier = 0.0

    @property
    def mistakes(self) -> int:
        return self.n - int(np.trace(self._confusion))

    def add(self, labels: Labels, judged: Judgement) -> NDArray[np.bool_]:
        """Add a batch; return which of its rows were predicted right."""
        self.n += labels.n_rows
        lines = self._lines.of(labels.values)[labels.codes]
        self._make_room()
        columns = np.searchsorted(self._classes, judged.labels)
        np.add.at(self._confusion, (lines, columns), 1)
        right: NDArray[np.bool_] = lines == columns
        p = judged.probabilities
        if p is not None:
            self._bins.add(p[np.arange(len(p)), columns], ~right, entropy(p))
            self._lose(p, lines)
        return right

    def _make_room(self) -> None:
        """Add lines for new labels to the confusion matrix."""
        missing = len(self._lines) - len(self._confusion)
        if missing > 0:
            # At least double the size, so that many new labels do not copy the matrix each time.
            more = max(missing, len(self._confusion))
            self._confusion = np.pad(self._confusion, ((0, more), (0, 0)))

    def _lose(self, p: NDArray[np.float64], lines: NDArray[np.int64]) -> None:
        """Add to the losses; an unknown label has probability 0."""
        known = np.flatnonzero(lines < p.shape[1])
        of_truth = np.zeros(len(p))
        of_truth[known] = p[known, lines[known]]
        self._log_loss -= float(np.log(np.maximum(of_truth, LEAST)).sum())
        # sum_z (p_z - [z = y])^2 = sum_z p_z^2 + 1 - 2 p_y, which holds for unknown labels as well.
        self._brier += float(np.square(p).sum() + (1.0 - 2.0 * of_truth).sum())

    def result(self, comparison: Comparison | None, n_bad: int) -> Evaluation:
        _check.some_judged(self.n, "row")
        labels, order = self._lines.in_order()
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
            n_bad=n_bad,
        )
