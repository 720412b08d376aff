# SPDX-License-Identifier: Apache-2.0
"""
The response parser must refuse what a lenient client would let pass, and certificates must be good or bad for
one reason only: all other tests rely on it.
"""

import contextlib
import pathlib
import socket
import ssl
import threading
import time
import types

import pytest

from harness import (applications, certificates, client, compiled, executable, http, mariadb_server, memcached_server, peers,
                     ports, postgres_server, redis_server, tls_connection, tools)

pytestmark = pytest.mark.once("the tests' own programs")

DATE = b"Date: Sat, 21 Nov 2026 10:00:00 GMT\r\n"
OK = b"HTTP/1.1 200 OK\r\n" + DATE


def test_reads_pipelined_responses():
    hello = OK + b"Content-Length: 5\r\n\r\nhello"
    chunked = OK + b"Transfer-Encoding: chunked\r\n\r\n" + http.chunked(b"wor", b"ld")
    bodies = [response.body for response in http.parse(hello + chunked + hello, ["GET"] * 3)]
    assert bodies == [b"hello", b"world", b"hello"]


def test_reads_interim_responses():
    response = http.parse_one(b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"Content-Length: 0\r\n\r\n")
    assert [interim.status for interim in response.interim] == [100]


def test_a_head_response_has_no_body():
    assert http.parse_one(OK + b"Content-Length: 5\r\n\r\n", "HEAD").framing == "none"


