"""A source without random records that it keeps: the same ones in each pass, and never too many."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from surelearn.read import Withheld, _withheld, batches, groups, sentences

pytestmark = pytest.mark.usefixtures("small_blocks")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file of 2,000 rows in a hundred blocks."""
    rows = ({"text": f"w{i}", "label": "ab"[i % 2], "n": i % 3} for i in range(2000))
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def texts(batch: Any) -> list[str]:
    return [] if batch is None else batch.X.to_pylist()


def given(source: Any, *where: Any) -> list[str]:
    return [text for block in source.blocks(*where) for text in texts(block.parse())]


def test_each_record_is_given_or_kept(path: Path) -> None:
    source = Withheld(batches(path), seed=0)
    rest, kept = given(source), texts(source.sample())
    assert sorted(rest + kept) == sorted(given(batches(path)))
    assert 330 < len(kept) < 470  # a fifth of 2,000 and four errors
    assert kept == sorted(kept, key=lambda text: int(text[1:]))
    assert kept != texts(sample(path, seed=1))


def sample(path: Any, seed: int = 0) -> Any:
    source = Withheld(batches(path), seed)
    given(source)
    return source.sample()


def test_a_fifth_of_each_class_and_each_part_of_the_file(path: Path) -> None:
    drawn = [np.array([int(text[1:]) for text in texts(sample(path, seed))]) for seed in range(30)]
    numbers = np.concatenate(drawn)
    n = len(numbers)
    assert np.mean(numbers % 2) == pytest.approx(0.5, abs=4 * 0.5 / n**0.5)
    assert np.mean(numbers) == pytest.approx(999.5, abs=4 * 578 / n**0.5)
    sizes = [len(own) for own in drawn]
    assert np.mean(sizes) == pytest.approx(400, abs=4 * 18 / 30**0.5)


def test_later_passes_give_the_same_records(path: Path) -> None:
    source = Withheld(batches(path), seed=0)
    blocks = list(source.blocks())
    whole = [texts(block.parse()) for block in reversed(blocks)][::-1]  # in any order
    kept = texts(source.sample())
    assert [texts(block.parse()) for block in source.blocks()] == whole
    assert given(source, blocks[40].end) == [text for own in whole[41:] for text in own]
    assert texts(source.sample()) == kept


def test_the_first_records_of_a_block_are_those_of_the_whole(path: Path) -> None:
    source = Withheld(batches(path), seed=0)
    block = next(iter(source.blocks()))
    whole, first = texts(block.parse()), texts(block.before(9).parse())
    assert first == whole[: len(first)]
    assert len(first) < 9 or "w8" in first
    assert [f"w{line - 1}" for line in block.numbers(block.parse())] == whole


