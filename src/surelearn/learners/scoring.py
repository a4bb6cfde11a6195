"""Labels, margins and probabilities of rows from a trained model; knows no scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, _core, decode, probability, rules
from surelearn.learners import reductions
from surelearn.read import Labels
from surelearn.weights import Full, Layout, Leads

Array = NDArray[np.float64]

#: Draws per row for sampled probabilities: the standard error is at most 0.005.
_DRAWS = 10_000
#: The factor that brings the logistic distribution nearest to the standard normal one.
_LOGISTIC = 1.702
#: The largest variance or score: one that overflows is cut.
LARGEST = float(np.finfo(np.float64).max)


class ScoringWeights(Protocol):
    """What a scorer needs from weights; the methods are those of `surelearn.weights.Weights`."""

    @property
    def n_columns(self) -> int:
        """Number of columns."""

    def winners(self, rows: Any) -> NDArray[np.int64]:
        """Index of the class with the largest mean score of every row."""

    def scores(self, rows: Any) -> Array:
        """Mean score of every row and column."""

    def margin(self, rows: Any, numbers: NDArray[np.int64] | None = None) -> tuple[Array, Array]:
        """Mean and variance of the score of every row and column."""

    def surest_margin(self, rows: Any, *, two_sided: bool) -> tuple[Array, Array]:
        """Mean score of every row and column, and the variance of each row's surest column."""

    def leads(
        self, rows: Any, numbers: NDArray[np.int64] | None = None, *, threads: int = 1
    ) -> Leads:
        """The margin between the two best labels of every row."""


class ScoredModel(Protocol):
    """What a scorer needs from a model, whatever its weights and their rows are."""

    layout: Layout
    classes: NDArray[Any]
    multiclass: reductions.Multiclass
    code: decode.Code | None

    @property
    def many_labels(self) -> bool:
        """Whether a row has any number of labels."""

    @property
    def weights(self) -> ScoringWeights | None:
        """None while fewer than two classes are known."""

    def copy(self) -> Any:
        """An independent copy."""


def in_deviations(mean: Array, variance: Array) -> Array:
    """Means in standard deviations; 0 without variance."""
    none = variance <= 0
    return np.asarray(np.where(none, 0.0, mean / np.sqrt(np.where(none, 1.0, variance))))


class TopTwoMargin(NamedTuple):
    """The margin between the best and the second-best label of each row.

    With g the difference of the two labels in the code, the gap is ``g.mean`` and its variance
    ``g' spread g``. `own` is the variance of the weights; `variance` adds label noise and the
    temperature of the probabilities.
    """

    best: NDArray[np.int64]
    next: NDArray[np.int64]
    gap: Array
    own: Array  # variance from the weights alone; 0: a row without features
    variance: Array

    @property
    def sureness(self) -> Array:
        """The gap in standard deviations; a row without features is a tie."""
        return in_deviations(self.gap, self.variance)


class Scored(NamedTuple):
    """The position of each row's class, and how sure the model is if it keeps variances.

    Of many labels per row, `best` is a table: whether each row has each label.
    """

    best: NDArray[Any]
    probabilities: Array | None  # of every class
    sureness: Array | None


