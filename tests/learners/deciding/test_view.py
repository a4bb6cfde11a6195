"""Views: what each kind of learner says of records, in the same words for all of them."""

from __future__ import annotations

import numpy as np
import pytest

from kept_back import KINDS, RANKERS, ROWS, fitted, records
from surelearn import learners
from surelearn.decide import Right
from surelearn.learners.deciding import SURENESS, View
from surelearn.learners.deciding.view import view_of


class Told(View):
    """Three records, and scores that are given."""

    n = 3

    def __init__(self, scores=(0.0, 1.0, 2.0)):
        self._scores = np.array(scores)

    def answers(self, cost=None):
        return np.zeros(3, np.int64)

    def score(self, name, answers):
        return self._scores

    def losses(self, answers, y):
        return np.zeros(3)

    def shown(self, answers):
        return answers

    def probabilities(self):
        return np.ones((3, 1))

    def items(self):
        return np.arange(3)

    def right(self, y):
        return Right(np.arange(3), np.arange(3), np.arange(3), np.ones(3), 3)

    def sets(self, score, limit):
        return [()] * self.n


def test_sureness_is_finite_and_keeps_the_order():
    told = Told([np.inf, 2.0, -np.inf])
    sure = told.sureness("probability", told.answers())
    assert np.isfinite(sure).all()
    assert np.argsort(-sure).tolist() == [0, 1, 2]
    assert sure[1] == 2.0
    unknown = Told([np.nan, -np.inf, -5.0])
    sure = unknown.sureness("probability", unknown.answers())
    assert sure[0] == sure[1] < sure[2]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda view: view.costs({None: 1}), "cost must be None for rows, got"),
        (lambda view: view.labels(view.answers()), "risk must be a number for rows"),
        (lambda view: view.novelty("deviations"), "novelty needs rows with one label each"),
        (lambda view: view.check_by_class(), "by_class must be False for rows"),
    ],
)
def test_what_a_kind_of_record_has_not_is_refused(ask, message):
    with pytest.raises(ValueError, match=message):
        ask(Told())


def test_by_default_no_answer_is_priced_out():
    assert not Told().priced_out(Told().answers()).any()


@pytest.mark.parametrize("name", learners.ESTIMATORS)
def test_a_view_answers_as_predict_does(name):
    own, model = records(name, 30, seed=5), fitted(name)
    view = view_of(model, own.X, dict(own.about))
    want, found = model.predict(own.X, **own.about), view.shown(view.answers())
    assert view.n == len(found) == own.n_records
    if isinstance(want, list):
        assert [list(one) for one in found] == [list(one) for one in want]
    else:
        assert found.tolist() == want.tolist()
    assert view.unit == KINDS.get(name, "row").replace("table", "row").replace("text", "row")
    assert view.records == f"{view.unit}s"


@pytest.mark.parametrize("name", learners.ESTIMATORS)
def test_sureness_losses_and_right_labels_are_sound(name):
    own, model = records(name, 30, seed=5), fitted(name)
    view = view_of(model, own.X, dict(own.about))
    answers = view.answers()
    assert set(view.names) <= set(SURENESS)
    for score in view.names:
        sure = view.sureness(score, answers)
        assert sure.shape == (view.n,)
        assert np.isfinite(sure).all()
        assert len(np.unique(sure)) > 10
    loss = view.losses(answers, own.y)
    assert loss.shape == (view.n,)
    assert ((loss >= 0) & (loss <= 1)).all()
    assert 0 < loss.mean() < 0.5
    if view.binary:
        assert set(loss) <= {0.0, 1.0}
    right = view.right(own.y)
    assert right.n == view.n
    record = view.items()[right.item]
    shares = np.zeros(view.n)
    np.add.at(shares, record[np.unique(right.part, return_index=True)[1]], right.share)
    np.testing.assert_allclose(shares, 1.0)
    assert view.probabilities().shape[0] == len(view.items())


@pytest.mark.parametrize("name", learners.ESTIMATORS)
def test_what_is_said_of_a_record_does_not_depend_on_the_others(name):
    """Bit for bit: records that are as sure as a threshold would be answered or not by chance."""
    own, model = records(name, 40, seed=5), fitted(name)
    view = view_of(model, own.X, dict(own.about))
    answers = view.answers()
    for i in range(view.n):
        one = own.take([i])
        alone = view_of(model, one.X, dict(one.about))
        for score in view.names:
            sure = alone.sureness(score, alone.answers())
            # BLAS rounds the kernel of one row otherwise than that of many.
            within = 1e-12 if name == "SureKernelClassifier" else 0.0
            want = view.sureness(score, answers)[i]
            assert sure[0] == pytest.approx(want, rel=within, abs=0), score
        assert alone.losses(alone.answers(), one.y)[0] == view.losses(answers, own.y)[i]
        if name in ROWS:
            want = view.novelty("deviations")[i]
            assert alone.novelty("deviations")[0] == pytest.approx(want, rel=within, abs=0)


@pytest.mark.parametrize("name", learners.ESTIMATORS)
def test_sure_answers_are_wrong_less_often(name):
    own, model = records(name, 300, seed=6), fitted(name)
    view = view_of(model, own.X, dict(own.about))
    answers = view.answers()
    loss = view.losses(answers, own.y)
    for score in view.names:
        surest = np.argsort(-view.sureness(score, answers))[:150]
        assert loss[surest].mean() < loss.mean(), score


@pytest.mark.parametrize("name", learners.ESTIMATORS)
@pytest.mark.parametrize(
    "ask",
    [
        lambda model, own: model.choose_abstention(own.X, own.y, rsik=0.1, **own.about),
        lambda model, own: model.choose_sets(own.X, own.y, cover=0.9, **own.about),
        lambda model, own: model.choose_novelty(own.X, niveau=0.9, **own.about),
        lambda model, own: model.novelty(own.X, p_valeu=True, **own.about),
    ],
)
def test_a_keyword_of_another_name_is_no_keyword(name, ask):
    """It was passed over once, and the default was used in its place."""
    with pytest.raises(TypeError, match=r"rsik|cover|niveau|p_valeu"):
        ask(fitted(name), records(name, 60, seed=5))


def test_only_rankers_take_groups():
    for name in set(learners.ESTIMATORS) - set(RANKERS):
        own = records(name, 10)
        with pytest.raises(TypeError, match=f"{name} must be given known keywords, got 'group'"):
            fitted(name).choose_sets(own.X, own.y, group=[10])
    own = records("SureRanker", 60)
    view = view_of(fitted("SureRanker"), own.X, {"qid": np.repeat(range(60), own.about["group"])})
    assert view.n == 60


def test_the_kinds_of_estimators_are_told_apart():
    assert len(ROWS) == 6
