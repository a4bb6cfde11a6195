"""What GraphCRF and GraphSVM share: answers, loops, files, merging, warnings and Ctrl-C."""

from __future__ import annotations

import io
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from batch_graphed import flat, forests
from containers import change_settings, content
from networks import pictures, threads, typed
from surelearn import FormatError, GraphCRF, GraphSVM, load, merge
from surelearn.graph import Graph

each = pytest.mark.parametrize("model", [GraphCRF(), GraphSVM(random_state=0)], ids=["crf", "svm"])


@each
def test_labels_of_neighbours_help(model):
    X, y = threads(60)
    X_test, y_test = threads(60, seed=1)
    alone = [Graph(graph.nodes, np.zeros((0, 2), int)) for graph in X]
    apart = clone(model).fit(alone, y).score([Graph(g.nodes, []) for g in X_test], y_test)
    together = clone(model).fit(X, y)
    assert together.score(X_test, y_test) > apart + 0.05
    assert together.n_iter_ > 1
    mean, variance = together.margin(X_test)
    assert all((own > 0).all() for own in variance)
    right = np.concatenate(together.predict(X_test)) == np.concatenate(y_test)
    lead = np.concatenate(mean)
    assert right[lead > np.median(lead)].mean() > right[lead <= np.median(lead)].mean()


@each
def test_types_of_edges_and_known_labels(model):
    X, y = typed()
    fitted = clone(model).fit(X, y)
    assert fitted.score(X, y) == 1.0
    assert fitted.edge_types_.tolist() == ["other", "same"]
    pair = Graph([[0.0], [0.0]], [[0, 1]], edge_types=["other"])
    assert fitted.predict([pair], fixed=[{0: 1}])[0].tolist() == [1, 0]
    assert np.allclose(fitted.predict_proba([pair])[0].sum(axis=1), 1.0)


# ------------------------------------------------------------------------------ loops


@pytest.mark.parametrize("model", [GraphCRF(l2=10.0), GraphSVM(C=0.1, random_state=0)])
def test_loops_leave_the_gap_unknown(model):
    X, y = pictures(5)
    fitted = clone(model).set_params(directed=False).fit(X, y)
    assert fitted.gap_ is None
    assert fitted.score(X, y) > 0.8
    assert load(io.BytesIO(content(fitted))).gap_ is None


@each
def test_messages_that_do_not_converge_are_told(model):
    X, y = pictures(3)
    hasty = clone(model).set_params(max_sweeps=1, message_tol=1e-9, max_iter=5)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        hasty.fit(X, y)
    assert "messages on 3 of 3 graphs must converge" in str(told[-1].message)
    assert {(one.category, one.filename) for one in told} == {(ConvergenceWarning, __file__)}


# ---------------------------------------------------------------------------- solving


@each
def test_a_graph_of_weight_two_is_two_graphs(model):
    X, y = forests()
    weight = np.array([2.0, 1.0, 0.0, 1.0, 1.0, 1.0])
    exact = clone(model).set_params(tol=1e-4)
    once = clone(exact).fit(X, y, sample_weight=weight)
    kept = [0, 0, 1, 3, 4, 5]
    twice = clone(exact).fit([X[i] for i in kept], [y[i] for i in kept])
    assert once.objective_ == pytest.approx(twice.objective_, rel=2e-4)
    np.testing.assert_allclose(flat(once), flat(twice), atol=0.05)


@each
def test_an_early_end_is_told_and_the_model_kept(model):
    X, y = forests()
    name = type(model).__name__
    hasty = clone(model).set_params(max_iter=1, tol=1e-9)
    with pytest.warns(ConvergenceWarning, match=f"{name} must converge within max_iter=1") as told:
        hasty.fit(X, y)
    assert told[0].filename == __file__
    assert hasty.n_iter_ == 1
    assert len(hasty.predict(X)) == len(X)


@pytest.mark.parametrize("kind", [GraphCRF, GraphSVM])
@pytest.mark.parametrize("make", [forests, lambda: pictures(3)], ids=["trees", "loops"])
def test_ctrl_c_keeps_the_best_so_far(kind, make):
    told = []

    class Stopped(kind):
        def _settings_for(self, **instead):
            return super()._settings_for(**instead).but(report=stop)

    def stop(progress):
        told.append(progress.value)
        if len(told) == 3:
            raise KeyboardInterrupt

    X, y = make()
    model = Stopped(tol=1e-9)
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        model.fit(X, y)
    assert model.objective_ <= min(told[:2])
    assert len(model.predict(X)) == len(X)
    assert make is forests or model.gap_ is None


@each
def test_what_is_wrong_is_named_and_the_model_stays(model):
    X, y = forests()
    fitted = clone(model).fit(X, y)
    before = content(fitted)
    for name, value in (("tol", 1.0), ("damping", 1.0), ("message_tol", 0.0), ("max_sweeps", 0)):
        with pytest.raises(ValueError, match=f"{name} must be"):
            clone(model).set_params(**{name: value}).fit(X, y)
    with pytest.raises(ValueError, match="two"):
        fitted.fit(X, [["a"] * len(own) for own in y])
    assert content(fitted) == before
    with pytest.raises(NotFittedError, match=type(model).__name__):
        clone(model).predict(X)


@each
def test_fit_forgets_the_temperature(model):
    X, y = forests()
    fitted = clone(model).fit(X, y).calibrate(X, y)
    assert fitted.temperature_ > 0
    assert not hasattr(fitted.fit(X, y), "temperature_")


@each
def test_progress_is_printed(model, capsys):
    clone(model).set_params(verbose=1).fit(*forests())
    assert "iteration 1: objective" in capsys.readouterr().out


# --------------------------------------------------------------------- files, merging


@each
@pytest.mark.parametrize("directed", [True, False])
def test_a_loaded_classifier_is_the_saved_one(model, directed):
    X, y = typed()
    fitted = clone(model).set_params(directed=directed).fit(X, y).calibrate(X, y)
    other = load(io.BytesIO(content(fitted)))
    assert content(other) == content(fitted)
    assert type(other) is type(fitted)
    assert (other.objective_, other.gap_, other.n_iter_) == (
        fitted.objective_,
        fitted.gap_,
        fitted.n_iter_,
    )
    assert np.array_equal(np.vstack(other.predict_proba(X)), np.vstack(fitted.predict_proba(X)))


@each
@pytest.mark.parametrize("name", ["second_order", "averaged"])
def test_a_file_with_other_weights_is_refused(model, name, tmp_path):
    path = tmp_path / "model.sure"
    fitted = clone(model).fit(*forests())
    fitted.save(path)
    change_settings(path, lambda told: told["layout"].update({name: not told["layout"][name]}))
    with pytest.raises(FormatError, match=rf"{name[:7]}\w* must stay"):
        load(path)


@each
def test_classifiers_of_parts_are_merged(model):
    X, y = threads(40)
    parts = [clone(model).fit(X[:20], y[:20]), clone(model).fit(X[20:], y[20:])]
    merged = merge(parts)
    assert type(merged) is type(model)
    assert merged.score(X, y) > 0.5
    assert np.array_equal(flat(merged), flat(merge(parts[::-1])))
    other = clone(model).set_params(directed=False).fit(X, y)
    with pytest.raises(ValueError, match="same directed to be merged"):
        merge([parts[0], other])


@each
def test_a_weight_of_zero_everywhere_is_named(model):
    X, y = threads(5)
    with pytest.raises(ValueError, match="positive entry, got zero weight in every graph"):
        clone(model).fit(X, y, sample_weight=np.zeros(5))
