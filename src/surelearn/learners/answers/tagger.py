"""The base class of taggers: all that they answer; must not know how they learn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn.decode import Chain
from surelearn.learners.answers.views import SentenceView
from surelearn.learners.base import put_model, require_variances, with_variances
from surelearn.learners.deciding import decided
from surelearn.learners.explain.tagger import Explained
from surelearn.learners.scoring import in_deviations
from surelearn.learners.tasks.sequence_task import SEQUENCES
from surelearn.learners.tasks.sequences import LabelledSequences, SequenceModel, cut
from surelearn.learners.tasks.structures import StructureMergeState, fitted_temperature, share_right
from surelearn.merging import Way, way_of
from surelearn.parameters import untrained
from surelearn.templates import Sequences, TokenFeatures


class Tagger(Explained):
    """A tagger of sequences: predictions, probabilities of tags and of paths, fitted attributes.

    Base class of `SureTagger`, `CRFTagger` and `SVMTagger`.

    >>> from surelearn import CRFTagger
    >>> from surelearn.learners import Tagger
    >>> isinstance(CRFTagger(), Tagger)
    True
    """

    task = SEQUENCES

    n_jobs: int | None
    temperature_: float

    def __getstate__(self) -> dict[str, Any]:
        """Features and weights of one moment, also while another thread is learning."""
        state: dict[str, Any] = dict(super().__getstate__())
        if not self._fresh:
            state["_model"] = self._snapshot()
        return state

    def _snapshot(self) -> SequenceModel:
        """Features and weights of one moment: the model there is once the lock is held."""
        with self._model.lock:
            return self._model.copy()

    def __merge_state__(self, how: Way, start: Tagger | None = None) -> StructureMergeState:
        """What merging has to know of this tagger: all of it, whatever it started from."""
        self._fitted()
        self._settings_for().check_fits(self._model)
        blank: Tagger = untrained(self)
        return StructureMergeState(way_of(how), (self._snapshot(),), make=blank._merged)

    def _merged(self, total: StructureMergeState, prior: StructureMergeState | None = None) -> Self:
        """A twin of this tagger, which has learnt nothing, with what was merged."""
        twin: Self = untrained(self)
        put_model(twin, total.merged(prior))
        return twin

    # --------------------------------------------------------------- prediction

    def predict(
        self, X: Any, *, abstain: bool = False, cost: Any = None, abstain_label: Any = None
    ) -> list[Any]:
        """The path of the largest mean score of every sequence.

        Parameters
        ----------
        X : list of sequences
        abstain : bool, default False
            Whether to answer only sequences that `choose_abstention` has certified.
        cost : array of shape (n_labels, n_labels) or dict, optional
            Give each token the label of the least expected cost under `predict_marginals`; rows are
            true labels. As a dict: ``{("O", "B-NP"): 5}``, where right answers cost 0 and other
            pairs 1.
        abstain_label : optional
            What stands for the labels of a sequence without an answer; default None.

        Returns
        -------
        list of lists of labels
        """
        if abstain or cost is not None:
            found: list[Any] = decided(self, X, abstain_label, abstain=abstain, cost=cost)
            return found
        model, sequences = self._read(X)
        tags = model.tags(sequences, self._threads())
        return cut(model.classes[tags].tolist(), sequences.bounds)

    def predict_marginals(self, X: Any) -> list[list[dict[Any, float]]]:
        r"""Probability of every label of every token.

        .. math:: Pr[y_t = j] = \sum_{y: y_t = j} \exp(\mu \cdot \Psi(x, y) / \tau) / Z

        by forward-backward, with :math:`\tau` the `temperature_`, 1 before `calibrate`.

        Parameters
        ----------
        X : list of sequences

        Returns
        -------
        list of lists of dicts of {label: probability}
        """
        model, sequences = self._read(X)
        p = model.marginals(sequences, self._temperature(), self._threads())
        labels = model.classes.tolist()
        return cut([dict(zip(labels, row, strict=True)) for row in p.tolist()], sequences.bounds)

    @with_variances
    def confidence(self, X: Any) -> list[list[float]]:
        r"""How sure the weights are of each tag that `predict` gives.

        .. math:: Pr[w \cdot g_t > 0] = \Phi(\mu \cdot g_t / \sqrt{g_t^\top \Sigma g_t}), \qquad
            g_t = \Psi(x, \hat y) - \Psi(x, \hat y^{(t)})

        with :math:`\hat y^{(t)}` the best path that has another label at t.

        It ranks tags from doubtful to sure. It is not the share of tags that are right, which it
        mostly falls short of: weights whose variances are still large may well agree on the tag.
        For that share use `predict_marginals` after `calibrate`.

        Parameters
        ----------
        X : list of sequences

        Returns
        -------
        list of lists of float
            From 0.5 to 1.
        """
        from scipy.special import ndtr  # slow to import

        model, sequences = self._read(X)
        _, m, v = model.leads(sequences, self._threads())
        tie = v <= 0  # only without any feature, or with one label
        ratio = np.where(tie, np.where(m > 0, np.inf, 0.0), m / np.sqrt(np.where(tie, 1.0, v)))
        return cut(ndtr(ratio).tolist(), sequences.bounds)

    def chain(self, x: Any) -> Chain:
        """One sequence's scores, for its k best paths, samples, and sums over all paths.

        Parameters
        ----------
        x : sequence

        Returns
        -------
        decode.Chain
            Labels in it are places in `classes_`.
        """
        model, sequences = self._read([x])
        return Chain(*model.chain_scores(sequences))

    def log_probability(self, X: Any, y: Any) -> NDArray[np.float64]:
        r"""Logarithm of the probability of each sequence's labels, all of them right at once.

        .. math:: \log Pr[y | x] = \mu \cdot \Psi(x, y) / \tau
            - \log \sum_z \exp(\mu \cdot \Psi(x, z) / \tau)

        with :math:`\tau` as in `predict_marginals`.

        Parameters
        ----------
        X : list of sequences
        y : list of sequences of labels
            Labels that the model knows.

        Returns
        -------
        ndarray of shape (n_sequences,)
        """
        given = LabelledSequences.of(X, y)
        model, sequences = self._read(given.X)
        _check.known_tags(given.labels, model.classes)
        paths = cut(model.places(given.y).tolist(), sequences.bounds)
        chains = _chains(model, sequences, self._temperature())
        found = [
            chain.score(path) - chain.log_partition()
            for chain, path in zip(chains, paths, strict=True)
        ]
        return np.asarray(found, dtype=np.float64)

    def sample(self, X: Any, n_samples: int = 1, random_state: Any = None) -> list[list[list[Any]]]:
        """Draw labels for each sequence from the probabilities of all paths.

        Parameters
        ----------
        X : list of sequences
        n_samples : int, default 1
            Independent samples of each sequence.
        random_state : int, Generator or None, default None
            As in `decode.Chain.sample`.

        Returns
        -------
        list of lists of lists of labels
            For each sequence `n_samples` lists of labels.
        """
        model, sequences = self._read(X)
        n, random = _check.count("n_samples", n_samples), np.random.default_rng(random_state)
        chains = _chains(model, sequences, self._temperature())
        return [model.classes[chain.sample(n, random)].tolist() for chain in chains]

    def k_best(self, X: Any, k: int) -> list[list[list[Any]]]:
        """The k paths of the largest mean scores of each sequence, best first.

        Parameters
        ----------
        X : list of sequences
        k : int

        Returns
        -------
        list of lists of lists of labels
            For each sequence k lists of labels; all there are where there are fewer.
        """
        model, sequences = self._read(X)
        k = _check.count("k", k)
        return [model.classes[chain.k_best(k)].tolist() for chain in _chains(model, sequences)]

    def calibrate(self, X: Any, y: Any) -> Self:
        """Fit `temperature_`, so that the marginals of held-out tokens have the least log loss.

        If tokens are few, it is shrunk towards 1.

        Parameters
        ----------
        X : list of sequences
            Not learnt from.
        y : list of sequences of labels

        Returns
        -------
        self
        """
        given = LabelledSequences.of(X, y)
        model, sequences = self._read(given.X)
        if int(sequences.bounds[-1]) == 0:
            raise ValueError("X must have at least one token, got none.")
        _check.known_tags(given.labels, model.classes)
        self.temperature_ = fitted_temperature(
            lambda temperature: model.marginals(sequences, temperature, self._threads()),
            model.places(given.y),
        )
        return self

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of tokens with the right label.

        Parameters
        ----------
        X : list of sequences
        y : list of sequences of labels
        sample_weight : array of shape (n_sequences,), optional

        Returns
        -------
        float
        """
        given = LabelledSequences.of(X, y, sample_weight)
        predicted = self.predict(given.X)
        return share_right(given.y, predicted, given.weight)

    def __view__(self, X: Any, **records: Any) -> SentenceView:
        (model, sequences), threads = self._read(X), self._threads()

        def leads() -> NDArray[np.float64]:
            _, mean, variance = model.leads(sequences, threads)
            return np.where(np.isinf(mean), mean, in_deviations(mean, variance))

        return SentenceView(
            lambda: model.tags(sequences, threads),
            lambda: model.marginals(sequences, self._temperature(), threads),
            bounds=sequences.bounds,
            classes=model.classes,
            places=lambda y: model.places(LabelledSequences.of(X, y).y),
            leads=leads,
        )

    def _threads(self) -> int:
        return _check.threads("n_jobs", self.n_jobs)

    def _temperature(self) -> float:
        temperature: float = self.__dict__.get("temperature_", 1.0)
        return temperature

    # ------------------------------------------------------------------- fitted

    @property
    def features_(self) -> TokenFeatures:
        return self._attribute("features_").features

    @property
    def coef_(self) -> NDArray[Any]:
        return self._attribute("coef_").part("tokens")

    @property
    def sigma_(self) -> NDArray[Any]:
        return self._spread("sigma_", "tokens")

    @property
    def transitions_(self) -> NDArray[Any]:
        return self._attribute("transitions_").part("steps").T

    @property
    def transitions_sigma_(self) -> NDArray[Any]:
        return self._spread("transitions_sigma_", "steps").T

    @property
    def start_(self) -> NDArray[Any]:
        return self._attribute("start_").part("start")

    @property
    def start_sigma_(self) -> NDArray[Any]:
        return self._spread("start_sigma_", "start")

    @property
    def end_(self) -> NDArray[Any]:
        return self._attribute("end_").part("end")

    @property
    def end_sigma_(self) -> NDArray[Any]:
        return self._spread("end_sigma_", "end")

    def _spread(self, name: str, part: str) -> NDArray[Any]:
        model = self._attribute(name)
        require_variances(self)
        return model.part(part, variances=True)


def _chains(
    model: SequenceModel, sequences: Sequences, temperature: float = 1.0
) -> Iterator[Chain]:
    """The chain of each sequence, with its scores divided by the temperature."""
    for i in range(len(sequences.bounds) - 1):
        U, A = model.chain_scores(sequences.part(i, i + 1))
        yield Chain(U / temperature, A / temperature)
