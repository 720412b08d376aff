# SPDX-License-Identifier: Apache-2.0
"""HTTP/2 (RFC 9113, plugin http2): what tests of HTTP over it (CARRIER=h2) do not see."""

import contextlib
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import time

import pytest

from harness import certificates, executable, http2
from harness.backend import Backend, configured
from harness.client import eventually, free_port
from harness.config import section
from harness.http2 import (ACK, CANCEL, CONTINUATION, DATA, END_HEADERS, END_STREAM, ENHANCE_YOUR_CALM, GOAWAY, HEADERS, NO_ERROR,
                           PING, PRIORITY, PROTOCOL_ERROR, RST_STREAM, SETTINGS, WINDOW_UPDATE, Frames, frame)

BODY = b"x" * 100_000
ECHO = "Match ^/echo echo"


def loads(*names, **files):
    """What start() takes for these plugins, with files of theirs."""
    if not all(executable.plugin(name) for name in names):
        pytest.skip("this build has no such plugin")
    return {"plugins.load": section("PLUGINS", "\n".join(f"Load {executable.plugin(name)}" for name in names)), **files}


def address(server):
    return "127.0.0.1", server.port


@pytest.fixture(scope="module")
def server(start_shared):
    return start_shared(server="Listen 127.0.0.1:0 h2\nMaxRequestSize 8K", handlers=ECHO,
                        extra=loads("http2"), files={"a.txt": "a", "large.bin": BODY})


@pytest.fixture
def client(server):
    with Frames(address(server)) as client:
        yield client


# ---- which protocol ----

def test_both_protocols_are_spoken_at_one_address(server, client):
    """RFC 9113 3.3"""
    client.send(client.head(1, "/a.txt"))
    assert client.answer(1) == (200, b"a")
    assert server.get("/a.txt").body == b"a"


@pytest.mark.parametrize("cut", [1, 3, 23])
def test_the_preface_may_come_in_pieces(server, cut):
    """RFC 9113 3.4"""
    raw = socket.create_connection(address(server), timeout=30)
    raw.sendall(http2.PREFACE[:cut])
    time.sleep(0.05)
    with Frames(None, preface=http2.PREFACE[cut:], raw=raw) as client:
        client.send(client.head(1, "/a.txt"))
        assert client.answer(1) == (200, b"a")


def test_without_the_flag_the_preface_is_refused(start):
    server = start(extra=loads("http2"), files={"a.txt": "a"})
    assert server.raw(http2.PREFACE).startswith(b"HTTP/1.1 ")


def test_http_1_may_be_left_out(start):
    server = start(server="Listen 127.0.0.1:0 h2 !http", extra=loads("http2"), files={"a.txt": "a"})
    assert server.raw(b"GET /a.txt HTTP/1.1\r\nHost: a\r\n\r\n") == b""
    with Frames(address(server)) as client:
        client.send(client.head(1, "/a.txt"))
        assert client.answer(1) == (200, b"a")


@pytest.mark.parametrize("transport", ["tls", "mbedtls"])
def test_http_2_may_be_left_out_of_one_address(start, transport):
    """Another address with the same certificate offers it."""
    tls_conf = {f"plugins/{transport}/{transport}.conf": section("TLS", certificates.issue().lines())}
    other = free_port()
    server = start(server=f"Listen 127.0.0.1:0 {transport} !h2\nListen 127.0.0.1:{other} {transport}",
                   extra=loads("http2", transport, **tls_conf), files={"a.txt": "a"})
    for port, agreed in ((server.port, "http/1.1"), (other, "h2")):
        context = certificates.trusting()
        context.set_alpn_protocols(["h2", "http/1.1"])
        with certificates.connected(("127.0.0.1", port), context) as connection:
            assert connection.selected_alpn_protocol() == agreed, port


def test_upgrade_to_h2c_is_ignored(server):
    """RFC 9113 3.1"""
    response = server.get("/a.txt", headers={"Upgrade": "h2c", "Connection": "Upgrade, HTTP2-Settings", "HTTP2-Settings": "AAMAAABk"})
    assert (response.status, response.body) == (200, b"a")


@pytest.mark.parametrize("transport", ["tls", "mbedtls"])
@pytest.mark.parametrize("offers, agreed", [(["h2", "http/1.1"], "h2"), (["http/1.1", "h2"], "h2"), (["http/1.1"], "http/1.1"), (None, None)])
def test_alpn_chooses(start, transport, offers, agreed):
    """RFC 9113 3.2, RFC 7301"""
    tls_conf = {f"plugins/{transport}/{transport}.conf": section("TLS", certificates.issue().lines())}
    server = start(server=f"Listen 127.0.0.1:0 {transport}", extra=loads("http2", transport, **tls_conf), files={"a.txt": "a"})
    context = certificates.trusting()
    if offers:
        context.set_alpn_protocols(offers)
    with certificates.connected(address(server), context) as connection:
        assert connection.selected_alpn_protocol() == agreed
        if agreed == "h2":
            client = Frames(None, raw=connection)
            client.send(client.head(1, "/a.txt", scheme="https"))
            assert client.answer(1) == (200, b"a")
        else:
            connection.sendall(b"GET /a.txt HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert connection.recv(4096).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("lines, sentence", [
    ("MaxConcurrentStreams 0", "MaxConcurrentStreams"), ("StreamWindow 2M\nConnectionWindow 1M", "StreamWindow: larger than ConnectionWindow"),
    ("ConnectionWindow 1K", "ConnectionWindow"), ("Streams 1", "unknown key"),
])
def test_faults_of_the_configuration_are_named(start, lines, sentence):
    server = start(extra=loads("http2", **{"plugins/http2/http2.conf": section("HTTP2", lines)}), wait=False)
    assert server.expect_exit() != 0
    assert sentence in server.log() and "http2.conf:2" in server.log()


