# SPDX-License-Identifier: Apache-2.0
"""`Listen ... proxy`: a PROXY header (version 1 or 2) from TrustedProxies alone, then HTTP as ever."""

import signal
import socket
import struct

import pytest

from harness import http
from harness.client import eventually, free_port

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"


def version_2(source="192.0.2.7", command=1, family=0x11, extra=b""):
    if family == 0x11:
        addresses = socket.inet_aton(source) + socket.inet_aton("192.0.2.1") + struct.pack("!HH", 4711, 80)
    elif family == 0x21:
        addresses = socket.inet_pton(socket.AF_INET6, source) + socket.inet_pton(socket.AF_INET6, "::1") + struct.pack("!HH", 4711, 80)
    else:
        addresses = b""
    payload = addresses + extra
    return SIGNATURE + bytes([0x20 | command, family]) + struct.pack("!H", len(payload)) + payload


SETTINGS = "Listen 127.0.0.1:0 proxy\nTrustedProxies 127.0.0.1 10.0.0.0/8\nMaxConnectionsPerIP 2"


@pytest.fixture(scope="module")
def server(start_shared):
    return start_shared(server=f"{SETTINGS}\nTimeout 600\nKeepAliveTimeout 600", files={"a.txt": "text"})


ASK = http.request("/a.txt", headers={"Connection": "close"})

HEADERS = [
    ("version 1, TCP4", b"PROXY TCP4 192.0.2.7 192.0.2.1 4711 80\r\n"),
    ("version 1, TCP6", b"PROXY TCP6 2001:db8::7 2001:db8::1 4711 80\r\n"),
    ("version 1, unknown", b"PROXY UNKNOWN\r\n"),
    ("version 1, unknown with more", b"PROXY UNKNOWN ff:ff 65535\r\n"),
    ("version 2, IPv4", version_2()),
    ("version 2, IPv6", version_2("2001:db8::7", family=0x21)),
    ("version 2, local", version_2(command=0, family=0)),
    ("version 2, with extensions", version_2(extra=b"\x04\x00\x20" + b"x" * 32)),
]


@pytest.mark.parametrize("header", [pytest.param(header, id=name) for name, header in HEADERS])
def test_request_behind_a_header_is_served(server, header):
    assert http.parse_one(server.raw(header + ASK)).text == "text"


@pytest.mark.parametrize("header", [pytest.param(header, id=name) for name, header in HEADERS])
def test_header_may_come_in_pieces(server, header):
    with server.connect() as connection:
        connection.send_slowly(header, pause=0.001)
        connection.send(ASK)
        assert connection.response().text == "text"


BAD = [
    ("none", b""),
    ("nonsense", b"HELLO\r\n"),
    ("bad family", b"PROXY TCP5 192.0.2.7 192.0.2.1 4711 80\r\n"),
    ("bad address", b"PROXY TCP4 192.0.2.777 192.0.2.1 4711 80\r\n"),
    ("bad port", b"PROXY TCP4 192.0.2.7 192.0.2.1 4711 80000\r\n"),
    ("port missing", b"PROXY TCP4 192.0.2.7 192.0.2.1 4711\r\n"),
    ("bare LF", b"PROXY TCP4 192.0.2.7 192.0.2.1 4711 80\n"),
    ("endless", b"PROXY UNKNOWN " + b"x" * 200),
    ("version 3 in binary", SIGNATURE + b"\x31\x11\x00\x0c" + b"\0" * 12),
    ("version 2, too short for its family", SIGNATURE + b"\x21\x11\x00\x04" + b"\0" * 4),
]


@pytest.mark.parametrize("header", [pytest.param(header, id=name) for name, header in BAD])
def test_anything_else_is_not_answered(server, header):
    with server.connect() as connection:
        connection.send(header + ASK)
        answer = connection.rest_until_cut()
        assert b"text" not in answer
        assert not answer.startswith(b"HTTP/1.1 200")


def test_peer_that_is_not_trusted_is_refused(server):
    with server.connect(source="127.0.0.2") as connection:
        connection.send(HEADERS[0][1] + ASK)
        assert connection.rest_until_cut() == b""


def test_limits_count_the_address_of_the_client(server):
    """MaxConnectionsPerIP is 2, but these are four clients behind one proxy."""
    held = []
    for number in range(4):
        connection = server.connect()
        connection.send(version_2(f"192.0.2.{number + 10}") + http.request("/a.txt"))
        assert connection.response().text == "text"
        held.append(connection)


def test_header_that_never_comes_times_out(start):
    with start(server=f"{SETTINGS}\nTimeout 2").connect() as connection:
        assert connection.is_closed()


def test_proxy_needs_trusted_proxies(start):
    server = start(server="Listen 127.0.0.1:0 proxy", wait=False)
    assert server.expect_exit() != 0
    assert "TrustedProxies" in server.log()


def test_limits_do_not_count_the_proxy_before_its_header_is_there(server):
    """A proxy opens many connections, and the headers on them come a moment later."""
    held = [server.connect() for _ in range(6)]
    assert all(connection.is_open(after=0.02) for connection in held)
    for number, connection in enumerate(held):
        connection.send(version_2(f"192.0.2.{number + 50}") + http.request("/a.txt"))
        assert connection.response().text == "text"


def test_peer_that_is_not_trusted_cannot_wait(start):
    server = start(server="Listen 127.0.0.1:0 proxy\nTrustedProxies 127.0.0.1")
    with server.connect(source="127.0.0.2") as connection:
        assert connection.is_closed()


def test_a_reload_that_fails_changes_nothing(start):
    """Least of all whether clients may say who they are."""
    port = free_port()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        server = start(server=f"Listen 127.0.0.1:{port}\nTrustedProxies 127.0.0.1", files={"a.txt": "text"})
        log = server.reload(server=f"Listen 127.0.0.1:{port} proxy\nListen 127.0.0.1:{taken.getsockname()[1]}\n"
                            "TrustedProxies 127.0.0.1", files={"a.txt": "text"})
        assert "another process" in log
        assert server.get("/a.txt").text == "text"


def test_a_reload_can_ask_for_the_header(start):
    port = free_port()
    server = start(server=f"Listen 127.0.0.1:{port}\nTrustedProxies 127.0.0.1", files={"a.txt": "text"})
    assert server.get("/a.txt").text == "text"
    server.reload(server=f"Listen 127.0.0.1:{port} proxy\nTrustedProxies 127.0.0.1", files={"a.txt": "text"},
                  expect="configuration reloaded")
    assert http.parse_one(server.raw(version_2() + ASK)).text == "text"
    assert b"text" not in server.raw_until_cut(ASK)


def test_connections_without_a_header_do_not_delay_the_end(start):
    """A proxy keeps some in store: nothing is in flight on them."""
    server = start(server="Listen 127.0.0.1:0 proxy\nTrustedProxies 127.0.0.1\nTimeout 30", files={"a.txt": "text"})
    before = server.open_descriptors()
    held = [server.connect() for _ in range(3)]
    assert eventually(lambda: server.open_descriptors() >= before + 3)
    server.signal(signal.SIGTERM)
    assert server.expect_exit() == 0
    assert all(connection.is_closed() for connection in held)
