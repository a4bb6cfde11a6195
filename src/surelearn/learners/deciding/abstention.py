"""Certify which records to answer, and answer these alone; knows no kind of record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from surelearn import _check
from surelearn.decide import (
    NOVELTY_SCORES,
    Novelty,
    Selection,
    fewest_rows,
    risk_coverage,
    select,
    split,
    too_few,
)
from surelearn.learners.deciding.state import Abstention, decisions_of, part_of, put_decisions
from surelearn.learners.deciding.view import Array, Places, View, view_of

if TYPE_CHECKING:
    from surelearn.learners.base import Estimator

E = TypeVar("E", bound="Estimator[Any]")

#: Methods that give the probabilities by which an answer is the cheapest.
_PROBABILITIES = ("predict_proba", "predict_marginals")

#: Why a record is answered or not.
WHY = (SURE, UNSURE, NOVEL, COST) = "sure", "unsure", "novel", "cost"


class Decided(NamedTuple):
    """Answers, and the place in `WHY` of the reason why each is given or not."""

    view: View
    answers: Any
    reason: NDArray[np.uint8]
    is_whole: bool  # no answer can be missing, by what was asked for

    @property
    def answered(self) -> NDArray[np.bool_]:
        """Whether each answer is given."""
        return np.asarray(self.reason == WHY.index(SURE))

    @property
    def why(self) -> NDArray[Any]:
        """Why each answer is given or not."""
        return np.array(WHY, dtype=object)[self.reason]

    def shown(self, otherwise: Any) -> Any:
        """The answers as `predict` returns them, with something else where none is given."""
        found, answered = self.view.objects(self.answers), self.answered
        if isinstance(found, list):
            pairs = zip(found, answered.tolist(), strict=True)
            return [own if given else otherwise for own, given in pairs]
        cell = np.empty((), dtype=object)
        cell[()] = otherwise  # it may be a tuple
        found[~answered] = cell
        return found


def choose_abstention(
    self: E,
    X: Any,
    y: Any,
    *,
    risk: Any = 0.05,
    delta: float = 0.1,
    novel: float | None = None,
    cost: Any = None,
    **records: Any,
) -> E:
    r"""Choose which records to answer, so that at most a share `risk` of the answers is wrong.

    .. math:: \Pr\big[\, \Pr[\hat y \ne y \mid answered] \le risk \,\big] \ge 1 - \delta

    over samples of kept-back records, for new ones that are drawn like these. From then on
    ``predict(X, abstain=True)`` answers only what it is sure enough of. A fifth of the records
    chooses the thresholds to try; the others certify the loosest one whose bound is at most
    `risk`.

    Parameters
    ----------
    X, y
        Labelled records as `fit` takes them: a simple random sample that the model has not learnt,
        that was not used by `calibrate` or `tune` and in which no class was left out.
    risk : float or dict of {label: float}, default 0.05
        The share of answers that may be wrong; of sequences and graphs the mean share of wrong tags
        in an answered one. A dict bounds it among the rows that are answered with each label;
        other labels are always given, and nothing is promised for them.
    delta : float, default 0.1
        The probability that the promise fails. Several labels share it.
    novel : float, optional
        Also leave records unanswered that are newer than all but this share of kept-back ones; see
        `novelty`.
    cost : array or dict, optional
        Answers are those of the least expected cost, as in `predict`.
    **records
        `group` or `qid` for rankers.

    Returns
    -------
    self
        `coverage_`, `risk_bound_` and `n_certified_` say what was found. Whatever changes answers
        later drops the promise: learning, `calibrate`, other thresholds; files keep it.

    Raises
    ------
    ValueError
        If there are too few records to show the risk, or if no threshold is certified. An earlier
        promise then stays.

    References
    ----------
    Geifman & El-Yaniv 2017, Selective classification for deep neural networks. Angelopoulos, Bates,
    Candes, Jordan & Lei 2021, Learn then test.

    Examples
    --------
    >>> import numpy as np
    >>> from surelearn import SureClassifier
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(1000, 2))
    >>> y = np.where(X[:, 0] + 0.5 * random.normal(size=1000) > 0, "yes", "no")
    >>> clf = SureClassifier(random_state=0).fit(X[:500], y[:500])
    >>> clf = clf.choose_abstention(X[500:], y[500:], risk=0.05)
    >>> clf.predict([[2.0, 0.0], [0.1, 0.0]], abstain=True)
    array(['yes', None], dtype=object)
    """
    risks = risks_by_label(risk)
    delta = _check.number("delta", delta, "(0, 1)", low=0.0, high=1.0)
    view = view_of(self, X, records)
    table = None if cost is None else view.costs(cost)
    answers = view.answers(table)
    loss = view.losses(answers, y)
    shared = delta / len(risks)
    least = fewest_rows(min(risks.values()), shared, binary=view.binary)
    if view.n < least:
        raise too_few(view.n, least, risk=min(risks.values()), delta=shared, unit=_unit(view, None))
    choosing, certifying = split(view.n, least, np.random.default_rng(0))
    left, known = ~view.priced_out(answers), None
    if novel is not None:
        novel = _check.number("novel", novel, "(0, 1)", low=0.0, high=1.0)
        known = _known(self, view, choosing, novel)
        left &= known.p_value(view.novelty(known.score)) > novel
    choosing = choosing[left[choosing]]
    name = _surest(view, answers, loss, choosing)
    said = Selection(view.sureness(name, answers), loss)
    labels = None
    if None not in risks:
        labels, classes = view.labels(answers), self.classes_.tolist()
        for label in risks:
            if label not in classes:
                raise ValueError(
                    f"risk must name known labels, {_check.listing(classes[:6])}"
                    f"{', ...' if len(classes) > 6 else ''}, got {label!r}."
                )
    rules = {}
    for label, wanted in risks.items():
        own = left if label is None else left & (labels == label)
        others, kept = (said.take(rows[own[rows]]) for rows in (choosing, certifying))
        found = select(others, kept, risk=wanted, delta=shared, binary=view.binary)
        if found is None:
            raise _not_certified(kept.loss, wanted, shared, view=view, label=label)
        share = found.coverage * found.n / len(certifying)
        rules[label] = found._replace(coverage=share, n=len(certifying))
    promised = risks.get(None, risks)
    put_decisions(self, abstention=Abstention(promised, delta, name, rules, novel, known, table))
    return self


def risks_by_label(risk: Any) -> dict[Any, float]:
    """Checked risks by label; None stands for all labels."""
    if isinstance(risk, Mapping) and not risk:
        raise ValueError("risk must name at least one label, got {}.")
    if isinstance(risk, Mapping) and None in risk:
        raise ValueError("risk must have labels as keys, got None.")
    given = risk if isinstance(risk, Mapping) else {None: risk}
    return {
        label: _check.number(
            "risk" if label is None else f"risk[{label!r}]", x, "(0, 1)", low=1e-9, high=1.0
        )
        for label, x in given.items()
    }


def _unit(view: View, label: Any) -> str:
    """What the records are called that are judged for a label; None: all."""
    of = "" if label is None else f" answered {label!r}"
    return f"kept-back {view.unit}s{of}"


def _known(estimator: Estimator[Any], view: View, rows: Places, level: float) -> Novelty:
    """The novelty of records other than those that certify: of these, or of `choose_novelty`."""
    least, found = Novelty.fewest(level), decisions_of(estimator).novelty
    if len(rows) >= least:
        score = next(iter(NOVELTY_SCORES)) if found is None else found.score
        return Novelty.of(view.novelty(score)[rows], score)
    if found is not None and len(found.values) >= least:
        return found
    raise ValueError(
        f"novel={level:g} needs at least {least:,} {view.records} beside those that certify the "
        f"risk, got {len(rows):,}. Call choose_novelty with others first, or use a larger level."
    )


def _surest(view: View, answers: Any, loss: Array, rows: Places) -> str:
    """The score of sureness whose risk-coverage curve has the smallest area on some rows."""
    if not len(rows) or len(view.names) == 1:
        return view.names[0]
    areas = [
        risk_coverage(view.sureness(name, answers)[rows], loss[rows]).area for name in view.names
    ]
    return view.names[int(np.argmin(areas))]


class NotCertified(ValueError):
    """No threshold is certified on kept-back records."""


def _not_certified(
    loss: Array, risk: float, delta: float, *, view: View, label: Any
) -> NotCertified:
    least, unit = fewest_rows(risk, delta, binary=view.binary), _unit(view, label)
    if len(loss) < least:
        return NotCertified(str(too_few(len(loss), least, risk=risk, delta=delta, unit=unit)))
    return NotCertified(
        f"risk={risk:g} must be within reach of the model, got a loss of {loss.mean():.3g} over "
        f"all {len(loss):,} {unit}, and no threshold whose bound is small enough. Use a larger "
        "risk, more of them, or a better model."
    )


def decide(
    self: Estimator[Any],
    X: Any,
    *,
    abstain: bool = False,
    cost: Any = None,
    novel: float | None = None,
    **records: Any,
) -> Decided:
    """Answers of least cost, and which of them are given; see `predict`."""
    abstain, rule = _check.flag("abstain", abstain), None
    self._fitted()
    if abstain or novel is not None:
        check_certain(self, "predict(abstain=True)" if abstain else "novel")
    if cost is not None and not any(hasattr(self, name) for name in _PROBABILITIES):
        check_certain(self, "cost")
    if abstain:
        rule = part_of(self, "abstention", "predict(abstain=True)", "choose_abstention")
    view = view_of(self, X, records)
    table = None if cost is None else view.costs(cost)
    known = None
    if rule is not None:
        _check_rule(rule, table, novel)
        table, novel, known = rule.cost, rule.novel, rule.known
    elif novel is not None:
        novel = _check.number("novel", novel, "(0, 1)", low=0.0, high=1.0)
        known = part_of(self, "novelty", f"novel={novel:g}", "choose_novelty")
        _check_novel(len(known.values), novel, view.unit)
    # First, since the means that it takes give the probabilities as well.
    new = None
    if known is not None and novel is not None:
        new = known.beyond(view.novelty(known.score), novel)
    answers = view.answers(table)
    reason = np.full(view.n, WHY.index(SURE), dtype=np.uint8)
    if rule is not None:
        labels = None if None in rule.rules else view.labels(answers)
        reached = rule.reached(labels, view.sureness(rule.sureness, answers))
        reason[~reached] = WHY.index(UNSURE)
    if new is not None:
        reason[new] = WHY.index(NOVEL)
    reason[view.priced_out(answers)] = WHY.index(COST)
    priced = table is not None and table.shape[1] > table.shape[0]
    return Decided(view, answers, reason, rule is None and known is None and not priced)


def check_certain(estimator: Estimator[Any], doing: str) -> None:
    """Raise ValueError if a learner has no certainty."""
    from surelearn.learners.base import require_variances

    try:
        require_variances(estimator)
    except AttributeError as error:
        raise ValueError(f"{doing} needs a learner that is more or less sure: {error}") from None


def _check_rule(rule: Abstention, cost: Array | None, novel: float | None) -> None:
    """Refuse to decide by another rule than the one that was certified."""
    if novel is not None and novel != rule.novel:
        raise ValueError(
            f"novel must be {rule.novel}, as the risk was certified, got {novel!r}. Leave it out, "
            "or pass it to choose_abstention (on the command line: train --risk --novel)."
        )
    if cost is not None and (rule.cost is None or not np.array_equal(cost, rule.cost)):
        raise ValueError(
            "cost must be that of choose_abstention where a risk is promised, got another one: the "
            "risk was certified for other answers. Leave one of them out, or pass the cost to "
            "choose_abstention."
        )


def _check_novel(n: int, level: float, unit: str) -> None:
    least = Novelty.fewest(level)
    if n < least:
        raise ValueError(
            f"novel={level:g} needs at least {least:,} kept-back {unit}s, got {n:,}. Use more of "
            "them in choose_novelty, or a larger level."
        )


def decided(self: Estimator[Any], X: Any, otherwise: Any, **how: Any) -> Any:
    """The answers of `decide` as `predict` returns them."""
    found = decide(self, X, **how)
    return found.view.shown(found.answers) if found.is_whole else found.shown(otherwise)
