# SPDX-License-Identifier: Apache-2.0
"""A proxy before backends that speak HTTP/2, and its clients of both protocols."""

import contextlib

import pytest

from harness import executable, process
from harness.backend import configured
from harness.http2 import Frames, H2Socket

ONE = "Workers 1\n"
PLAIN = pytest.mark.skipif(process.is_sanitized(), reason="a sanitizer keeps freed memory")


def front(entry, *backends, server=ONE, plugins=(), **kwargs):
    """What start() takes for a proxy before them, whose clients may speak HTTP/2."""
    if not executable.plugin("http2"):
        pytest.skip("this build has no such plugin")
    places = [b if isinstance(b, str) else b.address for b in backends]
    return configured(entry, *places[:-1], f"{places[-1]} h2c", plugins=("http2", *plugins),
                      server=f"Listen 127.0.0.1:0 h2\n{server}", **kwargs)


@contextlib.contextmanager
def client(server, protocol="h1"):
    with server.connect() as connection:
        if protocol == "h2":
            connection.sock = H2Socket(connection.sock)
        yield connection


def frames(server, **kwargs):
    return Frames(("127.0.0.1", server.port), **kwargs)


@pytest.fixture(params=["h1", "h2"])
def protocol(request):
    """Of clients."""
    return request.param
