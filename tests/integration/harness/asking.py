# SPDX-License-Identifier: Apache-2.0
"""
The asker's side of tests/memory/asking.c: requests from memory. What a test sends is read as HTTP/1.1 and asked without
what frames a message; an answer becomes the bytes that a connection would have carried.
"""

import http.client
import itertools
import re
import struct
import threading
import time

from harness.http import chunk

FRAME = struct.Struct("=Iii4I")
FRAMING = (b"connection", b"content-length", b"transfer-encoding")
MK_E_INVALID = -13
NOT_ASKED = (b"expect", b"upgrade", b"te", b"trailer")


class CannotBeAsked(AssertionError):
    """Such a test needs the mark `connection`."""


class Hub:
    """All questions to one server."""

    def __init__(self, process):
        self._in, self._out = process.stdin, process.stdout
        self._numbers = itertools.count(1)
        self._answers = {}  # number -> (status, error, fields, body, trailers)
        self._came = threading.Condition()
        self._sending = threading.Lock()
        self._ended = False
        threading.Thread(target=self._read, daemon=True).start()

    def connect(self, timeout):
        return AskSocket(self, timeout)

    def ask(self, method, target, fields, body):
        number = next(self._numbers)
        parts = (method, target, fields, body)
        with self._sending:
            self._in.write(FRAME.pack(number, 0, 0, *map(len, parts)) + b"".join(parts))
            self._in.flush()
        return number

    def answer(self, number, timeout):
        with self._came:
            if not self._came.wait_for(lambda: number in self._answers or self._ended, timeout):
                raise TimeoutError("timed out")
            if number not in self._answers:
                raise ConnectionResetError("the server ended")
            return self._answers.pop(number)

    def _read(self):
        while True:
            head = self._out.read(FRAME.size)
            if len(head) < FRAME.size:
                break
            number, status, error, *lengths = FRAME.unpack(head)
            parts = [self._out.read(length) for length in lengths[:3]]
            with self._came:
                self._answers[number] = (status, error, *parts)
                self._came.notify_all()
        with self._came:
            self._ended = True
            self._came.notify_all()


class AskSocket:
    """Like a socket, as far as clients need it that send whole requests."""

    def __init__(self, hub, timeout):
        self._hub, self._timeout = hub, timeout
        self._sent, self._came = b"", b""
        self._waiting = []  # questions that were sent; each is asked when the one before it has its answer
        self._asked = None  # the number of the question under way, its method, and is it the last?
        self._ended = False

    def settimeout(self, timeout):
        self._timeout = timeout

    def setsockopt(self, *_):
        pass

    def sendall(self, data):
        self._sent += data
        while question := cut_off(self._sent):
            *question, self._sent, is_last = question
            self._waiting.append((question, is_last))
        self._ask_next()

    def _ask_next(self):
        if self._waiting and not self._asked and not self._ended:
            question, is_last = self._waiting.pop(0)
            self._asked = self._hub.ask(*question), question[0], is_last

    def recv(self, size):
        if not self._came and not self._ended and self._asked:
            number, method, is_last = self._asked
            self._came, is_whole = as_bytes(method, *self._hub.answer(number, self._timeout))
            self._asked, self._ended = None, is_last or not is_whole
            self._ask_next()
        if not self._came and not self._ended:
            if self._sent:
                raise CannotBeAsked(f"no whole request: {self._sent[:200]!r}")
            time.sleep(self._timeout or 0)
            raise TimeoutError("timed out")
        piece, self._came = self._came[:size], self._came[size:]
        return piece

    def shutdown(self, _how):
        pass

    def close(self):
        pass


def cut_off(data):
    """The first request in data: method, target, fields, body, what follows it, is it the last; None: not whole yet."""
    head, end, rest = data.partition(b"\r\n\r\n")
    if not end:
        return None
    line, _, text = head.partition(b"\r\n")
    match = re.fullmatch(rb"([^ ]*) (.*) HTTP/1\.1", line)
    if not match:
        raise CannotBeAsked(f"not a request line of HTTP/1.1: {line!r}")
    lines = text.split(b"\r\n") if text else []
    values = {name: value.strip() for name, _, value in (field.lower().partition(b":") for field in lines)}
    if any(name in values for name in NOT_ASKED):
        raise CannotBeAsked(f"a field of connections: {text!r}")
    body, rest = _cut_off_body(values, rest)
    if body is None:
        return None
    fields = b"".join(field + b"\r\n" for field in lines if field.lower().partition(b":")[0] not in FRAMING)
    return match[1], match[2], fields, body, rest, values.get(b"connection") == b"close"


def _cut_off_body(values, rest):
    if b"transfer-encoding" in values:
        return _cut_off_chunks(rest)
    size = values.get(b"content-length", b"0")
    if not size.isdigit():
        raise CannotBeAsked(f"a length: {size!r}")
    return (rest[:int(size)], rest[int(size):]) if len(rest) >= int(size) else (None, rest)


def _cut_off_chunks(rest):
    pieces = []
    while True:
        line, end, after = rest.partition(b"\r\n")
        if not end:
            return None, rest
        size = int(line.partition(b";")[0], 16)
        if len(after) < size + 2:
            return None, rest
        if size == 0:
            if after[:2] != b"\r\n":
                raise CannotBeAsked("trailers of a request")
            return b"".join(pieces), after[2:]
        pieces.append(after[:size])
        rest = after[size + 2:]


def as_bytes(method, status, error, fields, body, trailers):
    """What a connection would have carried, and is it whole?"""
    if status == 0:
        if error == MK_E_INVALID:
            raise CannotBeAsked("the question is malformed")
        return b"", False
    has_length = re.search(rb"(?im)^content-length:", fields) or status in (204, 304)
    fields += b"" if has_length else b"Transfer-Encoding: chunked\r\n"
    head = b"HTTP/1.1 %d %s\r\n" % (status, http.client.responses.get(status, "").encode()) + fields + b"\r\n"
    if has_length or method == b"HEAD":
        return head + body, error == 0
    end = b"0\r\n" + trailers + b"\r\n" if error == 0 else b""
    return head + (chunk(body) if body else b"") + end, error == 0
