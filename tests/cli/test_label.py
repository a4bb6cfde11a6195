from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager

import httpx2
import pytest

from command import COMMAND, run
from labelling import label, text
from surelearn.label import Session, Store, read_texts

OPEN = re.compile(r"Open (http://\S+/)\?token=(\S+)")


@pytest.fixture
def pool(tmp_path):
    path = tmp_path / "pool.jsonl"
    records = [{"text": text(i)} for i in range(40)] + [{"text": text(0)}, {"text": " "}]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@contextmanager
def served(*words: object):
    """The lines that a server prints, its address and token."""
    line = [*COMMAND, "label", *map(str, words), "--no-browser"]
    env = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=env) as process:
        said: list[str] = []
        found = None
        while found is None:
            said.append(process.stdout.readline())
            assert said[-1], "".join(said)
            found = OPEN.search(said[-1])
        try:
            yield "".join(said), found[1], found[2]
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(20) in (0, 130)


def test_the_page_is_served_and_says_what_it_read(pool, tmp_path):
    with served(pool, "--labels", "good,bad", "--port", 18800) as (said, address, token):
        assert "40 texts to choose from." in said
        assert "Skipped because they occur more than once: 1." in said
        assert "Skipped because they are empty: 1." in said
        assert f"Answers are kept in {pool}.answers." in said
        assert address.startswith("http://127.0.0.1:")
        with httpx2.Client(follow_redirects=True) as browser:
            assert "Who is labelling?" in browser.get(f"{address}?token={token}").text
            assert browser.get(f"{address}static/page.js").status_code == 200
    assert (tmp_path / "pool.jsonl.answers").exists()


def test_a_port_in_use_is_said(pool):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with served(pool, "--port", port) as (said, address, _):
            assert f"Port {port} is in use" in said
            assert f":{port}/" not in address


def test_rebuild_compares_bytes(pool):
    from labelling import answer
    from surelearn.label.rebuild import leave_mark

    with Store(f"{pool}.answers") as store:
        session = Session(read_texts(pool), store, ["good", "bad"])
        answer(session, n=8)
        leave_mark(session)
    found = run("label", pool, "--rebuild")
    assert found.exit_code == 0, found.output
    assert "All bytes are the same" in found.output
    assert "8 labels" in found.output


def test_bad_input_is_one_line(pool, tmp_path):
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text('{"title": "a"}\n')
    assert "line 1" in run("label", wrong, "--text", "text").output
    other = tmp_path / "other.jsonl"
    other.write_text('{"text": "another"}\n')
    assert "needs a file of answers, got none" in " ".join(
        run("label", pool, "--rebuild").output.replace("│", "").split()
    )
    assert not pool.with_name("pool.jsonl.answers").exists()
    with Store(f"{pool}.answers") as store:
        Session(read_texts(pool), store)
    found = run("label", other, "--store", f"{pool}.answers")
    assert found.exit_code == 1
    assert "must be the store of this pool, got that of" in found.output
    numbers = tmp_path / "numbers.csv"
    numbers.write_text("a,b\n1,2\n")
    assert "got numbers. Name one by --text." in run("label", numbers).output
    both = run("label", pool, "--labels", "a", "--tags", "b")
    assert "labels must be given once, got --labels and --tags" in both.output


def test_an_export_over_the_pool_names_the_option(pool):
    before = pool.read_bytes()
    found = run("label", pool, "--export", pool)
    assert "Invalid value for --export: export must not be one of the inputs" in found.output
    assert pool.read_bytes() == before


@pytest.mark.slow
def test_labels_of_a_column_are_the_start(tmp_path):
    path = tmp_path / "pool.csv"
    lines = [f'"{text(i)}",{label(i) if i < 4 else ""}' for i in range(9)]
    path.write_text("body,kind\n" + "\n".join(lines) + "\n")
    words = (path, "--text", "body", "--label", "kind", "--port", 18900)
    with served(*words) as (said, _, _):
        assert "4 are there already." in said
    path.write_text(path.read_text().replace("good", "odd"))
    with served(*words) as (said, _, _):
        assert "Labels of the files that contradict an answer, which was kept: 2." in said