@dataclass(slots=True)
class Scorer:
    """A model with the settings that turn its scores into labels and probabilities.

    Parameters
    ----------
    model : ScoredModel
    rule : Rule
        Its label noise adds to the variance of every margin.
    decoding : str
        How the margins of coded problems become scores of classes.
    temperature : float
        Scales every standard deviation of the probabilities.
    threads : int
    """

    model: ScoredModel
    rule: rules.Rule
    decoding: str = "auto"
    temperature: float = 1.0
    threads: int = 1

    def winners(self, rows: Any) -> NDArray[np.int64]:
        """The position of the class with the largest score of each row; ties: the first."""
        weights, code = _check.trained(self.model.weights, "prediction"), self.model.code
        # One-vs-rest has a column per class, so the scores of the core are class scores.
        if code is None or (code.kind == "ovr" and self._decoder(code) is decode.scores):
            return weights.winners(rows)
        return np.asarray(self.class_scores(rows).argmax(axis=1))

    def class_scores(self, rows: Any) -> Array:
        """The class scores; a reduction decodes them from the margins of its problems."""
        weights, code = _check.trained(self.model.weights, "prediction"), self.model.code
        if code is None:
            return weights.scores(rows)
        if self._decoder(code) is None:
            return self._decoded(*self.moments(rows))
        return self._decoded(weights.scores(rows))

    def right(self, rows: Any, labels: Labels) -> NDArray[np.bool_]:
        """Whether the prediction for each row is its label."""
        best = self.model.classes[self.winners(rows)]
        return np.asarray(best == labels.values[labels.codes])

    def margin(self, rows: Any) -> tuple[Array, Array]:
        """Mean and variance of each column; of the one column of two classes without an axis."""
        mean, variance = _check.trained(self.model.weights, "margin").margin(rows)
        return one_or_many(mean), one_or_many(variance)

    def moments(self, rows: Any) -> tuple[Array, Array]:
        """Mean scores and their variances; full covariance gives covariances between scores."""
        weights = _check.trained(self.model.weights, "probability")
        if isinstance(weights, Full) and weights.n_columns > 1:
            return weights.joint_moments(rows)
        return weights.margin(rows)

    def noisy_moments(self, rows: Any, *, tau: float | None = None) -> tuple[Array, Array]:
        """`moments` with label noise, scaled by the temperature or by `tau`."""
        return self._with_noise(*self.moments(rows), tau=tau)

    def probabilities(self, rows: Any, *, log: bool = False) -> Array:
        """The probability of each class, or its logarithm."""
        return self._of_moments(*self.moments(rows), log=log)

    def entropy(self, rows: Any) -> Array:
        """Normalised entropy of the probabilities of each row."""
        return probability.entropy(self.probabilities(rows))

    def reliability(
        self, rows: Any, places: NDArray[np.int64], *, bins: int
    ) -> probability.Reliability:
        """Predicted probabilities against errors, given the position of each row's class."""
        p = self.probabilities(rows)
        every = np.arange(len(self.model.classes))
        return probability.reliability(places, p, every, bins=bins, y_pred=self.winners(rows))

    def top_two(
        self,
        rows: Any,
        numbers: NDArray[np.int64] | None = None,
        *,
        places: NDArray[np.int64] | None = None,
    ) -> TopTwoMargin:
        """The margin of the best label, or of the label in `places`, over the next best.

        Parameters
        ----------
        rows : Rows
        numbers : array of int, optional
            Row numbers; default: all.
        places : array of int, optional
            The class of each row in place of the best; with a code or many labels only.
        """
        weights = _check.trained(self.model.weights, "sureness")
        if self.model.code is None and not self.model.many_labels:
            found = weights.leads(rows, numbers, threads=self.threads)
            return self._top_two_with_noise(found, np.ones(1))
        return self._coded_top_two(*weights.margin(rows, numbers), places=places)

    def score(self, rows: Any) -> Scored:
        """Labels, probabilities and sureness from one pass over the rows."""
        if not self.model.layout.second_order:
            return Scored(self.winners(rows), None, None)
        mean, spread = self.moments(rows)
        if self.model.code is not None:
            found = self._coded_top_two(mean, spread)
        elif spread.ndim == 2:
            found = self._top_two_with_noise(_top_two(mean, spread), np.ones(1))
        else:  # full covariance: the core bounds the rounding error of the variance of a gap
            found = self.top_two(rows)
        p = self._of_moments(mean, spread)
        return Scored(found.best, p, found.sureness)

    def judged(self, rows: Any, means: Array | None = None) -> tuple[NDArray[np.int64], Array]:
        """The position of each row's class, and the probability of every class.

        `means` are those of `margin` if they are known.
        """
        best, p, _ = self.score(rows)
        assert p is not None
        return best, p

    def fitted_temperature(self, rows: Any, places: NDArray[np.int64]) -> float:
        """The temperature that makes the classes in `places` most probable.

        It is shrunk, for few rows or only right ones.
        """
        mean, spread = self.noisy_moments(rows, tau=1.0)
        code, own = self.model.code, (np.arange(len(mean)), places)
        if code is None:
            return probability.fit_temperature(mean, spread, places, shrink=True)
        return probability.best_temperature(
            lambda tau: decode.label_probabilities(code, mean, spread * tau**2, log=True)[own],
            shrink=True,
        )

    def log_losses(self, rows: Any, places: NDArray[np.int64]) -> Callable[[float], Array]:
        """The log loss of each row, as a function of the temperature, given its class."""
        own = np.arange(len(places)), places
        return lambda tau: -replace(self, temperature=tau).probabilities(rows, log=True)[own]

    def sampled(self, rows: Any, n_samples: int, random: np.random.Generator) -> Array:
        """The share of draws of the weights in which each class wins."""
        mean, spread = _of_each_class(*self.noisy_moments(rows))
        return probability.sample_probabilities(mean, spread, n_samples, random)

    # ---------------------------------------------------------------- internals

    def _decoder(self, code: decode.Code) -> reductions.Decoder | None:
        name = reductions.decoding(self.decoding, code, first_order=self.rule.first_order)
        return reductions.decoder(name, code)

    def _decoded(self, mean: Array, own: Array | None = None) -> Array:
        """Class scores from the margins of problems; decoding by probability needs variances."""
        code = self.model.code
        assert code is not None
        decoder = self._decoder(code)
        if decoder is not None:
            return decoder(code, mean)
        assert own is not None
        # Temperature 1: calibration must not change predicted labels.
        return decode.probability(code, *self._with_noise(mean, own, tau=1.0))

    def _with_noise(
        self, mean: Array, spread: Array, *, tau: float | None = None
    ) -> tuple[Array, Array]:
        tau = self.temperature if tau is None else tau
        noise = self.rule.label_noise
        if spread.ndim == 3:
            return _sound(mean, (spread + 0.5 * noise * np.eye(mean.shape[1])) * tau**2)
        mean, spread = one_or_many(mean), one_or_many(spread)
        # Label noise belongs to a margin, the difference of two scores: each gets half of it.
        is_margin = spread.ndim == 1 or self.model.code is not None
        spread = spread + (noise if is_margin else 0.5 * noise)
        return mean, np.minimum(spread * tau**2, LARGEST)

    def _of_moments(self, mean: Array, own: Array, *, log: bool = False) -> Array:
        """Probabilities of classes, given mean scores and the variances of the weights."""
        return self._probabilities(*self._with_noise(mean, own), log=log)

    def _probabilities(self, mean: Array, spread: Array, *, log: bool = False) -> Array:
        """Exact probabilities; sampled ones with covariances between scores."""
        if spread.ndim == 3:  # a fixed seed: the same rows give the same probabilities
            p = probability.sample_probabilities(mean, spread, _DRAWS, np.random.default_rng(0))
            with np.errstate(divide="ignore"):
                return np.log(p) if log else p
        if self.model.code is None:
            return probability.label_probabilities(mean, spread, log=log)
        return decode.label_probabilities(self.model.code, mean, spread, log=log)

    def _coded_top_two(
        self, mean: Array, own: Array, *, places: NDArray[np.int64] | None = None
    ) -> TopTwoMargin:
        """The margin of the best label over the next best, with a code."""
        assert self.model.code is not None
        if places is None:
            places = self._decoded(mean, own).argmax(axis=1)
        code = self.model.code.matrix.astype(np.float64)
        scores = np.where(np.arange(len(code)) == places[:, None], -np.inf, mean @ code.T)
        others = scores.argmax(axis=1)
        g = code[places] - code[others]
        gap, variance = (g * mean).sum(axis=1), (g * g * own).sum(axis=1)
        return self._top_two_with_noise(Leads(places, others, gap, variance), (g * g).sum(axis=1))

    def _top_two_with_noise(self, found: Leads, problems: Array) -> TopTwoMargin:
        """Add label noise, once for each problem, and the temperature."""
        noise = problems * self.rule.label_noise
        variance = np.minimum((found.variance + noise) * self.temperature**2, LARGEST)
        return TopTwoMargin(*found, variance)


