"""The base class of batch taggers: sequences to a loss, its solution to a model; knows no loss."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, _core
from surelearn.learners.answers.tagger import Tagger
from surelearn.learners.base import put_model, settings_of
from surelearn.learners.batch import NOISE, BatchEstimator, Cells
from surelearn.learners.deciding import Wanted, certify, fit_certified
from surelearn.learners.labels import as_labels
from surelearn.learners.settings import FEATURES
from surelearn.learners.snapshot import recast
from surelearn.learners.sources import opened_sentences, put_columns
from surelearn.learners.tagger import SureTagger
from surelearn.learners.tasks.sequence_training import SequenceSettings, encode_block, labelled
from surelearn.learners.tasks.sequences import LabelledSequences, SequenceBatch, SequenceModel
from surelearn.solvers import Prior, Progress, Solution, laplace
from surelearn.training.position import StreamPosition
from surelearn.weights import Diagonal

Array = NDArray[np.float64]

#: More sentences than any source has.
_ALL = 2**62


class Problem(NamedTuple):
    """A loss over sequences, and the weights that are learnt from it: those that it can move."""

    model: SequenceModel  # takes the solution; without weights they are made at the prior
    batch: SequenceBatch  # of the features that occur
    rows: NDArray[np.int64]  # of these features in the table of weights
    cells: Cells
    prior: Prior
    start: Array | None = None  # None: the mean of the prior

    def loss(self, scale: float = 1.0) -> _core.SequenceLoss:
        """The loss, with the weights of sequences times `scale`."""
        tokens, pairs, bounds, y, weight, _ = self.batch
        if scale != 1.0:
            weight = np.full(self.batch.size, scale) if weight is None else scale * weight
        n_labels = len(self.model.classes)
        cells = self.cells.listed(n_labels)
        return _core.SequenceLoss(tokens, pairs, bounds, y, weight, n_labels, *cells)

    def take(self, loss: _core.SequenceLoss, w: Array, threads: int) -> SequenceModel:
        """The model with a solution as means, and the variances of Laplace's approximation."""
        model, variance = self.model, laplace(loss, self.prior, w, threads)
        weights = model.weights
        if weights is None:
            weights = Diagonal(model.layout, len(model.classes), model.initial_variance)
        self.cells.write(weights, self.rows, w, variance)
        return replace(model, weights=weights)


