# SPDX-License-Identifier: Apache-2.0
"""Streams of small chunks are not cut; what chunks could do without is bounded."""

import pytest

from harness import http
from harness.backend import Backend, proxy, servers

BEATS = 20_000
BEAT = b":\n\n"


def serve(start, backend):
    return start(extra=proxy(f"Match ^/\n{servers([backend])}"), server="MaxBodySize 1M")


def beats(chunk):
    return chunk * BEATS + b"0\r\n\r\n"


def test_an_answer_of_heartbeats(start):
    def each(conn, request):
        conn.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        conn.send(beats(b"3\r\n" + BEAT + b"\r\n"))

    with Backend(each=each) as backend:
        assert serve(start, backend).get("/").body == BEAT * BEATS


@pytest.mark.parametrize("chunk", [b"0000000003\r\n" + BEAT + b"\r\n", b"3;extension\r\n" + BEAT + b"\r\n"])
def test_an_answer_with_waste_is_cut(start, chunk):
    def each(conn, request):
        conn.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + beats(chunk))

    with Backend(each=each) as backend:
        server = serve(start, backend)
        with server.connect() as client:
            client.send(http.request("/"))
            data = client.rest_until_cut()
        assert data.startswith(b"HTTP/1.1 200 ") and not data.endswith(b"0\r\n\r\n")
        assert data.count(BEAT) < BEATS / 2


def test_a_request_of_heartbeats(start):
    with Backend(each=lambda conn, request: conn.answer(b"%d" % len(request.body))) as backend:
        with serve(start, backend).connect() as client:
            client.send(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            client.send(beats(b"3\r\n" + BEAT + b"\r\n"))
            assert client.response().body == b"%d" % (len(BEAT) * BEATS)


@pytest.mark.parametrize("chunk", [b"0000000003\r\n" + BEAT + b"\r\n", b"3;extension\r\n" + BEAT + b"\r\n"])
def test_a_request_with_waste_is_refused(start, chunk):
    with Backend(serve=lambda conn: conn.request()) as backend:
        with serve(start, backend).connect() as client:
            client.send(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            client.send(beats(chunk))
            assert client.response().status == 413
