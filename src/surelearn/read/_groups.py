"""Files of groups of candidates, to learn a ranking; guesses the format from the file name."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, cast

from surelearn import _check
from surelearn.read import _options, _svmlight
from surelearn.read._batch import Batch, Groups, Source, joined_groups
from surelearn.read._files import File, files_of, one_format
from surelearn.read._group_readers import CandidateReader, GroupReader, QueryReader
from surelearn.read._lines import Lines, LineSource, whole_records
from surelearn.read._source import GROUP_FORMATS, checked_width, format_of, settings_of
from surelearn.read._sparse import HASHED, widest


def groups(
    source: Any,
    *,
    label: Literal[False] | None = None,
    format: str | None = None,
    encoding: str | None = None,
    n_features: int | None = None,
    zero_based: bool = False,
    cross: bool = False,
    skip_bad: bool = False,
    filesystem: Any = None,
) -> Source:
    r"""Read groups of candidates in batches, from files with one candidate a line.

    In svmlight format a line is ``relevance qid:n index:value ...``. Adjacent lines with the same
    ``qid`` are a group; a relevance is at least 0, and larger is better. All lines of a query must
    be adjacent: a query that comes again in the same block of 2 MiB is an error. A group ends with
    its file.

    In Vowpal Wabbit's label-dependent format a line is ``label:cost |namespace feature ...``, with
    a whole number as label, and a blank line ends a group. Smaller costs are better. The first line
    of a group may be ``shared |namespace feature ...``: its features are added to those of every
    candidate. They change no ranking unless they are crossed with the features of the candidates.

    Parameters
    ----------
    source : str, path, list of them or Source
        As in `batches`: files, globs, folders and URLs, compressed or not; ``"-"`` is standard
        input. A `Source` is returned unchanged.
    label : False, optional
        With False, relevances and costs are not read.
    format : {"svmlight", "vw"}, optional
        The default is ``"vw"`` for names that end in ``.vw`` or ``.ldf`` (before ``.gz`` and the
        like), and ``"svmlight"`` for ``.svm``, ``.svmlight``, ``.libsvm``, ``.txt``, ``.dat`` and
        standard input.
    encoding : str, optional
        Encoding of the files, as in `batches`. The default is UTF-8.
    n_features : int, optional
        Number of columns, as in `batches`.
    zero_based : bool, default False
        Whether feature indices of svmlight start at 0 instead of 1.
    cross : bool, default False
        Label-dependent format: whether to add, for each candidate, the products of all shared
        features and all features of the candidate, hashed into the same columns.
    skip_bad : bool, default False
        Whether to skip and count groups with a line that cannot be parsed.
    filesystem : as in `batches`

    Returns
    -------
    Source
        Iterating over it gives batches of type `Groups`.

    Raises
    ------
    BadInput
        If a line cannot be parsed, as in `batches`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "clicks.svm"
    ...     _ = path.write_text("2 qid:7 1:0.5 3:1\n0 qid:7 2:1\n1 qid:9 1:2\n")
    ...     for batch in groups(path):
    ...         print(batch.X.shape, batch.sizes, batch.relevance, batch.ids)
    (3, 3) [2 1] [2. 0. 1.] [7 9]
    """
    if isinstance(source, Source):
        return source
    n_features = checked_width(n_features)
    flags = {
        "zero_based": _check.flag("zero_based", zero_based) or None,
        "cross": _check.flag("cross", cross) or None,
    }
    encoding = _options.encoding(encoding)
    files = files_of(source, filesystem, GROUP_FORMATS, format, encoding=encoding)
    kind = one_format(files, GROUP_FORMATS, format, _guess)
    _options.only_for(kind, **flags)
    if label is not None and label is not False:
        raise TypeError(f"label must be None or False, got {label!r}.")
    settings = {
        "labelled": label is None,
        "skip_bad": _check.flag("skip_bad", skip_bad),
    }
    if kind == "svmlight":
        found = _queries(files, n_features, zero_based=zero_based, **settings)
    else:
        found = _candidates(files, n_features, cross=cross, **settings)
    found.settings = settings_of(kind, format, encoding=encoding, **flags)
    return found


class GroupSource(LineSource):
    """Files of groups."""

    made_by = "groups"

    def _joined(self, parts: Sequence[Batch]) -> Groups:
        return joined_groups(cast("Sequence[Groups]", parts))


def _queries(
    files: Sequence[File], n_features: int | None, *, zero_based: bool, **settings: bool
) -> GroupSource:
    def make_reader(head: Lines) -> QueryReader:
        parse = partial(_svmlight.parse, zero_based=zero_based)
        known = widest(files, parse) if n_features is None else n_features
        return QueryReader(known, zero_based=zero_based, **settings)

    split = partial(whole_records, last_end=QueryReader.last_end, made_of="groups of one qid each")
    return GroupSource(files, make_reader, split)


def _candidates(
    files: Sequence[File], n_features: int | None, *, cross: bool, **settings: bool
) -> GroupSource:
    places = HASHED if n_features is None else n_features

    def make_reader(head: Lines) -> GroupReader:
        return CandidateReader(places, cross=cross, **settings)

    # Shared features are repeated for each candidate, so that a block takes many times its bytes;
    # smaller blocks than these cost later passes more than their learning.
    split = partial(
        whole_records,
        last_end=CandidateReader.last_end,
        made_of="groups with a blank line after each",
        parts=2,
    )
    return GroupSource(files, make_reader, split)


def _guess(file: File) -> str:
    if file.is_stdin:
        return "svmlight"
    kind = format_of(file, GROUP_FORMATS)
    if kind is not None:
        return kind
    raise _options.format_unknown(file.name, file.ending, list(GROUP_FORMATS), ".svm")
