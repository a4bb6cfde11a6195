"""A server killed with -9 while answers pour in: every acknowledged one is in the store."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import threading
import time

import httpx2
import pytest

from command import COMMAND
from labelling import label, text
from surelearn.label import Session, Store, read_texts

PEOPLE = ("ann", "bob", "cyd")
PART = {"x-part": "1"}


def started(pool, store):
    words = ["label", str(pool), "--labels", "good,bad", "--store", str(store), "--no-browser"]
    env = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE, text=True, env=env)
    for line in process.stdout:
        if found := re.search(r"Open (\S+)/\?token=(\S+)", line):
            return process, found[1], found[2]
    raise AssertionError("the server did not start")


def pour(address, token, name, told, most):
    """Answer until the server is gone; `told` has what it acknowledged."""
    with httpx2.Client(base_url=address, headers={"origin": address}) as browser:
        try:
            browser.get(f"/?token={token}")
            browser.post("/enter", data={"name": name})
            page = browser.get("/").text
            while len(told) < most:
                item = int(re.search(r'data-item="(\d+)"', page)[1])
                answer = {"item": item, "label": label(item)}
                got = browser.post("/answer", data=answer, headers=PART)
                if got.status_code == 200:
                    told.append((name, item, label(item)))
                page = got.text
        except httpx2.TransportError:
            return


def killed_while_pouring(pool, store, after):
    process, address, token = started(pool, store)
    told: list[tuple[str, int, str]] = []
    threads = [
        threading.Thread(target=pour, args=(address, token, name, told, 1000)) for name in PEOPLE
    ]
    for thread in threads:
        thread.start()
    while len(told) < after and any(thread.is_alive() for thread in threads):
        time.sleep(0.002)
    process.kill()
    process.wait()
    process.stdout.close()
    for thread in threads:
        thread.join()
    return told


@pytest.mark.slow
@pytest.mark.parametrize("run", range(10))
def test_every_acknowledged_answer_is_there(tmp_path, run):
    pool = tmp_path / "pool.jsonl"
    pool.write_text("".join(json.dumps({"text": text(i)}) + "\n" for i in range(2000)))
    store = tmp_path / "answers.db"
    after = random.Random(run).randrange(30, 600)
    told = killed_while_pouring(pool, store, after)
    assert len(told) >= after
    with Store(store) as opened:
        events = opened.events()
        saved = {(e.person, e.item, e.value["label"]) for e in events if e.kind == "answer"}
        assert set(told) <= saved
        assert len(saved) <= len(told) + len(PEOPLE)  # at most one each was on its way
        session = Session(read_texts(pool), opened)
        assert {step.item for step in session.label_steps()} == {item for _, item, _ in saved}
        assert session.question("ann") is not None
