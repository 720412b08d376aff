# SPDX-License-Identifier: Apache-2.0
"""
What carries the bytes of the tests' connections. The tests of HTTP run over each: CARRIER in the environment says
which; without it, plain sockets.

    plain      TCP and Unix sockets
    tls        the plugin tls, on OpenSSL
    mbedtls    the plugin mbedtls
    memory     no socket at all: tests/memory/memory.c
    bytewise   the same, and each byte of a request arrives alone
"""

import os
import socket

import pytest

from harness import certificates, memory, tls

PLAIN, MEMORY, SECURE = "plain", ("memory", "bytewise"), ("tls", "mbedtls")
NAMES = (PLAIN, *SECURE, *MEMORY)

# Files about what a client on a connection sees of HTTP. All others are about plugins, the program, accepting, reloading or TLS
# itself, or have clients of their own.
HTTP_FILES = {f"test_{topic}.py" for topic in (
    "conditional content_types directories error_pages expect fair_turns half_close header_lines keepalive large_files "
    "lingering_close methods paths pipelining precompressed ranges redirects request_bodies request_refusals size_limits "
    "smuggling split_input static_files symlinks timeouts try_files userdir virtual_hosts").split()}


def name():
    chosen = os.environ.get("CARRIER", PLAIN)
    assert chosen in NAMES, f"CARRIER={chosen}: there are {', '.join(NAMES)}"
    return chosen


def is_memory():
    return name() in MEMORY


def is_secure():
    return name() in SECURE


def is_of_http(file_name):
    return file_name in HTTP_FILES


def is_elsewhere(file_name):
    """Is a file of tests about something that the carrier does not change?"""
    return name() != PLAIN and file_name.startswith("test_") and not is_of_http(file_name)


def leaves_out(item):
    """Does a test make no sense over this carrier? Its mark says why."""
    if name() == PLAIN:
        return False
    return bool(item.get_closest_marker("plain") or (is_memory() and item.get_closest_marker("socket")))


def environment():
    return {"MEMORY_PIECE": "1"} if name() == "bytewise" else {}


def configure(texts, plugin):
    """Let what a configuration's Listen lines say nothing of be carried so. plugin: what to load for a name."""
    if name() == PLAIN:
        return
    texts["monkey.conf"] += f"    TransportLayer {'memory' if is_memory() else name()}\n"
    if is_memory():
        texts["plugins.load"] += "    Load memory\n"
        return
    loaded = plugin(name())
    if not loaded:
        pytest.skip("this build has no such plugin")
    texts["plugins.load"] += f"    Load {loaded}\n"
    lines = certificates.issue().lines().replace("\n", "\n    ")
    texts.setdefault(f"plugins/{name()}/{name()}.conf", f"[TLS]\n    {lines}\n")


def connect(address, timeout, receive_buffer=None, source=None):
    """address: (host, port), the path of a Unix socket, or a server in memory."""
    if isinstance(address, memory.Hub):
        return address.connect(timeout)
    raw = _socket(address, timeout, receive_buffer, source)
    if not is_secure():
        return raw
    try:
        return tls.TlsSocket(raw)
    except BaseException:
        raw.close()
        raise


def _socket(address, timeout, receive_buffer, source):
    family = socket.AF_UNIX if isinstance(address, str) else (
        socket.AF_INET6 if ":" in address[0] else socket.AF_INET)
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.settimeout(timeout)
    if receive_buffer:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    if source:
        sock.bind((source, 0))
    try:
        sock.connect(address)
    except OSError:
        sock.close()
        raise
    return sock
