"""The ranker against the slow one, against the classifier of classes, and in all its ways."""

from __future__ import annotations

import copy
import pickle
import threading

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from ranked import candidates, stacked
from reference.ranker import ReferenceRanker
from strategies import rankings, rows, rules
from surelearn import SureClassifier, SureRanker, active, constraints, merge, predict
from surelearn.candidates import cross
from surelearn.read import BadInput
from surelearn.rules import RULES

EXACT = {"dtype": "float64", "shuffle": False, "passes": 1}


def value(rule):
    name, params = rule
    return RULES[name](**params)


# ----------------------------------------------------------------------- agreement


@settings(deadline=None)
@given(
    rankings(),
    rules(),
    st.sampled_from([1, 2, None]),
    st.sampled_from(["all", "any"]),
    st.sampled_from(["precision", "covariance"]),
    st.booleans(),
)
def test_it_is_the_reference(groups, rule, k, right, projection, average):
    X, given = stacked(groups)
    reference = ReferenceRanker(
        X.shape[1],
        *rule,
        k=99 if k is None else k,
        right=right,
        projection=projection,
        average=average,
    )
    try:
        for rows, cost, weight in groups:
            reference.learn(rows, cost, weight)
    except FloatingPointError:
        assume(False)
    assume(reference.close_calls == 0 and reference.mistakes > 0)
    ranker = SureRanker(
        value(rule),
        constraints="single" if k == 1 else constraints.Sequential(k),
        right=right,
        projection=projection,
        average=average,
        **EXACT,
    ).fit(X, **given)
    np.testing.assert_allclose(ranker.coef_, reference.mean(), rtol=1e-9, atol=1e-9)
    if hasattr(ranker, "sigma_"):
        np.testing.assert_allclose(ranker.sigma_, reference.sigma, rtol=1e-9)
    assert ranker.mistakes_.tolist() == [reference.mistakes]
    assert ranker.n_updates_ == reference.updates
    told = [len(c) > 0 and c.min() < c.max() for _, c, weight in groups if weight]
    assert ranker.n_skipped_ == told.count(False)


@st.composite
def of_classes(draw):
    """Rows, labels of three or four classes and weights."""
    K = draw(st.integers(3, 4))
    y = draw(st.permutations(range(K))) + draw(st.lists(st.integers(0, K - 1), max_size=6))
    n_features = draw(st.integers(1, 4))
    weight = st.sampled_from([1.0, 0.5, 2.0])
    return (
        np.array([draw(rows(n_features)) for _ in y]),
        np.array(y),
        np.array([draw(weight) for _ in y]),
    )


@settings(deadline=None)
@given(
    of_classes(),
    rules(),
    st.sampled_from(["single", "sequential"]),
    st.sampled_from(["precision", "covariance"]),
    st.booleans(),
)
def test_one_hot_labels_are_the_classes_of_a_classifier(
    labelled, rule, scheme, projection, is_sparse
):
    X, y, weight = labelled
    how = {**EXACT, "constraints": scheme, "projection": projection, "passes": 2}
    classifier = SureClassifier(value(rule), fit_intercept=False, **how, scale=False)
    try:
        classifier.fit(X, y, sample_weight=weight)
    except ValueError:
        assume(False)
    K = len(classifier.classes_)
    every = [np.arange(K)] * len(y)
    crossed = cross(X, np.eye(K), every, n_features=None)
    cost = (np.arange(K) != y[:, None]).astype(float).ravel()
    groups = {"group": [K] * len(y), "sample_weight": weight}
    crossed = crossed if is_sparse else crossed.toarray()
    ranker = SureRanker(value(rule), **how).fit(crossed, cost=cost, **groups)
    own = ranker.coef_.reshape(-1, K).T
    np.testing.assert_allclose(own, classifier.coef_, rtol=1e-9, atol=1e-9)
    if hasattr(ranker, "sigma_"):
        sigma = ranker.sigma_.reshape(-1, K).T
        np.testing.assert_allclose(sigma, classifier.sigma_, rtol=1e-9)


