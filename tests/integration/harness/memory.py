# SPDX-License-Identifier: Apache-2.0
"""The client's side of tests/memory/memory.c: connections as frames on the pipes of a process."""

import itertools
import os
import select
import struct
import threading
import time

HEAD = struct.Struct("=c3xII")
PIECE = 1 << 19


class Hub:
    """All connections to one server."""

    def __init__(self, process):
        self._in, self._out = process.stdin, process.stdout
        self._numbers = itertools.count(1)
        self._came = {}  # number -> [bytes that came, whether that was all]
        self._buffer = b""
        self._lock = threading.RLock()

    def connect(self, timeout):
        with self._lock:
            number = next(self._numbers)
            self._came[number] = [bytearray(), False]
        self.send(b"O", number)
        return MemorySocket(self, number, timeout)

    def send(self, kind, number, data=b""):
        with self._lock:
            self._in.write(HEAD.pack(kind, number, len(data)) + data)
            self._in.flush()

    def receive(self, number, size, timeout):
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            with self._lock:
                came, ended = self._came[number]
                if came or ended:
                    piece = bytes(came[:size])
                    del came[:size]
                    return piece
            left = max(0, deadline - time.monotonic()) if deadline else None
            if select.select([self._out], [], [], 0.05 if left is None else min(left, 0.05))[0]:
                with self._lock:  # another thread may have been here first
                    self._pump()
            if left == 0:
                raise TimeoutError("timed out")

    def _pump(self):
        """Sort what the server said to the connections."""
        if not select.select([self._out], [], [], 0)[0]:
            return
        piece = os.read(self._out.fileno(), 1 << 20)
        if not piece:
            raise ConnectionResetError("the server ended")
        frames, at = self._buffer + piece, 0
        while len(frames) >= at + HEAD.size:
            kind, number, length = HEAD.unpack_from(frames, at)
            end = at + HEAD.size + length
            if len(frames) < end:
                break
            connection = self._came.get(number)  # none: closed by us
            if connection:
                connection[0] += frames[at + HEAD.size:end]
                connection[1] = connection[1] or kind == b"E"
            at = end
        self._buffer = frames[at:]

    def leave(self, number):
        with self._lock:
            if self._came.pop(number, None):
                try:
                    self.send(b"G", number)
                except (BrokenPipeError, ValueError):
                    pass  # the server ended first


class MemorySocket:
    """Like a socket, as far as clients need it."""

    def __init__(self, hub, number, timeout):
        self._hub, self._number, self._timeout = hub, number, timeout

    def settimeout(self, timeout):
        self._timeout = timeout

    def setsockopt(self, *_):
        pass

    def sendall(self, data):
        for start in range(0, len(data), PIECE):
            self._hub.send(b"D", self._number, bytes(data[start:start + PIECE]))

    def recv(self, size):
        return self._hub.receive(self._number, size, self._timeout)

    def shutdown(self, _how):
        self._hub.send(b"E", self._number)

    def close(self):
        self._hub.leave(self._number)
