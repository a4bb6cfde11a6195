"""Hashed n-grams made by the core; asks scikit-learn only for what the core cannot do."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surelearn import _check, _core
from surelearn.merging import Words
from surelearn.parameters import Parametrized
from surelearn.text._rarity import DocumentCounter, SparseRow
from surelearn.text._sources import ArrowTexts, all_str, missing_text, narrow, sources_of

#: Held while a vectorizer creates its native hasher: threads may share one from the first text on.
_MAKING = RLock()


def _renew_lock() -> None:
    """In the child of a fork, the thread that may hold the lock does not exist."""
    global _MAKING
    _MAKING = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)

_UNITS = {"word": 0, "char": 1, "char_wb": 2}
#: The only native pattern: runs of two or more word characters.
_PATTERN = r"(?u)\b\w\w+\b"
#: Longer texts go to scikit-learn: offsets have 32 bits, and a character takes up to six bytes.
_LONGEST = 2**28


class NativeVectorizer(DocumentCounter, Parametrized):
    """Hashed n-grams of texts; see `surelearn.text.HashingVectorizer`, the same with scikit-learn's
    methods.

    The command uses it, since importing scikit-learn takes a second.

    >>> NativeVectorizer(n_features=16, norm=None).transform(["to be or not to be"]).indices
    array([ 4,  7, 11, 14], dtype=int32)
    """

    def __init__(
        self,
        *,
        input: str = "content",
        encoding: str = "utf-8",
        decode_error: str = "strict",
        strip_accents: Any = None,
        lowercase: bool = True,
        preprocessor: Any = None,
        tokenizer: Any = None,
        stop_words: Any = None,
        token_pattern: str | None = _PATTERN,
        ngram_range: tuple[int, int] = (1, 1),
        analyzer: Any = "word",
        n_features: int = 2**20,
        binary: bool = False,
        norm: str | None = "l2",
        alternate_sign: bool = True,
        dtype: Any = np.float64,
        log_counts: bool = False,
        idf: bool = False,
        keep_names: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.input = input
        self.encoding = encoding
        self.decode_error = decode_error
        self.strip_accents = strip_accents
        self.lowercase = lowercase
        self.preprocessor = preprocessor
        self.tokenizer = tokenizer
        self.stop_words = stop_words
        self.token_pattern = token_pattern
        self.ngram_range = ngram_range
        self.analyzer = analyzer
        self.n_features = n_features
        self.binary = binary
        self.norm = norm
        self.alternate_sign = alternate_sign
        self.dtype = dtype
        self.log_counts = log_counts
        self.idf = idf
        self.keep_names = keep_names
        self.n_jobs = n_jobs

    def transform(self, X: Any) -> Any:
        """The rows of texts; see `HashingVectorizer.transform`."""
        if not self.idf:
            return self.unweighed(X)
        self.check_counted()
        return self.weigh_in_place(self.unweighed(X))

    def unweighed(self, X: Any) -> Any:
        """The rows of texts before they are weighed by `idf`, if they are."""
        self.check_settings(X)
        texts = sources_of(X) if self.input == "content" else list(X)
        if len(texts) == 0:
            return sparse.csr_matrix((0, self.n_features), dtype=self.dtype)
        hasher = self._hasher()
        made = None if hasher is None else self._texts(texts)
        if hasher is None or made is None:
            return self._by_scikit_learn(texts)
        starts, features, values = self._hash(hasher, made, texts, threads=self._threads())
        shape = (len(texts), self.n_features)
        return sparse.csr_matrix((values, features, starts), shape=shape)

    def unweighed_apart(self, X: Any) -> tuple[Any, list[_core.Names]]:
        """The rows of `unweighed`, and the names in them, each part of which is for `meet_names`.

        The rows are in float32.
        """
        self.check_settings(X)
        if not self.keep_names:
            return self.unweighed(X), []
        texts = sources_of(X)
        parts = self._apart(texts, min(self._threads(), len(texts)))
        tables = [
            sparse.csr_matrix((values, features, starts), (len(starts) - 1, self.n_features))
            for (starts, features, values), _ in parts
        ]
        rows = tables[0] if len(tables) == 1 else sparse.vstack(tables, format="csr")
        return rows, [names for _, names in parts if names is not None]

    def _apart(self, texts: Any, threads: int) -> list[Any]:
        """The results of `transform_apart` for stretches of texts, one in each thread."""
        if threads > 1:
            from surelearn._workers import Workers  # slow to import

            size = -(-len(texts) // threads)
            stretches = [texts[begin : begin + size] for begin in range(0, len(texts), size)]
            with Workers(threads) as pool, suppress(TypeError, ValueError):
                return list(pool.map(self._hash_apart, stretches))
        return [self._hash_apart(texts)]  # an error has the number of the text among all

    def transform_apart(self, X: Any) -> tuple[tuple[NDArray[Any], ...], _core.Names | None]:
        """Rows in float32 as (starts, features, values), and the names in them; not weighed.

        Pass the names to `meet_names` in the order of the texts: threads may run ahead in any
        order. The settings must have been checked.
        """
        return self._hash_apart(sources_of(X))

    def _hash_apart(self, texts: Any) -> tuple[tuple[NDArray[Any], ...], _core.Names | None]:
        hasher = self._hasher()
        made = None if hasher is None or len(texts) == 0 else self._texts(texts)
        if hasher is None or made is None:
            rows = self._by_scikit_learn(texts) if len(texts) else self.unweighed(texts)
            return (rows.indptr, rows.indices, rows.data.astype(np.float32)), None
        starts, features, values, failed, names = hasher.transform_apart(made)
        self._refuse_surrogates(failed)
        return (narrow(starts), features, values), names

    def _threads(self) -> int:
        return _check.threads("n_jobs", self.n_jobs)

    def forget_names(self) -> None:
        """Drop all names."""
        none = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint8)
        self.restore_names(*none, np.zeros(0, np.uint8))

    def meet_names(self, names: _core.Names) -> None:
        """Store names of `transform_apart`, for features that have none yet."""
        self._naming().register(names)

    def transform_one(self, text: str) -> SparseRow:
        """The row of one text, quickly, as (start and end, features, values).

        The settings must have been used before, and must not change any more.
        """
        row = self.unweighed_one(text)
        return self.weighed_one(row) if self.idf else row

    def unweighed_one(self, text: str) -> SparseRow:
        """The same before it is weighed by `idf`, if it is."""
        hasher, made = self._made_of(text)
        if hasher is None or made is None:
            X = self._by_scikit_learn([text])
            return X.indptr, X.indices, X.data
        return self._hash(hasher, made, [text])

    def unweighed_one_apart(self, text: str) -> tuple[SparseRow, _core.Names | None]:
        """The same in float32, and the names in the text, if they are kept, for `meet_names`."""
        hasher, made = self._made_of(text)
        if hasher is None or made is None or not self.keep_names:
            return self.unweighed_one(text), None
        starts, features, values, failed, names = hasher.transform_apart(made)
        self._refuse_surrogates(failed)
        return (narrow(starts), features, values), names

    def _made_of(self, text: str) -> tuple[_core.Hasher | None, _core.Texts | None]:
        """The hasher and the text for it, where the core hashes it."""
        hasher = self._kept[1] if "_kept" in self.__dict__ else self._hasher()
        plain = text.isascii() and len(text) <= _LONGEST and not callable(self.strip_accents)
        made = _core.texts_of([text], bool(self.lowercase)) if plain else self._texts([text])
        return hasher, made

    def _hash(
        self, hasher: _core.Hasher, made: _core.Texts, sources: Any, *, threads: int = 1
    ) -> SparseRow:
        run = hasher.transform32 if np.dtype(self.dtype) == np.float32 else hasher.transform64
        starts, features, values, failed = run(made, threads)
        self._refuse_surrogates(failed)
        return narrow(starts), features, values

    def _refuse_surrogates(self, failed: int) -> None:
        """Refuse an Arrow text with one, which no list of texts that got here has."""
        if failed >= 0:
            raise ValueError(f"text {failed} must have no lone surrogate, got one.")

    def features_of(self, ngrams: Sequence[str]) -> list[int]:
        """The features that these n-grams are hashed to."""
        return [_core.feature_of(ngram.encode(), int(self.n_features)) for ngram in ngrams]

    def names(self, features: Iterable[int]) -> list[str | None]:
        """The first n-gram of each of these features; None if there was none.

        Needs ``keep_names=True``.
        """
        hasher = self._naming()
        found: list[Any] = hasher.find_names([int(feature) for feature in features])
        return found

    def names_met(self) -> tuple[NDArray[np.int64], NDArray[np.int64], bytes, NDArray[np.uint8]]:
        """All names: features in order of appearance, the ends of their n-grams, the n-grams in
        UTF-8, and which features another n-gram shares."""
        features, ends, words, shared = self._naming().names()
        return features, ends, words, shared

    def restore_names(
        self,
        features: NDArray[np.int64],
        ends: NDArray[np.int64],
        words: NDArray[np.uint8],
        shared: NDArray[np.uint8],
    ) -> None:
        """Restore what `names_met` returned for another object with the same settings."""
        self._naming().restore_names(*Words.of(features, ends, words, shared))

    @property
    def n_names_(self) -> int:
        """The number of features that have a name."""
        return self._counted().n_names

    @property
    def n_clashes_(self) -> int:
        """The number of features that two or more n-grams share."""
        return self._counted().clashes

    def _counted(self) -> _core.Hasher:
        if not self.keep_names:  # so that hasattr is False
            raise AttributeError(f"keep_names must be True for this, got {self.keep_names!r}.")
        return self._naming()

    # ---------------------------------------------------------------- internals

    def check_uncounted(self, X: Any) -> None:
        """The checks of `fit` without `idf`."""
        self.check_settings(X)

    def check_settings(self, X: Any) -> None:
        """Refuse parameters that do not fit together, and anything but an iterable of texts."""
        _check.texts(X)
        if not self._is_plain():
            self._scikit_learns().validate()
        self.check_weighable()
        if self.keep_names and not self._is_native():
            raise ValueError(
                "keep_names must be False if Python makes the n-grams, got True with a callable, a "
                "token_pattern or a dtype that is not native."
            )

    def _is_plain(self) -> bool:
        """Whether the parameters are plainly sound, so that scikit-learn need not check them."""
        flags = (self.lowercase, self.binary, self.alternate_sign, self.log_counts, self.idf)
        span = self.ngram_range
        return (
            all(isinstance(flag, bool) for flag in (*flags, self.keep_names))
            and isinstance(self.analyzer, str)
            and self.analyzer in _UNITS
            and type(span) is tuple
            and list(map(type, span)) == [int, int]
            and 1 <= span[0] <= span[1] < 2**31
            and type(self.n_features) is int
            and 1 <= self.n_features < 2**31
            and (self.norm is None or self.norm in ("l1", "l2"))
            and (self.n_jobs is None or type(self.n_jobs) is int)
            and (self.input, self.encoding, self.decode_error) == ("content", "utf-8", "strict")
            and self.strip_accents is None
            and self.stop_words is None
            and self._is_native()
        )

    def _scikit_learns(self) -> Any:
        """A vectorizer with these parameters that has scikit-learn's methods."""
        from surelearn.text._vectorizer import HashingVectorizer

        return HashingVectorizer(**self.get_params())

    def cleaner(self) -> Callable[[str], str]:
        """What is done to a text before it is cut: lower-casing, and stripping accents."""
        if self.preprocessor is None and not self.strip_accents:
            return str.lower if self.lowercase else str
        clean: Callable[[str], str] = self._scikit_learns().build_preprocessor()
        return clean

    def stop_list(self) -> frozenset[Any] | None:
        """The words to leave out, if any."""
        stop: frozenset[Any] | None = None
        if self.stop_words is not None:
            stop = self._scikit_learns().get_stop_words()
        return stop

    def _is_native(self) -> bool:
        """Whether the core makes the n-grams."""
        functions = (self.preprocessor, self.tokenizer)
        by_hand = callable(self.analyzer) or any(function is not None for function in functions)
        word = self.analyzer == "word"
        return (
            not by_hand
            and (not word or self.token_pattern == _PATTERN)
            and np.dtype(self.dtype) in (np.float32, np.float64)
            and self.ngram_range[0] >= 1
        )

    def _hasher(self) -> _core.Hasher | None:
        """The native hasher for these settings, created again when they change."""
        if not self._is_native():
            return None
        stop = self.stop_list() if self.analyzer == "word" else None
        # No text has a stop word with a lone surrogate: such texts are refused.
        met = (word for word in stop or () if isinstance(word, str) and _check.is_utf8(word))
        settings = (
            _UNITS[self.analyzer],
            *map(int, self.ngram_range),
            frozenset(met),
            int(self.n_features),
            bool(self.alternate_sign),
            bool(self.binary),
            bool(self.log_counts),
            self.norm_of_counts(),
            bool(self.keep_names),
        )
        with _MAKING:
            kept = self.__dict__.get("_kept")
            if kept is None or kept[0] != settings:
                kept = settings, self._new_hasher(settings, stop)
                self._kept = kept
        return kept[1]

    def _new_hasher(self, settings: tuple[Any, ...], stop: Iterable[str] | None) -> _core.Hasher:
        if stop is not None:  # scikit-learn warns about stop words that the tokenizer changes
            self._scikit_learns().build_analyzer()
        unit, least, most, words, *rest, keep_names = settings
        hasher = _core.Hasher(unit, least, most, list(words), *rest)
        if keep_names:
            hasher.keep_names()
        if unit != _UNITS["word"]:
            _use_alphabets(hasher)
        return hasher

    def _naming(self) -> _core.Hasher:
        hasher = self._hasher() if self.keep_names else None
        if hasher is None:
            raise ValueError(f"keep_names must be True for this, got {self.keep_names!r}.")
        return hasher

    def _texts(self, sources: Any) -> _core.Texts | None:
        """The texts as the core reads them; None if one is too long."""
        clean, by_hand = self.cleaner(), callable(self.strip_accents)
        if isinstance(sources, ArrowTexts) and not by_hand:
            made = sources.texts(lower=bool(self.lowercase))
        else:
            if self.input != "content" or not all_str(sources):
                sources = [self._decode(i, source) for i, source in enumerate(sources)]
            sources = [clean(text) for text in sources] if by_hand else sources
            made = _core.texts_of(sources, bool(self.lowercase) and not by_hand)
        others = made.others()  # texts that are not ASCII: Python lowers and strips accents
        for i in others:
            if not isinstance(sources, ArrowTexts):
                _check.no_surrogates(f"text {i}", sources[i])
            if not by_hand:
                made.replace(i, clean(sources[i]))
        if others:
            _use_alphabets(self._hasher())
        return made if made.longest <= _LONGEST else None

    def _decode(self, i: int, source: Any) -> str:
        """The text of a str, bytes, an open file or a path, as `input` says."""
        if self.input == "content" and not isinstance(source, bytes):
            return _text(source, i)
        try:
            text = self._scikit_learns().decode(source)
        except UnicodeDecodeError as error:
            error.add_note(f"This is text {i}. Pass another encoding, or decode_error='replace'.")
            raise
        return _text(text, i)

    def _by_scikit_learn(self, sources: Any) -> Any:
        """Use scikit-learn's code, for settings that are not native."""
        if not callable(self.analyzer) and not isinstance(sources, ArrowTexts):
            for i, source in enumerate(sources):
                if _check.is_missing(source):
                    raise missing_text(i, repr(source))
        if self.input == "content":
            for i, source in enumerate(sources):
                if isinstance(source, str) and not source.isascii():
                    _check.no_surrogates(f"text {i}", source)
        vectorizer = self._scikit_learns()
        try:
            return vectorizer.hashed_by_scikit_learn(sources)
        except UnicodeEncodeError:  # of what an analyzer made of a text
            raise _surrogate_in(vectorizer, sources) from None

    def __getstate__(self) -> dict[str, Any]:
        """The state without native objects, but with the names and counts in them."""
        state: dict[str, Any] = dict(super().__getstate__())
        kept = state.pop("_kept", None)
        if kept is not None and self.keep_names:
            state["_names"] = kept[0], kept[1].names()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        names = state.pop("_names", None)
        super().__setstate__(state)
        if names is not None:
            hasher = self._hasher()
            if hasher is not None and self._kept[0] == names[0]:
                hasher.restore_names(*names[1])


