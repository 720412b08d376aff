# SPDX-License-Identifier: Apache-2.0
"""
Fields with rules of their own are treated alike wherever they pass: the site's Header, scripts and backends, requests,
answers and trailers (RFC 9110 sections 6.5.1 and 7.6.1).
"""

import pytest

from harness import fastcgi, http
from harness.backend import Backend, configured
from harness.cgi import start_site

OF_THE_CONNECTION = ["Keep-Alive", "Proxy-Connection", "TE", "Upgrade", "HTTP2-Settings", "Trailer"]
FOR_A_PROXY = ["Proxy-Authenticate", "Proxy-Authorization", "Proxy-Authentication-Info"]
HOP_BY_HOP = OF_THE_CONNECTION + FOR_A_PROXY
FRAMING = ["Content-Length", "Transfer-Encoding", "Connection"]
OF_THE_MOMENT = ["Date", "Content-Range"]
NO_TRAILERS = ["Content-Type", "Content-Encoding", "Cache-Control", "Set-Cookie", "Host", "Authorization", "Location",
               "WWW-Authenticate", "If-Match", "Expires", "Vary"]
PASSED = ["X-Free", "Server-Timing"]
SPELLINGS = [str, str.lower, lambda name: name.replace("-", "_")]

LINES = "".join(f"{name}: x\r\n" for name in HOP_BY_HOP + PASSED)
SHOW = "Content-Type: text/plain\r\n" + LINES + "\r\n"


def assert_none(answer, names=HOP_BY_HOP):
    assert [name for name in names if answer.all(name)] == []
    assert [name for name in PASSED if not answer.all(name)] == []


@pytest.mark.parametrize("spell", SPELLINGS, ids=["plain", "lower", "underscore"])
@pytest.mark.parametrize("name", FRAMING + OF_THE_CONNECTION + OF_THE_MOMENT)
def test_a_site_cannot_set_it(start, name, spell):
    server = start(host=f"Header {spell(name)} x", wait=False)
    assert server.expect_exit() != 0
    assert f"Header: {spell(name)} is set by the server itself" in server.log()


def test_answers_of_cgi(start):
    server = start_site(start, {"show": f"#!/bin/sh\nprintf '{SHOW}'\nenv\n"})
    answer = server.get("/cgi-bin/show", headers={name: "x" for name in HOP_BY_HOP + PASSED})
    assert_none(answer)
    variables = {line.partition("=")[0] for line in answer.text.splitlines()}
    assert not variables & {"HTTP_" + name.upper().replace("-", "_") for name in HOP_BY_HOP + FRAMING}
    assert variables >= {"HTTP_X_FREE", "HTTP_SERVER_TIMING"}


def test_answers_of_fastcgi(start):
    seen = []

    def answer(conn):
        seen.append(conn.params)
        conn.answer(b"ok", head=SHOW.encode())

    with fastcgi.Application(answer) as application:
        server = start(**fastcgi.config(application))
        assert_none(server.get("/", headers={name: "x" for name in HOP_BY_HOP + PASSED}))
    names = {name.decode() if isinstance(name, bytes) else name for name in seen[0]}
    assert not names & {"HTTP_" + name.upper().replace("-", "_") for name in HOP_BY_HOP + FRAMING}
    assert names >= {"HTTP_X_FREE", "HTTP_SERVER_TIMING"}


@pytest.mark.parametrize("spell", SPELLINGS, ids=["plain", "lower", "underscore"])
def test_both_ways_through_the_proxy(start, spell):
    fields = "".join(f"{spell(name)}: x\r\n" for name in HOP_BY_HOP) + "".join(f"{name}: x\r\n" for name in PASSED)
    with Backend(each=lambda conn, request: conn.answer(b"ok", fields=fields)) as backend:
        server = start(**configured("", backend))
        answer = http.parse(server.raw(f"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{fields}\r\n".encode()), ["GET"])[0]
        assert_none(answer, [spell(name) for name in HOP_BY_HOP])
        request = backend.requests[0]
        assert [name for name in HOP_BY_HOP if request.all(spell(name))] == []
        assert [name for name in PASSED if not request.all(name)] == []


@pytest.mark.parametrize("spell", SPELLINGS, ids=["plain", "lower", "underscore"])
def test_trailers_both_ways_through_the_proxy(start, spell):
    never = HOP_BY_HOP + FRAMING + OF_THE_MOMENT + NO_TRAILERS
    trailers = "".join(f"{spell(name)}: x\r\n" for name in never) + "".join(f"{name}: x\r\n" for name in PASSED)

    def serve(conn, request):
        conn.send(f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n{trailers}\r\n".encode())

    with Backend(each=serve) as backend:
        server = start(**configured("", backend))
        raw = server.raw("POST / HTTP/1.1\r\nHost: a\r\nTE: trailers\r\nConnection: close, TE\r\n"
                         f"Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n{trailers}\r\n".encode())
        passed = [line.partition(":")[0] for line in raw.decode().partition("\r\n0\r\n")[2].splitlines() if line]
        assert passed == PASSED
        assert [name for name, _ in backend.requests[0].trailers] == PASSED
