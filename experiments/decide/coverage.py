"""Coverage at a stated risk beside LogisticRegression and MAPIE; README.md. Writes coverage.csv.

``pip install mapie`` first.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from mapie.classification import SplitConformalClassifier
from mapie.risk_control import BinaryRisk, MultiClassificationLTTController
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from experiments import tables
from experiments.decide.data import CORPORA, Parts, parts
from surelearn import SureTextClassifier
from surelearn.decide import Selection, fewest_rows, risk_coverage, select, split

HERE = Path(__file__).parent
RISK, DELTA, COVERAGE = 0.05, 0.1, 0.95
N_SPLITS, N_DRAWS, N_ROWS = 5, 10, 1_500

Array = NDArray[np.float64]


class Looked(ClassifierMixin, BaseEstimator):
    """The rival's probabilities by row number, since MAPIE takes no sparse rows."""

    def __init__(self, p: Any = None, classes: Any = None) -> None:
        self.p, self.classes = p, classes

    def fit(self, X: Any, y: Any) -> Looked:
        return self

    @property
    def classes_(self) -> Any:
        return self.classes

    def predict_proba(self, X: Any) -> Array:
        return np.asarray(self.p[np.asarray(X)[:, 0]])

    def predict(self, X: Any) -> Any:
        return self.classes[self.predict_proba(X).argmax(axis=1)]


class Rival:
    """tf-idf and LogisticRegression, C by three folds, with its answers of the population."""

    def __init__(self, own: Parts) -> None:
        vectorizer = TfidfVectorizer(sublinear_tf=True)
        X = vectorizer.fit_transform(own.learnt)
        grid = {"C": [1.0, 10.0, 100.0]}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", message="The least populated class")
            search = GridSearchCV(LogisticRegression(max_iter=300), grid, cv=3).fit(X, own.y)
        model = search.best_estimator_
        p = model.predict_proba(vectorizer.transform(own.population))
        self.model = Looked(p, model.classes_)
        self.X = np.arange(len(p))[:, None]
        best = p.argmax(axis=1)
        rows = np.arange(len(p))
        others = p.copy()
        others[rows, best] = 0.0
        self.sureness = np.log(p[rows, best]) - np.log(others.sum(axis=1) + 1e-300)
        self.loss = (self.model.classes_[best] != own.truth).astype(float)

    def covered(self, rows: NDArray[np.int64], _: Any) -> NDArray[np.bool_] | None:
        """What is answered by the procedure of `choose_abstention`; None: refused."""
        choosing, certifying = split(len(rows), fewest_rows(RISK, DELTA), np.random.default_rng(0))
        said = Selection(self.sureness[rows], self.loss[rows])
        found = select(
            said.take(choosing), said.take(certifying), risk=RISK, delta=DELTA, binary=True
        )
        return None if found is None else self.sureness >= found.threshold