@pytest.mark.parametrize("scheme", ["single", "sequential"])
@pytest.mark.parametrize("rule", sorted(RULES))
def test_one_hot_labels_are_counted_as_classes(rule, scheme):
    """On rows where no margin is near an edge of the rule."""
    random = np.random.default_rng(0)
    X, y, K = random.integers(-8, 9, (60, 5)) / 4, random.integers(0, 4, 60), 4
    how = {"constraints": scheme, "passes": 3, "random_state": 0, "dtype": "float64"}
    classifier = SureClassifier(
        rule, fit_intercept=False, projection="precision", **how, scale=False
    )
    classifier.fit(X, y, calibrate=False)
    rows = cross(X, np.eye(K), [np.arange(K)] * 60, n_features=None)
    relevance = (np.arange(K) == y[:, None]).astype(float).ravel()
    ranker = SureRanker(rule, **how).fit(rows, relevance, group=[K] * 60)
    assert ranker.mistakes_.tolist() == classifier.mistakes_.tolist()
    assert ranker.n_updates_ == classifier.n_updates_
    np.testing.assert_allclose(ranker.coef_.reshape(5, K).T, classifier.coef_, atol=1e-9)


# ----------------------------------------------------------------------------- laws


@pytest.mark.parametrize("rule", sorted(RULES))
def test_relevance_is_the_negative_cost(rule):
    X, y, group = candidates()
    graded = y * 2 + (X[:, 0] > 0)
    one = SureRanker(rule, random_state=0).fit(X, graded, group=group)
    other = SureRanker(rule, random_state=0).fit(X, cost=7.0 - graded, group=group)
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-5, atol=1e-7)


def test_what_all_candidates_of_a_group_share_changes_nothing():
    X, y, group = candidates()
    shift = np.repeat(np.random.default_rng(1).integers(-4, 5, len(group)), group)
    more = np.column_stack([X, shift])
    ranker = SureRanker(dtype="float64", random_state=0, projection="covariance")
    ranker.fit(more, y, group=group)
    assert ranker.coef_[-1] == 0
    alone = clone(ranker).fit(X, y, group=group)
    np.testing.assert_allclose(ranker.coef_[:-1], alone.coef_, rtol=1e-12)


def test_one_pass_in_order_is_partial_fit_in_any_pieces():
    X, y, group = candidates()
    whole = SureRanker(passes=1, shuffle=False).fit(X, y, group=group)
    pieces = SureRanker(passes=1)
    ends = np.concatenate([[0], np.cumsum(group)])
    for a, b in [(0, 7), (7, 40), (40, len(group))]:
        rows = slice(ends[a], ends[b])
        pieces.partial_fit(X[rows], y[rows], group=group[a:b])
    assert pieces.coef_.tobytes() == whole.coef_.tobytes()
    assert pieces.mistakes_.tolist() == whole.mistakes_.tolist()
    assert pieces.n_iter_ == 1


def test_sparse_rows_are_dense_rows():
    X, y, group = candidates()
    X[np.abs(X) < 0.5] = 0
    dense = SureRanker(random_state=0, projection="precision").fit(X, y, group=group)
    other = SureRanker(random_state=0).fit(sparse.csr_array(X), y, group=group)
    assert other.projection_ == "precision"
    assert dense.coef_.tobytes() == other.coef_.tobytes()
    assert SureRanker().fit(X, y, group=group).projection_ == "covariance"


def test_all_right_candidates_must_lead_or_one_of_them():
    X = sparse.csr_array(np.eye(3))
    every = SureRanker(passes=30).fit(X, [1, 1, 0], group=[3])
    any_one = SureRanker(passes=30, right="any").fit(X, [1, 1, 0], group=[3])
    assert every.coef_[0] > every.coef_[2] < every.coef_[1]
    assert any_one.coef_[1] == 0 < any_one.coef_[0]


def test_the_largest_difference_of_costs_is_learnt_most():
    X = sparse.csr_array(np.eye(4))
    for rule in ("probit", "pa1", "arow"):
        ranker = SureRanker(rule, passes=1, constraints="sequential")
        ranker.fit(X, cost=[0.0, 0.5, 0.0, 2.0], group=[2, 2])
        assert ranker.coef_[2] > ranker.coef_[0] > 0


