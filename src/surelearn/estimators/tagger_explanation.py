"""What a tagger knows, and what pulled for each tag of a sequence; must not know how it learns."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import ndtr

from surelearn import _check
from surelearn.decode import Chain
from surelearn.estimators.explanation import Explanation, Subject, about, of_label, of_model
from surelearn.estimators.streamed import Streamed
from surelearn.models.sequences import SequenceModel
from surelearn.templates import Sequences

Array = NDArray[np.float64]


class Explained(Streamed[SequenceModel]):
    """A tagger that tells what it knows."""

    def explain(
        self,
        sequence: Any = None,
        *,
        label: Any = None,
        top: int | Literal["auto"] | None = "auto",
    ) -> Explanation:
        r"""What the model knows, as a table: its surest weights, or what pulled for each tag.

        .. math:: \mu \cdot g_t = \sum_j share_{tj}, \qquad
            g_t = \Psi(x, \hat y) - \Psi(x, \hat y^{(t)})

        with :math:`\hat y` the path that `predict` gives and :math:`\hat y^{(t)}` the best one that
        has another tag, the rival, at t.

        Parameters
        ----------
        sequence : list of tokens, optional
            Without it the model is explained: weights of features and of steps in the order of the
            probability of their sign. With it the tags of these tokens.
        label : label, optional
            Only weights that speak for this one, largest mean first; of a sequence only tokens with
            this tag.
        top : int or None, default "auto"
            How many to list; None: all. ``"auto"`` lists 20 weights of a model, and 5 features of
            each token. What is not listed of a token is summed up under the name ``"(others)"``.

        Returns
        -------
        Explanation
            Features of tokens have their names; ``after NOUN`` is the step from that label,
            ``start`` and ``end`` are those of the sequence. Of a sequence it has the columns
            position, token (where tokens are words), label, rival, feature, value, mean, deviation,
            probability, margin and variance: for each token what each feature adds to the lead of
            its tag, largest share first. A mean is the weight for the tag less that for the rival.
            Shares of a token add up to its lead and the variance of that, of which `confidence` is
            made. The rival path may have other tags beside t, and features of these count.

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
        """Features of sequences, and the model that knows them."""
        self._fitted()
        with self._model.lock:
            return self._model, self._model.features.transform(X)


class _Lines(NamedTuple):
    """What features add to the lead of tags over others, and where."""

    position: NDArray[np.int64]
    label: NDArray[np.int64]  # places of labels
    rival: NDArray[np.int64]
    feature: NDArray[Any]
    value: Array
    margin: Array
    variance: Array  # NaN where the rule keeps none

    def take(self, order: NDArray[np.int64]) -> _Lines:
        return _Lines(*(part[order] for part in self))  # type: ignore[arg-type]


def of_sequence(
    model: SequenceModel, sequences: Sequences, tokens: list[Any], *, label: Any, top: int | None
) -> Explanation:
    r"""Shares of features in the lead of every tag over the best path with another one there.

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
    """What to call tokens; None where they are features."""
    if not all(isinstance(token, str | tuple) for token in tokens):
        return None
    return [token if isinstance(token, str) else token[0] for token in tokens]


def _placed(lines: _Lines, t: int, tag: int, rival: int) -> _Lines:
    """The lines of a token."""
    n = len(lines.feature)
    position, label, other = (np.full(n, place, dtype=np.int64) for place in (t, tag, rival))
    return lines._replace(position=position, label=label, rival=other)


def _best_without(U: Array, A: Array, t: int, label: int) -> NDArray[np.int32]:
    """The best path that has another label at t."""
    without = U.copy()
    without[t, label] = -1e300  # less than any score, and finite
    return Chain(without, A).best()


def _shares(
    g: sparse.csr_array, means: NDArray[Any], variances: NDArray[Any] | None, names: NDArray[Any]
) -> _Lines:
    """The cells of g by feature; the value of a feature is that of its largest cell."""
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
    """In the order of their size, those after the first `top` as one."""
    order = np.argsort(-np.abs(lines.margin), kind="stable")
    lines = lines.take(order)
    if top is None or top >= len(order):
        return lines
    kept = lines.take(np.arange(top + 1))
    kept.feature[top], kept.value[top] = "(others)", np.nan
    kept.margin[top], kept.variance[top] = lines.margin[top:].sum(), lines.variance[top:].sum()
    return kept


def _table(lines: _Lines, model: SequenceModel, words: list[str] | None) -> Explanation:
    mean = lines.margin / lines.value  # of the difference of two weights, where these are two
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
