"""Sets of labels against sorting and scanning, their laws, and how often they are right."""

from __future__ import annotations

import gc
import math
import sys
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from reference import decisions as slow
from surelearn import _core
from surelearn.decide import SET_SCORES, Right, SetEvidence, label_sets, nonconformity

coverages = st.sampled_from(["0.5", "0.8", "0.9", "0.95", "0.99"])
deltas = st.sampled_from([0.01, 0.1, 0.3])
values = st.sampled_from([0.1, 0.2, 0.2, 0.3, 0.5, 0.7, 1.0, math.inf]) | st.floats(0, 1)
rows = st.lists(st.integers(1, 20), min_size=1, max_size=6).map(lambda w: [x / sum(w) for x in w])


@st.composite
def many(draw, parts=5):
    """Up to eighty records of one part or more, whose values tie, and are seldom unknown."""
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    unknown = draw(st.sampled_from([0.0, 0.0, 0.02, 0.2]))

    def record():
        own = (random.random(random.integers(1, parts + 1)) * 20).round() / 20
        return np.where(random.random(len(own)) < unknown, math.inf, own).tolist()

    return [record() for _ in range(draw(st.integers(1, 80)))]


def whole(own, score="adaptive"):
    """Evidence of records with one part each."""
    own = np.sort(np.asarray(own, dtype=float))
    places = np.zeros(len(own), dtype=np.int64)
    return SetEvidence(score, own, np.ones(len(own)), places, len(own), True)


def in_parts(records):
    """Evidence of records that lose an equal share for each part."""
    pairs = sorted((x, 1 / len(own)) for own in records for x in own)
    own, share = np.array(pairs).reshape(-1, 2).T
    return SetEvidence("adaptive", own, share, np.zeros(len(own), np.int64), len(records), False)


def exact(records):
    """The same records as the reference wants them."""
    return [[(x, Fraction(1, len(own))) for x in own] for own in records]


# Scores of non-conformity.


@given(st.lists(rows, max_size=4), st.sampled_from(SET_SCORES))
def test_scores_by_loops(table, score):
    for p in table:
        expected = slow.nonconformity(p, score)
        np.testing.assert_allclose(nonconformity(np.array([p]), score)[0], expected, atol=1e-12)


@pytest.mark.parametrize("score", SET_SCORES)
def test_rows_do_not_meet(score):
    p = np.random.default_rng(0).dirichlet(np.ones(5), 30)
    together = nonconformity(p, score)
    np.testing.assert_array_equal(together, [nonconformity(p[[i]], score)[0] for i in range(30)])
    assert nonconformity(p[:0], score).shape == (0, 5)
    only = 0.0 if score == "least-ambiguous" else 1.0
    assert nonconformity(np.ones((2, 1)), score).tolist() == [[only], [only]]


@given(rows, st.sampled_from(SET_SCORES))
def test_a_more_probable_label_conforms_better(p, score):
    found = nonconformity(np.array([p]), score)[0]
    order = np.argsort(-np.array(p), kind="stable")
    assert (np.diff(found[order]) >= 0).all()


def test_a_penalty_begins_at_the_third_label():
    p = np.array([[0.1, 0.4, 0.2, 0.3]])
    extra = nonconformity(p, "regularised") - nonconformity(p, "adaptive")
    np.testing.assert_allclose(extra, [[0.1, 0.0, 0.05, 0.0]], atol=1e-12)


# Sets of labels.


def by_masks(p, score, limit, *, always_the_best, sizes):
    """The sets from a table of scores: sorted, most probable first."""
    within = nonconformity(p, score) <= limit
    if always_the_best:
        within[np.arange(len(p)), p.argmax(axis=1)] = True
    within &= np.arange(p.shape[1]) < sizes[:, None]
    order = np.argsort(-p, axis=1, kind="stable")
    return [[z for z in row if held[z]] for row, held in zip(order.tolist(), within, strict=True)]


def in_lists(found):
    ends, places = found
    assert ends.dtype == places.dtype == np.int64
    return [own.tolist() for own in np.split(places, ends)[:-1]]


