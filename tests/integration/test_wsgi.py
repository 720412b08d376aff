# SPDX-License-Identifier: Apache-2.0
"""A Python WSGI application behind a FastCGI server (uWSGI)."""

import hashlib
import json
import random

import pytest

from harness import applications, http

APPLICATION = """
    import hashlib
    import json
    import os
    import time

    def body(environ):
        left = int(environ.get("CONTENT_LENGTH") or 0)
        while left > 0:
            piece = environ["wsgi.input"].read(min(left, 65536))
            if not piece:
                return
            left -= len(piece)
            yield piece

    def slowly(until):
        yield b"first"
        for _ in range(1000):
            if os.path.exists(until):
                break
            time.sleep(0.01)
        yield b"second"

    def application(environ, start_response):
        path = environ.get("PATH_INFO", "")
        if path == "/slow":
            start_response("200 OK", [("Content-Type", "text/plain")])
            return slowly(environ["QUERY_STRING"])
        if path == "/digest":
            digest = hashlib.sha1()
            for piece in body(environ):
                digest.update(piece)
            answer = digest.hexdigest().encode()
        elif path == "/large":
            start_response("200 OK", [("Content-Type", "application/octet-stream")])
            return (b"0123456789abcdef" * 4096 for _ in range(64))
        elif path == "/raises":
            raise ValueError("of a reason that a log tells")
        else:
            known = {name: value for name, value in environ.items() if isinstance(value, str)}
            answer = json.dumps(known).encode()
        start_response("203 Told so", [("Content-Type", "application/json"), ("Content-Length", str(len(answer))),
                                       ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")])
        return [answer]
"""


@pytest.fixture(scope="module")
def server(start_shared, tmp_path_factory):
    with applications.wsgi(tmp_path_factory.mktemp("wsgi"), APPLICATION) as peer:
        yield start_shared(files={"index.html": "<p>a file"}, server="MaxBodySize 20M",
                           **applications.fastcgi(peer.address, "^/app(/|$)", location="Mount /app"))


def test_the_application_gets_what_is_below_its_name(server):
    answer = server.get("/app/deep/a%20path?x=1", headers={"X-Word": "one"})
    assert answer.status == 203
    known = json.loads(answer.body)
    assert (known["SCRIPT_NAME"], known["PATH_INFO"], known["QUERY_STRING"]) == ("/app", "/deep/a path", "x=1")
    assert known["HTTP_X_WORD"] == "one"
    assert answer.all("Set-Cookie") == ["a=1", "b=2"]


def test_files_beside_it_are_files(server):
    assert server.get("/index.html").body == b"<p>a file"


@pytest.mark.parametrize("size", [0, 1, 100_000, 10_000_000])
def test_a_body_arrives_whole(server, size):
    body = random.Random(size).randbytes(size)
    assert server.request("/app/digest", "POST", body=body).body.decode() == hashlib.sha1(body).hexdigest()


def test_a_generator_is_streamed(server, tmp_path):
    until = tmp_path / "go-on"
    connection = server.connect()
    connection.send(http.request(f"/app/slow?{until}"))
    assert http.read_head(connection.stream).status == 200
    assert connection.stream.line() == b"5" and connection.stream.exactly(7) == b"first\r\n"
    until.touch()
    assert connection.stream.line() == b"6" and connection.stream.exactly(8) == b"second\r\n"


def test_a_large_answer(server):
    assert server.get("/app/large").body == b"0123456789abcdef" * (64 * 4096)


def test_an_application_that_raises(server):
    assert server.get("/app/raises").status >= 500
    assert server.get("/app").status == 203
