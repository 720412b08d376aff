# SPDX-License-Identifier: Apache-2.0
"""The life of a request of a service: parked, answered later, left by its client; its end call-back."""

import pytest

from harness import duda
from harness.client import eventually


@pytest.fixture
def server(start, tmp_path):
    duda.build(tmp_path / "services", "waits")
    return start(**duda.config(tmp_path / "services", "waits", server="Workers 1\nHandlerTimeout 1", duda={"WaitTimeout": "1h"}))


def counts(server):
    return [int(word) for word in server.get("/waits/say").body.split()]


def park(server):
    client = server.connect()
    client.send(b"GET /waits/park HTTP/1.1\r\nHost: a\r\n\r\n")
    return client


def wake(server):
    """@return the answer of a wake that found a parked request"""
    found = []

    def woke():
        found.append(server.get("/waits/wake").body)
        return found[-1] == b"1 1"

    eventually(woke)
    return found[-1]


def test_a_parked_request_is_answered_later(server):
    with park(server) as client:
        wake(server)
        assert client.response().body == b"later"
        eventually(lambda: counts(server)[:2] == [1, 1])
        assert client.request("/waits/say").status == 200  # the connection goes on


def test_a_parked_request_whose_client_leaves_is_not_valid(server):
    with park(server) as client:
        eventually(lambda: server.get("/waits/valid").body == b"1")
        client.close()
    eventually(lambda: server.get("/waits/valid").body == b"0")
    assert server.get("/waits/wake").body == b"0 0" and counts(server)[0] == 0


def test_the_end_call_back_runs_once(server):
    assert server.get("/waits/callback").body == b"called back"
    eventually(lambda: counts(server)[:2] == [1, 1])
    server.get("/waits/callback")
    eventually(lambda: counts(server)[:2] == [2, 2])


def test_the_end_call_back_runs_once_when_the_client_leaves(server):
    with server.connect(receive_buffer=4096) as client:
        client.send(b"GET /waits/much HTTP/1.1\r\nHost: a\r\n\r\n")
        assert counts(server)[0] == 0
        client.reset()
    eventually(lambda: counts(server)[:3] == [1, 0, 0])


def test_a_missing_end_is_answered_and_logged(server):
    assert server.get("/waits/never").status == 500
    server.wait_for_log(r"service 'waits': call-back /never called neither end\(\) nor wait\(\)")


def test_cont_without_wait(server):
    assert server.get("/waits/cont").body == b"-1"
    server.wait_for_log(r"cont\(\) without wait\(\)")


def test_the_wait_has_a_limit(start, tmp_path):
    duda.build(tmp_path / "services", "waits")
    server = start(**duda.config(tmp_path / "services", "waits", server="Workers 1\nHandlerTimeout 60", duda={"WaitTimeout": "1"}))
    assert server.get("/waits/park").status == 500
    server.wait_for_log(r"service 'waits': call-back /park waited longer than WaitTimeout")


def test_a_parked_request_lives_longer_than_a_handler(server):
    with park(server) as client:
        eventually(lambda: server.get("/waits/valid").body == b"1")
        server.get("/waits/never")  # HandlerTimeout passes meanwhile
        wake(server)
        assert client.response().body == b"later"


def test_pipelined_requests_are_answered_in_order(server):
    with server.connect() as client:
        client.send(b"GET /waits/callback HTTP/1.1\r\nHost: a\r\n\r\nGET /waits/cont HTTP/1.1\r\nHost: a\r\n\r\n")
        assert [answer.body for answer in client.responses("GET", "GET")] == [b"called back", b"-1"]


def read_until(client, text):
    """Read the answer, with its chunks, until it has that text."""
    data = b""
    while text not in data:
        piece = client.sock.recv(65536)
        assert piece, data
        data += piece
    return data


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_a_stream_is_sent_as_it_is_printed(server, version):
    with server.connect() as client:
        client.send(f"GET /waits/open HTTP/{version}\r\nHost: a\r\n\r\n".encode())
        head = read_until(client, b"first ")
        assert (b"Transfer-Encoding: chunked" in head) == (version == "1.1")
        for _ in range(3):
            assert server.get("/waits/more").body == b"0"
            read_until(client, b"more ")
        assert server.get("/waits/close").status == 200
        if version == "1.1":
            read_until(client, b"0\r\n\r\n")
            assert client.request("/waits/say").status == 200
        else:
            assert client.is_closed()
    eventually(lambda: counts(server)[:2] == [1, 1])


def test_a_stream_whose_client_leaves_is_over(server):
    with server.connect() as client:
        client.send(b"GET /waits/open HTTP/1.1\r\nHost: a\r\n\r\n")
        read_until(client, b"first ")
        client.reset()
    eventually(lambda: server.get("/waits/more").body == b"-2")


def test_a_stream_may_be_asked_for_by_head(server):
    with server.connect() as client:
        client.send(b"HEAD /waits/open HTTP/1.1\r\nHost: a\r\n\r\n")
        eventually(lambda: server.get("/waits/valid").body == b"1")
        assert server.get("/waits/more").body == b"0" and server.get("/waits/close").status == 200
        assert client.response("HEAD").status == 200
        assert client.request("/waits/say").status == 200
