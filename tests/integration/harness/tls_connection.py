# SPDX-License-Identifier: Apache-2.0
"""Connections of HTTP whose TLS is in the test's hands. Servers for them: harness/secured.py."""

import ssl

import pytest

from harness import tls
from harness.client import Connection


class TlsConnection(Connection):
    """handshake=False: the test does it, or something else."""

    def __init__(self, address, context=None, name="localhost", session=None, handshake=True, **kwargs):
        super().__init__(address, **kwargs)
        self.raw = self.sock
        try:
            self.sock = tls.TlsSocket(self.raw, context, name, session, handshake)
        except BaseException:
            self.raw.close()
            raise


def connect(server, context=None, **kwargs):
    return TlsConnection(("127.0.0.1", server.port), context, **kwargs)


def get(server, target="/", context=None, name="localhost", **kwargs):
    """One answer on a connection of its own, which must end as it should."""
    with connect(server, context, name=name) as connection:
        response = connection.request(target, headers={"Connection": "close"}, **kwargs)
        assert connection.is_closed()
        return response


def client_hello(context=None, name="localhost", session=None):
    """The first bytes of a client."""
    sock = tls.TlsSocket(None, context, name, session, handshake=False)
    with pytest.raises(ssl.SSLWantReadError):
        sock.tls.do_handshake()
    return sock.to_send()


def alerts(data):
    """The alerts in the clear in what a server said: (level, description) of each (RFC 8446 6)."""
    found = []
    while len(data) >= 5:
        kind, length = data[0], int.from_bytes(data[3:5], "big")
        if kind == 21 and length == 2:
            found.append((data[5], data[6]))
        data = data[5 + length:]
    return found
