# SPDX-License-Identifier: Apache-2.0
"""What a backend sends without having been asked reaches nobody."""

import time

import pytest

from harness.backends import Backend, proxy, servers

POISON = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"


@pytest.mark.parametrize("later", [False, True], ids=["with the answer", "on the idle connection"])
@pytest.mark.parametrize("extra", [POISON, b"\r\n", b"x"], ids=["an answer", "a line", "a byte"])
def test_unasked_bytes_end_the_connection(start, later, extra):
    def reply(request):
        body = b"%d" % request.connection.requests
        answer = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n" + body
        if later:
            request.connection.send(answer)
            time.sleep(0.05)
            request.connection.send(extra)
        else:
            request.connection.send(answer + extra)

    backend = Backend("eager", reply=reply)
    server = start(server="Workers 1", extra=proxy(f"Match ^/\n{servers([backend])}\nKeepAliveTimeout 30"))
    for _ in range(5):
        assert server.get("/").text == "1"  # each the first on its connection
        time.sleep(0.2)
    assert backend.connections == 5
    backend.stop()
