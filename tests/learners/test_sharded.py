"""What all estimators that learn by a rule share: passes in memory, and how shards are merged."""

from __future__ import annotations

import json
import lzma

import numpy as np
import pytest
from scipy import sparse

from ranked import candidates
from surelearn import SureClassifier, SureRanker, SureTagger, SureTextClassifier
from surelearn.learners.base import settings_of
from surelearn.learners.online import rounds_of
from tagged import corpus


def trained(kind, **params):
    """A model of either kind, trained on data of its kind."""
    if kind is SureTagger:
        return SureTagger(**params).fit(*corpus(12, 0))
    X, y, group = candidates(12)
    return SureRanker(**params).fit(X, y, group=group)


@pytest.mark.parametrize(
    ("kind", "what"), [(SureTagger, "12 of 12 sequences"), (SureRanker, "12 of 12 groups")]
)
def test_every_pass_is_reported_and_has_a_counter(kind, what, capsys):
    model = trained(kind, passes=3, verbose=1, random_state=0)
    said = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in said] == ["pass 1/3", "pass 2/3", "pass 3/3"]
    assert all(what in line for line in said)
    assert model.n_iter_ == 3


@pytest.mark.parametrize("kind", [SureTagger, SureRanker])
def test_the_seed_decides_the_order_of_passes(kind):
    first, again, other = (trained(kind, random_state=seed, passes=1).coef_ for seed in (0, 0, 3))
    assert first.tobytes() == again.tobytes()
    assert not np.array_equal(first, other)


def test_rounds_are_those_of_the_parameters():
    ranker = SureRanker(passes=7, merge_every=2, combine="kl", shuffle=False, random_state=1)
    rounds = rounds_of(ranker)
    assert (rounds.number, rounds.combine, rounds.shuffle) == (4, "kl", False)
    assert rounds.seed == rounds_of(ranker).seed
    assert settings_of(ranker).passes == 7


def test_fifty_shards_of_titles_are_as_good_as_one_model(data_folder):
    """Short texts, of which a shard has few: within 1.5 points, and ten shards within 0.5."""
    with lzma.open(data_folder / "stackoverflow-titles.jsonl.xz", "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    order = np.random.default_rng(0).permutation(len(records))
    texts = [records[i]["text"] for i in order]
    tags = [records[i]["label"] for i in order]
    known, judged = slice(2000, None), slice(2000)

    def score(n_shards, **params):
        clf = SureTextClassifier(n_shards=n_shards, random_state=0, n_jobs=2, **params)
        return 100 * clf.fit(texts[known], tags[known]).score(texts[judged], tags[judged])

    one = score(1)
    assert one > 88
    assert score(10) > one - 0.5
    assert score(50) > one - 1.5
    assert score(50, passes=10) > one - 1.5  # more rounds lose nothing


def test_shards_make_as_many_passes_as_one_model():
    texts = ["good film", "bad film", "good fun", "dull plot"] * 30
    labels = ["yes", "no", "yes", "no"] * 30
    one, two = (SureTextClassifier(n_shards=n).fit(texts, labels).n_iter_ for n in (1, 2))
    assert one == two == 10


@pytest.mark.parametrize(("n_shards", "passes"), [(1, 3), (20, 3), (21, 10)])
def test_shards_with_few_rows_of_each_class_make_the_most_passes(n_shards, passes):
    """4,000 rows of 40 classes: 20 shards have five rows of each."""
    y = np.arange(4_000) % 40
    X = sparse.eye_array(40, format="csr", dtype=np.float32)[y]
    clf = SureClassifier(n_shards=n_shards, merge_every=None).fit(X, y)
    assert clf.n_iter_ == passes
