# SPDX-License-Identifier: Apache-2.0
"""TLS towards backends: who they are is verified as [TLS_BACKEND] says, and an answer that was cut is known to be."""

import contextlib
import socket
import ssl
import threading

import pytest

from harness import certificates, secured
from harness.config import section

plugin = secured.each_plugin()

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nbehind"
UNTIL_CLOSE = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nbehind"


class SecureBackend:
    """Answers each connection's requests, and notes what was asked for by name."""

    def __init__(self, pair, answer=ANSWER, says_end=True, wants_client=False):
        self.answer, self.says_end, self.names, self.clients = answer, says_end, [], []
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(pair.chain, pair.key)
        self.context.set_alpn_protocols(["http/1.1"])
        self.context.sni_callback = lambda sock, name, context: self.names.append(name)
        if wants_client:
            self.context.load_verify_locations(certificates.authority().certificate)
            self.context.verify_mode = ssl.CERT_REQUIRED
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.connections = []
        self.threads = [threading.Thread(target=self._accept, daemon=True)]
        self.threads[0].start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for secure in self.connections:
            with contextlib.suppress(OSError):
                secure.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join(5)

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                raw, _ = self.listener.accept()
                raw.settimeout(30)
                self.threads.append(threading.Thread(target=self._serve, args=(raw,), daemon=True))
                self.threads[-1].start()

    def _serve(self, raw):
        with contextlib.suppress(OSError), raw, self.context.wrap_socket(raw, server_side=True) as secure:
            self.connections.append(secure)
            self.clients.append(secure.getpeercert())
            while b"\r\n\r\n" in secure.recv(65536):
                secure.sendall(self.answer)
                if self.answer is UNTIL_CLOSE:
                    if self.says_end:
                        secure.unwrap()
                    return


def proxied(backend, settings="", more="", plugin=None):
    """A server before it. settings: lines of [TLS_BACKEND]."""
    plugin = plugin or secured.CHOSEN[-1]
    files = {"plugins.load": section("PLUGINS", f"Load {plugin}\nLoad proxy_reverse"),
             "plugins/proxy_reverse/proxy_reverse.conf": section(
                 "PROXY_ENTRY", f"ServerList 127.0.0.1:{backend.port}\nMatch /\nTransport {plugin}\nAttemptsCount 1\n"
                                f"OfflineTimeOut 0\n{more}")}
    if settings:
        files[f"plugins/{plugin}/{plugin}.conf"] = "".join(section("TLS_BACKEND", lines) for lines in settings.split("---\n"))
    return {"server": "Listen 127.0.0.1:0", "extra": files}


def trusted():
    return f"CAFile {certificates.authority().certificate}"


NAMED = "ServerName backend.test"


def test_verified_by_its_name(start):
    with SecureBackend(certificates.issue("backend.test")) as backend:
        server = start(**proxied(backend, trusted(), NAMED))
        for _ in range(3):
            assert server.get("/").body == b"behind"
        assert set(backend.names) == {"backend.test"}


def test_a_dot_behind_its_name_is_for_resolvers(start):
    """Neither hellos nor certificates have it, nor does Backend: RFC 6066 section 3."""
    with SecureBackend(certificates.issue("backend.test")) as backend:
        server = start(**proxied(backend, f"Backend backend.test\n{trusted()}", NAMED + "."))
        assert server.get("/").body == b"behind"
        assert set(backend.names) == {"backend.test"}


@pytest.mark.openssl
def test_verified_by_its_address(start):
    """No name goes into the client hello then: RFC 6066 section 3."""
    with SecureBackend(certificates.issue("127.0.0.1")) as backend:
        server = start(**proxied(backend, trusted()))
        assert server.get("/").body == b"behind"
        assert set(backend.names) == {None}


@pytest.mark.openssl
@pytest.mark.parametrize("workers", [1, 2])
def test_verified_by_the_systems_authorities(start, workers):
    """They are read when the first connection needs them; OpenSSL's own variable says here which they are."""
    with SecureBackend(certificates.issue("backend.test")) as backend:
        config = proxied(backend, "", NAMED)
        config["server"] += f"\nWorkers {workers}"
        server = start(env={"SSL_CERT_FILE": str(certificates.authority().certificate)}, **config)
        for _ in range(4):
            with server.connect() as client:
                assert client.request("/").body == b"behind"


