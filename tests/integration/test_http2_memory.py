# SPDX-License-Identifier: Apache-2.0
"""MaxMemory over HTTP/2: requests that hold much for long end, then their connection; others lose nothing."""

import contextlib
import os
import random
import signal

import pytest

from harness import executable
from harness.client import eventually
from harness.config import section
from harness.http2 import (DATA, END_HEADERS, END_STREAM, ENHANCE_YOUR_CALM, GOAWAY, HEADERS, INTERNAL_ERROR, REFUSED_STREAM, RST_STREAM,
                           WINDOW_UPDATE, Frames, frame)
from harness.uploads import Upload, Uploads

MB = 1 << 20
SHUT = (4).to_bytes(2, "big") + bytes(4)  # INITIAL_WINDOW_SIZE 0
NARROW = SHUT[:-1] + b"\1"
PATIENT = "Workers 1\nMinReadRate 0\nWriteTimeout 300\nTimeout 300\nKeepAliveTimeout 300\nBodyTimeout 300\nMinRate 0\n"
ELSE = 16 * MB  # blocks of the connections and requests themselves, and what the heap keeps
OPEN = (1 << 30).to_bytes(4, "big")


@pytest.fixture(name="begin")
def fixture_begin(start):
    def begin(lines, plugins=(), handlers="", files=None, **kwargs):
        names = [executable.plugin(name) for name in ("http2", *plugins)]
        if not all(names):
            pytest.skip("this build has no such plugin")
        load = {"plugins.load": section("PLUGINS", "\n".join(f"Load {name}" for name in names))}
        return start(server="Listen 127.0.0.1:0 h2\n" + PATIENT + lines, handlers=handlers, extra=load,
                     files={"a.txt": "a", **(files or {})}, **kwargs)
    return begin


def connect(server, **kwargs):
    return Frames(("127.0.0.1", server.port), **kwargs)


def get(client, stream):
    client.send(client.head(stream, "/a.txt"))
    return client.answer(stream)


def ask_with_large_heads(server):
    """A hundred heads of 30 KB, in a few bytes each (RFC 7541 7.3): a table entry again and again; no answer can leave."""
    client = connect(server, settings=SHUT)
    head = client.head(1, "/a.txt", fields=[("x", "y" * 2900)])
    pseudo = [(":method", "GET"), (":scheme", "http"), (":authority", "localhost"), (":path", "/a.txt")]
    again = client.encoder.encode(pseudo) + bytes([0x80 | 62]) * 10
    client.send(head, *(frame(HEADERS, END_HEADERS | END_STREAM, stream, again) for stream in range(3, 200, 2)))
    return client


@pytest.mark.timed
def test_heads_are_bounded(begin):
    server = begin("MaxMemory 2M\nMaxRequestSize 64K")
    patient = connect(server)
    assert get(patient, 1) == (200, b"a")
    before = server.anonymous_bytes()
    crowd = [ask_with_large_heads(server) for _ in range(20)]
    for client in crowd:
        client.send(frame(WINDOW_UPDATE, 0, 1, OPEN))  # of the first: whether it lives or was reset, the server has read all before
        client.until(DATA, RST_STREAM)
    assert "made room: MaxMemory is used up, ended a request" in server.log()
    held = server.anonymous_bytes() - before
    assert get(patient, 3) == (200, b"a"), "who holds nothing loses nothing"
    for client in crowd:
        client.close()
    assert held < 2 * MB + ELSE or executable.is_sanitized()


def flood(client, again, streams):
    """Large heads in a few bytes each, then a small request. Returns how many were refused, and the code of GOAWAY or None."""
    last = streams[-1] + 2
    client.send(*(frame(HEADERS, END_HEADERS | END_STREAM, stream, again) for stream in streams),
                client.head(last, "/a.txt"), frame(WINDOW_UPDATE, 0, last, OPEN))
    refused = 0
    while True:
        one = client.until(DATA, RST_STREAM, GOAWAY)
        if one.kind == GOAWAY:
            return refused, one.code
        if one.kind == DATA and one.stream == last:
            return refused, None
        refused += one.kind == RST_STREAM and one.code == REFUSED_STREAM


def test_refusals_for_want_of_memory_cost_credit(begin):
    """RFC 9113 10.5: a few are borne, a flood of them is not."""
    server = begin("MaxMemory 1M\nMaxRequestSize 64K")
    with connect(server, settings=SHUT) as client:
        client.send(client.head(1, "/a.txt", fields=[("x", "y" * 2900)]))
        pseudo = [(":method", "GET"), (":scheme", "http"), (":authority", "localhost"), (":path", "/a.txt")]
        again = client.encoder.encode(pseudo) + bytes([0x80 | 62]) * 10
        rounds = [flood(client, again, range(3, 103, 2))]  # few of them find room
        while rounds[-1][1] is None and len(rounds) < 100:
            first = 3 + 102 * len(rounds)
            rounds.append(flood(client, again, range(first, first + 100, 2)))
        refused = [number for number, _ in rounds]
        assert refused[0] > 0 and len(rounds) > 2, "a few are borne"
        assert rounds[-1][1] == ENHANCE_YOUR_CALM, refused


