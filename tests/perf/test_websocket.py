# SPDX-License-Identifier: Apache-2.0
"""What an echo over WebSocket costs: user instructions of a whole turn of the loop for a message of 64 bytes."""

import budgets
import counted
import pytest

from harness import http, process
from harness.plugins import load

OPENING = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
           "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
MASKED = b"\x82\xc0\x01\x02\x03\x04" + b"m" * 64


def open_socket(connection):
    connection.send(http.request("/echo", headers=OPENING))
    assert http.read_head(connection.stream).status == 101


def echo(connection):
    connection.send(MASKED)
    assert len(connection.stream.exactly(66)) == 66


def test_an_echo_stays_in_budget(tmp_path):
    if process.is_sanitized():
        pytest.skip("a sanitizer's build has other costs")
    each = counted.each(tmp_path, open_socket, echo, server="Workers 1", handlers="Match ^/echo sockets echo\n",
                        extra={"plugins.load": load("sockets")})
    print(f"{each:.0f} instructions for an echo of 64 bytes")
    assert each <= budgets.WEBSOCKET_ECHO
