"""Selective sampling: the budget is kept, unsure rows are asked about, nothing is read ahead."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas
import pytest
from scipy import sparse
from sklearn.linear_model import Perceptron

from surelearn import SureClassifier, SureTextClassifier, read
from surelearn.active import Sampler, scores, stream

D = 10
DIRECTION = np.random.default_rng(7).normal(size=D)


def rows_of(kind: str, n: int = 10_000, size: int = 50, seed: int = 0) -> Iterator[tuple]:
    """Batches of rows and labels: no noise, much of it, or other rows in the second half."""
    random = np.random.default_rng(seed)
    for at in range(0, n, size):
        late = at >= n // 2
        X = random.normal(size=(size, D)) * (0.01 if kind == "smaller" and late else 1.0)
        noise = {"easy": 0.0, "hard": 20.0, "harder": 20.0 * late}.get(kind, 0.5)
        yield X, X @ DIRECTION + noise * random.normal(size=size) > 0


def run(sampler: Sampler, batches: Iterator[tuple], delay: int = 0) -> np.ndarray:
    """Go through a stream; labels come so many batches late. The answers, row after row."""
    waiting, asked = [], []
    for X, y in batches:
        wanted = sampler.ask(X)
        asked.append(wanted)
        waiting.append((X[wanted], y[wanted]))
        if len(waiting) > delay:
            sampler.tell(*waiting.pop(0))
    return np.concatenate(asked)


@pytest.mark.parametrize(
    ("kind", "budget"),
    [
        *(
            (kind, budget)
            for kind in ("easy", "hard", "harder", "smaller")
            for budget in (0.05, 0.5)
        ),
        *(("smaller", budget) for budget in (0.1, 0.9)),
    ],
)
def test_the_budget_is_kept_within_two_percent(kind, budget):
    sampler = Sampler(SureClassifier(), budget, random_state=0)
    asked = run(sampler, rows_of(kind))
    assert (sampler.n_seen, sampler.n_asked) == (10_000, asked.sum())
    assert abs(asked.mean() / budget - 1) < 0.02
    n = np.arange(1, len(asked) + 1)  # and never missed by more than is promised
    assert (np.abs(np.cumsum(asked) - budget * n) <= 3 + 0.01 * budget * n + 1).all()


def test_labels_may_come_late_or_never():
    late = Sampler(SureClassifier(), 0.1, random_state=0)
    assert abs(run(late, rows_of("easy"), delay=60).mean() / 0.1 - 1) < 0.02
    never = Sampler(SureClassifier(), 0.1, random_state=0)
    assert abs(run(never, rows_of("easy"), delay=10**9).mean() / 0.1 - 1) < 0.02
    assert never.model._fresh


def test_unsure_rows_are_asked_about_more_often():
    clf = SureClassifier()
    X, y = next(rows_of("easy", 300, 300))
    clf.fit(X, y)
    sampler = Sampler(clf, 0.1, random_state=0)
    X, _ = next(rows_of("easy", 20_000, 20_000, seed=1))
    asked, sure = sampler.ask(X), scores(clf, X)
    share = [asked[part].mean() for part in np.array_split(np.argsort(sure), 5)]
    assert all(np.diff(share) < 0)
    assert share[0] > 4 * share[-1]
    # The limits are far, so that it is the rows that decide.
    beyond = np.cumsum(asked) - 0.1 * np.arange(1, len(asked) + 1)
    assert np.abs(beyond[5000:]).mean() < 4
    # Of p = b / (b + r) the odds are b / r: their product with r is the same everywhere.
    parts = np.array_split(np.argsort(sure), 6)[1:]
    levels = [asked[part].mean() / (1 - asked[part].mean()) * sure[part].mean() for part in parts]
    np.testing.assert_allclose(levels, np.mean(levels), rtol=0.3)


def test_it_learns_more_from_its_labels_than_a_random_share():
    X, y = next(rows_of("easy", 5000, 5000, seed=9))
    wins = 0
    for seed in range(3):
        chosen = Sampler(SureClassifier(), 0.03, random_state=seed)
        asked = run(chosen, rows_of("easy", 8000, 20, seed=seed))
        random = np.random.default_rng(seed).permutation(8000)[: asked.sum()]
        batches = list(rows_of("easy", 8000, 20, seed=seed))
        rows = np.vstack([batch[0] for batch in batches])[random]
        labels = np.concatenate([batch[1] for batch in batches])[random]
        plain = SureClassifier().partial_fit(rows, labels)
        wins += chosen.model.score(X, y) > plain.score(X, y)
    assert wins == 3


def test_the_same_seed_decides_the_same_in_any_pieces():
    X, y = next(rows_of("easy", 300, 300))
    clf = SureClassifier().fit(X, y)
    X, _ = next(rows_of("easy", 1000, 1000, seed=1))
    whole = Sampler(clf, 0.2, random_state=3).ask(X)
    sampler = Sampler(clf, 0.2, random_state=3)
    pieces = [sampler.ask(part) for part in np.split(sparse.csr_matrix(X).toarray(), 100)]
    assert (whole == np.concatenate(pieces)).all()
    assert (whole != Sampler(clf, 0.2, random_state=4).ask(X)).any()
    assert sampler.ask(X[:0]).shape == (0,)


def test_rows_that_cannot_teach_are_never_asked_about():
    clf = SureClassifier("stdev", fit_intercept=False).fit([[0.0, 1.0], [1.0, 0.0]], ["a", "b"])
    sampler = Sampler(clf, 0.5, random_state=0)
    assert not sampler.ask(np.zeros((200, 2))).any()
    assert sampler.n_seen == 200


@pytest.mark.parametrize("model", [SureClassifier("pa1"), Perceptron()], ids=str)
def test_margins_will_do(model):
    X, y = next(rows_of("easy", 100, 100))
    sampler = Sampler(model.fit(X, y), 0.1, strategy="margin", random_state=0)
    asked = run(sampler, rows_of("easy"))
    assert abs(asked.mean() / 0.1 - 1) < 0.02
    with pytest.raises(ValueError, match="strategy must be one that needs no variances, got 'acl'"):
        Sampler(model, 0.1).ask(X)


# ------------------------------------------------------------------------------ stream


def test_a_stream_is_never_read_ahead():
    read_so_far = 0

    def batches():
        nonlocal read_so_far
        for X, _ in rows_of("easy", 500):
            read_so_far += 1
            yield X

    clf = SureClassifier()
    found = stream(clf, batches(), 0.3, random_state=0)
    assert read_so_far == 0
    total = 0
    for number, (X, rows) in enumerate(found, 1):
        assert read_so_far == number
        assert rows.dtype == np.int64
        if len(rows):
            clf.partial_fit(X[rows], X[rows] @ DIRECTION > 0)
        total += len(rows)
    assert abs(total - 150) < 6


def test_a_stream_gives_what_the_sampler_says():
    clf = SureClassifier()
    sampler = Sampler(SureClassifier(), 0.2, random_state=1)
    batches = [X for X, _ in rows_of("easy", 2000)]
    for X, rows in stream(clf, batches, 0.2, random_state=1):
        assert rows.tolist() == np.flatnonzero(sampler.ask(X)).tolist()
        for model in (clf, sampler.model):
            if len(rows):
                model.partial_fit(X[rows], X[rows] @ DIRECTION > 0)


def test_files_are_streams_too(tmp_path):
    words = np.random.default_rng(0).choice(["good", "bad", "film", "odd", "plot"], (3000, 3))
    frame = pandas.DataFrame({"text": [" ".join(row) for row in words]})
    frame["label"] = ["yes" if "good" in row else "no" for row in words]
    frame.to_json(tmp_path / "reviews.jsonl", orient="records", lines=True)
    clf, asked, seen = SureTextClassifier(), 0, 0
    for batch, rows in stream(clf, read.batches(tmp_path / "reviews.jsonl"), 0.2, random_state=0):
        clf.partial_fit(batch.X.take(rows), batch.y[rows])
        asked, seen = asked + len(rows), seen + len(batch)
    assert seen == 3000
    assert abs(asked - 600) < 12


def test_errors():
    for budget in (0.0, 1.0, -0.1):
        with pytest.raises(ValueError, match=rf"budget must be in \(0, 1\), got {budget}"):
            Sampler(SureClassifier(), budget)
        with pytest.raises(ValueError, match="budget must be in"):
            stream(SureClassifier(), [], budget)  # at once, not with the first batch
    with pytest.raises(
        ValueError, match="strategy must be one of 'acl', 'margin', 'novel', got 'entropy'"
    ):
        Sampler(SureClassifier(), 0.1, strategy="entropy")


def test_new_rows_of_a_stream_are_asked_about_first():
    """Rows along axes that the model has met are known; those along others are new."""
    random = np.random.default_rng(0)
    eye = np.eye(6)
    known = eye[random.integers(0, 2, 400)]
    clf = SureClassifier(fit_intercept=False, scale=False, random_state=0)
    clf.fit(known, known[:, 0] > 0, calibrate=False)
    rows = eye[random.integers(0, 6, 2000)]
    sampler = Sampler(clf, 0.3, strategy="novel", random_state=0)
    asked = sampler.ask(rows)
    is_new = rows[:, 2:].any(axis=1)
    assert abs(asked.mean() - 0.3) < 0.02
    assert asked[is_new].mean() > 3 * asked[~is_new].mean()
