# SPDX-License-Identifier: Apache-2.0
"""The package ssls: a TLS server of a service's own."""

import shutil
import socket
import ssl

import pytest

from harness import certificates, duda
from harness.client import eventually, free_port

PATIENCE = 50


@pytest.fixture
def serve(start, tmp_path):
    def run():
        port = free_port()
        pair = certificates.issue(kind="rsa")
        shutil.copy(certificates.dh_parameters(), tmp_path / "dh.pem")
        pair.copy_to(tmp_path, "mine")
        flags = (f"-DPORT={port}", f'-DFOLDER="{tmp_path}/"')
        server = duda.serve_package(start, tmp_path / "services", "ssls", "packaged_ssls", 1, *flags, names=("tls",))
        server.tls_port, server.flags = port, flags
        assert counts(server) == [0, 0, 0, 0]  # it listens from now on
        return server

    return run


def connect(server, **context):
    """A client that was greeted."""
    sock = socket.create_connection(("127.0.0.1", server.tls_port), timeout=PATIENCE)
    client = certificates.trusting(**context).wrap_socket(sock, server_hostname="localhost")
    assert read(client, 6) == b"hello\n"
    return client


def read(client, size):
    data = b""
    while len(data) < size:
        piece = client.recv(65536)
        assert piece, data[:100]
        data += piece
    return data


def ask(client, text, size=None):
    client.sendall(text)
    return read(client, size or len(text))


def counts(server):
    return [int(word) for word in server.get("/tls/count").text.split()]


def rest(server, clients):
    """All of them have been accepted and closed, and nothing was refused."""
    return eventually(lambda: counts(server)[:3] == [clients, clients, 0], within=PATIENCE)


def test_clients(serve):
    server = serve()
    with connect(server) as first, connect(server) as second:
        assert ask(first, b"one\n") == b"one\n"
        assert ask(second, b"two\n") == b"two\n"
        assert ask(first, b"writable\n") == b"writable\n"
        assert ask(first, b"again\n") == b"awake\n"
        assert ask(first, b"more\n") == b"more\n"
        assert ask(second, b"big 1000000\n", 1000000) == b"x" * 1000000
        assert ask(second, b"big 2000000\n", 8) == b"too big\n"
    assert rest(server, 2)
    assert counts(server)[3] == 1


def test_the_service_closes_a_connection(serve):
    server = serve()
    with connect(server) as client:
        assert ask(client, b"bye\n", 300000) == b"x" * 300000
        assert client.recv(1) == b""
    assert rest(server, 1)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_versions(serve, version):
    with connect(serve(), version=version) as client:
        assert client.version() == {"TLSv1_2": "TLSv1.2", "TLSv1_3": "TLSv1.3"}[version.name]


def test_misuse(serve):
    assert serve().get("/tls/wrong").text == "all refused"


def test_what_is_no_tls_and_clients_that_leave(serve):
    server = serve()
    before = server.open_descriptors()
    for junk in (b"", b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01"):
        with socket.create_connection(("127.0.0.1", server.tls_port), timeout=PATIENCE) as sock:
            sock.sendall(junk)
    connect(server).close()
    reset = connect(server)
    reset.sendall(b"big 1000000\n")
    reset.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    reset.close()
    assert rest(server, 2)
    assert eventually(lambda: server.open_descriptors() <= before, within=PATIENCE)
    with connect(server) as client:
        assert ask(client, b"still\n") == b"still\n"


def test_a_client_that_reads_nothing(serve):
    server = serve()
    with connect(server) as idle, connect(server) as other:
        idle.sendall(b"big 1000000\n")
        for _ in range(5):
            assert ask(other, b"mine\n") == b"mine\n"
        assert read(idle, 1000000) == b"x" * 1000000


def test_a_service_that_is_loaded_anew(serve, tmp_path):
    server = serve()
    with connect(server) as old:
        duda.build(tmp_path / "services", "packaged_ssls", name="tls", flags=("-fcommon", *server.flags))
        server.reload()
        assert eventually(lambda: counts(server) == [0, 0, 0, 0], within=PATIENCE)
        for _ in range(20):
            connect(server).close()
        assert ask(old, b"still\n") == b"still\n"
        assert rest(server, 20)
