"""What `conftest.py` promises to every other test."""

from __future__ import annotations

import asyncio
import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st


def test_home_is_an_empty_directory() -> None:
    assert list(Path.home().iterdir()) == []


def test_personal_variables_are_absent() -> None:
    personal = ("ANTHROPIC_API_KEY", "CLAUDE_CONFIG_DIR", "CI", "HTTPS_PROXY", "XDG_CONFIG_HOME")

    assert [name for name in personal if name in os.environ] == []


@pytest.mark.parametrize(
    "address", [("192.0.2.1", 9), ("example.invalid", 80)], ids=["number", "name"]
)
def test_connecting_elsewhere_is_refused(address: tuple[str, int]) -> None:
    with socket.socket() as client, pytest.raises(pytest.fail.Exception, match=address[0]):
        client.connect(address)


def test_looking_up_a_foreign_name_is_refused() -> None:
    with pytest.raises(pytest.fail.Exception, match=r"example\.invalid"):
        socket.create_connection(("example.invalid", 80))


def test_a_local_server_is_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname()) as client:
            connected = client.getpeername()

        assert connected == server.getsockname()


def test_asyncio_still_connects() -> None:
    async def connect() -> bool:
        server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
        async with server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            ended = await reader.read() == b""
            writer.close()
            await writer.wait_closed()
        return ended

    assert asyncio.run(connect())


@given(st.integers())
def test_hypothesis_accepts_the_automatic_fixtures(number: int) -> None:
    assert number == number + 0