@pytest.mark.parametrize("pair, settings, reason", [
    (lambda: certificates.issue("other.test"), trusted, "hostname mismatch"),
    (lambda: certificates.expired("backend.test"), trusted, "certificate has expired"),
    (lambda: certificates.issue("backend.test"), lambda: f"CAFile {certificates.authority('Another CA').certificate}",
     "unable to get local issuer certificate"),
    (lambda: certificates.issue("backend.test"), str, "unable to get local issuer certificate")])
def test_who_is_somebody_else_gets_no_request(start, pair, settings, reason, plugin):
    with SecureBackend(pair()) as backend:
        server = start(**proxied(backend, settings(), NAMED))
        assert server.get("/").status == 502
        server.wait_for_log(f"handshake with a backend failed: {reason if plugin == 'tls' else 'The certificate'}")
        assert not backend.clients


def test_kept_connections_do_not_outlive_what_they_were_verified_by(start):
    with SecureBackend(certificates.issue("other.test")) as backend:
        server = start(**proxied(backend, "Verify off", NAMED))
        assert server.get("/").body == b"behind"
        server.reload(**proxied(backend, trusted(), NAMED))
        assert server.get("/").status == 502


def test_without_verification(start):
    with SecureBackend(certificates.expired("other.test")) as backend:
        assert start(**proxied(backend, "Verify off", NAMED)).get("/").body == b"behind"


@pytest.mark.parametrize("lines", [
    "Backend *.test\n{ca}\n---\nVerify on", "Backend other.test backend.test\n{ca}", "Backend b.example\nVerify on\n---\n{ca}"])
def test_settings_of_a_name(start, lines):
    with SecureBackend(certificates.issue("backend.test")) as backend:
        server = start(**proxied(backend, lines.format(ca=trusted()), NAMED))
        assert server.get("/").body == b"behind"


def test_shows_a_certificate(start):
    client = certificates.client()
    with SecureBackend(certificates.issue("backend.test"), wants_client=True) as backend:
        server = start(**proxied(backend, f"{trusted()}\nCertificateFile {client.certificate}\nKeyFile {client.key}", NAMED))
        assert server.get("/").body == b"behind"
        assert ((("organizationName", "Tests"),) in backend.clients[0]["subject"])


@pytest.mark.parametrize("says_end", [True, False])
def test_an_answer_that_was_cut_is_not_passed_on_as_whole(start, says_end):
    """It ends with the connection: only close_notify tells that nobody on the way ended it (RFC 9112 section 9.8)."""
    with SecureBackend(certificates.issue("backend.test"), UNTIL_CLOSE, says_end) as backend:
        answer = start(**proxied(backend, trusted(), NAMED)).raw_until_cut(
            b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        assert answer.endswith(b"0\r\n\r\n") == says_end


@pytest.mark.parametrize("settings, sentence", [
    ("CAFile /nowhere/ca.pem", "CAFile: /nowhere/ca.pem: not found"), ("Backend *x", 'Backend: "*x" is neither a name nor'),
    ("KeyFile /nowhere/key.pem", "needs CertificateFile and KeyFile, or neither"),
    ("Verify on\n---\nVerify off", "another [TLS_BACKEND] without Backend")])
def test_settings_that_cannot_work(start, settings, sentence):
    with SecureBackend(certificates.issue("backend.test")) as backend:
        server = start(**proxied(backend, settings), wait=False)
        assert server.expect_exit() != 0
        assert sentence in server.log()


def test_a_backend_that_speaks_no_tls(start):
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            with contextlib.suppress(OSError):
                raw, _ = listener.accept()
                with raw:
                    raw.recv(65536)
                    raw.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()

        class Plain:
            port = listener.getsockname()[1]
        assert start(**proxied(Plain, trusted(), NAMED)).get("/").status == 502
        thread.join(5)
