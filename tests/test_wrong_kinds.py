"""Flags that are no flags and models that are no models are refused before anything is done."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from estimators.test_classifier import X4, Y4
from surelearn import (
    SureClassifier,
    SureTagger,
    SureTextClassifier,
    evaluate,
    predict,
    read,
    rules,
    tune,
)
from surelearn.active import Pool, Sampler, query, scores, simulate, stream
from surelearn.datasets import load_docstrings
from surelearn.evaluation import evaluate_tagger
from surelearn.prediction import predict_tags

TEXTS = ["a fine film", "a dull film", "how fine", "how dull"]
SEQUENCES, TAGS = [["the", "dog"], ["a", "cat"]], [["DET", "NOUN"], ["DET", "NOUN"]]


# ------------------------------------------------------------------------------ flags


@pytest.fixture
def files(tmp_path):
    """A file of each kind, empty: a flag is looked at before anything is read."""
    names = ("a.jsonl", "a.csv", "a.tsv", "a.parquet", "a.arrow", "a.svm", "a.vw", "a.conll")
    for name in names:
        (tmp_path / name).write_text("")
    return {name.partition(".")[2]: tmp_path / name for name in names}


@pytest.mark.parametrize("fitted", [False, True])
def test_resume_is_a_flag(files, fitted):
    """The name of a model once started it anew without a word."""
    clf = SureClassifier().fit(X4, Y4) if fitted else SureClassifier()
    text = SureTextClassifier().fit(TEXTS, Y4) if fitted else SureTextClassifier()
    tagger = SureTagger().fit(SEQUENCES, TAGS) if fitted else SureTagger()
    for estimator, kind in ((clf, "jsonl"), (text, "jsonl"), (tagger, "conll")):
        with pytest.raises(TypeError, match=r"resume must be True or False, got 'model\.sure'"):
            estimator.fit_stream(files[kind], resume="model.sure")


@pytest.mark.parametrize("kind", ["jsonl", "csv", "tsv", "parquet", "arrow", "svm", "vw"])
def test_flags_of_readers(files, kind):
    with pytest.raises(TypeError, match="skip_bad must be True or False, got 'no'"):
        read.batches(files[kind], skip_bad="no")
    with pytest.raises(TypeError, match="zero_based must be True or False, got 1"):
        read.batches(files[kind], zero_based=1)
    clf = SureClassifier().fit(X4, Y4)
    with pytest.raises(TypeError, match="skip_bad must be True or False, got 'no'"):
        clf.fit_stream(files[kind], skip_bad="no")
    with pytest.raises(TypeError, match="skip_bad must be True or False, got 'no'"):
        evaluate(clf, files[kind], skip_bad="no")
    with pytest.raises(TypeError, match="skip_bad must be True or False, got 'no'"):
        predict(clf, files[kind], skip_bad="no")


def test_flags_of_other_functions(files, no_registered_rules):
    with pytest.raises(TypeError, match="skip_bad must be True or False, got 'no'"):
        read.sentences(files["conll"], skip_bad="no")
    tagger = SureTagger().fit(SEQUENCES, TAGS)
    with pytest.raises(TypeError, match="confidence must be True or False, got 'no'"):
        predict_tags(tagger, files["conll"], confidence="no")
    with pytest.raises(TypeError, match="replace must be True or False, got 'no'"):
        rules.register("timid", lambda m, v: (0.1, 0.1), replace="no")
    with pytest.raises(TypeError, match="verbose must be a whole number, got 'no'"):
        tune(SureClassifier(), X4, Y4, verbose="no")
    with pytest.raises(TypeError, match="return_X_y must be True or False, got 'no'"):
        load_docstrings(return_X_y="no")
    with pytest.raises(TypeError, match="batch must be True or False, got 'no'"):
        query(SureClassifier().fit(X4, Y4), X4, batch="no")


def test_progress_is_a_function(files):
    clf = SureClassifier().fit(X4, Y4)
    tagger = SureTagger().fit(SEQUENCES, TAGS)
    for call in (
        lambda: clf.fit_stream(files["jsonl"], progress=True),
        lambda: tagger.fit_stream(files["conll"], progress=True),
        lambda: evaluate(clf, X4, Y4, progress=True),
        lambda: evaluate_tagger(tagger, SEQUENCES, TAGS, progress=True),
        lambda: simulate(X4, Y4, progress=True),
    ):
        with pytest.raises(TypeError, match="progress must be a function or None, got True"):
            call()


# ----------------------------------------------------------------------------- models

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
            lambda: evaluate(wrong, X4, Y4),
            lambda: evaluate(wrong, files["jsonl"]),
            lambda: predict(wrong, files["jsonl"]),
        ],
        r"learners\['m'\]": [lambda: simulate(X4, Y4, learners={"m": wrong})],
    }
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
