"""The task of rankers: groups of candidates, in files, merged, ranked, judged."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surelearn import _check, files
from surelearn._check import FormatError
from surelearn.learners.answers.lines import decided_keys
from surelearn.learners.base import is_fitted, put_model, settings_of
from surelearn.learners.deciding import PLAIN, DecisionOptions, given
from surelearn.learners.file_parts import (
    diagonal_in,
    layout_in,
    names_in,
    names_out,
    prior_in,
    prior_out,
    put_names,
    weights_out,
)
from surelearn.learners.sources import opened_groups
from surelearn.learners.task import (
    EvaluationOptions,
    Shown,
    Task,
    ahead,
    json_number,
    merged_names,
    refuse_rival,
)
from surelearn.learners.tasks.ranking import RankModel, RankSettings
from surelearn.merging import MergeState, Way
from surelearn.read import Source
from surelearn.training.stream import StreamProgress

if TYPE_CHECKING:
    from surelearn.read import Groups

#: Most candidates of a group that has probabilities: time grows with the cube of their number.
LARGEST = 1000

#: The best candidates of no groups.
_NONE = np.zeros(0, np.int64)


class Ranked(NamedTuple):
    """The predictions for one batch of groups of candidates.

    Attributes
    ----------
    groups : Groups
        The groups, with `sizes`, `bounds`, `ids` and the `names` of the candidates.
    best : ndarray of shape (n_groups,)
        Position of the best candidate of each group, from 0.
    probability : ndarray of shape (n_groups,) or None
        Probability that this candidate is the best. None for a first-order rule; NaN in a group of
        more than 1,000 candidates, whose draws would take long. `SureRanker.predict_proba` has no
        such limit.
    scores : ndarray of shape (n_candidates,)
        Mean score of each candidate; larger is better.
    probabilities : ndarray of shape (n_candidates,) or None
        Probability of each candidate to be the best of its group; None and NaN likewise.
    n_bytes, n_bad : int
        Number of bytes of the source in this batch, and of groups skipped because they could not be
        parsed.
    answered, why, sets
        As in `Prediction`, one for each group: the best candidate of one that is not answered is
        None. A set holds positions of candidates.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from surelearn import SureRanker
    >>> from surelearn.prediction import predict_groups
    >>> ranker = SureRanker(random_state=0).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1], group=[2])
    >>> with TemporaryDirectory() as folder, open(f"{folder}/a.svm", "w+") as file:
    ...     print("0 qid:1 2:1\\n0 qid:1 1:3", file=file, flush=True)
    ...     print(next(predict_groups(ranker, file.name)).order)
    [array([1, 0])]
    """

    groups: Groups
    best: NDArray[Any]
    probability: NDArray[np.float64] | None
    scores: NDArray[np.float64]
    probabilities: NDArray[np.float64] | None
    n_bytes: int
    n_bad: int
    answered: NDArray[np.bool_] | None = None
    why: NDArray[Any] | None = None
    sets: list[tuple[int, ...]] | None = None

    @property
    def n(self) -> int:
        """Number of groups."""
        return len(self.best)

    @property
    def order(self) -> list[NDArray[np.int64]]:
        """The positions of the candidates of each group, best first; ties keep their order."""
        bounds = pairwise(self.groups.bounds)
        return [np.argsort(-self.scores[a:b], kind="stable") for a, b in bounds]


class RankTask(Task):
    """Rankers: `SureRanker`."""

    settings = RankSettings
    unit, noun = "group", "ranker"
    wrong = " of groups, which are wrong if the best candidate is not first"
    not_rows = (
        "{name} must be a classifier, got the ranker {model!r}. Use evaluate, or "
        "prediction.predict_groups, for rankers."
    )
    only = frozenset(
        ["all", "cross", "encoding", "format", "intercept", "n_features", "passes", "proba",
         "rule", "skip_bad", "top", "zero_based"]
    )  # fmt: skip

    def opened(
        self, source: Any, reading: Mapping[str, Any], *, model: Any = None, labelled: bool = True
    ) -> Source:
        return opened_groups(source, reading, model=model, labelled=labelled)

    # ------------------------------------------------------------------- files

    def packed(self, estimator: Any) -> tuple[dict[str, Any], files.Tensors]:
        model = estimator.model_
        settings, cells = weights_out(model.weights)
        own = {"weights": settings, "skipped": model.skipped, **prior_out(model)}
        return own, cells | names_out(estimator)

    def put(
        self, estimator: Any, fields: files.Fields, tensors: files.Tensors, budget: int
    ) -> None:
        settings, layout = settings_of(estimator), layout_in(fields.inner("layout"))
        if layout.intercept or layout.covariance != "diagonal":
            raise FormatError(f"{fields.where}: layout must be diagonal, without intercept.")
        model = RankModel(
            layout,
            *prior_in(fields, layout),
            diagonal_in(fields.inner("weights"), tensors, layout, n_columns=1, budget=budget),
            skipped=fields.integer("skipped"),
            mistakes=fields.naturals("mistakes"),
            updates=fields.integer("updates"),
        )
        settings.check_fits(model)
        names = names_in(tensors, layout.n_features)
        put_model(estimator, model)
        estimator.n_features_in_ = layout.n_features
        put_names(estimator, names)

    # ----------------------------------------------------------------- merging

    def check_alike(self, models: Sequence[Any]) -> None:
        super().check_alike(models)
        fitted = [model for model in models if is_fitted(model)]
        for other in fitted[1:]:
            _check.agree("n_features_in_", fitted[0].n_features_in_, other.n_features_in_)
        merged_names(fitted)

    def state(self, estimator: Any, how: Way, *, like: Any) -> MergeState:
        if is_fitted(estimator):
            state: MergeState = estimator.model_.merge_state(how)
            return state
        blank: RankModel = settings_of(estimator).untrained(like.n_features_in_, is_sparse=True)
        return blank.merge_state(how)

    def put_merged(self, estimator: Any, total: MergeState, fitted: Sequence[Any]) -> Any:
        put_model(estimator, fitted[0].model_.merged(total))
        estimator.n_features_in_ = fitted[0].n_features_in_
        put_names(estimator, merged_names(fitted))
        return estimator

    def score(self, model: Any, X: Any, y: Any) -> float:
        raise TypeError("X_val and y_val must be None for rankers, whose rows come in groups.")

    # ----------------------------------------------------------------- answers

    def predictions(  # type: ignore[override]  # each kind has keywords of its own
        self, model: Any, source: Source, *, options: DecisionOptions = PLAIN
    ) -> Iterator[Ranked]:
        def work(block: Any) -> Ranked:
            groups = block.parse()
            sizes = block.n_bytes, groups.n_bad
            if not len(groups):
                none = options.of_nothing()
                return Ranked(groups, _NONE, None, np.zeros(0), None, *sizes, *none)
            scores = model.decision_function(groups.X)
            of = np.repeat(np.arange(len(groups)), groups.sizes)
            first = np.lexsort((-scores, of))[groups.bounds[:-1]]
            best, decided = first - groups.bounds[:-1], options.of_nothing()
            if options.is_any:
                found = given(model, groups.X, options, group=groups.sizes)
                best, decided, table = found.shown, found[3:], found.view.probabilities()
                p = table[np.arange(table.shape[1]) < groups.sizes[:, None]]
            else:
                p = _probabilities(model, groups) if hasattr(model, "predict_proba") else None
            of_best = None if p is None else p[first]
            return Ranked(groups, best, of_best, scores, p, *sizes, *decided)

        return ahead(model, work, source)

    def lines(self, model: Any, shown: Shown) -> Callable[[Ranked], str]:
        return lambda batch: "".join(_lines(batch, shown))

    def evaluated(
        self,
        model: Any,
        X: Any,
        y: Any,
        options: EvaluationOptions,
        *,
        cost: Any = None,
        group: Any = None,
        qid: Any = None,
        k: int = 10,
        **how: Any,
    ) -> Any:
        from surelearn.learners.deciding.judging import Judge
        from surelearn.scores import RankingScores, ranking_scores, scored_groups

        self.check_fitted("ranker", model)
        refuse_rival(options.rival, self.noun)
        k = _check.count("k", k)
        _check.rows_or_source(X, y if cost is None else cost, sorted(how))
        judged, judge = "group with a right and a wrong candidate", Judge(model, options)
        if y is not None or cost is not None:
            scores = model.decision_function(X)
            result = ranking_scores(scores, y, cost=cost, group=group, qid=qid, k=k)
            _check.some_judged(result.n, judged)
            if judge.is_asked(model):
                worth = _worth(_check.candidate_costs(y, cost, len(scores)))
                judge.judge(model, X, worth, group=group, qid=qid)
            return replace(result, decisions=judge.result())
        for name, value in (("group", group), ("qid", qid)):
            if value is not None:
                raise TypeError(
                    f"{name} must be None for a source, got {value!r}. A source has its groups."
                )
        source = self.opened(X, how, model=model)
        result, n_bytes = RankingScores(k), 0
        for block in source.some_blocks():
            batch: Any = block.parse()
            if not batch.is_labelled:
                raise batch.no_labels(source.name)
            costs = _check.candidate_costs(batch.relevance, batch.cost, int(batch.bounds[-1]))
            scores = model.decision_function(batch.X) if len(costs) else costs
            part = scored_groups(scores, costs, batch.bounds, graded=batch.cost is None, k=k)
            result += replace(part, n_bad=batch.n_bad)
            if judge.is_asked(model) and len(costs):
                judge.judge(model, batch.X, _worth(costs), group=batch.sizes)
            n_bytes += block.n_bytes
            if options.progress is not None:
                wrong = result.n - round(result.sums[2])
                counts = result.n, wrong, n_bytes, source.n_bytes, result.n_bad
                options.progress(StreamProgress(1, 1, *counts))
        _check.some_judged(result.n, judged)
        return replace(result, decisions=judge.result())

    # ---------------------------------------------------------------- commands

    def facts(self, model: Any) -> dict[str, Any]:
        return {
            "right": model.right,
            "equal": model.n_skipped_,
            "features": model.n_features_in_,
        }

    def learnt(self, model: Any, before: Mapping[str, Any]) -> dict[str, Any]:
        return {"equal": model.n_skipped_ - before.get("equal", 0)}


#: The task of every ranker.
GROUPS = RankTask()


def _worth(costs: NDArray[np.float64]) -> NDArray[np.int64]:
    """The relevance of candidates in the order of their costs, the largest of the cheapest."""
    places = np.unique(costs, return_inverse=True)[1]
    return np.asarray(places.max() - places)


def _probabilities(ranker: Any, groups: Groups) -> NDArray[np.float64]:
    """Probability of each candidate to be the best of its group; NaN in the largest groups."""
    small = groups.sizes <= LARGEST
    p = np.full(groups.bounds[-1], np.nan)
    if small.any():
        some = groups if small.all() else groups[small]
        p[np.repeat(small, groups.sizes)] = ranker.predict_proba(some.X, group=some.sizes)
    return p


def _lines(batch: Ranked, shown: Shown) -> Iterator[str]:
    """One line of JSON for each group: its id, and the best candidate."""
    groups = batch.groups
    order = batch.order if shown.everything else []
    decided = list(zip(*decided_keys(batch), strict=True))
    for g, (a, b) in enumerate(pairwise(groups.bounds.tolist())):
        best = batch.best[g]
        parts = [] if groups.ids is None else [f'"qid": {groups.ids[g]}']
        parts.append(f'"best": {"null" if best is None else best}')
        if groups.names is not None:
            name = -1 if best is None else groups.names[a + best]
            parts.append(f'"label": {"null" if name < 0 else name}')
        if batch.probability is not None:
            parts.append(f'"probability": {json_number(batch.probability[g])}')
        parts += decided[g] if decided else ()
        if batch.sets is not None:
            parts.append(f'"set": {json.dumps(batch.sets[g])}')
        if shown.everything:
            parts.append(f'"order": {json.dumps(order[g].tolist())}')
            parts.append(f'"scores": {_numbers(batch.scores[a:b])}')
        if shown.probabilities and batch.probabilities is not None:
            parts.append(f'"probabilities": {_numbers(batch.probabilities[a:b])}')
        yield f"{{{', '.join(parts)}}}\n"


def _numbers(values: Any) -> str:
    return f"[{', '.join(json_number(x) for x in values.tolist())}]"