@st.composite
def tables(draw):
    """Probabilities that tie and are zero; those of labels that an item has not are zero."""
    K = draw(st.integers(1, 9) | st.sampled_from([40, 1000]))
    p = draw(hnp.arrays(np.float64, (draw(st.integers(0, 4)), K), elements=st.integers(0, 5)))
    if draw(st.booleans()):
        p += np.random.default_rng(draw(st.integers(0, 99))).dirichlet(np.full(K, 0.2), len(p))
    sizes = draw(hnp.arrays(np.int64, len(p), elements=st.integers(0, K)))
    p[np.arange(K) >= sizes[:, None]] = 0.0
    return p / np.maximum(p.sum(axis=1, keepdims=True), 1.0), sizes


limits = st.sampled_from([-math.inf, 0.0, 0.5, 0.95, 1.0, 1.1, 50.0, math.inf]) | st.floats(0, 1.5)


@given(st.data(), tables(), st.sampled_from(SET_SCORES), st.booleans())
def test_sets_are_those_of_the_scores_to_the_bit(data, table, score, best):
    p, sizes = table
    limit = data.draw(limits | st.lists(limits, min_size=p.shape[1], max_size=p.shape[1]))
    if data.draw(st.booleans()) and len(p):  # a limit that is a score
        limit = nonconformity(p, score)[0, data.draw(st.integers(0, p.shape[1] - 1))]
    limit = np.array(limit)
    all_ = np.full(len(p), p.shape[1])
    for own, given_ in ((all_, None), (sizes, sizes)):
        found = label_sets(p, score, limit, always_the_best=best, sizes=given_)
        want = by_masks(p, score, limit, always_the_best=best, sizes=own)
        assert in_lists(found) == want


@pytest.mark.parametrize("score", SET_SCORES)
@pytest.mark.parametrize("K", [1, 2, 1000])
def test_sets_of_the_loosest_and_the_strictest_limit(score, K):
    p = np.stack([np.full(K, 1 / K), np.arange(K) / max(1, K * (K - 1) / 2), np.zeros(K)])
    everything = in_lists(label_sets(p, score, math.inf))
    assert everything == np.argsort(-p, axis=1, kind="stable").tolist()
    assert in_lists(label_sets(p, score, -math.inf)) == [[0], [K - 1], [0]]
    assert in_lists(label_sets(p, score, -math.inf, always_the_best=False)) == [[], [], []]
    assert in_lists(label_sets(p[:0], score, 1.0)) == []


def test_tables_of_any_layout_have_sets():
    p = np.random.default_rng(0).dirichlet(np.ones(4), 20)
    want = in_lists(label_sets(p, "adaptive", 0.8))
    assert in_lists(label_sets(np.asfortranarray(p), "adaptive", 0.8)) == want
    assert in_lists(label_sets(np.repeat(p, 2, axis=0)[::2], "adaptive", 0.8)) == want


def test_sets_are_tuples_of_labels():
    labels = ("a", None, 3)
    ends, places = np.array([1, 3, 3, 4]), np.array([2, 0, 1, 2])
    found = _core.label_tuples(labels, ends, places)
    assert found == [(3,), ("a", None), (), (3,)]
    assert found[0] is found[3]
    assert _core.label_tuples(labels, ends[:0], places[:0]) == []
    for wrong in ([5], [1, 0], [-1]):
        with pytest.raises(IndexError, match="end out of range"):
            _core.label_tuples(labels, np.array(wrong), places)
    for wrong in ([3], [-1], [0, 3]):
        with pytest.raises(IndexError, match="place out of range"):
            _core.label_tuples(labels, np.array([len(wrong)]), np.array(wrong))


def test_labels_of_sets_are_counted():
    """A tuple that is shared, or dropped half made, must not lose a reference."""
    label = object()
    before = sys.getrefcount(label)
    for _ in range(50):
        _core.label_tuples((label,), np.array([1, 2, 4]), np.array([0, 0, 0, 0]))
        with pytest.raises(IndexError, match="place out of range"):
            _core.label_tuples((label,), np.array([3]), np.array([0, 0, 1]))
    gc.collect()
    assert sys.getrefcount(label) == before