def test_groups_that_tell_nothing_are_skipped_and_counted(capsys):
    X, y, group = candidates(20)
    more = np.vstack([X, X[:6]])
    worth = np.concatenate([y, np.zeros(6)])
    sizes = [*group, 1, 0, 5]
    ranker = SureRanker("probit", passes=10, random_state=0, verbose=1)
    ranker.fit(more, worth, group=sizes)
    assert ranker.n_skipped_ == 3
    said = capsys.readouterr().out
    assert "pass 10/10: 20 of 20 groups" in said
    assert "skipped 3 of 23 groups without a right and a wrong candidate" in said
    ranker.partial_fit(X[:3], [0, 0, 0], group=[2, 1])
    assert ranker.n_skipped_ == 5
    assert ranker.n_updates_ == 200


def test_a_refused_group_is_named_and_leaves_what_was_learnt():
    X = np.array([[1.0, 0], [0, 1.0], [1.0, 1.0], [1.0, 1.0], [1e200, 0], [0, 1e200]])
    ranker = SureRanker("pa", dtype="float32")
    with pytest.raises(ValueError, match="group 2 must leave finite weights"):
        ranker.fit(X, [1, 0, 0, 0, 0, 1], group=[2, 2, 2])
    assert not hasattr(ranker, "coef_")
    with pytest.raises(ValueError, match="group 2 must leave finite weights"):
        ranker.partial_fit(X, [1, 0, 0, 0, 0, 1], group=[2, 2, 2])
    assert ranker.n_updates_ == 1


# --------------------------------------------------------------------- as estimator


def test_it_learns():
    X, y, group = candidates(400)
    ranker = SureRanker(random_state=0).fit(X, y, group=group)
    new, relevant, sizes = candidates(300, seed=1)
    ends = np.cumsum(sizes)
    first = ranker.predict(new, group=sizes) + ends - sizes
    assert relevant[first].mean() > 0.8
    assert ranker.mistakes_[0] > 0


def test_it_is_an_estimator():
    ranker = SureRanker(RULES["arow"](r=2.0), right="any", passes=2, random_state=1)
    assert clone(ranker).get_params() == ranker.get_params()
    assert ranker.get_params()["rule__r"] == 2.0
    assert ranker.set_params(rule__r=3.0).rule.r == 3.0
    X, y, group = candidates()
    fitted = ranker.fit(X, y, group=group)
    for other in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        assert other.coef_.tobytes() == fitted.coef_.tobytes()
        other.partial_fit(X, y, group=group)
        assert other.coef_.tobytes() != fitted.coef_.tobytes()
    assert not hasattr(fitted, "classes_")
    assert fitted.n_features_in_ == 6


def test_a_frame_names_the_features():
    pandas = pytest.importorskip("pandas")
    X, y, group = candidates()
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    ranker = SureRanker(random_state=0).fit(frame, y, group=group)
    assert ranker.feature_names_in_.tolist() == list("abcdef")
    with pytest.raises(ValueError, match="feature names"):
        ranker.predict(frame[list("fedcba")], group=group)


@pytest.mark.parametrize(
    ("params", "kind", "message"),
    [
        ({"right": "some"}, ValueError, "right must be one of 'all', 'any', got 'some'"),
        ({"constraints": "exact"}, ValueError, r"constraints must be 'single' or .* Exact\("),
        ({"constraints": constraints.Parallel(2)}, ValueError, "for candidates, got Parallel"),
        ({"projection": "both"}, ValueError, "projection must be one of 'auto'"),
        ({"passes": 0}, ValueError, "passes must be at least 1"),
        ({"rule": "pa", "combine": "bayes", "n_shards": 2}, ValueError, "combine must be"),
    ],
)
def test_parameters_that_make_no_sense(params, kind, message):
    X, y, group = candidates(5)
    with pytest.raises(kind, match=message):
        SureRanker(**params).fit(X, y, group=group)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"dtype": "float64"}, "dtype must"),
        ({"average": True}, "average must"),
        ({"initial_variance": 2.0}, "initial_variance must"),
        ({"projection": "precision"}, "projection must"),
        ({"rule": "pa"}, "rule must"),
    ],
)
def test_what_a_fitted_ranker_cannot_change(changed, message):
    X, y, group = candidates(5)
    ranker = SureRanker().fit(X, y, group=group).set_params(**changed)
    before = ranker.coef_.copy()
    with pytest.raises(ValueError, match=message):
        ranker.partial_fit(X, y, group=group)
    assert (ranker.coef_ == before).all()


# ----------------------------------------------------------------- shards and merging