# ---- requests ----

def test_streams_are_answered_side_by_side(client):
    """RFC 9113 5.1.2: 50 at once"""
    client.send(*(client.head(2 * i + 1, "/a.txt") for i in range(50)))
    ended = set()
    while len(ended) < 50:
        one = client.until(DATA)
        assert one.payload == b"a" and one.flags & END_STREAM
        ended.add(one.stream)
    assert ended == set(range(1, 101, 2))


def test_a_large_answer_needs_window(server):
    """RFC 9113 6.9: nothing more than the window allows"""
    with Frames(address(server), receive_buffer=65536) as client:
        client.send(client.head(1, "/large.bin"))
        got = 0
        while got < 65535:
            one = client.until(DATA)
            got += len(one.payload)
        assert got == 65535
        client.send(frame(WINDOW_UPDATE, 0, 0, (1 << 20).to_bytes(4, "big")))
        client.send(frame(WINDOW_UPDATE, 0, 1, (7).to_bytes(4, "big")))
        assert len(client.until(DATA).payload) == 7
        client.send(frame(WINDOW_UPDATE, 0, 1, (1 << 20).to_bytes(4, "big")))
        while True:
            one = client.until(DATA)
            got += len(one.payload)
            if one.flags & END_STREAM:
                break
        assert got + 7 == len(BODY)


def test_a_piece_waits_for_a_small_window(server):
    """RFC 9113 6.9: what a handler gave at once leaves in pieces"""
    with Frames(address(server), settings=(4).to_bytes(2, "big") + (10).to_bytes(4, "big")) as client:
        sent = bytes(i % 251 for i in range(30_000))
        client.send(client.head(1, "/echo", "POST", end=False), frame(DATA, 0, 1, sent[:10_000]), frame(DATA, 0, 1, sent[10_000:20_000]),
                    frame(DATA, END_STREAM, 1, sent[20_000:]))
        body = client.until(DATA).payload
        assert len(body) == 10
        while True:
            client.send(frame(WINDOW_UPDATE, 0, 1, (1000).to_bytes(4, "big")))
            one = client.until(DATA, RST_STREAM, GOAWAY)
            assert one.kind == DATA and len(one.payload) <= 1000
            body += one.payload
            if one.flags & END_STREAM:
                break
        assert body.endswith(sent)


def test_head_has_no_body(client):
    client.send(client.head(1, "/large.bin", method="HEAD"))
    one = client.until(HEADERS)
    assert one.flags & END_STREAM and one.fields[b"content-length"] == b"100000"


def test_field_names_are_lower_case_and_none_is_of_http_1(client):
    """RFC 9113 8.2, 8.2.2"""
    client.send(client.head(1, "/a.txt"))
    fields = client.until(HEADERS).fields
    assert all(name == name.lower() for name in fields)
    assert not {b"connection", b"keep-alive", b"transfer-encoding", b"upgrade"} & set(fields)


@pytest.mark.parametrize("length", [None, 12])
def test_a_body_is_echoed(client, length):
    fields = [("content-length", str(length))] if length else []
    client.send(client.head(1, "/echo", "POST", fields, end=False), frame(DATA, 0, 1, b"Hello, "), frame(DATA, END_STREAM, 1, b"world"))
    status, body = client.answer(1)
    assert status == 200 and b"Hello, world" in body


def test_a_large_body_passes_the_window(server):
    """RFC 9113 6.9.1: the window is given back as the handler reads"""
    with Frames(address(server), settings=(4).to_bytes(2, "big") + (1 << 30).to_bytes(4, "big")) as client:
        client.send(frame(WINDOW_UPDATE, 0, 0, (1 << 30).to_bytes(4, "big")), client.head(1, "/echo", "POST", end=False))
        window = {0: 65535, 1: 65535}
        sent = 0
        while sent < 1 << 20:
            size = min(16384, *window.values(), (1 << 20) - sent)
            if size:
                client.send(frame(DATA, 0, 1, b"y" * size))
                sent += size
                window = {stream: left - size for stream, left in window.items()}
                continue
            one = client.until(WINDOW_UPDATE, RST_STREAM, GOAWAY)
            assert one.kind == WINDOW_UPDATE, one
            window[one.stream] += int.from_bytes(one.payload, "big")
        client.send(frame(DATA, END_STREAM, 1))
        while not (one := client.until(DATA)).flags & END_STREAM:
            pass


def test_cookie_crumbs_are_joined(client):
    """RFC 9113 8.2.3"""
    client.send(client.head(1, "/echo", fields=[("cookie", "a=1"), ("x", "y"), ("cookie", "b=2")]))
    _, body = client.answer(1)
    assert re.search(rb"(?i)cookie: a=1; b=2", body), body


