"""Sets of labels and novelty by hand, and for every learner."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import binom

from kept_back import (
    RANKERS,
    ROWS,
    STRUCTURES,
    certified,
    fitted,
    groups,
    make,
    records,
    rows,
    saved,
)
from labelled import data as label_data
from labelled import lists
from surelearn import SureClassifier, SureTagger, SureTextClassifier, learners
from surelearn.decide import SET_SCORES, split
from surelearn.learners.deciding import decisions_of

COVERAGE = 0.8


def scores_of(p, score):
    """By hand: how badly each label of a row fits."""
    order = sorted(range(len(p)), key=lambda k: (-p[k], k))
    found, total = [0.0] * len(p), 0.0
    for rank, k in enumerate(order, 1):
        total += p[k]
        found[k] = {
            "least-ambiguous": 1 - p[k],
            "adaptive": total,
            "regularised": total + 0.05 * max(0, rank - 2),
        }[score]
    return found


def sets_by_hand(p, limits, score, classes):
    """The labels within the limit of each, most probable first, and always the first one."""
    found = []
    for row in p:
        own = scores_of(row.tolist(), score)
        order = sorted(range(len(row)), key=lambda k: (-row[k], k))
        found.append(
            tuple(classes[k] for i, k in enumerate(order) if i == 0 or own[k] <= limits[k])
        )
    return found


def quantile(values, coverage):
    """The ceil((n + 1) coverage)-th smallest value; infinite if there are too few."""
    rank = math.ceil((len(values) + 1) * coverage - 1e-9)
    return sorted(values)[rank - 1] if rank <= len(values) else math.inf


def rank_with_delta(n, coverage, delta):
    """The smallest rank r whose coverage, a Beta(r, n + 1 - r), fails with delta at most."""
    for rank in range(1, n + 1):
        # It fails if fewer than r of n uniform numbers are below the stated coverage.
        if binom.cdf(n - rank, n, 1 - coverage) <= delta:
            return rank
    return n + 1


@pytest.mark.parametrize("score", SET_SCORES)
@pytest.mark.parametrize("name", ROWS)
def test_sets_of_rows_are_split_conformal_by_hand(name, score):
    own, new, model = records(name, 150, seed=4), records(name, 80, seed=5), fitted(name)
    model.choose_sets(own.X, own.y, score=score)
    classes = model.classes_.tolist()
    kept = [
        scores_of(p.tolist(), score)[classes.index(y)]
        for p, y in zip(model.predict_proba(own.X), own.y, strict=True)
    ]
    p = model.predict_proba(new.X)
    for coverage in (0.5, COVERAGE, 0.95):
        want = sets_by_hand(p, [quantile(kept, coverage)] * 3, score, classes)
        assert model.predict_set(new.X, coverage) == want
    sizes = np.array([len(own) for own in model.predict_set(new.X, 0.95)])
    assert sizes.mean() > np.mean([len(own) for own in model.predict_set(new.X, 0.5)])

    by_label = [
        quantile([s for s, y in zip(kept, own.y, strict=True) if y == label], COVERAGE)
        for label in classes
    ]
    want = sets_by_hand(p, by_label, score, classes)
    assert model.predict_set(new.X, COVERAGE, by_class=True) == want

    rank = rank_with_delta(150, COVERAGE, 0.1)
    want = sets_by_hand(p, [sorted(kept)[rank - 1]] * 3, score, classes)
    assert model.predict_set(new.X, COVERAGE, delta=0.1) == want


@pytest.mark.parametrize("name", STRUCTURES)
def test_a_sentence_or_graph_loses_the_share_of_parts_that_its_sets_miss(name):
    own, model = records(name, 120, seed=4), fitted(name)
    model.choose_sets(own.X, own.y, score="least-ambiguous")
    marginals = getattr(model, "predict_marginals", getattr(model, "predict_proba", None))(own.X)
    classes = model.classes_.tolist()

    def probability(part, label):
        return part[label] if isinstance(part, dict) else part[classes.index(label)]

    misfits = [
        [1 - probability(part, label) for part, label in zip(parts, y, strict=True)]
        for parts, y in zip(marginals, own.y, strict=True)
    ]

    def lost(limit):
        return sum(np.mean([value > limit for value in one]) for one in misfits)

    candidates = sorted({value for one in misfits for value in one})
    limit = next(t for t in candidates if (lost(t) + 1) / 121 <= 1 - COVERAGE + 1e-12)
    for parts, sets in zip(marginals, model.predict_set(own.X, COVERAGE), strict=True):
        for part, labels in zip(parts, sets, strict=True):
            ordered = sorted(classes, key=lambda label: -probability(part, label))
            want = [
                label
                for i, label in enumerate(ordered)
                if i == 0 or 1 - probability(part, label) <= limit
            ]
            assert list(labels) == want
    strict = model.predict_set(own.X, COVERAGE, delta=0.05)
    sizes = [
        np.mean([len(labels) for one in found for labels in one])
        for found in (model.predict_set(own.X, COVERAGE), strict)
    ]
    assert sizes[0] <= sizes[1]


@pytest.mark.parametrize("score", SET_SCORES)
def test_the_shortest_list_of_candidates_that_holds_a_right_one(score):
    own, new, model = groups(120, 4), groups(40, 5), fitted("SureRanker")
    y = own.y.copy()
    y[: own.about["group"][0]] = 1.0  # in the first group, all are right
    model.choose_sets(own.X, y, score=score, **own.about)

    def tables(batch):
        p = model.predict_proba(batch.X, **batch.about)
        return np.split(p, np.cumsum(batch.about["group"])[:-1])

    relevances = np.split(y, np.cumsum(own.about["group"])[:-1])
    kept = []
    for p, good in zip(tables(own), relevances, strict=True):
        padded = np.append(p, np.zeros(5 - len(p))).tolist()
        misfit = scores_of(padded, score)
        kept.append(min(misfit[k] for k in np.flatnonzero(good == good.max())))
    limit = quantile(kept, COVERAGE)
    found = model.predict_set(new.X, COVERAGE, **new.about)
    for p, own_set in zip(tables(new), found, strict=True):
        padded = np.append(p, np.zeros(5 - len(p))).tolist()
        misfit = scores_of(padded, score)
        order = sorted(range(len(p)), key=lambda k: (-p[k], k))
        want = [k for i, k in enumerate(order) if i == 0 or misfit[k] <= limit]
        assert list(own_set) == want


def test_of_many_labels_a_share_of_the_right_ones_is_in_the_sets():
    X, Y = label_data(400)
    model = SureClassifier(random_state=0).fit(X[:200], lists(Y[:200]))
    y = lists(Y[200:])
    model.choose_sets(X[200:], y, score="least-ambiguous")
    p, classes = model.predict_proba(X[200:]), model.classes_.tolist()
    misfits = [[1 - row[classes.index(k)] for k in own] for row, own in zip(p, y, strict=True)]

    def lost(limit):
        return sum(np.mean([value > limit for value in one]) for one in misfits if one)

    candidates = sorted({value for one in misfits for value in one})
    limit = next(t for t in candidates if (lost(t) + 1) / 201 <= 0.1 + 1e-12)
    want = [
        tuple(sorted((k for k in classes if 1 - row[k] <= limit), key=lambda k: -row[k]))
        for row in p
    ]
    assert model.predict_set(X[200:], 0.9) == want
    assert () in want  # a row may have no label
    with pytest.raises(ValueError, match="by_class must be False for rows of many labels"):
        model.predict_set(X, by_class=True)


@pytest.mark.parametrize("name", learners.ESTIMATORS)
def test_the_smallest_score_is_chosen_on_records_that_count_no_more(name):
    own, model = records(name, 200, seed=4), fitted(name)
    model.choose_sets(own.X, own.y, **own.about)
    evidence = decisions_of(model).sets
    choosing, kept = split(200, 20, np.random.default_rng(0))
    assert evidence.n == len(kept) == 200 - len(choosing)
    assert evidence.score in SET_SCORES
    some = own.take(np.sort(kept))
    again = fitted(name).choose_sets(some.X, some.y, score=evidence.score, **some.about)
    want = decisions_of(again).sets
    assert evidence.values.tolist() == pytest.approx(want.values.tolist(), rel=1e-12)


@pytest.mark.parametrize("name", learners.ESTIMATORS)
def test_larger_coverage_gives_larger_sets(name):
    model, own = certified(name), records(name, 60, seed=5)

    def members(coverage, **how):
        found = model.predict_set(own.X, coverage, **how, **own.about)
        flat = found if name not in STRUCTURES else [one for parts in found for one in parts]
        return [set(one) for one in flat]

    small, large = members(0.6), members(0.9)
    assert all(one <= other for one, other in zip(small, large, strict=True))
    assert all(one for one in small)
    sure = members(0.6, delta=0.01)
    assert all(one <= other for one, other in zip(small, sure, strict=True))


@pytest.mark.parametrize("name", learners.ESTIMATORS)
def test_the_answer_is_in_its_set(name):
    model, own = certified(name), records(name, 60, seed=5)
    found = model.predict_set(own.X, 0.5, **own.about)
    answers = model.predict(own.X, **own.about)
    if name in STRUCTURES:
        assert [len(one) for one in found] == [len(one) for one in answers]
    elif type(model).__name__ in RANKERS or name == "SureClassifier":
        first = [one[0] for one in found]
        assert np.mean([a == b for a, b in zip(first, answers, strict=True)]) > 0.9


@pytest.mark.parametrize("name", learners.ESTIMATORS)
def test_too_few_records_say_how_many_are_needed(name):
    own, model = records(name, 18, seed=4), fitted(name)
    model.choose_sets(own.X, own.y, score="adaptive", **own.about)
    with pytest.raises(
        ValueError, match=r"coverage=0.95 needs at least 19 kept-back \w+, got 18\. Use more"
    ):
        model.predict_set(own.X, **own.about)
    with pytest.raises(ValueError, match=r"coverage=0.9 needs at least \d+ kept-back \w+, got 18"):
        model.predict_set(own.X, 0.9, delta=0.01, **own.about)
    own = records(name, 19, seed=4)
    model.choose_sets(own.X, own.y, score="adaptive", **own.about)
    assert len(model.predict_set(own.X, **own.about)) == 19


def test_a_class_with_few_records_is_in_all_sets():
    own = rows(300, 4)
    y = np.where((own.y == "c2") & (np.arange(300) > 60), "c1", own.y)
    model = make("SureClassifier").fit(own.X[:150], own.y[:150])
    keep = (y[150:] != "c2") | (np.cumsum(y[150:] == "c2") <= 3)
    model.choose_sets(own.X[150:][keep], y[150:][keep], score="least-ambiguous")
    assert all("c2" in one for one in model.predict_set(own.X, by_class=True))


def test_labels_that_the_model_does_not_know_are_missed_by_all_sets():
    own, model = records("SureClassifier", 200, seed=4), fitted("SureClassifier")
    y = own.y.copy()
    y[::5] = "unheard of"
    model.choose_sets(own.X, y, score="adaptive")
    with pytest.raises(
        ValueError, match=r"coverage=0.9 must be within reach, got 0\.2 of the right"
    ):
        model.predict_set(own.X, 0.9)
    sizes = [len(one) for one in model.predict_set(own.X, 0.75)]
    model.choose_sets(own.X, own.y, score="adaptive")
    assert np.mean(sizes) > np.mean([len(one) for one in model.predict_set(own.X, 0.75)]) + 0.2
    model.choose_sets(own.X, y, score="adaptive")
    assert np.isinf(decisions_of(model).sets.values[-40:]).all()
    tagger, own = fitted("SureTagger"), records("SureTagger", 100, seed=4)
    y = [["unheard of"] * len(one) if i % 2 else one for i, one in enumerate(own.y)]
    tagger.choose_sets(own.X, y)
    with pytest.raises(ValueError, match=r"coverage=0.9 must be within reach"):
        tagger.predict_set(own.X, 0.9)


def test_a_model_that_knows_no_label_misses_all_of_them():
    X = np.eye(3)
    model = SureClassifier(random_state=0).partial_fit(X, [[], [], []])
    assert model.classes_.tolist() == []
    model.choose_sets(X, [["new"], [], ["new"]])
    with pytest.raises(ValueError, match=r"coverage=0\.5 must be within reach"):
        model.predict_set(X, 0.5)


def test_empty_records_lose_nothing_and_have_empty_sets():
    own, model = records("SureTagger", 100, seed=4), fitted("SureTagger")
    model.choose_sets([*own.X, *[[]] * 50], [*own.y, *[[]] * 50])
    assert model.predict_set([[], own.X[0]], 0.9)[0] == []
    only = SureTagger(random_state=0).fit(own.X, own.y).choose_sets([[]] * 30, [[]] * 30)
    assert all(len(one) == 1 for parts in only.predict_set(own.X) for one in parts)


@pytest.mark.parametrize("score", ["auto", *SET_SCORES])
def test_groups_without_candidates_are_missed(score):
    own, model = groups(60, 4), fitted("SureRanker")
    sizes = [0] * 30 + own.about["group"]
    model.choose_sets(own.X, own.y, group=sizes, score=score)
    with pytest.raises(ValueError, match=r"coverage=0.8 must be within reach, got 0\.[23]"):
        model.predict_set(own.X, 0.8, group=sizes)
    found = model.predict_set(own.X, 0.6, group=sizes)
    assert found[:30] == [()] * 30
    assert all(found[30:])


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ({"coverage": 1}, ValueError, r"coverage must be in \(0, 1\), got 1"),
        ({"coverage": np.nan}, ValueError, r"coverage must be in \(0, 1\), got nan"),
        ({"coverage": "x"}, TypeError, "coverage must be a number"),
        ({"delta": 0}, ValueError, r"delta must be in \(0, 1\), got 0"),
        ({"by_class": 1}, TypeError, "by_class must be True or False"),
    ],
)
def test_bad_keywords_of_sets_are_refused(how, error, message):
    model, own = certified("SureClassifier"), records("SureClassifier", 3)
    with pytest.raises(error, match=message):
        model.predict_set(own.X, **how)


def test_bad_keywords_of_choose_sets_leave_what_there_was():
    model, own = certified("SureClassifier"), records("SureClassifier", 30)
    before = saved(model)
    for how, error, message in [
        ({"coverage": 0}, ValueError, r"coverage must be in \(0, 1\), got 0"),
        ({"score": "smallest"}, ValueError, "score must be"),
        ({"group": [30]}, TypeError, "group"),
    ]:
        with pytest.raises(error, match=message):
            model.choose_sets(own.X, own.y, **how)
    with pytest.raises(TypeError, match="same type as before"):
        model.choose_sets(own.X, np.arange(30))
    assert saved(model) == before


@pytest.mark.parametrize("name", [*STRUCTURES, *RANKERS])
def test_parts_have_no_sets_by_class_and_no_novelty(name):
    model, own = certified(name), records(name, 30)
    with pytest.raises(ValueError, match=r"by_class must be False for (sentence|graph|group)s"):
        model.predict_set(own.X, by_class=True, **own.about)
    for ask in (model.novelty, model.choose_novelty):
        with pytest.raises(ValueError, match=r"novelty needs rows with one label each, got \w+s"):
            ask(own.X, **own.about)


# ------------------------------------------------------------------------------------ novelty


@pytest.mark.parametrize("name", ROWS)
def test_p_values_count_the_kept_back_rows_that_look_as_new(name):
    own, new, model = records(name, 99, seed=4), records(name, 60, seed=5), fitted(name)
    model.choose_novelty(own.X)
    known, fresh = model.novelty(own.X), model.novelty(new.X)
    want = [(1 + sum(v >= value for v in known)) / 100 for value in fresh]
    assert model.novelty(new.X, p_value=True).tolist() == pytest.approx(want)
    found = model.predict(new.X, novel=0.2)
    answers = model.predict(new.X)
    for one, p, answer in zip(found, want, answers, strict=True):
        assert one == (None if p <= 0.2 else answer)
    assert 0 < np.mean(np.array(want) <= 0.2) < 0.6


@pytest.mark.parametrize("name", ["SureTextClassifier", "SureTableClassifier"])
def test_rows_of_nothing_known_are_the_newest(name):
    model, own = fitted(name), records(name, 60, seed=5)
    strange = "never seen words only"
    new = [strange] if name == "SureTextClassifier" else [{"text": strange, "a": None, "b": None}]
    assert model.novelty(new)[0] > np.median(model.novelty(own.X))


def test_novelty_needs_no_kept_back_rows_but_p_values_do():
    model, own = fitted("SureClassifier"), rows(40)
    assert model.novelty(own.X).shape == (40,)
    with pytest.raises(ValueError, match="p_value=True needs rows that were kept back, got none"):
        model.novelty(own.X, p_value=True)
    with pytest.raises(TypeError, match="p_value must be True or False"):
        model.novelty(own.X, p_value="yes")
    model.choose_novelty(own.X[:1])
    assert set(model.novelty(own.X, p_value=True)) == {0.5, 1.0}


def test_a_row_without_features_is_new():
    texts = ["a great film", "great fun", "a dull film", "how dull"] * 30
    clf = SureTextClassifier(random_state=0).fit(texts, ["good", "good", "bad", "bad"] * 30)
    clf.choose_novelty(texts)
    empty, known = clf.novelty(["", "a great film"])
    assert empty == 0.0 > known
    assert clf.predict(["", "a great film"], novel=0.01).tolist() == [None, "good"]


def test_novelty_of_a_row_does_not_depend_on_its_container():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 3)).round()
    y = (X[:, 0] + random.normal(size=300) > 0).astype(int)
    X[0] = 0.0
    csr = sparse.csr_matrix(X)
    csr.data[::7] = 0.0  # stored zeros
    X = csr.toarray()
    for model in (SureClassifier(random_state=0), SureClassifier(scale=False, random_state=0)):
        for learnt in (X, csr):
            model.fit(learnt, y)
            np.testing.assert_array_equal(model.novelty(X), model.novelty(csr))
