r"""Room 1, text: a fast `HashingVectorizer`, equal to scikit-learn's; must not know labels."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from functools import cache
from numbers import Integral
from threading import RLock
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer as _ScikitLearns
from sklearn.preprocessing import normalize

from surelearn import _check, _core
from surelearn.merging import Words

try:
    from sklearn.utils import _align_api_if_sparse
except ImportError:  # scikit-learn 1.8 has one kind of sparse matrix

    def _align_api_if_sparse(X: Any) -> Any:
        return X


__all__ = ["HashingVectorizer"]

#: Held while a vectorizer creates its native hasher: threads may share one from the first text on.
_MAKING = RLock()


def _renew_lock() -> None:
    """In the child of a fork, the thread that may hold the lock does not exist."""
    global _MAKING
    _MAKING = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)

_UNITS = {"word": 0, "char": 1, "char_wb": 2}
_NORMS = {None: 0, "l1": 1, "l2": 2}
#: The only native pattern: runs of two or more word characters.
_PATTERN = r"(?u)\b\w\w+\b"
#: Longer texts go to scikit-learn: offsets have 32 bits, and a character takes up to six bytes.
_LONGEST = 2**28


class HashingVectorizer(_ScikitLearns, auto_wrap_output_keys=None):  # type: ignore[misc,call-arg]
    r"""Hashed n-gram counts of texts, as in scikit-learn but about twenty times as fast.

    .. math:: x_j = \sum_{\text{n-grams } g:\; |h(g)| \bmod d \,=\, j} \operatorname{sign} h(g)

    where h is MurmurHash3. The output equals that of scikit-learn's class of the same name, bit for
    bit, on the same interpreter. Words, characters and characters within words are native. With a
    callable `analyzer`, `preprocessor` or `tokenizer`, another `token_pattern`, or a `dtype` other
    than float32 and float64, scikit-learn's code runs, at its speed.

    Parameters
    ----------
    log_counts : bool, default False
        Whether a count c becomes ``sign(c) (1 + log |c|)`` before it is normalised.
    keep_names : bool, default False
        Whether to store the first n-gram of each feature, see `names`. Native settings only.
    n_jobs : int or None, default None
        Number of threads: None means one, -1 one for each core. Does not change the result.
    input, encoding, decode_error, strip_accents, lowercase, preprocessor, tokenizer, stop_words, \
