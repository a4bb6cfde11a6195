"""`tune`: train many settings on the same rows at once, and finish training the best."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from surelearn import _check
from surelearn.estimators.base import put_model
from surelearn.estimators.classifier import SureClassifier
from surelearn.estimators.labels import has_label_sets
from surelearn.estimators.readers import NumberReader
from surelearn.estimators.row_input import whole_batch
from surelearn.estimators.table import Table, word
from surelearn.models.protocol import Refused
from surelearn.models.row_settings import RowSettings
from surelearn.models.row_training import RowBlock, RowTrainable
from surelearn.models.rows import RowModel
from surelearn.training.passes import new_order, random_orders, reports, run
from surelearn.tuning import candidates as settings_to_try
from surelearn.tuning.candidates import Params
from surelearn.tuning.sweep import Candidate, OrderedRows, ranked, sweep


class Standings(Table):
    """The candidates of `tune`, best first. Each column is a read-only attribute.

    Attributes
    ----------
    columns : tuple of str
        The names of the columns, in order.
    parameters : ndarray of dict
        The parameters that the candidate sets.
    mistakes : ndarray of int
        Rows that the candidate mispredicted before it learnt them; a tie counts as a mistake.
    error, deviation : ndarray of float
        Progressive validation error and its standard error; NaN for a failed candidate.
    behind, behind_deviation : ndarray of float
        Difference to the winner's error, and its standard error. The comparison is paired, row by
        row, so this is smaller than the standard errors of the two errors suggest.
    updates : ndarray of int
        Rows that changed the weights.
    failure : ndarray of str
        Why a candidate failed; the column is absent if none did.
    """

    _kind = "Standings"
    _right = "fiu"

    @staticmethod
    def _cell(name: str, value: Any) -> str:
        if name == "parameters":
            return word(described(value), 60)
        if isinstance(value, float) and not np.isnan(value):
            return f"{value:.4f}"
        return Table._cell(name, value)


class Tuning(NamedTuple):
    """The result of `tune`: the fitted winner, and a table of all candidates."""

    best: SureClassifier
    table: Standings


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
    """Find the best settings in one pass over the data, and fit them.

    Candidates are compared by progressive validation: each predicts a row before it learns it, so
    every row counts and none is held out. All candidates see the rows in the same order, that of
    `fit`. The candidate with the fewest mistakes wins; the first one wins a tie. It then makes the
    other passes of the estimator, and ends with the same bits as ``fit`` would give.

    Parameters
    ----------
    estimator : SureClassifier
        Settings that all candidates share. It does not change.
    X : array or CSR matrix of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    candidates : list of dict, or dict of list, optional
        Parameters to try, such as ``[{"rule": "arow"}, {"rule": "stdev", "average": True}]``. A
        dict of lists stands for all combinations. Default: 30 candidates (33 for dense X), some of
        them with the other projection or with averaging; those that do not fit the estimator are
        left out.
    sample_weight : array of shape (n_samples,), optional
        Rows of weight 0 are left out. Mistakes are counted without weights.
    n_jobs : int or None, default None
        Threads; None and -1: as many as there are cores. It never changes the result.
    verbose : int, default 0
        1 prints how many candidates are done.

    Returns
    -------
    Tuning
        ``best, table = tune(...)``: a fitted classifier with the parameters of the winner, and a
        table of all candidates, best first. A candidate fails if a row would leave it without
        usable weights; it comes last, with the reason. If all fail, the call raises the reason of
        the first.

    Notes
    -----
    Besides the best weights so far, each thread holds the weights of one candidate in memory, or of
    eight candidates for two classes. Averaged candidates are judged by their averaged weights, as
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
    >>> best, table = tune(SureClassifier(shuffle=False), X, y, grid)
    >>> best.rule, best.average, table.mistakes.tolist()
    ('arow', False, [2, 2, 2, 2])
    """
    if not isinstance(estimator, SureClassifier):
        raise TypeError(f"estimator must be a SureClassifier, got {estimator!r}.")
    threads = _check.threads("n_jobs", n_jobs)
    verbose = _check.verbosity(verbose)
    _check_decoding(estimator.decoding)
    _check_whole(estimator.n_shards)
    if has_label_sets(y):
        raise _check.not_tuned()
    best: SureClassifier = clone(estimator)
    batch, classes = whole_batch(best, X, y, sample_weight, who="tune")
    entrants = _entrants(estimator, candidates, batch.is_sparse)
    entrants = _fitting(best, entrants, classes, strict=candidates is not None)
    entries = [_entry(best, entrant.settings, batch.is_sparse) for entrant in entrants]
    random = check_random_state(best.random_state)
    start = random.get_state()
    order = _first_order(entries[0].settings, random, batch.size)
    # Look up the labels once for all candidates; the winner's model keeps the user's labels.
    data = OrderedRows(batch._replace(y=np.searchsorted(classes, batch.y)), order, classes)
    sweep(entries, data, threads, _reporter(len(entries)) if verbose else lambda ended: None)
    winner, model = _winner(entries, data._replace(batch=batch), random, start)
    best.set_params(**entrants[winner].params)
    put_model(best, model)
    return Tuning(best, _standings(entrants, entries, winner))


class _Entrant(NamedTuple):
    """A candidate's parameters, and the checked settings they give."""

    params: Params
    settings: RowSettings


