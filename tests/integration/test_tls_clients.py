# SPDX-License-Identifier: Apache-2.0
"""Clients that people use, with the tests' authority: openssl, curl, wget, Chromium."""

import pathlib
import re
import shutil
import subprocess

import pytest

from harness import browser, certificates, http, secured, tools
from harness.client import PATIENCE, eventually
from harness.content import noise

plugin = secured.each_plugin()

LARGE = noise(3 << 20)
FILES = {"index.html": "<!doctype html><title>A page</title><p>welcome", "large.bin": LARGE}

@pytest.fixture(scope="module")
def server(start_shared, plugin):
    return start_shared(**secured.config(certificates.issue().lines(), server="Workers 2\nKeepAliveTimeout 2", files=FILES,
                                         handlers="Match ^/echo echo"))


# ---- openssl ----

def s_client_process(server, *words, stdout=subprocess.PIPE):
    command = ["openssl", "s_client", "-connect", f"127.0.0.1:{server.port}", "-servername", "localhost",
               "-CAfile", certificates.authority().certificate, "-verify_return_error", *words]
    return subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=stdout, stderr=subprocess.STDOUT)


def say(client, data):
    client.stdin.write(data)
    client.stdin.flush()


def s_client(server, *words, said=b""):
    """What s_client prints about a connection on which it says something: until the server closes, when it said anything."""
    with s_client_process(server, *words) as client:
        if not said:
            return client.communicate(timeout=PATIENCE)[0].decode(errors="replace")
        say(client, said)
        return client.stdout.read().decode(errors="replace")


GET = http.request("/", headers={"Connection": "close"})


@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
def test_openssl(server, plugin, version):
    if (plugin, version) == ("mbedtls", "-tls1_3"):
        pytest.skip("Mbed TLS 2.28 has no TLS 1.3")
    text = s_client(server, version, said=GET)
    assert "Verify return code: 0 (ok)" in text
    assert "HTTP/1.1 200 OK" in text
    assert "welcome" in text
    assert "read:errno" not in text


def test_openssl_agrees_on_the_protocol(server):
    """RFC 7301"""
    assert "ALPN protocol: http/1.1" in s_client(server, "-alpn", "h2,http/1.1")
    assert re.search("No ALPN negotiated|no application protocol", s_client(server, "-alpn", "spdy/1"))


@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
def test_openssl_comes_again(server, plugin, tmp_path, version):
    """-sess_out, -sess_in: each time with what the last time gave; a ticket of TLS 1.3 is for once."""
    if (plugin, version) == ("mbedtls", "-tls1_3"):
        pytest.skip("Mbed TLS 2.28 has no TLS 1.3")
    session = tmp_path / "session"
    assert "New, " in s_client(server, version, "-sess_out", session, said=GET)
    for _ in range(4):
        text = s_client(server, version, "-sess_in", session, "-sess_out", session, said=GET)
        assert "Reused, " in text
        if version == "-tls1_3":
            assert "Post-Handshake New Session Ticket arrived" in text


def test_openssl_connects_again(server):
    """-reconnect: five more times with the same session."""
    text = s_client(server, "-tls1_2", "-reconnect")
    assert text.count("Reused, ") == 5, text


@pytest.mark.parametrize("version", ["-tls1", "-tls1_1"])
def test_openssl_is_refused_with_an_old_version(server, version):
    """RFC 8996"""
    text = s_client(server, version, "-cipher", "ALL:@SECLEVEL=0")
    assert "alert protocol version" in text
    assert "Cipher is (NONE)" in text


def test_openssl_updates_keys(server, plugin, tmp_path):
    """RFC 8446 4.6.3: s_client's K asks for new keys of both sides. It must be the first byte that a read of s_client finds."""
    if plugin == "mbedtls":
        pytest.skip("Mbed TLS 2.28 has no TLS 1.3")
    path = tmp_path / "printed"

    def printed(text, count=1):
        return eventually(lambda: path.read_text(errors="replace").count(text) >= count)

    with open(path, "wb") as output, s_client_process(server, "-tls1_3", "-crlf", stdout=output) as client:
        try:
            assert printed("Verify return code: 0 (ok)")
            for count in range(1, 4):
                say(client, b"K\n")
                assert printed("KEYUPDATE", count)
            say(client, b"GET / HTTP/1.1\nHost: localhost\n\n")
            assert printed("welcome"), path.read_text(errors="replace")
        finally:
            client.kill()
    assert "HTTP/1.1 200 OK" in path.read_text(errors="replace")


# ---- curl, wget ----

def curl(server, target, *words):
    done = tools.run("curl", "-sS", "--cacert", certificates.authority().certificate, "--http1.1",
                     *words, f"https://localhost:{server.port}{target}")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("words", [(), ("--tls-max", "1.2"), ("-H", "Connection: close")], ids=["default", "1.2", "close"])
def test_curl(server, words):
    assert b"welcome" in curl(server, "/", *words)
    assert curl(server, "/large.bin", *words) == LARGE
    assert curl(server, "/large.bin", "-r", "100000-200000", *words) == LARGE[100000:200001]


def test_curl_uploads(server, tmp_path):
    (tmp_path / "body").write_bytes(LARGE)
    assert curl(server, "/echo", "--data-binary", f"@{tmp_path / 'body'}").endswith(LARGE)


def test_curl_reuses_a_connection(server):
    text = curl(server, "/", "-w", "%{num_connects} ", f"https://localhost:{server.port}/large.bin", "-o", "/dev/null", "-o", "/dev/null")
    assert text.split() == [b"1", b"0"]


def test_curl_sees_what_is_wrong(server):
    done = tools.run("curl", "-sS", f"https://localhost:{server.port}/")
    assert done.returncode == 60  # an authority that it does not know


def test_wget(server, tmp_path):
    done = tools.run("wget", "-q", f"--ca-certificate={certificates.authority().certificate}", "-O", tmp_path / "out",
                     f"https://localhost:{server.port}/large.bin")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out").read_bytes() == LARGE


# ---- Chromium ----

def test_chromium(server, tmp_path, monkeypatch):
    """The authority is known to it as an administrator makes one known: in the user's NSS database."""
    database = tmp_path / ".pki" / "nssdb"
    database.mkdir(parents=True)
    if not shutil.which("certutil"):
        tools.require("certutil")
    for words in (("-N", "--empty-password"), ("-A", "-t", "C,,", "-n", "tests", "-i", certificates.authority().certificate)):
        assert tools.run("certutil", "-d", f"sql:{database}", *words).returncode == 0
    monkeypatch.setenv("HOME", str(tmp_path))
    page = browser.document(tmp_path, f"https://localhost:{server.port}/")
    assert "welcome" in page
    assert "<title>A page" in page


def test_chromium_warns_of_an_unknown_authority(server, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(pathlib.Path(tmp_path)))
    assert "welcome" not in browser.document(tmp_path, f"https://localhost:{server.port}/")
