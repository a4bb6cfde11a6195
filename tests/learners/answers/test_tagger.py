"""What a tagger says, to scikit-learn and from many threads too."""

from __future__ import annotations

import copy
import itertools
import pickle
import threading
import time
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from reference.chain import Paths
from reference.rules import FIRST_ORDER
from reference.tagger import Sentence, difference
from surelearn import SureTagger, rules
from tagged import (
    LABELS,
    PAIRED,
    as_kind,
    content,
    corpus,
    opened,
    tagger,
)

# ---------------------------------------------------------------- what it says


@pytest.mark.parametrize(
    "kind", [pd.Series, iter, lambda v: pd.Series(v, index=range(len(v), 0, -1))]
)
@pytest.mark.parametrize("inner", [list, pd.Series, np.array, iter])
def test_sequences_may_come_in_series_and_generators(kind, inner):
    X, y = corpus()
    wanted = tagger("variance").fit(X, y)
    given = [kind([inner(one) for one in both]) for both in (X, y)]
    found = tagger("variance").fit(*given)
    assert content(found) == content(wanted)
    assert found.predict(kind([inner(one) for one in X])) == wanted.predict(X)


def trained(rule="variance", **options):
    X, y = corpus()
    return tagger(rule, **{"passes": 2, "dtype": "float64", **options}).fit(X, y)


def test_predictions_are_the_best_paths():
    model = trained()
    unseen, _ = corpus(seed=3)
    for x, tags in zip(unseen, model.predict(unseen), strict=True):
        chain = model.chain(x)
        assert model.classes_[chain.best()].tolist() == tags
        assert Paths(chain.U, chain.A[0]).best() == tuple(chain.best())


@pytest.mark.parametrize("rule", ["variance", "perceptron", "arow"])
@pytest.mark.parametrize("templates", [None, PAIRED])
def test_marginals_are_those_of_all_paths(rule, templates):
    model = trained(rule, templates=templates)
    unseen, _ = corpus(seed=3)
    for x, tokens in zip(unseen, model.predict_marginals(unseen), strict=True):
        p = np.array([list(token.values()) for token in tokens])
        assert [list(token) for token in tokens] == [LABELS] * len(x)
        np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
        chain = model.chain(x)
        steps = chain.A if len(chain.A) > 1 else np.repeat(chain.A, len(x) - 1, axis=0)
        np.testing.assert_allclose(p, Paths(chain.U, steps).marginals(), atol=1e-9)


def all_paths(model, x):
    """Every path of a sequence with its probability, most probable first."""
    chain, tau = model.chain(x), getattr(model, "temperature_", 1.0)
    paths = [list(path) for path in itertools.product(range(len(model.classes_)), repeat=len(x))]
    scores = np.array([chain.score(path) for path in paths]) / tau
    p = np.exp(scores - scores.max())
    order = np.argsort(-scores, kind="stable")
    return [(model.classes_[paths[i]].tolist(), p[i] / p.sum()) for i in order]


@pytest.fixture(scope="module", params=[None, PAIRED], ids=["steps", "pairs"])
def calibrated(request):
    model = trained("arow", templates=request.param)
    return model.calibrate(*noisy(seed=5))


def test_log_probabilities_are_those_of_all_paths(calibrated):
    X, y = corpus(n=4, seed=3)
    found = calibrated.log_probability(X, y)
    wanted = [
        np.log({tuple(path): p for path, p in all_paths(calibrated, x)}[tuple(tags)])
        for x, tags in zip(X, y, strict=True)
    ]
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_the_k_best_are_those_of_all_paths(calibrated):
    X, _ = corpus(n=4, seed=3)
    for x, paths in zip(X, calibrated.k_best(X, 7), strict=True):
        assert paths == [path for path, _ in all_paths(calibrated, x)[:7]]
    assert [paths[0] for paths in calibrated.k_best(X, 2)] == calibrated.predict(X)


def test_all_paths_are_given_where_there_are_fewer_than_k(calibrated):
    assert len(calibrated.k_best([["the"]], 100)[0]) == len(LABELS)


def test_samples_have_the_probabilities_of_all_paths(calibrated):
    X, n = [["a", "run"], ["old", "barks"]], 20_000
    for x, drawn in zip(X, calibrated.sample(X, n, random_state=0), strict=True):
        counts = Counter(map(tuple, drawn))
        for path, p in all_paths(calibrated, x):
            assert abs(counts[tuple(path)] / n - p) < 5 * np.sqrt(p * (1 - p) / n) + 1 / n


