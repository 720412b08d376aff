# SPDX-License-Identifier: Apache-2.0
"""HTTP/1.1 responses, read strictly: anything RFC 9112 does not allow is an AssertionError."""

import email.utils
import io
import re

TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
SINGLE_FIELDS = ("content-length", "content-type", "content-range", "date", "etag", "last-modified",
                 "location", "server", "transfer-encoding", "age")


class Response:
    """One response. Field names in any case; a field asked for by `header` must not be repeated."""

    def __init__(self, status, reason, version, fields):
        self.status = status
        self.reason = reason
        self.version = version
        self.fields = fields
        self.body = b""
        self.interim = []    # 1xx responses that came before this one
        self.framing = None  # "none", "length", "chunked" or "close"
        self.trailers = []

    def all(self, name):
        return [value for field, value in self.fields if field.lower() == name.lower()]

    def header(self, name, default=None):
        values = self.all(name)
        assert len(values) <= 1, f"{name} was sent {len(values)} times: {values}"
        return values[0] if values else default

    def tokens(self, name):
        """The members of a comma-separated list, lower case."""
        return [member.strip().lower() for value in self.all(name) for member in value.split(",")]

    def date(self, name):
        """The value of a date field in seconds; it must be an IMF-fixdate (RFC 9110 5.6.7)."""
        value = self.header(name)
        assert re.fullmatch(r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT", value), value
        return int(email.utils.parsedate_to_datetime(value).timestamp())

    @property
    def text(self):
        return self.body.decode()

    @property
    def keeps_connection(self):
        """What the response says about the connection: RFC 9112 9.3."""
        if "close" in self.tokens("connection"):
            return False
        return self.version == "1.1" or "keep-alive" in self.tokens("connection")

    def __repr__(self):
        return f"<{self.status} {self.reason}: {self.fields} {self.body[:200]!r}>"


class Stream:
    """Bytes that arrive piece by piece. `receive()` gives the next piece, b"" at the end."""

    def __init__(self, receive):
        self._receive = receive
        self._buffer = bytearray()  # gives away its first bytes without moving the others

    def _more(self):
        piece = self._receive()
        self._buffer += piece
        return bool(piece)

    def _take(self, count):
        piece = bytes(self._buffer[:count])
        del self._buffer[:count]
        return piece

    def has_some(self):
        """Were bytes received that nobody has taken?"""
        return bool(self._buffer)

    def line(self):
        """A line without its CR LF; None when the stream ends before its first byte."""
        while b"\n" not in self._buffer:
            if not self._more():
                assert not self._buffer, f"stream ends within a line: {self._buffer!r}"
                return None
        line = self._take(self._buffer.index(b"\n") + 1)
        assert line.endswith(b"\r\n"), f"line does not end in CR LF: {line!r}"
        return line[:-2]

    def exactly(self, count):
        pieces = []
        while count > 0:
            if not self._buffer:
                assert self._more(), f"stream ends {count} bytes early"
            piece = self._take(count)
            pieces.append(piece)
            count -= len(piece)
        return b"".join(pieces)

    def rest(self):
        pieces = [self._take(len(self._buffer))]
        while self._more():
            pieces.append(self._take(len(self._buffer)))
        return b"".join(pieces)

    def some(self):
        """What is there, or the next piece that comes; b"" at the end."""
        return self._take(len(self._buffer)) or self._receive()

    def at_end(self):
        return not self._buffer and not self._more()


def read_response(stream, method="GET"):
    """Read the final response to a request of this method with whatever 1xx came before it."""
    interim = []
    while True:
        response = read_head(stream)
        if response.status >= 200:
            break
        assert response.status != 101, "protocol switched without being asked"
        interim.append(response)
    response.interim = interim
    _read_body(response, stream, method)
    return response


def read_head(stream):
    start = stream.line()
    assert start is not None, "connection closed without a response"
    match = re.fullmatch(rb"HTTP/1\.([01]) ([1-5]\d\d) ([\t -~]*)", start)
    assert match, f"not a status line: {start!r}"
    response = Response(int(match[2]), match[3].decode(), "1." + match[1].decode(), _read_fields(stream))
    for name in SINGLE_FIELDS:
        response.header(name)
    if 200 <= response.status < 500:
        assert response.header("Date"), "a response without Date (RFC 9110 6.6.1)"
    return response


def _read_fields(stream):
    fields = []
    while True:
        line = stream.line()
        assert line is not None, "stream ends within the fields"
        if not line:
            return fields
        name, colon, value = line.partition(b":")
        assert colon and TOKEN.match(name), f"bad field line {line!r}"
        assert not re.search(rb"[\x00-\x08\x0a-\x1f\x7f]", value), f"control byte in {line!r}"
        fields.append((name.decode(), value.strip(b" \t").decode("latin-1")))


def _read_body(response, stream, method):
    """Framing as RFC 9112 6.3 has it, for a client."""
    coding, length = response.header("Transfer-Encoding"), response.header("Content-Length")
    assert not (coding and length), "Content-Length together with Transfer-Encoding"
    assert length is None or re.fullmatch(r"\d+", length), f"Content-Length: {length!r}"
    if method == "HEAD" or response.status in (204, 304):
        if response.status == 204:
            assert coding is None and length is None, "framing on a 204 (RFC 9110 8.6)"
        response.framing = "none"
    elif coding is not None:
        assert coding.lower() == "chunked", coding
        assert response.version == "1.1", "chunked in HTTP/1.0"
        response.framing = "chunked"
        response.body = _read_chunks(response, stream)
    elif length is not None:
        response.framing = "length"
        response.body = stream.exactly(int(length))
    else:
        assert not response.keeps_connection, "no length, yet the connection is to be kept"
        response.framing = "close"
        response.body = stream.rest()


def _read_chunks(response, stream):
    pieces = []
    while True:
        size = stream.line()
        assert size is not None and re.fullmatch(rb"[0-9a-fA-F]{1,16}", size), f"chunk size {size!r}"
        if int(size, 16) == 0:
            response.trailers = _read_fields(stream)
            return b"".join(pieces)
        pieces.append(stream.exactly(int(size, 16)))
        assert stream.exactly(2) == b"\r\n", "chunk data is not followed by CR LF"


def parse(data, methods=("GET",)):
    """All responses in data: exactly one for each method, and not a byte left."""
    stream = Stream(io.BytesIO(data).read)
    responses = [read_response(stream, method) for method in methods]
    rest = stream.rest()
    assert not rest, f"bytes after the last response: {rest[:200]!r}"
    return responses


def parse_one(data, method="GET"):
    return parse(data, [method])[0]


def is_cut_off(answer):
    """Did a successful answer begin that breaks off before its end? So must end what cannot be finished."""
    if not answer.startswith(b"HTTP/1.1 200"):
        return False
    try:
        parse_one(answer)
    except AssertionError:
        return True
    return False


def request(target="/", method="GET", headers=None, body=b"", version="1.1", host="localhost"):
    """The bytes of a request. headers: dict or list of pairs; Content-Length is added to a body without one."""
    pairs = list(headers.items() if isinstance(headers, dict) else headers or [])
    names = [name.lower() for name, _ in pairs]
    if host is not None and "host" not in names:
        pairs.insert(0, ("Host", host))
    if body and "content-length" not in names and "transfer-encoding" not in names:
        pairs.append(("Content-Length", str(len(body))))
    lines = [f"{method} {target} HTTP/{version}"] + [f"{name}: {value}" for name, value in pairs]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def chunk(data, extension=""):
    return b"%x%s\r\n%s\r\n" % (len(data), extension.encode(), data)


def chunked(*pieces):
    """A whole chunked body."""
    return b"".join(chunk(piece) for piece in pieces) + b"0\r\n\r\n"
