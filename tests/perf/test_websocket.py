# SPDX-License-Identifier: Apache-2.0
"""What an echo over WebSocket costs: user instructions of a whole turn of the loop for a message of 64 bytes."""

import re

import budgets
import pytest

from harness import http, process
from harness.plugins import load

OPENING = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
           "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
MASKED = b"\x82\xc0\x01\x02\x03\x04" + b"m" * 64
FEW, MANY = 500, 2500


def spent(folder, messages):
    """Instructions of a server's life in which it answered so many messages, one at a time."""
    folder.mkdir()
    log = folder / "callgrind.log"
    wrapper = ["valgrind", "--tool=callgrind", f"--log-file={log}", f"--callgrind-out-file={folder}/out"]
    with process.starter(folder) as start:
        server = start(wrapper=wrapper, server="Workers 1", handlers="Match ^/echo sockets echo\n",
                       extra={"plugins.load": load("sockets")})
        connection = server.connect()
        connection.send(http.request("/echo", headers=OPENING))
        assert http.read_head(connection.stream).status == 101
        for _ in range(messages):
            connection.send(MASKED)
            assert len(connection.stream.exactly(66)) == 66
        connection.close()
        server.stop(within=60)
    return int(re.search(r"Collected : (\d+)", log.read_text())[1])


def test_an_echo_stays_in_budget(tmp_path):
    if process.is_sanitized():
        pytest.skip("a sanitizer's build has other costs")
    each = (spent(tmp_path / "many", MANY) - spent(tmp_path / "few", FEW)) / (MANY - FEW)
    print(f"{each:.0f} instructions for an echo of 64 bytes")
    assert each <= budgets.WEBSOCKET_ECHO
