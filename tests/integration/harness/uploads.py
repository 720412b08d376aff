# SPDX-License-Identifier: Apache-2.0
"""Requests with bodies on one connection of HTTP/2, as a client that obeys all windows sends them."""

import select
import time

from harness.http2 import (ACK, DATA, END_STREAM, GOAWAY, HEADERS, NO_ERROR, RST_STREAM, SETTINGS, WINDOW_UPDATE, Frames, frame)

PATIENCE = 50  # for what takes an idle machine a second
WIDE = (4).to_bytes(2, "big") + (1 << 30).to_bytes(4, "big")  # INITIAL_WINDOW_SIZE


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
        self.streams, self.seen = {}, set()
        self.read_until(lambda: SETTINGS in self.seen)

    def begin(self, upload):
        stream, self.next = self.next, self.next + 2
        upload.window = self.first
        self.streams[stream] = upload
        fields = [("content-length", str(len(upload.body)))] if upload.announced else []
        self.client.send(self.client.head(stream, upload.path, upload.method, fields, end=False))
        return upload

    def take(self, one):
        self.seen.add(one.kind)
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
