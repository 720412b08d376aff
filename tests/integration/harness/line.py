# SPDX-License-Identifier: Apache-2.0
"""
A long line: two networks of their own, joined by a line of a given delay and rate with a bounded queue, so that the kernel's own TCP runs
over it. It is a process that carries packets between two TUN devices, which every kernel has; netem is not everywhere.

    with Line(round_ms=50, mbit=1000) as line:
        with line.near(): server = start(...)          # whatever is started or connected here is at that end
        with line.far(): client = socket.create_connection((line.address, port))
"""

import collections
import contextlib
import ctypes
import fcntl
import multiprocessing
import os
import pathlib
import select
import struct
import subprocess
import time

import pytest

CLONE_NEWNET = 0x40000000
TUNSETIFF, TUNSETOFFLOAD = 0x400454ca, 0x400454d0
TUN, NO_PI, VNET_HDR = 0x0001, 0x1000, 0x4000
SEGMENTS = 1 | 2  # checksums and large segments of TCP: a packet of up to 64 KB for the line as one
VNET_HEAD = 10
LIBC = ctypes.CDLL(None, use_errno=True)


def _call(name, *arguments):
    if getattr(LIBC, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)


def _present():
    return os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)


@contextlib.contextmanager
def _inside(network):
    """What this thread begins in the block is of that network."""
    before = _present()
    try:
        _call("setns", network, CLONE_NEWNET)
        yield
    finally:
        _call("setns", before, CLONE_NEWNET)
        os.close(before)


def _device():
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", b"line", TUN | NO_PI | VNET_HDR))
    fcntl.ioctl(tun, TUNSETOFFLOAD, SEGMENTS)
    return tun


def _network(address, peer, buffers):
    """A new one with an end of the line: (its descriptor, the device's)."""
    before = _present()
    try:
        _call("unshare", CLONE_NEWNET)
        tun = _device()
        for words in (["link", "set", "lo", "up"], ["addr", "add", address, "peer", peer, "dev", "line"], ["link", "set", "line", "up"],
                      ["link", "set", "line", "txqueuelen", "20000"]):
            subprocess.run(["ip", *words], check=True)
        for name in ("tcp_wmem", "tcp_rmem"):
            pathlib.Path(f"/proc/sys/net/ipv4/{name}").write_text(f"4096 131072 {buffers}")
        return _present(), tun
    finally:
        _call("setns", before, CLONE_NEWNET)
        os.close(before)


class _Way:
    """One direction. A packet leaves when those before it have, and arrives a delay later; what finds the queue full is lost."""

    def __init__(self, source, sink, delay, rate, queue):
        self.source, self.sink, self.delay, self.rate, self.most = source, sink, delay, rate, queue / rate
        self.free, self.under_way = 0.0, collections.deque()

    def take(self, now):
        for _ in range(64):
            try:
                packet = os.read(self.source, 1 << 17)
            except BlockingIOError:
                return
            begin = max(now, self.free)
            if begin - now <= self.most:
                self.free = begin + (len(packet) - VNET_HEAD) / self.rate
                self.under_way.append((self.free + self.delay, packet))

    def give(self, now):
        while self.under_way and self.under_way[0][0] <= now:
            with contextlib.suppress(OSError):
                os.write(self.sink, self.under_way.popleft()[1])


def _carry(ways):
    os.nice(-15)  # a line does not wait for a busy machine
    by_source = {way.source: way for way in ways}
    while True:
        now = time.monotonic()
        due = min((way.under_way[0][0] for way in ways if way.under_way), default=now + 1)
        ready, _, _ = select.select(list(by_source), [], [], max(0, due - now))
        now = time.monotonic()
        for source in ready:
            by_source[source].take(now)
        for way in ways:
            way.give(now)


class Line:
    """buffers: how far the kernel lets those of a socket grow (net.ipv4.tcp_rmem, tcp_wmem). queue: bytes that wait for the line."""

    address, far_address = "10.99.0.1", "10.99.0.2"

    def __init__(self, round_ms, mbit, buffers=32 << 20, queue=16 << 20):
        self._delay, self._rate, self._buffers, self._queue = round_ms / 2000, mbit * 125_000, buffers, queue

    def __enter__(self):
        if os.geteuid() != 0:
            pytest.skip("only root makes networks")
        try:
            self._near, near = _network(self.address, self.far_address, self._buffers)
            self._far, far = _network(self.far_address, self.address, self._buffers)
        except OSError as fault:
            pytest.skip(f"this system lets nobody make networks: {fault}")
        ways = [_Way(*ends, self._delay, self._rate, self._queue) for ends in ((near, far), (far, near))]
        self._process = multiprocessing.get_context("fork").Process(target=_carry, args=(ways,), daemon=True)
        self._process.start()
        os.close(near)
        os.close(far)
        return self

    def near(self):
        return _inside(self._near)

    def far(self):
        return _inside(self._far)

    def __exit__(self, *_):
        self._process.kill()
        self._process.join()
        os.close(self._near)
        os.close(self._far)
