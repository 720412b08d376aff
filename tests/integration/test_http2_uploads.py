# SPDX-License-Identifier: Apache-2.0
"""Request bodies over HTTP/2: their time, and the windows of streams that share a connection."""

import contextlib
import hashlib
import random
import select
import time

import pytest

from harness import cgi, counters, executable, seeded
from harness.client import eventually
from harness.config import section
from harness.http2 import (ACK, DATA, END_STREAM, GOAWAY, HEADERS, NO_ERROR, RST_STREAM, SETTINGS, WINDOW_UPDATE, Frames, frame)

PATIENCE = 50  # for what takes an idle machine a second
WIDE = (4).to_bytes(2, "big") + (1 << 30).to_bytes(4, "big")  # INITIAL_WINDOW_SIZE


@pytest.fixture(name="behind", params=counters.ALL)
def fixture_behind(request, start, tmp_path, monkeypatch):
    """Starts a server that speaks HTTP/2 with the application behind one of the plugins."""
    with contextlib.ExitStack() as stack:
        def begin(**kwargs):
            with monkeypatch.context() as patch:
                patch.setenv("CARRIER", "h2")
                app = counters.ALL[request.param](start, tmp_path, **kwargs)
            stack.callback(app.stop)
            return app

        yield begin


class Upload:
    """A request whose body goes as its schedule says."""

    def __init__(self, path, body, method="POST", announced=True, pieces=(1, 16384)):
        self.path, self.body, self.method, self.announced, self.pieces = path, body, method, announced, pieces
        self.sent, self.window = 0, 0
        self.status, self.answer, self.code, self.is_over = 0, b"", None, False
        self.order = []

    @property
    def is_sent(self):
        return self.sent == len(self.body)

    def __repr__(self):
        return f"<{self.path} sent {self.sent} of {len(self.body)} window={self.window} status={self.status} code={self.code}>"


class Uploads:
    """Requests on one connection that obeys all windows."""

    def __init__(self, server, chance):
        self.client = Frames(("127.0.0.1", server.port), settings=WIDE, timeout=PATIENCE)
        self.client.send(frame(WINDOW_UPDATE, 0, 0, ((1 << 31) - 65536).to_bytes(4, "big")))
        self.chance, self.window, self.first, self.next = chance, 65535, 65535, 1
        self.streams = {}
        self.read_until(lambda: SETTINGS in self.seen)

    def begin(self, upload):
        stream, self.next = self.next, self.next + 2
        upload.window = self.first
        self.streams[stream] = upload
        fields = [("content-length", str(len(upload.body)))] if upload.announced else []
        self.client.send(self.client.head(stream, upload.path, upload.method, fields, end=False))
        return upload

    seen = frozenset()

    def take(self, one):
        self.seen |= {one.kind}
        upload = self.streams.get(one.stream)
        if one.kind == SETTINGS and not one.flags & ACK:
            self.client.send(frame(SETTINGS, ACK))
            for at in range(0, len(one.payload), 6):
                if one.payload[at:at + 2] == b"\0\4":
                    self.first = int.from_bytes(one.payload[at + 2:at + 6], "big")
        elif one.kind == WINDOW_UPDATE:
            by = int.from_bytes(one.payload, "big")
            if one.stream == 0:
                self.window += by
            elif upload:
                upload.window += by
        elif one.kind == HEADERS:
            fields = dict(self.client.decoder.decode(one.payload, raw=True))
            upload.status = int(fields.get(b":status", b"%d" % upload.status))
        elif one.kind == DATA:
            upload.answer += one.payload
        elif one.kind == RST_STREAM:
            upload.code = one.code
        assert one.kind != GOAWAY or one.code == NO_ERROR, one
        if upload and (one.kind == RST_STREAM or one.kind in (HEADERS, DATA) and one.flags & END_STREAM):
            upload.is_over = True

    def read_until(self, condition, within=PATIENCE):
        deadline = time.monotonic() + within
        while not condition():
            left = deadline - time.monotonic()
            assert left > 0, (self.window, list(self.streams.values()))
            if self.has_input(min(left, 0.2)):
                self.receive()

    def has_input(self, within):
        pending = self.client._read
        return len(pending) >= 9 and len(pending) >= 9 + int.from_bytes(pending[:3], "big") \
            or bool(select.select([self.client.sock], [], [], within)[0])

    def receive(self):
        one = self.client.receive()
        assert one is not None, "the connection ended"
        self.take(one)

    def send(self, stream, most=16384):
        """As much as windows allow, at most this. @return bytes"""
        upload = self.streams[stream]
        size = min(most, 16384, self.window, upload.window, len(upload.body) - upload.sent)
        if size <= 0:
            return 0
        upload.sent += size
        upload.window -= size
        self.window -= size
        self.client.send(frame(DATA, END_STREAM if upload.is_sent else 0, stream, upload.body[upload.sent - size:upload.sent]))
        return size

    def may_send(self):
        return [stream for stream, upload in self.streams.items()
                if not upload.is_over and not upload.is_sent and upload.window > 0 and self.window > 0]

    def run(self, within=PATIENCE):
        """All of them, side by side, until each is answered."""
        deadline = time.monotonic() + within
        while not all(upload.is_over for upload in self.streams.values()):
            assert time.monotonic() < deadline, (self.window, list(self.streams.values()))
            ready = self.may_send()
            if self.has_input(0 if ready else 0.2):
                self.receive()
            elif ready:
                stream = self.chance.choice(ready)
                self.send(stream, self.chance.randint(*self.streams[stream].pieces))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.close()


