"""Abstention: answers above a threshold, their risk by hand, refusals; for every learner."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import beta

from kept_back import (
    RANKERS,
    RISK,
    ROWS,
    STRUCTURES,
    Batch,
    certified,
    fitted,
    make,
    plain,
    records,
    rows,
)
from surelearn import SureClassifier, learners
from surelearn.decide import split
from surelearn.learners.deciding import decide, decisions_of
from surelearn.learners.deciding.abstention import NotCertified, risks_by_label

FIRST_ORDER = ["pa", "pa1", "pa2", "perceptron"]
RULED = [name for name in learners.ESTIMATORS if "rule" in make(name).get_params()]


def answered(found, otherwise=None):
    return np.array([own is not otherwise for own in found])


def log_odds(p, at):
    """By hand: the square of one label's probability against the squares of all others."""
    found = []
    for row, k in zip(p.tolist(), at, strict=True):
        others = sum(q**2 for j, q in enumerate(row) if j != k)
        found.append(np.log(row[k] ** 2 / others))
    return np.array(found)


# --------------------------------------------------------------------------- agreement by hand


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", [n for n in ROWS if n not in ("SureTextClassifier",)])
def test_rows_are_answered_above_the_certified_threshold(name, n_classes):
    own, new = rows(700, 1, n_classes, 0.3), rows(300, 2, n_classes, 0.3)
    if name == "SureTableClassifier":
        own = Batch([dict(enumerate(map(float, x))) for x in own.X], own.y)
        own = Batch([{f"f{k}": v for k, v in x.items()} for x in own.X], own.y)
        new = Batch([{f"f{k}": float(v) for k, v in enumerate(x)} for x in new.X], new.y)
    X, y = own.X, own.y
    model = make(name).fit(X[:200], y[:200])
    model.choose_abstention(X[200:], y[200:], risk=0.2, delta=0.2)
    rule = decisions_of(model).abstention
    threshold = rule.rules[None].threshold

    def sure_of(batch):
        p, labels = model.predict_proba(batch), model.predict(batch)
        if rule.sureness == "margin":
            return None, labels
        return log_odds(p, np.searchsorted(model.classes_, labels)), labels

    sure, labels = sure_of(new.X)
    found = model.predict(new.X, abstain=True)
    if sure is not None:
        assert answered(found).tolist() == (sure >= threshold).tolist()
    assert [a for a in found if a is not None] == labels[answered(found)].tolist()

    # What is told of the certifying rows, counted by hand.
    n, least = 500, model.n_certified_
    _, certifying = split(n, 8, np.random.default_rng(0))  # log .2 / log .8
    assert len(certifying) == least
    kept = model.predict(
        [X[200 + i] for i in certifying] if isinstance(X, list) else X[200 + certifying],
        abstain=True,
    )
    given = answered(kept)
    errors = int((kept[given] != y[200 + certifying][given]).sum())
    assert model.coverage_ == pytest.approx(given.mean())
    exact = beta.ppf(0.8, errors + 1, given.sum() - errors)
    assert model.risk_bound_ == pytest.approx(min(0.2, exact))
    assert errors / given.sum() <= model.risk_bound_ <= 0.2


@pytest.mark.parametrize("name", learners.ESTIMATORS)
def test_every_learner_abstains_from_what_it_is_least_sure_of(name):
    model, own = certified(name), records(name, 200, seed=3)
    answers = model.predict(own.X, **own.about)
    decided = decide(model, own.X, abstain=True, **own.about)
    rule = decisions_of(model).abstention
    sure = decided.view.sureness(rule.sureness, decided.answers)
    assert decided.answered.tolist() == (sure >= rule.rules[None].threshold).tolist()
    assert set(decided.why) <= {"sure", "unsure"}
    found = model.predict(own.X, abstain=True, **own.about)
    for want, one, given in zip(answers, found, decided.answered, strict=True):
        assert plain(one) == plain(want) if given else one is None
    other = model.predict(own.X, abstain=True, abstain_label=("none", 1), **own.about)
    for one, given in zip(other, decided.answered, strict=True):
        assert given or one == ("none", 1)
    assert 0 < model.coverage_ <= 1
    assert 0 < model.risk_bound_ <= RISK
    assert model.n_certified_ == 192


