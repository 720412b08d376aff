# SPDX-License-Identifier: Apache-2.0
"""
A client that has sent everything closes its side and reads on (RFC 9112 9.6). The answer comes, then the close, at once.

Data and FIN often arrive together, as one event; a server that reads the data must not forget the FIN. Each case is
repeated, because the moment decides.
"""

import time

import pytest

from harness import http
from harness.variants import SCHEDULERS

ROUNDS = 300
SOON = 10.0  # far below the timeouts of the server


@pytest.fixture(scope="module", params=SCHEDULERS)
def server(start_shared, request):
    return start_shared(server=f"Scheduler {request.param}\nTimeout 50\nKeepAliveTimeout 50\nBodyTimeout 50",
                        files={"a.txt": "text", "large.bin": b"l" * 1_000_000}, handlers="Match ^/echo echo")


def send_and_finish(server, data, pause=0.0):
    """-> what comes until the server closes, which must be soon"""
    with server.connect(timeout=SOON) as connection:
        connection.send(data)
        time.sleep(pause)
        connection.finish_sending()
        return connection.rest_until_cut()


COMPLETE = {
    "one request": (http.request("/a.txt"), ["GET"]),
    "an error": (http.request("/missing"), ["GET"]),
    "a pipeline": (http.request("/a.txt") * 10, ["GET"] * 10),
    "a body": (http.request("/echo", "POST", body=b"x" * 1000), ["POST"]),
    "a large answer": (http.request("/large.bin"), ["GET"]),
}


@pytest.mark.parametrize("name", COMPLETE)
def test_answers_and_closes(server, name):
    data, methods = COMPLETE[name]
    for number in range(ROUNDS):
        responses = http.parse(send_and_finish(server, data, pause=(number % 4 == 3) * 0.0005), methods)
        assert all(response.status in (200, 404) for response in responses)


INCOMPLETE = {
    "nothing": b"",
    "half a head": b"GET /a.txt HTTP/1.1\r\nHost: loc",
    "half a body": http.request("/echo", "POST", headers={"Content-Length": "1000"}) + b"x" * 500,
    "half a chunk": http.request("/echo", "POST", headers={"Transfer-Encoding": "chunked"}) + b"5\r\nhe",
    "half an unwanted body": http.request("/a.txt", headers={"Content-Length": "1000"}) + b"x" * 500,
}


@pytest.mark.parametrize("name", INCOMPLETE)
def test_gives_up_what_cannot_become_complete(server, name):
    """No waiting for a timeout: who has closed will send no more. No answer may claim success for half a body."""
    for number in range(ROUNDS):
        answer = send_and_finish(server, INCOMPLETE[name], pause=(number % 4 == 3) * 0.0005)
        if "a body" in name or "chunk" in name:
            assert not answer.startswith(b"HTTP/1.1 200") or http.is_cut_off(answer)