def test_samples_are_those_of_the_random_state(calibrated):
    X, _ = corpus(n=5, seed=3)
    one, same, other = (calibrated.sample(X, 9, random_state=seed) for seed in (1, 1, 2))
    assert one == same != other
    again = np.random.default_rng(1)
    assert [calibrated.sample([x], 9, random_state=again)[0] for x in X] == one


def test_paths_of_no_tokens_are_certain(calibrated):
    assert calibrated.log_probability([[], []], [[], []]).tolist() == [0.0, 0.0]
    assert calibrated.k_best([[]], 3) == [[[]]]
    assert calibrated.sample([[]], 2) == [[[], []]]
    assert calibrated.log_probability([], []).shape == (0,)


def test_paths_refuse_what_they_cannot_use(calibrated):
    X = [["the", "dog"]]
    with pytest.raises(ValueError, match=r"y must hold labels that the model knows .*'Q'"):
        calibrated.log_probability(X, [["D", "Q"]])
    with pytest.raises(ValueError, match=r"y\[0\]"):
        calibrated.log_probability(X, [["D"]])
    with pytest.raises(ValueError, match=r"k must be .*got 0"):
        calibrated.k_best(X, 0)
    with pytest.raises(ValueError, match=r"n_samples must be .*got -1"):
        calibrated.sample(X, -1)
    for ask in (lambda m: m.k_best(X, 1), lambda m: m.sample(X)):
        with pytest.raises(NotFittedError, match="not fitted"):
            ask(SureTagger())


@pytest.mark.parametrize("size", [1e3, 1e10, 1e15, 1e25])
def test_marginals_sum_to_one_however_large_the_scores(size):
    """Scores so large that a double cannot tell two sums of them apart from each other."""
    rng = np.random.default_rng(0)
    X = [[{"x": size * rng.normal(), "y": 1.0} for _ in range(20)] for _ in range(6)]
    y = [rng.choice(["a", "b", "c"], 20).tolist() for _ in range(6)]
    model = tagger("perceptron", dtype="float64").fit(X, y)
    for tokens in model.predict_marginals(X):
        p = np.array([list(token.values()) for token in tokens])
        np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
    chain = model.chain(X[0])
    np.testing.assert_allclose(chain.pair_marginals().sum(axis=(1, 2)), 1.0, atol=1e-12)


def log_loss(model, X, y):
    p = [token[tag] for tokens, tags in zip(model.predict_marginals(X), y, strict=True)
         for token, tag in zip(tokens, tags, strict=True)]  # fmt: skip
    return -np.mean(np.log(p))


def noisy(seed):
    """Sentences whose labels are wrong now and then, so that no model can be sure."""
    rng = np.random.default_rng(seed)
    X, y = corpus(60, seed)
    return X, [[tag if rng.random() < 0.85 else str(rng.choice(LABELS)) for tag in t] for t in y]


@pytest.mark.parametrize("rule", ["variance", "perceptron", "pa"])
def test_calibration_lowers_the_loss_of_others(rule):
    model = SureTagger(rule, random_state=0).fit(*noisy(0))
    X, y = noisy(1)
    before = log_loss(model, X, y), model.predict(X)
    assert not hasattr(model, "temperature_")
    assert model.calibrate(X, y) is model
    assert 1e-3 < model.temperature_ < 1100
    assert log_loss(model, X, y) < before[0]
    assert log_loss(model, *noisy(2)) < before[0] + 0.05
    assert model.predict(X) == before[1]
    best = log_loss(model, X, y)
    for factor in (0.9, 1.1):
        other = copy.deepcopy(model)
        other.temperature_ *= factor
        assert log_loss(other, X, y) >= best
    again = opened(content(model))
    assert again.temperature_ == model.temperature_
    assert again.predict_marginals(X) == model.predict_marginals(X)
    model.partial_fit(X, y)
    assert hasattr(model, "temperature_")
    model.fit(X, y)
    assert not hasattr(model, "temperature_")


def test_calibration_refuses_what_it_cannot_use():
    X, y = corpus()
    model = tagger().fit(X, y)
    with pytest.raises(ValueError, match=r"labels that the model knows .*got 'Q'"):
        model.calibrate([["the"]], [["Q"]])
    with pytest.raises(ValueError, match=r"y\[0\] must have 1 labels"):
        model.calibrate([["the"]], [["D", "N"]])
    for nothing in ([], [[]]):
        with pytest.raises(ValueError, match="X must have at least one token"):
            model.calibrate(nothing, nothing)
    with pytest.raises(NotFittedError, match="fit"):
        tagger().calibrate(X, y)
    assert not hasattr(model, "temperature_")


