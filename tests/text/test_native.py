"""The vectorizer without scikit-learn beside the public one, which is scikit-learn's as well."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction import FeatureHasher

from surelearn import _core
from surelearn.parameters import untrained
from surelearn.text import HashingVectorizer, NativeVectorizer

TEXTS = ["To be, or not to be", "Ünïcode CAFÉ naïve", "", "東京 the the"]
OPTIONS: list[dict[str, Any]] = [
    {},
    {"analyzer": "char", "ngram_range": (2, 3)},
    {"analyzer": "char_wb", "ngram_range": (1, 4), "norm": "l1"},
    {"lowercase": False, "n_features": 1000},
    {"strip_accents": "unicode"},
    {"stop_words": "english"},
    {"stop_words": ["be"], "log_counts": True},
    {"token_pattern": r"\w", "dtype": np.float32},
    {"analyzer": str.split, "binary": True},
    {"preprocessor": str.upper},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_rows_are_those_of_the_public_class(options: dict[str, Any]) -> None:
    found, wanted = (
        sparse.csr_array(cls(**options).transform(TEXTS))
        for cls in (NativeVectorizer, HashingVectorizer)
    )
    assert found.dtype == wanted.dtype
    assert found.indptr.tolist() == wanted.indptr.tolist()
    assert found.indices.tolist() == wanted.indices.tolist()
    assert found.data.tobytes() == wanted.data.tobytes()


@pytest.mark.parametrize(
    "wrong",
    [
        {"norm": "l3"},
        {"analyzer": "words"},
        {"ngram_range": (2, 1)},
        {"ngram_range": [1, 2]},
        {"n_features": 0},
        {"lowercase": 1.5},
        {"idf": "yes"},
        {"stop_words": "none"},
        {"n_jobs": "two"},
    ],
)
def test_wrong_settings_are_refused_alike(wrong: dict[str, Any]) -> None:
    said = []
    for cls in (NativeVectorizer, HashingVectorizer):
        with pytest.raises(ValueError, match=next(iter(wrong))) as caught:
            cls(**wrong).check_settings([])
        said.append((type(caught.value), str(caught.value)))
    assert said[0] == said[1]


@pytest.mark.parametrize("n_features", [1, 7, 1000, 2**18, 2**20])
def test_a_name_has_the_feature_that_scikit_learn_gives_it(n_features: int) -> None:
    names = ["", "a", "naïve", "東京", "x" * 15, "x" * 16, "x" * 33]
    hashed = FeatureHasher(n_features, input_type="string").transform([[name] for name in names])
    found = NativeVectorizer(n_features=n_features).features_of(names)
    assert found == hashed.indices.tolist()
    assert found == [_core.feature_of(name.encode(), n_features) for name in names]


def test_state_survives_pickling() -> None:
    vectorizer = NativeVectorizer(n_features=64, idf=True, keep_names=True)
    vectorizer.fit(TEXTS)
    again = pickle.loads(pickle.dumps(vectorizer))
    assert again.n_documents_ == len(TEXTS)
    assert again.transform(TEXTS).data.tobytes() == vectorizer.transform(TEXTS).data.tobytes()
    assert not hasattr(untrained(again), "_documents")


def test_plain_settings_need_no_scikit_learn() -> None:
    script = (
        "import sys; from surelearn.text import NativeVectorizer as V; "
        f"V(ngram_range=(1, 2), idf=True, keep_names=True).fit({TEXTS!r}).transform({TEXTS!r}); "
        "assert 'sklearn' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_without_idf_there_is_nothing_to_fit(method: str) -> None:
    vectorizer = NativeVectorizer(n_features=64)
    assert getattr(vectorizer, method)(TEXTS) is vectorizer
    with pytest.raises(ValueError, match="n_features"):
        getattr(NativeVectorizer(n_features=0), method)(TEXTS)
