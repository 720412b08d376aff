# SPDX-License-Identifier: Apache-2.0
"""Compressed messages (RFC 7692), against Python's websockets and by single frames."""

import asyncio
import contextlib
import os
import random
import zlib

import pytest
import websockets

from harness.frames import BINARY, CLOSE, CONTINUATION, PING, PONG, TEXT, Raw, frame
from harness.plugins import load

KINDS = ("echo", "packed", "kept", "packed-group", "kept-group", "packed-pieces", "packed-old")
PATIENCE = 60
TAIL = b"\x00\x00\xff\xff"
DEFLATE = "permessage-deflate"


@pytest.fixture(scope="module")
def server(start_shared):
    server = start_shared(server="Workers 2\nScheduler Fair", extra={"plugins.load": load("sockets")},
                          handlers="".join(f"Match ^/{kind}$ sockets {kind}\n" for kind in KINDS))
    with Raw(server, "/packed", **{"Sec-WebSocket-Extensions": DEFLATE}) as ws:
        if not ws.head.all("Sec-WebSocket-Extensions"):
            pytest.skip("this build has no zlib")
    return server


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, PATIENCE))


def words(seed, size):
    chance = random.Random(seed)
    return " ".join(chance.choice(("monkey", "web", "server", "é", "€")) for _ in range(size))[:size]


class Packed(Raw):
    """A client that compresses; a message of the server is decompressed with the window of those before it, or alone."""

    def __init__(self, server, kind, offer=DEFLATE):
        super().__init__(server, f"/{kind}", **{"Sec-WebSocket-Extensions": offer})
        [self.agreed] = self.head.all("Sec-WebSocket-Extensions")
        self._out, self._in = None, None

    def pack(self, data):
        if not self._out or "client_no_context_takeover" in self.agreed:
            self._out = zlib.compressobj(9, zlib.DEFLATED, -12)
        packed = self._out.compress(data) + self._out.flush(zlib.Z_SYNC_FLUSH)
        assert packed.endswith(TAIL)
        return packed[:-4]

    def hear_packed(self):
        opcode, is_packed, payload = self.receive_frame()
        assert is_packed
        return opcode, self.unpack(payload)

    def hear_any(self):
        opcode, is_packed, payload = self.receive_frame()
        return opcode, self.unpack(payload) if is_packed else payload

    def unpack(self, payload):
        if not self._in or "server_no_context_takeover" in self.agreed:
            self._in = zlib.decompressobj(-15)
        return self._in.decompress(payload + TAIL)


# ---- a real client


@pytest.mark.parametrize("kind", ["packed", "kept"])
@pytest.mark.plain("a client that knows no other carriers")
def test_echo(server, kind):
    async def talk():
        async with websockets.connect(f"ws://localhost:{server.port}/{kind}", compression="deflate", max_size=None) as ws:
            assert [extension.name for extension in ws.extensions] == [DEFLATE]
            for size in (0, 1, 100, 127, 128, 5000, 70_000, 300_000):
                for message in (words(size, size), os.urandom(size)):
                    await ws.send(message)
                    assert await ws.recv() == message

    run(talk())


def test_a_client_that_offers_nothing(server):
    with Raw(server, "/packed") as ws:
        assert ws.head.all("Sec-WebSocket-Extensions") == []
        ws.say("x" * 1000)
        assert ws.hear() == "x" * 1000


def test_where_it_is_off(server):
    with Raw(server, "/echo", **{"Sec-WebSocket-Extensions": DEFLATE}) as ws:
        assert ws.head.all("Sec-WebSocket-Extensions") == []


# ---- agreements (section 7.1)


@pytest.mark.parametrize("kind, offer, agreed", [
    ("packed", DEFLATE, f"{DEFLATE}; server_no_context_takeover; client_no_context_takeover"),
    ("kept", DEFLATE, DEFLATE),
    ("kept", f"{DEFLATE}; client_max_window_bits", f"{DEFLATE}; client_max_window_bits=12"),
    ("kept", f"{DEFLATE}; server_no_context_takeover; client_no_context_takeover",
     f"{DEFLATE}; server_no_context_takeover; client_no_context_takeover"),
    ("kept", f"{DEFLATE}; server_max_window_bits=9", f"{DEFLATE}; server_max_window_bits=9"),
    ("kept", f"x-other; a=b, {DEFLATE}; server_max_window_bits=8, {DEFLATE}", DEFLATE),
])
def test_agreements(server, kind, offer, agreed):
    with Packed(server, kind, offer) as ws:
        assert ws.agreed == agreed
        for number in range(20):
            text = words(number, 3000).encode()
            ws.send(frame(TEXT, ws.pack(text), packed=True))
            assert ws.hear_packed() == (TEXT, text)


def test_a_kept_window_is_used(server):
    text = os.urandom(250).hex().encode()
    with Packed(server, "kept") as ws:
        sizes = []
        for _ in range(3):
            ws.send(frame(TEXT, ws.pack(text), packed=True))
            _, is_packed, payload = ws.receive_frame()
            assert is_packed and ws.unpack(payload) == text
            sizes.append(len(payload))
    assert sizes[1] < sizes[0] / 4 and sizes[2] < sizes[0] / 4


