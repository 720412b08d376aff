# SPDX-License-Identifier: Apache-2.0
"""What mbedTLS cannot do is refused with a sentence; what it can of the same keys, and what its ciphers come to."""

import re
import ssl

import pytest

from harness import certificates, secured, tools

plugin = secured.each_plugin("mbedtls")


@pytest.mark.parametrize("line, sentence", [
    ("Protocols TLSv1.3", "Protocols: mbedtls speaks TLSv1.2 only; for TLSv1.3 use the plugin tls"),
    ("Protocols TLSv1.2 TLSv1.3", "Protocols: mbedtls speaks TLSv1.2 only"),
    ("Ciphersuites TLS_AES_128_GCM_SHA256", "Ciphersuites: they are of TLSv1.3"),
    ("OCSPFile a.der", "OCSPFile: mbedtls cannot staple"),
    ("KernelTLS on", "KernelTLS: mbedtls cannot give its keys to the kernel"),
    ("Ciphers ROT13", 'Ciphers: mbedtls does not know "ROT13"'),
    ("Ciphers HIGH:!aNULL", 'Ciphers: mbedtls does not know "HIGH"'),
    ("Ciphers AES128-GCM-SHA256", 'Ciphers: mbedtls does not know "AES128-GCM-SHA256"'),
    ("Ciphers DHE-RSA-AES128-GCM-SHA256", "the list is empty without DHParameterFile"),
])
def test_what_it_cannot_is_refused(start, line, sentence):
    server = start(**secured.config(certificates.issue().lines(line), extra={"a.der": ""}), wait=False)
    assert server.expect_exit() != 0
    assert re.search(rf"mbedtls\.conf:4:\d+: error: .*{re.escape(sentence)}", server.log())


def test_small_dh_parameters_are_refused(start, tmp_path):
    tools.run("openssl", "dhparam", "-out", tmp_path / "dh.pem", "512")
    lines = certificates.issue(kind="rsa").lines(f"DHParameterFile {tmp_path}/dh.pem")
    server = start(**secured.config(lines), wait=False)
    assert server.expect_exit() != 0
    assert "512 bits are too few" in server.log()


def test_weak_rsa_is_refused(start, tmp_path):
    tools.run("openssl", "req", "-x509", "-newkey", "rsa:1024", "-nodes", "-keyout", tmp_path / "key.pem", "-out",
              tmp_path / "cert.pem", "-subj", "/CN=localhost", "-days", "9")
    server = start(**secured.config(f"CertificateFile {tmp_path}/cert.pem\nKeyFile {tmp_path}/key.pem"), wait=False)
    assert server.expect_exit() != 0
    assert "RSA with 1024 bits is too weak" in server.log()


def test_protocols_may_say_what_it_has(start):
    server = start(**secured.config(certificates.issue().lines("Protocols TLSv1.2")))
    assert secured.ask(server).body == b"text"


def test_a_client_of_the_later_version_gets_this_one(start):
    """One that has both; one that insists is refused with an alert."""
    server = start(**secured.config(certificates.issue().lines()))
    with certificates.connected(("127.0.0.1", server.port)) as raw:
        assert raw.version() == "TLSv1.2"
    with pytest.raises(ssl.SSLError, match="HANDSHAKE_FAILURE"):
        secured.ask(server, context=certificates.trusting(version=secured.TLS13))


def test_the_order_of_ciphers_is_the_servers(start):
    """The library of this series does not ask the client."""
    order = ["ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-ECDSA-AES256-GCM-SHA384"]
    server = start(**secured.config(certificates.issue().lines("Ciphers " + ":".join(order))))
    for wished in (order, order[::-1]):
        context = certificates.trusting(version=secured.TLS12)
        context.set_ciphers(":".join(wished))
        with certificates.connected(("127.0.0.1", server.port), context) as raw:
            assert raw.cipher()[0] == order[0]


def test_ciphers_of_a_site(start, tmp_path):
    first, second = "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305"
    sites = {"a": secured.site("a.test", certificates.issue("a.test").lines(f"Ciphers {first}"), tmp_path)}
    server = start(**secured.config(certificates.issue().lines(f"Ciphers {second}"), sites=sites))
    for name, cipher in (("a.test", first), ("localhost", second)):
        with certificates.connected(("127.0.0.1", server.port), name=name) as raw:
            assert raw.cipher()[0] == cipher
