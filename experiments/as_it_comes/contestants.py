"""Text classifiers as they come: raw texts and labels in, labels and probabilities out."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import fasttext
import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from vowpalwabbit import Workspace

from surelearn import SureTextClassifier

WORDS = re.compile(r"\w\w+")


class Answers(NamedTuple):
    """Labels as numbers, and the probability of each class where there are any."""

    best: np.ndarray
    probabilities: np.ndarray | None


class Contestant(Protocol):
    """A text classifier; labels are numbers from 0."""

    def fit(self, texts: list[str], y: np.ndarray) -> Any:
        """Learn from scratch."""

    def answers(self, texts: list[str]) -> Answers:
        """Labels and probabilities."""


class Estimator:
    """A classifier or pipeline with the methods of scikit-learn."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.model = make()

    def fit(self, texts: list[str], y: np.ndarray) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # as it comes, converged or not
            self.model.fit(texts, y)

    def answers(self, texts: list[str]) -> Answers:
        best = self.model.predict(texts)
        p = self.model.predict_proba(texts) if hasattr(self.model, "predict_proba") else None
        return Answers(best, p)


class VowpalWabbit:
    """Words in its text format; several passes go through its cache."""

    def __init__(self, options: str, folder: Path) -> None:
        self.options, self.folder = options, folder

    def fit(self, texts: list[str], y: np.ndarray) -> Any:
        self.n_classes = int(y.max()) + 1
        path = self.folder / "rows.vw"
        labels = 2 * y - 1 if self.n_classes == 2 else y + 1
        with path.open("w", encoding="utf-8") as out:
            out.writelines(
                f"{label} {_line(text)}\n" for label, text in zip(labels, texts, strict=True)
            )
        many = f"--oaa {self.n_classes}" if self.n_classes > 2 else ""
        logistic = "logistic" in self.options
        link = "" if not logistic else "--probabilities" if many else "--link logistic"
        cache = "-c -k" if "passes" in self.options else ""
        self.gives = logistic
        self.model = Workspace(f"-d {path} {many} {self.options} {link} {cache} --quiet")

    def answers(self, texts: list[str]) -> Answers:
        found = [self.model.predict(_line(text)) for text in texts]
        if self.n_classes > 2 and self.gives:
            p = np.array(
                [[row[k] for k in sorted(row)] if isinstance(row, dict) else row for row in found]
            )
            return Answers(p.argmax(axis=1), p)
        scores = np.array(found)
        if self.n_classes > 2:
            return Answers(scores - 1, None)
        if not self.gives:
            return Answers((scores > 0).astype(int), None)
        return Answers((scores > 0.5).astype(int), np.stack([1 - scores, scores], 1))


class FastText:
    """Words between blanks, in its text format."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fit(self, texts: list[str], y: np.ndarray) -> Any:
        self.n_classes = int(y.max()) + 1
        path = self.folder / "rows.txt"
        with path.open("w", encoding="utf-8") as out:
            out.writelines(
                f"__label__{label} {_words(text)}\n" for label, text in zip(y, texts, strict=True)
            )
        self.model = fasttext.train_supervised(str(path), verbose=0, thread=1)

    def answers(self, texts: list[str]) -> Answers:
        labels, values = self.model.predict([_words(text) for text in texts], k=self.n_classes)
        p = np.full((len(texts), self.n_classes), 1e-6)
        for row, (names, some) in enumerate(zip(labels, values, strict=True)):
            p[row, [int(name.removeprefix("__label__")) for name in names]] = some
        p = np.clip(p, 1e-6, None)
        return Answers(p.argmax(axis=1), p / p.sum(axis=1, keepdims=True))


def _words(text: str) -> str:
    return " ".join(WORDS.findall(text.lower()))


def _line(text: str) -> str:
    return "| " + _words(text).replace(":", " ").replace("|", " ")


def contestants(folder: Path) -> dict[str, Callable[[], Contestant]]:
    """All of them by name, ours first."""
    return {
        "SureTextClassifier": partial(Estimator, partial(SureTextClassifier, random_state=0)),
        "tf-idf, LinearSVC": partial(
            Estimator, lambda: make_pipeline(TfidfVectorizer(), LinearSVC())
        ),
        "tf-idf, LogisticRegression": partial(
            Estimator, lambda: make_pipeline(TfidfVectorizer(), LogisticRegression())
        ),
        "hashing, SGDClassifier": partial(
            Estimator, lambda: make_pipeline(HashingVectorizer(), SGDClassifier(random_state=0))
        ),
        "Vowpal Wabbit": partial(VowpalWabbit, "", folder),
        "Vowpal Wabbit, logistic, ten passes": partial(
            VowpalWabbit, "--loss_function logistic --passes 10", folder
        ),
        "Vowpal Wabbit, logistic, ten passes, pairs": partial(
            VowpalWabbit, "--loss_function logistic --passes 10 --ngram 2", folder
        ),
        "fastText": partial(FastText, folder),
    }
