"""Predictions for files of any size: batches in, predictions out; must not know file formats."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surelearn import _check
from surelearn.learners.answers.judgement import (
    Judgement,
    check_fitted,
    check_fitted_ranker,
    check_fitted_tagger,
    judge,
    many_labels,
)
from surelearn.learners.answers.linear import Linear
from surelearn.learners.sources import opened, opened_groups, opened_sentences
from surelearn.learners.text_classifier import SureTextClassifier
from surelearn.training.prefetch import prefetch
from surelearn.training.salvage import raising, salvaging
from surelearn.training.stream import StreamProgress

if TYPE_CHECKING:
    from surelearn.read import Batch, Groups, Source

#: Most candidates of a group that has probabilities: time grows with the cube of their number.
LARGEST = 1000

__all__ = ["Prediction", "Ranked", "Tagged", "predict", "predict_groups", "predict_tags"]


class Prediction(NamedTuple):
    """The predictions for one batch of rows.

    Attributes
    ----------
    label : ndarray of shape (n,) or list of tuples
        The predicted labels; a tuple of labels for each row if rows have many.
    probability : ndarray of shape (n,) or None
        Probabilities of these labels. None if the model has none, as with first-order rules, or if
        rows have many labels.
    sureness : ndarray of shape (n,) or None
        Margin between the label and the next best one, in standard deviations. With two classes,
        the probability is ``normal_cdf(sureness)``. If rows have many labels, that of the least
        sure label. None if the model has no variances.
    probabilities : ndarray of shape (n, n_classes) or None
        Probabilities of all labels, in the order of ``classes_``.
    kept : ndarray of shape (n,), dict of {str: ndarray} or None
        The column of `keep`, or a dict of columns if `keep` is a list.
    n_bytes, n_bad : int
        Number of bytes of the source in this batch, and of rows skipped because they could not be
        parsed.

    Examples
    --------
    >>> import pandas
    >>> from surelearn import SureTextClassifier
    >>> clf = SureTextClassifier(random_state=0).fit(["a fine film", "dull"], ["good", "bad"])
    >>> batch = next(predict(clf, pandas.DataFrame({"text": ["fine"], "id": [7]}), keep="id"))
    >>> batch.label, batch.kept
    (array(['good'], dtype='<U4'), array([7]))
    """

    label: NDArray[Any] | list[tuple[Any, ...]]
    probability: NDArray[np.float64] | None
    sureness: NDArray[np.float64] | None
    probabilities: NDArray[np.float64] | None
    kept: NDArray[Any] | Mapping[str, NDArray[Any]] | None
    n_bytes: int
    n_bad: int


def predict(
    model: Any,
    source: Any,
    *,
    keep: str | Sequence[str] | None = None,
    progress: Callable[[StreamProgress], object] | None = None,
    **reading: Any,
) -> Iterator[Prediction]:
    """Predict the label or labels of every row of a file, batch by batch, in constant memory.

    Parameters
    ----------
    model : fitted classifier
    source : path, list of paths, glob, folder, frame, table or `read.Source`
        As in `read.batches`.
    keep : str or list of str, optional
        One or more columns to return unchanged, such as ids of the rows. Columns that are read,
        such as the text, may be named as well.
    progress : callable, optional
        Called with an `learners.StreamProgress` before each batch.
    **reading
        Further keywords of `read.batches`, such as `text` and `format`. By default the columns are
        those of training, if the model knows their names.

    Yields
    ------
    Prediction
        One for each batch, in the order of the source.

    Examples
    --------
    >>> import pandas
    >>> from surelearn import SureTextClassifier
    >>> clf = SureTextClassifier(random_state=0).fit(["a fine film", "dull"], ["good", "bad"])
    >>> for batch in predict(clf, pandas.DataFrame({"text": ["how fine", "so dull"]})):
    ...     print(batch.label)
    ['good' 'bad']
    """
    check_fitted("model", model)
    _check.callback("progress", progress)
    if keep is not None:
        reading["keep"] = [keep] if isinstance(keep, str) else keep
    found = opened(source, reading, model=model, columns=("text", "features"))
    return _reporting(_predictions(model, found, keep), found, progress)


def _predictions(
    model: Any, source: Source, keep: str | Sequence[str] | None
) -> Iterator[Prediction]:
    for judged in judged_batches([model], source):
        (own,) = judged.judgements
        yield Prediction(
            own.labels,
            of_label(model, own),
            own.sureness,
            own.probabilities,
            _kept(judged.batch, keep),
            judged.n_bytes,
            judged.batch.n_bad,
        )


def _kept(
    batch: Batch, keep: str | Sequence[str] | None
) -> NDArray[Any] | Mapping[str, NDArray[Any]] | None:
    """The kept columns: an array for a single name, a dict for a list of names."""
    if keep is None:
        return None
    return batch.kept[keep] if isinstance(keep, str) else batch.kept


class Tagged(NamedTuple):
    """The predictions for one batch of sentences.

    Attributes
    ----------
    X : list of sequences
        The sentences.
    tags : list of lists of labels
    confidence : list of lists of float or None
        Confidence of each tag, from 0.5 to 1; None without ``confidence=True``.
    text : str
        The lines of the source with tags and confidence: in the last columns of CoNLL, in the
        columns of the label and misc of CoNLL-U.
    n_bytes, n_bad : int
        Number of bytes of the source in this batch, and of sentences skipped because they could not
        be parsed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from surelearn import SureTagger
    >>> tagger = SureTagger(random_state=0).fit([["a", "dog"], ["a", "cat"]], [["D", "N"]] * 2)
    >>> with TemporaryDirectory() as folder, open(f"{folder}/a.conll", "w+") as file:
    ...     print("a\\ndog\\n", file=file, flush=True)
    ...     print(next(predict_tags(tagger, file.name)).text.split())
    ['a', 'D', 'dog', 'N']
    """

    X: list[Any]
    tags: list[list[Any]]
    confidence: list[list[float]] | None
    text: str
    n_bytes: int
    n_bad: int


def predict_tags(
    tagger: Any,
    source: Any,
    *,
    confidence: bool = False,
    progress: Callable[[StreamProgress], object] | None = None,
    **reading: Any,
) -> Iterator[Tagged]:
    """Tag every sentence of a file, batch by batch, in constant memory.

    Parameters
    ----------
    tagger : fitted tagger
    source : path, list of paths, glob, folder or `read.Source`
        As in `read.sentences`.
    confidence : bool, default False
        Whether to return the confidence of each tag; second-order rules only.
    progress : callable, optional
        Called with an `learners.StreamProgress`, which counts sentences, before each batch.
    **reading
        Further keywords of `read.sentences`. By default the columns are those of training; the
        column of tags may be missing.

    Yields
    ------
    Tagged
        One for each batch, in the order of the source.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from surelearn import SureTagger
    >>> tagger = SureTagger(random_state=0).fit([["a", "dog"], ["a", "cat"]], [["D", "N"]] * 2)
    >>> with TemporaryDirectory() as folder, open(f"{folder}/a.conll", "w+") as file:
    ...     print("a\\ndog\\n", file=file, flush=True)
    ...     print(next(predict_tags(tagger, file.name)).tags)
    [['D', 'N']]
    """
    check_fitted_tagger("tagger", tagger)
    _check.callback("progress", progress)
    if _check.flag("confidence", confidence) and not hasattr(tagger, "confidence"):
        raise ValueError(f"confidence needs a rule that keeps variances, got {tagger.rule!r}.")
    found = opened_sentences(source, reading, model=tagger, labelled=False)
    return _reporting(_tagged(tagger, found, confidence), found, progress)


def _tagged(tagger: Any, source: Source, confidence: bool) -> Iterator[Tagged]:
    label = tagger.stream_.columns.get("label") if hasattr(tagger, "stream_") else None

    def work(block: Any) -> Tagged:
        batch = block.parse()
        tags = tagger.predict(batch.X)
        sure = tagger.confidence(batch.X) if confidence else None
        said = [[list(map(str, own)) for own in tags]]
        if sure is not None:
            said.append([[f"{p:.4f}" for p in own] for own in sure])
        text = batch.tagged(*said, label=label)
        return Tagged(batch.X, tags, sure, text, block.n_bytes, batch.n_bad)

    tried = salvaging(work, source)
    yield from raising(tried(block) for block in source.some_blocks())


class Ranked(NamedTuple):
    """The predictions for one batch of groups of candidates.

    Attributes
    ----------
    groups : Groups
        The groups, with `sizes`, `bounds`, `ids` and the `names` of the candidates.
    best : ndarray of shape (n_groups,)
        Position of the best candidate of each group, from 0.
    probability : ndarray of shape (n_groups,) or None
        Probability that this candidate is the best. None for a first-order rule; NaN in a group of
        more than 1,000 candidates, whose draws would take long. `SureRanker.predict_proba` has no
        such limit.
    scores : ndarray of shape (n_candidates,)
        Mean score of each candidate; larger is better.
    probabilities : ndarray of shape (n_candidates,) or None
        Probability of each candidate to be the best of its group; None and NaN likewise.
    n_bytes, n_bad : int
        Number of bytes of the source in this batch, and of groups skipped because they could not be
        parsed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from surelearn import SureRanker
    >>> ranker = SureRanker(random_state=0).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1], group=[2])
    >>> with TemporaryDirectory() as folder, open(f"{folder}/a.svm", "w+") as file:
    ...     print("0 qid:1 2:1\\n0 qid:1 1:3", file=file, flush=True)
    ...     print(next(predict_groups(ranker, file.name)).order)
    [array([1, 0])]
    """

    groups: Groups
    best: NDArray[np.int64]
    probability: NDArray[np.float64] | None
    scores: NDArray[np.float64]
    probabilities: NDArray[np.float64] | None
    n_bytes: int
    n_bad: int

    @property
    def order(self) -> list[NDArray[np.int64]]:
        """The positions of the candidates of each group, best first; ties keep their order."""
        bounds = pairwise(self.groups.bounds)
        return [np.argsort(-self.scores[a:b], kind="stable") for a, b in bounds]


def predict_groups(
    ranker: Any,
    source: Any,
    *,
    progress: Callable[[StreamProgress], object] | None = None,
    **reading: Any,
) -> Iterator[Ranked]:
    """Rank the candidates of every group of a file, batch by batch, in constant memory.

    Parameters
    ----------
    ranker : fitted SureRanker
    source : path, list of paths, glob, folder or `read.Source`
        As in `read.groups`; relevances and costs are not read.
    progress : callable, optional
        Called with an `learners.StreamProgress`, which counts groups, before each batch.
    **reading
        Further keywords of `read.groups`. By default files are read as those of training.

    Yields
    ------
    Ranked
        One for each batch, in the order of the source.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from surelearn import SureRanker
    >>> ranker = SureRanker(random_state=0).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1], group=[2])
    >>> with TemporaryDirectory() as folder, open(f"{folder}/a.svm", "w+") as file:
    ...     print("0 qid:1 2:1\\n0 qid:1 1:3", file=file, flush=True)
    ...     print(next(predict_groups(ranker, file.name)).best)
    [1]
    """
    check_fitted_ranker("ranker", ranker)
    _check.callback("progress", progress)
    found = opened_groups(source, reading, model=ranker, labelled=False)
    return _reporting(_ranked(ranker, found), found, progress)


def _ranked(ranker: Any, source: Source) -> Iterator[Ranked]:
    def work(block: Any) -> Ranked:
        groups = block.parse()
        if not len(groups):
            return Ranked(groups, _NONE, None, np.zeros(0), None, block.n_bytes, groups.n_bad)
        scores = ranker.decision_function(groups.X)
        of = np.repeat(np.arange(len(groups)), groups.sizes)
        first = np.lexsort((-scores, of))[groups.bounds[:-1]]
        p = _probabilities(ranker, groups) if hasattr(ranker, "predict_proba") else None
        of_best = None if p is None else p[first]
        best = first - groups.bounds[:-1]
        return Ranked(groups, best, of_best, scores, p, block.n_bytes, groups.n_bad)

    yield from _ahead(ranker, work, source)


def _probabilities(ranker: Any, groups: Groups) -> NDArray[np.float64]:
    """Probability of each candidate to be the best of its group; NaN in the largest groups."""
    small = groups.sizes <= LARGEST
    p = np.full(groups.bounds[-1], np.nan)
    if small.any():
        some = groups if small.all() else groups[small]
        p[np.repeat(small, groups.sizes)] = ranker.predict_proba(some.X, group=some.sizes)
    return p


#: The best candidates of no groups.
_NONE = np.zeros(0, np.int64)

T = TypeVar("T", Prediction, Tagged, Ranked)


def _reporting(
    batches: Iterator[T], source: Source, progress: Callable[[StreamProgress], object] | None
) -> Iterator[T]:
    """The same batches, with a progress report before each."""
    rows = n_bytes = n_bad = 0
    for batch in batches:
        rows += _size(batch)
        n_bytes += batch.n_bytes
        n_bad += batch.n_bad
        if progress is not None:
            progress(StreamProgress(1, 1, rows, 0, n_bytes, source.n_bytes, n_bad))
        yield batch


def _size(batch: Prediction | Tagged | Ranked) -> int:
    """The number of records of a batch."""
    match batch:
        case Prediction():
            return len(batch.label)
        case Tagged():
            return len(batch.tags)
        case Ranked():
            return len(batch.best)


def of_label(model: Any, judged: Judgement) -> NDArray[np.float64] | None:
    """The probability of each predicted label; None if rows have many labels."""
    p = judged.probabilities
    if p is None or judged.has is not None:
        return None
    places = np.searchsorted(model.classes_, judged.labels)
    of_own: NDArray[np.float64] = p[np.arange(len(p)), places]
    return of_own


class Judged(NamedTuple):
    """A batch with the predictions of each model."""

    batch: Batch
    n_bytes: int
    judgements: list[Judgement]


def judged_batches(models: Sequence[Any], source: Source) -> Iterator[Judged]:
    """The batches of a source with the predictions of the models.

    As many threads as `n_jobs` of the first model read and predict ahead.
    """

    def work(block: Any) -> Judged:
        batch = block.parse()
        for model in models:
            _check_kind(model, batch.X)
        say = judge if len(batch) else _nothing
        return Judged(batch, block.n_bytes, [say(model, batch.X) for model in models])

    models = [
        _nameless(model) if hasattr(model, "feature_names_in_") else model for model in models
    ]
    yield from _ahead(models[0], work, source)


W = TypeVar("W")


def _ahead(model: Any, work: Callable[[Any], W], source: Source) -> Iterator[W]:
    """What `work` makes of the blocks of a source, in order, ahead in `n_jobs` threads."""
    threads = _check.threads("n_jobs", getattr(model, "n_jobs", None))
    tried = salvaging(work, source)
    yield from raising(prefetch(source.some_blocks(), tried, threads, source.cancel))


def _nothing(model: Any, X: Any) -> Judgement:
    """The predictions for a batch without rows."""
    if many_labels(model):
        return Judgement([], None, None, np.zeros((0, len(model.classes_)), bool))
    return Judgement(model.classes_[:0], None, None)


def _nameless(model: Any) -> Any:
    """A copy that does not warn about missing feature names: the source reads columns by name."""
    twin = copy.copy(model)
    vars(twin).pop("feature_names_in_", None)
    return twin


def _check_kind(model: Any, X: Any) -> None:
    numbers = sparse.issparse(X) or isinstance(X, np.ndarray)
    texts, name = isinstance(model, SureTextClassifier), type(model).__name__
    if texts and numbers:
        raise ValueError("source must hold texts for a SureTextClassifier, got rows of numbers.")
    if isinstance(model, Linear) and not texts and not numbers:
        raise ValueError(f"source must hold rows of numbers for a {name}, got texts.")