@pytest.mark.parametrize("fields, trailers", [([("te", "trailers")], {b"x-sum": b"1"}), ([], None)], ids=["asked for", "not"])
def test_trailers_of_a_backend_reach_a_client_that_takes_them(start, fields, trailers):
    """RFC 9110 6.5, 10.1.4; RFC 9113 8.1, 8.2.2"""
    loads("http2", "proxy_reverse")

    def each(conn, request):
        assert request.all("TE") == (["trailers"] if fields else [])
        conn.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n")

    with Backend(each=each) as backend:
        server = start(server="Listen 127.0.0.1:0 h2", **configured("", backend, plugins=["http2"]))
        with Frames(address(server)) as client:
            client.send(client.head(1, "/", fields=fields))
            assert client.until(HEADERS).fields.get(b"trailer") == (b"X-Sum" if fields else None)
            last = client.until(HEADERS, RST_STREAM) if trailers else client.until(DATA)
            while not last.flags & END_STREAM:
                last = client.until(HEADERS, DATA)
            assert (last.kind, getattr(last, "fields", None)) == (HEADERS if trailers else DATA, trailers)
    assert not backend.faults


@pytest.mark.parametrize("size, kept", [(10, 3), (3000, 0), (9000, 0)])
def test_trailers_of_a_request_are_kept_whole_or_not_at_all(start, size, kept):
    """RFC 9110 6.5.1: they may be left out, but a part would say something else"""
    loads("http2", "proxy_reverse")
    with Backend() as backend:
        server = start(server="Listen 127.0.0.1:0 h2\nMaxRequestSize 2K", **configured("RequestBuffering off", backend, plugins=["http2"]))
        with Frames(address(server)) as client:
            client.send(client.head(1, "/", "POST", end=False), frame(DATA, 0, 1, b"x"))
            client.send(frame(HEADERS, END_STREAM | END_HEADERS, 1, client.encoder.encode([("x-a", "a"), ("x-b", "b" * size), ("x-c", "c")])))
            assert client.answer(1)[0] == 200
        assert len(backend.requests[0].trailers) == kept


@pytest.mark.parametrize("last", ["an end", "trailers", "a part of trailers"])
def test_trailers_of_an_early_answer_are_the_backends(start, last):
    """RFC 9113 8.1: they wait for a window, and meanwhile the client ends its request, with trailers of its own."""
    loads("http2", "proxy_reverse")

    def serve(conn):
        conn.head()
        conn.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Sum: 1\r\n\r\n")
        while conn.sock.recv(65536):
            pass

    with Backend(serve=serve) as backend:
        server = start(server="Listen 127.0.0.1:0 h2", **configured("RequestBuffering off", backend, plugins=["http2"]))
        with Frames(address(server), settings=b"\0\4\0\0\0\0") as client:
            client.send(client.head(1, "/", "POST", fields=[("te", "trailers")], end=False))
            assert client.until(HEADERS).fields[b":status"] == b"200"
            window = frame(WINDOW_UPDATE, 0, 1, b"\0\0\x10\0")
            block = client.encoder.encode([("a" * 20_000, "of the client")])
            client.send(*{"an end": [frame(DATA, END_STREAM, 1), window],
                          "trailers": [frame(HEADERS, END_STREAM | END_HEADERS, 1, block), window],
                          "a part of trailers": [window + frame(HEADERS, END_STREAM, 1, block)]}[last])
            if last == "a part of trailers":
                client.send(frame(CONTINUATION, END_HEADERS, 1))
            assert client.until(HEADERS).fields == {b"x-sum": b"1"}


def test_100_is_sent_before_a_body_is_read(client):
    """RFC 9110 10.1.1"""
    client.send(client.head(1, "/echo", "POST", [("expect", "100-continue")], end=False))
    assert client.until(HEADERS).fields[b":status"] == b"100"
    client.send(frame(DATA, END_STREAM, 1, b"now"))
    status, body = client.answer(1)
    assert status == 200 and b"now" in body


@pytest.mark.parametrize("fields, sentence", [
    ([(":method", "GET"), (":scheme", "http"), (":path", "/a.txt"), (":authority", "a"), ("host", "b")], "two hosts"),
    ([(":method", "GET"), (":scheme", "http"), (":path", "/a.txt")], "no host"),
    ([(":method", "GET"), (":method", "GET"), (":scheme", "http"), (":path", "/a.txt"), (":authority", "a")], "two methods"),
    ([(":method", "GET"), (":scheme", "http"), (":path", ""), (":authority", "a")], "an empty path"),
    ([(":method", "GET"), (":path", "/a.txt"), (":authority", "a")], "no scheme"),
    ([(":method", "GET"), (":scheme", "foo"), (":path", "http://b/a.txt"), (":authority", "a")], "another scheme with an absolute path"),
    ([(":method", "GET"), (":scheme", "foo"), (":path", "/a.txt"), (":authority", "a")], "another scheme"),
    ([(":method", "GET"), (":scheme", "http"), (":path", "http://b/a.txt"), (":authority", "a")], "an absolute path"),
    ([(":method", "GET"), (":scheme", "http"), (":path", "/a.txt"), (":authority", "a"), ("Upper", "x")], "upper case"),
    ([(":method", "GET"), (":scheme", "http"), (":path", "/a.txt"), (":authority", "a"), ("connection", "close")], "connection"),
    ([(":method", "GET"), (":scheme", "http"), (":path", "/a.txt"), (":authority", "a"), ("te", "gzip")], "te"),
    ([(":method", "GET"), (":scheme", "http"), (":path", "/a.txt"), (":authority", "a"), ("transfer-encoding", "chunked")], "framing"),
    ([(":method", "GET"), (":scheme", "http"), ("x", "y"), (":path", "/a.txt"), (":authority", "a")], "order"),
    ([(":method", "GET"), (":scheme", "http"), (":path", "/a.txt"), (":authority", "a"), (":status", "200")], "of responses"),
    ([(":method", "GET"), (":scheme", "http"), (":path", "/a.txt"), (":authority", "a"), ("x", "a\r\nb: c")], "a line end"),
    ([(":method", "GET"), (":scheme", "http"), (":path", "/a.txt"), (":authority", "a"), ("content-length", "5")], "a length without body"),
    ([(":method", "GET"), (":scheme", "http"), (":path", "/a b"), (":authority", "a")], "a blank in the path"),
    ([(":method", "GE T"), (":scheme", "http"), (":path", "/a.txt"), (":authority", "a")], "a blank in the method"),
], ids=lambda value: value if isinstance(value, str) else "")
def test_malformed_requests_are_reset(client, fields, sentence):
    """RFC 9113 8.1.1, 8.2, 8.2.2, 8.3, 8.3.1: a stream error, and the connection goes on; nothing is served"""
    client.send(frame(HEADERS, END_HEADERS | END_STREAM, 1, client.encoder.encode(fields)))
    answer = client.answer(1)
    assert answer == PROTOCOL_ERROR or (isinstance(answer, tuple) and answer[0] == 400), answer
    client.send(client.head(3, "/a.txt"))
    assert client.answer(3) == (200, b"a")


