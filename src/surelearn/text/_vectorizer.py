"""A fast `HashingVectorizer`, equal to scikit-learn's and one of its estimators."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import HashingVectorizer as _ScikitLearns
from sklearn.preprocessing import normalize

from surelearn import _check
from surelearn.text._native import NativeVectorizer

try:
    from sklearn.utils import _align_api_if_sparse
except ImportError:  # scikit-learn 1.8 has one kind of sparse matrix

    def _align_api_if_sparse(X: Any) -> Any:
        return X


class HashingVectorizer(NativeVectorizer, _ScikitLearns, auto_wrap_output_keys=None):  # type: ignore[misc,call-arg]
    r"""Hashed n-gram counts of texts, as in scikit-learn but about twenty times as fast.

    .. math:: x_j = \sum_{\text{n-grams } g:\; |h(g)| \bmod d \,=\, j} \operatorname{sign} h(g)

    where h is MurmurHash3. The output equals that of scikit-learn's class of the same name, bit for
    bit, on the same interpreter. Words, characters and characters within words are native. With a
    callable `analyzer`, `preprocessor` or `tokenizer`, another `token_pattern`, or a `dtype` other
    than float32 and float64, scikit-learn's code runs, at its speed. A text with a lone surrogate,
    which has no UTF-8, is refused by its number, whatever the settings; scikit-learn takes it where
    no n-gram has the surrogate.

    Parameters
    ----------
    log_counts : bool, default False
        Whether a count c becomes ``sign(c) (1 + log |c|)`` before it is normalised.
    idf : bool, default False
        Whether the value of feature j is multiplied by ``log((1 + n) / (1 + n_j)) + 1``, n_j of the
        n texts that `fit` and `partial_fit` have counted having it, before it is normalised. It is
        scikit-learn's ``TfidfTransformer(smooth_idf=True)`` on the same counts.
    keep_names : bool, default False
        Whether to store the first n-gram of each feature, see `names`. Native settings only.
    n_jobs : int or None, default None
        Threads, as in `SureClassifier`. Does not change the result.
    input, encoding, decode_error, strip_accents, lowercase, preprocessor, tokenizer, stop_words
        As in scikit-learn.
    token_pattern, ngram_range, analyzer, n_features, binary, norm, alternate_sign, dtype
        As in scikit-learn.

    Attributes
    ----------
    idf_ : ndarray of shape (n_features,)
        The factor of each feature, with `idf`.
    n_documents_ : int
        The texts counted so far, with `idf`.

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
        "idf": ["boolean"],
        "keep_names": ["boolean"],
        "n_jobs": [None, Integral],
    }

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
        return _align_api_if_sparse(super().transform(X))

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """``fit(X).transform(X)``, but texts are hashed once.

        Parameters
        ----------
        X : texts, as in `transform`
        y : ignored
        """
        return _align_api_if_sparse(super().fit_transform(X, y))

    def check_uncounted(self, X: Any) -> None:
        """The checks of `fit` without `idf`: scikit-learn's, which warn of unused parameters."""
        _ScikitLearns.fit(self, X)

    def set_output(self, *, transform: str | None = None) -> Self:
        """For pipelines that set the output of all steps; the output is always sparse.

        Parameters
        ----------
        transform : {"default"} or None
            ``"pandas"`` and ``"polars"`` raise a ValueError: their frames hold no sparse rows.
        """
        if transform not in (None, "default"):
            raise ValueError(
                f"transform must be 'default' for sparse rows, got {transform!r}. Set the output "
                "of a later step, which makes the rows dense."
            )
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

    # ------------------------------------------------ for settings that are not native

    def validate(self) -> None:
        """Check the parameters."""
        self._validate_params()
        given = self.ngram_range
        if len(given) != 2:
            raise TypeError(f"ngram_range must be two whole numbers, got {given!r}.")
        for n in given:
            _check.count("ngram_range", n, least=0)
        self._validate_ngram_range()

    def hashed_by_scikit_learn(self, sources: Any) -> Any:
        """The rows of texts, made by scikit-learn's code."""
        analyze = self.build_analyzer()
        X = self._get_hasher().transform(analyze(source) for source in sources)
        if self.binary:
            X.data.fill(1)
        elif self.log_counts:
            size = np.abs(X.data)
            X.data = np.sign(X.data) * (1 + np.log(np.maximum(size, 1)))
        if self.norm is not None and not self.idf:
            X = normalize(X, norm=self.norm, copy=False)
        return X

    def _scikit_learns(self) -> Any:
        return self