# ---- messages (sections 6 and 7.2)


@pytest.mark.parametrize("kind", ["packed", "kept"])
def test_what_is_small_or_noise_is_sent_as_it_is(server, kind):
    noise = os.urandom(2000)
    with Packed(server, kind) as ws:
        for _ in range(3):
            ws.send(frame(TEXT, ws.pack(b"small"), packed=True), frame(BINARY, ws.pack(noise), packed=True),
                    frame(TEXT, b"not compressed"))
            assert [ws.receive() for _ in range(3)] == [(TEXT, b"small"), (BINARY, noise), (TEXT, b"not compressed")]
            text = words(3, 400).encode()
            ws.send(frame(TEXT, ws.pack(text), packed=True))
            assert ws.hear_packed() == (TEXT, text)


@pytest.mark.parametrize("part", [1, 2, 7, 1000])
def test_fragments_with_pings_in_between(server, part):
    text = words(1, 600).encode()
    with Packed(server, "kept") as ws:
        for _ in range(3):
            packed = ws.pack(text)
            parts = [packed[at:at + part] for at in range(0, len(packed), part)]
            frames = [frame(TEXT if number == 0 else CONTINUATION, piece, final=number == len(parts) - 1, packed=number == 0)
                      for number, piece in enumerate(parts)]
            ws.send(frame(PING, b"p").join(frames))
            for _ in range(len(frames) - 1):
                assert ws.receive() == (PONG, b"p")
            assert ws.hear_packed() == (TEXT, text)


def test_cut_anywhere(server):
    text = words(2, 300).encode()
    with Packed(server, "kept") as ws:
        for byte in frame(TEXT, ws.pack(text), packed=True):
            ws.send(bytes([byte]))
        assert ws.hear_packed() == (TEXT, text)


def test_pieces(server):
    text = b"x" * 100_000
    with Packed(server, "packed-pieces") as ws:
        ws.send(frame(TEXT, ws.pack(text), packed=True))
        got = b""
        while not got.endswith(b"last"):
            got += ws.hear_any()[1]
        assert got == text + b"last"


# ---- faults


@pytest.mark.parametrize("name, frames, code", [
    ("garbage", frame(BINARY, b"\xff\xff\xff", packed=True), 1007),
    ("a cut block", frame(BINARY, b"\xf2\x48\xcd", packed=True), 1007),
    ("text that is no UTF-8", frame(TEXT, b"\x00\x01\x00\xfe\xff\xff\x00", packed=True), 1007),
    ("RSV1 in a continuation", frame(TEXT, b"\x00", final=False, packed=True) + frame(CONTINUATION, b"\x00", packed=True), 1002),
    ("RSV1 in a ping", frame(PING, b"\x00", packed=True), 1002),
])
def test_faults(server, name, frames, code):
    with Packed(server, "kept") as ws:
        ws.send(frames)
        assert ws.closed() == code, name


def test_a_bomb(server):
    """100 KB that would be 100 MB: closed at the bound of messages, and nobody else waits."""
    with Packed(server, "packed") as ws, Raw(server, "/echo") as other:
        bomb = ws.pack(bytes(100_000_000))
        assert len(bomb) < 200_000
        ws.send(frame(BINARY, bomb, packed=True))
        other.say("still here")
        assert other.hear() == "still here"
        assert ws.closed() == 1009


# ---- groups


def test_groups_of_all_kinds(server):
    """Compressed once for those without a window, by itself for those with one, and not at all."""
    with contextlib.ExitStack() as stack:
        def enter(ws):
            stack.enter_context(ws)
            assert ws.receive() == (TEXT, b"joined")
            return ws

        packed = [enter(Packed(server, "packed-group")) for _ in range(6)]
        kept = [enter(Packed(server, "kept-group")) for _ in range(4)]
        narrow = enter(Packed(server, "packed-group", f"{DEFLATE}; server_max_window_bits=9"))
        plain = enter(Raw(server, "/packed-group"))
        texts = [words(number, 2000).encode() for number in range(50)]
        plain.send(*(frame(TEXT, text) for text in texts))
        for ws in (*packed, *kept, narrow):
            assert [ws.hear_packed() for _ in texts] == [(TEXT, text) for text in texts]
        assert [plain.receive() for _ in texts] == [(TEXT, text) for text in texts]


def test_dropped_messages_are_not_missed(server):
    """With MK_WS_DROP_OLD the server keeps no window, whatever the setting."""
    with Packed(server, "packed-old") as ws:
        assert "server_no_context_takeover" in ws.agreed and "client_no_context_takeover" not in ws.agreed
        ws.send(frame(TEXT, ws.pack(b"go"), packed=True))
        last = -1
        while last < 999:
            opcode, text = ws.hear_any()
            assert opcode == TEXT and int(text[:7]) > last and len(text) == 65536
            last = int(text[:7])


def test_the_end(server):
    with Packed(server, "kept") as ws:
        ws.send(frame(TEXT, ws.pack(b"x" * 300)[:5], final=False, packed=True), frame(CLOSE, b"\x03\xe8"))
        assert ws.closed() == 1000
