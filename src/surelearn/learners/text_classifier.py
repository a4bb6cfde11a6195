"""Raw text in, label out: the vectorizer and the classifier as one estimator."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surelearn import _check, _core
from surelearn.learners.answers.linear import OneRow
from surelearn.learners.checks import taken
from surelearn.learners.classifier import SureClassifier
from surelearn.learners.explain.explanation import Explanation, Top, touched
from surelearn.learners.explain.highlight import TextExplanation, Verdict, pieces_of
from surelearn.learners.readers import TextReader
from surelearn.learners.tasks.row_block import RowBlock
from surelearn.learners.tasks.row_settings import given_weight
from surelearn.learners.tasks.row_task import TEXTS
from surelearn.read import Labels
from surelearn.rows import rows_of
from surelearn.text import NativeVectorizer, vectorizer_class
from surelearn.weights import Method

#: Parameters that are the vectorizer's.
VECTORIZER_PARAMS = (
    "analyzer",
    "ngram_range",
    "lowercase",
    "strip_accents",
    "stop_words",
    "n_features",
    "norm",
    "log_counts",
    "idf",
    "keep_names",
)

#: Where single tokens and where longer n-grams are hashed to.
_PLACES, _PLACES_OF_NGRAMS = 2**18, 2**20

#: One text as a row: where it starts and ends, features, values.
_Hashed = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


class SureTextClassifier(SureClassifier):
    """A `SureClassifier` over hashed words that takes texts and explains itself in words.

    Methods take texts in place of rows: `fit`, `partial_fit`, `predict` and the like take a list of
    str or bytes, or a column of pandas, polars or Arrow; `learn_one`, `predict_one` and `explain`
    take one str.

    Parameters
    ----------
    rule, covariance, projection, constraints, multiclass, passes, shuffle, fit_intercept, \
initial_variance, average, class_weight, cost, dtype, n_shards, combine, merge_every, decoding, \
probability, random_state, verbose
        As in `SureClassifier`.
    analyzer : {"word", "char", "char_wb"}, default "word"
        What texts are cut into: words, characters, or characters within words.
    ngram_range : tuple of two int, default (1, 1)
        How many of them make a feature, at least and at most.
    lowercase : bool, default True
    strip_accents : {"ascii", "unicode"} or None, default None
    stop_words : {"english"}, list or None, default None
        Words that are left out.
    n_features : int or "auto", default "auto"
        Number of hash buckets. ``"auto"``: ``2**18`` for single words or characters,
        ``2**20`` for longer n-grams. scikit-learn has ``2**20`` for both: for words a quarter of it
        costs less than 0.1 points on our text sets, and many classes take a quarter of the memory
        and half the time.
    norm : {"l1", "l2"} or None, default "l2"
        Norm that each row is scaled to.
    log_counts : bool, default True
        Whether the c-th time a word is met in a text counts less: c becomes ``1 + log c``.
    idf : bool, default True
        Whether rare words weigh more: by ``log((1 + n) / (1 + n_j)) + 1`` where n_j of n texts have
        the word. `fit` counts all its texts first. `partial_fit`, `learn_one` and the first pass of
        `fit_stream` weigh each text by those learnt so far, including itself; later passes by all
        of the first. Texts to predict are weighed by all texts learnt so far.
    keep_names : bool, default True
        Whether to keep the first word hashed to each feature, for `explain`.
    n_jobs : int or None, default None
        Threads that read texts and learn shards, as in `SureClassifier`. Never changes the result.

    Attributes
    ----------
    vectorizer_ : surelearn.text.HashingVectorizer
        It turns texts into the rows that are learnt.
    classes_, coef_, sigma_, intercept_, intercept_sigma_, mistakes_, n_updates_, n_iter_, \
