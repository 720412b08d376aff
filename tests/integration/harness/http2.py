# SPDX-License-Identifier: Apache-2.0
"""
HTTP/2 clients. H2Socket carries requests that a test writes as HTTP/1.1, one stream each, and what follows an upgrade; Frames
sends any frame, right or wrong.
"""

import base64
import email.utils
import hashlib
import re
import socket
import struct
import time

import h2.config
import h2.connection
import h2.errors
import h2.events
import hpack

from harness import asking

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
PRIORITY_UPDATE = 16
END_STREAM, ACK, END_HEADERS, PADDED = 1, 1, 4, 8
NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, FLOW_CONTROL_ERROR = 0, 1, 2, 3
STREAM_CLOSED, FRAME_SIZE_ERROR, REFUSED_STREAM, CANCEL, COMPRESSION_ERROR = 5, 6, 7, 8, 9
CONNECT_ERROR, ENHANCE_YOUR_CALM = 10, 11


UPGRADE = re.compile(rb"(?is)GET (\S+) HTTP/1\.1\r\n((?:[^\r\n]+\r\n)*)\r\n")


def accept_key(key):
    """RFC 6455 4.2.2"""
    return base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())


class H2Socket:
    """
    Like a socket, as far as clients need it that send whole requests. Connection-specific fields are left out. An upgrade
    becomes an extended CONNECT (RFC 8441), and 200 the answer 101.
    """

    def __init__(self, raw, scheme="http"):
        self._raw, self._scheme = raw, scheme
        self._sent, self._came = b"", b""
        self._waiting, self._asked, self._joined = [], None, None
        self._ended = False
        config = h2.config.H2Configuration(client_side=True, header_encoding=None, validate_outbound_headers=False,
                                           normalize_outbound_headers=False)
        self._machine = h2.connection.H2Connection(config)
        self._machine.initiate_connection()
        self._machine.increment_flow_control_window(1 << 24)
        self._machine.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: 1 << 24})
        self._flush()

    def _flush(self):
        self._raw.sendall(self._machine.data_to_send())

    def settimeout(self, timeout):
        self._raw.settimeout(timeout)

    def setsockopt(self, *_):
        pass

    def sendall(self, data):
        self._sent += data
        if self._joined:
            self._send_joined()
            return
        if self._join():
            return
        while question := asking.cut_off(self._sent):
            *question, self._sent, is_last = question
            self._waiting.append((question, is_last))
        self._ask_next()

    def _ask_next(self):
        if not self._waiting or self._asked or self._ended:
            return
        (method, target, fields, body), is_last = self._waiting.pop(0)
        stream = self._machine.get_next_available_stream_id()
        self._asked = Answer(stream, method, is_last)
        self._machine.send_headers(stream, _head(self._scheme, method, target, fields, body), end_stream=not body)
        self._flush()
        self._asked.to_send = body
        self._send_body()

    def _join(self):
        """Was an upgrade sent, alone on its connection?"""
        match = UPGRADE.match(self._sent)
        fields = dict(_fields(match[2])) if match else {}
        connection = b",".join(value.lower() for name, value in _fields(match[2]) if name == b"connection") if match else b""
        if b"upgrade" not in connection or b"upgrade" not in fields:
            return False
        self._sent = self._sent[match.end():]
        stream = self._machine.get_next_available_stream_id()
        self._asked = Answer(stream, b"GET", True, fields)
        kept = b"".join(line + b"\r\n" for line in match[2].split(b"\r\n")[:-1]
                        if line.split(b":")[0].lower() not in (b"connection", b"upgrade", b"sec-websocket-key"))
        head = _head(self._scheme, b"CONNECT", match[1], kept, b"")
        self._machine.send_headers(stream, [*head[:4], (b":protocol", fields[b"upgrade"]), *head[4:]])
        self._flush()
        return True

    def _open(self):
        asked, self._asked = self._asked, None
        self._joined, self._ended = asked.stream, asked.is_over
        self._came = (b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: " + asked.upgrade[b"upgrade"] + b"\r\n"
                      + asked.fields + b"Sec-WebSocket-Accept: " + accept_key(asked.upgrade.get(b"sec-websocket-key", b""))
                      + b"\r\n\r\n" + asked.body)
        self._send_joined()

    def _send_joined(self):
        while self._sent and not self._ended:
            size = min(self._machine.local_flow_control_window(self._joined), self._machine.max_outbound_frame_size,
                       len(self._sent))
            if size == 0:
                self._receive_joined()
                continue
            self._machine.send_data(self._joined, self._sent[:size])
            self._sent = self._sent[size:]
            self._flush()

    def _receive_joined(self):
        data = self._raw.recv(65536)
        if not data:
            self._ended = True
        for event in self._machine.receive_data(data):
            if getattr(event, "stream_id", None) == self._joined:
                if isinstance(event, h2.events.DataReceived):
                    self._came += event.data
                    self._machine.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                elif isinstance(event, h2.events.StreamReset):
                    raise ConnectionResetError(f"the stream was reset: {event.error_code}")
                self._ended = self._ended or isinstance(event, h2.events.StreamEnded)
        self._flush()

    def _send_body(self):
        asked = self._asked
        while asked.to_send:
            size = min(self._machine.local_flow_control_window(asked.stream), self._machine.max_outbound_frame_size,
                       len(asked.to_send))
            if size == 0:
                return
            piece, asked.to_send = asked.to_send[:size], asked.to_send[size:]
            self._machine.send_data(asked.stream, piece, end_stream=not asked.to_send)
            self._flush()

    def recv(self, size):
        while not self._came and not self._ended and self._joined:
            self._receive_joined()
        while not self._came and not self._ended and self._asked:
            if self._asked.upgrade and self._asked.status == 200:
                self._open()
            elif self._asked.is_over:
                self._came, is_whole = self._asked.as_bytes()
                self._ended = self._asked.is_last or not is_whole
                self._asked = None
                self._ask_next()
            else:
                self._receive()
        if not self._came and not self._ended:
            if self._sent:
                raise asking.CannotBeAsked(f"no whole request: {self._sent[:200]!r}")
            time.sleep(self._raw.gettimeout() or 0)
            raise TimeoutError("timed out")
        piece, self._came = self._came[:size], self._came[size:]
        return piece

    def _receive(self):
        data = self._raw.recv(65536)
        for event in self._machine.receive_data(data) if data else [h2.events.ConnectionTerminated()]:
            if isinstance(event, h2.events.ConnectionTerminated):
                self._asked.fail()
            elif getattr(event, "stream_id", None) == self._asked.stream:
                self._asked.note(event)
                if isinstance(event, h2.events.DataReceived):
                    self._machine.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        self._flush()
        if not self._asked.is_over:
            self._send_body()

    def shutdown(self, _how):
        if self._joined:
            self._machine.end_stream(self._joined)
            self._flush()

    def reset_joined(self, code):
        """Break the tunnel off."""
        self._machine.reset_stream(self._joined, code)
        self._flush()

    def close(self):
        self._raw.close()