@pytest.mark.parametrize("name", learners.ESTIMATORS)
def test_a_stricter_risk_answers_less(name):
    own, model = records(name, 1000, seed=4), fitted(name)
    coverages = []
    for risk in (0.3, 0.16, 0.12):
        try:
            model.choose_abstention(own.X, own.y, risk=risk, **own.about)
        except NotCertified:
            coverages.append(0.0)
        else:
            coverages.append(model.coverage_)
            assert model.risk_bound_ <= risk
    assert coverages == sorted(coverages, reverse=True)
    assert coverages[0] > 0


@pytest.mark.parametrize("name", learners.ESTIMATORS)
def test_predict_without_keywords_is_unchanged(name):
    own = records(name, 40, seed=3)
    before = plain(fitted(name).predict(own.X, **own.about))
    assert plain(certified(name).predict(own.X, **own.about)) == before
    assert plain(certified(name).predict(own.X, abstain=False, **own.about)) == before


@pytest.mark.parametrize("name", STRUCTURES)
def test_the_unit_of_parts_is_the_record_and_its_loss_the_share_of_wrong_ones(name):
    own, model = records(name, 800, seed=4), fitted(name)
    model.choose_abstention(own.X, own.y, risk=0.14, delta=0.2)
    _, certifying = split(800, 15, np.random.default_rng(0))
    kept = own.take(certifying)
    found = model.predict(kept.X, abstain=True)
    losses = [
        np.mean([a != b for a, b in zip(one, y, strict=True)])
        for one, y in zip(found, kept.y, strict=True)
        if one is not None
    ]
    assert model.coverage_ == pytest.approx(len(losses) / len(certifying))
    assert np.mean(losses) <= model.risk_bound_ <= 0.14
    assert model.n_certified_ == len(certifying)


def test_groups_are_right_if_their_answer_is_among_the_best():
    own, model = records("SureRanker", 800, seed=4), fitted("SureRanker")
    y = own.y.copy()
    bounds = np.append(0, np.cumsum(own.about["group"]))
    for a, b in itertools.pairwise(bounds[:51]):
        y[a:b] = 1.0  # whatever is answered is right
    model.choose_abstention(own.X, y, risk=0.2, delta=0.2, **own.about)
    _, certifying = split(800, 8, np.random.default_rng(0))
    kept = Batch(own.X, y, own.about).take(certifying)
    found = model.predict(kept.X, abstain=True, **kept.about)
    starts = np.append(0, np.cumsum(kept.about["group"]))
    errors = [
        kept.y[start + one] != 1.0
        for one, start in zip(found, starts, strict=False)
        if one is not None
    ]
    assert model.coverage_ == pytest.approx(len(errors) / len(certifying))
    exact = beta.ppf(0.8, sum(errors) + 1, len(errors) - sum(errors))
    assert model.risk_bound_ == pytest.approx(min(0.2, exact))


def test_rankers_take_ids_as_well_as_sizes():
    own, model = records("SureRanker", 300, seed=4), fitted("SureRanker")
    qid = np.repeat(np.arange(300), own.about["group"])
    one = model.choose_abstention(own.X, own.y, risk=0.2, qid=qid).risk_bound_
    assert one == model.choose_abstention(own.X, own.y, risk=0.2, **own.about).risk_bound_
    assert plain(model.predict(own.X, abstain=True, qid=qid)) == plain(
        model.predict(own.X, abstain=True, **own.about)
    )


def test_many_labels_are_right_if_all_of_them_are():
    random = np.random.default_rng(0)
    X = random.normal(size=(900, 4))
    names = np.array(list("pqr"))
    Y = [names[row > 0].tolist() for row in X[:, :3] + 0.4 * random.normal(size=(900, 3))]
    model = SureClassifier(random_state=0).fit(X[:300], Y[:300])
    model.choose_abstention(X[300:], Y[300:], risk=0.35, delta=0.2)
    _, certifying = split(600, 4, np.random.default_rng(0))
    found = model.predict(X[300 + certifying], abstain=True)
    wrong = [
        set(one) != set(Y[300 + i])
        for one, i in zip(found, certifying, strict=True)
        if one is not None
    ]
    assert 0 < model.coverage_ < 1
    assert model.coverage_ == pytest.approx(len(wrong) / len(certifying))
    exact = beta.ppf(0.8, sum(wrong) + 1, len(wrong) - sum(wrong))
    assert model.risk_bound_ == pytest.approx(min(0.35, exact))


