"""Turns tokens into features, and numbers the features; must not know labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from surelearn import _check, _core
from surelearn.templates import _language, _tokens
from surelearn.templates._language import NAMES, Template, WordStep

#: The largest number of features: they are numbered in int32, as in scikit-learn's hashing.
_MOST = 2**31 - 1


class Sequences(NamedTuple):
    """Rows of features, one for each token of all sequences.

    Attributes
    ----------
    X : sparse array of shape (n_tokens, n_features)
        float32; the features of a token ascend without repeats.
    pairs : sparse array of shape (n_tokens, n_pair_features) or None
        Features of the transition from token t - 1 to t, made by templates with ``B:``; empty for
        the first token of a sequence. None if there are no such templates.
    bounds : ndarray of shape (n_sequences + 1,)
        The tokens of sequence i are ``bounds[i]`` up to ``bounds[i + 1]``.

    Examples
    --------
    >>> rows = Sequences(sparse.eye_array(3, format="csr"), None, np.array([0, 2, 3]))
    >>> rows.part(1, 2).X.toarray()
    array([[0., 0., 1.]])
    """

    X: Any
    pairs: Any
    bounds: NDArray[np.int64]

    def part(self, begin: int, end: int) -> Sequences:
        """Some of the sequences."""
        tokens = slice(self.bounds[begin], self.bounds[end])
        pairs = None if self.pairs is None else self.pairs[tokens]
        return Sequences(self.X[tokens], pairs, self.bounds[begin : end + 1] - self.bounds[begin])


class _Plan(NamedTuple):
    """The kind of tokens, their columns and the templates."""

    kind: str
    columns: tuple[str, ...] = ()
    templates: tuple[Template, ...] = ()

    def made(self, *, pair: bool) -> list[Template]:
        """Templates of tokens, or of pairs; without ``B:`` alone, which every tagger has."""
        return [one for one in self.templates if one.pair == pair and not one.is_plain_pair]


class TokenFeatures:
    """Turns sequences of tokens into sparse rows, with a table of names or with hashing.

    All tokens must be of the same kind:

    - a str, which is one column called ``w``, or a tuple of str, one for each column. Each template
      makes one feature of each token;
    - a dict of features, as in python-crfsuite: ``{"bias": 1.0, "word": "the"}`` has the features
      ``bias`` and ``word:the``;
    - a list of str, each a feature of value 1.

    Parameters
    ----------
    templates : list of str or None
        Templates for words; None means `default_templates`. ``docs/howto/templates.md`` describes
        the language.
    columns : sequence of str or None
        Names of the columns of words; None means ``("w", "pos", "c2", ...)``.
    n_features : int or None
        With None, every name gets a number and is stored. With a number, names are hashed into that
        many features and not stored. Features of pairs are always numbered, apart from the others.

    Examples
    --------
    >>> features = TokenFeatures(templates=["w[0]", "pos[-1]|pos[0]", "w[0][-2:]"])
    >>> learnt = features.learn([[("Dogs", "NNS"), ("bark", "VBP")]])
    >>> [features.names[j] for j in learnt.X[[1]].indices]
    ['w[0]=bark', 'pos[-1]|pos[0]=NNS|VBP', 'w[0][-2:]=rk']
    >>> features.transform([[("Cats", "NNS")]]).X.toarray()  # unknown features are dropped
    array([[0., 1., 0., 0., 0., 0.]], dtype=float32)
    """

    def __init__(
        self,
        *,
        templates: Iterable[str] | None = None,
        columns: Sequence[str] | None = None,
        n_features: int | None = None,
    ) -> None:
        if templates is not None:
            _check.listed("templates", templates, "templates such as 'w[0]'")
        self._given = None if templates is None else list(templates)
        self._columns = None if columns is None else _language.checked_columns(columns)
        self._hashed = 0
        if n_features is not None:
            self._hashed = _check.count("n_features", n_features, most=_MOST)
        self._names, self._pair_names = _core.NameTable(), _core.NameTable()
        self._plan: _Plan | None = None
        if self._given is not None and self._columns is not None:
            _language.read(self._given, self._columns)

    # ---------------------------------------------------------------- learning

    def learn(self, X: Any) -> Sequences:
        """Turn tokens into rows; new names get the next numbers.

        Parameters
        ----------
        X : list of lists of tokens
            If a token is refused, no name is added.

        Returns
        -------
        Sequences
        """
        return self._made(X, grows=True)

    def transform(self, X: Any) -> Sequences:
        """Turn tokens into rows, without unknown features.

        Parameters
        ----------
        X : list of lists of tokens

        Returns
        -------
        Sequences
        """
        return self._made(X, grows=False)

    @contextmanager
    def forgetting(self) -> Iterator[None]:
        """Drop the names that were added inside this context if it raises."""
        known = self.n_names
        try:
            yield
        except BaseException:  # includes Ctrl-C
            self.keep(*known)
            raise

    @property
    def n_names(self) -> tuple[int, int]:
        """The number of names so far, of tokens and of pairs."""
        return len(self._names), len(self._pair_names)

    def keep(self, n_names: int, n_pair_names: int) -> None:
        """Drop all but the first names."""
        self._names = _first(self._names, min(n_names, len(self._names)))
        self._pair_names = _first(self._pair_names, n_pair_names)

    @property
    def n_features(self) -> int:
        """The number of features so far."""
        return self._hashed or len(self._names)

    @property
    def n_pair_features(self) -> int:
        """The number of features of pairs so far."""
        return len(self._pair_names)

    @property
    def is_hashed(self) -> bool:
        """Whether names are hashed and not stored."""
        return self._hashed > 0

    @property
    def names(self) -> list[str]:
        """The name of each feature; raises if names are hashed."""
        if self._hashed:
            raise AttributeError(f"n_features must be None for names, got {self._hashed}.")
        return self._names.names()

    @property
    def pair_names(self) -> list[str]:
        """The name of each feature of pairs."""
        return self._pair_names.names()

    @property
    def templates(self) -> list[str] | None:
        """The templates, without blanks; None before the first tokens, or if tokens need none."""
        if self._plan is None:
            return None if self._given is None else list(self._given)
        return [one.text for one in self._plan.templates] if self._plan.kind == "words" else None

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Names of the columns; None before the first tokens, or if tokens have none."""
        return self._columns if self._plan is None else self._plan.columns or None

    def absorb(self, other: TokenFeatures) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Add the names of another object with the same settings.

        Parameters
        ----------
        other : TokenFeatures
            Not changed.

        Returns
        -------
        numbers, pair_numbers : ndarray of shape (n_features,), (n_pair_features,)
            The number here of each feature of `other`.
        """
        _check.agree("n_features", self._hashed or None, other._hashed or None)
        if other._plan is not None:
            self._plan = self._agreed(other._plan)
        numbers = self._names.add(*other._names.state())
        if self._hashed:
            numbers = np.arange(self._hashed, dtype=np.int64)
        return numbers, self._pair_names.add(*other._pair_names.state())

    # ---------------------------------------------------------------- states

    def state(self) -> dict[str, Any]:
        """The whole state, as plain values and arrays.

        The names are concatenated as UTF-8; name i is ``names[offsets[i]:offsets[i + 1]]``.
        """
        state = self._settings()
        for who, table in (("names", self._names), ("pair_names", self._pair_names)):
            text, ends = table.state()
            state[who] = np.frombuffer(text, dtype=np.uint8)
            state[f"{who[:-1]}_offsets"] = np.concatenate([np.zeros(1, np.int64), ends])
        return state

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> TokenFeatures:
        """Rebuild an object from its `state`."""
        new = cls(**{who: state[who] for who in ("templates", "columns", "n_features")})
        kind = state["kind"]
        if kind is not None:
            _check.choice("kind", kind, ("words", "strings", "dicts"))
            new._plan = new._planned(kind, len(new._columns or NAMES[:1]))
        _restore(new._names, state, "name")
        _restore(new._pair_names, state, "pair_name")
        if kind is None and (len(new._names) or len(new._pair_names)):
            raise ValueError("kind must be that of the tokens if there are names, got None.")
        return new

    def __getstate__(self) -> dict[str, Any]:
        return self.state()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(self.from_state(state).__dict__)

    def __repr__(self) -> str:
        given = {"templates": self._given, "columns": self._columns, "n_features": self._hashed}
        return f"TokenFeatures({', '.join(f'{k}={v!r}' for k, v in given.items() if v)})"

    # ---------------------------------------------------------------- internals

    def _settings(self) -> dict[str, Any]:
        columns = self.columns
        return {
            "kind": None if self._plan is None else self._plan.kind,
            "templates": self.templates,
            "columns": None if columns is None else list(columns),
            "n_features": self._hashed or None,
        }

    def _made(self, X: Any, *, grows: bool) -> Sequences:
        X = _check.sequences(X)
        plan = self._plan_of(X)
        if plan is None:
            bounds = np.zeros(len(X) + 1, np.int64)
            none = sparse.csr_array((0, self.n_features), dtype=np.float32)
            return Sequences(none, None, bounds)
        if plan.kind != "words":
            bags, wrong = _core.bags_of(X, plan.kind == "dicts")
            self._settle(X, plan, wrong, grows=grows)
            rows = _core.rows_of_bags(bags, self._names, grows, self._hashed)
            return Sequences(_matrix(rows, self.n_features), None, bags.bounds())
        words, wrong = _core.words_of(X, len(plan.columns))
        self._settle(X, plan, wrong, grows=grows)
        rows = self._rows(words, plan, grows=grows, pair=False)
        pairs = self._rows(words, plan, grows=grows, pair=True) if plan.made(pair=True) else None
        return Sequences(
            _matrix(rows, self.n_features),
            None if pairs is None else _matrix(pairs, self.n_pair_features),
            words.bounds(),
        )

    def _settle(self, X: Any, plan: _Plan, wrong: tuple[int, int] | None, *, grows: bool) -> None:
        """Raise if the core has refused a token; otherwise keep the plan."""
        if wrong is not None:
            _tokens.refuse(X, wrong, plan.kind, plan.columns)
        if grows:
            self._plan = plan

    def _rows(self, words: _core.Words, plan: _Plan, *, grows: bool, pair: bool) -> Any:
        views: dict[tuple[int, tuple[WordStep, ...]], int] = {}
        specs = []
        for one in plan.made(pair=pair):
            parts = []
            for piece in one.pieces:
                number = views.setdefault((piece.column, piece.steps), len(views))
                parts.append((number, piece.offset))
            specs.append((one.text, parts))
        seen = [_view(words, column, steps) for column, steps in views]
        names, n = (self._pair_names, 0) if pair else (self._names, self._hashed)
        return _core.rows_of_words(words, seen, specs, names, grows, n, pair)

    def _plan_of(self, X: list[list[Any]]) -> _Plan | None:
        """The plan for these tokens; None if there are no tokens and never were."""
        place = next((i for i, tokens in enumerate(X) if tokens), None)
        if place is None:
            return self._plan
        token = X[place][0]
        kind = _tokens.kind_of(token, place, 0)
        if self._plan is None:
            return self._planned(kind, len(token) if isinstance(token, tuple) else 1)
        if kind != self._plan.kind:
            learnt, given = _tokens.CALLED[self._plan.kind], _tokens.CALLED[kind]
            raise TypeError(f"tokens must be {learnt} as in training, got {given}.")
        return self._plan

    def _agreed(self, theirs: _Plan) -> _Plan:
        """The common plan; raises if the two differ."""
        plan = self._plan or self._planned(theirs.kind, len(theirs.columns))
        _check.agree("kind", plan.kind, theirs.kind)
        _check.agree("columns", plan.columns, theirs.columns)
        both = [[one.text for one in each.templates] for each in (plan, theirs)]
        _check.agree("templates", *both)
        return plan

    def _planned(self, kind: str, n_columns: int) -> _Plan:
        if kind != "words":
            if self._given is not None:
                tokens = kind.replace("strings", "lists of strings")
                raise ValueError(
                    f"templates must be None if tokens are {tokens}, got {self._given!r}."
                )
            return _Plan(kind)
        columns = self._columns or _language.default_columns(n_columns)
        given = _language.default_templates(columns) if self._given is None else self._given
        return _Plan(kind, columns, tuple(_language.read(given, columns)))


def _view(words: _core.Words, column: int, steps: tuple[WordStep, ...]) -> _core.View:
    """The words of a column after some steps; the core computes all but patterns and non-ASCII."""
    if not steps:
        return _core.plain_view(words, column)
    codes = [step.code for step in steps if step.code is not None]
    if len(codes) < len(steps):
        return _core.made_view(words, column, _taken(steps, words.distinct(column)))
    beyond = _core.words_beyond(words, column, codes)
    return _core.stepped_view(words, column, codes, _taken(steps, beyond))


def _taken(steps: tuple[WordStep, ...], words: list[str]) -> list[str]:
    for step in steps:
        words = list(map(step.function(), words))
    return words


def _matrix(rows: Any, n_features: int) -> Any:
    starts, features, values = rows
    if starts[-1] <= _MOST:  # the same type as the features, as scipy prefers
        starts = starts.astype(np.int32)
    return sparse.csr_array((values, features, starts), shape=(len(starts) - 1, n_features))


def _first(table: _core.NameTable, n: int) -> _core.NameTable:
    """A table of the first n names."""
    if len(table) == n:
        return table
    text, ends = table.state()
    first = _core.NameTable()
    first.add(text[: ends[n - 1] if n else 0], ends[:n])
    return first


def _restore(table: _core.NameTable, state: Mapping[str, Any], who: str) -> None:
    """Fill an empty table with the names of a state, which may come from a damaged file."""
    text, offsets = state[f"{who}s"], state[f"{who}_offsets"]
    for part, kind in ((text, np.uint8), (offsets, np.int64)):
        if not isinstance(part, np.ndarray) or part.dtype != kind or part.ndim != 1:
            raise TypeError(f"{who}s must be bytes and their offsets, got {part!r}.")
    ends_well = len(offsets) and offsets[0] == 0 and offsets[-1] == len(text)
    if not ends_well or (np.diff(offsets) < 0).any():
        raise ValueError(f"{who}_offsets must ascend from 0 to {len(text)}, got {offsets!r}.")
    joined = text.tobytes()
    joined.decode("utf-8")  # raises if it is damaged
    # A byte 10xxxxxx continues a character of UTF-8: no name may start there.
    inner = offsets[offsets < len(text)]
    if (text[inner] & 0xC0 == 0x80).any():
        raise ValueError(f"{who}_offsets must be where a character begins, got others.")
    table.add(joined, np.ascontiguousarray(offsets[1:]))
    if len(table) != len(offsets) - 1:
        raise ValueError(f"{who}s must differ from each other, got one twice.")