class Answer:
    """A response while it arrives."""

    def __init__(self, stream, method, is_last, upgrade=None):
        self.stream, self.method, self.is_last, self.upgrade = stream, method, is_last, upgrade
        self.to_send = b""
        self.is_over, self.error = False, 0
        self.status, self.fields, self.body, self.trailers = 0, b"", b"", b""

    def note(self, event):
        if isinstance(event, h2.events.ResponseReceived):
            self.status = int(dict(event.headers)[b":status"])
            self.fields = _lines(event.headers)
        elif isinstance(event, h2.events.TrailersReceived):
            self.trailers = _lines(event.headers)
        elif isinstance(event, h2.events.DataReceived):
            self.body += event.data
        elif isinstance(event, h2.events.StreamEnded):
            self.is_over = True
        elif isinstance(event, h2.events.StreamReset):
            self.to_send = b""
            if event.error_code == PROTOCOL_ERROR and self.status == 0:  # malformed (RFC 9113 8.1.1): HTTP/1 says it with 400
                self.fields = b"date: %s\r\ncontent-length: 0\r\n" % email.utils.formatdate(usegmt=True).encode()
                self.status, self.is_over = 400, True
            elif event.error_code != NO_ERROR:
                self.fail()

    def fail(self):
        self.is_over, self.error, self.to_send = True, self.error or (0 if self.is_over else -1), b""

    def as_bytes(self):
        return asking.as_bytes(self.method, self.status, self.error, self.fields, self.body, self.trailers)


def _fields(text):
    for line in text.split(b"\r\n")[:-1]:
        name, _, value = line.partition(b":")
        yield name.lower(), value.strip()