# -------------------------------------------------------------------------------- risk by label


def test_a_risk_by_label_bounds_the_errors_among_rows_answered_so():
    own = rows(2600, 1)
    model = SureClassifier(random_state=0).fit(own.X[:600], own.y[:600])
    X, y = own.X[600:], own.y[600:]
    risks = {"c0": 0.12, "c2": 0.25}
    model.choose_abstention(X, y, risk=risks, delta=0.2)
    assert set(model.coverage_) == set(risks) == set(model.risk_bound_) == set(model.n_certified_)
    _, certifying = split(2000, 19, np.random.default_rng(0))  # log .1 / log .88: 19
    found, plainly = model.predict(X[certifying], abstain=True), model.predict(X[certifying])
    for label, risk in risks.items():
        own_rows = found == label
        errors = int((y[certifying][own_rows] != label).sum())
        assert model.coverage_[label] == pytest.approx(own_rows.mean())
        exact = beta.ppf(0.9, errors + 1, own_rows.sum() - errors)  # delta is shared by two
        assert model.risk_bound_[label] == pytest.approx(min(risk, exact))
    assert found[plainly == "c1"].tolist() == plainly[plainly == "c1"].tolist()
    assert (found[plainly == "c0"] == None).any()  # noqa: E711


def test_labels_with_few_rows_say_how_many_are_needed():
    own = rows(400, 1)
    model = SureClassifier(random_state=0).fit(own.X[:200], own.y[:200])
    with pytest.raises(
        ValueError, match=r"risk=0.001 with delta=0.1 needs at least 2,302 kept-back rows, got 200"
    ):
        model.choose_abstention(own.X[200:], own.y[200:], risk={"c0": 0.001})
    with pytest.raises(
        ValueError,
        match=r"risk=0.03 with delta=0.1 needs at least 76 kept-back rows answered 'c0', got \d\d",
    ):
        model.choose_abstention(own.X[200:], own.y[200:], risk={"c0": 0.03})
    assert decisions_of(model).abstention is None


@pytest.mark.parametrize(
    ("risk", "error", "message"),
    [
        ({}, ValueError, "risk must name at least one label"),
        ({"zebra": 0.3}, ValueError, "risk must name known labels, 'c0', 'c1', 'c2', got 'zebra'"),
        ({"c0": 2}, ValueError, r"risk\['c0'\] must be in \(0, 1\), got 2"),
        ({"c0": None}, TypeError, r"risk\['c0'\] must be a number"),
        ({("c0",): 0.3}, ValueError, "risk must name known labels"),
        (0, ValueError, r"risk must be in \(0, 1\), got 0"),
        (1, ValueError, r"risk must be in \(0, 1\), got 1"),
        (float("nan"), ValueError, r"risk must be in \(0, 1\), got nan"),
        ("x", TypeError, "risk must be a number, got 'x'"),
        (None, TypeError, "risk must be a number, got None"),
        ([0.1], TypeError, "risk must be a number"),
    ],
)
def test_risks_that_are_none_are_refused(risk, error, message):
    own, model = records("SureClassifier"), fitted("SureClassifier")
    with pytest.raises(error, match=message):
        model.choose_abstention(own.X, own.y, risk=risk)


@pytest.mark.parametrize("delta", [0, 1, -0.1, np.nan])
def test_delta_is_a_probability(delta):
    own, model = records("SureClassifier"), fitted("SureClassifier")
    with pytest.raises(ValueError, match=r"delta must be in \(0, 1\)"):
        model.choose_abstention(own.X, own.y, delta=delta)


def test_risks_are_listed_by_label():
    assert risks_by_label(0.1) == {None: 0.1}
    assert risks_by_label({"a": 0.1, 7: 0.2}) == {"a": 0.1, 7: 0.2}


@pytest.mark.parametrize("name", [*STRUCTURES, *RANKERS])
def test_labels_of_parts_have_no_risk_of_their_own(name):
    own, model = records(name), fitted(name)
    with pytest.raises(ValueError, match=r"risk must be a number for \w+, got risks by label"):
        model.choose_abstention(own.X, own.y, risk={"p": 0.3}, **own.about)