def _surrogate_in(vectorizer: Any, sources: Any) -> ValueError:
    """The error that names the text of whose n-grams one has a lone surrogate."""
    for i, source in enumerate(sources):
        try:
            vectorizer.hashed_by_scikit_learn([source])
        except UnicodeEncodeError as error:
            found = error.object
            return ValueError(f"text {i} must have no lone surrogate, got one in {found!r}.")
    return ValueError("texts must have no lone surrogate, got one.")


def _use_alphabets(hasher: _core.Hasher | None) -> None:
    if hasher is not None and not hasher.has_alphabets:
        with _MAKING:
            hasher.use_alphabets(*_alphabets())


@cache
def _alphabets() -> tuple[NDArray[np.int64], ...]:
    r"""The ranges of characters that match ``\w`` and ``\s`` in this version of Python."""
    every = np.arange(0x110000, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    runs = []
    for pattern in (r"\w+", r"\s+"):
        found = np.array([match.span() for match in re.finditer(pattern, every)], dtype=np.int64)
        runs += [np.ascontiguousarray(found[:, 0]), np.ascontiguousarray(found[:, 1])]
    return tuple(runs)


def _text(value: object, i: int) -> str:
    """The text at a place; raises for anything else."""
    if _check.is_missing(value):
        raise missing_text(i, repr(value))
    if not isinstance(value, str):
        raise TypeError(f"text {i} must be str or bytes, got {value!r}.")
    return value
