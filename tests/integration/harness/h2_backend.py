# SPDX-License-Identifier: Apache-2.0
"""
Backends that speak HTTP/2.

    with H2Backend(each=lambda peer, request: peer.answer(request.stream, b"hello")) as backend: ...
    with H2Backend(serve) as backend: ...     # serve(peer): frame by frame, right or wrong
    with Orderly() as backend: ...            # by the library h2, which objects to what the proxy does wrong
"""

import contextlib
import socket
import struct
import threading

import h2.config
import h2.connection
import h2.events
import h2.settings

from harness.backend import Backend
from harness.client import eventually
from harness.http2 import (ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PING, PREFACE, RST_STREAM, SETTINGS,
                           WINDOW_UPDATE, Frames, frame)

HEADER_TABLE_SIZE, ENABLE_PUSH, MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE, MAX_FRAME_SIZE, MAX_HEADER_LIST_SIZE = range(1, 7)
ENABLE_CONNECT_PROTOCOL = 8
FRAME_MAX = 16384


def settings(**named):
    """The payload of SETTINGS: settings(MAX_CONCURRENT_STREAMS=1)."""
    return b"".join(struct.pack(">HI", globals()[name], value) for name, value in named.items())


class Request:
    def __init__(self, stream, fields):
        self.stream, self.fields, self.body, self.trailers = stream, fields, b"", []
        self.is_whole = False

    def all(self, name):
        return [value for field, value in self.fields if field == name]

    def get(self, name):
        values = self.all(name)
        assert len(values) <= 1, f"{name} came {len(values)} times: {values}"
        return values[0] if values else None

    @property
    def method(self):
        return self.get(":method")

    @property
    def path(self):
        return self.get(":path")


