# SPDX-License-Identifier: Apache-2.0
"""Single frames of WebSocket (RFC 6455 section 5), for clients that send what they like."""

import struct

from harness import http

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
OPENING = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
           "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}


def frame(opcode, payload=b"", final=True, mask=b"\x01\x02\x03\x04", packed=False):
    size = len(payload)
    length = (struct.pack("!B", 0x80 | size) if size < 126 else
              struct.pack("!BH", 0xFE, size) if size < 65536 else struct.pack("!BQ", 0xFF, size))
    masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))
    return bytes([opcode | (0x80 if final else 0) | (0x40 if packed else 0)]) + length + mask + masked


class Raw:
    """A connection of the server that is a WebSocket; a context manager."""

    def __init__(self, server, target, source=None, **fields):
        self.connection = server.connect(**({"source": source} if source else {}))
        self.connection.send(http.request(target, headers={**OPENING, **fields}))
        self.head = http.read_head(self.connection.stream)
        assert self.head.status == 101
        assert self.head.all("Sec-WebSocket-Accept") == ["s3pPLMBiTxaQ9kYGzzhZRbK+xOo="]

    def send(self, *frames):
        self.connection.send(b"".join(frames))

    def say(self, text):
        self.send(frame(TEXT, text.encode()))

    def receive_frame(self):
        """(opcode, is it compressed, payload) of a whole message or a control frame."""
        first, size = self.connection.stream.exactly(2)
        assert first & 0xb0 == 0x80 and size < 128, "final, not masked"
        if size >= 126:
            size = int.from_bytes(self.connection.stream.exactly(2 if size == 126 else 8), "big")
        return first & 15, bool(first & 0x40), self.connection.stream.exactly(size)

    def receive(self):
        opcode, is_packed, payload = self.receive_frame()
        assert not is_packed
        return opcode, payload

    def hear(self):
        opcode, payload = self.receive()
        assert opcode == TEXT
        return payload.decode()

    def closed(self):
        """The code of Close, behind which nothing comes."""
        opcode, payload = self.receive()
        assert opcode == CLOSE
        return int.from_bytes(payload[:2], "big") if payload else None

    def leave(self, code=1000):
        """The closing handshake, begun here."""
        self.send(frame(CLOSE, code.to_bytes(2, "big")))
        assert self.closed() == code

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()
