"""Classes as problems of two classes: what is learnt, what comes late, what is refused."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier

from containers import change_settings
from surelearn import FormatError, SureClassifier, decode, load, rules

RULES = list(rules.RULES)
NAMED = ["ovr", "ovo", "ecoc"]


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X / 16.0, y


def learner(multiclass="joint", rule="arow", **options):
    options = {"passes": 1, "shuffle": False, "dtype": "float64", **options}
    return SureClassifier(rule, multiclass=multiclass, **options, scale=False)


def state(clf):
    """Everything that is learnt, as bytes."""
    parts = [clf.classes_.tobytes(), clf.coef_.tobytes(), clf.intercept_.tobytes()]
    if hasattr(clf, "margin"):
        parts += [clf.sigma_.tobytes(), clf.intercept_sigma_.tobytes()]
    return parts


# ------------------------------------------------- beside scikit-learn's own wrappers


@pytest.mark.parametrize("rule", RULES)
def test_one_vs_rest_is_that_of_scikit_learn(digits, rule):
    X, y = digits[0][:400], digits[1][:400]
    ours = learner("ovr", rule, passes=2).fit(X, y)
    theirs = OneVsRestClassifier(learner(rule=rule, passes=2)).fit(X, y)
    for k, one in enumerate(theirs.estimators_):
        np.testing.assert_allclose(ours.coef_[k], one.coef_[0], rtol=1e-9, atol=1e-12)
    assert (ours.predict(digits[0]) == theirs.predict(digits[0])).all()


@pytest.mark.parametrize("rule", RULES)
def test_all_pairs_are_those_of_scikit_learn(digits, rule):
    X, y = digits[0][:400], digits[1][:400]
    ours = learner("ovo", rule).fit(X, y)
    theirs = OneVsOneClassifier(learner(rule=rule)).fit(X, y)
    for b, one in enumerate(theirs.estimators_):  # theirs is positive for the second of a pair
        np.testing.assert_allclose(ours.coef_[b], -one.coef_[0], rtol=1e-9, atol=1e-12)
    # A margin of exactly 0 is half a vote for either; theirs gives it to the first.
    clear = (digits[0] @ ours.coef_.T + ours.intercept_ != 0).all(axis=1)
    assert (ours.predict(digits[0]) == theirs.predict(digits[0]))[clear].all()
    assert clear.mean() > 0.9


@pytest.mark.parametrize("rule", RULES)
def test_a_code_is_that_of_scikit_learn(digits, rule):
    X, y = digits[0][:400], digits[1][:400]
    theirs = OutputCodeClassifier(learner(rule=rule), code_size=1.5, random_state=0).fit(X, y)
    matrix = theirs.code_book_.astype(int)
    ours = learner(decode.Code(matrix), rule, decoding="scores").fit(X, y)
    for b, one in enumerate(theirs.estimators_):
        np.testing.assert_allclose(ours.coef_[b], one.coef_[0], rtol=1e-9, atol=1e-12)
    assert (ours.predict(digits[0]) == theirs.predict(digits[0])).all()


# ------------------------------------------------------------------- late classes


@st.composite
def streams(draw):
    n = draw(st.integers(2, 25))
    K = draw(st.integers(2, 5))
    y = np.array(draw(st.lists(st.integers(0, K - 1), min_size=n, max_size=n)))
    seed = draw(st.integers(0, 2**32 - 1))
    X = np.random.default_rng(seed).standard_normal((n, 3))
    cuts = sorted(draw(st.sets(st.integers(1, n - 1), max_size=3)))
    return X, np.array(list("cabed"))[y], [0, *cuts, n]


def from_where_both_are_known(y, positive, negative):
    """Rows that a problem learns from: those of its classes since both sides have been met."""
    first = [np.flatnonzero(np.isin(y, side))[0] for side in (positive, negative)]
    rows = np.arange(max(first), len(y))
    return rows[np.isin(y[rows], [*positive, *negative])]


@given(stream=streams(), how=st.sampled_from(["ovr", "ovo"]), rule=st.sampled_from(RULES))
def test_a_problem_learns_once_both_its_sides_are_met(stream, how, rule):
    X, y, cuts = stream
    clf = learner(how, rule)
    for a, b in itertools.pairwise(cuts):
        clf.partial_fit(X[a:b], y[a:b])
    if len(clf.classes_) < 3:
        return
    for b, column in enumerate(clf.code_.T):
        positive, negative = clf.classes_[column > 0], clf.classes_[column < 0]
        rows = from_where_both_are_known(y, positive, negative)
        alone = learner(rule=rule).partial_fit(X[rows], np.isin(y[rows], positive), [False, True])
        np.testing.assert_allclose(clf.coef_[b], alone.coef_[0], rtol=1e-7, atol=1e-10)
        np.testing.assert_allclose(clf.intercept_[b], alone.intercept_[0], rtol=1e-7, atol=1e-10)
        if hasattr(clf, "margin"):
            np.testing.assert_allclose(clf.sigma_[b], alone.sigma_[0], rtol=1e-7)


@given(stream=streams(), how=st.sampled_from(["ovr", "ovo"]), average=st.booleans())
def test_pieces_and_single_rows_learn_the_same(stream, how, average):
    X, y, cuts = stream
    whole = learner(how, average=average).partial_fit(X, y)
    pieces, single = clone(whole), clone(whole)
    for a, b in itertools.pairwise(cuts):
        pieces.partial_fit(X[a:b], y[a:b])
    for x, label in zip(X, y, strict=True):
        single.learn_one(x, label)
    if len(whole.classes_) > 1:
        assert state(whole) == state(pieces) == state(single)
        assert whole.mistakes_.tolist() == pieces.mistakes_.tolist() == single.mistakes_.tolist()


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("how", NAMED)
def test_mistakes_are_those_of_predict(how, average, digits):
    X, y = digits[0][:300], digits[1][:300]
    clf = learner(how, average=average)
    clf.partial_fit(X[:60], y[:60], classes=np.arange(10))
    wrong, before = 0, clf.mistakes_[-1]
    missed = np.zeros(240, np.uint8)
    block = clf._block(X[60:], y[60:], None, reset=False)
    twin = pickle.loads(pickle.dumps(clf))
    targets = twin._model.targets(clf._settings_for().method, block, missed=missed)
    twin._model.learn_span(clf._settings_for().method, block, targets, (0, 240))
    for x, label in zip(X[60:], y[60:], strict=True):
        wrong += clf.predict_one(x) != label
        clf.learn_one(x, label)
    assert missed.sum() == wrong
    if not average:
        assert clf.mistakes_[-1] - before == wrong


@pytest.mark.parametrize("how", NAMED)
@pytest.mark.parametrize("rule", RULES)
def test_two_classes_are_one_vector_whatever_the_reduction(how, rule, digits):
    X, y = digits[0][:100], digits[1][:100] % 2
    assert state(learner(how, rule).fit(X, y)) == state(learner("joint", rule).fit(X, y))
    assert learner(how, rule).fit(X, y).code_.tolist() == [[-1], [1]]


def test_ecoc_takes_no_class_after_its_code_is_made(digits):
    X, y = digits
    early = y < 9
    clf = learner("ecoc").partial_fit(X[early], y[early])
    before = state(clf)
    with pytest.raises(ValueError, match="must know all classes when its code is made, got 9 late"):
        clf.partial_fit(X, y)
    with pytest.raises(ValueError, match="Declare all classes in the first partial_fit"):
        clf.learn_one(X[9], 9)
    with pytest.raises(ValueError, match="got 9 later"):
        clf.partial_fit(X[:1], y[:1], classes=[9])
    assert state(clf) == before
    declared = learner("ecoc").partial_fit(X[early], y[early], classes=np.arange(10))
    assert declared.partial_fit(X, y).code_.shape[0] == 10
    assert declared.learn_one(X[9], 9).n_updates_ > 0


def test_ecoc_that_begins_with_one_class_is_told_so(digits):
    """The rows of a lone first class could teach nothing, and another chunking would differ."""
    X, y = digits
    clf = learner("ecoc").partial_fit(X[:1], y[:1])
    with pytest.raises(ValueError, match="must know all classes when its code is made, got 1 late"):
        clf.partial_fit(X, y)


WITH_ZEROS = decode.Code([[1, 0, 1, 1], [-1, 1, 0, 1], [0, -1, -1, 1], [1, 1, 0, -1]])


@pytest.mark.parametrize("how", [WITH_ZEROS, "ecoc"])
def test_mistakes_of_other_codes_are_by_hinge_loss(how):
    random = np.random.default_rng(0)
    X = 4 * random.standard_normal((200, 5))
    y = (X[:, :4] + random.standard_normal((200, 4))).argmax(axis=1)
    clf = learner(how, "nherd").partial_fit(X[:50], y[:50], classes=np.arange(4))
    wrong, before = 0, clf.mistakes_[-1]
    for x, label in zip(X[50:], y[50:], strict=True):
        wrong += clf.predict_one(x) != label
        clf.learn_one(x, label)
    assert np.abs(clf.margin(X)[0]).max() > 2
    assert clf.mistakes_[-1] - before == wrong


# ------------------------------------------------------------------- prediction


@pytest.mark.parametrize(
    ("how", "decoding", "by"),
    [
        ("ovr", "scores", decode.scores),
        ("ovr", "hamming", decode.hamming),
        ("ovo", "votes", decode.votes),
        ("ovo", "tournament", decode.tournament),
        ("ovo", "scores", decode.scores),
        ("ecoc", "loss", decode.loss_based),
        ("ecoc", "hamming", decode.hamming),
    ],
)
def test_labels_are_those_of_the_decoding(digits, how, decoding, by):
    X, y = digits
    clf = learner(how).fit(X[:900], y[:900])
    clf.set_params(decoding=decoding)
    code = decode.Code(clf.code_)
    scores = by(code if how != "ovr" else decode.one_vs_rest(10), clf.margin(X[900:])[0])
    np.testing.assert_array_equal(clf.decision_function(X[900:]), scores)
    labels = clf.predict(X[900:])
    np.testing.assert_array_equal(labels, scores.argmax(axis=1))
    assert [clf.predict_one(x) for x in X[900:910]] == labels[:10].tolist()


@pytest.mark.parametrize("how", NAMED)
@pytest.mark.parametrize("rule", ["arow", rules.Probit(noise=2.0)])
def test_probabilities_are_those_of_the_problems(digits, how, rule):
    X, y = digits
    clf = learner(how, rule).set_params(probability="exact")
    clf.fit(X[:900], y[:900], calibrate=False)
    mean, variance = clf.margin(X[900:])
    noise = 2.0 if isinstance(rule, rules.Probit) else 0.0
    p = decode.label_probabilities(decode.Code(clf.code_), mean, variance + noise)
    np.testing.assert_allclose(clf.predict_proba(X[900:]), p, rtol=1e-12)
    np.testing.assert_allclose(clf.predict_log_proba(X[900:]), np.log(p), rtol=1e-9, atol=1e-12)
    clf.set_params(decoding="probability")
    np.testing.assert_array_equal(clf.predict(X[900:]), p.argmax(axis=1))
    assert clf.reliability(X[900:], y[900:]).count.sum() == len(X) - 900


@pytest.mark.parametrize("how", NAMED)
def test_calibration_makes_held_out_labels_likelier(digits, how):
    X, y = digits

    def loss(clf):
        log_p = clf.predict_log_proba(X[900:1400])
        return -log_p[np.arange(500), y[900:1400]].mean()

    clf = learner(how).fit(X[:900], y[:900])
    before, labels = loss(clf), clf.predict(X)
    clf.calibrate(X[900:1400], y[900:1400])
    best = loss(clf)
    assert best < before - 0.01
    assert (clf.predict(X) == labels).all()
    for factor in (0.9, 1.1):
        clf.temperature_ *= factor
        assert loss(clf) > best
        clf.temperature_ /= factor


@pytest.mark.parametrize("how", NAMED)
def test_calibration_changes_no_label(digits, how):
    X, y = digits
    clf = learner(how, decoding="probability").fit(X[:400], y[:400])
    labels = clf.predict(X)
    clf.calibrate(X[400:800], y[400:800])
    assert (clf.predict(X) == labels).all()


def test_first_order_rules_decode_by_their_means(digits):
    X, y = digits
    clf = learner("ovo", "pa1").fit(X, y)
    assert clf.score(X, y) > 0.9
    assert not hasattr(clf, "predict_proba")
    clf.set_params(decoding="probability")
    with pytest.raises(ValueError, match="needs a rule that keeps variances, got a first-order"):
        clf.predict(X)


# ------------------------------------------------------------------- kept whole


@pytest.mark.parametrize("how", [*NAMED, decode.minimal_bits(10).matrix, decode.minimal_bits(10)])
@pytest.mark.parametrize("rule", ["arow", "pa1"])
def test_a_reduction_is_saved_with_its_code(tmp_path, digits, how, rule):
    X, y = digits
    how = decode.Code(how) if isinstance(how, np.ndarray) else how
    clf = learner(how, rule, average=True).fit(X[:900], y[:900])
    clf.save(tmp_path / "m.sure")
    for twin in (load(tmp_path / "m.sure"), pickle.loads(pickle.dumps(clf))):
        assert state(twin) == state(clf)
        assert twin.code_.tolist() == clf.code_.tolist()
        assert (twin.predict(X) == clf.predict(X)).all()
    twin = load(tmp_path / "m.sure").partial_fit(X[900:], y[900:])
    assert state(twin) == state(clf.partial_fit(X[900:], y[900:]))


def test_a_plain_matrix_is_saved_too(tmp_path, digits):
    X, y = digits
    matrix = decode.error_correcting(10, random_state=3).matrix
    clf = learner(matrix.tolist()).fit(X, y)
    clf.save(tmp_path / "m.sure")
    twin = load(tmp_path / "m.sure")
    assert twin.code_.tolist() == twin.multiclass == matrix.tolist()


def test_a_matrix_changed_after_fit_is_saved_as_it_was(tmp_path, digits):
    X, y = digits
    matrix = decode.error_correcting(10).matrix.copy()
    clf = learner(matrix).fit(X[:200], y[:200])
    matrix[:, 0] *= -1
    with pytest.raises(ValueError, match="multiclass must stay"):
        clf.save(tmp_path / "m.sure")
    clf.set_params(multiclass=clf.code_)
    clf.save(tmp_path / "m.sure")
    assert load(tmp_path / "m.sure").code_.tolist() == clf.code_.tolist()


def test_a_file_with_two_codes_is_damaged(tmp_path, digits):
    X, y = digits
    code = decode.error_correcting(10)
    learner(code).fit(X[:200], y[:200]).save(tmp_path / "m.sure")
    other = (-code.matrix).tolist()
    change_settings(tmp_path / "m.sure", lambda settings: settings["code"].update(matrix=other))
    with pytest.raises(FormatError, match="code must fit multiclass and the classes"):
        load(tmp_path / "m.sure")


def test_settings_that_cannot_be_loaded_are_not_saved(tmp_path, digits):
    clf = learner("ovr").fit(*digits).set_params(decoding="votes")
    with pytest.raises(ValueError, match="a problem for every two classes"):
        clf.save(tmp_path / "m.sure")
    assert not (tmp_path / "m.sure").exists()


def test_attributes_of_the_code(digits):
    clf = learner("ecoc").fit(*digits)
    code = decode.Code(clf.code_)
    assert clf.dmin_ == code.dmin >= 15
    assert clf.errors_corrected_ == (clf.dmin_ - 1) // 2
    assert clf.coef_.shape == (code.n_problems, 64)
    with pytest.raises(AttributeError, match="code_ needs a reduction, got multiclass='joint'"):
        _ = learner().fit(*digits).code_
    with pytest.raises(ValueError, match="dmin_ needs at least two known classes"):
        _ = learner("ovr").partial_fit(digits[0][:1], digits[1][:1]).dmin_


def test_explanations_name_the_problems(digits):
    X, y = digits
    labels = np.array(list("abcdefghij"))[y]
    assert set(learner("ovr").fit(X, labels).explain(top=None).label) == set("abcdefghij")
    pairs = set(learner("ovo").fit(X, labels).explain(top=None).label)
    assert len(pairs) == 45
    assert "a, not b" in pairs
    assert "problem 0" in learner("ecoc").fit(X, labels).explain(top=None).label


def test_a_refused_row_leaves_all_problems_as_they_were(digits):
    X, y = digits
    clf = learner("ovo").partial_fit(X[:100], y[:100])
    before = state(clf)
    with pytest.raises(ValueError, match="row 0 must leave finite weights"):
        clf.partial_fit(X[100:101] * 1e200, y[100:101])
    assert state(clf) == before


# ------------------------------------------------------------------- bad input

GOOD = decode.one_vs_rest(3).matrix


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"multiclass": "ova"}, ValueError, "multiclass must be one of 'joint', 'ovr', 'ovo', 'ec"),
        ({"multiclass": 3}, TypeError, "multiclass must be one of 'joint', .* or a coding .*got 3"),
        ({"multiclass": GOOD, "decoding": "votes"}, ValueError, "a problem for every two classes"),
        ({"multiclass": [[1, 2], [-1, 1], [1, -1]]}, ValueError, "got 2 in row 0, column 1"),
        ({"multiclass": [["a"]]}, TypeError, "coding matrix must hold -1, 0 and"),
        ({"multiclass": [[1, 1], [1, 1], [-1, -1]]}, ValueError, "rows 0 and 1"),
        ({"multiclass": [[1, 1], [1, -1], [1, 1]]}, ValueError, "no -1 in column 0"),
        ({"multiclass": [[1, 1, 1], [-1, -1, 1], [1, -1, -1], [-1, -1, -1]]}, ValueError,
         "complement of another one, got rows 0 and 3"),
        ({"multiclass": GOOD[:, [0, 0, 1]]}, ValueError, "columns? 0 and 1"),
        ({"multiclass": decode.one_vs_rest(4).matrix}, ValueError,
         "row for each of the 3 classes .*got 4 rows"),
        ({"multiclass": GOOD, "constraints": "parallel"}, ValueError, "needs constraints='single'"),
        ({"multiclass": "ovo", "cost": 1 - np.eye(3), "rule": "arow"}, ValueError,
         "needs cost=None, got a cost"),
        ({"multiclass": "ecoc", "covariance": "full"}, ValueError, "needs covariance='diagonal'"),
        ({"decoding": "hamming"}, ValueError, "needs multiclass 'ovr', 'ovo', 'ecoc' or a coding"),
        ({"multiclass": "ovo", "decoding": "best"}, ValueError, "decoding must be one of 'auto'"),
        ({"multiclass": "ovr", "decoding": "votes"}, ValueError, "a problem for every two classes"),
        ({"multiclass": "ovr", "decoding": "probability", "rule": "pa"}, ValueError,
         "needs a rule that keeps variances"),
    ],
)  # fmt: skip
def test_reductions_that_cannot_be(params, error, message):
    X, y = np.eye(3), ["a", "b", "c"]
    with pytest.raises(error, match=message):
        SureClassifier(**params, scale=False).fit(X, y)


def test_a_code_may_have_complements_where_it_is_meant():
    code = decode.Code([[1, 1, 1], [-1, -1, 1], [1, -1, -1], [-1, -1, -1]])
    clf = SureClassifier(multiclass=code, scale=False).fit(np.eye(4), list("abcd"))
    assert clf.code_.tolist() == code.matrix.tolist()


def test_a_fitted_model_keeps_its_reduction(digits):
    clf = learner("ovr").fit(*digits).set_params(multiclass="ovo")
    with pytest.raises(ValueError, match="multiclass must stay 'ovr' in a fitted model, got 'ovo'"):
        clf.partial_fit(*digits)


def test_a_matrix_in_a_stream_needs_all_its_classes(digits):
    X, y = digits
    clf = learner(decode.one_vs_rest(10).matrix)
    with pytest.raises(ValueError, match="declare all classes in the first partial_fit"):
        clf.partial_fit(X[:5], y[:5])
    clf.partial_fit(X[:5], y[:5], classes=np.arange(10)).partial_fit(X, y)
    assert clf.score(X, y) > 0.8


def test_draws_are_for_joint_classes_only(digits):
    clf = learner("ovr").fit(*digits)
    with pytest.raises(ValueError, match="sample_proba needs multiclass='joint', got 'ovr'"):
        clf.sample_proba(digits[0])