def cells(model, what):
    """Weights by the names that the reference has for them."""
    tokens, rest = {"mean": ("coef_", ""), "sigma": ("sigma_", "sigma_")}[what]
    found = {
        ("emission", name, label): value
        for label, row in enumerate(getattr(model, tokens))
        for name, value in zip(model.features_.names, row, strict=True)
    }
    for part in ("start", "end"):
        for label, value in enumerate(getattr(model, f"{part}_{rest}")):
            found[part, label] = value
    for (i, j), value in np.ndenumerate(getattr(model, f"transitions_{rest}")):
        found["transition", None, i, j] = value
    return found


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("rule", ["variance", "arow"])
def test_confidence_is_that_of_the_best_path_without_the_tag(rule, average):
    model = trained(rule, average=average, templates=["w[0]", "w[-1]"])
    mean, sigma = cells(model, "mean"), cells(model, "sigma")
    unseen, _ = corpus(8, seed=4)
    for x, found in zip(unseen, model.confidence(unseen), strict=True):
        rows = model.features_.transform([x]).X
        names = model.features_.names
        tokens = [{names[j]: 1.0 for j in rows[[t]].indices} for t in range(len(x))]
        chain = model.chain(x)
        paths = Paths(chain.U, np.repeat(chain.A, len(x) - 1, axis=0))
        best = paths.best()
        for t, got in enumerate(found):
            ranked = sorted(
                (p for p in np.ndindex(*[4] * len(x)) if p[t] != best[t]),
                key=lambda p: -chain.score(p),
            )
            g = difference(Sentence(tokens), best, ranked[0])
            m = sum(mean[cell] * value for cell, value in g.items())
            v = sum(sigma[cell] * value**2 for cell, value in g.items())
            assert got == pytest.approx(ndtr(m / np.sqrt(v)), abs=1e-9)
            assert 0.5 <= got <= 1.0


@given(seed=st.integers(0, 10_000), rule=st.sampled_from(["variance", "arow", "stdev"]))
def test_confidence_is_between_a_half_and_one(seed, rule):
    """Ties too, where rounding might let a rival lead."""
    rng = np.random.default_rng(seed)
    draw = [[{f: float(rng.choice([0.1, 0.3, 0.7])) for f in "abc"} for _ in range(n)]
            for n in rng.integers(1, 6, 5)]  # fmt: skip
    y = [rng.choice(["x", "y", "z"], len(tokens)).tolist() for tokens in draw]
    model = tagger(rule).partial_fit(draw, y, classes=["x", "y", "z"])
    values = np.concatenate([np.array(tokens) for tokens in model.confidence(draw)])
    assert ((values >= 0.5) & (values <= 1.0)).all()


def test_confidence_takes_time_in_proportion_to_the_length():
    X, y = corpus(200)
    model = SureTagger(random_state=0, n_jobs=1).fit(X, y)
    book = [[word for x in X for word in x] * 20]

    def seconds(ask):
        begin = time.process_time()
        ask(book)
        return time.process_time() - begin

    assert seconds(model.confidence) < 40 * seconds(model.predict)


def test_surer_of_what_was_seen_often():
    X, y = corpus(100)
    model = SureTagger(random_state=0).fit(X, y)
    (often,), (never,) = model.confidence([["the"]]), model.confidence([["xyzzy"]])
    assert often[0] > never[0]


@pytest.mark.parametrize("rule", sorted(FIRST_ORDER))
def test_first_order_rules_have_no_variances(rule):
    for model in (tagger(rule), trained(rule)):
        assert not hasattr(model, "confidence")
        with pytest.raises(AttributeError, match="confidence") as refused:
            model.confidence([["the"]])
        assert "rule must keep variances" in str(refused.value.__cause__)
    for name in ("sigma_", "transitions_sigma_", "start_sigma_", "end_sigma_"):
        with pytest.raises(AttributeError, match="rule must keep variances"):
            getattr(model, name)
    assert model.predict_marginals([["the"]])


def test_answers_need_a_fitted_model():
    model = tagger()
    for ask in (model.predict, model.predict_marginals, model.confidence, model.chain):
        with pytest.raises(NotFittedError, match="fit"):
            ask([["the"]])
    for name in ("coef_", "sigma_", "start_", "features_", "transitions_", "mistakes_"):
        assert not hasattr(model, name)


def test_the_score_is_the_share_of_right_tokens():
    model = trained()
    X, y = [["the", "dog", "barks"], ["a"]], [["D", "N", "N"], ["D"]]
    assert model.score(X, y) == 0.75
    assert model.score(X, y, sample_weight=[1.0, 3.0]) == pytest.approx(5 / 6)
    assert model.score(X, y, sample_weight=[0.0, 3.0]) == 1.0


