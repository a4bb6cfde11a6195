"""Noisy labels, where the model as it comes is behind, and `tune`; README.md. Writes noise.csv.

Labels that no text decides: whether a language model has named the right emotion, and whether two
language models agree. Means of five splits.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from experiments import sets, tables
from surelearn import SureTextClassifier, tune
from surelearn.decide import risk_coverage

HERE = Path(__file__).parent
N_SPLITS, N_TEST, RISK = 5, 3_000, 0.1


def labels() -> tuple[list[str], dict[str, NDArray[Any]]]:
    """Texts of ISEAR, and labels of several kinds."""
    found = sets.records("isear-llm.jsonl.xz")
    own, gpt, llama = (
        np.array([str(r[name]) for r in found]) for name in ("label", "gpt35", "llama2")
    )
    kinds = {
        "GPT-3.5 is right": np.where(gpt == own, "yes", "no"),
        "both models agree": np.where(gpt == llama, "yes", "no"),
        "emotion": own,
    }
    return [r["text"] for r in found], kinds


def judged(model: Any, X: Any, y: NDArray[Any]) -> tuple[float, float, float]:
    """The error, the area under the risk-coverage curve, and the coverage at a risk."""
    p = np.sort(model.predict_proba(X), axis=1)
    sure = 2 * np.log(p[:, -1] + 1e-300) - np.log(np.square(p[:, :-1]).sum(axis=1) + 1e-300)
    curve = risk_coverage(sure, (model.predict(X) != y).astype(float))
    return float(curve.risk[-1]), curve.area, curve.coverage_at(RISK)


def contestants(texts: list[str], y: NDArray[Any], new: list[str]) -> dict[str, tuple[Any, Any]]:
    """Fitted models, and the new texts as they take them."""
    clf = SureTextClassifier(random_state=0)
    vectorizer = TfidfVectorizer(sublinear_tf=True)
    X = vectorizer.fit_transform(texts)
    rows = vectorizer.transform(new)
    grid = {"C": [0.1, 1.0, 10.0, 100.0]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        tuned = GridSearchCV(LogisticRegression(max_iter=300), grid, cv=3).fit(X, y)
    return {
        "surelearn": (clf.fit(texts, y), new),
        "surelearn, tune": (tune(SureTextClassifier(random_state=0), texts, y).best, new),
        "LogisticRegression": (tuned.best_estimator_, rows),
    }


def main() -> None:
    texts, kinds = labels()
    lines = []
    for name, y in kinds.items():
        for n in (500, 4_000):
            found: dict[str, list[tuple[float, ...]]] = {}
            for seed in range(N_SPLITS):
                order = np.random.default_rng(seed).permutation(len(texts))
                learnt, judge = order[:n], order[n : n + N_TEST]
                some = [texts[i] for i in judge]
                models = contestants([texts[i] for i in learnt], y[learnt], some)
                for who, (model, X) in models.items():
                    found.setdefault(who, []).append(judged(model, X, y[judge]))
            base = np.array(found["LogisticRegression"])[:, 1]
            for who, values in found.items():
                error, area, coverage = np.mean(values, axis=0)
                less = np.array(values)[:, 1] - base
                lines.append(
                    {
                        "label": name,
                        "rows": n,
                        "who": who,
                        "error %": f"{100 * error:.1f}",
                        "area": f"{area:.4f}",
                        "less LogisticRegression": f"{less.mean():+.4f}",
                        "error of it": f"{less.std(ddof=1) / np.sqrt(N_SPLITS):.4f}",
                        "answered at 10 % risk": f"{100 * coverage:.1f}",
                    }
                )
                print(*lines[-1].values(), flush=True)
    tables.save(HERE / "noise.csv", lines)


if __name__ == "__main__":
    main()