@dataclass(slots=True)
class MeanScorer(Scorer):
    r"""A scorer whose probabilities are the softmax of the mean scores over a temperature.

    .. math:: Pr[y] \propto \exp\Big(\frac{1.702\, s_y}{\tau \sqrt{n}}\Big)

    with n the rule's label noise, 1 if it has none: for two classes and tau = 1 this is near
    :math:`\Phi(M / \sqrt n)`. Variances of the weights count for sureness only, so that the most
    probable class is always the one with the largest score.

    Parameters
    ----------
    softness : float
        The temperature tau; `temperature`, which scales standard deviations, stays 1.
    """

    softness: float = 1.0

    def probabilities(self, rows: Any, *, log: bool = False) -> Array:
        return self._soft(self.class_scores(rows), self.softness, log=log)

    def judged(self, rows: Any, means: Array | None = None) -> tuple[NDArray[np.int64], Array]:
        if means is None or self.model.code is not None:
            means = self.class_scores(rows)
        scores = np.ascontiguousarray(means).reshape(len(means), -1)
        many = scores.shape[1] > 1
        best = _core.first_largest_of(scores) if many else (scores[:, 0] > 0).astype(np.int64)
        return best, self._soft(scores, self.softness, log=False)

    def fitted_temperature(self, rows: Any, places: NDArray[np.int64]) -> float:
        losses = self.log_losses(rows, places)
        return probability.best_temperature(lambda tau: -losses(tau), shrink=True)

    def log_losses(self, rows: Any, places: NDArray[np.int64]) -> Callable[[float], Array]:
        scores, own = one_or_many(self.class_scores(rows)), (np.arange(len(places)), places)
        if scores.ndim > 1:
            return lambda tau: -self._soft(scores, tau, log=True)[own]
        rival = np.where(places == 1, -scores, scores)
        return lambda tau: np.asarray(np.logaddexp(0.0, self._over(tau, rival)))

    def followed_temperature(
        self, rows: Any, places: NDArray[np.int64], log_temperature: float, precision: float
    ) -> tuple[float, float]:
        """As `calibration.Follower` says: where log tau moves, and the curvature of the loss there.

        `log_temperature` and `precision` are the mean and the precision of log tau before.
        """
        scores = one_or_many(self.class_scores(rows))
        if np.isnan(scores).any():
            _softmax(scores, log=False)  # raises
        scores = np.ascontiguousarray(scores).reshape(len(scores), -1)
        factor = float(_LOGISTIC / np.sqrt(self.rule.label_noise or 1.0))
        return _core.followed_temperature(scores, places, factor, log_temperature, precision)

    def _of_moments(self, mean: Array, own: Array, *, log: bool = False) -> Array:
        scores = mean if self.model.code is None else self._decoded(mean, own)
        return self._soft(scores, self.softness, log=log)

    def _soft(self, scores: Array, tau: float, *, log: bool) -> Array:
        return _softmax(self._over(tau, _below_the_best(one_or_many(scores))), log=log)

    def _over(self, tau: float, scores: Array) -> Array:
        """Scores over a temperature."""
        factor = _LOGISTIC / (tau * np.sqrt(self.rule.label_noise or 1.0))
        with np.errstate(over="ignore"):
            return np.asarray(np.clip(scores * factor, -1e300, 1e300))


