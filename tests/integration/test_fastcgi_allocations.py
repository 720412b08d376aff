# SPDX-License-Identifier: Apache-2.0
"""Allocation 1, 2, ... n fails in a FastCGI request and in a reload: an answer or an error, and the next request is served."""

import itertools

import pytest

from harness import fastcgi, http

pytestmark = [pytest.mark.slow, pytest.mark.limit(300)]

CLOSE = {"Connection": "close"}
REQUESTS = {
    "get": http.request("/", headers=CLOSE),
    "large answer": http.request("/large", headers=CLOSE),
    "long head": http.request("/head", headers=CLOSE),
    "post": http.request("/", "POST", headers=CLOSE, body=b"x" * 10_000),
    "large post": http.request("/", "POST", headers=CLOSE, body=b"x" * 200_000),
    "chunked": http.request("/", "POST", headers={"Transfer-Encoding": "chunked", **CLOSE},
                            body=http.chunked(b"a" * 50_000, b"b" * 50_000)),
    "complaints": http.request("/complain", headers=CLOSE),
    "head": http.request("/large", "HEAD", headers=CLOSE),
}


def answer(call):
    path = call.params.get("PATH_INFO")
    call.body()
    if path == "/complain":
        call.err(b"a line\n" * 3)
    if path == "/head":
        call.answer(b"done", b"X-Long: %s\r\n\r\n" % (b"x" * 9000))
    else:
        call.answer(b"y" * (300_000 if path == "/large" else 4))


def fails(server, application, allocations, number, request, is_new):
    """Whether a request needs as many, over a new connection to the application or one that may be kept."""
    if is_new:
        application.drop_connections()
    allocations.arm(number)
    with server.connect() as connection:
        connection.send(request)
        seen = connection.rest_until_cut()
    assert not seen or seen.startswith(b"HTTP/1.1 "), seen[:100]
    assert server.is_running(), f"allocation {number}\n{server.log()}"
    allocations.disarm()
    assert server.get("/").body == b"yyyy", f"after allocation {number}"
    return allocations.failed


@pytest.mark.parametrize("keep", ["on", "off"])
@pytest.mark.parametrize("name", REQUESTS)
def test_request(start, allocations, name, keep):
    with fastcgi.Application(answer) as application:
        server = start(**fastcgi.config(application, location=f"Mount /\nKeepAlive {keep}"), server="Workers 1",
                       env=allocations.environment)
        assert server.get("/").status == 200
        for number in itertools.count(1):
            failures = [fails(server, application, allocations, number, REQUESTS[name], is_new) for is_new in (True, False)]
            if not any(failures):
                break
        assert number > 5


def test_reload(start, allocations):
    with fastcgi.Application(answer) as application:
        config = dict(fastcgi.config(application, server="MaxConnections 4"), server="Workers 2")
        server = start(**config, env=allocations.environment)
        for number in itertools.count(1):
            config = dict(fastcgi.config(application, server=f"MaxConnections {4 + number % 3}"), server="Workers 2")
            server.config.write(**config)
            allocations.arm(number)
            server.reload()
            allocations.disarm()
            assert server.get("/").body == b"yyyy"
            if not allocations.failed:
                break
