# SPDX-License-Identifier: Apache-2.0
"""
An answer that ends with its connection looks whole behind close_notify, so one that is cut ends without it
(RFC 8446 section 6.1).
"""

import contextlib
import socket
import ssl
import threading

import pytest

from harness import certificates, secured
from harness.config import section

plugin = secured.each_plugin("tls")


@contextlib.contextmanager
def backend(answer):
    """One answer for one connection, which then ends."""
    def serve():
        with contextlib.suppress(OSError):
            raw, _ = listener.accept()
            with raw:
                raw.recv(65536)
                raw.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
    thread.join(5)


def read_all(raw):
    data = b""
    while piece := raw.recv(65536):
        data += piece
    return data


@pytest.mark.parametrize("version", secured.BOTH)
@pytest.mark.parametrize("is_whole", [True, False])
def test_answer_until_close(start, version, is_whole):
    answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nbehind\r\n" + (b"0\r\n\r\n" if is_whole else b"")
    with backend(answer) as port:
        config = secured.config(certificates.issue().lines())
        config["extra"]["plugins.load"] = section("PLUGINS", "Load tls\nLoad proxy_reverse")
        config["extra"]["plugins/proxy_reverse/proxy_reverse.conf"] = section(
            "PROXY_ENTRY", f"ServerList 127.0.0.1:{port}\nMatch /\nAttemptsCount 1\nOfflineTimeOut 0")
        server = start(**config)
        context = certificates.trusting(version=version)
        with certificates.connected(("127.0.0.1", server.port), context, suppress_ragged_eofs=False) as raw:
            raw.sendall(b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n")
            if is_whole:
                assert read_all(raw).endswith(b"\r\n\r\nbehind")
            else:
                with pytest.raises((ssl.SSLEOFError, ConnectionResetError)):
                    read_all(raw)
