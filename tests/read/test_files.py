"""Where files lie and how they are packed changes nothing of what is read."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import os
import re
import subprocess
import sys
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import fsspec
import pandas
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import fs, parquet

from reading import blocks_of, check_going_on, content, dumped, joined, records, rows
from surelearn import read
from surelearn.read._files import XzReader

PAIRS = [("good film", "pos"), ("bad\nfilm", "neg"), ("naïve 🙂", "pos")] * 5

PACKED = {
    "gz": gzip.compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "zst": lambda data: pa.compress(data, "zstd", asbytes=True),
    "lz4": lambda data: pa.compress(data, "lz4", asbytes=True),
}


def as_csv(pairs):
    # All quoted: a carriage return that is left bare before a newline would be part of it.
    frame = pd.DataFrame(pairs, columns=["text", "label"])
    return frame.to_csv(index=False, quoting=csv.QUOTE_ALL).encode()


@pytest.fixture
def folder(tmp_path):
    """The same records in four formats."""
    frame = pd.DataFrame(PAIRS, columns=["text", "label"])
    (tmp_path / "a.jsonl").write_bytes(dumped(PAIRS))
    (tmp_path / "a.csv").write_bytes(as_csv(PAIRS))
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_feather(tmp_path / "a.feather")
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(dumped(PAIRS)))
    (tmp_path / "a.csv.xz").write_bytes(lzma.compress(as_csv(PAIRS)))
    return tmp_path


NAMES = ["a.jsonl", "a.csv", "a.parquet", "a.feather", "a.jsonl.gz", "a.csv.xz"]


@given(
    pairs=records(["texts"], min_size=4),
    packing=st.sampled_from(list(PACKED)),
    kind=st.sampled_from(["jsonl", "csv"]),
    size=st.sampled_from([40, 300]),
)
def test_blocks_are_the_same_through_any_packing(pairs, packing, kind, size, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    pairs = [("", "x"), *pairs]
    data = dumped(pairs) if kind == "jsonl" else as_csv(pairs)
    plain, packed = folder / f"a.{kind}", folder / f"a.{kind}.{packing}"
    plain.write_bytes(data)
    packed.write_bytes(PACKED[packing](data))
    with blocks_of(size):
        blocks = [list(read.batches(path).blocks()) for path in (plain, packed)]
        check_going_on(read.batches(packed))
    one, other = [[(b.data, b.first, b.end, content(b.parse())) for b in bs] for bs in blocks]
    assert one == other
    assert sum(block.n_bytes for block in blocks[1]) == packed.stat().st_size


@pytest.mark.parametrize("packing", [name for name in PACKED if name != "lz4"])
def test_packed_files_in_several_parts_are_read_to_the_end(packing, tmp_path):
    path = tmp_path / f"a.jsonl.{packing}"
    path.write_bytes(PACKED[packing](dumped(PAIRS)) + PACKED[packing](dumped(PAIRS[:2])))
    assert rows(path) == ([*PAIRS, *PAIRS[:2]], 0)


@pytest.mark.parametrize("packing", PACKED)
@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_packed_files_that_are_cut_or_damaged_are_named(packing, kind, tmp_path):
    path = tmp_path / f"a.{kind}.{packing}"
    data = PACKED[packing](dumped(PAIRS) if kind == "jsonl" else as_csv(PAIRS))
    for damaged in (data[: len(data) // 2], b"plain text", data[:9] + b"\0" * (len(data) - 9)):
        path.write_bytes(damaged)
        with pytest.raises(
            read.BadInput, match=f"{path.name} must be a valid compressed file, got"
        ):
            rows(path)


def test_names_lists_and_globs(folder, monkeypatch):
    monkeypatch.chdir(folder)
    os.makedirs("deep/er")
    os.makedirs("deep/z.jsonl")  # a folder
    for name in ("deep/b.jsonl", "deep/er/c.jsonl", "odd[1].jsonl"):
        pd.DataFrame([(name, "x")], columns=["text", "label"]).to_json(
            name, orient="records", lines=True
        )
    assert rows("deep/*.jsonl") == ([("deep/b.jsonl", "x")], 0)
    assert rows("deep/**/*.jsonl") == ([("deep/b.jsonl", "x"), ("deep/er/c.jsonl", "x")], 0)
    assert rows("odd[1].jsonl") == ([("odd[1].jsonl", "x")], 0)  # a name before it is a glob
    both = read.batches(["deep/er/c.jsonl", folder / "deep" / "b.jsonl"])
    assert [batch.y.tolist() for batch in both] == [["x"], ["x"]]
    assert both.name == "deep/er/c.jsonl and 1 more"
    assert both.n_bytes == sum(os.path.getsize(f"deep/{n}.jsonl") for n in ("b", "er/c"))
    with pytest.raises(FileNotFoundError, match=r"must match at least one file, got 'x/\*.jsonl'"):
        read.batches("x/*.jsonl")
    with pytest.raises(FileNotFoundError, match=r"nowhere.jsonl"):
        rows("nowhere.jsonl")
    with pytest.raises(FileNotFoundError, match=r"nowhere.parquet"):
        rows("nowhere.parquet")


class Plain(SimpleHTTPRequestHandler):
    """Gives whole files."""

    def log_message(self, *args):
        """Say nothing."""


class Ranges(Plain):
    """Gives parts of files, as most servers do."""

    def send_head(self):
        file = super().send_head()
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if file is None or asked is None:
            return file
        with file:
            first, last = map(int, asked.groups())
            return io.BytesIO(file.read()[first : last + 1])

    def send_response(self, code, message=None):
        super().send_response(206 if code == 200 and "Range" in self.headers else code, message)

    def send_header(self, keyword, value):
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if keyword == "Content-Length" and asked:
            first, last = map(int, asked.groups())
            size, value = int(value), min(int(value), last + 1) - first
            super().send_header("Content-Range", f"bytes {first}-{first + value - 1}/{size}")
        super().send_header(keyword, str(value))

    def end_headers(self):
        super().send_header("Accept-Ranges", "bytes")
        super().end_headers()


@pytest.fixture(params=[Ranges])
def address(folder, request):
    """The folder, served by this machine to itself."""
    handler = partial(request.param, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("name", NAMES)
def test_files_are_read_over_http(name, address):
    assert rows(f"{address}/{name}") == (PAIRS, 0)
    source = read.batches([f"{address}/{name}"] * 2)
    with blocks_of(100):
        assert check_going_on(source) >= 2


@pytest.mark.parametrize("address", [Plain], indirect=True)
def test_servers_that_give_whole_files_are_good_for_lines(address, folder):
    many = PAIRS * 9000  # several of the parts that fsspec asks for
    (folder / "big.jsonl").write_bytes(dumped(many))
    assert rows(f"{address}/big.jsonl") == (many, 0)
    assert rows(f"{address}/a.csv.xz") == (PAIRS, 0)


def test_a_file_that_is_not_served_is_named(address):
    with pytest.raises(FileNotFoundError, match=r"nowhere.jsonl"):
        rows(f"{address}/nowhere.jsonl")


@pytest.mark.parametrize("name", NAMES)
def test_files_are_read_from_filesystems(name, folder):
    assert rows(name, filesystem=fs.SubTreeFileSystem(str(folder), fs.LocalFileSystem())) == (
        PAIRS,
        0,
    )
    assert rows((folder / name).as_uri()) == (PAIRS, 0)
    memory = fsspec.filesystem("memory")
    memory.pipe(f"/room/{name}", (folder / name).read_bytes())
    assert rows(f"/room/{name}", filesystem=memory) == (PAIRS, 0)
    assert rows(f"memory://room/{name}") == (PAIRS, 0)
    source = read.batches(f"memory://room/{name}")
    assert source.n_bytes == (folder / name).stat().st_size
    memory.rm("/room", recursive=True)


READ = """
import sys
from surelearn import read
source = read.batches("-", **{options})
assert not source.can_restart
assert source.n_bytes is None
for batch in source:
    print(batch.X.to_pylist(), batch.y.tolist(), flush=True)
