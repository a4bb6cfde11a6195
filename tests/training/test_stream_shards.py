"""Shards of `fit_stream`: the same bytes for any threads and wherever training was interrupted."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from streaming import bits, model, records, saved, topical, write
from surelearn import SureClassifier, load, merge
from surelearn.merging import Evidence, MergeState
from surelearn.read import BadInput, batches

pytestmark = pytest.mark.usefixtures("small_blocks")


class Stop(Exception):
    pass


@pytest.fixture
def reviews(tmp_path):
    return write(tmp_path / "reviews.jsonl", records(300, n_classes=3))


def sharded(**params):
    return model(**{"n_shards": 3, "passes": 4, **params})


def stopped(estimator, source, *, after, **options):
    """Training that ends with an error after so many blocks."""
    left = after

    def progress(_):
        nonlocal left
        left -= 1
        if left == 0:
            raise Stop

    with pytest.raises(Stop):
        estimator.fit_stream(source, progress=progress, **options)


def n_blocks(source):
    return sum(1 for _ in batches(source).blocks())


# --------------------------------------------------------------------- what is learnt


@pytest.mark.parametrize("class_weight", [None, {"class 0": 3.0, "class 2": 0.0}])
@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize(
    "params", [{}, {"rule": "pa1", "combine": "uniform"}, {"multiclass": "ovo"}], ids=str
)
def test_shards_learn_every_third_block(reviews, params, declared, class_weight):
    """By hand: `partial_fit` with the blocks of a shard, and `merge`."""
    classes = ["class 0", "class 1", "class 2"] if declared else None
    params = {"passes": 1, "class_weight": class_weight, **params}
    clf = sharded(**params).fit_stream(reviews, classes=classes)
    parts = [sharded(**params) for _ in range(3)]
    for number, block in enumerate(batches(reviews).blocks()):
        batch = block.parse()
        y = batch.labels.values[batch.labels.codes]
        parts[number % 3].partial_fit(batch.X, y, classes, batch.weight)
    assert number > 6
    expected = merge(parts, params.get("combine", "evidence"))
    assert bits(clf) == bits(expected)
    assert clf.n_updates_ == expected.n_updates_


@pytest.mark.parametrize("every", [None, 1, 2])
@pytest.mark.parametrize(
    "params",
    [{}, {"class_weight": "balanced", "average": True}, {"rule": "pa1", "combine": "uniform"}],
    ids=str,
)
def test_threads_and_cache_change_nothing(reviews, every, params):
    params = {**params, "merge_every": every}
    one, *others = (
        sharded(n_jobs=n_jobs, **params).fit_stream(reviews, cache_bytes=room)
        for n_jobs, room in ((1, 2**30), (2, 0), (4, 2**30))
    )
    assert len(one.mistakes_) == 4
    assert one._model.counts.sum() == 300
    for other in others:
        assert bits(other) == bits(one)
        assert other.stream_ == one.stream_


def test_rounds_make_a_difference_and_one_shard_none(reviews):
    never, each = (sharded(merge_every=n).fit_stream(reviews) for n in (None, 1))
    assert bits(never) != bits(each)
    assert never.mistakes_[0] == each.mistakes_[0]
    words = [clf._own_reader().words() for clf in (never, each)]  # met in the first pass only
    assert all(np.array_equal(*pair) for pair in zip(*words, strict=True))
    assert len(words[0].features) > 20
    one, plain = (sharded(n_shards=1, merge_every=n).fit_stream(reviews) for n in (1, None))
    assert bits(one) == bits(plain)


def test_a_round_goes_on_from_the_merged_model(reviews):
    """By hand: the state of a shard whose model was that of the first round."""
    way = Evidence(math.inf)
    how = {"passes": 2, "shuffle": False, "idf": False}  # `partial_fit` would count texts again
    first = sharded(**how)
    stopped(first, reviews, after=n_blocks(reviews) + 1)
    both = sharded(**how).fit_stream(reviews)
    parts = []
    for shard in range(3):
        first.save(reviews.parent / "first.sure")
        part = load(reviews.parent / "first.sure")
        for number, block in enumerate(batches(reviews).blocks()):
            batch = block.parse()
            if number % 3 == shard:
                y = batch.labels.values[batch.labels.codes]
                part.partial_fit(batch.X, y, sample_weight=batch.weight)
        parts.append(MergeState.of(part._model, way, start=first._model))
    expected = MergeState.combined(parts).result(MergeState.of(first._model, way))
    assert both._model.weights.means.tobytes() == expected.weights.means.tobytes()
    assert both._model.weights.variances.tobytes() == expected.weights.variances.tobytes()
    assert both.n_updates_ == expected.updates


def test_more_shards_than_blocks(tmp_path):
    path = write(tmp_path / "a.jsonl", records(12, n_classes=2))
    assert 1 < n_blocks(path) < 9
    clf = sharded(n_shards=9).fit_stream(path)
    assert bits(clf) == bits(sharded(n_shards=n_blocks(path)).fit_stream(path))


def test_rows_of_numbers_in_shards(monkeypatch):
    monkeypatch.setattr("surelearn.read._stores.BLOCK", 600)
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(200, 3)), columns=list("abc"))
    frame["label"] = frame.a + frame.b > 0
    assert n_blocks(frame) > 5
    clf = SureClassifier(n_shards=2, passes=2, random_state=0).fit_stream(frame)
    assert clf.n_features_in_ == 3
    assert clf.score(frame[list("abc")], frame.label) > 0.9


def test_progress_tells_mistakes_of_all_shards(reviews):
    seen = []
    clf = sharded(n_jobs=1, merge_every=2).fit_stream(reviews, progress=seen.append)
    assert [p.number for p in seen] == sorted(p.number for p in seen)
    assert seen[-1].rows == clf._model.counts.sum()
    for number in range(1, 5):
        last = [p.mistakes for p in seen if p.number == number][-1]
        assert 0 <= last <= clf.mistakes_[number - 1]


# ------------------------------------------------------------------------- going on


@pytest.mark.parametrize("every", [1, 2, None])
@pytest.mark.parametrize("share", [0.5, 1.2, 2.1, 3.9])
def test_interrupted_it_goes_on_from_the_last_merge(reviews, tmp_path, every, share):
    room = 0 if (every == 2) == (1 < share < 3) else 2**30  # for a cache: each with each
    whole = sharded(merge_every=every).fit_stream(reviews)
    out = tmp_path / "m.sure"
    begun = sharded(merge_every=every)
    after = int(share * n_blocks(reviews)) + 1
    stopped(begun, reviews, after=after, checkpoint=out, cache_bytes=room)
    merged = 0 if every is None else int(share) // every * every
    assert out.exists() == (merged > 0)
    if merged:
        begun = load(out)
        assert (begun.stream_.number, begun.stream_.ended) == (merged, True)
        assert len(begun.mistakes_) == merged
    else:
        assert not hasattr(begun, "stream_")
    begun.fit_stream(reviews, resume=True, cache_bytes=room)
    assert bits(begun) == bits(whole)
    assert saved(begun, tmp_path / "a.sure") == saved(whole, tmp_path / "b.sure")


def test_a_file_that_has_grown_is_gone_on_with(reviews, tmp_path):
    clf = sharded(passes=1).fit_stream(reviews)
    before = bits(clf)
    assert bits(clf.fit_stream(reviews, resume=True)) == before
    with reviews.open("a") as file:
        file.write((write(tmp_path / "more.jsonl", records(50, seed=5))).read_text())
    grown = clf.fit_stream(reviews, resume=True)
    assert bits(grown) != before
    assert grown.stream_.rows == grown._model.counts.sum()
    assert len(grown.mistakes_) == 1


def test_checkpoints_are_written_where_shards_are_merged(reviews, tmp_path, monkeypatch):
    written = []
    clf = sharded(merge_every=2)
    monkeypatch.setattr(type(clf), "save", lambda self, path: written.append(self.stream_))
    clf.fit_stream(reviews, checkpoint=tmp_path / "m.sure", checkpoint_every=1)
    assert [(p.number, p.ended) for p in written] == [(2, True), (4, True), (4, True)]


def test_until_shards_are_merged_the_model_is_as_it_was(reviews):
    clf = sharded().fit_stream(reviews)
    before, place = bits(clf), clf.stream_
    stopped(clf, reviews, after=5)
    assert bits(clf) == before
    assert clf.stream_ == place


# --------------------------------------------------------------------------- bad input


def test_a_record_that_cannot_be_read_is_named(reviews):
    with reviews.open("a") as file:
        file.write("{\n")
    with pytest.raises(BadInput, match=r"reviews.jsonl, line 301"):
        sharded().fit_stream(reviews)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_row_that_cannot_be_learnt_is_named_with_its_shard(tmp_path, n_jobs, monkeypatch):
    lines = [f"{i % 2} 1:{1 + i % 5}.5 2:{i % 3}.25" for i in range(300)]
    lines[250] = lines[280] = "0 1:1e30"
    path = tmp_path / "a.svm"
    path.write_text("\n".join(lines) + "\n")
    source = batches(path)
    rows = [len(block.parse().labels.codes) for block in source.blocks()]
    block = int(np.searchsorted(np.cumsum(rows), 250, side="right"))
    clf = SureClassifier("arow", n_shards=3, n_jobs=n_jobs, projection="precision")
    with pytest.raises(ValueError, match=f"^shard {block % 3}: row .* must leave") as caught:
        clf.fit_stream(path)
    assert caught.value.__notes__ == [f"This is record 250 of {path}, counted from 0."]
    assert not hasattr(clf, "coef_")


def test_one_class_and_no_record_are_refused_as_on_one_machine(tmp_path):
    path = write(tmp_path / "a.jsonl", records(20, n_classes=1))
    with pytest.raises(ValueError, match="fit_stream needs at least two classes, got 1 class"):
        sharded().fit_stream(path)
    with pytest.raises(BadInput, match="must have at least one record, got an empty file"):
        sharded().fit_stream(write(tmp_path / "b.jsonl", []))


def test_a_code_needs_its_classes_from_the_start(tmp_path):
    rows = sorted(records(100, n_classes=3), key=lambda row: row["label"])
    path = write(tmp_path / "a.jsonl", rows)
    with pytest.raises(
        ValueError, match=r"multiclass='ecoc' must know all classes when its code is made"
    ):
        sharded(multiclass="ecoc").fit_stream(path)
    classes = [f"class {k}" for k in range(3)]
    clf = sharded(multiclass="ecoc").fit_stream(path, classes=classes)
    assert clf.classes_.tolist() == classes


def test_shards_without_a_block_do_not_know_how_many_labels_rows_have(tmp_path):
    path = write(tmp_path / "a.jsonl", topical(20))
    n = n_blocks(path)
    alone = sharded(n_shards=n, combine="bayes").fit_stream(path)
    idle = sharded(n_shards=n + 3, combine="bayes").fit_stream(path)
    assert idle.label_format_ == "lists"
    assert bits(idle) == bits(alone)


def test_shards_of_lists_of_labels_go_on_to_the_same_bytes(tmp_path):
    path = write(tmp_path / "a.jsonl", topical(150))
    whole = sharded().fit_stream(path)
    assert bits(sharded(n_jobs=1).fit_stream(path)) == bits(whole)
    begun = sharded()
    stopped(begun, path, after=n_blocks(path) * 5 // 2)
    begun.save(tmp_path / "m.sure")
    resumed = load(tmp_path / "m.sure").fit_stream(path, resume=True)
    assert saved(resumed, tmp_path / "a.sure") == saved(whole, tmp_path / "b.sure")