def test_a_body_must_have_its_length(client):
    """RFC 9113 8.1.1"""
    client.send(client.head(1, "/echo", "POST", [("content-length", "5")], end=False), frame(DATA, END_STREAM, 1, b"123456"))
    assert client.answer(1) == PROTOCOL_ERROR


def test_an_early_answer_ends_its_stream_at_once(client):
    """RFC 9113 8.1: whoever sends a body that nobody reads is told to stop, behind the answer; its connection goes on"""
    client.send(client.head(1, "/a.txt", "PUT", [("content-length", "1000000")], end=False), frame(DATA, 0, 1, bytes(10_000)))
    assert client.answer(1)[0] == 405
    client.send(frame(PING, 0, 0, bytes(8)))
    told = client.until(RST_STREAM, PING)
    assert (told.kind, told.stream, told.code) == (RST_STREAM, 1, NO_ERROR)
    client.send(frame(DATA, 0, 1, bytes(10_000)), client.head(3, "/a.txt"))
    assert client.answer(3) == (200, b"a")


def test_a_body_that_came_with_its_head_resets_nothing(client):
    client.send(client.head(1, "/a.txt", "PUT", end=False) + frame(DATA, END_STREAM, 1, bytes(10_000)))
    assert client.answer(1)[0] == 405
    client.send(frame(PING, 0, 0, bytes(8)))
    assert client.until(RST_STREAM, PING).kind == PING


def test_what_http_1_refuses_is_refused(client):
    for stream, path, fields, status in ((1, "/../a.txt", [], 403), (3, "/a.txt", [("x", "y" * 9000)], 431), (5, "/%zz", [], 400)):
        client.send(client.head(stream, path, fields=fields))
        assert client.answer(stream)[0] == status


def test_a_stream_that_is_reset_ends_its_request(server):
    """RFC 9113 5.4.2: the log has it as one whose client left"""
    with Frames(address(server)) as client:
        client.send(client.head(1, "/echo", "POST", end=False))
        client.send(frame(DATA, 0, 1, b"some"), frame(RST_STREAM, 0, 1, CANCEL.to_bytes(4, "big")))
        client.send(client.head(3, "/a.txt"))
        assert client.answer(3) == (200, b"a")


def test_a_client_that_leaves_within_a_body_holds_no_request(start, tmp_path):
    """As in HTTP/1: the log has the request at once, not after BodyTimeout."""
    log = tmp_path / "access.log"
    server = start(server="Listen 127.0.0.1:0 h2", extra=loads("http2", "logger"), site=section("LOGGER", f"AccessLog {log}"),
                   handlers=ECHO)
    with Frames(address(server)) as client:
        client.send(client.head(1, "/echo", "POST", end=False), frame(DATA, 0, 1, b"some"), frame(PING, 0, 0, bytes(8)))
        assert client.until(PING)
    assert eventually(lambda: log.is_file() and '"POST /echo HTTP/2.0"' in log.read_text())


def test_logs_and_scripts_name_the_protocol(start, tmp_path):
    log = tmp_path / "access.log"
    server = start(server="Listen 127.0.0.1:0 h2", extra=loads("http2", "logger"), site=section("LOGGER", f"AccessLog {log}"),
                   files={"a.txt": "a"})
    with Frames(address(server)) as client:
        client.send(client.head(1, "/a.txt"))
        assert client.answer(1) == (200, b"a")
    assert server.get("/a.txt").status == 200
    assert eventually(lambda: log.is_file() and log.read_text().count("\n") == 2)
    assert '"GET /a.txt HTTP/2.0" 200' in log.read_text() and '"GET /a.txt HTTP/1.1" 200' in log.read_text()


def test_what_is_refused_is_logged_with_target_and_host(start, tmp_path):
    """As what is answered: its first line with the protocol, and its host"""
    log = tmp_path / "access.log"
    json = {"plugins/logger/logger.conf": section("LOGGER", "Format json")}
    server = start(server="Listen 127.0.0.1:0 h2", extra=loads("http2", "logger", **json), site=section("LOGGER", f"AccessLog {log}"))
    with Frames(address(server)) as client:
        client.send(client.head(1, "/" + "a" * 9000, authority="example.org"))
        assert client.answer(1)[0] == 414
    assert eventually(lambda: log.is_file() and "\n" in log.read_text())
    assert re.search(r'"target":"/a{100,}.*"host":"example.org"', log.read_text()), log.read_text()


