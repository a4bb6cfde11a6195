"""What both batch taggers can do: tokens, weights, going on, streams, files, and Ctrl-C."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from batch_tagged import SMALL, TAGGERS, crf, flat, svm
from learners.tasks.test_sequence_training import text
from learners.test_tagger_refusals import BAD
from surelearn import CRFTagger, SureTagger, SVMTagger, merge, rules
from surelearn.evaluation import evaluate_tagger
from surelearn.merging import MergeState
from surelearn.prediction import predict_tags
from surelearn.read import sentences
from tagged import KINDS, LABELS, PAIRED, as_kind, content, corpus, opened

X, Y = corpus()
each = pytest.mark.parametrize("make", TAGGERS.values(), ids=TAGGERS)
exact = pytest.mark.parametrize("make", [crf, svm], ids=TAGGERS)


def made(make, **options):
    return make(**{"random_state": 0, **options})


# ---------------------------------------------------------------------- learning


@each
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_features", [None, 128])
def test_every_kind_of_token_is_learnt(make, kind, n_features):
    model = made(make, n_features=n_features).fit(as_kind(X, kind), Y)
    assert model.score(as_kind(X, kind), Y) == 1.0
    assert model.classes_.tolist() == LABELS


@each
def test_all_answers_of_taggers_are_there(make):
    model = made(make, templates=PAIRED).fit(X, Y)
    assert model.predict(X) == [paths[0] for paths in model.k_best(X, 2)] == Y
    p = np.array([list(token.values()) for token in model.predict_marginals(X[:1])[0]])
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
    assert all(0.5 < sure < 1 for path in model.confidence(X) for sure in path)
    assert model.explain(X[0]).columns[-1] == "variance"
    assert model.calibrate(*corpus(seed=1)).temperature_ > 0
    assert model.sample(X[:1], 2, random_state=0)[0][0]
    assert (model.sigma_ > 0).all()
    with pytest.raises(AttributeError, match="rule"):
        model.rule  # noqa: B018


@exact
def test_weight_two_is_two_of_a_kind(make):
    X, y = corpus(5)
    weighted = made(make).fit(X, y, sample_weight=[1, 2, 0, 1, 1])
    repeated = made(make).fit([X[i] for i in (0, 1, 1, 3, 4)], [y[i] for i in (0, 1, 1, 3, 4)])
    np.testing.assert_allclose(weighted.objective_, repeated.objective_, rtol=1e-5)
    np.testing.assert_allclose(flat(weighted), flat(repeated), atol=2e-2)


@each
def test_threads_change_no_bit(make):
    one, two = (content(made(make, n_jobs=n).fit(X, Y).set_params(n_jobs=None)) for n in (1, 2))
    assert one == two


@each
def test_fit_forgets_what_was_before(make):
    model = made(make).fit(*corpus(seed=2)).calibrate(X, Y)
    assert content(model.fit(X, Y)) == content(made(make).fit(X, Y))


@each
def test_the_best_of_a_grid_is_found(make):
    name = "l2" if make is CRFTagger else "C"
    search = GridSearchCV(made(make, templates=SMALL), {name: [0.5, 2.0]}, cv=2).fit(X, Y)
    assert search.best_score_ > 0.9


# ---------------------------------------------------------------------- going on


@each
def test_new_labels_and_words_come_at_any_time(make):
    model = made(make).partial_fit(X[:5], Y[:5])
    model.partial_fit([["oh", "the", "zebra"]] * 3, [["INTJ", "D", "N"]] * 3)
    assert model.predict([["oh", "the", "cat"], X[0]]) == [["INTJ", "D", "N"], Y[0]]
    model.partial_fit([], [], classes=["X"])
    assert model.classes_.tolist() == ["A", "D", "INTJ", "N", "V", "X"]
    assert model.predict([X[0]]) == [Y[0]]


@each
def test_pairs_stay_with_their_labels_as_labels_come(make):
    model = made(make, templates=PAIRED).partial_fit(X, Y)
    before = model.transitions_
    model.partial_fit([["oh"]], [["INTJ"]], sample_weight=[1e-6])
    old = [model.classes_.tolist().index(label) for label in LABELS]
    np.testing.assert_allclose(model.transitions_[np.ix_(old, old)], before, atol=1e-4)


@each
def test_blocks_are_learnt_nearly_as_the_whole(make):
    model = made(make)
    for begin in range(0, 60, 15):
        model.partial_fit(*(part[begin : begin + 15] for part in corpus(60, seed=7)))
    assert model.score(*corpus(100, seed=8)) > 0.97


@each
def test_no_weight_or_no_sequence_changes_nothing(make):
    model = made(make).fit(X, Y)
    before = content(model)
    model.partial_fit([], []).partial_fit(X, Y, sample_weight=np.zeros(len(X)))
    assert content(model) == before
    with pytest.raises(NotFittedError, match="not fitted"):
        made(make).partial_fit([], []).predict(X)


@exact
def test_empty_sequences_teach_nothing(make):
    model, other = made(make).fit([*X, []], [*Y, []]), made(make).fit(X, Y)
    np.testing.assert_allclose(flat(model), flat(other), atol=1e-2)
    np.testing.assert_allclose(model.objective_, other.objective_, rtol=1e-5)
    assert model.predict([[]]) == [[]]
    assert content(model.partial_fit([[]], [[]])) == content(model)


@each
@pytest.mark.parametrize("what", BAD)
def test_what_is_refused_leaves_the_model_as_it_was(make, what):
    wrong, tags, message = BAD[what]
    model = made(make, templates=PAIRED).fit(X, Y)
    before = content(model), pickle.dumps(model.features_.state())
    with pytest.raises((TypeError, ValueError), match=message):
        model.partial_fit(wrong, tags, classes=["D", "Q"])
    if what not in ("numbers", "dicts"):  # these are good for a new model
        with pytest.raises((TypeError, ValueError), match=message):
            model.fit(wrong, tags)
    assert (content(model), pickle.dumps(model.features_.state())) == before


@each
def test_one_label_is_refused_by_fit(make):
    with pytest.raises(ValueError, match="fit needs at least two classes, got 1 class: 'D'"):
        made(make).fit([["a"]], [["D"]])
    assert made(make).partial_fit([["a"]], [["D"]]).predict([["a"]]) == [["D"]]


@each
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_huge_values_leave_a_usable_model(make, dtype):
    wide, tags = (
        [[{"x": 1e30}, {"x": -1e30}], [{"x": -1e30}, {"x": 1e30}]],
        [["D", "N"], ["N", "D"]],
    )
    model = made(make, dtype=dtype).fit(wide, tags)
    assert model.predict(wide) == tags
    assert (model.sigma_ > 0).all()


# ----------------------------------------------------------------- streams, Ctrl-C


@each
def test_files_are_learnt_as_lists(make, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(text(40))
    model = made(make, templates=["word[0]", "pos[0]"])
    model.fit_stream(path, columns=["word", "pos", "chunk"])
    batch = sentences(path).first(1000)
    again = made(make, templates=["word[0]", "pos[0]"], columns=["word", "pos"])
    again.fit(batch.X, batch.y)
    np.testing.assert_array_equal(model.coef_, again.coef_)
    assert model.stream_.columns == {"columns": ["word", "pos", "chunk"], "label": "chunk"}
    assert model.stream_.rows == 40
    assert evaluate_tagger(model, path).f1 > 0.95
    assert next(iter(predict_tags(model, path, confidence=True))).tags


@each
@pytest.mark.parametrize("solver", [None, "sgd"])
def test_ctrl_c_keeps_the_best_so_far(make, solver, tmp_path):
    (tmp_path / "a.txt").write_text(text(40))
    told = []

    def stop(progress):
        told.append(progress)
        if len(told) == 3:
            raise KeyboardInterrupt

    options = {} if solver is None else {"solver": solver}
    model = made(make, tol=1e-9, **options)
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        model.fit_stream(tmp_path / "a.txt", progress=stop)
    values = [progress.value for progress in told]
    assert model.objective_ in values[1:]
    assert model.objective_ <= min(values[:2])
    assert opened(content(model)).stream_.rows == 40
    assert evaluate_tagger(model, tmp_path / "a.txt").accuracy > 0.5


@each
def test_progress_is_printed_or_told(make, capsys):
    model = made(make, verbose=1).fit(X, Y)
    assert "iteration 1: objective" in capsys.readouterr().out
    with pytest.raises(TypeError, match="progress must be"):
        model.fit_stream("a.txt", progress=3)


# --------------------------------------------------------------------- online


@exact
def test_a_stream_goes_on_from_the_optimum(make):
    model = made(make).fit(X, Y)
    online = model.online()
    assert isinstance(online, SureTagger)
    assert online.rule == rules.Probit(noise=2.9)
    np.testing.assert_array_equal(online.coef_, model.coef_)
    np.testing.assert_array_equal(online.sigma_, model.sigma_)
    before = content(model)
    online.partial_fit([["oh", "the", "zebra"]] * 3, [["INTJ", "D", "N"]] * 3)
    assert online.predict([["oh"], X[0]]) == [["INTJ"], Y[0]]
    assert content(model) == before
    assert online.n_updates_ == 3
    assert content(opened(content(online))) == content(online)


@each
@pytest.mark.parametrize(
    ("rule", "options"),
    [("arow", {"average": True}), ("perceptron", {}), ("scw1", {"projection": "covariance"})],
)
def test_any_rule_can_go_on(make, rule, options):
    model = made(make).fit(X, Y)
    online = model.online(rule, **options)
    assert online.predict(X) == model.predict(X)
    np.testing.assert_array_equal(online.coef_, model.coef_)
    assert online.partial_fit(X, Y).score(X, Y) == 1.0
    assert hasattr(online, "sigma_") == (rule != "perceptron")


@each
def test_online_refuses_what_does_not_fit_the_weights(make):
    model = made(make).fit(X, Y)
    for wrong in ({"initial_variance": 7.0}, {"dtype": "float64"}, {"templates": ["w[0]"]}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))} must stay"):
            model.online(**wrong)
    with pytest.raises(ValueError, match="rule must be"):
        model.online("svm")
    with pytest.raises(NotFittedError, match="not fitted"):
        made(make).online()


# ------------------------------------------------------------- copies, files, merging


@each
@pytest.mark.parametrize("again", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_and_files_are_the_same_model(make, again):
    model = made(make, templates=PAIRED).fit(X, Y).calibrate(*corpus(seed=2))
    for other in (again(model), opened(content(model))):
        assert content(other) == content(model)
        assert type(other) is make
        assert other.get_params() == model.get_params()
        found = other.n_iter_, other.objective_, other.gap_, other.temperature_
        assert found == (model.n_iter_, model.objective_, model.gap_, model.temperature_)
        assert content(other.partial_fit(X, Y)) == content(again(model).partial_fit(X, Y))
    assert not hasattr(clone(model), "classes_")


@each
def test_taggers_of_parts_are_merged(make):
    parts = [made(make).fit(X[i::2], Y[i::2]) for i in range(2)]
    both = merge(parts)
    assert both.score(X, Y) == 1.0
    assert type(both) is make
    assert content(both) == content(opened(content(both)))
    state = MergeState.of(parts[0], "evidence") + MergeState.of(parts[1], "evidence")
    np.testing.assert_array_equal(state.result().coef_, both.coef_)
    name = "l2" if make is CRFTagger else "C"
    other = made(make, **{name: 3.0}).fit(X, Y)
    with pytest.raises(ValueError, match=f"models must have the same {name} to be merged"):
        merge([parts[0], other])
    with pytest.raises(ValueError, match="models must have the same kind"):
        merge([parts[0], SureTagger().fit(X, Y)])


@each
def test_an_untrained_tagger_adds_nothing(make):
    model = made(make).fit(X, Y)
    np.testing.assert_array_equal(merge([model, made(make)], how="bayes").coef_, model.coef_)


@pytest.mark.parametrize("kind", [CRFTagger, SVMTagger])
def test_weights_that_are_all_zero_are_told(kind):
    with pytest.raises(ValueError, match=r"positive entry, got zero weight in every sequence"):
        kind().fit(*corpus(2), sample_weight=[0.0, 0.0])