def mapie_covered(rival: Rival, rows: NDArray[np.int64], y: Any) -> NDArray[np.bool_] | None:
    """What MAPIE answers with the probabilities of the rival."""
    wrong = BinaryRisk(
        risk_occurrence=lambda truth, said: truth != said,
        risk_condition=lambda truth, said: ~_missing(said),
        higher_is_better=False,
    )
    controller = MultiClassificationLTTController(
        rival.model.predict_proba, [wrong], [RISK], 1 - DELTA, classes=rival.model.classes_
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known = np.isin(y[rows], rival.model.classes_)  # it takes no other labels
        controller.calibrate(rival.X[rows][known], y[rows][known])
    valid = np.asarray(controller.valid_predict_params, dtype=float).ravel()
    if not len(valid):
        return None
    # Its own choice among the valid thresholds is the one with the smallest risk.
    return rival.model.p.max(axis=1) >= valid.min()


def _missing(values: Any) -> NDArray[np.bool_]:
    return np.array([isinstance(v, float) and np.isnan(v) for v in np.asarray(values, object)])


def judged(name: str, seed: int) -> dict[str, list[float]]:
    """Coverage, risk and size of sets of every contestant, a number for each draw."""
    own = parts(name, seed)
    clf = SureTextClassifier(random_state=0).fit(own.learnt, own.y)
    rival, truth = Rival(own), own.truth
    found: dict[str, list[float]] = {}

    def note(who: str, what: str, value: float) -> None:
        found.setdefault(f"{who}: {what}", []).append(value)

    missed = (clf.predict(own.population) != truth).astype(float)
    note("surelearn", "area", risk_coverage(_log_odds(clf, own.population), missed).area)
    note("LogisticRegression", "area", risk_coverage(rival.sureness, rival.loss).area)
    random = np.random.default_rng(seed)
    texts = np.array(own.population, dtype=object)
    for _ in range(N_DRAWS):
        rows = random.choice(len(truth), min(N_ROWS, len(truth) // 2), replace=False)
        others = np.setdiff1d(np.arange(len(truth)), rows)
        try:
            clf.choose_abstention(texts[rows].tolist(), truth[rows], risk=RISK, delta=DELTA)
            y = clf.predict(own.population, abstain=True)
            ours = np.not_equal(y, None)
        except ValueError:
            ours = None
        wrong = missed > 0
        for who, given, loss in (
            ("surelearn", ours, wrong),
            ("LogisticRegression", rival.covered(rows, truth), rival.loss > 0),
            ("LogisticRegression, MAPIE", mapie_covered(rival, rows, truth), rival.loss > 0),
        ):
            given = np.zeros(len(truth), bool) if given is None else given
            note(who, "answered", float(given[others].mean()))
            note(who, "refused", float(not given.any()))
            note(who, "wrong", float(loss[others][given[others]].mean()) if given.any() else 0.0)
        clf.choose_sets(texts[rows].tolist(), truth[rows], coverage=COVERAGE)
        sets = clf.predict_set(texts[others].tolist(), COVERAGE)
        note("surelearn", "labels", float(np.mean([len(labels) for labels in sets])))
        held = [label in labels for labels, label in zip(sets, truth[others].tolist(), strict=True)]
        note("surelearn", "held", float(np.mean(held)))
        known = np.isin(truth[rows], rival.model.classes_)
        rare = np.unique(truth[rows[known]], return_counts=True)[1].min() < 2
        for score in ("lac", "aps", "raps") if rival.model.p.shape[1] > 2 else ("lac",):
            if score == "raps" and rare:  # MAPIE stratifies by class
                note("MAPIE raps", "labels", np.nan)
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                peer = SplitConformalClassifier(
                    rival.model, confidence_level=COVERAGE, conformity_score=score, prefit=True,
                    random_state=0,
                ).conformalize(rival.X[rows[known]], truth[rows[known]])  # fmt: skip
                within = peer.predict_set(rival.X[others])[1][:, :, 0]
            note(f"MAPIE {score}", "labels", float(within.sum(axis=1).mean()))
    return found


def _log_odds(clf: SureTextClassifier, texts: list[str]) -> Array:
    """The log odds of the label that is predicted."""
    p = np.sort(clf.predict_proba(texts), axis=1)
    return np.asarray(np.log(p[:, -1] + 1e-300) - np.log(p[:, :-1].sum(axis=1) + 1e-300))


def main() -> None:
    names = sys.argv[1:] or list(CORPORA)
    lines = []
    for name in names:
        splits = [judged(name, seed) for seed in range(N_SPLITS)]
        for key in splits[0]:
            if np.isnan([split_[key] for split_ in splits]).any():
                continue
            means = np.array([np.mean(split_[key]) for split_ in splits])
            who, what = key.split(": ")
            base = f"surelearn: {what}"
            line = {"set": name, "who": who, "what": what, "mean": f"{means.mean():.4f}"}
            if base in splits[0]:
                ours = np.array([np.mean(split_[base]) for split_ in splits])
                line["less ours"] = f"{(means - ours).mean():+.4f}"
                line["error"] = f"{(means - ours).std(ddof=1) / np.sqrt(N_SPLITS):.4f}"
            lines.append(line)
            print(*line.values(), flush=True)
    tables.save(HERE / "coverage.csv", lines)


if __name__ == "__main__":
    main()
