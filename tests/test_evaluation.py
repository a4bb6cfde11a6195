"""Models judged by rows in memory and by sources, of any kind."""

from __future__ import annotations

import numpy as np
import pandas
import pytest
from scipy import sparse
from sklearn import metrics
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB

from judged import Oracle, rows
from surelearn import SureClassifier, SureRanker, SureTagger, SureTextClassifier, evaluate
from surelearn.decide import risk_coverage
from surelearn.evaluation import Evaluation, LabelScores, evaluate_ranker, evaluate_tagger
from surelearn.learners import StreamProgress
from surelearn.learners.deciding.view import view_of
from surelearn.learners.tasks import row_task

# ------------------------------------------------------------------ whole models


@pytest.fixture(scope="module")
def digits():
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return X / 16, y


@pytest.fixture(scope="module")
def clf(digits):
    X, y = digits
    return SureClassifier("stdev", passes=2, random_state=0).fit(X[:900], y[:900])


@pytest.mark.parametrize(
    "settings",
    [{}, {"multiclass": "ovr"}, {"multiclass": "ovo"}, {"covariance": "full"}, {"rule": "pa1"}],
    ids=str,
)
def test_a_model_is_judged_by_its_own_methods(settings, digits):
    X, y = digits
    X, y = X[:, 20:35], y
    model = SureClassifier(**{"passes": 1, "random_state": 0, **settings}).fit(X[:300], y[:300])
    found = evaluate(model, X[300:380], y[300:380])
    assert found.accuracy == pytest.approx(model.score(X[300:380], y[300:380]))
    if settings.get("rule") == "pa1":
        assert found.log_loss is found.brier is found.calibration_error is None
        assert found.no_probabilities == ("the rule 'pa1' is of first order and keeps no variances")
        assert "No log loss, Brier and calibration error: the rule 'pa1'" in str(found)
        return
    p = model.predict_proba(X[300:380])
    assert found.log_loss == pytest.approx(metrics.log_loss(y[300:380], p), abs=1e-9)
    own = model.reliability(X[300:380], y[300:380])
    assert found.calibration_error == pytest.approx(own.calibration_error)
    assert found.no_probabilities == ""


def test_every_kind_of_rows(clf, digits, monkeypatch):
    pandas = pytest.importorskip("pandas")
    monkeypatch.setattr(row_task, "_BLOCK", 100)
    X, y = digits[0][900:1200], digits[1][900:1200]
    expected = evaluate(clf, X, y).to_dict()
    assert evaluate(clf, X.tolist(), y.tolist()).to_dict() == expected
    for kind in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        assert evaluate(clf, kind(X), y).accuracy == expected["accuracy"]
    frame = pandas.DataFrame(X, index=np.arange(len(X))[::-1])
    assert evaluate(clf, frame, pandas.Series(y)).to_dict() == expected


def test_rows_in_memory_are_judged_as_those_of_a_source(clf, digits):
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    X, y = digits[0][900:1200], digits[1][900:1200]
    names = [f"pixel {j}" for j in range(X.shape[1])]
    frame = pandas.DataFrame(X, columns=names)
    model = SureClassifier(random_state=0).fit(frame[:200], y[:200])
    expected = evaluate(model, frame.assign(label=y)).to_dict()
    assert type(evaluate(model, frame, y)) is Evaluation
    assert evaluate(model, frame, y).to_dict() == expected
    assert evaluate(model, polars.from_pandas(frame), y).to_dict() == expected
    assert evaluate(clf, X, y).n == evaluate(clf, X, y[:, None].ravel()).n == 300


def test_texts(monkeypatch):
    pandas = pytest.importorskip("pandas")
    pyarrow = pytest.importorskip("pyarrow")
    monkeypatch.setattr(row_task, "_BLOCK", 3)
    texts, y = ["fine film", "dull film", "fine", "so dull"] * 2, ["good", "bad"] * 4
    model = SureTextClassifier(random_state=0).fit(texts, y)
    test, truth = ["fine plot", "dull plot", "plot", "fine"], ["good", "bad", "bad", "good"]
    expected = evaluate(model, test, truth).to_dict()
    for column in (iter(test), pandas.Series(test), pyarrow.array(test), np.array(test)):
        assert evaluate(model, column, truth).to_dict() == expected


