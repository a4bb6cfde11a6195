"""Records that are kept back to certify a risk: never learnt, in `fit` and in streams."""

from __future__ import annotations

import io
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from streaming import bits
from surelearn import (
    CRFTagger,
    SureClassifier,
    SureRanker,
    SureTableClassifier,
    SureTagger,
    SureTextClassifier,
    load,
    read,
)
from surelearn.learners.deciding import Wanted, promise_of
from surelearn.read import Withheld

N = 2000


def write_rows(path: Path, n: int = N, *, seed: int = 0) -> Path:
    """Texts of two classes, some of them mixed; each has a word that no other text has."""
    random = np.random.default_rng(seed)
    with path.open("w") as file:
        for i in range(n):
            k = int(random.integers(2))
            own = np.where(random.random(5) < 0.75, k, 1 - k)
            words = [f"{'pq'[c]}{random.integers(5)}" for c in own]
            row = {"text": " ".join([*words, f"only{seed}{i}"]), "label": "ab"[k], "n": i % 3}
            print(json.dumps(row), file=file)
    return path


@pytest.fixture
def rows(small_blocks: None, tmp_path: Path) -> Path:
    return write_rows(tmp_path / "rows.jsonl")


def texts(**params: Any) -> SureTextClassifier:
    return SureTextClassifier(random_state=0, n_features=2**16, **{"passes": 2, **params})


def certified(model: Any) -> dict[str, Any]:
    found = promise_of(model)
    assert found is not None
    return found


def own_words(path: Path, seed: int) -> tuple[set[str], set[str]]:
    """The words that only records have that are learnt, and that are kept back."""
    source = Withheld(read.batches(path), seed)
    learnt = {text.split()[-1] for batch in source for text in batch.X.to_pylist()}
    kept = source.sample()
    assert kept is not None
    return learnt, {text.split()[-1] for text in kept.X.to_pylist()}


@pytest.mark.parametrize("how", [{}, {"n_shards": 3}, {"passes": 1}])
def test_what_is_kept_back_is_never_met(how: dict[str, Any], rows: Path) -> None:
    clf = texts(**how).fit_stream(rows, risk=0.12)
    learnt, kept = own_words(rows, clf._seed())
    assert len(learnt) + len(kept) == N
    assert clf.stream_.rows == clf.model_.counts.sum() == len(learnt)
    assert clf.vectorizer_.n_documents_ == len(learnt)
    _, ends, letters, _ = clf.vectorizer_.names_met()
    words = {letters[a:b].decode() for a, b in pairwise([0, *ends.tolist()])}
    assert not words & kept
    assert len(words & learnt) > 0.95 * len(learnt)  # of words that share a place, one has a name
    assert certified(clf)["certified_by"] < len(kept)


def test_the_others_are_learnt_as_if_they_were_alone(rows: Path) -> None:
    clf = texts(passes=1).fit_stream(rows, risk=0.12, calibrate=False)
    source = Withheld(read.batches(rows), clf._seed())
    alone = texts(passes=1)
    for batch in source:
        alone.partial_fit(batch.X.to_pylist(), batch.y)
    assert bits(clf)[:2] == bits(alone)[:2]
    assert clf.mistakes_.tolist() == alone.mistakes_.tolist()


def test_several_passes_and_the_temperature(tmp_path: Path) -> None:
    """Of one block, so that all passes take the records in the same order."""
    path = write_rows(tmp_path / "rows.jsonl")
    clf = texts().fit_stream(path, risk=0.12)
    (batch,) = Withheld(read.batches(path), clf._seed())
    (tmp_path / "rest.jsonl").write_text(
        "".join(
            json.dumps({"text": text, "label": label}) + "\n"
            for text, label in zip(batch.X.to_pylist(), batch.y.tolist(), strict=True)
        )
    )
    alone = texts().fit_stream(tmp_path / "rest.jsonl")
    assert bits(clf) == bits(alone)
    assert clf.temperature_ == alone.temperature_