@dataclass(slots=True)
class SoftmaxScorer(Scorer):
    """A scorer whose probabilities are the softmax of the scores, as the log loss has them.

    Its temperature divides the scores. The rule's label noise counts for sureness only: it is that
    of the logistic distribution.

    Parameters
    ----------
    moderated : bool
        Whether variances of the scores make the probabilities less extreme.
    """

    moderated: bool = False

    def fitted_temperature(self, rows: Any, places: NDArray[np.int64]) -> float:
        mean, spread = self.noisy_moments(rows, tau=1.0)
        own = np.arange(len(mean)), places
        return probability.best_temperature(
            lambda tau: self._probabilities(mean / tau, spread / tau**2, log=True)[own],
            shrink=True,
        )

    def sampled(self, rows: Any, n_samples: int, random: np.random.Generator) -> Array:
        """The mean of the softmax over draws of the weights."""
        mean, spread = _of_each_class(*self.noisy_moments(rows))
        deviation, total = np.sqrt(spread), np.zeros_like(mean)
        for _ in range(_check.count("n_samples", n_samples)):
            drawn = mean + deviation * random.standard_normal(mean.shape[1])
            total += _softmax(drawn, log=False)
        return total / n_samples

    def _with_noise(
        self, mean: Array, spread: Array, *, tau: float | None = None
    ) -> tuple[Array, Array]:
        tau = self.temperature if tau is None else tau
        with np.errstate(over="ignore"):
            return one_or_many(mean) / tau, one_or_many(spread) / tau**2

    def _probabilities(self, mean: Array, spread: Array, *, log: bool = False) -> Array:
        mean = np.clip(mean, -LARGEST, LARGEST)
        if self.moderated:  # MacKay 1992, eq. 10
            mean = mean / np.sqrt(1.0 + np.pi / 8.0 * spread)
        return _softmax(mean, log=log)


