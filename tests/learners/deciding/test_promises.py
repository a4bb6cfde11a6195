"""Promises on real learners, judged on a population: how often a draw breaks what is stated.

A model is trained once. The remaining records are the population: records that are kept back are
drawn from it with replacement, and the risk is that over all of it.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pytest

from kept_back import Batch, fitted, make, parts, rows
from surelearn.decide import Right, nonconformity
from surelearn.learners.deciding import View, choose_abstention, decisions_of, predict_set
from surelearn.learners.deciding.sets import choose_sets
from surelearn.learners.deciding.view import view_of

DRAWS, DELTA = 200, 0.1


class Drawn(View):
    """Some records of a population, whose scores are computed once."""

    def __init__(self, whole, numbers):
        self._whole, self._numbers, self.n = whole, numbers, len(numbers)
        view = whole.view
        self.names, self.unit, self.records = view.names, view.unit, view.records
        self.binary, self.binary_sets = view.binary, view.binary_sets

    def answers(self, cost=None):
        return self._numbers

    def score(self, name, answers):
        return self._whole.sureness[name][answers]

    def losses(self, answers, y):
        return self._whole.loss[answers]

    def labels(self, answers):
        return self._whole.labels[answers]

    def shown(self, answers):
        return answers

    def novelty(self, score):
        return self._whole.novelty[self._numbers]

    def probabilities(self):
        return self._whole.p[self._numbers]

    def items(self):
        return np.arange(self.n)

    def right(self, y):
        every = np.arange(self.n)
        return Right(every, self._whole.places[self._numbers], every, np.ones(self.n), self.n)

    def check_by_class(self):
        """Rows have classes."""

    def sets(self, score, limit):
        return nonconformity(self.probabilities(), score) <= limit


class Population:
    """A learner whose records are numbers of a population."""

    def __init__(self, model, batch):
        self.model, self.n = model, batch.n_records
        self.view = view_of(model, batch.X, {})
        answers = self.view.answers()
        self.loss = self.view.losses(answers, batch.y)
        self.sureness = {name: self.view.sureness(name, answers) for name in self.view.names}
        if self.view.binary:
            self.labels = self.view.labels(answers)
            self.novelty = self.view.novelty("deviations")
            self.p = self.view.probabilities()
            self.places = np.searchsorted(model.classes_, batch.y)

    @cached_property
    def everything(self):
        return Drawn(self, np.arange(self.n))

    def twin(self):
        """The learner, with records that are numbers."""
        own = self.model._shell()
        vars(own).pop("_decisions", None)
        cls = type("OfNumbers", (type(own),), {"__view__": lambda _, X, **records: Drawn(self, X)})
        own.__class__ = cls
        return own


def share_of_broken(population, n, certain, **how):
    """The share of draws whose risk is above the stated one, and of draws that are certified."""
    random = np.random.default_rng(0)
    broken = answered = 0
    for _ in range(DRAWS):
        drawn = random.integers(0, population.n, n)
        model = population.twin()
        try:
            choose_abstention(model, drawn, None, delta=DELTA, **how)
        except ValueError:  # nothing is promised
            continue
        rule = decisions_of(model).abstention
        answered += 1
        broken += certain(population, rule)
    return broken / DRAWS, answered / DRAWS


def risk_is_above(population, rule):
    """Whether a promise is broken over the whole population, for any label that has one."""
    known = np.ones(population.n, dtype=bool)
    if rule.known is not None:
        known = rule.known.p_value(population.novelty) > rule.novel
    labels = None if None in rule.rules else population.labels
    given = known & rule.reached(labels, population.sureness[rule.sureness])
    risks = rule.risk if isinstance(rule.risk, dict) else {None: rule.risk}
    for label, risk in risks.items():
        own = given if label is None else given & (labels == label)
        if own.any() and population.loss[own].mean() > risk:
            return True
    return False


MOST = DELTA + 2 * np.sqrt(DELTA * (1 - DELTA) / DRAWS)


@pytest.fixture(scope="module")
def population():
    own = rows(3200, 1)
    model = make("SureClassifier").fit(own.X[:200], own.y[:200])
    return Population(model, Batch(own.X[200:], own.y[200:]))


@pytest.fixture(scope="module")
def sentences():
    return Population(fitted("SureTagger"), parts("sentence", 2000, 7))


@pytest.mark.parametrize(
    ("n", "how"),
    [
        (400, {"risk": 0.15}),
        (150, {"risk": 0.2}),
        (900, {"risk": {"c0": 0.15, "c2": 0.2}}),
        (400, {"risk": 0.15, "novel": 0.1}),
    ],
    ids=["one risk", "few rows", "by label", "joint with novelty"],
)
def test_the_risk_is_kept_in_all_but_a_share_of_draws(population, n, how):
    broken, certified = share_of_broken(population, n, risk_is_above, **how)
    assert broken <= MOST
    assert certified > 0.4  # it promises something


def test_the_mean_loss_of_sentences_is_kept(sentences):
    broken, certified = share_of_broken(sentences, 300, risk_is_above, risk=0.12)
    assert broken <= MOST
    assert certified > 0.4


def test_a_rule_that_is_not_certified_breaks_it(population):
    """The judge can tell: a threshold by the errors of the draw alone is wrong every other time."""
    random = np.random.default_rng(0)
    sure, broken = population.sureness["probability"], 0
    for _ in range(DRAWS):
        drawn = random.integers(0, population.n, 400)
        order = np.argsort(-sure[drawn])
        risks = np.cumsum(population.loss[drawn][order]) / np.arange(1, 401)
        last = np.flatnonzero(risks <= 0.15)
        threshold = sure[drawn][order][last[-1]]
        broken += population.loss[sure >= threshold].mean() > 0.15
    assert broken / DRAWS > MOST


def coverages(population, n, coverage, **how):
    """The coverage of sets over the population, by draws."""
    random = np.random.default_rng(0)
    found = []
    everything = np.arange(population.n)
    for _ in range(DRAWS):
        model = population.twin()
        choose_sets(model, random.integers(0, population.n, n), None, coverage=coverage)
        within = predict_set(model, everything, coverage, **how)
        found.append(within[everything, population.places])
    return np.array(found)


def test_sets_cover_what_is_stated_on_average(population):
    found = coverages(population, 200, 0.9).mean(axis=1)
    error = found.std(ddof=1) / np.sqrt(DRAWS)
    assert found.mean() >= 0.9 - 2 * error
    assert found.mean() < 0.95  # no more than needed
    assert (found < 0.9).mean() > 0.2  # a single draw promises nothing


def test_sets_with_delta_cover_in_all_but_a_share_of_draws(population):
    found = coverages(population, 200, 0.9, delta=DELTA).mean(axis=1)
    assert (found < 0.9).mean() <= MOST
    assert found.mean() < 0.97


def test_sets_cover_every_class(population):
    found = coverages(population, 150, 0.9, by_class=True)
    for place in range(3):
        own = found[:, population.places == place].mean(axis=1)
        assert own.mean() >= 0.9 - 2 * own.std(ddof=1) / np.sqrt(DRAWS)


@pytest.mark.parametrize(("n", "level"), [(99, 0.01), (200, 0.1)])
def test_false_alarms_are_rare_on_average(population, n, level):
    random = np.random.default_rng(0)
    alarms = []
    for _ in range(DRAWS):
        model = population.twin().choose_novelty(random.integers(0, population.n, n))
        alarms.append((model.novelty(np.arange(population.n), p_value=True) <= level).mean())
    error = np.std(alarms, ddof=1) / np.sqrt(DRAWS)
    assert level / 2 < np.mean(alarms) <= level + 2 * error


def test_the_numbers_of_a_population_decide_as_its_records_do(population):
    own = rows(3200, 1)
    model = make("SureClassifier").fit(own.X[:200], own.y[:200])
    drawn = np.random.default_rng(3).integers(0, 3000, 400)
    model.choose_abstention(own.X[200 + drawn], own.y[200 + drawn], risk=0.15, delta=DELTA)
    twin = population.twin()
    choose_abstention(twin, drawn, None, risk=0.15, delta=DELTA)
    assert decisions_of(twin).abstention == decisions_of(model).abstention
