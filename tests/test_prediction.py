"""Predictions of whole files: what each batch holds, and how sure a label is."""

from __future__ import annotations

import json

import numpy as np
import pandas
import pytest
from sklearn.naive_bayes import GaussianNB

from grouped import queries
from surelearn import (
    SureClassifier,
    SureRanker,
    SureTagger,
    SureTextClassifier,
    evaluate,
    predict,
    read,
)
from surelearn.prediction import predict_groups, predict_tags

TEXTS = ["a great film", "great fun", "a dull film", "how dull", "so odd", "odd one"]
LABELS = ["good", "good", "bad", "bad", "odd", "odd"]


@pytest.fixture(scope="module")
def clf():
    return SureTextClassifier(random_state=0).fit(TEXTS, LABELS)


@pytest.fixture
def jsonl(tmp_path):
    """A file of some records."""

    def write(records, name="rows.jsonl"):
        path = tmp_path / name
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        return path

    return write


def records(n):
    """Texts, some of them like those that were learnt, with labels and numbers."""
    words = np.random.default_rng(0).choice(["great", "dull", "odd", "film", "new"], (n, 3))
    return [{"text": " ".join(row), "label": LABELS[i % 6], "id": i} for i, row in enumerate(words)]


# ------------------------------------------------------------------------- files


def test_predictions_of_a_file(clf, jsonl, monkeypatch):
    monkeypatch.setattr("surelearn.read._lines.BLOCK", 1000)
    rows = records(100)
    path = jsonl(rows)
    found = list(predict(clf, path, keep="id"))
    assert len(found) > 3
    texts = [row["text"] for row in rows]
    np.testing.assert_array_equal(np.concatenate([b.label for b in found]), clf.predict(texts))
    p = clf.predict_proba(texts)
    np.testing.assert_array_equal(np.concatenate([b.probabilities for b in found]), p)
    own = p[np.arange(100), np.searchsorted(clf.classes_, clf.predict(texts))]
    np.testing.assert_array_equal(np.concatenate([b.probability for b in found]), own)
    assert np.concatenate([b.kept for b in found]).tolist() == list(range(100))
    assert sum(b.n_bytes for b in found) == path.stat().st_size
    assert all(b.kept is None for b in predict(clf, path))


def test_first_order_rules_give_labels_only(jsonl):
    clf = SureTextClassifier("pa1", random_state=0).fit(TEXTS, LABELS)
    (found,) = predict(clf, jsonl(records(5)))
    assert found.probability is found.probabilities is found.sureness is None
    assert len(found.label) == 5


def test_a_source_that_is_open_already(clf, jsonl):
    path = jsonl(records(7))
    (found,) = predict(clf, read.batches(path))
    assert len(found.label) == 7
    with pytest.raises(TypeError, match=r"a Source is opened already, got also \['text'\]"):
        list(predict(clf, read.batches(path), text="text"))


def test_bad_rows_are_counted(clf, jsonl):
    path = jsonl([*records(3), ["no", "object"], *records(2)])
    (found,) = predict(clf, path, skip_bad=True)
    assert (len(found.label), found.n_bad) == (5, 1)
    with pytest.raises(read.BadInput, match="line 4: expected a JSON object"):
        list(predict(clf, path))


def test_a_block_in_which_nothing_can_be_read(clf, jsonl, monkeypatch):
    monkeypatch.setattr("surelearn.read._lines.BLOCK", 100)
    path = jsonl([*records(3), *[["no", "object"]] * 40, *records(3)])
    found = list(predict(clf, path, skip_bad=True, keep="id"))
    assert [0 for batch in found if not len(batch.label)]
    assert sum(batch.n_bad for batch in found) == 40
    assert np.concatenate([batch.label for batch in found]).shape == (6,)
    assert sum(batch.n_bytes for batch in found) == path.stat().st_size
    judged = evaluate(clf, path, skip_bad=True)
    assert (judged.n, judged.n_bad) == (6, 40)


def test_rows_are_read_as_they_were_learnt(clf, jsonl, monkeypatch):
    """The width of rows, and the columns of a stream, where nothing else is said."""
    asked = []
    usual = read.batches
    monkeypatch.setattr(
        "surelearn.learners.sources.batches",
        lambda source, **more: asked.append(more) or usual(source, **more),
    )
    rows = SureClassifier().fit([[0.0, 1.0], [1.0, 0.0]], ["good", "bad"])
    named = jsonl([{"body": "great", "kind": "good"}, {"body": "dull", "kind": "bad"}], "n.jsonl")
    streamed = SureTextClassifier().fit_stream(named, text="body", label="kind")
    asked.clear()
    list(predict(rows, jsonl([{"a": 1.0, "b": 2.0}])))
    list(predict(streamed, named))
    evaluate(streamed, named)
    evaluate(streamed, jsonl(records(2)), text="text", label="label")
    list(predict(streamed, jsonl(records(2)), text="text"))
    assert asked == [
        {"label": False, "n_features": 2},
        {"label": False, "text": "body"},
        {"label": "kind", "text": "body", "label_type": str},
        {"text": "text", "label": "label", "label_type": str},
        {"label": False, "text": "text"},
    ]