def test_progress_counts_rows(clf, digits, monkeypatch):
    monkeypatch.setattr(row_task, "_BLOCK", 100)
    calls = []
    found = evaluate(clf, digits[0][:250], digits[1][:250], progress=calls.append)
    assert [told.rows for told in calls] == [100, 200, 250]
    wrong = round(250 * (1 - found.accuracy))
    assert calls[-1] == StreamProgress(1, 1, 250, wrong, 0, None, 0)


def test_a_model_of_one_class():
    model = SureClassifier().partial_fit([[1.0]], ["a"])
    found = evaluate(model, [[1.0], [2.0]], ["a", "b"])
    assert found.accuracy == 0.5
    assert found.no_probabilities == "the model knows one class only"


def test_labels_that_texts_and_objects_hold():
    model = Oracle(np.array(["a", "b"], dtype=object), answers=[0, 1, 1])
    found = evaluate(model, rows(3), np.array(["a", "longer", "b"]))
    assert found.labels.tolist() == ["a", "b", "longer"]
    plain = evaluate(Oracle(["a", "b"], answers=[0, 1, 1]), rows(3), ["a", "longer", "b"])
    assert plain.labels.tolist() == ["a", "b", "longer"]


def test_rivals_from_elsewhere(digits):
    X, y = digits
    nb, perceptron = GaussianNB().fit(X[:900], y[:900]), Perceptron().fit(X[:900], y[:900])
    found = evaluate(nb, X[900:], y[900:], rival=perceptron)
    assert found.accuracy == pytest.approx(nb.score(X[900:], y[900:]))
    assert found.comparison.rival_accuracy == pytest.approx(perceptron.score(X[900:], y[900:]))
    assert found.log_loss is not None
    alone = evaluate(perceptron, X[900:], y[900:])
    assert alone.no_probabilities == "Perceptron has no predict_proba"


# -------------------------------------------------------------------- decisions


@pytest.fixture(scope="module")
def certified(digits):
    X, y = digits
    clf = SureClassifier(random_state=0).fit(X[:500], y[:500])
    return clf.choose_abstention(X[500:900], y[500:900], risk=0.05).choose_sets(
        X[500:900], y[500:900]
    )


def test_every_model_with_probabilities_has_an_area(clf, digits):
    X, y = digits[0][900:], digits[1][900:]
    found = evaluate(clf, X, y, risk=0.05)
    view = view_of(clf, X, {})
    answers = view.answers()
    sure, wrong = view.sureness(view.names[0], answers), view.losses(answers, y)
    assert found.decisions.area == pytest.approx(risk_coverage(sure, wrong).area)
    assert found.to_dict()["coverage_at_risk"] == found.decisions.coverage_at_risk > 0.5
    assert "risk-coverage area 0.0" in str(found)
    assert "coverage at 5 %    0." in str(found)
    assert "risk-coverage area" in found._repr_html_()
    assert "coverage at" not in str(evaluate(clf, X, y))
    assert evaluate(Perceptron().fit(X, y), X, y).decisions is None


def test_promises_and_sets_are_judged_in_memory_and_from_sources(certified, digits, monkeypatch):
    monkeypatch.setattr(row_task, "_BLOCK", 100)
    X, y = digits[0][900:], digits[1][900:]
    found = evaluate(certified, X, y)
    (kept,) = found.decisions.kept
    given = certified.predict(X, abstain=True)
    mask = np.array([own is not None for own in given])
    assert (kept.answered, kept.observed) == (mask.mean(), np.mean(given[mask] != y[mask]))
    assert found.decisions.risk == 0.05
    held = [k in own for k, own in zip(y, certified.predict_set(X), strict=True)]
    assert found.decisions.sets.coverage == pytest.approx(np.mean(held))
    frame = pandas.DataFrame(X, columns=[f"pixel {k}" for k in range(64)]).assign(label=y)
    assert evaluate(certified, frame).decisions.to_dict() == found.decisions.to_dict()
    assert evaluate(certified, X, y, coverage=0.8).decisions.sets.stated == 0.8
    assert "Sets of labels for 95 % coverage, by class:" in str(found)
    assert "<p>Sets of labels for 95 % coverage" in found._repr_html_()


def test_a_rival_is_compared_by_its_area(clf, digits):
    X, y = digits[0][900:], digits[1][900:]
    nb = GaussianNB().fit(digits[0][:900], digits[1][:900])
    found = evaluate(clf, X, y, rival=nb).decisions
    assert found.rival_area == evaluate(nb, X, y).decisions.area
    assert found.area_difference < -3 * found.area_error < 0