def saved(model: Any) -> bytes:
    file = io.BytesIO()
    model.set_params(n_jobs=None).save(file)
    return file.getvalue()


@pytest.mark.parametrize("n_shards", [1, 3])
def test_threads_and_the_cache_change_nothing(n_shards: int, rows: Path) -> None:
    def trained(n_jobs: int, cache_bytes: int = 2**34) -> bytes:
        clf = texts(n_shards=n_shards, n_jobs=n_jobs)
        return saved(clf.fit_stream(rows, risk=0.12, cache_bytes=cache_bytes))

    one = trained(1)
    assert trained(3) == one
    if n_shards == 1:  # shards remember the place of each word they met: a cache keeps none
        assert trained(2, 0) == one
    assert certified(load(io.BytesIO(one)))["risk"] == 0.12


def test_without_a_cache_shards_learn_the_same(rows: Path) -> None:
    one = texts(n_shards=3).fit_stream(rows, risk=0.12)
    other = texts(n_shards=3, n_jobs=2).fit_stream(rows, risk=0.12, cache_bytes=0)
    assert bits(one) == bits(other)
    assert promise_of(one) == promise_of(other)


def test_what_is_promised_holds_on_other_rows(rows: Path, tmp_path: Path) -> None:
    clf = texts().fit_stream(rows, risk=0.08, novel=0.02)
    told = certified(clf)
    assert (told["risk"], told["delta"], told["novel"]) == (0.08, 0.1, 0.02)
    new = read.batches(write_rows(tmp_path / "new.jsonl", seed=1)).first(N)
    answers = clf.predict(new.X.to_pylist(), abstain=True)
    given = np.array([answer is not None for answer in answers])
    assert given.mean() == pytest.approx(told["coverage"], abs=0.1)
    assert (answers[given] != new.y[given]).mean() <= 0.08
    assert 0 < (clf.novelty(new.X.to_pylist(), p_value=True) <= 0.02).mean() < 0.06
    sets = clf.predict_set(new.X.to_pylist(), 0.9)
    held = [label in own for label, own in zip(new.y, sets, strict=True)]
    assert np.mean(held) == pytest.approx(0.93, abs=0.05)


def test_weights_of_0_are_kept_out_of_the_sample(rows: Path) -> None:
    clf = texts(passes=1).fit_stream(rows, weight="n", risk=0.2)
    of_weight = N - len(range(0, N, 3))
    assert 0.75 * of_weight < clf.stream_.rows < 0.85 * of_weight


def test_too_few_records_leave_a_model_without_a_promise(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "few.jsonl", 60)
    with pytest.warns(
        UserWarning, match=r"at least 45 kept-back rows, got \d+\. .* without a prom"
    ):
        clf = texts().fit_stream(path, risk=0.05)
    assert promise_of(clf) is None
    with pytest.raises(ValueError, match="Call choose_abstention"):
        clf.predict(["p0"], abstain=True)
    two = write_rows(tmp_path / "two.jsonl", 4)
    with pytest.warns(UserWarning, match="at least 45 kept-back rows, got 0"):
        assert texts().fit_stream(two, risk=0.05).stream_.rows == 4


def test_a_risk_out_of_reach_leaves_a_model_without_a_promise(rows: Path) -> None:
    with pytest.warns(UserWarning, match="within reach of the model.*The model is kept, without"):
        clf = texts().fit_stream(rows, risk=0.008)
    assert promise_of(clf) is None
    assert clf.predict_set(["p0 p1"], 0.9)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"risk": 1.5}, r"risk must be in \(0, 1\), got 1\.5"),
        ({"risk": {}}, "risk must name at least one label"),
        ({"risk": 0.1, "delta": 0}, r"delta must be in \(0, 1\), got 0"),
        ({"risk": 0.1, "novel": -1}, r"novel must be in \(0, 1\), got -1"),
        ({"novel": 0.1}, "novel must be None without a risk, got 0.1"),
        ({"risk": 0.1, "resume": True}, "risk must be None with resume=True, got 0.1"),
    ],
)
def test_wrong_promises_are_refused_before_the_work(
    how: dict[str, Any], message: str, rows: Path
) -> None:
    seen: list[Any] = []
    clf = texts()
    with pytest.raises(ValueError, match=message):
        clf.fit_stream(rows, progress=seen.append, **how)
    assert not seen
    assert not hasattr(clf, "stream_")


