# SPDX-License-Identifier: Apache-2.0
"""A TLS client on a socket. What goes over the wire passes through here, so a test may cut, keep or spoil it."""

import errno
import socket
import ssl
import threading

from harness import certificates

CUT = "the peer ended without close_notify"


class TlsSocket:
    """
    Like a socket. An end without close_notify is a ConnectionResetError, as what came may have been cut off
    (RFC 8446 6.1); so shutdown says close_notify before it ends the sending side. One thread may send while another
    receives.
    """

    def __init__(self, raw, context=None, name="localhost", session=None, handshake=True):
        self.raw = raw
        self._machine, self._sending = threading.Lock(), threading.Lock()
        self._read = b""  # before close_notify was sent
        self._has_ended = False
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = (context or certificates.trusting()).wrap_bio(
            self._incoming, self._outgoing, server_hostname=name, session=session)
        if handshake:
            self.handshake()

    def to_send(self):
        """The records that are to be sent now; the caller does it."""
        with self._machine:
            return self._outgoing.read()

    def feed(self, data):
        """Bytes of the peer; b"" is its end."""
        with self._machine:
            if data:
                self._incoming.write(data)
            else:
                self._has_ended = True
                self._incoming.write_eof()

    def flush(self):
        """Not what another thread sends: it may have to wait until this one receives."""
        if self._sending.acquire(blocking=False):
            try:
                if data := self.to_send():
                    self.raw.sendall(data)
            finally:
                self._sending.release()

    def _work(self, work, *arguments):
        with self._machine:
            return work(*arguments)

    def _run(self, work, *arguments):
        """Let the TLS machine work to an end, with what it must read and write for that."""
        while True:
            try:
                result = self._work(work, *arguments)
                self.flush()
                return result
            except ssl.SSLWantReadError:
                self.flush()
                self.feed(self.raw.recv(65536))
            except ssl.SSLEOFError:
                raise ConnectionResetError(CUT) from None
            except ssl.SSLError as fault:
                if fault.reason == "UNEXPECTED_EOF_WHILE_READING":  # what OpenSSL 3 calls it
                    raise ConnectionResetError(CUT) from None
                self.flush()  # the alert
                raise

    def handshake(self):
        self._run(self.tls.do_handshake)

    def sendall(self, data):
        view = memoryview(data)
        with self._sending:
            while view:
                view = view[self._work(self.tls.write, view[:65536]):]
                self.raw.sendall(self.to_send())

    def _take(self, size):
        piece, self._read = self._read[:size], self._read[size:]
        return piece or self.tls.read(size)

    def recv(self, size):
        try:
            return self._run(self._take, size)
        except ssl.SSLZeroReturnError:
            return b""

    def _unwrap(self):
        """OpenSSL would look for the peer's close_notify, and take whatever else waits to be read for an error."""
        while waiting := self.tls.pending():
            self._read += self.tls.read(waiting)
        records = b"" if self._has_ended else self._incoming.read()
        try:
            self.tls.unwrap()
        except (ssl.SSLWantReadError, ssl.SSLSyscallError):
            pass
        except ssl.SSLError as fault:  # records, and the peer's end behind them
            if "APPLICATION_DATA_AFTER_CLOSE_NOTIFY" not in str(fault):
                raise
        finally:
            if records:
                self._incoming.write(records)

    def say_end(self):
        """close_notify; what comes can still be read."""
        self._work(self._unwrap)
        with self._sending:  # behind what another thread may be sending
            self.raw.sendall(self.to_send())

    def shutdown(self, _how=socket.SHUT_WR):
        self.say_end()
        try:
            self.raw.shutdown(socket.SHUT_WR)
        except OSError as error:
            if error.errno != errno.ENOTCONN:  # the server has heard the end, and closed
                raise

    def __getattr__(self, name):
        """All else is a matter of the socket: timeouts, options, close."""
        return getattr(self.raw, name)
