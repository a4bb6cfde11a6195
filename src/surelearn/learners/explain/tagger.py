"""Explain a tagger, or its tags of a sequence; must not know how it learns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surelearn import _check
from surelearn.decode import Chain
from surelearn.learners.base import Estimator
from surelearn.learners.explain.explanation import (
    Explanation,
    Subject,
    Top,
    about,
    of_label,
    of_model,
)
from surelearn.learners.tasks.sequences import SequenceModel
from surelearn.templates import Sequences

Array = NDArray[np.float64]


class Explained(Estimator[SequenceModel]):
    """A tagger with `explain`."""

    def explain(self, sequence: Any = None, *, label: Any = None, top: Top = "auto") -> Explanation:
        r"""Explain the model by its surest weights, or each tag of a sequence by its features.

        .. math:: \mu \cdot g_t = \sum_j share_{tj}, \qquad
            g_t = \Psi(x, \hat y) - \Psi(x, \hat y^{(t)})

        where :math:`\hat y` is the path of `predict` and :math:`\hat y^{(t)}` the best path with
        another tag, the rival, at t.

        Parameters
        ----------
        sequence : list of tokens, optional
            Without it, the table explains the model: weights of features and transitions in the
            order of the probability of their sign. With it, the table explains the tags of these
            tokens.
        label : label, optional
            Explain this label only. For a model: the weights that support it, largest mean first.
            For a sequence: the tokens with this tag.
        top : int or None, default "auto"
            How many to list; None: all. ``"auto"`` lists 20 weights of a model, and 5 features of
            each token. The other features of a token are summed up as ``"(others)"``.

        Returns
        -------
        Explanation
            Token features have their names; ``after NOUN`` is the transition from that label;
            ``start`` and ``end`` are the ends of the sequence. For a sequence, the columns are
            position, token (if tokens are words), label, rival, feature, value, mean, deviation,
            probability, margin and variance. Each line is the contribution of a feature to the lead
            of a token's tag, largest first. Its mean is the weight for the tag minus that for the
            rival. The contributions of a token add up to its lead and the variance of its lead,
            from which `confidence` is computed. The rival path may differ at other tokens as well;
            their features count.

        Examples
        --------
        >>> from surelearn import SureTagger
        >>> X = [["the", "dog", "barks"], ["a", "cat", "sleeps"]]
        >>> y = [["DET", "NOUN", "VERB"], ["DET", "NOUN", "VERB"]]
        >>> tagger = SureTagger(templates=["w[0]"], random_state=0).fit(X, y)
        >>> tagger.explain(["the", "cat"], label="NOUN").feature.tolist()
        ['after DET', 'end', 'w[0]=cat']
        """
        model = self._fitted()
        limit = _check.top(top, auto=20 if sequence is None else 5)
        if sequence is not None:
            _check.listed("sequence", sequence, "tokens")
            tokens = list(sequence)
            return of_sequence(*self._read([tokens]), tokens, label=label, top=limit)
        means, variances, names = model.described()
        subject = Subject(means, variances, model.classes, len(names), names)
        if label is None:
            return of_model(subject, limit)
        return of_label(about(subject, model.classes, label), limit)

    def _read(self, X: Any) -> tuple[SequenceModel, Sequences]:
        """The features of sequences, and the model that they belong to."""
        self._fitted()
        with self._model.lock:  # so that features and weights belong together
            return self._model, self._model.features.transform(X)


class _Lines(NamedTuple):
    """Contributions of features to the lead of tags over their rivals."""

    position: NDArray[np.int64]
    label: NDArray[np.int64]  # position among the classes, as for rival
    rival: NDArray[np.int64]
    feature: NDArray[Any]
    value: Array
    margin: Array
    variance: Array  # NaN for first-order rules

    def take(self, order: NDArray[np.int64]) -> _Lines:
        return _Lines(*(part[order] for part in self))  # type: ignore[arg-type]


def of_sequence(
    model: SequenceModel, sequences: Sequences, tokens: list[Any], *, label: Any, top: int | None
) -> Explanation:
    r"""Contributions of features to the lead of each tag over the best path without it.

    .. math:: \mu \cdot g_t = \sum_j \sum_k \mu_{jk} g_{t,jk}, \qquad
        g_t = \Psi(x, \hat y) - \Psi(x, \hat y^{(t)})
    """
    _check.two_classes(model.classes, "explain")
    wanted = None if label is None else _check.place_of(label, model.classes.tolist())
    U, A = model.chain_scores(sequences)
    path = Chain(U, A).best() if len(U) else np.zeros(0, np.int32)
    own = model.joint_features(sequences, path)
    weights = model.described()
    none = np.zeros(0, dtype=np.int64)
    found = [_Lines(none, none, none, none.astype(object), *(none.astype(float),) * 3)]
    for t, tag in enumerate(path.tolist()):
        if wanted in (None, tag):
            rival = _best_without(U, A, t, tag)
            lines = _shares(own - model.joint_features(sequences, rival), *weights)
            found.append(_placed(_largest(lines, top), t, tag, int(rival[t])))
    return _table(_Lines(*map(np.concatenate, zip(*found, strict=True))), model, _words(tokens))


def _words(tokens: list[Any]) -> list[str] | None:
    """The words of tokens; None if tokens are given as features."""
    if not all(isinstance(token, str | tuple) for token in tokens):
        return None
    return [token if isinstance(token, str) else token[0] for token in tokens]


def _placed(lines: _Lines, t: int, tag: int, rival: int) -> _Lines:
    """The lines with the position, tag and rival of their token filled in."""
    n = len(lines.feature)
    position, label, other = (np.full(n, place, dtype=np.int64) for place in (t, tag, rival))
    return lines._replace(position=position, label=label, rival=other)


def _best_without(U: Array, A: Array, t: int, label: int) -> NDArray[np.int32]:
    """The best path that has another label at t."""
    without = U.copy()
    without[t, label] = -1e300  # below any score, but finite: infinities would give NaN
    return Chain(without, A).best()


def _shares(
    g: sparse.csr_array, means: NDArray[Any], variances: NDArray[Any] | None, names: NDArray[Any]
) -> _Lines:
    """The contributions of g by feature; a feature's value is that of its largest cell."""
    cells = g.tocoo()
    kept = cells.data != 0
    feature, label, c = cells.row[kept], cells.col[kept], cells.data[kept].astype(np.float64)
    rows, group = np.unique(feature, return_inverse=True)
    value = np.zeros(len(rows))
    np.maximum.at(value, group, np.abs(c))
    margin: Array = np.bincount(group, c * means[label, feature], len(rows)).astype(np.float64)
    variance = np.full(len(rows), np.nan)
    if variances is not None:
        variance[:] = np.bincount(group, c**2 * variances[label, feature], len(rows))
    place = np.zeros(len(rows), dtype=np.int64)
    return _Lines(place, place, place, names[rows], value, margin, variance)


