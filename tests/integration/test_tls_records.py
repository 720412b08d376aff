# SPDX-License-Identifier: Apache-2.0
"""What can happen behind the handshake: records cut, spoilt or empty, ends said or not, and readers that are slow."""

import contextlib
import os
import ssl
import threading
import time

import pytest

from harness import certificates, http, secured, tls_connection
from harness.client import PATIENCE, eventually

plugin = secured.each_plugin()

MIB = 1 << 20
LARGE = 64 * MIB
FILES = {"a.txt": "a" * 100}


@pytest.fixture(scope="module")
def server(start_shared, plugin):
    server = start_shared(**secured.config(
        certificates.issue().lines(), server="Workers 1\nTimeout 3\nBodyTimeout 2\nWriteTimeout 2", files=FILES,
        handlers="Match ^/echo echo"))
    with open(server.root / "large.bin", "wb") as large:
        os.posix_fallocate(large.fileno(), 0, LARGE)
    return server


def assert_well(server):
    assert tls_connection.get(server, "/a.txt").text == FILES["a.txt"]


def every_version(plugin):
    return [certificates.trusting(version=version) for version in secured.versions(plugin)]


# ---- ends ----

def test_half_close_with_close_notify(server, plugin):
    """The answer still comes, and its own end is said too."""
    for context in every_version(plugin):
        with tls_connection.connect(server, context) as connection:
            connection.send(http.request("/a.txt") * 3)
            connection.sock.say_end()
            assert all(connection.response().text == FILES["a.txt"] for _ in range(3))
            assert connection.sock.recv(1) == b""


@pytest.mark.parametrize("cut", ["head", "body"])
@pytest.mark.parametrize("said", [False, True], ids=["truncated", "close_notify"])
def test_an_end_in_the_middle_of_a_request(server, cut, said):
    """Nobody answers what is not whole."""
    data = http.request("/echo", "POST", headers={"Content-Length": "100"}) + b"x" * 50
    with tls_connection.connect(server) as connection:
        connection.send(data if cut == "body" else data[:20])
        if said:
            connection.sock.say_end()
        connection.raw.shutdown(1)
        answer = b""
        with contextlib.suppress(ssl.SSLError):  # an alert, which says that more was to come
            answer = connection.rest_until_cut()
        assert not answer or http.is_cut_off(answer) or b" 400 " in answer[:20]
    assert_well(server)


# ---- records ----

def spoilt(data, at):
    broken = bytearray(data)
    broken[at] ^= 1
    return bytes(broken)


def record_of(connection, data):
    connection.sock.tls.write(data)
    return connection.sock.to_send()


@pytest.mark.parametrize("at", [0, 1, 3, 4, 5, 20, -1])
def test_a_spoilt_record_ends_the_connection(server, plugin, at):
    for context in every_version(plugin):
        with tls_connection.connect(server, context) as connection:
            assert connection.request("/a.txt").status == 200
            with contextlib.suppress(OSError):
                connection.raw.sendall(spoilt(record_of(connection, http.request("/a.txt")), at))
                connection.raw.shutdown(1)
            try:
                assert not connection.rest_until_cut()
            except ssl.SSLError as told:
                assert "alert" in str(told).lower()
    assert_well(server)


def test_a_record_again_ends_the_connection(server):
    """Its number is part of what protects it."""
    with tls_connection.connect(server) as connection:
        record = record_of(connection, http.request("/a.txt"))
        connection.raw.sendall(record + record)
        answers = b""
        with contextlib.suppress(ssl.SSLError):
            while piece := connection.sock.recv(65536):
                answers += piece
        assert answers.count(b"HTTP/1.1") <= 1
    assert_well(server)


def test_a_request_in_records_of_one_byte(server, plugin):
    for context in every_version(plugin):
        with tls_connection.connect(server, context) as connection:
            request = http.request("/echo", "POST", body=b"x" * 50)
            connection.raw.sendall(b"".join(record_of(connection, request[at:at + 1]) for at in range(len(request))))
            assert connection.response("POST").body.endswith(b"x" * 50)


@pytest.mark.slow
def test_records_cut_at_every_byte(server, plugin):
    for context in every_version(plugin):
        with tls_connection.connect(server, context) as connection:
            for at in range(1, 60):
                record = record_of(connection, http.request("/a.txt"))
                connection.raw.sendall(record[:at])
                time.sleep(0.001)
                connection.raw.sendall(record[at:])
                assert connection.response().text == FILES["a.txt"]


def test_half_a_record_times_out(server):
    with tls_connection.connect(server) as connection:
        record = record_of(connection, http.request("/a.txt"))
        connection.raw.sendall(record[:-5])
        start = time.monotonic()
        connection.rest_until_cut()
        assert time.monotonic() - start < PATIENCE


# ---- slow readers ----

@pytest.mark.timed
def test_a_slow_reader_of_a_large_file_beside_another(server):
    """One worker: who reads slowly, or as fast as it can, does not hold up the other."""
    stop = threading.Event()

    def read(pause):
        with contextlib.suppress(OSError), tls_connection.connect(server, receive_buffer=65536) as connection:
            connection.send(http.request("/large.bin"))
            while not stop.is_set() and connection.sock.raw.recv(16384):
                time.sleep(pause)

    readers = [threading.Thread(target=read, args=(pause,)) for pause in (0.02, 0.02, 0.0005)]
    for reader in readers:
        reader.start()
    try:
        with tls_connection.connect(server) as connection:
            waits = []
            for _ in range(300):
                began = time.monotonic()
                assert connection.request("/a.txt").status == 200
                waits.append(time.monotonic() - began)
        assert sorted(waits)[int(len(waits) * 0.99)] < 0.25, sorted(waits)[-10:]
    finally:
        stop.set()
        for reader in readers:
            reader.join()


def test_a_reader_that_stops_is_left(server):
    with tls_connection.connect(server, receive_buffer=4096) as connection:
        connection.send(http.request("/large.bin"))
        connection.sock.recv(1)  # the file is open
        before = server.open_descriptors()
        assert eventually(lambda: server.open_descriptors() < before)


# ---- descriptors ----

def test_out_of_descriptors(start, plugin):
    """
    New clients wait or are closed; a connection of before is served, and so is everybody afterwards. It is of another address, as room
    is made at the cost of the address with the most connections.
    """
    server = start(**secured.config(certificates.issue().lines(), files=FILES,
                                    server="Workers 1\nFDLimit 60\nTimeout 5\nKeepAliveTimeout 600"))
    with tls_connection.connect(server, source="127.0.0.2") as first:
        assert first.request("/a.txt").status == 200
        others = []
        for _ in range(70):
            with contextlib.suppress(OSError):
                others.append(server.connect(timeout=2))
                others[-1].send(tls_connection.client_hello())
        assert first.request("/a.txt").status == 200
        for other in others:
            other.close()
    assert eventually(lambda: is_served(server))


def is_served(server):
    try:
        return tls_connection.get(server, "/a.txt").status == 200
    except OSError:
        return False
