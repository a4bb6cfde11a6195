"""The base of linear classifiers: input checks and fitted attributes; knows no algorithm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surelearn import _check, _core
from surelearn.decode import Code, one_vs_rest
from surelearn.learners import reductions
from surelearn.learners.answers.classifier import TEMPERATURE, Probabilistic
from surelearn.learners.answers.coefficients import (
    last_column,
    means_as_given,
    means_of,
    variances_of,
)
from surelearn.learners.base import require_variances, with_variances
from surelearn.learners.checks import ROWS, random_numbers, validated
from surelearn.learners.explain.explanation import (
    Explanation,
    Subject,
    Top,
    about,
    of_label,
    of_model,
    of_row,
    touched,
)
from surelearn.learners.feature_names import SIZE, FeatureNames, by_column, dicts_in, matrix_of
from surelearn.learners.labels import as_labels, classes_of
from surelearn.learners.readers import NumberReader
from surelearn.learners.row_input import block_to_fit, labelled_block
from surelearn.learners.tasks.row_block import RowBlock
from surelearn.learners.tasks.row_settings import check_weighted
from surelearn.learners.tasks.rows import RowModel
from surelearn.merging import Documents, MergeState, Way, Words
from surelearn.read import Labels
from surelearn.rows import dense_row, non_zeros, rows_of, rows_of_dict, sparse_row

Array = NDArray[np.float64]
E = TypeVar("E", bound="Linear")

#: Types of a row of {feature: value}; isinstance is faster for dict, so it comes first.
_DICTS = (dict, Mapping)

#: How many weights `explain` lists for a model.
_TOP = 20

#: A row, its number of features, whether it is sparse, and the names in it of a text to learn.
OneRow = tuple[_core.Rows, int, bool, Any]


class Linear(Probabilistic[RowModel]):
    """A linear classifier: its fitted attributes, the checks of its input, its explanations."""

    class_weight: Any
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    _names: FeatureNames  # if rows are dicts of names

    # ------------------------------------------------------------------- fitted

    @property
    def code_(self) -> NDArray[np.int8]:
        return self._code("code_").matrix

    @property
    def dmin_(self) -> float:
        return self._code("dmin_").dmin

    @property
    def errors_corrected_(self) -> int:
        return self._code("errors_corrected_").errors_corrected

    def _code(self, name: str) -> Code:
        model = self._attribute(name)
        if model.many_labels:
            raise AttributeError(f"{name} needs a reduction of classes, got many labels per row.")
        if model.multiclass == "joint":
            raise AttributeError(
                f"{name} needs a reduction, got multiclass='joint', which learns all classes "
                "together."
            )
        _check.trained(model.weights, name)
        return one_vs_rest(2) if model.code is None else model.code

    @property
    def coef_(self) -> NDArray[Any]:
        return self._means("coef_")[:, : self.n_features_in_]

    @property
    def intercept_(self) -> NDArray[Any]:
        return last_column(self._means("intercept_"), self.n_features_in_)

    @property
    def sigma_(self) -> NDArray[Any]:
        model = self._attribute("sigma_")
        variances = self._variances("sigma_")
        if model.layout.covariance == "full":
            return variances
        return variances[:, : self.n_features_in_]

    @property
    def intercept_sigma_(self) -> NDArray[Any]:
        model = self._attribute("intercept_sigma_")
        variances = self._variances("intercept_sigma_")
        if model.layout.covariance == "full":
            variances = np.diagonal(variances).reshape(-1, model.layout.n_rows)
        return last_column(variances, self.n_features_in_)

    def _means(self, name: str) -> NDArray[Any]:
        return means_as_given(_check.trained(self._attribute(name).weights, name))

    def _variances(self, name: str) -> NDArray[Any]:
        model = self._attribute(name)
        require_variances(self)
        return variances_of(_check.trained(model.weights, name))

    # -------------------------------------------------------------------- input

    def _validated(self, X: Any, *, reset: bool, learning: bool = False) -> Any:
        """X after scikit-learn's checks of shape and type; the core checks the values."""
        dicts = dicts_in(X)
        if reset:
            self.__dict__.pop("_names", None)
        if dicts is not None:
            X = self._matrix_of(dicts, reset=reset, learning=learning)
            if not reset:  # the width is right; skip scikit-learn's check of feature names
                return X
        return validated(self, X, reset=reset, **ROWS)

    def _matrix_of(self, dicts: Sequence[Mapping[Any, Any]], *, reset: bool, learning: bool) -> Any:
        """Dicts as a sparse matrix; in the first call the keys must be names."""
        if reset:
            self._names = FeatureNames()
        numbered = [self._numbered(x, "X", learning=learning) for x in dicts]
        return matrix_of([x for x, _ in numbered], numbered[0][1])

    def _numbered(
        self, x: Mapping[Any, Any], who: str, *, learning: bool
    ) -> tuple[Mapping[int, float], int]:
        """A dict with feature numbers in place of names, and the number of features."""
        known, names = map(self.__dict__.get, ("n_features_in_", "_names"))
        by_name = not x or isinstance(next(iter(x)), str)
        if names is None and known is None and by_name and learning:
            names = FeatureNames()  # for the first row; its names are remembered once it is learnt
        if names is not None:
            return names.row(x, who, learning=learning), SIZE
        n_features = _check.size_known(known, next(iter(x), None))
        columns = self.__dict__.get("feature_names_in_")
        if columns is not None and by_name:
            return by_column(x, who, columns.tolist()), n_features
        return x, n_features

    @property
    def _reads_by_names(self) -> bool:
        """Whether rows are dicts with hashed names."""
        return "_names" in self.__dict__

    def _rows(self, X: Any) -> _core.Rows:
        rows = rows_of(self._validated(X, reset=False))
        _check.sound_rows(rows.fault)
        return rows

    def _one(self, x: Any, name: str = "x", *, learning: bool = False) -> OneRow:
        """One row in any form.

        It skips scikit-learn's checks, which take longer than learning the row.
        """
        known = self.__dict__.get("n_features_in_")
        is_dict = isinstance(x, _DICTS)
        is_sparse = is_dict or sparse.issparse(x)
        if is_dict:
            x, n_features = self._numbered(x, name, learning=learning)
            try:
                rows = rows_of_dict(x, n_features)
            except (TypeError, OverflowError) as error:
                raise TypeError(
                    f"{name} must be a dict of feature numbers and values, got one that is not: "
                    f"{error}."
                ) from None
        else:
            row = sparse_row(x) if is_sparse else dense_row(x)
            n_features = _check.row_of_numbers(row.shape, row.dtype, name)
            _check.n_features(n_features if known is None else known, n_features, name)
            rows = rows_of(row if row.dtype.char in "fd" else row.astype(np.float64))
        _check.sound_rows(rows.fault, name)
        return rows, n_features, is_sparse, None

    def _entries(self, row: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The checked features and values of one row in any form, without zeros."""
        if hasattr(row, "columns"):  # a frame of one row: its column names must be those of fit
            row = self._validated(row, reset=False)
        self._one(row, "row")
        if isinstance(row, _DICTS):
            row, _ = self._numbered(row, "row", learning=False)
        return non_zeros(row)

    # ---------------------------------------------------------------- one row

    def predict_one(self, x: Any) -> Any:
        """The label of one row: an array, a sparse row or a dict of {feature: value}."""
        model = self._fitted()
        row, *_ = self._one(x)
        if model.weights is None:
            return model.classes[_check.only_class(model.classes)]
        if model.code is None:
            return model.classes[model.weights.winner(row)]
        asked = self._scorer()  # its model may know more classes by now
        return asked.model.classes[asked.winners(row)[0]]

    @with_variances
    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """Probability of each label of one row: an array, a sparse row or a dict.

        Returns
        -------
        dict of {label: float}
            In the order of ``classes_``. If only one class is known, its probability is 1.
        """
        asked = self._scorer()
        row, *_ = self._one(x)
        labels = asked.model.classes.tolist()
        if asked.model.weights is None and not asked.model.many_labels:
            return {labels[_check.only_class(asked.model.classes)]: 1.0}
        return dict(zip(labels, asked.probabilities(row)[0].tolist(), strict=True))

    @with_variances
    def sample_proba(self, X: Any, n_samples: int = 1000, random_state: Any = None) -> Array:
        """Estimate probabilities from draws of the weights: the share in which each label wins.

        This is the method of the papers, kept for comparison. With ``probability="exact"`` it
        estimates `predict_proba`, which needs no draws; with ``"softmax"`` the two differ, because
        `predict_proba` is computed from mean scores. `SoftmaxClassifier` and `MulticlassSVM`
        return the mean softmax of the draws.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
        n_samples : int, default 1000
            Number of draws; a probability p has the standard error ``sqrt(p (1 - p) / n_samples)``.
        random_state : int, RandomState or None

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        asked = self._scorer()
        if asked.model.many_labels:
            raise ValueError(
                "sample_proba needs one label per row, got many. predict_proba needs no draws."
            )
        if asked.model.code is not None:
            raise ValueError(
                f"sample_proba needs multiclass='joint', got {asked.model.multiclass!r}. "
                "predict_proba needs no draws."
            )
        rows = self._rows(X)
        seed = random_numbers(random_state).randint(2**31)
        return asked.sampled(rows, n_samples, np.random.default_rng(seed))

    # ------------------------------------------------------------ labelled rows

    def _labels(self, y: Any, *, reset: bool) -> Labels:
        """The checked labels of rows; those of a fitted model unless `reset`."""
        return y if isinstance(y, Labels) else Labels.of(as_labels(y))

    def _read(self, X: Any, y: Any, sample_weight: Any) -> tuple[Self, RowBlock]:
        """Rows to go on with, and a twin that has read them."""
        shell = self._shell()
        return shell, shell._block(X, y, sample_weight, reset=self._fresh)

    def _block(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> RowBlock:
        """Everything of the input checked, rows of weight 0 dropped."""
        class_weight = _check.class_weight(self.class_weight)
        rows, named = self._rows_to_learn(X, reset=reset)
        labels = self._labels(y, reset=reset)
        return labelled_block(rows, labels, class_weight, sample_weight)._replace(named=named)

    def _rows_to_learn(self, X: Any, *, reset: bool) -> tuple[Any, Any]:
        """The rows of X, and where the names in them are, for `_remember`."""
        return self._validated(X, reset=reset, learning=True), dicts_in(X)

    def _remember(self, block: RowBlock, n: int | None = None) -> None:
        """Remember the names in the first n rows of a block, now that these are learnt."""
        names, dicts = self.__dict__.get("_names"), block.named
        if names is not None and dicts is not None:
            if block.numbers is not None:
                dicts = [dicts[i] for i in block.numbers.tolist()]
            names.register(dicts[:n])

    def _whole(self, X: Any, y: Any, sample_weight: Any, who: str) -> RowBlock:
        """All rows that there are; the values of their labels are the classes."""
        class_weight, labels = _check.class_weight(self.class_weight), self._labels(y, reset=True)
        check_weighted(class_weight, labels.values)  # also those of rows of weight 0
        block = self._block(X, labels, sample_weight, reset=True)
        self._remember(block)
        classes = classes_of(block.labels, self.__dict__.get("_label_form"))
        return block_to_fit(block, classes, class_weight, who)

    def _forget(self) -> None:
        """Drop what belongs to another model."""
        for name in (*TEMPERATURE, "stream_", "_thresholds", "_decisions"):
            self.__dict__.pop(name, None)

    def _blank(self) -> Self:
        """A twin that has learnt nothing."""
        twin = self._shell()
        twin._forget_model()
        return twin

    def _forget_model(self) -> None:
        self._forget()
        for name in ("_model", "n_features_in_", "feature_names_in_", "_names", "_label_form"):
            self.__dict__.pop(name, None)

    # ------------------------------------------------------------------- merging

    def __merge_state__(self, how: Way, start: Linear | None = None) -> MergeState:
        """What merging has to know of this estimator; see `surelearn.merging.MergeState`."""
        model, settings = self._fitted(), self._settings_for()
        settings.check_fits(model)
        self._check_settings()
        before, reader = None if start is None else start.model_, self._own_reader()
        words, documents = reader.words(), reader.documents()
        state = model.merge_state(how, words=words, documents=documents, start=before)
        return replace(state, make=self._blank()._merged)

    def _merged(self, total: MergeState, prior: MergeState | None = None) -> Self:
        """A twin of this estimator, which has learnt nothing, with what was merged."""
        twin, projection = self._blank(), self._settings_for().resolved(is_sparse=False)
        model = RowModel.merged(total, prior, projection=projection)
        twin._put(model, total.result_words(prior), total.result_documents(prior))
        return twin

    def _put(self, model: RowModel, words: Words | None, documents: Documents | None) -> None:
        """Take a model, the words that its features stand for, and their document counts."""
        self.n_features_in_ = model.layout.n_features
        reader = self._own_reader()
        reader.know(words, documents)
        self._use(reader)
        self._model = model

    def _own_reader(self) -> Any:
        """What makes rows for the model there is."""
        names = self.__dict__.get("feature_names_in_")
        columns = None if names is None else names.tolist()
        return NumberReader(self.n_features_in_, columns, self.__dict__.get("_names"))

    def _use(self, reader: Any) -> None:
        self.n_features_in_ = reader.n_features
        if reader.names is not None:
            self.feature_names_in_ = np.array(reader.names, dtype=object)
        if reader.hashed is not None:
            self._names = reader.hashed

    # ------------------------------------------------------------- explanations

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def explain(
        self,
        row: Any = None,
        *,
        label: Any = None,
        top: Top = "auto",
        names: Any = None,
        intercept: bool = False,
    ) -> Explanation:
        r"""Explain the model by its surest weights, or the margin of one row by its features.

        .. math:: Pr[sign(w_j) = sign(\mu_j)] = \Phi(|\mu_j| / \sqrt{\sigma_j}), \qquad
            M = \sum_j \mu_j x_j, \qquad V = \sum_j x_j (\Sigma x)_j

        Parameters
        ----------
        row : array, sparse row, frame of one row, or dict of {feature: value}, optional
            Without it, the table explains the model: weights in the order of the probability of
            their sign. With it, the table explains the row: the contribution of each non-zero
            feature to the mean and the variance of its score (two classes: of the margin), largest
            contribution to the mean first. Of three or more classes, those to the largest score
            come first, then those to the next best. Contributions add up to the result of `margin`.
        label : label, optional
            Explain this label only. For a model: the weights that support it, largest mean first.
            For a row: the contributions to its score. With two classes, what supports one opposes
            the other.
        top : int or None, default "auto"
            How many features to list; None: all. ``"auto"`` lists 20 weights of a model, and all
            features of a row. The others of a row are summed up as ``"(others)"``.
        names : array of str of shape (n_features,), optional
            Names of the features. Default: `feature_names_in_` if there are any, else x0, x1, ...
        intercept : bool, default False
            List intercepts as well, after the features. Otherwise that of a row is in
            ``"(others)"``.

        Returns
        -------
        Explanation
            Columns: feature, label, value (of a row), mean, deviation, probability, margin and
            variance (of a row). First-order rules have no deviation, probability and variance; they
            order the weights by ``|mean|``. With two classes the label is ``classes_[1]``: a
            positive weight supports it, a negative one the other class.

        Examples
        --------
        >>> from surelearn import SureClassifier
        >>> clf = SureClassifier(passes=1, shuffle=False).fit([[0, 1], [1, 0]], ["no", "yes"])
        >>> clf.explain(top=2)
        feature  label     mean  deviation  probability
        x0       yes     0.8962      1.264       0.7608
        x1       yes    -0.8962      1.264       0.7608
        """
        model = self._fitted()
        weights = _check.trained(model.weights, "explain")
        limit = _check.top(top, auto=_TOP if row is None else None)
        intercept = _check.flag("intercept", intercept)
        subject = Subject(
            means_of(weights),
            variances_of(weights) if model.layout.second_order else None,
            reductions.labels_of(model.multiclass, model.classes, model.code),
            model.layout.n_features,
            self._feature_names(names, model.layout.n_features),
        )
        if label is not None:
            subject = about(subject, model.classes, label)
        if row is not None:
            # Problems have no winner, and of many labels each is asked about.
            best = None if subject.labels is None or model.many_labels else 2
            entries = self._entries(row)
            return of_row(
                subject, *entries, limit, intercept=intercept, best=best, units=weights.units
            )
        listed = of_model if label is None else of_label
        found = listed(subject, limit, intercept=intercept)
        return touched(found) if isinstance(subject.names, FeatureNames) else found

    def _check_settings(self) -> None:
        """Raise if a parameter has changed that the learnt rows depend on."""

    def _feature_names(self, names: Any, n_features: int) -> Any:
        """The feature names: an object that maps an array of feature numbers to names."""
        named = _check.names(names, n_features)
        if named is not None:
            return named
        met = self.__dict__.get("_names")
        return self.__dict__.get("feature_names_in_") if met is None else met


def reads_by_names(estimator: Linear) -> bool:
    """Whether rows are dicts with hashed names."""
    return estimator._reads_by_names


def check_settings(estimator: Linear) -> None:
    """Raise if the parameters of an estimator no longer fit the rows it has learnt."""
    estimator._check_settings()


def reader_of(estimator: Linear) -> Any:
    """What makes rows for the model of an estimator."""
    return estimator._own_reader()


def use_reader(estimator: Linear, reader: Any) -> None:
    """Let a reader make the rows for the model of an estimator."""
    estimator._use(reader)


def block_of(estimator: Linear, X: Any, y: Any, sample_weight: Any) -> RowBlock:
    """Checked rows; `estimator` reads them as its first."""
    block = estimator._block(X, y, sample_weight, reset=True)
    estimator._remember(block)
    return block


def whole_block(estimator: Linear, X: Any, y: Any, sample_weight: Any, *, who: str) -> RowBlock:
    """All rows that `who` was given, coded by their classes; `estimator` reads them first."""
    return estimator._whole(X, y, sample_weight, who)


def put_rows_model(
    estimator: Linear, model: RowModel, words: Words | None, documents: Documents | None = None
) -> None:
    """Make a model, the words of its features and their document counts those of an estimator."""
    estimator._put(model, words, documents)


def merged_into(estimator: E, total: MergeState, prior: MergeState | None = None) -> E:
    """A twin of an estimator that has learnt what was merged, and nothing else."""
    return estimator._merged(total, prior)
