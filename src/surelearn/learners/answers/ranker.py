"""The predictions of a ranker: the best candidate, ranks, margins, probabilities, weights."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surelearn import _check, _core, rules
from surelearn.learners.answers.views import GroupView
from surelearn.learners.base import Estimator, require_variances, with_variances
from surelearn.learners.checks import ROWS, validated
from surelearn.learners.deciding import decided
from surelearn.learners.explain.explanation import Explanation, Subject, Top, of_model, of_row
from surelearn.learners.tasks.ranking import GroupBlock, RankModel
from surelearn.rows import rows_of

Array = NDArray[np.float64]

#: How many weights `explain` lists for a model.
_TOP = 20


class GroupLabels(NamedTuple):
    """The arguments of `fit` that describe the rows of X."""

    y: Any
    cost: Any
    group: Any
    qid: Any
    sample_weight: Any = None


class RankerAnswers(Estimator[RankModel]):
    """A ranker of candidates: its fitted attributes and all that it answers."""

    rule: Any
    n_jobs: int | None
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    temperature_: float

    # ------------------------------------------------------------------- fitted

    @property
    def coef_(self) -> NDArray[Any]:
        means: NDArray[Any] = self._attribute("coef_").weights.means[0]
        means.flags.writeable = False
        return means

    @property
    def sigma_(self) -> NDArray[Any]:
        model = self._attribute("sigma_")
        require_variances(self)
        variances: NDArray[Any] = model.weights.variances[0]
        return variances

    @property
    def n_skipped_(self) -> int:
        return self._attribute("n_skipped_").skipped

    # --------------------------------------------------------------- prediction

    def decision_function(self, X: Any) -> Array:
        """The mean score of each candidate, ``X @ coef_``.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        model = self._fitted()
        return model.scores(self._rows(X)[0])

    def predict(
        self,
        X: Any,
        *,
        group: Any = None,
        qid: Any = None,
        abstain: bool = False,
        abstain_label: Any = None,
    ) -> NDArray[Any]:
        """The best candidate of each group, by its mean score; the first one wins a tie.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            One row for each candidate.
        group : array of int of shape (n_groups,), optional
            Number of candidates of each group, in the order of the rows.
        qid : array of shape (n_samples,), optional
            In place of `group`: an id for each row; rows of one id must be next to each other.
            Without both, all rows are one group.
        abstain : bool, default False
            Whether to answer only groups that `choose_abstention` has certified.
        abstain_label : optional
            What stands for no answer; default None.

        Returns
        -------
        ndarray of shape (n_groups,)
            Its position in the group, from 0; -1 for an empty group.
        """
        if abstain:
            found: NDArray[Any] = decided(
                self, X, abstain_label, abstain=abstain, group=group, qid=qid
            )
            return found
        model, (rows, bounds) = self._fitted(), self._groups(X, group, qid)
        best = model.leads(rows, bounds, self._threads()).best
        return np.where(best < 0, -1, best - bounds[:-1]).astype(np.int64)

    def rank(self, X: Any, *, group: Any = None, qid: Any = None) -> list[NDArray[np.int64]]:
        """The candidates of each group from best to worst, by their mean scores.

        Parameters
        ----------
        X, group, qid
            As in `predict`.

        Returns
        -------
        list of ndarray
            For each group the positions of its candidates, best first; ties keep their order.
        """
        model, (rows, bounds) = self._fitted(), self._groups(X, group, qid)
        scores = model.scores(rows)
        return [np.argsort(-scores[a:b], kind="stable") for a, b in pairwise(bounds)]

    @with_variances
    def margin(self, X: Any, *, group: Any = None, qid: Any = None) -> tuple[Array, Array]:
        """Mean and variance of the lead of the best candidate over the next best.

        Parameters
        ----------
        X, group, qid
            As in `predict`.

        Returns
        -------
        mean, variance : ndarray of shape (n_groups,)
            Infinity and 0 in a group without a second candidate.
        """
        model, (rows, bounds) = self._fitted(), self._groups(X, group, qid)
        found = model.leads(rows, bounds, self._threads())
        return found.gap, found.variance

    @with_variances
    def predict_proba(self, X: Any, *, group: Any = None, qid: Any = None) -> Array:
        r"""Probability that each candidate is the best of its group, given the weights' variances.

        .. math:: \Pr[i] = \Pr_w[\, i = \arg\max_c w \cdot x_c\,], \qquad
            X_g w \sim N(X_g \mu, X_g \Sigma X_g^\top)

        It is exact for two candidates, and for candidates that share no feature. Otherwise it is
        the share of 1,000 draws, the same ones in every call. `Probit` adds its noise to the
        variances. Rules with a fixed target margin, such as `AROW`, leave variances on a scale
        unrelated to that margin: call `calibrate` first.

        Parameters
        ----------
        X, group, qid
            As in `predict`.

        Returns
        -------
        ndarray of shape (n_samples,)
            One number for each row of X; those of a group sum to one.
        """
        model, (rows, bounds) = self._fitted(), self._groups(X, group, qid)
        temperature = self.__dict__.get("temperature_", 1.0)
        return model.probabilities(
            rows, bounds, temperature=temperature, noise=self._noise(), threads=self._threads()
        )

    @with_variances
    def calibrate(
        self, X: Any, y: Any = None, *, cost: Any = None, group: Any = None, qid: Any = None
    ) -> Self:
        """Fit ``temperature_`` on groups that the model was not trained on.

        It is one number that multiplies all standard deviations, such that the right candidates are
        most probably the best ones. `predict` and `rank` do not change. `partial_fit` keeps it,
        `fit` resets it. A few hundred groups are enough; if groups are few, it is shrunk towards 1.

        Parameters
        ----------
        X, y, cost, group, qid
            As in `SureRanker.fit`.

        Returns
        -------
        self
        """
        model = self._fitted()
        block = labelled_groups(self, X, GroupLabels(y, cost, group, qid))
        _check.some_judged(
            block.size - block.n_skipped, "group with a right and a wrong candidate", "calibrate"
        )
        self.temperature_ = model.fitted_temperature(
            block, noise=self._noise(), threads=self._threads()
        )
        return self

    def __view__(self, X: Any, *, group: Any = None, qid: Any = None, **records: Any) -> GroupView:
        model, (rows, bounds) = self._fitted(), self._groups(X, group, qid)
        temperature, threads = self.__dict__.get("temperature_", 1.0), self._threads()
        return GroupView(
            model.leads(rows, bounds, threads),
            lambda: model.probabilities(
                rows, bounds, temperature=temperature, noise=self._noise(), threads=threads
            ),
            bounds,
        )

    def _noise(self) -> float:
        return rules.get(self.rule).label_noise

    def explain(self, row: Any = None, *, top: Top = "auto", names: Any = None) -> Explanation:
        """Explain the model by its surest weights, or the score of one candidate by its features.

        Parameters
        ----------
        row : array, sparse row or frame of one row, optional
            Without it, the weights in the order of the probability of their sign. With it, the
            contribution of each non-zero feature to the mean and the variance of the score.
        top : int or None, default "auto"
            How many lines to list; None: all. ``"auto"`` lists 20 weights of a model, and all
            features of a row.
        names : array of str of shape (n_features,), optional
            Names of the features. Default: `feature_names_in_` if there are any, else x0, x1, ...

        Returns
        -------
        Explanation
            As of `SureClassifier.explain`, without labels.
        """
        model = self._fitted()
        limit = _check.top(top, auto=_TOP if row is None else None)
        named = _check.names(names, model.layout.n_features)
        subject = Subject(
            model.weights.means,
            model.weights.variances if model.layout.second_order else None,
            None,
            model.layout.n_features,
            self.__dict__.get("feature_names_in_") if named is None else named,
        )
        if row is None:
            return of_model(subject, limit)
        return of_row(subject, *self._entries(row), limit)

    def _entries(self, row: Any) -> tuple[NDArray[np.int64], Array]:
        """The features of one candidate that are not zero, and their values."""
        found = self._matrix(np.atleast_2d(row) if np.ndim(row) == 1 else row, reset=False)[0]
        _check.row_of_numbers(found.shape, found.dtype, "row")
        _check.sound_rows(rows_of(found).fault)
        own = sparse.csr_array(found, copy=True)
        own.sum_duplicates()
        own.eliminate_zeros()
        return own.indices.astype(np.int64), own.data.astype(np.float64)

    # -------------------------------------------------------------------- input

    def _matrix(self, X: Any, *, reset: bool) -> tuple[Any, bool]:
        """X as a CSR matrix after scikit-learn's checks, and whether it was sparse."""
        found = validated(self, X, reset=reset, **ROWS)
        is_sparse = sparse.issparse(found)
        return (found if is_sparse else sparse.csr_array(found)), is_sparse

    def _rows(self, X: Any, *, reset: bool = False) -> tuple[_core.Rows, bool]:
        """The checked rows of the core, and whether they were sparse."""
        matrix, is_sparse = self._matrix(X, reset=reset)
        rows = rows_of(matrix)
        _check.sound_rows(rows.fault)
        return rows, is_sparse

    def _groups(self, X: Any, group: Any, qid: Any) -> tuple[_core.Rows, NDArray[np.int64]]:
        """The rows of the core and the bounds of their groups; by default all are one group."""
        rows, _ = self._rows(X)
        bounds = _check.group_bounds(group, qid, len(rows))
        return rows, np.array([0, len(rows)]) if bounds is None else bounds

    def _threads(self) -> int:
        return _check.threads("n_jobs", self.n_jobs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def labelled_groups(
    ranker: RankerAnswers, X: Any, labels: GroupLabels, *, reset: bool = False
) -> GroupBlock:
    """Checked groups with their costs; `reset`: these rows decide the number of features."""
    rows, is_sparse = ranker._rows(X, reset=reset)
    bounds = _check.grouped(_check.group_bounds(labels.group, labels.qid, len(rows)))
    cost = _check.candidate_costs(labels.y, labels.cost, len(rows))
    weight = _check.sample_weight(
        labels.sample_weight, len(bounds) - 1, like="the groups", unit="group"
    )
    return GroupBlock.of(rows, bounds, cost, weight, is_sparse=is_sparse)