def test_limits_and_sizes_must_fit_the_table():
    p, one = np.ones((2, 3)) / 3, np.ones(1)
    for wrong in (np.ones(2), np.ones(0)):
        with pytest.raises(ValueError, match="limits must have one entry or one for each label"):
            _core.label_sets(p, True, wrong, 0.0, 0, True, None)
    for sizes in ([1], [1, 4], [-1, 0]):
        with pytest.raises(ValueError, match="sizes must have a number of labels for each row"):
            _core.label_sets(p, True, one, 0.0, 0, True, np.array(sizes))


# Right labels.


@st.composite
def answers(draw):
    """Records with items, items with scores, parts of several right labels, some unknown."""
    K = draw(st.integers(1, 4))
    records, item_record = [], []
    for r in range(draw(st.integers(1, 5))):
        parts = []
        n_items = draw(st.integers(1, 3))
        first = len(item_record)
        item_record += [r] * n_items
        for i in range(n_items):
            place = st.integers(-1, K - 1)
            parts.append([(first + i, draw(place)) for _ in range(draw(st.integers(1, 3)))])
        records.append(parts)
    random = np.random.default_rng(draw(st.integers(0, 999)))
    return records, np.array(item_record), random.random((len(item_record), K)).round(1)


def right_of(records):
    rights = [
        (i, y, part) for part, own in enumerate(p for r in records for p in r) for i, y in own
    ]
    item, place, part = np.array(rights).T
    share = np.array([1 / len(r) for r in records for _ in r])
    return Right(item, place, part, share, len(records))


def least(part, scores):
    return min((math.inf if y < 0 else scores[i][y]) for i, y in part)


@given(answers())
def test_a_part_is_as_good_as_its_best_right_label(case):
    records, _, scores = case
    right = right_of(records)
    parts = [part for record in records for part in record]
    assert right.values(scores).tolist() == [least(part, scores.tolist()) for part in parts]
    assert right.label.tolist() == [part[-1][1] for part in parts]


@given(answers(), st.randoms(use_true_random=False))
def test_some_records_are_taken_whole(case, random):
    records, item_record, scores = case
    chosen = sorted(random.sample(range(len(records)), random.randint(0, len(records))))
    taken = right_of(records).take(item_record, np.array(chosen, dtype=np.int64))
    parts = [part for r in chosen for part in records[r]]
    assert taken.values(scores).tolist() == [least(part, scores.tolist()) for part in parts]
    assert taken.label.tolist() == [part[-1][1] for part in parts]
    assert taken.share.tolist() == [1 / len(records[r]) for r in chosen for _ in records[r]]
    assert taken.n == len(chosen)


def test_a_part_without_a_right_label_is_missed_and_a_record_without_parts_never():
    none = np.zeros(0, dtype=np.int64)
    right = Right(none, none, none, np.ones(1), 1)
    assert right.values(np.zeros((1, 2))).tolist() == [math.inf]
    assert right.label.tolist() == [-1]
    empty = Right(none, none, none, np.zeros(0), 30)
    found = SetEvidence.of("adaptive", empty, np.zeros((30, 2)), binary=False)
    assert found.threshold(0.9, None) == found.threshold(0.9, 0.1) == -math.inf


@given(answers(), st.booleans())
def test_evidence_is_sorted_with_its_shares_and_labels(case, binary):
    records, _, scores = case
    right = right_of(records)
    found = SetEvidence.of("adaptive", right, scores, binary=binary)
    assert (np.diff(found.values[np.isfinite(found.values)]) >= 0).all()
    expected = sorted(zip(right.values(scores), right.share, right.label, strict=True))
    assert sorted(zip(found.values, found.share, found.label, strict=True)) == expected
    assert (found.score, found.n, found.binary) == ("adaptive", len(records), binary)


# Thresholds.


@given(st.lists(values, max_size=60), coverages)
def test_the_conformal_quantile_by_sorting(own, coverage):
    assert whole(own).threshold(float(coverage), None) == slow.conformal_quantile(own, coverage)
    records = exact([[x] for x in own])
    assert slow.risk_control(records, coverage) == slow.conformal_quantile(own, coverage)


@given(many(), coverages)
def test_conformal_risk_control_by_scanning(records, coverage):
    expected = slow.risk_control(exact(records), coverage)
    assert in_parts(records).threshold(float(coverage), None) == expected


