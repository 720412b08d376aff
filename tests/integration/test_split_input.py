# SPDX-License-Identifier: Apache-2.0
"""TCP has no message borders: a request means the same wherever its segments are cut."""

import pytest

from harness import http


@pytest.fixture(scope="module")
def server(start_shared):
    return start_shared(files={"index.html": "welcome"}, handlers="Match ^/echo echo")


REQUESTS = {
    "GET": (http.request("/", headers={"Accept": "*/*"}), 200),
    "HEAD": (http.request("/", "HEAD"), 200),
    "length": (http.request("/echo", "POST", body=b"hello"), 200),
    "chunked": (http.request("/echo", "POST", headers={"Transfer-Encoding": "chunked"},
                             body=b"3;a=b\r\nhel\r\n2\r\nlo\r\n0\r\nX-T: v\r\n\r\n"), 200),
    "refused": (b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Field : y\r\n\r\n", 400),
}


def ask(server, data, step, pause=0.001):
    method = data.split(b" ")[0].decode()
    with server.connect() as connection:
        connection.send_slowly(data, step=step, pause=pause)
        return connection.response(method)


@pytest.mark.parametrize("name", REQUESTS)
def test_request_cut_at_every_byte(server, name):
    data, status = REQUESTS[name]
    whole = ask(server, data, step=len(data))
    assert whole.status == status
    for cut in range(1, len(data)):
        with server.connect() as connection:
            connection.send_slowly(data[:cut], step=cut, pause=0.001)
            connection.send(data[cut:])
            response = connection.response(data.split(b" ")[0].decode())
            assert (response.status, response.body) == (status, whole.body), f"cut after {cut} bytes"


@pytest.mark.parametrize("name", REQUESTS)
def test_request_byte_by_byte(server, name):
    data, status = REQUESTS[name]
    assert ask(server, data, step=1).status == status


def test_pipelined_requests_in_pieces(server):
    """Pieces that end in the middle of the second, third, ... request."""
    data = (REQUESTS["GET"][0] + REQUESTS["length"][0] + REQUESTS["chunked"][0]) * 5
    for step in (7, 31, 64, 131):
        with server.connect() as connection:
            connection.send_slowly(data, step=step, pause=0.001)
            statuses = [response.status for response in connection.responses(*["GET", "POST", "POST"] * 5)]
            assert statuses == [200] * 15, f"in pieces of {step}"