def test_columns_are_found_by_the_names_that_were_learnt():
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(rng.random((200, 2)), columns=["b", "a"])
    frame["label"] = np.where(frame.a > frame.b, "x", "y")
    other = frame.assign(c=1.0)[["label", "c", "a", "b"]]
    streamed = SureClassifier(random_state=0).fit_stream(frame)
    fitted = SureClassifier(random_state=0).fit(frame[["b", "a"]], frame.label)
    bayes = GaussianNB().fit(frame[["b", "a"]], frame.label)
    for model in (streamed, fitted, bayes):
        assert evaluate(model, other).accuracy > 0.9
        (found,) = predict(model, other)
        np.testing.assert_array_equal(found.label, model.predict(frame[["b", "a"]]))
        assert model.feature_names_in_.tolist() == ["b", "a"]


@pytest.mark.parametrize("label", [None, "anything", 3])
def test_labels_are_not_looked_at_where_they_are_not_needed(clf, label, jsonl, tmp_path):
    rows = [{"text": "great", "label": "good"}, {"text": "dull", "label": label}]
    frame = pandas.DataFrame({"text": ["great", "dull"], "label": ["good", label]}, dtype=object)
    frame["label"] = frame["label"].astype(str)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    for source in (jsonl(rows), tmp_path / "rows.csv", frame):
        (found,) = predict(clf, source)
        assert found.label.tolist() == ["good", "bad"]
    numbers = SureClassifier(random_state=0).fit([[0.0, 1.0], [1.0, 0.0]], [7, 8])
    (found,) = predict(numbers, jsonl([{"a": 0.0, "label": 7, "b": 1.0}], "n.jsonl"))
    assert found.label.tolist() == [7]


def test_evaluation_of_a_file_is_that_of_its_rows(clf, jsonl, monkeypatch):
    monkeypatch.setattr("surelearn.read._lines.BLOCK", 1000)
    rows = [*records(100), {"text": "great", "label": "new"}]
    path = jsonl(rows)
    rival = SureTextClassifier("pa1", random_state=0).fit(TEXTS[:5], LABELS[:5])
    told = []
    found = evaluate(clf, path, rival=rival, progress=told.append)
    texts, y = [row["text"] for row in rows], [row["label"] for row in rows]
    expected = evaluate(clf, texts, y, rival=rival).to_dict()
    for name in ("log_loss", "brier", "calibration_error"):  # summed in another order
        expected[name] = pytest.approx(expected[name], rel=1e-12)
    assert found.to_dict() == expected
    assert told[-1][4:6] == (path.stat().st_size, path.stat().st_size)
    assert (told[-1].rows, told[-1].n_bad) == (101, 0)
    assert len(told) > 3


def test_evaluation_needs_labels(clf, jsonl):
    path = jsonl([{"text": "great"}])
    with pytest.raises(
        ValueError, match=r"must have labels, got none\. Name their column by label\."
    ):
        evaluate(clf, path)


def test_texts_and_numbers_are_not_mixed_up(clf, jsonl):
    numbers = jsonl([{"a": 1.0, "b": 2.0, "label": "good"}], "numbers.jsonl")
    with pytest.raises(ValueError, match="source must hold texts for a SureTextClassifier"):
        evaluate(clf, numbers)
    rows = SureClassifier().fit([[0.0, 1.0], [1.0, 0.0]], ["good", "bad"])
    with pytest.raises(ValueError, match="source must hold rows of numbers for a SureClassifier"):
        evaluate(rows, jsonl(records(2)))
    assert evaluate(rows, numbers).n == 1


def test_classifiers_from_elsewhere(jsonl):
    nb = GaussianNB().fit([[0.0, 1.0], [0.0, 0.9], [1.0, 0.0], [1.0, 0.1]], ["a", "a", "b", "b"])
    (found,) = predict(nb, jsonl([{"x": 0.0, "y": 1.0}, {"x": 1.0, "y": 0.0}]))
    assert found.label.tolist() == ["a", "b"]
    assert (found.probability > 0.99).all()
    assert found.sureness is None


@pytest.fixture
def ranked(tmp_path):
    """A ranker and a file of groups to rank."""
    (tmp_path / "a.svm").write_text(queries(100))
    (tmp_path / "b.svm").write_text(queries(60, seed=1))
    return SureRanker(random_state=0).fit_stream(tmp_path / "a.svm"), tmp_path / "b.svm"


