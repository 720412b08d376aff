# SPDX-License-Identifier: Apache-2.0
"""Who is waited for decides how long: the client that reads, the client that sends, or the handler."""

import time

import pytest

from harness import http
from harness.client import PATIENCE
from harness.plugins import load


def serve(start, timeouts):
    return start(server=f"Workers 1\nLogLevel debug\n{timeouts}", handlers="Match ^/wait waits", extra={"plugins.load": load("waits")})


def ask(server, path, **kwargs):
    connection = server.connect(receive_buffer=4096)
    connection.send(http.request(path, **kwargs))
    return connection


def test_handler_takes_its_time(start):
    server = serve(start, "HandlerTimeout 10\nWriteTimeout 1\nBodyTimeout 1\nTimeout 1")
    assert server.get("/wait/2200").status == 200


def test_handler_that_never_answers(start):
    server = serve(start, "HandlerTimeout 1")
    begun = time.monotonic()
    assert server.get("/wait/60000").status in (500, 504)
    assert 0.9 < time.monotonic() - begun < PATIENCE


@pytest.mark.parametrize("sent", [b"", b"ab"])
def test_handler_that_leaves_the_body_alone(start, sent):
    """The client waits for 100, or for room: it is not the one who is slow."""
    server = serve(start, "HandlerTimeout 10\nBodyTimeout 1")
    headers = {"Content-Length": "5", **({} if sent else {"Expect": "100-continue"})}
    connection = ask(server, "/wait/2500", method="POST", headers=headers)
    connection.send(sent)
    assert connection.response().status == 200


@pytest.mark.parametrize("how", ["large", "patient/large", "outside", "patient/outside"])
def test_a_late_answer_that_nobody_reads(start, how):
    server = serve(start, "HandlerTimeout 30\nWriteTimeout 1")
    with open(server.root / "large.bin", "wb") as file:
        file.truncate(32 << 20)
    ask(server, f"/wait/{how}/500")
    server.wait_for_log("state=reply reason=STALLED")


def test_an_answer_that_was_only_begun(start):
    """Not even the head has an end: without an answer of the server's own the next one would be taken for it."""
    server = serve(start, "HandlerTimeout 5")
    connection = ask(server, "/wait/unended/100")
    assert connection.response().status == 500
    assert connection.is_closed()
    assert "a head without an end" in server.log()
