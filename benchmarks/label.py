"""The labelling page with 100,000 texts: from an answer to the next text, and memory.

A server is started as by the command, and answered through its socket as the page's script does:
the answer, and after it the panel. A text has some 70 words, as frequent as words are. The time is
that of the request which saves the answer, learns it, and brings the next text; a browser adds a
few milliseconds. The memory is what 100,000 texts add to the server after ten answers, when it has
hashed them and the model is still small, beside their hashed rows.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import numpy as np
from _measure import Claim, show, write

from surelearn.text import HashingVectorizer

TEXTS, WORDS = 100_000, 70
ANSWERS = 300
GOAL_MS, GOAL_TIMES = 100, 2
_COMMAND = [sys.executable, "-c", "from surelearn.cli import main; main()", "label"]


def texts(n: int) -> list[str]:
    """Texts of two topics; each has its words, and all share the rest."""
    random = np.random.default_rng(0)
    found = []
    for i in range(n):
        ranks = np.minimum(random.pareto(0.9, WORDS) * 20, 200_000).astype(int)
        topics = np.where(random.random(WORDS) < 0.15, "ab"[i % 2], "c")
        found.append(" ".join(f"{t}{rank}" for t, rank in zip(topics, ranks, strict=True)))
    return found


class Server:
    """A running page, and what a browser holds of it."""

    def __init__(self, pool: Path, labels: str) -> None:
        words = [str(pool), "--labels", labels, "--no-browser", "--port", "18000"]
        env = {**os.environ, "PYTHONUNBUFFERED": "1"}
        self._process = subprocess.Popen(
            [*_COMMAND, *words], stdout=subprocess.PIPE, text=True, env=env
        )
        assert self._process.stdout is not None
        lines = iter(self._process.stdout.readline, "")
        address = next(found[1] for line in lines if (found := re.search(r"Open (\S+)", line)))
        place = urlsplit(address)
        self._host = f"{place.hostname}:{place.port}"
        self._http = HTTPConnection(str(place.hostname), place.port)
        self._cookies: dict[str, str] = {}
        self.call("GET", f"/?{place.query}")
        self.call("POST", "/enter", name="ann")

    def call(self, method: str, path: str, **form: object) -> str:
        """The body of an answer."""
        headers = {"Host": self._host, "Origin": f"http://{self._host}", "X-Part": "1"}
        headers["Cookie"] = "; ".join(f"{k}={v}" for k, v in self._cookies.items())
        self._http.request(method, path, urlencode(form) or None, headers)
        answer = self._http.getresponse()
        for cookie in answer.headers.get_all("set-cookie") or ():
            name, _, value = cookie.partition(";")[0].partition("=")
            self._cookies[name] = value
        body = answer.read().decode()
        assert answer.status in (200, 303), body
        return body

    def resident(self) -> int:
        """Bytes of memory in use."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return 1024 * int(re.search(r"VmRSS:\s+(\d+)", status)[1])  # type: ignore[index]

    def stop(self) -> None:
        self._http.close()
        self._process.send_signal(signal.SIGINT)
        self._process.wait()


def answered(server: Server, n_labels: int, n: int) -> tuple[list[float], list[float]]:
    """Milliseconds to each next text, and to each panel."""
    page = server.call("GET", "/")
    to_text, to_panel = [], []
    for _ in range(n):
        found = re.search(r'data-item="(\d+)"', page)
        assert found is not None
        item = int(found[1])
        begin = time.perf_counter()
        page = server.call("POST", "/answer", item=item, label=f"label {item % n_labels}")
        shown = time.perf_counter()
        server.call("GET", "/panel")
        to_text.append(1e3 * (shown - begin))
        to_panel.append(1e3 * (time.perf_counter() - shown))
    return to_text, to_panel


def main() -> None:
    listed = texts(TEXTS)
    rows = HashingVectorizer(n_features=2**18, dtype=np.float32).transform(listed)
    hashed = rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes
    figures, lines, claims = {}, [], []
    for n_labels in (2, 20):
        labels = ",".join(f"label {i}" for i in range(n_labels))
        with tempfile.TemporaryDirectory() as folder:
            used = {}
            for n in (20, TEXTS):
                pool = Path(folder, f"{n}.jsonl")
                pool.write_text("".join(json.dumps({"text": t}) + "\n" for t in listed[:n]))
                server = Server(pool, labels)
                answered(server, n_labels, 10)
                used[n] = server.resident()
                times = answered(server, n_labels, 2 if n == 20 else ANSWERS)
                server.stop()
        more = (used[TEXTS] - used[20]) / hashed
        p50, p95 = np.percentile(times[0], [50, 95])
        key = f"{n_labels} labels"
        figures[key] = {"p50 ms": round(p50, 1), "p95 ms": round(p95, 1),
                        "panel p95 ms": round(float(np.percentile(times[1], 95)), 1),
                        "memory of the pool MB": round((used[TEXTS] - used[20]) / 1e6, 1),
                        "hashed rows MB": round(hashed / 1e6, 1)}  # fmt: skip
        lines.append([key, *(str(v) for v in figures[key].values())])
        claims += [
            Claim(f"answer to next text, 100,000 texts, {key}, p95", "-", f"{p95:.0f} ms",
                  f"< {GOAL_MS} ms", bool(p95 < GOAL_MS)),
            Claim(f"memory of a page with 100,000 texts, {key}", "their hashed rows",
                  f"{more:.1f}x", f"<= {GOAL_TIMES}x", more <= GOAL_TIMES),
        ]  # fmt: skip
    show("The labelling page", ["what", *figures[key]], lines)
    write("label", figures, claims, texts=TEXTS, answers=ANSWERS)


if __name__ == "__main__":
    main()
