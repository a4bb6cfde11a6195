"""What a classifier says of rows: labels, and how certain it is of them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from surelearn import _check, _core, decode, probability, rules
from surelearn.estimators.labels import as_labels
from surelearn.estimators.linear import Linear
from surelearn.estimators.online import second_order
from surelearn.models import reductions
from surelearn.models.rows import RowModel
from surelearn.weights import Full

Array = NDArray[np.float64]

#: Draws of a row where probabilities are sampled: a standard error of 0.005 at most.
_DRAWS = 10_000


class ProbabilisticLinear(Linear):
    """A linear model over classes that knows how sure it is of each label."""

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Mean scores ``X @ coef_.T + intercept_``; two classes: of the second against the first.

        With a reduction the scores of the classes under `decoding`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        model = self._fitted()
        rows = self._rows(X)
        _check.trained(model.weights, "decision_function")
        return one_or_many(self._class_scores(model, rows))

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of the largest score; the first of equals."""
        model = self._fitted()
        rows = self._rows(X)
        if model.weights is None:
            return np.repeat(model.classes[_check.only_class(model.classes)], len(rows))
        return np.asarray(model.classes[self._winners(model, rows)])

    def predict_one(self, x: Any) -> Any:
        """The label of one row: an array, a sparse row or a dict of {feature: value}."""
        model = self._fitted()
        row, _, _ = self._one(x)
        if model.weights is None:
            return model.classes[_check.only_class(model.classes)]
        if model.code is None:
            return model.classes[model.weights.winner(row)]
        return model.classes[self._winners(model, row)[0]]

    @available_if(second_order)
    def margin(self, X: Any) -> tuple[Array, Array]:
        """Mean and variance of each class score; two classes: of the one margin.

        With a reduction those of the margin of each problem, which `surelearn.decode` takes.

        Returns
        -------
        mean, variance : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, \
n_problems)
        """
        model = self._fitted()
        rows = self._rows(X)
        mean, variance = _check.trained(model.weights, "margin").margin(rows)
        return one_or_many(mean), one_or_many(variance)

    @available_if(second_order)
    def predict_proba(self, X: Any) -> Array:
        r"""Probability of each label under the distribution of the weights.

        .. math:: \Pr[y \mid x] = \Pr_w[\, y = \arg\max_z w \cdot f(x, z)\,], \qquad
            \Pr[classes\_[1] \mid x] = \Phi(M / \sqrt{V}) \text{ for two classes}

        Exact to 1e-9, but for full covariance with three or more classes, where it is estimated
        from 10,000 draws, the same ones at every call. `Probit` adds its noise to V. After
        `calibrate` V is multiplied by the square of ``temperature_``. A row without any feature or
        intercept is a tie. With a reduction: that the problems, taken as independent, answer with
        the row of the class, given that it is the row of some class, see
        `decode.label_probabilities`.

        `predict` goes by the mean scores. The most probable label may be another one: with CW rules
        and `Probit` on a few rows in a hundred, where the best scores are near each other. Rules
        that ask for a fixed margin, such as `AROW`, leave variances that mean nothing beside it:
        with them and many classes call `calibrate` first.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self._proba(self._fitted(), self._rows(X))

    @available_if(second_order)
    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """Probability of each label of one row: an array, a sparse row or a dict.

        Returns
        -------
        dict of {label: float}
            In the order of ``classes_``. While one class is known it has probability 1.
        """
        model = self._fitted()
        row, _, _ = self._one(x)
        labels = model.classes.tolist()
        if model.weights is None:
            return {labels[_check.only_class(model.classes)]: 1.0}
        return dict(zip(labels, self._proba(model, row)[0].tolist(), strict=True))

    @available_if(second_order)
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithm of `predict_proba`, exact also where that rounds to 0, but for full covariance
        with three or more classes."""
        model = self._fitted()
        mean, spread = self._spread(model, self._rows(X))
        if spread.ndim == 3:
            with np.errstate(divide="ignore"):
                return np.asarray(np.log(probabilities(model.code, mean, spread)))
        return _label_probabilities(model.code, mean, spread, log=True)

    @available_if(second_order)
    def sample_proba(self, X: Any, n_samples: int = 1000, random_state: Any = None) -> Array:
        """Share of draws of the weights in which each label wins.

        `predict_proba` is exact where this only estimates; the papers' way, kept to compare.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
        n_samples : int, default 1000
            Draws; the standard error of a probability p is ``sqrt(p (1 - p) / n_samples)``.
        random_state : int, RandomState or None

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        model = self._fitted()
        if model.code is not None:
            raise ValueError(
                f"sample_proba needs multiclass='joint', got {model.multiclass!r}. predict_proba "
                "needs no draws."
            )
        mean, spread = self._spread(model, self._rows(X))
        seed = check_random_state(random_state).randint(2**31)
        if mean.ndim == 1:  # one margin: the first class has the score 0
            mean, spread = np.stack([0 * mean, mean], 1), np.stack([0 * spread, spread], 1)
        random = np.random.default_rng(seed)
        return probability.sample_probabilities(mean, spread, n_samples, random)

    @available_if(second_order)
    def entropy(self, X: Any) -> Array:
        """Normalised entropy of `predict_proba`: 0 for a sure label, 1 if all are as likely.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return probability.entropy(self.predict_proba(X))

    @available_if(second_order)
    def calibrate(self, X: Any, y: Any) -> Self:
        r"""Fit ``temperature_`` on rows that were not learnt from.

        .. math:: \tau = \arg\min_\tau -\sum_i \log \Pr[y_i \mid x_i; \tau^2 V]

        One number that scales every standard deviation; `predict` does not change. Learning goes
        on with it, `fit` starts without it.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Known labels.

        Returns
        -------
        self
        """
        model = self._fitted()
        mean, spread = self._spread(model, self._rows(X), tau=1.0)
        places = self._places(model, y, len(mean))
        code, own = model.code, (np.arange(len(mean)), places)
        if code is None:
            self.temperature_ = probability.fit_temperature(mean, spread, places)
        else:
            self.temperature_ = probability.best_temperature(
                lambda tau: decode.label_probabilities(code, mean, spread * tau**2, log=True)[own]
            )
        return self

    @available_if(second_order)
    def reliability(self, X: Any, y: Any, *, bins: int = 10) -> probability.Reliability:
        """How far the probabilities of predictions can be trusted, by bins of probability.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Known labels.
        bins : int, default 10

        Returns
        -------
        surelearn.probability.Reliability
            Counts, contribution to the error and conditional error of each bin, as in Crammer,
            Dredze & Kulesza 2009, sec. 7; predictions are those of `predict`.
        """
        model = self._fitted()  # one model for all, whatever another thread learns meanwhile
        rows = self._rows(X)
        p = self._proba(model, rows)
        truth = self._places(model, y, len(p))
        predicted = self._winners(model, rows)
        every = np.arange(len(model.classes))
        return probability.reliability(truth, p, every, bins=bins, y_pred=predicted)

    def _places(self, model: RowModel, y: Any, n_rows: int) -> NDArray[np.int64]:
        """The place of each label among the known classes."""
        labels = as_labels(y)
        _check.one_label_a_row(len(labels), n_rows)
        _check.one_kind(model.classes, labels)
        return _check.known_labels(labels, model.classes, n_rows, "y")

    def _proba(self, model: RowModel, rows: _core.Rows) -> Array:
        return probabilities(model.code, *self._spread(model, rows))

    def _winners(self, model: RowModel, rows: _core.Rows) -> NDArray[np.int64]:
        """The place of the class with the largest score of each row; the first of equals."""
        weights = _check.trained(model.weights, "prediction")
        if model.code is None:
            return weights.winners(rows)
        if model.code.kind == "ovr" and self._decoder(model.code) is decode.scores:
            return weights.winners(rows)
        return np.asarray(self._class_scores(model, rows).argmax(axis=1))

    def _class_scores(self, model: RowModel, rows: _core.Rows) -> Array:
        """Scores of the classes, decoded where they were learnt as problems."""
        weights = _check.trained(model.weights, "prediction")
        if model.code is None:
            return weights.scores(rows)
        if self._decoder(model.code) is None:
            return self._decoded(model, *moments(model, rows))
        return self._decoded(model, weights.scores(rows))

    def _decoded(self, model: RowModel, mean: Array, own: Array | None = None) -> Array:
        """Scores of the classes from the margins of problems and, where they count, variances."""
        assert model.code is not None
        decoder = self._decoder(model.code)
        if decoder is not None:
            return decoder(model.code, mean)
        assert own is not None
        # As it was learnt: a label must not change when probabilities are calibrated.
        return decode.probability(model.code, *self._noisy(model, mean, own, tau=1.0))

    def _decoder(self, code: decode.Code) -> reductions.Decoder | None:
        name = reductions.decoding(
            self.decoding, code, first_order=rules.get(self.rule).first_order
        )
        return reductions.decoder(name, code)

    def _spread(
        self, model: RowModel, rows: _core.Rows, *, tau: float | None = None
    ) -> tuple[Array, Array]:
        """What `moments` gives, with the noise of the labels and the temperature."""
        return self._noisy(model, *moments(model, rows), tau=tau)

    def _noisy(
        self, model: RowModel, mean: Array, spread: Array, *, tau: float | None = None
    ) -> tuple[Array, Array]:
        tau = self.__dict__.get("temperature_", 1.0) if tau is None else tau
        noise = rules.get(self.rule).label_noise
        if spread.ndim == 3:
            return _sound(mean, (spread + 0.5 * noise * np.eye(mean.shape[1])) * tau**2)
        mean, spread = one_or_many(mean), one_or_many(spread)
        # The noise is that of a margin, so each of two scores has half of it.
        is_margin = spread.ndim == 1 or model.code is not None
        spread = spread + (noise if is_margin else 0.5 * noise)
        return mean, np.minimum(spread * tau**2, np.finfo(np.float64).max)