def test_shards_learn_about_the_same_and_threads_change_no_bit():
    X, y, group = candidates(800)
    new, relevant, sizes = candidates(300, seed=1)
    starts = np.cumsum(sizes) - sizes
    whole = SureRanker(random_state=0).fit(X, y, group=group)
    apart = [
        SureRanker(random_state=0, n_shards=3, n_jobs=jobs).fit(X, y, group=group)
        for jobs in (1, 2)
    ]
    assert apart[0].coef_.tobytes() == apart[1].coef_.tobytes()
    right = [relevant[m.predict(new, group=sizes) + starts].mean() for m in (whole, apart[0])]
    assert right[1] > right[0] - 0.03
    assert len(apart[0].mistakes_) == 5


def test_shards_count_skipped_groups_once():
    X, y, group = candidates(40)
    worth = np.where(np.repeat(np.arange(40) % 4 == 0, group), 0.0, y)
    for shards in (1, 3):
        ranker = SureRanker(n_shards=shards, passes=4, random_state=0)
        assert ranker.fit(X, worth, group=group).n_skipped_ == 10


@pytest.mark.parametrize("how", ["evidence", "bayes", "weighted", "kl", "uniform"])
def test_merging_ignores_the_order(how):
    parts = [candidates(50, seed=seed) for seed in range(3)]
    rankers = [SureRanker(random_state=0).fit(X, y, group=group) for X, y, group in parts]
    merged = merge(rankers, how)
    again = merge(rankers[::-1], how)
    assert merged.coef_.tobytes() == again.coef_.tobytes()
    assert merged.n_updates_ == sum(ranker.n_updates_ for ranker in rankers)
    X, y, group = parts[0]
    assert merged.predict(X, group=group).shape == (50,)
    merged.partial_fit(X, y, group=group)


def test_an_untrained_ranker_adds_nothing():
    X, y, group = candidates()
    ranker = SureRanker(random_state=0).fit(X, y, group=group)
    merged = merge([ranker, SureRanker()])
    assert merged.coef_.tobytes() == ranker.coef_.tobytes()


def test_rankers_that_do_not_go_together():
    X, y, group = candidates()
    ranker = SureRanker().fit(X, y, group=group)
    with pytest.raises(ValueError, match="right"):
        merge([ranker, SureRanker(right="any").fit(X, y, group=group)])
    with pytest.raises(ValueError, match="n_features_in_"):
        merge([ranker, SureRanker().fit(X[:, :3], y, group=group)])
    with pytest.raises(ValueError, match="kind"):
        merge([ranker, SureClassifier(scale=False).fit(X, y)])
    with pytest.raises(TypeError, match="X_val and y_val must be None for rankers"):
        merge([ranker, ranker], X_val=X, y_val=y)


def test_what_is_for_classifiers_says_so(tmp_path):
    X, y, group = candidates()
    ranker = SureRanker().fit(X, y, group=group)
    with pytest.raises(BadInput, match="Name the format: svmlight, vw"):
        predict(ranker, tmp_path / "a.jsonl")
    with pytest.raises(TypeError, match="must be a classifier, got the ranker"):
        active.query(ranker, X)


# ---------------------------------------------------------- threads and custom rules


@pytest.mark.slow
def test_a_reader_sees_a_sound_model_while_another_thread_learns():
    X, y, group = candidates(200)
    ranker = SureRanker(random_state=0).partial_fit(X, y, group=group)
    stop = threading.Event()

    def learn():
        while not stop.is_set():
            ranker.partial_fit(X, y, group=group)

    thread = threading.Thread(target=learn)
    thread.start()
    try:
        for _ in range(30):
            assert np.isfinite(ranker.decision_function(X)).all()
            assert ranker.predict_proba(X, group=group).max() <= 1.0
    finally:
        stop.set()
        thread.join()


def test_a_function_is_a_rule_and_its_error_comes_out():
    X, y, group = candidates(20)
    halfway = SureRanker(lambda m, v: (max(0.0, 1.0 - m) / (1 + v), 0.1), passes=2, random_state=0)
    assert halfway.fit(X, y, group=group).n_updates_ > 0

    def bad(m, v):
        raise RuntimeError("no step today")

    with pytest.raises(RuntimeError, match="no step today"):
        SureRanker(bad).fit(X, y, group=group)