"""


def reading(**options):
    """A process that reads its standard input."""
    code = READ.replace("{options}", repr(options))
    return subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        (
            "jsonl",
            [
                b'{"text": "a", "label": 1}\n',
                b'{"text": "b", "label": 2}\n{"te',
                b'xt":"c","label":3}',
            ],
        ),
        ("csv", [b"text,label\n", b"a,1\n", b'b,2\n"c', b'",3']),
    ],
)
def test_standard_input_gives_records_as_they_arrive(kind, parts):
    process = reading(format=kind)
    too_late = threading.Timer(60, process.kill)  # rather than wait for ever
    too_late.start()
    wanted = [b"['a'] [1]\n", b"['b'] [2]\n", b"['c'] [3]\n"]
    for part in parts[:-1]:
        process.stdin.write(part)
        process.stdin.flush()
        if part != b"text,label\n":
            # Before the pipe is closed; what follows is not written until this is read.
            assert process.stdout.readline() == wanted.pop(0)
        time.sleep(0.05)
    rest, _ = process.communicate(parts[-1])
    too_late.cancel()
    assert [rest] == wanted
    assert process.returncode == 0


def test_standard_input_of_other_formats():
    table = pa.table({"text": ["a", "b"], "label": [1, 2]})
    out = pa.BufferOutputStream()
    with pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)
    process = reading(format="arrow")
    printed, _ = process.communicate(out.getvalue().to_pybytes())
    assert printed == b"['a', 'b'] [1, 2]\n"
    with pytest.raises(read.BadInput, match=r"a parquet file must be on disk, got standard input"):
        read.batches("-", format="parquet")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_a_pipe_is_read_as_standard_input_is(kind, tmp_path):
    pipe = tmp_path / f"pipe.{kind}"
    os.mkfifo(pipe)
    data = (dumped if kind == "jsonl" else as_csv)(PAIRS)
    writer = threading.Thread(target=pipe.write_bytes, args=(data,), daemon=True)
    writer.start()
    source = read.batches(pipe)
    assert (source.can_restart, source.n_bytes) == (False, None)
    assert joined(source) == (PAIRS, 0)
    writer.join()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_of_a_format_that_has_to_be_read_twice_is_refused(tmp_path):
    for name in ("a.parquet", "a.arrow", "a.svm"):
        os.mkfifo(tmp_path / name)
    with pytest.raises(read.BadInput, match=r"a parquet file must be on disk, got .*a\.parquet"):
        read.batches(tmp_path / "a.parquet")
    with pytest.raises(read.BadInput, match=r"a\.arrow must be a file, got a pipe"):
        read.batches(tmp_path / "a.arrow")
    threading.Thread(target=(tmp_path / "a.svm").write_text, args=("1 1:1",), daemon=True).start()
    with pytest.raises(read.BadInput, match=r"n_features must be given for svmlight from .*a\.svm"):
        list(read.batches(tmp_path / "a.svm"))


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(tmp_path):
    """100 MB or 300 MB of text take the same memory, whatever the format."""
    code = (
        "import re, sys; from pathlib import Path; from surelearn import read\n"
        "n = sum(len(batch) for batch in read.batches(sys.argv[1]))\n"
        "status = Path('/proc/self/status').read_text()\n"
        "print(n, re.search(r'VmHWM:\\s+(\\d+)', status)[1])"
    )
    table = pa.table({"text": [f"{i} some words of a text " * 20 for i in range(20_000)]})
    for kind in ("jsonl", "csv", "parquet", "arrow"):
        peaks = []
        for times in (10, 30):
            path = tmp_path / f"{times}.{kind}"
            write_times(table, times, path)
            run = [sys.executable, "-c", code, str(path)]
            n, peak = map(int, subprocess.run(run, capture_output=True, check=True).stdout.split())
            assert n == times * 20_000
            peaks.append(peak)
        # Pages of a mapped file count, and are given back when somebody needs them.
        mapped = os.path.getsize(path) // 1024 if kind == "arrow" else 0
        assert peaks[1] < 1.05 * peaks[0] + mapped, (kind, peaks)


def write_times(table, times, path):
    """A table again and again, in a row group or a batch each."""
    if path.suffix in (".jsonl", ".csv"):
        frame = table.to_pandas()
        json_ = path.suffix == ".jsonl"
        text = frame.to_json(orient="records", lines=True) if json_ else frame.to_csv(index=False)
        head, body = ("", text) if json_ else (text[:5], text[5:])
        path.write_text(head + body * times)
    elif path.suffix == ".parquet":
        parquet.write_table(pa.concat_tables([table] * times), path, row_group_size=10**7)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            for _ in range(times):
                writer.write_table(table)


@pytest.mark.parametrize("reader", [read.sentences, read.groups])
def test_a_source_of_lines_must_be_named(reader):
    with pytest.raises(TypeError, match=r"source must be a list of paths, got one with \['a'\]"):
        read.batches([["a"]])
    with pytest.raises(TypeError, match=r"source must be a path, .* or a Source, got DataFrame\."):
        reader(pandas.DataFrame({"a": [1]}))


PAIRS_XZ = [("good film", "pos"), ("bad film", "neg")] * 5
ONE = lzma.compress(dumped(PAIRS_XZ))


def decoded(data, size=100):
    reader = XzReader(io.BytesIO(data))
    return b"".join(iter(lambda: reader.read(size), b""))


@given(
    parts=st.lists(st.tuples(st.binary(max_size=300), st.integers(0, 40_000)), min_size=1),
    size=st.integers(1, 500),
)
def test_streams_and_their_padding_are_decoded(parts, size):
    data = b"".join(lzma.compress(part) + bytes(4 * words) for part, words in parts)
    assert decoded(data, size) == b"".join(part for part, _ in parts)


@given(flipped=st.integers(0, len(ONE) - 1), bit=st.integers(0, 7))
def test_a_flipped_bit_in_a_later_stream_is_found(flipped, bit):
    """It ended the file without an error, and the second stream was lost."""
    second = bytearray(ONE)
    second[flipped] ^= 1 << bit
    with pytest.raises((lzma.LZMAError, EOFError), match=r"."):
        decoded(ONE + bytes(second))


@pytest.mark.parametrize(
    "after",
    [b"trailing garbage", b"x", b"\0", b"\0" * 5, b"\0" * 6 + ONE, b"\0\0\0\0x", ONE[:4], ONE[:-1]],
)
def test_what_is_no_stream_after_one_is_refused(after, tmp_path):
    path = tmp_path / "a.jsonl.xz"
    path.write_bytes(ONE + after)
    with pytest.raises(read.BadInput, match=r"a\.jsonl\.xz must be a valid compressed file, got"):
        rows(path)
    with pytest.raises(read.BadInput, match=r"a\.jsonl\.xz must be a valid compressed file, got"):
        rows(path, skip_bad=True)


def test_padding_is_no_data(tmp_path):
    path = tmp_path / "a.jsonl.xz"
    path.write_bytes(ONE + bytes(8) + ONE + bytes(4))
    assert rows(path) == (PAIRS_XZ * 2, 0)
    path.write_bytes(bytes(4) + ONE)
    with pytest.raises(read.BadInput, match=r"a\.jsonl\.xz must be a valid compressed file, got"):
        rows(path)
