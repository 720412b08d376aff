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

import fnmatch
import os
import socket

import pytest

from harness import certificates, memory, tls

PLAIN, MEMORY, SECURE = "plain", ("memory", "bytewise"), ("tls", "mbedtls")
NAMES = (PLAIN, *SECURE, *MEMORY)

# Files that are about something else than what a client on a connection sees.
ELSEWHERE = {
    "test_program_*": "options, processes and files of the program",
    "test_config_*": "configuration",
    "test_plugin*": "the host of plugins",
    "test_example_plugins.py": "the host of plugins",
    "test_probe.py": "the host of plugins",
    "test_tunnels.py": "the host of plugins",
    "test_cheetah*": "a plugin with a socket of its own",
    "test_logger*": "a plugin that sees no transport",
    "test_dirlisting*": "a plugin that sees no transport",
    "test_mandril.py": "a plugin that sees no transport",
    "test_auth.py": "a plugin that sees no transport",
    "test_cgi*": "a plugin that sees no transport",
    "test_fastcgi*": "a plugin that sees no transport",
    "test_proxy*": "a plugin that sees no transport, or a header before it begins",
    "test_php*": "applications behind a plugin that sees no transport",
    "test_wsgi*": "applications behind a plugin that sees no transport",
    "test_faults_*": "what the system may do to the process",
    "test_failing_allocations.py": "what the system may do to the process",
    "test_refused_calls.py": "what the system may do to the process",
    "test_capacity.py": "accepting, before there is a transport",
    "test_crowd.py": "accepting, before there is a transport",
    "test_schedulers.py": "accepting, before there is a transport",
    "test_fast_open.py": "accepting, before there is a transport",
    "test_listen.py": "accepting, before there is a transport",
    "test_transports.py": "another transport",
    "test_tls*": "TLS is what they are about",
    "test_mbedtls*": "TLS is what they are about",
    "test_reload*": "the process; TLS: test_tls_reload.py",
    "test_real_clients.py": "clients of their own; TLS: test_tls_clients.py",
    "test_browser.py": "clients of their own; TLS: test_tls_clients.py",
    "test_harness.py": "the harness",
}


def name():
    chosen = os.environ.get("CARRIER", PLAIN)
    assert chosen in NAMES, f"CARRIER={chosen}: there are {', '.join(NAMES)}"
    return chosen


def is_memory():
    return name() in MEMORY


def is_secure():
    return name() in SECURE


def is_elsewhere(file_name):
    """Is a file of tests about something that the carrier does not change?"""
    return name() != PLAIN and any(fnmatch.fnmatch(file_name, pattern) for pattern in ELSEWHERE)


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
