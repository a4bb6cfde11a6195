"""SureTagger: a tagger that learns online, by the rules and weights of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from numpy.typing import NDArray

from surelearn import rules
from surelearn.learners.answers.tagger import Tagger
from surelearn.learners.deciding import fit_certified
from surelearn.learners.online import Streamed
from surelearn.learners.tasks.sequence_training import SequenceSettings, SequenceTrainable
from surelearn.learners.tasks.sequences import LabelledSequences, SequenceModel


class SureTagger(Tagger, Streamed[SequenceModel]):
    r"""Tagger of sequences that keeps a Gaussian over its weights and learns from a stream.

    .. math:: \hat y = \arg\max_z \mu \cdot \Psi(x, z), \qquad
        \Psi(x, z) = \sum_t \Psi_t(x, z_{t-1}, z_t), \qquad g = \Psi(x, y) - \Psi(x, \hat y)

    and then the update of `SureClassifier` with this g. Rules that ask for a margin (PA, AROW,
    NHERD) are shown the path that is best with a cost of 1 for each wrong tag, and asked for as
    much margin as it has wrong tags. The others are shown the best wrong path, which is the second
    best where the best is right; the perceptron learns from mistakes only.

    Parameters
    ----------
    rule : str, rule or function, default "scw1"
        As in `SureClassifier`. The default serves few passes and many, and bears wrong labels;
        ``AROW(r=30)`` with ``average=False`` is mostly better after one pass over clean ones.
    templates : list of str, optional
        What is made of words, such as ``"w[0]"`` or ``"w[-1]|w[0]"``, see `surelearn.templates`.
        Default: a window of five words with prefixes, suffixes and shapes, or, where there are
        parts of speech too, a window of five of both. Not for tokens that are features already.
    columns : list of str, optional
        Names of the columns of tokens that are tuples. Default: w, pos, c2, c3, ...
    n_features : int, optional
        Hash names of features into so many. Default: every name has a number of its own.
    constraints : str or constraints, default "single"
        ``"single"``: learn from the best wrong path. ``constraints.Sequential(k)``: from the k
        best, one after the other.
    projection : {"precision", "covariance"}, default "precision"
        Which off-diagonal part an update drops.
    passes : int, default 10
        Passes over the data in `fit`.
    shuffle : bool, default True
        Whether `fit` goes through the sequences in a new random order in each pass.
    initial_variance : float > 0, default 1
        Variance of every weight before the first sequence.
    average : bool, default True
        Whether predictions use the mean of all weight vectors over all rounds, a sequence each.
    dtype : {"float32", "float64"}, default "float32"
        How weights are kept. Arithmetic is always in double.
    n_shards : int, default 1
        Parts that the sequences of `fit`, or the blocks of `fit_stream`, are dealt to, learnt apart
        and merged. It changes the result, `n_jobs` never does.
    n_jobs : int or None, default None
        Threads for shards and for predictions, as in `SureClassifier`. Changes no result.
    combine : {"evidence", "bayes", "weighted", "kl", "uniform"}, default "evidence"
    merge_every : int or None, default 1
        How shards are merged, and after how many passes, as in `SureClassifier`.
    random_state : int, RandomState or None, default None
        Order of the sequences in `fit`.
    verbose : int, default 0
        1 prints a line for each pass.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Known labels, sorted.
    features_ : TokenFeatures
        Features of tokens so far: `names`, `pair_names`, `n_features`.
    coef_, sigma_ : ndarray of shape (n_labels, n_features)
        Means of the features' weights, and their variances (second-order rules only).
    transitions_, transitions_sigma_ : ndarray of shape (n_labels, n_labels)
        The same for each step from the label of the row to that of the column.
    start_, start_sigma_, end_, end_sigma_ : ndarray of shape (n_labels,)
        The same for beginning and ending with a label.
    projection_ : {"precision", "covariance"}
    n_updates_ : int
        Sequences that moved the weights.
    n_iter_ : int
        Passes made; all calls of `partial_fit` count as one.
    mistakes_ : ndarray of int
        Sequences whose best path was not the right one before their update, one entry a pass.
    stream_ : StreamPosition
        After `fit_stream`: where in its source training is, or has ended. Merged taggers keep the
        columns of it, where all have read the same.
    temperature_ : float
        After `calibrate`: what scores are divided by before they become probabilities.

    References
    ----------
    Collins 2002, Discriminative training methods for hidden Markov models (averaged perceptron).
    Taskar, Guestrin & Koller 2003, Max-margin Markov networks (margins by wrong tags).
    Crammer, Dredze & Kulesza 2009, sec. 6.3 and 8, announce the confidence-weighted form.

    Examples
    --------
    >>> from surelearn import SureTagger
    >>> X = [["the", "dog", "barks"], ["a", "cat", "sleeps"]]
    >>> y = [["DET", "NOUN", "VERB"], ["DET", "NOUN", "VERB"]]
    >>> SureTagger(random_state=0).fit(X, y).predict([["a", "dog", "sleeps"]])
    [['DET', 'NOUN', 'VERB']]
    """

    def __init__(
        self,
        rule: str | rules.Rule | Callable[[float, float], Any] = "scw1",
        *,
        templates: Any = None,
        columns: Any = None,
        n_features: int | None = None,
        constraints: Any = "single",
        projection: str = "precision",
        passes: int = 10,
        shuffle: bool = True,
        initial_variance: float = 1.0,
        average: bool = True,
        dtype: Any = "float32",
        n_shards: int = 1,
        n_jobs: int | None = None,
        combine: str = "evidence",
        merge_every: int | None = 1,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.rule = rule
        self.templates = templates
        self.columns = columns
        self.n_features = n_features
        self.constraints = constraints
        self.projection = projection
        self.passes = passes
        self.shuffle = shuffle
        self.initial_variance = initial_variance
        self.average = average
        self.dtype = dtype
        self.n_shards = n_shards
        self.n_jobs = n_jobs
        self.combine = combine
        self.merge_every = merge_every
        self.random_state = random_state
        self.verbose = verbose

    # ----------------------------------------------------------------- learning

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, risk: Any = None, delta: float = 0.1
    ) -> Self:
        """Learn from scratch, in `passes` passes.

        Parameters
        ----------
        X : list of sequences
            A sequence is a list of tokens; a token is a word, a tuple of words (`columns`), a dict
            of features as in sklearn-crfsuite, or a list of features.
        y : list of sequences of labels
            One label for each token.
        sample_weight : array of shape (n_sequences,), optional
            Sequences of weight 0 are left out before anything else.
        risk, delta : optional
            Keep a fifth of the sequences back, at random, to certify that at most a share `risk` of
            tags is wrong where ``predict(X, abstain=True)`` answers; see `choose_abstention`.
            These sequences are never learnt. `predict_set` uses them as well.

        Returns
        -------
        self
            On an error the model is as it was before the call.
        """
        if risk is not None:
            return fit_certified(self, X, y, sample_weight, risk=risk, delta=delta)
        block = LabelledSequences.of(X, y, sample_weight)
        block.check_fit()
        trainable = SequenceTrainable(self._settings_for(), same_space=True)
        self._train(trainable, block, what="sequences")
        self._take_trained(trainable.model)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go on learning: one pass over these sequences, in their order.

        Labels and features that are new are known from the first of these sequences on.

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
            Where the input is refused, the model is as it was. Where one sequence's update would
            leave no usable model, those before it are kept and the error names it.
        """
        block = LabelledSequences.of(X, y, sample_weight)
        return self._go_on_with_structures(block, SequenceTrainable, classes)

    # ------------------------------------------------------------------- streams

    def _cached(self, settings: SequenceSettings, room: int) -> int:
        # Shards number features as they meet them, and again where they are merged.
        return room if settings.n_shards == 1 else 0

    def _trainable(
        self, settings: SequenceSettings, declared: NDArray[Any] | None, *, goes_on: bool
    ) -> SequenceTrainable:
        model = None
        if goes_on:
            model = self._model
            settings.check_fits(model)
        watch = self._publisher(is_new=not goes_on)
        return SequenceTrainable(settings, model, declared=declared, watch=watch)
