"""Files behind a network: errors of one line, and waits that end."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import fsspec
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import fs

from command import COMMAND
from reading import dumped
from surelearn import read
from surelearn.read import _remote

PAIRS = [("good film", "pos"), ("bad film", "neg")] * 40_000
MODEL = Path(__file__).parents[1] / "data/models/0.1.0-format2-text-classifier.sure"
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}

#: Addresses of three libraries, which find their server at the port.
ADDRESSES = {
    "http": "http://127.0.0.1:{port}/room/a.{ending}",
    "s3": "s3://key:secret@room/a.{ending}?scheme=http&region=x&endpoint_override=127.0.0.1:{port}",
    "gs": "gs://anonymous@room/a.{ending}?scheme=http&endpoint_override=127.0.0.1:{port}",
}


@pytest.fixture
def silent():
    """The port of a server that accepts every connection and never answers, and an event that is
    set by the first."""
    server = socket.create_server(("127.0.0.1", 0), backlog=64)
    kept, asked = [], threading.Event()

    def work():
        while True:
            try:
                kept.append(server.accept()[0])
            except OSError:
                return
            asked.set()

    thread = threading.Thread(target=work)
    thread.start()
    yield server.getsockname()[1], asked
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    thread.join()
    for connection in kept:
        connection.close()


@contextmanager
def serving(content, stalls_at):
    """The port of a server of one file, which it never sends beyond a place, and an event that is
    set when somebody waits there."""
    stop, stalled = threading.Event(), threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self):
            self.send_response(200)
            self.send_header("Accept-Ranges", "bytes")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()

        def do_GET(self):
            asked = re.fullmatch(r"bytes=(\d+)-(\d+)?", self.headers.get("Range", "bytes=0-"))
            begin, end = int(asked[1]), min(int(asked[2] or len(content)) + 1, len(content))
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{len(content)}")
            self.send_header("Content-Length", str(end - begin))
            self.end_headers()
            self.wfile.write(content[begin : min(end, max(stalls_at, begin))])
            if end > stalls_at:
                stalled.set()
                stop.wait()

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port, stalled
    finally:
        stop.set()
        server.shutdown()
        thread.join()
        server.server_close()


def stopped(command, number, waits):
    """Exit code of a command and what it says, stopped while it waits for a server."""
    process = subprocess.Popen(
        [*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert waits.wait(60)
        time.sleep(0.5)  # the server hears of the call before the main thread waits for it
        assert process.poll() is None
        process.send_signal(number)
        begin = time.monotonic()
        out, said = process.communicate(timeout=30)
    finally:
        process.kill()
    assert time.monotonic() - begin < 5
    return process.returncode, out, said


@pytest.mark.parametrize(
    ("scheme", "ending", "number"),
    [
        ("http", "jsonl", signal.SIGTERM),
        ("http", "parquet", signal.SIGINT),
        ("s3", "jsonl", signal.SIGINT),
        ("gs", "jsonl", signal.SIGTERM),
        ("gs", "parquet", signal.SIGINT),
    ],
)
def test_a_server_that_never_answers_is_left_at_a_signal(scheme, ending, number, silent, tmp_path):
    """Arrow's libraries waited in the main thread for minutes, and no signal was handled."""
    port, asked = silent
    address = ADDRESSES[scheme].format(port=port, ending=ending)
    command = [*COMMAND, "train", address, "-o", tmp_path / "m.sure"]
    code, out, said = stopped(command, number, asked)
    assert (code, out) == (CODES[number], "")
    assert said in ("", "surelearn: interrupted before anything was learnt.\n")


@pytest.mark.parametrize("ending", ["jsonl", "parquet", "arrow"])
@pytest.mark.parametrize("number", CODES)
def test_a_server_that_stops_sending_is_left_at_a_signal(ending, number, tmp_path):
    frame = pd.DataFrame(PAIRS, columns=["text", "label"])
    if ending == "jsonl":
        content = dumped(PAIRS)
    elif ending == "parquet":
        content = frame.to_parquet(row_group_size=1000)
    else:
        frame.to_feather(tmp_path / "a", compression="uncompressed")
        content = (tmp_path / "a").read_bytes()
    with serving(content, stalls_at=2000) as (port, stalled):
        address = ADDRESSES["http"].format(port=port, ending=ending)
        command = [*COMMAND, "train", address, "-o", tmp_path / "m.sure"]
        code, _, said = stopped(command, number, stalled)
    assert code == CODES[number]
    assert said in ("", "surelearn: interrupted before anything was learnt.\n")


def test_python_hears_ctrl_c_too(silent):
    port, asked = silent
    address = ADDRESSES["gs"].format(port=port, ending="jsonl")
    code = f"from surelearn import read; read.batches({address!r})"
    _, _, said = stopped([sys.executable, "-c", code], signal.SIGINT, asked)
    assert said.endswith("KeyboardInterrupt\n")


