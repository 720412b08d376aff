# SPDX-License-Identifier: Apache-2.0
"""One stream fills a long line: windows follow the product of bandwidth and delay (RFC 9113 section 5.2)."""

import threading
import time

import pytest

from harness import executable
from harness.backend import configured
from harness.config import section
from harness.http2 import ACK, DATA, END_STREAM, HEADERS, PING, SETTINGS, WINDOW_UPDATE, Frames, frame
from harness.line import Line
from harness.plugins import load

pytestmark = [pytest.mark.timed, pytest.mark.plain, pytest.mark.limit(120)]
ROUND_MS, MBIT = 50, 1000
SIZE = 400_000_000
ENOUGH = 0.8  # of the line, from the second second on: TCP begins slowly
WIDE = (4).to_bytes(2, "big") + (1 << 30).to_bytes(4, "big")  # INITIAL_WINDOW_SIZE
PIECE = 16384


@pytest.fixture
def line():
    if not executable.plugin("http2"):
        pytest.skip("this build has no such plugin")
    with Line(ROUND_MS, MBIT) as line:
        yield line


def serve(start, large=SIZE, **kwargs):
    server = start(server="Listen 0.0.0.0:0 h2\nMaxBodySize 4G\nWorkers 1", handlers="Match ^/drinks drinks",
                   extra={"plugins.load": load("drinks") + f"    Load {executable.plugin('http2')}\n"}, files={"a.txt": "a"}, **kwargs)
    with open(server.root / "large.bin", "wb") as file:
        file.truncate(large)
    return server


def connect(address, port):
    client = Frames((address, port), settings=WIDE)
    client.send(frame(WINDOW_UPDATE, 0, 0, (1 << 30).to_bytes(4, "big")))
    return client


class Meter:
    """Bytes a second, without the first second."""

    def __init__(self):
        self.begin, self.first, self.last = time.monotonic(), None, None

    def note(self, bytes_so_far):
        now = time.monotonic()
        if now - self.begin > 1:
            self.last = now, bytes_so_far
            self.first = self.first or self.last

    @property
    def share(self):
        """Of the line."""
        seconds, size = (b - a for a, b in zip(self.first, self.last))
        return size * 8 / seconds / (MBIT * 1e6)


def download(client):
    """The share of the line. Frames are counted as they are: to take them apart keeps a busy machine from reading."""
    meter, got, room = Meter(), 0, bytearray(1 << 20)
    client.send(client.head(1, "/large.bin"))
    while got < SIZE:
        size = client.sock.recv_into(room)
        assert size > 0, "the connection ended"
        got += size
        meter.note(got)
    return meter.share


def best(measure, rounds=3):
    """A busy machine may disturb a round or two; windows that are too small do so in each."""
    share = 0
    for _ in range(rounds):
        share = max(share, measure())
        if share > ENOUGH:
            break
    return share


def test_a_download_fills_it(start, line):
    with line.near():
        server = serve(start)

    def measure():
        with line.far():
            client = connect(line.address, server.port)
        with client:
            return download(client)

    share = best(measure)
    assert share > ENOUGH, f"{share:.0%} of the line"


class Upload:
    """A body that leaves as fast as the server's windows let it; a thread reads what they are."""

    def __init__(self, client):
        self.client, self.windows, self.answer = client, [65535, 65535], b""
        self.more, self.sending = threading.Condition(), threading.Lock()
        while not (one := client.until(SETTINGS)).flags & ACK and self.windows[1] == 65535:
            for at in range(0, len(one.payload), 6):
                if one.payload[at:at + 2] == b"\0\4":
                    self.windows[1] = int.from_bytes(one.payload[at + 2:at + 6], "big")
            client.send(frame(SETTINGS, ACK))

    def _read(self):
        while one := self.client.until(WINDOW_UPDATE, DATA, HEADERS, PING):
            if one.kind == PING:
                self._send(frame(PING, ACK, 0, one.payload))
                continue
            with self.more:
                if one.kind == WINDOW_UPDATE:
                    self.windows[bool(one.stream)] += int.from_bytes(one.payload, "big")
                elif one.kind == DATA:
                    self.answer += one.payload
                self.more.notify()
            if one.kind != WINDOW_UPDATE and one.flags & END_STREAM:
                return

    def _send(self, frames):
        with self.sending:
            self.client.send(frames)

    def _room(self):
        with self.more:
            assert self.more.wait_for(lambda: min(self.windows) >= PIECE, timeout=30), self.windows
            frames = min(16, min(self.windows) // PIECE)
            self.windows = [window - frames * PIECE for window in self.windows]
        return frames

    def run(self):
        """The share of the line."""
        reader = threading.Thread(target=self._read, daemon=True)
        self.client.send(self.client.head(1, "/drinks", "POST", fields=[("content-length", str(SIZE))], end=False))
        reader.start()
        meter, sent, piece = Meter(), 0, frame(DATA, 0, 1, bytes(PIECE))
        while sent < SIZE - PIECE:
            frames = min(self._room(), (SIZE - 1 - sent) // PIECE)
            self._send(piece * frames)
            sent += frames * PIECE
            meter.note(sent)
        self._send(frame(DATA, END_STREAM, 1, bytes(SIZE - sent)))
        reader.join(30)
        assert int(self.answer.split()[0]) == SIZE, self.answer
        return meter.share


def test_an_upload_fills_it(start, line):
    with line.near():
        server = serve(start)

    def measure():
        with line.far():
            client = connect(line.address, server.port)
        with client:
            return Upload(client).run()

    share = best(measure)
    assert share > ENOUGH, f"{share:.0%} of the line"


def test_a_download_from_a_backend_fills_it(start, line):
    """Between the proxy and its backend is the line; the client is near"""
    with line.far():
        backend = serve(start)
    with line.near():
        proxy = start(**configured("", f"{line.far_address}:{backend.port} h2c", plugins=("http2",), server="Listen 127.0.0.1:0 h2\nWorkers 1"))

    def measure():
        with line.near():
            client = connect("127.0.0.1", proxy.port)
        with client:
            return download(client)

    share = best(measure)
    assert share > ENOUGH, f"{share:.0%} of the line"
