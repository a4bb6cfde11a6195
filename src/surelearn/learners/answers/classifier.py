"""Predictions of a classifier: labels, margins, probabilities and their calibration."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surelearn import _check, rules
from surelearn._scikit_learn import ClassifierMixin
from surelearn.learners.answers.views import RowView
from surelearn.learners.base import Estimator, with_variances
from surelearn.learners.calibration import class_positions
from surelearn.learners.deciding import View, decided
from surelearn.learners.labels import as_labels
from surelearn.learners.scoring import MeanScorer, ScoredModel, Scorer, one_or_many
from surelearn.learners.settings import PROBABILITIES
from surelearn.probability import Reliability
from surelearn.read import Labels
from surelearn.rows import rows_of
from surelearn.units import Units

Array = NDArray[np.float64]
M = TypeVar("M", bound=ScoredModel)

#: What is kept of a temperature: its value, the form of the probabilities that it was fitted to,
#: and its precision if it follows a stream.
TEMPERATURE = ("temperature_", "_temperature_form", "_temperature_precision")


class Probabilistic(ClassifierMixin, Estimator[M]):  # type: ignore[misc]
    """A classifier of rows that gives the probability of each label.

    Learnt by a rule, its label noise and its decoding are those of the scores.
    """

    rule: Any
    decoding: str
    probability: str = "exact"
    n_jobs: int | None
    temperature_: float

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Mean scores; for two classes, the score of the second.

        With a reduction, `decoding` turns the margins of its problems into class scores.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            With many labels per row always the second.
        """
        asked = self._scorer()
        rows = self._rows(X)
        if asked.model.many_labels:
            return asked.class_scores(rows)
        _check.trained(asked.model.weights, "decision_function")
        return one_or_many(asked.class_scores(rows))

    def predict(
        self,
        X: Any,
        *,
        abstain: bool = False,
        cost: Any = None,
        novel: float | None = None,
        abstain_label: Any = None,
    ) -> Any:
        """The label with the largest score, the first one in a tie; or that of the least cost.

        With many labels per row, a row has the labels whose score is above their threshold, which
        is 0 unless `choose_thresholds` has chosen others. They are in the form in which y came.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features), texts or a table
            What the learner was trained on.
        abstain : bool, default False
            Whether to answer only what `choose_abstention` has certified.
        cost : array of shape (n_classes, n_classes) or dict, optional
            Give the label of the least expected cost under `predict_proba`. Rows are true labels,
            columns answers; one more column is the price of no answer. As a dict: ``{("spam",
            "ham"): 1, ("ham", "spam"): 50, None: 2}``, where right answers cost 0, other pairs 1,
            and None is no answer.
        novel : float, optional
            Give no answer for rows that are newer than all but this share of the rows of
            `choose_novelty`.
        abstain_label : label, optional
            What stands for no answer; default None.

        Returns
        -------
        ndarray of shape (n_samples,)
            Where answers may be missing, of type object. With many labels: an indicator matrix
            of shape (n_samples, n_labels), dense or CSR, or a list of tuples, in the order of
            `classes_`; a list of tuples where answers may be missing.
        """
        if abstain or cost is not None or novel is not None:
            return decided(self, X, abstain_label, abstain=abstain, cost=cost, novel=novel)
        return self._predicted(X)

    def _predicted(self, X: Any) -> Any:
        """The label with the largest score of each row."""
        asked = self._scorer()
        rows, classes = self._rows(X), asked.model.classes
        if asked.model.weights is None:
            return np.repeat(classes[_check.only_class(classes)], len(rows))
        return np.asarray(classes[asked.winners(rows)])

    @with_variances
    def margin(self, X: Any) -> tuple[Array, Array]:
        """Mean and variance of each class score; for two classes, of the margin.

        With a reduction, mean and variance of the margin of each problem, as `surelearn.decode`
        takes them. With many labels per row, of the margin of each label.

        Returns
        -------
        mean, variance : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, \
n_problems)
        """
        asked = self._scorer()
        return asked.margin(self._rows(X))

    @with_variances
    def predict_proba(self, X: Any) -> Array:
        r"""Probability of each label.

        With ``probability="softmax"``, of the mean scores M over ``temperature_``, so that the most
        probable label is that of `predict`; n is the rule's label noise, 1 if it has none:

        .. math:: \Pr[y \mid x] \propto \exp(1.702\, M_y / (\tau \sqrt n))

        With ``probability="exact"``, and always with many labels per row, under the distribution of
        the weights:

        .. math:: \Pr[y \mid x] = \Pr_w[\, y = \arg\max_z w \cdot f(x, z)\,], \qquad
            \Pr[classes\_[1] \mid x] = \Phi(M / \sqrt{V}) \text{ for two classes}

        These are exact to 1e-9. The exception is full covariance with three or more classes, which
        uses 10,000 draws, the same ones in every call. `Probit` adds its noise to V, and V is
        multiplied by the square of ``temperature_``. A row without features and intercept is a tie.
        With a reduction, the problems are taken as independent: the probability of a class is that
        of its code word, given that the answer is some class's code word; see
        `decode.label_probabilities`. With many labels per row, each label has the probability
        :math:`\Phi(M / \sqrt{V})` of its margin, and they do not sum to one. The most probable
        label may differ from `predict`, which uses the mean scores, where the best are close.

        That ``temperature_`` calibrates them assumes that these rows are drawn like those that it
        was fitted to, and that the scores tell the labels apart: numbers whose columns have very
        unlike scales have to be scaled before `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self._scorer().probabilities(self._rows(X))

    @with_variances
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithm of `predict_proba`, accurate even where that rounds to 0.

        The exception is full covariance with three or more classes, which is sampled.
        """
        return self._scorer().probabilities(self._rows(X), log=True)

    @with_variances
    def entropy(self, X: Any) -> Array:
        """Normalised entropy of `predict_proba`: 0 for a certain label, 1 for a uniform one.

        With many labels per row, the mean over the labels.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        asked = self._scorer()
        return asked.entropy(self._rows(X))

    @with_variances
    def calibrate(self, X: Any, y: Any) -> Self:
        r"""Fit ``temperature_`` on rows that the model was not trained on.

        .. math:: \tau = \arg\min_\tau -\sum_i \log \Pr[y_i \mid x_i; \tau]

        It is one number that divides all mean scores, or that multiplies all standard deviations
        if probabilities are exact; `predict` does not change. `partial_fit` keeps it.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,), or an indicator matrix or lists for many labels per row
            Known labels.

        Returns
        -------
        self
        """
        asked = self._scorer()
        rows = self._rows(X)
        places = self._places(asked.model, y, len(rows))
        self._calibrate(asked, rows, places)
        return self

    @with_variances
    def reliability(self, X: Any, y: Any, *, bins: int = 10) -> Reliability:
        """Compare predicted probabilities with actual errors, in bins of probability.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,), or an indicator matrix or lists for many labels per row
            Known labels.
        bins : int, default 10

        Returns
        -------
        surelearn.probability.Reliability
            Count, contribution to the error and conditional error of each bin, as in Crammer,
            Dredze & Kulesza 2009, sec. 7. Predictions are those of `predict`.
        """
        asked = self._scorer()
        rows = self._rows(X)
        return asked.reliability(rows, self._places(asked.model, y, len(rows)), bins=bins)

    def _places(
        self, model: ScoredModel, y: Any, n_rows: int, *, known: bool = True
    ) -> NDArray[Any]:
        """The position of each label among the known classes; others are refused, or -1."""
        labels = as_labels(y)
        _check.one_label_a_row(len(labels), n_rows)
        _check.one_kind(model.classes, labels)
        if not known:
            places = np.searchsorted(model.classes, labels).clip(max=len(model.classes) - 1)
            return np.where(model.classes[places] == labels, places, -1)
        return _check.known_labels(labels, model.classes, n_rows, "y")

    def _calibrate(self, asked: Scorer, rows: Any, places: NDArray[Any]) -> None:
        """Fit the temperature of a scorer to rows, given the position of each row's class."""
        self.temperature_ = asked.fitted_temperature(rows, places)
        self._temperature_form = form_of(asked)

    def _calibrate_on(self, held: Sequence[tuple[Any, Labels]], units: Units | None) -> None:
        if held:
            asked, stack = (
                self._scorer(),
                sparse.vstack if sparse.issparse(held[0][0]) else np.vstack,
            )
            places = np.concatenate([class_positions(asked, labels) for _, labels in held])
            rows = rows_of(stack([X for X, _ in held]))
            self._calibrate(asked, rows if units is None else units.of(rows), places)

    def _temperature(self, form: str) -> float:
        """The fitted temperature; 1 if it was fitted to probabilities of another form."""
        fits = self.__dict__.get("_temperature_form", form) == form
        return float(self.__dict__.get("temperature_", 1.0)) if fits else 1.0

    def __view__(self, X: Any, **records: Any) -> View:
        asked = self._scorer()
        rows = self._rows(X)
        return RowView(asked, rows, lambda y: self._places(asked.model, y, len(rows), known=False))

    @abstractmethod
    def _rows(self, X: Any) -> Any:
        """The checked rows of X, as the weights of the model read them."""

    def _scorer(self) -> Scorer:
        """The current model with the settings of prediction; one model for the whole call, even if
        another thread adds classes."""
        model, rule = self._fitted(), rules.get(self.rule)
        common: dict[str, Any] = {
            "decoding": self.decoding,
            "threads": _check.threads("n_jobs", self.n_jobs),
        }
        if _check.choice("probability", self.probability, PROBABILITIES) == "softmax":
            return MeanScorer(model, rule, softness=self._temperature("softmax"), **common)
        return Scorer(model, rule, temperature=self._temperature("exact"), **common)


