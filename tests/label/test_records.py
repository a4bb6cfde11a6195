from __future__ import annotations

import json

import fsspec
import pytest

from surelearn.label import read_texts


def written(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_records_are_found_in_every_block_of_a_file(tmp_path):
    """Blocks have two megabytes; bad lines and blank ones are counted, but are no records."""
    lines = [json.dumps({"text": f"{'x' * 300} {i}", "n": i}) for i in range(20_000)]
    lines[5], lines[12_000], lines[12_001] = "bad", "", "{"
    path = tmp_path / "pool.jsonl"
    path.write_text("\n".join(lines))
    found = read_texts(path, skip_bad=True)
    items = [0, 5, 9_000, 11_999, len(found) - 1]
    records = found.records.of({item: found.text(item) for item in items})
    assert [r.values["n"] for item in items for r in records[item]] == [0, 6, 9001, 12_002, 19_999]
    assert all(r.line == r.values["n"] + 1 for item in items for r in records[item])


def test_a_glob_and_a_folder_are_read_again_by_file(tmp_path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(f"text,{name[0]}\n{name} one,1\n")
    for source in (
        tmp_path,
        f"{tmp_path}/*.csv",
        [f"file://{tmp_path}/a.csv", f"{tmp_path}/b.csv"],
    ):
        found = read_texts(source)
        (a,), (b,) = found.records.of({0: "a.csv one", 1: "b.csv one"}).values()
        assert (a.file, a.line, a.values["a"]) == (str(tmp_path / "a.csv"), 2, 1)
        assert (b.file, b.values["b"]) == (str(tmp_path / "b.csv"), 1)


def test_a_folder_of_a_filesystem_is_read_again_by_file():
    files = fsspec.filesystem("memory")
    for name in "ab":
        files.pipe(f"/records/{name}.csv", f"text,{name}\n{name} one,1\n".encode())
    found = read_texts("memory://records").records
    (a,), (b,) = found.of({0: "a one", 1: "b one"}).values()
    assert (a.file, a.line, a.values["a"]) == ("/records/a.csv", 2, 1)
    assert (b.file, b.line, b.values["b"]) == ("/records/b.csv", 2, 1)


def test_lines_of_old_files_end_with_a_carriage_return(tmp_path):
    (tmp_path / "pool.csv").write_bytes(b"text,n\rone,1\rtwo,2\r")
    found = read_texts(tmp_path / "pool.csv")
    (one,), (two,) = found.records.of({0: "one", 1: "two"}).values()
    assert (one.values["n"], two.values["n"]) == (1, 2)


def test_ids_must_be_there_and_differ(tmp_path):
    path = written(tmp_path / "p.jsonl", [{"text": "a", "id": 1}, {"text": "b", "id": 1}])
    with pytest.raises(ValueError, match=r"p\.jsonl, line 2: 'id' must be .* got 1 as in .*line 1"):
        read_texts(path, id="id")
    written(path, [{"text": "a", "id": 1}, {"text": "b"}])
    with pytest.raises(ValueError, match=r"p\.jsonl, line 2: 'id' must be an id, got none"):
        read_texts(path, id="id")
    with pytest.raises(ValueError, match="must have a column 'doc'"):
        read_texts(path, id="doc")
