"""Stories: whole runs on real data, with a floor under their accuracy."""

from __future__ import annotations

import json
import lzma

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import StratifiedKFold, train_test_split

from experiments.papers.stdev.clouds import LONG, model, points
from surelearn import SureClassifier, datasets, load, rules


def test_docstrings_in_one_pass_and_back_from_a_file(tmp_path):
    texts, labels = datasets.load_docstrings(return_X_y=True)
    X = CountVectorizer(binary=True).fit_transform(texts)
    X_train, X_test, y_train, y_test = train_test_split(
        X, labels, test_size=0.2, stratify=labels, random_state=0
    )
    cw = SureClassifier(rules.Variance(phi=1.0), passes=1, random_state=0).fit(X_train, y_train)
    perceptron = SureClassifier("perceptron", passes=1, random_state=0).fit(X_train, y_train)
    assert cw.score(X_test, y_test) > 0.80  # 0.84 when written
    assert cw.score(X_test, y_test) > perceptron.score(X_test, y_test) + 0.05
    cw.save(tmp_path / "docstrings.sure")
    back = load(tmp_path / "docstrings.sure")
    assert back.predict(X_test).tolist() == cw.predict(X_test).tolist()


@pytest.mark.slow
def test_twenty_newsgroups_reach_the_paper(data_folder):
    """Variance, k = 1: Crammer, Dredze & Kulesza 2009 report 92.90 after ten passes.

    Ten folds, the training rows of fold i in the order of seed i. Floors: 92.4 and, after one
    pass, 91. benchmarks/newsgroups.py prints the figures and says how phi was chosen.
    """
    with lzma.open(data_folder / "20news-18828.jsonl.xz", "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    y = np.array([record["label"] for record in records])
    words = CountVectorizer(binary=True, token_pattern=r"\w+", dtype=np.float32)
    X = words.fit_transform([record["text"] for record in records])
    folds = StratifiedKFold(10, shuffle=True, random_state=0).split(X, y)
    accuracy = {1: [], 10: []}
    for seed, (train, test) in enumerate(folds):
        for passes, scores in accuracy.items():
            clf = SureClassifier(rules.Variance(phi=1.0), passes=passes, random_state=seed)
            scores.append(clf.fit(X[train], y[train]).score(X[test], y[test]))
    assert np.mean(accuracy[10]) >= 0.924
    assert np.mean(accuracy[1]) >= 0.91


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "expected", "within"),
    [
        ({"rule": rules.Stdev(phi=1.65), "covariance": "full"}, 49.2, 3),
        ({"rule": rules.Variance(phi=0.5), "covariance": "full"}, 53.1, 3),
        ({"rule": "sop", "initial_variance": 1 / 0.3, "covariance": "full"}, 76.3, 4),
        ({"rule": "perceptron"}, 226, 7),
    ],
    ids=["stdev", "variance", "sop", "perceptron"],
)
def test_full_covariance_makes_the_mistakes_it_should(how, expected, within):
    """Crammer, Dredze & Pereira 2008, figure 2(a), without their data.

    Expected: the mean of 300 runs of an independent implementation. The entry
    stdev-figure2 of experiments/papers has the other rules. The standard error of 60 runs is at
    most 1.7.
    """
    mistakes = []
    for seed in range(60):
        mistakes.append(model(**how).fit(*points(LONG, seed)).mistakes_[0])
    assert np.mean(mistakes) == pytest.approx(expected, abs=within)