def test_an_urgent_response_overtakes_large_ones(start):
    """RFC 9218 10: eight downloads that fill the connection, and what lies before a small file of urgency 0"""
    server = start(server="Listen 127.0.0.1:0 h2", extra=loads("http2"), files={"a.txt": "a", "huge.bin": b"x" * 10_000_000})
    with Frames(address(server), settings=(4).to_bytes(2, "big") + (1 << 30).to_bytes(4, "big"), receive_buffer=65536) as client:
        client.send(frame(WINDOW_UPDATE, 0, 0, (1 << 30).to_bytes(4, "big")))
        client.send(*(client.head(2 * i + 1, "/huge.bin", fields=[("priority", "u=3")]) for i in range(8)))
        for number in range(101, 121, 2):
            for _ in range(40):
                assert client.until(DATA).stream < 20
            client.send(client.head(number, "/a.txt", fields=[("priority", "u=0")]))
            before = 0
            while (one := client.until(DATA)).stream != number:
                before += len(one.payload)
            assert one.payload == b"a" and before < 1_500_000, before


# ---- bounds ----

FLOODS = {
    "rapid reset": lambda c, i: c.head(2 * i + 1, "/a.txt") + frame(RST_STREAM, 0, 2 * i + 1, CANCEL.to_bytes(4, "big")),
    "resets by the server": lambda c, i: c.head(2 * i + 1, "/echo", "POST", end=False) + frame(WINDOW_UPDATE, 0, 2 * i + 1, bytes(4)),
    "SETTINGS": lambda c, i: frame(SETTINGS),
    "PING": lambda c, i: frame(PING, 0, 0, b"12345678"),
    "PRIORITY": lambda c, i: frame(PRIORITY, 0, 1, bytes([0, 0, 0, 3, 16])),
    "PRIORITY_UPDATE": lambda c, i: frame(http2.PRIORITY_UPDATE, 0, 0, (2 * i + 1).to_bytes(4, "big") + b"u=1"),
    "empty DATA": lambda c, i: (c.head(1, "/echo", "POST", end=False) if i == 0 else b"") + frame(DATA, 0, 1),
    "windows of 1": lambda c, i: frame(WINDOW_UPDATE, 0, 0, (1).to_bytes(4, "big")),
    "unknown frames": lambda c, i: frame(0xbe, 0, 0, b"x"),
    "CONTINUATION": lambda c, i: c.head(1, "/a.txt", flags=0) if i == 0 else frame(CONTINUATION, 0, 1, b""),
    "malformed heads": lambda c, i: c.head(2 * i + 1, "/a.txt", fields=[("Upper", "x")]),
}


def flood(server, name):
    with Frames(address(server)) as client:
        try:
            for i in range(30):
                client.send(b"".join(FLOODS[name](client, 1000 * i + j) for j in range(1000)))
        except (BrokenPipeError, ConnectionResetError):
            pass
        try:
            told = client.until(GOAWAY)
        except (ConnectionResetError, BrokenPipeError):
            told = None
        assert told is None or told.code in (ENHANCE_YOUR_CALM, NO_ERROR, PROTOCOL_ERROR, http2.INTERNAL_ERROR), told.code


@pytest.mark.parametrize("name", FLOODS)
def test_floods_end_the_connection(server, name):
    """RFC 9113 10.5; CVE-2023-44487, CVE-2025-8671, CVE-2024-27316: the client is told, others are served"""
    flood(server, name)
    with Frames(address(server)) as other:
        other.send(other.head(1, "/a.txt"))
        assert other.answer(1) == (200, b"a")


@pytest.mark.timed
@pytest.mark.parametrize("name", FLOODS)
def test_floods_leave_no_memory(server, name):
    if executable.is_sanitized():
        pytest.skip("a sanitizer keeps freed memory")
    before = server.anonymous_bytes()
    flood(server, name)
    assert eventually(lambda: server.anonymous_bytes() < before + 6000 * 1024), (before, server.anonymous_bytes())


@pytest.mark.parametrize("name", ["padded DATA", "crumbs"])
def test_frames_and_fields_without_a_byte_cost_credit(client, name):
    """RFC 9113 6.1, 8.2.3, 10.5: padding moves nothing, and empty crumbs make no head larger"""
    if name == "padded DATA":
        client.send(client.head(1, "/echo", "POST", end=False), *[frame(DATA, http2.PADDED, 1, b"\0")] * 5000)
    else:
        head = client.encoder.encode([(":method", "GET"), (":scheme", "http"), (":authority", "localhost"), (":path", "/a.txt")])
        client.send(*(frame(HEADERS, END_HEADERS | END_STREAM, 2 * i + 1, head + b"\x0f\x11\0" * 5000) for i in range(10)))
    assert client.until(GOAWAY).code == ENHANCE_YOUR_CALM


def test_few_crumbs_without_a_byte_are_left_out(client):
    client.send(client.head(1, "/echo", fields=[("cookie", ""), ("cookie", "a=1"), ("cookie", ""), ("cookie", "b=2")]))
    _, body = client.answer(1)
    assert re.search(rb"(?i)cookie: a=1; b=2\r?\n", body), body


