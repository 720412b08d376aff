# SPDX-License-Identifier: Apache-2.0
"""How long an urgent small response takes beside large ones of its connection (RFC 9218 section 10), against its time without them."""

import statistics
import time

import pytest

from harness import executable
from harness.config import section
from harness.http2 import DATA, END_STREAM, HEADERS, WINDOW_UPDATE, Frames, frame
from harness.line import Line

pytestmark = [pytest.mark.timed, pytest.mark.plain, pytest.mark.limit(120)]
ROUND_MS, MBIT, HOLDS = 10, 100, 256 << 10
LARGE, DOWNLOADS = 10_000_000, 8
COUNT, TURNS = 100, 5
BOUND = 3    # in p99
ENOUGH = 0.8  # of the line
WIDE = (4).to_bytes(2, "big") + (1 << 30).to_bytes(4, "big")  # INITIAL_WINDOW_SIZE
URGENT = [("priority", "u=0")]


class Client:
    """A connection that asks for small files, one after the other, and keeps so many downloads going meanwhile."""

    def __init__(self, address, downloads):
        self._frames, self._downloads = Frames(address, settings=WIDE), downloads
        self._next, self._skip, self._begun, self.came = 1, 0, b"", 0
        self._room = memoryview(bytearray(1 << 18))
        self._frames.send(frame(WINDOW_UPDATE, 0, 0, (1 << 30).to_bytes(4, "big")), self._heads(downloads))

    def _head(self, path, fields=()):
        self._next += 2
        return self._frames.head(self._next - 2, path, fields=fields)

    def _heads(self, count):
        return b"".join(self._head("/large.bin") for _ in range(count))

    def _ended(self):
        """The streams that end with what comes now. Bodies are skipped: to take them apart would cost the time that is measured."""
        size = self._frames.sock.recv_into(self._room)
        assert size > 0, "the connection ended"
        self.came += size
        at, ended = self._skip, []
        self._skip -= size
        if at >= size:
            return ended
        data, at = self._begun + bytes(self._room[at:size]), 0
        while len(data) - at >= 9:
            if data[at + 3] in (DATA, HEADERS) and data[at + 4] & END_STREAM:
                ended.append(int.from_bytes(data[at + 5:at + 9], "big"))
            at += 9 + int.from_bytes(data[at:at + 3], "big")
        self._skip, self._begun = max(0, at - len(data)), bytes(data[at:])
        return ended

    def small(self):
        """Seconds."""
        head, number = self._head("/a.txt", URGENT), self._next - 2
        begin, is_over = time.perf_counter(), False
        self._frames.send(head)
        while not is_over:
            ended = self._ended()
            is_over = number in ended
            took = time.perf_counter() - begin
            self._frames.send(self._heads(len(ended) - is_over if self._downloads else 0))
        return took

    def p99(self):
        times = sorted(self.small() for _ in range(COUNT))
        return times[int(len(times) * 0.99)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._frames.close()


def serve(start, listen):
    if not executable.plugin("http2"):
        pytest.skip("this build has no such plugin")
    server = start(server=f"Listen {listen} h2\nWorkers 1\nMaxKeepAliveRequest 1000000", files={"a.txt": "a" * 1000},
                   extra={"plugins.load": section("PLUGINS", f"Load {executable.plugin('http2')}")})
    with open(server.root / "large.bin", "wb") as file:
        file.truncate(LARGE)
    return server


def turn(connect):
    """(p99 without downloads, p99 beside them, bytes a second meanwhile)"""
    with connect(0) as quiet:
        quiet.small()
        alone = quiet.p99()
    with connect(DOWNLOADS) as busy:
        for _ in range(20):
            busy.small()
        came, begin = busy.came, time.perf_counter()
        beside = busy.p99()
        return alone, beside, (busy.came - came) / (time.perf_counter() - begin)


def test_beside_downloads_over_a_line(start):
    with Line(ROUND_MS, MBIT, queue=HOLDS) as line:
        with line.near():
            server = serve(start, "0.0.0.0:0")

        def connect(downloads):
            with line.far():
                return Client((line.address, server.port), downloads)

        turns = [turn(connect) for _ in range(TURNS)]
        server.stop()
    ratio = statistics.median(beside / alone for alone, beside, _ in turns)
    share = max(speed for _, _, speed in turns) * 8 / (MBIT * 1e6)
    print(f"p99 {ratio:.2f} times that of a quiet connection, {share:.0%} of the line: {turns}")
    assert ratio < BOUND, turns
    assert share > ENOUGH, turns