class Peer(Frames):
    """A connection, as the backend sees it. It acknowledges SETTINGS and PING and opens windows, unless it is told not to."""

    def __init__(self, sock, payload=b"", opens=True):
        super().__init__(None, payload, preface=b"", raw=sock)
        while len(self._read) < len(PREFACE):
            data = sock.recv(65536)
            if not data:
                raise EOFError
            self._read += data
        assert self._read.startswith(PREFACE), self._read
        self._read = self._read[len(PREFACE):]
        self.opens, self.acknowledges = opens, True
        self.requests, self.resets, self.seen, self.goodbye = {}, {}, [], None
        self._block, self._of = b"", None

    def next(self):
        """The next frame, noted in requests, resets and seen; None: the connection ended."""
        one = self.receive()
        if not one:
            return None
        self.seen.append(one)
        if one.kind == SETTINGS and not one.flags & ACK and self.acknowledges:
            self.send(frame(SETTINGS, ACK))
        elif one.kind == PING and not one.flags & ACK and self.acknowledges:
            self.send(frame(PING, ACK, 0, one.payload))
        elif one.kind in (HEADERS, CONTINUATION):
            self._take_block(one)
        elif one.kind == DATA:
            self.requests[one.stream].body += one.payload
            if one.payload and self.opens:
                self.open(0, len(one.payload))
                if not one.flags & END_STREAM:
                    self.open(one.stream, len(one.payload))
        elif one.kind == RST_STREAM:
            self.resets[one.stream] = one.code
        elif one.kind == GOAWAY:
            self.goodbye = one
        if one.kind in (HEADERS, DATA) and one.flags & END_STREAM and one.stream in self.requests:
            self.requests[one.stream].is_whole = True
        return one

    def _take_block(self, one):
        self._block += one.payload
        if not one.flags & END_HEADERS:
            return
        fields, self._block = self.decoder.decode(self._block), b""
        if one.stream in self.requests:
            self.requests[one.stream].trailers = fields
        else:
            self.requests[one.stream] = Request(one.stream, fields)

    def until_true(self, condition):
        """Take frames until condition(). @return false: the connection ended before."""
        while not condition():
            if not self.next():
                return False
        return True

    def request(self, whole=True):
        """One that was not returned before; None: the connection ended."""
        found = []

        def is_there():
            found[:] = [q for q in self.requests.values() if not hasattr(q, "was_taken") and (q.is_whole or not whole)]
            return found

        if not self.until_true(is_there):
            return None
        found[0].was_taken = True
        return found[0]

    def open(self, stream, size):
        self.send(frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", size)))

    def reply(self, stream, status=200, fields=(), end=False, flags=END_HEADERS):
        """The head of an answer as a HEADERS frame. status None: no :status."""
        lines = [*([(":status", str(status))] if status is not None else []), *fields]
        return frame(HEADERS, flags | (END_STREAM if end else 0), stream, self.encoder.encode(lines))

    def answer(self, stream, body=b"ok", status=200, fields=(), trailers=()):
        self.send(self.reply(stream, status, fields, end=not body and not trailers))
        self.data(stream, body, end=not trailers)
        if trailers:
            self.send(frame(HEADERS, END_HEADERS | END_STREAM, stream, self.encoder.encode(trailers)))

    def data(self, stream, body, end=False):
        """In frames, whatever windows say."""
        for at in range(0, len(body), FRAME_MAX):
            piece = body[at:at + FRAME_MAX]
            self.send(frame(DATA, END_STREAM if end and at + FRAME_MAX >= len(body) else 0, stream, piece))

    def reset_stream(self, stream, code):
        self.send(frame(RST_STREAM, 0, stream, struct.pack(">I", code)))

    def goaway(self, last, code=0):
        self.send(frame(GOAWAY, 0, 0, struct.pack(">II", last, code)))

    def drain(self):
        """Take frames until the connection ends."""
        self.until_true(lambda: False)

    def reset(self):
        """Leave with a TCP RST."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()


def tunnels(serve, settings=settings(ENABLE_CONNECT_PROTOCOL=1), **kwargs):
    """A backend that takes extended CONNECT (RFC 8441): serve(peer, request) for each request of a connection, when its head is there."""
    def take(peer):
        while request := peer.request(whole=False):
            serve(peer, request)

    return H2Backend(take, payload=settings, **kwargs)


class H2Backend(Backend):
    """serve(peer) is called for a connection, each(peer, request) for every whole request of one, one after the other."""

    def __init__(self, serve=None, each=None, payload=b"", opens=True, **kwargs):
        self.payload, self.opens, self.meet = payload, opens, serve or self._answer_all
        self.peers = []
        super().__init__(serve=self._meet, each=each or (lambda peer, q: peer.answer(q.stream, self.name.encode())), **kwargs)

    def _meet(self, conn):
        peer = Peer(conn.sock, self.payload, self.opens)
        with self.lock:
            self.peers.append(peer)
        self.meet(peer)

    def _answer_all(self, peer):
        while request := peer.request():
            with self.lock:
                self.requests.append(request)
            self.each(peer, request)

    @property
    def place(self):
        """Its words in ServerList."""
        return f"{self.address} h2c"

    def has(self, count):
        """Wait until so many requests were seen."""
        return eventually(lambda: len(self.requests) >= count)


class Orderly(Backend):
    """
    By the library h2: whole requests are given to respond(request), which returns (status, fields, body, trailers). Bodies leave as windows
    let them.
    """

    def __init__(self, respond=None, first=None, **kwargs):
        self.respond = respond or (lambda q: (200, [], q.body or b"ok", []))
        self.first = first or {}
        self.resets = []
        super().__init__(serve=self._run_machine, **kwargs)

    @property
    def place(self):
        return f"{self.address} h2c"

    def _run_machine(self, conn):
        machine = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        named = {getattr(h2.settings.SettingCodes, name): value for name, value in self.first.items()}
        machine.local_settings = h2.settings.Settings(client=False, initial_values={**machine.local_settings, **named})
        machine.initiate_connection()
        conn.send(machine.data_to_send())
        requests, left = {}, {}
        while data := conn.sock.recv(65536):
            for event in machine.receive_data(data):
                self._note(machine, event, requests, left)
            self._send(machine, left)
            conn.send(machine.data_to_send())

    def _note(self, machine, event, requests, left):
        stream = getattr(event, "stream_id", None)
        if isinstance(event, h2.events.RequestReceived):
            requests[stream] = Request(stream, event.headers)
        elif isinstance(event, h2.events.TrailersReceived):
            requests[stream].trailers = event.headers
        elif isinstance(event, h2.events.DataReceived):
            requests[stream].body += event.data
            if event.flow_controlled_length:
                machine.acknowledge_received_data(event.flow_controlled_length, stream)
        elif isinstance(event, h2.events.StreamReset):
            self.resets.append((stream, event.error_code))
            left.pop(stream, None)
        elif isinstance(event, h2.events.StreamEnded):
            with self.lock:
                self.requests.append(requests[stream])
            status, fields, body, trailers = self.respond(requests[stream])
            machine.send_headers(stream, [(":status", str(status)), *fields], end_stream=not body and not trailers)
            if body or trailers:
                left[stream] = [memoryview(body), trailers]

    @staticmethod
    def _send(machine, left):
        for stream, (body, trailers) in list(left.items()):
            while body and (room := min(machine.local_flow_control_window(stream), machine.max_outbound_frame_size)) > 0:
                piece, body = body[:room], body[room:]
                machine.send_data(stream, bytes(piece), end_stream=not body and not trailers)
            left[stream][0] = body
            if not body:
                if trailers:
                    machine.send_headers(stream, trailers, end_stream=True)
                del left[stream]


@contextlib.contextmanager
def at_once(*asks):
    """Run these in threads. Yields a list to which what each returns goes, in order; it is whole at the end of the block."""
    results = [None] * len(asks)

    def run(at):
        try:
            results[at] = asks[at]()
        except Exception as fault:  # noqa: BLE001 - told by the test
            results[at] = fault

    threads = [threading.Thread(target=run, args=(at,), daemon=True) for at in range(len(asks))]
    for thread in threads:
        thread.start()
    yield results
    for thread in threads:
        thread.join(30)