def _largest(lines: _Lines, top: int | None) -> _Lines:
    """The lines in decreasing order of size; those after the first `top` are summed up."""
    order = np.argsort(-np.abs(lines.margin), kind="stable")
    lines = lines.take(order)
    if top is None or top >= len(order):
        return lines
    kept = lines.take(np.arange(top + 1))
    kept.feature[top], kept.value[top] = "(others)", np.nan
    kept.margin[top], kept.variance[top] = lines.margin[top:].sum(), lines.variance[top:].sum()
    return kept


def _table(lines: _Lines, model: SequenceModel, words: list[str] | None) -> Explanation:
    from scipy.special import ndtr  # slow to import

    mean = lines.margin / lines.value  # the tag's weight minus the rival's, if both have one
    table: dict[str, Any] = {"position": lines.position}
    if words is not None:
        table["token"] = np.array([words[t] for t in lines.position.tolist()], dtype=object)
    table |= {"label": model.classes[lines.label], "rival": model.classes[lines.rival]}
    table |= {"feature": lines.feature, "value": lines.value, "mean": mean}
    if not model.layout.second_order:
        return Explanation(table | {"margin": lines.margin})
    deviation = np.sqrt(lines.variance) / lines.value
    table |= {"deviation": deviation, "probability": ndtr(np.abs(mean) / deviation)}
    return Explanation(table | {"margin": lines.margin, "variance": lines.variance})
