# SPDX-License-Identifier: Apache-2.0
"""
What carries the bytes of the tests' connections. The tests of HTTP run over each: CARRIER in the environment says
which; without it, plain sockets.

    plain      TCP and Unix sockets
    tls        the plugin tls, on OpenSSL
    mbedtls    the plugin mbedtls
    memory     no socket at all: tests/memory/memory.c
    bytewise   the same, and each byte of a request arrives alone
    ask        no connection: requests from memory, by mk_server_ask_wait (tests/memory/asking.c)
    h2         the plugin http2, on TCP and Unix sockets
    h2tls      the same over TLS, agreed on by ALPN
"""

import os
import re
import socket

import pytest

from harness import asking, certificates, http2, memory, tls

PLAIN, MEMORY, SECURE, ASK = "plain", ("memory", "bytewise"), ("tls", "mbedtls"), "ask"
H2 = ("h2", "h2tls")
NAMES = (PLAIN, *SECURE, *MEMORY, ASK, *H2)

# Files about what a client on a connection sees of HTTP. All others are about plugins, the program, accepting, reloading or TLS
# itself, or have clients of their own.
HTTP_FILES = {f"test_{topic}.py" for topic in (
    "conditional content_types directories error_pages expect fair_turns half_close header_lines keepalive large_files "
    "lingering_close methods paths pipelining precompressed ranges redirects request_bodies request_refusals size_limits "
    "smuggling split_input static_files symlinks timeouts try_files userdir virtual_hosts websocket").split()}

# Files about what answers a request: a handler, a filter, a file, a backend.
ASKED_FILES = {f"test_{topic}.py" for topic in (
    "cgi compress conditional content_types directories dirlisting error_pages fastcgi fastcgi_scripts file large_files locations methods "
    "paths precompressed proxy proxy_balancers proxy_error_pages ranges redirects rewrite static_files symlinks try_files userdir "
    "virtual_hosts").split()}

# Files about what follows an upgrade, which a stream of HTTP/2 carries as well as a connection of HTTP/1.
UPGRADED_FILES = {f"test_{topic}.py" for topic in ("websocket websocket_deflate duda_websocket tunnels").split()}


def name():
    chosen = os.environ.get("CARRIER", PLAIN)
    assert chosen in NAMES, f"CARRIER={chosen}: there are {', '.join(NAMES)}"
    return chosen


def is_memory():
    return name() in MEMORY


def is_asked():
    return name() == ASK


def is_h2():
    return name() in H2


def is_by_request():
    """Does each request go on its own, so that tests of connections of HTTP/1 make no sense?"""
    return is_asked() or is_h2()


def has_pipes():
    """Does the server speak with its clients by its standard input and output?"""
    return is_memory() or is_asked()


def is_secure():
    return name() in SECURE or name() == "h2tls"


def is_of_http(file_name):
    return file_name in HTTP_FILES


def is_elsewhere(file_name):
    """Is a file of tests about something that the carrier does not change?"""
    if name() == PLAIN or not file_name.startswith("test_"):
        return False
    if is_h2() and file_name in UPGRADED_FILES:
        return False
    return file_name not in ASKED_FILES if is_by_request() else not is_of_http(file_name)


def leaves_out(item):
    """Does a test make no sense over this carrier? Its mark says why, or its file, which may have been named alone."""
    if name() == PLAIN:
        return False
    if is_elsewhere(item.path.name):
        return True
    marks = ["plain", *(["socket"] if has_pipes() else []), *(["connection"] if is_by_request() else [])]
    return any(item.get_closest_marker(mark) for mark in marks)


def hub(process):
    """Where the clients of a server in memory connect to; None over sockets."""
    return memory.Hub(process) if is_memory() else asking.Hub(process) if is_asked() else None


def environment():
    return {"MEMORY_PIECE": "1"} if name() == "bytewise" else {}


def configure(texts, plugin):
    """Let what a configuration's Listen lines say nothing of be carried so. plugin: what to load for a name."""
    if name() in (PLAIN, ASK):
        return
    if is_h2():
        load(texts, plugin, "http2")
        texts["monkey.conf"] = re.sub(r"(?m)^( *Listen [^#\n]*?)( h2)?$", r"\1 h2", texts["monkey.conf"])
    transport = "memory" if is_memory() else "tls" if is_secure() and is_h2() else name()
    if name() != "h2":
        configure_transport(texts, plugin, transport)


def load(texts, plugin, wanted):
    loaded = plugin(wanted)
    if not loaded:
        pytest.skip("this build has no such plugin")
    texts["plugins.load"] += f"    Load {loaded}\n"


def configure_transport(texts, plugin, transport):
    texts["monkey.conf"] += f"    TransportLayer {transport}\n"
    if is_memory():
        texts["plugins.load"] += "    Load memory\n"
        return
    load(texts, plugin, transport)
    lines = certificates.issue().lines().replace("\n", "\n    ")
    texts.setdefault(f"plugins/{transport}/{transport}.conf", f"[TLS]\n    {lines}\n")


def connect(address, timeout, receive_buffer=None, source=None):
    """address: (host, port), the path of a Unix socket, or a server in memory."""
    if isinstance(address, (memory.Hub, asking.Hub)):
        return address.connect(timeout)
    raw = _socket(address, timeout, receive_buffer, source)
    try:
        return over(raw)
    except BaseException:
        raw.close()
        raise


def over(raw):
    if name() == "h2":
        return http2.H2Socket(raw)
    if name() == "h2tls":
        context = certificates.trusting()
        context.set_alpn_protocols(["h2", "http/1.1"])
        secured = tls.TlsSocket(raw, context)
        assert secured.tls.selected_alpn_protocol() == "h2"
        return http2.H2Socket(secured, "https")
    return tls.TlsSocket(raw) if is_secure() else raw


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
