# SPDX-License-Identifier: Apache-2.0
"""Pipelining (RFC 9112 9.3.2): one answer a request, in the order of the requests, at any depth."""

import socket
import time

import pytest

from harness import http

FILES = {"a.txt": "a" * 10, "b.txt": "b" * 20000, "c.txt": "c" * 300000, "empty.txt": ""}


@pytest.fixture(scope="module")
def server(start_shared):
    return start_shared(files=FILES, handlers="Match ^/echo echo")


def ask_all(server, requests):
    """Send everything at once; requests: (method, target, body). The last one closes."""
    data = b""
    for number, (method, target, body) in enumerate(requests, 1):
        headers = {"Connection": "close"} if number == len(requests) else {}
        data += http.request(target, method, headers=headers, body=body)
    return http.parse(server.raw(data), [method for method, _, _ in requests])


@pytest.mark.parametrize("depth", [1, 2, 3, 5, 8, 16, 33, 64, 65, 100])
def test_answers_in_order(server, depth):
    requests = [("POST", f"/echo/{number}", b"%d" % number) for number in range(depth)]
    responses = ask_all(server, requests)
    for number, response in enumerate(responses):
        assert response.body.startswith(b"POST /echo/%d " % number)
        assert response.body.endswith(b"\r\n\r\n%d" % number)


@pytest.mark.parametrize("depth", [10, 100])
def test_errors_that_keep_the_connection_do_not_disturb(server, depth):
    cycle = [("GET", "/a.txt", b"", 200), ("GET", "/missing", b"", 404), ("HEAD", "/b.txt", b"", 200),
             ("POST", "/a.txt", b"body", 405), ("GET", "/b.txt", b"", 200), ("OPTIONS", "*", b"", None),
             ("HEAD", "/missing", b"", 404), ("GET", "/empty.txt", b"", 200), ("POST", "/echo", b"body", 200)]
    wanted = [cycle[number % len(cycle)] for number in range(depth)]
    responses = ask_all(server, [entry[:3] for entry in wanted])
    for (method, target, _, status), response in zip(wanted, responses):
        assert response.status == status or (status is None and response.status in (200, 204)), (method, target)
        if status == 200 and method == "GET":
            assert response.text == FILES[target[1:]]


def test_large_answers_in_between_keep_the_order(server):
    order = ["/c.txt", "/a.txt", "/c.txt", "/b.txt", "/empty.txt", "/c.txt", "/a.txt"]
    responses = ask_all(server, [("GET", target, b"") for target in order])
    assert [response.text for response in responses] == [FILES[target[1:]] for target in order]


def test_answers_while_later_requests_are_incomplete(server):
    with server.connect() as connection:
        connection.send(http.request("/a.txt") * 3 + b"GET /a.t")
        assert [response.status for response in connection.responses("GET", "GET", "GET")] == [200] * 3
        connection.send(b"xt HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.response().text == FILES["a.txt"]


def test_a_malformed_request_ends_the_row_after_the_answers_before_it(server):
    data = http.request("/a.txt") * 4 + b"GET / HTTP/1.1\r\nHost : x\r\n\r\n" + http.request("/a.txt") * 4
    responses = http.parse(server.raw(data), ["GET"] * 5)
    assert [response.status for response in responses] == [200] * 4 + [400]


def test_close_ends_the_row(server):
    """RFC 9112 9.6: requests after one with `close` are not answered."""
    data = http.request("/a.txt") + http.request("/a.txt", headers={"Connection": "close"}) + http.request("/a.txt")
    assert len(http.parse(server.raw(data), ["GET", "GET"])) == 2


def test_answers_what_was_sent_before_a_half_close(server):
    with server.connect() as connection:
        connection.send(http.request("/c.txt") * 3)
        connection.finish_sending()
        assert [len(response.body) for response in connection.responses("GET", "GET", "GET")] == [300000] * 3
        assert connection.is_closed()


def test_client_that_reads_only_at_the_end_gets_everything(server):
    """More answers than all socket buffers hold: the server must stop and go on later."""
    count = 60
    with server.connect(receive_buffer=4096) as connection:
        connection.send(http.request("/c.txt") * count)
        for _ in range(count):
            assert connection.response().text == FILES["c.txt"]


@pytest.mark.slow
@pytest.mark.plain("counts the bytes that a socket takes")
@pytest.mark.parametrize("size", [500, 2040, 5000])
def test_answers_that_nobody_reads_stay_with_their_connection(start, size):
    """Thousands of requests from a client that reads nothing: its answers wait, and are nobody else's."""
    server = start(server="Workers 1\nMaxKeepAliveRequest 1000000", files={"f.txt": "f" * size, "other.txt": "other"})
    one = http.request("/f.txt")
    for _ in range(3):
        with server.connect(receive_buffer=4096) as connection:
            connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
            connection.sock.setblocking(False)
            sent, last = 0, time.monotonic()
            while time.monotonic() - last < 0.2:
                try:
                    sent += connection.sock.send((one * 500)[sent % len(one):])
                    last = time.monotonic()
                except BlockingIOError:
                    time.sleep(0.01)
            assert server.get("/other.txt").text == "other"
            connection.sock.settimeout(30)
            for _ in range(sent // len(one)):
                assert connection.response().text == "f" * size
