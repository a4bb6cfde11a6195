"""What is no classifier and no tagger is refused by every function that takes one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from classifiers import X4, Y4
from surelearn import SureClassifier, SureRanker, SureTagger, evaluate, predict
from surelearn.active import Pool, Sampler, query, scores, simulate, stream
from surelearn.evaluation import evaluate_tagger
from surelearn.prediction import predict_tags

SEQUENCES, TAGS = [["the", "dog"], ["a", "cat"]], [["DET", "NOUN"], ["DET", "NOUN"]]


NO_CLASSIFIERS = [
    ("x", r"must be a classifier, got 'x'\."),
    (None, r"must be a classifier, got None\."),
    ([SureClassifier()], r"must be a classifier, got \[SureClassifier\(\)\]\."),
    (SureClassifier, r"must be a classifier, got the class SureClassifier\. Use SureClass.*\(\)"),
    (LogisticRegression, r".* got the class LogisticRegression\. Use LogisticRegression\(\)"),
    (SureTagger(), r"must be a classifier of rows, got the tagger SureTagger\(\)\."),
]


@pytest.mark.parametrize(("wrong", "message"), NO_CLASSIFIERS, ids=lambda x: str(x)[:12])
def test_what_is_no_classifier_is_refused_plainly(wrong, message, files):
    clf = SureClassifier().fit(X4, Y4)
    calls = {
        "model": [
            lambda: Pool(wrong, X4),
            lambda: Sampler(wrong),
            lambda: stream(wrong, [X4]),
            lambda: query(wrong, X4),
            lambda: query(wrong, X4, strategy="random"),
            lambda: scores(wrong, X4),
        ],
        r"learners\['m'\]": [lambda: simulate(X4, Y4, learners={"m": wrong})],
    }
    if not isinstance(wrong, SureTagger):  # which has tags to judge and to predict
        calls["model"] += [
            lambda: evaluate(wrong, X4, Y4),
            lambda: evaluate(wrong, files["jsonl"]),
            lambda: predict(wrong, files["jsonl"]),
        ]
    if wrong is not None:  # a rival need not be there
        calls["rival"] = [lambda: evaluate(clf, X4, Y4, rival=wrong)]
    for name, some in calls.items():
        for call in some:
            with pytest.raises(TypeError, match=f"{name} {message}"):
                call()


@pytest.mark.parametrize("call", [evaluate, lambda model, X, y: predict(model, "a.csv")])
def test_a_classifier_must_be_fitted_to_be_judged(call):
    for model in (SureClassifier(), LogisticRegression()):
        with pytest.raises(NotFittedError, match="model must be a fitted classifier, got "):
            call(model, X4, Y4)


@pytest.mark.parametrize("wrong", ["x", SureTagger, SureClassifier()], ids=str)
def test_what_is_no_tagger_is_refused_plainly(wrong, files):
    message = r"tagger must be a tagger, got "
    with pytest.raises(TypeError, match=message):
        evaluate_tagger(wrong, SEQUENCES, TAGS)
    with pytest.raises(TypeError, match=message):
        predict_tags(wrong, files["conll"])


def test_a_ranker_is_no_classifier():
    ranker = SureRanker().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1], group=[2])
    with pytest.raises(TypeError, match=r"model must be a classifier, got the ranker SureRan"):
        query(ranker, X4)


def test_taggers_and_rankers_are_predicted_and_judged_by_the_common_functions(tmp_path):
    path = tmp_path / "a.conll"
    path.write_text("the\ndog\n")
    tagger = SureTagger(random_state=0).fit(SEQUENCES, TAGS)
    assert evaluate(tagger, SEQUENCES, TAGS).f1 == evaluate_tagger(tagger, SEQUENCES, TAGS).f1
    (batch,), (same,) = (call(tagger, path) for call in (predict, predict_tags))
    assert batch.text == same.text
    with pytest.raises(TypeError, match=r"rival must be None for a tagger, got SureTagger"):
        evaluate(tagger, SEQUENCES, TAGS, rival=tagger)
    X, y, group = [[0.0, 1.0], [1.0, 0.0]], [0, 1], [2]
    ranker = SureRanker(random_state=0).fit(X, y, group=group)
    assert evaluate(ranker, X, y, group=group, k=1).k == 1


def test_a_tagger_must_be_fitted_to_be_judged(files):
    with pytest.raises(NotFittedError, match=r"tagger must be a fitted tagger, got SureTagger"):
        evaluate_tagger(SureTagger(), SEQUENCES, TAGS)
    with pytest.raises(NotFittedError, match=r"tagger must be a fitted tagger, got SureTagger"):
        predict_tags(SureTagger(), files["conll"])


@pytest.mark.parametrize("engine", ["dask", pytest.param("spark", marks=pytest.mark.slow)])
def test_engines_refuse_what_is_no_classifier(engine):
    room = pytest.importorskip(f"surelearn.{engine}")
    for name in ("predict", "predict_proba"):
        with pytest.raises(TypeError, match=r"model must be a classifier, got 'x'\."):
            getattr(room, name)("x", None)
        with pytest.raises(NotFittedError, match="model must be a fitted classifier"):
            getattr(room, name)(SureClassifier(), None)


def test_a_pipeline_is_a_classifier():
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X4, Y4)
    assert evaluate(model, X4, Y4).n == 4
    assert len(query(model, X4, strategy="margin")) == 1
    assert np.isfinite(scores(model, X4, "entropy")).all()