# --------------------------------------------------------------------- candidates


def _entrants(estimator: SureClassifier, candidates: Any, is_sparse: bool) -> list[_Entrant]:
    """All candidates, checked and without duplicates."""
    given = candidates is not None
    listed = settings_to_try.listed(candidates) if given else settings_to_try.default(is_sparse)

    def entrant(params: Params) -> _Entrant:
        full = clone(estimator).set_params(**params).get_params(deep=False)
        return _Entrant(params, RowSettings.of(full))

    return _distinct(_sound(listed, entrant, strict=given), is_sparse, strict=given)


def _sound(
    listed: Sequence[Params], make: Callable[[Params], _Entrant], *, strict: bool
) -> list[_Entrant]:
    """The candidates that `make` accepts; `strict` raises for the first one that it refuses."""
    found, errors = [], []
    for i, params in enumerate(listed):
        try:
            found.append(make(params))
        except (TypeError, ValueError, NotImplementedError) as error:
            if strict:
                raise type(error)(f"candidates[{i}], {described(params)}: {error}") from None
            errors.append(error)
    if not found:
        raise errors[0]
    return found


def _distinct(found: Iterable[_Entrant], is_sparse: bool, *, strict: bool) -> list[_Entrant]:
    kept: list[_Entrant] = []
    for i, one in enumerate(found):
        twin = next(
            (k for k in kept if settings_to_try.alike(k.settings, one.settings, is_sparse)), None
        )
        if twin is None:
            kept.append(one)
        elif strict:
            raise ValueError(
                f"candidates must all differ, got candidates[{i}], {described(one.params)}, which "
                f"learns the same as {described(twin.params)}."
            )
    return kept


def _fitting(
    best: SureClassifier, entrants: Sequence[_Entrant], classes: NDArray[Any], *, strict: bool
) -> list[_Entrant]:
    """The candidates for which there are enough classes and memory."""
    every_settings = {id(one.params): one.settings for one in entrants}

    def checked(params: Params) -> _Entrant:
        settings = every_settings[id(params)]
        settings.constraints.check_rivals(len(classes) - 1)
        settings.check_classes(classes, settings.untrained(best.n_features_in_, is_sparse=True))
        return _Entrant(params, settings)

    return _sound([one.params for one in entrants], checked, strict=strict)


def described(params: Params) -> str:
    """The parameters in one line; the rule comes first, without ``rule=``."""
    rest = [f"{name}={value!r}" for name, value in params.items() if name != "rule"]
    return ", ".join([*([str(params["rule"])] if "rule" in params else []), *rest]) or "as it is"


