"""Shards of `fit`: merged to the same bits wherever they are learnt, and errors that name them."""

from __future__ import annotations

import math
import pickle
from threading import Event

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import surelearn
from surelearn import SureClassifier, SureTextClassifier, load, merge, rules
from surelearn.learners.partitions import (
    ShardStates,
    count_documents,
    counted,
    fitted,
    n_rounds,
    shard_state,
)
from surelearn.learners.tasks.row_shards import cut
from surelearn.learners.tasks.row_training import RowTrainable
from surelearn.merging import HOWS, Evidence
from surelearn.merging._exact import slices
from surelearn.training.prefetch import prefetch
from surelearn.training.shards import spans

N, K = 50, 4
CLASSES = ["a", "b", "c"]
HALVES = slice(0, 25), slice(25, None)
SETTINGS = {
    "two classes": {"classes": 2},
    "joint": {},
    "float64": {"dtype": "float64"},
    "averaged": {"average": True},
    "full": {"rule": "arow", "covariance": "full"},
    "full float64": {"rule": "stdev", "covariance": "full", "dtype": "float64"},
    "one against all": {"multiclass": "ovr"},
    "pairs": {"multiclass": "ovo", "dtype": "float64"},
    "code": {"multiclass": "ecoc"},
    "sequential": {"rule": "scw1", "constraints": "sequential"},
    "bayes": {"combine": "bayes"},
    "weighted": {"combine": "weighted"},
    "kl": {"combine": "kl"},
    "uniform": {"combine": "uniform"},
    "sparse": {"sparse": True},
    "balanced": {"class_weight": "balanced"},
    "some classes": {"class_weight": {"a": 2.0, "b": 0.0}},
} | {name: {"rule": name} for name in rules.RULES}


def problem_of(name):
    """(parameters, X, y) of a setting; the second of four shards has one class only."""
    params = dict(SETTINGS[name])
    n_classes = params.pop("classes", 3)
    X, y = data(n_classes=n_classes)
    if params.pop("sparse", False):
        X = sparse.csr_array(np.where(np.abs(X) < 0.8, 0, X))
    return {"passes": 3, "random_state": 7, "n_shards": K, **params}, X, y


def data(n_classes=3):
    random = np.random.default_rng(3)
    y = random.integers(n_classes, size=N)
    y[13:26] = 1
    X = random.normal(size=(N, 4)) + np.eye(4)[y]
    return X, np.array(CLASSES)[y]


def bits(estimator):
    """All that was learnt."""
    model = estimator._model
    words = estimator._own_reader().words() or ()
    learnt = [model.classes, model.counts, model.mistakes, *words]
    plain = [x if isinstance(x, bytes) else np.asarray(x).tobytes() for x in learnt]
    code = None if model.code is None else model.code.matrix.tobytes()
    return (*plain, weights_of(model), code, model.updates, model.projection)


def weights_of(model):
    state = model.weights.state()
    arrays = tuple(state[name].tobytes() for name in model.weights.arrays)
    return (*arrays, state["prior"], state["rounds"], state["n_columns"])