@given(many(parts=1), coverages, deltas)
def test_the_binomial_rank_by_scanning(records, coverage, delta):
    expected = slow.certified_threshold(exact(records), coverage, delta, True)
    assert whole(np.concatenate(records)).threshold(float(coverage), delta) == expected


@given(many(), coverages, deltas)
def test_the_p_value_of_shares_by_scanning(records, coverage, delta):
    expected = slow.certified_threshold(exact(records), coverage, delta, False)
    assert in_parts(records).threshold(float(coverage), delta) == expected


@given(many())
def test_more_coverage_and_more_certainty_make_larger_sets(records):
    for found in (in_parts(records), whole([own[0] for own in records])):
        by_coverage = [found.threshold(c, d) for d in (None, 0.1) for c in (0.5, 0.7, 0.9, 0.99)]
        assert by_coverage[:4] == sorted(by_coverage[:4])
        assert by_coverage[4:] == sorted(by_coverage[4:])
        by_delta = [found.threshold(0.8, d) for d in (0.4, 0.2, 0.1, 0.01)]
        assert by_delta == sorted(by_delta)


@given(st.lists(values, min_size=1, max_size=60), coverages, deltas | st.none())
def test_equal_values_are_one_threshold(own, coverage, delta):
    n = len(own)
    found = whole([0.4] * n).threshold(float(coverage), delta)
    assert found in (0.4, math.inf)
    assert (found == 0.4) == (n >= whole(own).fewest(float(coverage), delta))


@pytest.mark.parametrize("delta", [None, 0.05, 0.1])
@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("parts", [1, 3, 7])
def test_the_fewest_records_are_enough_and_one_less_is_not(coverage, delta, parts):
    n = whole([]).fewest(coverage, delta)
    for size, enough in ((n, True), (n - 1, False)):
        for found in (whole(np.zeros(size)), in_parts([[0.0] * parts] * max(size, 1))):
            if found.n == size:
                assert (found.threshold(coverage, delta) < math.inf) == enough


def test_fewest_records_of_the_sheet():
    assert whole([]).fewest(0.95, None) == 19
    assert whole([]).fewest(0.95, 0.1) == 45


def test_too_few_records_and_unknown_labels_have_no_threshold():
    for delta in (None, 0.1):
        assert whole([]).threshold(0.9, delta) == math.inf
        assert whole([0.5]).threshold(0.9, delta) == math.inf
        assert whole([math.inf] * 100).threshold(0.9, delta) == math.inf
        assert in_parts([[0.5, math.inf]] * 100).threshold(0.9, delta) == math.inf
        assert in_parts([[0.5, math.inf]] * 100).threshold(0.4, delta) == 0.5


@pytest.mark.parametrize("parts", [3, 7, 10, 49])
def test_rounded_sums_of_shares_are_no_loss(parts):
    """Nine records of ninety-nine may be lost in whole at 90 %, and their parts add up to nine."""
    records = [[0.0] * parts] * 90 + [[1.0] * parts] * 9
    assert in_parts(records).threshold(0.9, None) == 0.0
    assert in_parts(records[1:] + records[-1:]).threshold(0.9, None) == 1.0


def test_evidence_of_one_label():
    places = np.array([0, 1, 0, 1, 1])
    own = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    found = SetEvidence("adaptive", own, np.ones(5), places, 5, True).of_label(1)
    assert (found.values.tolist(), found.n) == ([0.2, 0.4, 0.5], 3)
    assert found.threshold(0.75, None) == 0.5
    assert found.of_label(0).n == 0
    assert found.of_label(0).threshold(0.5, None) == math.inf


def test_no_records_with_parts_have_no_threshold():
    none = SetEvidence("adaptive", np.zeros(0), np.zeros(0), np.zeros(0, np.int64), 0, False)
    assert none.threshold(0.9, 0.1) == math.inf


def test_evidence_of_one_label_in_records_of_many_parts():
    """Each of the hundred parts is one case of its label, whatever its record loses by it."""
    found = in_parts([np.linspace(0, 1, 10).tolist()] * 10).of_label(0)
    assert found.threshold(0.8, None) == whole(found.values).threshold(0.8, None)


