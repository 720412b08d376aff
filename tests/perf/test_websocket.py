# SPDX-License-Identifier: Apache-2.0
"""What an echo over WebSocket costs, over HTTP/1.1 and HTTP/2: user instructions of a whole turn of the loop for 64 bytes."""

import budgets
import counted
import hpack
import pytest

from harness import executable, http, process
from harness.http2 import DATA, END_HEADERS, HEADERS, PREFACE, SETTINGS, WINDOW_UPDATE, frame
from harness.plugins import load

OPENING = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
           "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
TUNNEL = [(":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "http"), (":path", "/echo"), (":authority", "localhost"),
          ("sec-websocket-version", "13")]
WIDE = (1 << 30).to_bytes(4, "big")
WIDE_STREAMS = frame(SETTINGS, 0, 0, (4).to_bytes(2, "big") + WIDE)
MASKED = b"\x82\xc0\x01\x02\x03\x04" + b"m" * 64


def open_socket(connection):
    connection.send(http.request("/echo", headers=OPENING))
    assert http.read_head(connection.stream).status == 101


def echo(connection):
    connection.send(MASKED)
    assert len(connection.stream.exactly(66)) == 66


def receive(connection, kind):
    """The payload of the next frame of this kind."""
    while True:
        head = connection.stream.exactly(9)
        payload = connection.stream.exactly(int.from_bytes(head[:3], "big"))
        if head[3] == kind:
            return payload


def open_tunnel(connection):
    """Extended CONNECT (RFC 8441)."""
    connection.send(PREFACE + WIDE_STREAMS + frame(WINDOW_UPDATE, 0, 0, WIDE) + frame(HEADERS, END_HEADERS, 1, hpack.Encoder().encode(TUNNEL)))
    assert receive(connection, HEADERS)[0] == 0x88  # :status 200


def echo_in_frames(connection):
    connection.send(frame(DATA, 0, 1, MASKED))
    left = 66
    while left > 0:
        left -= len(receive(connection, DATA))


PROTOCOLS = {"http1": (open_socket, echo, "Listen 127.0.0.1:0"), "http2": (open_tunnel, echo_in_frames, "Listen 127.0.0.1:0 h2")}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_echo_stays_in_budget(tmp_path, protocol):
    if process.is_sanitized() or not executable.plugin("http2"):
        pytest.skip("another cost, or no such plugin")
    begin, once, listen = PROTOCOLS[protocol]
    each = counted.each(tmp_path, begin, once, server=f"{listen}\nWorkers 1", handlers="Match ^/echo sockets echo\n",
                        extra={"plugins.load": f"{load('sockets')}    Load {executable.plugin('http2')}\n"})
    print(f"{each:.0f} instructions for an echo of 64 bytes over {protocol}")
    assert each <= budgets.WEBSOCKET_ECHO[protocol]