def _lines(headers):
    return b"".join(name + b": " + value + b"\r\n" for name, value in headers if not name.startswith(b":"))


def _head(scheme, method, target, fields, body):
    names = []
    authority, absolute = b"localhost", re.fullmatch(rb"(?i)(https?)://([^/?]*)(.*)", target)
    for name, value in _fields(fields):
        if name == b"host":
            authority = value
        elif name not in (b"keep-alive", b"proxy-connection"):
            names.append((name, value))
    if absolute:  # HTTP/2 has its parts in fields of their own
        scheme, authority, path = absolute[1].lower().decode(), absolute[2], absolute[3]
        target = path if path.startswith(b"/") else b"/" + path
    if body:
        names.append((b"content-length", b"%d" % len(body)))
    return [(b":method", method), (b":scheme", scheme.encode()), (b":authority", authority), (b":path", target), *names]


class Frame:
    def __init__(self, kind, flags, stream, payload):
        self.kind, self.flags, self.stream, self.payload = kind, flags, stream, payload

    @property
    def code(self):
        """Of RST_STREAM and GOAWAY."""
        return int.from_bytes(self.payload[:4] if self.kind == RST_STREAM else self.payload[4:8], "big")

    def __repr__(self):
        return f"<frame {self.kind} flags={self.flags} stream={self.stream} {self.payload[:40]!r}>"


def frame(kind, flags=0, stream=0, payload=b"", length=None):
    size = len(payload) if length is None else length
    return struct.pack(">I", size)[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


class Frames:
    """A connection of frames. Nothing is answered by itself, but SETTINGS at its begin."""

    def __init__(self, address, settings=b"", preface=PREFACE, timeout=30, raw=None, receive_buffer=None):
        if raw is None:
            raw = socket.socket()
            if receive_buffer:
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
            raw.settimeout(timeout)
            raw.connect(address)
        self.sock = raw
        self.sock.settimeout(timeout)
        self.encoder, self.decoder = hpack.Encoder(), hpack.Decoder()
        self._read = b""
        self.sock.sendall(preface + frame(SETTINGS, 0, 0, settings))

    def send(self, *frames):
        self.sock.sendall(b"".join(frames))

    def head(self, stream, path="/", method="GET", fields=(), end=True, scheme="http", authority="localhost", flags=END_HEADERS):
        """A HEADERS frame."""
        pseudo = [(":method", method), (":scheme", scheme), (":authority", authority), (":path", path)]
        return frame(HEADERS, flags | (END_STREAM if end else 0), stream, self.encoder.encode([*pseudo, *fields]))

    def receive(self):
        """The next frame; None: the connection ended."""
        while len(self._read) < 9 or len(self._read) < 9 + int.from_bytes(self._read[:3], "big"):
            try:
                data = self.sock.recv(65536)
            except ConnectionResetError:
                data = b""
            if not data:
                return None
            self._read += data
        size = int.from_bytes(self._read[:3], "big")
        one = Frame(self._read[3], self._read[4], int.from_bytes(self._read[5:9], "big") & 0x7fffffff, self._read[9:9 + size])
        self._read = self._read[9 + size:]
        return one

    @property
    def unread(self):
        """Bytes that were received and belong to no frame yet."""
        return len(self._read)

    def until(self, *kinds, stream=None):
        """The first frame of one of these types, perhaps of a stream; None: the connection ended."""
        while one := self.receive():
            if one.kind == HEADERS:
                one.fields = dict(self.decoder.decode(one.payload, raw=True)) if one.flags & END_HEADERS else {}
            if one.kind in kinds and stream in (None, one.stream):
                return one
        return None

    def answer(self, stream):
        """(status, body) of a response, or the code of RST_STREAM or GOAWAY; None: the connection ended."""
        status, body = 0, b""
        while one := self.until(HEADERS, DATA, RST_STREAM, GOAWAY):
            if one.kind == GOAWAY and one.code != NO_ERROR or one.kind == RST_STREAM and one.stream == stream:
                return one.code
            if one.stream != stream:
                continue
            if one.kind == HEADERS and b":status" in one.fields:
                status = int(one.fields[b":status"])
            elif one.kind == DATA:
                body += one.payload
            if one.flags & END_STREAM:
                return status, body
        return None

    def close(self):
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