def test_an_hpack_bomb_is_a_large_head(client):
    """RFC 7541 7.3: a few bytes that unfold to megabytes"""
    big = client.head(1, "/a.txt", fields=[("bomb", "x" * 3500)])
    index = bytes([0x80 | 62])
    client.send(big)
    assert client.answer(1) == (200, b"a")
    head = client.encoder.encode([(":method", "GET"), (":scheme", "http"), (":authority", "localhost"), (":path", "/a.txt")])
    client.send(frame(HEADERS, END_HEADERS | END_STREAM, 3, head + index * 4000))
    answer = client.answer(3)
    assert answer is None or answer == ENHANCE_YOUR_CALM or answer[0] == 431, answer


@pytest.mark.parametrize("part", ["path", "authority", "method"])
def test_a_part_that_no_head_has_room_for(client, part):
    """A first field of more than twice MaxRequestSize is cut where it is kept, and its head refused"""
    values = {"path": "/a.txt", "authority": "localhost", "method": "GET"} | {part: "/" + "a" * 24000}
    head = client.encoder.encode([(":method", values["method"]), (":scheme", "http"), (":path", values["path"]), (":authority", values["authority"])])
    client.send(frame(HEADERS, END_HEADERS | END_STREAM, 1, head))
    answer = client.answer(1)
    assert answer == PROTOCOL_ERROR or answer[0] in (400, 414, 431, 501), answer
    client.send(client.head(3, "/a.txt"))
    assert client.answer(3) == (200, b"a")


@pytest.mark.parametrize("fields", [{"x": "y" * 24000}, {"x": "y" * 15000}, {"cookie": "y" * 9000}, {"cookie": "y" * 24000}],
                         ids=["field", "field-below-both", "cookie", "large-cookie"])
def test_a_field_that_no_head_has_room_for(client, fields):
    """It is not left out: the head is refused, as over HTTP/1"""
    block = client.encoder.encode([(":method", "GET"), (":scheme", "http"), (":path", "/a.txt"), (":authority", "localhost"),
                                   *fields.items()])
    client.send(frame(HEADERS, END_STREAM, 1, block[:100]), frame(CONTINUATION, 0, 1, block[100:16000]),
                frame(CONTINUATION, END_HEADERS, 1, block[16000:]))
    assert client.answer(1)[0] == 431


def test_more_streams_than_allowed_are_refused(server):
    """RFC 9113 5.1.2"""
    with Frames(address(server)) as client:
        client.send(*(client.head(2 * i + 1, "/echo", "POST", end=False) for i in range(101)))
        assert client.until(RST_STREAM, GOAWAY).stream == 201


@pytest.fixture(scope="module")
def impatient(start_shared):
    return start_shared(server="Listen 127.0.0.1:0 h2\nWriteTimeout 1", extra=loads("http2"), files={"a.txt": "a", "large.bin": BODY})


def test_a_window_that_stays_shut_ends_the_stream(impatient):
    """WriteTimeout; RFC 9113 10.5"""
    with Frames(address(impatient), settings=(4).to_bytes(2, "big") + bytes(4)) as client:  # INITIAL_WINDOW_SIZE 0
        client.send(client.head(1, "/a.txt"))
        assert client.until(RST_STREAM).code == CANCEL


def send_until(client, kind, gap):
    """The first frame of a type, while the client sends some all the time"""
    end = time.monotonic() + 20
    client.sock.settimeout(gap)
    while time.monotonic() < end:
        client.send(frame(WINDOW_UPDATE, 0, 0, (1).to_bytes(4, "big")))
        with contextlib.suppress(TimeoutError):
            return client.until(kind)
    return None


def test_a_client_that_sends_all_the_time_is_looked_at(impatient):
    """WriteTimeout, as of a silent client; RFC 9113 10.5"""
    with Frames(address(impatient), settings=(4).to_bytes(2, "big") + bytes(4)) as client:
        client.send(client.head(1, "/a.txt"))
        assert send_until(client, RST_STREAM, 0.2).code == CANCEL


def test_a_client_that_reads_nothing_is_left(impatient):
    """WriteTimeout, with the kernel's buffers full"""
    with Frames(address(impatient), settings=(4).to_bytes(2, "big") + (1 << 30).to_bytes(4, "big"), receive_buffer=4096) as client:
        client.send(frame(WINDOW_UPDATE, 0, 0, (1 << 30).to_bytes(4, "big")))
        client.send(*(client.head(2 * i + 1, "/large.bin") for i in range(90)))
        time.sleep(2.5)
        received = 0
        while (one := client.receive()) is not None and received < 12_000_000:
            received += len(one.payload)
        assert received < 9_000_000


# ---- time and ends ----

def test_an_idle_connection_is_told_and_closed(start):
    """KeepAliveTimeout; RFC 9113 6.8"""
    server = start(server="Listen 127.0.0.1:0 h2\nKeepAliveTimeout 1\nTimeout 1", extra=loads("http2"), files={"a.txt": "a"})
    with Frames(address(server)) as silent, Frames(address(server)) as client:
        client.send(client.head(1, "/a.txt"))
        assert client.answer(1) == (200, b"a")
        for connection in (client, silent):
            assert connection.until(GOAWAY).code == NO_ERROR
            assert connection.until(GOAWAY) is None


def test_a_connection_has_so_many_requests(start):
    """MaxKeepAliveRequest; RFC 9113 6.8"""
    server = start(server="Listen 127.0.0.1:0 h2\nMaxKeepAliveRequest 3", extra=loads("http2"), files={"a.txt": "a"})
    with Frames(address(server)) as client:
        for stream in (1, 3):
            client.send(client.head(stream, "/a.txt"))
            assert client.answer(stream) == (200, b"a")
        client.send(client.head(5, "/a.txt"))
        notice, last = client.until(GOAWAY), client.until(GOAWAY)
        assert (notice.code, last.code) == (NO_ERROR, NO_ERROR)
        assert int.from_bytes(last.payload[:4], "big") == 5
        assert client.receive() is None