def test_sentences_are_served(tmp_path):
    path = tmp_path / "s.conll"
    path.write_text("Mr\nAdams\n\nin\nOslo\n")
    with served(path, "--spans", "PER,LOC", "--port", 18950) as (said, _, _):
        assert "2 sentences to choose from." in said


def test_the_missing_extra_is_named(pool):
    hide = "import sys; sys.modules['uvicorn'] = None; from surelearn.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", hide, "label", str(pool)], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "pip install '.[label]'" in done.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--spans", "PER", "--text", "w"], "--text is for texts."),
        (["--tags", "A,B", "--delimiter", ";"], "--delimiter is for texts."),
        (["--tags", "A,B", "--label-separator", ";"], "--label-separator is for texts."),
        (["--tags", "A,B", "--many"], "--many is for texts."),
        (["--labels", "A,B", "--columns", "w,t"], "--columns is for sentences."),
    ],
)
def test_options_of_the_other_kind_are_refused(tmp_path, words, says):
    path = tmp_path / "s.conll"
    path.write_text("we O\nagree O\n")
    done = run("label", path, *words, "--rebuild")
    assert done.exit_code == 2
    assert says in " ".join(done.output.replace("│", "").split())
    assert not (tmp_path / "s.conll.answers").exists()


def words_of(done) -> str:
    """The output of a command, without the frame around errors."""
    return " ".join(done.output.replace("│", "").split())


def test_an_export_joins_the_pool(pool, tmp_path):
    lines = pool.read_text().splitlines()
    records = [json.loads(line) | {"doc": f"d{i}"} for i, line in enumerate(lines)]
    pool.write_text("".join(json.dumps(record) + "\n" for record in records))
    with Store(f"{pool}.answers") as store:
        session = Session(read_texts(pool), store, ["good", "bad"])
        for person in ("ann", "bob"):
            session.choose(person, 0)
            session.answer(person, 0, "good" if person == "ann" else "bad")
    for words, wanted in (
        ([], [("d0", "good"), ("d40", "good"), ("d0", "bad"), ("d40", "bad")]),
        (["--agreed"], [("d0", "good"), ("d40", "good")]),
    ):
        done = run("label", pool, "--id", "doc", "--export", tmp_path / "out.jsonl", *words)
        assert done.exit_code == 0, done.output
        assert "1 labelled texts are in" in done.output
        text = (tmp_path / "out.jsonl").read_text()
        lines = [json.loads(line) for line in text.splitlines()]
        assert [(line["doc"], line["label"]) for line in lines] == wanted
        assert all(records[line["line"] - 1]["doc"] == line["doc"] for line in lines)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--export", "x.xlsx"], "--export must name a file that ends in one of .jsonl, .csv,"),
        (["--agreed"], "--agreed needs a file to export to, got none."),
        (["--export", "x.csv"], "--export needs a file of answers, got none at"),
    ],
)
def test_exports_that_cannot_be_are_refused(pool, words, says):
    done = run("label", pool, *words)
    assert done.exit_code == 2
    assert says in words_of(done)


def test_an_export_never_replaces_the_pool(pool):
    with Store(f"{pool}.answers") as store:
        Session(read_texts(pool), store, ["good", "bad"])
    before = pool.read_bytes()
    assert run("label", pool, "--export", pool).exit_code == 2
    assert pool.read_bytes() == before


def test_a_table_is_labelled_by_all_its_columns(tmp_path):
    path = tmp_path / "pool.csv"
    lines = [f"{i},{label(i)} film {i},{i % 3},{label(i) if i < 6 else ''}" for i in range(40)]
    path.write_text("\n".join(["id,title,rooms,stars", *lines]) + "\n")
    words = [path, "--table", "--id", "id", "--label", "stars", "--category", "rooms"]
    with served(*words, "--port", 18860) as (said, _, _):
        assert "40 records to choose from." in said
        assert re.search(r"rooms +category .* given", said)
        assert re.search(r"title +text", said)
        assert "6 are there already." in said
    done = run("label", *words, "--export", tmp_path / "out.csv", "--agreed")
    assert done.exit_code == 0, done.output
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 7
    refused = run("label", path, "--table", "--many", "--labels", "a,b")
    assert refused.exit_code == 2
    assert "cannot be with" in refused.output