# ----------------------------------------------------------------------- learners without sureness


@pytest.mark.parametrize("rule", FIRST_ORDER)
@pytest.mark.parametrize("name", RULED)
def test_first_order_rules_are_never_sure(name, rule):
    own = records(name, 100, seed=1)
    for model in (make(name, rule=rule), make(name, rule=rule).fit(own.X, own.y, **own.about)):
        for method in ("choose_abstention", "choose_sets", "choose_novelty", "predict_set"):
            assert not hasattr(model, method)
        assert not hasattr(model, "novelty")
    how = r"a learner that is more or less sure: rule must keep variances"
    with pytest.raises(ValueError, match=rf"predict\(abstain=True\) needs {how}"):
        model.predict(own.X, abstain=True, **own.about)
    if name in ROWS:
        with pytest.raises(ValueError, match=f"novel needs {how}"):
            model.predict(own.X, novel=0.1)
        with pytest.raises(ValueError, match=f"cost needs {how}"):
            model.predict(own.X, cost={None: 0.1})
    elif name not in RANKERS:  # marginals need no variances
        assert model.predict(own.X, cost={("p", "q"): 2}) is not None


# ------------------------------------------------------------------------------------- costs


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("price", [None, 0.2])
def test_the_answer_of_the_least_expected_cost(name, price):
    own, model = records(name, 60, seed=3), fitted(name)
    cost = np.random.default_rng(0).random((3, 3)) + 1.0
    np.fill_diagonal(cost, 0.0)
    pairs = {(f"c{i}", f"c{j}"): cost[i, j] for i in range(3) for j in range(3) if i != j}
    if price is not None:
        pairs[None] = price
    classes = [*model.classes_, None]
    want = []
    for p in model.predict_proba(own.X):
        expected = [sum(p[i] * cost[i, j] for i in range(3)) for j in range(3)]
        expected += [] if price is None else [price]
        want.append(classes[int(np.argmin(expected))])
    assert model.predict(own.X, cost=pairs).tolist() == want
    matrix = cost if price is None else np.column_stack([cost, np.full(3, price)])
    assert model.predict(own.X, cost=matrix).tolist() == want
    assert (None in want) == (price is not None)


@pytest.mark.parametrize("name", STRUCTURES)
def test_each_part_has_the_label_of_the_least_expected_cost(name):
    own, model = records(name, 20, seed=3), fitted(name)
    marginals = getattr(model, "predict_marginals", getattr(model, "predict_proba", None))(own.X)
    found = model.predict(own.X, cost={("p", "q"): 4})
    for one, parts in zip(found, marginals, strict=True):
        p = [part["p"] if isinstance(part, dict) else part[0] for part in parts]
        assert list(one) == ["p" if 1 - q < 4 * q else "q" for q in p]
    assert [list(one) for one in found] != [list(one) for one in model.predict(own.X)]
    with pytest.raises(ValueError, match=r"no price of no answer for \w+, whose labels are all"):
        model.predict(own.X, cost={None: 0.1})


def test_costs_of_candidates_and_of_many_labels_are_refused():
    model, own = fitted("SureRanker"), records("SureRanker", 5)
    with pytest.raises(TypeError, match="cost"):
        model.predict(own.X, cost={None: 0.1}, **own.about)
    with pytest.raises(ValueError, match="cost must be None for groups"):
        model.choose_abstention(own.X, own.y, cost={None: 0.1}, **own.about)
    X = np.random.default_rng(0).normal(size=(60, 3))
    many = SureClassifier(random_state=0).fit(X, (X > 0).astype(int))
    with pytest.raises(ValueError, match="cost must be None for rows of many labels"):
        many.predict(X, cost={None: 0.1})
    with pytest.raises(ValueError, match="novelty needs rows with one label each, got rows of ma"):
        many.novelty(X)


