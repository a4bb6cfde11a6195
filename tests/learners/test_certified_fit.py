"""`fit(risk=)` of every learner: a simple random sample certifies, and is never learnt."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
import pandas
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from kept_back import (
    RANKERS,
    ROWS,
    STRUCTURES,
    Batch,
    decided,
    fitted,
    groups,
    loaded,
    make,
    plain,
    records,
    rows,
    saved,
)
from labelled import data as label_data
from labelled import lists
from surelearn import (
    SoftmaxClassifier,
    SureClassifier,
    SureRanker,
    SureTagger,
    SureTextClassifier,
    learners,
)
from surelearn.learners.deciding import decisions_of
from surelearn.learners.deciding.abstention import NotCertified

RISK, N = 0.3, 400
RULED = [name for name in learners.ESTIMATORS if "rule" in make(name).get_params()]


@pytest.fixture
def parts(monkeypatch):
    """The numbers of the records that certify and of those that are learnt, at the last `fit`."""
    from surelearn.learners.deciding import keeping

    found = []
    whole = keeping.Wanted.parts

    def told(self, *given):
        found[:] = whole(self, *given)
        return tuple(found)

    monkeypatch.setattr(keeping.Wanted, "parts", told)
    return found


def answers(model, own):
    return plain(model.predict(own.X, **own.about))


def fit(model, own, **how):
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*without a promise")
        return model.fit(own.X, own.y, **own.about, **how)


@pytest.mark.parametrize("name", learners.ESTIMATORS)
def test_it_is_a_fit_on_the_rest_and_a_choice_by_the_sample(name, parts):
    own, new = records(name, N, seed=4), records(name, 50, seed=5)
    model = fit(make(name), own, risk=RISK)
    kept, rest = parts
    assert len(kept) == N // 5
    assert sorted([*kept, *rest]) == list(range(N))
    sample, others = own.take(kept), own.take(rest)
    want = make(name).fit(others.X, others.y, **others.about)
    assert answers(model, new) == answers(want, new)
    if hasattr(want, "predict_proba"):
        found = model.predict_proba(new.X, **new.about)
        assert plain(found) == plain(want.predict_proba(new.X, **new.about))
    want.choose_abstention(sample.X, sample.y, risk=RISK, **sample.about)
    want.choose_sets(sample.X, sample.y, **sample.about)
    if name in ROWS:
        want.choose_novelty(sample.X)
        model.choose_novelty(sample.X)
    assert decided(model, new) == decided(want, new)
    if name != "SureTableClassifier":  # rows as dicts meet words in another order than columns
        assert saved(model) == saved(want)


@pytest.mark.parametrize("name", learners.ESTIMATORS)
def test_the_seed_repeats_the_sample(name, parts):
    own = records(name, N, seed=4)
    model = fit(make(name), own, risk=RISK)
    first = parts[0].tolist()
    again = fit(make(name), own, risk=RISK)
    if "random_state" not in model.get_params():
        return  # without a seed, the sample is another one each time
    assert parts[0].tolist() == first
    assert saved(model) == saved(again)
    fit(make(name).set_params(random_state=1), own, risk=0.4)
    assert parts[0].tolist() != first


def test_the_sample_is_simple_and_has_all_classes(parts):
    """Each row is as likely to be in it as any other, also the only ones of rare classes."""
    own = rows(300, 1)
    y = own.y.copy()
    y[:2] = "rare"
    drawn = Counter()
    for seed in range(200):
        model = SureClassifier(passes=1, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(own.X, y, risk=0.5, calibrate=False)
        drawn.update(parts[0].tolist())
    times = np.array([drawn[i] for i in range(300)])
    assert times.sum() == 200 * 60
    # Each is binomial with mean 40 and deviation 5.7.
    assert 40 - 5 * 5.7 < times.min() <= times.max() < 40 + 5 * 5.7
    assert times.std() == pytest.approx(5.7, rel=0.2)
    assert times[0] > 0
    assert times[1] > 0


def test_a_class_of_the_sample_alone_is_wrong(parts):
    own = rows(300, 1)
    fit(SureClassifier(random_state=0), own, risk=0.5)
    y = own.y.copy()
    y[parts[0][:5]] = "only here"
    model = fit(SureClassifier(random_state=0), Batch(own.X, y), risk=0.5)
    assert "only here" not in model.classes_


@pytest.mark.parametrize("name", [*ROWS, "SureTagger", "SureRanker", "SureGraphClassifier"])
def test_records_of_weight_zero_are_in_no_part(name, parts):
    own = records(name, N, seed=4)
    weight = np.where(np.arange(N) % 4 == 1, 0.0, 2.0)
    model = fit(make(name), own, risk=RISK, sample_weight=weight)
    kept, rest = parts
    assert sorted([*kept, *rest]) == np.flatnonzero(weight).tolist()
    assert len(kept) == 60
    others = own.take(rest)
    want = make(name).fit(others.X, others.y, sample_weight=weight[rest], **others.about)
    new = records(name, 30, seed=5)
    assert answers(model, new) == answers(want, new)


def test_no_more_than_needed_for_many_rows_but_always_what_is_needed(parts, monkeypatch):
    from surelearn.learners.deciding import keeping

    own = rows(1000, 1)
    monkeypatch.setattr(keeping, "_MOST", 100)
    fit(SureClassifier(random_state=0), own, risk=RISK)
    assert len(parts[0]) == 100
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        SureClassifier(random_state=0).fit(own.X, own.y, risk=0.01)
    assert len(parts[0]) == 307  # four thirds of 230, although that is more than the most


@pytest.mark.parametrize("name", learners.ESTIMATORS)
def test_too_few_records_are_refused_before_anything_is_learnt(name):
    own, model = records(name, 30, seed=4), fitted(name)
    before = saved(model)
    with pytest.raises(ValueError, match=r"X must have at least \d+ \w+s to learn from and to sho"):
        fit(model, own, risk=0.05)
    assert saved(model) == before


@pytest.mark.parametrize("name", learners.ESTIMATORS)
def test_a_risk_out_of_reach_is_a_warning_and_the_model_is_kept(name):
    own, new = records(name, N, seed=4), records(name, 20, seed=5)
    random = np.random.default_rng(0)
    if name in STRUCTURES:
        y = [random.choice(["p", "q"], len(one)).tolist() for one in own.y]
    else:
        y = random.permutation(own.y)
    model = make(name)
    with pytest.warns(UserWarning, match=r"risk=0.1 must .* The model is kept, without a promise"):
        model.fit(own.X, y, **own.about, risk=0.1)
    assert len(model.predict(new.X, **new.about)) == new.n_records
    with pytest.raises(ValueError, match="Call choose_abstention"):
        model.predict(new.X, abstain=True, **new.about)
    assert not hasattr(model, "coverage_")
    assert model.predict_set(new.X, coverage=0.8, **new.about)


@pytest.mark.parametrize("name", learners.ESTIMATORS)
@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ({"risk": 0.3, "delta": 0}, ValueError, r"delta must be in \(0, 1\), got 0"),
        ({"risk": 0.3, "delta": "x"}, TypeError, "delta must be a number, got 'x'"),
        ({"risk": 1.5}, ValueError, r"risk must be in \(0, 1\), got 1.5"),
        ({"risk": "x"}, TypeError, "risk must be a number, got 'x'"),
        ({"risk": {}}, ValueError, "risk must name at least one label"),
    ],
)
def test_bad_promises_are_refused_before_anything_is_learnt(name, how, error, message):
    own, model = records(name, 40, seed=4), make(name)
    with pytest.raises(error, match=message):
        model.fit(own.X, own.y, **own.about, **how)
    with pytest.raises(NotFittedError, match="not fitted"):
        model.predict(own.X, **own.about)


@pytest.mark.parametrize("name", ROWS)
def test_novel_without_risk_is_no_promise(name):
    own = records(name, 40)
    with pytest.raises((TypeError, ValueError), match=r"novel must be None|risk must be"):
        make(name).fit(own.X, own.y, novel=0.1)


@pytest.mark.parametrize("name", [n for n in learners.ESTIMATORS if n not in RANKERS])
def test_X_and_y_of_different_lengths_are_refused(name):
    """Rows of X beyond those of y were passed over once."""
    own, model = records(name, N, seed=4), make(name)
    for X, y in ((own.X, own.y[:-9]), (own.X[:-9], own.y), (own.X, None)):
        with pytest.raises(ValueError, match=r"y must (be given|have as many entries)"):
            model.fit(X, y, risk=RISK)
    assert not hasattr(model, "model_")


def test_a_risk_of_a_label_that_is_not_there_is_a_mistake():
    own = rows(N, 1)
    with pytest.raises(
        ValueError, match="risk must name known labels, 'c0', 'c1', 'c2', got 'zebra'"
    ):
        SureClassifier(random_state=0).fit(own.X, own.y, risk={"zebra": 0.3})


@pytest.mark.parametrize("rule", ["pa", "perceptron"])
@pytest.mark.parametrize("name", RULED)
def test_first_order_rules_are_never_sure(name, rule):
    own = records(name, 100)
    with pytest.raises(ValueError, match=r"risk needs a rule that keeps variances, got '"):
        make(name, rule=rule).fit(own.X, own.y, **own.about, risk=0.5)


def test_another_rule_than_that_of_the_fitted_model_counts():
    own = rows(N, 1)
    model = SureClassifier("pa", random_state=0).fit(own.X, own.y)
    model.set_params(rule="arow").fit(own.X, own.y, risk=RISK)
    assert model.coverage_ > 0
    with pytest.raises(ValueError, match="risk needs a rule that keeps variances"):
        model.set_params(rule="pa").fit(own.X, own.y, risk=RISK)
    assert model.set_params(rule="arow").coverage_ > 0


def test_risks_by_label_and_novelty_of_a_fit():
    own = rows(3000, 1)
    model = SureClassifier(random_state=0)
    model.fit(own.X, own.y, risk={"c0": 0.3, "c1": 0.35}, delta=0.2, novel=0.05)
    assert set(model.coverage_) == {"c0", "c1"}
    rule = decisions_of(model).abstention
    assert (rule.delta, rule.novel) == (0.2, 0.05)
    assert len(rule.known.values) >= 19
    new = rows(50, 2)
    assert plain(loaded(saved(model)).predict(new.X, abstain=True)) == plain(
        model.predict(new.X, abstain=True)
    )
    assert model.predict(new.X, novel=0.05).shape == (50,)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, lists])
def test_many_labels_in_every_form(form):
    X, Y = label_data(900)
    model = SureClassifier(random_state=0).fit(X, form(Y), risk=0.6)
    assert 0 < model.coverage_ <= 1
    found = model.predict(X, abstain=True)
    assert len(found) == 900


@pytest.mark.parametrize("form", ["frame", "sparse", "list", "series"])
def test_every_form_of_rows(form):
    own = rows(N, 1, noise=0.3)
    X, y = {
        "frame": (pandas.DataFrame(own.X, columns=list("abcd")), own.y),
        "sparse": (sparse.csr_matrix(own.X), own.y),
        "list": (own.X.tolist(), own.y.tolist()),
        "series": (own.X, pandas.Series(own.y, index=range(7, 7 + N))),
    }[form]
    for model in (SureClassifier(random_state=0), SoftmaxClassifier()):
        assert model.fit(X, y, risk=RISK).coverage_ > 0


def test_texts_of_a_series_and_groups_by_id():
    own = records("SureTextClassifier", N, seed=4)
    series = pandas.Series(own.X, index=range(5, 5 + N))
    model = SureTextClassifier(random_state=0).fit(series, own.y, risk=RISK)
    again = SureTextClassifier(random_state=0).fit(own.X, own.y, risk=RISK)
    assert saved(model) == saved(again)
    own = groups(N, 4)
    qid = np.repeat(np.arange(N), own.about["group"])
    model = SureRanker(random_state=0).fit(own.X, own.y, qid=qid, risk=RISK)
    again = SureRanker(random_state=0).fit(own.X, own.y, **own.about, risk=RISK)
    assert saved(model) == saved(again)
    with pytest.raises(ValueError, match="cost must be None with risk"):
        SureRanker().fit(own.X, None, qid=qid, cost=1 - own.y, risk=RISK)


def test_groups_and_sentences_may_be_empty():
    own = groups(N, 4)
    sizes = [0, *own.about["group"], 0]
    model = SureRanker(random_state=0).fit(own.X, own.y, group=sizes, risk=RISK)
    assert model.coverage_ > 0
    own = records("SureTagger", N, seed=4)
    tagger = SureTagger(random_state=0).fit([[], *own.X], [[], *own.y], risk=RISK)
    assert tagger.predict([[]], abstain=True) == [[]]


def test_only_what_is_not_certified_is_a_warning():
    assert issubclass(NotCertified, ValueError)
    own = rows(N, 1)
    with pytest.raises(TypeError, match="keyword"):
        SureClassifier().fit(own.X, own.y, risk=RISK, rsik=0.1)


@pytest.mark.parametrize("kind", [sparse.coo_matrix, sparse.coo_array, sparse.bsr_matrix])
def test_sparse_rows_in_any_format_are_cut(kind):
    own = records("SureClassifier", N, seed=4)
    X = sparse.csr_matrix(np.asarray(own.X))
    model = make("SureClassifier").fit(kind(X), own.y, risk=RISK)
    other = make("SureClassifier").fit(X, own.y, risk=RISK)
    np.testing.assert_array_equal(model.coef_, other.coef_)
    assert model.coverage_ == other.coverage_


def test_texts_and_labels_may_be_iterated_once():
    texts = [f"good film {i}" if i % 2 else f"dull film {i}" for i in range(N)]
    labels = {i: "good" if i % 2 else "bad" for i in range(N)}
    model = SureTextClassifier(random_state=0)
    model.fit((text for text in texts), labels.values(), risk=RISK)
    other = SureTextClassifier(random_state=0).fit(texts, list(labels.values()), risk=RISK)
    assert model.coverage_ == other.coverage_
    np.testing.assert_array_equal(model.coef_, other.coef_)


def test_too_few_rows_for_novelty_are_refused_before_training():
    own = records("SureClassifier", 600, seed=4)
    model = make("SureClassifier")
    with pytest.raises(ValueError, match=r"X must have at least 1,320 rows .*, got 600"):
        model.fit(own.X, own.y, risk=RISK, novel=0.01)
    with pytest.raises(ValueError, match=r"novel=0\.0001 needs 9,999 records beside"):
        model.fit(own.X, own.y, risk=RISK, novel=0.0001)
    assert not hasattr(model, "classes_")
