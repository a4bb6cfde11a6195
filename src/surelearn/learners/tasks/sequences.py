"""The state of a tagger: labels, features and one table of weights; knows no scikit-learn.

The first rows of the table belong to the chain: start, end, then one row for each pair feature (the
constant one first) and previous label. The token features follow, in the order of their first
appearance, and then spare rows for new ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surelearn import _check, _core
from surelearn.learners.snapshot import copied
from surelearn.learners.tasks.structures import (
    all_classes,
    check_fit,
    known_places,
    learn_in_turns,
    places_of,
    weighted,
)
from surelearn.rows import rows_of
from surelearn.templates import Sequences, TokenFeatures
from surelearn.training.protocol import UpdateMethod
from surelearn.weights import Diagonal, Layout, Tally


class SequenceBatch(NamedTuple):
    """Checked sequences with labels as positions; those of weight zero have been dropped."""

    tokens: _core.Rows
    pairs: _core.Rows
    bounds: NDArray[np.int64]
    y: NDArray[np.int32]
    weight: NDArray[np.float64] | None
    numbers: NDArray[np.int64] | None  # numbers in the user's X, if sequences were dropped

    @property
    def size(self) -> int:
        return len(self.bounds) - 1


class LabelledSequences(NamedTuple):
    """Labelled sequences, checked except for their features."""

    X: list[Any]
    y: list[list[Any]]
    weight: NDArray[np.float64] | None
    numbers: NDArray[np.int64] | None
    labels: NDArray[Any]  # the distinct labels, sorted
    columns: list[str] | None = None  # the source's names of the token columns

    @property
    def size(self) -> int:
        return len(self.X)

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any = None) -> LabelledSequences:
        found = _check.sequences(X)
        lists = _check.label_lists(y, [len(own) for own in found], of="sequences", unit="token")
        sequences, tags, weight, numbers = weighted(found, lists, sample_weight)
        return cls(sequences, tags, weight, numbers, _check.tags_in(tags))

    def check_fit(self) -> None:
        """Refuse sequences that a tagger cannot be fitted to."""
        check_fit(self, "sequence")


@dataclass
class SequenceModel:
    """Labels, features, weights and counters of training so far.

    When the rows or columns of the weights get a new meaning, a new model is made under `lock`. So
    a reader in another thread sees features and weights that belong together.
    """

    layout: Layout  # its n_features counts the rows: chain, token features, spare rows
    initial_variance: float
    projection: str
    features: TokenFeatures
    made_by: dict[str, Any]  # the parameters of the features
    classes: NDArray[Any] = field(default_factory=lambda: np.zeros(0, np.int64))
    n_pairs: int = 0  # pair features that have rows, without the constant one
    weights: Diagonal | None = None  # None: no label is known
    mistakes: list[int] = field(default_factory=list)
    updates: int = 0
    records_learnt: int = 0  # since the model was made or loaded, in all passes
    lock: _core.Lock = field(default_factory=_core.Lock, compare=False, repr=False)

    @property
    def first(self) -> int:
        """The row of the first token feature."""
        return 2 + (self.n_pairs + 1) * len(self.classes)

    def fitting(self, classes: NDArray[Any]) -> SequenceModel:
        """A model with these labels (sorted) and rows for all features."""
        n_tokens, n_pairs = self.features.n_features, self.features.n_pair_features
        room = self.layout.n_features - self.first
        same = np.array_equal(classes, self.classes) and n_pairs == self.n_pairs
        if same and n_tokens <= room and self.weights is not None:
            return self
        # Grow by half: a long stream then copies its weights only a few times.
        grows = self.weights is not None and n_tokens > room
        room = max(n_tokens, room, room + room // 2 if grows else 0)
        n_rows = 2 + (n_pairs + 1) * len(classes) + room
        other = replace(
            self, classes=classes, n_pairs=n_pairs, layout=replace(self.layout, n_features=n_rows)
        )
        if len(classes):
            other.weights = self._moved(other, room)
        return other

    def _moved(self, other: SequenceModel, room: int) -> Diagonal:
        """These weights, rearranged to the rows and columns of `other`."""
        if self.weights is None:
            return Diagonal(other.layout, len(other.classes), self.initial_variance)
        places = known_places(self.classes, other.classes)
        tokens = np.arange(min(room, self.layout.n_features - self.first))
        rows = self.rows_for(other, places, tokens, np.arange(min(self.n_pairs, other.n_pairs)))
        return self.weights.with_features(rows).with_columns(places.tolist())

    def rows_for(
        self,
        other: SequenceModel,
        places: NDArray[np.int64],
        tokens: NDArray[np.int64],
        pairs: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """For each row of the other model's weights, the matching row here; -1: there is none.

        `places` are the positions of the other's labels here. `tokens` and `pairs` are the numbers
        of this model's features in the other.
        """
        K = len(self.classes)
        chain = np.full((other.n_pairs + 1, len(places)), -1, np.int64)
        known = places >= 0
        there = np.concatenate([[0], 1 + pairs])  # the constant one first
        chain[np.ix_(there, known)] = 2 + K * np.arange(len(there))[:, None] + places[known]
        rows = np.full(other.layout.n_features, -1, np.int64)
        rows[:2] = 0, 1
        rows[2 : other.first] = chain.ravel()
        rows[other.first + tokens] = self.first + np.arange(len(tokens))
        return rows

    def batch(
        self,
        sequences: Sequences,
        y: NDArray[np.int32],
        weight: NDArray[np.float64] | None,
        numbers: NDArray[np.int64] | None,
    ) -> SequenceBatch:
        """Sequences and label positions in the form of the core."""
        return SequenceBatch(*self._rows(sequences), sequences.bounds, y, weight, numbers)

    def places(self, y: list[list[Any]]) -> NDArray[np.int32]:
        """The position of each token's label among the classes."""
        return places_of(y, self.classes)

    def tags(self, sequences: Sequences, threads: int) -> NDArray[np.int32]:
        """The position of the best label of each token."""
        return _core.tag(self._table, *self._rows(sequences), sequences.bounds, threads)

    def marginals(
        self, sequences: Sequences, temperature: float, threads: int
    ) -> NDArray[np.float64]:
        """The probability of each label of each token."""
        rows, bounds = self._rows(sequences), sequences.bounds
        return _core.tag_marginals(self._table, *rows, bounds, temperature, threads)

    def leads(
        self, sequences: Sequences, threads: int
    ) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]:
        """`tags`, with mean and variance of each tag's lead over the best path without it."""
        return _core.leads(self._table, *self._rows(sequences), sequences.bounds, threads)

    def chain_scores(self, sequences: Sequences) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The token scores U and transition scores A of one sequence."""
        return _core.chain_scores(self._table, *self._rows(sequences), sequences.bounds)

    @property
    def _table(self) -> Any:
        return _check.trained(self.weights, "predict").core

    def part(self, which: str, *, variances: bool = False) -> NDArray[Any]:
        """Means or variances of the start, end or transition weights, or of token features."""
        K, first = len(self.classes), self.first
        places: dict[str, Any] = {
            "start": 0,
            "end": 1,
            "steps": slice(2, 2 + K),
            "tokens": slice(first, first + self.features.n_features),
        }
        weights = _check.trained(self.weights, which)
        found = (weights.variances if variances else weights.means)[:, places[which]]
        found.flags.writeable = False
        return found

    def described(self) -> tuple[NDArray[Any], NDArray[Any] | None, NDArray[Any]]:
        """Means, variances and names of all rows in use."""
        weights = _check.trained(self.weights, "explain")
        with self.lock:
            tokens = _names(self.features)
            pairs = ["", *(f"{name} " for name in self.features.pair_names)]
        steps = [f"{pair}after {label}" for pair in pairs for label in self.classes.tolist()]
        names = np.array(["start", "end", *steps, *tokens], dtype=object)
        means = weights.means[:, : len(names)]
        if not self.layout.second_order:
            return means, None, names
        return means, weights.variances[:, : len(names)], names

    def joint_features(self, sequences: Sequences, path: NDArray[np.int32]) -> sparse.csr_array:
        """Joint features Psi(x, y) of one sequence and label positions, in the shape of the
        weights."""
        K, T = len(self.classes), len(path)
        tokens = sparse.coo_array(sequences.X)
        one = sparse.coo_array(np.ones((T, 1)))
        pairs = one if sequences.pairs is None else sparse.hstack([one, sequences.pairs])
        steps = sparse.csr_array(pairs)[1:].tocoo()
        ends = np.array([0, 1] if T else [], dtype=np.int64)
        rows = [ends, 2 + K * steps.col + path[steps.row], self.first + tokens.col]
        columns = [path[-ends], path[1:][steps.row], path[tokens.row]]
        values = [np.ones(len(ends)), steps.data, tokens.data]
        joined = map(np.concatenate, (values, rows, columns))
        data, row, column = joined
        shape = (self.first + self.features.n_features, K)
        return sparse.csr_array(sparse.coo_array((data, (row, column)), shape=shape))

    def _rows(self, sequences: Sequences) -> tuple[_core.Rows, _core.Rows]:
        """The token and pair features as rows of the core."""
        pairs = sequences.pairs
        if pairs is None:
            n_tokens = len(sequences.X.indptr) - 1
            none = np.zeros(0, np.float32), np.zeros(0, np.int32), np.zeros(n_tokens + 1, np.int32)
            pairs = sparse.csr_array(none, shape=(n_tokens, self.n_pairs))
        return rows_of(sequences.X), rows_of(pairs)

    def learn(
        self,
        method: UpdateMethod,
        batch: SequenceBatch,
        *,
        order: NDArray[np.int64] | None = None,
        report: Callable[[Tally], None] | None = None,
    ) -> None:
        """Learn the sequences, all or those in `order`; a bad one raises `Refused` in its turn."""
        core_method = method.core(self.projection)
        weights = _check.trained(self.weights, "learning")
        data = batch.tokens, batch.pairs, batch.bounds, batch.y, batch.weight, order

        def learn(span: tuple[int, int], done: NDArray[np.uint64]) -> bool:
            return weights.learn_structures(
                _core.learn_sequences, core_method, data, span=span, done=done
            )

        def name(place: int) -> tuple[int, int]:
            own = place if order is None else int(order[place])
            return own if batch.numbers is None else int(batch.numbers[own]), place

        size = batch.size if order is None else len(order)
        learn_in_turns(self, size, learn, name=name, unit="sequence", report=report)

    @staticmethod
    def united(
        models: Sequence[SequenceModel],
    ) -> tuple[SequenceModel, list[tuple[NDArray[np.int64], NDArray[np.int64]]]]:
        """A model that has learnt nothing but knows all labels and features, and where the token
        and pair features of each model stand in it."""
        first = models[0]
        blank = replace(
            first.copy(),
            layout=replace(first.layout, n_features=2),
            classes=first.classes[:0],
            n_pairs=0,
            weights=None,
            mistakes=[],
            updates=0,
        )
        numbers = [blank.features.absorb(model.features) for model in models]
        return blank.fitting(all_classes(models)), numbers

    def copy(self) -> SequenceModel:
        """An independent copy; hold `lock` if another thread may be training."""
        return replace(
            self,
            features=deepcopy(self.features),
            weights=copied(self.weights),
            mistakes=list(self.mistakes),
            lock=_core.Lock(),
        )

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        del state["lock"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, lock=_core.Lock())


def _names(features: TokenFeatures) -> list[str]:
    """The names of token features; hashed features have numbers only."""
    if features.is_hashed:
        return [f"x{j}" for j in range(features.n_features)]
    return features.names


def cut(values: Sequence[Any], bounds: NDArray[np.int64]) -> list[Any]:
    """Cut a flat list of values into one part per sequence."""
    ends = bounds.tolist()
    return [values[a:b] for a, b in pairwise(ends)]