def test_taggers_and_rankers_are_judged_where_it_is_asked_for():
    X = [["the", "dog"], ["dog", "barks"], ["the", "cat"]] * 20
    y = [["D", "N"], ["N", "V"], ["D", "N"]] * 20
    tagger = SureTagger(random_state=0).fit(X[:30], y[:30])
    assert evaluate_tagger(tagger, X, y).decisions is None
    found = evaluate_tagger(tagger, X, y, risk=0.1)
    assert found.decisions.area == 0.0
    assert "Decisions by sentence:\nrisk-coverage area 0.0000\ncoverage at 10 %" in str(found)
    assert found.to_dict()["coverage_at_risk"] == 1.0
    rows, worth = np.eye(3)[[0, 1, 2, 0, 1, 2]], [2, 1, 0, 2, 1, 0]
    ranker = SureRanker(random_state=0).fit(rows, worth, group=[3, 3])
    assert evaluate_ranker(ranker, rows, worth, group=[3, 3]).decisions is None
    found = evaluate_ranker(ranker, rows, worth, group=[3, 3], risk=0.1)
    assert found.decisions.curve.risk.tolist() == [0.0, 0.0]
    assert "Decisions by group:\nrisk-coverage area 0.0000" in str(found)
    by_cost = evaluate_ranker(ranker, rows, cost=[0, 1, 2, 2, 1, 0], group=[3, 3], risk=0.1)
    assert sorted(by_cost.decisions.curve.risk) == [0.5, 0.5]
    assert by_cost.to_dict()["risk_coverage_area"] == 0.5


def test_taggers_and_rankers_are_judged_from_files(tmp_path):
    X = [["the", "dog"], ["dog", "barks"], ["the", "cat"]] * 20
    y = [[1, 2], [2, 3], [1, 2]] * 20
    tagger = SureTagger(random_state=0).fit(X, y)
    pairs = [zip(*own, strict=True) for own in zip(X[:9], y[:9], strict=True)]
    text = "\n\n".join("\n".join(f"{a} {b}" for a, b in own) for own in pairs)
    (tmp_path / "test.txt").write_text(text + "\n\nzebra 9\n")
    found = evaluate_tagger(tagger, tmp_path / "test.txt", risk=0.1)
    in_memory = evaluate_tagger(tagger, [*X[:9], ["zebra"]], [*y[:9], [9]], risk=0.1)
    assert found.decisions.to_dict() == in_memory.decisions.to_dict()
    assert found.decisions.curve.risk[-1] == pytest.approx(0.1)
    rows, worth = np.eye(3)[[0, 1, 2, 0, 1, 2]], [2, 1, 0, 0, 1, 2]
    ranker = SureRanker(random_state=0).fit(rows[:3], worth[:3], group=[3])
    lines = [f"{worth[i]} qid:{i // 3} {rows[i].argmax() + 1}:1" for i in range(6)]
    (tmp_path / "test.svmlight").write_text("\n".join(lines))
    found = evaluate_ranker(ranker, tmp_path / "test.svmlight", risk=0.1)
    assert found.decisions.curve.risk.tolist() == [0.5, 0.5]


# --------------------------------------------------------------------- refusals


def test_levels_are_checked(clf, digits):
    X, y = digits
    with pytest.raises(ValueError, match=r"risk must be in \(0, 1\), got 1.5"):
        evaluate(clf, X[:5], y[:5], risk=1.5)
    with pytest.raises(ValueError, match=r"coverage must be in \(0, 1\), got 0"):
        evaluate(clf, X[:5], y[:5], coverage=0)


def test_refusals(clf, digits):
    X, y = digits
    with pytest.raises(ValueError, match="one label for each of 3 rows of X, got 2"):
        evaluate(clf, X[:3], y[:2])
    with pytest.raises(ValueError, match="evaluate needs at least one row, got none"):
        evaluate(clf, X[:0], y[:0])
    with pytest.raises(TypeError, match="y must be given for rows in memory, got None"):
        evaluate(clf, X[:3].tolist())
    with pytest.raises(TypeError, match="of the same type as before, such as 0, got 'one'"):
        evaluate(clf, X[:1], ["one"])
    with pytest.raises(TypeError, match="of the same type as before, such as 'a', got 0"):
        evaluate(clf, X[:1], y[:1], rival=SureClassifier().fit(X[:2], ["a", "b"]))
    with pytest.raises(
        TypeError, match=r"rows in memory must have no reading options, got \['label'\]"
    ):
        evaluate(clf, X[:1], y[:1], label="y")
    with pytest.raises(NotFittedError, match=r"model must be a fitted classifier, got SureCl"):
        evaluate(SureClassifier(), X[:1], y[:1])
    with pytest.raises(NotFittedError, match=r"rival must be a fitted classifier, got LogisticR"):
        evaluate(clf, X[:1], y[:1], rival=LogisticRegression())


