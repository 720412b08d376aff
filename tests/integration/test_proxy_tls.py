# SPDX-License-Identifier: Apache-2.0
"""TLS to backends: whom the proxy asks for, whom it believes, and what it does when it does not."""

import socket

import pytest

from harness import certificates, secured
from harness.backend import Backend, SecureBackend, configured
from harness.config import section
from harness.content import noise

plugin = secured.each_plugin("tls")

BIG = noise(1 << 20)


def through_tls(entry, backend, ca=None, **kwargs):
    lines = f"CAFile {ca or certificates.authority().certificate}"
    name = f"localhost:{backend.port}"
    return configured("Transport tls\n" + entry, name, plugins=("tls",),
                      extra={"plugins/tls/tls.conf": section("TLS_BACKEND", lines)}, **kwargs)


def answer(c, q):
    c.answer(BIG if q.target == "/big" else q.body or b"ok")


def test_a_backend_that_proves_itself(start):
    with SecureBackend(certificates.issue(), each=answer) as backend:
        server = start(server="Workers 1", **through_tls("", backend))
        with server.connect() as client:
            assert client.request("/").body == b"ok"
            assert client.request("/big").body == BIG
            assert client.request("/", "POST", body=BIG).body == BIG
        assert backend.connections == 1 and backend.names == ["localhost"]


def test_a_name_of_its_own(start):
    with SecureBackend(certificates.issue("app.example.org"), each=answer) as backend:
        server = start(**through_tls("ServerName app.example.org\nHost server", backend))
        assert server.request("/").body == b"ok"
        assert backend.names == ["app.example.org"]


@pytest.mark.parametrize("pair, entry, by", [
    (certificates.issue, "ServerName other.example.org", "Test CA"),
    (certificates.issue, "", "Another CA"),
    (certificates.expired, "", "Test CA"),
])
def test_a_backend_that_does_not(start, pair, entry, by):
    with SecureBackend(pair(), each=answer) as backend:
        server = start(**through_tls(entry, backend, certificates.authority(by).certificate))
        assert server.request("/", "POST", body=b"secret").status == 502
        assert not backend.requests


def test_a_backend_without_tls(start):
    with Backend(each=answer) as backend:
        server = start(**through_tls("ConnectTimeout 500ms", backend))
        assert server.request("/").status in (502, 504)
        assert not backend.requests


def test_a_backend_that_does_not_shake_hands(start):
    with Backend(lambda conn: conn.ended()) as backend:
        server = start(**through_tls("ConnectTimeout 300ms", backend))
        conn = socket.create_connection(("127.0.0.1", backend.port))
        assert server.request("/").status in (502, 504)
        conn.close()


def test_an_answer_that_breaks_off(start):
    def each(conn, _):
        conn.send(b"HTTP/1.1 200 OK\r\n\r\nhalf")  # ends with the connection, and nobody says goodbye
        conn.sock.shutdown(socket.SHUT_RDWR)

    with SecureBackend(certificates.issue(), each=each) as backend:
        server = start(**through_tls("", backend))
        with server.connect() as client:
            client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            with pytest.raises((AssertionError, ConnectionResetError)):
                client.response()
