from __future__ import annotations

import asyncio
import socket

import pytest

from surelearn.label.serve import _name, bound


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