# ------------------------------------------------------------------- many labels


@pytest.fixture(scope="module")
def topics():
    """Rows of three features, each of which brings a label, with lists of labels."""
    random = np.random.default_rng(0)
    X = (random.random((200, 3)) < 0.4).astype(float)
    names = np.array(["corn", "gold", "oil"])
    Y = (X > 0) ^ (random.random(X.shape) < 0.1)
    return X, Y, [names[row].tolist() for row in Y]


def test_lists_of_labels_are_judged_by_their_own_scores(topics):
    X, Y, lists = topics
    clf = SureClassifier(random_state=0).fit(X[:100], lists[:100])
    found = evaluate(clf, X[100:], lists[100:])
    assert isinstance(found, LabelScores)
    predicted = clf.decision_function(X[100:]) > 0
    assert found.micro_f1 == pytest.approx(metrics.f1_score(Y[100:], predicted, average="micro"))
    assert found.accuracy == clf.score(X[100:], lists[100:])
    cells = np.where(Y[100:], clf.predict_proba(X[100:]), 1 - clf.predict_proba(X[100:]))
    assert found.log_loss == pytest.approx(-np.log(cells).mean())
    assert found.labels.tolist() == ["corn", "gold", "oil"]


def test_lists_in_memory_and_in_a_source_are_judged_alike(topics, monkeypatch):
    X, _, lists = topics
    monkeypatch.setattr(row_task, "_BLOCK", 7)
    clf = SureClassifier(random_state=0).fit(X, lists)
    frame = pandas.DataFrame(X, columns=["a", "b", "c"]).assign(label=lists)
    plain, of_frame = evaluate(clf, X, lists).to_dict(), evaluate(clf, frame).to_dict()
    assert of_frame.pop("scores") == plain.pop("scores")
    assert of_frame.pop("accuracy_interval") == pytest.approx(plain.pop("accuracy_interval"))
    assert of_frame == pytest.approx(plain)
    unsure = SureClassifier("pa1", random_state=0).fit(X, lists)
    assert "first order" in evaluate(unsure, frame).no_probabilities


def test_indicator_matrices_are_judged_beside_other_learners(topics):
    X, Y, _ = topics
    clf = SureClassifier(random_state=0).fit(X, Y)
    peer = OneVsRestClassifier(LogisticRegression()).fit(X, Y)
    found = evaluate(clf, X, Y, rival=peer)
    assert found.comparison.accuracy == found.accuracy == clf.score(X, Y)
    assert found.comparison.rival_accuracy == peer.score(X, Y)
    theirs = evaluate(peer, X, Y)
    assert theirs.micro_f1 == pytest.approx(metrics.f1_score(Y, peer.predict(X), average="micro"))


def test_labels_that_the_model_does_not_know_are_missed(topics):
    X, _, lists = topics
    clf = SureClassifier(random_state=0).fit(X, lists)
    found = evaluate(clf, X[:2], [["zinc"], [*lists[1], "zinc"]])
    assert found.unknown.tolist() == ["zinc"]
    assert found.accuracy == 0
    assert found.support.tolist()[-1] == 2


def test_one_label_and_many_are_not_mixed(topics):
    X, _, lists = topics
    many = SureClassifier(random_state=0).fit(X, lists)
    one = SureClassifier(random_state=0).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="y must have a list of labels for each row, as the mo"):
        evaluate(many, X, ["corn"] * len(X))
    with pytest.raises(ValueError, match="y must have one label for each row, as the model has"):
        evaluate(one, X, lists)
    with pytest.raises(ValueError, match="rival must predict a list of labels for each row"):
        evaluate(many, X, lists, rival=one)
    frame = pandas.DataFrame(X, columns=["a", "b", "c"]).assign(label="corn")
    with pytest.raises(ValueError, match=r"frame must have a list .* label_separator names what"):
        evaluate(many, frame)