def elsewhere(params, X, y, *, kind=SureClassifier, **given):
    """What an engine makes of the same shards: each is learnt alone, and comes in any order."""
    clf = kind(**params)
    parts = [(X[begin:end], y[begin:end]) for begin, end in spans(len(y), params["n_shards"])]
    documents = counted(count_documents(clf, *part) for part in reversed(parts) if len(part[1]))
    model = None
    for _ in range(n_rounds(clf)):
        states = []
        for number, part in enumerate(parts):
            made = shard_state(
                pickle.loads(pickle.dumps(clf)), *part, classes=np.unique(y)[::-1], number=number,
                prior=model, documents=documents, **given,
            )  # fmt: skip
            states.insert(number // 2, pickle.loads(pickle.dumps(made)))
        model = fitted(clf, states, prior=model, documents=documents)
    return model


# --------------------------------------------------------------------- what is learnt


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_fit_learns_what_shards_learn_elsewhere(name, n_jobs):
    params, X, y = problem_of(name)
    if isinstance(params.get("class_weight"), dict):  # rows of weight 0 are dropped before the cut
        kept = y != "b"
        X, y, params = X[kept], y[kept], {**params, "class_weight": {"a": 2.0}}
    expected = elsewhere(params, X, y, counts=np.unique(y, return_counts=True)[1])
    assert bits(SureClassifier(**params, n_jobs=n_jobs).fit(X, y)) == bits(expected)


@pytest.mark.parametrize("name", [name for name in SETTINGS if name != "some classes"])
@pytest.mark.parametrize("every", [1, 2])
def test_rounds_go_on_from_what_was_merged(name, every):
    params, X, y = problem_of(name)
    params |= {"merge_every": every}
    expected = elsewhere(params, X, y, counts=np.unique(y, return_counts=True)[1])
    one, two = (SureClassifier(**params, n_jobs=n).fit(X, y) for n in (1, 2))
    assert bits(one) == bits(two) == bits(expected)
    assert len(one.mistakes_) == 3
    assert one._model.counts.sum() == N


@pytest.mark.parametrize("name", [n for n in SETTINGS if "class_weight" not in SETTINGS[n]])
def test_fit_is_the_merge_of_models_made_by_hand(name):
    """Without shards: `partial_fit` and `merge`."""
    params, X, y = problem_of(name)
    params |= {"shuffle": False, "merge_every": None}
    clf = SureClassifier(**params, scale=False).fit(X, y)
    parts = []
    for begin, end in spans(N, K):
        part = SureClassifier(
            **{**params, "n_shards": 1, "projection": clf.projection_}, scale=False
        )
        for number in range(3):
            part.partial_fit(
                X[begin:end], y[begin:end], classes=np.unique(y) if number == 0 else ()
            )
        parts.append(part)
    by_hand = merge(parts, params.get("combine", "evidence"))
    assert weights_of(by_hand._model) == weights_of(clf._model)
    assert by_hand.n_updates_ == clf.n_updates_
    assert by_hand.mistakes_.sum() == clf.mistakes_.sum()
    assert clf._model.counts.tolist() == [np.sum(y == label) for label in np.unique(y)]


def test_a_round_averages_what_shards_have_moved_by_their_evidence():
    """The same by the default."""
    X, y = data(2)
    params = {"rule": "arow", "passes": 2, "n_shards": 2, "shuffle": False, "dtype": "float64"}
    clf = SureClassifier(**params, scale=False).fit(X, y)
    parts = [SureClassifier(**params | {"n_shards": 1, "passes": 1}, scale=False) for _ in range(2)]
    first = merge([part.fit(X[rows], y[rows]) for part, rows in zip(parts, HALVES, strict=True)],
                  Evidence(math.inf))  # fmt: skip
    further = [copied(first).partial_fit(X[rows], y[rows]) for rows in HALVES]
    growth = [1 / part.sigma_ - 1 / first.sigma_ for part in further]
    pulls = [g * (part.coef_ - first.coef_) for g, part in zip(growth, further, strict=True)]
    np.testing.assert_allclose(clf.coef_, first.coef_ + sum(pulls) / sum(growth), rtol=1e-10)
    np.testing.assert_allclose(1 / clf.sigma_, 1 / first.sigma_ + sum(growth) / 2, rtol=1e-12)


def copied(model):
    return pickle.loads(pickle.dumps(model))


def test_a_round_counts_what_it_started_from_once():
    """By hand, from the definition: two shards that go on from one model."""
    X, y = data(2)
    params = {"rule": "arow", "passes": 2, "n_shards": 2, "combine": "bayes", "shuffle": False}
    clf = SureClassifier(**params, dtype="float64", scale=False).fit(X, y)
    first = SureClassifier(**{**params, "passes": 1}, dtype="float64", scale=False).fit(X, y)
    parts = []
    for rows in HALVES:
        parts.append(copied(first).partial_fit(X[rows], y[rows]))
    precision = sum(1 / part.sigma_ for part in parts) - 1 / first.sigma_
    mean = sum(part.coef_ / part.sigma_ for part in parts) - first.coef_ / first.sigma_
    np.testing.assert_allclose(clf.sigma_, 1 / precision, rtol=1e-12)
    np.testing.assert_allclose(clf.coef_, mean / precision, rtol=1e-10)


@pytest.mark.parametrize("combine", HOWS)
@pytest.mark.parametrize("more", [{}, {"average": True}, {"merge_every": None}], ids=str)
def test_merging_in_threads_changes_no_bit(monkeypatch, combine, more):
    """Features are cut for threads; of a few thousand they would not be."""
    random = np.random.default_rng(0)
    X = sparse.random_array((90, 300), density=0.03, rng=random, format="csr")
    y = random.integers(3, size=90)
    params = {"n_shards": 3, "passes": 2, "random_state": 0, "combine": combine, **more}
    one = SureClassifier(**params, n_jobs=1, scale=False).fit(X, y)
    cuts = []

    def counted(n, threads):
        cuts.append(slices(n, threads))
        return cuts[-1]

    monkeypatch.setattr("surelearn.merging._exact._FEWEST", 10)
    for room in ("_sums", "_moves", "_shards"):
        monkeypatch.setattr(f"surelearn.merging.{room}.slices", counted)
    assert bits(SureClassifier(**params, n_jobs=4, scale=False).fit(X, y)) == bits(one)
    assert max(map(len, cuts)) == 4


def test_the_number_of_shards_changes_the_result_and_one_is_no_shard():
    X, y = data()
    whole, one, two = (
        SureClassifier(random_state=0, **more, scale=False).fit(X, y)
        for more in ({}, {"n_shards": 1, "merge_every": 2, "combine": "kl"}, {"n_shards": 2})
    )
    assert bits(whole) == bits(one)
    assert bits(whole) != bits(two)


def test_each_shard_and_pass_has_an_order_of_its_own():
    X, y = data()
    params = {"n_shards": 2, "passes": 2, "merge_every": None}
    plain = SureClassifier(**params, shuffle=False, scale=False).fit(X, y)
    seeds = [
        SureClassifier(**params, random_state=seed, scale=False).fit(X, y) for seed in (0, 0, 1)
    ]
    assert bits(seeds[0]) == bits(seeds[1])
    assert len({bits(model) for model in (plain, *seeds)}) == 3
    # The same rows twice: both shards would learn the same, were it not for their numbers.
    twice = np.vstack([X, X]), np.concatenate([y, y])
    clf = SureClassifier(**params, random_state=0, scale=False)
    states = [shard_state(clf, X, y, classes=CLASSES, number=i) for i in range(2)]
    alone = [fitted(clf, state) for state in states]
    assert weights_of(alone[0]._model) != weights_of(alone[1]._model)
    assert bits(clf.fit(*twice)) == bits(fitted(clf, states))


def test_rows_are_cut_as_numpy_does():
    for n_rows in range(9):
        for n_shards in range(1, 5):
            expected = [len(part) for part in np.array_split(np.arange(n_rows), n_shards)]
            cuts = spans(n_rows, n_shards)
            assert [end - begin for begin, end in cuts] == expected
            assert [*range(n_rows)] == [i for cut in cuts for i in range(*cut)]


def test_rows_are_read_in_place():
    X, y = data()
    clf = SureClassifier(n_shards=3, fit_intercept=False, scale=False)
    weights = clf.fit(X, y)._model.weights
    whole = RowTrainable(clf._settings_for(), clf._own_reader())
    shards = cut(whole, clf._whole(X, y, None, "fit"))
    rows = shards[0].block.rows
    assert all(shard.block.rows is rows for shard in shards)
    before = weights.scores(rows)
    X *= 2  # seen through the rows: they are no copy
    np.testing.assert_allclose(weights.scores(rows), 2 * before)


def test_rows_of_weight_zero_change_nothing():
    X, y = data()
    weight = np.tile([1.0, 0.0, 2.0, 0.5, 1.0], N // 5)
    kept = weight > 0
    params = {"n_shards": 3, "random_state": 0, "class_weight": "balanced"}
    some = SureClassifier(**params, scale=False).fit(X, y, weight)
    assert bits(some) == bits(
        SureClassifier(**params, scale=False).fit(X[kept], y[kept], weight[kept])
    )


@pytest.mark.parametrize("combine", ["evidence", "bayes", "uniform"])
def test_more_shards_than_rows(combine):
    X, y = np.eye(3), CLASSES
    params = {"n_shards": 5, "passes": 2, "combine": combine, "random_state": 0, "scale": False}
    clf = SureClassifier(**params).fit(X, y)
    assert clf.predict(X).tolist() == CLASSES
    assert bits(clf) == bits(elsewhere(params, X, np.array(y)))
    assert clf._model.counts.tolist() == [1, 1, 1]
    fewer = SureClassifier(**{**params, "n_shards": 3}).fit(X, y)
    assert (bits(clf) == bits(fewer)) == (combine != "uniform")  # a plain mean counts empty ones


# ---------------------------------------------------------------------------- texts

TEXTS = [f"word{i % 7} film{i % 3} étude {'good' if i % 2 else 'bad'}" for i in range(40)]
SAID = ["pos" if i % 2 else "neg" for i in range(40)]


@pytest.mark.parametrize("make", [list, pd.Series, pa.array, np.array])
@pytest.mark.parametrize("n_features", [2**3, 2**12])  # in the small one words clash
def test_texts_are_read_by_their_shards(make, n_features):
    params = {"n_shards": 3, "passes": 2, "random_state": 0, "n_features": n_features, "idf": False}
    expected = elsewhere(params, TEXTS, SAID, kind=SureTextClassifier)
    for n_jobs in (1, 2, None):
        clf = SureTextClassifier(**params, n_jobs=n_jobs).fit(make(TEXTS), SAID)
        assert bits(clf) == bits(expected)
    assert clf.explain(top=1).feature[0] in " ".join(TEXTS)
    words = SureTextClassifier(**params | {"n_shards": 1}).fit(TEXTS, SAID)._own_reader().words()
    assert all(np.array_equal(*pair) for pair in zip(clf._own_reader().words(), words, strict=True))


def test_texts_of_weight_zero_are_not_met():
    weight = np.arange(40) % 4 != 1
    kept = np.flatnonzero(weight)
    params = {"n_shards": 3, "passes": 2, "random_state": 0}
    some = SureTextClassifier(**params).fit(TEXTS, SAID, weight.astype(float))
    left = SureTextClassifier(**params).fit([TEXTS[i] for i in kept], [SAID[i] for i in kept])
    assert bits(some) == bits(left)


def test_texts_without_names_have_no_words():
    clf = SureTextClassifier(n_shards=2, keep_names=False, merge_every=1).fit(TEXTS, SAID)
    assert clf._own_reader().words() is None
    assert clf.score(TEXTS, SAID) == 1


# --------------------------------------------------------------------------- bad input


def test_an_empty_part_and_one_of_one_class_add_what_they_have():
    X, y = data()
    clf = SureClassifier(random_state=0, scale=False)
    whole = shard_state(clf, X, y, classes=CLASSES, number=0)
    none = shard_state(clf, X[:0], y[:0], classes=CLASSES, number=1)
    assert bits(fitted(clf, [none, whole])) == bits(fitted(clf, whole))
    one = shard_state(clf, X[13:26], y[13:26], classes=CLASSES, number=1)
    both = fitted(clf, whole + one)
    learnt = [state.shards[number].state for number, state in enumerate([whole, one])]
    assert (both._model.counts - learnt[0].counts).tolist() == [0, 13, 0]
    assert both.n_updates_ == learnt[0].updates + learnt[1].updates > learnt[0].updates
    empty = fitted(clf, none)
    assert empty._model.counts.tolist() == [0, 0, 0]
    assert empty.classes_.tolist() == CLASSES


def test_an_empty_part_of_texts_and_of_sparse_rows():
    clf = SureTextClassifier(idf=False, random_state=0)
    whole = shard_state(clf, TEXTS, SAID, classes=["pos", "neg"], number=0)
    none = shard_state(clf, [], [], classes=["pos", "neg"], number=1)
    assert bits(fitted(clf, [none, whole])) == bits(fitted(clf, whole))
    X, y = data()
    clf = SureClassifier(random_state=0, scale=False)
    rows = shard_state(clf, sparse.csr_array(X), y, classes=CLASSES, number=0)
    none = shard_state(clf, np.zeros((0, 4)), [], classes=CLASSES, number=1)
    assert fitted(clf, none + rows).projection_ == "precision"


def bad_row(at):
    X, y = data(2)
    X = X.copy()
    X[at] = 1e200
    return X, y


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("shuffle", [True, False])
def test_a_row_that_cannot_be_learnt_is_named_with_its_shard(n_jobs, shuffle):
    X, y = bad_row([30, 45])
    clf = SureClassifier("arow", n_shards=3, n_jobs=n_jobs, shuffle=shuffle, scale=False).fit(
        *data(2)
    )
    before = bits(clf)
    with pytest.raises(ValueError, match=r"^shard 1: row 30 must leave finite weights") as caught:
        clf.fit(X, y)
    assert "row 30" in str(caught.value.__cause__)
    assert bits(clf) == before
    with pytest.raises(ValueError, match=r"^shard 2: row 5 must leave finite weights"):
        shard_state(clf, X[40:], y[40:], classes=["a", "b"], number=2)


def test_what_is_wrong_in_a_part_names_it():
    X, y = data()
    clf = SureClassifier(scale=False)
    with pytest.raises(ValueError, match=r"^shard 3: y must hold labels among 'a', 'b', got 'c'"):
        shard_state(clf, X, y, classes=["a", "b"], number=3)
    with pytest.raises(TypeError, match=r"^shard 0: y must hold labels of the same type as before"):
        shard_state(clf, X, np.arange(N), classes=CLASSES, number=0)
    with pytest.raises(
        ValueError, match=r"^shard 1: X must have features also where it has no row"
    ):
        shard_state(clf, [], [], classes=CLASSES, number=1)
    with pytest.raises(ValueError, match=r"^shard 2: y must have one label for each of 50 rows"):
        shard_state(clf, X, y[1:], classes=CLASSES, number=2)
    with pytest.raises(ValueError, match="fit needs at least two classes, got 1 class: 'a'"):
        shard_state(clf, X[:0], [], classes=["a"], number=2)
    with pytest.raises(ValueError, match="counts must have one entry for each class"):
        shard_state(
            SureClassifier(class_weight="balanced", scale=False), X, y, classes=CLASSES, number=2
        )
    model = SureClassifier(scale=False).fit(X, y)
    with pytest.raises(ValueError, match=r"^shard 4: X must have 4 features as in fit, got 3"):
        shard_state(clf, X[:, :3], y, classes=CLASSES, number=4, prior=model)
    texts = [*TEXTS[:30], None, *TEXTS[31:]]
    with pytest.raises(TypeError, match=r"^text 30 must be str or bytes, got None"):
        SureTextClassifier(n_shards=2).fit(texts, SAID)


def test_what_fit_refuses_it_refuses_with_shards():
    X, y = data()
    with pytest.raises(ValueError, match="fit needs at least two classes, got 1 class: 'b'"):
        SureClassifier(n_shards=2, scale=False).fit(X, ["b"] * N)
    with pytest.raises(ValueError, match="fit needs at least two classes, got 1 class: 'b'"):
        SureTextClassifier(n_shards=2).fit(TEXTS, ["b"] * 40)
    with pytest.raises(ValueError, match="sample_weight must have a positive entry"):
        SureTextClassifier(n_shards=2).fit(TEXTS, SAID, np.zeros(40))
    with pytest.raises(ValueError, match="X must be finite, got NaN or infinity in row 30"):
        SureClassifier(n_shards=2, scale=False).fit(
            np.where(np.arange(N)[:, None] == 30, np.nan, X), y
        )
    with pytest.raises(ValueError, match=r"n_shards must be 1 for tune.*got 2"):
        surelearn.tune(SureClassifier(n_shards=2, scale=False), X, y)


def test_parts_of_other_projections_do_not_mix():
    X, y = data()
    clf = SureClassifier(scale=False)
    states = [
        shard_state(clf, rows, y, classes=CLASSES, number=i)
        for i, rows in enumerate([X, sparse.csr_array(X)])
    ]
    with pytest.raises(ValueError, match="same projection_ to be merged, got 'covariance' and"):
        ShardStates.combined(states)


def test_an_error_of_a_rule_is_named_too(no_registered_rules):
    class Trouble(Exception):
        pass

    def step(m, v):
        raise Trouble("no step")

    X, y = data(2)
    with pytest.raises(Trouble, match="no step") as caught:
        SureClassifier(step, n_shards=2, n_jobs=2, scale=False).fit(X, y)
    assert caught.value.__notes__ == ["This was in shard 0."]


def test_work_that_nobody_waits_for_is_told_to_stop():
    stop, begun = Event(), Event()

    def work(item):
        if item == 0:
            begun.wait(10)
            raise ValueError("first")
        begun.set()
        return stop.wait(10)

    with pytest.raises(ValueError, match="first"):
        list(prefetch([0, 1], work, 2, stop.set))
    assert stop.is_set()


# --------------------------------------------------------------------- as an estimator


def test_it_is_copied_saved_and_searched_like_any_other(tmp_path):
    X, y = data()
    clf = SureClassifier(n_shards=2, merge_every=2, combine="kl", random_state=0, scale=False).fit(
        X, y
    )
    assert clone(clf).get_params() == clf.get_params()
    assert clf.get_params()["merge_every"] == 2
    assert bits(pickle.loads(pickle.dumps(clf))) == bits(clf)
    clf.save(tmp_path / "m.sure")
    loaded = load(tmp_path / "m.sure")
    assert loaded.get_params() == clf.get_params()
    assert bits(loaded) == bits(clf)
    search = GridSearchCV(
        SureClassifier(random_state=0, scale=False), {"n_shards": [1, 2], "merge_every": [1]}
    )
    assert search.fit(X, y).cv_results_["mean_test_score"].min() > 0.5


def test_partial_fit_goes_on_with_the_merged_model():
    X, y = data()
    clf = SureClassifier(n_shards=2, random_state=0, scale=False).fit(X, y)
    other = pickle.loads(pickle.dumps(clf)).set_params(n_shards=1)
    assert bits(clf.partial_fit(X, y)) == bits(other.partial_fit(X, y))
    assert bits(clf.learn_one(X[0], y[0])) == bits(other.learn_one(X[0], y[0]))


def test_names_of_features_are_kept():
    X, y = data()
    frame = pd.DataFrame(X, columns=list("wxyz"))
    clf = SureClassifier(n_shards=2, scale=False).fit(frame, y)
    assert clf.feature_names_in_.tolist() == list("wxyz")
    state = shard_state(clf, frame, y, classes=CLASSES, number=0)
    assert fitted(clf, state, feature_names=list("wxyz")).predict(frame).shape == (N,)


def test_each_pass_of_a_shard_is_told_of(capsys):
    X, y = data()
    SureClassifier(n_shards=2, passes=1, n_jobs=1, verbose=1, scale=False).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["shard 0, pass 1/1", "shard 1, pass 1/1"]
