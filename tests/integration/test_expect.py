# SPDX-License-Identifier: Apache-2.0
"""Expect: 100-continue (RFC 9110 10.1.1)."""

import pytest

from harness import http


@pytest.fixture(scope="module")
def server(start_shared):
    return start_shared(server="MaxBodySize 100K", files={"a.txt": "text"}, handlers="Match ^/echo echo")


def head(length, expect="100-continue", method="POST", target="/echo", version="1.1"):
    return http.request(target, method, version=version, headers={"Expect": expect, "Content-Length": str(length)})


@pytest.mark.parametrize("expect", ["100-continue", "100-Continue", " 100-CONTINUE "])
def test_asks_for_the_body(server, expect):
    with server.connect() as connection:
        connection.send(head(5, expect))
        assert http.read_head(connection.stream).status == 100
        connection.send(b"hello")
        response = connection.response("POST")
        assert response.status == 200
        assert response.body.endswith(b"\r\n\r\nhello")
        assert connection.request("/a.txt").text == "text"


def test_asks_for_a_chunked_body(server):
    with server.connect() as connection:
        connection.send(http.request("/echo", "POST", headers={"Expect": "100-continue", "Transfer-Encoding": "chunked"}))
        assert http.read_head(connection.stream).status == 100
        connection.send(http.chunked(b"hel", b"lo"))
        assert connection.response("POST").body.endswith(b"\r\n\r\nhello")


def test_a_client_that_does_not_wait_gets_one_final_answer(server):
    with server.connect() as connection:
        connection.send(head(5) + b"hello")
        response = connection.response("POST")
        assert response.status == 200
        assert len(response.interim) <= 1
        assert connection.request("/a.txt").text == "text"


def test_refuses_a_large_body_before_it_is_sent(server):
    """Instead of 100 the final answer: the purpose of the field."""
    response = http.parse_one(server.raw(head(1 << 20)))
    assert response.status == 413
    assert response.interim == []


def test_answers_an_error_instead_of_100(server):
    with server.connect() as connection:
        connection.send(head(5, target="/a.txt"))
        response = connection.response("POST")
        assert response.status == 405
        assert response.interim == []


def test_http_1_0_gets_no_100(server):
    """RFC 9110 10.1.1: a 100-continue expectation in an HTTP/1.0 request is ignored."""
    response = http.parse_one(server.raw(head(5, version="1.0") + b"hello"))
    assert response.status == 200
    assert response.interim == []


@pytest.mark.parametrize("expect", ["200-ok", "100-continue-please", "x=y", "100-continue, wonders"])
def test_other_expectations_fail(server, expect):
    response = http.parse_one(server.raw(head(5, expect)))
    assert response.status == 417
    assert not response.keeps_connection


def test_a_get_without_body_needs_no_100(server):
    with server.connect() as connection:
        response = connection.request("/a.txt", headers={"Expect": "100-continue"})
        assert (response.status, response.interim) == (200, [])