def test_no_more_are_kept_than_there_is_room_for(path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(_withheld, "MOST", 100)
    places: list[int] = []
    sizes: list[int] = []
    for seed in range(20):
        source = Withheld(batches(path), seed)
        rest, kept = given(source), texts(source.sample())
        assert 60 < len(kept) <= 100
        assert not set(rest) & set(kept)
        assert 2000 - len(rest) < 400  # far fewer than a fifth are lost to learning
        assert given(source) == rest
        places += [int(text[1:]) for text in kept]
        sizes.append(len(kept))
    # Those that were withheld while the share was larger are not used to fill up.
    assert 5 < np.mean(np.array(sizes) < 100) * 20 < 20
    # A simple random sample of the whole file, although the share falls.
    assert np.mean(places) == pytest.approx(999.5, abs=4 * 578 / len(places) ** 0.5)


def test_many_records_in_blocks_that_seemed_small(tmp_path: Path, monkeypatch: Any) -> None:
    """Sentences of many lines come first, so that too many are withheld: the sample is cut."""
    monkeypatch.setattr(_withheld, "MOST", 50)
    long = "".join(f"w{i}\tN\n" for i in range(40)) + "\n"
    (tmp_path / "s.conll").write_text(long * 20 + "w\tN\n\n" * 4000)
    source = Withheld(sentences(tmp_path / "s.conll"), seed=0)
    n = sum(map(len, source))
    kept = source.sample()
    assert kept is not None
    assert len(kept) == 50
    assert n < 4020 - 50
    assert len(kept.y) == 50


def test_threads_change_nothing(path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(_withheld, "MOST", 30)
    one, other = Withheld(batches(path), 0), Withheld(batches(path), 0)
    given(one)
    first, *blocks = list(other.blocks())
    first.parse()
    again = Withheld(batches(path), 0)
    drawn = again.blocks()
    next(drawn).parse()  # the first block alone says how many records a line has
    for block in list(drawn)[::-1]:
        block.parse()
    assert texts(again.sample()) == texts(one.sample())
    assert len(blocks) > 50


def test_records_of_weight_0_are_no_part(path: Path) -> None:
    source = Withheld(batches(path, weight="n"), seed=0)
    n = sum(int((block.parse().weight == 0).sum()) for block in source.blocks())
    kept = source.sample()
    assert kept is not None
    assert n == 667
    assert set(kept.weight.tolist()) == {1.0, 2.0}


def write_groups(path: Path) -> Path:
    lines = [f"{i % 2} qid:{i // 2} 1:{i}" for i in range(400)]
    path.write_text("\n".join(lines) + "\n")
    return path


def write_sentences(path: Path) -> Path:
    path.write_text("".join(f"w{i}\tN\nv{i}\tV\n\n" for i in range(200)))
    return path


def frame() -> pd.DataFrame:
    n = np.arange(200)
    return pd.DataFrame({"a": n, "b": n * 0.5, "c": [f"c{i}" for i in n], "label": n % 2})


def as_table(tmp_path: Path) -> Any:
    frame().to_csv(tmp_path / "t.csv", index=False)
    return batches(tmp_path / "t.csv", table=True)


def as_parquet(tmp_path: Path) -> Any:
    frame().to_parquet(tmp_path / "t.parquet")
    return batches(tmp_path / "t.parquet", features=["a", "b"])


def as_lists(tmp_path: Path) -> Any:
    rows = [{"text": f"w{i}", "label": ["x"] * (i % 2) + ["y"]} for i in range(200)]
    (tmp_path / "l.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return batches(tmp_path / "l.jsonl")


KINDS = {
    "frame": lambda folder: batches(frame(), text="c"),
    "table": as_table,
    "parquet": as_parquet,
    "lists": as_lists,
    "groups": lambda folder: groups(write_groups(folder / "g.svm")),
    "sentences": lambda folder: sentences(write_sentences(folder / "s.conll")),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_source(kind: str, tmp_path: Path) -> None:
    whole = KINDS[kind](tmp_path)
    source = Withheld(KINDS[kind](tmp_path), seed=0)
    parts = list(source)
    kept = source.sample()
    assert kept is not None
    assert sum(map(len, parts)) + len(kept) == 200
    assert (source.name, source.n_bytes, source.can_restart) == (
        whole.name, whole.n_bytes, whole.can_restart,
    )  # fmt: skip
    sum(map(len, whole))
    assert source.columns == whole.columns
    assert source.feature_names == whole.feature_names
    assert source.ignored == whole.ignored
    assert source.end_of(0) == whole.end_of(0)
    assert (source.can_grow, source.may_list) == (whole.can_grow, whole.may_list)
    assert type(kept) is type(parts[0])
    assert kept.is_labelled
    labels = [str(label) for batch in [*parts, kept] for label in batch.y]
    assert sorted(labels) == sorted(
        str(label) for batch in KINDS[kind](tmp_path) for label in batch.y
    )


def test_a_source_of_few_records_may_keep_none(tmp_path: Path) -> None:
    (tmp_path / "few.jsonl").write_text('{"text": "a", "label": "x"}\n')
    source = Withheld(batches(tmp_path / "few.jsonl"), seed=0)
    assert len(given(source)) == 1
    assert source.sample() is None
