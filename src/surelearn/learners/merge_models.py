"""`merge`: estimators trained apart as one; knows which of them may be, `merging` knows how."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar

from numpy.typing import NDArray

from surelearn import _check
from surelearn.learners.answers.classifier import copy_temperature
from surelearn.learners.answers.graphs import GraphAnswers
from surelearn.learners.answers.linear import Linear, merged_into
from surelearn.learners.answers.many_labels import copy_label_form, copy_thresholds
from surelearn.learners.answers.tagger import Tagger
from surelearn.learners.base import Estimator, is_fitted, not_fitted, put_model, settings_of
from surelearn.learners.kernel_classifier import SureKernelClassifier
from surelearn.learners.ranker import SureRanker
from surelearn.learners.sources import put_columns
from surelearn.learners.tasks.row_settings import ClassifierSettings
from surelearn.learners.tasks.structure_merging import StructureMergeState
from surelearn.learners.text_classifier import SureTextClassifier, vectorizer_params
from surelearn.merging import Evidence, MergeState, Way, counts_start_once, way_of
from surelearn.parameters import untrained

E = TypeVar("E", bound=Linear | Tagger | GraphAnswers | SureRanker)
T = TypeVar("T", bound=Tagger | GraphAnswers)


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
    if not any_labels and not isinstance(listed[0], SureRanker):
        _check_labels([model.classes_ for model in fitted])
    if isinstance(listed[0], Tagger | GraphAnswers | SureRanker):
        join = _merge_rankers if isinstance(listed[0], SureRanker) else _merge_structures
        return join(listed, way)
    for other in listed[1:]:
        _check_settings(listed[0], other)
    for other in fitted[1:]:
        _check.agree("kind of labels", *map(_labels_of, (fitted[0], other)))
        _check.agree("projection_", fitted[0].model_.projection, other.model_.projection)
    states = [state_of(model, way, like=fitted[0]) for model in listed]
    result = merged_into(untrained(listed[0]), MergeState.combined(states))
    _put_names(result, fitted)
    put_columns(result, fitted)
    _put_temperature(result, listed, states)
    copy_label_form(fitted[0], result)
    return result


def _chosen(
    models: list[Any], how: str | Evidence, X_val: Any, y_val: Any, *, any_labels: bool
) -> Any:
    """The best of several merged models on rows that were kept back."""
    if how != "evidence":
        raise ValueError(f"how must be 'evidence' for X_val and y_val to choose tau, got {how!r}.")
    if isinstance(models[0], SureRanker):
        raise TypeError("X_val and y_val must be None for rankers, whose rows come in groups.")
    if X_val is None or y_val is None:
        raise ValueError("X_val and y_val must be given together, got one of them.")
    return max(
        (_merged(models, Evidence(tau), any_labels=any_labels) for tau in _TAUS),
        key=lambda model: model.score(X_val, y_val),
    )


def state_of(model: Linear, how: Way, *, like: Linear) -> MergeState:
    """What merging has to know of a model; an unfitted one has seen no rows of the other's."""
    if not is_fitted(model):
        settings: ClassifierSettings = settings_of(model)
        return settings.untrained(like.n_features_in_, is_sparse=False).merge_state(how)
    state: MergeState = MergeState.of(model, how)
    return state


def _listed(models: Any) -> list[Any]:
    if isinstance(models, Estimator | str) or not isinstance(models, Iterable):
        raise TypeError(f"models must be a list of models, got {models!r}.")
    listed = list(models)
    if not listed:
        raise ValueError("models must have at least one model, got an empty list.")
    for model in listed:
        if isinstance(model, SureKernelClassifier):
            raise TypeError(
                "models must have weights of common features to be merged, got "
                "SureKernelClassifier, whose support points differ. Train one on the rows of all."
            )
        if not isinstance(model, Linear | Tagger | GraphAnswers | SureRanker):
            raise TypeError(f"models must hold models of surelearn, got {model!r}.")
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


