# SPDX-License-Identifier: Apache-2.0
"""A plugin asks a backend for a protocol by ALPN (RFC 7301), and gets a connection over which it is spoken, or none."""

import contextlib
import socket
import ssl
import threading

import pytest

from harness import certificates, secured
from harness.client import eventually
from harness.config import section
from harness.plugins import load

plugin = secured.each_plugin()


class Backend:
    """Notes what each connection agreed on, and how it ended: b"" is a close_notify."""

    def __init__(self, protocols):
        pair = certificates.issue("backend.test")
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(pair.chain, pair.key)
        if protocols:
            self.context.set_alpn_protocols(protocols)
        self.agreed, self.ends = [], []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                raw, _ = self.listener.accept()
                raw.settimeout(30)
                threading.Thread(target=self._serve, args=(raw,), daemon=True).start()

    def _serve(self, raw):
        with contextlib.suppress(OSError), raw, self.context.wrap_socket(raw, server_side=True) as secure:
            self.agreed.append(secure.selected_alpn_protocol())
            self.ends.append(secure.recv(1))


def asking(plugin, *asked):
    """A server with a path for each (name, port, protocol)."""
    lines = "\n".join(f"Match ^/{name}$ agrees {port} {plugin} {protocol}" for name, port, protocol in asked)
    return secured.reaching({"server": "Workers 1", "handlers": lines, "extra": {"plugins.load": load("agrees")}}, plugin)


@pytest.mark.parametrize("spoken", [["h2"], ["http/1.1", "h2"]])
def test_a_backend_that_agrees(start, plugin, spoken):
    with Backend(spoken) as backend:
        server = start(**asking(plugin, ("a", backend.port, "h2")))
        for _ in range(3):
            assert server.get("/a").body == b"agreed"
        assert eventually(lambda: backend.agreed == ["h2"])


@pytest.mark.parametrize("spoken", [["http/1.1"], []])
def test_a_backend_that_chooses_nothing_gets_no_byte(start, plugin, spoken):
    """RFC 7301 section 3.2: nobody is obliged to know of ALPN."""
    with Backend(spoken) as backend:
        server = start(**asking(plugin, ("a", backend.port, "h2")))
        answer = server.get("/a")
        assert answer.status == 502
        assert answer.body == b"127.0.0.1:%d: the backend does not speak h2 (ALPN)" % backend.port
        server.wait_for_log(f"{plugin}: handshake with a backend failed: it does not speak h2 .ALPN.")
        assert eventually(lambda: backend.ends == [b""])
        assert eventually(lambda: backend.agreed == [None])


def test_a_backend_that_refuses_by_alert(start, plugin):
    """no_application_protocol, as RFC 7301 section 3.2 has it, of servers that know what they speak."""
    backend = start(**secured.config(certificates.issue("backend.test").lines()))
    answer = start(**asking(plugin, ("a", backend.port, "h2"))).get("/a")
    assert answer.status == 502
    assert answer.body == b"127.0.0.1:%d: the backend does not speak h2 (ALPN)" % backend.port


@pytest.mark.parametrize("spoken, agreed", [(["h2", "http/1.1"], "http/1.1"), (["h2"], None), ([], None)])
def test_http_is_offered_where_nothing_is_asked(start, plugin, spoken, agreed):
    with Backend(spoken) as backend:
        assert start(**asking(plugin, ("a", backend.port, ""))).get("/a").body == b"agreed"
        assert eventually(lambda: backend.agreed == [agreed])


def test_each_connection_asks_for_its_own(start, plugin):
    """All of them share what a section comes to, in a worker of mbedtls even while they shake hands."""
    with Backend(["h2", "http/1.1", "mqtt"]) as backend:
        server = start(**asking(plugin, ("h2", backend.port, "h2"), ("mqtt", backend.port, "mqtt"), ("none", backend.port, "")))
        clients = [(protocol, server.connect()) for protocol in ["h2", "mqtt", "none", "mqtt", "h2", "none"]]
        for protocol, client in clients:
            client.send(f"GET /{protocol} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        for _, client in clients:
            assert client.response().body == b"agreed"
            client.close()
        assert eventually(lambda: set(backend.agreed) == {"h2", "mqtt", "http/1.1"})


def test_another_failure_keeps_its_name(start, plugin):
    with Backend(["h2"]) as backend:
        config = asking(plugin, ("a", backend.port, "h2"))
        config["extra"][f"plugins/{plugin}/{plugin}.conf"] = section(
            "TLS_BACKEND", f"CAFile {certificates.authority('Another CA').certificate}")
        assert start(**config).get("/a").body == b"127.0.0.1:%d: the TLS handshake failed" % backend.port
