"""Files of sentences: guesses the format from the name and cuts into blocks of whole sentences."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Literal

from surelearn import _check
from surelearn._check import BadInput
from surelearn.read import _options
from surelearn.read._batch import Batch, Sentences, Source
from surelearn.read._conll import FORMATS, NOT_READ, Conll, ConllU, Reader
from surelearn.read._files import File, Stream, files_of, is_visible, one_format
from surelearn.read._lines import LineSource, last_blank_line, whole_records
from surelearn.read._source import FORMATS as ROW_FORMATS
from surelearn.read._source import GROUP_FORMATS, format_of

#: Extensions of files of rows, without tsv: a tsv file may hold tokens and their tags.
_ROWS = {ending for kind in ROW_FORMATS if kind != "tsv" for ending in ROW_FORMATS[kind]}

#: Extensions of the files that are read from a folder.
ENDINGS = {
    "conll": (".conll", ".txt", ".tsv", ".tab", ".iob", ".iob2", ".bio"),
    "conllu": (".conllu",),
}


def sentences(
    source: Any,
    *,
    columns: Sequence[str] | None = None,
    label: str | Literal[False] | None = None,
    format: str | None = None,
    encoding: str | None = None,
    skip_bad: bool = False,
    filesystem: Any = None,
) -> Source:
    r"""Read tagged sentences in batches, from files with one token a line.

    In CoNLL format, blanks or tabs separate the columns of a line: the word, its part of speech,
    its tag and so on. A blank line ends a sentence, and so does a line that begins with
    ``-DOCSTART-``. All lines have the same number of columns.

    CoNLL-U has ten columns separated by tabs: id, w (or form), lemma, upos, xpos, feats, head,
    deprel, deps and misc. Comments, multiword tokens (``1-2``) and empty nodes (``1.1``) are
    skipped.

    Parameters
    ----------
    source : str, path, list of them or Source
        As in `batches`: files, globs, folders and URLs, compressed or not; ``"-"`` is standard
        input. A `Source` is returned unchanged.
    columns : list of str, optional
        CoNLL: names of the first columns, ``"_"`` to skip a column; the default is w, pos, c2, c3
        and so on, for all columns. CoNLL-U: the columns to read; the default is w.
    label : str, optional
        The column of tags; the default is the last column, or upos in CoNLL-U. With False, tags
        are not read.
    format : {"conll", "conllu"}, optional
        The default is ``"conllu"`` for names that end in ``.conllu`` (before ``.gz`` and the like),
        else ``"conll"``. Names with an extension of row formats, such as ``.jsonl``, are refused.
    encoding : str, optional
        Encoding of the files, as in `batches`. The default is UTF-8.
    skip_bad : bool, default False
        Whether to skip and count sentences with a line that cannot be parsed.
    filesystem : as in `batches`

    Returns
    -------
    Source
        Iterating over it gives batches of type `Sentences`, with `X` and `y` as a tagger takes
        them: a token is a str if one column is read besides the tags, else a tuple.

    Raises
    ------
    BadInput
        If a line cannot be parsed, as in `batches`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "said.txt"
    ...     _ = path.write_text("We PRP B-NP\nagree VBP B-VP\n\nNo UH O\n")
    ...     for batch in sentences(path):
    ...         print(batch.X, batch.y)
    [[('We', 'PRP'), ('agree', 'VBP')], [('No', 'UH')]] [['B-NP', 'B-VP'], ['O']]
    """
    if isinstance(source, Source):
        return source
    skip_bad = _check.flag("skip_bad", skip_bad)
    encoding = _options.encoding(encoding)
    files = files_of(source, filesystem, ENDINGS, format, encoding=encoding)
    names = None if columns is None else _names(columns)
    read = FORMATS[one_format(files, FORMATS, format, _guess)](names, label)
    make = partial(Reader, read, encoding=encoding, skip_bad=skip_bad)
    made = SentenceSource(files, make, partial(_whole_sentences, read))
    made.settings = {} if encoding is None else {"encoding": encoding}
    return made


def is_known(path: str | os.PathLike[str]) -> bool:
    """Whether a reader would read this file if its folder were the source.

    Examples
    --------
    >>> is_known("data/part-1.csv.gz"), is_known("data/model.sure"), is_known("data/.part.csv")
    (True, False, False)
    """
    file = File(os.fspath(path))
    known = [format_of(file, formats) for formats in (ROW_FORMATS, ENDINGS, GROUP_FORMATS)]
    return is_visible(os.path.basename(file.path)) and any(known)


class SentenceSource(LineSource):
    """Files of sentences."""

    made_by = "sentences"

    def first(self, n: int) -> Sentences:
        """The first n sentences as one batch, or all if there are fewer; `written` is None."""
        X: list[Any] = []
        tags: list[list[str]] = []
        n_bad, labelled = 0, False
        for batch in self:
            X += batch.X
            labelled = batch.y is not None
            tags += batch.y if batch.y is not None else []
            n_bad += batch.n_bad
            if len(X) >= n:
                break
        return Sentences(X[:n], n_bad=n_bad, tags=tags[:n] if labelled else None)

    def joined(self, parts: Sequence[Batch]) -> Sentences:
        tags = [batch.y for batch in parts if batch.y is not None]
        X = [sentence for batch in parts for sentence in batch.X]
        n_bad = sum(batch.n_bad for batch in parts)
        return Sentences(X, n_bad=n_bad, tags=[own for some in tags for own in some] or None)


def _whole_sentences(format: Conll | ConllU, stream: Stream) -> Iterator[bytes]:
    """Blocks of whole sentences of a stream; every block but the last has a token."""

    def last_end(data: bytes, seen: int) -> int:
        cut = last_blank_line(data)
        return cut if format.has_word.search(data, 0, cut) else 0

    return whole_records(stream, last_end, made_of="sentences with a blank line after each")


def _names(columns: Any) -> tuple[str, ...]:
    names = _options.distinct("columns", columns, but=NOT_READ)
    if set(names) <= {NOT_READ}:
        raise ValueError(f"columns must have a name besides {NOT_READ!r}, got {list(names)!r}.")
    return names


def _guess(file: File) -> str:
    if file.ending in _ROWS:
        raise BadInput(
            f"{file.name} must have one token a line, got a name that ends in {file.ending}. If it "
            "does, name its format: conll or conllu."
        )
    return "conllu" if file.ending == ".conllu" else "conll"
