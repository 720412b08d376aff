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


@pytest.mark.parametrize("chained", [True, False])
def test_two_authorities_have_given_the_same_number(start, tmp_path, chained):
    """Each response is about the certificate of its own authority."""
    lines = []
    for by, kind in (("One CA", "ec"), ("Two CA", "rsa")):
        pair, path = certificates.first(by, kind), tmp_path / f"{kind}.pem"
        path.write_text(pair.certificate.read_text() + (pair.issuer.certificate.read_text() if chained else ""))
        lines.append(f"CertificateFile {path}\nKeyFile {pair.key}\nOCSPFile {certificates.ocsp_response(pair)}")
    server = start(**secured.config("\n".join(lines)))
    for cipher, by in (("ECDHE-ECDSA-AES128-GCM-SHA256", "One CA"), ("ECDHE-RSA-AES128-GCM-SHA256", "Two CA")):
        text = status(server, "-tls1_2", "-cipher", cipher)
        assert "Cert Status: good" in text and f"Responder Id: CN = {by}" in text


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
    assert "is for none of the certificates" in server.log()


# ---- its signature

UNSIGNED = "is not signed by the issuer of the certificate, nor for it"
UNKNOWN = "its signature cannot be verified"


def started(start, response, pair=None, **kwargs):
    pair = pair or certificates.issue("localhost", chained=True)
    return start(**secured.config(pair.lines(f"OCSPFile {response}")), **kwargs)


def test_signed_by_the_issuer(start):
    server = started(start, certificates.ocsp_response(certificates.issue("localhost", chained=True)))
    assert "Cert Status: good" in status(server)
    assert UNKNOWN not in server.log()


def test_signed_for_the_issuer(start):
    """RFC 6960 section 4.2.2.2."""
    by = certificates.responder(certificates.intermediate())
    server = started(start, certificates.ocsp_response(certificates.issue("localhost", chained=True), by=by))
    assert "Cert Status: good" in status(server)


@pytest.mark.parametrize("by", [
    lambda: certificates.authority("Other CA"),
    lambda: certificates.responder(certificates.intermediate(), "client"),
    lambda: certificates.responder(certificates.authority()),
], ids=["another authority", "without the right", "for another authority"])
def test_signed_by_somebody_else(start, by):
    response = certificates.ocsp_response(certificates.issue("localhost", chained=True), by=by())
    server = started(start, response, wait=False)
    assert server.expect_exit() != 0
    assert UNSIGNED in server.log()


@pytest.mark.parametrize("valid", [("20200101000000Z", "20200201000000Z"), ("20900101000000Z", "20900201000000Z")],
                         ids=["over", "to come"])
def test_signed_outside_of_the_signers_time(start, valid):
    """No client would believe it; but time alone must not keep a server from starting."""
    by = certificates.responder(certificates.intermediate(), valid=("-startdate", valid[0], "-enddate", valid[1]))
    server = started(start, certificates.ocsp_response(certificates.issue("localhost", chained=True), by=by))
    assert "is out of date and is not sent" in server.log()
    assert "no response sent" in status(server)


def test_changed_behind_its_signature(start, tmp_path):
    response = certificates.ocsp_response(certificates.issue("localhost", chained=True)).read_bytes()
    changed = tmp_path / "changed.ocsp"
    changed.write_bytes(response.replace(b"\x18\x0f20", b"\x18\x0f19", 1))  # when it was made
    server = started(start, changed, wait=False)
    assert server.expect_exit() != 0
    assert UNSIGNED in server.log()


def test_without_the_issuer_it_is_given_with_a_warning(start):
    pair = certificates.issue()
    server = started(start, certificates.ocsp_response(pair), pair)
    assert "Cert Status: good" in status(server)
    assert UNKNOWN in server.log()


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
    server.wait_for_log("is out of date and is not sent")
    assert "no response sent" in status(server)
