# SPDX-License-Identifier: Apache-2.0
"""LogLevel trace: what happens to a connection and to its requests, change by change."""

import re

from harness.plugins import load


def changes(server, what, number):
    """The states that one connection, answer ... went through, as the trace names them."""
    return chain(server, rf"{what} \w+=\d*?{number}")


def of_request(server, what, number=1):
    """The states of a request of the first connection."""
    return chain(server, rf"{what} conn=1 request={number}")


def chain(server, who):
    pairs = re.findall(rf"level=trace in=\w+ {who} from=(\w+) to=(\w+)\n", server.log())
    assert all(before[1] == after[0] for before, after in zip(pairs, pairs[1:])), pairs
    return [pair[0] for pair in pairs] + [pair[1] for pair in pairs[-1:]]


def test_connection_that_is_kept(start):
    server = start(server="LogLevel trace:http,conn\nWorkers 1", files={"index.html": "x"})
    with server.connect() as connection:
        for _ in range(2):
            assert connection.request("/").status == 200
    server.wait_for_log("reason=PEER_LEFT")
    one = ["idle", "head", "route", "reply"]
    assert changes(server, "connection", 1) == one + one + ["idle"]
    assert re.search(r"level=trace in=conn accepted conn=1 peer=127.0.0.1\n", server.log())


def test_request_that_is_refused(start):
    server = start(server="LogLevel trace:http,conn\nWorkers 1")
    with server.connect() as connection:
        connection.send(b"NO REQUEST\r\n\r\n")
        assert connection.response().status == 400
        connection.finish_sending()
        assert connection.is_closed()
    server.wait_for_log("closed conn=1")
    assert changes(server, "connection", 1) == ["idle", "head", "reply", "flush", "linger"]
    assert 'refused conn=1 status=400' in server.log()


def test_requests_of_a_kept_connection(start):
    server = start(server="LogLevel trace:http\nWorkers 1", files={"index.html": "x"})
    with server.connect() as connection:
        for number in (1, 2):
            assert connection.request("/").status == 200
            assert of_request(server, "request", number) == ["head", "asked", "over"]
            assert of_request(server, "answer", number) == ["none", "head", "body", "ended"]


def test_request_whose_hook_says_later(start):
    server = start(server="LogLevel trace:http\nWorkers 1", handlers="Match ^/bell probe bell",
                   extra={"plugins.load": load("probe")})
    assert server.get("/bell").text == "resumed"
    assert of_request(server, "request") == ["head", "asked", "parked", "woken", "asked", "over"]


def test_request_whose_body_is_skipped(start):
    server = start(server="LogLevel trace:http\nWorkers 1", files={"index.html": "x"})
    with server.connect() as connection:
        assert connection.request("/", "POST", body=b"body").status == 405
        assert connection.request("/").status == 200
    assert of_request(server, "body") == ["none", "unread", "reading", "done"]
    assert not of_request(server, "body", 2)


def test_traces_of_one_part_alone(start):
    server = start(server="LogLevel trace:http\nWorkers 1", files={"index.html": "x"})
    assert server.get("/").status == 200
    assert "in=conn" not in server.log()