token_pattern, ngram_range, analyzer, n_features, binary, norm, alternate_sign, dtype
        As in scikit-learn.

    References
    ----------
    Weinberger, Dasgupta, Langford, Smola & Attenberg 2009, Feature Hashing for Large Scale
    Multitask Learning.

    Examples
    --------
    >>> vectorizer = HashingVectorizer(n_features=16, norm=None, keep_names=True)
    >>> vectorizer.transform(["to be or not to be"]).toarray()[0].nonzero()[0]
    array([ 4,  7, 11, 14])
    >>> vectorizer.names([4, 5])
    ['not', None]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_ScikitLearns._parameter_constraints,
        "log_counts": ["boolean"],
        "keep_names": ["boolean"],
        "n_jobs": [None, Integral],
    }

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
        keep_names: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            input=input,
            encoding=encoding,
            decode_error=decode_error,
            strip_accents=strip_accents,
            lowercase=lowercase,
            preprocessor=preprocessor,
            tokenizer=tokenizer,
            stop_words=stop_words,
            token_pattern=token_pattern,
            ngram_range=ngram_range,
            analyzer=analyzer,
            n_features=n_features,
            binary=binary,
            norm=norm,
            alternate_sign=alternate_sign,
            dtype=dtype,
        )
        self.log_counts = log_counts
        self.keep_names = keep_names
        self.n_jobs = n_jobs

    def transform(self, X: Any) -> Any:
        """Turn texts into rows of hashed n-grams.

        Parameters
        ----------
        X : iterable of str or bytes, column of pandas or polars, Arrow array of strings
            Arrow buffers are read without a copy. With ``input="file"`` or ``"filename"``, open
            files or paths.

        Returns
        -------
        sparse matrix of shape (n_samples, n_features)
        """
        self.check_settings(X)
        texts = _sources(X) if self.input == "content" else list(X)
        if len(texts) == 0:
            none = sparse.csr_matrix((0, self.n_features), dtype=self.dtype)
            return _align_api_if_sparse(none)
        hasher = self._hasher()
        made = None if hasher is None else self._texts(texts)
        if hasher is None or made is None:
            return self._by_scikit_learn(texts)
        threads = 1 if self.n_jobs is None else _check.threads("n_jobs", self.n_jobs)
        starts, features, values = self._hashed(hasher, made, texts, threads=threads)
        shape = (len(texts), self.n_features)
        return _align_api_if_sparse(sparse.csr_matrix((values, features, starts), shape=shape))

    def transform_apart(self, X: Any) -> tuple[tuple[NDArray[Any], ...], _core.Names | None]:
        """Rows in float32 as (starts, features, values), and the names in them.

        Pass the names to `meet_names` in the order of the texts: threads may run ahead in any
        order. The settings must have been checked.
        """
        texts = _sources(X)
        hasher = self._hasher()
        made = None if hasher is None or len(texts) == 0 else self._texts(texts)
        if hasher is None or made is None:
            rows = self._by_scikit_learn(texts) if len(texts) else self.transform(texts)
            return (rows.indptr, rows.indices, rows.data.astype(np.float32)), None
        starts, features, values, failed, names = hasher.transform_apart(made)
        self._refuse_surrogates(texts, failed)
        return (_narrow(starts), features, values), names

    def meet_names(self, names: _core.Names) -> None:
        """Store names of `transform_apart`, for features that have none yet."""
        self._naming().meet(names)

    def transform_one(self, text: str) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """The row of one text, quickly, as (start and end, features, values).

        The settings must have been used before, and must not change any more.
        """
        hasher = self._kept[1] if "_kept" in self.__dict__ else self._hasher()
        plain = text.isascii() and len(text) <= _LONGEST and not callable(self.strip_accents)
        made = _core.texts_of([text], bool(self.lowercase)) if plain else self._texts([text])
        if hasher is None or made is None:
            X = self._by_scikit_learn([text])
            return X.indptr, X.indices, X.data
        return self._hashed(hasher, made, [text])

    def _hashed(
        self, hasher: _core.Hasher, made: _core.Texts, sources: Any, *, threads: int = 1
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        run = hasher.transform32 if np.dtype(self.dtype) == np.float32 else hasher.transform64
        starts, features, values, failed = run(made, threads)
        self._refuse_surrogates(sources, failed)
        return _narrow(starts), features, values

    def _refuse_surrogates(self, sources: Any, failed: int) -> None:
        if failed >= 0:  # scikit-learn raises its usual error
            self._by_scikit_learn([sources[failed]])
            raise ValueError(f"text {failed} must have no lone surrogate, got one.")

    def features_of(self, ngrams: Sequence[str]) -> list[int]:
        """The features that these n-grams are hashed to."""
        hashed = self._get_hasher().transform([ngram] for ngram in ngrams) if ngrams else None
        return [] if hashed is None else list(map(int, hashed.indices))

    def names(self, features: Iterable[int]) -> list[str | None]:
        """The first n-gram of each of these features; None if there was none.

        Needs ``keep_names=True``.
        """
        hasher = self._naming()
        found: list[Any] = hasher.find_names([int(feature) for feature in features])
        return found

    def set_output(self, *, transform: str | None = None) -> Self:
        """For pipelines that set the output of all steps; the output is always sparse.

        Parameters
        ----------
        transform : {"default"} or None
            ``"pandas"`` and ``"polars"`` raise a ValueError: their frames hold no sparse rows.
        """
        _check.sparse_output(transform)
        return self

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns: with ``keep_names=True`` the first n-gram of each column, and
        ``hashingvectorizer0``, ``hashingvectorizer1``, ... for those without one.

        Parameters
        ----------
        input_features : ignored
        """
        prefix = type(self).__name__.lower()
        names = np.array([f"{prefix}{j}" for j in range(self.n_features)], dtype=object)
        if self.keep_names:
            places = self.names_met()[0]
            names[places] = self.names(places)
        return names

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

    def check_settings(self, X: Any) -> None:
        """Refuse parameters that do not fit together, and anything but an iterable of texts."""
        _check.texts(X)
        self._validate_params()
        _check.ngram_range(self.ngram_range)
        self._validate_ngram_range()
        if self.keep_names and not self._is_native():
            raise ValueError(
                "keep_names must be False if Python makes the n-grams, got True with a callable, a "
                "token_pattern or a dtype that is not native."
            )

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
        stop = self.get_stop_words() if self.analyzer == "word" else None
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
            _NORMS[self.norm],
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
            self.build_analyzer()
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
        clean = self.build_preprocessor()
        by_hand = callable(self.strip_accents)
        if isinstance(sources, _Arrow) and not by_hand:
            made = sources.texts(lower=bool(self.lowercase))
        else:
            if self.input != "content" or not _all_str(sources):
                sources = [self._decoded(i, source) for i, source in enumerate(sources)]
            sources = [clean(text) for text in sources] if by_hand else sources
            made = _core.texts_of(sources, bool(self.lowercase) and not by_hand)
        others = made.others()  # texts that are not ASCII: Python lowers and strips accents
        for i in others if not by_hand else ():
            made.replace(i, clean(sources[i]))
        if others:
            _use_alphabets(self._hasher())
        return made if made.longest <= _LONGEST else None

    def _decoded(self, i: int, source: Any) -> str:
        """The text of a str, bytes, an open file or a path, as `input` says."""
        if self.input == "content" and not isinstance(source, bytes):
            return _check.text(source, i)
        try:
            text = self.decode(source)
        except UnicodeDecodeError as error:
            error.add_note(f"This is text {i}. Pass another encoding, or decode_error='replace'.")
            raise
        return _check.text(text, i)

    def _by_scikit_learn(self, sources: Any) -> Any:
        """Use scikit-learn's code, for settings that are not native."""
        if not callable(self.analyzer) and not isinstance(sources, _Arrow):
            _check.no_missing_texts(sources)
        analyze = self.build_analyzer()
        X = self._get_hasher().transform(analyze(source) for source in sources)
        if self.binary:
            X.data.fill(1)
        elif self.log_counts:
            size = np.abs(X.data)
            X.data = np.sign(X.data) * (1 + np.log(np.maximum(size, 1)))
        if self.norm is not None:
            X = normalize(X, norm=self.norm, copy=False)
        return _align_api_if_sparse(X)

    def __getstate__(self) -> dict[str, Any]:
        """The state without the native hasher, but with its names."""
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


class _Arrow:
    """An Arrow array of strings, chunked or not."""

    def __init__(self, array: Any) -> None:
        import pyarrow

        chunks = array.chunks if isinstance(array, pyarrow.ChunkedArray) else [array]
        self._array = pyarrow.concat_arrays(chunks) if len(chunks) != 1 else chunks[0]
        _check.no_nulls(self._array)

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, i: int) -> str:
        text: str = self._array[i].as_py()
        return text

    def texts(self, *, lower: bool) -> _core.Texts:
        """The texts for the core, without a copy."""
        _, offsets, data = self._array.buffers()
        wide = str(self._array.type) == "large_string"
        starts: Any = np.frombuffer(offsets, dtype=np.int64 if wide else np.int32)
        first = self._array.offset
        letters = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, dtype=np.uint8)
        return _core.texts_in(starts[first : first + len(self) + 1], letters, lower)


def _sources(X: Any) -> Any:
    """The texts as a list or an Arrow array."""
    if isinstance(X, list):
        return list(X)  # another thread may change it
    if isinstance(X, np.ndarray):
        return X.tolist()
    if hasattr(X, "__len__") and len(X) == 0:
        return []
    module = type(X).__module__.partition(".")[0]
    if module == "polars":
        X = X.to_arrow()
    elif module == "pandas":
        own = X.array
        if not hasattr(own, "__arrow_array__") or X.dtype.kind != "O" or X.hasnans:
            return X.tolist()
        X = own.__arrow_array__()
    if type(X).__module__.startswith("pyarrow"):
        kind = str(X.type)
        if kind.startswith("dictionary<values=string") or kind == "string_view":
            X = X.cast("large_string")
        return _Arrow(X) if str(X.type) in ("string", "large_string") else X.to_pylist()
    return list(X)


def _narrow(starts: NDArray[np.int64]) -> NDArray[Any]:
    """The starts as int32 if they fit, the type of the features."""
    return starts.astype(np.int32) if starts[-1] <= np.iinfo(np.int32).max else starts


def _all_str(sources: Any) -> bool:
    return isinstance(sources, list) and set(map(type, sources)) <= {str}


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