def form_of(asked: Scorer) -> str:
    """The form of the probabilities that a scorer gives."""
    return "softmax" if isinstance(asked, MeanScorer) else "exact"


def temperature_out(estimator: Any) -> dict[str, float]:
    """The temperature of an estimator of any kind, for a file; none if probabilities have now
    another form than the one it was fitted to."""
    own = estimator.__dict__
    form = own.get("_temperature_form")
    if "temperature_" not in own or not (form is None or form == form_of(scorer(estimator))):
        return {}
    names = {"temperature": "temperature_", "temperature_precision": "_temperature_precision"}
    return {name: own[key] for name, key in names.items() if key in own}


def put_temperature(estimator: Any, temperature: float, precision: float | None) -> None:
    """Give an estimator the temperature of a file; of a stream also its precision."""
    known = {"temperature_": temperature, "_temperature_precision": precision}
    vars(estimator).update({name: value for name, value in known.items() if value is not None})


def copy_temperature(source: Any, result: Any) -> None:
    """Give an estimator of the same weights the temperature that was fitted to them."""
    kept = vars(source)
    vars(result).update({name: kept[name] for name in TEMPERATURE if name in kept})


def scorer(estimator: Probabilistic[Any]) -> Scorer:
    """The scorer of a fitted estimator, for callers that score the same rows more than once."""
    return estimator._scorer()


def scored_rows(estimator: Probabilistic[Any], X: Any) -> Any:
    """The checked rows that a scorer takes, of X in any form that the fitted estimator takes."""
    return estimator._rows(X)


def calibrate_on(
    estimator: Probabilistic[Any], held: Sequence[tuple[Any, Labels]], units: Units | None
) -> None:
    """Fit the temperature to labelled rows that the model, in these units, has not learnt."""
    estimator._calibrate_on(held, units)