def test_costs_are_part_of_the_promise():
    own = rows(1200, 1)
    model = SureClassifier(random_state=0).fit(own.X[:400], own.y[:400])
    X, y = own.X[400:], own.y[400:]
    cost = {("c0", "c1"): 5, ("c0", "c2"): 5, None: 0.4}
    model.choose_abstention(X, y, risk=0.2, cost=cost)
    new = rows(300, 9).X
    found, cheapest = model.predict(new, abstain=True), model.predict(new, cost=cost)
    given = answered(found)
    assert given.any()
    assert found[given].tolist() == cheapest[given].tolist()
    assert not given[~answered(cheapest)].any()
    assert plain(model.predict(new, abstain=True, cost=cost)) == plain(found)
    reasons = decide(model, new, abstain=True).why
    assert set(reasons) == {"sure", "unsure", "cost"}
    assert ((reasons == "cost") == ~answered(cheapest)).all()
    with pytest.raises(ValueError, match="cost must be that of choose_abstention"):
        model.predict(new, abstain=True, cost={None: 0.1})
    plainly = SureClassifier(random_state=0).fit(own.X[:400], own.y[:400])
    plainly.choose_abstention(X, y, risk=0.2)
    with pytest.raises(ValueError, match="cost must be that of choose_abstention"):
        plainly.predict(new, abstain=True, cost=cost)
    assert plain(plainly.predict(new, cost=cost)) == plain(cheapest)


# ----------------------------------------------------------------------------------- novelty


def test_novelty_is_part_of_the_promise():
    own = rows(1500, 1)
    model = SureClassifier(random_state=0).fit(own.X[:300], own.y[:300])
    X, y = own.X[300:], own.y[300:]
    model.choose_abstention(X, y, risk=0.2, novel=0.1)
    new = rows(500, 9).X
    decided = decide(model, new, abstain=True)
    known = decisions_of(model).abstention.known
    fresh = (1 + (known.values >= model.novelty(new)[:, None]).sum(axis=1)) / (
        len(known.values) + 1
    )
    assert ((decided.why == "novel") == (fresh <= 0.1)).all()
    assert 0.02 < (decided.why == "novel").mean() < 0.25
    assert plain(model.predict(new, abstain=True, novel=0.1)) == plain(
        model.predict(new, abstain=True)
    )
    with pytest.raises(ValueError, match=r"novel must be 0.1, as the risk was certified, got 0.2"):
        model.predict(new, abstain=True, novel=0.2)
    plainly = certified("SureClassifier")
    with pytest.raises(ValueError, match=r"novel must be None, as the risk was certified, got 0.1"):
        plainly.predict(new, abstain=True, novel=0.1)


def test_novelty_needs_records_besides_those_that_certify():
    own, model = records("SureClassifier", 400, seed=4), fitted("SureClassifier")
    with pytest.raises(
        ValueError, match=r"novel=0.01 needs at least 99 rows beside those .*got 64"
    ):
        model.choose_abstention(own.X[:320], own.y[:320], risk=0.3, novel=0.01)
    model.choose_novelty(own.X[320:])
    with pytest.raises(ValueError, match=r"novel=0.01 needs at least 99"):
        model.choose_abstention(own.X[:320], own.y[:320], risk=0.3, novel=0.01)
    model.choose_novelty(rows(100, 11).X)
    model.choose_abstention(own.X[:320], own.y[:320], risk=0.3, novel=0.01)
    assert len(decisions_of(model).abstention.known.values) == 100


def test_few_known_rows_cannot_show_a_small_level():
    model = fitted("SureClassifier").choose_novelty(rows(98, 3).X)
    with pytest.raises(ValueError, match=r"novel=0.01 needs at least 99 kept-back rows, got 98"):
        model.predict(rows(3).X, novel=0.01)
    model.choose_novelty(rows(99, 3).X)
    far = np.full((1, 4), 0.0)
    assert model.predict(np.vstack([rows(3).X, far]), novel=0.01).shape == (4,)


def test_none_is_no_label_of_a_risk_and_labels_must_be_known():
    own, model = records("SureClassifier", 200, seed=4), fitted("SureClassifier")
    with pytest.raises(ValueError, match=r"risk must have labels as keys, got None"):
        model.choose_abstention(own.X, own.y, risk={None: 0.5, "a": 0.5})
    with pytest.raises(ValueError, match=r"risk must name known labels, .*, got 'zz'"):
        model.choose_abstention(own.X, own.y, risk={"zz": 0.5})