def moments(model: RowModel, rows: _core.Rows) -> tuple[Array, Array]:
    """Mean scores and their variances, or covariances where scores depend on each other."""
    weights = _check.trained(model.weights, "probability")
    if isinstance(weights, Full) and weights.n_columns > 1:
        return weights.joint_moments(rows)
    return weights.margin(rows)


def probabilities(code: decode.Code | None, mean: Array, spread: Array) -> Array:
    """Exact ones, or sampled ones where scores depend on each other."""
    if spread.ndim == 3:
        return probability.sample_probabilities(mean, spread, _DRAWS, np.random.default_rng(0))
    return _label_probabilities(code, mean, spread)


def _label_probabilities(
    code: decode.Code | None, mean: Array, spread: Array, *, log: bool = False
) -> Array:
    if code is None:
        return probability.label_probabilities(mean, spread, log=log)
    return decode.label_probabilities(code, mean, spread, log=log)


def _sound(mean: Array, covariance: Array) -> tuple[Array, Array]:
    """Covariances without what rounding and overflow make of them.

    A variance just below zero is none. Of a row too large for any number nothing is known, so it is
    a tie, as it is with diagonal covariance.
    """
    lost = ~(np.isfinite(mean).all(axis=1) & np.isfinite(covariance).all(axis=(1, 2)))
    mean[lost], covariance[lost] = 0.0, np.eye(mean.shape[1])
    every = np.arange(mean.shape[1])
    covariance[:, every, every] = np.maximum(covariance[:, every, every], 0.0)
    return mean, covariance


def one_or_many(columns: Array) -> Array:
    """Two classes have one margin, more a score each."""
    return columns[:, 0] if columns.shape[1] == 1 else columns