# Promises.

DRAWS = 500


def two_errors(share, draws=DRAWS):
    return 2 * math.sqrt(share * (1 - share) / draws)


@pytest.mark.parametrize(("n", "coverage"), [(20, 0.9), (50, 0.8), (19, 0.95), (150, 0.9)])
def test_mean_coverage_is_that_stated_and_not_much_more(n, coverage):
    """Of uniform values, of which a threshold covers the share t."""
    random, draws = np.random.default_rng(5), 2000
    covered = np.array([whole(random.random(n)).threshold(coverage, None) for _ in range(draws)])
    error = 2 * covered.std() / math.sqrt(draws)
    assert coverage - error <= covered.mean() <= coverage + 1 / (n + 1) + error


@pytest.mark.parametrize("score", SET_SCORES)
def test_sets_of_a_poor_model_hold_the_right_label_as_often_as_stated(score):
    """Labels are drawn from other probabilities than those stated, and scores tie."""
    random, n, coverage = np.random.default_rng(2), 29, 0.8
    stated = random.dirichlet(np.ones(4), 4000).round(1)
    y = (random.dirichlet(np.ones(4), 4000).cumsum(axis=1) < random.random((4000, 1))).sum(axis=1)
    y = np.minimum(np.where(random.random(4000) < 0.5, stated.argmax(axis=1), y), 3)
    scores = nonconformity(stated, score)
    own, places = scores[np.arange(4000), y], np.arange(n)
    covered = []
    for _ in range(DRAWS):
        drawn = random.integers(0, 4000, n)
        right = Right(places, y[drawn], places, np.ones(n), n)
        found = SetEvidence.of(score, right, scores[drawn], binary=True)
        covered.append((own <= found.threshold(coverage, None)).mean())
    assert np.mean(covered) >= coverage - 2 * np.std(covered) / math.sqrt(DRAWS)


@pytest.mark.parametrize(
    ("n", "coverage", "delta"), [(100, 0.9, 0.1), (60, 0.95, 0.1), (80, 0.8, 0.05)]
)
def test_with_delta_few_draws_cover_less_than_stated(n, coverage, delta):
    random = np.random.default_rng(9)
    covered = np.array([whole(random.random(n)).threshold(coverage, delta) for _ in range(DRAWS)])
    assert np.mean(covered < coverage) <= delta + two_errors(delta)
    assert covered.mean() < coverage + 4 * math.sqrt(coverage * (1 - coverage) / n)


class People:
    """Records of one to six parts, of which hard records have hard ones, and their true loss."""

    def __init__(self, seed, size=5000):
        random = np.random.default_rng(seed)
        hard = random.random(size)
        self.records = [
            np.clip(random.normal(h, 0.1, random.integers(1, 7)), 0, 1).round(3).tolist()
            for h in hard
        ]
        pairs = sorted((x, 1 / len(own)) for own in self.records for x in own)
        self.values = np.array([x for x, _ in pairs])
        lost = [*accumulate(share for _, share in reversed(pairs))]
        self.lost = np.array([*reversed(lost), 0.0]) / size

    def coverage(self, threshold):
        return 1.0 - self.lost[np.searchsorted(self.values, threshold, side="right")]

    def covered(self, n, coverage, delta, random):
        """The true coverage of thresholds from n records each."""
        draws = random.integers(0, len(self.records), (DRAWS, n))
        drawn = (in_parts([self.records[i] for i in own]) for own in draws)
        return np.array([self.coverage(found.threshold(coverage, delta)) for found in drawn])


def test_mean_coverage_of_parts_is_that_stated():
    covered = People(4).covered(20, 0.9, None, np.random.default_rng(6))
    error = 2 * covered.std() / math.sqrt(DRAWS)
    assert 0.9 - error <= covered.mean() <= 0.9 + 1 / 21 + error


def test_with_delta_few_draws_cover_less_parts_than_stated():
    covered = People(4).covered(100, 0.8, 0.1, np.random.default_rng(8))
    assert np.mean(covered < 0.8) <= 0.1 + two_errors(0.1)
    assert covered.mean() < 0.93