@pytest.mark.timed
def test_heads_without_bodies_wait_within_a_bound(begin):
    """No window bounds them: a client that reads nothing is not read from any more."""
    server = begin("MaxMemory 0")
    with connect(server, receive_buffer=4096) as client:
        client.send(client.head(1, "/a.txt", "HEAD"))
        assert client.answer(1) == (200, b"")
        again, stream = client.head(3, "/a.txt", "HEAD"), 3
        before = server.anonymous_bytes()
        client.sock.settimeout(2)
        with contextlib.suppress(TimeoutError):  # the kernel's buffers may be full, or not
            while stream < 3_000_000:
                client.send(*(frame(HEADERS, END_HEADERS | END_STREAM, stream + 2 * i, again[9:]) for i in range(1000)))
                stream += 2000
        assert server.anonymous_bytes() - before < 4 * MB or executable.is_sanitized()
        client.sock.settimeout(30)
        assert client.answer(3) == (200, b"") and client.answer(2001) == (200, b""), "it is read from again"


@pytest.mark.timed
def test_requests_that_are_over_hold_nothing(begin):
    """Thousands of heads in one piece, each answered where it is read: their memory serves the next ones."""
    server = begin("MaxMemory 0")
    with connect(server) as client:
        client.send(client.head(1, "/a.txt", "HEAD"))
        assert client.answer(1) == (200, b"")
        again = client.head(3, "/a.txt", "HEAD")[9:]
        before = server.anonymous_bytes()
        server.signal(signal.SIGSTOP)
        client.send(*(frame(HEADERS, END_HEADERS | END_STREAM, 3 + 2 * i, again) for i in range(9000)))
        server.signal(signal.SIGCONT)
        assert client.answer(3) == (200, b"") and client.answer(3 + 2 * 8999) == (200, b"")
        assert server.anonymous_bytes() - before < 4 * MB or executable.is_sanitized()


def test_one_stream_goes_before_its_connection(begin):
    """A listing of 1 MB each: as many as there is room for stay, the other streams are reset, and a small answer comes."""
    server = begin("MaxMemory 3M", ["dirlisting"], handlers="Match / dirlisting",
                   files={f"many/{number:04}{'n' * 200}": "" for number in range(4000)})
    with connect(server, settings=NARROW) as client:
        streams = range(1, 21, 2)
        client.send(*(client.head(stream, "/many/") for stream in streams))
        assert eventually(lambda: "ended a request" in server.log(), within=30)
        client.send(client.head(101, "/a.txt"), frame(WINDOW_UPDATE, 0, 101, OPEN))
        codes, body = {}, b""
        while not body:
            one = client.until(DATA, RST_STREAM)
            if one.kind == RST_STREAM:
                codes[one.stream] = one.code
            elif one.stream == 101:
                body = one.payload
        assert body == b"a" and "closed a connection" not in server.log()
        assert codes and set(codes.values()) == {INTERNAL_ERROR} and set(codes) < set(streams)


def test_listings_of_which_no_byte_can_leave_are_booked(begin):
    """A hundred listings of 30 KB, whose client takes nothing from the start."""
    server = begin("MaxMemory 2M", ["dirlisting"], handlers="Match / dirlisting",
                   files={f"many/{number:04}{'n' * 200}": "" for number in range(120)})
    with connect(server, settings=SHUT) as client:
        client.send(*(client.head(stream, "/many/") for stream in range(1, 200, 2)))
        server.wait_for_log("made room: MaxMemory is used up")


def test_bodies_that_wait_are_booked(begin, tmp_path):
    """What a handler does not read waits in the stream's window: here of ten connections, thirty streams each."""
    fifo = tmp_path / "never"
    server = begin("MaxMemory 2M", ["cgi"], handlers="Match ^/cgi-bin/ cgi", site=section("CGI", "MaxProcesses 1\nRequestBuffering off"),
                   files={"cgi-bin/wait": f"#!/bin/sh\nexec cat {fifo}\n"})
    (server.config.root / "cgi-bin" / "wait").chmod(0o755)
    os.mkfifo(fifo)
    crowd = [Uploads(server, random.Random(number)) for number in range(10)]
    with contextlib.suppress(AssertionError, ConnectionError):  # of those that are closed
        for uploads in crowd:
            for stream in range(1, 61, 2):
                one = uploads.begin(Upload("/cgi-bin/wait", bytes(100_000), pieces=(16384, 16384)))
                while one.sent < 60_000:
                    if not uploads.send(stream):
                        uploads.receive()
    assert eventually(lambda: "closed a connection" in server.log(), within=30), server.log()
    with connect(server) as patient:
        assert get(patient, 1) == (200, b"a")
    for uploads in crowd:
        uploads.client.close()