class BatchTagger(Tagger, BatchEstimator[SequenceModel]):
    """A tagger that minimises a loss over all its sequences at once."""

    templates: Any
    columns: Any
    n_features: int | None
    dtype: Any
    stream_: StreamPosition

    @abstractmethod
    def _cells(self, settings: Any, batch: SequenceBatch, learnt: NDArray[np.bool_]) -> Cells:
        """The weights that sequences can move; `learnt` tells which are not at the prior."""

    @abstractmethod
    def _solver(self, settings: Any, problem: Problem, loss: Any) -> Callable[[], Solution]:
        """What minimises the loss."""

    # ----------------------------------------------------------------- learning

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, risk: Any = None, delta: float = 0.1
    ) -> Self:
        """Minimise the loss over these sequences.

        Parameters
        ----------
        X : list of sequences
            As in `SureTagger.fit`.
        y : list of sequences of labels
            One label for each token.
        sample_weight : array of shape (n_sequences,), optional
            Factors of the losses; sequences of weight 0 are left out before anything else.
        risk, delta : optional
            Keep a fifth of the sequences back, at random, to certify that at most a share `risk` of
            tags is wrong where ``predict(X, abstain=True)`` answers; see `choose_abstention`.
            These sequences are never learnt. `predict_set` uses them as well.

        Returns
        -------
        self
            On an error the model is as it was before the call. At Ctrl-C it is the best that was
            found so far, and KeyboardInterrupt is raised.
        """
        if risk is not None:
            return fit_certified(self, X, y, sample_weight, risk=risk, delta=delta)
        settings = self._settings_for()
        problem = self._posed(settings, LabelledSequences.of(X, y, sample_weight))
        return self._learn(settings, problem, partial(self._publish, position=None))

    def fit_stream(
        self,
        source: Any,
        *,
        resume: bool = False,
        progress: Callable[[Progress], None] | None = None,
        risk: Any = None,
        delta: float = 0.1,
        **reading: Any,
    ) -> Self:
        """`fit` on all sentences of files, which are held in memory.

        Parameters
        ----------
        source : str, path, list of them or read.Source
            As in `read.sentences`.
        resume : bool, default False
            Whether to start from the weights at hand, as with `warm_start`. The default columns are
            then those that were read before.
        progress : function, optional
            Called with a `solvers.Progress` (iteration, value, gap, seconds) as the solver goes on.
        risk, delta : optional
            As in `fit`. Not with ``resume=True``, which may have learnt any sentence.
        **reading
            Keywords of `read.sentences`: columns, label, ...

        Returns
        -------
        self
        """
        _check.callback("progress", progress)
        goes_on = _check.flag("resume", resume) and not self._fresh
        wanted = None if risk is None else Wanted.of(self, risk, delta, resume=resume)
        settings = self._settings_for(**{"warm_start": True} if goes_on else {})
        if progress is not None:
            settings = settings.but(report=progress)
        found = opened_sentences(source, reading, model=self if goes_on else None)
        records, kept = found.first(_ALL), None
        if wanted is not None:
            numbers, rest = wanted.parts(self, np.arange(len(records)))
            records, kept = records[rest], records[numbers]
        block = labelled(records, found)
        position = StreamPosition(
            tuple(found.names), found.columns, rows=block.size, n_bad=records.n_bad, ended=True
        )
        problem = self._posed(settings, block)
        del records, block  # the solver needs no words
        self._learn(settings, problem, partial(self._publish, position=position))
        if wanted is not None and kept is not None:
            certify(self, wanted, kept.X, kept.y)
        return self

    def _publish(self, model: SequenceModel, position: StreamPosition | None) -> None:
        """Take a new model, and forget what belonged to the one before."""
        self._model = model
        self._forget()
        if position is not None:
            self.stream_ = position

    def _posed(self, settings: Any, block: LabelledSequences) -> Problem:
        """The problem of learning these sequences from scratch."""
        block.check_fit()
        before = self._starting(settings, block)
        model, encoded = encode_block(settings, before, block)
        _check.cost_fits(vars(settings).get("cost"), model.classes)
        (batch, rows), blank = encoded.compact(model), _blank(settings, model)
        learnt = np.zeros((len(model.classes), len(rows)), dtype=bool)
        cells = self._cells(settings, batch, learnt)
        start = None
        if before is not None:
            start = cells.read(_check.trained(model.weights, "warm_start").means[:, rows])
        return Problem(blank, batch, rows, cells, Prior(None, settings.precision), start)

    def _starting(self, settings: Any, block: LabelledSequences) -> SequenceModel | None:
        """A copy of the model whose weights `fit` starts from; None: it starts from zeros."""
        return None

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        r"""Continue training on more sequences, with the current Gaussian as their prior.

        .. math:: \mu \leftarrow \arg\min_w \sum_i loss_i(w)
            + \tfrac12 (w - \mu)' \Sigma^{-1} (w - \mu), \qquad
            \Sigma^{-1} \leftarrow \Sigma^{-1} + H

        with H the diagonal of the Hessian of the log loss at the new :math:`\mu`. Only these
        sequences are in memory. New labels and features start at the prior of the first call.

        Parameters
        ----------
        X : list of sequences
        y : list of sequences of labels
        classes : array, optional
            Labels to know from now on.
        sample_weight : array of shape (n_sequences,), optional

        Returns
        -------
        self
            On an error the model is as it was before the call; at Ctrl-C as in `fit`.

        References
        ----------
        Spiegelhalter & Lauritzen 1990, Sequential updating of conditional probabilities on directed
        graphical structures (recursive Laplace approximation).
        """
        settings = self._settings_for()
        before = None if self._fresh else self._snapshot()
        if before is not None:
            settings.check_fits(before)
        block = LabelledSequences.of(X, y, sample_weight)
        declared = None if classes is None else as_labels(classes, "classes")
        if not block.size and declared is None:
            return self
        model, encoded = encode_block(settings, before, block, declared=declared)
        _check.cost_fits(vars(settings).get("cost"), model.classes)
        if not len(encoded.y):
            self._model = model
            return self
        batch, rows = encoded.compact(model)
        weights = _check.trained(model.weights, "partial_fit")
        mean, variance = weights.means[:, rows], weights.variances[:, rows]
        cells = self._cells(settings, batch, (mean != 0) | (variance != weights.prior))
        prior = Prior(cells.read(mean), 1.0 / cells.read(variance))
        problem = Problem(model, batch, rows, cells, prior)
        return self._learn(settings, problem, partial(setattr, self, "_model"))

    def _learn(
        self, settings: Any, problem: Problem, publish: Callable[[SequenceModel], None]
    ) -> Self:
        loss = problem.loss()

        def take(solution: Solution) -> None:
            publish(problem.take(loss, solution.w, settings.n_jobs))

        self._minimise(self._solver(settings, problem, loss), take, settings.max_iter)
        return self

    def online(self, rule: Any = None, **params: Any) -> SureTagger:
        """A `SureTagger` that starts from this model, and goes on with a stream.

        It has a copy of the means and variances, so `partial_fit`, and `fit_stream` with
        ``resume=True``, go on from the optimum. A parameter of its constructor could not do this:
        `sklearn.base.clone` copies parameters only.

        Parameters
        ----------
        rule : str, rule or function, optional
            Default: ``Probit(noise=2.9)``, since logistic noise is nearly normal with a variance of
            1.7 squared.
        **params
            Other parameters of `SureTagger`; ``average=False`` by default.

        Returns
        -------
        SureTagger
        """
        from surelearn.learners import SureTagger

        model = self._fitted()
        own = {name: getattr(self, name) for name in (*FEATURES, "dtype", "n_jobs", "random_state")}
        tagger = SureTagger(
            NOISE if rule is None else rule,
            **{**own, "initial_variance": model.initial_variance, "average": False, **params},
        )
        put_model(tagger, _moved(self._snapshot(), settings_of(tagger)))
        put_columns(tagger, [self])
        return tagger


def _blank(settings: SequenceSettings, model: SequenceModel) -> SequenceModel:
    """The model without weights, with room for the features there are."""
    n_rows = model.first + model.features.n_features
    layout = replace(model.layout, n_features=n_rows, dtype=settings.dtype)
    return replace(model, layout=layout, initial_variance=settings.initial_variance, weights=None)


def _moved(model: SequenceModel, settings: SequenceSettings) -> SequenceModel:
    """A model for a tagger with other settings, which must fit it."""
    layout = replace(model.layout, second_order=settings.second_order, averaged=settings.average)
    weights = recast(_check.trained(model.weights, "online"), layout)
    moved = replace(model, layout=layout, projection=settings.projection, weights=weights)
    settings.check_fits(moved)
    return moved
