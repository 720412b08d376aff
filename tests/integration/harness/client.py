# SPDX-License-Identifier: Apache-2.0
"""A raw connection to a server. Every wait on it is bounded."""

import contextlib
import functools
import pathlib
import random
import socket
import struct
import time

from harness import carriers, http

PATIENCE = 30.0  # seconds after which what a test waits for does not come: for machines that have much else to do

RANDOM = random.SystemRandom()  # tests that run side by side have one seed


class Connection:
    def __init__(self, address, timeout=PATIENCE, receive_buffer=None, source=None):
        """address: as for carriers.connect."""
        self.sock = carriers.connect(address, timeout, receive_buffer, source)
        self.stream = http.Stream(self._receive)

    def _receive(self):
        return self.sock.recv(65536)

    def send(self, data):
        self.sock.sendall(data.encode("latin-1") if isinstance(data, str) else data)

    def send_slowly(self, data, pause=0.0, step=1):
        """In pieces of step bytes, each its own segment."""
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for start in range(0, len(data), step):
            self.sock.sendall(data[start:start + step])
            if pause:
                time.sleep(pause)

    def response(self, method="GET"):
        return http.read_response(self.stream, method)

    def responses(self, *methods):
        return [self.response(method) for method in methods]

    def request(self, target="/", method="GET", **kwargs):
        """Ask on this connection and read the one answer."""
        self.send(http.request(target, method, **kwargs))
        return self.response(method)

    def rest(self):
        """What still comes until the peer closes."""
        return self.stream.rest()

    def rest_until_cut(self):
        """The same for a peer that may break off with a reset."""
        pieces = []
        try:
            while piece := self.stream.some():
                pieces.append(piece)
        except ConnectionResetError:
            pass
        return b"".join(pieces)

    def is_closed(self, within=PATIENCE):
        """Does the peer close within so many seconds, sending nothing more?"""
        self.sock.settimeout(within)
        try:
            return self.stream.at_end()
        except TimeoutError:
            return False
        except ConnectionResetError:
            return True

    def is_open(self, after=0.2):
        return not self.is_closed(within=after)

    def finish_sending(self):
        self.sock.shutdown(socket.SHUT_WR)

    def close(self):
        self.sock.close()

    def reset(self):
        """Leave with a TCP RST."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def eventually(condition, within=PATIENCE, every=0.02):
    """Wait until condition() is true; its last value is returned."""
    deadline = time.monotonic() + within
    while True:
        value = condition()
        if value or time.monotonic() > deadline:
            return value
        time.sleep(every)


def free_port():
    """A TCP port that nobody listens on now, and that the kernel gives to nobody who does not ask for it."""
    return free_ports(1)[0]


def free_ports(number):
    """So many of them, no two the same."""
    ports = []
    with contextlib.ExitStack() as stack:
        while len(ports) < number:
            probe = stack.enter_context(socket.socket())
            port = RANDOM.choice(_unasked())
            with contextlib.suppress(OSError):
                probe.bind(("127.0.0.1", port))
                ports.append(port)
    return ports


@functools.cache
def _unasked():
    """The longer range of ports beside those that sockets get which are bound to none, as those of clients are."""
    low, high = map(int, pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    return max(range(10000, low), range(high + 1, 65536), key=len) or range(low, high + 1)