def test_a_rule_without_variances_promises_nothing(rows: Path) -> None:
    with pytest.raises(ValueError, match="risk needs a rule that keeps variances, got 'pa1'"):
        texts(rule="pa1").fit_stream(rows, risk=0.1)
    with pytest.raises(ValueError, match=r"novel must be None for sentences, got 0\.1"):
        SureTagger().fit_stream(rows, risk=0.1, novel=0.1)


def test_the_last_checkpoint_holds_the_promise(rows: Path, tmp_path: Path) -> None:
    path, early = tmp_path / "m.sure", []

    def look(_: Any) -> None:
        if path.exists():
            early.append(promise_of(load(path)))

    how: dict[str, Any] = {"checkpoint": path, "checkpoint_every": 1, "progress": look}
    clf = texts().fit_stream(rows, risk=0.12, **how)
    assert set(early) == {None}
    assert promise_of(load(path)) == certified(clf)
    clf.fit_stream(rows, resume=True, passes=3)
    assert promise_of(clf) is None


def test_standard_input(rows: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(rows.read_bytes())))
    clf = texts().fit_stream("-", risk=0.12)
    of_file = texts(passes=1).fit_stream(rows, risk=0.12)
    assert clf.stream_.number == 1
    assert certified(clf)["certified_by"] > 200
    assert 0.75 * N < clf.stream_.rows < 0.85 * N
    assert abs(clf.stream_.rows - of_file.stream_.rows) < 100


def numbers(n: int = N) -> pd.DataFrame:
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(n, 3)), columns=[*"abc"])
    return X.assign(label=np.where(X.a + 0.3 * random.normal(size=n) > 0, "yes", "no"))


@pytest.mark.parametrize("kind", [SureClassifier, SureTableClassifier])
@pytest.mark.parametrize("format", ["frame", "csv", "parquet"])
def test_columns(kind: Any, format: str, tmp_path: Path) -> None:
    frame = numbers()
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    source = frame if format == "frame" else tmp_path / f"t.{format}"
    clf = kind(random_state=0, passes=2).fit_stream(source, risk=0.08)
    assert clf.stream_.rows + certified(clf)["certified_by"] < N
    assert 0.5 < certified(clf)["coverage"] <= 1
    answers = clf.predict(frame.drop(columns="label"), abstain=True)
    given = np.array([answer is not None for answer in answers])
    assert (answers[given] != frame.label.to_numpy()[given]).mean() < 0.08


