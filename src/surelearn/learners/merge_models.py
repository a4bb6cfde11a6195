"""`merge`: estimators trained apart as one; knows which of them may be, `merging` knows how."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, TypeVar

from numpy.typing import NDArray

from surelearn import _check
from surelearn.learners.base import Estimator, is_fitted, not_fitted
from surelearn.merging import Evidence, Way, way_of

E = TypeVar("E", bound=Estimator[Any])

#: What `merge` tries where there are rows to choose by; of equals the first.
_TAUS = (16.0, 4.0, 64.0, 1.0, 256.0, math.inf)

#: An error lists at most this many labels of a model.
_SHOWN = 5


def merge(
    models: Iterable[E],
    how: str | Evidence = "evidence",
    *,
    X_val: Any = None,
    y_val: Any = None,
    any_labels: bool = False,
) -> E:
    r"""One model from many that were trained apart, on parts of the data.

    Of every weight, with the mean :math:`\mu_0` and the precision :math:`\lambda_0` that all
    started with, and sums over the m models that have moved it:

    .. math:: \mu = \mu_0 + \frac{\lambda_0 D + \tau X}{\lambda_0 + \tau G}, \qquad
        \lambda = \lambda_0 + G \frac{\lambda_0 + \tau G / m}{\lambda_0 + \tau G}

    where :math:`D = \sum (\mu_i - \mu_0)`, :math:`G = \sum (\lambda_i - \lambda_0)`,
    :math:`X = \sum (\lambda_i - \lambda_0) (\mu_i - \mu_0)` and :math:`\tau = 16`. A model that
    has gathered more evidence about a weight has more say in it, and one that has not met it none.

    Parameters
    ----------
    models : list of classifiers, taggers, classifiers of graphs or rankers
        All of one kind and with the same settings of learning. Classes may differ, and features of
        taggers: the result knows all of them. A model that is not fitted yet counts as one at its
        prior.
    how : {"evidence", "bayes", "weighted", "kl", "uniform"} or Evidence, default "evidence"
        ``"evidence"``: as above; `surelearn.merging.Evidence` takes another tau. With first-order
        rules, which have no precisions, it is the mean over the models that have moved a weight.
        ``"bayes"``: what each has learnt is added up, :math:`\tau = 1` and
        :math:`\lambda = \lambda_0 + G`, which serves two classes well and can be far off with many.
        ``"weighted"``: :math:`\Sigma^{-1} = \sum_c \Sigma_c^{-1}` with the mean to it, as printed
        in the paper, which counts the prior n times. ``"kl"``: the same mean, and
        :math:`\Sigma^{-1} = \sum_c \Sigma_c^{-1} / n`, which is what minimises the sum of KL
        divergences. ``"uniform"``: plain averages of means and variances.
    X_val, y_val : rows or sequences and their labels, optional
        That no model has learnt: of six values of tau from 1 to infinity the one with the best
        `score` on them is taken. Only for ``"evidence"``.
    any_labels : bool, default False
        Whether to merge models that have no label in common. They are refused otherwise: most
        likely they were trained for different tasks.

    Returns
    -------
    estimator
        A new one, with the parameters of the first, that goes on learning like any other. The order
        of the models changes no bit of what it has learnt.

    References
    ----------
    Dredze, Crammer & Pereira 2008, Confidence-Weighted Linear Classification, section 5.3, eq. 18.
    ``"evidence"`` and ``"bayes"`` are not in the paper.

    Examples
    --------
    >>> from surelearn import SureClassifier, merge
    >>> X, y = [[0.0, 1.0], [1.0, 0.0]], ["no", "yes"]
    >>> apart = [SureClassifier(random_state=seed).fit(X, y) for seed in range(3)]
    >>> merge(apart).predict([[2.0, 1.0]])
    array(['yes'], dtype='<U3')
    """
    listed = _listed(models)
    any_labels = _check.flag("any_labels", any_labels)
    if X_val is None and y_val is None:
        result: E = _merged(listed, way_of(how), any_labels=any_labels)
    else:
        result = _chosen(listed, how, X_val, y_val, any_labels=any_labels)
    return result


def _merged(listed: list[Any], way: Way, *, any_labels: bool) -> Any:
    """One model from many, in one way."""
    fitted = [model for model in listed if is_fitted(model)]
    if not fitted:
        not_fitted("models must have a fitted one among them to be merged, got none.")
    _check_rule(fitted[0], way)
    for other in listed[1:]:
        _check.agree("kind", type(listed[0]).__name__, type(other).__name__)
    classes = [model.classes_ for model in fitted if hasattr(model, "classes_")]
    if not any_labels and classes:
        _check_labels(classes)
    return listed[0].task.merged(listed, way)


def _chosen(
    models: list[Any], how: str | Evidence, X_val: Any, y_val: Any, *, any_labels: bool
) -> Any:
    """The best of several merged models on rows that were kept back."""
    if how != "evidence":
        raise ValueError(f"how must be 'evidence' for X_val and y_val to choose tau, got {how!r}.")
    if X_val is None or y_val is None:
        raise ValueError("X_val and y_val must be given together, got one of them.")
    return max(
        (_merged(models, Evidence(tau), any_labels=any_labels) for tau in _TAUS),
        key=lambda model: model.task.score(model, X_val, y_val),
    )


def _listed(models: Any) -> list[Any]:
    if isinstance(models, Estimator | str) or not isinstance(models, Iterable):
        raise TypeError(f"models must be a list of models, got {models!r}.")
    listed = list(models)
    if not listed:
        raise ValueError("models must have at least one model, got an empty list.")
    for model in listed:
        if not isinstance(model, Estimator):
            raise TypeError(f"models must hold models of surelearn, got {model!r}.")
        if model.task.not_merged:
            raise TypeError(model.task.not_merged)
    return listed


def _check_labels(classes: list[NDArray[Any]]) -> None:
    """Refuse models whose labels fall into groups that share none."""
    groups: list[set[Any]] = []
    for own in classes:
        _check.labels_agree(classes[0], own)
        joined = set(own.tolist())
        near = [group for group in groups if group & joined]
        groups = [group for group in groups if group not in near] + [joined.union(*near)]
    if len(groups) > 1:
        raise ValueError(
            _check.Message(
                "models must have labels in common to be merged, got {one} and {other}. Use "
                "{any_labels} to merge them into one model of all labels.",
                one=_few(groups[0]),
                other=_few(groups[1]),
                any_labels=_check.Keyword("any_labels", True),
            )
        )


def _few(labels: set[Any]) -> str:
    """The first labels of a set."""
    more = len(labels) - _SHOWN
    listed = _check.listing(sorted(labels)[:_SHOWN])
    return f"{listed} and {more:,} more" if more > 0 else listed


def _check_rule(model: Any, how: Way) -> None:
    serves = how == "uniform" or isinstance(how, Evidence)
    if not model.model_.layout.second_order and not serves:
        raise ValueError(
            f"how must be 'evidence' or 'uniform' for rule {model.rule!r}, which keeps no "
            f"variances, got {how!r}."
        )
