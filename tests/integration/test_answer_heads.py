# SPDX-License-Identifier: Apache-2.0
"""MaxAnswerHead: heads of backends above 16 KB, of all that have backends, for clients of HTTP/1 and HTTP/2."""

import contextlib

import pytest

from harness import executable, fastcgi
from harness.backend import Backend, configured
from harness.cgi import load, make_executable
from harness.config import section
from harness.http2 import CONTINUATION, DATA, END_STREAM, HEADERS, Frames

KB = 1024
LINE = 8000  # bytes of most lines
MANY = 10 * KB  # a size of which heads have 250 fields
BODY = b"the body\n" * 3000  # more than comes with the head


def head(size, ends):
    """A head of so many bytes, lines and the empty line, without a first line; many fields, each of another name."""
    ending = b"Content-Length: %d" % len(BODY) + 2 * ends
    lines, left = b"", size - len(ending)
    line = size // 250 if MANY - 100 < size <= MANY else LINE
    while left > 0:
        length = left if left < line + 100 else line
        name = b"X-%06d: " % left
        lines += name + b"v" * (length - len(name) - len(ends)) + ends
        left -= length
    return lines + ending


def sizes_of(path):
    return int(path.rpartition("/")[2])


def answer_http(conn, request):
    first = b"HTTP/1.1 200 OK\r\n"
    conn.send(first + head(sizes_of(request.target) - len(first), b"\r\n") + BODY)


def answer_fastcgi(call):
    call.out(head(sizes_of(call.params["REQUEST_URI"]), b"\r\n") + BODY)
    call.end()


SIZES = (20 * KB, 63 * KB, 64 * KB, 64 * KB + 1, MANY, 70 * KB, 1000 * KB)
SCRIPT = "#!/bin/sh\nexec cat \"$0.$(basename \"$PATH_INFO\")\"\n"


def with_proxy(stack, key):
    return configured(key, stack.enter_context(Backend(name="one", each=answer_http)), plugins=["http2"])


def with_fastcgi(stack, key):
    application = stack.enter_context(fastcgi.Application(answer_fastcgi))
    options = fastcgi.config(application, location=f"Mount /\n{key}")
    options["extra"]["plugins.load"] += f"    Load {executable.plugin('http2')}\n"
    return options


def with_cgi(_stack, key):
    files = {f"big.{size}": (head(size, b"\n") + BODY).decode() for size in SIZES}
    return {"handlers": "Match ^/big cgi", "files": {"big": SCRIPT, **files}, "extra": load("http2"),
            "site": section("CGI", key) if key else ""}


PROTOCOLS = {"proxy": with_proxy, "fastcgi": with_fastcgi, "cgi": with_cgi}


@pytest.fixture(name="begin", params=PROTOCOLS)
def fixture_begin(request, start):
    with contextlib.ExitStack() as stack:
        def begin(key="", lines=""):
            if not executable.plugin("http2"):
                pytest.skip("this build has no such plugin")
            server = start(server=f"Listen 127.0.0.1:0 h2\n{lines}", **PROTOCOLS[request.param](stack, key))
            server.wait_for_log("started workers=")
            if request.param == "cgi":
                make_executable(server, ["big"])
            return server
        yield begin


def get_h1(server, path):
    """(status, bytes of the values of its fields, body)"""
    answer = server.get(path)
    return answer.status, sum(len(value) for name, value in answer.fields if name.lower().startswith("x-")), answer.body


def get_h2(server, path):
    with Frames(("127.0.0.1", server.port), settings=(4).to_bytes(2, "big") + (1 << 30).to_bytes(4, "big")) as client:
        client.decoder.max_header_list_size = 1 << 22
        client.send(client.head(1, path))
        block, body, ended = b"", b"", False
        while not ended:
            one = client.receive()
            assert one, "the connection ended"
            ended = ended or one.stream == 1 and one.kind in (HEADERS, DATA) and bool(one.flags & END_STREAM)
            if one.kind in (HEADERS, CONTINUATION):
                block += one.payload
            elif one.kind == DATA:
                body += one.payload
        fields = client.decoder.decode(block, raw=True)
    return int(dict(fields)[b":status"]), sum(len(value) for name, value in fields if name.startswith(b"x-")), body


GETS = {"h1": get_h1, "h2": get_h2}


@pytest.mark.parametrize("client", GETS)
def test_large_heads_pass(begin, client):
    server = begin()
    for size in (20 * KB, 63 * KB, 20 * KB):
        status, values, body = GETS[client](server, f"/big/{size}")
        assert (status, body) == (200, BODY), size
        assert size - 2 * KB < values < size, size


@pytest.mark.parametrize("client", GETS)
def test_larger_heads_are_refused(begin, client):
    server = begin()
    for size in (64 * KB + 1, 70 * KB, 1000 * KB):
        assert GETS[client](server, f"/big/{size}")[0] == 502, size
    line = next(line for line in server.log().splitlines() if "MaxAnswerHead" in line)
    assert "backend=" in line and f"url=\"/big/{64 * KB + 1}\"" in line
    assert GETS[client](server, f"/big/{20 * KB}")[0] == 200


@pytest.mark.parametrize("client", GETS)
def test_the_bound_is_a_setting(begin, client):
    server = begin("MaxAnswerHead 1M", "MaxMemory 64M")
    status, values, body = GETS[client](server, f"/big/{1000 * KB}")
    assert (status, body) == (200, BODY)
    assert 980 * KB < values < 1000 * KB


@pytest.mark.parametrize("client", GETS)
def test_the_bound_may_be_smaller(begin, client):
    server = begin("MaxAnswerHead 8K")
    assert GETS[client](server, f"/big/{20 * KB}")[0] == 502
    assert "the head is larger than MaxAnswerHead" in server.log()


@pytest.mark.parametrize("client", GETS)
def test_too_many_fields_are_told_from_too_many_bytes(begin, client):
    server = begin("MaxAnswerHead 8K")
    assert GETS[client](server, f"/big/{MANY}")[0] == 502
    assert "too many fields" in server.log() and "larger than" not in server.log()
