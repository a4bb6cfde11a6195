"""Weights that do not fit in memory: refused in words before anything is learnt or allocated."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from typer.testing import CliRunner

from containers import content
from surelearn import (
    CRFTagger,
    SureClassifier,
    SureTagger,
    SureTextClassifier,
    load,
    merge,
    weights,
)
from surelearn._check import _memory
from surelearn.cli import _app

D = 20_000  # features; a column takes 160 kB
X = sparse.eye_array(6, D, format="csr")
Y = np.arange(6) % 2
TOKENS = [[f"word{i}" for i in range(200)]]


@pytest.fixture
def limit(monkeypatch):
    """Lets weights take no more than so many bytes."""
    return lambda n_bytes: monkeypatch.setattr(weights, "MEMORY_LIMIT", n_bytes)


def frame(labels):
    return pd.DataFrame({"text": [f"text {label}" for label in labels], "label": labels})


def tags(labels):
    return [[labels[i % len(labels)] for i in range(len(TOKENS[0]))]]


#: What makes weights, of 6 classes; what it is done to has learnt 2, or nothing.
WAYS = {
    "fit": (SureClassifier, lambda clf: clf.fit(X, range(6))),
    "fit in shards": (lambda: SureClassifier(n_shards=3), lambda clf: clf.fit(X, range(6))),
    "partial_fit": (SureClassifier, lambda clf: clf.partial_fit(X, range(6))),
    "classes": (SureClassifier, lambda clf: clf.partial_fit(X, Y, classes=range(6))),
    "texts": (lambda: SureTextClassifier(n_features=D), lambda c: c.fit(list("abcdef"), range(6))),
    "fit_stream": (
        lambda: SureTextClassifier(n_features=D),
        lambda clf: clf.fit_stream(frame(range(6)), passes=1),
    ),
    "pairs": (lambda: SureClassifier(multiclass="ovo"), lambda clf: clf.fit(X, range(6))),
    "tagger": (SureTagger, lambda tagger: tagger.fit(TOKENS, tags("abcdef"))),
    "tagger, partial_fit": (SureTagger, lambda t: t.partial_fit(TOKENS, tags("abcdef"))),
}

GROWTH = {
    "partial_fit": (
        lambda: SureClassifier().partial_fit(X, Y),
        lambda clf: clf.partial_fit(X, range(6)),
    ),
    "classes": (
        lambda: SureClassifier().partial_fit(X, Y),
        lambda clf: clf.partial_fit(X, Y, classes=range(6)),
    ),
    "learn_one": (
        lambda: SureClassifier().partial_fit(X, [0, 1, 2, 3, 4, 0]),
        lambda clf: clf.learn_one(X[:1], 5),
    ),
    "fit_stream": (
        lambda: SureTextClassifier(n_features=D).fit_stream(frame([0, 1]), passes=1),
        lambda clf: clf.fit_stream(frame(range(6)), passes=1, resume=True),
    ),
    "tagger": (
        lambda: SureTagger().fit(TOKENS, tags("ab")),
        lambda tagger: tagger.partial_fit(TOKENS, tags("abcdef")),
    ),
    "crf": (
        lambda: CRFTagger().fit(TOKENS, tags("ab")),
        lambda tagger: tagger.partial_fit(TOKENS, tags("abcdef")),
    ),
    "tagger, fit_stream": (
        lambda: SureTagger().fit(TOKENS, tags("ab")),
        lambda tagger: tagger.fit_stream(io_sentences("abcdef"), passes=1, resume=True),
    ),
}


def io_sentences(labels):
    folder = Path(io_sentences.folder)
    lines = [f"{word} {tag}" for word, tag in zip(TOKENS[0], tags(labels)[0], strict=True)]
    (folder / "train.conll").write_text("\n".join(lines) + "\n\n")
    return folder / "train.conll"


@pytest.fixture(autouse=True)
def folder(tmp_path):
    io_sentences.folder = tmp_path


MESSAGE = r"weights must fit in memory \(0\.\d MB available\), got [\d,]+ features"


@pytest.mark.parametrize("way", WAYS)
def test_what_is_too_large_is_refused_before_it_is_made(way, limit):
    make, learn = WAYS[way]
    model = make()
    limit(5_000)
    with pytest.raises(MemoryError, match=MESSAGE):
        learn(model)
    assert "_model" not in model.__dict__


@pytest.mark.parametrize("way", GROWTH)
def test_a_model_that_cannot_grow_is_as_it_was(way, limit):
    make, learn = GROWTH[way]
    model = make()
    before = content(model)
    limit(5_000)
    with pytest.raises(MemoryError, match=MESSAGE):
        learn(model)
    assert content(model) == before
    limit(None)
    learn(model)
    assert len(model.classes_) == 6


@pytest.mark.parametrize("way", [*WAYS, "learn_one"])
def test_what_is_there_already_needs_no_more_memory(way, limit):
    make, learn = WAYS["partial_fit"] if way == "learn_one" else WAYS[way]
    model = learn(make())
    limit(0)
    if way == "learn_one":
        model.learn_one(X[:1], 5)
    elif isinstance(model, SureTagger):
        model.partial_fit(TOKENS, tags("abcdef"))
        model.predict(TOKENS)
    elif isinstance(model, SureTextClassifier):
        model.partial_fit(list("abcdef"), range(6))
        model.predict(["a"])
    else:
        model.partial_fit(X, range(6))
        model.predict(X)


def test_columns_that_were_taken_in_advance_need_no_more_memory(limit):
    clf = SureClassifier().partial_fit(X, range(6))
    for label in (6, 7):
        clf.learn_one(X[:1], label)
    room = clf._model.weights.capacity
    assert room > 8
    limit(0)
    for label in range(8, room):
        clf.learn_one(X[:1], label)
    with pytest.raises(MemoryError, match=MESSAGE):
        clf.learn_one(X[:1], room)
    assert len(clf.classes_) == room


def test_files_and_merging(limit):
    models = [SureClassifier(random_state=seed).fit(X, range(6)) for seed in (1, 2)]
    whole = content(models[0])
    limit(5_000)
    with pytest.raises(MemoryError, match=MESSAGE):
        load(io.BytesIO(whole))
    limit(500_000)
    with pytest.raises(MemoryError, match=MESSAGE):
        merge(models)
    limit(500)
    with pytest.raises(MemoryError, match="models must be small enough to be merged in mem"):
        merge(3 * models)  # a few need no sums


def test_the_bytes_of_a_file_are_looked_at(monkeypatch):
    whole = content(SureClassifier().fit(X, Y))
    monkeypatch.setattr(_memory, "_SMALL", 0)
    monkeypatch.setattr(_memory, "available", lambda: 1000)
    with pytest.raises(MemoryError, match=r"<BytesIO> must fit in memory \(0\.0 MB available"):
        load(io.BytesIO(whole))


def test_ten_thousand_labels_at_the_default_width(limit):
    limit(8 * 10**9)
    labels = [f"label {i}" for i in range(10_000)]
    message = (
        r"^weights must fit in memory \(8\.0 GB available\), got 262,145 features x 10,000 "
        r"classes, which need 21\.0 GB\. Use fewer features \(n_features if they are hashed\) "
        r"or fewer classes\.$"
    )
    with pytest.raises(MemoryError, match=message):
        SureTextClassifier().partial_fit(["a"] * 10_000, labels)
    with pytest.raises(MemoryError, match=message):
        SureTextClassifier().partial_fit(["a"], labels[:1], classes=labels)


def test_too_many_labels_are_named(limit):
    limit(10**6)
    said = r"got 101 features x 5,001 labels, which need .* or fewer labels\.$"
    clf = SureClassifier()
    with pytest.raises(MemoryError, match=said):
        clf.partial_fit(np.ones((1, 100)), [["a"]], classes=[f"l{k}" for k in range(5000)])
    assert not hasattr(clf, "classes_")


def test_what_would_help_is_said(limit):
    limit(100)
    for params, remedy in [
        ({"dtype": "float64"}, "fewer classes or dtype='float32'"),
        ({"average": True}, "fewer classes or average=False"),
        ({"multiclass": "ovo"}, "Use multiclass='joint', fewer features"),
        ({"multiclass": "ecoc"}, "x 31 problems, which need"),
        ({"covariance": "full"}, "Use covariance='diagonal', fewer features"),
    ]:
        with pytest.raises(MemoryError, match=remedy.replace("(", r"\(")):
            SureClassifier(**params).fit(np.eye(6), range(6))
    with pytest.raises(MemoryError, match=r"got 20,001 features, which need 0\.2 MB\. Use fewer f"):
        SureClassifier().fit(X, Y)


def test_codes_of_many_classes_are_not_made_to_be_refused(limit):
    """Five thousand classes are twelve million pairs: a matrix of 62 GB."""
    limit(10**9)
    y = np.arange(5000)
    with pytest.raises(MemoryError, match=r"x 12,497,500 problems, which need 62\.\d GB"):
        SureClassifier(multiclass="ovo").fit(sparse.eye_array(5000, 1, format="csr"), y)


def test_the_command_says_it_in_one_line(limit, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame(range(6)).to_json("train.jsonl", orient="records", lines=True)
    limit(10_000)
    done = CliRunner().invoke(_app.app, ["train", "train.jsonl", "-o", "m.sure"])
    assert done.exit_code == 1
    assert done.output == (
        "surelearn: weights must fit in memory (0.0 MB available), got 262,145 features x "
        "6 classes, which need 12.6 MB. Use fewer features (--n-features if they are hashed) or "
        "fewer classes.\n"
    )
    assert not Path("m.sure").exists()


@pytest.mark.parametrize("words", ["", "std::bad_alloc"])
def test_an_error_without_words_gets_some(words):
    line = _app._line(MemoryError(words), _app.app)
    assert line == "there must be enough memory for this, got too little."


@pytest.mark.skipif(sys.platform != "linux", reason="needs limits of the address space")
def test_a_real_limit():
    """Where nobody knows how much there is, the core's own error gets the same words."""
    code = """
import resource
from surelearn._check import _memory
from surelearn.weights import Diagonal, Layout

layout = Layout(1_000_000, intercept=True, second_order=True, averaged=False, dtype="float32")
weights = Diagonal(layout, 2, 1.0)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 3 * 10**8, -1))
makers = [
    lambda: weights.with_columns([0, 1, *[-1] * 98]),
    lambda: Diagonal(layout, 100, 1.0),
    lambda: Diagonal.from_state({**weights.state(), "n_columns": 100}),
]
for room in (_memory.available, lambda: None):
    _memory.available = room
    for make in makers:
        try:
            make()
        except MemoryError as error:
            print(error)
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    need = r"got 1,000,001 features x 100 columns, which need 800\.0 MB\. Use fewer features"
    for i, line in enumerate(lines):
        have = r" \([\d.]+ MB available\)" if i < 3 else ""
        assert re.match(f"weights must fit in memory{have}, {need}", line)
    assert len(lines) == 6