def body(chance, size):
    return chance.randbytes(size)


# ---- how long they may take ----

def test_an_upload_that_goes_on_may_take_longer_than_bodytimeout(behind):
    app = behind(server="BodyTimeout 3")
    with Uploads(app.server, random.Random(1)) as uploads:
        one = uploads.begin(Upload(app.base + "/count", bytes(500_000)))
        while not one.is_sent:
            uploads.send(1)
            time.sleep(0.2)
            while uploads.has_input(0):
                uploads.receive()
        uploads.run()
        assert (one.status, one.answer) == (200, b"%d %d" % (len(one.body), len(one.body)))


@pytest.mark.parametrize("rate", ["MinRate 0", "MinRate 1M"])
def test_a_silent_client_is_answered_408(behind, rate):
    app = behind(server=f"BodyTimeout 1\n{rate}")
    with Uploads(app.server, random.Random(1)) as uploads:
        one = uploads.begin(Upload(app.base + "/count", bytes(200_000)))
        while one.sent < 60_000:
            uploads.send(1)
        uploads.read_until(lambda: one.is_over)
        assert one.status == 408


def test_a_body_below_minrate_is_answered_408(behind):
    """As a whole: each piece is in time."""
    app = behind(server="BodyTimeout 3\nMinRate 1M")
    with Uploads(app.server, random.Random(1)) as uploads:
        one = uploads.begin(Upload(app.base + "/count", bytes(2_000_000)))
        deadline = time.monotonic() + PATIENCE
        while not one.is_over and time.monotonic() < deadline:
            uploads.send(1, 10_000)
            if uploads.has_input(0.2):
                uploads.receive()
        assert one.status == 408


# ---- many at once ----

def test_streams_that_nobody_reads_leave_others_their_window(behind):
    """RFC 9113 5.2.2: eight bodies of 1 MB for two places; none is called slow while it may not send"""
    app = behind(places=2, server="BodyTimeout 4")
    with Uploads(app.server, random.Random(1)) as uploads:
        for _ in range(8):
            uploads.begin(Upload(app.base + "/count", bytes(1_000_000)))
        uploads.run()
        assert [(one.status, one.answer) for one in uploads.streams.values()] == [(200, b"1000000 1000000")] * 8


def test_a_window_that_nobody_empties_stays_as_it_is(behind):
    """A body waits for its place: what it may send meanwhile is StreamWindow, whatever the connection has."""
    app = behind(places=1, buffering="auto")
    with Uploads(app.server, random.Random(1)) as uploads:
        first, second = (uploads.begin(Upload(app.base + "/count", bytes(3_000_000))) for _ in range(2))
        while first.sent < 40_000:
            uploads.send(1)
        assert eventually(lambda: app.begun() == 1)
        deadline = time.monotonic() + 1
        while time.monotonic() < deadline:
            if not uploads.send(3):
                time.sleep(0.02)
            while uploads.has_input(0):
                uploads.receive()
        assert 65536 <= second.sent <= 4 * 65536
        uploads.run()
        assert (first.status, second.status) == (200, 200)


SEEDS = [1, 2, 3, seeded.of_this_run()]


def schedule(chance, base):
    paths = [base + "/echo", base + "/count"]
    for _ in range(chance.randint(8, 30)):
        size = chance.choice((1, 1000, 40_000, 70_000, 300_000))
        least, most = chance.choice(((1, 16384), (8000, 16384), (500, 4000)))
        yield Upload(chance.choice(paths), body(chance, size), announced=chance.random() < 0.7, pieces=(least, most))


@pytest.mark.parametrize("seed", SEEDS)
def test_random_uploads_side_by_side(behind, seed):
    chance = random.Random(seed)
    app = behind(places=chance.randint(1, 4), buffering=chance.choice(("auto", "on", "off")), server="BodyTimeout 10")
    with Uploads(app.server, chance) as uploads:
        for one in schedule(chance, app.base):
            uploads.begin(one)
        uploads.run()
        for one in uploads.streams.values():
            assert one.status == 200, one
            if one.path.endswith("/echo"):
                assert hashlib.md5(one.answer).digest() == hashlib.md5(one.body).digest(), one
            else:
                assert one.answer.split()[0] == b"%d" % len(one.body), one


@pytest.mark.parametrize("seed", SEEDS)
def test_random_uploads_to_the_servers_own_handlers(start, seed):
    """The echo of tests, which reads as bytes come, and a file, that reads nothing and answers at once."""
    if not executable.plugin("http2"):
        pytest.skip("this build has no such plugin")
    chance = random.Random(seed)
    server = start(server="Listen 127.0.0.1:0 h2\nBodyTimeout 10", handlers="Match ^/echo echo", files={"a.txt": "a"},
                   extra={"plugins.load": section("PLUGINS", f"Load {executable.plugin('http2')}")})
    with Uploads(server, chance) as uploads:
        for _ in range(chance.randint(20, 60)):
            path = chance.choice(("/echo", "/a.txt"))
            uploads.begin(Upload(path, body(chance, chance.choice((1, 5000, 70_000, 300_000))), announced=chance.random() < 0.7))
        uploads.run()
        for one in uploads.streams.values():
            assert one.status == (200 if one.path == "/echo" else 405), one
            assert one.path != "/echo" or one.answer.endswith(one.body), one