def test_a_client_that_sends_all_the_time_gets_its_last_goaway(start):
    """RFC 9113 6.8"""
    server = start(server="Listen 127.0.0.1:0 h2\nMaxKeepAliveRequest 1", extra=loads("http2"), handlers=ECHO)
    with Frames(address(server)) as client:
        client.send(client.head(1, "/echo", "POST", end=False))
        client.until(GOAWAY)
        last = send_until(client, GOAWAY, 0.05)
        assert int.from_bytes(last.payload[:4], "big") == 1


def test_a_silent_client_is_asked(start):
    """PingInterval; RFC 9113 6.7"""
    server = start(server="Listen 127.0.0.1:0 h2\nTimeout 60", files={"a.txt": "a"},
                   extra=loads("http2", **{"plugins/http2/http2.conf": section("HTTP2", "PingInterval 1")}))
    with Frames(address(server)) as client:
        ping = client.until(PING)
        client.send(frame(PING, ACK, 0, ping.payload))
        assert client.until(PING) is not None  # asked again, and not answered
        assert client.until(GOAWAY) is None


def test_a_stop_says_goaway_twice_and_waits(start):
    """RFC 9113 6.8"""
    server = start(server="Listen 127.0.0.1:0 h2", handlers=ECHO, extra=loads("http2"), files={"a.txt": "a"})
    with Frames(address(server)) as client:
        client.send(client.head(1, "/echo", "POST", end=False))
        client.send(client.head(3, "/a.txt"))
        assert client.answer(3) == (200, b"a")
        server.signal(signal.SIGTERM)
        notice = client.until(GOAWAY)
        assert notice.code == NO_ERROR and int.from_bytes(notice.payload[:4], "big") == 0x7fffffff
        client.send(client.head(5, "/a.txt"))
        assert client.answer(5) == (200, b"a")
        last = client.until(GOAWAY)
        assert last.code == NO_ERROR and int.from_bytes(last.payload[:4], "big") == 5
        client.send(frame(DATA, END_STREAM, 1, b"still"))
        status, body = client.answer(1)
        assert status == 200 and b"still" in body
        assert client.receive() is None


def test_settings_are_acknowledged_and_pings_answered(client):
    """RFC 9113 6.5.3, 6.7"""
    assert client.until(SETTINGS).flags == 0
    assert client.until(SETTINGS).flags == ACK
    client.send(frame(PING, 0, 0, b"abcdefgh"))
    answer = client.until(PING)
    assert (answer.flags, answer.payload) == (ACK, b"abcdefgh")


def test_a_ping_for_each_answer_is_no_flood(server):
    """Libraries of gRPC measure the link so, and give both windows back"""
    with Frames(address(server)) as client:
        for i in range(1500):
            client.send(client.head(2 * i + 1, "/a.txt"), frame(PING, 0, 0, b"12345678"), frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1)))
            assert client.answer(2 * i + 1) == (200, b"a"), i


def test_a_client_that_answers_pings_is_kept(start):
    """PingInterval; RFC 9113 6.7"""
    server = start(server="Listen 127.0.0.1:0 h2\nTimeout 60\nKeepAliveTimeout 60", files={"a.txt": "a"},
                   extra=loads("http2", **{"plugins/http2/http2.conf": section("HTTP2", "PingInterval 300ms")}))
    with Frames(address(server)) as client:
        for _ in range(4):
            client.send(frame(PING, ACK, 0, client.until(PING).payload))
        client.send(client.head(1, "/a.txt"))
        assert client.answer(1) == (200, b"a")


def test_no_pings_without_an_interval(start):
    server = start(server="Listen 127.0.0.1:0 h2\nTimeout 1", extra=loads("http2"), files={"a.txt": "a"})
    with Frames(address(server)) as client:
        assert client.until(PING, GOAWAY).kind == GOAWAY


def speaks_h2(server):
    with Frames(address(server)) as client:
        client.send(client.head(1, "/a.txt"))
        first = client.receive()
        return first is not None and first.kind == SETTINGS and client.answer(1) == (200, b"a")


def speaks_http_1(server):
    with contextlib.suppress(ConnectionResetError):
        return server.raw(b"GET /a.txt HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").startswith(b"HTTP/1.1 200")
    return False


def test_a_reload_changes_what_is_offered(start):
    """Connections keep their protocol; new ones choose among the address's new flags."""
    port = free_port()
    config = {"extra": loads("http2"), "files": {"a.txt": "a"}}
    server = start(server=f"Listen 127.0.0.1:{port} h2", **config)
    with Frames(address(server)) as before:
        for flags, h2, http_1 in (("", False, True), ("h2 !http", True, False), ("!h2", False, True), ("h2", True, True)):
            assert "reloaded" in server.reload(server=f"Listen 127.0.0.1:{port} {flags}", **config)
            assert eventually(lambda: (speaks_h2(server), speaks_http_1(server)) == (h2, http_1)), flags
        before.send(before.head(1, "/a.txt"))
        assert before.answer(1) == (200, b"a")


def conversation(client):
    """A preface, two requests, one with a body in two frames, a PING and a window."""
    return (http2.PREFACE + frame(SETTINGS) + client.head(1, "/echo", "POST", end=False) + frame(DATA, 0, 1, b"some")
            + frame(PING, 0, 0, b"12345678") + frame(DATA, END_STREAM, 1, b"thing") + frame(WINDOW_UPDATE, 0, 0, (9).to_bytes(4, "big"))
            + client.head(3, "/a.txt"))


