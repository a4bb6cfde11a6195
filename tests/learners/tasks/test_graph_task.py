"""Classifiers of graphs in files: the same bits, and nothing that does not fit."""

from __future__ import annotations

import contextlib
import io

import numpy as np
import pytest

from containers import change_settings, content, damaged_settings
from networks import threads, typed
from surelearn import FormatError, SureGraphClassifier, load
from surelearn.graph import Graph
from surelearn.learners.tasks.graph_task import GRAPHS


def loaded(classifier):
    return load(io.BytesIO(content(classifier)))


@pytest.mark.parametrize("rule", ["arow", "pa1", "scw1"])
@pytest.mark.parametrize("directed", [True, False])
def test_a_loaded_classifier_is_the_saved_one(rule, directed):
    X, y = typed()
    classifier = SureGraphClassifier(rule, directed=directed, random_state=0).fit(X, y)
    classifier.calibrate(X, y)
    other = loaded(classifier)
    assert content(other) == content(classifier)
    assert other.get_params() == classifier.get_params()
    assert other.temperature_ == classifier.temperature_
    assert other.edge_types_.tolist() == ["other", "same"]
    assert np.array_equal(other.pairwise_, classifier.pairwise_)
    for one in (classifier, other):
        one.partial_fit(X[:5], y[:5])
    assert content(other) == content(classifier)


def test_graphs_of_other_kinds():
    X, y = threads(10)
    plain = loaded(SureGraphClassifier(fit_intercept=False, random_state=0).fit(X, y))
    assert plain.n_features_in_ == 3
    assert plain.score(X, y) > 0.5
    features = [Graph(g.nodes, g.edges, edge_features=np.ones((g.n_edges, 2))) for g in X]
    assert loaded(SureGraphClassifier(random_state=0).fit(features, y)).pairwise_.shape == (3, 3, 3)
    numbers = [Graph(g.nodes, g.edges, edge_types=[2] * g.n_edges) for g in X]
    assert loaded(SureGraphClassifier(random_state=0).fit(numbers, y)).edge_types_.tolist() == [2]


def test_facts_name_the_types_of_edges_if_there_are_any():
    for directed, told in ((True, "directed"), (False, "without direction")):
        for (X, y), types in ((threads(10), None), (typed(), ["other", "same"])):
            facts = GRAPHS.facts(SureGraphClassifier(directed=directed, random_state=0).fit(X, y))
            assert facts["edges"] == told
            assert facts.get("edge_types", "no such line") == (types or "no such line")


def test_a_classifier_that_has_met_no_graph():
    declared = SureGraphClassifier().partial_fit([], [], classes=["a", "b"])
    other = loaded(declared)
    assert other.classes_.tolist() == ["a", "b"]
    X, y = threads(5)
    other.partial_fit(X, y)
    assert other.n_features_in_ == 3


def test_a_changed_parameter_is_refused_when_content():
    classifier = SureGraphClassifier(random_state=0).fit(*threads(5)).set_params(directed=False)
    with pytest.raises(ValueError, match="directed must stay True in a fitted model"):
        content(classifier)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_features": 4}, "layout must be diagonal, without intercept, with"),
        ({"n_edge_features": 1}, "n_edge_features must be the number of edge_types"),
        ({"directed": False}, "directed must stay"),
        ({"fit_intercept": "yes"}, "fit_intercept"),
    ],
)
def test_a_file_whose_parts_do_not_fit_is_refused(change, message, tmp_path):
    path = tmp_path / "model.sure"
    SureGraphClassifier(random_state=0).fit(*typed()).save(path)

    change_settings(path, lambda settings: settings["graphs"].update(change))
    with pytest.raises(FormatError, match=message):
        load(path)


def test_every_damaged_setting_gives_a_model_or_a_format_error():
    X, y = typed(10)
    tried = refused = 0
    for wrong in damaged_settings(content(SureGraphClassifier(random_state=0).fit(X, y))):
        tried += 1
        try:
            model = load(io.BytesIO(wrong), max_bytes=2**26)
        except FormatError:
            refused += 1
            continue
        assert np.isfinite(model.coef_).all()
        with contextlib.suppress(ValueError):  # it may have other features
            assert np.isfinite(np.concatenate(model.predict_proba(X))).all()
    assert tried > 300
    assert refused > tried / 2
