# SPDX-License-Identifier: Apache-2.0
"""
HTTP over a transport that is no plain socket: it greets first, reads by pieces, has no sendfile, and
changes every byte by its position, so that none may be lost, doubled or exchanged.
"""

import contextlib
import signal
import struct
import time

import pytest

from harness import http
from harness.client import Connection, eventually, free_port
from harness.content import noise
from harness.plugins import load
from harness.variants import SCHEDULERS

MIB = 1 << 20
BIG = noise(4 * MIB)
FILES = {"a.txt": "a" * 10, "b.txt": "b" * 20000, "big.bin": BIG, "empty.txt": ""}
KEYS = bytes((position * 7 + 13) & 255 for position in range(256))


def changed(data, position):
    """XOR each byte with the key of its position."""
    start = position % 256
    keys = (KEYS[start:] + KEYS * (len(data) // 256 + 1))[:len(data)]
    return (int.from_bytes(data, "big") ^ int.from_bytes(keys, "big")).to_bytes(len(data), "big")


class XorConnection(Connection):
    def __init__(self, address, greet=True, **kwargs):
        super().__init__(address, **kwargs)
        self.sent = self.received = 0
        if greet:
            self.greet()

    def greet(self):
        self.sock.sendall(b"XOR?")
        self.be_greeted()

    def be_greeted(self):
        answer = b""
        while len(answer) < 4:
            piece = self.sock.recv(4 - len(answer))
            assert piece, "closed during the greeting"
            answer += piece
        assert answer == b"XOR!"

    def _receive(self):
        data = self.sock.recv(65536)
        plain = changed(data, self.received)
        self.received += len(data)
        return plain

    def send(self, data):
        data = data.encode("latin-1") if isinstance(data, str) else data
        self.sock.sendall(changed(data, self.sent))
        self.sent += len(data)


def connect(server, **kwargs):
    return XorConnection(("127.0.0.1", server.port), **kwargs)


@pytest.fixture(scope="module", params=SCHEDULERS)
def server(start_shared, request):
    return start_shared(server=f"Listen 127.0.0.1:0 xor\nScheduler {request.param}\nTimeout 2",
                        files=FILES, handlers="Match ^/echo echo", extra={"plugins.load": load("xor")})


def test_small_and_empty_files(server):
    with connect(server) as connection:
        assert connection.request("/a.txt").text == FILES["a.txt"]
        assert connection.request("/empty.txt").text == ""
        assert connection.request("/b.txt").text == FILES["b.txt"]
        assert connection.request("/missing").status == 404


def test_large_file_without_sendfile(server):
    with connect(server) as connection:
        assert connection.request("/big.bin").body == BIG
        assert connection.request("/a.txt").text == FILES["a.txt"]


def test_range_of_a_large_file(server):
    with connect(server) as connection:
        response = connection.request("/big.bin", headers={"Range": "bytes=1000000-3000000"})
        assert response.status == 206
        assert response.body == BIG[1000000:3000001]


def test_slow_reader(server):
    with connect(server, receive_buffer=4096) as connection:
        connection.send(http.request("/big.bin") + http.request("/a.txt"))
        time.sleep(0.3)
        assert connection.response().body == BIG
        assert connection.response().text == FILES["a.txt"]


def test_two_slow_readers_share_the_buffer(server):
    with connect(server, receive_buffer=4096) as one, connect(server, receive_buffer=4096) as other:
        for connection in (one, other):
            connection.send(http.request("/big.bin"))
        assert other.response().body == BIG
        assert one.response().body == BIG


@pytest.mark.parametrize("depth", [2, 16, 100])
def test_pipelining(server, depth):
    targets = [list(FILES)[number % len(FILES)] for number in range(depth)] if depth < 20 else ["a.txt"] * depth
    with connect(server) as connection:
        connection.send(b"".join(http.request(f"/{target}") for target in targets))
        for target in targets:
            body = FILES[target]
            assert connection.response().body == (body.encode() if isinstance(body, str) else body)


@pytest.mark.parametrize("step", [1, 3, 700])
def test_input_in_any_pieces(server, step):
    data = http.request("/echo", "POST", body=b"x" * 2500)
    with connect(server) as connection:
        for start in range(0, len(data), step):
            connection.send(data[start:start + step])
        assert connection.response("POST").body.endswith(b"x" * 2500)


def test_bodies_larger_than_what_is_read_at_once(server):
    with connect(server) as connection:
        body = BIG[:MIB]
        connection.send(http.request("/echo", "POST", body=body))
        assert connection.response("POST").body.endswith(body)
        assert connection.request("/a.txt").text == FILES["a.txt"]


def test_greeting_in_single_bytes(server):
    with connect(server, greet=False) as connection:
        for byte in b"XOR?":
            connection.sock.sendall(bytes([byte]))
            time.sleep(0.02)
        connection.be_greeted()
        assert connection.request("/a.txt").text == FILES["a.txt"]


def test_greeting_and_request_together(server):
    with connect(server, greet=False) as connection:
        connection.sock.sendall(b"XOR?" + changed(http.request("/a.txt"), 0))
        connection.sent = len(http.request("/a.txt"))
        connection.be_greeted()
        assert connection.response().text == FILES["a.txt"]


def test_wrong_greeting_closes(server):
    with connect(server, greet=False) as connection:
        connection.send(b"GET ")
        assert connection.is_closed()


def test_silent_greeting_times_out(server):
    with connect(server, greet=False) as connection:
        connection.sock.sendall(b"XO")
        assert connection.is_closed()


def test_half_close_still_gets_its_answer(server):
    with connect(server) as connection:
        connection.send(http.request("/b.txt"))
        connection.finish_sending()
        assert connection.response().text == FILES["b.txt"]
        assert connection.is_closed()


def test_last_answer_ends_the_connection(server):
    with connect(server) as connection:
        connection.send(http.request("/b.txt", headers={"Connection": "close"}))
        assert connection.response().text == FILES["b.txt"]
        assert connection.is_closed()


def reset_some(server, count=20):
    for number in range(count):
        connection = connect(server, greet=number % 4 > 0)
        if number % 4 > 1:
            connection.send(http.request("/big.bin"))
        connection.reset()


def test_resets_leave_nothing_behind(server):
    idle = server.open_descriptors()
    reset_some(server)
    assert eventually(lambda: server.open_descriptors() <= idle + 4)  # each worker has opened the document root and the file
    before = server.open_descriptors()
    reset_some(server)
    assert eventually(lambda: server.open_descriptors() <= before + 2)


def test_beside_plain_sockets(start):
    server = start(server="Listen 127.0.0.1:0 xor\nListen 127.0.0.2:0", files=FILES, extra={"plugins.load": load("xor")})
    other = next(address for address in server.addresses if address.startswith("127.0.0.2"))
    with server.connect(("127.0.0.2", int(other.rpartition(":")[2]))) as connection:
        assert connection.request("/a.txt").text == FILES["a.txt"]


def test_transport_layer_is_for_all_addresses_that_say_nothing(start):
    server = start(server="TransportLayer xor\nListen 127.0.0.1:0\nListen 127.0.0.2:0 liana", files=FILES,
                   extra={"plugins.load": load("xor")})
    ports = {address.rpartition(":")[0]: int(address.rpartition(":")[2]) for address in server.addresses}
    with XorConnection(("127.0.0.1", ports["127.0.0.1"])) as connection:
        assert connection.request("/a.txt").text == FILES["a.txt"]
    with server.connect(("127.0.0.2", ports["127.0.0.2"])) as connection:
        assert connection.request("/a.txt").text == FILES["a.txt"]


def test_unknown_flag_names_what_is_missing(start):
    server = start(server="Listen 127.0.0.1:0 rope", wait=False)
    assert server.expect_exit() != 0
    assert 'the flag "rope" is neither proxy nor h2 nor a transport: cannot load' in server.log()


def test_reload_changes_what_carries_new_connections(start):
    port = free_port()
    server = start(server=f"Listen 127.0.0.1:{port}", files=FILES, extra={"plugins.load": load("xor")})
    with server.connect() as old:
        assert old.request("/a.txt").text == FILES["a.txt"]
        server.config.write(server=f"Listen 127.0.0.1:{port} xor", files=FILES, extra={"plugins.load": load("xor")})
        server.signal(signal.SIGHUP)
        server.wait_for_log("reloaded")
        with XorConnection(("127.0.0.1", port)) as connection:
            assert connection.request("/a.txt").text == FILES["a.txt"]
        assert old.request("/a.txt").text == FILES["a.txt"]


PROXY = b"PROXY TCP4 192.0.2.7 192.0.2.1 4711 80\r\n"


@pytest.fixture(scope="module")
def behind_a_proxy(start_shared):
    return start_shared(server="Listen 127.0.0.1:0 xor proxy\nTrustedProxies 127.0.0.1\nTimeout 4",
                        files=FILES, extra={"plugins.load": load("xor")})


# Version 2 with as many extensions as are taken.
LONG_PROXY = (b"\r\n\r\n\0\r\nQUIT\n" + b"\x21\x11" + struct.pack("!H", 2032) + bytes([192, 0, 2, 7, 192, 0, 2, 1])
              + struct.pack("!HH", 4711, 80) + b"\x04" + struct.pack("!H", 2017) + b"x" * 2017)


@pytest.mark.parametrize("header, step", [(PROXY, 1), (PROXY, 7), (PROXY, len(PROXY)), (PROXY, 1000),
                                          (LONG_PROXY, 10000), (LONG_PROXY, 500)])
def test_proxy_header_comes_before_the_greeting(behind_a_proxy, header, step):
    data = header + b"XOR?" + changed(http.request("/a.txt"), 0)
    with connect(behind_a_proxy, greet=False) as connection:
        for at in range(0, len(data), step):
            connection.sock.sendall(data[at:at + step])
            time.sleep(0.002)
        connection.be_greeted()
        assert connection.response().text == FILES["a.txt"]


@pytest.mark.parametrize("beginning", [b"", PROXY[:20], b"XOR?", b"PROXY TCP4 192.0.2.7\r\n"])
def test_proxy_header_that_is_none(behind_a_proxy, beginning):
    with connect(behind_a_proxy, greet=False) as connection:
        connection.sock.sendall(beginning)
        with contextlib.suppress(OSError):  # the server may have closed already
            connection.finish_sending()
        assert connection.is_closed()


def test_silent_proxy_times_out(behind_a_proxy):
    with connect(behind_a_proxy, greet=False) as connection:
        connection.sock.sendall(PROXY[:20])
        assert connection.is_closed()