temperature_
        As in `SureClassifier`.

    Examples
    --------
    >>> from surelearn import SureTextClassifier
    >>> texts = ["a great film", "great fun", "a dull film", "how dull"]
    >>> clf = SureTextClassifier(random_state=0).fit(texts, ["good", "good", "bad", "bad"])
    >>> clf.predict(["great, not dull at all, great!"])
    array(['good'], dtype='<U4')
    >>> clf.explain(top=2).feature.tolist()
    ['great', 'dull']
    """

    task = TEXTS

    vectorizer_: NativeVectorizer
    #: The class of `vectorizer_`.
    _vectorizer: ClassVar[type[NativeVectorizer]] = vectorizer_class()

    def __init__(
        self,
        rule: Any = "probit",
        *,
        analyzer: str = "word",
        ngram_range: tuple[int, int] = (1, 1),
        lowercase: bool = True,
        strip_accents: str | None = None,
        stop_words: Any = None,
        n_features: int | Literal["auto"] = "auto",
        norm: str | None = "l2",
        log_counts: bool = True,
        idf: bool = True,
        keep_names: bool = True,
        covariance: str = "diagonal",
        projection: str = "auto",
        constraints: Any = "auto",
        multiclass: Any = "joint",
        passes: int | Literal["auto"] = "auto",
        shuffle: bool = True,
        fit_intercept: bool = True,
        initial_variance: float = 1.0,
        average: bool = False,
        class_weight: Any = None,
        cost: Any = None,
        dtype: Any = "float32",
        n_shards: int = 1,
        n_jobs: int | None = None,
        combine: str = "evidence",
        merge_every: int | None = 1,
        decoding: str = "auto",
        probability: str = "softmax",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            rule,
            covariance=covariance,
            projection=projection,
            constraints=constraints,
            multiclass=multiclass,
            passes=passes,
            shuffle=shuffle,
            fit_intercept=fit_intercept,
            initial_variance=initial_variance,
            scale=False,
            average=average,
            class_weight=class_weight,
            cost=cost,
            dtype=dtype,
            n_shards=n_shards,
            n_jobs=n_jobs,
            combine=combine,
            merge_every=merge_every,
            decoding=decoding,
            probability=probability,
            random_state=random_state,
            verbose=verbose,
        )
        self.analyzer = analyzer
        self.ngram_range = ngram_range
        self.lowercase = lowercase
        self.strip_accents = strip_accents
        self.stop_words = stop_words
        self.n_features = n_features
        self.norm = norm
        self.log_counts = log_counts
        self.idf = idf
        self.keep_names = keep_names

    def explain(
        self,
        row: Any = None,
        *,
        label: Any = None,
        names: Any = None,
        top: Top = "auto",
        intercept: bool = False,
    ) -> Explanation:
        """Explain the model by its surest words, or the margin of one text by its n-grams.

        Parameters
        ----------
        row : str, optional
            The text to explain: the contribution of each n-gram to the mean and the variance of
            its score. Of three or more classes, to the largest score and to the next best.
        label, top, intercept : optional
            As in `SureClassifier.explain`, with words and n-grams as features.
        names : array of str of shape (n_features,), optional
            Names of the features. Default: the first word hashed to each feature, and for a text
            its own words; ``"#"`` and its number if none is known.

        Returns
        -------
        Explanation
            As in `SureClassifier.explain`. Notebooks show a text with each word highlighted by its
            contribution to the label with the largest score.

        Examples
        --------
        >>> from surelearn import SureTextClassifier
        >>> clf = SureTextClassifier(passes=1, shuffle=False)
        >>> clf = clf.fit(["fine film", "dull film"], ["good", "bad"])
        >>> clf.explain("a dull plot").feature.tolist()
        ['dull', 'plot', '(others)']
        """
        how = {"label": label, "top": top, "intercept": intercept}
        if row is None:
            return touched(super().explain(names=names, **how))
        self._fitted()
        reader, text = self._reading(), _check.one_text("row", row)
        hashed, pieces = reader.transform_one(text), pieces_of(reader, text)
        named = _Words(pieces.names) if names is None else names
        table = super().explain(hashed, names=named, **how)
        return TextExplanation(table, pieces, self._verdict(hashed, label))

    # ---------------------------------------------------------------- internals

    def _make_vectorizer(self) -> None:
        """A vectorizer of these settings that has not read anything; for `fit` and `load`."""
        params = self._vectorizer_params()
        if isinstance(self.stop_words, list):  # which can be changed in place
            params["stop_words"] = list(self.stop_words)
        self.__dict__.pop("_reader", None)
        self.vectorizer_ = self._vectorizer(**params, alternate_sign=False, dtype=np.float32)
        size = params["n_features"]
        self.n_features_in_ = int(size) if isinstance(size, Integral) else 0

    def _check_settings(self) -> None:
        for name, value in self._vectorizer_params().items():
            _check.same(name, getattr(self.vectorizer_, name), value)

    def _block(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> RowBlock:
        """Labels are looked at before any word is met."""
        texts, labels, weight, kept = self._weighty(X, y, sample_weight, reset=reset)
        block = super()._block(texts, labels, weight, reset=reset)
        return block if kept is None else block._replace(numbers=kept)

    def _whole(self, X: Any, y: Any, sample_weight: Any, who: str) -> RowBlock:
        """All texts, weighed by the counts of all."""
        _check.texts(X)
        block = super()._whole(X, y, sample_weight, who)
        if not self.idf:
            return block
        self.vectorizer_.count(block.X)
        X = self.vectorizer_.weigh_in_place(block.X)
        return block._replace(rows=rows_of(X), X=X)

    def _weighty(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool
    ) -> tuple[Any, Labels, Any, Any]:
        """Texts that are not of weight 0, their labels, weights, and numbers if some are."""
        _check.texts(X)
        X = X if hasattr(X, "__len__") else list(X)
        labels = self._labels(y, reset=reset)
        _check.one_label_a_row(labels.n_rows, len(X), many=labels.is_many)
        given = _check.sample_weight(sample_weight, labels.n_rows)
        weight = given_weight(_check.class_weight(self.class_weight), labels, given)
        if weight is None or weight.all() or not weight.any():
            return X, labels, given, None
        kept = np.flatnonzero(weight)  # the words of others must not be met
        return taken(X, kept), labels.take(kept), None if given is None else given[kept], kept

    def _n_features_of(self, X: Any) -> int:
        return int(self.vectorizer_.n_features)

    def _blank(self) -> Self:
        twin = super()._blank()
        twin._make_vectorizer()
        twin.vectorizer_.check_settings([])
        return twin

    def _new_reader(self) -> TextReader:
        return TextReader(self._blank().vectorizer_)

    def _own_reader(self) -> TextReader:
        if "vectorizer_" not in self.__dict__:  # of a file, which has the words alone
            return self._new_reader()
        return TextReader(self.vectorizer_)

    def _use(self, reader: TextReader) -> None:
        if self.__dict__.get("vectorizer_") is not reader.vectorizer:
            self.__dict__.pop("_reader", None)
            self.vectorizer_ = reader.vectorizer
        self.n_features_in_ = reader.n_features

    def _vectorizer_params(self) -> dict[str, Any]:
        params = {name: getattr(self, name) for name in VECTORIZER_PARAMS}
        if _check.is_auto(self.n_features):
            single = isinstance(self.ngram_range, tuple | list) and {*self.ngram_range} == {1}
            params["n_features"] = _PLACES if single else _PLACES_OF_NGRAMS
        return params

    def _reading(self) -> NativeVectorizer:
        """The vectorizer that was fitted, without names: of texts that are not learnt."""
        if not self.vectorizer_.keep_names:
            return self.vectorizer_
        reader = self.__dict__.get("_reader")
        if reader is None:
            params = {**self.vectorizer_.get_params(), "keep_names": False}
            reader = self._vectorizer(**params)
            reader.share_documents(self.vectorizer_)
            self._reader = reader
        return reader

    def _feature_names(self, names: Any, n_features: int) -> Any:
        if isinstance(names, _Words):
            return names
        if names is None:
            return _Words(self.vectorizer_ if self.vectorizer_.keep_names else {})
        return super()._feature_names(names, n_features)

    def _entries(self, row: _Hashed) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        _, features, values = row
        return features.astype(np.int64), values.astype(np.float64)

    def _verdict(self, row: _Hashed, label: Any) -> Verdict:
        """What the features of a text say for its label rather than the next best one.

        Of many labels, for `label` or for the one with the largest score.
        """
        model, (features, values) = self._fitted(), self._entries(row)
        means = _check.trained(model.weights, "explain").means
        shares = means[:, features].astype(np.float64) * values
        known = int(shares.any(axis=0).sum())
        scores = self._scorer().class_scores(_core.Rows.csr(*row, self.n_features_in_))[0]
        if model.many_labels:
            best = int(scores.argmax()) if label is None else model.places[label]
            own = dict(zip(features.tolist(), shares[best].tolist(), strict=True))
            name = model.classes[best]
            return Verdict(name, f"not {name}", float(scores[best]), own, known, (best, None))
        if len(model.classes) == 2:
            shares, scores = np.vstack([-shares, shares]) / 2, np.array([-1, 1]) * scores / 2
        elif model.code is not None and model.code.kind != "ovr":
            shares = model.code.matrix.astype(np.float64) @ shares
        best = int(scores.argmax())
        rival = int(np.where(np.arange(len(scores)) == best, -np.inf, scores).argmax())
        lead = shares[best] - shares[rival]
        return Verdict(
            model.classes[best],
            model.classes[rival],
            float(scores[best] - scores[rival]),
            dict(zip(features.tolist(), lead.tolist(), strict=True)),
            known,
            (best, rival),
        )

    def _validated(self, X: Any, *, reset: bool, learning: bool = False) -> Any:
        """Texts as rows of hashed words."""
        if reset:
            self._make_vectorizer()
        vectorizer = self.vectorizer_ if learning else self._reading()
        vectorizer.n_jobs = self.n_jobs
        rows = vectorizer.unweighed(X) if learning else vectorizer.transform(X)
        _check.some_rows(rows.shape[0])
        return sparse.csr_matrix(rows)

    def _rows_to_learn(self, X: Any, *, reset: bool) -> tuple[Any, Any]:
        """Rows, and the texts with the words in them; a new vectorizer has met these already."""
        if reset:
            return self._validated(X, reset=True, learning=True), (X, None)
        self._check_settings()
        self.vectorizer_.n_jobs = self.n_jobs
        rows, words = self.vectorizer_.unweighed_apart(X)
        _check.some_rows(rows.shape[0])
        return rows, (X, words)

    def _remember(self, block: RowBlock, n: int | None = None) -> None:
        if not self.vectorizer_.keep_names:
            return
        texts, words = block.named
        if (n := block.size if n is None else n) < len(texts):  # or none has a weight
            if words is None:
                self.vectorizer_.forget_names()
            words = self.vectorizer_.unweighed_apart(taken(texts, slice(0, n)))[1]
        for met in words or ():
            self.vectorizer_.meet_names(met)

    def _one(self, x: Any, name: str = "x", *, learning: bool = False) -> OneRow:
        text = _check.one_text(name, x)
        words = None
        if learning:
            if self._fresh:
                self._make_vectorizer()
                self.vectorizer_.check_settings([])
            hashed, words = self.vectorizer_.unweighed_one_apart(text)
        else:
            hashed = self._reading().transform_one(text)
        rows = _core.Rows.csr(*hashed, self.vectorizer_.n_features)
        return rows, self.vectorizer_.n_features, True, words

    def _remember_one(self, x: Any, row: OneRow) -> None:
        words = row[3]
        if words is not None:
            self.vectorizer_.meet_names(words)

    def _learn_row(self, method: Method, row: _core.Rows, place: Any, weight: float) -> None:
        if not self.vectorizer_.idf:
            super()._learn_row(method, row, place, weight)
            return
        reader = self._own_reader()
        weighed = reader.weighed(row, counting=True)
        try:
            super()._learn_row(method, weighed, place, weight)
        except BaseException:
            reader.forget(row, 0)
            raise

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("_reader", None)
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.sparse = False
        return tags


def new_vectorizer(estimator: SureTextClassifier) -> NativeVectorizer:
    """A vectorizer with the settings of an estimator that has not met any text."""
    return estimator._new_reader().vectorizer


class _Words:
    """Names of features, looked up when they are asked for."""

    def __init__(self, known: NativeVectorizer | dict[int, str]) -> None:
        self._known = known

    def __getitem__(self, features: NDArray[np.int64]) -> NDArray[Any]:
        known, asked = self._known, features.tolist()
        found = [known.get(j) for j in asked] if isinstance(known, dict) else known.names(asked)
        named = np.empty(len(asked), dtype=object)
        named[:] = [f"#{j}" if word is None else word for j, word in zip(asked, found, strict=True)]
        return named
