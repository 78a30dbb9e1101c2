"""The unit layer keeps what it promises."""

from __future__ import annotations

import socket

import pytest
from pytest_socket import SocketBlockedError


@pytest.mark.filterwarnings("ignore:A test tried to use socket")
def test_a_unit_test_cannot_open_a_connection() -> None:
    with pytest.raises(SocketBlockedError):
        socket.socket(socket.AF_INET, socket.SOCK_STREAM)


async def test_a_unit_test_can_run_an_event_loop() -> None:
    """Its own wake-up goes through a pair of Unix sockets."""
