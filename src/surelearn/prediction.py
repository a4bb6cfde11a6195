"""Predictions for files of any size: batches in, predictions out; must not know file formats."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from surelearn import _check
from surelearn.learners.answers.lines import Prediction
from surelearn.learners.deciding import DecisionOptions
from surelearn.learners.task import Answers, task_of
from surelearn.learners.tasks.rank_task import GROUPS, Ranked
from surelearn.learners.tasks.sequence_task import SEQUENCES, Tagged
from surelearn.training.stream import StreamProgress

if TYPE_CHECKING:
    from surelearn.read import Source

__all__ = ["Prediction", "Ranked", "Tagged", "predict", "predict_groups", "predict_tags"]


def predict(
    model: Any,
    source: Any,
    *,
    keep: str | Sequence[str] | None = None,
    abstain: bool = False,
    coverage: float | None = None,
    cost: Any = None,
    novel: float | None = None,
    progress: Callable[[StreamProgress], object] | None = None,
    **reading: Any,
) -> Iterator[Prediction]:
    """Predict the label or labels of every row of a file, batch by batch, in constant memory.

    Parameters
    ----------
    model : fitted classifier, tagger or ranker
        For a tagger see `predict_tags`, for a ranker `predict_groups`: `reading` and what is
        yielded are as there, and `keep` must be None.
    source : path, list of paths, glob, folder, frame, table or `read.Source`
        As in `read.batches`.
    keep : str or list of str, optional
        One or more columns to return unchanged, such as ids of the rows. Columns that are read,
        such as the text, may be named as well.
    abstain, cost, novel : optional
        As in `predict` of the estimator: answer only what `choose_abstention`, or training with a
        `risk`, has certified; give the answers of the least expected cost; give no answer to
        records that are newer than all but this share of known ones. What is not answered is None.
    coverage : float, optional
        Also give sets of labels with this coverage, as `predict_set` does.
    progress : callable, optional
        Called with a `learners.StreamProgress` before each batch.
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
    how: dict[str, Any] = {} if keep is None else {"keep": keep}
    if keep is not None:
        reading["keep"] = [keep] if isinstance(keep, str) else keep
    options = DecisionOptions(abstain, coverage, cost, novel)
    return _predicted(model, source, reading, progress, options=options, **how)


def predict_tags(
    tagger: Any,
    source: Any,
    *,
    confidence: bool = False,
    abstain: bool = False,
    coverage: float | None = None,
    cost: Any = None,
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
    abstain, coverage, cost : optional
        As in `predict`. The tags of a sentence that is not answered are None.
    progress : callable, optional
        Called with a `learners.StreamProgress`, which counts sentences, before each batch.
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
    SEQUENCES.check_fitted("tagger", tagger)
    options = DecisionOptions(abstain, coverage, cost)
    how: dict[str, Any] = {"confidence": confidence, "options": options}
    return _predicted(tagger, source, reading, progress, **how)


def predict_groups(
    ranker: Any,
    source: Any,
    *,
    abstain: bool = False,
    coverage: float | None = None,
    progress: Callable[[StreamProgress], object] | None = None,
    **reading: Any,
) -> Iterator[Ranked]:
    """Rank the candidates of every group of a file, batch by batch, in constant memory.

    Parameters
    ----------
    ranker : fitted SureRanker
    source : path, list of paths, glob, folder or `read.Source`
        As in `read.groups`; relevances and costs are not read.
    abstain, coverage : optional
        As in `predict`. The best candidate of a group that is not answered is None.
    progress : callable, optional
        Called with a `learners.StreamProgress`, which counts groups, before each batch.
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
    GROUPS.check_fitted("ranker", ranker)
    return _predicted(ranker, source, reading, progress, options=DecisionOptions(abstain, coverage))


def _predicted(
    model: Any,
    source: Any,
    reading: Mapping[str, Any],
    progress: Callable[[StreamProgress], object] | None,
    *,
    options: DecisionOptions,
    **how: Any,
) -> Iterator[Any]:
    """The answers of a model to each batch of a source."""
    task = task_of(model)
    task.check_fitted("model", model)
    options.check(model)
    if options.is_any:
        how["options"] = options
    _check.callback("progress", progress)
    found = task.opened(source, reading, model=model, labelled=False)
    return _reporting(task.predictions(model, found, **how), found, progress)


def _reporting(
    batches: Iterator[Answers],
    source: Source,
    progress: Callable[[StreamProgress], object] | None,
) -> Iterator[Answers]:
    """The same batches, with a progress report before each."""
    n = n_bytes = n_bad = 0
    for batch in batches:
        n += batch.n
        n_bytes += batch.n_bytes
        n_bad += batch.n_bad
        if progress is not None:
            progress(StreamProgress(1, 1, n, 0, n_bytes, source.n_bytes, n_bad))
        yield batch
