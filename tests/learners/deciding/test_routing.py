"""Decisions inside scikit-learn's tools: keywords that are routed, pipelines, searches, clones."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from kept_back import plain, records, rows
from surelearn import SureClassifier


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def certified_pipe():
    """A pipeline whose last step is certified on rows that the others have transformed."""
    own = rows(600, 1)
    pipe = make_pipeline(StandardScaler(), SureClassifier(random_state=0))
    pipe.fit(own.X[:200], own.y[:200])
    pipe[-1].choose_abstention(pipe[:-1].transform(own.X[200:]), own.y[200:], risk=0.2)
    return pipe, own


def test_keywords_reach_the_last_step_of_a_pipeline():
    pipe, own = certified_pipe()
    want = plain(pipe[-1].predict(pipe[:-1].transform(own.X), abstain=True))
    assert None in want[1]
    assert plain(pipe.predict(own.X, abstain=True)) == want
    assert pipe.predict(own.X, cost={None: 0.2}, abstain_label="?").tolist().count("?") > 0


@pytest.mark.usefixtures("routing")
def test_keywords_are_routed_when_they_are_asked_for():
    pipe, own = certified_pipe()
    want = plain(pipe[-1].predict(pipe[:-1].transform(own.X), abstain=True))
    with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="abstain"):
        pipe.predict(own.X, abstain=True)
    pipe[-1].set_predict_request(abstain=True, cost=True)
    assert plain(pipe.predict(own.X, abstain=True)) == want
    assert None in pipe.predict(own.X, cost={None: 0.2}).tolist()


@pytest.mark.usefixtures("routing")
def test_a_fit_with_risk_is_routed():
    own = rows(600, 1)
    last = SureClassifier(random_state=0).set_fit_request(risk=True, delta=True)
    pipe = Pipeline([("scale", StandardScaler()), ("last", last)])
    pipe.fit(own.X, own.y, risk=0.3, delta=0.2)
    assert 0 < pipe[-1].coverage_ <= 1
    assert pipe[-1].n_certified_ < 120


@pytest.mark.parametrize("parts", [3, 5])
def test_cross_validation_answers_without_keywords(parts):
    own = rows(200, 1)
    found = cross_val_predict(SureClassifier(random_state=0), own.X, own.y, cv=parts)
    assert (found == own.y).mean() > 0.6


@pytest.mark.usefixtures("routing")
def test_cross_validation_routes_what_a_fit_keeps_back():
    own = rows(600, 1)
    model = SureClassifier(random_state=0).set_fit_request(risk=True)
    found = cross_val_predict(model, own.X, own.y, cv=3, params={"risk": 0.3})
    assert (found == own.y).mean() > 0.6


def test_texts_that_another_vectorizer_reads():
    own = records("SureTextClassifier", 600, seed=1)
    pipe = make_pipeline(TfidfVectorizer(), SureClassifier(random_state=0))
    pipe.fit(own.X[:300], own.y[:300])
    kept = pipe[:-1].transform(own.X[300:])
    pipe[-1].choose_abstention(kept, own.y[300:], risk=0.3).choose_sets(kept, own.y[300:])
    found = pipe.predict(own.X, abstain=True)
    answered = np.array([one is not None for one in found])
    assert 0 < answered.mean() <= 1
    assert (found[answered] == pipe.predict(own.X)[answered]).all()
    assert len(pipe[-1].predict_set(kept)) == 300


def test_a_search_and_a_clone_know_nothing_of_promises():
    own = rows(300, 1)
    search = GridSearchCV(SureClassifier(random_state=0), {"rule": ["arow", "probit"]}, cv=3)
    best = search.fit(own.X[:150], own.y[:150]).best_estimator_
    best.choose_abstention(own.X[150:], own.y[150:], risk=0.4)
    assert None in best.predict(own.X, abstain=True).tolist() or best.coverage_ == 1.0
    assert not hasattr(clone(best), "coverage_")
    assert clone(best).get_params() == best.get_params()
