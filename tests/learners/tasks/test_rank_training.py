"""A ranker on its way through files: blocks, passes, shards, going on, and what is refused."""

from __future__ import annotations

import io

import numpy as np
import pytest

from ranked import candidates
from reading import blocks_of
from surelearn import SureRanker, evaluate, load, read
from surelearn.evaluation import ranking_scores
from surelearn.learners.readers import NumberReader
from surelearn.learners.tasks.ranking import RankTrainable


def lines(X, y, group, first=0):
    """The groups as svmlight text with qid."""
    ids = np.repeat(np.arange(first, first + len(group)), group)
    rows = [
        " ".join([f"{grade:g}", f"qid:{i}", *(f"{j}:{v!r}" for j, v in enumerate(x, 1))])
        for x, grade, i in zip(X.tolist(), y.tolist(), ids, strict=True)
    ]
    return "\n".join(rows) + "\n"


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "a.svm"
    made.write_text(lines(*candidates(150)))
    return made


@pytest.fixture(autouse=True)
def small_blocks():
    with blocks_of(4000):
        yield


def ranker(**more):
    return SureRanker(**{"passes": 3, "random_state": 0, "n_jobs": 2} | more)


def content(model):
    file = io.BytesIO()
    model.save(file)
    return file.getvalue()


# -------------------------------------------------------------------------- learning


@pytest.mark.parametrize("rule", ["probit", "arow", "perceptron"])
def test_one_pass_is_what_partial_fit_learns(path, rule):
    model = ranker(rule=rule, passes=1).fit_stream(path)
    other = ranker(rule=rule, passes=1)
    batches = list(read.groups(path))
    assert len(batches) > 5
    for batch in batches:
        other.partial_fit(batch.X, batch.relevance, group=batch.sizes)
    other.stream_ = model.stream_
    assert content(other) == content(model)
    assert model.stream_.rows == 150


def test_threads_and_cache_never_change_the_result(path):
    model = ranker().fit_stream(path)
    assert len(model.mistakes_) == 3
    for jobs, room in [(1, 0), (1, 2**30), (3, 2000)]:
        other = ranker(n_jobs=jobs).fit_stream(path, cache_bytes=room)
        assert content(other.set_params(n_jobs=2)) == content(model)


def test_weights_are_kept_in_the_cache(path):
    """Batches of groups have no weights in files today; the cache stores them all the same."""
    trainable = RankTrainable(ranker()._settings_for(), NumberReader())
    source = read.groups(path)
    batch = next(iter(source))
    block = trainable.prepare(batch, source)
    weight = np.arange(float(block.size))
    for given in (None, weight):
        packed = trainable.pack(block._replace(weight=given))
        back = trainable.unpack(packed)
        assert (back.weight is None) == (given is None)
        assert back.bounds.tolist() == block.bounds.tolist()
        assert back.cost.tolist() == (-batch.relevance).tolist()


def test_later_passes_are_in_another_order_unless_told_otherwise(path):
    coefs = [
        ranker(random_state=seed, shuffle=shuffle).fit_stream(path).coef_.tobytes()
        for seed in (0, 1)
        for shuffle in (True, False)
    ]
    assert len(set(coefs)) == 3
    assert coefs[1] == coefs[3]


@pytest.mark.parametrize("passes", [1, 3])
def test_shards_of_a_stream(path, passes):
    model = ranker(n_shards=3, passes=passes).fit_stream(path)
    again = ranker(n_shards=3, passes=passes, n_jobs=1).fit_stream(path)
    assert content(again.set_params(n_jobs=2)) == content(model)
    X, y, group = candidates(200, seed=1)
    found = ranking_scores(model.decision_function(X), y, group=group)
    assert found.accuracy > 0.7
    assert len(model.mistakes_) == passes


def test_a_stream_is_evaluated(path):
    model = ranker().fit_stream(path)
    X, y, group = candidates(150)
    whole = evaluate(model, X.astype(np.float32), y, group=group)
    said = []
    found = evaluate(model, path, progress=said.append)
    assert found.n == whole.n == said[-1].rows
    np.testing.assert_allclose(found.sums, whole.sums, rtol=1e-9)


# -------------------------------------------------------------------------- going on


def test_training_goes_on_where_the_file_has_grown(path, tmp_path):
    model = ranker(passes=1).fit_stream(path)
    with path.open("a") as file:
        file.write(lines(*candidates(40, seed=3), first=150))
    model.fit_stream(path, resume=True)
    whole = ranker(passes=1).fit_stream(path)
    assert model.stream_.rows == 190
    assert model.coef_.tobytes() == whole.coef_.tobytes()


def test_an_interrupted_run_goes_on_from_its_checkpoint(path, tmp_path):
    whole = ranker().fit_stream(path)

    def stop(progress):
        if progress.number == 2 and progress.rows > 60:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ranker().fit_stream(path, checkpoint=tmp_path / "m.sure", checkpoint_every=1, progress=stop)
    half = load(tmp_path / "m.sure")
    assert half.stream_.number == 2
    assert content(half.fit_stream(path, resume=True)) == content(whole)


def test_skipped_groups_of_a_stream_are_counted_once(tmp_path):
    X, y, group = candidates(60)
    path = tmp_path / "a.svm"
    path.write_text(lines(X, np.where(np.repeat(np.arange(60) < 20, group), 0, y), group))
    for shards in (1, 2):
        model = ranker(n_shards=shards).fit_stream(path)
        assert model.n_skipped_ == 20
        assert model.stream_.rows == 60


# -------------------------------------------------------------------------- refusals


def test_a_source_without_any_right_candidate(tmp_path):
    path = tmp_path / "a.svm"
    X, y, group = candidates(10)
    path.write_text(lines(X, 0 * y, group))
    with pytest.raises(ValueError, match="got 10 groups without a right and a wrong candidate"):
        ranker().fit_stream(path)


def test_a_ranker_has_no_classes(path):
    with pytest.raises(TypeError, match="classes must be None for a ranker"):
        ranker().fit_stream(path, classes=["a"])


def test_a_refused_group_is_counted_in_the_source(tmp_path):
    path = tmp_path / "a.svm"
    X, y, group = candidates(40)
    flat = np.where(np.repeat(np.arange(40) == 3, group), 0, y)
    text = lines(X, flat, group) + "1 qid:40 6:1e30\n0 qid:40 1:1e30\n"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"group .* must leave finite weights") as caught:
        ranker(rule="arow", passes=1).fit_stream(path)
    assert "This is group 40 of" in caught.value.__notes__[0]


@pytest.mark.parametrize("number", [1, 2])
def test_an_interrupted_block_counts_the_skipped_groups_before_the_end(path, number):
    """In the first pass; later ones count none."""
    X, y, group = candidates(40)
    flat = np.isin(np.arange(40), [3, 20, 30])
    text = lines(X, np.where(np.repeat(flat, group), 0, y), group)
    bad = "1 qid:40 6:1e30\n0 qid:40 1:1e30\n"
    path.write_text(text + bad + lines(X, 0 * y, group, first=50))
    with blocks_of(2**20):
        source = read.groups(path)
        (batch,) = source
    trainable = RankTrainable(ranker(rule="arow")._settings_for(), NumberReader())
    block = trainable.prepare(batch, source)
    with pytest.raises(ValueError, match="must leave finite weights"):
        trainable.learn(block, number=number, starts_pass=True)
    assert trainable.model.skipped == (3 if number == 1 else 0)
