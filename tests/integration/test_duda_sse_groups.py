# SPDX-License-Identifier: Apache-2.0
"""Groups of server-sent events (WHATWG HTML, section 9.2) on several workers: clients that read, are slow, and leave."""

import re
import socket

import pytest

from harness import duda
from harness.client import eventually

INCLUDE = duda.HEADERS.parents[2] / "include"


@pytest.fixture(name="server")
def fixture_server(start, tmp_path):
    duda.build(tmp_path, "given", level=3, flags=("-fcommon", f"-I{INCLUDE}"))
    server = start(server="Workers 2", **duda.config(tmp_path, "given"))
    yield server


def members(server):
    """(streams in the group, times that one was too slow)"""
    return tuple(int(word) for word in server.get("/given/members").body.split())


class Reader:
    """A client of the group, which reads when it is told to."""

    def __init__(self, server, room=None):
        self.socket = socket.socket()
        if room:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        self.socket.settimeout(30)
        self.socket.connect(("127.0.0.1", server.port))
        self.socket.sendall(b"GET /given/join HTTP/1.0\r\nHost: localhost\r\n\r\n")
        self.text = bytearray()
        self.nevents = 0  # whole ones

    def read(self):
        """Something more. False: the end."""
        data = self.socket.recv(1 << 20)
        self.nevents += (self.text[-1:] + data).count(b"\n\n")
        self.text += data
        return bool(data)

    def read_to_the_end(self):
        while self.read():
            pass

    def read_events(self, count):
        while self.nevents < count:
            assert self.read()

    def ids(self):
        """Those of whole events."""
        return [int(number) for number in re.findall(rb"id: (\d+)\ndata: x{10000}\n\n", self.text)]

    def close(self):
        self.socket.close()


def test_a_slow_client_loses_its_place_without_a_gap_and_nobody_waits_for_it(server):
    quick, slow = [Reader(server) for _ in range(3)], Reader(server, room=4096)
    assert eventually(lambda: members(server) == (4, 0))
    for n in range(20):  # the kernel keeps some megabytes for the slow one
        assert server.get("/given/publish?count=50").status == 202
        for reader in quick:
            reader.read_events(50 * (n + 1))
    assert eventually(lambda: members(server) == (3, 1))
    assert server.get("/given/close").body == b"0"
    for reader in quick:
        reader.read_to_the_end()
        assert reader.ids() == list(range(50)) * 20
    slow.read_to_the_end()
    events = slow.text.partition(b"\r\n\r\n")[2]
    assert slow.ids() == (list(range(50)) * 20)[:len(slow.ids())]  # none is missing before the end
    assert events.endswith(b"\n\n") and slow.nevents == len(slow.ids()) < 1000
    assert members(server) == (0, 1)
    for reader in (*quick, slow):
        reader.close()


def test_a_client_that_leaves_gives_back_its_place(server):
    readers = [Reader(server) for _ in range(4)]
    assert eventually(lambda: members(server) == (4, 0))
    for reader in readers[:3]:
        reader.close()
    assert eventually(lambda: members(server) == (1, 0))
    assert server.get("/given/publish?count=1").status == 202
    assert server.get("/given/close").body == b"0"
    readers[3].read_to_the_end()
    assert readers[3].ids() in ([0], [])  # the thread may be later than the end
    readers[3].close()
