"""SureRanker: a linear ranker of candidates that learns online."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, rules
from surelearn.constraints import Sequential
from surelearn.learners.answers.ranker import GroupLabels, RankerAnswers, labelled_groups
from surelearn.learners.base import put_model
from surelearn.learners.deciding import fit_certified
from surelearn.learners.file_parts import put_names
from surelearn.learners.online import Streamed
from surelearn.learners.readers import NumberReader
from surelearn.learners.task import merged_names
from surelearn.learners.tasks.rank_task import GROUPS
from surelearn.learners.tasks.ranking import RankModel, RankSettings, RankTrainable
from surelearn.merging import MergeState, Way
from surelearn.parameters import untrained

#: The default rule and scheme.
_AROW = rules.AROW(r=100.0)
_THREE = Sequential(k=3)


class SureRanker(RankerAnswers, Streamed[RankModel]):
    r"""Ranker of candidates that keeps a Gaussian over its weights and learns from a stream.

    An example is a group of candidates. Each candidate is a row of features :math:`\Psi(x, c)` with
    a relevance or a cost; the most relevant, or cheapest, ones are right.

    .. math:: \hat c = \arg\max_c \mu \cdot \Psi(x, c), \qquad g = \Psi(x, r) - \Psi(x, w)

    for a wrong candidate w and a better one r, and then the update of `SureClassifier` with this g.
    Rules that ask for a margin (PA, AROW, NHERD) ask for the difference of the two costs, and take
    the wrong candidate of the largest score plus cost. With other rules, the difference multiplies
    the weight of the group; the perceptron learns from mistakes only. There is no intercept: it
    cancels within a group.

    Parameters
    ----------
    rule : str, rule or function, default AROW(r=100)
        As in `SureClassifier`. Wrong candidates of large scores are hard examples: a rule that
        takes large steps on them, such as `Probit` with little noise, can end with weights near 0.
    constraints : str or constraints, default Sequential(k=3)
        ``constraints.Sequential(k)``: learn from the k wrong candidates of the largest scores, one
        after the other. ``"single"``: from the first of them. ``"sequential"``: from all wrong
        candidates.
    right : {"all", "any"}, default "all"
        ``"all"``: every candidate that costs less than a wrong one must beat it; the one of the
        lowest score is r. ``"any"``: one of them must; the one of the largest score is r.
    projection : {"auto", "precision", "covariance"}, default "auto"
        Which off-diagonal part an update drops. ``"auto"``: ``"precision"`` for sparse rows,
        ``"covariance"`` for dense ones.
    initial_variance : float > 0, default 1
        Variance of every weight before the first group.
    passes : int, default 5
        Passes over the data in `fit`.
    shuffle : bool, default True
        Whether `fit` goes through the groups in a new random order in each pass.
    random_state : int, RandomState or None, default None
        Order of the groups in `fit`.
    average : bool, default False
        Whether predictions use the mean of all weight vectors over all groups learnt.
    dtype : {"float32", "float64"}, default "float32"
        How weights are kept. Arithmetic is always in double.
    n_jobs : int or None, default None
        Threads for shards and for predictions, as in `SureClassifier`.
    n_shards : int, default 1
        Parts that the groups of `fit`, or the blocks of `fit_stream`, are dealt to, learnt apart
        and merged. It changes the result, `n_jobs` never does.
    combine : {"evidence", "bayes", "weighted", "kl", "uniform"}, default "evidence"
    merge_every : int or None, default 1
        How shards are merged, and after how many passes, as in `SureClassifier`.
    verbose : int, default 0
        1 prints a line for each pass, and how many groups were skipped.

    Attributes
    ----------
    coef_, sigma_ : ndarray of shape (n_features,)
        Means of the weights, and their variances (second-order rules only).
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X had names.
    projection_ : {"precision", "covariance"}
    n_skipped_ : int
        Groups that were skipped because they had no right and no wrong candidate: all costs the
        same, or fewer than two candidates.
    n_updates_ : int
        Groups that moved the weights.
    n_iter_ : int
        Passes made; all calls of `partial_fit` count as one.
    mistakes_ : ndarray of int
        Groups in which no right candidate led all wrong ones before the update, one entry a pass.
    stream_ : StreamPosition
        After `fit_stream`: where in its source training is, or has ended.
    temperature_ : float
        After `calibrate`: what every standard deviation is multiplied by.

    References
    ----------
    Crammer, Dredze & Kulesza 2009, Multi-Class Confidence Weighted Algorithms, sec. 2: features of
    an input and a label together. Taskar, Guestrin & Koller 2003, Max-margin Markov networks
    (margins by cost).

    Examples
    --------
    >>> from surelearn import SureRanker
    >>> X = [[0.0, 1.0], [1.0, 0.0], [0.5, 2.0], [2.0, 0.1], [0.0, 0.3]]
    >>> y = [0, 1, 0, 1, 0]  # relevance
    >>> ranker = SureRanker(random_state=0).fit(X, y, group=[2, 3])
    >>> ranker.predict([[0.1, 1.0], [3.0, 1.0]], group=[2])
    array([1])
    """

    task = GROUPS

    def __init__(
        self,
        rule: str | rules.Rule | Callable[[float, float], Any] = _AROW,
        *,
        constraints: Any = _THREE,
        right: str = "all",
        projection: str = "auto",
        initial_variance: float = 1.0,
        passes: int = 5,
        shuffle: bool = True,
        random_state: Any = None,
        average: bool = False,
        dtype: Any = "float32",
        n_jobs: int | None = None,
        n_shards: int = 1,
        combine: str = "evidence",
        merge_every: int | None = 1,
        verbose: int = 0,
    ) -> None:
        self.rule = rule
        self.constraints = constraints
        self.right = right
        self.projection = projection
        self.initial_variance = initial_variance
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.average = average
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.n_shards = n_shards
        self.combine = combine
        self.merge_every = merge_every
        self.verbose = verbose

    # ----------------------------------------------------------------- learning

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        group: Any = None,
        qid: Any = None,
        cost: Any = None,
        sample_weight: Any = None,
        risk: Any = None,
        delta: float = 0.1,
    ) -> Self:
        """Learn from scratch, in `passes` passes.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            One row for each candidate, the rows of a group next to each other.
        y : array of shape (n_samples,), optional
            Relevance of each candidate, not negative; larger is better.
        group : array of int of shape (n_groups,), optional
            Number of candidates of each group, in the order of the rows, as in LightGBM.
        qid : array of shape (n_samples,), optional
            In place of `group`: an id for each row; rows of one id must be next to each other, as
            in XGBoost.
        cost : array of shape (n_samples,), optional
            In place of `y`: what it costs to choose each candidate; smaller is better.
        sample_weight : array of shape (n_groups,), optional
            One weight for each group; groups of weight 0 are left out.
        risk, delta : optional
            Keep a fifth of the groups back, at random, to certify that at most a share `risk` of
            answers is wrong where ``predict(X, abstain=True)`` answers; see `choose_abstention`.
            These groups are never learnt. `predict_set` uses them as well.

        Returns
        -------
        self
            On an error the model is as it was before the call. Groups without a right and a wrong
            candidate are skipped and counted in `n_skipped_`; if there are no others, the call
            raises.
        """
        if risk is not None:
            records = {"group": group, "qid": qid}
            if cost is not None:
                raise ValueError("cost must be None with risk. Use y, the relevance.")
            return fit_certified(self, X, y, sample_weight, risk=risk, delta=delta, records=records)
        settings, shell = self._settings_for(), self._shell()
        labels = GroupLabels(y, cost, group, qid, sample_weight)
        block = labelled_groups(shell, X, labels, reset=True)
        if block.weight is not None:
            _check.some_weight(int((block.weight > 0).sum()), "group")
        _check.some_right(block.size, len(block.to_learn(None)))
        start = settings.untrained(shell.n_features_in_, is_sparse=block.is_sparse)
        trainable = RankTrainable(settings, shell._own_reader(), start)
        n = len(block.to_learn(None))
        self._train(trainable, block, n=n, what="groups")
        if settings.verbose and block.n_skipped:
            print(
                f"skipped {block.n_skipped:,} of {block.size:,} groups without a right and a "
                "wrong candidate",
                flush=True,
            )
        self._warn_if_unmoved(trainable.model)
        self._adopt(shell)
        self._forget()
        self._model = trainable.model
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        *,
        group: Any = None,
        qid: Any = None,
        cost: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Go on learning: one pass over these groups, in their order.

        Parameters
        ----------
        X, y, group, qid, cost, sample_weight
            As in `fit`. Groups must be whole: one cannot go on in the next call.

        Returns
        -------
        self
            Where the input is refused, the model is as it was. Where one group's update would leave
            no usable model, those before it are kept and the error names it.
        """
        (settings, model), shell = self._to_go_on_with(), self._shell()
        labels = GroupLabels(y, cost, group, qid, sample_weight)
        block = labelled_groups(shell, X, labels, reset=model is None)
        if block.has_weight.any():
            with self._keeping():
                self._adopt(shell)
                RankTrainable(settings, self._own_reader(), model, watch=self._publish).learn(block)
        return self

    def _n_records(self, y: Any, *, group: Any = None, qid: Any = None, **records: Any) -> int:
        return len(_check.grouped(_check.group_bounds(group, qid, super()._n_records(y)))) - 1

    def _picked(
        self, X: Any, y: Any, numbers: NDArray[np.int64], **records: Any
    ) -> tuple[Any, Any, dict[str, Any]]:
        bounds = _check.grouped(_check.group_bounds(**records, n_rows=super()._n_records(y)))
        rows = np.concatenate([np.arange(bounds[i], bounds[i + 1]) for i in numbers])
        return *super()._picked(X, y, rows)[:2], {"group": np.diff(bounds)[numbers]}

    def _examples_of(self, batch: Any) -> tuple[Any, Any, dict[str, Any]]:
        good = batch.relevance if batch.cost is None else batch.cost.max() - batch.cost
        return batch.X, good, {"group": batch.sizes}

    # ------------------------------------------------------------------- merging

    def __merge_state__(self, how: Way, start: SureRanker | None = None) -> MergeState:
        """What merging has to know of this ranker; see `surelearn.merging.MergeState`."""
        model = self._fitted()
        self._settings_for().check_fits(model)
        state = model.merge_state(how, None if start is None else start.model_)
        return replace(state, make=self._merged)

    def _merged(self, total: MergeState, prior: MergeState | None = None) -> Self:
        """A twin of this ranker with what was merged."""
        twin: Self = untrained(self)
        put_model(twin, self._model.merged(total, prior))
        twin.n_features_in_ = self.n_features_in_
        put_names(twin, merged_names([self]))
        return twin

    # ------------------------------------------------------------------- streams

    def _own_reader(self) -> NumberReader:
        """What makes rows for the model there is."""
        names = self.__dict__.get("feature_names_in_")
        return NumberReader(self.n_features_in_, None if names is None else names.tolist())

    def _trainable(
        self, settings: RankSettings, declared: NDArray[Any] | None, *, goes_on: bool
    ) -> RankTrainable:
        if declared is not None:
            raise TypeError(f"classes must be None for a ranker, got {declared!r}.")
        publish = self._publisher(is_new=not goes_on)

        def watch(model: RankModel) -> None:
            publish(model)
            if not goes_on:
                self.__dict__.pop("feature_names_in_", None)
            assert reader.n_features is not None
            self.n_features_in_ = reader.n_features

        reader, model = NumberReader(), None
        if goes_on:
            reader, model = self._own_reader(), self._model
            settings.check_fits(model)
        return RankTrainable(settings, reader, model, watch=watch)
