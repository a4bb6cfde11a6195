"""Rankers in files: bit for bit, and no bytes that do harm."""

from __future__ import annotations

import io

import pandas
import pytest

from containers import change_settings, change_tensors
from ranked import candidates
from surelearn import FormatError, SureRanker, constraints, load, rules


def content(ranker):
    file = io.BytesIO()
    ranker.save(file)
    return file.getvalue()


@pytest.fixture
def saved(tmp_path):
    X, y, group = candidates()
    SureRanker(random_state=0).fit(X, y, group=group).save(tmp_path / "m.sure")
    return tmp_path / "m.sure"


@pytest.mark.parametrize("rule", sorted(rules.RULES))
@pytest.mark.parametrize("average", [False, True])
def test_a_ranker_comes_back_bit_for_bit_and_goes_on(rule, average):
    X, y, group = candidates()
    how = {"average": average, "right": "any", "constraints": constraints.Sequential(2)}
    ranker = SureRanker(rule, passes=2, random_state=0, **how).fit(X, y, group=group)
    ranker.partial_fit(X[:2], [0, 0], group=[2])
    back = load(io.BytesIO(content(ranker)))
    assert content(back) == content(ranker)
    assert back.coef_.tobytes() == ranker.coef_.tobytes()
    assert back.get_params() == ranker.get_params()
    assert back.n_skipped_ == 1
    assert back.n_features_in_ == 6
    for other in (ranker, back):
        other.partial_fit(X, y, group=group)
    assert content(back) == content(ranker)


def test_names_of_columns_come_back():
    X, y, group = candidates()
    frame = pandas.DataFrame(X, columns=["a", "b", "ü", "d", "e", "f"])
    back = load(io.BytesIO(content(SureRanker().fit(frame, y, group=group))))
    assert back.feature_names_in_.tolist() == list(frame.columns)
    assert back.predict(frame, group=group).shape == (60,)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s["layout"].update(intercept=True), "layout must be diagonal, without"),
        (lambda s: s["layout"].update(covariance="full"), "layout must be diagonal, without"),
        (lambda s: s["layout"].update(n_features=3), "features must ascend and lie within"),
        (lambda s: s["weights"].update(n_columns=2), "n_columns must be 1 for this model"),
        (lambda s: s["params"].update(right="some"), "right must be one of"),
        (lambda s: s.update(skipped=-1), "skipped"),
        (lambda s: s.pop("skipped"), "skipped"),
        (lambda s: s.update(projection="none"), "projection"),
        (lambda s: s["params"].update(dtype="float64"), "dtype"),
    ],
)
def test_damaged_settings_are_refused(saved, change, message):
    change_settings(saved, change)
    with pytest.raises(FormatError, match=message):
        load(saved)


def test_damaged_weights_are_refused(saved):
    change_tensors(saved, lambda tensors: tensors["cells"].__setitem__((0, 1), -1.0))
    with pytest.raises(FormatError, match="cells must hold finite means and positive variances"):
        load(saved)


def test_too_large_a_ranker_is_refused(saved):
    with pytest.raises(FormatError, match="max_bytes"):
        load(saved, max_bytes=10)


def test_parameters_that_do_not_fit_the_model_are_not_saved(tmp_path):
    X, y, group = candidates()
    ranker = SureRanker().fit(X, y, group=group).set_params(dtype="float64")
    with pytest.raises(ValueError, match="dtype must"):
        ranker.save(tmp_path / "m.sure")
    assert not (tmp_path / "m.sure").exists()