def test_many_labels(small_blocks: None, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    with (tmp_path / "many.jsonl").open("w") as file:
        for _ in range(1500):
            has = random.random(3) < 0.4
            words = [f"{'xyz'[k]}{random.integers(5)}" for k in np.flatnonzero(has)]
            row = {"text": " ".join([*words, "all"]), "label": [*np.array([*"pqr"])[has]]}
            print(json.dumps(row), file=file)
    clf = texts().fit_stream(tmp_path / "many.jsonl", risk=0.2)
    assert certified(clf)["coverage"] > 0.5
    assert clf.predict(["x1 all"], abstain=True) == [("p",)]


def write_groups(path: Path, *, costs: bool = False) -> Path:
    random = np.random.default_rng(0)
    with path.open("w") as file:
        for q in range(600):
            X = random.normal(size=(3, 2))
            worth = X @ [2, 1] + 0.3 * random.normal(size=3)
            for k, (x, own) in enumerate(zip(X, worth, strict=True)):
                if costs:
                    print(f"{k + 1}:{max(worth) - own:.3f} | a:{x[0]:.3f} b:{x[1]:.3f}", file=file)
                else:
                    best = int(own == max(worth))
                    print(f"{best} qid:{q} 1:{x[0]:.3f} 2:{x[1]:.3f}", file=file)
            if costs:
                print(file=file)
    return path


@pytest.mark.parametrize("costs", [False, True])
def test_groups(costs: bool, small_blocks: None, tmp_path: Path) -> None:
    path = write_groups(tmp_path / ("g.vw" if costs else "g.svm"), costs=costs)
    how: dict[str, Any] = {"n_features": 16} if costs else {}
    ranker = SureRanker(random_state=0).fit_stream(path, risk=0.3, **how)
    assert ranker.stream_.rows + certified(ranker)["certified_by"] < 600
    assert certified(ranker)["coverage"] > 0.5


@pytest.mark.parametrize("make", [lambda: SureTagger(random_state=0), CRFTagger])
def test_sentences(make: Any, small_blocks: None, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    with (tmp_path / "s.conll").open("w") as file:
        for i in range(900):
            for _ in range(int(random.integers(1, 5))):
                k = int(random.integers(20))
                print(f"w{k} {'NV'[k % 2] if random.random() > 0.05 else 'V'}", file=file)
            print(f"only{i} N\n", file=file)
    tagger = make().fit_stream(tmp_path / "s.conll", risk=0.2)
    assert tagger.stream_.rows + certified(tagger)["certified_by"] < 900
    assert tagger.predict([["w2"]], abstain=True)[0] == ["N"]
    met = {name for name in tagger.features_.names if name.startswith("lower(w[0])=only")}
    assert len(met) == tagger.stream_.rows


def test_a_batch_tagger_says_how_many_sentences_it_needs(tmp_path: Path) -> None:
    (tmp_path / "s.conll").write_text("a\tN\nb\tV\n\n" * 10)
    with pytest.raises(ValueError, match=r"X must have at least .* sentences to learn from"):
        CRFTagger().fit_stream(tmp_path / "s.conll", risk=0.05)
    tagger = CRFTagger().fit_stream(tmp_path / "s.conll")
    with pytest.raises(ValueError, match=r"risk must be None with resume=True, got 0\.05"):
        tagger.fit_stream(tmp_path / "s.conll", risk=0.05, resume=True)


def test_the_fewest_records_depend_on_what_an_answer_loses() -> None:
    assert Wanted.of(SureClassifier(), 0.05, 0.1).least == 45
    assert Wanted.of(SureRanker(), 0.05, 0.1).least == 45
    assert Wanted.of(SureTagger(), 0.05, 0.1).least == 60
    assert Wanted.of(SureClassifier(), {"a": 0.05, "b": 0.1}, 0.1).least == 59


@pytest.mark.parametrize("n", [120, 1000, 200_000])
def test_a_fifth_of_what_is_in_memory_is_kept_back(n: int) -> None:
    clf = SureClassifier(random_state=0)
    kept, rest = Wanted.of(clf, 0.05, 0.1).parts(clf, np.arange(n))
    assert sorted([*kept, *rest]) == list(range(n))
    assert len(kept) == {120: 60, 1000: 200, 200_000: 20_000}[n]
    if n == 1000:
        with pytest.raises(ValueError, match="X must have at least 120 rows"):
            Wanted.of(clf, 0.05, 0.1).parts(clf, np.arange(119))


def test_fit_keeps_rows_back_and_learns_the_others_alone() -> None:
    frame = numbers(600)
    X, y = frame[[*"abc"]].to_numpy(), frame.label.to_numpy()
    clf = SureClassifier(random_state=0).fit(X, y, risk=0.15)
    _, rest = Wanted.of(clf, 0.15, 0.1).parts(SureClassifier(random_state=0), np.arange(600))
    alone = SureClassifier(random_state=0).fit(X[rest], y[rest])
    assert clf.coef_.tobytes() == alone.coef_.tobytes()
    assert clf.temperature_ == alone.temperature_
    assert certified(clf)["risk"] == 0.15