def _check_settings(one: Linear, other: Linear) -> None:
    """Refuse models that were taught differently."""
    wanted = settings_of(one).merge_key()
    for name, value in settings_of(other).merge_key().items():
        _check.agree(name, wanted[name], value)
    if isinstance(one, SureTextClassifier) and isinstance(other, SureTextClassifier):
        read = vectorizer_params(other)
        for name, value in vectorizer_params(one).items():
            _check.agree(name, value, read[name])
    if is_fitted(one) and is_fitted(other):
        _check.agree("n_features_in_", one.n_features_in_, other.n_features_in_)


def _check_rule(model: Any, how: Way) -> None:
    serves = how == "uniform" or isinstance(how, Evidence)
    if not model.model_.layout.second_order and not serves:
        raise ValueError(
            f"how must be 'evidence' or 'uniform' for rule {model.rule!r}, which keeps no "
            f"variances, got {how!r}."
        )


def _labels_of(model: Linear) -> str:
    return "many for each row" if model.model_.many_labels else "one for each row"


def _put_names(result: Linear | SureRanker, fitted: list[Any]) -> None:
    named = [model.feature_names_in_ for model in fitted if hasattr(model, "feature_names_in_")]
    for names in named[1:]:
        _check.agree("feature_names_in_", named[0].tolist(), names.tolist())
    if named:
        result.feature_names_in_ = named[0]


def _put_temperature(result: Linear, listed: list[Any], states: list[MergeState]) -> None:
    """Keep a temperature where the variances it was fitted to are kept."""
    trained = [
        model
        for model, state in zip(listed, states, strict=True)
        if state.trained is not None and (counts_start_once(state.how) or len(listed) == 1)
    ]
    if len(trained) == 1:
        _copy_temperature(trained[0], result)


# ------------------------------------------------------------ taggers and graphs


def _merge_structures(models: list[T], how: Way) -> T:
    """One tagger, or classifier of graphs, of many."""
    every = [settings_of(model) for model in models]
    for model, settings in zip(models, every, strict=True):
        _check_merge_key(model, settings, every[0].merge_key())
    fitted = [model for model in models if is_fitted(model)]
    projection = fitted[0].model_.projection
    for other in fitted[1:]:
        _check.agree("projection_", projection, other.model_.projection)
    states = [
        model.__merge_state__(how)
        if is_fitted(model)
        else StructureMergeState.of(replace(settings.untrained(), projection=projection), how)
        for model, settings in zip(models, every, strict=True)
    ]
    result: T = untrained(models[0])
    put_model(result, StructureMergeState.combined(states).merged())
    if len(fitted) == 1 and (counts_start_once(how) or len(models) == 1):
        _copy_temperature(fitted[0], result)
    put_columns(result, fitted)
    return result


def _check_merge_key(model: Any, settings: Any, wanted: dict[str, Any]) -> None:
    """Refuse a model that was taught differently, or changed after it was."""
    for name, value in settings.merge_key().items():
        _check.agree(name, wanted[name], value)
    if is_fitted(model):
        settings.check_fits(model.model_)


# ---------------------------------------------------------------------- rankers


def _merge_rankers(rankers: list[SureRanker], how: Way) -> SureRanker:
    """One ranker of many."""
    settings = [settings_of(ranker) for ranker in rankers]
    for ranker, own in zip(rankers, settings, strict=True):
        _check_merge_key(ranker, own, settings[0].merge_key())
    fitted = [ranker for ranker in rankers if is_fitted(ranker)]
    like = fitted[0].model_
    for other in fitted[1:]:
        _check.agree("n_features_in_", fitted[0].n_features_in_, other.n_features_in_)
        _check.agree("projection_", like.projection, other.model_.projection)
    blank = settings[0].untrained(fitted[0].n_features_in_, is_sparse=True)
    models = [ranker.model_ if is_fitted(ranker) else blank for ranker in rankers]
    states = [model.merge_state(how) for model in models]
    result: SureRanker = untrained(rankers[0])
    put_model(result, like.merged(MergeState.combined(states)))
    result.n_features_in_ = fitted[0].n_features_in_
    if len(fitted) == 1 and (counts_start_once(how) or len(rankers) == 1):
        _copy_temperature(fitted[0], result)
    _put_names(result, fitted)
    put_columns(result, fitted)
    return result


def _copy_temperature(source: Any, result: Any) -> None:
    """A temperature belongs to the weights it was fitted to: kept where these are kept."""
    copy_temperature(source, result)
    copy_thresholds(source, result)
