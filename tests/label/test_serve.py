from __future__ import annotations

import asyncio
import socket

import pytest

from labelling import session
from surelearn.label.serve import _name, bound, serve


def test_a_port_in_use_means_the_next_one():
    with bound("127.0.0.1", 18765) as first, bound("127.0.0.1", 18765) as second:
        one, other = first.getsockname()[1], second.getsockname()[1]
        assert 18765 <= one < other < 18765 + 50


def test_an_address_of_another_machine_is_refused():
    with pytest.raises(OSError, match="Cannot assign"):
        bound("192.0.2.1", 18765)


def test_hosts_as_others_can_type_them():
    assert _name("::1") == "[::1]"
    assert _name("0.0.0.0") == socket.gethostname()


def test_small_packets_do_not_wait():
    async def option() -> int:
        found: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        async def accept(_, writer):
            accepted = writer.get_extra_info("socket")
            found.set_result(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        listener = bound("127.0.0.1", 18765)
        async with await asyncio.start_server(accept, sock=listener):
            _, writer = await asyncio.open_connection(*listener.getsockname())
            writer.close()
            return await found

    assert asyncio.run(option())


def test_the_page_runs_at_its_port_and_tells_nothing_of_the_server(tmp_path, monkeypatch):
    runs, told = [], []

    def run(server, sockets):
        runs.append((server.config, [one.getsockname()[1] for one in sockets]))

    monkeypatch.setattr("uvicorn.Server.run", run)
    serve(session(tmp_path), port=18765, ready=lambda *said: told.append(said))
    ((address, port),) = told
    assert address.startswith(f"http://127.0.0.1:{port}/?token=")
    ((config, ports),) = runs
    assert ports == [port]
    assert (config.access_log, config.server_header, config.date_header) == (False,) * 3
