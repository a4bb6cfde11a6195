"""`tune`: judge many settings by what `fit` makes of them, and fit the winner."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from surelearn import _check
from surelearn.learners.answers.linear import whole_block
from surelearn.learners.classifier import SureClassifier
from surelearn.learners.labels import has_label_sets
from surelearn.learners.row_learner import train_block
from surelearn.learners.tasks.row_block import RowBlock
from surelearn.learners.tasks.row_settings import RowSettings
from surelearn.rows import rows_of
from surelearn.training.passes import new_order
from surelearn.training.protocol import Refused
from surelearn.training.shards import spread
from surelearn.tuning.candidates import Entrant, described, entrants, fitting
from surelearn.tuning.final import Judge, Verdict, best_of, parts
from surelearn.tuning.standings import Standings, standings
from surelearn.tuning.sweep import Candidate, OrderedRows, ranked, sweep

#: So many candidates reach the final, besides the estimator as it is. One pass tells little about
#: which is best after several: the first round only shortens long lists.
_FINALISTS = 13


class Tuning(NamedTuple):
    """The result of `tune`: the fitted winner, and a table of all candidates.

    Examples
    --------
    >>> from surelearn import SureClassifier, tune
    >>> X, y = [[0, 1], [1, 0], [0, 2], [3, 0], [1, 2], [2, 1]], [0, 1, 0, 1, 0, 1]
    >>> tune(SureClassifier(random_state=0), X, y, [{}, {"rule": "pa"}]).default_is_best
    True
    """

    best: SureClassifier
    table: Standings

    @property
    def default_is_best(self) -> bool:
        """Whether the estimator as it is has won."""
        return not self.table.parameters[0]

    def __repr__(self) -> str:
        return f"{_conclusion(self.table)}\n{self.table}"


def tune(
    estimator: SureClassifier,
    X: Any,
    y: Any,
    candidates: Any = None,
    *,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Tuning:
    """Find the best settings for the passes that the estimator makes, and fit them.

    *Judgement.* Each candidate is trained as `fit` does, in all passes, without a tenth of the
    rows, at most 5,000. These judge it by its error and by the log loss of its calibrated
    probabilities. If they are fewer than 2,000, other tenths are kept back in turn until that many
    rows, or all, have been judged.

    *Choice.* The estimator as it is wins unless 200 rows or more have been judged and others are
    better by more than two standard errors of the paired difference: they have fewer errors and a
    log loss that is not higher by one, or no more errors and a lower log loss. Among those, or
    where it is not among the candidates, the least error wins; within one standard error of it the
    least log loss. The winner is then fitted to all rows by `fit`.

    *First round.* Of more than 13 candidates, those with the fewest mistakes in one pass over all
    rows are judged: each predicts a row before it learns it (progressive validation). The estimator
    as it is always takes part.

    Parameters
    ----------
    estimator : SureClassifier
        Settings that all candidates share. It does not change.
    X : array or CSR matrix of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    candidates : list of dict, or dict of list, optional
        Parameters to try, such as ``[{"rule": "arow"}, {"rule": "stdev", "average": True}]``. A
        dict of lists stands for all combinations, and ``{}`` in a list for the estimator as it is.
        Default: the estimator as it is and a dozen others; those that do not fit the estimator are
        left out.
    sample_weight : array of shape (n_samples,), optional
        Rows of weight 0 are left out. Mistakes and losses are counted without weights.
    n_jobs : int or None, default None
        Threads, as in `SureClassifier`; -1: as many as there are cores. It never changes the
        result.
    verbose : int, default 0
        1 prints how many candidates are done, and the conclusion.

    Returns
    -------
    Tuning
        ``best, table = tune(...)``: a fitted classifier with the parameters of the winner, and a
        table of all candidates, the winner first. Its attribute `default_is_best` tells whether the
        estimator as it is has won. A candidate fails if a row would leave it without usable
        weights; it comes last, with the reason. If all fail, the call raises the reason of the
        first.

    Notes
    -----
    Each thread holds the weights of one candidate in memory, or in a first round for two classes
    those of eight. Averaged candidates are judged by their averaged weights, as
    `predict` uses them.

    References
    ----------
    Blum, Kalai & Langford 1999, *Beating the Hold-Out: Bounds for K-fold and Progressive
    Cross-Validation*.

    Examples
    --------
    >>> from surelearn import SureClassifier, tune
    >>> X, y = [[0, 1], [1, 0], [0, 2], [3, 0], [1, 2], [2, 1]], [0, 1, 0, 1, 0, 1]
    >>> grid = {"rule": ["arow", "perceptron"], "average": [False, True]}
    >>> best, table = tune(SureClassifier(random_state=0), X, y, grid)
    >>> best.rule, best.average, len(table)
    ('arow', False, 4)
    """
    if not isinstance(estimator, SureClassifier):
        raise TypeError(f"estimator must be a SureClassifier, got {estimator!r}.")
    threads = _check.threads("n_jobs", n_jobs)
    verbose = _check.verbosity(verbose)
    if estimator.decoding != "auto":
        raise ValueError(
            "decoding must be 'auto' for tune, which counts mistakes by it, got "
            f"{estimator.decoding!r}. Set another in the winner."
        )
    if estimator.n_shards != 1:
        raise ValueError(
            "n_shards must be 1 for tune, which learns all rows in one model, got "
            f"{estimator.n_shards!r}. Set another in the winner and fit it."
        )
    if has_label_sets(y):
        raise ValueError(
            "y must have one label for each row in tune, got rows of many labels. Choose settings "
            "of many labels by sklearn.model_selection.GridSearchCV on an indicator matrix."
        )
    best: SureClassifier = clone(estimator)
    block = whole_block(best, X, y, sample_weight, who="tune")
    n_features, strict = best.n_features_in_, candidates is not None
    found = entrants(estimator, candidates, block.is_sparse)
    found = fitting(found, n_features, block.labels.values, strict=strict)
    search = _Search(found, _scaled(found[0].settings, block, n_features), n_features=n_features)
    search.threads, search.verbose = threads, verbose
    random = check_random_state(clone(estimator).random_state)
    search.narrow(random)
    search.final(random)
    search.fit(best, estimator, block)
    return Tuning(best, search.table())


def _scaled(settings: RowSettings, block: RowBlock, n_features: int) -> RowBlock:
    """A copy of a block in the units of its columns, for weights that read rows as they are."""
    scale = settings.scale_of(block, n_features)
    if scale is None:
        return block
    X = scale.units.matrix(block.X)
    return block._replace(rows=rows_of(X), X=X)


class _Search:
    """The candidates, and what is known of them so far."""

    threads: int
    verbose: int

    def __init__(
        self,
        found: Sequence[Entrant],
        block: RowBlock,
        *,
        n_features: int,
    ) -> None:
        self._entrants = found
        self._block = block
        self._entries = [
            Candidate(settings, settings.untrained(n_features, is_sparse=block.is_sparse))
            for settings in (one.settings.but(scale=False) for one in found)
        ]
        self._default = next((i for i, one in enumerate(found) if not one.params), None)
        self._verdicts: dict[int, Verdict] = {}
        self._winner = -1

    @property
    def _is_long(self) -> bool:
        """Whether there are too many candidates to judge all."""
        return len(self._entries) > _FINALISTS + (self._default is not None)

    def narrow(self, random: np.random.RandomState) -> None:
        """One pass of all candidates, if there are many."""
        if not self._is_long:
            return
        shuffle = self._entrants[0].settings.shuffle
        order = new_order(random, self._block.size) if shuffle else None
        data = OrderedRows(self._block, order)
        report = self._reporter(f"of {len(self._entries)} candidates made the first pass")
        sweep(self._entries, data, self.threads, report)

    def final(self, random: np.random.RandomState) -> None:
        """Judge the best few and the estimator as it is; others take the places of failed ones."""
        kept_back = parts(self._block.size, random)
        judge = Judge(self._block, kept_back, random.get_state())
        waiting = [i for i in ranked(self._entries) if not self._entries[i].failure]
        waiting.sort(key=lambda i: i != self._default)
        wanted = _FINALISTS + (self._default in waiting)
        report = self._reporter("candidates judged")
        while waiting and len(self._verdicts) < wanted:
            free = wanted - len(self._verdicts)
            group, waiting = waiting[:free], waiting[free:]
            for i, verdict in zip(group, self._judge(judge, group), strict=True):
                if verdict is not None:
                    self._verdicts[i] = verdict
            report(len(self._verdicts))

    def _judge(self, judge: Judge, group: list[int]) -> list[Verdict | None]:
        def verdict(i: int) -> Verdict | None:
            entry = self._entries[i]
            try:
                return judge.verdict(entry.settings, entry.model)
            except Refused as error:
                self._fail(i, error)
                return None

        return list(spread(group, verdict, self.threads))

    def fit(self, best: SureClassifier, estimator: SureClassifier, block: RowBlock) -> None:
        """Fit `best` with the winner's settings, or the next best if a row leaves it unusable."""
        while self._verdicts:
            self._winner = best_of(self._verdicts, self._default)
            # A clone has the random state that `fit` would start from.
            own = clone(estimator).set_params(**self._entrants[self._winner].params)
            best.set_params(**own.get_params(deep=False))
            try:
                train_block(best, block)
            except Refused as error:
                self._fail(self._winner, error)
                del self._verdicts[self._winner]
            else:
                return
        raise ValueError(
            f"a candidate must learn all rows, got none that does: {self._entries[0].failure}"
        )

    def _fail(self, i: int, error: Refused) -> None:
        self._entries[i].failure = str(error)

    def table(self) -> Standings:
        """The candidates, the winner first."""
        judged = self._verdicts
        finalists = sorted(judged, key=lambda i: (i != self._winner, judged[i].error))
        others = [i for i in ranked(self._entries) if i not in judged]
        n_rows = self._block.size if self._is_long else None
        places = [*finalists, *others]
        made = standings(self._entrants, self._entries, judged, places=places, n_rows=n_rows)
        if self.verbose:
            print(f"tune: {_conclusion(made)}", flush=True)
        return made

    def _reporter(self, what: str) -> Callable[[int], None]:
        if not self.verbose:
            return lambda ended: None
        return lambda ended: print(f"tune: {ended} {what}", flush=True)


def _conclusion(table: Standings) -> str:
    """One sentence on the winner."""
    if not table.parameters[0]:
        return (
            "The settings as they are did best: none is better by two standard errors, judged by "
            "200 rows or more."
        )
    default = [i for i, one in enumerate(table.parameters) if not one]
    beside = f" (as it is: {_figures(table, default[0])})" if default else ""
    return f"{described(table.parameters[0])} did best: {_figures(table, 0)}{beside}."


def _figures(table: Standings, line: int) -> str:
    error, loss = table.error[line], table.log_loss[line]
    if np.isnan(error):
        return "failed"
    return f"{100 * error:.2f} % errors" + ("" if np.isnan(loss) else f", log loss {loss:.4f}")
