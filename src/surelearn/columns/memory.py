"""What is remembered of the features of tables: their names, and how many rows have each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surelearn import _core
from surelearn.columns.parts import Found, Named
from surelearn.merging import Documents, Words


class Memory:
    """Names and counts of features.

    Of the names of categories that are hashed to one feature the least is kept, and of words the
    first: neither depends on how rows are cut into blocks.

    Parameters
    ----------
    numbers : list of str
        The names of the first features.
    texts : dict of {str: (int, int)}
        Where the words of each column of texts begin and end.
    vectorizers : dict of {str: NativeVectorizer}
        They remember the words.
    n_features : int
    """

    def __init__(
        self,
        numbers: list[str],
        texts: Mapping[str, tuple[int, int]],
        vectorizers: Mapping[str, Any],
        n_features: int,
    ) -> None:
        self.numbers = numbers
        self.texts = texts
        self.vectorizers = vectorizers
        self.documents = _core.DocumentCounts(n_features)
        self._names: dict[int, str] = {}
        self._shared: set[int] = set()

    # ------------------------------------------------------------------------ names

    def register(self, found: Found) -> None:
        """Remember names, for features that have none yet."""
        for one in found:
            if not isinstance(one, Named):
                column, names = one
                self.vectorizers[column].meet_names(names)
                continue
            for place, name in zip(one.features.tolist(), one.names, strict=True):
                self._name(place, name)

    def __getitem__(self, features: NDArray[np.int64]) -> NDArray[Any]:
        """The names of features; "#" and the number where none is known."""
        named = np.empty(len(features), dtype=object)
        named[:] = [self.name(feature) or f"#{feature}" for feature in features.tolist()]
        return named

    def name(self, feature: int) -> str | None:
        """The name of a feature, if it is known."""
        if feature < len(self.numbers):
            return self.numbers[feature]
        for column, (begin, end) in self.texts.items():
            if begin <= feature < end:
                vectorizer = self.vectorizers[column]
                word = vectorizer.names([feature - begin])[0] if vectorizer.keep_names else None
                return None if word is None else f"{column}: {word}"
        return self._names.get(feature)

    def _name(self, place: int, name: str) -> None:
        """Of several names the least is kept, in whatever order they come."""
        known = self._names.setdefault(place, name)
        if known != name:
            self._shared.add(place)
            self._names[place] = min(known, name)

    def give_name(self, feature: int, name: str) -> None:
        """Name a feature that has no name."""
        self._names.setdefault(feature, name)

    def words(self) -> Words:
        """All names, in the form in which a model stores them."""
        met = sorted(self._names.items())  # one snapshot: another thread may be learning
        encoded = [name.encode("utf-8", "replace") for _, name in met]
        shared = np.array([place in self._shared for place, _ in met], np.uint8)
        ends = np.cumsum([len(name) for name in encoded], dtype=np.int64)
        places = np.array([place for place, _ in met], dtype=np.int64)
        words = Words(places, ends, b"".join(encoded), shared)
        for column, (begin, _) in self.texts.items():
            features, ends, text, shared = self.vectorizers[column].names_met()
            words = Words(
                np.append(words.features, features + begin),
                np.append(words.ends, ends + len(words.text)),
                words.text + bytes(text),
                np.append(words.shared, shared),
            )
        return words

    def restore_words(self, words: Words) -> None:
        """Continue with the names that `words` has given."""
        begins = np.append(0, words.ends[:-1])
        in_texts = np.zeros(len(words.features), dtype=bool)
        for column, (begin, end) in self.texts.items():
            own = (begin <= words.features) & (words.features < end)
            in_texts |= own
            text = b"".join(
                words.text[a:b]
                for a, b in zip(begins[own].tolist(), words.ends[own].tolist(), strict=True)
            )
            ends = np.cumsum(words.ends[own] - begins[own], dtype=np.int64)
            letters = np.frombuffer(text, dtype=np.uint8)
            features = words.features[own] - begin
            self.vectorizers[column].restore_names(features, ends, letters, words.shared[own])
        self._names, self._shared = {}, set()
        for i in np.flatnonzero(~in_texts).tolist():
            place = int(words.features[i])
            self._names[place] = words.text[begins[i] : words.ends[i]].decode()
            if words.shared[i]:
                self._shared.add(place)

    # ----------------------------------------------------------------------- counts

    def documents_met(self) -> Documents:
        """The counts as plain arrays."""
        return Documents(*self.documents.state())

    def restore_documents(self, documents: Documents) -> None:
        """Continue with the counts that `documents_met` has given."""
        self.documents = _core.DocumentCounts(self.documents.n_features)
        self.documents.add(*documents)

    def __getstate__(self) -> dict[str, Any]:
        """The state with counts as plain arrays."""
        state = dict(self.__dict__)
        state["documents"] = self.documents.n_features, self.documents_met()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        n_features, documents = state.pop("documents")
        self.__dict__.update(state)
        self.documents = _core.DocumentCounts(n_features)
        self.documents.add(*documents)