def test_a_server_that_never_answers_is_given_up(silent, monkeypatch):
    monkeypatch.setattr(_remote, "TIMEOUT", 0.5)
    begin = time.monotonic()
    with pytest.raises(OSError, match=r"must be a file, got none: .*[Tt]imeout"):
        read.batches(ADDRESSES["http"].format(port=silent[0], ending="jsonl"))
    assert 1 <= time.monotonic() - begin < 20


def test_a_server_that_stops_sending_is_no_damage(monkeypatch):
    monkeypatch.setattr(_remote, "TIMEOUT", 0.5)
    frame = pd.DataFrame(PAIRS, columns=["text", "label"])
    content = {"jsonl": dumped(PAIRS), "parquet": frame.to_parquet(row_group_size=1000)}
    content["jsonl.gz"] = pa.compress(content["jsonl"], "gzip", asbytes=True)
    for ending, data in content.items():
        with serving(data, stalls_at=2000) as (port, _):
            address = ADDRESSES["http"].format(port=port, ending=ending)
            with pytest.raises(
                OSError, match=r"a\.\S+ must be a file that can be read, got no answer in "
            ):
                list(read.batches(address, text="text", label="label"))


def test_a_chain_of_addresses_gives_up_as_well(silent, monkeypatch, tmp_path):
    monkeypatch.setattr(_remote, "TIMEOUT", 0.5)
    address = ADDRESSES["http"].format(port=silent[0], ending="jsonl")
    with pytest.raises(OSError, match=r"jsonl must be .*, got no answer in time\.$"):
        read.batches(f"filecache::{address}")


def line_of(address, *, without=None):
    """What the command says of an address, which is one line."""
    hide = "" if without is None else f"sys.modules[{without!r}] = None;"
    code = f"import sys; {hide} from surelearn.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "predict", MODEL, address], capture_output=True, text=True
    )
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    return line.removeprefix("surelearn: ")


def test_a_package_that_is_missing_is_named():
    install = "In a clone of surelearn, run: pip install '.[files]'"
    address = "https://127.0.0.1:1/a.jsonl"
    assert (
        line_of(address, without="aiohttp")
        == f"reading https:// needs aiohttp, got none. {install}"
    )
    assert line_of("sftp://127.0.0.1/a.jsonl", without="paramiko") == (
        "reading sftp:// needs paramiko, got none. Run: pip install 'fsspec[sftp]'"
    )
    assert line_of("hf://datasets/a/b.jsonl", without="huggingface_hub") == (
        "reading hf:// needs huggingface_hub, got none. Run: pip install huggingface_hub"
    )


def test_addresses_that_lead_nowhere_are_one_line():
    nowhere = "http://127.0.0.1:1/a.jsonl"
    assert line_of(nowhere).startswith(
        f"{nowhere} must be a file, got none: Cannot connect to host"
    )
    assert line_of("nosuch://a.jsonl") == (
        "source must be an address that can be read, got 'nosuch://a.jsonl': "
        "Protocol not known: nosuch"
    )


def test_a_cloud_out_of_reach_is_one_line():
    line = line_of(f"{ADDRESSES['gs']}&retry_limit_seconds=1".format(port=1, ending="jsonl"))
    assert line.startswith("gs://room/a.jsonl must be a file that can be read, got ")
    assert line.endswith("Could not connect to server.")


def test_the_wait_for_a_cloud_is_bounded_unless_the_address_says_how():
    bounded = _remote._limit_retries
    assert bounded("gs://a/b") == "gs://a/b?retry_limit_seconds=20"
    assert bounded("gs://a/b?scheme=http") == "gs://a/b?scheme=http&retry_limit_seconds=20"
    assert bounded("gs://a/b?retry_limit_seconds=9") == "gs://a/b?retry_limit_seconds=9"
    assert bounded("s3://a/b") == "s3://a/b"


def test_a_filesystem_must_be_one():
    with pytest.raises(TypeError, match="filesystem must be one of pyarrow or fsspec, got str"):
        read.batches("a.jsonl", filesystem="s3")


@pytest.mark.parametrize("kind", ["arrow", "fsspec"])
def test_folders_of_filesystems(kind, tmp_path):
    (tmp_path / "b.jsonl").write_bytes(dumped(PAIRS[:2]))
    (tmp_path / "a.jsonl").write_bytes(dumped(PAIRS[:1]))
    (tmp_path / "inner").mkdir()
    filesystem = fs.LocalFileSystem() if kind == "arrow" else fsspec.filesystem("file")
    source = read.batches(str(tmp_path), filesystem=filesystem)
    assert [len(batch) for batch in source] == [1, 2]
    with pytest.raises(ValueError, match="source must name files one by one on a filesystem"):
        read.batches(f"{tmp_path}/*.jsonl", filesystem=filesystem)
    with pytest.raises(FileNotFoundError, match=r"c\.jsonl must be a file, got none\.$"):
        read.batches(f"{tmp_path}/c.jsonl", filesystem=filesystem)
