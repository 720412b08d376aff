# SPDX-License-Identifier: Apache-2.0
"""Methods and the forms of a request target: RFC 9110 9, RFC 9112 3.2."""

import pytest

from harness import http

FILES = {"index.html": "<p>welcome", "a.txt": "text", "empty.txt": "", "dir/index.html": "dir", "large.bin": b"x" * 200000}


@pytest.fixture(scope="module")
def server(start_shared):
    return start_shared(files=FILES, handlers="Match ^/echo echo")


def allowed(response):
    return set(response.header("Allow", "").replace(" ", "").split(","))


@pytest.mark.parametrize("target", ["/", "/a.txt", "/empty.txt", "/large.bin", "/missing", "/dir", "/dir/"])
def test_head_is_get_without_the_body(server, target):
    """RFC 9110 9.3.2"""
    get, head = server.get(target), server.head(target)
    assert head.status == get.status
    assert head.body == b""
    drop = ("date",)
    assert [f for f in head.fields if f[0].lower() not in drop] == [f for f in get.fields if f[0].lower() not in drop]


@pytest.mark.parametrize("target", ["*", "/", "/a.txt"])
def test_options_names_the_methods(server, target):
    """RFC 9110 9.3.7"""
    response = server.request(target, "OPTIONS")
    assert response.status in (200, 204)
    assert {"GET", "HEAD", "OPTIONS"} <= allowed(response)
    assert response.body == b""


def test_options_with_a_body_keeps_the_framing(server):
    with server.connect() as connection:
        assert connection.request("*", "OPTIONS", body=b"{}").status in (200, 204)
        assert connection.request("/a.txt").text == "text"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "TRACE"])
@pytest.mark.parametrize("target", ["/a.txt", "/", "/dir/"])
def test_other_known_methods_are_405_on_a_file(server, method, target):
    """RFC 9110 15.5.6: Allow must be there."""
    response = server.request(target, method)
    assert response.status == 405
    assert allowed(response) == {"GET", "HEAD", "OPTIONS"}


@pytest.mark.parametrize("method", ["POST", "OPTIONS"])
def test_allow_of_the_site_takes_the_place_of_the_own(start_shared, method):
    server = start_shared(files=FILES, host="Header Allow GET")
    assert server.request("/a.txt", method).all("Allow") == ["GET"]


@pytest.mark.parametrize("method", ["get", "Get", "BREW", "PROPFIND", "M-SEARCH", "G", "X" * 40, "!#$%&'*+-.^_`|~09AZ"])
def test_unknown_methods_are_501(server, method):
    """RFC 9110 15.6.2; methods are case-sensitive (9.1)"""
    assert server.request("/a.txt", method).status == 501


@pytest.mark.connection("CONNECT")
def test_connect_opens_no_tunnel(server):
    response = http.parse_one(server.raw(http.request("localhost:80", "CONNECT", headers={"Connection": "close"})))
    assert response.status in (400, 405, 501)


def test_trace_echoes_nothing(server):
    """An answer to TRACE would show cookies to scripts."""
    response = server.request("/a.txt", "TRACE", headers={"Cookie": "secret=1"})
    assert b"secret" not in response.body


def test_handlers_see_other_methods(server):
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        assert server.request("/echo", method, body=b"x").body.startswith(method.encode() + b" /echo ")


@pytest.mark.parametrize("target", ["http://localhost/a.txt", "HTTP://LOCALHOST:80/a.txt", "https://localhost/a.txt",
                                    "http://[::1]:8080/a.txt", "http://localhost/a.txt?q"])
def test_absolute_form_is_served(server, target):
    """RFC 9112 3.2.2"""
    assert server.get(target).text == "text"


@pytest.mark.parametrize("target", ["http://localhost", "http://localhost?q=1"])
def test_absolute_form_without_a_path_is_the_root(server, target):
    assert server.get(target).text == "<p>welcome"


def test_a_query_does_not_change_the_file(server):
    assert server.get("/a.txt?x=%00&y=../..").text == "text"


def test_post_without_a_length_has_no_body(server):
    """RFC 9112 6.3: neither length nor coding means no body."""
    with server.connect() as connection:
        connection.send(b"POST /echo HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.response("POST").body.endswith(b"\r\n\r\n")
        assert connection.request("/a.txt").text == "text"
