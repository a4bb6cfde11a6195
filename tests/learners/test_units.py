from __future__ import annotations

import time
import warnings

import numpy as np
import pandas
import polars
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surelearn import SureClassifier, SureTextClassifier, tune
from surelearn.learners.row_input import warn_of_units

pytestmark = pytest.mark.filterwarnings("error")

UNLIKE, LARGE, SMALL = "10,000 apart", "above 100 only", "below 0.01 only"


def normal(*scales, n=60, dtype=np.float64):
    """Rows of centred numbers with these deviations."""
    return (np.random.default_rng(0).normal(size=(n, len(scales))) * scales).astype(dtype)


def labels(X):
    return X[:, 0] > np.median(X[:, 0])


def said(X):
    """The warning about X, if there is one."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_units(X)
    return str(caught[0].message) if caught else ""


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        pytest.param(normal(1, 300), UNLIKE, id="unlike"),
        pytest.param(normal(1, 30), "", id="not so unlike"),
        pytest.param(normal(20, 40), LARGE, id="large"),
        pytest.param(normal(20), LARGE, id="one large column"),
        pytest.param(normal(1, 40), "", id="one of two is large"),
        pytest.param(normal(0.01, 0.03), SMALL, id="small"),
        pytest.param(normal(1, 1e-9), UNLIKE, id="tiny beside 1"),
        pytest.param(normal(1e200, 1e200), LARGE, id="squares overflow"),
        pytest.param(normal(1e-200, 1e-200), SMALL, id="squares underflow"),
        pytest.param(normal(1, 1e30, dtype=np.float32), UNLIKE, id="squares overflow a float32"),
    ],
)
def test_what_is_told(X, expected):
    assert expected in said(X)
    assert bool(said(X)) == bool(expected)


def test_constant_columns_do_not_count():
    X = normal(1, 1)
    assert not said(np.hstack([X, np.full((60, 1), 1e6), np.zeros((60, 1))]))
    assert not said(np.full((60, 2), 1e6))


def test_one_row_has_no_scale():
    assert not said(np.array([[1.0, 1e6]]))


def test_rare_ones_need_no_scaling():
    X = (np.random.default_rng(0).random((30_000, 3)) < [0.5, 0.5, 2e-4]).astype(float)
    assert X.mean(axis=0).min() < 1e-3
    assert not said(X)


def test_a_large_table_is_looked_at_in_part():
    X = np.broadcast_to(normal(1, 300), (100_000, 60, 2)).reshape(-1, 2)
    begin = time.perf_counter()
    assert UNLIKE in said(X)
    assert time.perf_counter() - begin < 1.0  # a look at all of it takes several


HEIGHT = np.random.default_rng(0).normal(170.0, 10.0, size=(300, 1))


@pytest.mark.parametrize("n_shards", [1, 2])
@pytest.mark.parametrize("made", [np.asarray, np.float32, pandas.DataFrame, polars.DataFrame])
def test_fit_warns_about_numbers_in_units_of_their_own(made, n_shards):
    clf = SureClassifier(random_state=0, n_shards=n_shards, scale=False)
    X = HEIGHT if made is not polars.DataFrame else {"height": HEIGHT[:, 0]}
    with pytest.warns(UserWarning, match=r"above 100 only.*make_pipeline\(StandardScaler\(\)"):
        clf.fit(made(X), HEIGHT[:, 0] > 170)


def test_the_remedy_works():
    y = HEIGHT[:, 0] > 170
    clf = make_pipeline(StandardScaler(), SureClassifier(random_state=0, scale=False)).fit(
        HEIGHT, y
    )
    assert clf.score(HEIGHT, y) > 0.99


def test_first_call_of_partial_fit_warns():
    X = normal(1, 300)
    clf = SureClassifier(scale=False)
    with pytest.warns(UserWarning, match=UNLIKE):
        clf.partial_fit(X, labels(X))
    clf.partial_fit(X, labels(X))  # a warning here would be an error


def test_tune_warns():
    X = normal(1, 300)
    with pytest.warns(UserWarning, match=UNLIKE):
        tune(
            SureClassifier(passes=1, random_state=0, scale=False),
            X,
            labels(X),
            {"average": [False, True]},
        )


def test_fit_stream_warns_in_words_for_a_source():
    X = normal(1, 300)
    frame = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1], "label": labels(X)})
    clf = SureClassifier(random_state=0, scale=False)
    with pytest.warns(UserWarning, match=f"{UNLIKE}.*columns of the source") as caught:
        clf.fit_stream(frame, features=["a", "b"])
    assert len(caught) == 1
    clf.fit_stream(frame, resume=True)  # nothing more is said


def test_sparse_rows_dicts_and_texts_are_learnt_in_silence():
    X = normal(1, 300)
    y = labels(X)
    SureClassifier(scale=False).fit(sparse.csr_array(X), y)
    SureClassifier(scale=False).partial_fit([{"a": a, "b": b} for a, b in X.tolist()], y)
    SureTextClassifier().fit(["good " * 300, "bad"] * 3, [1, 0] * 3)


def test_warning_as_an_error_leaves_the_model():
    X = normal(1, 1)
    clf = SureClassifier(random_state=0, scale=False).fit(X, labels(X))
    before = clf.coef_.copy()
    with pytest.raises(UserWarning, match=LARGE):
        clf.fit(100 * X, labels(X))
    assert (clf.coef_ == before).all()
