"""Scores of rankings against scikit-learn's and against the definitions."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.metrics import average_precision_score, ndcg_score

from ranked import candidates
from reading import blocks_of
from surelearn import SureClassifier, SureRanker, evaluate
from surelearn.evaluation import RankingScores, evaluate_ranker, ranking_scores


@st.composite
def scored(draw, max_groups=4):
    """Distinct scores, relevances and sizes."""
    sizes = draw(st.lists(st.integers(0, 6), min_size=1, max_size=max_groups))
    n = sum(sizes)
    scores = draw(st.permutations(range(n)))
    y = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    return np.array(scores, float), np.array(y, float), sizes


def groups(sizes, *arrays):
    ends = np.cumsum(sizes)
    return [[a[e - n : e] for a in arrays] for e, n in zip(ends, sizes, strict=True)]


@given(scored(), st.sampled_from([1, 3, 10]))
def test_relevances(given, k):
    scores, y, sizes = given
    found = ranking_scores(scores, y, group=sizes, k=k)
    told = [(s, r) for s, r in groups(sizes, scores, y) if len(set(r.tolist())) > 1]
    assert (found.n, found.n_skipped) == (len(told), len(sizes) - len(told))
    if not told:
        assert math.isnan(found.ndcg)
        return
    order = [r[np.argsort(-s)] for s, r in told]
    expected = {
        "ndcg": [ndcg_score([2.0**r - 1], [s], k=k) for s, r in told],
        "map": [average_precision_score(r > 0, s) for s, r in told],
        "accuracy": [float(r[0] == r.max()) for r in order],
        "mrr": [1.0 / (1 + np.argmax(r > 0)) for r in order],
    }
    for name, values in expected.items():
        assert getattr(found, name) == pytest.approx(np.mean(values))
        if len(told) > 1:
            error = np.std(values, ddof=1) / math.sqrt(len(told))
            assert found.standard_error[name] == pytest.approx(error, abs=1e-7)


@given(scored())
def test_costs(given):
    scores, cost, sizes = given
    found = ranking_scores(scores, cost=cost, group=sizes)
    told = [(s, c) for s, c in groups(sizes, scores, cost) if len(set(c.tolist())) > 1]
    if told:
        saved = [ndcg_score([c.max() - c], [s], k=10) for s, c in told]
        assert found.ndcg == pytest.approx(np.mean(saved))
        right = [average_precision_score(c == c.min(), s) for s, c in told]
        assert found.map == pytest.approx(np.mean(right))
        assert found.accuracy <= found.mrr


@given(scored(), scored())
def test_scores_add_up(one, other):
    parts = [ranking_scores(s, y, group=g) for s, y, g in (one, other)]
    both = [np.concatenate([a, b]) for a, b in zip(one, other, strict=True)]
    whole = ranking_scores(both[0], both[1], group=both[2].astype(int))
    summed = parts[0] + parts[1]
    assert (summed.n, summed.n_skipped) == (whole.n, whole.n_skipped)
    np.testing.assert_allclose(summed.sums, whole.sums, atol=1e-12)
    np.testing.assert_allclose(summed.squares, whole.squares, atol=1e-12)


def test_large_relevances_do_not_overflow():
    found = ranking_scores([1.0, 2.0, 3.0], [2000, 1999, 0], group=[3])
    assert found.ndcg == pytest.approx((0.5 / math.log2(3) + 1 / 2) / (1 + 0.5 / math.log2(3)))


def test_tiny_relevances_do_not_vanish():
    found = ranking_scores([1.0, 2.0, 3.0], [0, 1e-20, 0], group=[3])
    assert found.ndcg == pytest.approx(1 / math.log2(3))


def test_ties_keep_the_order_of_the_rows():
    assert ranking_scores([0.0, 0.0], [1, 0], group=[2]).mrr == 1.0
    assert ranking_scores([0.0, 0.0], [0, 1], group=[2]).mrr == 0.5


def test_scores_of_different_depths_do_not_add_up():
    with pytest.raises(ValueError, match="k"):
        RankingScores(5) + RankingScores(10)


# ------------------------------------------------------------------------- rankers


@pytest.fixture(scope="module")
def ranker():
    X, y, group = candidates(100)
    return SureRanker(random_state=0).fit(X, y, group=group)


def test_a_ranker_is_evaluated_by_its_scores(ranker):
    X, y, group = candidates(50, seed=1)
    qid = np.repeat(np.arange(50), group)
    found = evaluate(ranker, X, y, qid=qid)
    same = ranking_scores(ranker.decision_function(X), y, group=group)
    assert found.to_dict() == same.to_dict()
    assert found.ndcg > 0.9
    assert evaluate(ranker, X, cost=-y, group=group, k=3).accuracy == found.accuracy
    json.dumps(found.to_dict(), allow_nan=False)
    assert RankingScores().to_dict()["ndcg"] is None
    json.dumps(RankingScores().to_dict(), allow_nan=False)
    lines = str(found).splitlines()
    assert lines[0] == "50 groups"
    assert lines[2].startswith(f"NDCG@10            {found.ndcg:.4f} +- ")


def test_what_is_skipped_is_said(ranker):
    X, y, group = candidates(5, seed=1)
    found = evaluate(ranker, X, np.where(np.arange(len(y)) < group[0], 0, y), group=group)
    assert str(found).startswith("4 groups, 1 skipped (all equal)\n")


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"y": [0, 0]}, ValueError, "evaluate needs at least one group with a right and a wrong"),
        ({"y": [0, 1], "rival": 1}, TypeError, "rival must be None for a ranker, got 1"),
        ({"y": [0, 1], "text": "a"}, TypeError, "rows in memory must have no reading options"),
        ({"y": [0, 1], "k": 0}, ValueError, "k must be at least 1, got 0"),
        ({"y": [0, 1], "progress": 1}, TypeError, "progress must be a function or None"),
        ({"y": [0, 1], "group": None}, TypeError, "group or qid must be given, got neither"),
    ],
)
def test_what_makes_no_sense(ranker, arguments, kind, message):
    X, _, _ = candidates(1, seed=1, size=2)
    with pytest.raises(kind, match=message):
        evaluate(ranker, X, **{"group": [2], **arguments})


@pytest.mark.parametrize("name", ["group", "qid"])
def test_a_source_has_its_groups(ranker, name):
    with pytest.raises(TypeError, match=f"{name} must be None for a source, got \\[1\\]. A source"):
        evaluate(ranker, "b.svm", **{name: [1]})


def test_only_fitted_rankers():
    with pytest.raises(NotFittedError, match="ranker must be a fitted ranker"):
        evaluate(SureRanker(), [[1.0]], [1], group=[1])
    with pytest.raises(TypeError, match="ranker must be a ranker, got SureClassifier"):
        evaluate_ranker(SureClassifier(), [[1.0]], [1], group=[1])
    with pytest.raises(TypeError, match="got the class SureRanker"):
        evaluate_ranker(SureRanker, [[1.0]], [1], group=[1])


def test_scores_of_no_groups_are_the_zero_of_sums():
    none = RankingScores()
    assert (none.k, none.n, none.n_skipped, none.n_bad) == (10, 0, 0, 0)
    some = RankingScores(10, 2, 1, 3, (1.0, 2.0, 1.0, 2.0), (1.0, 2.0, 1.0, 2.0))
    assert (some + none).to_dict() == (none + some).to_dict() == some.to_dict()
    assert math.isnan(none.ndcg)
    assert (some + some).n_bad == 6
    one = RankingScores(10, 1, 0, 0, (1.0,) * 4, (1.0,) * 4)
    assert all(math.isnan(error) for error in one.standard_error.values())
    assert (one + one).standard_error["ndcg"] == 0.0


def test_progress_tells_bytes_and_mistakes(tmp_path):
    X, y, group = candidates(60)
    ranker = SureRanker(random_state=0).fit(X, y, group=group)
    path, said = tmp_path / "a.svm", []
    ids = np.repeat(np.arange(60), group)
    path.write_text("".join(
        f"{grade:g} qid:{i} " + " ".join(f"{j}:{v!r}" for j, v in enumerate(x, 1)) + "\n"
        for x, grade, i in zip(X.tolist(), y.tolist(), ids, strict=True)
    ))  # fmt: skip
    with blocks_of(1000):
        found = evaluate(ranker, path, progress=said.append)
    assert len(said) > 3
    assert [one.n_bytes for one in said] == sorted(one.n_bytes for one in said)
    assert said[-1].n_bytes == said[-1].total == path.stat().st_size
    assert said[-1].mistakes == round(60 * (1 - found.accuracy))