# ------------------------------------------------------------------ scikit-learn


def test_parameters_are_those_of_the_constructor():
    model = SureTagger(rules.Stdev(phi=0.5), templates=["w[0]"], passes=3)
    params = model.get_params()
    assert params["rule__phi"] == 0.5
    assert SureTagger(**model.get_params(deep=False)).get_params() == params
    other = clone(model).set_params(rule__phi=2.0)
    assert (other.rule, model.rule) == (rules.Stdev(phi=2.0), rules.Stdev(phi=0.5))
    assert "templates=['w[0]']" in repr(model)
    with pytest.raises(ValueError, match="Invalid parameter 'covariance'"):
        model.set_params(covariance="full")


def test_searches_over_sequences_work():
    X, y = corpus(24)
    grid = {"rule": [rules.Variance(phi=1.0), rules.AROW(1.0), "perceptron"], "passes": [1, 2]}
    search = GridSearchCV(SureTagger(random_state=0), grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
    assert search.best_estimator_.predict(X[:1]) == [y[0]]
    inner = GridSearchCV(SureTagger(rules.Variance(), random_state=0), {"rule__phi": [0.1, 1.0]})
    assert inner.fit(X, y).best_params_["rule__phi"] in (0.1, 1.0)
    scores = cross_val_score(SureTagger(random_state=0), X, y, cv=4)
    assert scores.shape == (4,)
    assert scores.min() > 0.9


def test_it_is_the_last_step_of_a_pipeline():
    X, y = corpus()
    pipeline = make_pipeline(
        FunctionTransformer(lambda X: as_kind(X, "dicts")), SureTagger(random_state=0)
    )
    assert pipeline.fit(X, y).predict(X) == y
    assert pipeline.score(X, y) == 1.0


# ----------------------------------------------------------------------- threads


def test_predictions_during_learning_see_whole_blocks():
    """Fifty features always move together, so a mixture would show as unequal scores."""
    names = [f"f{i}" for i in range(50)]
    n = 3000
    X = [[names], [names]] * (n // 2)
    y = [["x"], ["z"]] * (n // 2)
    model = tagger("pa1", average=False).partial_fit(X[:2], y[:2])
    done, seen, unequal = threading.Event(), [], []
    errors = []

    def look():
        try:
            while not done.is_set():
                both = model.predict_marginals([[names[:25]], [names[25:]]])
                seen.append(model.chain([names]).best())
                if both[0] != both[1]:
                    unequal.append(both)
        except Exception as error:
            errors.append(error)

    readers = [threading.Thread(target=look) for _ in range(3)]
    for reader in readers:
        reader.start()
    for i in range(20):
        model.partial_fit(X, y)
        model.partial_fit([[[f"new{i}-{j}" for j in range(200)]]], [[f"label{i % 7}"]])
    done.set()
    for reader in readers:
        reader.join()
    assert not errors
    assert not unequal
    assert len(seen) > 5
    assert model.features_.n_features == 50 + 20 * 200


@pytest.mark.parametrize("take", [copy.deepcopy, pickle.dumps, content], ids=lambda f: f.__name__)
def test_copies_during_learning_are_of_one_moment(take):
    """Features grow and labels come while copies are made: each copy is a working model."""
    X, y = corpus()
    model = tagger(templates=PAIRED).partial_fit(X, y)
    errors, done = [], threading.Event()

    def learn():
        try:
            for i in range(60):
                words = [f"word{i}-{j}" for j in range(40)]
                model.partial_fit([words], [[f"L{i // 20}"] * len(words)])
        except Exception as error:
            errors.append(error)
        finally:
            done.set()

    learner = threading.Thread(target=learn)
    learner.start()
    copies = [take(model)]
    while not done.is_set():
        copies.append(take(model))
    learner.join()
    assert not errors
    for taken in copies:
        other = taken
        if take is pickle.dumps:
            other = pickle.loads(taken)
        elif take is content:
            other = opened(taken)
        assert other.coef_.shape == (len(other.classes_), other.features_.n_features)
        assert len(other.predict(X)) == len(X)
        other.partial_fit([["one", "more"]], [["N", "V"]])


def test_one_sentence_does_not_make_a_tagger_certain():
    X, y = [["the", "dog"], ["a", "cat"]], [["D", "N"], ["D", "N"]]
    model = SureTagger(passes=1, random_state=0).fit(X, y).calibrate([["the", "cat"]], [["D", "N"]])
    assert model.temperature_ > 0.1
    (((marginals,),)) = model.predict_marginals([["zebra"]])
    assert max(marginals.values()) < 0.9