# ------------------------------------------------------------------------ learning


def _check_decoding(decoding: str) -> None:
    if decoding != "auto":
        raise ValueError(
            f"decoding must be 'auto' for tune, which counts mistakes by it, got {decoding!r}. Set "
            "another in the winner."
        )


def _check_whole(n_shards: Any) -> None:
    if n_shards != 1:
        raise ValueError(
            f"n_shards must be 1 for tune, which learns all rows in one model, got {n_shards!r}. "
            "Set another in the winner and fit it."
        )


def _first_order(
    settings: RowSettings, random: np.random.RandomState, n: int
) -> NDArray[np.int64] | None:
    return new_order(random, n) if settings.shuffle else None


def _entry(best: SureClassifier, settings: RowSettings, is_sparse: bool) -> Candidate:
    return Candidate(settings, settings.untrained(best.n_features_in_, is_sparse=is_sparse))


def _winner(
    entries: Sequence[Candidate], data: OrderedRows, random: np.random.RandomState, start: Any
) -> tuple[int, RowModel]:
    """The best candidate that completes all passes, and its model."""
    after = random.get_state()
    block = RowBlock.of(data.batch, data.classes)
    for i in ranked(entries, range(len(entries))):
        entry = entries[i]
        if entry.failure:
            break
        try:
            if entry.finish is not None:
                random.set_state(after)
                model = entry.finish()
                _go_on(model, entry.settings, block, random, done=1)
            else:  # a better one failed, and only the best keeps its weights: start over
                random.set_state(start)
                model = entry.model.with_classes(data.classes)
                _go_on(model, entry.settings, block, random, done=0)
        except Refused as error:
            entry.failure = f"in a later pass: {error}"
        else:
            return i, model
    raise ValueError(f"a candidate must learn all rows, got none that does: {entries[0].failure}")


def _go_on(
    model: RowModel,
    settings: RowSettings,
    block: RowBlock,
    random: np.random.RandomState,
    *,
    done: int,
) -> None:
    """Make the remaining passes."""
    n, passes = block.size, settings.passes
    run(
        RowTrainable(settings, NumberReader(), model),
        block,
        range(done + 1, passes + 1),
        order=random_orders(random, n, shuffle=settings.shuffle),
        report=reports(n, passes, verbose=settings.verbose),
    )


def _reporter(total: int) -> Callable[[int], None]:
    return lambda ended: print(f"tune: {ended} of {total} candidates done", flush=True)


# ----------------------------------------------------------------------- the table


def _standings(
    entrants: Sequence[_Entrant], entries: Sequence[Candidate], winner: int
) -> Standings:
    ranks = ranked(entries, range(len(entries)))
    lines = [_line(entries[i], entries[winner].missed) for i in ranks]
    params = np.empty(len(ranks), dtype=object)
    params[:] = [entrants[i].params for i in ranks]
    table = {"parameters": params}
    table |= {name: np.array([line[name] for line in lines]) for name in lines[0]}
    if not any(line["failure"] for line in lines):
        del table["failure"]
    return Standings(table)


def _line(entry: Candidate, best: NDArray[np.uint8]) -> dict[str, Any]:
    n = len(best)
    error = np.nan if entry.failure else entry.mistakes / n
    # Paired: only rows on which exactly one of the two is wrong tell them apart.
    more, fewer = (np.count_nonzero(a > b) for a, b in ((entry.missed, best), (best, entry.missed)))
    behind = np.nan if entry.failure else (more - fewer) / n
    return {
        "mistakes": entry.mistakes,
        "error": error,
        "deviation": np.sqrt(error * (1 - error) / n),
        "behind": behind,
        "behind_deviation": np.sqrt(((more + fewer) / n - behind**2) / n),
        "updates": entry.updates,
        "failure": entry.failure,
    }