def test_groups_are_ranked(ranked, monkeypatch):
    ranker, path = ranked
    whole = read.groups(path).first(60)
    group = {"group": whole.sizes}
    monkeypatch.setattr("surelearn.read._lines.BLOCK", 1000)
    seen = []
    found = list(predict_groups(ranker, path, progress=lambda now: seen.append(now.rows)))
    assert len(found) > 5
    assert seen[-1] == 60
    best = np.concatenate([batch.best for batch in found])
    np.testing.assert_array_equal(best, ranker.predict(whole.X, **group))
    scores = np.concatenate([batch.scores for batch in found])
    np.testing.assert_array_equal(scores, ranker.decision_function(whole.X))
    order = [own.tolist() for batch in found for own in batch.order]
    assert order == [own.tolist() for own in ranker.rank(whole.X, **group)]
    p = np.concatenate([batch.probabilities for batch in found])
    np.testing.assert_allclose(p, ranker.predict_proba(whole.X, **group), atol=1e-12)
    of_best = np.concatenate([batch.probability for batch in found])
    np.testing.assert_array_equal(of_best, p[whole.bounds[:-1] + best])
    assert sum(batch.n_bytes for batch in found) == path.stat().st_size
    assert not any(batch.groups.is_labelled for batch in found)


def test_groups_that_cannot_be_ranked(ranked, monkeypatch):
    ranker, path = ranked
    bad = "".join(f"1 qid:{10 + i} 1:x\n" for i in range(16))
    path.write_text(bad + "1 qid:2 1:1\n" + "1 qid:3 13:1\n")
    with pytest.raises(read.BadInput, match=r"b\.svm, line 1: expected index:value, got '1:x'"):
        list(predict_groups(ranker, path))
    monkeypatch.setattr("surelearn.read._lines.BLOCK", 100)
    found = list(predict_groups(ranker, path, skip_bad=True))
    assert [len(batch.best) for batch in found] == [0, 0, 1]
    assert sum(batch.n_bad for batch in found) == 17  # the last has more features than were learnt
    with pytest.raises(TypeError, match=r"ranker must be a .*got SureClassifier"):
        predict_groups(SureClassifier(), path)


def test_a_ranker_of_first_order_has_no_probabilities(ranked):
    _, path = ranked
    first = SureRanker("pa1", random_state=0).fit_stream(path)
    (found,) = predict_groups(first, path)
    assert found.probability is found.probabilities is None
    assert len(found.best) == 60


# ------------------------------------------------------------------- many labels


@pytest.mark.parametrize("rule", ["probit", "pa1"])
def test_lists_of_labels_are_predicted(jsonl, monkeypatch, rule):
    monkeypatch.setattr("surelearn.read._lines.BLOCK", 300)
    labels = [["good"], ["good", "fun"], ["bad"], [], ["odd"], ["odd", "bad"]]
    clf = SureTextClassifier(rule, random_state=0).fit(TEXTS, labels)
    rows = records(40)
    found = list(predict(clf, jsonl(rows), keep="id"))
    texts = [row["text"] for row in rows]
    assert len(found) > 1
    assert [own for batch in found for own in batch.label] == clf.predict(texts)
    assert [i for batch in found for i in batch.kept.tolist()] == list(range(40))
    assert all(batch.probability is None for batch in found)
    if rule == "pa1":
        assert all(batch.probabilities is None for batch in found)
        return
    p = np.concatenate([batch.probabilities for batch in found])
    np.testing.assert_array_equal(p, clf.predict_proba(texts))
    mean, variance = clf.margin(texts)
    least = (np.abs(mean) / np.sqrt(variance + clf._scorer().rule.label_noise)).min(axis=1)
    np.testing.assert_allclose(np.concatenate([batch.sureness for batch in found]), least)


def test_a_batch_without_good_rows_has_no_lists(jsonl, tmp_path):
    clf = SureTextClassifier(random_state=0).fit(TEXTS, [["a"], ["b"], [], ["a"], [], ["b"]])
    path = tmp_path / "bad.jsonl"
    path.write_text('{"text": 3}\n{"text": 4}\n')
    found = list(predict(clf, path, text="text", skip_bad=True))
    assert [(batch.label, batch.n_bad) for batch in found] == [([], 2)]


def test_progress_is_checked_before_anything_is_read(clf, ranked, tmp_path):
    tagger = SureTagger(random_state=0).fit([["a", "b"]], [["X", "Y"]])
    for ask, model in ((predict, clf), (predict_tags, tagger), (predict_groups, ranked[0])):
        with pytest.raises(TypeError, match="progress must be a function or None, got 3"):
            ask(model, tmp_path / "none", progress=3)
