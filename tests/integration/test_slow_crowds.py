# SPDX-License-Identifier: Apache-2.0
"""
Crowds of slow clients against all sites of a configuration: a normal client hardly notices, and memory is bounded.

4,000 of the kinds that cost the system little; 600 slow readers and 300 over TLS, since the system's own buffers for more
of them would take gigabytes, and their handshakes minutes of two processors.
"""

import multiprocessing
import random
import socket
import ssl
import time

import pytest

from harness import certificates, cgi, executable, http, process, secured, tls_connection, tools
from harness.client import Connection
from harness.family import private_kb

pytestmark = [pytest.mark.slow, pytest.mark.timed, pytest.mark.limit(300)]

SITES = ["one.test", "two.test", "three.test"]
ASKED = 300  # requests of the normal client
TIMES = 3
LEAST = 0.030  # seconds: two time slices of a loaded machine; a server that looks at a whole crowd at once takes more
MAX_MEMORY = 16 << 20
SLACK = 2 << 20  # the C library's heap: what it has fetched ahead
SCRIPT = "#!/bin/sh\necho 'Content-Type: text/plain'\necho\ncat\n"


def connected(port, buffer=None):
    sock = socket.socket()
    if buffer:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    sock.connect(("127.0.0.1", port))
    return sock


def secured_by_tls(sock):
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context.wrap_socket(sock)


def slow_head(ports, host):
    sock = connected(ports[0])
    sock.sendall(f"GET / HTTP/1.1\r\nHost: {host}\r\nX: ".encode())
    return sock


def slow_body(ports, host):
    sock = connected(ports[0])
    target = random.choice(["/a.txt", "/cgi-bin/echo"])
    sock.sendall(http.request(target, "POST", headers={"Host": host, "Content-Length": "100000"}) + b"x")
    return sock


def slow_reader(ports, host):
    sock = connected(ports[0], 4096)
    sock.sendall(http.request("/large.bin", headers={"Host": host}))
    return sock


def idle(ports, host):
    sock = connected(ports[0])
    sock.sendall(http.request("/a.txt", headers={"Host": host}))
    return sock


def half_a_handshake(ports, _host):
    sock = connected(ports[1])
    sock.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(32))
    return sock


def slow_tls_reader(ports, host):
    sock = secured_by_tls(connected(ports[1], 4096))
    sock.sendall(http.request("/large.bin", headers={"Host": host}))
    return sock


# Bytes that a client may cost the server: at least a quarter more than it does.
EACH = {
    slow_head: 6 << 10,  # a job, which holds the head
    slow_body: 9 << 10,  # a job, and half of them ask for a script
    idle: 1 << 10,  # no job
    half_a_handshake: 60 << 10,  # OpenSSL keeps much until it has shaken hands
    slow_reader: 4 << 10,  # no job: what waits is in the system's buffers
    slow_tls_reader: 96 << 10,  # OpenSSL's state, and records that are not yet out
}
DRIPPING = (slow_head, slow_body)
KINDS = {slow_head: 4000, slow_body: 4000, idle: 4000, half_a_handshake: 4000, slow_reader: 600, slow_tls_reader: 300}


def be_a_crowd(kind, ports, come, leave):
    """In a process of its own, so that it does not slow the client that is measured."""
    tools.raise_descriptor_limit(KINDS[kind] + 200)
    crowd = [kind(ports, SITES[number % len(SITES)]) for number in range(KINDS[kind])]
    come.set()
    while not leave.wait(1):
        for sock in crowd if kind in DRIPPING else ():
            try:
                sock.send(b"x")
            except OSError:
                pass


def ask_all(server, ports):
    """@return the 99th percentile, in seconds, of requests to every site, each on a connection of its own."""
    took = []
    for number in range(ASKED):
        host = SITES[number % len(SITES)]
        began = time.monotonic()
        if number % 30 == 29:
            with tls_connection.TlsConnection(("127.0.0.1", ports[1]), name="localhost") as connection:
                assert connection.request("/a.txt", headers={"Host": host}).text == "text"
        else:
            with Connection(("127.0.0.1", ports[0])) as connection:
                assert connection.request("/a.txt", headers={"Host": host}).text == "text"
            took.append(time.monotonic() - began)
    return sorted(took)[len(took) * 99 // 100]


@pytest.fixture(name="server")
def start_sites(start):
    tools.raise_descriptor_limit(12_000)
    sites = {name: f"[HOST]\n    ServerName {name}\n    DocumentRoot ../root\n[HANDLERS]\n    Match ^/cgi-bin/ cgi\n" for name in SITES}
    config = secured.config(certificates.issue().lines(), server="Listen 127.0.0.1:0\nFDLimit 12000\n"
                            f"Timeout 100\nKeepAliveTimeout 100\nMaxMemory {MAX_MEMORY}",
                            files={"a.txt": "text", "cgi-bin/echo": SCRIPT}, sites=sites)
    config["extra"]["plugins.load"] += f"    Load {process.plugin('cgi')}\n"
    server = start(**config)
    cgi.make_executable(server, ["cgi-bin/echo"])
    with open(server.root / "large.bin", "wb") as large:
        large.truncate(20 << 20)
    return server


def ports_of(server):
    over_tls, plain = [int(address.rpartition(":")[2]) for address in server.addresses]
    return plain, over_tls


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_normal_client_hardly_notices(server, kind):
    ports = ports_of(server)
    ask_all(server, ports)
    quiet = min(ask_all(server, ports) for _ in range(2))
    allowed = max(TIMES * quiet, LEAST)
    before = 1024 * private_kb(server.pid)
    come, leave = multiprocessing.Event(), multiprocessing.Event()
    crowd = multiprocessing.Process(target=be_a_crowd, args=(kind, ports, come, leave), daemon=True)
    crowd.start()
    try:
        assert come.wait(120)
        time.sleep(1)
        loud = ask_all(server, ports)
        for _ in range(5):
            if loud > allowed:
                loud = min(loud, ask_all(server, ports))
        grown = 1024 * private_kb(server.pid) - before
    finally:
        leave.set()
        crowd.join(10)
        if crowd.is_alive():
            crowd.kill()
    print(f"{kind.__name__}: p99 {quiet * 1000:.1f} ms quiet, {loud * 1000:.1f} ms beside {KINDS[kind]}; {grown >> 10} KB more")
    assert loud <= allowed
    if not executable.is_sanitized():
        assert grown <= KINDS[kind] * EACH[kind] + SLACK