@pytest.mark.parametrize("data", [
    pytest.param(b"", id="nothing"),
    pytest.param(b"HTTP/1.1 200 OK\n\n", id="bare LF"),
    pytest.param(b"HTTP/1.1 200\r\n" + DATE + b"Content-Length: 0\r\n\r\n", id="no space after the status"),
    pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", id="no Date"),
    pytest.param(OK + b"Content-Length: 0\r\n", id="head cut"),
    pytest.param(OK + b"Content-Length: 5\r\n\r\nhell", id="body cut"),
    pytest.param(OK + b"Content-Length: 4\r\n\r\nhello", id="body longer than its length"),
    pytest.param(OK + b"Content-Length: 4\r\nContent-Length: 4\r\n\r\nhell", id="two lengths"),
    pytest.param(OK + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", id="length and coding"),
    pytest.param(OK + b"\r\nhello", id="no length on a kept connection"),
    pytest.param(OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello0\r\n\r\n", id="chunk without CR LF"),
    pytest.param(OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", id="last chunk missing"),
    pytest.param(OK + b"X : y\r\nContent-Length: 0\r\n\r\n", id="blank before the colon"),
])
def test_refuses(data):
    with pytest.raises(AssertionError):
        http.parse_one(data)


def verify(pair, *words):
    """What openssl says of a certificate."""
    issuers = ["-untrusted", pair.issuer.certificate] if pair.issuer.issuer else []
    done = tools.run("openssl", "verify", "-CAfile", certificates.authority().certificate, *issuers, *words, pair.certificate)
    return done.returncode == 0 or done.stderr.decode()


@pytest.mark.parametrize("kind", ["ec", "p384", "rsa"])
@pytest.mark.parametrize("chained", [False, True])
def test_issued_certificates_are_good(kind, chained):
    pair = certificates.issue("a.test", "*.a.test", kind=kind, chained=chained)
    assert verify(pair, "-purpose", "sslserver", "-verify_hostname", "x.a.test") is True
    assert pair.chain.read_text().count("BEGIN CERTIFICATE") == 1 + chained


def test_bad_certificates_are_bad():
    assert "has expired" in verify(certificates.expired())
    assert "not yet valid" in verify(certificates.future())
    assert "mismatch" in verify(certificates.issue("a.test"), "-verify_hostname", "b.test")
    assert "certificate purpose" in verify(certificates.client(), "-purpose", "sslserver")


def test_pairs_fit_their_keys():
    def public(pair, of):
        words = ["x509", "-noout", "-pubkey"] if of == "certificate" else ["pkey", "-pubout"]
        return tools.run("openssl", *words, "-in", getattr(pair, of)).stdout

    good, wrong = certificates.issue(), certificates.wrong_key()
    assert public(good, "certificate") == public(good, "key")
    assert public(wrong, "certificate") != public(wrong, "key")


def test_the_authority_vouches_for_what_it_issued():
    pair = certificates.issue()
    done = tools.run("openssl", "ocsp", "-respin", certificates.ocsp_response(pair), "-CAfile", pair.issuer.certificate,
                     "-issuer", pair.issuer.certificate, "-cert", pair.certificate)
    assert b"good" in done.stdout
    assert b"Response verify OK" in done.stderr


@pytest.mark.parametrize("says_so", [True, False])
def test_an_end_without_close_notify_is_seen(says_so):
    def serve():
        server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.load_cert_chain(certificates.issue().chain, certificates.issue().key)
        raw, _ = listener.accept()
        with raw:
            talk = server.wrap_socket(raw, server_side=True, do_handshake_on_connect=True)
            talk.sendall(b"text")
            if says_so:
                with contextlib.suppress(OSError):  # the client ends without an answer to it
                    talk.unwrap()
            talk.close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        with tls_connection.TlsConnection(listener.getsockname()) as client:
            assert client.sock.recv(4) == b"text"
            if says_so:
                assert client.sock.recv(1) == b""
            else:
                with pytest.raises(ConnectionResetError):
                    client.sock.recv(1)
        thread.join(10)


# -- what compiles once, and what runs once

COMPILER = """#!/bin/sh
echo called >>"$0.calls"
while [ "$1" != -o ]; do shift; done
cat "$3" >"$2"
"""


@pytest.fixture
def compiler(tmp_path, monkeypatch):
    """A folder with a compiler that only copies; and a function that counts its calls."""
    (tmp_path / "kept").mkdir()
    monkeypatch.setenv("COMPILED", str(tmp_path / "kept"))
    program = tmp_path / "compiler"
    program.write_text(COMPILER)
    program.chmod(0o755)

    def count():
        return len((tmp_path / "compiler.calls").read_text().splitlines())

    return program, count


def test_equal_text_compiles_once(tmp_path, compiler):
    program, count = compiler
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.c").write_text("text")
        compiled.make([program, "-O1"], [tmp_path / folder / "x.c"], tmp_path / folder / "x")
        assert (tmp_path / folder / "x").read_text() == "text"
    assert count() == 1


def test_another_text_header_or_option_compiles_again(tmp_path, compiler):
    program, count = compiler
    source, include = tmp_path / "x.c", tmp_path / "include"
    include.mkdir()

    def make(option):
        compiled.make([program, option, f"-I{include}"], [source], tmp_path / "x")

    source.write_text("text")
    make("-O1")
    make("-O2")
    assert count() == 2
    source.write_text("other")
    make("-O2")
    assert (tmp_path / "x").read_text() == "other"
    assert count() == 3
    (include / "x.h").write_text("1")
    make("-O2")
    make("-O2")
    assert count() == 4
    (include / "x.h").write_text("2")
    make("-O2")
    assert count() == 5


@pytest.mark.parametrize("kind, runs", [("build", True), ("elsewhere", True), ("build-asan", True), ("build-m32", False)])
def test_a_test_of_what_no_build_changes_runs_once(monkeypatch, kind, runs):
    mark = pytest.mark.once("a page", and_in=["asan"]).mark
    item = types.SimpleNamespace(get_closest_marker={"once": mark}.get)
    monkeypatch.setattr(executable, "_chosen", lambda: executable.TREE / kind / "monkey")
    assert executable.is_once_elsewhere(item) != runs


# ---- ports of other servers


def test_free_ports_are_not_those_of_clients():
    """A client that connects would take one before the server that was told it."""
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as connection:
        low, high = map(int, pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
        assert low <= connection.getsockname()[1] <= high
    found = client.free_ports(200)
    assert len(set(found)) == 200
    assert not any(low <= port <= high for port in found)


SERVERS = {
    "redis": redis_server.Server,
    "member_of_a_cluster": redis_server.Member,
    "memcached": memcached_server.Server,
    "mariadb": lambda _: mariadb_server.start(),
    "postgres": lambda _: postgres_server.start(),
    "nginx": lambda folder: peers.nginx(folder / "nginx", "", folder),
    "uvicorn": peers.uvicorn,
    "php_cgi": lambda folder: applications.php_cgi(folder / "php"),
    "php_fpm": lambda folder: applications.php_fpm(folder / "php", tcp=True),
}


def port_of(server):
    """Some are known by their port alone, and applications by an address."""
    if isinstance(server, applications.Application):
        return int(server.address.rpartition(":")[2])
    return getattr(server, "port", server)


@pytest.mark.parametrize("serve", SERVERS.values(), ids=SERVERS)
@pytest.mark.parametrize("which", [0, -1])
def test_a_server_whose_port_was_taken_tries_another(serve, which, tmp_path, monkeypatch):
    """which: of those that it needs."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        dealt = []

        def deal(number):
            found = client.free_ports(number)
            if not dealt:
                found[which] = taken.getsockname()[1]
            dealt.append(found)
            return found

        monkeypatch.setattr(ports, "free_ports", deal)
        with serve(tmp_path) as server:
            assert len(dealt) == 2 and port_of(server) == dealt[1][0]


@pytest.fixture(scope="module")
def late():
    time.sleep(1.5)


@pytest.mark.limit(1)
def test_what_several_tests_share_has_a_time_of_its_own(late):
    pass