def _below_the_best(scores: Array) -> Array:
    """Scores less the best one of their row, in rows where all of them could be clipped to one."""
    huge = scores.ndim > 1 and np.abs(scores).max(axis=1) > 1e200
    if not np.any(huge):
        return scores
    finite = np.clip(scores[huge], -LARGEST, LARGEST)
    below = scores.copy()
    with np.errstate(over="ignore"):
        below[huge] = finite - finite.max(axis=1, keepdims=True)
    return below


def _softmax(scores: Array, *, log: bool) -> Array:
    """The softmax of the scores of each row, or its logarithm; a margin is that of two classes."""
    unknown = np.flatnonzero(np.isnan(scores).reshape(len(scores), -1).any(axis=1))
    if len(unknown):
        raise ValueError(
            "X must have values whose scores are finite, got an overflow in double precision in "
            f"row {unknown[0]}. Scale the features."
        )
    if log and scores.ndim == 1:  # where one class is sure, a sum over both would lose its digits
        return -np.stack([np.logaddexp(0.0, scores), np.logaddexp(0.0, -scores)], 1)
    scores, _ = _of_each_class(scores, scores)
    with np.errstate(over="ignore"):  # to -inf, whose power is 0; scipy.special is slow to import
        shifted = scores - scores.max(axis=1, keepdims=True)
    powers = np.exp(shifted)
    total = powers.sum(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(total) if log else powers / total)


def _of_each_class(mean: Array, spread: Array) -> tuple[Array, Array]:
    """Moments of the score of each class; the margin of two gives the first the score 0."""
    if mean.ndim > 1:
        return mean, spread
    return np.stack([0 * mean, mean], 1), np.stack([0 * spread, spread], 1)


def _top_two(mean: Array, own: Array) -> Leads:
    """The two best classes of each row, as the core finds them; two classes: by the sign."""
    row = np.arange(len(mean))
    if mean.shape[1] == 1:
        best = (mean[:, 0] > 0).astype(np.int64)
        return Leads(best, 1 - best, np.abs(mean[:, 0]), own[:, 0])
    best = mean.argmax(axis=1)
    others = mean.copy()
    others[row, best] = -np.inf
    next_ = others.argmax(axis=1)
    gap = mean[row, best] - mean[row, next_]
    return Leads(best, next_, gap, own[row, best] + own[row, next_])


def _sound(mean: Array, covariance: Array) -> tuple[Array, Array]:
    """Covariances repaired after rounding and overflow.

    A variance slightly below zero becomes zero. A row that overflows becomes a tie, as it does with
    diagonal covariance.
    """
    lost = ~(np.isfinite(mean).all(axis=1) & np.isfinite(covariance).all(axis=(1, 2)))
    mean[lost], covariance[lost] = 0.0, np.eye(mean.shape[1])
    every = np.arange(mean.shape[1])
    covariance[:, every, every] = np.maximum(covariance[:, every, every], 0.0)
    return mean, covariance


def one_or_many(columns: Array) -> Array:
    """Drop the second axis if there is one column, the margin of two classes."""
    return columns[:, 0] if columns.shape[1] == 1 else columns