def hears_all(client):
    bodies, ended = {1: b"", 3: b""}, set()
    while len(ended) < 2:
        one = client.until(DATA, RST_STREAM, GOAWAY)
        assert one and one.kind == DATA
        bodies[one.stream] += one.payload
        ended |= {one.stream} if one.flags & END_STREAM else set()
    assert b"something" in bodies[1] and bodies[3] == b"a"


def test_each_byte_arrives_alone(server):
    with Frames(address(server), preface=b"") as empty:  # whose encoder is used
        data = conversation(empty)
        raw = socket.create_connection(address(server), timeout=30)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        empty.sock, closed = raw, empty.sock
        closed.close()
        for at in range(len(data)):
            raw.send(data[at:at + 1])
        hears_all(empty)


@pytest.mark.slow
@pytest.mark.limit(120)
def test_input_split_at_each_byte(server):
    at = 1
    while True:
        with Frames(address(server), preface=b"") as client:
            raw = socket.create_connection(address(server), timeout=30)
            client.sock, closed = raw, client.sock
            closed.close()
            data = conversation(client)
            raw.sendall(data[:at])
            time.sleep(0.005)
            raw.sendall(data[at:])
            hears_all(client)
        if (at := at + 1) == len(data):
            break


def test_what_is_counted(start):
    """In the page of metrics; a reload keeps it."""
    server = start(server="Listen 127.0.0.1:0 h2", handlers=ECHO, files={"a.txt": "a"},
                   extra=loads("http2", "status", **{"plugins/status/status.conf": section("STATUS", "")}))

    def counted(name):
        text = server.get("/metrics").text
        return float(re.search(rf"(?m)^monkey_http2_{re.escape(name)} (\S+)$", text)[1])

    with Frames(address(server)) as client, Frames(address(server)) as rude:
        client.send(client.head(1, "/a.txt"))
        assert client.answer(1) == (200, b"a")
        client.send(client.head(3, "/echo", "POST", end=False), frame(RST_STREAM, 0, 3, CANCEL.to_bytes(4, "big")))
        client.send(client.head(5, "/echo", "POST", [("content-length", "1")], end=False), frame(DATA, END_STREAM, 5, b"22"))
        assert client.answer(5) == PROTOCOL_ERROR
        client.send(client.head(7, "/echo", "POST", end=False), frame(PING, 0, 0, bytes(8)))
        assert client.until(PING)
        rude.send(*[frame(PING, 0, 0, bytes(8))] * 2000)
        assert rude.until(GOAWAY).code == ENHANCE_YOUR_CALM
        assert eventually(lambda: counted("connections") == 1)
        assert (counted("connections_begun_total"), counted("streams"), counted("streams_begun_total"), counted("tunnels")) == (2, 1, 4, 0)
        assert (counted('resets_total{by="client"}'), counted('resets_total{by="server"}'), counted("floods_total")) == (1, 1, 1)
        server.reload()
        assert (counted("connections"), counted("streams_begun_total")) == (1, 4)
    assert eventually(lambda: (counted("connections"), counted("streams")) == (0, 0))


def test_a_reload_keeps_connections(server, client):
    client.send(client.head(1, "/a.txt"))
    assert client.answer(1) == (200, b"a")
    server.reload()
    client.send(client.head(3, "/a.txt"))
    assert client.answer(3) == (200, b"a")


# ---- known clients ----

def h2spec():
    """The conformance suite, which tools/deps --test builds."""
    program = pathlib.Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "monkey" / "h2spec"
    if not program.is_file():
        pytest.skip("h2spec is not there: run tools/deps --test")
    return program


@pytest.mark.limit(120)
@pytest.mark.parametrize("transport", ["", "tls"])
def test_conformance_suite(start, transport):
    """
    h2spec: sections of RFC 9113 and 7541, one case after the other. They ask for what waits for a body's end: a stream that is
    answered earlier is reset, and what a case sends next on it would be ignored.
    """
    program = h2spec()
    tls_conf = {"plugins/tls/tls.conf": section("TLS", certificates.issue().lines())} if transport else {}
    server = start(server=f"Listen 127.0.0.1:0 {transport} h2 !http", handlers=ECHO,
                   extra=loads("http2", *([transport] if transport else []), **tls_conf))
    words = [program, "-h", "127.0.0.1", "-p", str(server.port), "--path", "/echo", "-S", "-o", "5", *(["-t", "-k"] if transport else [])]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=110)
    assert re.search(r"146 tests, 146 passed, 0 skipped, 0 failed", ran.stdout), ran.stdout[ran.stdout.find("Failures"):]


def test_known_clients(server):
    url = f"http://127.0.0.1:{server.port}"
    curl = subprocess.run(["curl", "-s", "--http2-prior-knowledge", "-w", "%{http_version}", f"{url}/a.txt"], capture_output=True, timeout=30)
    assert curl.stdout == b"a2"
    nghttp = subprocess.run(["nghttp", "-n", "-v", f"{url}/large.bin"], capture_output=True, timeout=30)
    assert b":status: 200" in nghttp.stdout and nghttp.returncode == 0
    load = subprocess.run(["h2load", "-n", "2000", "-c", "4", "-m", "16", f"{url}/a.txt"], capture_output=True, text=True, timeout=50)
    assert "2000 succeeded, 0 failed, 0 errored" in load.stdout
