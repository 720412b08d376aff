# SPDX-License-Identifier: Apache-2.0
"""OCSP stapling: the authority's word comes with the certificate that it is about (RFC 6066 section 8)."""

import pytest

from harness import certificates, process, secured, tools

plugin = secured.each_plugin("tls")


def status(server, *words, name="localhost"):
    done = tools.run("openssl", "s_client", "-connect", f"127.0.0.1:{server.port}", "-status", "-servername", name, *words)
    return done.stdout.decode(errors="replace")


def stapled(*pairs):
    return "\n".join(pair.lines() for pair in pairs) + "".join(
        f"\nOCSPFile {certificates.ocsp_response(pair)}" for pair in pairs)


@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
def test_it_is_given_to_who_asks(start, version):
    server = start(**secured.config(stapled(certificates.issue())))
    assert "Cert Status: good" in status(server, version)
    assert secured.ask(server).body == b"text"  # and to nobody else


def test_each_kind_of_key_has_its_own(start):
    pairs = certificates.issue("localhost"), certificates.issue("localhost", kind="rsa")
    server = start(**secured.config(stapled(*pairs)))
    serials = set()
    for cipher in ("ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256"):
        text = status(server, "-tls1_2", "-cipher", cipher)
        assert "Cert Status: good" in text
        serials.add(text.partition("Serial Number: ")[2].split()[0])
    assert len(serials) == 2


def test_a_site_has_its_own(start, tmp_path):
    sites = {"a": secured.site("a.test", stapled(certificates.issue("a.test")), tmp_path),
             "b": secured.site("b.test", certificates.issue("b.test").lines(), tmp_path)}
    server = start(**secured.config(certificates.issue().lines(), sites=sites))
    assert "Cert Status: good" in status(server, name="a.test")
    for name in ("b.test", "localhost"):
        assert "no response sent" in status(server, name=name)


def test_a_response_about_another_certificate_is_refused(start):
    response = certificates.ocsp_response(certificates.issue("a.test"))
    server = start(**secured.config(certificates.issue().lines(f"OCSPFile {response}")), wait=False)
    assert server.expect_exit() != 0
    assert "is about none of the certificates" in server.log()


def test_what_is_out_of_date_is_not_given(start, monkeypatch):
    """The server's clock is where the response has ended."""
    if process.is_sanitized():
        pytest.skip("its runtime must be the first library")
    response = certificates.ocsp_response(certificates.issue(), days=7)
    monkeypatch.setenv("LD_PRELOAD", tools.libfaketime())
    monkeypatch.setenv("FAKETIME", "+10d")
    monkeypatch.setenv("FAKETIME_DONT_FAKE_MONOTONIC", "1")
    server = start(**secured.config(certificates.issue().lines(f"OCSPFile {response}")))
    monkeypatch.delenv("LD_PRELOAD")
    server.wait_for_log("is out of date, so it will not be given")
    assert "no response sent" in status(server)
